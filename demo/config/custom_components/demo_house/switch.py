"""Switches and sockets of a demo house."""

from typing import Any, override

from homeassistant.components.switch import SwitchEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .house_appliances import HouseSwitch


async def async_setup_entry(
    _hass: HomeAssistant, entry: DemoHouseConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Add the switches of the house."""
    async_add_entities(DemoSwitch(entry, switch) for switch in entry.runtime_data.entities_of(HouseSwitch))


class DemoSwitch(DemoHouseEntity, SwitchEntity):
    """A switch."""

    def __init__(self, entry: DemoHouseConfigEntry, switch: HouseSwitch) -> None:
        """Take the state of the house file."""
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
