"""The speaker of a sentence, as far as it is known, and the automations and scripts that run in its context.

Safety depends on this: a person counts as present only if that is certain. Decision 14.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from homeassistant.auth.models import User
from homeassistant.components.conversation import (
    DOMAIN as CONVERSATION_DOMAIN,
    ConversationInput,
)
from homeassistant.components.conversation.const import SERVICE_PROCESS
from homeassistant.const import (
    ATTR_DOMAIN,
    ATTR_ENTITY_ID,
    ATTR_ID,
    ATTR_SERVICE,
    EVENT_CALL_SERVICE,
)
from homeassistant.core import (
    Context,
    Event,
    EventOrigin,
    HomeAssistant,
    State,
    callback,
)
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
)
from homeassistant.helpers.llm import LLMContext
from homeassistant.util.ulid import ulid_to_bytes_or_none

from ..const import DOMAIN, EVENT_APPROVAL_REQUESTED, SERVICE_ASK, home_singleton
from ..settings.rules import HomeRules, async_get_home_rules

# Importing them from their integrations would set those up before us, and we would miss
# their first events.
EVENT_AUTOMATION_TRIGGERED: Final = "automation_triggered"
EVENT_SCRIPT_STARTED: Final = "script_started"

_BY_QUESTION: Final = f"event '{EVENT_APPROVAL_REQUESTED}'"
"""Source of an automation that was triggered by the event of a question.

Source: `async_attach_trigger` in
homeassistant/components/homeassistant/triggers/event.py
"""

# As above for AI tasks.
_ASKING_ACTIONS: Final = frozenset(
    {
        (CONVERSATION_DOMAIN, SERVICE_PROCESS),
        (DOMAIN, SERVICE_ASK),
        ("ai_task", "generate_data"),
    }
)
"""Domain and name of the actions that call an agent."""

MAX_CONTEXTS: Final = 5000
"""The latest contexts, many minutes even in a busy home. An older one has no callers, so nobody is trusted for it."""
_MAX_GENERATIONS: Final = 20
_TIME_BYTES: Final = 6
"""Bytes of the time at the beginning of a ULID."""


@dataclass(frozen=True, slots=True)
class Callers:
    """The callers in a context."""

    entity_ids: tuple[str, ...] = ()
    """The automations and scripts that have started in it, the latest last."""
    is_by_action: bool = False
    """True if an action such as `conversation.process` was called in it; the answer goes to the caller."""
    comes_of_turn: bool = False
    """True if an action of an agent has led to it."""
    has_turn: bool = False
    """True if a turn of an agent ran in it."""
    is_by_sentence: bool = False
    """True if a sentence that Home Assistant understood by itself may have led to it."""
    is_fully_known: bool = True
    """True if neither the context nor its parents can have been dropped."""


@dataclass(slots=True)
class _Known:
    parent_id: str | None
    entity_ids: tuple[str, ...] = ()
    is_by_action: bool = False
    has_turn: bool = False
    begins_with_turn: bool = False
    """True if a turn ran before any automation or script had started."""
    is_detached: bool = False
    is_by_sentence: bool = False
    is_fully_known: bool = True
    """False if it may have been dropped and seen again."""


class ContextWatch:
    """Follows the events of automations, scripts and actions by context."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Follow the events from now on."""
        self._known: OrderedDict[str, _Known] = OrderedDict()
        """By context id, the latest last."""
        self._forgotten_until: bytes | None = None
        """Time of the youngest context that was dropped; None before the first."""
        hass.bus.async_listen(EVENT_AUTOMATION_TRIGGERED, self._on_started)
        hass.bus.async_listen(EVENT_SCRIPT_STARTED, self._on_started)
        hass.bus.async_listen(
            EVENT_CALL_SERVICE, self._on_asking, event_filter=_is_asking
        )

    def callers(self, context: Context) -> Callers:
        """Return the callers in a context."""
        own = self._known.get(context.id) or self._unheard(
            context.id, context.parent_id
        )
        line = tuple(self._line(context.parent_id))
        return Callers(
            own.entity_ids,
            own.is_by_action,
            comes_of_turn=own.begins_with_turn or any(known.has_turn for known in line),
            has_turn=own.has_turn,
            is_by_sentence=any(known.is_by_sentence for known in (own, *line)),
            is_fully_known=all(known.is_fully_known for known in (own, *line)),
        )

    def take_for_turn(self, context: Context) -> None:
        """Attribute the context to an agent from now on."""
        known = self._of(context)
        known.has_turn = True
        known.begins_with_turn = known.begins_with_turn or not known.entity_ids

    def detach(self, context: Context) -> None:
        """Separate a new context from its parents."""
        known = self._of(context)
        known.parent_id = None
        known.is_detached = True

    def _line(self, parent_id: str | None) -> Iterator[_Known]:
        """Yield the parents of a context, the latest first, as far as known."""
        for _ in range(_MAX_GENERATIONS):
            if parent_id is None:
                return
            known = self._known.get(parent_id) or self._unheard(parent_id)
            yield known
            parent_id = known.parent_id
        yield _Known(None, has_turn=True)  # the line is too long: assume the worst

    def _unheard(
        self,
        context_id: str,
        parent_id: str | None = None,
    ) -> _Known:
        made = _time_of(context_id)
        dropped = self._forgotten_until
        return _Known(
            parent_id,
            is_fully_known=dropped is None or (made is not None and made > dropped),
        )

    @callback
    def _on_started(self, event: Event[Mapping[str, Any]]) -> None:
        entity_id = event.data.get(ATTR_ENTITY_ID)
        if event.origin is not EventOrigin.local or not isinstance(entity_id, str):
            return
        parent = self._known.get(event.context.parent_id or "")
        if event.data.get("source") == _BY_QUESTION and not (
            parent and parent.is_detached
        ):
            self.take_for_turn(
                event.context
            )  # users can have their phones fire this event
        known = self._of(event.context)
        if not known.entity_ids:
            known.is_by_sentence = _may_be_by_sentence(event)
        known.entity_ids = (
            *(other for other in known.entity_ids if other != entity_id),
            entity_id,
        )

    @callback
    def _on_asking(self, event: Event[Mapping[str, Any]]) -> None:
        self._of(event.context).is_by_action = True

    def _of(self, context: Context) -> _Known:
        """Return a context, and mark it and its parent as seen last."""
        if context.id not in self._known:
            self._known[context.id] = self._unheard(
                context.id,
                context.parent_id,
            )
        if context.parent_id is not None and context.parent_id in self._known:
            self._known.move_to_end(context.parent_id)
        self._known.move_to_end(context.id)
        if len(self._known) > MAX_CONTEXTS:
            self._forget_oldest()
        return self._known[context.id]

    def _forget_oldest(self) -> None:
        context_id, _ = self._known.popitem(last=False)
        times = (
            self._forgotten_until,
            _time_of(context_id),
            b"",
        )
        self._forgotten_until = max(time for time in times if time is not None)


def _time_of(context_id: str) -> bytes | None:
    """Return the time of a context as sortable bytes; None if its id is no ULID."""
    ulid = ulid_to_bytes_or_none(context_id)
    return ulid and ulid[:_TIME_BYTES]


def _may_be_by_sentence(event: Event[Mapping[str, Any]]) -> bool:
    """Return whether a sentence may have started an automation or a script.

    The trigger by a sentence has neither a context nor a description, unlike nearly all
    others, and what an assistant of Home Assistant runs for nobody has no parent.
    """
    context = event.context
    is_of_nobody = context.user_id is None and context.parent_id is None
    return is_of_nobody and not event.data.get("source")


@callback
def _is_asking(data: Mapping[str, Any]) -> bool:
    return (data[ATTR_DOMAIN], data[ATTR_SERVICE]) in _ASKING_ACTIONS


async_get_context_watch: Final = home_singleton("context_watch", ContextWatch)
"""Returns the watch, which starts with the first call."""


_USER_ID: Final = "user_id"
"""Attribute of a person."""

_is_in_turn: ContextVar[bool] = ContextVar(
    "chatterbox_is_in_turn",
    default=False,
)
"""True in a task that a turn of an agent has started, directly or not."""


class Asking(StrEnum):
    """The possible approver of a call."""

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
    is_guest: bool = False
    """True for one who was a guest when the turn began: nothing that they say is stored."""

    @property
    def sure_device_id(self) -> str | None:
        """Return the device, unless a client only pretends to be at it."""
        if self.is_signed_in:
            return None
        return self.device_id


NOBODY: Final = Speaker()


def is_guest(rules: HomeRules, speaker: Speaker) -> bool:
    """Return whether a speaker is a guest: guest mode is on, and it is nobody whom Home Assistant knows.

    A satellite knows nobody then, and an automation only counts if it is trusted.
    """
    is_known = speaker.is_signed_in or speaker.is_api_client
    is_trusted = speaker.asking is Asking.TRUSTED
    return rules.guests_since is not None and not (is_known or is_trusted)


async def async_is_by_hand(
    hass: HomeAssistant,
    context: Context,
) -> bool:
    """Return whether a user of Home Assistant or an automation acts in a context, without a turn of an agent."""
    await asyncio.sleep(0)  # as in `async_get_speaker`
    callers = async_get_context_watch(hass).callers(context)
    is_of_turn = callers.comes_of_turn or callers.has_turn or _is_in_turn.get()
    if is_of_turn or callers.is_by_sentence or not callers.is_fully_known:
        return False
    if context.user_id is None:
        return bool(callers.entity_ids)
    user = await hass.auth.async_get_user(context.user_id)
    return user is not None and user.is_active and not user.system_generated


def in_turn() -> AbstractContextManager[object]:
    """Mark the tasks of a turn: a turn that they start has nobody to ask, and is not trusted.

    Otherwise a model could use a trusted script to request from an agent what it may
    not do itself.
    """
    return _is_in_turn.set(True)


async def async_get_speaker(
    hass: HomeAssistant, user_input: ConversationInput
) -> Speaker:
    """Return the speaker of a request: the signed-in user, or else the person assigned to the satellite."""
    await asyncio.sleep(
        0
    )  # let the bus finish: an event fired within another is dispatched after it
    callers = async_get_context_watch(hass).callers(user_input.context)
    device_id = user_input.device_id
    satellite_id = user_input.satellite_id
    if (
        satellite_id
        and not device_id
        and (entry := er.async_get(hass).async_get(satellite_id))
    ):
        device_id = entry.device_id
    rules = async_get_home_rules(hass).current
    person_id = rules.people_at_satellites.get(device_id) if device_id else None
    is_known = person_id is not None or user_input.context.user_id is not None
    if is_known:
        who = await _async_identity(hass, user_input.context, person_id)
    else:
        who = NOBODY
    asking = _asking(
        user_input, callers, rules.trusted_callers, is_user=who.is_signed_in
    )
    caller = callers.entity_ids[-1] if callers.entity_ids else None
    speaker = replace(
        who,
        device_id=device_id,
        asking=asking,
        caller=caller,
    )
    # The rights of the person who is chosen for a satellite hold on: they may be few.
    if is_guest(rules, speaker):
        speaker = replace(
            speaker,
            name=None,
            person_id=None,
            is_guest=True,
        )
    return speaker


def speaker_context(context: Context, speaker: Speaker) -> Context:
    """Return the context of a turn, so that Home Assistant checks the permissions of the speaker.

    It is the context of the request, or a child of it with the user of the person at
    the satellite.
    """
    if speaker.user_id in (None, context.user_id):
        return context
    return Context(
        user_id=speaker.user_id,
        parent_id=context.id,
    )


def person_id_of(hass: HomeAssistant, user_id: str) -> str:
    """Return the id of the person of a user, or else the id of the user. It survives a new name or entity id."""
    persons = (
        state
        for state in hass.states.async_all("person")
        if state.attributes.get(_USER_ID) == user_id
    )
    return next(
        (known for person in persons if (known := _text(person, ATTR_ID))), user_id
    )


def speaker_of(
    hass: HomeAssistant,
    user_id: str | None,
) -> Speaker:
    """Return the speaker of an action or a command, for whom nobody is asked: a user, or else Home Assistant itself."""
    if user_id:
        person_id = person_id_of(hass, user_id)
    else:
        person_id = None
    return Speaker(
        user_id,
        is_signed_in=user_id is not None,
        person_id=person_id,
    )


async def async_user_of(
    hass: HomeAssistant,
    llm_context: LLMContext,
) -> User | None:
    """Return the user with whose rights tools run in a context, if one is known."""
    context = llm_context.context or Context()
    return await hass.auth.async_get_user(context.user_id or "")


def _asking(
    user_input: ConversationInput,
    callers: Callers,
    trusted: frozenset[str],
    *,
    is_user: bool,
) -> Asking:
    if callers.entity_ids or callers.is_by_action:
        if _is_trusted(callers, trusted):
            return Asking.TRUSTED
        return Asking.NOBODY
    if user_input.satellite_id is not None:
        return Asking.PERSON
    if _is_in_turn.get():
        return Asking.NOBODY
    # A device without a conversation is a timer with a command: nobody listens.
    is_device = (
        user_input.device_id is not None and user_input.conversation_id is not None
    )
    if is_user or is_device:
        return Asking.PERSON
    return Asking.NOBODY


def _is_trusted(
    callers: Callers,
    trusted: frozenset[str],
) -> bool:
    """Return True if only trusted automations and scripts have led to the request."""
    if callers.comes_of_turn or _is_in_turn.get() or not callers.is_by_action:
        return False
    return bool(callers.entity_ids) and trusted.issuperset(callers.entity_ids)


async def _async_identity(
    hass: HomeAssistant, context: Context, person_id: str | None
) -> Speaker:
    """Return the identity of the user, or else of the person assigned to the satellite.

    A deactivated or removed user is not mistaken for that person and has no
    permissions. The users of integrations, such as the one for phone calls, are
    ignored.
    """
    if context.user_id is not None:
        user = await hass.auth.async_get_user(context.user_id)
        if user is None or not user.is_active:
            return Speaker(context.user_id)
        if not user.system_generated:
            return Speaker(
                user.id,
                name=user.name,
                is_signed_in=True,
                person_id=person_id_of(hass, user.id),
            )
    person = hass.states.get(person_id) if person_id else None
    if person is None:
        return NOBODY
    return Speaker(
        _text(
            person,
            _USER_ID,
        ),
        name=person.name,
        person_id=_text(person, ATTR_ID),
    )


def _text(
    state: State,
    attribute: str,
) -> str | None:
    value = state.attributes.get(attribute)
    if isinstance(value, str):
        return value
    return None


def async_speaker_area(
    hass: HomeAssistant, user_input: ConversationInput
) -> ar.AreaEntry | None:
    """Return the area that the built-in agent assumes for the speaker."""
    area_id = None
    device_id = user_input.device_id
    if user_input.satellite_id and (
        entry := er.async_get(hass).async_get(user_input.satellite_id)
    ):
        area_id = entry.area_id
        device_id = entry.device_id
    if (
        area_id is None
        and device_id
        and (device := dr.async_get(hass).async_get(device_id))
    ):
        area_id = dr.async_get_effective_area_id(hass, device)
    if area_id:
        return ar.async_get(hass).async_get_area(area_id)
    return None
