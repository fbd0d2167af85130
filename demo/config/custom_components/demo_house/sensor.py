"""Sensors of a demo house."""

from homeassistant.components.sensor import SensorEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_information import HomeSensor


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the sensors of the home."""
    async_add_entities(
        DemoSensor(entry, sensor)
        for sensor in entry.runtime_data.entities_of(HomeSensor)
    )


class DemoSensor(DemoHouseEntity, SensorEntity):
    """A sensor that always measures the same."""

    def __init__(self, entry: DemoHouseConfigEntry, sensor: HomeSensor) -> None:
        """Take the value of the home file."""
        super().__init__(entry, sensor)
        self._attr_native_value = sensor.state
        self._attr_native_unit_of_measurement = sensor.native_unit_of_measurement
        self._attr_device_class = sensor.device_class
        self._attr_state_class = sensor.state_class
