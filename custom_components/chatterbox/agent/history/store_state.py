"""What the store tells of itself: how it is, and what has become of a record.

Knows nothing of databases or threads; whoever writes fills it in.
"""

import asyncio
from concurrent.futures import Future
from dataclasses import dataclass

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


class Acknowledgement:
    """Tells, to who asks, when a record is safe.

    `stored()` is True once the record is stored, and False when it never will be.
    """

    def __init__(self) -> None:
        """Begin without an answer."""
        self._stored = Future[bool]()
        self._stored.set_running_or_notify_cancel()  # who stops waiting does not take it from others

    async def stored(self) -> bool:
        """Wait for the answer, as long as it takes."""
        return await asyncio.wrap_future(self._stored)

    @property
    def given(self) -> bool:
        """Whether there is an answer."""
        return self._stored.done()

    def give(self, *, stored: bool) -> None:
        """Answer; once."""
        self._stored.set_result(stored)
