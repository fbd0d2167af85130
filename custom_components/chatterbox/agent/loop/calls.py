"""The states of a call before its result: it runs, waits for approval, is handed to the client, or is resolved.

Pure. Finds the tool that the model means, fits the arguments to its schema, and applies the rules of the turn that need
no opinion from a hook. Decision 48.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from ..events import PendingCall
from ..json.coercion import MAX_ARGUMENTS_LENGTH, Unfit, fit_known, fit_object, known_parameters, parse_arguments
from ..json.text import display, is_json_object, parse_json
from ..messages import (
    MAX_CALL_LENGTH,
    AssistantMessage,
    JsonObject,
    JsonValue,
    Message,
    ToolCall,
    ToolDefinition,
    ToolResult,
    canonical_json,
)
from ..text import find_tool, plain

_RECORDED_LENGTH: Final = 1_000
"""Characters kept of arguments that cannot be parsed."""
_FORM: Final = re.compile(r"""[\s\\"'\[\]%]""")
"""Characters in which two spellings of one value may differ."""
_ILLEGAL_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")
_NAME_LENGTH: Final = 64
"""Characters kept of an unknown tool name: the length limit of tool names."""


@dataclass(frozen=True, slots=True)
class Runnable:
    """A call that runs with these arguments."""

    call: ToolCall
    """In the form in which it is recorded, as in the other states."""
    tool: ToolDefinition
    arguments: JsonObject
    note: str = field(default="", compare=False)
    """A note to the model on how its call was reinterpreted."""


@dataclass(frozen=True, slots=True)
class ClientCall:
    """A call that the caller of the turn runs."""

    call: ToolCall
    tool: ToolDefinition | None = None
    """Set where hooks see the call, with its arguments; see `Turn.guards_client_calls`."""
    arguments: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A call that does not run, and its result."""

    call: ToolCall
    result: ToolResult


type OpenCall = Runnable | PendingCall | ClientCall | Resolved


def resolve(call: ToolCall, content: str, *, is_error: bool = True) -> Resolved:
    """Answer a call without running it."""
    return Resolved(call, ToolResult(call.id, call.name, content, is_error=is_error, synthetic=True))


def fit_call(  # noqa: PLR0913  # each of these alone changes the state
    call: ToolCall,
    tools: Sequence[ToolDefinition],
    allowed: frozenset[str] | None,
    earlier: Iterable[Message],
    *,
    guards_client_calls: bool = False,
    is_repaired: bool = False,
) -> Runnable | ClientCall | Resolved:
    """Apply the rules that depend on the call, the offered tools and the turn so far.

    A call is repaired once; with `is_repaired`, it must be valid as it is. `earlier` holds the messages of this turn
    before the call. They include the call's own message, still open, with the results of those of its calls that will
    not run.
    """
    tool = find_tool(call.name, tools)
    if tool is None:
        offered = ", ".join(sorted(tool.name for tool in tools)) or "none"
        return resolve(as_recorded(call), f"There is no tool {call.name[:_NAME_LENGTH]!r}. Tools: {offered}.")
    if call.name != tool.name:
        call = replace(call, name=tool.name)
    if allowed is not None and tool.name not in allowed:
        return resolve(as_recorded(call), f"The tool {tool.name} is not allowed in this request.")
    if tool.client:
        call = replace(call, arguments=call.arguments if call.arguments.strip() else "{}")
        if len(call.arguments) > MAX_CALL_LENGTH or not is_json_object(call.arguments):
            problem = f"The arguments must be one JSON object of at most {MAX_CALL_LENGTH} characters."
            return resolve(as_recorded(call), problem)
        if not guards_client_calls:
            return ClientCall(call)
    try:
        written = parse_arguments(call.arguments, MAX_CALL_LENGTH if tool.client else MAX_ARGUMENTS_LENGTH)
        meant, repaired = (tool, written) if tool.client or is_repaired else _repaired(tool, written, tools, allowed)
        arguments = fit_object(repaired, meant.parameters)
    except Unfit as err:
        return resolve(as_recorded(call), str(err))
    call = ToolCall(call.id, meant.name, canonical_json(arguments))
    if tool.client:
        return ClientCall(call, tool, arguments)
    first = None if tool.repeatable else _same_call(call, tools, earlier)
    if first is not None:
        return resolve(call, _already_answered(first), is_error=first.is_error)
    return Runnable(call, meant, arguments, _note(written, arguments, "" if meant is tool else meant.name))


def _repaired(
    tool: ToolDefinition, written: JsonObject, tools: Sequence[ToolDefinition], allowed: frozenset[str] | None
) -> tuple[ToolDefinition, JsonObject]:
    """Return the tool that the call means, and the arguments in the names and values of the tool. Raises `Unfit`."""
    arguments = known_parameters(written, tool.parameters)
    if tool.repair is None:
        return tool, arguments
    name, repaired = tool.repair(fit_known(arguments, tool.parameters))
    for other in tools:
        if other.name == name and (allowed is None or name in allowed):
            return other, repaired
    return tool, arguments


def _note(written: JsonObject, arguments: JsonObject, tool: str) -> str:
    """Describe how a call was reinterpreted, beyond its spelling; empty if it was not."""
    dropped = [name for name, value in written.items() if name not in arguments and value not in ("", None, [], {})]
    notes = [f"as {tool}"] if tool else []
    notes += [
        f"with {key} {display(value)}" for key, value in arguments.items() if _plain(written.get(key)) != _plain(value)
    ]
    notes += [f"without {', '.join(map(display, dropped))}"] if dropped else []
    return f"The call was read {', '.join(notes)}." if notes else ""


def _plain(value: JsonValue) -> str:
    """Return a value in the form in which values are compared, regardless of their spelling."""
    text = _FORM.sub("", plain(value if isinstance(value, str) else canonical_json(value)))
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
    try:
        value = parse_json(call.arguments[: _RECORDED_LENGTH + 1])
    except ValueError:
        value = None
    text = canonical_json(value) if isinstance(value, dict) else call.arguments
    name = _ILLEGAL_IN_NAMES.sub("_", call.name[:_NAME_LENGTH]) or "unnamed"
    return replace(call, name=name, arguments=text[:_RECORDED_LENGTH])


def _already_answered(first: ToolResult) -> str:
    if first.is_error:
        return "Not run again: the same call already failed in this turn. Do something else."
    return "Not run again: this turn already has the same call. Use its result."


def _same_call(call: ToolCall, tools: Sequence[ToolDefinition], earlier: Iterable[Message]) -> ToolResult | None:
    """Return the result that an identical call of this turn already has or will have.

    After another change in between, the call is not a repetition: "on, off and on again" is meant, and so is a second
    reading. A call that did not run has changed nothing.
    """
    messages = tuple(earlier)
    reads = {tool.name for tool in tools if tool.annotations.read_only}
    results = {message.call_id: message for message in messages if isinstance(message, ToolResult)}
    same: ToolCall | None = None
    for message in messages:
        for other in message.tool_calls if isinstance(message, AssistantMessage) else ():
            result = results.get(other.id)
            if (other.name, other.arguments) == (call.name, call.arguments):
                same = same or other
            elif other.name not in reads and not (result and result.synthetic):
                same = None
    if same is None:
        return None
    return results.get(same.id) or ToolResult(same.id, same.name, "", synthetic=True)
