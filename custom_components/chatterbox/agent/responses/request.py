"""What a client asks for, read and checked: the values that the rest of the surface works with.

Knows no JSON shapes beside those that are kept to be shown again; they are read in `request_reading.py`. Must not know
HTTP, stores or turns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..messages import JsonObject, JsonValue, ToolChoiceMode, ToolDefinition
from ..protocols import NO_WISHES, AnswerOptions, OutputFormat


class Truncation(StrEnum):
    """What becomes of a conversation that the model cannot read at once."""

    AUTO = "auto"
    DISABLED = "disabled"


class ApprovalWish(StrEnum):
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
class HouseTools:
    """Tools of the house that a client wants: `{"type": "mcp", "server_label": <id of an LLM API>}`."""

    server_label: str
    allowed: ToolFilter | None = None
    """Which of them are offered; None for all."""
    always: ToolFilter | None = None
    """Which are asked about whatever the house says; wins over `never`."""
    never: ToolFilter | None = None
    """Which are asked about only where the house does so."""
    otherwise: ApprovalWish = ApprovalWish.ALWAYS
    """What holds for those of neither."""

    def asks(self, tool: ToolDefinition) -> bool:
        """Tell whether the client wants a tool asked about."""
        if self.always is not None and self.always.takes(tool):
            return True
        if self.never is not None and self.never.takes(tool):
            return False
        return self.otherwise is ApprovalWish.ALWAYS


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """A function that the client runs."""

    name: str


@dataclass(frozen=True, slots=True)
class HouseRef:
    """A tool of the house, or all of a label."""

    server_label: str
    name: str | None = None


type ToolRef = FunctionRef | HouseRef


@dataclass(frozen=True, slots=True)
class AllowedTools:
    """The tools that may be called, of those that the model sees."""

    tools: tuple[ToolRef, ...]
    mode: ToolChoiceMode = ToolChoiceMode.AUTO


type ToolChoiceWish = ToolChoiceMode | FunctionRef | HouseRef | AllowedTools


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A function that the client runs."""

    definition: ToolDefinition
    """With `client` set."""
    sent: JsonObject
    """As it is echoed: `type`, `name`, `description`, `parameters`, `strict`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateRequest:
    """A request for a response. What a client did not say has its default, which is echoed."""

    model: str
    items: tuple[JsonObject, ...]
    """The input as items, each with an `id`; see `items/reading.py`. A text is one message of the user."""
    instructions: str | None = None
    previous_response_id: str | None = None
    conversation_id: str | None = None
    functions: tuple[FunctionTool, ...] = ()
    house: tuple[HouseTools, ...] | None = ()
    """None for a request that names no tools at all: then the agent has those that it is set up with."""
    tool_choice: ToolChoiceWish = ToolChoiceMode.AUTO
    max_tool_calls: int | None = None
    """Calls that the house runs."""
    max_output_tokens: int | None = None
    """Over the whole response."""
    options: AnswerOptions = NO_WISHES
    output: OutputFormat | None = None
    truncation: Truncation = Truncation.DISABLED
    store: bool = True
    background: bool = False
    stream: bool = False
    reasoning_summary: str | None = None
    """How much of its reasoning the model shows: `auto`, `concise`, `detailed`; None for none of it."""
    include_encrypted_reasoning: bool = False
    pauses_for_functions: bool = False
    """Whether a response that waits for functions has the status `requires_action`, as `chatterbox:client_tools_status`
    wants it, in place of `completed`."""
    echo: Mapping[str, JsonValue] = field(default_factory=dict)
    """The fields of the request that a response shows again, effective defaults included, ready to be laid under it:
    `model`, `instructions`, `tools`, `tool_choice`, `truncation`, `parallel_tool_calls`, `text`, `top_p`,
    `temperature`, `presence_penalty`, `frequency_penalty`, `top_logprobs`, `reasoning`, `max_output_tokens`,
    `max_tool_calls`, `store`, `background`, `service_tier`, `metadata`, `safety_identifier`, `prompt_cache_key`,
    `previous_response_id`, and `conversation` where there is one. No secret of the request is among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactRequest:
    """A request to say a conversation in few words."""

    model: str
    items: tuple[JsonObject, ...]
    """Empty where only what came before is to be compacted."""
    instructions: str | None = None
    previous_response_id: str | None = None
