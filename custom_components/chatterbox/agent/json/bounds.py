"""How large a number, how long a text and how full a list may be, as a JSON Schema has it.

Knows those keywords; nothing of types, and nothing of who checks. `pattern` is not among them: a
regular expression from elsewhere could take for ever, and what runs a tool looks at it anyway.
"""

import math
from typing import Final

from ..messages import JsonObject, JsonValue

_SIZES: Final = {"string": ("minLength", "maxLength", "character"), "array": ("minItems", "maxItems", "item")}
_BOUNDS: Final = frozenset(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems")
)


def is_within(value: JsonValue, schema: JsonObject) -> bool:
    """Tell whether a value keeps to the bounds of a schema; one of another kind always does."""
    if _BOUNDS.isdisjoint(schema):
        return True
    match value:
        case bool():
            return True
        case int() | float():
            return (
                _bound(schema, "minimum", -math.inf) <= value <= _bound(schema, "maximum", math.inf)
                and not value <= _bound(schema, "exclusiveMinimum", -math.inf)
                and not value >= _bound(schema, "exclusiveMaximum", math.inf)
            )
        case str():
            return _has_size(len(value), "string", schema)
        case list():
            return _has_size(len(value), "array", schema)
        case _:
            return True


def bounds_in_words(schema: JsonObject, kind: str) -> str:
    """Say what the bounds of a kind of value are, to be put behind its name; nothing when there are none."""
    if kind in _SIZES:
        least, most, unit = _SIZES[kind]
        return _sizes_in_words(_bound(schema, least, 0), _bound(schema, most, math.inf), unit)
    low, high = _bound(schema, "minimum", -math.inf), _bound(schema, "maximum", math.inf)
    if math.isfinite(low) and math.isfinite(high):
        return f" from {low} to {high}"
    words = [
        (" of at least ", low),
        (" of at most ", high),
        (" above ", _bound(schema, "exclusiveMinimum", -math.inf)),
        (" below ", _bound(schema, "exclusiveMaximum", math.inf)),
    ]
    return "".join(f"{word}{bound}" for word, bound in words if math.isfinite(bound))


def _sizes_in_words(least: float, most: float, unit: str) -> str:
    units = f"{unit}{'' if (most if math.isfinite(most) else least) == 1 else 's'}"
    match least > 0, math.isfinite(most):
        case True, True:
            return f", {least} {units}" if least == most else f", {least} to {most} {units}"
        case True, False:
            return f", at least {least} {units}"
        case False, True:
            return f", at most {most} {units}"
        case _:
            return ""


def _has_size(size: int, kind: str, schema: JsonObject) -> bool:
    least, most, _ = _SIZES[kind]
    return _bound(schema, least, 0) <= size <= _bound(schema, most, math.inf)


def _bound(schema: JsonObject, keyword: str, default: float) -> float:
    """Return a bound; a keyword that is no number bounds nothing."""
    value = schema.get(keyword)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else default
