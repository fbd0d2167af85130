"""What every Chatterbox entity shares: its identity and its device.

Knows entries and subentries. Must not know what an entity does.
"""

from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_MODEL, STATE_UNAVAILABLE
from homeassistant.core import callback
from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo
from homeassistant.helpers.entity import Entity

from .const import DOMAIN
from .runtime.agents import ChatterboxConfigEntry


class AgentDeviceEntity(Entity):
    """An entity on the device of an agent: one subentry, one service device."""

    _attr_has_entity_name = True

    def __init__(self, entry: ChatterboxConfigEntry, subentry: ConfigSubentry, part: str = "") -> None:
        """Take the identity of a subentry of `entry`, or, with a translation key, of a part of it."""
        self.entry = entry
        self.subentry = subentry
        self._attr_unique_id = subentry.subentry_id
        if part:
            self._attr_unique_id += f"_{part}"
            self._attr_translation_key = part
        self._attr_device_info = DeviceInfo(
            entry_type=DeviceEntryType.SERVICE,
            identifiers={(DOMAIN, subentry.subentry_id)},
            manufacturer="Chatterbox",
            model=subentry.data.get(CONF_MODEL, entry.title),
            name=subentry.title,
        )


class ChatterboxEntity(AgentDeviceEntity):
    """An entity that is an agent itself, and bears its name."""

    _attr_name = None

    @callback
    def async_follow_links(self) -> None:
        """Show whether anybody can answer, where that has changed: this is asked after every turn of every agent."""
        shown = self.hass.states.get(self.entity_id)
        if shown is None or (shown.state == STATE_UNAVAILABLE) is self.available:
            self.async_write_ha_state()
