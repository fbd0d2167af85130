"""Reads the fields of JSON objects that were stored, each as the type it has to be.

Knows JSON; nothing of what the fields mean. A field that is not there is one that had its default when it was
written. Everything raises `StoredJsonInvalid` for a field of another type: the file was changed by somebody else.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

import orjson

from ..messages import JsonObject, JsonValue

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_LONE_SURROGATES: Final = re.compile("[\ud800-\udfff]")


class StoredJsonInvalid(ValueError):
    """What is stored is not what was ever written; the text names the field."""


def stored_json(value: JsonValue) -> str:
    """Write JSON that every database takes: no NUL, no half characters; keys stay in order, so that bytes do.

    A number that JSON has no way to write, infinite or none at all, is null, as browsers write it.
    """
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # half a character, a number of more than 64 bits, or lists in lists without end
        text = _ENCODER.encode(value)
        if "NaN" in text or "Infinity" in text:
            text = _ENCODER.encode(json.loads(text, parse_constant=_null))
    return _LONE_SURROGATES.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def _null(_number: str) -> None:
    """Read a number that JSON does not know."""


def read_object(text: str) -> JsonObject:
    """Read a stored JSON object."""
    try:
        value: JsonValue = json.loads(text)
    except ValueError as err:
        raise StoredJsonInvalid("It is not JSON.") from err
    if not isinstance(value, dict):
        raise StoredJsonInvalid("It is not a JSON object.")
    return value


def text_of(data: JsonObject, key: str, default: str | None = "") -> str:
    """Return a text; `default` None says that there has to be one."""
    value = data.get(key, default)
    if not isinstance(value, str):
        raise StoredJsonInvalid(f"{key} is not a text.")
    return value


def optional_text_of(data: JsonObject, key: str) -> str | None:
    """Return a text, or None where none was known."""
    return None if data.get(key) is None else text_of(data, key)


def flag_of(data: JsonObject, key: str) -> bool:
    """Return yes or no."""
    value = data.get(key, False)
    if not isinstance(value, bool):
        raise StoredJsonInvalid(f"{key} is neither true nor false.")
    return value


def number_of(data: JsonObject, key: str) -> float:
    """Return a number; there has to be one."""
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise StoredJsonInvalid(f"{key} is not a number.")
    return value


def count_of(data: JsonObject, key: str) -> int:
    """Return a whole number."""
    value = data.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int):
        raise StoredJsonInvalid(f"{key} is not a whole number.")
    return value


def object_of(data: JsonObject, key: str) -> JsonObject:
    """Return an object."""
    value = data.get(key, {})
    if not isinstance(value, dict):
        raise StoredJsonInvalid(f"{key} is not an object.")
    return value


def objects_of(data: JsonObject, key: str) -> list[JsonObject]:
    """Return a list of objects."""
    value = data.get(key, [])
    if not isinstance(value, list):
        raise StoredJsonInvalid(f"{key} is not a list.")
    found: list[JsonObject] = []
    for item in value:
        if not isinstance(item, dict):
            raise StoredJsonInvalid(f"{key} holds something that is not an object.")
        found.append(item)
    return found


def values_in(value: JsonValue) -> Iterator[JsonValue]:
    """Yield a value and all that is in it, however deep, always in the same order."""
    left = [value]
    while left:
        one = left.pop()
        yield one
        if isinstance(one, dict):
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)
