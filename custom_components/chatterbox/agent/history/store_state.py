"""What the store tells of itself: how it is, and what has become of a record.

Knows nothing of databases or threads; whoever writes fills it in.
"""

import asyncio
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from .store_trouble import Trouble


@dataclass(frozen=True, slots=True)
class WriterLimits:
    """How much may wait, and how long until the next try. At the bound the oldest record gives way to the newest."""

    records: int = 1_000
    bytes: int = 64 * 1024 * 1024
    first_pause: float = 1.0
    """Seconds; each pause is twice as long as the one before."""
    longest_pause: float = 60.0
    gathering: float = 5.0
    """Seconds that audit records wait for the turn that they belong to, so that both are stored at once. Home
    Assistant's recorder waits as long with what it stores."""


@dataclass(frozen=True, slots=True)
class StoreState:
    """How the store is."""

    trouble: Trouble | None = None
    """Why it cannot be used; None when it can."""
    message: str = ""
    """The same for people, without a password."""
    waiting: int = 0
    """Records that are not stored yet."""
    dropped: int = 0
    """Records that never will be: too many waited, or the database refused them."""
    put_aside: str = ""
    """Where the last damaged file was kept; a new one was begun in its place."""


_ANSWERING: Final = threading.Lock()
"""Of all acknowledgements: it is held for less than a lock takes to be made."""


class Acknowledgement:
    """Tells, to who asks, when a record is safe.

    `stored()` is True once the record is stored, and False when it never will be.
    """

    def __init__(self) -> None:
        """Begin without an answer."""
        self._answer: bool | None = None
        self._waiting: list[asyncio.Future[bool]] = []

    async def stored(self, at_most: float | None = None) -> bool:
        """Wait for the answer, as long as it takes; or `at_most` some seconds, after which it is False for now."""
        with _ANSWERING:
            if self._answer is not None:
                return self._answer
            loop = asyncio.get_running_loop()
            answer: asyncio.Future[bool] = loop.create_future()
            self._waiting.append(answer)
        timer = None if at_most is None else loop.call_later(at_most, _give, answer, False)  # noqa: FBT003  # the same
        try:
            return await answer
        finally:
            if timer is not None:
                timer.cancel()
            if self._answer is None:  # a store may be down for days
                with _ANSWERING, suppress(ValueError):
                    self._waiting.remove(answer)

    @property
    def given(self) -> bool:
        """Whether there is an answer."""
        return self._answer is not None

    def give(self, *, stored: bool) -> None:
        """Answer; once, from any thread."""
        with _ANSWERING:
            self._answer = stored
            waiting, self._waiting = self._waiting, []
        for one in waiting:
            with suppress(RuntimeError):  # who waited is gone with its loop
                one.get_loop().call_soon_threadsafe(_give, one, stored)


def _give(answer: asyncio.Future[bool], stored: bool) -> None:  # noqa: FBT001  # a loop calls it, which passes no names
    if not answer.done():
        answer.set_result(stored)
