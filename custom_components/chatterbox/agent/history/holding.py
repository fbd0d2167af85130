"""Holds the thread that writes while somebody copies the file.

Knows threads; nothing of databases.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Holding:
    """One time that the thread is held, for so many seconds at most."""

    at_most: float
    holds: Future[int] = field(default_factory=Future)
    """Done as soon as the thread is held; the number means nothing. Has the error where it never was."""
    released: threading.Event = field(default_factory=threading.Event)
    """To be set when the copy is made."""

    def hold(self, prepare: Callable[[], None]) -> None:
        """Prepare the file, and wait; to be called in the thread that is held. Does nothing for who has given up."""
        if self.holds.set_running_or_notify_cancel():
            prepare()
            self.holds.set_result(0)
            self.released.wait(self.at_most)

    def end(self, doing: Future[int]) -> None:
        """Pass on why the thread was not held."""
        if (error := doing.exception()) is not None and self.holds.set_running_or_notify_cancel():
            self.holds.set_exception(error)
