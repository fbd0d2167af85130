"""The backup platform: pauses writes to the history while Home Assistant copies its file.

A history that is down never stops a backup: its file is copied as it is.
"""

import asyncio

from homeassistant.core import HomeAssistant

from .const import LOGGER
from .history.store.records import StoreUnavailable
from .history.stores import async_get_histories


async def async_pre_backup(hass: HomeAssistant) -> None:
    """Pause writes."""
    holding = (store.pause() for store in async_get_histories(hass).all)
    for failed in await asyncio.gather(*holding, return_exceptions=True):
        if isinstance(failed, StoreUnavailable):
            LOGGER.warning("The backup copies the history as it is: %s", failed)
        elif failed is not None:
            raise failed


async def async_post_backup(hass: HomeAssistant) -> None:
    """Resume writes."""
    for store in async_get_histories(hass).all:
        store.resume()
