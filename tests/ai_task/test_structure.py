"""Any structure of Home Assistant: data that fits comes back as it was, however strictly a service has it written."""

import json

import voluptuous as vol
from homeassistant.components.ai_task.services import STRUCTURE_FIELD_SCHEMA
from homeassistant.helpers.selector import selector
from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.agent.json.coercion import Unfit, fit
from custom_components.chatterbox.agent.loop.structured_output import read_output
from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.agent.wire.output_schema import (
    ANTHROPIC,
    OPENAI,
    strict_schema,
)
from custom_components.chatterbox.ai_task import data_of, shape_of
from tests.agent.wire.test_output_schema import filled
from tests.support.at_once import at_once
from tests.support.thorough import some_examples

type Field = tuple[dict[str, object], JsonValue]
"""A selector, and data that it takes."""

_WORDS = st.text(
    st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=9
)
_NAMES = st.from_regex(r"[a-z][a-z_0-9]{0,8}", fullmatch=True)


@st.composite
def _numbers(draw: st.DrawFn) -> Field:
    low, value, high = sorted(draw(st.tuples(*[st.integers(-1000, 1000)] * 3)))
    return {"number": {"min": low, "max": high}}, value


@st.composite
def _choices(draw: st.DrawFn) -> Field:
    options = draw(st.lists(_WORDS, min_size=1, max_size=4, unique=True))
    if draw(st.booleans()):
        chosen: list[JsonValue] = [
            *draw(st.lists(st.sampled_from(options), unique=True, max_size=4))
        ]
        return {"select": {"options": options, "multiple": True}}, chosen
    return {"select": {"options": options}}, draw(st.sampled_from(options))


@st.composite
def _objects(draw: st.DrawFn) -> Field:
    members = draw(st.dictionaries(_NAMES, _simple(), min_size=1, max_size=3))
    required = {name: draw(st.booleans()) for name in members}
    fields = {
        name: {"selector": part, "required": required[name]}
        for name, (part, _) in members.items()
    }
    data: JsonValue = {
        name: value
        for name, (_, value) in members.items()
        if required[name] or draw(st.booleans())
    }
    if draw(st.booleans()):
        return {"object": {"fields": fields, "multiple": True}}, [data]
    return {"object": {"fields": fields}}, data


def _simple() -> st.SearchStrategy[Field]:
    fixed: list[Field] = [
        ({"date": {}}, "2026-11-22"),
        ({"time": {}}, "07:30:00"),
        ({"datetime": {}}, "2026-11-22 07:30:00"),
        ({"color_rgb": {}}, [1, 2, 3]),
        ({"entity": {}}, "light.kitchen"),
        ({"duration": {}}, {"minutes": 5}),
        ({"location": {}}, {"latitude": 1.5, "longitude": 2.5}),
        ({"constant": {"value": True}}, True),
    ]
    words: st.SearchStrategy[Field] = _WORDS.map(lambda word: ({"text": {}}, word))
    flags: st.SearchStrategy[Field] = st.booleans().map(
        lambda flag: ({"boolean": {}}, flag)
    )
    return st.one_of(words, flags, _numbers(), _choices(), st.sampled_from(fixed))


@st.composite
def structures(draw: st.DrawFn) -> tuple[vol.Schema, JsonObject]:
    """Return a structure as the action makes one, and data that fits it."""
    members = draw(
        st.dictionaries(_NAMES, _simple() | _objects(), min_size=1, max_size=5)
    )
    fields: dict[vol.Marker, object] = {}
    data: JsonObject = {}
    for name, (part, value) in members.items():
        required = draw(st.booleans())
        STRUCTURE_FIELD_SCHEMA({"required": required, "selector": part})
        fields[
            (vol.Required if required else vol.Optional)(name, description=draw(_WORDS))
        ] = selector(part)
        if required or draw(st.booleans()):
            data[name] = value
    return vol.Schema(fields, extra=vol.PREVENT_EXTRA), data


@settings(max_examples=some_examples(150))
@given(structures())
def test_data_that_fits_comes_back_as_it_was(
    structured: tuple[vol.Schema, JsonObject],
) -> None:
    structure, data = structured
    shape = shape_of("a task", structure)

    assert at_once(data_of(json.dumps(data), shape, structure)) == data
    assert (
        at_once(data_of(json.dumps(filled(data, shape.schema)), shape, structure))
        == data
    )


@settings(max_examples=some_examples(150))
@given(structures())
def test_what_a_strict_service_lets_through_is_read_as_meant(
    structured: tuple[vol.Schema, JsonObject],
) -> None:
    structure, data = structured
    shape = shape_of("a task", structure)
    strictly, loosely = (
        strict_schema(shape.schema, OPENAI),
        strict_schema(shape.schema, ANTHROPIC),
    )

    assert strictly is not None
    assert loosely is not None
    written = filled(data, shape.schema)
    assert fit(written, strictly) == written
    assert fit(data, loosely) == data


@settings(max_examples=some_examples(100))
@given(
    structures(),
    st.text(max_size=40) | st.dictionaries(_NAMES, _WORDS, max_size=3).map(json.dumps),
)
def test_whatever_is_answered_fits_or_is_refused(
    structured: tuple[vol.Schema, JsonObject], answer: str
) -> None:
    structure, _ = structured
    shape = shape_of("a task", structure)
    try:
        data = at_once(read_output(answer, shape))
    except Unfit:
        return
    assert structure(data) == data
