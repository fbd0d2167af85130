"""The text of one JSON object that arrives in pieces: knows where the object ends.

Knows JSON's braces and strings, so that each piece is looked at once; nothing of calls,
tools or formats.
"""

import json
import re
from typing import Final

import orjson

from ..messages import JsonValue, canonical_json

MAX_OBJECT_CHARACTERS: Final = 1_000_000

_MARKS: Final = re.compile(r'[\\"{}]')
_NOT_SPACE: Final = re.compile(r"\S")


def is_json_object(text: str) -> bool:
    """Tell whether `text` is one JSON object, of whole characters, and nothing else but whitespace."""
    try:
        return isinstance(orjson.loads(text), dict)
    except orjson.JSONDecodeError:  # it knows no endless depth, and no number beyond a double: Python does
        pass
    try:
        value: JsonValue = json.loads(text, parse_constant=_refuse)
        canonical_json(value).encode()
    except ValueError, RecursionError:
        return False
    return isinstance(value, dict)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


class ObjectText:
    """Collects text until it is one whole JSON object, and refuses what comes after.

    Text beyond `MAX_OBJECT_CHARACTERS` is dropped but for one character, so that memory is
    bounded, the text can never be taken for a whole object, and its length still tells why.
    """

    def __init__(self) -> None:
        """Start with no text."""
        self.complete = False
        """True once the text is one whole JSON object."""
        self._pieces: list[str] = []
        self._length = 0
        self._depth = 0
        self._in_string = False
        self._after_backslash = False
        self._hopeless = False

    @property
    def text(self) -> str:
        """What was collected, without whitespace before it."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def is_empty_object(self) -> bool:
        """True when the whole object is `{}`."""
        return self.complete and not self.text[1:-1].strip()

    def add(self, text: str, start: int = 0) -> int:
        """Take what belongs to the object of `text[start:]`; return where that ends.

        It ends at once when the object is whole already.
        """
        if self.complete:
            return start
        if not self._pieces:
            first = _NOT_SPACE.search(text, start)
            start = first.start() if first else len(text)
        end = None if self._hopeless else self._find_end(text, start)
        self._keep(text[start:end])
        if end is None:
            return len(text)
        if not self._hopeless and is_json_object(self.text):
            self.complete = True
            return end
        self._hopeless = True
        self._keep(text[end:])
        return len(text)

    def _keep(self, piece: str) -> None:
        room = MAX_OBJECT_CHARACTERS + 1 - self._length
        if len(piece) >= room:
            self._hopeless = True
            piece = piece[:room]
        if piece:
            self._pieces.append(piece)
            self._length += len(piece)

    def _find_end(self, text: str, position: int) -> int | None:
        """Return where the outermost brace closes, just after it, or None when it does not yet."""
        if self._after_backslash and position < len(text):
            position += 1
            self._after_backslash = False
        while mark := _MARKS.search(text, position):
            position = mark.end()
            match mark.group():
                case "\\" if self._in_string:
                    self._after_backslash = position == len(text)
                    position += 1
                case '"':
                    self._in_string = not self._in_string
                case "{" if not self._in_string:
                    self._depth += 1
                case "}" if not self._in_string:
                    self._depth -= 1
                    if self._depth == 0:
                        return position
                case _:  # a brace in a string, or a backslash outside of one
                    pass
        return None
