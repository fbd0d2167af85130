"""Which of the records is meant: of a conversation, a person, a device or an agent, all, or those that are too old.

Pure. Must not know tables (`selected_rows.py`), or what is done with what is selected.
"""

from dataclasses import dataclass
from typing import assert_never

from .turn_records import TurnRecord


@dataclass(frozen=True, slots=True)
class OneConversation:
    """What belongs to a conversation."""

    conversation_id: str


@dataclass(frozen=True, slots=True)
class OnePerson:
    """What a person said and was answered, in every conversation, and what they asked for as a user of the API."""

    person_id: str


@dataclass(frozen=True, slots=True)
class OneDevice:
    """What was said and answered at a device, such as a satellite. A response of the API is given at none."""

    device_id: str


@dataclass(frozen=True, slots=True)
class OneAgent:
    """What an agent has answered."""

    agent: str


@dataclass(frozen=True, slots=True)
class Before:
    """What is older than a moment."""

    at: float
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class AllOf:
    """What each of some selections holds; without any, everything."""

    selections: tuple[Selection, ...]


@dataclass(frozen=True, slots=True)
class Everything:
    """All there is."""


type Selection = OneConversation | OnePerson | OneDevice | OneAgent | Before | AllOf | Everything


@dataclass(frozen=True, slots=True)
class Retention:
    """How long, and how much, is kept of an agent; None is without end."""

    seconds: float | None = None
    size: int | None = None
    """Characters of all its turns, of all its audit records, or of all its responses."""


def is_selected(turn: TurnRecord, selection: OneConversation | OnePerson | OneDevice) -> bool:
    """Tell the same of a turn that is not stored yet."""
    match selection:
        case OneConversation(conversation_id):
            return turn.origin.conversation_id == conversation_id
        case OnePerson(person_id):
            return turn.origin.person_id == person_id
        case OneDevice(device_id):
            return turn.origin.device_id == device_id
        case _ as unreachable:
            assert_never(unreachable)
