"""Who speaks to an agent, as far as it is known, and whether they can be asked something.

Knows users, persons and devices of Home Assistant, and which automations call. Must not know rules, or what was said.
It decides about safety: where it is not sure that somebody is there, nobody is.
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
"""Of a person."""

_is_in_turn: ContextVar[bool] = ContextVar("chatterbox_is_in_turn", default=False)
"""Whether what runs was started by a turn of an agent, at whatever remove."""


class Asking(StrEnum):
    """What comes of a question whether something may be done."""

    PERSON = "person"
    """Somebody is there who can answer it."""
    NOBODY = "nobody"
    """Nobody hears it, so the answer is no."""
    TRUSTED = "trusted"
    """An automation or a script asks that the owner trusts: the answer is yes, but where a PIN has to be said."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who asks, as far as it is known."""

    user_id: str | None = None
    """Whose permissions hold. A script that a user has started speaks in the name of that user."""
    device_id: str | None = None
    name: str | None = None
    """What they are called."""
    asking: Asking = Asking.NOBODY
    caller: str | None = None
    """Entity id of the automation or the script that speaks in nobody's place."""
    is_signed_in: bool = False
    """It is a user of Home Assistant who speaks, in an app or a browser, and may call any device their own."""
    person_id: str | None = None
    """Id of the person, else of the user, where it is known who speaks: what is kept of them is found by it."""
    is_program: bool = False
    """It is a program that a user has given a token. It can say yes, and must never be told a PIN."""

    @property
    def sure_device_id(self) -> str | None:
        """The device, where it is not only said to be that one."""
        return None if self.is_signed_in else self.device_id


NOBODY: Final = Speaker()


def in_turn() -> AbstractContextManager[object]:
    """Mark what a turn of an agent does meanwhile: a turn that comes of it has nobody to ask, and is not trusted.

    Otherwise a model could have a trusted script say to an agent what it may not do itself.
    """
    return _is_in_turn.set(True)


async def async_get_speaker(hass: HomeAssistant, user_input: ConversationInput, settings: AgentSettings) -> Speaker:
    """Return who speaks to an agent with these settings.

    That is the user of Home Assistant who is there, else the person whom the owner has assigned to the satellite.
    """
    if _is_telling_of_events(hass):
        await asyncio.sleep(0)  # an event that is fired while another one is told of is told of after that one
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
    """Return the context in which a turn runs, so that Home Assistant asks for the permissions of who speaks.

    It is that of the words, or a child of it in the name of the person who was recognised by the satellite.
    """
    if speaker.user_id in (None, context.user_id):
        return context
    return Context(user_id=speaker.user_id, parent_id=context.id)


@callback
def person_id_of(hass: HomeAssistant, user_id: str) -> str:
    """Return the id of the person that a user is, else that of the user: what is kept of them is found by it.

    It stays when the person gets another name or entity id.
    """
    persons = (state for state in hass.states.async_all(_PERSON_DOMAIN) if state.attributes.get(_USER_ID) == user_id)
    return next((known for person in persons if (known := _text(person, ATTR_ID))), user_id)


def _is_telling_of_events(hass: HomeAssistant) -> bool:
    """Tell whether the bus may be in the middle of an event; where Home Assistant does not say, it may be.

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
    # A device that speaks in no conversation is a timer with a command: nobody listens to what comes of that.
    is_device = user_input.device_id is not None and user_input.conversation_id is not None
    return Asking.PERSON if is_user or is_device else Asking.NOBODY


def _is_trusted(callers: Callers, trusted: frozenset[str]) -> bool:
    """Tell whether only automations and scripts that are trusted had a part in what is said."""
    if callers.comes_of_turn or _is_in_turn.get() or not callers.is_by_action:
        return False
    return bool(callers.entity_ids) and trusted.issuperset(callers.entity_ids)


@dataclass(frozen=True, slots=True)
class _Identity:
    user_id: str | None = None
    name: str | None = None
    is_user: bool = False
    """A user of Home Assistant who is let in."""
    person_id: str | None = None


_UNKNOWN: Final = _Identity()


async def _async_identity(hass: HomeAssistant, context: Context, person_id: str | None) -> _Identity:
    """Return what is known of the user who speaks, else of the person whom the owner expects to.

    A user who is deactivated or gone is not mistaken for that person, has no name any more, and may do nothing.
    Integrations speak as users of their own, such as the one for phone calls; so it does not matter who these are.
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
