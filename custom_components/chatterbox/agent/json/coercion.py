"""Parses the arguments of a tool call and coerces them to the tool's JSON Schema."""

import json
import operator
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, TypeGuard

from ..messages import JsonObject, JsonValue, canonical_json
from ..text import (
    CONTROL,
    find_name,
    in_ascii_digits,
    mended_text,
    plain,
    plain_name,
    read_data_file,
    sendable_text,
)
from .malformed_json import repair_json
from .text import as_object, display, finite, objects_in, parse_json

_KEY_LENGTH: Final = 60
"""Characters of an unknown key in a message."""
_CHOICES_LENGTH: Final = 400
"""Characters of the accepted values in a message."""
_DESCRIBED_LEVELS: Final = 3
_PERCENT: Final = 100
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MISSING: Final = object()
_BOUNDS: Final = {
    "minimum": (int | float, operator.ge),
    "maximum": (int | float, operator.le),
    "exclusiveMinimum": (int | float, operator.gt),
    "exclusiveMaximum": (int | float, operator.lt),
    "minLength": (str, operator.ge),
    "maxLength": (str, operator.le),
    "minItems": (list, operator.ge),
    "maxItems": (list, operator.le),
}
"""Checked keywords by kind of value. `pattern` is not one: a regular expression from elsewhere could run for ever."""


class Unfit(ValueError):
    """Text or a value that does not fit the schema. The message is written for the model."""


def fit(
    value: JsonValue, schema: JsonObject, *, text_is_list: bool = True
) -> JsonValue:
    """Return the value in the form that the schema describes. Raises `Unfit`.

    A text stands for a list of one, as in `"light"` for `["light"]`, unless
    `text_is_list` is False: it may hold a whole list in words.
    """
    try:
        return _Fit(schema, text_is_list).fit(
            schema,
            value,
            "",
        )
    except RecursionError as err:
        raise Unfit("The tool's schema refers to itself and cannot be read.") from err


def fit_object(
    value: JsonObject, schema: JsonObject, *, text_is_list: bool = True
) -> JsonObject:
    """Return an object in the form that the schema describes; see `fit`. Raises `Unfit`."""
    fitted = fit(
        value,
        schema,
        text_is_list=text_is_list,
    )
    if not isinstance(fitted, dict):
        raise Unfit("The schema does not describe an object.")
    return fitted


def readable(
    value: JsonValue,
    *,
    escapes: bool,
) -> JsonValue:
    """Return a value whose texts a person can read: without control characters and, with `escapes`, without those.

    Raises `Unfit` where a control character stands for an unknown letter.
    """
    match value:
        case str():
            text = value
            if escapes and "\\" in text:
                with suppress(ValueError):  # no escapes that were escaped once more
                    text = str(
                        json.loads(
                            f'"{text.replace("\\x", "\\u00")}"',
                            strict=False,
                        )
                    )
                text = sendable_text(text.rstrip("\\"))
            text = mended_text(text)
            if CONTROL.search(text):
                raise Unfit(
                    f"A character of {display(value)} was lost. Write it again, in plain letters."
                )
            return text
        case list():
            return [readable(item, escapes=escapes) for item in value]
        case dict():
            return {
                name: readable(item, escapes=escapes) for name, item in value.items()
            }
        case _:
            return value


@dataclass(frozen=True, slots=True)
class _Fit:
    """Fits values to the parts of one schema, whose root resolves `$ref`."""

    root: JsonObject
    text_is_list: bool = True
    generous: bool = True
    """Whether values are coerced; otherwise, they have to fit as they are."""
    _tried: dict[tuple[int, int, bool], tuple[JsonValue, JsonValue, object]] = field(
        default_factory=dict
    )
    """Outcomes by the ids of schema and value, which are kept alive with them.

    Without it, the time for nested choices would grow exponentially.
    """

    def fit(
        self,
        schema: JsonValue,
        value: JsonValue,
        path: str,
    ) -> JsonValue:
        """Return the value in the form that the schema describes. Raises `Unfit`."""
        if not isinstance(schema, dict):
            return value
        if "$ref" in schema:
            schema = self._resolve(schema)
        if self.generous:
            value = _scaled(schema, value)
        demands = objects_in(schema.get("allOf"))
        if demands:
            value = self._fit_all(
                demands,
                value,
                path,
            )
        choices = _alternatives(schema)
        if choices:
            return self._fit_any(
                choices,
                schema,
                value,
                path,
            )
        if "enum" in schema or "const" in schema:
            return self._fit_enum(schema, value, path)
        match schema.get("type", "object" if "properties" in schema else None):
            case "object":
                return self._fit_object(schema, value, path)
            case "array":
                return self._fit_array(schema, value, path)
            case str(kind) if kind in _SCALARS:
                return self._fit_scalar(
                    kind,
                    schema,
                    value,
                    path,
                )
            case _:
                return value

    @property
    def _strict(self) -> _Fit:
        return replace(self, generous=False)

    def _resolve(self, schema: JsonObject) -> JsonObject:
        seen: set[str] = set()
        while (
            isinstance(reference := schema.get("$ref"), str) and reference not in seen
        ):
            seen.add(reference)
            target: JsonValue = self.root
            for part in reference.removeprefix("#/").split("/"):
                target = as_object(target).get(part)
            schema = as_object(target)
        return schema

    def _fit_all(
        self, demands: Sequence[JsonObject], value: JsonValue, path: str
    ) -> JsonValue:
        """Coerce a value to every part of `allOf`, if the result is the same for all."""
        fitted = value
        for demand in demands:
            fitted = self.fit(
                demand,
                fitted,
                path,
            )
        if any(
            self._strict.attempt(demand, fitted, path) is _MISSING for demand in demands
        ):
            raise self._unfit(
                path,
                {"allOf": [*demands]},
                value,
            )
        return fitted

    def _fit_any(
        self,
        choices: list[JsonValue],
        schema: JsonObject,
        value: JsonValue,
        path: str,
    ) -> JsonValue:
        if any(
            self._strict.attempt(choice, value, path) is not _MISSING
            for choice in choices
        ):
            return value
        if self.generous:
            readings = {
                canonical_json(reading): reading  # type: ignore[arg-type]  # `_MISSING` is sorted out below
                for choice in choices
                if (reading := self.attempt(choice, value, path)) is not _MISSING
            }
            if len(readings) == 1:
                return readings.popitem()[1]  # type: ignore[return-value]  # never `_MISSING`
        raise self._unfit(
            path,
            schema,
            value,
        )

    def attempt(
        self,
        schema: JsonValue,
        value: JsonValue,
        path: str,
    ) -> object:
        """Return the value as `fit` does, or `_MISSING` if it does not fit."""
        key = (
            id(schema),
            id(value),
            self.generous,
        )
        if key not in self._tried:
            try:
                outcome: object = self.fit(
                    schema,
                    value,
                    path,
                )
            except Unfit:
                outcome = _MISSING
            self._tried[key] = (
                schema,
                value,
                outcome,
            )
        return self._tried[key][2]

    def _fit_object(
        self,
        schema: JsonObject,
        value: JsonValue,
        path: str,
    ) -> JsonValue:
        if self.generous:
            value = _embedded(value, "{")
        if not isinstance(value, dict):
            raise self._unfit(
                path,
                schema,
                value,
            )
        known = _properties(schema)
        needed = _required(schema)
        fitted: JsonObject = {}
        for key, item in value.items():
            where = _join(path, key)
            if key in known:
                try:
                    fitted[key] = self.fit(
                        known[key],
                        item,
                        where,
                    )
                except Unfit:
                    if not self.generous or key in needed or item not in ("", None):
                        raise
            elif schema.get("additionalProperties") is False:
                expected = ", ".join(sorted(known)) or "none"
                raise Unfit(
                    f"{where[:_KEY_LENGTH]} is not a parameter. Use: {expected}."
                )
            else:
                fitted[key] = item
        for key in needed:
            if key not in fitted:
                raise Unfit(
                    f"{_join(path, key)} is missing: expected {self._describe(known.get(key))}."
                )
        return fitted

    def _fit_array(
        self,
        schema: JsonObject,
        value: JsonValue,
        path: str,
    ) -> JsonValue:
        if self.generous:
            value = _embedded(value, "[")
        if not isinstance(value, list):
            if (
                not self.generous
                or value is None
                or value == ""
                or (isinstance(value, str) and not self.text_is_list)
            ):
                raise self._unfit(
                    path,
                    schema,
                    value,
                )
            value = [value]
        if not _is_within(value, schema):
            raise self._unfit(
                path,
                schema,
                value,
            )
        items = schema.get("items")
        return [
            self.fit(
                items,
                item,
                f"{path}[{index}]",
            )
            for index, item in enumerate(value)
        ]

    def _fit_enum(
        self,
        schema: JsonObject,
        value: JsonValue,
        path: str,
    ) -> JsonValue:
        listed = schema.get("enum")
        if isinstance(listed, list):
            allowed = listed
        else:
            allowed = [schema.get("const")]
        for choice in allowed:
            if choice == value and isinstance(choice, bool) == isinstance(value, bool):
                return choice
        if self.generous and not isinstance(value, (dict, bool)) and value is not None:
            if isinstance(value, list) and len(value) == 1:
                return self._fit_enum(
                    schema,
                    value[0],
                    path,
                )
            meant = find_name(
                str(value),
                map(str, allowed),
            )
            matches = [choice for choice in allowed if str(choice) == meant]
            if len(matches) == 1:
                return matches[0]
        raise self._unfit(
            path,
            schema,
            value,
        )

    def _fit_scalar(
        self,
        kind: str,
        schema: JsonObject,
        value: JsonValue,
        path: str,
    ) -> JsonValue:
        accepts, convert = _SCALARS[kind]
        if self.generous and isinstance(value, list) and len(value) == 1:
            one = value[0]
        else:
            one = value
        for candidate in (one, convert(one)) if self.generous else (one,):
            if accepts(candidate) and _is_within(candidate, schema):
                return candidate
        raise self._unfit(
            path,
            schema,
            value,
        )

    def _unfit(
        self,
        path: str,
        schema: JsonObject,
        value: JsonValue,
    ) -> Unfit:
        subject = path or "The arguments"
        return Unfit(
            f"{subject}: expected {self._describe(schema)}, got {display(value)}."
        )

    def _describe(
        self,
        part: JsonValue,
        levels: int = _DESCRIBED_LEVELS,
    ) -> str:
        """Describe what a part of the schema accepts."""
        if not isinstance(part, dict) or not levels:
            return "a value"
        schema = self._resolve(part)
        demands = objects_in(schema.get("allOf"))
        if demands:
            return " and ".join(
                dict.fromkeys(self._describe(demand, levels - 1) for demand in demands)
            )
        choices = _alternatives(schema)
        if choices:
            return " or ".join(
                dict.fromkeys(self._describe(choice, levels - 1) for choice in choices)
            )
        listed = schema.get("enum")
        if isinstance(listed, list):
            return f"one of {display(listed, _CHOICES_LENGTH)}"
        if "const" in schema:
            return display(schema["const"])
        match schema.get("type"):
            case "array":
                items = schema.get("items")
                if isinstance(items, dict):
                    of_what = f" of {self._describe(items, levels - 1)}"
                else:
                    of_what = ""
                return f"a list{of_what}{_bounds_in_words(schema)}"
            case str(kind):
                return f"{kind}{_bounds_in_words(schema)}"
            case _:
                return "a value"


def _join(path: str, key: str) -> str:
    if path:
        return f"{path}.{key}"
    return key


def _embedded(value: JsonValue, opening: str) -> JsonValue:
    """Return the list or object that a text contains as JSON, or the value as it is."""
    if isinstance(value, str) and value.lstrip().startswith(opening):
        with suppress(ValueError):
            return parse_json(value)
    return value


def _properties(schema: JsonObject) -> JsonObject:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _required(schema: JsonObject) -> list[str]:
    required = schema.get("required")
    if isinstance(required, list):
        return [key for key in required if isinstance(key, str)]
    return []


def _alternatives(schema: JsonObject) -> list[JsonValue]:
    for key in ("anyOf", "oneOf"):
        choices = schema.get(key)
        if isinstance(choices, list) and choices:
            if "properties" in schema:  # alternatives of `required`, not of the value
                return []
            return choices
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return [{**schema, "type": kind} for kind in kinds]
    return []


def _is_within(value: JsonValue, schema: JsonObject) -> bool:
    """Return whether a value is within the bounds of a schema for its type."""
    size = len(value) if isinstance(value, str | list) else value
    return not _is_number(size) or all(
        compares(size, bound)
        for keyword, (kind, compares) in _BOUNDS.items()
        if isinstance(value, kind) and _is_number(bound := schema.get(keyword))
    )


def _bounds_in_words(schema: JsonObject) -> str:
    """Name the bounds of a schema as JSON Schema does, to follow its type."""
    bounds = [
        f"{keyword} {schema[keyword]}"
        for keyword in _BOUNDS
        if _is_number(schema.get(keyword))
    ]
    if bounds:
        return f" ({', '.join(bounds)})"
    return ""


def _is_number(value: JsonValue) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _as_number(value: JsonValue) -> JsonValue:
    """Convert "50", " 50 % " and 50.0 to numbers, whole ones to integers."""
    if isinstance(value, str):
        text = in_ascii_digits(value).strip().removesuffix("%").rstrip()
        if not _NUMBER.fullmatch(text):
            return value
        try:
            if text.lstrip("+-").isdigit():
                value = int(text)
            else:
                value = finite(text)
        except ValueError:
            return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _scaled(schema: JsonObject, value: JsonValue) -> JsonValue:
    """Convert 0.5 to 50 where only whole percentages fit, and 50 or "50 %" to 0.5 where a share of 1 is meant."""
    parts = [schema, *objects_in(schema.get("allOf"))]
    highest = {
        part["maximum"]
        for part in parts
        if part.get("minimum") == 0 and _is_number(part.get("maximum"))
    }
    if not _is_number(number := _as_number(value)):
        return value
    is_whole = any(part.get("type") == "integer" for part in parts)
    is_percentage = str(value).rstrip().endswith("%")
    is_share = 1 / _PERCENT <= number < 1 and not is_percentage
    if highest == {_PERCENT} and is_whole and is_share:
        return round(number * _PERCENT)
    is_of_hundred = 0 <= number <= _PERCENT and (number > 1 or is_percentage)
    if highest == {1} and not is_whole and is_of_hundred:
        return number / _PERCENT
    return value


_BOOLEANS: Final[dict[str, JsonValue]] = {
    "true": True,
    "false": False,
}
_SCALARS: Final[
    dict[str, tuple[Callable[[JsonValue], bool], Callable[[JsonValue], JsonValue]]]
] = {
    "string": (
        lambda value: isinstance(value, str),
        lambda value: canonical_json(value) if _is_number(value) else value,
    ),
    "integer": (
        lambda value: isinstance(value, int) and not isinstance(value, bool),
        _as_number,
    ),
    "number": (_is_number, _as_number),
    "boolean": (
        lambda value: isinstance(value, bool),
        lambda value: (
            _BOOLEANS.get(plain_name(value), value) if isinstance(value, str) else value
        ),
    ),
    "null": (lambda value: value is None, lambda value: None if value == "" else value),
}
"""By type, whether a value is of it, and the one way to read another value as one."""

_SYNONYMS: Final = read_data_file(__file__, dict[str, frozenset[str]], "synonyms.toml")


def fit_known(value: JsonObject, schema: JsonObject) -> JsonObject:
    """Return an object with each parameter that fits in the form that the schema describes, the others as they are."""
    known = _properties(schema)
    fitted = dict(value)
    for key, item in value.items():
        with suppress(Unfit, RecursionError):
            fitted[key] = _Fit(schema).fit(
                known.get(key),
                item,
                key,
            )
    return fitted


def known_parameters(value: JsonObject, schema: JsonObject) -> JsonObject:
    """Return an object with the schema's names for parameters that it knows by another name.

    Names are the same but for number, case and separators, or by a common synonym. One
    that may mean several, or one that is given otherwise, stays as it is.
    """
    known = _properties(schema)
    if schema.get("additionalProperties") is not False:
        unknown = []
    else:
        unknown = [key for key in value if key not in known]
    renamed = dict(value)
    for key in unknown:
        meant = [one for one in known if is_called(one, key)]
        if len(meant) == 1 and renamed.get(meant[0], value[key]) in (
            value[key],
            "",
            None,
        ):
            renamed[meant[0]] = renamed.pop(key)
    return renamed


def is_called(parameter: str, name: str) -> bool:
    """Return whether a name is another spelling of a parameter, or a common synonym."""
    bare = bare_name(name)
    known = bare_name(parameter)
    return bare == known or bare in _SYNONYMS.get(known, ())


def bare_name(name: str) -> str:
    """Return a name in the singular, in small letters and without separators."""
    letters = re.sub(
        r"[\W_]",
        "",
        plain(name),
    )
    for plural, singular in (("ies", "y"), ("sses", "ss"), ("ss", "ss"), ("s", "")):
        if letters.endswith(plural):
            return letters.removesuffix(plural) + singular
    return letters


MAX_ARGUMENTS_LENGTH: Final = 65_536
"""Characters. A spoken request never needs more; a model that repeats itself writes far more."""


def read_arguments(text: str, schema: JsonObject) -> JsonObject:
    """Parse the arguments of a call and coerce them to the tool's schema.

    Empty text means no arguments, and malformed JSON is repaired where that is
    unambiguous. Raises `Unfit`.
    """
    return fit_object(
        known_parameters(parse_arguments(text), schema),
        schema,
    )


def parse_arguments(
    text: str,
    most: int = MAX_ARGUMENTS_LENGTH,
) -> JsonObject:
    """Parse the arguments of a call as the model wrote them. Raises `Unfit`."""
    if len(text) > most:
        raise Unfit(
            f"The arguments are too long: {len(text)} characters, at most {most}."
        )
    value = _parse(text)
    if isinstance(value, str):  # Some models encode the object twice.
        value = _parse(value)
    if not isinstance(value, dict):
        raise Unfit(f"The arguments must be one JSON object, got {display(value)}.")
    return value


def _parse(text: str) -> JsonValue:
    if not text.strip():
        return {}
    try:
        value = parse_json(text, unique_names=True)
    except ValueError as problem:
        try:
            value = repair_json(text, bare_words=True)
        except ValueError:
            raise Unfit(
                f"The arguments are not valid JSON ({problem}). Send one JSON object."
            ) from problem
    return {} if value is None else value
