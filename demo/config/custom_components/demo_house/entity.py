"""Base of every entity of a demo house: its ids, its name and its device.

Knows how Home Assistant composes an entity's name; must not know any kind of entity.
"""

from homeassistant.config_entries import ConfigEntry
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity import Entity

from .home import Home
from .home_entity import HomeEntity
from .registries import device_identifier


class DemoHouseEntity(Entity):
    """An entity that knows its own state, since it is the device as well."""

    _attr_should_poll = False

    def __init__(self, entry: ConfigEntry[Home], entity: HomeEntity) -> None:
        """Take ids, name and device from the home file's `entity`."""
        self.entity_id = entity.id
        self._attr_unique_id = entity.id
        device = entry.runtime_data.device(entity.device)
        if device is None:
            self._attr_name: str | None = entity.name
            return
        # Home Assistant puts the device's name before the entity's, which therefore is
        # only what follows it.
        self._attr_has_entity_name = True
        self._attr_name = entity.name.removeprefix(device.name).strip() or None
        self._attr_device_info = DeviceInfo(
            identifiers={device_identifier(entry.entry_id, device.id)}
        )
