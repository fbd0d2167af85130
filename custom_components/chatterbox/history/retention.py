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

from ..agent.history.query import Retention, Selection
from ..agent.history.state import StoreUnavailable
from ..const import (
    CONF_RESPONSE_DAYS,
    CONF_RESPONSE_MEGABYTES,
    DEFAULT_RESPONSE_DAYS,
    DEFAULT_RESPONSE_MEGABYTES,
    LOGGER,
)
from ..data import singleton
from ..settings.tasks import settings_of_subentry
from .stores import async_get_histories

_DAY: Final = 86_400.0
"""Seconds."""
_MEGABYTE: Final = 1_000_000
_PART: Final = 10
"""What is too much is deleted when a tenth of what is kept has been added."""


@singleton
def _growth(_hass: HomeAssistant) -> dict[str, int]:
    """Return the bytes that were added since something was deleted, by agent."""
    return {}


@callback
def response_retention(entry: ConfigEntry) -> Retention:
    """Return how long, and how much, is kept of the responses of each agent of a service."""
    days = entry.options.get(CONF_RESPONSE_DAYS, DEFAULT_RESPONSE_DAYS)
    megabytes = entry.options.get(CONF_RESPONSE_MEGABYTES, DEFAULT_RESPONSE_MEGABYTES)
    return Retention(days * _DAY if days else None, int(megabytes * _MEGABYTE) if megabytes else None)


@callback
def async_note_growth(hass: HomeAssistant, entry: ConfigEntry, agent: str, size: int) -> None:
    """Have too many responses of an agent deleted, once enough bytes have been added."""
    retention = response_retention(entry)
    if retention.size is None:
        return
    growth = _growth(hass)
    growth[agent] = growth.get(agent, 0) + size
    if growth[agent] * _PART >= retention.size:
        del growth[agent]
        pruning = _async_prune(hass, entry, agent, retention)
        _ = entry.async_create_background_task(
            hass, pruning, "chatterbox upkeep of responses"
        )  # Home Assistant keeps it


async def _async_prune(hass: HomeAssistant, entry: ConfigEntry, agent: str, retention: Retention) -> None:
    store = await async_get_histories(hass).async_open(entry)
    if store is None:
        return
    try:
        await store.prune_responses(agent, retention)
    except StoreUnavailable as error:
        LOGGER.debug("Responses that are too many are kept until the history answers: %s", error)


_EVERY: Final = timedelta(hours=6)
_HISTORY_UPKEEP_DAY: Final = 86_400.0
"""Seconds."""
_HISTORY_UPKEEP_MEGABYTE: Final = 1_000_000


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
                settings.keep_days * _HISTORY_UPKEEP_DAY if settings.keep_days else None,
                settings.keep_megabytes * _HISTORY_UPKEEP_MEGABYTE if settings.keep_megabytes else None,
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
            await store.purge(Selection(agent=agent))
        except StoreUnavailable as error:
            LOGGER.warning("The history of a removed agent is still there: %s", error)
            return
