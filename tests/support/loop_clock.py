"""A clock for the event loop that the speed of the machine does not change."""

import asyncio
import asyncio.futures
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from selectors import BaseSelector, SelectorKey
from typing import Final

import pytest

_LOOK_AGAIN: Final = 0.001
"""Real seconds in which what one end of a connection has sent reaches the other."""
_LOOK_AT_THREADS: Final = 0.05
"""Real seconds after which it is looked whether threads are done, should they not have told."""

type _Events = list[tuple[SelectorKey, int]]


@dataclass(slots=True)
class LoopClock:
    """Seconds that the event loop has waited for its next timer.

    While it has nothing else to do, the clock jumps to that timer: all servers are in
    the same loop, so nobody else could end the wait. While it works, a pass counts as a
    fixed time; while it waits for threads, which take as long as the machine takes, the
    clock stands still. So a turn that is late on this clock waited for longer than it
    may, on whatever machine. A turn that blocks the loop is not found by it.
    """

    seconds_per_pass: float = 0.0001
    """Seconds that a pass of the event loop counts, so that a turn that is flooded without end reaches its deadline."""
    now: float = field(default_factory=time.monotonic)
    _threads: set[int] = field(default_factory=set)
    """Identities of the futures of threads that a task waits for, or has waited for."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Be the clock of `asyncio` and of all that uses `time.monotonic`, until the block is left."""
        selector: BaseSelector = vars(asyncio.get_running_loop())["_selector"]
        wrap = asyncio.wrap_future

        def wrap_future[T](
            future: Future[T] | asyncio.Future[T],
            *,
            loop: asyncio.AbstractEventLoop | None = None,
        ) -> asyncio.Future[T]:
            if isinstance(future, Future):
                self._threads.add(id(future))
                future.add_done_callback(lambda done: self._threads.discard(id(done)))
            return wrap(future, loop=loop)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(selector, "select", self._selecting(selector.select))
            patch.setattr(time, "monotonic", lambda: self.now)
            patch.setattr(asyncio, "wrap_future", wrap_future)
            patch.setattr(asyncio.futures, "wrap_future", wrap_future)
            yield

    def _selecting(
        self, poll: Callable[[float | None], _Events]
    ) -> Callable[[float | None], _Events]:
        def select(seconds: float | None = None) -> _Events:
            events = poll(0)
            if self._threads:
                return events if events or seconds == 0 else poll(_LOOK_AT_THREADS)
            if events or seconds == 0:
                self.now += self.seconds_per_pass
                return events
            if seconds is None:
                return poll(None)
            if not (events := poll(_LOOK_AGAIN)):
                self.now += seconds
            return events

        return select
