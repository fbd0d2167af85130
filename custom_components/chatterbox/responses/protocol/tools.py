"""The tools and the tool choice of a request: their values, and how they are read and echoed.

A tool of a server elsewhere, and with it every secret, is refused. Decision 22.
Sources: OpenResponses specification, `FunctionToolParam` and `ToolChoiceParam` of
2026-04-24; OpenAI API reference, "MCP tool".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue as AnyJson, RootModel

from ...agent.messages import JsonObject, JsonValue, ToolChoiceMode, ToolDefinition
from .body import BY_VALUE, FunctionName, Part, parse_part, unsupported
from .errors import ApiError, bad_value

_CHOICE: Final = "tool_choice"
_REMOTE_FIELDS: Final = (
    "server_url",
    "connector_id",
    "tunnel_id",
    "authorization",
    "headers",
)
_ECHOED: Final = {
    "type",
    "name",
    "description",
    "parameters",
    "strict",
}
"""Fields of a function that a response repeats."""
_KINDS: Final = (
    "'function' for your own, 'mcp' with a server_label for those of the home"
)


class ToolFilter(Part):
    """Selects hosted tools by name, by whether they only read, or both."""

    tool_names: list[str] | None = None
    """None for all."""
    read_only: bool | None = None
    """None for both kinds."""

    def takes(self, tool: ToolDefinition) -> bool:
        """Return whether a tool is selected."""
        if self.tool_names is not None and tool.name not in self.tool_names:
            return False
        return self.read_only is None or tool.annotations.read_only == self.read_only


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedTools:
    """Hosted tools that a client requests: `{"type": "mcp", "server_label": <id of an LLM API>}`."""

    server_label: str
    allowed: ToolFilter | None = None
    """None for all tools of the label."""
    always: ToolFilter | None = None
    """Tools that always need approval; wins over `never`."""
    never: ToolFilter | None = None
    """Tools that need approval only if the home requires it."""
    asks_otherwise: bool = True
    """Whether all other tools need approval, too."""

    def asks(self, tool: ToolDefinition) -> bool:
        """Return whether the client requires approval for a tool."""
        if self.always is not None and self.always.takes(tool):
            return True
        if self.never is not None and self.never.takes(tool):
            return False
        return self.asks_otherwise


class FunctionRef(Part):
    """Reference to a function of the client."""

    type: Literal["function"] = "function"
    name: FunctionName


class HostedToolRef(Part):
    """Reference to a hosted tool, or to all of a label."""

    type: Literal["mcp"] = "mcp"
    server_label: Annotated[str, Field(min_length=1)]
    name: Annotated[str, Field(min_length=1)] | None = None


type ToolRef = FunctionRef | HostedToolRef


@dataclass(frozen=True, slots=True)
class AllowedTools:
    """The tools that may be called, of all that the model is offered."""

    tools: tuple[ToolRef, ...]
    mode: ToolChoiceMode = ToolChoiceMode.AUTO


type RequestedToolChoice = ToolChoiceMode | FunctionRef | HostedToolRef | AllowedTools


class _Tool(Part):
    """Common fields of functions and hosted tools."""

    allowed_callers: list[Literal["direct"]] | None = None
    defer_loading: Literal[False] | None = None


class _Function(_Tool):
    type: Literal["function"]
    name: FunctionName
    description: str | None = None
    parameters: dict[str, AnyJson] | None = None
    strict: bool | None = None
    output_schema: dict[str, AnyJson] | None = None
    async_: Literal[False] | None = Field(
        default=None,
        alias="async",
    )

    @property
    def definition(self) -> ToolDefinition:
        nothing: JsonObject = {
            "type": "object",
            "properties": {},
        }
        return ToolDefinition(
            self.name, self.description or "", self.parameters or nothing, client=True
        )


class _Names(RootModel[list[str]]):
    """Names of tools."""


class _Approval(Part):
    always: ToolFilter | None = None
    never: ToolFilter | None = None


class _Mcp(_Tool):
    type: Literal["mcp"]
    server_label: Annotated[str, Field(min_length=1, max_length=256)]
    server_description: str | None = None
    allowed_tools: AnyJson = None
    require_approval: AnyJson = None


class _AllowedTools(Part):
    type: Literal["allowed_tools"]
    mode: Annotated[ToolChoiceMode, BY_VALUE] | None = None
    tools: Annotated[list[AnyJson], Field(min_length=1, max_length=128)]


@dataclass(frozen=True, slots=True)
class RequestedTools:
    """The `tools` of a request."""

    functions: tuple[ToolDefinition, ...] = ()
    """Of the client, with `client` set."""
    hosted: tuple[HostedTools, ...] | None = None
    """None if the request has no `tools`."""
    echo: tuple[JsonObject, ...] = ()


def read_tools(tools: Sequence[JsonValue] | None) -> RequestedTools:
    """Read `tools`. Raises `ApiError`."""
    if tools is None:
        return RequestedTools()
    functions: dict[str, ToolDefinition] = {}
    hosted: dict[str, HostedTools] = {}
    echo: list[JsonObject] = []
    for index, tool in enumerate(tools):
        place = f"tools[{index}]"
        match tool:
            case {"type": "function"}:
                sent = parse_part(
                    _Function,
                    tool,
                    place,
                )
                if sent.name in functions:
                    raise bad_value(
                        f"There are two functions with the name '{sent.name}'.",
                        f"{place}.name",
                    )
                functions[sent.name] = sent.definition
                echo.append(sent.model_dump(include=_ECHOED))
            case dict() if tool.get("type") == "mcp":
                tools_of_label, echoed = _hosted_tools(tool, place)
                label = tools_of_label.server_label
                if label in hosted:
                    raise bad_value(
                        f"There are two tools with the server_label '{label}'.",
                        f"{place}.server_label",
                    )
                hosted[label] = tools_of_label
                echo.append(echoed)
            case _:
                raise _unknown_type(
                    tool,
                    place,
                    _KINDS,
                )
    return RequestedTools(
        tuple(functions.values()), tuple(hosted.values()), tuple(echo)
    )


def read_tool_choice(
    choice: JsonValue, tools: RequestedTools
) -> tuple[RequestedToolChoice, JsonValue]:
    """Return the value of `tool_choice`, and its echo. Raises `ApiError`, also for a tool that was not requested."""
    match choice:
        case None:
            return ToolChoiceMode.AUTO, ToolChoiceMode.AUTO.value
        case str() if choice in ToolChoiceMode:
            mode = ToolChoiceMode(choice)
            if (
                mode is ToolChoiceMode.REQUIRED
                and not tools.functions
                and tools.hosted == ()
            ):
                raise bad_value(
                    "Tool choice 'required' needs tools that can be called.",
                    _CHOICE,
                )
            return mode, mode.value
        case str():
            modes = ", ".join(f"'{mode}'" for mode in ToolChoiceMode)
            raise bad_value(
                f"Unknown choice; known are {modes}, and objects that name tools.",
                _CHOICE,
            )
        case {"type": "allowed_tools"}:
            allowed = parse_part(_AllowedTools, choice, _CHOICE)
            places = [
                f"{_CHOICE}.tools[{index}]" for index in range(len(allowed.tools))
            ]
            refs = [
                _reference(tool, tools, place)
                for tool, place in zip(allowed.tools, places, strict=True)
            ]
            mode = allowed.mode or ToolChoiceMode.AUTO
            echoes = [ref.model_dump(exclude_none=True) for ref in refs]
            echo: JsonObject = {
                "type": "allowed_tools",
                "mode": mode.value,
                "tools": [*echoes],
            }
            return AllowedTools(tuple(refs), mode), echo
        case dict():
            ref = _reference(choice, tools, _CHOICE)
            return ref, ref.model_dump(exclude_none=True)
        case _:
            raise bad_value("Expected a string or an object.", _CHOICE)


def _reference(
    value: JsonValue,
    tools: RequestedTools,
    place: str,
) -> ToolRef:
    match value:
        case {"type": "function"}:
            function = parse_part(
                FunctionRef,
                value,
                place,
            )
            if not any(tool.name == function.name for tool in tools.functions):
                raise bad_value(
                    f"There is no function '{function.name}' among the tools.",
                    f"{place}.name",
                )
            return function
        case {"type": "mcp"}:
            ref = parse_part(
                HostedToolRef,
                value,
                place,
            )
            if tools.hosted is not None and not any(
                one.server_label == ref.server_label for one in tools.hosted
            ):
                raise bad_value(
                    f"There is no server_label '{ref.server_label}' among the tools.",
                    f"{place}.server_label",
                )
            return ref
        case _:
            raise _unknown_type(
                value, place, "'function' with a name, 'mcp' with a server_label"
            )


def _hosted_tools(
    tool: JsonObject,
    place: str,
) -> tuple[HostedTools, JsonObject]:
    for name in _REMOTE_FIELDS:
        if tool.get(name) not in (None, {}):
            why = "Only tools of this home can be used, by the server_label alone."
            raise unsupported(
                f"{place}.{name}",
                why,
            )
    sent = parse_part(
        _Mcp,
        {name: value for name, value in tool.items() if name not in _REMOTE_FIELDS},
        place,
    )
    allowed = _allowed(
        sent.allowed_tools,
        f"{place}.allowed_tools",
    )
    approval, asks_otherwise = _approval(
        sent.require_approval, f"{place}.require_approval"
    )
    hosted = HostedTools(
        server_label=sent.server_label,
        allowed=allowed,
        always=approval.always,
        never=approval.never,
        asks_otherwise=asks_otherwise,
    )
    echo = {
        "type": "mcp",
        "server_label": sent.server_label,
        "server_description": sent.server_description,
        "allowed_tools": sent.allowed_tools,
        "require_approval": "always"
        if sent.require_approval is None
        else sent.require_approval,
        "headers": None,
    }
    return hosted, echo


def _allowed(
    value: JsonValue,
    place: str,
) -> ToolFilter | None:
    match value:
        case None:
            return None
        case list():
            return ToolFilter(tool_names=parse_part(_Names, value, place).root)
        case _:
            return parse_part(
                ToolFilter,
                value,
                place,
            )


def _approval(
    value: JsonValue,
    place: str,
) -> tuple[_Approval, bool]:
    """Return the tools for which approval is wanted, and whether it is wanted for all others."""
    match value:
        case None | "always" | "never":
            return _Approval(), value != "never"
        case str():
            raise bad_value(
                "Expected 'always', 'never' or an object.",
                place,
            )
        case _:
            return parse_part(_Approval, value, place), True


def _unknown_type(
    tool: JsonValue,
    place: str,
    kinds: str,
) -> ApiError:
    if not isinstance(tool, dict):
        return bad_value(
            "Expected an object.",
            place,
        )
    return bad_value(
        f"Tools of this type are not supported; supported are {kinds}.",
        f"{place}.type",
    )
