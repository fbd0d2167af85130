"""How often, and how much at once, one token may ask: a bucket that empties with each request and fills with time.

Pure but for the clock. Knows tokens by their ids; nothing of HTTP or of what is asked.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from time import monotonic
from typing import Final

from ..agent.responses.api_errors import ApiError, ErrorType

_MINUTE: Final = 60.0
_A_MOMENT: Final = 1.0
"""Seconds after which one of too many requests at once is likely to have ended."""
_MOST_BUCKETS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a token may still do."""

    limit: int
    """Requests at one stroke."""
    remaining: int
    """Of these, how many are left."""
    seconds_until_full: float


@dataclass(slots=True)
class _Bucket:
    left: float
    filled_at: float
    running: int = 0


class RateLimit:
    """Requests of all tokens. A token that has not asked for a minute takes no memory."""

    def __init__(self, per_minute: int = 300, at_once: int = 64, clock: Callable[[], float] = monotonic) -> None:
        """Allow every token `per_minute` requests, after a rest all of them at one stroke, and `at_once` at once."""
        self._per_minute = per_minute
        self._at_once = at_once
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}
        """Those that were used last come last."""

    def __len__(self) -> int:
        """Return how many tokens are remembered."""
        return len(self._buckets)

    def take(self, token: str) -> None:
        """Count one request. Raises `ApiError` (429) where there are none left."""
        bucket = self._bucket(token)
        if bucket.left < 1:
            wait = (1 - bucket.left) * _MINUTE / self._per_minute
            raise _too_many(f"This token may ask {self._per_minute} times a minute. Try again in a moment.", wait)
        bucket.left -= 1

    @contextmanager
    def running(self, token: str) -> Iterator[None]:
        """Count one request that runs until the block is left. Raises `ApiError` (429) where it may not begin."""
        bucket = self._bucket(token)
        if bucket.running >= self._at_once:
            raise _too_many(f"This token may have {self._at_once} requests at once. Wait for one to end.", _A_MOMENT)
        self.take(token)
        bucket.running += 1
        try:
            yield
        finally:
            bucket.running -= 1

    def allowance(self, token: str) -> Allowance:
        """Return what is left of a token's requests."""
        left = self._bucket(token).left
        return Allowance(self._per_minute, int(left), (self._per_minute - left) * _MINUTE / self._per_minute)

    def _bucket(self, token: str) -> _Bucket:
        """Return the bucket of a token, as full as it is by now."""
        now = self._clock()
        bucket = self._buckets.pop(token, None) or _Bucket(self._per_minute, now)
        filled = bucket.left + (now - bucket.filled_at) * self._per_minute / _MINUTE
        bucket.left, bucket.filled_at = min(filled, self._per_minute), now
        self._forget_idle(now)
        self._buckets[token] = bucket
        return bucket

    def _forget_idle(self, now: float) -> None:
        """Drop those that are full by now, the oldest first; beyond a bound, others that nothing runs with."""
        for token, bucket in list(self._buckets.items()):
            is_full = now - bucket.filled_at >= _MINUTE
            if not is_full and len(self._buckets) < _MOST_BUCKETS:
                return
            if not bucket.running:
                del self._buckets[token]


def _too_many(message: str, wait: float) -> ApiError:
    return ApiError(
        message, status=429, kind=ErrorType.TOO_MANY_REQUESTS, code="rate_limit_exceeded", retry_after=ceil(wait)
    )
