"""Fits each request into the context window of one model.

The budget of the conversation is what instructions, tools and the answer leave of the
context window. Reported usage and rejected prompts correct the token estimate and the
window; a rejected prompt is sent once more, shorter. Each provider of a failover chain
has its own. The budget moves in steps, because services cache the beginning of a
prompt. Decision 15.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Final

from ..errors import PromptPart, PromptTooLong, ProviderError
from ..messages import Tools, UserMessage
from ..protocols import CompletionRequest
from ..timeouts import TookTooLong, WorkCancelled, finish_within
from ..transcript import turns_backwards
from .token_estimate import TokenEstimate, TokenScale
from .window import LargeResults, Window, fit_window, shows_something


@dataclass(frozen=True, slots=True)
class PromptSize:
    """The tokens of one request to a model."""

    tools: int
    instructions: int
    """The system prompt, the description of the home included."""
    history: int
    """The messages that were sent, those of this turn included."""
    window: int
    """Context window of the model, the answer included."""
    dropped: int = 0
    """Messages at the beginning of the conversation that were not sent."""
    is_reported: bool = False
    """Whether the service reported the sum; the parts are always estimates."""
    is_window_assumed: bool = False
    """As `ContextWindow.is_assumed`; of a shortage."""

    @property
    def prompt(self) -> int:
        """Tokens of the whole prompt."""
        return self.tools + self.instructions + self.history

    @property
    def share(self) -> float:
        """Prompt tokens divided by the window; above 1 where it does not fit."""
        return self.prompt / self.window

    @property
    def room(self) -> int:
        """Tokens that instructions and tools leave for the conversation and the answer."""
        return max(
            self.window - self.tools - self.instructions,
            0,
        )

    def as_reported(self, tokens: int) -> PromptSize:
        """Scale the parts to the `tokens` that the service reported."""
        estimated = self.prompt
        if tokens <= 0 or not estimated:
            return self
        tools, instructions = (
            part * tokens // estimated for part in (self.tools, self.instructions)
        )
        history = tokens - tools - instructions
        return PromptSize(
            tools, instructions, history, self.window, self.dropped, is_reported=True
        )


DEFAULT_WINDOW: Final = 32_768
"""Tokens assumed where nothing is known; most current models read more."""
LEAST_WINDOW: Final = 1_024
"""Tokens that any model with tool calls can read."""

_SECONDS: Final = 20.0
_TRIES: Final = 3
"""Times that a server is asked before a failure is final."""

type WindowQuery = Callable[[], Coroutine[object, object, int | None]]
"""Returns the tokens of the window, None where the server does not say; raises a `ProviderError`."""
type InBackground = Callable[[Coroutine[object, object, None]], object]
"""Runs a coroutine in the background of its config entry."""


class ContextWindow:
    """The context window of one model, in tokens, the answer included."""

    def __init__(
        self,
        chosen: int | None = None,
        known: int | None = None,
        loaded_with: int | None = None,
        ask: WindowQuery | None = None,
        in_background: InBackground | None = None,
    ) -> None:
        """Start with the configured value, if any, or else the known one, or a guess.

        The guess is the size that the server is told to load the model with, if any.
        Without a configured value, `ask` the server, which knows better.
        """
        self._chosen = chosen
        self._reported = known
        self._loaded_with = loaded_with
        self._limit: int | None = None
        self._ask = ask
        self._in_background = in_background
        if chosen is not None:
            self._tries = 0
        else:
            self._tries = _TRIES
        self._is_asking = False

    @property
    def is_known(self) -> bool:
        """Whether it is more than a guess."""
        return (self._chosen or self._reported or self._limit) is not None

    @property
    def is_assumed(self) -> bool:
        """Whether nothing at all speaks for it."""
        return not (self.is_known or self._loaded_with)

    @property
    def is_awaited(self) -> bool:
        """Whether nothing speaks for it yet, and the server may still be asked."""
        return bool(self.is_assumed and self._ask and self._tries)

    @property
    def tokens(self) -> int:
        """The best known value."""
        believed = self._chosen or self._reported or self._loaded_with or DEFAULT_WINDOW
        return max(
            LEAST_WINDOW,
            believed if self._limit is None else min(believed, self._limit),
        )

    def refused(self, tokens: int) -> None:
        """Lower the window to `tokens`, because the server rejected a longer prompt."""
        if self._limit is None:
            self._limit = tokens
        else:
            self._limit = min(self._limit, tokens)

    def answered(self) -> None:
        """Ask the server in the background, unless it has told its window or is being asked.

        The model has answered, so it is loaded, which some servers need to know its
        window.
        """
        if self._ask and self._in_background and self._tries and not self._is_asking:
            self._tries -= 1
            self._is_asking = True
            self._in_background(self._question(self._ask))

    async def _question(self, ask: WindowQuery) -> None:
        try:
            tokens = await finish_within(
                _SECONDS, ask(), "question for the context window"
            )
        except ProviderError, TookTooLong, WorkCancelled:
            return
        finally:
            self._is_asking = False
        self._tries = 0
        self._reported = tokens or self._reported


_ANSWER: Final = 2_048
"""Tokens reserved for an answer without a configured limit."""
_STEP: Final = 256
"""Tokens by which the budget moves."""
_MUCH_MORE: Final = 1.5
"""Times the room in which a conversation did not fit from which it counts as enough."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Configured token limits of a model."""

    history: int = 12_000
    """For earlier turns, which every turn pays for again: about eighty short ones."""
    answer: int | None = None
    """For the answer; None without a configured limit."""


_DEFAULT_ALLOWANCE: Final = Allowance()


@dataclass(frozen=True, slots=True)
class FittedRequest:
    """A request that fits, and the estimate by which it does."""

    request: CompletionRequest
    """The request to send."""
    size: PromptSize
    estimate: TokenEstimate
    whole: CompletionRequest
    """The request before messages were left out."""
    is_last_try: bool = False
    """Whether a longer one was rejected before."""
    lacks_room: bool = False
    """As in `CompletionResult`."""

    @property
    def longest_part(self) -> PromptPart:
        """The longest part of the prompt."""
        turn = next(turns_backwards(self.request.transcript))
        request = sum(map(self.estimate.of_message, turn))
        sizes: dict[PromptPart, int] = {
            "home": self.size.tools + self.size.instructions,
            "request": request,
            "conversation": self.size.history - request,
        }
        return max(sizes, key=sizes.__getitem__)


class PromptFitter:
    """Fits the requests to one model, and learns from their outcomes. Safe for concurrent turns."""

    def __init__(
        self,
        context: ContextWindow,
        allowance: Allowance = _DEFAULT_ALLOWANCE,
        *,
        server_cuts: bool = False,
    ) -> None:
        """Fit requests into the `context` window.

        With `server_cuts`, the server can shorten a prompt itself, which is the last
        resort.
        """
        self.last_size: PromptSize | None = None
        """Size of the latest request; None before the first."""
        self.shortage: PromptSize | None = None
        """Size of a request that lacked room; None once there is much more."""
        self.too_long: PromptPart = "conversation"
        """As in the latest `PromptTooLong`."""
        self._context = context
        self._allowance = allowance
        self._server_cuts = server_cuts
        self._results = LargeResults()
        self._scale = TokenScale()
        self._reserved = 0
        """Tokens reserved for instructions, tools and directive."""
        self._tools = _Counted[Tools]()
        self._instructions = _Counted[str]()

    @property
    def context_window(self) -> int:
        """Context window of the model in tokens."""
        return self._context.tokens

    @property
    def estimate(self) -> TokenEstimate:
        """The token estimate, corrected by reported usage."""
        return self._scale.estimate

    def window(
        self,
        request: CompletionRequest,
        share: float = 1.0,
    ) -> Window:
        """Return the window that would be sent; a `share` below 1 scales its budgets."""
        request = self._results.without(
            request,
            self._context.tokens,
        )
        budget = self._budget(
            request, self._context.tokens, sum(self._needed(request, self.estimate))
        )
        return fit_window(
            request.transcript,
            round(budget * share),
            self.estimate,
            request.summary,
            round(self._allowance.history * share),
        )

    def window_of_next_turn(
        self, request: CompletionRequest, share: float = 1.0
    ) -> Window:
        """Return the window of the next turn, whatever is said in it."""
        return self.window(
            replace(
                request,
                transcript=(*request.transcript, UserMessage("")),
            ),
            share,
        )

    def fit(self, request: CompletionRequest) -> FittedRequest:
        """Return what to send of a request.

        Raises `PromptTooLong` for a conversation that may not be shortened and is known
        not to fit.
        """
        sent = self._fitted(self._results.without(request, self._context.tokens))
        if self._server_cuts:
            sent = replace(
                sent,
                request=replace(sent.request, may_be_cut=False),
            )
        self._note_room(sent)
        return sent

    def answered(
        self,
        sent: FittedRequest,
        tokens: int,
    ) -> None:
        """Take the reported usage. Pictures are estimated too roughly to correct the estimate of texts."""
        self.last_size = sent.size.as_reported(tokens)
        if sent.estimate is self._scale.estimate and not shows_something(
            sent.request.transcript
        ):
            self._scale.reported(sent.size.prompt, tokens)
        self._context.answered()

    def refused(
        self, sent: FittedRequest, error: PromptTooLong
    ) -> FittedRequest | None:
        """Take a rejected prompt; return a shorter one to send once, None if there is none."""
        self.too_long = error.too_long = sent.longest_part
        if sent.is_last_try:
            return None
        if error.prompt_tokens is not None and sent.estimate is self._scale.estimate:
            self._scale.refused(
                sent.size.prompt,
                error.prompt_tokens,
            )
        if error.window_tokens is not None:
            self._context.refused(error.window_tokens)
        if not sent.whole.may_be_shortened:
            return None
        again = self._shorter(sent)
        if (
            again.request.transcript == sent.request.transcript
            and not self._server_cuts
        ):
            return None
        self._note_room(again)
        return replace(again, is_last_try=True)

    def _note_room(self, sent: FittedRequest) -> None:
        self.last_size = sent.size
        shortage = self.shortage
        is_assumed = self._context.is_assumed
        if shortage and shortage.is_window_assumed != is_assumed:
            shortage = None
        if sent.lacks_room:
            shortage = shortage or replace(sent.size, is_window_assumed=is_assumed)
        elif shortage and sent.size.room >= shortage.room * _MUCH_MORE:
            shortage = None
        self.shortage = shortage

    def _shorter(self, sent: FittedRequest) -> FittedRequest:
        """Return the request that fits by the corrected estimate and window."""
        again = self._fitted(sent.whole)
        if again.request.transcript == sent.request.transcript:
            # It should fit by all known numbers, and does not.
            less = (
                (again.size.prompt + self._room(sent.whole, again.size.window)) * 3 // 4
            )
            shorter = self._fitted(sent.whole, less)
            if shorter.request.transcript != sent.request.transcript:
                self._context.refused(less)
                return shorter
        return again

    def _fitted(
        self, request: CompletionRequest, context: int | None = None
    ) -> FittedRequest:
        context = self._context.tokens if context is None else context
        estimate = self._scale.estimate
        tools, instructions, directive = needed = self._needed(request, estimate)
        if not request.may_be_shortened:
            transcript_tokens = sum(map(estimate.of_message, request.transcript))
            size = PromptSize(
                tools, instructions, transcript_tokens + directive, context
            )
            if (
                self._context.is_known and size.prompt > context
            ):  # else the service decides
                raise PromptTooLong(
                    "the conversation is longer than the model can read",
                    size.prompt,
                    context,
                )
            return FittedRequest(
                replace(request, summary=None, may_be_cut=False),
                size,
                estimate,
                request,
            )
        budget = self._budget(request, context, sum(needed))
        window = fit_window(
            request.transcript,
            budget,
            estimate,
            request.summary,
            self._allowance.history,
        )
        size = PromptSize(
            tools, instructions, window.tokens + directive, context, window.dropped
        )
        is_whole = window.transcript is request.transcript
        shortened = (
            request if is_whole else replace(request, transcript=window.transcript)
        )
        lacks_room = not self._context.is_awaited and budget < self._allowance.history
        return FittedRequest(
            shortened,
            size,
            estimate,
            request,
            lacks_room=lacks_room and window.dropped > 0,
        )

    def _needed(
        self, request: CompletionRequest, estimate: TokenEstimate
    ) -> tuple[int, int, int]:
        """Return the tokens of tools, instructions and directive."""
        return (
            self._tools.tokens(
                request.tools,
                estimate,
                estimate.of_tools,
            ),
            self._instructions.tokens(
                request.instructions,
                estimate,
                estimate.of_text,
            ),
            estimate.of_text(request.directive),
        )

    def _budget(
        self,
        request: CompletionRequest,
        context: int,
        needed: int,
    ) -> int:
        """Return the tokens left for the conversation when everything else takes `needed`."""
        if not needed <= self._reserved <= needed + 3 * _STEP:
            self._reserved = (needed // _STEP + 2) * _STEP
        return max(
            0,
            context - self._reserved - self._room(request, context),
        )

    def _room(
        self,
        request: CompletionRequest,
        context: int,
    ) -> int:
        """Return the tokens reserved for the answer."""
        if self._allowance.answer is not None:
            return min(self._allowance.answer, context // 2)
        return max(
            min(_ANSWER, context // 4),
            min(
                request.options.max_output_tokens or 0,
                context // 2,
            ),
        )


class _Counted[T]:
    """Caches the token count of a value that rarely changes."""

    def __init__(self) -> None:
        self._last: tuple[T, TokenEstimate, int] | None = None

    def tokens(
        self, value: T, estimate: TokenEstimate, count: Callable[[T], int]
    ) -> int:
        if (
            self._last is None
            or self._last[1] is not estimate
            or self._last[0] != value
        ):
            self._last = (
                value,
                estimate,
                count(value),
            )
        return self._last[2]
