"""Almost-JSON is read where there is one way to read it, and refused everywhere else."""

import json

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.json.malformed_json import (
    fenced_blocks,
    read_value,
    repair_json,
)
from custom_components.chatterbox.agent.json.text import MAX_DEPTH
from custom_components.chatterbox.agent.messages import JsonValue
from tests.agent.json_values import json_objects, json_values


@given(json_values())
def test_json_is_read_as_it_is(value: JsonValue) -> None:
    assert repair_json(json.dumps(value)) == value
    assert repair_json(json.dumps(value, ensure_ascii=False, indent=2)) == value


@given(json_values().filter(lambda value: not isinstance(value, float)))
def test_what_python_writes_is_read(value: JsonValue) -> None:
    text = repr(value)
    if "\\x" not in text and "\\U" not in text:  # Python's own escapes
        assert repair_json(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'name': 'Kitchen'}", {"name": "Kitchen"}),
        ("{'say': 'it\\'s \"on\"'}", {"say": 'it\'s "on"'}),
        ("{“name”: “Kitchen”}", {"name": "Kitchen"}),
        ("{„name“: „Küche“}", {"name": "Küche"}),
        ("{\u2018name\u2019: \u2018Kitchen\u2019}", {"name": "Kitchen"}),
        (
            "{name: 'Kitchen', brightness_pct: 50}",
            {"name": "Kitchen", "brightness_pct": 50},
        ),
        ('{"a": [1, 2,], "b": {"c": 1,},}', {"a": [1, 2], "b": {"c": 1}}),
        ('{"a": True, "b": False, "c": None}', {"a": True, "b": False, "c": None}),
        ('{"a": TRUE, "b": Null}', {"a": True, "b": None}),
        ('{"a": 1} // done', {"a": 1}),
        ('{"a": 1, # the first\n "b": /* two */ 2}', {"a": 1, "b": 2}),
        ('{"a": "http://x/#y"}', {"a": "http://x/#y"}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('{"a": 1}}}', {"a": 1}),
        ('{"a": [1, {}, ], "a": [1, {}]}', {"a": [1, {}]}),
        ('{"a": [1]}]} ;', {"a": [1]}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        ('{"a": "tab\there"}', {"a": "tab\there"}),
        (r'{"a": "\u00fc\n\\"}', {"a": "ü\n\\"}),
        ("{}", {}),
        ('{"": 1}', {"": 1}),
        ("[]", []),
        ("-1.5e3", -1500.0),
        ('  "text"  ', "text"),
    ],
)
def test_what_can_be_read_in_one_way_only(text: str, value: JsonValue) -> None:
    assert repair_json(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "Kitchen",
        "{name: Kitchen}",  # is it one word, or a constant that we do not know?
        '{"name": "the "big" lamp"}',
        "{'name': 'it's on'}",
        '{"a" 1}',
        '{"a": 1 "b": 2}',
        '{"a": 1} and {"b": 2}',
        '{"a": 1}, {"b": 2}',
        '{"a": 007}',
        '{"a": 50%}',
        '{"a": 1.2.3}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": undefined}',
        '{"a":: 1}',
        '{"a": 1,, "b": 2}',
        "{1: 2}",
        "{,}",
        "[,]",
        "[1,,]",
        "[[,]]",
        "[1 2]",
        '["a" "b"]',
        "[a: 1]",
        "{'a', 'b'}",
        "{'a': 1, 'a': 2}",
        "[1}",
        "]",
        ",",
        '{"a": "\\q"}',
        '{"a": "\\u12"}',
        r'{"a": "\ud83d"}',
        '{"a": "cut',
        '{"a": /* cut',
        '{"a": "cut\\',
    ],
)
def test_what_could_be_read_in_several_ways_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        repair_json(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"name": "Lamp", "domain": light}', {"name": "Lamp", "domain": "light"}),
        ("{domain: [light, media_player ], }", {"domain": ["light", "media_player"]}),
        (
            "{'entity': light.kitchen_2, room: Küche}",
            {"entity": "light.kitchen_2", "room": "Küche"},
        ),
        (
            "{a: true, b: True, c: none, d: truely, e: off}",
            {"a": True, "b": True, "c": None, "d": "truely", "e": "off"},
        ),
    ],
)
def test_a_text_may_have_no_quotes_where_a_schema_tells_what_is_a_text(
    text: str, value: JsonValue
) -> None:
    assert repair_json(text, bare_words=True) == value
    with pytest.raises(ValueError, match="expected a value"):
        repair_json(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": Kitchen Lamp}',
        '{"a": light',
        '{"a": [light',
        '{"a": undefined}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": not(b)}',
        '{"a": b + c}',
        '{"a": b: c}',
        '{"a": 5lights}',
        '{"a": "b" c}',
        "light",
    ],
)
def test_more_than_a_word_needs_quotes(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        repair_json(text, bare_words=True)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 5',
        '{"a": {"b": ["c"',
        '{"a": {}',
        '{"a": "b"',
        '["a"',
        '{"a": true',
        '{"a": "b",',
        '{"a": "b", "c"',
        '{"a":',
        '{"a"',
        "{",
        "[",
        '["a",',
    ],
)
def test_nothing_that_is_missing_at_the_end_is_supplied(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        repair_json(text)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_what_is_nested_too_deeply_is_refused(opening: str) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        repair_json(opening * (MAX_DEPTH + 1))


@given(json_objects(), st.text(max_size=20))
def test_a_value_ends_where_it_ends_whatever_follows(
    value: JsonValue, rest: str
) -> None:
    text = json.dumps(value)

    assert read_value(f"x={text}{rest}", 2) == (value, len(text) + 2)


@given(st.text(alphabet="{}[]\"':,\\ \n/*#“”abTrue01.-", max_size=40))
def test_any_text_is_json_or_refused(text: str) -> None:
    try:
        value = repair_json(text)
    except ValueError:
        return
    assert json.loads(json.dumps(value)) == value


@given(json_values())
def test_strict_json_and_its_repair_never_disagree(value: JsonValue) -> None:
    text = json.dumps(value)
    for end in range(len(text)):
        try:
            strict = json.loads(text[:end])
        except ValueError:
            continue
        assert repair_json(text[:end]) == strict


@pytest.mark.parametrize(
    ("unit", "end"),
    [("\n", ""), ("```\n", "x"), ("```json\n", "{")],
    ids=["newlines", "fences", "marked fences"],
)
def test_newlines_and_fences_without_end_are_refused_at_once(
    unit: str, end: str
) -> None:
    text = "```json" + unit * 50_000 + end
    fenced_blocks(text)
    with pytest.raises(ValueError, match="expected"):
        repair_json(text)
