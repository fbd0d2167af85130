"""What Messages servers send: the parts that we read, and how much of them we trust.

Knows the JSON of stream events, whole messages and errors; nothing of our events.
Sources: Claude API reference, "Messages", "Streaming messages" and "Errors".
"""

from typing import Final, Self

from pydantic import ConfigDict, JsonValue, NonNegativeInt, TypeAdapter

from ..messages import JsonObject, Usage
from .received import Lenient, Received, parse_plain, parse_received


class ContentBlock(Received):
    """A part of a message: as it begins in a stream, or whole. It keeps fields that we do not know."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: str
    """`text`, `thinking`, `redacted_thinking`, `tool_use`; others are the service's own."""
    text: str | None = None
    thinking: Lenient[str] = None
    signature: Lenient[str] = None
    """Proof that the thinking is the model's own."""
    id: Lenient[str] = None
    name: Lenient[str] = None
    input: JsonValue = None
    """A call's arguments; an empty object where they are streamed."""

    def as_sent(self) -> JsonObject:
        """Return the block with the fields that the service sent."""
        return self.model_dump(exclude_unset=True)


class Delta(Received):
    """What an event adds to a block, or to the message as a whole."""

    text: str | None = None
    thinking: Lenient[str] = None
    signature: Lenient[str] = None
    partial_json: str | None = None
    stop_reason: Lenient[str] = None


class _OutputDetails(Received):
    thinking_tokens: Lenient[NonNegativeInt] = None


class UsageReport(Received):
    """Token counts so far; `input_tokens` are those that no cache was asked about."""

    input_tokens: Lenient[NonNegativeInt] = None
    cache_creation_input_tokens: Lenient[NonNegativeInt] = None
    cache_read_input_tokens: Lenient[NonNegativeInt] = None
    output_tokens: Lenient[NonNegativeInt] = None
    output_tokens_details: Lenient[_OutputDetails] = None

    def updated(self, later: Self | None) -> Self:
        """Return the counts after a later event. They are running totals, so a smaller one says nothing."""
        known = {} if later is None else {name: value for name, value in later if value is not None}
        counts = {
            name: max(value, earlier) if isinstance(earlier := getattr(self, name), int) else value
            for name, value in known.items()
        }
        return self.model_copy(update=counts)

    def usage(self) -> Usage:
        """Return the counts in our words: cached tokens are input too."""
        cached = self.cache_read_input_tokens or 0
        details = self.output_tokens_details
        return Usage(
            input_tokens=(self.input_tokens or 0) + (self.cache_creation_input_tokens or 0) + cached,
            output_tokens=self.output_tokens or 0,
            cached_tokens=cached,
            reasoning_tokens=(details.thinking_tokens or 0) if details else 0,
        )


class MessageStart(Received):
    """The message before it has content."""

    usage: Lenient[UsageReport] = None


class Event(Received):
    """One event of a stream, or a whole message."""

    type: Lenient[str] = None
    message: Lenient[MessageStart] = None
    index: Lenient[int] = None
    """Which block is meant."""
    content_block: ContentBlock | None = None
    delta: Delta | None = None
    usage: Lenient[UsageReport] = None
    error: JsonValue = None
    """The service's report of a failure."""

    content: list[ContentBlock] | None = None
    stop_reason: Lenient[str] = None


def plain_text(sent: bytes) -> str:
    """Return the text of an event of the usual kind: it brings a piece of the answer and nothing else.

    Empty for any other, which `parse_event` reads. It would read this one alike, and take longer.
    """
    event = parse_plain(sent)
    delta = event.get("delta")
    if event.get("type") != "content_block_delta" or not isinstance(delta, dict) or not event.keys() <= _PLAIN_EVENT:
        return ""
    text = delta.get("text")
    return text if isinstance(text, str) and delta.keys() <= _PLAIN_DELTA else ""


_PLAIN_EVENT: Final = frozenset({"type", "index", "delta"})
_PLAIN_DELTA: Final = frozenset({"type", "text"})

_EVENT: Final = TypeAdapter(Event)


def parse_event(sent: str | bytes) -> Event:
    """Read one event's data, or the body of a whole message.

    Raises `ProviderReplyInvalid`, which says where the text is wrong and quotes none of it.
    """
    return parse_received(_EVENT, sent, "an answer")
