"""Who may answer a question from elsewhere: from a phone, by an action, by an automation.

Knows users, their permissions, and contexts. Must not know how an answer comes or is passed on. An answer is never
taken from what an agent's own turn has set off: an agent must not say yes to itself, nor to another one.
"""

import asyncio
from enum import StrEnum

from homeassistant.auth.models import User
from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.core import Context, HomeAssistant, callback

from ..people.callers import async_get_context_watch
from .questions import Question


class Refusal(StrEnum):
    """Why an answer is not taken. The values are parts of translation keys."""

    NEEDS_PIN = "needs_pin"
    """The PIN is only ever spoken, where the question was asked."""
    OF_A_TURN = "of_a_turn"
    """An agent has led to it, or may have: so much has happened meanwhile that it cannot be ruled out."""
    UNKNOWN_USER = "unknown_user"
    """Also one that was deactivated."""
    NOT_IN_CONTROL = "not_in_control"
    NEEDS_ADMIN = "needs_admin"
    """Nobody knows all that a yes would do, so that only somebody who may do anything may say it."""


async def async_refusal(hass: HomeAssistant, question: Question, context: Context, *, approved: bool) -> Refusal | None:
    """Return why an answer that comes in a context is not taken; None if it is.

    A context without a user is that of an automation of the house, and may answer.
    """
    await asyncio.sleep(0)  # an event that is fired while another one is told of is told of after that one
    if approved and question.needs_pin:
        return Refusal.NEEDS_PIN
    if _is_of_a_turn(hass, question, context):
        return Refusal.OF_A_TURN
    if context.user_id is None:
        return None
    user = await hass.auth.async_get_user(context.user_id)
    if user is None or not user.is_active:
        return Refusal.UNKNOWN_USER
    return _refusal_for(user, question)


@callback
def _is_of_a_turn(hass: HomeAssistant, question: Question, context: Context) -> bool:
    """Tell whether an agent acts in a context, or what one has set off, by however many steps.

    The event that a question is asked has a context of its own, in which no agent acts, so an automation that
    answers because of it is not among these.
    """
    if question.context.id in {context.id, context.parent_id}:
        return True
    callers = async_get_context_watch(hass).callers(context)
    return callers.comes_of_turn or callers.has_turn or not callers.is_fully_known


def _refusal_for(user: User, question: Question) -> Refusal | None:
    if user.is_admin:
        return None
    if not question.is_foreseen:
        return Refusal.NEEDS_ADMIN
    may = user.permissions.check_entity
    in_control = all(may(entity_id, POLICY_CONTROL) for entity_id in question.entity_ids)
    return None if in_control else Refusal.NOT_IN_CONTROL
