"""Asking once more when a model fails before it has begun: whether, and how long to wait.

Until the first event nothing was said and no tool was called, so asking again repeats nothing.
Knows which errors may pass by themselves, which is a property of their class. Must not know
other providers: handing over to them comes after this, within the same first-token deadline.
"""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from random import SystemRandom
from typing import Final

from ..errors import ProviderBusy, ProviderError
from ..events import ProviderEvent
from ..timeouts import Clock
from .patience import BegunStream, await_first

type Jitter = Callable[[], float]
"""Returns a random number from 0 up to 1."""

RANDOM_JITTER: Final[Jitter] = SystemRandom().random


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a provider is asked anew, and how the waits grow: exponential, with full jitter.

    Full jitter takes a random part of each wait, so that many homes do not return to a service
    in step (AWS Architecture Blog, "Exponential Backoff And Jitter").
    """

    attempts: int = 2
    """Requests in all; 1 for no retry."""
    first_wait: float = 0.25
    """Seconds before the second request, at most; each further wait may be twice as long."""
    longest_wait: float = 4.0
    """Seconds that no wait exceeds, unless the service itself asks for more."""

    def __post_init__(self) -> None:
        """Refuse what would be no request at all, or a wait into the past."""
        if self.attempts < 1:
            raise ValueError("attempts must be at least 1")
        if self.first_wait < 0 or self.longest_wait < 0:
            raise ValueError("waits must be at least 0 seconds")

    def wait_after(self, attempt: int, error: ProviderError, jitter: Jitter) -> float | None:
        """Return the seconds to wait after request number `attempt`, from 1; None when it was the last.

        A `Retry-After` is waited for in full.
        """
        if attempt >= self.attempts or not error.retryable:
            return None
        wait = min(self.first_wait * 2.0 ** (attempt - 1), self.longest_wait) * jitter()
        asked_for = error.retry_after if isinstance(error, ProviderBusy) else None
        return max(wait, asked_for or 0.0)


async def begin(
    open_stream: Callable[[], AsyncGenerator[ProviderEvent]],
    within: float,
    retries: Retries,
    clock: Clock,
    jitter: Jitter,
) -> BegunStream:
    """Open a stream and wait for its first event, with as many retries as fit in `within` seconds.

    Raises the `ProviderError` of the last request, at once when there is no time for another one.
    """
    deadline = clock.now() + within
    attempt = 1
    while True:
        try:
            return await await_first(open_stream(), deadline - clock.now(), clock)
        except ProviderError as error:
            wait = retries.wait_after(attempt, error, jitter)
            if wait is None or clock.now() + wait >= deadline:
                raise
        await clock.sleep(wait)
        attempt += 1
