"""Server-sent events: bytes in, events out, wherever the network cut them.

Knows the stream format alone (WHATWG HTML Living Standard, "Server-sent events",
"Parsing an event stream"); must not know what the events say or where the bytes come
from. `id` and `retry` serve reconnection, which a completion never does: they are dropped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..errors import ProviderReplyInvalid

MAX_EVENT_BYTES: Final = 8 * 1024 * 1024

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One dispatched event."""

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
            if (event := self._take_line(line)) is not None:
                yield event
        self._check_size(len(self._line) + len(begun))
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

    def _check_size(self, line_bytes: int) -> None:
        if self._data_bytes + line_bytes > self._max_event_bytes:
            raise ProviderReplyInvalid(f"the stream holds an event of more than {self._max_event_bytes} bytes")

    def _take_line(self, line: bytes) -> ServerSentEvent | None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            return self._dispatch()
        self._check_size(len(line))
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
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        data, event_type = self._data, self._type
        self._type = ""
        if not data:
            return None
        self._data, self._data_bytes = [], 0
        return ServerSentEvent(b"\n".join(data), event_type or "message")
