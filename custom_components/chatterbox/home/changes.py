"""Counts the changes to the registries, the exposure settings and the names of the states, for caches of the home.

A change of a state counts only if an entity comes, goes, or gets another name or device class.
"""

from typing import Final

from homeassistant.components.homeassistant.exposed_entities import async_listen_entity_updates
from homeassistant.const import ATTR_DEVICE_CLASS, ATTR_FRIENDLY_NAME, EVENT_STATE_CHANGED
from homeassistant.core import Event, EventStateChangedData, HomeAssistant, callback
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
)

from ..data import singleton

_EVENTS: Final = (
    str(ar.EVENT_AREA_REGISTRY_UPDATED),
    str(dr.EVENT_DEVICE_REGISTRY_UPDATED),
    str(er.EVENT_ENTITY_REGISTRY_UPDATED),
    str(fr.EVENT_FLOOR_REGISTRY_UPDATED),
)
_ATTRIBUTES: Final = (ATTR_FRIENDLY_NAME, ATTR_DEVICE_CLASS)
"""The device class decides whether an entity is exposed by default."""


class HomeChanges:
    """Counts the changes from its creation on."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Begin to count."""
        self._hass = hass
        self._assistants: set[str] = set()
        self._count = 0
        for kind in _EVENTS:
            hass.bus.async_listen(kind, self._async_count)
        hass.bus.async_listen(EVENT_STATE_CHANGED, self._async_count, event_filter=_is_other_entity)

    @callback
    def async_count(self, assistant: str) -> int:
        """Return the number of changes, including those of the exposure settings of an assistant."""
        if assistant not in self._assistants:
            self._assistants.add(assistant)
            async_listen_entity_updates(self._hass, assistant, self._async_exposed)
        return self._count

    @callback
    def _async_count(self, _event: Event | Event[EventStateChangedData]) -> None:
        self._count += 1

    @callback
    def _async_exposed(self) -> None:
        self._count += 1


@singleton
def _changes(hass: HomeAssistant) -> HomeChanges:
    return HomeChanges(hass)


@callback
def async_home_version(hass: HomeAssistant, assistant: str) -> int:
    """Return a number that stays the same until the home changes as an assistant sees it."""
    return _changes(hass).async_count(assistant)


@callback
def _is_other_entity(data: EventStateChangedData) -> bool:
    """Tell whether an entity has come, gone, or changed in more than its state."""
    old, new = data["old_state"], data["new_state"]
    if old is None or new is None:
        return True
    before, now = old.attributes, new.attributes
    return before is not now and any(before.get(name) != now.get(name) for name in _ATTRIBUTES)
