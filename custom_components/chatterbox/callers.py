"""Which automations and scripts run in a context, and whether a turn of an agent has led to it.

Knows events and contexts of Home Assistant. Must not know people, agents or settings. An automation runs in a context
of its own, a script in that of whoever started it, which may be a person's or an automation's; an agent that they talk
to gets that context. What led to an automation is the parent of its context. Nobody outside can choose a context: Home
Assistant makes a new one for everything that it is asked.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.components.conversation.const import SERVICE_PROCESS
from homeassistant.const import ATTR_DOMAIN, ATTR_ENTITY_ID, ATTR_SERVICE, EVENT_CALL_SERVICE
from homeassistant.core import Context, Event, EventOrigin, HomeAssistant, callback
from homeassistant.util.hass_dict import HassKey

from .const import DOMAIN, EVENT_TURN_STARTED

# Names of events of two integrations that would be set up before us if we imported them, and start before we listen.
EVENT_AUTOMATION_TRIGGERED: Final = "automation_triggered"
EVENT_SCRIPT_STARTED: Final = "script_started"

_MAX_CONTEXTS: Final = 1000
"""Those that were heard of last. An older one has no callers any more, so nobody is trusted because of it."""
_MAX_GENERATIONS: Final = 20


@dataclass(frozen=True, slots=True)
class Callers:
    """What is known of a context."""

    entity_ids: tuple[str, ...] = ()
    """The automations and scripts that have started in it, the latest last."""
    is_by_action: bool = False
    """The action `conversation.process` was called in it: what an agent answers goes to whoever called."""
    comes_of_turn: bool = False
    """An agent has led to it, by something that it did."""
    has_turn: bool = False
    """An agent has spoken in it, whoever began."""


@dataclass(slots=True)
class _Known:
    parent_id: str | None
    entity_ids: tuple[str, ...] = ()
    is_by_action: bool = False
    has_turn: bool = False
    begins_with_turn: bool = False
    """An agent has spoken before any automation or script has started."""


class ContextWatch:
    """Listens to what happens in a house, and tells of a context who runs in it."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Listen from now on, for as long as Home Assistant runs."""
        self._known: OrderedDict[str, _Known] = OrderedDict()
        """By the ids of contexts, the one that was heard of last at the end."""
        hass.bus.async_listen(EVENT_AUTOMATION_TRIGGERED, self._on_started)
        hass.bus.async_listen(EVENT_SCRIPT_STARTED, self._on_started)
        hass.bus.async_listen(EVENT_CALL_SERVICE, self._on_process, event_filter=_is_process)
        hass.bus.async_listen(EVENT_TURN_STARTED, self._on_turn)

    @callback
    def callers(self, context: Context) -> Callers:
        """Return who runs in a context."""
        own = self._known.get(context.id) or _Known(context.parent_id)
        comes_of_turn = own.begins_with_turn or self._descends_from_turn(context.parent_id)
        return Callers(own.entity_ids, own.is_by_action, comes_of_turn, own.has_turn)

    def _descends_from_turn(self, parent_id: str | None) -> bool:
        for _ in range(_MAX_GENERATIONS):
            if parent_id is None or (known := self._known.get(parent_id)) is None:
                return False
            if known.has_turn:
                return True
            parent_id = known.parent_id
        return True

    @callback
    def _on_started(self, event: Event[Mapping[str, Any]]) -> None:
        entity_id = event.data.get(ATTR_ENTITY_ID)
        if event.origin is not EventOrigin.local or not isinstance(entity_id, str):
            return
        known = self._of(event.context)
        known.entity_ids = (*(other for other in known.entity_ids if other != entity_id), entity_id)

    @callback
    def _on_process(self, event: Event[Mapping[str, Any]]) -> None:
        self._of(event.context).is_by_action = True

    @callback
    def _on_turn(self, event: Event[Mapping[str, Any]]) -> None:
        known = self._of(event.context)
        known.has_turn = True
        known.begins_with_turn = known.begins_with_turn or not known.entity_ids

    def _of(self, context: Context) -> _Known:
        known = self._known.setdefault(context.id, _Known(context.parent_id))
        self._known.move_to_end(context.id)
        if len(self._known) > _MAX_CONTEXTS:
            self._known.popitem(last=False)
        return known


@callback
def _is_process(data: Mapping[str, Any]) -> bool:
    return bool(data[ATTR_DOMAIN] == CONVERSATION_DOMAIN and data[ATTR_SERVICE] == SERVICE_PROCESS)


_WATCH: HassKey[ContextWatch] = HassKey(f"{DOMAIN}_context_watch")


@callback
def async_get_context_watch(hass: HomeAssistant) -> ContextWatch:
    """Return what listens in a house; it begins to when it is asked for first."""
    if _WATCH not in hass.data:
        hass.data[_WATCH] = ContextWatch(hass)
    return hass.data[_WATCH]
