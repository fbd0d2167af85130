"""The arguments of a call: one JSON object that fits the tool, or words that say what was expected."""

from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.json.coercion import (
    MAX_ARGUMENTS_LENGTH,
    Unfit,
    parse_arguments,
    read_arguments,
)
from custom_components.chatterbox.agent.messages import JsonObject, canonical_json
from tests.agent.json_values import json_values, objects_that_fit

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "domain": {"type": "array", "items": {"type": "string"}},
        "brightness": {"type": "integer", "minimum": 0, "maximum": 100},
        "name": {"type": "string"},
    },
}


@pytest.mark.parametrize(
    "text", ["", "  \n", "{}", "null", '""', '"{}"', '"null"', '" "']
)
def test_no_arguments_can_be_written_in_many_ways(text: str) -> None:
    """Invariant 29."""
    assert read_arguments(text, SCHEMA) == {}


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"domain": "light"}', {"domain": ["light"]}),
        ('{"brightness": "50"}', {"brightness": 50}),
        ('{"brightness": "50%"}', {"brightness": 50}),
        ('{"brightness": "", "name": "lamp"}', {"name": "lamp"}),
        ('"{\\"name\\": \\"lamp\\"}"', {"name": "lamp"}),
        ('{"name": "Küche"}', {"name": "Küche"}),
        ('{"floor": 1}', {"floor": 1}),
        ('{"name": lamp, "domain": [light]}', {"name": "lamp", "domain": ["light"]}),
        ("{'name': 'lamp', domain: light,}", {"name": "lamp", "domain": ["light"]}),
    ],
)
def test_what_has_one_reading_is_read(text: str, arguments: JsonObject) -> None:
    assert read_arguments(text, SCHEMA) == arguments


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"name": "lamp"', "not valid JSON"),
        ("turn on", "Send one JSON object"),
        ('{"name": NaN}', "not valid JSON"),
        ("[]", "must be one JSON object, got []"),
        ('[{"name": "lamp"}]', "must be one JSON object"),
        ("7", "must be one JSON object, got 7"),
        ("true", "must be one JSON object, got true"),
        ('"lamp"', "not valid JSON"),
        ('"\\"lamp\\""', 'must be one JSON object, got "lamp"'),
        ('{"n": 1e999}', "not a number that can be used"),
        ('{"name": "\\ud83d"}', "lone surrogate"),
        (
            '{"brightness": bright}',
            "brightness: expected integer (minimum 0, maximum 100)",
        ),
        ('{"name": true}', "name: expected string, got true"),
        ('{"name": big lamp}', "not valid JSON"),
        (
            '{"brightness": "bright"}',
            "brightness: expected integer (minimum 0, maximum 100)",
        ),
    ],
)
def test_what_has_none_is_refused_in_words_for_the_model(text: str, words: str) -> None:
    with pytest.raises(Unfit) as refusal:
        read_arguments(text, SCHEMA)
    assert words in str(refusal.value)
    assert len(str(refusal.value)) < 300


CLOSED: JsonObject = {**SCHEMA, "additionalProperties": False}


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"domains": "light"}', {"domain": ["light"]}),
        ('{"Brightness_": 50, "NAME": "lamp"}', {"brightness": 50, "name": "lamp"}),
        ('{"entity_name": "lamp"}', {"name": "lamp"}),
        ('{"entities": "lamp"}', {"name": "lamp"}),
        ('{"name": "lamp", "device": "lamp"}', {"name": "lamp"}),
        ('{"name": "", "device": "lamp"}', {"name": "lamp"}),
    ],
)
def test_a_parameter_may_be_called_otherwise(text: str, arguments: JsonObject) -> None:
    assert read_arguments(text, CLOSED) == arguments


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ('{"name": "lamp", "device": "fan"}', "device"),
        ('{"device": "lamp", "entity": "fan"}', "entity"),
        ('{"colour": "red"}', "colour"),
    ],
)
def test_a_parameter_that_is_another_one_is_refused(text: str, unknown: str) -> None:
    with pytest.raises(Unfit, match=rf"^{unknown} is not a parameter"):
        read_arguments(text, CLOSED)


def test_a_name_that_may_mean_several_parameters_means_none() -> None:
    schema: JsonObject = {
        "properties": {"position": {}, "percentage": {}, "class": {}},
        "additionalProperties": False,
    }

    assert read_arguments('{"classes": "a"}', schema) == {"class": "a"}
    with pytest.raises(Unfit, match=r"^level is not a parameter"):
        read_arguments('{"level": 5}', schema)


@pytest.mark.parametrize("levels", [60, 10_000])
def test_arguments_that_are_nested_too_deeply_are_refused(levels: int) -> None:
    with pytest.raises(Unfit, match="nested too deeply"):
        read_arguments('{"x":' * levels + "1" + "}" * levels, SCHEMA)


def test_arguments_of_a_megabyte_are_refused_unread() -> None:
    with pytest.raises(Unfit, match="too long: 1048576 characters, at most 65536"):
        read_arguments("x" * 1024 * 1024, SCHEMA)
    text = canonical_json({"name": "x" * (MAX_ARGUMENTS_LENGTH - 11)})
    assert len(text) == MAX_ARGUMENTS_LENGTH
    assert canonical_json(read_arguments(text, SCHEMA)) == text
    with pytest.raises(Unfit, match="too long"):
        read_arguments(f"{text} ", SCHEMA)


def test_a_tool_that_wants_no_object_cannot_be_called() -> None:
    with pytest.raises(Unfit, match="does not describe an object"):
        read_arguments("{}", {"type": "array"})


@given(objects_that_fit())
def test_arguments_that_fit_are_read_as_they_are(
    pair: tuple[JsonObject, JsonObject],
) -> None:
    schema, arguments = pair
    assert read_arguments(canonical_json(arguments), schema) == arguments


@given(st.text() | json_values().map(canonical_json), objects_that_fit())
def test_any_text_is_read_once_and_for_all_or_refused(
    text: str, pair: tuple[JsonObject, JsonObject]
) -> None:
    schema, _ = pair
    with suppress(Unfit):
        recorded = canonical_json(read_arguments(text, schema))
        assert canonical_json(read_arguments(recorded, schema)) == recorded


@pytest.mark.parametrize(
    "text", ['{"name": "A", "name": "B"}', "{'name': 'A', 'name': 'B'}"]
)
def test_arguments_that_give_a_parameter_twice_are_refused(text: str) -> None:
    with pytest.raises(Unfit, match="not valid JSON"):
        parse_arguments(text)
    assert parse_arguments(text.replace("B", "A")) == {"name": "A"}
