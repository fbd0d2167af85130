"""Holds values against the schemas of the OpenResponses specification.

Knows as much of JSON Schema as these schemas use. Must not know where a value comes
from.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue

_SCHEMAS = (
    Path(__file__).parents[2] / "fixtures" / "openresponses-2026-04-24" / "schemas.json"
)
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


@cache
def schemas() -> dict[str, JsonObject]:
    """Return all schemas, by name."""
    loaded: dict[str, JsonObject] = json.loads(_SCHEMAS.read_text(encoding="utf-8"))
    return loaded


def assert_fits(name: str, value: JsonValue) -> None:
    """Fail with what is wrong with a value, and where."""
    assert not (wrong := list(misfits(schemas()[name], value))), (
        f"no {name}: {'; '.join(wrong)}"
    )


@cache
def event_schemas() -> dict[str, str]:
    """Return the names of the schemas of the events, by the type of the event."""
    names = {}
    for name, schema in schemas().items():
        if name.endswith("StreamingEvent"):
            names[
                _text(_object(_object(_object(schema["properties"])["type"]))["enum"])
            ] = name
    return names


def _text(value: JsonValue) -> str:
    assert isinstance(value, list)
    (one,) = value
    assert isinstance(one, str)
    return one


def misfits(schema: JsonObject, value: JsonValue, path: str = "$") -> Iterator[str]:
    """Yield what is wrong with a value, and where."""
    if isinstance(reference := schema.get("$ref"), str):
        yield from misfits(schemas()[reference.rpartition("/")[2]], value, path)
        return
    for one in _list(schema.get("allOf", [])):
        yield from misfits(_object(one), value, path)
    for key in ("anyOf", "oneOf"):
        yield from _of_choices(
            [_object(one) for one in _list(schema.get(key, []))], value, path
        )
    kind = schema.get("type")
    if isinstance(kind, str) and not _is_of(kind, value):
        yield f"{path} is not {kind} but {value!r:.80}"
        return
    if "enum" in schema and value not in _list(schema["enum"]):
        yield f"{path} is {value!r:.80}"
    yield from _of_kind(schema, value, path)


def _of_kind(schema: JsonObject, value: JsonValue, path: str) -> Iterator[str]:
    match value:
        case dict():
            yield from _of_object(schema, value, path)
        case list():
            yield from _within(schema, len(value), ("minItems", "maxItems"), path)
            for index, one in enumerate(value):
                yield from misfits(
                    _object(schema.get("items", {})), one, f"{path}[{index}]"
                )
        case str():
            yield from _within(schema, len(value), ("minLength", "maxLength"), path)
            if isinstance(pattern := schema.get("pattern"), str) and not re.search(
                pattern, value
            ):
                yield f"{path} is not {pattern}"
        case int() | float():
            yield from _within(schema, value, ("minimum", "maximum"), path)
        case None:
            pass


def _of_choices(
    choices: list[JsonObject], value: JsonValue, path: str
) -> Iterator[str]:
    wrong = [list(misfits(choice, value, path)) for choice in choices]
    if wrong and all(wrong):
        yield f"{path} is nothing that it may be ({' | '.join(one[0] for one in wrong)})"


def _of_object(schema: JsonObject, value: JsonObject, path: str) -> Iterator[str]:
    properties = _object(schema.get("properties", {}))
    yield from (
        f"{path}.{key} is missing"
        for key in _list(schema.get("required", []))
        if key not in value
    )
    yield from _within(schema, len(value), ("", "maxProperties"), path)
    for key, one in value.items():
        if key in properties:
            yield from misfits(_object(properties[key]), one, f"{path}.{key}")
        elif isinstance(rest := schema.get("additionalProperties"), dict):
            yield from misfits(rest, one, f"{path}.{key}")


def _within(
    schema: JsonObject, size: float, bounds: tuple[str, str], path: str
) -> Iterator[str]:
    least, most = (schema.get(bound) for bound in bounds)
    if isinstance(least, int | float) and size < least:
        yield f"{path} is below {least}"
    if isinstance(most, int | float) and size > most:
        yield f"{path} is above {most}"


def _is_of(kind: str, value: JsonValue) -> bool:
    return isinstance(value, _TYPES[kind]) and (
        kind == "boolean" or not isinstance(value, bool)
    )


def _object(value: JsonValue) -> JsonObject:
    assert isinstance(value, dict)
    return value


def _list(value: JsonValue) -> list[JsonValue]:
    assert isinstance(value, list)
    return value
