"""Makes everything that needs a thread wait for one, however quick the disk is."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from homeassistant.core import HomeAssistant

MOST_THREADS = 64
"""Of Home Assistant."""


@asynccontextmanager
async def no_free_thread(hass: HomeAssistant) -> AsyncGenerator[None]:
    """Keep all threads busy."""
    goes_on = threading.Event()
    busy = [hass.loop.run_in_executor(None, goes_on.wait) for _ in range(MOST_THREADS)]
    try:
        yield
    finally:
        goes_on.set()
        await asyncio.gather(*busy)
