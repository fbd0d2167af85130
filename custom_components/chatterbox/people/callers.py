"""Which automations and scripts run in a context, and whether a turn of an agent has led to it.

Knows events and contexts of Home Assistant. Must not know people, agents or settings. An automation runs in a context
of its own, a script in that of whoever started it, which may be a person's or an automation's; an agent that they talk
to gets that context. What led to an automation is the parent of its context. Nobody outside can choose a context: Home
Assistant makes a new one for everything that it is asked.

Only so many contexts are kept in mind. The id of a context tells when it was made (it is a ULID), so of one that is not
known it can still be told whether it has never been heard of or may have been forgotten.
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

# Names of events of two integrations that would be set up before us if we imported them, and start before we listen.
EVENT_AUTOMATION_TRIGGERED: Final = "automation_triggered"
EVENT_SCRIPT_STARTED: Final = "script_started"

_BY_QUESTION: Final = f"event '{EVENT_APPROVAL_REQUESTED}'"
"""What Home Assistant says of an automation that the event of a question has triggered.

Source: `async_attach_trigger` in homeassistant/components/homeassistant/triggers/event.py
"""

# So would the one of AI tasks, and its cameras.
_ASKING_ACTIONS: Final = frozenset(
    {(CONVERSATION_DOMAIN, SERVICE_PROCESS), (DOMAIN, SERVICE_ASK), ("ai_task", "generate_data")}
)
"""Domain and name of the actions by which an agent is asked."""

MAX_CONTEXTS: Final = 5000
"""Those that were heard of last: in a busy house, of many minutes. An older one has no callers any more, so nobody is
trusted because of it."""
_MAX_GENERATIONS: Final = 20
_TIME_BYTES: Final = 6
"""So many of a ULID, at its beginning, are the time."""


@dataclass(frozen=True, slots=True)
class Callers:
    """What is known of a context."""

    entity_ids: tuple[str, ...] = ()
    """The automations and scripts that have started in it, the latest last."""
    is_by_action: bool = False
    """An action was called in it by which an agent is asked, such as `conversation.process`: what it answers goes to
    whoever called."""
    comes_of_turn: bool = False
    """An agent has led to it, by something that it did."""
    has_turn: bool = False
    """An agent has spoken in it, whoever began."""
    is_fully_known: bool = True
    """Nothing of it, or of what led to it, can have been forgotten."""


_NOBODY: Final = Callers()


@dataclass(slots=True)
class _Known:
    parent_id: str | None
    entity_ids: tuple[str, ...] = ()
    is_by_action: bool = False
    has_turn: bool = False
    begins_with_turn: bool = False
    """An agent has spoken before any automation or script has started."""
    is_detached: bool = False
    is_fully_known: bool = True
    """It cannot have been forgotten, and then heard of again."""


class ContextWatch:
    """Listens to what happens in a house, and tells of a context who runs in it."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Listen from now on, for as long as Home Assistant runs."""
        self._known: OrderedDict[str, _Known] = OrderedDict()
        """By the ids of contexts, the one that was heard of last at the end."""
        self._forgotten_until: bytes | None = None
        """When the youngest of those was made that were forgotten; None if none was yet."""
        hass.bus.async_listen(EVENT_AUTOMATION_TRIGGERED, self._on_started)
        hass.bus.async_listen(EVENT_SCRIPT_STARTED, self._on_started)
        hass.bus.async_listen(EVENT_CALL_SERVICE, self._on_asking, event_filter=_is_asking)

    @callback
    def callers(self, context: Context) -> Callers:
        """Return who runs in a context."""
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
        """Take what goes on in a context for the doing of an agent from now on."""
        known = self._of(context)
        known.has_turn = True
        known.begins_with_turn = known.begins_with_turn or not known.entity_ids

    @callback
    def detach(self, context: Context) -> None:
        """Take what comes of a new context for a thing of its own, whatever led to the context."""
        known = self._of(context)
        known.parent_id = None
        known.is_detached = True

    def _is_detached(self, context_id: str | None) -> bool:
        known = self._known.get(context_id) if context_id else None
        return known is not None and known.is_detached

    def _line(self, parent_id: str | None) -> Iterator[_Known]:
        """Yield what led to a context, the latest first, until nothing more is known."""
        for _ in range(_MAX_GENERATIONS):
            if parent_id is None:
                return
            known = self._known.get(parent_id) or self._unheard(parent_id)
            yield known
            parent_id = known.parent_id
        yield _Known(None, has_turn=True)  # so long a line is not looked through: the worst is taken for true

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
            self.take_for_turn(event.context)  # no question has fired that event: users can have their phones fire any
        known = self._of(event.context)
        known.entity_ids = (*(other for other in known.entity_ids if other != entity_id), entity_id)

    @callback
    def _on_asking(self, event: Event[Mapping[str, Any]]) -> None:
        self._of(event.context).is_by_action = True

    def _of(self, context: Context) -> _Known:
        """Return what is known of a context, and keep in mind that it was heard of, and what led to it, too."""
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
    """Return when a context was made, in an order of bytes; None if it has an id that somebody made up."""
    ulid = ulid_to_bytes_or_none(context_id)
    return ulid and ulid[:_TIME_BYTES]


@callback
def _is_asking(data: Mapping[str, Any]) -> bool:
    return (data[ATTR_DOMAIN], data[ATTR_SERVICE]) in _ASKING_ACTIONS


@callback
@singleton
def async_get_context_watch(hass: HomeAssistant) -> ContextWatch:
    """Return what listens in a house; it begins to when it is asked for first."""
    return ContextWatch(hass)
