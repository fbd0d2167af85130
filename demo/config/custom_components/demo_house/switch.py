"""Switches and sockets of a demo house."""

from typing import Any, override

from homeassistant.components.switch import SwitchEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_appliances import HomeSwitch


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the switches of the home."""
    async_add_entities(
        DemoSwitch(entry, switch)
        for switch in entry.runtime_data.entities_of(HomeSwitch)
    )


class DemoSwitch(DemoHouseEntity, SwitchEntity):
    """A switch."""

    def __init__(self, entry: DemoHouseConfigEntry, switch: HomeSwitch) -> None:
        """Take the state of the home file."""
        super().__init__(entry, switch)
        self._attr_is_on = switch.state
        self._attr_device_class = switch.device_class

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        """Turn on."""
        self._attr_is_on = True
        self.async_write_ha_state()

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        """Turn off."""
        self._attr_is_on = False
        self.async_write_ha_state()
