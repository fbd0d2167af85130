"""Tracks which automations and scripts run in a context, and whether a turn of an agent has led to it.

An automation runs in a context of its own, whose parent is the context of its trigger. A script runs in the context of
its caller, a person or an automation, and an agent gets the context of the script. Clients cannot choose a context:
Home Assistant creates one for every request.

The number of tracked contexts is limited. The id of a context contains its time (it is a ULID), so that an unknown
context can be told from one that may have been dropped.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.components.conversation.const import SERVICE_PROCESS
from homeassistant.const import ATTR_DOMAIN, ATTR_ENTITY_ID, ATTR_SERVICE, EVENT_CALL_SERVICE
from homeassistant.core import Context, Event, EventOrigin, HomeAssistant, callback
from homeassistant.util.ulid import ulid_to_bytes_or_none

from ..const import DOMAIN, EVENT_APPROVAL_REQUESTED, SERVICE_ASK
from ..data import singleton

# Importing them from their integrations would set these up before us, and we would miss their first events.
EVENT_AUTOMATION_TRIGGERED: Final = "automation_triggered"
EVENT_SCRIPT_STARTED: Final = "script_started"

_BY_QUESTION: Final = f"event '{EVENT_APPROVAL_REQUESTED}'"
"""Source of an automation that was triggered by the event of a question.

Source: `async_attach_trigger` in homeassistant/components/homeassistant/triggers/event.py
"""

# As above for AI tasks.
_ASKING_ACTIONS: Final = frozenset(
    {(CONVERSATION_DOMAIN, SERVICE_PROCESS), (DOMAIN, SERVICE_ASK), ("ai_task", "generate_data")}
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
    is_fully_known: bool = True
    """True if neither the context nor its parents can have been dropped."""


_NOBODY: Final = Callers()


@dataclass(slots=True)
class _Known:
    parent_id: str | None
    entity_ids: tuple[str, ...] = ()
    is_by_action: bool = False
    has_turn: bool = False
    begins_with_turn: bool = False
    """True if a turn ran before any automation or script had started."""
    is_detached: bool = False
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
        hass.bus.async_listen(EVENT_CALL_SERVICE, self._on_asking, event_filter=_is_asking)

    @callback
    def callers(self, context: Context) -> Callers:
        """Return the callers in a context."""
        own = self._known.get(context.id)
        if own is None and context.parent_id is None and self._forgotten_until is None:
            return _NOBODY
        own = own or self._unheard(context.id, context.parent_id)
        line = tuple(self._line(context.parent_id))
        return Callers(
            own.entity_ids,
            own.is_by_action,
            comes_of_turn=own.begins_with_turn or any(known.has_turn for known in line),
            has_turn=own.has_turn,
            is_fully_known=all(known.is_fully_known for known in (own, *line)),
        )

    @callback
    def take_for_turn(self, context: Context) -> None:
        """Attribute the context to an agent from now on."""
        known = self._of(context)
        known.has_turn = True
        known.begins_with_turn = known.begins_with_turn or not known.entity_ids

    @callback
    def detach(self, context: Context) -> None:
        """Separate a new context from its parents."""
        known = self._of(context)
        known.parent_id = None
        known.is_detached = True

    def _is_detached(self, context_id: str | None) -> bool:
        known = self._known.get(context_id) if context_id else None
        return known is not None and known.is_detached

    def _line(self, parent_id: str | None) -> Iterator[_Known]:
        """Yield the parents of a context, the latest first, as far as known."""
        for _ in range(_MAX_GENERATIONS):
            if parent_id is None:
                return
            known = self._known.get(parent_id) or self._unheard(parent_id)
            yield known
            parent_id = known.parent_id
        yield _Known(None, has_turn=True)  # the line is too long: assume the worst

    def _unheard(self, context_id: str, parent_id: str | None = None) -> _Known:
        return _Known(parent_id, is_fully_known=not self._may_be_forgotten(context_id))

    def _may_be_forgotten(self, context_id: str) -> bool:
        if self._forgotten_until is None:
            return False
        made = _time_of(context_id)
        return made is None or made <= self._forgotten_until

    @callback
    def _on_started(self, event: Event[Mapping[str, Any]]) -> None:
        entity_id = event.data.get(ATTR_ENTITY_ID)
        if event.origin is not EventOrigin.local or not isinstance(entity_id, str):
            return
        if event.data.get("source") == _BY_QUESTION and not self._is_detached(event.context.parent_id):
            self.take_for_turn(event.context)  # users can have their phones fire this event
        known = self._of(event.context)
        known.entity_ids = (*(other for other in known.entity_ids if other != entity_id), entity_id)

    @callback
    def _on_asking(self, event: Event[Mapping[str, Any]]) -> None:
        self._of(event.context).is_by_action = True

    def _of(self, context: Context) -> _Known:
        """Return a context, and mark it and its parent as seen last."""
        if context.id not in self._known:
            self._known[context.id] = self._unheard(context.id, context.parent_id)
        if context.parent_id is not None and context.parent_id in self._known:
            self._known.move_to_end(context.parent_id)
        self._known.move_to_end(context.id)
        if len(self._known) > MAX_CONTEXTS:
            self._forget_oldest()
        return self._known[context.id]

    def _forget_oldest(self) -> None:
        context_id, _ = self._known.popitem(last=False)
        times = (self._forgotten_until, _time_of(context_id), b"")
        self._forgotten_until = max(time for time in times if time is not None)


def _time_of(context_id: str) -> bytes | None:
    """Return the time of a context as sortable bytes; None if its id is no ULID."""
    ulid = ulid_to_bytes_or_none(context_id)
    return ulid and ulid[:_TIME_BYTES]


@callback
def _is_asking(data: Mapping[str, Any]) -> bool:
    return (data[ATTR_DOMAIN], data[ATTR_SERVICE]) in _ASKING_ACTIONS


@callback
@singleton
def async_get_context_watch(hass: HomeAssistant) -> ContextWatch:
    """Return the watch, which starts with the first call."""
    return ContextWatch(hass)
