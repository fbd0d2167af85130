"""The tools that a request names, and the choice it makes among them: from JSON to values, and what is echoed.

Knows the shapes of tools; must not know which tools the house has. No secret is ever echoed: a tool that brings one is
for a server elsewhere, and refused.
Sources: OpenResponses specification, `FunctionToolParam` and `ToolChoiceParam` of 2026-04-24; OpenAI API reference,
"MCP tool".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue as AnyJson, TypeAdapter

from ..messages import JsonObject, JsonValue, ToolChoiceMode, ToolDefinition
from .errors import ApiError, invalid
from .request_body import FunctionName, Part, parse_part, unsupported

_TOOLS: Final = "tools"
_CHOICE: Final = "tool_choice"
_ELSEWHERE: Final = ("server_url", "connector_id", "tunnel_id", "authorization", "headers")
_KINDS: Final = "'function' for your own, 'mcp' with a server_label for those of the house"


class RequireApproval(StrEnum):
    """What a client wants of approvals. It can only be stricter than the house."""

    ALWAYS = "always"
    """Every call of these tools is asked about."""
    NEVER = "never"
    """Only what the house itself asks about."""


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """Some of the tools of a label: those of these names, those that only read, or both."""

    names: frozenset[str] | None = None
    """None for all."""
    read_only: bool | None = None
    """None for both kinds."""

    def takes(self, tool: ToolDefinition) -> bool:
        """Tell whether a tool is one of them."""
        if self.names is not None and tool.name not in self.names:
            return False
        return self.read_only is None or tool.annotations.read_only == self.read_only


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedTools:
    """Tools of the house that a client wants: `{"type": "mcp", "server_label": <id of an LLM API>}`."""

    server_label: str
    allowed: ToolFilter | None = None
    """Which of them are offered; None for all."""
    always: ToolFilter | None = None
    """Which are asked about whatever the house says; wins over `never`."""
    never: ToolFilter | None = None
    """Which are asked about only where the house does so."""
    otherwise: RequireApproval = RequireApproval.ALWAYS
    """What holds for those of neither."""

    def asks(self, tool: ToolDefinition) -> bool:
        """Tell whether the client wants a tool asked about."""
        if self.always is not None and self.always.takes(tool):
            return True
        if self.never is not None and self.never.takes(tool):
            return False
        return self.otherwise is RequireApproval.ALWAYS


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """A function that the client runs."""

    name: str


@dataclass(frozen=True, slots=True)
class HostedToolRef:
    """A tool of the house, or all of a label."""

    server_label: str
    name: str | None = None


type ToolRef = FunctionRef | HostedToolRef


@dataclass(frozen=True, slots=True)
class AllowedTools:
    """The tools that may be called, of those that the model sees."""

    tools: tuple[ToolRef, ...]
    mode: ToolChoiceMode = ToolChoiceMode.AUTO


type RequestedToolChoice = ToolChoiceMode | FunctionRef | HostedToolRef | AllowedTools


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A function that the client runs."""

    definition: ToolDefinition
    """With `client` set."""
    sent: JsonObject
    """As it is echoed: `type`, `name`, `description`, `parameters`, `strict`."""


class _Tool(Part):
    """What functions and tools of the house have in common."""

    allowed_callers: list[Literal["direct"]] | None = None
    defer_loading: Literal[False] | None = None


class _Function(_Tool):
    type: Literal["function"]
    name: FunctionName
    description: str | None = None
    parameters: dict[str, AnyJson] | None = None
    strict: bool | None = None
    output_schema: dict[str, AnyJson] | None = None
    async_: Literal[False] | None = Field(default=None, alias="async")


class _Filter(Part):
    tool_names: list[str] | None = None
    read_only: bool | None = None

    def read(self) -> ToolFilter:
        names = None if self.tool_names is None else frozenset(self.tool_names)
        return ToolFilter(names, self.read_only)


class _Approval(Part):
    always: _Filter | None = None
    never: _Filter | None = None


class _Mcp(_Tool):
    type: Literal["mcp"]
    server_label: Annotated[str, Field(min_length=1, max_length=256)]
    server_description: str | None = None
    allowed_tools: AnyJson = None
    require_approval: AnyJson = None


class _FunctionChoice(Part):
    type: Literal["function"]
    name: FunctionName


class _McpChoice(Part):
    type: Literal["mcp"]
    server_label: Annotated[str, Field(min_length=1)]
    name: Annotated[str, Field(min_length=1)] | None = None


class _AllowedTools(Part):
    type: Literal["allowed_tools"]
    mode: Literal["auto", "required", "none"] | None = None
    tools: Annotated[list[AnyJson], Field(min_length=1, max_length=128)]


_FUNCTION: Final = TypeAdapter(_Function)
_MCP: Final = TypeAdapter(_Mcp)
_FILTER: Final = TypeAdapter(_Filter)
_APPROVAL: Final = TypeAdapter(_Approval)
_NAMES: Final = TypeAdapter(list[str])
_FUNCTION_CHOICE: Final = TypeAdapter(_FunctionChoice)
_MCP_CHOICE: Final = TypeAdapter(_McpChoice)
_ALLOWED: Final = TypeAdapter(_AllowedTools)


@dataclass(frozen=True, slots=True)
class RequestedTools:
    """The tools that a request names."""

    functions: tuple[FunctionTool, ...] = ()
    hosted: tuple[HostedTools, ...] | None = None
    """None for a request that names no tools at all."""
    echo: tuple[JsonObject, ...] = ()


def read_tools(tools: Sequence[JsonValue] | None) -> RequestedTools:
    """Read `tools`. Raises `ApiError`."""
    if tools is None:
        return RequestedTools()
    functions: dict[str, FunctionTool] = {}
    hosted: dict[str, HostedTools] = {}
    echo: list[JsonObject] = []
    for index, tool in enumerate(tools):
        place = f"{_TOOLS}[{index}]"
        match tool:
            case {"type": "function"}:
                function = _function(parse_part(_FUNCTION, tool, place))
                name = function.definition.name
                if name in functions:
                    raise invalid(f"There are two functions with the name '{name}'.", f"{place}.name", "invalid_value")
                functions[name] = function
                echo.append(function.sent)
            case dict() if tool.get("type") == "mcp":
                wanted, sent = _hosted_tools(tool, place)
                if (label := wanted.server_label) in hosted:
                    text = f"There are two tools with the server_label '{label}'."
                    raise invalid(text, f"{place}.server_label", "invalid_value")
                hosted[label] = wanted
                echo.append(sent)
            case _:
                raise _no_such_kind(tool, place, _KINDS)
    return RequestedTools(tuple(functions.values()), tuple(hosted.values()), tuple(echo))


def read_tool_choice(choice: JsonValue, tools: RequestedTools) -> tuple[RequestedToolChoice, JsonValue]:
    """Return what `tool_choice` says, and how it is echoed. Raises `ApiError`, also for a tool that is not there."""
    match choice:
        case None:
            return ToolChoiceMode.AUTO, ToolChoiceMode.AUTO.value
        case str():
            return _mode(choice, tools)
        case {"type": "allowed_tools"}:
            allowed = parse_part(_ALLOWED, choice, _CHOICE)
            places = [f"{_CHOICE}.tools[{index}]" for index in range(len(allowed.tools))]
            read = [_reference(tool, tools, place) for tool, place in zip(allowed.tools, places, strict=True)]
            mode = ToolChoiceMode(allowed.mode or ToolChoiceMode.AUTO)
            echo: JsonObject = {"type": "allowed_tools", "mode": mode.value, "tools": [sent for _, sent in read]}
            return AllowedTools(tuple(ref for ref, _ in read), mode), echo
        case dict():
            return _reference(choice, tools, _CHOICE)
        case _:
            raise invalid("It has to be a text or an object.", _CHOICE, "invalid_value")


def _mode(choice: str, tools: RequestedTools) -> tuple[ToolChoiceMode, str]:
    if choice not in ToolChoiceMode:
        modes = ", ".join(f"'{mode}'" for mode in ToolChoiceMode)
        text = f"There is no such choice; there are {modes}, and objects that name tools."
        raise invalid(text, _CHOICE, "invalid_value")
    mode = ToolChoiceMode(choice)
    if mode is ToolChoiceMode.REQUIRED and not tools.functions and tools.hosted == ():
        raise invalid("Tool choice 'required' needs tools that can be called.", _CHOICE, "invalid_value")
    return mode, mode.value


def _reference(value: JsonValue, tools: RequestedTools, place: str) -> tuple[ToolRef, JsonObject]:
    match value:
        case {"type": "function"}:
            name = parse_part(_FUNCTION_CHOICE, value, place).name
            if not any(function.definition.name == name for function in tools.functions):
                raise invalid(f"There is no function '{name}' among the tools.", f"{place}.name", "invalid_value")
            return FunctionRef(name), {"type": "function", "name": name}
        case {"type": "mcp"}:
            read = parse_part(_MCP_CHOICE, value, place)
            label = read.server_label
            if tools.hosted is not None and not any(wanted.server_label == label for wanted in tools.hosted):
                text = f"There is no server_label '{label}' among the tools."
                raise invalid(text, f"{place}.server_label", "invalid_value")
            named: JsonObject = {} if read.name is None else {"name": read.name}
            return HostedToolRef(label, read.name), {"type": "mcp", "server_label": label, **named}
        case _:
            raise _no_such_kind(value, place, "'function' with a name, 'mcp' with a server_label")


def _function(sent: _Function) -> FunctionTool:
    nothing: JsonObject = {"type": "object", "properties": {}}
    definition = ToolDefinition(sent.name, sent.description or "", sent.parameters or nothing, client=True)
    echo: JsonObject = {
        "type": "function",
        "name": sent.name,
        "description": sent.description,
        "parameters": sent.parameters,
        "strict": sent.strict,
    }
    return FunctionTool(definition, echo)


def _hosted_tools(tool: JsonObject, place: str) -> tuple[HostedTools, JsonObject]:
    for name in _ELSEWHERE:
        if tool.get(name) not in (None, {}):
            why = "Only tools of this house can be used, by the server_label alone."
            raise unsupported(f"{place}.{name}", why)
    sent = parse_part(_MCP, {name: value for name, value in tool.items() if name not in _ELSEWHERE}, place)
    allowed = _allowed(sent.allowed_tools, f"{place}.allowed_tools")
    always, never, otherwise = _approval(sent.require_approval, f"{place}.require_approval")
    read = HostedTools(server_label=sent.server_label, allowed=allowed, always=always, never=never, otherwise=otherwise)
    echo: JsonObject = {
        "type": "mcp",
        "server_label": sent.server_label,
        "server_description": sent.server_description,
        "allowed_tools": sent.allowed_tools,
        "require_approval": RequireApproval.ALWAYS.value if sent.require_approval is None else sent.require_approval,
        "headers": None,
    }
    return read, echo


def _allowed(value: JsonValue, place: str) -> ToolFilter | None:
    match value:
        case None:
            return None
        case list():
            names = parse_part(_NAMES, value, place)
            return ToolFilter(frozenset(names))
        case _:
            return parse_part(_FILTER, value, place).read()


def _approval(value: JsonValue, place: str) -> tuple[ToolFilter | None, ToolFilter | None, RequireApproval]:
    match value:
        case None:
            return None, None, RequireApproval.ALWAYS
        case "always" | "never":
            return None, None, RequireApproval(value)
        case str():
            raise invalid("It has to be 'always', 'never' or an object.", place, "invalid_value")
        case _:
            read = parse_part(_APPROVAL, value, place)
            always, never = (None if part is None else part.read() for part in (read.always, read.never))
            return always, never, RequireApproval.ALWAYS


def _no_such_kind(tool: JsonValue, place: str, kinds: str) -> ApiError:
    if not isinstance(tool, dict):
        return invalid("It has to be an object.", place, "invalid_value")
    return invalid(f"Tools of such a type cannot be used here; there are {kinds}.", f"{place}.type", "invalid_value")
