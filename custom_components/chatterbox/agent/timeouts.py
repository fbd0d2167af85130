"""Waits for foreign work, and never longer than it says.

`asyncio.timeout` waits for as long as the work ignores its cancellation; tools, hooks and
providers may be other people's code, so here such work is left behind, and the log says so.
Knows asyncio; nothing of turns.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Final, final

_LOGGER = logging.getLogger(__name__)

GRACE: Final = 0.2
"""Seconds that cancelled work gets to let go: a turn that is over waits for it."""

STREAM_GRACE: Final = 0.1
"""Seconds that a stream gets to let go: somebody waits for what comes after it."""

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
    task = asyncio.create_task(work, name=name)
    try:
        await asyncio.wait({task}, timeout=max(seconds, 0))
        in_time = task.done()
    finally:
        await _let_go(task, GRACE)
    if in_time and task.cancelled():
        raise WorkCancelled(f"{name} was cancelled")
    if in_time or (task.done() and not task.cancelled() and task.exception() is None):
        return task.result()
    raise TookTooLong(f"{name} took longer than {seconds:g} seconds")


@final
class _End:
    """In place of an item: there are no more."""


_END: Final = _End()


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

    The stream runs in a task of its own, which gets no further than what is asked for, and closes
    it: only who runs a generator can. When this is closed, or its reader is cancelled, the stream
    is closed too, unless it takes more than `grace` seconds. What it raises then is logged, but for
    `may_fail`: a service may well fail at the moment in which nobody waits for it any more.
    """
    wishes = asyncio.Queue[asyncio.Future[T | _End]]()
    cancelled = cancelled_as(f"{name} was cancelled")
    task = asyncio.create_task(_fulfil(wishes, stream, may_fail, cancelled), name=name)
    try:
        while True:
            wish = asyncio.get_running_loop().create_future()
            wishes.put_nowait(wish)
            item = await wish
            if isinstance(item, _End):
                return
            yield item
    finally:
        await _let_go(task, grace)


async def _fulfil[T](
    wishes: asyncio.Queue[asyncio.Future[T | _End]],
    stream: AsyncGenerator[T],
    may_fail: type[Exception] | tuple[()],
    cancelled: Exception,
) -> None:
    """Give each wish the next item of a stream, or the end, or the exception that was the end."""
    wish = await wishes.get()
    try:
        async with aclosing(stream):
            async for item in stream:
                if wish.done():  # nobody asks any more
                    return
                wish.set_result(item)
                wish = await wishes.get()
        if not wish.done():
            wish.set_result(_END)
    except asyncio.CancelledError:
        if _is_left() or wish.done():
            raise
        wish.set_exception(cancelled)
    except Exception as err:
        if not wish.done():
            wish.set_exception(err)
        elif not isinstance(err, may_fail):
            _LOGGER.exception("a stream failed while it was left")
    finally:
        wish.cancel()  # in case that we are cancelled; otherwise it is done


def _is_left() -> bool:
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
