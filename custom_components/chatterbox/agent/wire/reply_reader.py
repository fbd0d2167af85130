"""Reads a reply of any wire format: its bytes to events of a stream, these to JSON, and that to events of a turn.

A schema of a reply is strict where an answer could be lost (text, calls) and lenient
where a server may be odd without harm (counts, indexes, reasoning): a lenient value
that does not fit reads as not sent. Decoders of streams give the same result wherever
the network has split the bytes.
"""

import json
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from math import inf
from typing import Annotated, ClassVar, Final, NamedTuple, override

from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    NonNegativeInt,
    TypeAdapter,
    ValidationError,
)
from pydantic.fields import FieldInfo
from pydantic_core.core_schema import CoreSchema, with_default_schema

from ..errors import PromptTooLong, ProviderReplyInvalid, reply_cut
from ..events import (
    CompletionResult,
    ProviderEvent,
    ReasoningDelta,
    ServiceSearched,
    TextDelta,
    ToolCallReady,
)
from ..messages import (
    WEB_SEARCH,
    FinishReason,
    JsonObject,
    JsonValue,
    ProviderItem,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
    canonical_json,
)
from ..text import clipped, read_data_file, sendable_text
from .call_assembly import CallAssembler, CallFragment, CallIds, new_call_id

DONE: Final = b"[DONE]"
"""Data of the event that ends a stream of OpenAI's formats, and of gateways in front of other formats."""

_MAX_BYTES: Final = 4 * 1024 * 1024
"""Of one event or line."""
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class ServerSentEvent(NamedTuple):
    """One dispatched event."""

    data: bytes
    """The `data` lines, joined by newlines; UTF-8."""
    type: str = "message"


class SSEDecoder:
    """Decodes an event stream (WHATWG HTML Living Standard, "Parsing an event stream").

    `id` and `retry` are ignored: they serve reconnection, and a completion is never
    resumed.
    """

    def __init__(self, max_event_bytes: int = _MAX_BYTES) -> None:
        """Refuse events whose lines and data exceed `max_event_bytes`."""
        self._max_event_bytes = max_event_bytes
        self._line = bytearray()
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._type = ""
        self._at_start = True
        self._after_carriage_return = False

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        """Yield the events that `chunk` completes. Exhaust the iterator before the next call.

        Raises `ProviderReplyInvalid` for an event beyond the bound; the decoder must
        not be used afterwards.
        """
        if not chunk:
            return
        if self._after_carriage_return:
            chunk = chunk.removeprefix(b"\n")
        self._after_carriage_return = chunk.endswith(b"\r")
        first, *others = _LINE_END.split(chunk)
        self._line += first
        for begun in others:
            line = self._line
            self._line = bytearray(begun)
            event = self._end_line(bytes(line))
            if event is not None:
                yield event
        self._check_size(len(self._line))

    def end(self) -> ServerSentEvent | None:
        """Return the last event if no blank line ended it.

        The standard drops such an event; servers that omit the last blank line expect
        it to count.
        """
        line = self._line
        self._line = bytearray()
        return (self._end_line(bytes(line)) if line else None) or self._dispatch()

    def _check_size(self, line_bytes: int) -> None:
        if self._data_bytes + line_bytes > self._max_event_bytes:
            raise ProviderReplyInvalid(
                f"the stream holds an event of more than {self._max_event_bytes} bytes"
            )

    def _end_line(self, line: bytes) -> ServerSentEvent | None:
        """Take a complete line; return the event that it ends."""
        if not line:
            return self._dispatch()
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        self._check_size(len(line))
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._data.append(value)
                self._data_bytes += len(value) + 1
            case b"event":
                self._type = value.decode(errors="replace")
            case _:  # a comment (no name) or an unused field
                pass
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        data = self._data
        event_type = self._type
        self._data = []
        self._data_bytes = 0
        self._type = ""
        self._at_start = False
        if data:
            return ServerSentEvent(b"\n".join(data), event_type or "message")
        return None


class NDJSONDecoder(SSEDecoder):
    """Decodes newline-delimited JSON (ndjson.org): each line that is not blank is an event."""

    @override
    def _end_line(self, line: bytes) -> ServerSentEvent | None:
        if line.strip():
            return ServerSentEvent(line.strip())
        return None


_NOT_JSON = frozenset({"json_invalid", "string_unicode"})
"""Errors of pydantic's JSON parser, as opposed to those of validation."""


class _NoneUnlessValid:
    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return with_default_schema(
            handler(source),
            default=None,
            on_error="default",
        )


type Lenient[T] = Annotated[T | None, _NoneUnlessValid]
"""The value, or None if something else was sent. Give such a field the default None."""


class WireModel(BaseModel, frozen=True, extra="ignore"):
    """Base of everything that is parsed from a service; unknown fields are ignored."""


def parse_as[
    T,
](kind: TypeAdapter[T], sent: str | bytes, what: str) -> T:
    """Parse JSON, text or UTF-8, as `kind`; `what` names it in errors, as in "an answer".

    Raises `ProviderReplyInvalid`, which says where the JSON is wrong and quotes none of
    it.
    """
    try:
        return kind.validate_json(sent)
    except ValidationError as err:
        if err.errors(include_url=False)[0]["type"] not in _NOT_JSON:
            raise _wrong_shape(err, what) from None
    if isinstance(sent, str):
        text = sent
    else:
        text = sent.decode(errors="replace")
    try:  # Python's parser accepts lone surrogates, as JavaScript servers send them
        return kind.validate_python(json.loads(text, parse_int=_whole))
    except ValidationError as err:
        raise _wrong_shape(err, what) from None
    except ValueError, RecursionError:
        raise ProviderReplyInvalid(
            f"the service sent {what} that is not JSON"
        ) from None


def _whole(digits: str) -> float:
    """Parse a whole number. Python refuses some thousand digits; they are infinite, which no field takes."""
    return int(digits) if len(digits) <= 4_000 else inf  # noqa: PLR2004  # its limit is 4,300


def _wrong_shape(err: ValidationError, what: str) -> ProviderReplyInvalid:
    where = (
        ".".join(str(part) for part in err.errors(include_url=False)[0]["loc"])
        or "its top level"
    )
    return ProviderReplyInvalid(
        f"the service sent {what} of the wrong shape, at {where}"
    )


def at(*paths: str) -> FieldInfo:
    """Annotate a field with the paths at which it is sent, such as `meta.n_ctx`; the first that is there counts."""
    return FieldInfo(
        validation_alias=AliasChoices(*(AliasPath(*path.split(".")) for path in paths))
    )


def arguments_text(arguments: JsonValue) -> str:
    """Return the arguments of a call as text; some servers send the object itself."""
    if isinstance(arguments, str):
        return arguments
    if arguments is None:
        return ""
    return canonical_json(arguments)


_LOGGER = logging.getLogger(__name__)

WINDOW_FULL: Final = "model_context_window_exceeded"
"""Finish reason of Anthropic and Z.ai."""

_END_MARK: Final = "[done]"
"""Stands for the finish reason of a stream that ends with `[DONE]` and gave none."""
_FINISH_REASONS: Final = {
    reason: meaning
    for meaning, reasons in read_data_file(
        __file__, dict[FinishReason, tuple[str, ...]], "finish_reasons.toml"
    ).items()
    for reason in reasons
}
"""Of all formats, servers and gateways, in lower case. Others are unknown, and cut the message."""

_MAX_PARTS: Final = 100_000
"""Commas and opening brackets of one JSON text. Parsed, each takes a hundred times the memory of its character."""

_NO_COUNT: Final = 2**63
"""Stands for a figure that cannot be a count. No reply has so many tokens, so its usage is estimated."""

type _NoCount = Annotated[
    int | None, BeforeValidator(lambda sent: None if sent is None else _NO_COUNT)
]
type Count = Annotated[NonNegativeInt | _NoCount, Field(union_mode="left_to_right")]


class TokenCounts(WireModel):
    """Token counts. A format annotates the fields that it sends under other names."""

    input_tokens: Count = None
    output_tokens: Count = None
    cached_tokens: Count = None
    reasoning_tokens: Count = None

    def usage(self) -> Usage:
        """Return the counts; those that were not sent are zero."""
        if self.cached_tokens == _NO_COUNT:
            cached = 0
        else:
            cached = self.cached_tokens or 0
        return Usage(
            self.input_tokens or 0,
            self.output_tokens or 0,
            cached,
            self.reasoning_tokens or 0,
        )


class FoundPage(WireModel):
    """A page that a service has found."""

    url: Lenient[str] = None
    title: Lenient[str] = None


_PAGES: Final = 10
"""Pages of one search that are kept; the next ones are characters of what is kept."""
_URL: Final = 500
_TITLE: Final = 150
_QUERY: Final = 300


class ReportedFailure(Exception):
    """Raised by a reader: the service reports inside a successful response that it failed."""

    def __init__(self, report: JsonValue) -> None:
        """Keep the `error` that was sent, an object or a text."""
        super().__init__()
        self.report = report


type Events = Iterator[ProviderEvent]
"""Events of a part of a reply."""


class ReplyReader(ABC):
    """Reads one reply. Used once.

    A format reads one event at a time, yields what `_text`, `_reasoning` and `_call`
    make of it, and notes usage and finish reason. All methods raise `ReportedFailure`
    or `ProviderReplyInvalid`.
    """

    _DECODER: ClassVar = SSEDecoder
    _MAY_OMIT_LAST_LINE: ClassVar = False
    """Whether servers are known to omit the line end after the last event."""

    def __init__(
        self, transcript: Transcript, new_id: Callable[[], str] = new_call_id
    ) -> None:
        """Keep the ids of new calls apart from those of `transcript`."""
        self.done = False
        """True once the service has said that nothing follows."""
        self._decoder = self._DECODER()
        self._ids = CallIds(transcript, new_id)
        self._calls = CallAssembler(self._ids)
        self._calls_begun = 0
        """Calls begun, by formats that number them."""
        self._has_calls = False
        self._text_length = 0
        """Characters of the message so far, without leading whitespace."""
        self._finish = ""
        """The finish reason as it was sent."""
        self._usage = Usage()
        self._declines = False
        """Whether the model declines, in words for the user."""

    @property
    def finished(self) -> bool:
        """True once the message is complete: nothing can fail any more. Usage may still follow."""
        return bool(self._finish)

    @property
    def call_length(self) -> int:
        """Characters of the arguments of calls so far."""
        return self._calls.length

    def feed(self, chunk: bytes) -> Events:
        """Yield the events of the next bytes of a stream."""
        for event in self._decoder.feed(chunk):
            yield from self._read_event(event)

    def read_whole(self, text: str) -> Events:
        """Yield the events of a complete JSON answer, from a server that does not stream."""
        return self._read_json(text.encode(errors="replace"))

    def end(self) -> Events:
        """Yield the remaining events, `CompletionResult` last. Called once, at the end of the reply.

        Raises `ProviderReplyInvalid` if the reply was not finished, or ended for an
        unknown reason before its first word, and `PromptTooLong` if the service stopped
        because the prompt left no room for an answer.
        """
        if self._MAY_OMIT_LAST_LINE and (event := self._decoder.end()) is not None:
            with suppress(
                ProviderReplyInvalid
            ):  # a truncated event: the earlier ones decide
                yield from self._read_event(event)
        if not self.finished:
            raise reply_cut(
                "the reply ended before the service said that it was finished"
            )
        yield from self._last_calls()
        is_empty = not (self._text_length or self._has_calls)
        if self._finish.casefold() == WINDOW_FULL and is_empty:
            raise PromptTooLong(
                "the prompt leaves no room for an answer",
                self._usage.input_tokens or None,
            )
        reason = self._finish_reason()
        if reason is FinishReason.UNKNOWN:
            if is_empty:
                raise ProviderReplyInvalid(
                    f"the service ended an answer before its first word: {self._finish[:100]!r}"
                )
            _LOGGER.warning(
                "The service ended an answer with an unknown finish reason: %.100r",
                self._finish,
            )
        yield CompletionResult(
            reason, self._usage, tuple(self._provider_items()), declines=self._declines
        )

    @abstractmethod
    def _read(self, sent: str | bytes) -> Events:
        """Yield the events of one JSON text: the data of an event, a line, or a complete answer."""

    def _last_calls(self) -> Events:
        """Yield the calls that nothing has completed, once the reply has ended."""
        yield from self._ready(self._calls.finish())

    def _provider_items(self) -> Iterator[ProviderItem]:
        """Yield what the service wants back unchanged, once the reply has ended."""
        yield from ()

    def _items_of_ended(self) -> tuple[ProviderItem, ...]:
        """Return the items of the message that a search of the service ends, and begin another message."""
        return ()

    def _searched(
        self,
        sent_id: str,
        wanted: JsonObject,
        found: Iterable[FoundPage],
        *,
        failed: bool = False,
    ) -> Events:
        """Yield a search of the web that the service has run."""
        call = ToolCall(
            self._ids.unique(sent_id),
            WEB_SEARCH,
            canonical_json(
                {name: clipped(str(text), _QUERY) for name, text in wanted.items()}
            ),
        )
        pages = {
            page.url: clipped(page.title or "", _TITLE)
            for page in found
            if page.url and len(page.url) <= _URL
        }
        sources: JsonValue = [
            {
                "title": title,
                "url": url,
            }
            for url, title in islice(pages.items(), _PAGES)
        ]
        content: JsonObject = (
            {"error": "The search failed."} if failed else {"sources": sources}
        )
        result = ToolResult(
            call.id, call.name, canonical_json(content), failed, open_world=True
        )
        items = () if self._calls_begun else self._items_of_ended()
        yield ServiceSearched(
            call,
            result,
            items,
        )

    def _read_event(self, event: ServerSentEvent) -> Events:
        data = event.data.strip()
        if data == DONE and not self.done:
            self.done = True
            yield from self._end_marked()
        if (
            self.done or not data or data.startswith(b":")
        ):  # gateways send the comments of others as data
            return
        if event.type == "error":
            raise ReportedFailure(_error_report(data))
        yield from self._read_json(data)

    def _end_marked(self) -> Events:
        """Take the end mark for a finish, if the service gave no reason and what it sent is whole."""
        if (
            not self._finish
            and self._calls.whole
            and (self._text_length or self._calls.any)
        ):
            self._finish = _END_MARK
            yield from self._ready(self._calls.finish())

    def _read_json(self, sent: bytes) -> Events:
        if sum(map(sent.count, (b"{", b"[", b","))) > _MAX_PARTS:
            raise ProviderReplyInvalid(
                f"the service sent an answer of more than {_MAX_PARTS} parts"
            )
        return self._read(sent)

    def _reasoning(self, text: str | None) -> Events:
        if text:
            yield ReasoningDelta(sendable_text(text))

    def _text(self, text: str | None) -> Events:
        if text:
            self._text_length += len(text) if self._text_length else len(text.lstrip())
            yield TextDelta(sendable_text(text))

    def _call(self, *fragments: CallFragment) -> Events:
        return self._ready(self._calls.add(fragments))

    def _ready(self, calls: list[ToolCall]) -> Events:
        self._has_calls = self._has_calls or bool(calls)
        yield from map(ToolCallReady, calls)

    def _finish_reason(self) -> FinishReason:
        """Return the finish reason; of the two that end a whole message, the calls decide which.

        Gemini adds a detail: `content_filter: PROHIBITED_CONTENT`.
        """
        named = self._finish.partition(":")[0].strip().casefold()
        reason = _FINISH_REASONS.get(named, FinishReason.UNKNOWN)
        if reason.is_cut:
            return reason
        if self._has_calls:
            return FinishReason.TOOL_CALLS
        return FinishReason.STOP


def _error_report(data: bytes) -> JsonValue:
    """Return the data of an event named `error`: JSON as under `error` elsewhere, lone surrogates included, or text."""
    text = data.decode(errors="replace")
    try:
        report: JsonValue = json.loads(text)
    except ValueError, RecursionError:
        return text
    return report
