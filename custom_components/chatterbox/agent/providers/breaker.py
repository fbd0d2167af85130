"""Circuit breaker of a provider (Nygard, "Release It!").

Closed: requests pass. Open, after several failures in a row or a permanent one: none does. Half-open, after the
cool-down: one request passes as a probe; its success, or its refusal, closes the circuit, its failure opens it again
for longer. A breaker lives as long as its provider.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from ..errors import ModelNotFound, ProviderBusy, ProviderError, ProviderRejectedKey, ProviderRejectedRequest
from ..timeouts import SYSTEM_CLOCK, Clock


class BreakerState(StrEnum):
    """State of a circuit."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """When a circuit opens, and for how long."""

    failures: int = 3
    """In a row, until the circuit opens."""
    cool_down: float = 30.0
    """Seconds until the first probe."""
    growth: float = 2.0
    """Factor of the cool-down after each failed probe."""
    longest_cool_down: float = 600.0
    """Limit of a cool-down in seconds, whatever a service asks for."""

    def __post_init__(self) -> None:
        """Refuse a policy under which a circuit would never close or never recover."""
        if self.failures < 1:
            raise ValueError("failures must be at least 1")
        if not 0 < self.cool_down <= self.longest_cool_down:
            raise ValueError("cool_down must be more than 0 seconds, and no more than longest_cool_down")
        if self.growth < 1:
            raise ValueError("growth must be at least 1")


_PERMANENT: Final = (ModelNotFound, ProviderRejectedKey)
"""Permanent failures: one opens the circuit."""
_DEFAULT_POLICY: Final = BreakerPolicy()


class CircuitBreaker:
    """The breaker of one provider. For one event loop; several requests may be under way at once."""

    def __init__(self, policy: BreakerPolicy = _DEFAULT_POLICY, clock: Clock = SYSTEM_CLOCK) -> None:
        """Start closed."""
        self._policy = policy
        self._clock = clock
        self._cool_down = policy.cool_down
        self._failures = 0
        self._last_error: type[ProviderError] | None = None
        self._changed_at = clock.now()
        self._probe_at: float | None = None
        self._probe: Permit | None = None

    @property
    def state(self) -> BreakerState:
        """Return the state; an open circuit becomes half-open by time alone."""
        if self._probe_at is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self._clock.now() < self._probe_at else BreakerState.HALF_OPEN

    @property
    def failures(self) -> int:
        """Return the number of failures since the last success."""
        return self._failures

    @property
    def last_error(self) -> type[ProviderError] | None:
        """Return the class of the last failure since the last success."""
        return self._last_error

    @property
    def seconds_in_state(self) -> float:
        """Return how long the circuit has been in its state."""
        now = self._clock.now()
        return now - (self._probe_at if self._probe_at is not None and now >= self._probe_at else self._changed_at)

    @property
    def seconds_until_probe(self) -> float:
        """Return how long the circuit stays open; 0 if it is not open."""
        return 0.0 if self._probe_at is None else max(self._probe_at - self._clock.now(), 0.0)

    def admit(self) -> Permit | None:
        """Return a permit for one request, None if it may not pass."""
        match self.state:
            case BreakerState.CLOSED:
                return Permit(self)
            case BreakerState.HALF_OPEN if self._probe is None:
                self._probe = Permit(self)
                return self._probe
            case _:
                return None

    def insist(self) -> Permit:
        """Return a permit in any state, if there is no other provider."""
        return self.admit() or Permit(self)

    def trip(self, error: ProviderError) -> None:
        """Open at once, after a failure that was found without a request."""
        if self._probe_at is None:
            self._cool_down = self._policy.cool_down
        self._failures += 1
        self._last_error = type(error)
        self._open(error)

    def record(self, permit: Permit, outcome: ProviderError | None) -> None:
        """Record the outcome of a request; called by its permit."""
        if outcome is None:
            self._close()
            return
        if isinstance(outcome, ProviderRejectedRequest):  # it concerns the request: the service is up
            if permit is self._probe:
                self._close()
            self._last_error = type(outcome)
            return
        self._last_error = type(outcome)
        self._failures += 1
        if permit is self._probe:
            self._cool_down = min(self._cool_down * self._policy.growth, self._policy.longest_cool_down)
            self._open(outcome)
        elif self._probe_at is None and (self._failures >= self._policy.failures or isinstance(outcome, _PERMANENT)):
            self._cool_down = self._policy.cool_down
            self._open(outcome)

    def release(self, permit: Permit) -> None:
        """Take back the permit of a request without an outcome; called by the permit."""
        if permit is self._probe:
            self._probe = None

    def _close(self) -> None:
        if self._probe_at is not None:
            self._changed_at = self._clock.now()
        self._failures, self._last_error = 0, None
        self._probe_at = self._probe = None

    def _open(self, error: ProviderError) -> None:
        asked_for = error.retry_after if isinstance(error, ProviderBusy) else None
        wait = max(self._cool_down, min(asked_for or 0.0, self._policy.longest_cool_down))
        self._changed_at = self._clock.now()
        self._probe_at = self._changed_at + wait
        self._probe = None


class Permit:
    """Permission for one request. Used as a context manager, it is given back without an outcome."""

    __slots__ = ("_breaker", "_reported")

    def __init__(self, breaker: CircuitBreaker) -> None:
        """Report to `breaker`."""
        self._breaker = breaker
        self._reported = False

    def __enter__(self) -> Self:
        """Start the request."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the request, perhaps without an outcome."""
        self._reported = True
        self._breaker.release(self)

    def succeeded(self) -> None:
        """Record that the service answered completely."""
        self._report(None)

    def failed(self, error: ProviderError) -> None:
        """Record that the service failed."""
        self._report(error)

    def _report(self, outcome: ProviderError | None) -> None:
        if not self._reported:
            self._reported = True
            self._breaker.record(self, outcome)
