"""A clock for deadlines that an overloaded machine does not make lie."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

_TICK: Final = 0.01
"""Seconds. As long as the event loop comes around more often than this, the clock runs as any other."""


@dataclass(slots=True)
class LoopClock:
    """Seconds in which the event loop did come around.

    It runs with the monotonic clock, and more slowly while the machine is busy elsewhere or the loop has more to do
    than it can: every pass of the loop that takes longer than a tick counts as one tick. So a turn that is late on
    this clock had its chances to end, and did not take them, on whatever machine. A turn that blocks the loop is
    not found by it.
    """

    now: float = 0.0

    async def run(self) -> None:
        """Tick until cancelled."""
        while True:
            await asyncio.sleep(_TICK)
            self.now += _TICK


@dataclass(slots=True)
class Deadline:
    """A moment by which something has to end."""

    clock: LoopClock
    _came_at: float | None = None

    def come(self) -> None:
        """Note that it is now; for the event loop."""
        self._came_at = self.clock.now

    @property
    def overrun(self) -> float:
        """Seconds since it came; 0 when it did not."""
        return 0.0 if self._came_at is None else self.clock.now - self._came_at


@asynccontextmanager
async def deadline(clock: LoopClock, seconds: float) -> AsyncIterator[Deadline]:
    """Watch a deadline while the block runs."""
    watched = Deadline(clock)
    timer = asyncio.get_running_loop().call_later(seconds, watched.come)
    try:
        yield watched
    finally:
        timer.cancel()
