"""The data of a transcript: messages, tool calls, tools and results, usage, and generated images."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, Self

type JsonValue = (
    str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None
)
type JsonObject = dict[str, JsonValue]


def paragraphs(*texts: str | None) -> str:
    """Join texts, without those that are empty."""
    return "\n\n".join(filter(None, texts))


_CANONICAL: Final = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":")
)


def canonical_json(value: JsonValue) -> str:
    """Serialize JSON in canonical form: compact, keys sorted, UTF-8."""
    return _CANONICAL.encode(value)


MAX_CALL_LENGTH: Final = 1_000_000
"""Characters of arguments: API clients have a model write whole files. Tools of the agent accept far less."""


type Tools = tuple[ToolDefinition, ...]
"""Several tools that are offered."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's request to run a tool."""

    id: str
    """Unique within the transcript."""
    name: str
    arguments: str
    """JSON text: as the model wrote it until the call is parsed; then as it ran."""

    @property
    def key(self) -> tuple[str, str]:
        """Its tool and arguments: a call that is repeated has the same."""
        return self.name, self.arguments


WEB_SEARCH: Final = "chatterbox__web_search"
"""Name of calls that search the web, whether a tool of the turn runs them or the service of the model by itself."""
MOST_SEARCHES: Final = 2
"""Searches of the web in one turn."""


PDF: Final = "application/pdf"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A picture or a document that a person attached."""

    mime_type: str
    data: bytes = field(repr=False)
    name: str = ""

    @property
    def base64(self) -> str:
        """The content in base64 (RFC 4648, 4)."""
        return b64encode(self.data).decode("ascii")

    @property
    def data_url(self) -> str:
        """The content as a data URL (RFC 2397)."""
        return f"data:{self.mime_type};base64,{self.base64}"


@dataclass(frozen=True, slots=True)
class ProviderItem:
    """An item of a provider's own that must be sent back unchanged, such as signed reasoning."""

    format: str
    """Name of the wire format that wrote the item, and the only one that reads it."""
    data: JsonObject


DECLINED: Final = ProviderItem("declined", {})
"""Marks a message of a turn whose words a service declined to answer. They are sent to no model again."""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message of the user."""

    text: str
    attachments: tuple[Attachment, ...] = ()
    context: str = ""
    """Context of that moment, such as the time and the room."""
    omitted: str = ""
    """Context that the messages before hold, and that still holds; it is sent if those are not."""

    @property
    def prompt(self) -> str:
        """The text for the model: the context, then the words."""
        return paragraphs(self.context, self.text)

    def alone(self) -> UserMessage:
        """Return the message as it is sent without those before it."""
        return replace(
            self.after(self.omitted),
            omitted="",
        )

    def after(self, context: str) -> UserMessage:
        """Return the message with more context before its own."""
        return replace(
            self,
            context=paragraphs(context, self.context),
        )


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """The output of one inference: text and tool calls."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    provider_items: tuple[ProviderItem, ...] = ()
    """In the order in which the provider sent them."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ToolResult:
    """The only result of a tool call."""

    call_id: str
    name: str
    content: str
    """Text for the model, usually JSON."""
    is_error: bool = False
    synthetic: bool = False
    """Whether the tool did not run and the loop wrote the result."""
    open_world: bool = False
    """Whether the tool ran, or may have, and brings in text from outside the home."""
    native: object = field(default=None, compare=False)
    """The dispatcher's own form of the result, which the loop passes on untouched."""
    may_repeat: bool = field(default=False, compare=False)
    """Whether the same call is judged anew if it is made again in its turn."""
    fee: float = field(default=0.0, compare=False)
    """US dollars that the call has cost."""


type ToolResults = Sequence[ToolResult]
"""Results in the order of their calls."""

type Message = UserMessage | AssistantMessage | ToolResult
type Transcript = tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of the beginning of a conversation. The caller keeps it and passes it with every turn."""

    text: str
    messages: int
    """Number of messages that it replaces, from the start of the transcript."""
    has_outside_content: bool = False
    """Whether the replaced messages held text from outside the home; see `transcript.has_outside_content`."""

    def __post_init__(self) -> None:
        """Reject a summary of no messages."""
        if self.messages < 0:
            raise ValueError("a summary stands for 0 messages or more")


@dataclass(frozen=True, slots=True)
class ToolAnnotations:
    """How a tool behaves. The defaults describe the least safe tool.

    Source: Model Context Protocol, `ToolAnnotations`; `homeassistant.helpers.llm`.
    """

    read_only: bool = False
    destructive: bool = True
    idempotent: bool = False
    open_world: bool = True


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """Several tools of one thing, which a model sees as one; see `joined_tools.py`."""

    name: str
    """The name of that one."""
    description: str
    actions: Mapping[str, str]
    """The tools by the values of its argument `action`."""
    parameters: JsonObject = field(default_factory=dict)
    """JSON Schemas of arguments, in place of those of the tools."""
    omitted: tuple[str, ...] = ()
    """Arguments of the tools that a model need not know."""
    renamed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """For an action, the names of arguments by those in its tool, where they differ."""
    on_actions: Mapping[str, str] = field(default_factory=dict)
    """Sentences that the description has only with an action."""


@dataclass(frozen=True, slots=True)
class ToolPart:
    """The place of a tool in its group."""

    group: ToolGroup
    action: str


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as it is offered to a model."""

    name: str
    """1 to 64 characters from `[A-Za-z0-9_-]`, the set that every provider accepts."""
    description: str
    parameters: JsonObject
    """JSON Schema of the arguments; the top level is an object."""
    annotations: ToolAnnotations = ToolAnnotations()
    client: bool = False
    """Whether the client runs it instead of a dispatcher."""
    repeatable: bool = False
    """Whether two identical calls in one turn are meant twice, as in "next track"."""
    short_parameters: JsonObject | None = None
    """The schema for the model, without what it does not need to know; None for `parameters`, to which arguments are
    fitted.
    """
    part: ToolPart | None = field(
        default=None,
        repr=False,
    )
    """The place in the tool that stands for it and others before a model; None if a model sees this one."""
    parts: Mapping[str, ToolDefinition] = field(default_factory=dict)
    """The tools that this one stands for, by action; the only one, under its whole name, for a name without prefix."""
    is_bare: bool = False
    """Whether a model sees its name without the prefix, if no other tool is called so."""
    is_listed: bool = True
    """Whether a model sees it. A call is as good if not."""


def described_tools(tools: Iterable[ToolDefinition]) -> list[JsonObject]:
    """Return the descriptions of tools for a model."""
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.short_parameters or tool.parameters,
        }
        for tool in tools
    ]


type Repair = Callable[[ToolDefinition, JsonObject], tuple[str, JsonObject]]
"""Returns the name of the tool that a call means, and its arguments, before they are fitted to the parameters of that
tool; raises `Unfit` if it cannot tell."""


def as_written(
    tool: ToolDefinition,
    arguments: JsonObject,
) -> tuple[str, JsonObject]:
    """Repair nothing."""
    return tool.name, arguments


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The result of a dispatcher: text for the model, and its native result."""

    content: str
    is_error: bool = False
    native: object = None
    open_world: bool = False
    """Whether it brings in text from outside the home, although its tool does not always."""
    fee: float = 0.0
    """US dollars that the call has cost."""


class ToolChoiceMode(StrEnum):
    """Whether a model may, must or must not call tools."""

    AUTO = "auto"
    REQUIRED = "required"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class NamedTool:
    """A tool choice that forces one tool."""

    name: str


type ToolChoice = ToolChoiceMode | NamedTool


class FinishReason(StrEnum):
    """The reason for which a model ended a message."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    REPETITION = "repetition"
    """The message only repeated itself, and the loop ended it; no service reports this reason."""
    UNKNOWN = "unknown"
    """The service reported an unknown reason; the text is kept."""

    @property
    def is_cut(self) -> bool:
        """Whether the message may be incomplete, so that none of its calls may run."""
        return self not in {FinishReason.STOP, FinishReason.TOOL_CALLS}


_MOST_TOKENS: Final = 100_000_000
"""More than any turn uses; a service that reports more is wrong, and the number would not fit into a database."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one inference, or the sum over a turn. Impossible counts are clamped."""

    input_tokens: int = 0
    """All input tokens, cached ones included."""
    output_tokens: int = 0
    """All output tokens, reasoning included."""
    cached_tokens: int = 0
    """Input tokens that the service read from its cache."""
    reasoning_tokens: int = 0
    is_estimated: bool = False
    """Whether a service reported impossible counts, so that some are estimated from what was sent and received."""

    def __post_init__(self) -> None:
        """Clamp the counts, which come unchecked from a service."""
        for name in (
            "input_tokens",
            "output_tokens",
            "cached_tokens",
            "reasoning_tokens",
        ):
            object.__setattr__(
                self, name, min(max(getattr(self, name), 0), _MOST_TOKENS)
            )
        object.__setattr__(
            self, "cached_tokens", min(self.cached_tokens, self.input_tokens)
        )

    def __add__(self, other: Self) -> Self:
        """Add two usages by kind of token."""
        return type(self)(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.is_estimated or other.is_estimated,
        )


@dataclass(frozen=True, slots=True)
class Picture:
    """An image that a model generated."""

    data: bytes = field(repr=False)
    mime_type: str
    revised_prompt: str | None = None
    """The prompt as the model rewrote it."""
    usage: Usage = field(default_factory=Usage)


_SIGNATURES: Final = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/gif": re.compile(rb"GIF8"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
"""First bytes of the images that models see and generate."""
IMAGE_TYPES: Final = frozenset(_SIGNATURES)
"""Images that every multimodal service accepts."""


def picture_type(data: bytes) -> str | None:
    """Return the MIME type of a PNG, GIF, JPEG or WebP file by its first bytes; None for anything else."""
    return next(
        (
            mime_type
            for mime_type, signature in _SIGNATURES.items()
            if signature.match(data)
        ),
        None,
    )
