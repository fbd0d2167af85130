"""Waits for foreign work, and never longer than it says.

`asyncio.timeout` waits for as long as the work ignores its cancellation; tools, hooks and providers may be other
people's code, so here such work is left behind, and the log says so.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from typing import Final, Protocol


class Timer(Protocol):
    """Something that will be called."""

    def cancel(self) -> None:
        """Leave it at that; nothing happens when it was called already."""
        ...


class Clock:
    """The clock of the machine, which never goes back; a test has one of its own."""

    def now(self) -> float:
        """Return the time in seconds. They count from any moment; only differences mean something."""
        return time.monotonic()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Let the event loop call when so much time has passed, and never before this has returned."""
        return asyncio.get_running_loop().call_later(seconds, callback)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


SYSTEM_CLOCK: Final = Clock()

_LONG: Final = 8_192
"""Characters of a text that is read in a thread: what a model may have written for each takes some microseconds."""


async def read_aside[**P, R](length: int, read: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Read a text of this length, in a thread if it is long: nobody else has to wait for it."""
    return await asyncio.to_thread(read, *args, **kwargs) if length > _LONG else read(*args, **kwargs)


class WaitedTooLong(TimeoutError):
    """A wait was longer than its limit: for who waits for a server, as if the system had said so."""


@asynccontextmanager
async def time_limit(seconds: float, clock: Clock = SYSTEM_CLOCK) -> AsyncGenerator[None]:
    """Bound the waits of a block by a clock. Raises `WaitedTooLong`; a block that waits for nothing always has time."""
    timeout = asyncio.timeout(None)
    try:
        async with timeout:
            timer = clock.call_later(max(seconds, 0), partial(timeout.reschedule, 0))
            try:
                yield
            finally:
                timer.cancel()
    except TimeoutError as err:
        if not timeout.expired():
            raise
        raise WaitedTooLong from err


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
    ahead = asyncio.Queue[T](_MOST_AHEAD)

    async def run() -> None:
        try:
            with suppress(asyncio.QueueShutDown):  # the reader has left, and the stream was told so and did not hear
                async with aclosing(stream):
                    async for item in stream:
                        await ahead.put(item)
        finally:
            ahead.shutdown()

    def log_failure(task: asyncio.Task[None]) -> None:
        failure = None if task.cancelled() else task.exception()
        if isinstance(failure, Exception) and not isinstance(failure, may_fail):
            _LOGGER.error("a stream failed while it was left", exc_info=failure)

    task = asyncio.create_task(run(), name=name, eager_start=True)
    try:
        with suppress(asyncio.QueueShutDown):
            while True:
                yield await ahead.get()
    except BaseException:
        ahead.shutdown(immediate=True)
        await _let_go(task, grace)
        if task.done():
            log_failure(task)
        else:
            task.add_done_callback(log_failure)
        raise
    if task.cancelled() and not task.cancelling():
        raise cancelled_as(f"{name} was cancelled")
    task.result()


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
