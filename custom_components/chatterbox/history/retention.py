"""Retention: deletes records that are too old or too many, and the records of removed agents."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.event import async_track_time_interval

from ..const import (
    CONF_RESPONSE_DAYS,
    CONF_RESPONSE_MEGABYTES,
    DEFAULT_RESPONSE_DAYS,
    DEFAULT_RESPONSE_MEGABYTES,
    LOGGER,
)
from ..settings.tasks import settings_of_subentry
from .store.query import Retention, Selection
from .store.records import StoreUnavailable
from .stores import DAY, async_get_histories

_EVERY: Final = timedelta(hours=1)
_MEGABYTE: Final = 1_000_000
_PART: Final = 10
"""Responses are pruned whenever a tenth of their size limit was added."""


def async_schedule_retention(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Prune the history of an entry now, and then every hour until it is unloaded."""

    @callback
    def prune(_now: datetime | None = None) -> None:
        _ = entry.async_create_background_task(
            hass, _async_prune(hass, entry), "chatterbox retention"
        )

    entry.async_on_unload(
        async_track_time_interval(
            hass,
            prune,
            _EVERY,
            cancel_on_shutdown=True,
        )
    )
    prune()


async def _async_prune(
    hass: HomeAssistant,
    entry: ConfigEntry,
) -> None:
    store = await async_get_histories(hass).async_open(entry)
    if store is None:
        return
    try:
        knows_time = await async_get_histories(hass).async_knows_time(store)
        for agent, subentry in entry.subentries.items():
            settings = settings_of_subentry(subentry)
            of_turns = _retention(settings.keep_days, settings.keep_megabytes)
            for limits, of_responses in (
                (of_turns, False),
                (_response_retention(entry), True),
            ):
                if knows_time:
                    believed = limits
                else:
                    believed = replace(limits, seconds=None)
                await store.prune(
                    agent,
                    believed,
                    of_responses=of_responses,
                )
    except StoreUnavailable as error:
        LOGGER.debug("Old records are kept until the history is available: %s", error)


def async_note_growth(
    hass: HomeAssistant, entry: ConfigEntry, agent: str, size: int
) -> None:
    """Note that so many bytes of responses were added, and prune them once that is enough."""
    retention = _response_retention(entry)
    growth = async_get_histories(hass).growth
    growth[agent] += size
    if retention.size is not None and growth[agent] * _PART >= retention.size:
        del growth[agent]
        _ = entry.async_create_background_task(
            hass, _async_prune(hass, entry), "chatterbox retention"
        )


async def async_forget_agents(
    hass: HomeAssistant, entry: ConfigEntry, agents: Collection[str]
) -> None:
    """Delete the records of removed agents, by their subentry ids."""
    if not agents:
        return
    store = await async_get_histories(hass).async_open(entry)
    if store is None:
        return
    try:
        for agent in agents:
            await store.purge(Selection(agent=agent))
    except StoreUnavailable as error:
        LOGGER.warning("The history of a removed agent could not be deleted: %s", error)


def _response_retention(entry: ConfigEntry) -> Retention:
    """Return the limits for the responses of each agent of an entry."""
    return _retention(
        entry.options.get(CONF_RESPONSE_DAYS, DEFAULT_RESPONSE_DAYS),
        entry.options.get(CONF_RESPONSE_MEGABYTES, DEFAULT_RESPONSE_MEGABYTES),
    )


def _retention(days: float, megabytes: float) -> Retention:
    return Retention(
        days * DAY if days else None, int(megabytes * _MEGABYTE) if megabytes else None
    )
