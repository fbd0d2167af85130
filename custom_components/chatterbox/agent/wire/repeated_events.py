"""Reads many events in one go, where they differ in nothing but the piece of an answer that each brings.

Knows server-sent events and JSON texts. Must not know a format: who reads one event tells what it says. Models write a
word at a time, and services wrap each in the same three hundred bytes: whoever has read one knows all that are alike.
"""

import re
from collections.abc import Callable
from typing import Final

import orjson

from .sse import MAX_EVENT_BYTES, ServerSentEvent

_NOT_AS_WRITTEN: Final = re.compile(rb'["\\\x00-\x1f]')
"""What a text in JSON does not hold, or not as it means it."""
_PROBE: Final = "?!"
_TRIES: Final = 3
"""Events that are looked at in vain before it is taken that none is like another."""
_END: Final = b"\n\n"


class RepeatedEvents:
    """What the events of one stream have in common. For one reader."""

    def __init__(self, read: Callable[[bytes], object]) -> None:
        """Know nothing yet. `read` returns the text in an event's data, where that is all that the event brings."""
        self._read = read
        self._seen: tuple[ServerSentEvent, str] | None = None
        """What nothing was learnt from yet: that is for when more comes, so that first words need not wait for it."""
        self._before = self._after = self._between = b""
        self._tries = _TRIES

    def saw(self, event: ServerSentEvent, text: str) -> None:
        """Take an event that brings `text` and nothing else as the pattern of those to come."""
        self._seen = event, text

    def text_of(self, chunk: bytes) -> tuple[str, bytes]:
        """Return the text of the events that a chunk begins with and that are like the last one seen; and the rest.

        No text, and all of the chunk, where any of them has to be read by itself.
        """
        if self._seen is not None:
            self._learn(*self._seen)
            self._seen = None
        if not self._before or len(chunk) > MAX_EVENT_BYTES or not chunk.startswith(self._before):
            return "", chunk
        *pieces, last = chunk[len(self._before) :].split(self._between)
        piece, ends, rest = last.partition(self._after)
        if ends:
            pieces.append(piece)
        else:
            rest = self._before + last
        if not pieces or any(map(_NOT_AS_WRITTEN.search, pieces)):
            return "", chunk
        try:
            text = "".join([piece.decode() for piece in pieces])
        except UnicodeDecodeError:
            return "", chunk
        self._tries = _TRIES
        return text, rest

    def _learn(self, event: ServerSentEvent, text: str) -> None:
        if not self._tries:
            return
        self._tries -= 1
        before, quoted, after = event.data.partition(orjson.dumps(text))
        # The same bytes may stand elsewhere, too: only what another text can stand in for is the place of the text.
        if quoted and self._read(b"%b%b%b" % (before, orjson.dumps(_PROBE), after)) == _PROBE:
            name = b"" if event.type == "message" else b"event: %b\n" % event.type.encode()
            self._before, self._after = b'%bdata: %b"' % (name, before), b'"%b%b' % (after, _END)
            self._between = self._after + self._before
