"""Numbers of a demo house that can be set."""

from typing import override

from homeassistant.components.number import NumberEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_information import HomeNumber


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the numbers of the home."""
    async_add_entities(
        DemoNumber(entry, number)
        for number in entry.runtime_data.entities_of(HomeNumber)
    )


class DemoNumber(DemoHouseEntity, NumberEntity):
    """A number within its bounds."""

    def __init__(self, entry: DemoHouseConfigEntry, number: HomeNumber) -> None:
        """Take value and bounds of the home file."""
        super().__init__(entry, number)
        self._attr_native_value = number.state
        self._attr_native_min_value = number.native_min_value
        self._attr_native_max_value = number.native_max_value
        self._attr_native_step = number.native_step
        self._attr_native_unit_of_measurement = number.native_unit_of_measurement
        self._attr_device_class = number.device_class

    @override
    async def async_set_native_value(self, value: float) -> None:
        """Set the number."""
        self._attr_native_value = value
        self.async_write_ha_state()
