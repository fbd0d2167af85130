"""What can be wrong with the store, in our words.

Knows nothing of databases, so that who only has to understand a trouble need not import one.
"""

from enum import StrEnum


class Trouble(StrEnum):
    """What is wrong."""

    WRONG_URL = "wrong_url"
    """The address of the database cannot be used as it is."""
    NO_DRIVER = "no_driver"
    """The Python package that speaks with such a database is not installed."""
    CANNOT_OPEN = "cannot_open"
    """The file cannot be opened, or made."""
    READ_ONLY = "read_only"
    DISK_FULL = "disk_full"
    DISK_FAILED = "disk_failed"
    """The disk does not read or write as it should."""
    LOCKED = "locked"
    """Another program holds the database."""
    CORRUPT = "corrupt"
    NEWER = "newer"
    """A newer Chatterbox has written to it."""
    SERVER_GONE = "server_gone"
    """The server cannot be reached, or does not let us in."""
    SLOW = "slow"
    """It did not answer in time."""
    CLOSED = "closed"
    """The store is not open, or not any more."""
    OTHER = "other"


class StoreUnavailable(Exception):
    """The store cannot be used now. The text says why and what helps; it holds nothing secret.

    It is no AgentError, because no turn ever fails of it.
    """

    def __init__(self, trouble: Trouble, message: str) -> None:
        """Carry what is wrong, for who has words of their own."""
        super().__init__(message)
        self.trouble = trouble


class RecordRefused(Exception):
    """The database works, and does not take this record; to try again is no use."""
