"""Incremental decoders for the two kinds of streams that services send: server-sent events and newline-delimited JSON.

Both take bytes and give the same result wherever the network has split them.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, override

from ..errors import ProviderReplyInvalid

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

    `id` and `retry` are ignored: they serve reconnection, and a completion is never resumed.
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

        Raises `ProviderReplyInvalid` for an event beyond the bound; the decoder must not be used afterwards.
        """
        if not chunk:
            return
        if self._after_carriage_return:
            chunk = chunk.removeprefix(b"\n")
        self._after_carriage_return = chunk.endswith(b"\r")
        first, *others = _LINE_END.split(chunk)
        self._check_size(len(self._line) + len(first))
        self._line += first
        for begun in others:
            line, self._line = self._line, bytearray(begun)
            if (event := self._end_line(bytes(line))) is not None:
                yield event
        self._check_size(len(self._line))

    def end(self) -> ServerSentEvent | None:
        """Return the last event if no blank line ended it.

        The standard drops such an event; servers that omit the last blank line expect it to count.
        """
        line, self._line = self._line, bytearray()
        return (self._end_line(bytes(line)) if line else None) or self._dispatch()

    def _check_size(self, line_bytes: int) -> None:
        if self._data_bytes + line_bytes > self._max_event_bytes:
            raise ProviderReplyInvalid(f"the stream holds an event of more than {self._max_event_bytes} bytes")

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
        data, event_type = self._data, self._type
        self._data, self._data_bytes, self._type, self._at_start = [], 0, "", False
        return ServerSentEvent(b"\n".join(data), event_type or "message") if data else None


class NDJSONDecoder(SSEDecoder):
    """Decodes newline-delimited JSON (ndjson.org): each line that is not blank is an event."""

    @override
    def _end_line(self, line: bytes) -> ServerSentEvent | None:
        return ServerSentEvent(line.strip()) if line.strip() else None
