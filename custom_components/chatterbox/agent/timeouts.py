"""Waits for foreign work, and never longer than it says.

`asyncio.timeout` waits for as long as the work ignores its cancellation; tools and hooks
are other people's code, so here such work is left behind, and the log says so. Knows
asyncio; nothing of turns.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Final

_LOGGER = logging.getLogger(__name__)

GRACE: Final = 1.0
"""Seconds that cancelled work gets to let go."""


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
        await _let_go(task)
    if in_time and task.cancelled():
        raise WorkCancelled(f"{name} was cancelled")
    if in_time or (task.done() and not task.cancelled() and task.exception() is None):
        return task.result()
    raise TookTooLong(f"{name} took longer than {seconds:g} seconds")


async def _let_go(task: asyncio.Task[object]) -> None:
    """Cancel work that still runs, and wait a moment for its end."""
    if task.cancel():
        await asyncio.wait({task}, timeout=GRACE)
    if not task.done():
        _LOGGER.error("%s ignores its cancellation", task.get_name())
    elif not task.cancelled():
        task.exception()  # seen, so that asyncio need not complain
