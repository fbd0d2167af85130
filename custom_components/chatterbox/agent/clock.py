"""Time, as everything that waits for a model sees it: what it is now, waiting, and bounding waits.

`Clock` is the seam through which tests move time by hand. Knows asyncio; must not know what is waited for.
"""

import asyncio
import math
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Protocol, final


class Timer(Protocol):
    """Something that will be called."""

    def cancel(self) -> None:
        """Leave it at that; nothing happens when it was called already."""
        ...


class Clock(Protocol):
    """A clock that never goes back. Its seconds count from any moment; only differences mean something."""

    def now(self) -> float:
        """Return the time in seconds."""
        ...

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call somebody when so much time has passed, and never before this has returned."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The `Clock` of the machine; `now` may be asked from any thread."""

    now = staticmethod(time.monotonic)  # the event loop's clock too; asked so often that a call around it shows

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Let the event loop call; see `Clock.call_later`."""
        return asyncio.get_running_loop().call_later(seconds, callback)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


SYSTEM_CLOCK: Final = SystemClock()


class WaitedTooLong(TimeoutError):
    """A wait was longer than its limit: for who waits for a server, as if the system had said so."""


@final
class WaitLimit:
    """Bounds the waits of a stream, one after the other, by one timer; `asyncio.timeout` makes one for each.

    `set` says until when, and a block that enters this waits no longer: it is cancelled, and ends with `WaitedTooLong`.
    A block in which nothing has to be waited for always has time. Only one block at a time; `stop` it at the end.
    """

    def __init__(self, clock: Clock) -> None:
        """Bound nothing yet."""
        self._clock = clock
        self._ends_at = math.inf
        self._timer: Timer | None = None
        self._timer_at = math.inf
        self._waiting: asyncio.Task[object] | None = None
        self._cancelling = 0
        """How often who waits was cancelled before."""
        self._has_rung = False

    @property
    def left(self) -> float:
        """Seconds until the waits end; 0 when they should have."""
        return max(self._ends_at - self._clock.now(), 0)

    def set(self, seconds: float) -> None:
        """Let the waits that begin from now on end in so many seconds."""
        self._ends_at = self._clock.now() + seconds

    def stop(self) -> None:
        """Bound nothing any more."""
        if self._timer is not None:
            self._timer.cancel()

    def __enter__(self) -> None:
        """Begin a block; it has to be in a task."""
        if self._timer is None or self._ends_at < self._timer_at:
            self._set_timer()
        self._waiting = asyncio.current_task()
        self._cancelling = self._waiting.cancelling() if self._waiting else 0

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """End a block."""
        waiting, self._waiting = self._waiting, None
        if waiting is None or not self._has_rung:
            return
        self._has_rung = False
        # Who was cancelled by somebody else as well is to end.
        if waiting.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise WaitedTooLong from error

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = self._ends_at
        self._timer = self._clock.call_later(max(self._ends_at - self._clock.now(), 0), self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._waiting is None:  # the next block sets it anew
            return
        if self._clock.now() < self._ends_at:  # which was moved since
            self._set_timer()
        else:
            self._has_rung = True
            self._waiting.cancel()
