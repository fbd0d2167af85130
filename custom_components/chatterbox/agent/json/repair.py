"""JSON as models really write it: read where there is only one way to read it.

Repairs quotes of other kinds, keys without quotes, trailing commas, comments, Python's
constants and closing brackets that are missing or too many at the very end. Whatever could be
read in two ways is refused. Knows JSON; nothing of calls, tools or who wrote it.
"""

import json
import re
from typing import Final

from ..messages import JsonObject, JsonValue, canonical_json
from .text import MAX_DEPTH, parse_json

_QUOTES: Final = {
    '"': '"',
    "'": "'",
    "\u201c": "\u201d",
    "\u201d": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u2018": "\u2019",
    "\u2019": "\u2019",
}
"""What opens a text, and what may close it."""
_BLANK: Final = re.compile(r"(?:\s|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_WORD: Final = re.compile(r"[A-Za-z_$][\w$-]*")
_CONSTANTS: Final[dict[str, JsonValue]] = {"true": True, "false": False, "null": None, "none": None}
_FENCED: Final = re.compile(r"\s*```\w*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)
_LEFT_OVER: Final = re.compile(r"[\s\]};]*")
_CONTROL: Final = re.compile(r"[\x00-\x1f]")


def repair_json(text: str, *, close: bool = False) -> JsonValue:
    """Read almost-JSON; what comes out is JSON in the sense of `parse_json`.

    `close` also supplies brackets that are missing at the end, provided that the text ends
    with a whole text, list or object. Only to be used for text that was not cut off: of
    `{"area": "Kitchen"` nobody knows whether more was to come.
    Raises ValueError when the text can be read in no way, or in more than one.
    """
    if fenced := _FENCED.fullmatch(text):
        text = fenced[1]
    value, end = read_value(text, close=close)
    if not _LEFT_OVER.fullmatch(text, skip_blank(text, end)):
        raise ValueError(f"there is more after the value, at character {end}")
    return value


def read_value(text: str, start: int = 0, *, close: bool = False) -> tuple[JsonValue, int]:
    """Read one value that begins at `start`; return it and where it ends. Else as `repair_json`."""
    reader = _Reader(text, start, close=close)
    value = reader.value()
    return parse_json(canonical_json(value)), reader.position


def skip_blank(text: str, position: int) -> int:
    """Return where whitespace and comments end."""
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


class _Reader:
    """Reads from left to right, one method per kind of value."""

    def __init__(self, text: str, start: int, *, close: bool) -> None:
        self.position = start
        self._text = text
        self._close = close
        self._depth = 0
        self._after_closer = False
        """True after a text, a list or an object: what stands there is whole."""

    def value(self) -> JsonValue:
        char = self._next_char()
        self._after_closer = char != "" and (char in "{[" or char in _QUOTES)
        if char == "{":
            return self._object()
        if char == "[":
            return self._list()
        if char in _QUOTES:
            return self._string(char)
        if number := _NUMBER.match(self._text, self.position):
            self.position = number.end()
            return parse_json(number.group())
        if (word := self._word()).casefold() in _CONSTANTS:
            return _CONSTANTS[word.casefold()]
        raise self._unreadable("a value")

    def _object(self) -> JsonObject:
        result: JsonObject = {}
        self._enter()
        while not self._ends("}"):
            char = self._next_char()
            key = self._string(char) if char in _QUOTES else self._word()
            if not key and char not in _QUOTES:
                raise self._unreadable("a key")
            self._expect(":")
            result[key] = self.value()
            self._separate("}")
        self._leave()
        return result

    def _list(self) -> list[JsonValue]:
        result: list[JsonValue] = []
        self._enter()
        while not self._ends("]"):
            result.append(self.value())
            self._separate("]")
        self._leave()
        return result

    def _enter(self) -> None:
        self.position += 1
        self._depth += 1
        self._after_closer = False
        if self._depth > MAX_DEPTH:
            raise ValueError("it is nested too deeply")

    def _leave(self) -> None:
        self._depth -= 1
        self._after_closer = True

    def _ends(self, closer: str) -> bool:
        """Step over the closing bracket, or over the end of the text where it may stand for one."""
        char = self._next_char()
        if char == closer:
            self.position += 1
            return True
        return char == "" and self._close and self._after_closer

    def _separate(self, closer: str) -> None:
        """Step over the comma after a part; there is none before the end."""
        char = self._next_char()
        if char == ",":
            self.position += 1
            self._after_closer = False  # something was to follow
        elif char not in {closer, ""}:
            raise self._unreadable("a comma")

    def _expect(self, char: str) -> None:
        if self._next_char() != char:
            raise self._unreadable(char)
        self.position += 1

    def _word(self) -> str:
        word = _WORD.match(self._text, self.position)
        if not word:
            return ""
        self.position = word.end()
        return word.group()

    def _string(self, quote: str) -> str:
        closers = _QUOTES[quote]
        parts = ['"']
        position = self.position + 1
        while (char := self._text[position : position + 1]) not in closers or not char:
            if char == "\\":
                char = self._text[position : position + 2]
                parts.append("'" if char == "\\'" else char)
            elif char == '"':
                parts.append('\\"')
            elif char:
                parts.append(char)
            else:
                raise self._unreadable(closers)
            position += len(char)
        self.position = position + 1
        text: str = json.loads(_CONTROL.sub(_escaped, "".join(parts)) + '"')
        return text

    def _next_char(self) -> str:
        self.position = skip_blank(self._text, self.position)
        return self._text[self.position : self.position + 1]

    def _unreadable(self, expected: str) -> ValueError:
        return ValueError(f"expected {expected} at character {self.position}")


def _escaped(control: re.Match[str]) -> str:
    return f"\\u{ord(control.group()):04x}"
