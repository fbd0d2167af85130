"""Schemas of structured outputs in the subset of JSON Schema that services accept.

Unsupported parts are left out: the model reads the whole schema in its instructions,
and the caller validates the answer. Sources: OpenAI's guide "Structured model outputs",
"Supported schemas"; Claude API guide "Structured outputs", "JSON Schema limitations";
llama.cpp's grammar converter, which Ollama uses too.
"""

from dataclasses import dataclass
from typing import Final

from ..json.text import as_list
from ..messages import JsonObject, JsonValue
from ..protocols import OutputFormat

_FORMATS: Final = frozenset(
    {
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    }
)
_BOUNDS: Final = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
)
_UNSUPPORTED: Final = frozenset(
    {
        "$ref",
        "allOf",
        "not",
        "if",
        "prefixItems",
        "patternProperties",
        "dependentRequired",
    }
)
_NULL: Final[JsonObject] = {"type": "null"}
_KINDS: Final = {
    str: "string",
    float: "number",
    int: "integer",
    bool: "boolean",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class StrictDialect:
    """The subset of a service with strict schemas."""

    bounds: bool
    """Whether bounds of numbers and lists are supported."""
    all_required: bool
    """Whether every field is required; an optional one may then be null."""


OPENAI: Final = StrictDialect(bounds=True, all_required=True)
ANTHROPIC: Final = StrictDialect(bounds=False, all_required=False)


class _NotEnforceable(Exception):
    """The schema cannot be enforced."""


def strict_schema(
    schema: JsonObject,
    dialect: StrictDialect,
) -> JsonObject | None:
    """Return the schema as far as a service can enforce it; None if it cannot."""
    try:
        return _strict(schema, dialect)
    except _NotEnforceable:
        return None


def openai_output(output: OutputFormat) -> JsonObject:
    """Return an output format in the fields of both formats of OpenAI."""
    strict = strict_schema(output.schema, OPENAI)
    if strict is None:
        schema = plain_schema(output.schema)
    else:
        schema = strict
    return {
        "name": output.name,
        "schema": schema,
        "strict": strict is not None,
    }


def plain_schema(schema: JsonObject) -> JsonObject:
    """Return a schema without patterns, which local servers refuse or never finish."""
    return {
        keyword: _plain(value)
        for keyword, value in schema.items()
        if keyword != "pattern"
        or not isinstance(value, str)  # a field may have that name
    }


def _plain(value: JsonValue) -> JsonValue:
    match value:
        case dict():
            return plain_schema(value)
        case list():
            return [_plain(part) for part in value]
        case _:
            return value


def _strict(schema: JsonValue, dialect: StrictDialect) -> JsonObject:
    if not isinstance(schema, dict) or not _UNSUPPORTED.isdisjoint(schema):
        raise _NotEnforceable
    described: JsonObject = (
        {"description": schema["description"]} if "description" in schema else {}
    )
    choices = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(choices, list) and "properties" not in schema:
        return {
            **described,
            "anyOf": [_strict(choice, dialect) for choice in choices],
        }
    if "enum" in schema or "const" in schema:
        listed = schema.get(
            "enum",
            [schema.get("const")],
        )
        return {
            **described,
            **_strict_choice(listed if isinstance(listed, list) else []),
        }
    match schema.get("type"):
        case list(kinds):
            return {
                **described,
                "anyOf": [_strict({**schema, "type": kind}, dialect) for kind in kinds],
            }
        case "object":
            return {**described, **_strict_object(schema, dialect)}
        case "array":
            items = _strict(schema.get("items"), dialect)
            return {
                **described,
                "type": "array",
                "items": items,
                **_remaining(schema, dialect),
            }
        case str(kind) if kind in _KINDS.values():
            return {
                **described,
                "type": kind,
                **_remaining(schema, dialect),
            }
        case _:
            raise _NotEnforceable


def _strict_object(schema: JsonObject, dialect: StrictDialect) -> JsonObject:
    properties = schema.get("properties")
    required = schema.get("required", [])
    is_open = schema.get("additionalProperties", False) is not False
    if (
        not isinstance(properties, dict)
        or not isinstance(required, list)
        or is_open
        or "anyOf" in schema
    ):
        raise _NotEnforceable
    parts: JsonObject = {}
    for name, part in properties.items():
        strict = _strict(part, dialect)
        parts[name] = (
            strict
            if name in required or not dialect.all_required
            else _nullable(strict)
        )
    return {
        "type": "object",
        "properties": parts,
        "required": [*parts]
        if dialect.all_required
        else [name for name in required if name in parts],
        "additionalProperties": False,
    }


def _nullable(schema: JsonObject) -> JsonObject:
    """Return a schema that also accepts null, with its description at the top."""
    inner = {
        keyword: value for keyword, value in schema.items() if keyword != "description"
    }
    described: JsonObject = (
        {"description": schema["description"]} if "description" in schema else {}
    )
    choices = as_list(inner.get("anyOf", inner))
    others = [choice for choice in choices if choice != _NULL]
    return {
        **described,
        "anyOf": [*others, _NULL],
    }


def _strict_choice(values: list[JsonValue]) -> JsonObject:
    """Return an enum, grouped by type as services require."""
    by_kind: dict[str, list[JsonValue]] = {}
    for value in values:
        by_kind.setdefault(_KINDS.get(type(value), ""), []).append(value)
    if not by_kind or "" in by_kind:
        raise _NotEnforceable
    groups: list[JsonObject] = [
        _NULL if kind == "null" else {"type": kind, "enum": of_kind}
        for kind, of_kind in by_kind.items()
    ]
    if len(groups) == 1:
        return groups[0]
    return {"anyOf": [*groups]}


def _remaining(schema: JsonObject, dialect: StrictDialect) -> JsonObject:
    remaining: JsonObject = {
        keyword: schema[keyword]
        for keyword in _BOUNDS
        if dialect.bounds and keyword in schema
    }
    if schema.get("type") == "string" and (form := schema.get("format")) in _FORMATS:
        remaining["format"] = form
    return remaining
