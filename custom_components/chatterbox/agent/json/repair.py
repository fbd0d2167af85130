"""Parses malformed JSON of models where it is unambiguous.

Accepts other quotation marks, keys without quotes, trailing commas, comments, Python's constants, and closing brackets
that are superfluous at the very end; where a schema tells what is a text, also a word without quotes.
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
"""Closing quotation marks by opening ones."""
_PLAIN: Final = re.compile(r"[^\\" + "".join(set(_QUOTES) | set("".join(_QUOTES.values()))) + "]+")
"""Characters that mean themselves in every string."""
_BLANK: Final = re.compile(r"(?:\s|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_WORD: Final = re.compile(r"[A-Za-z_$][\w$-]*")
_CONSTANTS: Final[dict[str, JsonValue]] = {"true": True, "false": False, "null": None, "none": None}
_BARE_WORD: Final = re.compile(r"(?!(?:undefined|nan|infinity|nil)\b)[^\W\d][\w.-]*(?=\s*[,\]}])", re.IGNORECASE)
"""A text without quotes, if a comma or a closing bracket follows."""
_FENCE: Final = "```"
_LEFT_OVER: Final = re.compile(r"[\s\]};]*")
_CONTROL: Final = re.compile(r"[\x00-\x1f]")


def repair_json(text: str, *, bare_words: bool = False) -> JsonValue:
    """Parse malformed JSON to a value that `parse_json` accepts too; with `bare_words`, texts may have no quotes.

    Nothing that is missing at the end is supplied: `{"area": "Kitchen"` could have continued. Raises ValueError if the
    text is unreadable or ambiguous.
    """
    text = _without_fence(text)
    value, end = read_value(text, bare_words=bare_words)
    if not _LEFT_OVER.fullmatch(text, skip_blank(text, end)):
        raise ValueError(f"there is more after the value, at character {end}")
    return value


def fenced_blocks(text: str) -> list[str]:
    """Return the contents of the complete Markdown fences of a text that are marked as JSON, or as nothing."""
    blocks: list[str] = []
    block: list[str] | None = None
    for line in text.split("\n"):
        if block is not None and line.lstrip().startswith(_FENCE):
            blocks.append("\n".join(block))
            block = None
        elif block is not None:
            block.append(line)
        elif (opening := line.rpartition(_FENCE))[1] and opening[2].strip().casefold() in {"", "json"}:
            block = []
    return blocks


def _without_fence(text: str) -> str:
    """Return the content of the fence that surrounds a text, or else the text."""
    stripped = text.strip()
    opening, newline, content = stripped.removeprefix(_FENCE).partition("\n")
    is_fenced = newline and stripped.startswith(_FENCE) and content.endswith(_FENCE)
    label = opening.strip()
    return content.removesuffix(_FENCE) if is_fenced and (not label or label.isidentifier()) else text


def read_value(text: str, start: int = 0, *, bare_words: bool = False) -> tuple[JsonValue, int]:
    """Parse the value at `start` like `repair_json`, and return it with its end."""
    reader = _Reader(text, start, bare_words=bare_words)
    value = reader.value()
    return parse_json(canonical_json(value)), reader.position


def skip_blank(text: str, position: int) -> int:
    """Return the end of whitespace and comments."""
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


class _Reader:
    """A recursive descent parser."""

    def __init__(self, text: str, start: int, *, bare_words: bool) -> None:
        self.position = start
        self._text = text
        self._bare_words = bare_words
        self._depth = 0

    def value(self) -> JsonValue:
        char = self._next_char()
        if char == "{":
            return self._object()
        if char == "[":
            return self._list()
        if char in _QUOTES:
            return self._string(char)
        if number := _NUMBER.match(self._text, self.position):
            self.position = number.end()
            return parse_json(number.group())
        bare = _BARE_WORD.match(self._text, self.position) if self._bare_words else None
        if (word := self._word()).casefold() in _CONSTANTS:
            return _CONSTANTS[word.casefold()]
        if bare:
            self.position = bare.end()
            return bare.group()
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
            if result.setdefault(key, value := self.value()) != value:
                raise ValueError(f"{key} is given twice")
            self._separate("}")
        self._depth -= 1
        return result

    def _list(self) -> list[JsonValue]:
        result: list[JsonValue] = []
        self._enter()
        while not self._ends("]"):
            result.append(self.value())
            self._separate("]")
        self._depth -= 1
        return result

    def _enter(self) -> None:
        self.position += 1
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError("it is nested too deeply")

    def _ends(self, closer: str) -> bool:
        """Skip the closing bracket, if it is next."""
        if ends := self._next_char() == closer:
            self.position += 1
        return ends

    def _separate(self, closer: str) -> None:
        """Skip the comma after a part. Before the end there is none."""
        char = self._next_char()
        if char == ",":
            self.position += 1
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
            if plain := _PLAIN.match(self._text, position):
                char = plain.group()
                parts.append(char)
            elif char == "\\":
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
