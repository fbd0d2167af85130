"""Holds the history still while Home Assistant makes a backup, which copies its file.

Called by Home Assistant (`homeassistant.components.backup`). Must not know what is stored. A backup is never given up
because of a history that is down: it is copied as it is.
"""

import asyncio

from homeassistant.core import HomeAssistant

from .agent.history.state import StoreUnavailable
from .const import LOGGER
from .history.stores import async_get_histories


async def async_pre_backup(hass: HomeAssistant) -> None:
    """Let nothing be written from now on."""
    holding = (store.pause() for store in async_get_histories(hass).all)
    for failed in await asyncio.gather(*holding, return_exceptions=True):
        if isinstance(failed, StoreUnavailable):
            LOGGER.warning("The backup copies the history as it is: %s", failed)
        elif failed is not None:
            raise failed


async def async_post_backup(hass: HomeAssistant) -> None:
    """Write again."""
    for store in async_get_histories(hass).all:
        store.resume()
