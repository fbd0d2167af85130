"""Undoes what was done for agents that are removed, whether or not their entry is loaded at that time."""

from collections.abc import Iterable

from homeassistant.config_entries import SIGNAL_CONFIG_ENTRY_CHANGED, ConfigEntry, ConfigEntryChange
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect

from ..approvals.pin_tries import async_get_pin_tries
from ..const import DOMAIN
from ..history.retention import async_forget_agents
from ..memory.facts import async_get_memories
from ..settings.home_rules import async_get_home_rules
from ..usage.tracker import async_get_usage_tracker
from .agents import async_forget_conversations
from .earlier_agents import async_get_earlier_agents


def async_follow_removals(hass: HomeAssistant) -> None:
    """Follow the removal of agents from all entries. The removal of an entry calls `async_forget` itself."""
    known = {entry.entry_id: frozenset(entry.subentries) for entry in hass.config_entries.async_entries(DOMAIN)}

    @callback
    def async_follow(change: ConfigEntryChange, entry: ConfigEntry) -> None:
        if entry.domain != DOMAIN:
            return
        before = known.pop(entry.entry_id, frozenset())
        if change is ConfigEntryChange.REMOVED:
            return
        known[entry.entry_id] = frozenset(entry.subentries)
        if gone := before - known[entry.entry_id]:
            forgetting = async_forget(hass, entry, gone)
            _ = hass.async_create_background_task(forgetting, "chatterbox removed agents")  # Home Assistant keeps it

    async_dispatcher_connect(hass, SIGNAL_CONFIG_ENTRY_CHANGED, async_follow)


async def async_forget(hass: HomeAssistant, entry: ConfigEntry, agents: Iterable[str]) -> None:
    """Free the assistants of agents of an entry, and delete what is stored for them; by their subentry ids."""
    await async_get_earlier_agents(hass).async_put_back()
    if not hass.config_entries.async_entries(DOMAIN, include_ignore=False):  # the last one
        await async_get_home_rules(hass).async_remove()
        await async_get_pin_tries(hass).async_remove()
    await async_get_memories(hass).async_forget_removed()
    async_get_usage_tracker(hass).async_forget_removed()
    await async_forget_agents(hass, entry, agents)
    async_forget_conversations(hass)
