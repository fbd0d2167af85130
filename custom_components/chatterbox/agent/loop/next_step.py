"""The state machine of a turn: the next step from each state.

`next_step` makes all decisions of the loop. It is pure: it reads one immutable state
and returns one step. `runner.py` performs the step and folds its outcome into the next
state. Bounds, budgets and choices are properties of the state, never branches of the
runner. Decision 18.
"""

from dataclasses import dataclass
from typing import Final

from ..errors import ProviderError
from ..events import PendingCall, StopReason
from ..messages import (
    AssistantMessage,
    FinishReason,
    NamedTool,
    ToolChoice,
    ToolChoiceMode,
)
from ..transcript import has_changed
from .turn import ClientCall, OpenCall, TurnState

_SHARE_BEFORE_LAST_CALL: Final = 0.75
"""Part of the deadline, and of the tokens, after which the next inference has to be the last."""
_FEW_WORDS: Final = 60
"""Characters of an answer that no satellite has begun to speak.

Source: `STREAM_RESPONSE_CHARS`
(homeassistant.components.assist_pipeline.default_pipeline).
"""
_STOP_REASONS: Final = {
    FinishReason.STOP: StopReason.COMPLETED,
    FinishReason.TOOL_CALLS: StopReason.COMPLETED,
    FinishReason.LENGTH: StopReason.LENGTH,
    FinishReason.CONTENT_FILTER: StopReason.CONTENT_FILTER,
    FinishReason.REPETITION: StopReason.REPETITION,
    FinishReason.UNKNOWN: StopReason.UNKNOWN_FINISH,
}


@dataclass(frozen=True, slots=True)
class CallModel:
    """Run an inference."""

    tool_choice: ToolChoice
    last_call: StopReason | None = None
    """Set if no tool may follow: how the turn ends if the model still has no answer."""
    goes_on: bool = False
    """Whether the model is told to answer, or to do what it has announced."""
    begins_anew: bool = False
    """Whether the last answer broke off before it had come to anything, and is asked for again."""
    repairs: bool = False
    """Whether the model is told what is wrong with its output and writes it again."""


@dataclass(frozen=True, slots=True)
class ExecuteTools:
    """Run these calls; resolved ones are only recorded."""

    calls: tuple[OpenCall, ...]


@dataclass(frozen=True, slots=True)
class InterruptForApproval:
    """End the turn with a question."""

    calls: tuple[OpenCall, ...]


@dataclass(frozen=True, slots=True)
class ReturnToClient:
    """End the turn; the client runs these calls."""

    calls: tuple[OpenCall, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """End the turn. Calls that are still open get a result that says they did not run."""

    reason: StopReason


type NextStep = (
    CallModel | ExecuteTools | InterruptForApproval | ReturnToClient | Finish
)


def next_step(state: TurnState) -> NextStep:
    """Return the next step."""
    if state.prompt_denied is not None:
        return Finish(StopReason.PROMPT_DENIED)
    if state.failure is not None:
        return _step_for_failure(state, state.failure)
    if state.answer is not None and state.finish_reason is not None:
        reason = _STOP_REASONS[state.finish_reason]
        return (
            _step_for_answer(state)
            if reason is StopReason.COMPLETED
            else Finish(reason)
        )
    if state.out_of_time or (
        state.elapsed >= state.turn.limits.deadline and not _only_asks(state)
    ):
        return Finish(StopReason.DEADLINE)
    if (
        state.open_calls
        and state.finish_reason is not None
        and (state.finish_reason.is_cut or _wants_no_calls(state))
    ):
        return Finish(_STOP_REASONS[state.finish_reason])  # none of the calls may run
    if state.open_calls:
        return _step_for_calls(state)
    if state.last_call is not None:
        return Finish(state.last_call)
    return _call_model(state)


def _step_for_failure(state: TurnState, failure: ProviderError) -> NextStep:
    """Ask once more after a few words or thoughts, if nothing was changed: the whole answer is worth the wait."""
    answer = state.answer or AssistantMessage()
    has_begun = bool(answer.text.strip() or answer.reasoning)
    is_short = state.turn.output is not None or len(answer.text) <= _FEW_WORDS
    if (
        failure.retryable
        and has_begun
        and is_short
        and not (
            state.open_calls
            or state.has_begun_anew
            or state.last_call
            or has_changed(state.messages, state.turn.tools)
        )
        and _last_call(state) is None
        and state.may_write
    ):
        first = state._replace(
            iterations=state.iterations - 1
        )  # as if the model had not been asked
        return CallModel(_tool_choice(first), begins_anew=True)
    return Finish(StopReason.PROVIDER_FAILED)


def _step_for_answer(state: TurnState) -> NextStep:
    """Take a complete answer, unless it is empty, only announced, or does not fit."""
    may_call = (
        state.turn.tool_choice is not ToolChoiceMode.NONE
        and not state.has_gone_on
        and _last_call(state) is None
    )
    if state.is_unfinished and may_call and _has_room(state):
        return CallModel(ToolChoiceMode.AUTO, goes_on=True)
    if state.misfit:
        return _step_for_misfit(state)
    return Finish(StopReason.COMPLETED)


def _has_room(state: TurnState) -> bool:
    """Return whether the bounds of the turn allow one more inference."""
    limits = state.turn.limits
    return (
        state.may_write
        and state.iterations < limits.max_iterations
        and state.elapsed < limits.deadline
    )


def _step_for_misfit(state: TurnState) -> NextStep:
    """Ask once more for output that does not fit its schema. No tool may run: only the form is missing."""
    if state.repaired or not _has_room(state):
        return Finish(StopReason.OUTPUT_UNFIT)
    return CallModel(
        ToolChoiceMode.NONE,
        StopReason.OUTPUT_UNFIT,
        repairs=True,
    )


def _only_asks(state: TurnState) -> bool:
    """Return whether only calls that need approval are left. Asking takes no time of the turn."""
    return bool(state.open_calls) and all(
        isinstance(call, PendingCall) for call in state.open_calls
    )


def _wants_no_calls(state: TurnState) -> bool:
    """Return whether the caller forbids calls: then the text beside them is the answer."""
    return state.turn.tool_choice is ToolChoiceMode.NONE and state.turn.output is None


def _step_for_calls(state: TurnState) -> NextStep:
    calls = state.open_calls
    if any(isinstance(call, ClientCall) for call in calls):
        return ReturnToClient(calls)
    ready = tuple([call for call in calls if not isinstance(call, PendingCall)])
    if ready:
        return ExecuteTools(ready)
    return InterruptForApproval(calls)


def _call_model(state: TurnState) -> NextStep:
    limits = state.turn.limits
    if state.iterations >= limits.max_iterations:
        return Finish(StopReason.MAX_ITERATIONS)
    if not state.may_write:
        return Finish(StopReason.LENGTH)
    ending = _last_call(state)
    if ending:
        return CallModel(ToolChoiceMode.NONE, ending)
    return CallModel(_tool_choice(state))


def _last_call(state: TurnState) -> StopReason | None:
    """Return how the turn ends after one more inference without tools; None if the model may still call tools.

    The usual cause is a bound that is near. A model that calls tools although none may
    be called is told so, and can answer in words.
    """
    limits = state.turn.limits
    if not state.turn.tools and not state.iterations:
        return None
    if state.turn.tool_choice is ToolChoiceMode.NONE and state.iterations:
        return StopReason.COMPLETED
    if state.tool_calls >= limits.max_tool_calls and not any(
        tool.client for tool in state.turn.tools
    ):
        return StopReason.MAX_TOOL_CALLS  # calls of the client count elsewhere
    if state.iterations >= limits.max_iterations - 1:
        return StopReason.MAX_ITERATIONS
    if state.elapsed >= limits.deadline * _SHARE_BEFORE_LAST_CALL:
        return StopReason.DEADLINE
    if (
        limits.max_output_tokens is not None
        and state.written >= limits.max_output_tokens * _SHARE_BEFORE_LAST_CALL
    ):
        return StopReason.LENGTH
    return None


def _tool_choice(state: TurnState) -> ToolChoice:
    """Return the turn's tool choice; a forced call applies to the first inference only."""
    choice = state.turn.tool_choice
    forces = isinstance(choice, NamedTool) or choice is ToolChoiceMode.REQUIRED
    if forces and state.iterations:
        return ToolChoiceMode.AUTO
    return choice
