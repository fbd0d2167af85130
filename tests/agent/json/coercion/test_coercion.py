"""A value is read as the schema wants it where there is one way to read it, and refused in clear words otherwise."""

from contextlib import suppress
from typing import Final

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.json.coercion import Unfit, fit
from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from tests.agent.json_values import (
    SchemaAndValue,
    json_objects,
    json_values,
    schemas_and_values,
)

STRING: Final[JsonObject] = {"type": "string"}
INTEGER: Final[JsonObject] = {"type": "integer"}
NUMBER: Final[JsonObject] = {"type": "number"}
BOOLEAN: Final[JsonObject] = {"type": "boolean"}
NULL: Final[JsonObject] = {"type": "null"}
PERCENT: Final[JsonObject] = {"type": "integer", "minimum": 0, "maximum": 100}
DOMAIN: Final[JsonObject] = {"type": "string", "enum": ["light", "Cover"]}
MIXED: Final[JsonObject] = {"enum": ["off", None, True, 3]}
STRINGS: Final[JsonObject] = {"type": "array", "items": STRING}
DOMAINS: Final[JsonObject] = {"type": "array", "items": DOMAIN}
POINT: Final[JsonObject] = {
    "type": "object",
    "properties": {"x": INTEGER},
    "required": ["x"],
}
COLOR: Final[JsonObject] = {
    "type": "array",
    "items": INTEGER,
    "minItems": 3,
    "maxItems": 3,
}
NAME: Final[JsonObject] = {"type": "string", "minLength": 1, "maxLength": 5}
VOLUME: Final[JsonObject] = {
    "type": "number",
    "exclusiveMinimum": 0,
    "exclusiveMaximum": 10,
}
SHORT: Final[JsonObject] = {
    "allOf": [
        {"anyOf": [INTEGER, STRING]},
        {
            "anyOf": [
                {"type": "string", "maxLength": 3},
                {"type": "array", "maxItems": 3},
            ]
        },
    ]
}
SHARE: Final[JsonObject] = {"type": "number", "minimum": 0, "maximum": 1}
MAYBE: Final[JsonObject] = {"anyOf": [INTEGER, NULL]}
ONE_OR_MANY: Final[JsonObject] = {"oneOf": [STRING, STRINGS]}
MANY_OR_NONE: Final[JsonObject] = {"anyOf": [STRINGS, NULL]}
REFERS: Final[JsonObject] = {
    "type": "object",
    "properties": {"mode": {"$ref": "#/$defs/Mode", "description": "How."}},
    "$defs": {"Mode": DOMAIN},
}


@pytest.mark.parametrize(
    ("schema", "value", "fitted"),
    [
        (NUMBER, "50", 50),
        (NUMBER, " 50 % ", 50),
        (NUMBER, "50%", 50),
        (NUMBER, "-2.5e1", -25),
        (NUMBER, "21.5", 21.5),
        (NUMBER, ".5", 0.5),
        (INTEGER, "50", 50),
        (INTEGER, "+7", 7),
        (INTEGER, 50.0, 50),
        (INTEGER, "50.0", 50),
        (INTEGER, "9007199254740993", 9007199254740993),
        (INTEGER, ["50"], 50),
        (PERCENT, "100", 100),
        (PERCENT, 0.5, 50),
        (PERCENT, "0.5", 50),
        (PERCENT, 0.07, 7),
        (
            {"allOf": [INTEGER, {"type": "number", "minimum": 0, "maximum": 100}]},
            0.5,
            50,
        ),
        (SHARE, 50, 0.5),
        (SHARE, "50 %", 0.5),
        (SHARE, "1%", 0.01),
        (SHARE, 0.5, 0.5),
        (STRING, 50, "50"),
        (STRING, 21.5, "21.5"),
        (STRING, ["light"], "light"),
        (BOOLEAN, "True", True),
        (BOOLEAN, " false", False),
        ({"type": "boolean", "minimum": 2}, "true", True),
        (NULL, "", None),
        (DOMAIN, "LIGHT", "light"),
        (DOMAIN, " cover ", "Cover"),
        (DOMAIN, ["light"], "light"),
        (DOMAIN, "ＬＩＧＨＴ\u200b", "light"),  # noqa: RUF001  # as models write it
        ({"enum": ["Groceries", "Bürobedarf"]}, "Bu\u0308robedarf", "Bürobedarf"),
        (PERCENT, "٥٠ %", 50),  # noqa: RUF001  # as models write it
        (PERCENT, "\uff15\uff10", 50),
        (MIXED, "true", True),
        (MIXED, "3", 3),
        ({"const": "on"}, "ON", "on"),
        (STRINGS, "light", ["light"]),
        (STRINGS, '["light", "cover"]', ["light", "cover"]),
        (STRINGS, "[kitchen] lamp", ["[kitchen] lamp"]),
        (STRINGS, 5, ["5"]),
        (DOMAINS, "Light", ["light"]),
        (POINT, '{"x": "1"}', {"x": 1}),
        (MAYBE, "5", 5),
        (MAYBE, "", None),
        (ONE_OR_MANY, "light", "light"),
        (MANY_OR_NONE, "light", ["light"]),
        ({"type": ["integer", "null"]}, "5", 5),
        ({"type": "array"}, "light", ["light"]),
        ({"properties": {"x": INTEGER}}, {"x": "1"}, {"x": 1}),
        (
            {**POINT, "anyOf": [{"required": ["x"]}, {"required": ["y"]}]},
            {"x": "1"},
            {"x": 1},
        ),
        (REFERS, {"mode": "LIGHT"}, {"mode": "light"}),
        (COLOR, "[255, 0, 0]", [255, 0, 0]),
        (COLOR, ["255", 0, 0], [255, 0, 0]),
        (NAME, 12345, "12345"),
        (NAME, "a💡b", "a💡b"),
        (VOLUME, "0.5", 0.5),
        (SHORT, "abc", "abc"),
        ({"allOf": [STRING, {"maxLength": 3}]}, 5, "5"),
        ({"type": "integer", "allOf": [{"type": "integer", "minimum": 3}]}, "5", 5),
        (
            {"allOf": [{"$ref": "#/$defs/Mode"}], "$defs": {"Mode": DOMAIN}},
            "LIGHT",
            "light",
        ),
    ],
)
def test_a_value_with_one_reading_is_read_so(
    schema: JsonObject, value: JsonValue, fitted: JsonValue
) -> None:
    result = fit(value, schema)

    assert result == fitted
    assert type(result) is type(fitted)
    assert fit(result, schema) == result, "reading it again changes nothing"


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        (INTEGER, "five", 'expected integer, got "five"'),
        (INTEGER, "5²", "expected integer"),
        (INTEGER, 1.5, "expected integer"),
        (INTEGER, True, "expected integer, got true"),
        (INTEGER, "1e400", "expected integer"),
        (INTEGER, "1_000", "expected integer"),
        (INTEGER, ["1", "2"], "expected integer"),
        (NUMBER, "NaN", "expected number"),
        (NUMBER, None, "expected number, got null"),
        (PERCENT, "150", 'expected integer (minimum 0, maximum 100), got "150"'),
        (PERCENT, -1, "expected integer (minimum 0, maximum 100)"),
        (PERCENT, "0.5 %", "expected integer (minimum 0, maximum 100)"),
        (PERCENT, 0.004, "expected integer (minimum 0, maximum 100)"),
        (PERCENT, 50.5, "expected integer (minimum 0, maximum 100)"),
        (SHARE, 150, "expected number (minimum 0, maximum 1)"),
        (SHARE, -0.5, "expected number (minimum 0, maximum 1)"),
        (STRING, True, "expected string, got true"),
        (STRING, {"a": 1}, "expected string"),
        (BOOLEAN, "yes", "expected boolean"),
        (BOOLEAN, 1, "expected boolean"),
        (NULL, "none", "expected null"),
        (DOMAIN, "fan", 'expected one of ["light","Cover"], got "fan"'),
        (DOMAIN, {"a": 1}, "expected one of"),
        (DOMAIN, None, "expected one of"),
        (DOMAIN, ["light", "Cover"], "expected one of"),
        (MIXED, 1, "expected one of"),
        ({"enum": ["on", "ON"]}, "On", "expected one of"),
        ({"const": "on"}, "off", 'expected "on", got "off"'),
        (STRINGS, "", "expected a list of string"),
        (STRINGS, None, "expected a list of string"),
        (STRINGS, [True], "[0]: expected string, got true"),
        ({"type": "array"}, "", "expected a list, got"),
        (POINT, "x", "expected object"),
        (POINT, "{x", "expected object"),
        (POINT, [], "expected object"),
        (POINT, {}, "x is missing: expected integer"),
        (POINT, {"x": ""}, "x: expected integer"),
        (MAYBE, "five", "expected integer or null"),
        (
            {"anyOf": [INTEGER, BOOLEAN, {"type": "integer", "maximum": 3}]},
            "x",
            "integer or boolean or integer (maximum 3), got",
        ),
        (
            {"anyOf": [INTEGER, BOOLEAN, {**INTEGER, "description": "A number."}]},
            "x",
            "integer or boolean, got",
        ),
        (
            {"anyOf": [INTEGER, STRINGS]},
            {"a": 1},
            "expected integer or a list of string",
        ),
        (
            COLOR,
            [255, 0],
            "expected a list of integer (minItems 3, maxItems 3), got [255,0]",
        ),
        (COLOR, "red", "expected a list of integer (minItems 3, maxItems 3)"),
        (COLOR, [1, 2, 3, 4], "expected a list of integer (minItems 3, maxItems 3)"),
        (
            {**STRINGS, "minItems": 1},
            [],
            "expected a list of string (minItems 1), got []",
        ),
        (
            {"type": "array", "minItems": 1, "maxItems": 2},
            [1, 2, 3],
            "expected a list (minItems 1, maxItems 2)",
        ),
        (NAME, "", 'expected string (minLength 1, maxLength 5), got ""'),
        (NAME, "abcdef", "expected string (minLength 1, maxLength 5)"),
        (
            {"type": "string", "maxLength": 1},
            "ab",
            "expected string (maxLength 1), got",
        ),
        ({"type": "string", "minLength": 2}, "a", "expected string (minLength 2)"),
        (VOLUME, 0, "expected number (exclusiveMinimum 0, exclusiveMaximum 10), got 0"),
        (VOLUME, "10", "expected number (exclusiveMinimum 0, exclusiveMaximum 10)"),
        ({"type": "integer", "minimum": 1}, 0, "expected integer (minimum 1), got 0"),
        (
            {"type": "integer", "exclusiveMinimum": 1},
            1,
            "expected integer (exclusiveMinimum 1), got 1",
        ),
        (
            {"type": "integer", "exclusiveMaximum": 1},
            1,
            "expected integer (exclusiveMaximum 1), got 1",
        ),
        (
            {"type": "array", "maxItems": 1},
            [1, 2],
            "expected a list (maxItems 1), got [1,2]",
        ),
        ({"type": "number", "maximum": 1.5}, 2, "expected number (maximum 1.5)"),
        (
            SHORT,
            "abcd",
            'integer or string and string (maxLength 3) or a list (maxItems 3), got "abcd"',
        ),
        (SHORT, 5, "expected string (maxLength 3) or a list"),
        ({"allOf": [STRING, INTEGER]}, "5", 'expected string and integer, got "5"'),
        ({"properties": {"x": INTEGER}}, "abc", "expected a value, got"),
        ({"anyOf": [{"anyOf": [SHORT, INTEGER]}, NUMBER]}, True, "a value or"),
        (
            {"anyOf": [{"type": "integer"}, {"type": "array", "items": INTEGER}]},
            "5",
            "expected integer or a list",
        ),
    ],
)
def test_a_value_with_no_reading_or_several_is_refused(
    schema: JsonObject, value: JsonValue, words: str
) -> None:
    with pytest.raises(Unfit) as refusal:
        fit(value, schema)
    assert words in str(refusal.value)


def test_a_problem_is_named_where_it_is() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "rooms": {
                "type": "array",
                "items": {"type": "object", "properties": {"floor": INTEGER}},
            }
        },
    }
    with pytest.raises(
        Unfit, match=r"^rooms\[1\]\.floor: expected integer, got \"up\"\.$"
    ):
        fit({"rooms": [{"floor": 1}, {"floor": "up"}]}, schema)


@pytest.mark.parametrize("nothing", ["", None])
def test_nothing_for_an_optional_parameter_leaves_it_out(nothing: JsonValue) -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"brightness": PERCENT, "names": STRINGS, "name": STRING},
    }

    fitted = fit({"brightness": nothing, "names": nothing, "name": "lamp"}, schema)

    assert fitted == {"name": "lamp"}


def test_an_empty_text_stays_where_a_text_is_wanted() -> None:
    assert fit({"name": ""}, {"type": "object", "properties": {"name": STRING}}) == {
        "name": ""
    }


def test_a_parameter_that_is_not_there_is_refused_only_where_the_schema_is_closed() -> (
    None
):
    schema: JsonObject = {"type": "object", "properties": {"b": INTEGER, "a": INTEGER}}

    assert fit({"c": 1}, schema) == {"c": 1}
    with pytest.raises(Unfit, match=r"^c is not a parameter\. Use: a, b\.$"):
        fit({"c": 1}, {**schema, "additionalProperties": False})
    with pytest.raises(Unfit, match="Use: none"):
        fit({"c": 1}, {"type": "object", "additionalProperties": False})


def test_a_refusal_stays_short_whatever_was_written() -> None:
    closed: JsonObject = {"type": "object", "additionalProperties": False}
    values: list[JsonValue] = [{"k" * 50_000: 1}, ["v" * 50_000]]
    for value in values:
        with pytest.raises(Unfit) as refusal:
            fit(value, closed)
        assert len(str(refusal.value)) < 300


def test_what_may_be_chosen_is_shown_at_length() -> None:
    rooms: list[JsonValue] = [f"room {n}" for n in range(20)]
    with pytest.raises(Unfit, match="room 19"):
        fit("cellar", {"enum": rooms})


STRANGE: Final[list[JsonObject]] = [
    {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}},
    {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": []}}},
    {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
    },
    {"$ref": "#/$defs/missing"},
    {"$ref": "#/type/x", "type": "object"},
    {"type": "object", "properties": [1], "required": "x"},
    {"type": "object", "properties": {"a": True, "b": 7}, "required": [1, "a"]},
    {"type": "object", "properties": {}, "anyOf": [{"required": ["a"]}]},
    {"type": "object", "properties": {"a": {"type": "tuple"}}},
    {"type": "integer", "minimum": "low", "maximum": None},
    {"type": "string", "minLength": "1", "maxLength": True, "allOf": "x"},
    {"type": "array", "minItems": {}, "maxItems": [3]},
    {"allOf": [7, True, {}]},
    {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}},
    {"type": []},
    {"enum": "light"},
    {"anyOf": []},
    {"anyOf": [5, True]},
]


@given(json_objects())
def test_a_strange_schema_never_raises_anything_else(value: JsonObject) -> None:
    for schema in STRANGE:
        with suppress(Unfit):
            fitting = fit(value, schema)
            assert fit(fitting, schema) == fitting


def test_a_schema_that_refers_to_itself_without_end_is_refused() -> None:
    with pytest.raises(Unfit, match="refers to itself"):
        fit(
            {},
            {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}},
        )


def test_a_schema_of_a_tree_is_understood() -> None:
    tree: JsonObject = {
        "$ref": "#/$defs/Node",
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "size": INTEGER,
                    "parts": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                },
            }
        },
    }
    assert fit({"size": "1", "parts": {"size": "2"}}, tree) == {
        "size": 1,
        "parts": [{"size": 2}],
    }


SIZES = st.integers(0, 6)


@given(SIZES, SIZES, st.text(max_size=8))
def test_a_text_is_taken_exactly_when_it_is_neither_too_short_nor_too_long(
    least: int, most: int, value: str
) -> None:
    schema: JsonObject = {"type": "string", "minLength": least, "maxLength": most}
    if least <= len(value) <= most:
        assert fit(value, schema) == value
    else:
        with pytest.raises(Unfit, match=r"maxLength \d+\), got"):
            fit(value, schema)


@given(st.lists(schemas_and_values(), min_size=1, max_size=3), json_values())
def test_what_has_to_fit_several_schemas_fits_each_of_them(
    pairs: list[SchemaAndValue], value: JsonValue
) -> None:
    parts: list[JsonValue] = [schema for schema, _ in pairs]
    for each in (value, *(fitting for _, fitting in pairs)):
        with suppress(Unfit):
            fitted = fit(each, {"allOf": parts})
            assert all(fit(fitted, schema) == fitted for schema, _ in pairs)


@given(schemas_and_values())
def test_a_value_that_fits_already_comes_back_as_it_is(pair: SchemaAndValue) -> None:
    schema, value = pair
    assert fit(value, schema) == value


@given(schemas_and_values(), json_values())
def test_any_value_is_fitted_for_good_or_refused(
    pair: SchemaAndValue, value: JsonValue
) -> None:
    schema, _ = pair
    with suppress(Unfit):
        fitted = fit(value, schema)
        assert fit(fitted, schema) == fitted


def test_choices_within_choices_are_each_tried_once() -> None:
    choice: JsonObject = {
        "anyOf": [
            {
                "type": "object",
                "properties": {"and": {"$ref": "#/$defs/x"}},
                "required": ["and"],
            },
            {
                "type": "object",
                "properties": {"and": {"$ref": "#/$defs/x"}},
                "required": ["and", "or"],
            },
            {"type": "string"},
        ]
    }
    value: JsonValue = []
    for _ in range(30):
        value = {"and": value}

    with pytest.raises(Unfit):
        fit(value, {"$ref": "#/$defs/x", "$defs": {"x": choice}})
