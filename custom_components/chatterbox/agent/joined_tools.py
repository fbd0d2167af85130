"""Shows a model several tools of one thing as one with an `action`, and reads its calls as those of the real tools.

A request has the joined tools, and the calls before it in their form. The loop reads a
call of one as that of the tool that the action stands for before anything judges it:
rules, hooks, effects, records and dispatchers see real tools alone. A call of a real
tool that a model does not see is as good. Decision 59.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Final

from .json.coercion import Unfit
from .json.text import is_json_object, parse_json
from .messages import (
    AssistantMessage,
    JsonObject,
    Message,
    ToolCall,
    ToolDefinition,
    ToolGroup,
    ToolPart,
    ToolResult,
    Transcript,
    canonical_json,
)
from .text import find_name, find_tool

_ACTION: Final = "action"


def joined_tools(tools: Iterable[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """Return a tool for each group of which there are several, unless a tool has its name."""
    groups: dict[str, tuple[ToolGroup, dict[str, ToolDefinition]]] = {}
    names = set()
    for tool in tools:
        names.add(tool.name)
        if tool.part:
            group = tool.part.group
            groups.setdefault(group.name, (group, {}))[1][tool.part.action] = tool
    return tuple(
        _joined(group, parts)
        for name, (group, parts) in sorted(groups.items())
        if len(parts) > 1 and name not in names
    )


def shown_tools(tools: Iterable[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """Return the tools that a model sees, sorted by name if any are joined."""
    listed = tuple(tool for tool in tools if tool.is_listed)
    joined = joined_tools(listed)
    if not joined:
        return listed
    parts = {part.name for one in joined for part in one.parts.values()}
    rest = [tool for tool in listed if tool.name not in parts]
    return tuple(sorted((*rest, *joined), key=attrgetter("name")))


def every_part(tools: Iterable[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """Return tools with those that the joined ones among them stand for."""
    return tuple(one for tool in tools for one in (tool, *tool.parts.values()))


def meant_by(
    tool: ToolDefinition, arguments: JsonObject
) -> tuple[ToolDefinition, JsonObject]:
    """Return the tool that a call of a joined one means, and its arguments. Raises `Unfit` without a known action."""
    rest = dict(arguments)
    action = str(rest.pop(_ACTION, ""))
    meant = tool.parts.get(find_name(action, tool.parts) or "")
    meant = meant or find_tool(action, tuple(tool.parts.values()))
    if meant is None or meant.part is None:
        raise Unfit(f"{_ACTION} is one of: {', '.join(tool.parts)}.")
    named = _renamed(rest, meant.part.renamed)
    if len(named) < len(rest):
        twice = (one for pair in meant.part.renamed.items() for one in pair)
        raise Unfit(f"One thing is given twice: {', '.join(rest.keys() & {*twice})}.")
    return meant, named


def as_shown(
    transcript: Transcript, tools: Iterable[ToolDefinition]
) -> tuple[Message, ...]:
    """Return a transcript with the calls of tools in the form in which the model sees these."""
    joined = {
        part.name: (one.name, part.part)
        for one in tools
        for part in one.parts.values()
        if part.part
    }
    return tuple(_as_seen(message, joined) for message in transcript)


type _Joined = Mapping[str, tuple[str, ToolPart]]
"""The names of joined tools and the parts of them, by the names of the real tools."""


def _as_seen(message: Message, joined: _Joined) -> Message:
    match message:
        case AssistantMessage(tool_calls=calls) if any(
            call.name in joined for call in calls
        ):
            return replace(
                message, tool_calls=tuple(_shown_call(call, joined) for call in calls)
            )
        case ToolResult(name=name) if name in joined:
            return replace(message, name=joined[name][0])
        case _:
            return message


def _shown_call(call: ToolCall, joined: _Joined) -> ToolCall:
    if call.name not in joined or not is_json_object(call.arguments):
        return call
    name, part = joined[call.name]
    names = {own: one for one, own in part.renamed.items()}
    arguments = parse_json(call.arguments)
    given = _renamed(arguments, names) if isinstance(arguments, dict) else {}
    return replace(
        call, name=name, arguments=canonical_json({_ACTION: part.action, **given})
    )


def _renamed(arguments: JsonObject, names: Mapping[str, str]) -> JsonObject:
    return {names.get(name, name): value for name, value in arguments.items()}


def _joined(group: ToolGroup, parts: Mapping[str, ToolDefinition]) -> ToolDefinition:
    taken: JsonObject = {}
    for tool in parts.values():
        renamed = tool.part.renamed if tool.part else {}
        taken |= _renamed(_properties(tool), {own: one for one, own in renamed.items()})
    known = [name for name in group.parameters if name in taken]
    others = [name for name in taken if name not in (*known, *group.omitted)]
    actions = {action: parts[action] for action in group.actions if action in parts}
    parameters: JsonObject = {
        "type": "object",
        "properties": {
            _ACTION: {"type": "string", "enum": [*actions]},
            **{name: group.parameters[name] for name in known},
            **{name: taken[name] for name in others},
        },
        "required": [_ACTION],
    }
    return ToolDefinition(group.name, group.description, parameters, parts=actions)


def _properties(tool: ToolDefinition) -> JsonObject:
    properties = (tool.short_parameters or tool.parameters).get("properties")
    return properties if isinstance(properties, dict) else {}
