"""Schemas of replies: strict where an answer could be lost, lenient elsewhere."""

import pytest
from pydantic import TypeAdapter

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid
from custom_components.chatterbox.agent.wire.reply_reader import (
    Lenient,
    WireModel,
    parse_as,
)


class Lamp(WireModel):
    """Something that is received."""

    name: str
    level: Lenient[int] = None


LAMP = TypeAdapter(Lamp)


def test_what_fits_is_read_and_what_is_unknown_is_not() -> None:
    lamp = parse_as(LAMP, '{"name":"hall","level":5,"colour":"red"}', "a lamp")

    assert lamp == Lamp(name="hall", level=5)


@pytest.mark.parametrize(
    "level",
    [
        '"bright"',
        "null",
        "[]",
        "{}",
        "1.5",
        pytest.param("9" * 5_000, id="5,000 digits"),
    ],
)
def test_a_lenient_value_that_does_not_fit_reads_as_not_sent(level: str) -> None:
    assert parse_as(LAMP, f'{{"name":"hall","level":{level}}}', "a lamp").level is None


def test_half_a_character_is_let_through() -> None:
    assert parse_as(LAMP, r'{"name":"\ud83d"}', "a lamp").name == "\ud83d"


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert parse_as(LAMP, b'{"name":"\xf0\x9f"}', "a lamp").name == "\ufffd"


def test_text_with_half_a_character_is_read() -> None:
    assert parse_as(LAMP, '{"name":"\ud83d"}', "a lamp").name == "\ud83d"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"name":5}', "the service sent a lamp of the wrong shape, at name"),
        (r'{"name":["\ud83d"]}', "the service sent a lamp of the wrong shape, at name"),
        ('"secret"', "the service sent a lamp of the wrong shape, at its top level"),
        ("secret", "the service sent a lamp that is not JSON"),
        ("[" * 100_000, "the service sent a lamp that is not JSON"),
    ],
)
def test_what_is_wrong_is_said_without_a_quote(text: str, sentence: str) -> None:
    with pytest.raises(ProviderReplyInvalid) as caught:
        parse_as(LAMP, text, "a lamp")

    assert str(caught.value) == sentence
    assert caught.value.__cause__ is None
