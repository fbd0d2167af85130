"""A circuit breaker: leaves a service alone that keeps failing, and finds out by itself when it is back.

Closed: requests pass. Open, after some failures in a row, or one that lasts: none does. Half-open, once the
cool-down is over: one request passes as a probe; its success, and even its refusal, closes the circuit, its failure
opens it again for longer (Nygard, "Release It!"). Knows errors and a clock, and nothing of what
is asked. Lives as long as its provider; turns come and go.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from ..errors import ModelNotFound, ProviderBusy, ProviderError, ProviderRejectedKey, ProviderRejectedRequest
from ..timeouts import SYSTEM_CLOCK, Clock


class BreakerState(StrEnum):
    """Whether requests pass."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """When a circuit opens, and for how long."""

    failures: int = 3
    """In a row, until it opens."""
    cool_down: float = 30.0
    """Seconds until the first probe."""
    growth: float = 2.0
    """Each failed probe makes the next cool-down this many times as long."""
    longest_cool_down: float = 600.0
    """Seconds that no cool-down exceeds, whatever a service asks for."""

    def __post_init__(self) -> None:
        """Refuse a policy under which a circuit would never be whole, or never recover."""
        if self.failures < 1:
            raise ValueError("failures must be at least 1")
        if not 0 < self.cool_down <= self.longest_cool_down:
            raise ValueError("cool_down must be more than 0 seconds, and no more than longest_cool_down")
        if self.growth < 1:
            raise ValueError("growth must be at least 1")


_LASTING: Final = (ModelNotFound, ProviderRejectedKey)
"""Failures that do not pass by themselves: after one of these the circuit is open."""
_DEFAULT_POLICY: Final = BreakerPolicy()


class CircuitBreaker:
    """The breaker of one provider. For one event loop; several requests may be under way at once."""

    def __init__(self, policy: BreakerPolicy = _DEFAULT_POLICY, clock: Clock = SYSTEM_CLOCK) -> None:
        """Begin closed."""
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
        """Tell whether requests pass; an open circuit becomes half-open by time alone."""
        if self._probe_at is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self._clock.now() < self._probe_at else BreakerState.HALF_OPEN

    @property
    def failures(self) -> int:
        """Count the failures since the last success."""
        return self._failures

    @property
    def last_error(self) -> type[ProviderError] | None:
        """Return the class of the last failure since the last success."""
        return self._last_error

    @property
    def seconds_in_state(self) -> float:
        """Tell for how long the circuit has been in its state."""
        now = self._clock.now()
        return now - (self._probe_at if self._probe_at is not None and now >= self._probe_at else self._changed_at)

    @property
    def seconds_until_probe(self) -> float:
        """Tell how long an open circuit stays so; 0 when it is not open."""
        return 0.0 if self._probe_at is None else max(self._probe_at - self._clock.now(), 0.0)

    def admit(self) -> Permit | None:
        """Return a permit for one request, or None when none may pass."""
        match self.state:
            case BreakerState.CLOSED:
                return Permit(self)
            case BreakerState.HALF_OPEN if self._probe is None:
                self._probe = Permit(self)
                return self._probe
            case _:
                return None

    def insist(self) -> Permit:
        """Return a permit whatever the state is, for when there is nobody else to ask."""
        return self.admit() or Permit(self)

    def trip(self, error: ProviderError) -> None:
        """Open at once: somebody has found out, without a request of ours, that the service fails."""
        if self._probe_at is None:
            self._cool_down = self._policy.cool_down
        self._failures += 1
        self._last_error = type(error)
        self._open(error)

    def settle(self, permit: Permit, outcome: ProviderError | None) -> None:
        """Take what a permit's request came to; for permits."""
        if outcome is None:
            self._close()
            return
        if isinstance(outcome, ProviderRejectedRequest):  # about what was asked; and who refuses is there
            if permit is self._probe:
                self._close()
            self._last_error = type(outcome)
            return
        self._last_error = type(outcome)
        self._failures += 1
        if permit is self._probe:
            self._cool_down = min(self._cool_down * self._policy.growth, self._policy.longest_cool_down)
            self._open(outcome)
        elif self._probe_at is None and (self._failures >= self._policy.failures or isinstance(outcome, _LASTING)):
            self._cool_down = self._policy.cool_down
            self._open(outcome)

    def release(self, permit: Permit) -> None:
        """Take back a permit whose request tells nothing; for permits."""
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
    """Leave for one request. Use it as a context: one that is neither a success nor a failure is given back."""

    __slots__ = ("_breaker", "_settled")

    def __init__(self, breaker: CircuitBreaker) -> None:
        """Belong to `breaker`."""
        self._breaker = breaker
        self._settled = False

    def __enter__(self) -> Self:
        """Begin the request."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the request, which somebody may have broken off."""
        self._settled = True
        self._breaker.release(self)

    def succeeded(self) -> None:
        """Tell that the service answered to the end."""
        self._settle(None)

    def failed(self, error: ProviderError) -> None:
        """Tell that the service failed."""
        self._settle(error)

    def _settle(self, outcome: ProviderError | None) -> None:
        if not self._settled:
            self._settled = True
            self._breaker.settle(self, outcome)
