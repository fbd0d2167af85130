"""Identifies the speaker of a request, and decides whether somebody can be asked for approval.

This decides about safety: unless it is certain that somebody is there, nobody is.
"""

import asyncio
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from homeassistant.components.conversation import ConversationInput
from homeassistant.const import ATTR_ID
from homeassistant.core import Context, HomeAssistant, State, callback
from homeassistant.helpers import entity_registry as er

from ..settings.agent import AgentSettings
from .callers import Callers, async_get_context_watch

_PERSON_DOMAIN: Final = "person"
_USER_ID: Final = "user_id"
"""Attribute of a person."""

_is_in_turn: ContextVar[bool] = ContextVar("chatterbox_is_in_turn", default=False)
"""True in a task that a turn of an agent has started, directly or not."""


class Asking(StrEnum):
    """Who can approve a call."""

    PERSON = "person"
    """Somebody is there and can answer."""
    NOBODY = "nobody"
    """Nobody can answer: the call is denied."""
    TRUSTED = "trusted"
    """A trusted automation or script asks: the call is approved, unless it needs a PIN."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """The speaker of a request, as far as known."""

    user_id: str | None = None
    """The user whose permissions apply. A script runs with the permissions of the user who has started it."""
    device_id: str | None = None
    name: str | None = None
    asking: Asking = Asking.NOBODY
    caller: str | None = None
    """Entity id of the automation or script that sent the request."""
    is_signed_in: bool = False
    """True for a user in an app or a browser, who may pretend to be at any device."""
    person_id: str | None = None
    """Id of the person, or else of the user. Memories and history are looked up by it."""
    is_api_client: bool = False
    """True for an API client with the token of a user. It can approve calls, but never with a PIN."""

    @property
    def sure_device_id(self) -> str | None:
        """Return the device, unless a client only pretends to be at it."""
        return None if self.is_signed_in else self.device_id


NOBODY: Final = Speaker()


def in_turn() -> AbstractContextManager[object]:
    """Mark the tasks of a turn: a turn that they start has nobody to ask, and is not trusted.

    Otherwise a model could use a trusted script to request from an agent what it may not do itself.
    """
    return _is_in_turn.set(True)


async def async_get_speaker(hass: HomeAssistant, user_input: ConversationInput, settings: AgentSettings) -> Speaker:
    """Return the speaker of a request: the signed-in user, or else the person assigned to the satellite."""
    if _is_telling_of_events(hass):
        await asyncio.sleep(0)  # let the bus finish: an event fired within another is dispatched after it
    callers = async_get_context_watch(hass).callers(user_input.context)
    device_id, satellite_id = user_input.device_id, user_input.satellite_id
    if satellite_id and not device_id:
        device_id = _device_of(hass, satellite_id)
    person_id = settings.people_at_satellites.get(device_id) if device_id else None
    is_known = person_id is not None or user_input.context.user_id is not None
    who = await _async_identity(hass, user_input.context, person_id) if is_known else _UNKNOWN
    asking = _asking(user_input, callers, settings.trusted_callers, is_user=who.is_user)
    caller = callers.entity_ids[-1] if callers.entity_ids else None
    return Speaker(who.user_id, device_id, who.name, asking, caller, who.is_user, who.person_id)


@callback
def speaker_context(context: Context, speaker: Speaker) -> Context:
    """Return the context of a turn, so that Home Assistant checks the permissions of the speaker.

    It is the context of the request, or a child of it with the user of the person at the satellite.
    """
    if speaker.user_id in (None, context.user_id):
        return context
    return Context(user_id=speaker.user_id, parent_id=context.id)


@callback
def person_id_of(hass: HomeAssistant, user_id: str) -> str:
    """Return the id of the person of a user, or else the id of the user. It survives a new name or entity id."""
    persons = (state for state in hass.states.async_all(_PERSON_DOMAIN) if state.attributes.get(_USER_ID) == user_id)
    return next((known for person in persons if (known := _text(person, ATTR_ID))), user_id)


def _is_telling_of_events(hass: HomeAssistant) -> bool:
    """Return True if the bus may be dispatching an event, or if Home Assistant does not tell.

    Source: `EventBus.async_fire_internal` (homeassistant.core).
    """
    return getattr(hass.bus, "_dispatching", True) is not False


def _asking(user_input: ConversationInput, callers: Callers, trusted: frozenset[str], *, is_user: bool) -> Asking:
    if callers.entity_ids or callers.is_by_action:
        return Asking.TRUSTED if _is_trusted(callers, trusted) else Asking.NOBODY
    if user_input.satellite_id is not None:
        return Asking.PERSON
    if _is_in_turn.get():
        return Asking.NOBODY
    # A device without a conversation is a timer with a command: nobody listens.
    is_device = user_input.device_id is not None and user_input.conversation_id is not None
    return Asking.PERSON if is_user or is_device else Asking.NOBODY


def _is_trusted(callers: Callers, trusted: frozenset[str]) -> bool:
    """Return True if only trusted automations and scripts have led to the request."""
    if callers.comes_of_turn or _is_in_turn.get() or not callers.is_by_action:
        return False
    return bool(callers.entity_ids) and trusted.issuperset(callers.entity_ids)


@dataclass(frozen=True, slots=True)
class _Identity:
    user_id: str | None = None
    name: str | None = None
    is_user: bool = False
    """True for an active user."""
    person_id: str | None = None


_UNKNOWN: Final = _Identity()


async def _async_identity(hass: HomeAssistant, context: Context, person_id: str | None) -> _Identity:
    """Return the identity of the user, or else of the person assigned to the satellite.

    A deactivated or removed user is not mistaken for that person and has no permissions. The users of integrations,
    such as the one for phone calls, are ignored.
    """
    if context.user_id is not None:
        user = await hass.auth.async_get_user(context.user_id)
        if user is None or not user.is_active:
            return _Identity(context.user_id)
        if not user.system_generated:
            return _Identity(user.id, user.name, is_user=True, person_id=person_id_of(hass, user.id))
    person = hass.states.get(person_id) if person_id else None
    if person is None:
        return _UNKNOWN
    return _Identity(_text(person, _USER_ID), person.name, person_id=_text(person, ATTR_ID))


def _text(state: State, attribute: str) -> str | None:
    value = state.attributes.get(attribute)
    return value if isinstance(value, str) else None


@callback
def _device_of(hass: HomeAssistant, satellite_id: str) -> str | None:
    entry = er.async_get(hass).async_get(satellite_id)
    return entry.device_id if entry else None
