"""The schema of a tool is converted once, and anew as soon as it is another one."""

import voluptuous as vol
from homeassistant.helpers import llm

from custom_components.chatterbox.tools.schema import MAX_SCHEMAS, SchemaCache, convert_schema

BRIGHTNESS = vol.Required("brightness")
PERCENT = vol.All(vol.Coerce(int), vol.Range(0, 100))


def test_arguments_that_are_wrapped_anew_are_not_converted_anew() -> None:
    cache = SchemaCache()

    first = cache.convert(vol.Schema({BRIGHTNESS: PERCENT}), llm.selector_serializer)
    second = cache.convert(vol.Schema({BRIGHTNESS: PERCENT}), llm.selector_serializer)

    assert second is first
    assert first == convert_schema(vol.Schema({BRIGHTNESS: PERCENT}), llm.selector_serializer)
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
        assert cache.convert(schema, llm.selector_serializer) == convert_schema(schema, llm.selector_serializer)
    cache.convert(schemas[0])

    assert len(cache) == len(schemas) + 1


def test_schemas_that_are_made_anew_for_each_turn_do_not_pile_up() -> None:
    cache = SchemaCache()

    for number in range(MAX_SCHEMAS + 10):
        todo = cache.convert(vol.Schema({vol.Required("list"): vol.In([f"List {number}"])}))
        assert todo.parameters["properties"] == {"list": {"type": "string", "enum": [f"List {number}"]}}

    assert len(cache) == MAX_SCHEMAS
