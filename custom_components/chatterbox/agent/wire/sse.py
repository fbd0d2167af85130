"""Server-sent events: bytes in, events out, wherever the network cut them.

Knows the stream format alone (WHATWG HTML Living Standard, "Server-sent events",
"Parsing an event stream"); must not know what the events say or where the bytes come
from. `id` and `retry` serve reconnection, which a completion never does: they are dropped.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ..errors import ProviderReplyInvalid

MAX_EVENT_BYTES: Final = 8 * 1024 * 1024

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class ServerSentEvent(NamedTuple):
    """One dispatched event; a tuple, for it is made for every token."""

    data: bytes
    """The `data` lines, joined by newlines; UTF-8."""
    type: str = "message"


class SSEDecoder:
    """Turns the bytes of one stream into events; the way they are split makes no difference."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        """Refuse events whose lines and data exceed `max_event_bytes`."""
        self._max_event_bytes = max_event_bytes
        self._line = bytearray()
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._type = ""
        self._at_start = True
        self._after_carriage_return = False

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        """Yield the events that `chunk` completes; read it to its end before the next one.

        Raises `ProviderReplyInvalid` for an event beyond the bound; the decoder is of no use then.
        """
        if self.is_amid_event or b"\r" in chunk or len(chunk) > self._max_event_bytes:
            yield from self._feed_lines(chunk)
            return
        *blocks, rest = chunk.split(b"\n\n")
        for block in blocks:
            event_type, data = "", block
            if block.startswith(b"event: "):
                named, _, data = block.partition(b"\n")
                event_type = named[7:].decode(errors="replace")
            if data.startswith(b"data: ") and b"\n" not in data:  # what nearly all events look like
                self._at_start = False
                yield ServerSentEvent(data[6:], event_type or "message")
            else:
                yield from self._feed_lines(block + b"\n\n")
        if rest:
            yield from self._feed_lines(rest)

    @property
    def is_amid_event(self) -> bool:
        """Whether what was fed last is the beginning of something."""
        return bool(self._line or self._data or self._type or self._after_carriage_return)

    def _feed_lines(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        if not chunk:
            return
        if self._after_carriage_return:
            chunk = chunk.removeprefix(b"\n")
        self._after_carriage_return = chunk.endswith(b"\r")
        *ended, begun = _LINE_END.split(chunk) if b"\r" in chunk else chunk.split(b"\n")
        for piece in ended:
            line = piece
            if self._line:
                line = bytes(self._line) + piece
                self._line.clear()
            if line:
                self._take_line(line)
            elif (event := self._dispatch()) is not None:
                yield event
        if self._data_bytes + len(self._line) + len(begun) > self._max_event_bytes:
            raise self._too_large()
        self._line += begun

    def end(self) -> ServerSentEvent | None:
        """Return the event that is begun and not ended, and forget it.

        The standard drops it; servers that leave out the last blank line mean it.
        """
        line = bytes(self._line)
        self._line.clear()
        if line:
            self._take_line(line)
        return self._dispatch()

    def _too_large(self) -> ProviderReplyInvalid:
        return ProviderReplyInvalid(f"the stream holds an event of more than {self._max_event_bytes} bytes")

    def _take_line(self, line: bytes) -> None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if self._data_bytes + len(line) > self._max_event_bytes:
            raise self._too_large()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._data.append(value)
                self._data_bytes += len(value) + 1
            case b"event":
                self._type = value.decode(errors="replace")
            case _:  # a comment (no name), or a field that means nothing here
                pass

    def _dispatch(self) -> ServerSentEvent | None:
        data, event_type = self._data, self._type
        self._type, self._at_start = "", False
        if not data:
            return None
        self._data, self._data_bytes = [], 0
        return ServerSentEvent(data[0] if len(data) == 1 else b"\n".join(data), event_type or "message")
