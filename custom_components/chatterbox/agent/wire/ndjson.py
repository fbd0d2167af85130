"""Lines of JSON: bytes in, lines out, wherever the network cut them.

Knows where a line ends (ndjson.org: at a line feed, a carriage return before it is
whitespace); must not know what the lines say or where the bytes come from.
"""

from collections.abc import Iterator
from typing import Final

from ..errors import ProviderReplyInvalid

MAX_LINE_BYTES: Final = 8 * 1024 * 1024


class NDJSONDecoder:
    """Turns the bytes of one stream into lines; the way they are split makes no difference."""

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        """Refuse lines of more than `max_line_bytes`."""
        self._max_line_bytes = max_line_bytes
        self._line = bytearray()

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the lines that `chunk` completes, blank ones left out; read it to its end before the next one.

        Raises `ProviderReplyInvalid` for a line beyond the bound; the decoder is of no use then.
        """
        *ended, begun = chunk.split(b"\n")
        for piece in ended:
            line = piece.strip()
            if self._line or len(piece) > self._max_line_bytes:
                self._extend(piece)
                line = self.end()
            if line:
                yield line
        self._extend(begun)

    def end(self) -> bytes:
        """Return the line that is begun and not ended, empty when there is none, and forget it."""
        line = bytes(self._line).strip()
        self._line.clear()
        return line

    def _extend(self, piece: bytes) -> None:
        if len(self._line) + len(piece) > self._max_line_bytes:
            raise ProviderReplyInvalid(f"the stream holds a line of more than {self._max_line_bytes} bytes")
        self._line += piece
