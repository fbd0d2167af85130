"""Makes everything that needs a thread wait for one, however quick the disk is."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

MOST_THREADS = 64
"""Of Home Assistant."""


@asynccontextmanager
async def no_free_thread() -> AsyncGenerator[None]:
    """Keep all threads busy."""
    goes_on, loop = threading.Event(), asyncio.get_running_loop()
    busy = [loop.run_in_executor(None, goes_on.wait) for _ in range(MOST_THREADS)]
    try:
        yield
    finally:
        goes_on.set()
        await asyncio.gather(*busy)
