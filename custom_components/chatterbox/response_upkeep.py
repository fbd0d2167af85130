"""Keeps the responses of programs as long, and as many, as the owner of a service wants.

Knows the options of a service, and how much has been added. Must not know how anything is deleted. Programs may write
much in a short time, so it is not left to the upkeep of the history alone, which comes every few hours.
"""

from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.util.hass_dict import HassKey

from .agent.history.selection import Retention
from .agent.history.store_trouble import StoreUnavailable
from .const import (
    CONF_RESPONSE_DAYS,
    CONF_RESPONSE_MEGABYTES,
    DEFAULT_RESPONSE_DAYS,
    DEFAULT_RESPONSE_MEGABYTES,
    DOMAIN,
    LOGGER,
)
from .history_keeping import async_get_histories

_DAY: Final = 86_400.0
"""Seconds."""
_MEGABYTE: Final = 1_000_000
_PART: Final = 10
"""What is too much is deleted when a tenth of what is kept has been added."""

_GROWTH: HassKey[dict[str, int]] = HassKey(f"{DOMAIN}_response_growth")
"""Bytes by agent, since something was deleted."""


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
    growth = hass.data.setdefault(_GROWTH, {})
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
