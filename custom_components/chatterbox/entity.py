"""The base of Chatterbox's entities: identity, device and availability."""

from typing import override

from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_MODEL
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import async_get_platforms
from homeassistant.helpers.update_coordinator import BaseCoordinatorEntity

from .const import DOMAIN
from .repairs import async_forget_turns
from .runtime.agents import Agent, ChatterboxConfigEntry
from .runtime.health import HealthMonitor
from .turns.run import AgentTurns


class AgentDeviceEntity(Entity):
    """An entity on the device of an agent: one subentry, one service device."""

    _attr_has_entity_name = True

    def __init__(
        self, entry: ChatterboxConfigEntry, subentry: ConfigSubentry, part: str = ""
    ) -> None:
        """Take the identity of a subentry of `entry` or, with a translation key, of a part of it."""
        self.entry = entry
        self.subentry = subentry
        self._attr_unique_id = subentry.subentry_id
        if part:
            self._attr_unique_id += f"_{part}"
            self._attr_translation_key = part
        self._attr_device_info = DeviceInfo(
            configuration_url=f"homeassistant://{DOMAIN}/turns?agent={subentry.subentry_id}",
            entry_type=DeviceEntryType.SERVICE,
            identifiers={(DOMAIN, subentry.subentry_id)},
            manufacturer="Chatterbox",
            model=subentry.data.get(CONF_MODEL, entry.title),
            name=subentry.title,
        )


async def async_remove_entities(
    hass: HomeAssistant, entry: ChatterboxConfigEntry, agent_id: str
) -> None:
    """Remove the entities of an agent that is rebuilt; they stay registered."""
    for platform in async_get_platforms(hass, DOMAIN):
        for entity in (
            [*platform.entities.values()] if platform.config_entry is entry else ()
        ):
            if (
                isinstance(entity, AgentDeviceEntity)
                and entity.subentry.subentry_id == agent_id
            ):
                await entity.async_remove()


class ChatterboxEntity(BaseCoordinatorEntity[HealthMonitor], AgentDeviceEntity):
    """The entity of an agent itself, which has the agent's name. It is available if any model of its chain answers."""

    _attr_name = None

    def __init__(
        self, entry: ChatterboxConfigEntry, subentry: ConfigSubentry, agent: Agent
    ) -> None:
        """Take the agent that the runtime built for a subentry of `entry`."""
        BaseCoordinatorEntity.__init__(self, entry.runtime_data.health)
        AgentDeviceEntity.__init__(self, entry, subentry)
        self._agent = agent
        self._attr_available = agent.chain.is_available

    @override
    async def async_added_to_hass(self) -> None:
        """Prepare for turns."""
        await super().async_added_to_hass()
        self._turns = AgentTurns(
            self.hass, self.entity_id, self.entry, self.subentry, self._agent
        )

    @override
    async def async_will_remove_from_hass(self) -> None:
        """End the agent's issues and questions; an agent that is loaded again reports them anew."""
        self._turns.end()
        async_forget_turns(self.hass, self.subentry)

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        """Show whether the agent can answer."""
        self._attr_available = self._agent.chain.is_available
        super()._handle_coordinator_update()

    @override
    async def async_update(self) -> None:
        """Ask the service, when somebody updates the entity."""
        await self.coordinator.async_request_refresh()
