"""Time, as everything that waits for a model sees it: what it is now, waiting, and bounding a wait.

The seam through which tests move time by hand. Knows asyncio; must not know what is waited for.
"""

import asyncio
import time
from typing import Final, Protocol


class Clock(Protocol):
    """A clock that never goes back. Its seconds count from any moment; only differences mean something."""

    def now(self) -> float:
        """Return the time in seconds."""
        ...

    def timeout(self, seconds: float) -> asyncio.Timeout:
        """Bound the block that enters it, as `asyncio.timeout` does. Without a wait in it, a block always has time."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The `Clock` of the machine; `now` may be asked from any thread."""

    def now(self) -> float:
        """Return the seconds of the monotonic clock, which is the event loop's too."""
        return time.monotonic()

    def timeout(self, seconds: float) -> asyncio.Timeout:
        """Bound a block; see `Clock.timeout`."""
        return asyncio.timeout(seconds)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


SYSTEM_CLOCK: Final = SystemClock()
