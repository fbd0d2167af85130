"""Judges the calls of a turn: the tool and arguments that are meant, ids, budgets, and the decision of a person.

Pure: applies the rules of the turn that need no opinion from a hook. Decision 2,
decision 48.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Final, assert_never

from ..events import Answer, PendingCall
from ..joined_tools import joined_tools, meant_by, shown_tools
from ..json.coercion import (
    MAX_ARGUMENTS_LENGTH,
    Unfit,
    fit_object,
    known_parameters,
    parse_arguments,
    readable,
)
from ..json.text import display, is_json_object, parsed_if_json
from ..messages import (
    MAX_CALL_LENGTH,
    AssistantMessage,
    JsonObject,
    JsonValue,
    Message,
    Repair,
    ToolCall,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    as_written,
    canonical_json,
)
from ..protocols import Ask, Deny
from ..text import find_tool, plain, sendable_name
from ..transcript import call_ids
from .hooks import covers
from .turn import ClientCall, OpenCall, Resolved, Runnable, TurnState, resolve

_ID_LENGTH: Final = 64
"""Characters of the longest call id that services take back."""


def judge_call(
    state: TurnState,
    call: ToolCall,
    offered: frozenset[str] | None = None,
    *,
    is_repaired: bool = False,
) -> OpenCall:
    """Give a call of the open message its own id, and apply the turn's rules to it.

    `offered` names the tools that the caller was offered; None for all tools of the
    turn. With `is_repaired`, the call has been repaired before and must be valid as it
    is.
    """
    turn = state.turn
    call = _with_own_id(state, call)
    if state.last_call is not None or turn.tool_choice is ToolChoiceMode.NONE:
        return resolve(
            as_recorded(call),
            "Not run: no more tools in this turn. Answer from what is known.",
        )
    tools = (
        turn.tools
        if offered is None
        else [tool for tool in turn.tools if tool.name in offered]
    )
    earlier = (*state.messages, *_open_message(state))
    guards = turn.guards_client_calls
    judged = fit_call(
        call,
        tools,
        turn.allowed_tools,
        earlier,
        guards_client_calls=guards,
        repair=None if is_repaired else turn.repair,
    )
    if not turn.options.parallel_tool_calls and _is_one_too_many(state, judged):
        return resolve(
            judged.call,
            "Not run: the caller runs one call at a time, by itself. Call it again.",
        )
    if not isinstance(judged, Runnable):
        return judged
    reserved = sum(
        isinstance(other, Runnable | PendingCall) for other in state.open_calls
    )
    if state.tool_calls + reserved >= turn.limits.max_tool_calls:
        return resolve(judged.call, "Not run: this turn has used up its tool calls.")
    return judged


def _is_one_too_many(state: TurnState, judged: OpenCall) -> bool:
    """Return whether this call is a second one although the turn allows one call at a time."""
    if isinstance(judged, Resolved):
        return False
    others = [other for other in state.open_calls if not isinstance(other, Resolved)]
    return bool(others) and any(
        isinstance(other, ClientCall) for other in (*others, judged)
    )


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
    return AssistantMessage(
        tool_calls=tuple([judged.call for judged in state.open_calls])
    ), *idle


def _with_own_id(state: TurnState, call: ToolCall) -> ToolCall:
    """Keep the id that the model gave, unless it is missing or unusable.

    Generated ids have nine letters and digits, the one form that every service accepts
    (Mistral's rule).
    """
    earlier = call_ids((*state.turn.history, *state.messages)) | {
        judged.call.id for judged in state.open_calls
    }
    taken = state.taken | earlier
    if call.id and len(call.id) <= _ID_LENGTH and call.id not in taken:
        return call
    numbered = (f"call{len(taken) + extra:05}" for extra in count(1))
    return replace(
        call,
        id=next(name for name in numbered if name not in taken),
    )


def decide_call(
    state: TurnState,
    pending_call: PendingCall,
    answer: Answer | None,
    *,
    expired: bool,
    new_id: str = "",
) -> OpenCall:
    """Turn a call that waited for approval into a new call of this turn, with a generated id unless there is a new one.

    The original call already has its result. The new one runs once, and only with
    exactly the arguments that were approved.
    """
    judged = judge_call(
        state,
        replace(pending_call.call, id=new_id),
        is_repaired=True,
    )
    if _came_again(state, pending_call.call):
        return resolve(
            judged.call,
            "Not run: this question was answered or asked anew in the meantime.",
        )
    if answer and not answer.approved:
        return resolve(
            judged.call, f"Not run: the person said no. {answer.reason}".rstrip()
        )
    if answer is None or expired:
        return resolve(
            judged.call,
            f"Not run: no yes {'came in time' if expired else 'was given'}.",
        )
    if isinstance(judged, Resolved) or _is_same(judged, pending_call.call):
        return judged
    return resolve(
        judged.call, "Not run: the tool has changed since the question. Ask again."
    )


def check_again(
    approved: Runnable | ClientCall,
    pending_call: PendingCall,
    opinion: Deny | Ask | None,
) -> Runnable | ClientCall | PendingCall | Resolved:
    """Apply the hooks' current opinion of an approved call. An approval covers only the terms of its question."""
    match opinion:
        case Deny(reason):
            return resolve(approved.call, reason)
        case Ask(reason, terms) if not covers(pending_call.terms, terms):
            return PendingCall(
                approved.call,
                reason,
                terms,
            )
        case _:
            return approved


def _is_same(judged: OpenCall, call: ToolCall) -> bool:
    """Return whether the call that would run, here or at the client, is the one that was asked about."""
    runs = isinstance(judged, Runnable) or (
        isinstance(judged, ClientCall) and judged.tool is not None
    )
    return runs and judged.call.key == call.key


def _came_again(state: TurnState, repeated: ToolCall) -> bool:
    """Return whether the history repeats the call after the one that was asked about."""
    calls_of_messages = [
        message.tool_calls
        for message in state.turn.history
        if isinstance(message, AssistantMessage)
    ]
    for index, calls in enumerate(calls_of_messages):
        if any(call.id == repeated.id for call in calls):
            later = (call for calls in calls_of_messages[index + 1 :] for call in calls)
            return any(call.key == repeated.key for call in later)
    return False


_RECORDED_LENGTH: Final = 1_000
"""Characters kept of arguments that cannot be parsed."""
_FORM: Final = re.compile(r"""[\s\\"'\[\]%]""")
"""Characters in which two spellings of one value may differ."""
_NAME_LENGTH: Final = 64
"""Characters kept of an unknown tool name: the length limit of tool names."""


def fit_call(  # noqa: PLR0913  # each of these alone changes the state
    call: ToolCall,
    tools: Sequence[ToolDefinition],
    allowed: frozenset[str] | None,
    earlier: Iterable[Message],
    *,
    guards_client_calls: bool = False,
    repair: Repair | None = as_written,
) -> Runnable | ClientCall | Resolved:
    """Apply the rules that depend on the call, the offered tools and the turn so far.

    A call is repaired once; without `repair`, it must be valid as it is. `earlier`
    holds the messages of this turn before the call. They include the call's own
    message, still open, with the results of those of its calls that will not run.
    """
    try:
        call, tool = _found(call, tools)
        if allowed is not None and tool.name not in allowed:
            problem = f"The tool {tool.name} is not allowed in this request."
            return resolve(as_recorded(call), problem)
        if tool.client:
            return _for_client(call, tool, is_guarded=guards_client_calls)
        written = parse_arguments(call.arguments, MAX_ARGUMENTS_LENGTH)
        meant = tool
        arguments = written
        if repair:
            meant, arguments = _repaired(tool, written, tools, allowed, repair)
        arguments = fit_object(arguments, meant.parameters)
    except Unfit as err:
        return resolve(as_recorded(call), str(err))
    call = ToolCall(
        call.id,
        meant.name,
        canonical_json(arguments),
    )
    if tool.repeatable:
        first = None
    else:
        first = _same_call(call, tools, earlier)
    if first is not None:
        return resolve(call, _already_answered(first), is_error=first.is_error)
    return Runnable(
        call,
        meant,
        arguments,
        _note(written, arguments, "" if meant is tool else meant.name),
    )


def _for_client(
    call: ToolCall, tool: ToolDefinition, *, is_guarded: bool
) -> ClientCall:
    """Return a call of a client tool, which is fitted to its schema only if it is guarded. Raises `Unfit`."""
    if call.arguments.strip():
        text = call.arguments
    else:
        text = "{}"
    if len(text) > MAX_CALL_LENGTH or not is_json_object(text):
        raise Unfit(
            f"The arguments must be one JSON object of at most {MAX_CALL_LENGTH} characters."
        )
    if not is_guarded:
        return ClientCall(replace(call, arguments=text))
    arguments = fit_object(
        parse_arguments(text, MAX_CALL_LENGTH),
        tool.parameters,
    )
    fitted = ToolCall(
        call.id,
        tool.name,
        canonical_json(arguments),
    )
    return ClientCall(
        fitted,
        tool,
        arguments,
    )


def _found(
    call: ToolCall, tools: Sequence[ToolDefinition]
) -> tuple[ToolCall, ToolDefinition]:
    """Return a call with the name of its tool, and that tool; a call of a joined tool becomes that of a real one.

    Raises `Unfit` where there is none.
    """
    tool = find_tool(
        call.name,
        (*tools, *joined_tools(tools)),
    )
    if tool is None:
        offered = ", ".join(sorted(tool.name for tool in shown_tools(tools))) or "none"
        raise Unfit(f"There is no tool {call.name[:_NAME_LENGTH]!r}. Tools: {offered}.")
    if not tool.parts:
        return (call if call.name == tool.name else replace(call, name=tool.name)), tool
    written = parse_arguments(call.arguments, MAX_ARGUMENTS_LENGTH)
    tool, arguments = meant_by(tool, written)
    return ToolCall(call.id, tool.name, canonical_json(arguments)), tool


def _repaired(
    tool: ToolDefinition,
    written: JsonObject,
    tools: Sequence[ToolDefinition],
    allowed: frozenset[str] | None,
    repair: Repair,
) -> tuple[ToolDefinition, JsonObject]:
    """Return the tool that the call means, and the arguments in the names and values of the tool. Raises `Unfit`."""
    # What acts on the home alone takes words; other tools may take a path or a pattern,
    # with backslashes.
    texts = {
        name: readable(value, escapes=not tool.annotations.open_world)
        for name, value in written.items()
    }
    arguments = known_parameters(texts, tool.parameters)
    name, repaired = repair(tool, arguments)
    if name == tool.name:
        return tool, repaired
    for other in tools:
        if other.name == name and (allowed is None or name in allowed):
            return other, repaired
    return tool, arguments


def _note(
    written: JsonObject,
    arguments: JsonObject,
    tool: str,
) -> str:
    """Describe how a call was reinterpreted, beyond its spelling; empty if it was not."""
    dropped = [
        name
        for name, value in written.items()
        if name not in arguments and value not in ("", None, [], {})
    ]
    if tool:
        notes = [f"as {tool}"]
    else:
        notes = []
    notes += [
        f"with {key} {display(value)}"
        for key, value in arguments.items()
        if _plain(written.get(key)) != _plain(value)
    ]
    if dropped:
        notes.append(f"without {', '.join(map(display, dropped))}")
    if notes:
        return f"The call was read {', '.join(notes)}."
    return ""


def _plain(value: JsonValue) -> str:
    """Return a value in the form in which values are compared, regardless of their spelling."""
    text = _FORM.sub(
        "", plain(value if isinstance(value, str) else canonical_json(value))
    )
    with suppress(ValueError):
        return str(float(text))
    return text


def fit_arguments(tool: ToolDefinition, arguments: JsonObject) -> JsonObject:
    """Return arguments as they would run. Invalid ones are returned unchanged, for `fit_call` to explain the error."""
    try:
        return fit_object(arguments, tool.parameters)
    except Unfit:
        return arguments


def as_recorded(call: ToolCall) -> ToolCall:
    """Return a call that will not run in a form that every provider accepts in a transcript.

    Overlong arguments of a runaway model are truncated.
    """
    value = parsed_if_json(call.arguments[: _RECORDED_LENGTH + 1])
    if isinstance(value, dict):
        text = canonical_json(value)
    else:
        text = call.arguments
    return replace(
        call,
        name=sendable_name(call.name),
        arguments=text[:_RECORDED_LENGTH],
    )


def _already_answered(first: ToolResult) -> str:
    if first.is_error:
        return "Not run again: the same call already failed in this turn. Do something else."
    return "Not run again: this turn already has the same call. Use its result."


def _same_call(
    call: ToolCall, tools: Sequence[ToolDefinition], earlier: Iterable[Message]
) -> ToolResult | None:
    """Return the result that an identical call of this turn already has or will have.

    After another change in between, the call is not a repetition: "on, off and on
    again" is meant, and so is a second reading. A call that did not run has changed
    nothing.
    """
    reads = {tool.name for tool in tools if tool.annotations.read_only}
    calls = list[ToolCall]()
    results = dict[str, ToolResult]()
    for message in earlier:
        match message:
            case AssistantMessage(tool_calls=made):
                calls += made
            case ToolResult(call_id=call_id):
                results[call_id] = message
            case _:
                pass
    same: ToolCall | None = None
    for other in calls:
        result = results.get(other.id)
        if result and result.may_repeat:
            continue
        if other.key == call.key:
            same = same or other
        elif other.name not in reads and not (result and result.synthetic):
            same = None
    if same is None:
        return None
    return results.get(same.id) or ToolResult(same.id, same.name, "", synthetic=True)
