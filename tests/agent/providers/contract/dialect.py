"""A wire format as the contract sees it: how a service of its kind would answer, and what it wants to be sent.

A dialect plays the service. It must be written after the service's documentation or its
recorded bytes, never with the code that it tests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    JsonValue,
    ProviderItem,
    ToolCall,
    Transcript,
    Usage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.http_provider import HTTPProvider
from custom_components.chatterbox.agent.providers.profiles import ModelOptions
from custom_components.chatterbox.agent.wire.reply_reader import ReplyReader

KEY = "topsecretkey"
MODEL = "small-1"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a model in one inference, whatever the format."""

    text: Sequence[str] = ()
    """In the pieces in which the service sends it."""
    reasoning: Sequence[str] = ()
    calls: Sequence[ToolCall] = ()
    """With arguments that are JSON objects."""
    finish: FinishReason = FinishReason.STOP
    usage: Usage = field(default_factory=Usage)
    searches: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The pages that searches of the service have found, by query: titles by address."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """How a service refuses a parameter."""

    options: ModelOptions
    """The wish that it refuses."""
    path: tuple[str, ...]
    """Where the parameter stands in the payload."""
    body: bytes
    """The body of its 400, which names the parameter."""


class Dialect(Protocol):
    """A wire format, from the service's side."""

    name: ClassVar[str]
    """The name of the format, as `ProviderItem.format` has it."""
    content_type: ClassVar[str]
    """Of a streamed reply."""
    completion_target: ClassVar[str]
    """The path of a request for an answer, as in `/v1/chat/completions`."""
    models_target: ClassVar[str]
    """Where the list of models is."""
    carries_call_ids: ClassVar[bool]
    """False where the service sends calls without ids."""
    has_json_arguments: ClassVar[bool]
    """Whether the arguments of a call are an object; false where they are text, which may be no JSON."""
    can_forbid_calls: ClassVar[bool]
    """False where calls can only be forbidden by offering no tools."""
    finish_reasons: ClassVar[frozenset[FinishReason]]
    """Those that the format can say."""
    refusal: ClassVar[Refusal]
    """How a service of this kind refuses a parameter."""
    length: ClassVar[tuple[str, ...]]
    """Where the limit of the length of an answer stands in a payload."""
    medium_effort: ClassVar[JsonObject]
    """The part of a payload that asks for `ReasoningEffort.MEDIUM`."""
    low_verbosity: ClassVar[JsonObject]
    """The part that asks for `Verbosity.LOW`; empty where that cannot be said."""
    single_calls: ClassVar[JsonObject]
    """The part that asks for one call at a time; empty where that cannot be said."""
    output_beside_tools: ClassVar[bool]
    """Whether a shape of the answer can be enforced while tools may be called."""
    output_refusal: ClassVar[str]
    """How a service refuses a shape of the answer."""
    provider_class: ClassVar[type[HTTPProvider]]
    """The provider of this format."""

    def reader(self, transcript: Transcript) -> ReplyReader:
        """Return what reads one reply."""

    def payload(self, request: CompletionRequest) -> JsonObject:
        """Return the payload of a request, as the format's own module writes it."""

    def render(self, answer: Answer) -> bytes:
        """Return the whole streamed reply, to the last byte, as the service would send it."""

    def finished_after(self, stream: bytes) -> int:
        """Return how many bytes of a rendered answer must be in until the message is known to be whole."""

    def render_failure(self, message: str) -> bytes:
        """Return what the service sends when it fails amid a stream, such as an overload."""

    def render_error(self, status: int, message: str) -> bytes:
        """Return the body of an error response."""

    def model_list(self, names: Sequence[str]) -> bytes:
        """Return the body of the list of models."""

    def reported(self, usage: Usage) -> Usage:
        """Return what of a usage the format can say."""

    def key_header(self) -> tuple[str, str]:
        """Return name, in small letters, and value of the header that holds `KEY`."""

    def instructions(self, payload: JsonObject) -> str:
        """Return the system prompt of a payload; empty when it has none."""

    def history(self, payload: JsonObject) -> list[JsonValue]:
        """Return what a payload says of the conversation, piece by piece, without system prompt and caching marks."""

    def items(self) -> tuple[ProviderItem, ...]:
        """Return what a service may have sent to be kept, as in `expected_conversation`; empty for none."""

    def strict_output(self) -> JsonObject:
        """Return the part of a payload that enforces `conversation.LAMPS`."""

    def free_output(self) -> JsonObject:
        """Return the part for `conversation.FREE`, which no service can guarantee; empty where it is not sent."""

    def expected_conversation(self) -> JsonObject:
        """Return the payload of `conversation.CONVERSATION` as the documentation asks for it, by hand."""

    def expected_round_trip(self) -> list[JsonValue]:
        """Return the history, by hand, once `conversation.ROUND_TRIP` was read and its calls have results."""

    def expected_attachments(self) -> JsonValue:
        """Return how `conversation.SHOWN` stands at the end of the history, by hand."""

    def expected_options(self) -> JsonObject:
        """Return the part of a payload that `conversation.OPTIONS` stands for, by hand."""


class SystemMessageFirst:
    """Base of the formats whose system prompt is their first message."""

    def instructions(self, payload: JsonObject) -> str:
        """Return the system prompt of a payload; see `Dialect`."""
        match payload["messages"]:
            case [{"role": "system", "content": str(instructions)}, *_]:
                return instructions
            case _:
                return ""

    def history(self, payload: JsonObject) -> list[JsonValue]:
        """Return the conversation of a payload; see `Dialect`."""
        match payload["messages"]:
            case [{"role": "system"}, *messages]:
                return messages
            case messages:
                assert isinstance(messages, list)
                return messages
