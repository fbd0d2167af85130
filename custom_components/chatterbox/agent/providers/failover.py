"""A chain of providers that acts as one: if a provider fails before its first event, the next one takes over.

Managed providers and their breakers outlive turns; a `FailoverProvider` is cheap and
made for one turn. Decision 6.
"""

import math
from collections.abc import AsyncGenerator, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ..conversation.prompt_fitter import FittedRequest
from ..errors import (
    BudgetSpent,
    ContentRefused,
    PromptTooLong,
    ProviderError,
    ProviderRejectedRequest,
)
from ..events import CompletionResult, ProviderEvent, ProviderSwitched, ToolCallReady
from ..messages import Tools, UserMessage
from ..protocols import CompletionRequest, LeavableProvider
from ..timeouts import SYSTEM_CLOCK, Clock
from ..transcript import has_changed
from .managed_provider import (
    RANDOM_JITTER,
    BreakerState,
    Jitter,
    ManagedProvider,
    Permit,
    StartedStream,
    StartLimits,
    every_tool,
)

_WAITING_SHARE: Final = 0.75
"""Share of the remaining time that may be spent on providers that do not start to answer."""
_HANDOVER: Final = 2.0
"""Seconds that a provider that gets on with the prompt leaves to Home Assistant, which needs no more."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A provider to ask, and its request."""

    position: int
    provider: ManagedProvider
    request: CompletionRequest
    tools: Tools
    """Those of the turn, of which the request may show several as one."""


@dataclass(slots=True)
class _Inference:
    """Failures of providers in one inference."""

    passed_over: list[str] = field(default_factory=list)
    """Why providers did not answer, since the last switch."""
    failures: list[tuple[ManagedProvider, ProviderError]] = field(default_factory=list)

    def pass_over(
        self,
        provider: ManagedProvider,
        reason: str,
    ) -> None:
        """Note a provider that was not asked, or failed."""
        self.passed_over.append(f"{provider.name}: {reason}")

    def failed(
        self, provider: ManagedProvider, error: ProviderError, position: int = 0
    ) -> None:
        """Note a failure, or a spent budget: only that of the first provider is an error of the inference."""
        if position == 0 or not isinstance(error, BudgetSpent):
            self.failures.append((provider, error))
        self.pass_over(provider, type(error).__name__)

    @property
    def is_declined(self) -> bool:
        """Whether a provider has declined the words before another one answered."""
        return any(isinstance(error, ContentRefused) for _, error in self.failures)

    def with_notes(self, error: ProviderError) -> ProviderError:
        """Add notes about the other failures to an error."""
        for provider, other in self.failures:
            if other is not error:
                error.add_note(
                    f"{provider.name} failed too: {type(other).__name__}: {other}"
                )
        return error

    def error(self) -> ProviderError:
        """Return the error of an inference without an answer: the first one, which is that of the chosen model.

        Refusals count less: a fallback often refuses what was meant for another model.
        """
        errors = [error for _, error in self.failures]
        telling = (
            error for error in errors if not isinstance(error, ProviderRejectedRequest)
        )
        nobody = ProviderRejectedRequest(
            "no provider of the chain has the tool that has to be called"
        )
        return self.with_notes(next(telling, errors[0] if errors else nobody))


class FailoverProvider(LeavableProvider):
    """`LLMProvider` of a chain, for one turn, or for several that do not overlap.

    Each turn starts with the first provider. A provider that took over keeps the rest
    of the turn: the next inference need not wait for the first one to fail again, and
    the model that called a tool reads its result. A provider whose budget is spent is
    not asked, unless it has the turn already.
    """

    def __init__(
        self,
        providers: Sequence[ManagedProvider],
        clock: Clock = SYSTEM_CLOCK,
        jitter: Jitter = RANDOM_JITTER,
        *,
        within: float = math.inf,
    ) -> None:
        """Ask `providers` in their order. Raises ValueError if there is none.

        The turn has to end in `within` seconds: no provider may take the time of those
        after it.
        """
        if not providers:
            raise ValueError("a chain needs at least one provider")
        self._ends_at = clock.now() + within
        self._providers = tuple(providers)
        self._clock = clock
        self._jitter = jitter
        self._position = 0
        self._has_begun = False
        self._has_turn: ManagedProvider | None = None
        self._words: UserMessage | None = None

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`.

        If a provider fails or times out before its first event, the next one takes
        over, unless a tool has changed something in the turn. `ProviderSwitched` names
        it and the reason. A later error is that of the inference. If no provider
        answers, the first error that is no refusal is raised, with notes about the
        others. `PromptTooLong` is raised at once if the request may not be shortened.
        """
        words = request.transcript[-1]
        # The same message object again means that an answer is requested anew in the
        # same turn.
        if isinstance(words, UserMessage) and words is not self._words:
            self._position = 0
            self._words = words
            self._has_turn = None
        inference = _Inference()
        has_acted = has_changed(request.transcript, request.tools)
        candidates = (
            self._only_current(request, inference)
            if has_acted
            else self._candidates(request, inference)
        )
        for candidate, permit in candidates:
            self._has_begun = True
            with permit:
                if candidate.position != self._position:
                    self._position = candidate.position
                    yield ProviderSwitched(
                        candidate.provider.name, "; ".join(inference.passed_over)
                    )
                    inference.passed_over.clear()
                try:
                    started = await self._start(candidate, may_retry=not has_acted)
                except ProviderError as error:
                    inference.failed(candidate.provider, error)
                    candidate.provider.failed(permit, error)
                    if (
                        isinstance(error, PromptTooLong)
                        and not request.may_be_shortened
                    ):
                        raise
                    continue
                self._has_turn = candidate.provider
                event: ProviderEvent | None = started.first
                try:
                    while event is not None:
                        yield _passed_on(
                            event, candidate, started.fitted, permit, inference
                        )
                        event = await started.after(event, candidate.provider.timeouts)
                except ProviderError as error:
                    inference.failed(candidate.provider, error)
                    candidate.provider.failed(permit, error)
                    candidate.provider.learn(error, started.fitted)
                    inference.with_notes(error)
                    raise
                finally:
                    await started.aclose()
                return
        raise inference.error()

    def _candidates(
        self, request: CompletionRequest, inference: _Inference
    ) -> Iterator[tuple[_Candidate, Permit]]:
        """Yield the providers to ask, in order, starting with the one that has the turn.

        At last, the provider whose circuit opens soonest is asked in spite of its
        breaker, or of a failure earlier in the turn. A provider whose budget is spent
        is never asked.
        """
        spare: list[_Candidate] = []
        begin_at = self._position
        for position, provider in enumerate(self._providers):
            visible = provider.request(request)
            if visible is None:
                inference.pass_over(provider, "has not the tool")
                continue
            spent = self._spent(provider)
            if spent:
                inference.failed(
                    provider,
                    spent,
                    position,
                )
                if position == begin_at == 0 and provider.refuses_when_spent:
                    return
                continue
            candidate = _Candidate(
                position,
                provider,
                visible,
                request.tools,
            )
            if position < begin_at:
                spare.append(candidate)
            elif permit := provider.breaker.admit():
                yield candidate, permit
            else:
                spare.append(candidate)
                inference.pass_over(
                    provider,
                    f"circuit {provider.breaker.state}",
                )
        if spare:
            least_bad = min(
                spare, key=lambda one: one.provider.breaker.seconds_until_probe
            )
            yield least_bad, least_bad.provider.breaker.insist()

    def _only_current(
        self, request: CompletionRequest, inference: _Inference
    ) -> Iterator[tuple[_Candidate, Permit]]:
        """Yield only the provider that has the turn: another one might repeat what was done.

        In a turn that starts with approved calls, it is the first provider that works.
        """
        if self._has_begun:
            position = self._position
        else:
            position = self._first_that_works(inference)
        provider = self._providers[position]
        visible = provider.request(request)
        spent = self._spent(provider)
        if spent:
            inference.failed(
                provider,
                spent,
                position,
            )
        elif visible is not None:
            candidate = _Candidate(
                position,
                provider,
                visible,
                request.tools,
            )
            yield candidate, provider.breaker.insist()

    def _first_that_works(self, inference: _Inference) -> int:
        """Return the position of the first working provider with a budget, else of one with a budget."""
        if self._providers[0].refuses_when_spent and self._spent(self._providers[0]):
            return 0
        payable = [
            at
            for at, provider in enumerate(self._providers)
            if not self._spent(provider)
        ]
        working = (
            at
            for at in payable
            if self._providers[at].breaker.state is BreakerState.CLOSED
        )
        position = next(
            working,
            payable[0] if payable else 0,
        )
        for at, provider in enumerate(self._providers[:position]):
            spent = self._spent(provider)
            if spent:
                inference.failed(
                    provider,
                    spent,
                    at,
                )
            else:
                inference.pass_over(
                    provider,
                    f"circuit {provider.breaker.state}",
                )
        return position

    def _spent(self, provider: ManagedProvider) -> BudgetSpent | None:
        if provider is self._has_turn:
            return None
        return provider.spent()

    def _start(
        self, candidate: _Candidate, *, may_retry: bool
    ) -> Coroutine[object, object, StartedStream]:
        provider = candidate.provider
        position = candidate.position
        is_last = not may_retry or position == len(self._providers) - 1
        left = self._ends_at - self._clock.now()
        waited_for = max(len(self._providers) - 1 - position, 1)
        silent = left * _WAITING_SHARE / waited_for
        if is_last:
            longest = left
        else:
            longest = max(left - _HANDOVER, silent)
        if is_last and not provider.check:
            silent = longest
        # A slow one is not waited for longer where another service works that is next.
        may_take_over = any(
            one.check
            and one.breaker.state is BreakerState.CLOSED
            and self._spent(one) is None
            for one in self._providers[position + 1 :]
        )
        if may_retry and may_take_over:
            longest = silent = min(silent, provider.first_wait)
        may_retry = may_retry and provider.breaker.state is BreakerState.CLOSED
        limits = StartLimits(longest, silent)
        return provider.start(
            candidate.request, limits, self._clock, self._jitter, may_retry=may_retry
        )


def _passed_on(
    event: ProviderEvent,
    candidate: _Candidate,
    fitted: FittedRequest | None,
    permit: Permit,
    inference: _Inference,
) -> ProviderEvent:
    """Return an event with the id of the provider, the tools that it was offered, and whether words were declined."""
    provider = candidate.provider
    match event:
        case ToolCallReady(call) if provider.tools is not every_tool:
            offered = [tool.name for tool in provider.tools(candidate.tools)]
            return ToolCallReady(call, frozenset(offered))
        case CompletionResult(usage=usage):
            provider.succeeded(
                permit
            )  # before it is passed on: nothing is read after it
            if provider.fitter and fitted:
                provider.fitter.answered(fitted, usage.input_tokens)
            return replace(
                event,
                answered_by=provider.id,
                declines=event.declines or inference.is_declined,
                lacks_room=fitted is not None and fitted.lacks_room,
            )
        case _:
            return event
