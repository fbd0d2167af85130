"""Shows a model several tools of one thing as one with an `action`, and reads its calls as those of the real tools.

A request has the joined tools, and the calls before it in their form. The loop reads a
call of one as that of the tool that the action stands for before anything judges it:
rules, hooks, effects, records and dispatchers see real tools alone. A call of a real
tool that a model does not see is as good. Decision 59.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from typing import Final, override

from .json.coercion import Unfit
from .json.text import as_object, is_json_object, parse_json
from .messages import (
    AssistantMessage,
    JsonObject,
    Message,
    ToolCall,
    ToolDefinition,
    ToolGroup,
    ToolPart,
    ToolResult,
    Tools,
    Transcript,
    canonical_json,
)
from .text import find_name

_ACTION: Final = "action"
_WHOLE: Final = ""
"""In place of an action, of a tool that a model sees without the prefix of its name."""


def joined_tools(tools: Iterable[ToolDefinition]) -> Tools:
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


def _joined(
    group: ToolGroup,
    parts: Mapping[str, ToolDefinition],
) -> ToolDefinition:
    properties: JsonObject = {}
    for action, tool in parts.items():
        properties |= _renamed(
            _properties(tool),
            group.renamed.get(action, {}),
        )
    actions = {action: parts[action] for action in group.actions if action in parts}
    parameters: JsonObject = {
        "type": "object",
        "properties": {
            _ACTION: {
                "type": "string",
                "enum": [*actions],
            },
            **{
                name: group.parameters.get(name, schema)
                for name, schema in properties.items()
                if name not in group.omitted
            },
        },
        "required": [_ACTION],
    }
    on_actions = (text for action, text in group.on_actions.items() if action in parts)
    description = " ".join((group.description, *on_actions))
    return ToolDefinition(
        group.name, description, parameters, parts=actions, is_bare=True
    )


def _properties(tool: ToolDefinition) -> JsonObject:
    properties = (tool.short_parameters or tool.parameters).get("properties")
    return properties if isinstance(properties, dict) else {}


class _Offered(tuple[ToolDefinition, ...]):
    """Tools that are found by their names: schemas have no hash."""

    __slots__ = ()
    __eq__ = tuple.__eq__

    @override
    def __hash__(self) -> int:
        return hash((*map(attrgetter("name"), self),))


def shown_tools(tools: Iterable[ToolDefinition]) -> Tools:
    """Return the tools that a model sees, sorted by name; the same objects as before for equal tools."""
    return _visible(_Offered(tools))


@lru_cache(maxsize=8)
def _visible(tools: _Offered) -> Tools:
    listed = [tool for tool in tools if tool.is_listed]
    joined = joined_tools(listed)
    parts = {part.name for one in joined for part in one.parts.values()}
    rest = [tool for tool in listed if tool.name not in parts]
    bare = {
        one.name: one.name.casefold().rpartition("__")[2] for one in (*tools, *joined)
    }
    names = Counter(bare.values())
    # A service refuses all tools for a name that begins with a digit, or that is empty.
    plain = [name for name in names if name[:1].isalpha()]
    alone = {name for name in plain if names[name] == 1}
    seen = [
        _without_prefix(tool) if tool.is_bare and bare[tool.name] in alone else tool
        for tool in (*rest, *joined)
    ]
    return tuple(sorted(seen, key=attrgetter("name")))


def _without_prefix(tool: ToolDefinition) -> ToolDefinition:
    name = tool.name.rpartition("__")[2]
    return replace(
        tool,
        name=name,
        parts=tool.parts or {_WHOLE: tool},
    )


def names_shown(tools: Iterable[ToolDefinition]) -> Mapping[str, str]:
    """Return the names of tools as a model sees them by the whole ones, for a prompt."""
    return {
        one.part.group.name if one.part else one.name: tool.name
        for tool in shown_tools(tools)
        for one in tool.parts.values()
    }


def every_part(tools: Iterable[ToolDefinition]) -> Tools:
    """Return tools with those that the joined ones among them stand for, each under its whole name."""
    every: list[ToolDefinition] = []
    for tool in tools:
        if _WHOLE not in tool.parts:
            every.append(tool)
        every += tool.parts.values()
    return tuple(every)


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
    names = meant.part.group.renamed.get(
        meant.part.action,
        {},
    )
    renamed = _renamed(
        given,
        {name: own for own, name in names.items()},
    )
    if len(renamed) < len(given):
        raise Unfit(f"One thing is given twice: {', '.join(given)}.")
    return meant, renamed


def _renamed(
    arguments: JsonObject,
    names: Mapping[str, str],
) -> JsonObject:
    return {names.get(name, name): value for name, value in arguments.items()}


def as_shown(
    transcript: Transcript, tools: Iterable[ToolDefinition]
) -> tuple[Message, ...]:
    """Return a transcript with the calls of tools in the form in which the model sees these."""
    seen = {
        one.name: (tool.name, one.part) for tool in tools for one in tool.parts.values()
    }
    return tuple(_as_seen(message, seen) for message in transcript)


type _Seen = Mapping[str, tuple[str, ToolPart | None]]
"""The name that a model sees for a tool, and the place of a joined one in the tool of that name."""


def _as_seen(message: Message, seen: _Seen) -> Message:
    match message:
        case AssistantMessage(tool_calls=calls) if any(
            call.name in seen for call in calls
        ):
            calls = tuple(
                _call_as_seen(call, *seen[call.name]) if call.name in seen else call
                for call in calls
            )
            return replace(message, tool_calls=calls)
        case ToolResult(name=name) if name in seen:
            return replace(
                message,
                name=seen[name][0],
            )
        case _:
            return message


def _call_as_seen(
    call: ToolCall,
    name: str,
    part: ToolPart | None,
) -> ToolCall:
    if part is None:
        return replace(call, name=name)
    if not is_json_object(call.arguments):
        return call
    own = as_object(parse_json(call.arguments))
    given = _renamed(
        own,
        part.group.renamed.get(
            part.action,
            {},
        ),
    )
    text = canonical_json({_ACTION: part.action, **given})
    return ToolCall(
        call.id,
        name,
        text,
    )
