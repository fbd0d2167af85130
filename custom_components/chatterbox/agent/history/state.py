"""The state of the store, its errors, and the acknowledgement of a record.

Imports no SQLAlchemy, so that the rest of the integration can import it on the event loop.
"""

import asyncio
from concurrent.futures import Future
from dataclasses import dataclass
from enum import StrEnum


class Trouble(StrEnum):
    """Why the store cannot be used."""

    WRONG_URL = "wrong_url"
    """The database URL is invalid."""
    UNSUPPORTED = "unsupported"
    """The database is neither SQLite nor PostgreSQL."""
    NO_DRIVER = "no_driver"
    """The Python package of the database driver is not installed."""
    CANNOT_OPEN = "cannot_open"
    """The file cannot be opened or created."""
    READ_ONLY = "read_only"
    DISK_FULL = "disk_full"
    DISK_FAILED = "disk_failed"
    """The disk reports I/O errors."""
    LOCKED = "locked"
    """Another program holds the database."""
    CORRUPT = "corrupt"
    NEWER = "newer"
    """The tables have another schema version."""
    SERVER_GONE = "server_gone"
    """The server cannot be reached or rejects the login."""
    SLOW = "slow"
    """The database did not answer in time."""
    CLOSED = "closed"
    OTHER = "other"


class StoreUnavailable(Exception):
    """The store cannot be used now. The text says why and what helps, without any secret.

    It is no `AgentError`, because no turn fails of it.
    """

    def __init__(self, trouble: Trouble, message: str) -> None:
        """Keep the reason for callers with texts of their own."""
        super().__init__(message)
        self.trouble = trouble


class RecordRefused(Exception):
    """The database works but rejects this record; a retry is useless."""


@dataclass(frozen=True, slots=True)
class WriterLimits:
    """Bounds of the queue, and pauses between retries. Beyond the bounds, the oldest records are dropped."""

    records: int = 1_000
    bytes: int = 64 * 1024 * 1024
    first_pause: float = 1.0
    """Seconds; each pause is twice as long as the one before."""
    longest_pause: float = 60.0


@dataclass(frozen=True, slots=True)
class StoreState:
    """The state of the store."""

    trouble: Trouble | None = None
    """Why it cannot be used; None when it can."""
    message: str = ""
    """The same as a text, without a password."""
    waiting: int = 0
    """Records that are not stored yet."""
    dropped: int = 0
    """Records that never will be: the queue was full, or the database refused them."""
    put_aside: str = ""
    """Path of the latest damaged file that was replaced by a new one."""


class Acknowledgement:
    """The outcome of storing one record."""

    def __init__(self) -> None:
        """Start without an outcome."""
        self._outcome = Future[bool]()
        self._outcome.set_running_or_notify_cancel()  # a waiter that is cancelled does not cancel it for others

    async def stored(self, at_most: float | None = None) -> bool:
        """Wait until the record is stored (True) or given up (False), or `at_most` some seconds (False)."""
        if self._outcome.done():
            return self._outcome.result()
        try:
            async with asyncio.timeout(at_most):
                return await asyncio.wrap_future(self._outcome)
        except TimeoutError:
            return False

    @property
    def given(self) -> bool:
        """Whether the outcome is known."""
        return self._outcome.done()

    def give(self, *, stored: bool) -> None:
        """Set the outcome, once, from any thread."""
        self._outcome.set_result(stored)
