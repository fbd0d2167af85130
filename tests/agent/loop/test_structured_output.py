"""An answer that has to be data: what is forgiven, and what the model is told where nothing can be."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.json.coercion import Unfit
from custom_components.chatterbox.agent.loop.structured_output import (
    MAX_LENGTH,
    read_output,
)
from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.agent.protocols import OutputFormat
from tests.agent.json_values import json_objects
from tests.support.at_once import at_once

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}
PERSON = OutputFormat("person", SCHEMA)
ANYTHING = OutputFormat("anything", {"type": "object"})


def misfit(text: str, output: OutputFormat = PERSON) -> str:
    """Return what the model is told about an answer."""
    with pytest.raises(Unfit) as error:
        at_once(read_output(text, output))
    return str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ada", "count": 3}',
        ' \n{"name": "Ada", "count": "3"}\n',
        '```json\n{"name": "Ada", "count": 3}\n```',
        'Here you are:\n```json\n{"name": "Ada", "count": 3}\n```\nAnything else?',
        'Sure! {"name": "Ada", "count": 3} Anything else?',
        "{'name': 'Ada', count: 3,}",
        '"{\\"name\\": \\"Ada\\", \\"count\\": 3}"',
        '{"name": "Ada", "count": 3, "tags": null}',
    ],
)
def test_an_answer_is_read_where_there_is_one_way_to_read_it(text: str) -> None:
    assert at_once(read_output(text, PERSON)) == {"name": "Ada", "count": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "It is empty."),
        ("I do not know.", "There is no JSON object in it."),
        (
            '{"name": "Ada", "tags": "1. tall\\n2. red"}',
            'tags: expected a list of string, got "1. tall\\n2. red".',
        ),
        (
            '{"name": "Ada", "tags": "tall"}',
            'tags: expected a list of string, got "tall".',
        ),
        (
            '{"name": "Ada"} or {"name": "Eve"}',
            "There is more than one JSON object in it.",
        ),
        (
            '```\n{"name": "Ada"}\n```\n```\n{"name": "Eve"}\n```',
            "There is more than one JSON object in it.",
        ),
        ('[{"name": "Ada"}]', 'It has to be one JSON object, not [{"name":"Ada"}].'),
        ("{}", "name is missing: expected string."),
        (
            '{"name": "Ada", "count": -1}',
            "count: expected integer (minimum 0), got -1.",
        ),
        (
            '{"name": "Ada", "age": 3}',
            "age is not a parameter. Use: count, name, tags.",
        ),
        (
            "x" * (MAX_LENGTH + 1),
            f"It is too long: {MAX_LENGTH + 1} characters, at most {MAX_LENGTH}.",
        ),
    ],
)
def test_the_model_is_told_what_is_wrong(text: str, message: str) -> None:
    assert misfit(text) == message


@pytest.mark.parametrize(
    "text", ['{"name": "Ada', '```\n{"name": \n```', 'It is {"name": and']
)
def test_what_is_cut_off_is_not_guessed(text: str) -> None:
    assert misfit(text).startswith("It is not valid JSON: ")


def test_who_asked_has_the_last_word() -> None:
    picky = OutputFormat(
        "person",
        SCHEMA,
        flaw_of=lambda data: "Nobody is called Ada." if data["name"] == "Ada" else "",
    )

    assert misfit('{"name": "Ada"}', picky) == "Nobody is called Ada."
    assert at_once(read_output('{"name": "Eve"}', picky)) == {"name": "Eve"}


def test_a_schema_that_describes_no_object_fits_nothing() -> None:
    assert (
        misfit('{"name": "Ada"}', OutputFormat("text", {"type": "array"}))
        == "The schema does not describe an object."
    )


def test_the_model_reads_the_schema() -> None:
    assert '"required":["name"]' in PERSON.instruction


@given(json_objects())
def test_any_object_is_read_as_it_is_written(data: JsonObject) -> None:
    assert at_once(read_output(json.dumps(data), ANYTHING)) == data


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(Unfit):
        assert isinstance(at_once(read_output(text, ANYTHING)), dict)
