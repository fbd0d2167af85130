"""The state machine of a turn: what state is, and what to do next.

All decisions of the loop stand in `next_step`. It is pure: it reads one immutable state and returns one step;
`runner.py` does what the step says and folds what happened into the next state. A bound, a budget or a choice is a
property of the state, never a branch of the runner.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from ..errors import ProviderError
from ..events import StopReason
from ..messages import AssistantMessage, FinishReason, NamedTool, ToolChoice, ToolChoiceMode, Transcript, Usage
from ..protocols import LEAST_OUTPUT_TOKENS
from .calls import ClientCall, JudgedCall, NeedsApproval
from .turn import Turn

_SHARE_BEFORE_LAST_CALL: Final = 0.75
"""Part of the deadline, and of the tokens, after which the next inference has to be the last."""
_STOP_REASONS: Final[Mapping[FinishReason, StopReason]] = {
    FinishReason.STOP: StopReason.COMPLETED,
    FinishReason.TOOL_CALLS: StopReason.COMPLETED,
    FinishReason.LENGTH: StopReason.LENGTH,
    FinishReason.CONTENT_FILTER: StopReason.CONTENT_FILTER,
    FinishReason.REPETITION: StopReason.REPETITION,
    FinishReason.UNKNOWN: StopReason.UNKNOWN_FINISH,
}


class TurnState(NamedTuple):
    """Where a turn stands. A tuple, because the next one is made of it many times in a turn."""

    turn: Turn
    messages: Transcript = ()
    """What this turn added to the history, the user's words included."""
    open_calls: tuple[JudgedCall, ...] = ()
    """The calls of the last message that have no result yet."""
    iterations: int = 0
    """Inferences begun."""
    tool_calls: int = 0
    """Calls that were given to the dispatcher."""
    elapsed: float = 0.0
    """Seconds since the turn began."""
    out_of_time: bool = False
    """An inference was cut off by the deadline."""
    usage: Usage = Usage()
    written: int = 0
    """Tokens of all answers so far; as somebody estimates where a service counts none."""
    finish_reason: FinishReason | None = None
    """Of the last inference."""
    last_call: StopReason | None = None
    """How the turn ends if the last inference, which had to be the last, has no answer."""
    answer: AssistantMessage | None = None
    """A message of the model without calls, possibly cut short; not yet in `messages`."""
    misfit: str = ""
    """What is wrong with the last answer, where the turn asks for data of a certain shape."""
    repaired: bool = False
    """The model was told once in this turn what is wrong with its data."""
    failure: ProviderError | None = None
    prompt_denied: str | None = None
    """Why a hook refused the user's words."""

    @property
    def tokens_left(self) -> int | None:
        """Tokens that the answers still to come may take; None for no bound."""
        bound = self.turn.limits.max_output_tokens
        return None if bound is None else bound - self.written

    @property
    def may_write(self) -> bool:
        """Whether that is enough for an answer."""
        return self.tokens_left is None or self.tokens_left >= LEAST_OUTPUT_TOKENS


@dataclass(frozen=True, slots=True)
class CallModel:
    """Run an inference."""

    tool_choice: ToolChoice
    last_call: StopReason | None = None
    """Set when no tool may follow: how the turn ends if the model has no answer even so."""
    repairs: bool = False
    """The model is told what is wrong with the data that it gave, and gives it again."""


@dataclass(frozen=True, slots=True)
class ExecuteTools:
    """Bring these calls to their results; those that are resolved only need recording."""

    calls: tuple[JudgedCall, ...]


@dataclass(frozen=True, slots=True)
class InterruptForApproval:
    """End the turn with a question."""

    calls: tuple[JudgedCall, ...]


@dataclass(frozen=True, slots=True)
class ReturnToClient:
    """End the turn; the caller runs these calls."""

    calls: tuple[JudgedCall, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """End the turn. Calls that are still open get a result that says so."""

    reason: StopReason


type NextStep = CallModel | ExecuteTools | InterruptForApproval | ReturnToClient | Finish


def next_step(state: TurnState) -> NextStep:
    """Decide what comes next."""
    if state.prompt_denied is not None:
        return Finish(StopReason.PROMPT_DENIED)
    if state.failure is not None:
        return Finish(StopReason.PROVIDER_FAILED)
    if state.answer is not None and state.finish_reason is not None:
        reason = _STOP_REASONS[state.finish_reason]
        return _step_for_misfit(state) if state.misfit and reason is StopReason.COMPLETED else Finish(reason)
    if state.out_of_time or (state.elapsed >= state.turn.limits.deadline and not _only_asks(state)):
        return Finish(StopReason.DEADLINE)
    if state.open_calls and state.finish_reason is not None and (state.finish_reason.is_cut or _wants_no_calls(state)):
        return Finish(_STOP_REASONS[state.finish_reason])  # none of the calls may run
    if state.open_calls:
        return _step_for_calls(state)
    if state.last_call is not None:
        return Finish(state.last_call)
    return _call_model(state)


def _step_for_misfit(state: TurnState) -> NextStep:
    """Ask once more for data that has not the shape it has to have. Nothing may be done meanwhile: all is known."""
    limits = state.turn.limits
    if (
        state.repaired
        or not state.may_write
        or state.iterations >= limits.max_iterations
        or state.elapsed >= limits.deadline
    ):
        return Finish(StopReason.OUTPUT_UNFIT)
    return CallModel(ToolChoiceMode.NONE, StopReason.OUTPUT_UNFIT, repairs=True)


def _only_asks(state: TurnState) -> bool:
    """Tell whether nothing but a question is left, which takes no time of the turn."""
    return bool(state.open_calls) and all(isinstance(call.verdict, NeedsApproval) for call in state.open_calls)


def _wants_no_calls(state: TurnState) -> bool:
    """Tell whether the caller wants words and no calls: what was said beside these is the answer."""
    return state.turn.tool_choice is ToolChoiceMode.NONE and state.turn.output is None


def _step_for_calls(state: TurnState) -> NextStep:
    calls = state.open_calls
    if any(isinstance(call.verdict, ClientCall) for call in calls):
        return ReturnToClient(calls)
    ready = tuple([call for call in calls if not isinstance(call.verdict, NeedsApproval)])
    return ExecuteTools(ready) if ready else InterruptForApproval(calls)


def _call_model(state: TurnState) -> NextStep:
    limits = state.turn.limits
    if state.iterations >= limits.max_iterations:
        return Finish(StopReason.MAX_ITERATIONS)
    if not state.may_write:
        return Finish(StopReason.LENGTH)
    if ending := _last_call(state):
        return CallModel(ToolChoiceMode.NONE, ending)
    return CallModel(_tool_choice(state))


def _last_call(state: TurnState) -> StopReason | None:
    """Tell how the turn ends after one more inference without tools; None when there is time for more.

    Usually a bound is near. A model that calls where no tool may be called is told so, and gets to say it in words.
    """
    limits = state.turn.limits
    if not state.turn.tools and not state.iterations:
        return None
    if state.turn.tool_choice is ToolChoiceMode.NONE and state.iterations:
        return StopReason.COMPLETED
    if state.tool_calls >= limits.max_tool_calls and not any(tool.client for tool in state.turn.tools):
        return StopReason.MAX_TOOL_CALLS  # calls of the caller count elsewhere
    if state.iterations >= limits.max_iterations - 1:
        return StopReason.MAX_ITERATIONS
    if state.elapsed >= limits.deadline * _SHARE_BEFORE_LAST_CALL:
        return StopReason.DEADLINE
    if limits.max_output_tokens is not None and state.written >= limits.max_output_tokens * _SHARE_BEFORE_LAST_CALL:
        return StopReason.LENGTH
    return None


def _tool_choice(state: TurnState) -> ToolChoice:
    """Return the turn's choice; one that forces a call holds for the first inference only."""
    choice = state.turn.tool_choice
    forces = isinstance(choice, NamedTool) or choice is ToolChoiceMode.REQUIRED
    return ToolChoiceMode.AUTO if forces and state.iterations else choice
