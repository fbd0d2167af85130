"""A clock that a test moves by hand, so that deadlines and cool-downs need no waiting.

Keeps the contract of the providers' `Clock`; knows asyncio, and nothing of who asks for the time.
"""

import asyncio
import contextlib


class ManualClock:
    """Time stands still until `advance`. Whoever sleeps goes on at once, and that much time has passed."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._bounds: list[tuple[float, asyncio.Timeout]] = []
        self.sleeps: list[float] = []

    def now(self) -> float:
        """Return the time in seconds."""
        return self._now

    def timeout(self, seconds: float) -> asyncio.Timeout:
        """Bound a block by this clock; one without any time left ends at its first wait."""
        bound = asyncio.timeout(0 if seconds <= 0 else None)
        if seconds > 0:
            self._bounds.append((self._now + seconds, bound))
        return bound

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.sleeps.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        """Let time pass, and cut off the blocks whose time is over."""
        self._now += seconds
        due = [entry for entry in self._bounds if entry[0] <= self._now]
        self._bounds = [entry for entry in self._bounds if entry[0] > self._now]
        for _, bound in due:
            with contextlib.suppress(RuntimeError):  # that block has ended
                bound.reschedule(asyncio.get_running_loop().time())
