"""Keeps the history of a service as long, and as large, as its owner wants it, and deletes what agents leave behind.

Knows when that is due. Must not know how anything is deleted, or what is stored.
"""

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.event import async_track_time_interval

from .agent.history.selection import OneAgent, Retention
from .agent.history.store_trouble import StoreUnavailable
from .const import LOGGER
from .history_keeping import async_get_histories
from .response_upkeep import response_retention
from .task_settings import settings_of_subentry

_EVERY: Final = timedelta(hours=6)
_DAY: Final = 86_400.0
"""Seconds."""
_MEGABYTE: Final = 1_000_000


class HistoryUpkeep:
    """Looks after the history of one service, from setup until it is unloaded."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Do nothing yet."""
        self._hass = hass
        self._entry = entry
        self._pruning: asyncio.Task[None] | None = None

    @callback
    def async_start(self) -> None:
        """Open the history, and look after it from time to time."""
        self._entry.async_on_unload(
            async_track_time_interval(self._hass, self._async_begin, _EVERY, cancel_on_shutdown=True)
        )
        self._async_begin()

    @callback
    def _async_begin(self, _now: datetime | None = None) -> None:
        self._pruning = self._entry.async_create_background_task(
            self._hass, self._async_prune(), "chatterbox upkeep of the history"
        )

    async def _async_prune(self) -> None:
        store = await async_get_histories(self._hass).async_open(self._entry)
        if store is None:
            return
        for agent_id, subentry in self._entry.subentries.items():
            settings = settings_of_subentry(subentry)
            retention = Retention(
                settings.keep_days * _DAY if settings.keep_days else None,
                settings.keep_megabytes * _MEGABYTE if settings.keep_megabytes else None,
            )
            try:
                await store.prune(agent_id, retention)
                await store.prune_responses(agent_id, response_retention(self._entry))
            except StoreUnavailable as error:
                LOGGER.debug("What is too old is kept until the history answers: %s", error)
                return


async def async_forget_agents(hass: HomeAssistant, entry: ConfigEntry, agents: Iterable[str]) -> None:
    """Delete what was stored of agents that were removed, by their subentry ids."""
    agents = tuple(agents)
    store = await async_get_histories(hass).async_open(entry) if agents else None
    if store is None:
        return
    for agent in agents:
        try:
            await store.purge(OneAgent(agent))
        except StoreUnavailable as error:
            LOGGER.warning("The history of a removed agent is still there: %s", error)
            return
