"""Stores to test with, and what they tell of themselves."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.store.records import (
    StoreState,
    Trouble,
    WriterLimits,
)

ON_BOTH = pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)
"""For the few tests that are run on both kinds of databases each time."""
HASTY = WriterLimits(records=3_000, first_pause=0.01, longest_pause=0.05)
"""Retries at once."""


class Watch:
    """Hears of every state of a store, and waits for the one that matters."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._heard = asyncio.Event()
        self.states: list[StoreState] = []

    def __call__(self, state: StoreState) -> None:
        """Hear of a state, in the thread of the store."""
        self._loop.call_soon_threadsafe(self._hear, state)

    def _hear(self, state: StoreState) -> None:
        self.states.append(state)
        self._heard.set()

    async def until(self, matches: Callable[[StoreState], bool]) -> StoreState:
        """Wait until the latest state matches, or one that comes after it, however soon the next follows; return it."""
        latest = max(len(self.states) - 1, 0)
        while (found := next(filter(matches, self.states[latest:]), None)) is None:
            self._heard.clear()
            await self._heard.wait()
        return found

    async def until_down(self, trouble: Trouble) -> StoreState:
        """Wait until the store is down for this reason."""
        return await self.until(lambda state: state.trouble is trouble)

    async def until_up(self) -> StoreState:
        """Wait until the store is up again."""
        return await self.until(lambda state: state.trouble is None)


class Stores:
    """Every store of a test, closed at its end."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack

    def open(
        self,
        url: str,
        *,
        limits: WriterLimits = HASTY,
        clock: Callable[[], float] = time.time,
        timeout: float = 20.0,
        starts: bool = True,
    ) -> tuple[HistoryStore, Watch]:
        """Open one."""
        watch = Watch()
        store = HistoryStore(url, watch, limits=limits, clock=clock, timeout=timeout)
        if starts:
            store.start()
            self._stack.push_async_callback(store.close)
        return store, watch


def sqlite_url(file: Path) -> str:
    """Return the address of a file."""
    return f"sqlite:///{file}"
