"""What every Chatterbox entity shares: its identity, its device, and how it takes errors.

Knows entries and subentries. Must not know what an entity does.
"""

from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_MODEL
from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo
from homeassistant.helpers.entity import Entity

from .agent.errors import AgentError, ProviderRejectedKey
from .const import DOMAIN
from .runtime import ChatterboxConfigEntry


class ChatterboxEntity(Entity):
    """An entity that is an agent itself: one subentry, one service device, one name."""

    _attr_has_entity_name = True
    _attr_name = None

    def __init__(self, entry: ChatterboxConfigEntry, subentry: ConfigSubentry) -> None:
        """Take the identity of a subentry of `entry`."""
        self.entry = entry
        self.subentry = subentry
        self._attr_unique_id = subentry.subentry_id
        self._attr_device_info = DeviceInfo(
            entry_type=DeviceEntryType.SERVICE,
            identifiers={(DOMAIN, subentry.subentry_id)},
            manufacturer="Chatterbox",
            model=subentry.data.get(CONF_MODEL, entry.title),
            name=subentry.title,
        )

    def react_to(self, error: AgentError | None) -> None:
        """Do what the error of a turn asks for beyond words: a refused key needs a new one."""
        is_there = self.hass.config_entries.async_get_entry(self.entry.entry_id) is self.entry
        if isinstance(error, ProviderRejectedKey) and is_there:
            self.entry.async_start_reauth(self.hass)
