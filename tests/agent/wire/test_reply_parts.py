"""What a service sends is believed as far as it fits, and an error quotes none of it."""

import re

import pytest
from pydantic import TypeAdapter

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid
from custom_components.chatterbox.agent.messages import AssistantMessage, ToolCall, UserMessage
from custom_components.chatterbox.agent.wire.parts import CallIds, Lenient, WireModel, new_call_id, parse_as


class Lamp(WireModel):
    """Something that is received."""

    name: str
    level: Lenient[int] = None


LAMP = TypeAdapter(Lamp)


def test_what_fits_is_read_and_what_is_unknown_is_not() -> None:
    lamp = parse_as(LAMP, '{"name":"hall","level":5,"colour":"red"}', "a lamp")

    assert lamp == Lamp(name="hall", level=5)


@pytest.mark.parametrize("level", ['"bright"', "null", "[]", "{}", "1.5"])
def test_a_lenient_value_that_does_not_fit_reads_as_not_sent(level: str) -> None:
    assert parse_as(LAMP, f'{{"name":"hall","level":{level}}}', "a lamp").level is None


def test_half_a_character_is_let_through() -> None:
    assert parse_as(LAMP, r'{"name":"\ud83d"}', "a lamp").name == "\ud83d"


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert parse_as(LAMP, b'{"name":"\xf0\x9f"}', "a lamp").name == "\ufffd"


def test_text_with_half_a_character_is_read() -> None:
    assert parse_as(LAMP, '{"name":"\ud83d"}', "a lamp").name == "\ud83d"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"name":5}', "the service sent a lamp of the wrong shape, at name"),
        (r'{"name":["\ud83d"]}', "the service sent a lamp of the wrong shape, at name"),
        ('"secret"', "the service sent a lamp of the wrong shape, at its top level"),
        ("secret", "the service sent a lamp that is not JSON"),
        ("[" * 100_000, "the service sent a lamp that is not JSON"),
    ],
)
def test_what_is_wrong_is_said_without_a_quote(text: str, said: str) -> None:
    with pytest.raises(ProviderReplyInvalid) as caught:
        parse_as(LAMP, text, "a lamp")

    assert str(caught.value) == said
    assert caught.value.__cause__ is None


def test_new_ids_of_calls_fit_everywhere_and_differ() -> None:
    assert re.fullmatch("[A-Za-z0-9]{9}", new_call_id())
    assert new_call_id() != new_call_id()


def test_ids_of_calls_are_unique_in_a_conversation() -> None:
    calls = (ToolCall("a", "on", "{}"), ToolCall("b", "off", "{}"))
    ids = CallIds((UserMessage("Hi"), AssistantMessage("", "", calls)), iter(["b", "new1", "new2"]).__next__)

    assert [ids.unique(sent) for sent in ("a", "", "c")] == ["new1", "new2", "c"]
