"""Finds the rows of what is selected.

Knows the columns that records are found by. Must not know what is done with the rows.
"""

from typing import assert_never

from sqlalchemy import ColumnElement, Table, and_, false, true

from .schema import key_of
from .selection import AllOf, Before, Everything, OneAgent, OneConversation, OneDevice, OnePerson, Selection


def selected(table: Table, selection: Selection) -> ColumnElement[bool]:
    """Return the condition for what is selected of turns, of audit records or of responses."""
    match selection:
        case OneConversation(conversation_id):
            return table.c.conversation == key_of(conversation_id)
        case OnePerson(person_id):
            return table.c.person == key_of(person_id)
        case OneDevice(device_id):
            return table.c.device == key_of(device_id) if "device" in table.c else false()
        case OneAgent(agent):
            return table.c.agent == key_of(agent)
        case Before(at):
            return table.c.at < at
        case AllOf(selections):
            return and_(true(), *(selected(table, one) for one in selections))
        case Everything():
            return true()
        case _ as unreachable:
            assert_never(unreachable)
