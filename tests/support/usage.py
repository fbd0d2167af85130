"""Usage of agents, as it is stored."""

from datetime import timedelta

from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.chatterbox.usage.tracker import (
    AgentUsage,
    async_get_usage_tracker,
)


async def counted(hass: HomeAssistant) -> None:
    """Wait until usage is stored and shown."""
    # The time limit of a request that is under way would end, too.
    await hass.async_block_till_done(wait_background_tasks=True)
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=11))
    await hass.async_block_till_done()


async def usage_of(hass: HomeAssistant, agent: str) -> AgentUsage:
    """Return the usage of an agent, by its subentry id, with everything up to now."""
    await counted(hass)
    return async_get_usage_tracker(hass).usage(agent)
