"""A provider of a chain with its circuit breaker, timeouts and retries, and the start of its answer.

Until its first event a stream has said and called nothing, so the request can be
repeated. Only the time of our waits counts, never that of the reader between two
events. The turn as a whole has its own deadline.
"""

import asyncio
import logging
import math
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from random import SystemRandom
from typing import Final, Self

from ..conversation.prompt_fitter import FittedRequest, PromptFitter
from ..errors import (
    BetweenTokensTimeout,
    BudgetSpent,
    CreditSpent,
    FirstTokenTimeout,
    ModelNotFound,
    PromptTooLong,
    ProviderError,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderUnreachable,
    reply_cut,
)
from ..events import CompletionResult, PromptProgress, ProviderEvent
from ..joined_tools import as_shown, shown_tools
from ..messages import NamedTool, ToolChoiceMode, Tools
from ..protocols import CompletionRequest, LLMProvider
from ..timeouts import (
    SYSTEM_CLOCK,
    Clock,
    TookTooLong,
    WaitedTooLong,
    finish_within,
    is_cancelled,
    leavable,
    time_limit,
)


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


_PAUSE: Final = 300.0
"""Seconds for which a service is assumed to keep a model loaded and a prompt cached, as Ollama does."""
_PERMANENT: Final = (
    CreditSpent,
    ModelNotFound,
    ProviderRejectedKey,
)
"""Permanent failures: one opens the circuit."""
_DEFAULT_POLICY: Final = BreakerPolicy()


class CircuitBreaker:
    """The breaker of one provider. For one event loop; several requests may be under way at once."""

    def __init__(
        self, policy: BreakerPolicy = _DEFAULT_POLICY, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        """Start closed."""
        self._policy = policy
        self._clock = clock
        self._cool_down = policy.cool_down
        self.failures = 0
        """Since the last success."""
        self.answers = 0
        """Since the start."""
        self.last_error: type[ProviderError] | None = None
        """The class of the last failure since the last success."""
        self._answered_at = -math.inf
        self._is_refused = False
        """Whether the last failure was a refused connection."""
        self._probe_at: float | None = None
        self._probe: Permit | None = None

    @property
    def state(self) -> BreakerState:
        """Return the state; an open circuit becomes half-open by time alone."""
        if self._probe_at is None:
            return BreakerState.CLOSED
        if self._clock.now() < self._probe_at:
            return BreakerState.OPEN
        return BreakerState.HALF_OPEN

    @property
    def seconds_until_probe(self) -> float:
        """Return how long the circuit stays open; 0 if it is not open."""
        if self._probe_at is None:
            return 0.0
        return max(
            self._probe_at - self._clock.now(),
            0.0,
        )

    @property
    def seconds_since_answer(self) -> float:
        """Return how long ago the last answer ended; infinite without one since a start or a failure."""
        if self.last_error:
            return math.inf
        return self._clock.now() - self._answered_at

    def admit(self) -> Permit | None:
        """Return a permit for one request, None if it may not pass.

        A server that refuses connections delays nobody, so each turn finds out whether
        it has been started.
        """
        match self.state:
            case BreakerState.HALF_OPEN if self._probe is None:
                self._probe = Permit(self)
                return self._probe
            case state:
                if state is BreakerState.CLOSED or self._is_refused:
                    return Permit(self)
                return None

    def insist(self) -> Permit:
        """Return a permit in any state, if there is no other provider."""
        return self.admit() or Permit(self)

    def trip(self, error: ProviderError) -> None:
        """Open at once, after a failure that was found without a request."""
        if self._probe_at is None:
            self._cool_down = self._policy.cool_down
        self.failures += 1
        self._note(error)
        self._open(error)

    def record(
        self,
        permit: Permit,
        outcome: ProviderError | None,
    ) -> None:
        """Record the outcome of a request; called by its permit."""
        if outcome is None:
            self.answers += 1
            # A check that the service is back says nothing about what it has in its
            # cache.
            if self.last_error:
                self._answered_at = -math.inf
            else:
                self._answered_at = self._clock.now()
            self._close()
            return
        if isinstance(
            outcome, ProviderRejectedRequest
        ):  # it concerns the request: the service is up
            if permit is self._probe:
                self._close()
            self._note(outcome)
            return
        self._note(outcome)
        self.failures += 1
        if permit is self._probe:
            self._cool_down = min(
                self._cool_down * self._policy.growth, self._policy.longest_cool_down
            )
            self._open(outcome)
        elif self._probe_at is None and (
            self.failures >= self._policy.failures or isinstance(outcome, _PERMANENT)
        ):
            self._cool_down = self._policy.cool_down
            self._open(outcome)

    def release(self, permit: Permit) -> None:
        """Take back the permit of a request without an outcome; called by the permit."""
        if permit is self._probe:
            self._probe = None

    def _note(self, error: ProviderError) -> None:
        self.last_error = type(error)
        self._is_refused = isinstance(error, ProviderUnreachable) and error.is_refused

    def _close(self) -> None:
        self.failures = 0
        self.last_error = None
        self._probe_at = self._probe = None

    def _open(self, error: ProviderError) -> None:
        wait = max(
            self._cool_down,
            min(
                error.retry_after or 0.0,
                self._policy.longest_cool_down,
            ),
        )
        self._probe_at = self._clock.now() + wait
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


_LOGGER = logging.getLogger(__name__)

type Jitter = Callable[[], float]
"""Returns a random number from 0 up to 1."""

RANDOM_JITTER: Final[Jitter] = SystemRandom().random


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts of one provider, in seconds, each more than 0."""

    first_token: float = 20.0
    """Until the first event, connecting and all retries included."""
    between_tokens: float = 30.0
    """Between two events. A tool call is one event, however long the model writes it."""
    first_answer: float = 0.0
    """Instead of a shorter `first_token` where the model may have to be loaded, or the prompt read from its start."""
    is_guessed: bool = False
    """Whether nobody has measured a first answer, so that it gets the time of the turn if no other provider waits."""


_RETRY_WAIT: Final = 0.25
"""Most seconds between two requests, unless the service asks for more.

A random part of them is waited ("full jitter"), so that many homes do not return to a
service in step (AWS Architecture Blog, "Exponential Backoff And Jitter").
"""


@dataclass(frozen=True, slots=True)
class StartLimits:
    """Seconds for which a provider is waited for."""

    longest: float
    """While it tells that it gets on with the prompt."""
    silent: float = math.inf
    """While it does not."""


@dataclass(frozen=True, slots=True)
class StartedStream:
    """A stream whose first event has arrived. Its holder closes it."""

    first: ProviderEvent
    rest: AsyncGenerator[ProviderEvent]
    clock: Clock
    fitted: FittedRequest | None
    """The request as it was fitted into a context window, if it was."""

    async def after(
        self, event: ProviderEvent, timeouts: Timeouts
    ) -> ProviderEvent | None:
        """Wait for the event after `event`; None after `CompletionResult`.

        Raises as `await_first` does, with `BetweenTokensTimeout` for a silence that is
        too long.
        """
        if isinstance(event, CompletionResult):
            return None
        return await _next(
            self.rest,
            timeouts.between_tokens,
            self.clock,
            BetweenTokensTimeout,
            "fell silent",
        )

    async def aclose(self) -> None:
        """Close the stream."""
        await self.rest.aclose()


_BATCHES: Final = 2
"""Times as long as for the batch before, for which a service may read the next batch of a prompt."""


async def await_first(
    stream: AsyncGenerator[ProviderEvent],
    seconds: float,
    longest: float,
    clock: Clock,
    fitted: FittedRequest | None = None,
) -> StartedStream:
    """Wait for the first event of a stream; closes the stream if there is none.

    The wait goes on while the service tells that it gets on with the prompt, for
    `longest` seconds at most. Raises `FirstTokenTimeout`, a `ProviderError` of the
    stream, `ProviderReplyInvalid` if it ends without a finish, or `ProviderUnreachable`
    if it was cancelled although its reader was not.
    """
    read_at = clock.now()
    processed = -1
    due = read_at + seconds
    ends_at = read_at + longest
    try:
        first = await _next(
            stream,
            seconds,
            clock,
            FirstTokenTimeout,
            "sent nothing",
        )
        while isinstance(first, PromptProgress):
            now = clock.now()
            if first.processed > processed:
                batch = (
                    math.inf if processed < 0 else _BATCHES * (now - read_at)
                )  # at first it may have any size
                due = now + (
                    seconds if first.processed >= first.total else max(batch, seconds)
                )
                read_at = now
                processed = first.processed
            first = await _next(
                stream,
                min(due, ends_at) - now,
                clock,
                FirstTokenTimeout,
                "read no further",
            )
    except BaseException:
        await stream.aclose()
        raise
    return StartedStream(first, stream, clock, fitted)


async def _next(
    stream: AsyncGenerator[ProviderEvent],
    seconds: float,
    clock: Clock,
    late: type[ProviderError],
    did: str,
) -> ProviderEvent:
    try:
        async with time_limit(seconds, clock):
            return await anext(stream)
    except StopAsyncIteration:
        raise reply_cut("the stream ended without a finish") from None
    except WaitedTooLong as err:
        raise late(f"the service {did} for {max(seconds, 0):g} seconds") from err
    except asyncio.CancelledError as err:
        if is_cancelled():
            raise
        raise ProviderUnreachable("the stream was cancelled") from err


def every_tool(tools: Tools) -> Tools:
    """Offer all tools of a turn to a provider."""
    return tools


def as_it_is(request: CompletionRequest) -> CompletionRequest:
    """Send a provider all messages of a turn."""
    return request


type Prefix = tuple[str, str, Tools]
"""The name of a model, and the instructions and tools, which it reads before anything else."""

_A_MOMENT: Final = 1.0
"""Seconds that a cancelled task may take to close its connection."""
_MARGIN: Final = 2.0
"""How many times as long as for reading ahead the next reading may take."""


@dataclass(slots=True, weakref_slot=True)
class ReadAhead:
    """The prefix that a server reads before a turn needs it, and those that it has read. It gives way to every turn."""

    readers: dict[str, str] = field(default_factory=dict)
    """The models that the server may read ahead for, by the entity ids of their agents."""
    task: asyncio.Task[None] | None = None
    prefix: Prefix | None = None
    """The prefix that the task has the server read; None for none."""
    known: list[tuple[Prefix, float]] = field(default_factory=list)
    """The prefixes that the server has read for one model, the latest one last, with times of `time.monotonic`."""
    latest_turn: float = -math.inf
    """The same for its latest turn."""
    results: dict[str, str] = field(default_factory=dict)
    """`read`, or the name of the error, of the latest reading that no turn has ended, by model."""
    seconds: dict[str, float] = field(default_factory=dict)
    """The longest time that reading a prefix took, by model: then the server had to load the model, or read it all."""

    @property
    def is_under_way(self) -> bool:
        """Return whether the task is running."""
        return self.task is not None and not self.task.done()

    async def give_way(
        self,
        prefix: Prefix,
        longest: float,
    ) -> None:
        """Have the server free for a request of a turn with a prefix.

        If that is being read, it is waited for: a llama.cpp server that is cut off
        finishes a batch of up to 2,048 tokens before it takes the next request, and
        then reads the rest in any case. Raises `FirstTokenTimeout` if it takes longer
        than `longest` seconds: the server goes on reading, until the next turn takes
        its place.
        """
        if self.task is not None and not self.task.done():
            if self.prefix == prefix:
                await asyncio.wait(
                    {self.task},
                    timeout=longest,
                )
                if not self.task.done():
                    self.prefix = None
                    raise FirstTokenTimeout(
                        "the service is still reading the beginning of the prompt"
                    )
            else:
                self.task.cancel()
                await asyncio.wait(
                    {self.task},
                    timeout=min(longest, _A_MOMENT),
                )
        self.note(prefix)
        self.latest_turn = time.monotonic()

    def note(self, prefix: Prefix) -> None:
        """Note a prefix that the server has read or, in a turn, is about to read. It may hold no other model now."""
        now = time.monotonic()
        model = prefix[0]
        self.known = [
            one
            for one in self.known
            if one[1] > now - READ_FOR and one[0][0] == model and one[0] != prefix
        ]
        self.known.append((prefix, now))

    def forget(self) -> None:
        """Expect the server to have read nothing: it may have been started again."""
        self.known = []
        self.latest_turn = -math.inf


READ_FOR: Final = 60.0
"""Seconds for which a service is assumed to cache a prefix."""


@dataclass(frozen=True, slots=True)
class ManagedProvider:
    """One provider of a chain. Built once and used by many turns; `failover.py` decides their order."""

    name: str
    """Name for people, in notices and logs."""
    provider: LLMProvider
    breaker: CircuitBreaker
    timeouts: Timeouts = Timeouts()
    retries: bool = True
    """Whether a request that may succeed a moment later is made once more."""
    tools: Callable[[Tools], Tools] = every_tool
    """Returns those of the tools of a turn that this provider is offered. A turn has those of all providers."""
    without_others: Callable[[CompletionRequest], CompletionRequest] = as_it_is
    """Returns a request without what other providers have done in its turn, and must not look like its own work."""
    closes_promptly: bool = False
    """Whether its streams end at once when they are closed: then they need no task of their own."""
    id: str = ""
    """Identifies the provider that answered; names may be ambiguous."""
    check: Callable[[], Coroutine[object, object, None]] | None = None
    """Checks whether the service would answer; raises a `ProviderError`. None if no check is needed."""
    spent: Callable[[], BudgetSpent | None] = lambda: None
    """Returns an error if the budget of the model is spent: then no turn is started with it or handed to it."""
    fitter: PromptFitter | None = None
    """Fits requests into the context window of the model. None sends them as they are."""
    model: str = ""
    """Its name at the server."""
    refuses_when_spent: bool = False
    """Whether no other provider takes over if it is the first of a chain and its budget is spent."""
    ahead: ReadAhead = field(default_factory=ReadAhead)
    """The same for all models of a server."""

    @property
    def _rests(self) -> bool:
        """Return whether a start, a failure or a long pause came after its last answer."""
        return self.breaker.seconds_since_answer > _PAUSE

    @property
    def first_wait(self) -> float:
        """Return the seconds that the first event may take now, as far as is known."""
        timeouts = self.timeouts
        longest = max(
            timeouts.first_token,
            timeouts.first_answer,
            _MARGIN * self.ahead.seconds.get(self.model, 0.0),
        )
        if self._rests:
            return longest
        return timeouts.first_token

    def request(self, request: CompletionRequest) -> CompletionRequest | None:
        """Return the request for this provider; None if it forces a tool that the provider is not offered."""
        tools = self.tools(request.tools)
        request = self.without_others(request)
        visible = shown_tools(tools)
        match request.tool_choice:
            case NamedTool(name):
                if all(tool.name != name for tool in tools):
                    return None
                visible = tools  # a model has to see it under its own name
            case ToolChoiceMode.REQUIRED if not tools:
                return None
        if len(visible) == len(request.tools) and not any(one.parts for one in visible):
            return request
        transcript = as_shown(request.transcript, visible)
        return replace(
            request,
            tools=visible,
            transcript=transcript,
        )

    async def start(
        self,
        request: CompletionRequest,
        limits: StartLimits,
        clock: Clock,
        jitter: Jitter,
        *,
        may_retry: bool,
    ) -> StartedStream:
        """Open a stream and wait for its first event.

        A request is made once more if the time for a first event allows it; a
        `Retry-After` is honoured in full. A prompt that is refused as too long is sent
        once more, shorter. Raises the `ProviderError` of the last request, at once if
        there is no time for another one.
        """
        ends_at = clock.now() + limits.longest
        silent_until = clock.now() + min(limits.silent, limits.longest)
        await self.ahead.give_way(
            (self.model, request.instructions, request.tools),
            max(limits.longest, 0),
        )
        is_unknown = self._rests and self.timeouts.is_guessed
        first_wait = math.inf if is_unknown else self.first_wait
        deadline = min(clock.now() + first_wait, silent_until)
        fitted = self.fitter.fit(request) if self.fitter else None
        may_retry = may_retry and self.retries
        while True:
            try:
                stream = self._open(fitted.request if fitted else request)
                now = clock.now()
                return await await_first(
                    stream, deadline - now, ends_at - now, clock, fitted
                )
            except ProviderError as error:
                shorter = self.learn(error, fitted)
                if shorter:
                    fitted = shorter
                    continue
                wait = max(_RETRY_WAIT * jitter(), error.retry_after or 0.0)
                if (
                    not (may_retry and error.retryable)
                    or clock.now() + wait >= deadline
                ):
                    raise
            may_retry = False
            await clock.sleep(wait)

    def learn(
        self, error: ProviderError, fitted: FittedRequest | None
    ) -> FittedRequest | None:
        """Take the numbers of a prompt that was refused as too long; return a shorter one to send, if there is one."""
        if (
            self.fitter is None
            or fitted is None
            or not isinstance(error, PromptTooLong)
        ):
            return None
        return self.fitter.refused(fitted, error)

    def _open(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Return a stream that its reader can close at any time."""
        stream = self.provider.stream(request)
        if self.closes_promptly:
            return stream
        return leavable(
            stream,
            f"provider of {self.name}",
            may_fail=ProviderError,
            cancelled_as=ProviderUnreachable,
        )

    def succeeded(self, permit: Permit) -> None:
        """Record a success; logged if it follows a failure."""
        if self.breaker.last_error is not None:
            _LOGGER.info("%s answers again", self.name)
        permit.succeeded()

    def failed(
        self,
        permit: Permit,
        error: ProviderError,
    ) -> None:
        """Record a failure; logged as a warning unless it repeats the previous one."""
        breaker = self.breaker
        is_news = breaker.last_error is not type(error)
        was_closed = breaker.state is BreakerState.CLOSED
        permit.failed(error)
        self.ahead.forget()
        level = logging.WARNING if is_news else logging.DEBUG
        _LOGGER.log(
            level,
            "%s failed: %s: %s",
            self.name,
            type(error).__name__,
            error,
        )
        if was_closed and breaker.state is BreakerState.OPEN:
            _LOGGER.warning(
                "%s failed %d times in a row and is left alone for %g seconds",
                self.name,
                breaker.failures,
                breaker.seconds_until_probe,
            )

    def tripped(self, error: ProviderError) -> None:
        """Record a failure outside of a turn, and open the circuit; logged unless it repeats the previous one."""
        if self.breaker.last_error is not type(error):
            _LOGGER.warning(
                "%s failed: %s: %s",
                self.name,
                type(error).__name__,
                error,
            )
        self.breaker.trip(error)

    async def probe(self) -> None:
        """Check whether the service has recovered, unless its circuit is closed. The caller decides when.

        Takes no longer than an answer may take to begin, and raises no `ProviderError`.
        """
        if self.check is None or self.breaker.state is BreakerState.CLOSED:
            return
        with self.breaker.insist() as permit:
            try:
                await finish_within(
                    self.first_wait, self.check(), f"check of {self.name}"
                )
            except ProviderError as error:
                self.failed(permit, error)
            except TookTooLong:
                self.failed(
                    permit,
                    FirstTokenTimeout("the service did not begin to answer in time"),
                )
            else:
                self.succeeded(permit)


def is_available(providers: Iterable[ManagedProvider]) -> bool:
    """Return whether the circuit of any provider of a chain is closed.

    An open or half-open one closes by a `probe`, or by a turn that has no other
    provider.
    """
    return any(provider.breaker.state is BreakerState.CLOSED for provider in providers)
