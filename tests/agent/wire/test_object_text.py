"""The end of a JSON object is found as its last piece arrives, and never before."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.agent.wire.call_assembly import MAX_OBJECT_CHARACTERS, ObjectText
from custom_components.chatterbox.agent.wire.request_parts import is_json_object

TEXT = st.text(alphabet=st.sampled_from('ab{}[]"\\/,: \n💡'))
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXT, VALUES, max_size=4)


def collect(pieces: Iterable[str]) -> ObjectText:
    text = ObjectText()
    for piece in pieces:
        text.add(piece)
    return text


@given(value=OBJECTS, ascii_only=st.booleans(), space=st.sampled_from(["", " ", "\n\t "]))
def test_an_object_is_complete_at_its_last_character(*, value: JsonObject, ascii_only: bool, space: str) -> None:
    written = json.dumps(value, ensure_ascii=ascii_only)
    text = ObjectText()

    for character in space + written:
        assert not text.complete
        text.add(character)

    assert text.complete
    assert text.text == written
    assert text.is_empty_object == (not value)


@given(value=OBJECTS, cut=st.integers(min_value=0, max_value=50), after=TEXT)
def test_what_follows_an_object_is_left_over(value: JsonObject, cut: int, after: str) -> None:
    written = json.dumps(value) + after
    cut = min(cut, len(json.dumps(value)))
    text = ObjectText()

    first = text.add(written[:cut])
    end = text.add(written, first)

    assert written[end:] == after
    assert text.add(after) == 0
    assert text.text == json.dumps(value)


@pytest.mark.parametrize(
    "written",
    [
        '{"a":1',
        "{'a':1}",
        '{"a":NaN}',
        '[{"a":1}]',
        '"{}"',
        "null",
        "",
        "}{}",
        '{"a":1}'[::-1],
        '{"a":"\\',
        "{" * 5_000,
    ],
)
def test_what_is_no_object_is_kept_as_written(written: str) -> None:
    text = collect(written)

    assert not text.complete
    assert text.text == written


def test_text_after_a_broken_object_belongs_to_it() -> None:
    text = ObjectText()

    assert text.add("{'a':1}{}") == len("{'a':1}{}")
    assert text.add('{"b":2}') == len('{"b":2}')
    assert text.text == """{'a':1}{}{"b":2}"""
    assert not text.complete


@pytest.mark.parametrize("piece", ["x" * 10_000, "\\", "{", '{"a":{}'])
def test_runaway_text_is_bounded_and_never_complete(piece: str) -> None:
    text = ObjectText()
    text.add('{"a":"')

    for _ in range(2 * MAX_OBJECT_CHARACTERS // len(piece)):
        text.add(piece)
    text.add('"}')

    assert len(text.text) == MAX_OBJECT_CHARACTERS + 1
    assert not text.complete


def test_an_object_of_the_greatest_length_is_complete() -> None:
    written = '{"a":"' + "x" * (MAX_OBJECT_CHARACTERS - 8) + '"}'

    assert collect([written]).complete
    assert not collect([written.replace("x", "xx", 1)]).complete


@given(value=VALUES)
def test_only_an_object_is_an_object(value: JsonValue) -> None:
    assert is_json_object(f" {json.dumps(value)} ") == isinstance(value, dict)


@pytest.mark.parametrize(
    "text", ["", "{}}", "{} {}", '{"a":Infinity}', '{"a":"\\ud83d"}', '{"a":' * 100_000, '{"a":' + "9" * 5_000 + "}"]
)
def test_what_cannot_be_read_or_written_is_no_object(text: str) -> None:
    assert not is_json_object(text)


@pytest.mark.parametrize("inner", ["[" * 1_100 + "]" * 1_100, "1e400"], ids=["deep", "large"])
def test_an_object_may_be_deeper_and_hold_larger_numbers_than_the_quick_reader_knows(inner: str) -> None:
    assert is_json_object(f'{{"a":{inner}}}')
    assert not is_json_object(inner)
