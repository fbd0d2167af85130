"""The base of Chatterbox's entities: identity, device and availability."""

from collections.abc import Callable
from typing import Final, override

from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntryState,
    ConfigSubentry,
)
from homeassistant.const import CONF_MODEL
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import async_get_platforms
from homeassistant.helpers.update_coordinator import BaseCoordinatorEntity

from .const import DOMAIN
from .repairs import async_forget_turns
from .runtime.agents import Agent, ChatterboxConfigEntry
from .runtime.health import HealthMonitor
from .turns.review import REVIEWERS
from .turns.run import AgentTurns


class AgentDeviceEntity(Entity):
    """An entity on the device of an agent: one subentry, one service device."""

    _attr_has_entity_name = True

    def __init__(
        self,
        entry: ChatterboxConfigEntry,
        subentry: ConfigSubentry,
        part: str = "",
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
            model=subentry.data.get(
                CONF_MODEL,
                entry.title,
            ),
            name=subentry.title,
        )


_UP: Final = frozenset({ConfigEntryState.LOADED, ConfigEntryState.SETUP_IN_PROGRESS})


def async_show_in_home(
    hass: HomeAssistant,
    entry: ChatterboxConfigEntry,
    show: Callable[[set[type[Entity]]], None],
) -> None:
    """Show entities of which the home has one each in the first entry that is up, as long as they are in no other one.

    `show` is given the types of the entities that are there.
    """

    @callback
    def show_if_first(*_: object) -> None:
        entries = hass.config_entries.async_entries(DOMAIN)
        if entry is next((one for one in entries if one.state in _UP), None):
            platforms = async_get_platforms(hass, DOMAIN)
            show({type(one) for each in platforms for one in each.entities.values()})

    show_if_first()
    entry.async_on_unload(
        async_dispatcher_connect(
            hass,
            SIGNAL_CONFIG_ENTRY_CHANGED,
            show_if_first,
        )
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
        self,
        entry: ChatterboxConfigEntry,
        subentry: ConfigSubentry,
        agent: Agent,
    ) -> None:
        """Take the agent that the runtime built for a subentry of `entry`."""
        BaseCoordinatorEntity.__init__(self, entry.runtime_data.health)
        AgentDeviceEntity.__init__(
            self,
            entry,
            subentry,
        )
        self._agent = agent
        self._attr_available = agent.chain.is_available

    @override
    async def async_added_to_hass(self) -> None:
        """Prepare for turns."""
        await super().async_added_to_hass()
        self._turns = AgentTurns(
            self.hass,
            self.entity_id,
            self.entry,
            self.subentry,
            self._agent,
            REVIEWERS,
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
