"""JSON is read strictly, and shown briefly."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.json.text import (
    MAX_DEPTH,
    check_count,
    check_json,
    check_size,
    display,
    parse_json,
    payload_to_bytes,
    sendable_arguments,
)
from custom_components.chatterbox.agent.messages import JsonValue
from tests.agent.json_values import json_values


@given(json_values())
def test_what_was_written_as_json_is_read_as_it_was(value: object) -> None:
    assert parse_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "Expecting"),
        ('{"a": 1} trailing', "Extra data"),
        ('{"a": 1, "b": ', "Expecting value"),
        ("NaN", "nan|NaN"),
        ("\ufeff{}", "byte order mark"),
        ("[Infinity]", "Infinity"),
        ("[-Infinity]", "-Infinity"),
        ("1e999", "1e999"),
        (r'"\ud83d"', "half of a character"),
        (r'{"\ude00": 1}', "half of a character"),
        ('["\ud83d"]', "half of a character"),
        ('{"\ude00": 1}', "half of a character"),
    ],
)
def test_what_cannot_be_used_is_refused_and_named(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_json(text)


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 20_000, 200_000])
def test_what_is_nested_too_deeply_is_refused(levels: int) -> None:
    for text in (
        "[" * levels + "1" + "]" * levels,
        '{"a":' * levels + "1" + "}" * levels,
    ):
        with pytest.raises(ValueError, match="nested too deeply"):
            parse_json(text)


def test_a_number_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="integer"):
        parse_json("9" * 5_000)


def test_a_name_that_stands_twice_counts_once_or_is_refused() -> None:
    text = '{"a": 1, "b": {"c": 1, "d": 2, "c": 3}}'

    assert parse_json(text) == {"a": 1, "b": {"c": 3, "d": 2}}
    with pytest.raises(ValueError, match='"c" stands twice'):
        parse_json(text, unique_names=True)
    assert parse_json('[{"a": 1}, {"a": {"a": 2}}]', unique_names=True) == [
        {"a": 1},
        {"a": {"a": 2}},
    ]


def test_as_many_levels_as_allowed_are_read() -> None:
    text = "[" * MAX_DEPTH + "1" + "]" * MAX_DEPTH
    assert json.dumps(parse_json(text)) == text


def test_characters_in_two_halves_are_whole_together() -> None:
    assert parse_json(r'"\ud83d\ude00"') == "😀"


@given(st.text())
def test_any_text_is_read_as_json_or_refused(text: str) -> None:
    with suppress(ValueError):
        value = parse_json(text)
        assert json.loads(text) == value


@given(
    st.recursive(
        st.sampled_from(
            [
                "1",
                "1e999",
                "-2.5",
                "NaN",
                "null",
                r'"\ud83d"',
                '"\ud83d"',
                '"ä"',
                '"a"',
                "Infinity",
            ]
        ),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda parts: f"[{','.join(parts)}]"),
            inner.map(lambda part: f'{{"ä":{part}}}'),
            inner.map(lambda part: f"{'[' * MAX_DEPTH}{part}{']' * MAX_DEPTH}"),
        ),
        max_leaves=5,
    )
)
def test_what_is_read_keeps_to_the_rules_and_nothing_else_is_refused(text: str) -> None:
    try:
        value = parse_json(text)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            check_json(json.loads(text))
    else:
        check_json(value)


def test_a_long_value_is_cut() -> None:
    assert display({"b": 1, "a": "ä"}) == '{"a":"ä","b":1}'
    assert display("x" * 100, 10) == '"xxxxxxxxx…'


@given(json_values())
def test_the_values_of_json_are_counted_before_it_is_parsed(value: JsonValue) -> None:
    """As many as there are at least; characters of texts are none."""
    text = json.dumps([value, '[[{{,,"\\'])
    count = (
        json.dumps(value).count(",")
        + sum(json.dumps(value).count(character) for character in "[{")
        + 3
    )

    check_count(text, count)
    check_size(parse_json(text), count, count)
    with pytest.raises(ValueError, match="fewer"):
        check_count(text, 1)


@pytest.mark.parametrize(
    "text",
    ["[1,1,1,1]", "[[[[]]]]", '{"a":{"b":{"c":{}}}}', '["a","b","c",{}]', "[1,[1,[1]]"],
)
def test_json_of_too_many_values_is_refused_unparsed(text: str) -> None:
    check_count(text, 5)
    with pytest.raises(ValueError, match="more than 3 values; send fewer"):
        check_count(text, 3)


def test_a_value_has_so_many_others_and_so_many_at_one_place() -> None:
    value: JsonValue = {"a": [1, 2, 3], "b": {"c": "d"}}

    check_size(value, 6, 3)
    with pytest.raises(ValueError, match="more than 5 values"):
        check_size(value, 5, 3)
    with pytest.raises(ValueError, match="more than 2 entries"):
        check_size(value, 6, 2)


@given(st.text())
def test_arguments_are_an_object(text: str) -> None:
    assert isinstance(json.loads(sendable_arguments(text)), dict)


def test_arguments_that_are_an_object_stay_as_they_are() -> None:
    assert sendable_arguments(' {"a": 1.0} ') == ' {"a": 1.0} '


def test_a_payload_is_written_compactly_and_in_order() -> None:
    assert (
        payload_to_bytes({"b": "ü", "a": [1, None]})
        == '{"b":"ü","a":[1,null]}'.encode()
    )
    assert payload_to_bytes({"text": "half \ud83d"}) == b'{"text":"half ?"}'
    assert payload_to_bytes({"many": 2**70}) == b'{"many":1180591620717411303424}'
