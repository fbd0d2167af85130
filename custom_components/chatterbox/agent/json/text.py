"""Parses JSON strictly, serializes payloads, and formats values for messages."""

import json
import math
import re
from collections.abc import Iterator
from typing import Final

import orjson

from ..messages import JsonObject, JsonValue, canonical_json

MAX_DEPTH: Final = 50
"""Levels of nested lists and objects."""

_SHOWN_LENGTH: Final = 60
_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""A string, or the rest of a text after a string without an end: to look for its end from each quote is quadratic."""
_PIECE: Final = re.compile(
    rf'(?:[^"]*+(?:{_STRING.pattern})){{0,1000}}+[^"]*+', re.DOTALL
)
"""A thousand strings, and what stands between them: a pattern holds the interpreter until it has matched."""
_BYTE_ORDER_MARK: Final = "\ufeff"


def parse_json(
    text: str,
    *,
    unique_names: bool = False,
) -> JsonValue:
    """Parse JSON with finite numbers, no lone surrogates, and at most `MAX_DEPTH` levels.

    If a name occurs twice in an object, the last one counts; with `unique_names`,
    another value is an error. Raises ValueError with a text for the author of the JSON.
    """
    if text.startswith(_BYTE_ORDER_MARK):
        raise ValueError(
            "it begins with a byte order mark (BOM), which no JSON text has"
        )
    decoder = _STRICT if unique_names else _DECODER
    try:
        value: JsonValue = decoder.decode(text)
    except RecursionError as err:
        raise ValueError("it is nested too deeply") from err
    if "\\u" in text or text.count("{") + text.count("[") > MAX_DEPTH:
        check_json(value)
    elif not text.isascii():  # the decoder has checked all else
        _check_characters(text)
    return value


def parsed_if_json(text: str) -> JsonValue:
    """Return the value of a JSON text; another text as it is."""
    try:
        return parse_json(text)
    except ValueError:
        return text


def is_json_object(text: str) -> bool:
    """Return whether `text` is one JSON object, as `parse_json` reads it."""
    try:
        return isinstance(parse_json(text), dict)
    except ValueError:
        return False


def as_list(value: JsonValue) -> list[JsonValue]:
    """Return a list, or another value as the only one of a list."""
    if isinstance(value, list):
        return value
    return [value]


def as_object(value: JsonValue) -> JsonObject:
    """Return an object; an empty one in place of another value."""
    if isinstance(value, dict):
        return value
    return {}


def objects_in(value: JsonValue) -> list[JsonObject]:
    """Return the objects of a list; none of another value."""
    if isinstance(value, list):
        return [item for item in value if isinstance(item, dict)]
    return []


def check_json(value: JsonValue) -> None:
    """Check a value that another decoder has parsed against the same rules. Raises ValueError."""
    for depth, level in enumerate(_levels(value)):
        if depth > MAX_DEPTH:
            raise ValueError("it is nested too deeply")
        for item in level:
            _check_characters(item)
            if isinstance(item, float) and not math.isfinite(item):
                raise ValueError(f"{item} is not a number that can be used")


def check_count(text: str, most: int) -> None:
    """Check that JSON has about so many values at most, without parsing it. Raises ValueError."""
    if _separators(text) <= most:
        return
    position = count = 0
    while position < len(text) and (piece := _PIECE.match(text, position)):
        count += _separators(_STRING.sub("", piece[0]))
        if count > most:
            raise ValueError(f"it has more than {most} values; send fewer")
        position = piece.end()


def check_size(
    value: JsonValue,
    most_values: int,
    most_entries: int,
) -> None:
    """Check that a value holds at most so many others, and each of its lists and objects so many. Raises ValueError."""
    count = -1
    for level in _levels(value):
        if any(len(_parts(item)) > most_entries for item in level):
            raise ValueError(
                f"one of its lists or objects has more than {most_entries} entries; send fewer"
            )
        count += len(level)
        if count > most_values:
            raise ValueError(f"it has more than {most_values} values; send fewer")


def finite(text: str) -> float:
    """Parse a number. Raises ValueError for infinity and NaN."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number that can be used")
    return number


def display(
    value: JsonValue,
    length: int = _SHOWN_LENGTH,
) -> str:
    """Format a value for a message, cut to `length` characters."""
    text = canonical_json(value)
    if len(text) <= length:
        return text
    return f"{text[:length]}…"


def _unique(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    entries: JsonObject = {}
    for name, value in pairs:
        if entries.setdefault(name, value) != value:
            raise ValueError(f"the name {display(name)} stands twice in one object")
    return entries


_DECODER: Final = json.JSONDecoder(
    parse_constant=finite,
    parse_float=finite,
)
_STRICT: Final = json.JSONDecoder(
    parse_constant=finite, parse_float=finite, object_pairs_hook=_unique
)


def _separators(text: str) -> int:
    """Return the number of characters before which, or after which, each value of JSON stands."""
    return sum(text.count(character) for character in "[{,")


def _levels(value: JsonValue) -> Iterator[list[JsonValue]]:
    """Yield a value, the values in it, the values in those, and so on."""
    level = [value]
    while level:
        yield level
        level = [inner for item in level for inner in _parts(item)]


def _parts(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return [*value.values()]
    return []


def _check_characters(value: JsonValue) -> None:
    text = "".join(value) if isinstance(value, dict) else value
    try:
        if isinstance(text, str):
            text.encode()
    except UnicodeEncodeError as err:
        raise ValueError("it contains half of a character, a lone surrogate") from err


def payload_to_bytes(payload: JsonObject) -> bytes:
    """Serialize a payload: compact, fields in their order, UTF-8."""
    try:
        return orjson.dumps(payload)
    except TypeError:  # a lone surrogate, or a number of more than 64 bits
        return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode(
            errors="replace"
        )


def sendable_arguments(arguments: str) -> str:
    """Return the arguments of a call, or an empty object if they are none."""
    return arguments if is_json_object(arguments) else "{}"
