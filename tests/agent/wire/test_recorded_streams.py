"""What a real llama.cpp server sent gives the same events however it is cut, and no success when it is cut short."""

import json
from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path

import pytest

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid
from custom_components.chatterbox.agent.events import CompletionResult, ProviderEvent, TextDelta
from custom_components.chatterbox.agent.messages import FinishReason, Usage
from custom_components.chatterbox.agent.wire.openai_chat_reply import ReplyReader
from custom_components.chatterbox.agent.wire.openai_chat_schema import parse_chunk, parse_model_list
from custom_components.chatterbox.agent.wire.sse import SSEDecoder

RECORDED = Path(__file__).parents[2] / "fixtures" / "llama.cpp-0.7.0"
STREAMS = sorted(path.name for path in RECORDED.glob("chat-*.sse"))


def call(index: int, piece: str, name: str | None = None) -> bytes:
    function = {"arguments": piece} if name is None else {"name": name, "arguments": piece}
    delta = {"tool_calls": [{"index": index, "id": f"call_{index}" if name else None, "function": function}]}
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta}]})}\r\n\r\n".encode()


WITH_CALLS = b"".join(
    [
        b": ready\n\n",
        *[call(0, "", "on"), call(0, '{"name":"K'), call(0, '\\u00fcche"}')],
        *[call(1, "", "now"), call(2, '{"x":{}', "off"), call(2, "}")],
        b'data: {"choices":[{"index":0,"delta":{"content":"fr\xc3\xbch"},"finish_reason":"tool_calls"}]}\n\n',
        b'data: {"choices":[],"usage":{"prompt_tokens":5}}\n\ndata: [DONE]\n\n',
    ]
)


def recorded(name: str) -> bytes:
    return WITH_CALLS if name == "with calls" else (RECORDED / name).read_bytes()


def read(pieces: Iterable[bytes], reader: ReplyReader) -> Iterator[ProviderEvent | None]:
    """Yield the events, and None after each piece."""
    decoder = SSEDecoder()
    for piece in pieces:
        for event in decoder.feed(piece):
            if event.data != b"[DONE]":
                yield from reader.read(parse_chunk(event.data))
        yield None


def events_of(pieces: Iterable[bytes]) -> list[ProviderEvent]:
    reader = ReplyReader(())
    return [event for event in read(pieces, reader) if event is not None] + [*reader.end()]


@pytest.mark.parametrize("name", [*STREAMS, "with calls"])
def test_byte_by_byte_gives_the_same_events(name: str) -> None:
    stream = recorded(name)

    assert events_of(bytes([byte]) for byte in stream) == events_of([stream])


@pytest.mark.parametrize("name", ["chat-length.sse", "with calls"])
def test_a_cut_in_two_at_every_byte_gives_the_same_events(name: str) -> None:
    stream = recorded(name)
    whole = events_of([stream])

    for place in range(len(stream)):
        assert events_of([stream[:place], stream[place:]]) == whole, place


@pytest.mark.parametrize("name", [*STREAMS, "with calls"])
def test_an_end_at_every_byte_is_a_failure_until_the_finish_has_come(name: str) -> None:
    stream = recorded(name)
    finish_comes = stream.index(b"\n", stream.index(b'"finish_reason":"')) + 2
    reader = ReplyReader(())
    failures = successes = 0

    for event in read((bytes([byte]) for byte in stream), reader):
        if event is None and failures + 1 < finish_comes:
            with pytest.raises(ProviderReplyInvalid):
                next(reader.end())
            failures += 1
        elif event is None:
            *_, last = deepcopy(reader).end()
            assert isinstance(last, CompletionResult)
            successes += 1

    assert failures == finish_comes - 1
    assert failures + successes == len(stream)
    assert successes


def test_the_recorded_text_arrives_with_its_usage() -> None:
    *deltas, result = events_of([recorded("chat-text.sse")])
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))

    assert text.endswith("💡")
    assert result == CompletionResult(FinishReason.STOP, Usage(21, 65, 20))


def test_the_recorded_stream_that_ran_out_of_tokens_says_so() -> None:
    *deltas, result = events_of([recorded("chat-length.sse")])

    assert deltas == [TextDelta(letter) for letter in "The kitc"]
    assert result == CompletionResult(FinishReason.LENGTH, Usage(21, 8, 20))


def test_the_recorded_list_of_models() -> None:
    assert parse_model_list((RECORDED / "models.json").read_text(encoding="utf-8")) == ["tiny.gguf"]
