"""Notices when anything has changed that a home is told by, or that its tools are made of.

Knows Home Assistant's events, registries and exposure settings. Must not know what is kept until then. What nobody
tells of, which is intents and devices with timers, is looked at each time. States do not count, but for what is there,
what it is called, and what it can do.
"""

from collections.abc import Mapping
from typing import Final

from homeassistant.components.homeassistant.exposed_entities import async_listen_entity_updates
from homeassistant.components.intent.const import TIMER_DATA
from homeassistant.components.intent.timers import TimerManager
from homeassistant.const import (
    ATTR_DEVICE_CLASS,
    ATTR_DOMAIN,
    ATTR_FRIENDLY_NAME,
    ATTR_SUPPORTED_FEATURES,
    EVENT_COMPONENT_LOADED,
    EVENT_CORE_CONFIG_UPDATE,
    EVENT_SERVICE_REGISTERED,
    EVENT_SERVICE_REMOVED,
    EVENT_STATE_CHANGED,
)
from homeassistant.core import Event, EventStateChangedData, HomeAssistant, callback
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    intent,
)

from ..const import SCRIPT_DOMAIN
from ..data import singleton

_EVENTS: Final = (
    str(ar.EVENT_AREA_REGISTRY_UPDATED),
    str(dr.EVENT_DEVICE_REGISTRY_UPDATED),
    str(er.EVENT_ENTITY_REGISTRY_UPDATED),
    str(fr.EVENT_FLOOR_REGISTRY_UPDATED),
    EVENT_COMPONENT_LOADED,
    EVENT_CORE_CONFIG_UPDATE,
)
_OF_SERVICES: Final[tuple[str, ...]] = (EVENT_SERVICE_REGISTERED, EVENT_SERVICE_REMOVED)
_ATTRIBUTES: Final = (ATTR_FRIENDLY_NAME, ATTR_SUPPORTED_FEATURES, ATTR_DEVICE_CLASS)


class HouseChanges:
    """Counts the changes to one house, from the first time that somebody wants to know."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Begin to count."""
        self._hass = hass
        self._assistants: set[str] = set()
        self._intents: tuple[intent.IntentHandler, ...] = ()
        """Those that were there when somebody wanted to know last, as is the next."""
        self._devices_with_timers = frozenset[str]()
        self._count = 0
        for kind in _EVENTS:
            hass.bus.async_listen(kind, self._async_count)
        for kind in _OF_SERVICES:
            hass.bus.async_listen(kind, self._async_count, event_filter=_is_of_a_script)
        hass.bus.async_listen(EVENT_STATE_CHANGED, self._async_count, event_filter=_is_another_thing)

    @callback
    def async_state(self, assistant: str) -> int:
        """Return how many changes there were, those that nobody tells of included."""
        if assistant not in self._assistants:
            self._assistants.add(assistant)
            async_listen_entity_updates(self._hass, assistant, self._async_exposed)
        timers: object = self._hass.data.get(TIMER_DATA)
        devices = timers.handlers.keys() if isinstance(timers, TimerManager) else ()
        intents = tuple(intent.async_get(self._hass))
        if intents != self._intents or self._devices_with_timers.symmetric_difference(devices):
            self._intents, self._devices_with_timers = intents, frozenset(devices)
            self._count += 1
        return self._count

    @callback
    def _async_count(self, _event: Event | Event[EventStateChangedData]) -> None:
        self._count += 1

    @callback
    def _async_exposed(self) -> None:
        self._count += 1


@singleton
def _changes(hass: HomeAssistant) -> HouseChanges:
    return HouseChanges(hass)


@callback
def async_house_state(hass: HomeAssistant, assistant: str) -> int:
    """Return a number that stays the same until something changes of what an assistant may see or do."""
    return _changes(hass).async_state(assistant)


@callback
def _is_of_a_script(data: Mapping[str, object]) -> bool:
    return data[ATTR_DOMAIN] == SCRIPT_DOMAIN


@callback
def _is_another_thing(data: EventStateChangedData) -> bool:
    """Tell whether a thing has come, gone, or changed in more than its state."""
    old, new = data["old_state"], data["new_state"]
    if old is None or new is None:
        return True
    before, now = old.attributes, new.attributes
    return before is not now and any(before.get(name) != now.get(name) for name in _ATTRIBUTES)
