"""Shows a model several tools of one thing as one with an `action`, and reads its calls as those of the real tools.

A request has the joined tools, and the calls before it in their form. The loop reads a
call of one as that of the tool that the action stands for before anything judges it:
rules, hooks, effects, records and dispatchers see real tools alone. A call of a real
tool that a model does not see is as good. Decision 59.
"""

from collections import defaultdict
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
from .text import find_name

_ACTION: Final = "action"


def joined_tools(tools: Iterable[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """Return a tool for each group of which there are several, unless a tool has its name."""
    groups: dict[str, ToolGroup] = {}
    parts: dict[str, dict[str, ToolDefinition]] = defaultdict(dict)
    names = set()
    for tool in tools:
        names.add(tool.name)
        if tool.part:
            group = tool.part.group
            groups[group.name] = group
            parts[group.name][tool.part.action] = tool
    return tuple(
        _joined(group, parts[name])
        for name, group in sorted(groups.items())
        if len(parts[name]) > 1 and name not in names
    )


def _joined(group: ToolGroup, parts: Mapping[str, ToolDefinition]) -> ToolDefinition:
    properties: JsonObject = {}
    for action, tool in parts.items():
        properties |= _renamed(_properties(tool), group.renamed.get(action, {}))
    actions = {action: parts[action] for action in group.actions if action in parts}
    parameters: JsonObject = {
        "type": "object",
        "properties": {
            _ACTION: {"type": "string", "enum": [*actions]},
            **{
                name: group.parameters.get(name, schema)
                for name, schema in properties.items()
                if name not in group.omitted
            },
        },
        "required": [_ACTION],
    }
    return ToolDefinition(group.name, group.description, parameters, parts=actions)


def _properties(tool: ToolDefinition) -> JsonObject:
    properties = (tool.short_parameters or tool.parameters).get("properties")
    return properties if isinstance(properties, dict) else {}


def shown_tools(tools: Iterable[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """Return the tools that a model sees, sorted by name."""
    listed = [tool for tool in tools if tool.is_listed]
    joined = joined_tools(listed)
    parts = {part.name for one in joined for part in one.parts.values()}
    rest = [tool for tool in listed if tool.name not in parts]
    return tuple(sorted((*rest, *joined), key=attrgetter("name")))


def every_part(tools: Iterable[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """Return tools with those that the joined ones among them stand for."""
    return tuple(one for tool in tools for one in (tool, *tool.parts.values()))


def meant_by(
    tool: ToolDefinition, arguments: JsonObject
) -> tuple[ToolDefinition, JsonObject]:
    """Return the tool that a call of a joined one means, and its arguments.

    Raises `Unfit` without a known action, and where one thing is given twice.
    """
    given = dict(arguments)
    action = str(given.pop(_ACTION, ""))
    meant = tool.parts.get(find_name(action, tool.parts) or "")
    if meant is None or meant.part is None:
        raise Unfit(f"{_ACTION} is one of: {', '.join(tool.parts)}.")
    names = meant.part.group.renamed.get(meant.part.action, {})
    renamed = _renamed(given, {name: own for own, name in names.items()})
    if len(renamed) < len(given):
        raise Unfit(f"One thing is given twice: {', '.join(given)}.")
    return meant, renamed


def _renamed(arguments: JsonObject, names: Mapping[str, str]) -> JsonObject:
    return {names.get(name, name): value for name, value in arguments.items()}


def as_shown(
    transcript: Transcript, tools: Iterable[ToolDefinition]
) -> tuple[Message, ...]:
    """Return a transcript with the calls of tools in the form in which the model sees these."""
    parts = {
        one.name: one.part for tool in tools for one in tool.parts.values() if one.part
    }
    return tuple(_as_seen(message, parts) for message in transcript)


def _as_seen(message: Message, parts: Mapping[str, ToolPart]) -> Message:
    match message:
        case AssistantMessage(tool_calls=calls) if any(
            call.name in parts for call in calls
        ):
            seen = tuple(_call_as_seen(call, parts.get(call.name)) for call in calls)
            return replace(message, tool_calls=seen)
        case ToolResult(name=name) if name in parts:
            return replace(message, name=parts[name].group.name)
        case _:
            return message


def _call_as_seen(call: ToolCall, part: ToolPart | None) -> ToolCall:
    if part is None or not is_json_object(call.arguments):
        return call
    own, names = parse_json(call.arguments), part.group.renamed.get(part.action, {})
    given = _renamed(own, names) if isinstance(own, dict) else {}
    text = canonical_json({_ACTION: part.action, **given})
    return ToolCall(call.id, part.group.name, text)
