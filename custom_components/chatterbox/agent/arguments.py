"""From what a model wrote to what may run: the arguments of a tool call.

Reads JSON text and fits it to a tool's JSON Schema, coercing where there is only one way
to read a value ("50" for a number, "light" for a list, "" for nothing). Everything else is
an `UnusableArguments` whose message tells the model what was expected. Knows JSON and the
part of JSON Schema that tools use; nothing of tools, turns or transports.
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from .messages import JsonObject, JsonValue, canonical_json

MAX_ARGUMENTS_LENGTH: Final = 65_536
"""Characters. A spoken request never needs more, and a runaway model writes far more."""

_SHOWN_LENGTH: Final = 60
_MISSING: Final = object()


class UnusableArguments(ValueError):
    """Arguments that cannot run. The message is written for the model."""


def read_arguments(text: str, schema: JsonObject) -> JsonObject:
    """Parse the arguments of a call and fit them to the tool's schema.

    Empty text means no arguments. Raises `UnusableArguments` for text that is too long, is
    not JSON, is not an object, or does not fit.
    """
    if len(text) > MAX_ARGUMENTS_LENGTH:
        raise UnusableArguments(f"The arguments are too long: {len(text)} characters, at most {MAX_ARGUMENTS_LENGTH}.")
    value = _parse(text) if text.strip() else {}
    if isinstance(value, str):  # Some models encode the object twice.
        value = _parse(value) if value.strip() else {}
    if value is None:
        value = {}
    if not isinstance(value, dict):
        raise UnusableArguments(f"The arguments must be one JSON object, got {_show(value)}.")
    fitted = _Fit(schema).fit(schema, value, "", generous=True)
    if not isinstance(fitted, dict):
        raise UnusableArguments("The tool's schema does not describe an object.")
    return fitted


def _parse(text: str) -> JsonValue:
    def refuse(constant: str) -> JsonValue:
        raise ValueError(f"{constant} is not JSON")

    try:
        value: JsonValue = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as err:
        reason = "nested too deeply" if isinstance(err, RecursionError) else str(err)
        raise UnusableArguments(f"The arguments are not valid JSON ({reason}). Send one JSON object.") from err
    return value


def _show(value: JsonValue) -> str:
    shown = canonical_json(value)
    return shown if len(shown) <= _SHOWN_LENGTH else f"{shown[:_SHOWN_LENGTH]}…"


@dataclass(frozen=True, slots=True)
class _Fit:
    """Fits values to the parts of one schema, whose root resolves `$ref`."""

    root: JsonObject

    def fit(self, schema: JsonValue, value: JsonValue, path: str, *, generous: bool) -> JsonValue:
        """Return the value as the schema wants it; raise `UnusableArguments` otherwise."""
        if not isinstance(schema, dict):
            return value
        schema = self._resolve(schema)
        if choices := _alternatives(schema):
            return self._fit_any(choices, schema, value, path, generous=generous)
        if "enum" in schema or "const" in schema:
            return _fit_enum(schema, value, path, generous=generous)
        return self._fit_type(schema, value, path, generous=generous)

    def _fit_type(self, schema: JsonObject, value: JsonValue, path: str, *, generous: bool) -> JsonValue:
        match schema.get("type"):
            case "object":
                return self._fit_object(schema, value, path, generous=generous)
            case "array":
                return self._fit_array(schema, value, path, generous=generous)
            case str(kind) if kind in _SCALARS:
                return _fit_scalar(kind, schema, value, path, generous=generous)
            case _:
                return value

    def _resolve(self, schema: JsonObject) -> JsonObject:
        seen = set[str]()
        while isinstance(reference := schema.get("$ref"), str) and reference not in seen:
            seen.add(reference)
            target: JsonValue = self.root
            for part in reference.removeprefix("#/").split("/"):
                target = target.get(part) if isinstance(target, dict) else None
            schema = target if isinstance(target, dict) else {}
        return schema

    def _fit_any(
        self,
        choices: list[JsonValue],
        schema: JsonObject,
        value: JsonValue,
        path: str,
        *,
        generous: bool,
    ) -> JsonValue:
        for choice in choices:
            fitted = self._attempt(choice, value, path, generous=False)
            if fitted is not _MISSING:
                return value
        if generous:
            readings = {
                canonical_json(reading): reading  # type: ignore[arg-type]  # `_MISSING` is sorted out below
                for choice in choices
                if (reading := self._attempt(choice, value, path, generous=True)) is not _MISSING
            }
            if len(readings) == 1:
                return readings.popitem()[1]  # type: ignore[return-value]  # never `_MISSING`
        raise _unfit(path, schema, value)

    def _attempt(self, schema: JsonValue, value: JsonValue, path: str, *, generous: bool) -> object:
        try:
            return self.fit(schema, value, path, generous=generous)
        except UnusableArguments:
            return _MISSING

    def _fit_object(self, schema: JsonObject, value: JsonValue, path: str, *, generous: bool) -> JsonValue:
        if generous and isinstance(value, str) and value.lstrip().startswith("{"):
            value = _parse(value)
        if not isinstance(value, dict):
            raise _unfit(path, schema, value)
        known, needed = _properties(schema), _required(schema)
        fitted: JsonObject = {}
        for key, item in value.items():
            where = f"{path}.{key}" if path else key
            if key in known:
                try:
                    fitted[key] = self.fit(known[key], item, where, generous=generous)
                except UnusableArguments:
                    if not generous or key in needed or item not in ("", None):
                        raise
            elif schema.get("additionalProperties") is False:
                raise UnusableArguments(f"{where} is not a parameter. Use: {', '.join(sorted(known)) or 'none'}.")
            else:
                fitted[key] = item
        for key in needed:
            if key not in fitted:
                where = f"{path}.{key}" if path else key
                raise UnusableArguments(
                    f"{where} is missing: expected {_describe(self._resolve_property(known, key))}."
                )
        return fitted

    def _resolve_property(self, known: JsonObject, key: str) -> JsonObject:
        schema = known.get(key)
        return self._resolve(schema) if isinstance(schema, dict) else {}

    def _fit_array(self, schema: JsonObject, value: JsonValue, path: str, *, generous: bool) -> JsonValue:
        if generous and isinstance(value, str) and value.lstrip().startswith("["):
            value = _parse(value)
        if not isinstance(value, list):
            if not generous or value is None or value == "":
                raise _unfit(path, schema, value)
            value = [value]
        items = schema.get("items")
        return [self.fit(items, item, f"{path}[{index}]", generous=generous) for index, item in enumerate(value)]


def _properties(schema: JsonObject) -> JsonObject:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _required(schema: JsonObject) -> list[str]:
    required = schema.get("required")
    return [key for key in required if isinstance(key, str)] if isinstance(required, list) else []


def _alternatives(schema: JsonObject) -> list[JsonValue]:
    for key in ("anyOf", "oneOf"):
        if isinstance(choices := schema.get(key), list) and choices:
            if "properties" in schema:  # alternatives of `required`, not of the value
                return []
            return choices
    if isinstance(kinds := schema.get("type"), list):
        return [{**schema, "type": kind} for kind in kinds]
    return []


def _fit_enum(schema: JsonObject, value: JsonValue, path: str, *, generous: bool) -> JsonValue:
    listed = schema.get("enum")
    allowed = listed if isinstance(listed, list) else [schema.get("const")]
    for choice in allowed:
        if choice == value and isinstance(choice, bool) == isinstance(value, bool):
            return choice
    if generous and not isinstance(value, (dict, bool)) and value is not None:
        if isinstance(value, list) and len(value) == 1:
            return _fit_enum(schema, value[0], path, generous=True)
        spelled = str(value).strip().casefold()
        matches = [choice for choice in allowed if str(choice).casefold() == spelled]
        if len(matches) == 1:
            return matches[0]
    raise _unfit(path, schema, value)


def _fit_scalar(kind: str, schema: JsonObject, value: JsonValue, path: str, *, generous: bool) -> JsonValue:
    accepts, readings = _SCALARS[kind]
    candidates = [value]
    if generous:
        if isinstance(value, list) and len(value) == 1:
            candidates = [value[0]]
        candidates += [*readings(candidates[0])]
    for candidate in candidates:
        if accepts(candidate) and _in_range(candidate, schema):
            return candidate
    raise _unfit(path, schema, value)


def _in_range(value: JsonValue, schema: JsonObject) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return True
    low, high = schema.get("minimum"), schema.get("maximum")
    return not ((isinstance(low, (int, float)) and value < low) or (isinstance(high, (int, float)) and value > high))


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _as_numbers(value: JsonValue) -> Iterator[JsonValue]:
    """Read "50", " 50 % " and 50.0 as numbers, whole ones as integers."""
    if isinstance(value, str):
        try:
            number = float(value.strip().removesuffix("%"))
        except ValueError:
            return
        if not math.isfinite(number):
            return
        value = number
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    yield value


def _as_booleans(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, str) and (word := value.strip().casefold()) in {"true", "false"}:
        yield word == "true"


def _as_texts(value: JsonValue) -> Iterator[JsonValue]:
    if _is_number(value):
        yield canonical_json(value)


def _as_nothing(value: JsonValue) -> Iterator[JsonValue]:
    if value == "":
        yield None


type _Accepts = Callable[[JsonValue], bool]
type _Readings = Callable[[JsonValue], Iterator[JsonValue]]

_SCALARS: Final[dict[str, tuple[_Accepts, _Readings]]] = {
    "string": (lambda value: isinstance(value, str), _as_texts),
    "integer": (
        lambda value: isinstance(value, int) and not isinstance(value, bool),
        _as_numbers,
    ),
    "number": (_is_number, _as_numbers),
    "boolean": (lambda value: isinstance(value, bool), _as_booleans),
    "null": (lambda value: value is None, _as_nothing),
}


def _unfit(path: str, schema: JsonObject, value: JsonValue) -> UnusableArguments:
    subject = path or "The arguments"
    return UnusableArguments(f"{subject}: expected {_describe(schema)}, got {_show(value)}.")


def _describe(schema: JsonObject) -> str:
    """Say in a few words what a schema accepts."""
    if choices := _alternatives(schema):
        return " or ".join(dict.fromkeys(_describe(c) if isinstance(c, dict) else "anything" for c in choices))
    if isinstance(listed := schema.get("enum"), list):
        return f"one of {_show(listed)}"
    if "const" in schema:
        return _show(schema["const"])
    match schema.get("type"):
        case "array":
            items = schema.get("items")
            return f"a list of {_describe(items)}" if isinstance(items, dict) else "a list"
        case str(kind):
            low, high = schema.get("minimum"), schema.get("maximum")
            if low is not None and high is not None:
                return f"{kind} from {low} to {high}"
            return kind
        case _:
            return "a value"
