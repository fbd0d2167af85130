"""Events that differ in their text alone are read in one go, and all others as if nothing of the kind was there."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.events import ProviderEvent, TextDelta
from custom_components.chatterbox.agent.providers.anthropic_messages import AnthropicMessagesReply
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatReply
from custom_components.chatterbox.agent.providers.reply_reader import ReplyReader
from custom_components.chatterbox.agent.wire.openai_chat_schema import read_plain
from custom_components.chatterbox.agent.wire.repeated_events import RepeatedEvents
from custom_components.chatterbox.agent.wire.sse import MAX_EVENT_BYTES, ServerSentEvent

CHUNK: Final = '{"id":"c-1","choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}],"model":"m"}'
DELTA: Final = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}'


def chat(text: str) -> bytes:
    """Write a chunk as Chat Completions does."""
    return (f"data: {CHUNK % json.dumps(text, ensure_ascii=False)}\n\n").encode("utf-8", "surrogatepass")


def message(text: str) -> bytes:
    """Write an event as Messages does."""
    data = DELTA % json.dumps(text, ensure_ascii=False)
    return f"event: content_block_delta\ndata: {data}\n\n".encode("utf-8", "surrogatepass")


def learnt(text: str, chunk: str = CHUNK) -> RepeatedEvents:
    """Return who has seen one chunk."""
    alike = RepeatedEvents(read_plain)
    alike.saw(ServerSentEvent((chunk % json.dumps(text)).encode()), text)
    return alike


def said(reply: ReplyReader, frames: list[bytes]) -> str:
    """Return all that frames say."""
    events: list[ProviderEvent] = [event for frame in frames for event in reply.feed(frame)]
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def test_events_that_are_alike_are_one_text() -> None:
    """Whatever is in them: words, blanks, other alphabets."""
    assert learnt("One").text_of(chat(" two") + chat("früh") + chat("晚安 ")) == (" twofrüh晚安 ", b"")
    assert learnt("One").text_of(chat("")) == ("", b"")


@pytest.mark.parametrize(
    "rest",
    [
        b"data: [DONE]\n\n",
        b": keep-alive\n\n",
        chat("b")[:-1],
        chat("b")[:9],
        chat("b").replace(b"null", b'"stop"'),
        b"\n",
    ],
)
def test_what_follows_such_events_is_left_over(rest: bytes) -> None:
    """Most answers end in the chunk that their last words come in."""
    assert learnt("One").text_of(chat("a") + chat(" b") + rest) == ("a b", rest)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        chat(" two")[:-1],
        chat(" two")[1:],
        chat('"'),
        chat("\\"),
        chat("a\nb"),
        chat("a") + chat('"') + chat("b"),
        chat("a").replace(b"null", b'"stop"'),
        chat("a").replace(b"c-1", b"c-2") + chat("b"),
        chat("a") + chat('"') + b"data: [DONE]\n\n",
        b": keep-alive\n\n" + chat("a"),
        chat("a").replace(b"a", b"\x01"),
        chat("a").replace(b'"a"', b'"\xff"'),
        chat("\ud800"),
        chat("a").replace(b'"a"', b'"'),
        chat("a" * MAX_EVENT_BYTES),
    ],
)
def test_anything_else_is_left_to_who_reads_one_by_one(frame: bytes) -> None:
    """It is no matter what is different; half a character is not put together with what follows."""
    assert learnt("One").text_of(frame) == ("", frame)


@pytest.mark.parametrize(
    ("chunk", "text"),
    [
        ('{"role":"a","choices":[{"delta":{"role":"a","content":%s}}]}', "a"),
        ('{"choices":[{"delta":{"content":%s}}],"note":"a"}', ":"),
        ('{"choices":[{"delta":{"content":%s}}],"note":"a"}', ","),
    ],
)
def test_the_place_of_a_text_is_where_another_one_can_stand(chunk: str, text: str) -> None:
    """The same bytes may come before: then nothing is learnt, rather than something wrong."""
    alike = learnt(text, chunk)
    assert alike.text_of(f"data: {chunk % json.dumps('b')}\n\n".encode())[0] in ("", "b")
    assert alike.text_of(f"data: {chunk.replace(text, 'b', 1) % json.dumps(text)}\n\n".encode())[0] == ""


def test_a_text_that_is_written_otherwise_teaches_nothing() -> None:
    """Some services write every letter beyond ASCII as its number."""
    alike = RepeatedEvents(read_plain)
    alike.saw(ServerSentEvent(rb'{"choices":[{"delta":{"content":"\u00e9"}}]}'), "é")
    assert alike.text_of(b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n')[0] == ""


@pytest.mark.parametrize(
    "event", [b'{"n":%d,"choices":[{"delta":{"content":"a"}}]}', b'{"choices":[{"delta":{"content":"a"}}],"n":%d}']
)
def test_events_that_are_never_alike_are_not_looked_at_for_ever(event: bytes) -> None:
    """Where a service numbers its events, each would be read twice."""
    looks = 0

    def read(data: bytes) -> object:
        nonlocal looks
        looks += 1
        return read_plain(data)

    alike = RepeatedEvents(read)
    for number in range(10):
        alike.saw(ServerSentEvent(event % number), "a")
        assert alike.text_of(b"data: %b\n\n" % (event % (number + 1)))[0] == ""
    assert looks == 3


def test_a_pattern_that_changes_now_and_then_is_learnt_anew() -> None:
    """Some services write the second in which a chunk is made."""
    alike = RepeatedEvents(read_plain)
    for second in range(10):
        data = b'{"s":%d,"choices":[{"delta":{"content":"a"}}]}' % second
        alike.saw(ServerSentEvent(data), "a")
        assert alike.text_of(b"data: %b\n\n" % data) == ("a", b"")


TEXTS: Final = st.lists(
    st.sampled_from(["One", " two", "früh", '"', "\\", "\n", "", " ", "<b>", "\ud800"]), max_size=12
)


@pytest.mark.parametrize(("write", "reply"), [(chat, OpenAIChatReply), (message, AnthropicMessagesReply)])
@given(texts=TEXTS, cuts=st.lists(st.integers(0, 2000), max_size=6))
def test_frames_say_what_their_events_say_one_by_one(
    write: Callable[[str], bytes], reply: Callable[[tuple[()]], ReplyReader], texts: list[str], cuts: list[int]
) -> None:
    """Wherever the frames are cut."""
    stream = b"".join(map(write, texts))
    borders = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    frames = [stream[start:end] for start, end in pairwise(borders)]
    one_by_one = [bytes([byte]) for byte in stream]
    assert said(reply(()), frames) == said(reply(()), one_by_one)
