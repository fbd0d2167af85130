"""Waits for foreign code, with a bound on every wait.

`asyncio.timeout` waits until the work has handled its cancellation. Tools, hooks and
providers may be foreign code that ignores it, so work that does is abandoned here, and
logged.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from typing import Final


class Clock:
    """The monotonic clock of the system; tests have their own."""

    def now(self) -> float:
        """Return the time in seconds since an arbitrary moment."""
        return time.monotonic()

    def call_later(
        self, seconds: float, callback: Callable[[], None]
    ) -> Callable[[], None]:
        """Have the event loop run a callback after some seconds, never before this call has returned.

        Returns a function that cancels it, unless it has already run.
        """
        return asyncio.get_running_loop().call_later(seconds, callback).cancel

    async def sleep(self, seconds: float) -> None:
        """Sleep for some seconds."""
        await asyncio.sleep(seconds)


SYSTEM_CLOCK: Final = Clock()

_LONG: Final = 8_192
"""Characters from which text is parsed in a thread: some take several microseconds each."""


async def read_aside[**P, R](
    length: int, parse: Callable[P, R], *args: P.args, **kwargs: P.kwargs
) -> R:
    """Run `read` on a text of this length, in a thread if it is long, so that the event loop is not blocked."""
    if length > _LONG:
        return await asyncio.to_thread(
            parse,
            *args,
            **kwargs,
        )
    return parse(*args, **kwargs)


class WaitedTooLong(TimeoutError):
    """A wait exceeded its limit. A `TimeoutError`, so that it is handled like a timeout of the system."""


@asynccontextmanager
async def time_limit(
    seconds: float, clock: Clock = SYSTEM_CLOCK
) -> AsyncGenerator[None]:
    """Limit the time that a block waits, by a clock. Raises `WaitedTooLong`; a block without a wait always succeeds."""
    timeout = asyncio.timeout(None)
    try:
        async with timeout:
            cancel = clock.call_later(
                max(seconds, 0),
                partial(timeout.reschedule, 0),
            )
            try:
                yield
            finally:
                cancel()
    except TimeoutError as err:
        if not timeout.expired():
            raise
        raise WaitedTooLong from err


_LOGGER = logging.getLogger(__name__)

GRACE: Final = 0.2
"""Seconds that cancelled work gets for its cleanup, for which a finished turn waits."""

STREAM_GRACE: Final = 0.1
"""Seconds that a stream gets for its cleanup, for which the next step waits."""

_MOST_AHEAD: Final = 32
"""Items that a stream may be ahead of its reader."""

_PASSES: Final = 50
"""Least number of event loop iterations for cleanup: on a busy loop, the time alone may be too short."""


class TookTooLong(Exception):
    """The work did not end in time."""


class WorkCancelled(Exception):
    """The work was cancelled by someone else."""


async def finish_within[T](
    seconds: float, work: Coroutine[object, object, T], name: str
) -> T:
    """Return the result of the work, or raise its exception.

    Raises `TookTooLong` after `seconds`, and `WorkCancelled` if the work was cancelled
    by someone else. On return the work has ended, unless it ignores its cancellation.
    """
    task = asyncio.create_task(
        work,
        name=name,
        eager_start=True,
    )
    if task.done() and not task.cancelled():  # most work has nothing to wait for
        return task.result()
    try:
        if not task.done():
            await asyncio.wait(
                {task},
                timeout=max(seconds, 0),
            )
        in_time = task.done()
    finally:
        await _let_go(task, GRACE)
    if in_time and task.cancelled():
        raise WorkCancelled(f"{name} was cancelled")
    if in_time or (task.done() and not task.cancelled() and task.exception() is None):
        return task.result()
    raise TookTooLong(f"{name} took longer than {seconds:g} seconds")


def _log_failure(
    may_fail: type[Exception] | tuple[()], task: asyncio.Task[None]
) -> None:
    """Log the exception of a stream that was left, unless it may fail so."""
    if task.cancelled():
        failure = None
    else:
        failure = task.exception()
    if isinstance(failure, Exception) and not isinstance(failure, may_fail):
        _LOGGER.error("a stream failed while it was left", exc_info=failure)


async def leavable[T](
    stream: AsyncGenerator[T],
    name: str,
    grace: float = STREAM_GRACE,
    *,
    may_fail: type[Exception] | tuple[()] = (),
    cancelled_as: Callable[[str], Exception] = WorkCancelled,
) -> AsyncGenerator[T]:
    """Yield the items of a stream, and raise its exceptions; the reader can leave at any time.

    A stream that is cancelled by someone else than its reader raises `cancelled_as`.

    The stream runs in its own task, a little ahead of its reader, so that items that
    arrive together are delivered together. The task also closes the stream, since only
    the task that runs a generator can. When this generator is closed or its reader is
    cancelled, the stream is closed as well, unless that takes more than `grace`
    seconds. Exceptions after that are logged, except `may_fail`: a service may well
    fail when nobody waits for it.
    """
    ahead = asyncio.Queue[T](_MOST_AHEAD)

    async def run() -> None:
        try:
            with suppress(
                asyncio.QueueShutDown
            ):  # the reader has left, and the stream ignores it
                async with aclosing(stream):
                    async for item in stream:
                        await ahead.put(item)
        finally:
            ahead.shutdown()

    task = asyncio.create_task(run(), name=name, eager_start=True)
    try:
        with suppress(asyncio.QueueShutDown):
            while True:
                yield await ahead.get()
    except BaseException:
        ahead.shutdown(immediate=True)
        await _let_go(task, grace)
        if task.done():
            _log_failure(may_fail, task)
        else:
            task.add_done_callback(partial(_log_failure, may_fail))
        raise
    if task.cancelled() and not task.cancelling():
        raise cancelled_as(f"{name} was cancelled")
    task.result()


def is_cancelled() -> bool:
    """Return whether the current task was cancelled, and not the work that it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _let_go(
    task: asyncio.Task[object],
    grace: float,
) -> None:
    """Cancel running work, and wait briefly for its end."""
    if task.cancel():
        await asyncio.wait({task}, timeout=grace)
        for _ in range(_PASSES):
            if task.done():
                break
            await asyncio.sleep(0)
    if not task.done():
        _LOGGER.error("%s ignores its cancellation", task.get_name())
    elif not task.cancelled():
        task.exception()  # retrieved, so that asyncio does not log it
