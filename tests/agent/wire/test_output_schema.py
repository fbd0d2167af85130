"""Schemas of answers as services take them: strict where that says the same, and never another thing."""

import json

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.json.coercion import fit
from custom_components.chatterbox.agent.loop.structured_output import read_output
from custom_components.chatterbox.agent.messages import (
    JsonObject,
    JsonValue,
    ToolChoiceMode,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest, OutputFormat
from custom_components.chatterbox.agent.wire.output_schema import (
    ANTHROPIC,
    OPENAI,
    StrictDialect,
    openai_output,
    plain_schema,
    strict_schema,
)
from tests.agent.json_values import SchemaAndValue, schemas_and_values
from tests.support.at_once import at_once
from tests.support.doubles import tool

NULL: JsonObject = {"type": "null"}


def object_of(**properties: JsonValue) -> JsonObject:
    """Return the schema of an object that has to have the first of its fields."""
    first: list[JsonValue] = [
        name for name, _ in zip(properties, range(1), strict=False)
    ]
    return {
        "type": "object",
        "properties": properties,
        "required": first,
        "additionalProperties": False,
    }


ROOM = object_of(
    name={
        "type": "string",
        "description": "What it is called.",
        "pattern": "^a",
        "maxLength": 9,
    },
    lamps={"type": "integer", "minimum": 0, "description": "How many."},
    kind={"enum": ["bath", "bed"]},
    doors={
        "type": "array",
        "items": object_of(to={"type": "string", "format": "entity_id"}),
        "minItems": 1,
    },
    since={"type": ["string", "null"], "format": "date"},
)


def test_openai_is_told_whether_the_schema_is_enforced() -> None:
    strict, free = (
        OutputFormat("room", ROOM),
        OutputFormat("any", {"type": "object", "patternProperties": {"a": {}}}),
    )
    assert openai_output(strict) == {
        "name": "room",
        "schema": strict_schema(ROOM, OPENAI),
        "strict": True,
    }
    assert openai_output(free) == {
        "name": "any",
        "schema": plain_schema(free.schema),
        "strict": False,
    }


def test_openai_wants_all_fields_and_null_for_what_is_left_out() -> None:
    assert strict_schema(ROOM, OPENAI) == {
        "type": "object",
        "properties": {
            "name": {"description": "What it is called.", "type": "string"},
            "lamps": {
                "description": "How many.",
                "anyOf": [{"type": "integer", "minimum": 0}, NULL],
            },
            "kind": {"anyOf": [{"type": "string", "enum": ["bath", "bed"]}, NULL]},
            "doors": {
                "anyOf": [
                    {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"to": {"type": "string"}},
                            "required": ["to"],
                            "additionalProperties": False,
                        },
                        "minItems": 1,
                    },
                    NULL,
                ]
            },
            "since": {"anyOf": [{"type": "string", "format": "date"}, NULL]},
        },
        "required": ["name", "lamps", "kind", "doors", "since"],
        "additionalProperties": False,
    }


def test_anthropic_wants_no_bounds_and_lets_fields_be_left_out() -> None:
    strict = strict_schema(
        object_of(a={"type": "string"}, b={"type": "integer", "minimum": 0}), ANTHROPIC
    )

    assert strict == object_of(a={"type": "string"}, b={"type": "integer"})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"const": 5}, {"type": "integer", "enum": [5]}),
        ({"enum": [1.5, 2.5]}, {"type": "number", "enum": [1.5, 2.5]}),
        ({"enum": [True]}, {"type": "boolean", "enum": [True]}),
        ({"enum": ["a", None]}, {"anyOf": [{"type": "string", "enum": ["a"]}, NULL]}),
        (
            {"anyOf": [{"type": "string"}, {"const": None}]},
            {"anyOf": [{"type": "string"}, NULL]},
        ),
    ],
)
def test_a_choice_says_of_what_kind_it_is(
    values: JsonObject, words: JsonObject
) -> None:
    assert strict_schema(object_of(value=values), ANTHROPIC) == object_of(value=words)


@pytest.mark.parametrize(
    "part",
    [
        {},
        True,
        {"type": "object"},
        {"type": "object", "properties": {}, "additionalProperties": True},
        {"type": "object", "properties": {}, "required": "all"},
        {"type": "array"},
        {"type": "stuff"},
        {"enum": []},
        {"enum": "all"},
        {"enum": [{}]},
        {"$ref": "#/x"},
        {"allOf": [{"type": "string"}]},
    ],
)
@pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC])
def test_what_cannot_be_guaranteed_is_not_said_strictly(
    part: JsonValue, dialect: StrictDialect
) -> None:
    assert strict_schema(object_of(part=part), dialect) is None


def test_only_patterns_are_left_out_where_nothing_is_guaranteed() -> None:
    field: JsonValue = {"type": "string", "pattern": "^a+$", "maxLength": 9}
    choices: JsonValue = [{"pattern": "b"}, 3]

    assert plain_schema(
        object_of(pattern=field, other={"anyOf": choices})
    ) == object_of(pattern={"type": "string", "maxLength": 9}, other={"anyOf": [{}, 3]})


OUTPUT = OutputFormat("room", ROOM)


@pytest.mark.parametrize(
    ("tools", "choice", "beside_tools", "is_enforced"),
    [
        ((), ToolChoiceMode.AUTO, False, True),
        ((tool("look"),), ToolChoiceMode.AUTO, False, False),
        ((tool("look"),), ToolChoiceMode.AUTO, True, True),
        ((tool("look"),), ToolChoiceMode.NONE, False, True),
    ],
)
def test_a_shape_that_would_keep_a_model_from_calling_is_not_enforced(
    tools: tuple[object, ...],
    choice: ToolChoiceMode,
    *,
    beside_tools: bool,
    is_enforced: bool,
) -> None:
    offered = (tool("look"),) if tools else ()
    request = CompletionRequest(
        "", (UserMessage("Where?"),), offered, choice, output=OUTPUT
    )

    assert request.enforced_output(beside_tools=beside_tools) == (
        OUTPUT if is_enforced else None
    )


def filled(value: JsonValue, schema: JsonValue) -> JsonValue:
    """Return a value as a strict service would have it written: null for each field that is left out."""
    match value, schema:
        case dict(), {"properties": dict(properties)}:
            return {
                name: filled(value[name], part) if name in value else None
                for name, part in properties.items()
            }
        case list(), {"items": items}:
            return [filled(item, items) for item in value]
        case _:
            return value


def takes_null(schema: JsonValue) -> bool:
    """Return whether null is a value of its own somewhere in a schema, and no sign that a field was left out."""
    return any(
        text in json.dumps(schema)
        for text in ('"null"', "null]", "null,", '"const": null', "{}")
    )


@given(
    st.dictionaries(st.text(max_size=9), schemas_and_values(), min_size=1, max_size=4),
    st.data(),
)
def test_data_that_fits_comes_back_as_it_was(
    members: dict[str, SchemaAndValue], data: st.DataObject
) -> None:
    given_names = [name for name in members if data.draw(st.booleans())]
    schema: JsonObject = {
        "type": "object",
        "properties": {name: part for name, (part, _) in members.items()},
        "required": [*given_names[:1]],
        "additionalProperties": False,
    }
    value: JsonObject = {name: members[name][1] for name in given_names}
    strict = strict_schema(schema, OPENAI)
    if strict is None or takes_null(schema):
        return
    written = filled(value, schema)

    assert fit(written, strict) == written
    assert (
        at_once(read_output(json.dumps(written), OutputFormat("any", schema))) == value
    )
