"""A provider in front of one model's: sends of each conversation the window that this model can read.

The budget is what instructions, tools and the room for an answer leave of the model's context window. What a service
reports, and what it refuses, corrects the estimate and the window, and a refused prompt is asked once more, shorter:
nothing has acted on it. Every link of a chain has its own, since a model that takes over may read far less. Knows
windows, estimates and the provider behind it; must not know which service that is, or who writes summaries.

Where services cache the beginning of a prompt, the window must not move with every turn, so neither may its budget:
small changes of what else is sent leave it as it is.
"""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from typing import Final

from ..errors import PromptTooLong
from ..events import CompletionResult, ProviderEvent
from ..messages import ToolDefinition, UserMessage
from ..protocols import CompletionRequest, LLMProvider
from .context_window import ContextWindow
from .large_results import LargeResults
from .prompt_size import PromptSize
from .token_estimate import TokenEstimate
from .token_scale import TokenScale
from .window import GrownWindows, Window, fit_window, shows_something
from .window_question import WindowQuestion

_ANSWER: Final = 2_048
"""Tokens of room for an answer of which nobody has said how long it may be."""
_STEP: Final = 256
"""Tokens by which the budget moves, if at all."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What of the tokens that a model can read may go to what."""

    history: int = 12_000
    """To earlier turns: about eighty short ones. Whatever is sent is paid for, and read, in every turn anew."""
    answer: int | None = None
    """To the answer; None where nobody has said how long it may be."""


_DEFAULT_ALLOWANCE: Final = Allowance()


@dataclass(frozen=True, slots=True)
class _Fitted:
    """What is sent, and by which estimate it was found to fit."""

    request: CompletionRequest
    size: PromptSize
    estimate: TokenEstimate


class WindowedProvider:
    """The `LLMProvider` of one model, for all turns. Safe to use for several at the same time."""

    def __init__(
        self,
        provider: LLMProvider,
        context: ContextWindow,
        allowance: Allowance = _DEFAULT_ALLOWANCE,
        *,
        question: WindowQuestion | None = None,
        server_cuts: bool = False,
    ) -> None:
        """Stand in front of `provider`, whose model reads as much as `context` says.

        The `question` for the window is put once the model has answered. `server_cuts` tells that the server itself
        can shorten a prompt that does not fit: then that is the last resort.
        """
        self.last_size: PromptSize | None = None
        """What the last request took; None before the first."""
        self._provider = provider
        self._context = context
        self._allowance = allowance
        self._question = question
        self._server_cuts = server_cuts
        self._results = LargeResults()
        self._scale = TokenScale()
        self._windows = GrownWindows()
        self._reserved = 0
        """Tokens that are kept free for all but the conversation and the answer."""
        self._tools = _Counted[tuple[ToolDefinition, ...]]()
        self._instructions = _Counted[str]()

    @property
    def context_window(self) -> int:
        """How many tokens the model is taken to read at once."""
        return self._context.tokens

    @property
    def estimate(self) -> TokenEstimate:
        """How many tokens this model makes of a text, as far as anybody knows."""
        return self._scale.estimate

    def window(self, request: CompletionRequest, share: float = 1.0) -> Window:
        """Return what would be sent of a conversation; with a `share` below 1, as if so much less were allowed."""
        request = self._results.without(request, self._context.tokens)
        budget = self._budget(request, self._context.tokens, sum(self._needed(request, self.estimate)))
        earlier = min(self._allowance.history, budget)
        sizes = (round(tokens * share) for tokens in (budget, earlier))
        return self._fit(request, self.estimate, *sizes)

    def window_of_next_turn(self, request: CompletionRequest, share: float = 1.0) -> Window:
        """Return what would be sent of a conversation whose last turn is over, whatever is said next."""
        return self.window(replace(request, transcript=(*request.transcript, UserMessage(""))), share)

    def forget_conversations(self) -> None:
        """Keep nothing of what was said. The next window on a conversation is found by walking all of it again."""
        self._windows = GrownWindows()

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`.

        Raises `PromptTooLong`, too, for a conversation that may not be shortened and is known not to fit.
        """
        request = self._results.without(request, self._context.tokens)
        sent = self._fitted(request)
        if self._server_cuts:
            sent = replace(sent, request=replace(sent.request, may_be_cut=False))
        was_refused = has_begun = False
        while True:
            self.last_size = sent.size
            events = self._provider.stream(sent.request)
            try:
                async for event in events:
                    has_begun = True
                    if isinstance(event, CompletionResult):
                        self._note(sent, event.usage.input_tokens)
                    yield event
            except PromptTooLong as error:
                again = None if was_refused else self._after(error, request, sent)
                if again is None or has_begun:
                    raise
                was_refused, sent = True, again
            else:
                return
            finally:
                await events.aclose()

    def _note(self, sent: _Fitted, tokens: int) -> None:
        """Learn from what a service has counted. What a picture takes is anybody's guess, and says nothing of texts."""
        self.last_size = sent.size.as_reported(tokens)
        if sent.estimate is self._scale.estimate and not shows_something(sent.request.transcript):
            self._scale.reported(sent.size.prompt, tokens)
        if self._question is not None:
            self._question.put()

    def _after(self, error: PromptTooLong, request: CompletionRequest, sent: _Fitted) -> _Fitted | None:
        """Learn from a refusal; return what else may be sent, None where there is nothing."""
        if error.prompt_tokens is not None and sent.estimate is self._scale.estimate:
            self._scale.refused(sent.size.prompt, error.prompt_tokens)
        if error.window_tokens is not None:
            self._context.refused(error.window_tokens)
        if not request.may_be_shortened:
            return None
        again = self._shorter(request, sent)
        return again if again.request.transcript != sent.request.transcript or self._server_cuts else None

    def _shorter(self, request: CompletionRequest, sent: _Fitted) -> _Fitted:
        """Return what fits by what is known after a refusal."""
        again = self._fitted(request)
        if again.request.transcript == sent.request.transcript:
            # By all that anybody says it would fit, and it does not.
            less = (again.size.prompt + self._room(request, again.size.window)) * 3 // 4
            shorter = self._fitted(request, less)
            if shorter.request.transcript != sent.request.transcript:
                self._context.refused(less)
                return shorter
        return again

    def _fitted(self, request: CompletionRequest, context: int | None = None) -> _Fitted:
        context = self._context.tokens if context is None else context
        estimate = self._scale.estimate
        tools, instructions, directive = needed = self._needed(request, estimate)
        if not request.may_be_shortened:
            told = sum(map(estimate.of_message, request.transcript))
            size = PromptSize(tools, instructions, told + directive, context)
            return self._whole(request, size, estimate)
        budget = self._budget(request, context, sum(needed))
        window = self._fit(request, estimate, budget, min(self._allowance.history, budget))
        size = PromptSize(tools, instructions, window.tokens + directive, context, window.dropped)
        is_whole = window.transcript is request.transcript
        return _Fitted(request if is_whole else replace(request, transcript=window.transcript), size, estimate)

    def _fit(self, request: CompletionRequest, estimate: TokenEstimate, budget: int, earlier: int) -> Window:
        return fit_window(request.transcript, budget, estimate, request.summary, earlier, grown=self._windows)

    def _whole(self, request: CompletionRequest, size: PromptSize, estimate: TokenEstimate) -> _Fitted:
        """Return a request as it is. One that fits by a guess alone is for the service to judge."""
        if self._context.is_known and size.prompt > size.window:
            raise PromptTooLong("the conversation is longer than the model can read", size.prompt, size.window)
        return _Fitted(replace(request, summary=None, may_be_cut=False), size, estimate)

    def _needed(self, request: CompletionRequest, estimate: TokenEstimate) -> tuple[int, int, int]:
        """Return the tokens of what is sent besides the conversation: tools, instructions and directive."""
        return (
            self._tools.tokens(request.tools, estimate, estimate.of_tools),
            self._instructions.tokens(request.instructions, estimate, estimate.of_text),
            estimate.of_text(request.directive),
        )

    def _budget(self, request: CompletionRequest, context: int, needed: int) -> int:
        """Return the tokens that are left for the conversation where all else needs so many."""
        if not needed <= self._reserved <= needed + 3 * _STEP:
            self._reserved = (needed // _STEP + 2) * _STEP
        return max(0, context - self._reserved - self._room(request, context))

    def _room(self, request: CompletionRequest, context: int) -> int:
        """Return the tokens that are kept free for the answer: more where a longer one may be wished for."""
        if self._allowance.answer is not None:
            return min(self._allowance.answer, context // 2)
        return max(min(_ANSWER, context // 4), min(request.options.max_output_tokens or 0, context // 2))


class _Counted[T]:
    """Counts what is the same in nearly every request, and so only when it has changed."""

    def __init__(self) -> None:
        self._last: tuple[T, TokenEstimate, int] | None = None

    def tokens(self, value: T, estimate: TokenEstimate, count: Callable[[T], int]) -> int:
        if self._last is None or self._last[1] is not estimate or self._last[0] != value:
            self._last = (value, estimate, count(value))
        return self._last[2]
