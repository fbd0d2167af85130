"""A chain of providers that answers as one: where a link fails before it said anything, the next one takes over.

Knows links and their order. Must not know any wire format, and
keeps nothing of what is said. Links and their breakers outlive turns and belong to whoever
builds them; a `FailoverProvider` costs nothing and is made for a turn.
"""

import math
from collections.abc import AsyncGenerator, Awaitable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..errors import BudgetSpent, PromptTooLong, ProviderError, ProviderRejectedRequest, ProviderUnreachable
from ..events import CompletionResult, ProviderEvent, ProviderSwitched, ToolCallReady
from ..messages import ToolResult, UserMessage
from ..protocols import CompletionRequest, LeavableProvider
from ..timeouts import SYSTEM_CLOCK, Clock, leavable
from ..transcript import changing_tools
from .breaker import BreakerState, Permit
from .links import Link, every_tool
from .patience import BegunStream
from .retry import RANDOM_JITTER, Jitter, Retries, begin

_SHARE_OF_WAITING: Final = 0.75
"""Part of the time that is left which may be spent on links that do not begin to answer."""
_ONCE: Final = Retries(attempts=1)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A link that could be asked, and what it would be asked."""

    position: int
    link: Link
    request: CompletionRequest


@dataclass(slots=True)
class _Inference:
    """What became of the links in one inference."""

    passed_over: list[str] = field(default_factory=list)
    """Why links did not answer, since the last switch."""
    failures: list[tuple[Link, ProviderError]] = field(default_factory=list)

    def pass_over(self, link: Link, reason: str) -> None:
        """Take note of a link that was not asked, or not with success."""
        self.passed_over.append(f"{link.name}: {reason}")

    def failed(self, link: Link, error: ProviderError) -> None:
        """Take note of a failure."""
        self.failures.append((link, error))
        self.pass_over(link, type(error).__name__)

    def spent(self, position: int, link: Link, error: BudgetSpent) -> None:
        """Take note of a link that may not be asked. That of the chosen model is an answer, that of a stand-in none."""
        if position == 0:
            self.failures.append((link, error))
        self.pass_over(link, type(error).__name__)

    def with_notes(self, error: ProviderError) -> ProviderError:
        """Return one of the failures, with notes about the others."""
        for link, other in self.failures:
            if other is not error:
                error.add_note(f"{link.name} failed too: {type(other).__name__}: {other}")
        return error

    def error(self) -> ProviderError:
        """Return the error of an inference that nobody has answered: the first, which is that of the chosen model.

        A refusal counts less: who stands in for the model often refuses what is not meant for it.
        """
        errors = [error for _, error in self.failures]
        telling = (error for error in errors if not isinstance(error, ProviderRejectedRequest))
        nobody = ProviderRejectedRequest("no link of the chain has the tool that has to be called")
        return self.with_notes(next(telling, errors[0] if errors else nobody))


class FailoverProvider(LeavableProvider):
    """The `LLMProvider` of a chain, for one turn, or for several that do not overlap.

    Each turn begins with the first link, so that it gets its place back by itself. A link that
    took over keeps the rest of the turn: the next inference need not wait for the first link
    to fail again, and who called a tool is who reads its result. A link whose budget is spent is
    not asked, unless it has the turn already: no turn is cut for money.
    """

    def __init__(
        self,
        links: Sequence[Link],
        clock: Clock = SYSTEM_CLOCK,
        jitter: Jitter = RANDOM_JITTER,
        *,
        within: float = math.inf,
    ) -> None:
        """Ask `links` in their order. Raises ValueError when there is none.

        `within` seconds from now the turn has to be over: no link is waited for so long that there is no time left for
        those after it.
        """
        if not links:
            raise ValueError("a chain needs at least one link")
        self._ends_at = clock.now() + within
        self._links = tuple(links)
        self._clock = clock
        self._jitter = jitter
        self._position = 0
        self._has_begun = False
        self._has_turn: Link | None = None
        self._words: UserMessage | None = None

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`.

        A link that fails, or is late, before its first event hands over, unless something was changed in
        the turn: a service that fails then leaves an answer made of what was done. `ProviderSwitched` tells to
        whom and why. Later its error is that of the inference. When no link has answered, the
        first error that is no refusal is raised, with notes about the others. A conversation that is too long for a
        link and may not be shortened is nobody else's either: who asks wants to know.
        """
        words = request.transcript[-1]
        # The same words again are those of an answer that is asked for anew, in the same turn.
        if isinstance(words, UserMessage) and words is not self._words:
            self._position, self._words, self._has_turn = 0, words, None
        inference = _Inference()
        has_acted = _has_acted(request)
        candidates = self._who_acted(request, inference) if has_acted else self._candidates(request, inference)
        for candidate, permit in candidates:
            self._has_begun = True
            with permit:
                if candidate.position != self._position:
                    self._position = candidate.position
                    yield ProviderSwitched(candidate.link.name, "; ".join(inference.passed_over))
                    inference.passed_over.clear()
                try:
                    begun = await self._begin(candidate, may_retry=not has_acted)
                except ProviderError as error:
                    inference.failed(candidate.link, error)
                    candidate.link.failed(permit, error)
                    if isinstance(error, PromptTooLong) and not request.may_be_shortened:
                        raise
                    continue
                self._has_turn = candidate.link
                event: ProviderEvent | None = begun.first
                try:
                    while event is not None:
                        yield _passed_on(event, candidate, permit)
                        event = await begun.after(event, candidate.link.patience)
                except ProviderError as error:
                    inference.failed(candidate.link, error)
                    candidate.link.failed(permit, error)
                    inference.with_notes(error)
                    raise
                finally:
                    await begun.aclose()
                return
        raise inference.error()

    def _candidates(self, request: CompletionRequest, inference: _Inference) -> Iterator[tuple[_Candidate, Permit]]:
        """Yield who is to be asked, one after the other, from the link that has the turn.

        When nobody has answered, one link is asked whatever its breaker says, or although it
        failed earlier in the turn: the one that is soonest to be tried again. A budget that is spent is no failure:
        its link is not asked at all.
        """
        spare: list[_Candidate] = []
        begin_at = self._position
        for position, link in enumerate(self._links):
            visible = link.request(request)
            if visible is None:
                inference.pass_over(link, "has not the tool")
                continue
            if spent := self._spent(link):
                inference.spent(position, link, spent)
                if position == begin_at == 0 and link.refuses_when_spent:
                    return
                continue
            candidate = _Candidate(position, link, visible)
            if position < begin_at:
                spare.append(candidate)
            elif permit := link.breaker.admit():
                yield candidate, permit
            else:
                spare.append(candidate)
                inference.pass_over(link, f"circuit {link.breaker.state}")
        if spare:
            least_bad = min(spare, key=lambda one: one.link.breaker.seconds_until_probe)
            yield least_bad, least_bad.link.breaker.insist()

    def _who_acted(self, request: CompletionRequest, inference: _Inference) -> Iterator[tuple[_Candidate, Permit]]:
        """Yield nobody but the link that has the turn: another one might do again what was done.

        In a turn that begins with what was done, after a person's yes, it is the first one that works.
        """
        position = self._position if self._has_begun else self._first_that_works(inference)
        link = self._links[position]
        visible = link.request(request)
        if spent := self._spent(link):
            inference.spent(position, link, spent)
        elif visible is not None:
            yield _Candidate(position, link, visible), link.breaker.insist()

    def _first_that_works(self, inference: _Inference) -> int:
        """Return the position of the first link that works and has money left, else of one that has."""
        if self._links[0].refuses_when_spent and self._spent(self._links[0]):
            return 0
        payable = [at for at, link in enumerate(self._links) if not self._spent(link)]
        working = (at for at in payable if self._links[at].breaker.state is BreakerState.CLOSED)
        position = next(working, payable[0] if payable else 0)
        for at, link in enumerate(self._links[:position]):
            if spent := self._spent(link):
                inference.spent(at, link, spent)
            else:
                inference.pass_over(link, f"circuit {link.breaker.state}")
        return position

    def _spent(self, link: Link) -> BudgetSpent | None:
        return None if link is self._has_turn else link.spent()

    def _begin(self, candidate: _Candidate, *, may_retry: bool) -> Awaitable[BegunStream]:
        link = candidate.link
        is_trusted = link.breaker.state is BreakerState.CLOSED
        return begin(
            lambda: _open(link, candidate.request),
            min(link.patience.first_token, self._share(candidate.position)),
            link.retries if is_trusted and may_retry else _ONCE,
            self._clock,
            self._jitter,
        )

    def _share(self, position: int) -> float:
        """Return the seconds that a link may take to begin; the last one needs hardly any, as a rule."""
        waited_for = max(len(self._links) - 1 - position, 1)
        return (self._ends_at - self._clock.now()) * _SHARE_OF_WAITING / waited_for


def _passed_on(event: ProviderEvent, candidate: _Candidate, permit: Permit) -> ProviderEvent:
    """Return an event with what only the chain knows of it: who has answered, and which tools it was offered."""
    link = candidate.link
    match event:
        case ToolCallReady(call) if link.tools is not every_tool:
            return ToolCallReady(call, frozenset([tool.name for tool in candidate.request.tools]))
        case CompletionResult(finish_reason, usage, provider_items):
            link.succeeded(permit)  # before it is passed on: nobody reads on after it
            return CompletionResult(finish_reason, usage, provider_items, link.id)
        case _:
            return event


def _open(link: Link, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
    """Return a stream that whoever reads it can leave at any moment."""
    stream = link.provider.stream(request)
    if link.lets_go:
        return stream
    return leavable(stream, f"provider of {link.name}", may_fail=ProviderError, cancelled_as=ProviderUnreachable)


def _has_acted(request: CompletionRequest) -> bool:
    """Tell whether a tool that changes something has run since the person spoke, with success or not."""
    for message in reversed(request.transcript):
        match message:
            case UserMessage():
                return False
            case ToolResult(name=name, synthetic=False) if name in changing_tools(request.tools):
                return True
            case _:
                pass
    return False
