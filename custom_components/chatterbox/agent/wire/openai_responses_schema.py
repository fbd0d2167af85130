"""What servers of the Responses API send: the parts that we read, and how much of them we trust.

Knows the JSON of a stream's events and of whole responses; nothing of our events.
Sources: OpenAI API reference, "Responses" and "Streaming events"; the OpenResponses
specification, schema of 2026-04-24; the dialects are named where they are read.
"""

from typing import Final

from pydantic import JsonValue, NonNegativeInt, TypeAdapter, model_validator

from ..errors import ProviderReplyInvalid
from ..messages import JsonObject, Usage
from .received import Lenient, Received, parse_plain, parse_received


class ContentPart(Received):
    """A part of a message: words, or a refusal, which is words too."""

    text: Lenient[str] = None
    refusal: Lenient[str] = None


class OutputItem(Received):
    """One item of the output, whole or begun. The fields after `id` belong to messages and to calls."""

    sent: JsonObject
    """The item as it came."""
    type: str
    id: Lenient[str] = None
    content: Lenient[str | list[ContentPart]] = None
    phase: Lenient[str] = None
    """Whether a message is the answer, or a comment on the way there; it is wanted back."""
    call_id: Lenient[str] = None
    name: Lenient[str] = None
    arguments: JsonValue = None
    """JSON text; some servers send the object itself."""

    @model_validator(mode="before")
    @classmethod
    def _keep(cls, value: object) -> object:
        return {**value, "sent": value} if isinstance(value, dict) else value

    def text(self) -> str:
        """Return what a message says."""
        if isinstance(self.content, list):
            return "".join(part.text or part.refusal or "" for part in self.content)
        return self.content or ""


class _IncompleteDetails(Received):
    reason: Lenient[str] = None


class _InputDetails(Received):
    cached_tokens: Lenient[NonNegativeInt] = None


class _OutputDetails(Received):
    reasoning_tokens: Lenient[NonNegativeInt] = None


class UsageReport(Received):
    """Token counts."""

    input_tokens: Lenient[NonNegativeInt] = None
    output_tokens: Lenient[NonNegativeInt] = None
    input_tokens_details: Lenient[_InputDetails] = None
    output_tokens_details: Lenient[_OutputDetails] = None

    def usage(self) -> Usage:
        """Return the counts in our words."""
        cached = self.input_tokens_details.cached_tokens if self.input_tokens_details else None
        reasoning = self.output_tokens_details.reasoning_tokens if self.output_tokens_details else None
        return Usage(self.input_tokens or 0, self.output_tokens or 0, cached or 0, reasoning or 0)


class Response(Received):
    """A response: whole, or as far as it came."""

    status: Lenient[str] = None
    output: list[OutputItem] | None = None
    error: JsonValue = None
    incomplete_details: Lenient[_IncompleteDetails] = None
    usage: Lenient[UsageReport] = None

    @property
    def reported_error(self) -> JsonValue:
        """The service's report of a failure, when there is one; else None."""
        if self.error:
            return self.error
        if self.status in {"failed", "cancelled"}:
            return f"the response ended as {self.status}"
        return None


class StreamEvent(Received):
    """One event of a stream. Its type says which of the fields it has; not every server gives the places."""

    type: Lenient[str] = None
    item_id: Lenient[str] = None
    output_index: Lenient[int] = None
    summary_index: Lenient[int] = None
    item: OutputItem | None = None
    """Whole or begun."""
    delta: JsonValue = None
    arguments: JsonValue = None
    response: Response | None = None

    error: JsonValue = None
    code: JsonValue = None
    message: JsonValue = None

    @property
    def piece(self) -> str:
        """The text that the event adds. Raises `ProviderReplyInvalid` when it is none."""
        if not isinstance(self.delta, str):
            raise ProviderReplyInvalid("the service sent an answer of the wrong shape, at delta")
        return self.delta

    @property
    def reported_error(self) -> JsonValue:
        """The service's report of a failure, when this is one; else None.

        It stands under `error` or, as OpenAI sends it, beside the type.
        """
        if self.error:
            return self.error
        if self.type == "error":
            return {"code": self.code, "message": self.message}
        return self.response.reported_error if self.response else None


def plain_piece(sent: bytes) -> tuple[str, str] | None:
    """Return the id of a message and the text that an event of the usual kind adds to it.

    None for any other, which `parse_event` reads. It would read this one alike, and take longer.
    """
    event = parse_plain(sent)
    if event.get("type") != "response.output_text.delta" or "item" in event or "response" in event:
        return None
    item_id, text = event.get("item_id"), event.get("delta")
    return (item_id, text) if isinstance(item_id, str) and isinstance(text, str) and not event.get("error") else None


_EVENT: Final = TypeAdapter(StreamEvent)
_RESPONSE: Final = TypeAdapter(Response)


def parse_event(sent: str | bytes) -> StreamEvent:
    """Read one event's data.

    Raises `ProviderReplyInvalid`, which says where the text is wrong and quotes none of it.
    """
    return parse_received(_EVENT, sent, "an answer")


def parse_response(text: str) -> Response:
    """Read the body of a whole response. Raises `ProviderReplyInvalid`, as above."""
    return parse_received(_RESPONSE, text, "an answer")
