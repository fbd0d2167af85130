"""A clock that a test moves by hand, so that deadlines and cool-downs need no waiting.

Keeps the contract of `agent/timeouts.py`; knows asyncio, and nothing of who asks for
the time.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import override

from custom_components.chatterbox.agent.timeouts import Clock


@dataclass(slots=True)
class ManualTimer:
    """A callback that waits for its time."""

    due: float
    callback: Callable[[], None]
    is_cancelled: bool = False

    def cancel(self) -> None:
        """Call nobody."""
        self.is_cancelled = True

    def ring(self) -> None:
        """Call, unless it was cancelled in the last moment."""
        if not self.is_cancelled:
            self.callback()


class ManualClock(Clock):
    """Time stands still until `advance`. Whoever sleeps goes on at once, and that much time has passed."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._timers: list[ManualTimer] = []
        self.sleeps: list[float] = []

    @override
    def now(self) -> float:
        """Return the time in seconds."""
        return self._now

    @override
    def call_later(
        self, seconds: float, callback: Callable[[], None]
    ) -> Callable[[], None]:
        """Call when the time has come by this clock; where it has come already, as soon as somebody waits."""
        timer = ManualTimer(self._now + seconds, callback)
        if seconds > 0:
            self._timers.append(timer)
        else:
            asyncio.get_running_loop().call_soon(timer.ring)
        return timer.cancel

    @override
    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.sleeps.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        """Let time pass, and call those whose time has come."""
        self._now += seconds
        due = [timer for timer in self._timers if timer.due <= self._now]
        self._timers = [
            timer
            for timer in self._timers
            if timer.due > self._now and not timer.is_cancelled
        ]
        for timer in due:
            asyncio.get_running_loop().call_soon(timer.ring)
