"""What a client asks for, read and checked: the values that the rest of the surface works with.

Knows no JSON shapes beside those that are kept to be shown again; they are read in `request_reading.py`. Must not know
HTTP, stores or turns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..messages import JsonObject, JsonValue, ToolChoiceMode
from ..protocols import NO_WISHES, AnswerOptions, OutputFormat
from .tools import FunctionTool, HostedTools, RequestedToolChoice


class Truncation(StrEnum):
    """What becomes of a conversation that the model cannot read at once."""

    AUTO = "auto"
    DISABLED = "disabled"


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
    hosted: tuple[HostedTools, ...] | None = ()
    """None for a request that names no tools at all: then the agent has those that it is set up with."""
    tool_choice: RequestedToolChoice = ToolChoiceMode.AUTO
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
