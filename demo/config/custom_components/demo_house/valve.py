"""Valves of a demo house."""

from typing import override

from homeassistant.components.valve import ValveEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_appliances import HomeValve

_CLOSED = 0
_OPEN = 100


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the valves of the home."""
    async_add_entities(
        DemoValve(entry, valve) for valve in entry.runtime_data.entities_of(HomeValve)
    )


class DemoValve(DemoHouseEntity, ValveEntity):
    """A valve that is at once where it is told to be."""

    def __init__(self, entry: DemoHouseConfigEntry, valve: HomeValve) -> None:
        """Take the state of the home file; a reported position says more than `open` does."""
        super().__init__(entry, valve)
        self._attr_device_class = valve.device_class
        self._attr_reports_position = valve.reports_position
        self._attr_supported_features = valve.supported_features
        position = valve.current_position if valve.reports_position else None
        self._move(
            position if position is not None else _OPEN if valve.state else _CLOSED
        )

    @override
    async def async_open_valve(self) -> None:
        """Open."""
        await self.async_set_valve_position(_OPEN)

    @override
    async def async_close_valve(self) -> None:
        """Close."""
        await self.async_set_valve_position(_CLOSED)

    @override
    async def async_set_valve_position(self, position: int) -> None:
        """Go to the position."""
        self._move(position)
        self.async_write_ha_state()

    @override
    async def async_stop_valve(self) -> None:
        """Stay where it is: no valve of this home is ever under way."""

    def _move(self, position: int) -> None:
        self._attr_is_closed = position == _CLOSED
        self._attr_current_valve_position = (
            position if self._attr_reports_position else None
        )
