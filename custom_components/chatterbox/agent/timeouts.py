"""Waits for foreign work, and never longer than it says.

`asyncio.timeout` waits for as long as the work ignores its cancellation; tools, hooks and
providers may be other people's code, so here such work is left behind, and the log says so.
Knows asyncio; nothing of turns.
"""

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
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


_LOGGER = logging.getLogger(__name__)

GRACE: Final = 0.2
"""Seconds that cancelled work gets to let go: a turn that is over waits for it."""

STREAM_GRACE: Final = 0.1
"""Seconds that a stream gets to let go: somebody waits for what comes after it."""

_MOST_AHEAD: Final = 32
"""Items that a stream may be ahead of its reader."""

_PASSES: Final = 50
"""Times that the event loop comes around for it at least: where it has much to do, a moment is soon over."""


class TookTooLong(Exception):
    """The work did not end in time."""


class WorkCancelled(Exception):
    """The work ended by a cancellation that did not come from us."""


async def finish_within[T](seconds: float, work: Coroutine[object, object, T], name: str) -> T:
    """Return what the work returns, or raise what it raises.

    Raises `TookTooLong` when it takes longer, and `WorkCancelled` when it was cancelled from
    elsewhere. When this returns the work has ended, unless it ignores its cancellation.
    """
    task = asyncio.create_task(work, name=name, eager_start=True)
    if task.done() and not task.cancelled():  # most work has nothing to wait for
        return task.result()
    try:
        if not task.done():
            await asyncio.wait({task}, timeout=max(seconds, 0))
        in_time = task.done()
    finally:
        await _let_go(task, GRACE)
    if in_time and task.cancelled():
        raise WorkCancelled(f"{name} was cancelled")
    if in_time or (task.done() and not task.cancelled() and task.exception() is None):
        return task.result()
    raise TookTooLong(f"{name} took longer than {seconds:g} seconds")


async def leavable[T](
    stream: AsyncGenerator[T],
    name: str,
    grace: float = STREAM_GRACE,
    *,
    may_fail: type[Exception] | tuple[()] = (),
    cancelled_as: Callable[[str], Exception] = WorkCancelled,
) -> AsyncGenerator[T]:
    """Yield what a stream yields, and raise what it raises; whoever reads can leave at any moment.

    A stream that ends by a cancellation that did not come from its reader raises `cancelled_as`.

    The stream runs in a task of its own, a little ahead of its reader, so that what comes in one piece is handed over
    in one go. The task closes it, too: only who runs a generator can. When this is closed, or its reader is cancelled,
    the stream is closed as well, unless it takes more than `grace` seconds. What it raises then is logged, but for
    `may_fail`: a service may well fail at the moment in which nobody waits for it any more.
    """
    ahead: _Ahead[T] = _Ahead(may_fail)
    task = asyncio.create_task(ahead.run(stream, name, cancelled_as), name=name, eager_start=True)
    items = ahead.items
    try:
        while items or await ahead.comes():
            yield items.popleft()
    finally:
        ahead.leave()
        await _let_go(task, grace)


@final
class _Ahead[T]:
    """What a stream has yielded, and nobody has read yet."""

    def __init__(self, may_fail: type[Exception] | tuple[()]) -> None:
        self.items: deque[T] = deque()
        self._may_fail = may_fail
        self._reader: asyncio.Future[None] | None = None
        """Of who waits for an item."""
        self._writer: asyncio.Future[None] | None = None
        """Of the stream, while it has to wait for its reader."""
        self._failure: BaseException | None = None
        self._is_over = False
        self._is_left = False

    async def comes(self) -> bool:
        """Wait for an item; False at the end of the stream. Raises what the stream has raised."""
        _wake(self._writer)
        if not self._is_over:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        if not self.items and self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        return bool(self.items)

    def leave(self) -> None:
        """Say that nobody reads any more."""
        self._is_left = True
        self._log_failure()

    async def run(self, stream: AsyncGenerator[T], name: str, cancelled_as: Callable[[str], Exception]) -> None:
        """Take in what a stream yields, and close it."""
        try:
            async with aclosing(stream):
                async for item in stream:
                    if self._is_left:  # it was told so, and did not hear
                        return
                    self.items.append(item)
                    _wake(self._reader)
                    if len(self.items) >= _MOST_AHEAD:
                        self._writer = asyncio.get_running_loop().create_future()
                        await self._writer
        except asyncio.CancelledError as err:
            if not self._is_left:
                self._failure = err if is_cancelled() else cancelled_as(f"{name} was cancelled")
            raise
        except Exception as err:  # noqa: BLE001  # whoever reads gets it, or else the log
            self._failure = err
            if self._is_left:
                self._log_failure()
        finally:
            self._is_over = True
            _wake(self._reader)

    def _log_failure(self) -> None:
        """Tell of a failure that nobody is told any more."""
        if isinstance(self._failure, Exception) and not isinstance(self._failure, self._may_fail):
            _LOGGER.error("a stream failed while it was left", exc_info=self._failure)


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)


def is_cancelled() -> bool:
    """Tell whether it is this task that was cancelled, and not what it waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _let_go(task: asyncio.Task[object], grace: float) -> None:
    """Cancel work that still runs, and wait a moment for its end."""
    if task.cancel():
        await asyncio.wait({task}, timeout=grace)
        for _ in range(_PASSES):
            if task.done():
                break
            await asyncio.sleep(0)
    if not task.done():
        _LOGGER.error("%s ignores its cancellation", task.get_name())
    elif not task.cancelled():
        task.exception()  # seen, so that asyncio need not complain
