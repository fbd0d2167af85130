"""Sensors of a demo house that say yes or no."""

from homeassistant.components.binary_sensor import BinarySensorEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_information import HomeBinarySensor


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the binary sensors of the home."""
    async_add_entities(
        DemoBinarySensor(entry, sensor)
        for sensor in entry.runtime_data.entities_of(HomeBinarySensor)
    )


class DemoBinarySensor(DemoHouseEntity, BinarySensorEntity):
    """A sensor that always says the same."""

    def __init__(self, entry: DemoHouseConfigEntry, sensor: HomeBinarySensor) -> None:
        """Take the value of the home file."""
        super().__init__(entry, sensor)
        self._attr_is_on = sensor.state
        self._attr_device_class = sensor.device_class
