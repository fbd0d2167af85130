"""Applies a turn's rules to a call: its id, its budget, and a person's decision.

Pure. Adds to `calls.py` what depends on where the turn stands. Decision 2.
"""

from dataclasses import replace
from itertools import count
from typing import Final, assert_never

from ..events import Answer, PendingCall
from ..messages import AssistantMessage, Message, ToolCall, ToolChoiceMode, ToolResult
from ..protocols import Ask, Deny
from .calls import ClientCall, OpenCall, Resolved, Runnable, as_recorded, fit_call, resolve
from .hooks import covers
from .next_step import TurnState

_ID_LENGTH: Final = 64
"""Characters of the longest call id that services take back."""


def judge_call(
    state: TurnState, call: ToolCall, offered: frozenset[str] | None = None, *, is_repaired: bool = False
) -> OpenCall:
    """Give a call of the open message its own id, and apply the turn's rules to it.

    `offered` names the tools that the caller was offered; None for all tools of the turn. With `is_repaired`, the call
    has been repaired before and must be valid as it is.
    """
    turn = state.turn
    call = _with_own_id(state, call)
    if state.last_call is not None or turn.tool_choice is ToolChoiceMode.NONE:
        return resolve(as_recorded(call), "Not run: no more tools in this turn. Answer from what is known.")
    tools = turn.tools if offered is None else [tool for tool in turn.tools if tool.name in offered]
    earlier, guards = (*state.messages, *_open_message(state)), turn.guards_client_calls
    judged = fit_call(call, tools, turn.allowed_tools, earlier, guards_client_calls=guards, is_repaired=is_repaired)
    if not turn.options.parallel_tool_calls and _is_one_too_many(state, judged):
        return resolve(judged.call, "Not run: the caller runs one call at a time, by itself. Call it again.")
    if not isinstance(judged, Runnable):
        return judged
    reserved = sum(isinstance(other, Runnable | PendingCall) for other in state.open_calls)
    if state.tool_calls + reserved >= turn.limits.max_tool_calls:
        return resolve(judged.call, "Not run: this turn has used up its tool calls.")
    return judged


def _is_one_too_many(state: TurnState, judged: OpenCall) -> bool:
    """Return whether this call is a second one although the turn allows one call at a time."""
    if isinstance(judged, Resolved):
        return False
    others = [other for other in state.open_calls if not isinstance(other, Resolved)]
    return bool(others) and any(isinstance(other, ClientCall) for other in (*others, judged))


def _open_message(state: TurnState) -> tuple[Message, ...]:
    """Return the message that is still open and the results of those of its calls that will not run in any case."""
    idle: list[ToolResult] = []
    for judged in state.open_calls:
        match judged:
            case Runnable() | PendingCall():
                pass
            case Resolved(_, result):
                idle.append(result)
            case ClientCall(call):
                idle.append(ToolResult(call.id, call.name, "", synthetic=True))
            case _:
                assert_never(judged)
    return AssistantMessage(tool_calls=tuple([judged.call for judged in state.open_calls])), *idle


def _with_own_id(state: TurnState, call: ToolCall) -> ToolCall:
    """Keep the id that the model gave, unless it is missing or unusable.

    Generated ids have nine letters and digits, the one form that every service accepts (Mistral's rule).
    """
    taken = {
        other.id
        for message in (*state.turn.history, *state.messages)
        if isinstance(message, AssistantMessage)
        for other in message.tool_calls
    } | {judged.call.id for judged in state.open_calls}
    if call.id and len(call.id) <= _ID_LENGTH and call.id not in taken:
        return call
    numbered = (f"call{len(taken) + extra:05}" for extra in count(1))
    return replace(call, id=next(name for name in numbered if name not in taken))


def decide_call(state: TurnState, pending_call: PendingCall, answer: Answer | None, *, expired: bool) -> OpenCall:
    """Turn a call that waited for approval into a new call of this turn.

    The original call already has its result. The new one runs once, and only with exactly the arguments that were
    approved.
    """
    judged = judge_call(state, replace(pending_call.call, id=""), is_repaired=True)
    if _came_again(state, pending_call.call):
        return resolve(judged.call, "Not run: this question was answered or asked anew in the meantime.")
    if answer and not answer.approved:
        return resolve(judged.call, f"Not run: the person said no. {answer.reason}".rstrip())
    if answer is None or expired:
        return resolve(judged.call, f"Not run: no yes {'came in time' if expired else 'was given'}.")
    if isinstance(judged, Resolved) or _is_same(judged, pending_call.call):
        return judged
    return resolve(judged.call, "Not run: the tool has changed since the question. Ask again.")


def check_again(
    approved: Runnable | ClientCall, pending_call: PendingCall, opinion: Deny | Ask | None
) -> Runnable | ClientCall | PendingCall | Resolved:
    """Apply the hooks' current opinion of an approved call. An approval covers only the terms of its question."""
    match opinion:
        case Deny(reason):
            return resolve(approved.call, reason)
        case Ask(reason, terms) if not covers(pending_call.terms, terms):
            return PendingCall(approved.call, reason, terms)
        case _:
            return approved


def _is_same(judged: OpenCall, call: ToolCall) -> bool:
    """Return whether the call that would run, here or at the client, is the one that was asked about."""
    runs = isinstance(judged, Runnable) or (isinstance(judged, ClientCall) and judged.tool is not None)
    return runs and (judged.call.name, judged.call.arguments) == (call.name, call.arguments)


def _came_again(state: TurnState, repeated: ToolCall) -> bool:
    """Return whether the history repeats the call after the one that was asked about."""
    calls_of_messages = [message.tool_calls for message in state.turn.history if isinstance(message, AssistantMessage)]
    for index, calls in enumerate(calls_of_messages):
        if any(call.id == repeated.id for call in calls):
            later = (call for calls in calls_of_messages[index + 1 :] for call in calls)
            return any((call.name, call.arguments) == (repeated.name, repeated.arguments) for call in later)
    return False
