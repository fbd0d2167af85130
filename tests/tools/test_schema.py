"""Schemas of tools: what models are told, in a form that every provider accepts."""

import json
from enum import Enum

import probatio
import pytest
import voluptuous as vol
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.llm import selector_serializer

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.tools.schema import (
    MAX_SCHEMAS,
    SchemaCache,
    ToolSchema,
    UnusableSchema,
    convert_schema,
    short_parameters,
)


def convert(schema: object) -> ToolSchema:
    return convert_schema(
        schema if isinstance(schema, vol.Schema) else vol.Schema(schema),
        selector_serializer,
    )


def test_an_ordinary_schema_is_told_as_it_is() -> None:
    schema = {
        vol.Required("name", description="Its name"): cv.string,
        vol.Optional("brightness"): vol.All(vol.Coerce(int), vol.Range(0, 100)),
    }

    assert convert(schema) == ToolSchema(
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Its name"},
                "brightness": {"type": "integer", "minimum": 0, "maximum": 100},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        (),
    )


def test_a_choice_of_required_arguments_moves_from_the_top_level_into_words() -> None:
    schema = convert(
        {
            vol.Required(vol.Any("hours", "minutes")): vol.Coerce(int),
            vol.Optional("name"): cv.string,
        }
    )

    assert set(schema.parameters) == {"type", "properties", "additionalProperties"}
    assert schema.remarks == ("Give at least one of: hours; minutes.",)


def test_arguments_that_exclude_each_other_are_said_in_words() -> None:
    schema = convert(
        {vol.Exclusive("a", "group"): int, vol.Exclusive("b", "group"): int}
    )

    assert "allOf" not in schema.parameters
    assert schema.remarks == ("Do not give a and b together.",)


def test_alternative_objects_become_one_with_the_properties_of_all() -> None:
    schema = convert(
        vol.Any(
            {vol.Required("kind"): "by_name", vol.Required("name"): cv.string},
            {vol.Required("kind"): "by_area", vol.Required("area"): cv.string},
        )
    )

    assert schema.parameters["type"] == "object"
    assert isinstance(properties := schema.parameters["properties"], dict)
    assert list(properties) == ["kind", "name", "area"]
    assert isinstance(kind := properties["kind"], dict)
    assert "by_name" in json.dumps(kind)
    assert "by_area" in json.dumps(kind)
    assert schema.parameters["required"] == ["kind"]
    assert schema.remarks == ("Give at least one of: name; area.",)


@pytest.mark.parametrize("schema", [{}, object, vol.Schema({}, extra=vol.ALLOW_EXTRA)])
def test_a_tool_without_arguments_still_has_an_object_with_properties(
    schema: object,
) -> None:
    parameters = convert(schema).parameters

    assert parameters["type"] == "object"
    assert parameters["properties"] == {}


def test_a_parameter_that_a_tool_would_drop_is_none() -> None:
    schema = vol.Schema({vol.Optional("query"): str}, extra=vol.REMOVE_EXTRA)

    assert convert_schema(schema).parameters["additionalProperties"] is False


def test_an_optional_argument_is_left_out_instead_of_null() -> None:
    schema = convert(
        {
            vol.Optional("name", default=None): vol.Maybe(cv.string),
            vol.Optional("mode", description=None): vol.Maybe(vol.In(["b", "a"])),
            vol.Optional("count"): vol.Any(None, int, str),
        }
    )

    assert "null" not in json.dumps(schema.parameters)
    assert schema.parameters["properties"] == {
        "name": {"type": "string"},
        "mode": {"type": "string", "enum": ["a", "b"]},
        "count": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    }


def test_what_holds_anyway_is_not_said() -> None:
    message = {
        "type": "string",
        "description": "",
        "title": "Album Name",
        "minLength": 0,
        "deprecated": False,
    }
    free = {
        "type": "object",
        "additionalProperties": True,
        "required": [],
        "$comment": "Mind the gap.",
        "title": "How",
    }
    told_of_the_title = {
        "type": "string",
        "title": "Description",
        "minLength": 2,
        "description": "Of the album",
    }

    def serialize(schema: object) -> object:
        found = (
            (cv.string, message),
            (cv.boolean, free),
            (cv.positive_int, told_of_the_title),
        )
        return next(
            (kind for known, kind in found if known is schema), probatio.UNSUPPORTED
        )

    arguments = {
        "album_name": cv.string,
        "options": cv.boolean,
        "title": cv.positive_int,
    }
    schema = convert_schema(
        vol.Schema({vol.Optional(name): kind for name, kind in arguments.items()}),
        serialize,
    )

    assert schema.parameters["properties"] == {
        "album_name": {"type": "string"},
        "options": {"type": "object", "title": "How"},
        "title": {
            "type": "string",
            "title": "Description",
            "minLength": 2,
            "description": "Of the album",
        },
    }


def test_a_required_argument_keeps_its_null() -> None:
    parameters = convert({vol.Required("assignee"): vol.Maybe(cv.string)}).parameters

    assert '"null"' in json.dumps(parameters)
    assert parameters["required"] == ["assignee"]


def test_properties_may_be_called_like_keywords() -> None:
    parameters = convert(
        {
            vol.Required("enum"): cv.string,
            vol.Optional("required"): int,
            vol.Optional("not"): int,
        }
    ).parameters

    assert isinstance(properties := parameters["properties"], dict)
    assert list(properties) == ["enum", "required", "not"]
    assert parameters["required"] == ["enum"]


@pytest.mark.parametrize("schema", [str, [str], vol.Any(int, str)])
def test_arguments_that_are_no_object_are_refused(schema: object) -> None:
    with pytest.raises(UnusableSchema, match="object"):
        convert(schema)


def test_a_serializer_that_answers_nonsense_is_refused() -> None:
    with pytest.raises((TypeError, ValueError)):
        convert_schema(vol.Schema({"a": str}), lambda _: {"type": object()})


class Mode(Enum):
    """Values that are not JSON."""

    ECO = "eco"


def test_what_is_no_json_becomes_json() -> None:
    parameters = convert(
        {vol.Optional("mode", default=Mode.ECO): vol.In(list(Mode))}
    ).parameters

    assert parameters["properties"] == {
        "mode": {"type": "string", "enum": ["eco"], "default": "eco"}
    }


def test_a_null_is_left_out_in_every_way_to_write_it() -> None:
    written = {
        "a": {"type": ["string", "null"]},
        "b": {"type": ["string", "integer", "null"]},
        "c": {"enum": ["y", None, "x"]},
        "d": {
            "anyOf": [{"type": "null"}, {"type": "string", "minLength": 1}],
            "description": "Its name",
        },
    }

    def answer(node: object) -> object:
        return written[node] if isinstance(node, str) else probatio.UNSUPPORTED

    parameters = convert_schema(
        vol.Schema({vol.Optional(name): name for name in written}), answer
    ).parameters

    assert parameters["properties"] == {
        "a": {"type": "string"},
        "b": {"type": ["string", "integer"]},
        "c": {"enum": ["x", "y"]},
        "d": {"type": "string", "minLength": 1, "description": "Its name"},
    }


def test_an_object_or_nothing_is_an_object() -> None:
    def answer(_: object) -> object:
        return {"type": ["object", "null"], "properties": {"a": {"type": "string"}}}

    assert convert_schema(vol.Schema({}), answer).parameters == {
        "type": "object",
        "properties": {"a": {"type": "string"}},
    }


BRIGHTNESS = vol.Required("brightness")
PERCENT = vol.All(vol.Coerce(int), vol.Range(0, 100))


def test_arguments_that_are_wrapped_anew_are_not_converted_anew() -> None:
    cache = SchemaCache()

    first = cache.convert(vol.Schema({BRIGHTNESS: PERCENT}), selector_serializer)
    second = cache.convert(
        vol.Schema({vol.Required("brightness"): PERCENT}), selector_serializer
    )

    assert second is first
    assert first == convert_schema(
        vol.Schema({BRIGHTNESS: PERCENT}), selector_serializer
    )
    assert len(cache) == 1


def test_another_argument_validator_or_serializer_is_another_schema() -> None:
    cache = SchemaCache()
    schemas = [
        vol.Schema({BRIGHTNESS: PERCENT}),
        vol.Schema({vol.Optional("brightness"): PERCENT}),
        vol.Schema({BRIGHTNESS: vol.Coerce(int)}),
        vol.Schema({BRIGHTNESS: PERCENT}, extra=vol.ALLOW_EXTRA),
        vol.Schema(vol.Any({BRIGHTNESS: PERCENT}, {})),
    ]

    for schema in schemas:
        assert cache.convert(schema, selector_serializer) == convert_schema(
            schema, selector_serializer
        )
    cache.convert(schemas[0])

    assert len(cache) == len(schemas) + 1


def test_choices_that_are_made_anew_for_each_turn_are_converted_once_and_do_not_pile_up() -> (
    None
):
    cache = SchemaCache()

    for number in range(MAX_SCHEMAS + 10):
        todo, again = (
            cache.convert(
                vol.Schema({vol.Required("list"): vol.In([f"List {number}"])})
            )
            for _ in range(2)
        )
        assert again is todo
        assert todo.parameters["properties"] == {
            "list": {"type": "string", "enum": [f"List {number}"]}
        }

    assert len(cache) == MAX_SCHEMAS


def test_a_model_is_told_only_of_filters_that_tell_entities_of_the_home_apart() -> None:
    schema = {
        vol.Optional("name", description="Its name"): cv.string,
        vol.Optional("area"): cv.string,
        vol.Optional("floor"): cv.string,
        vol.Optional("domain"): [vol.In(["cover"])],
        vol.Optional("device_class"): [vol.In(["blind", "garage", "window"])],
        vol.Required("position", description="From 0 to 100"): vol.All(
            vol.Coerce(int), vol.Range(0, 100)
        ),
    }
    parameters = convert(schema).parameters

    name, area = {"type": "string", "description": "Its name"}, {"type": "string"}
    position = {"type": "integer", "minimum": 0, "maximum": 100}
    assert short_parameters(parameters, frozenset({"blind", "outlet"})) == {
        "type": "object",
        "properties": {
            "name": name,
            "area": area,
            "device_class": area,
            "position": position,
        },
        "required": ["position"],
    }
    assert short_parameters(parameters)["properties"] == {
        "name": name,
        "area": area,
        "position": position,
    }


def test_a_place_without_rooms_and_required_parameters_are_always_told() -> None:
    mop = convert(
        {vol.Optional("floor"): cv.string, vol.Required("domain"): [vol.In(["vacuum"])]}
    ).parameters

    assert short_parameters(mop)["properties"] == mop["properties"]


def test_a_list_that_may_be_a_single_value_is_told_as_one_of_these() -> None:
    text: JsonObject = {"type": "string"}
    texts: JsonObject = {"type": "array", "items": text}
    choice: JsonObject = {"anyOf": [text, texts]}
    properties: JsonObject = {"domain": choice, "names": choice}

    short = short_parameters({"type": "object", "properties": properties})
    assert short["properties"] == {"domain": text, "names": texts}
    only: JsonObject = {"type": "object", "properties": {"domain": texts}}
    assert short_parameters(only)["properties"] == {"domain": text}


@pytest.mark.parametrize(
    ("branches", "merged"),
    [
        (
            [{"type": "integer"}, {"type": "number", "minimum": 0, "maximum": 100}],
            {"type": "integer", "minimum": 0, "maximum": 100},
        ),
        (
            [{"type": "string"}, {"type": "string", "maxLength": 5}],
            {"type": "string", "maxLength": 5},
        ),
        (
            [{"type": "string", "maxLength": 5}, {"type": "string", "maxLength": 3}],
            None,
        ),
        ([{"type": "string"}, {"type": "integer"}], None),
        (
            [
                {"type": "object", "properties": {"a": {"type": "string"}}},
                {"type": "object"},
            ],
            None,
        ),
    ],
)
def test_branches_that_hold_together_are_one_unless_they_contradict(
    branches: JsonValue, merged: JsonValue
) -> None:
    def serialize(schema: object) -> object:
        return {"allOf": branches} if schema is cv.string else probatio.UNSUPPORTED

    parameters = convert_schema(
        vol.Schema({vol.Required("value"): cv.string}), serialize
    ).parameters

    assert parameters["properties"] == {"value": merged or {"allOf": branches}}
