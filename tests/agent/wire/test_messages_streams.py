"""Messages streams give the same events however they are cut, and no success when they are cut short.

One was recorded from a real llama.cpp server; the other is written after the service's documentation.
"""

import json
from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path

import pytest

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import FinishReason, JsonObject, ToolCall, Usage
from custom_components.chatterbox.agent.wire.anthropic_messages_reply import ReplyReader
from custom_components.chatterbox.agent.wire.anthropic_messages_schema import parse_event
from custom_components.chatterbox.agent.wire.sse import SSEDecoder

RECORDED = Path(__file__).parents[2] / "fixtures" / "llama.cpp-0.7.0" / "messages-text.sse"


def event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\r\ndata: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\r\n\r\n".encode()


def block(index: int, begun: JsonObject, *deltas: JsonObject) -> bytes:
    pieces = [event("content_block_delta", index=index, delta=delta) for delta in deltas]
    start = event("content_block_start", index=index, content_block=begun)
    return b"".join([start, *pieces, event("content_block_stop", index=index)])


WITH_CALLS = b"".join(
    [
        event("message_start", message={"content": [], "usage": {"input_tokens": 3, "cache_read_input_tokens": 2}}),
        event("ping"),
        block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "Früh, "},
            {"type": "thinking_delta", "thinking": "hm."},
            {"type": "signature_delta", "signature": "EqoB"},
        ),
        block(
            1,
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": "Grüß "},
            {"type": "text_delta", "text": "💡"},
        ),
        block(
            2,
            {"type": "tool_use", "id": "toolu_1", "name": "on", "input": {}},
            {"type": "input_json_delta", "partial_json": ""},
            {"type": "input_json_delta", "partial_json": '{"name":"K'},
            {"type": "input_json_delta", "partial_json": 'üche"}'},
        ),
        block(3, {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}}),
        event("message_delta", delta={"stop_reason": "tool_use", "stop_sequence": None}, usage={"output_tokens": 9}),
        event("message_stop"),
    ]
)
STREAMS = {"recorded": RECORDED.read_bytes(), "with calls": WITH_CALLS}


def read(pieces: Iterable[bytes], reader: ReplyReader) -> Iterator[ProviderEvent | None]:
    """Yield the events, and None after each piece."""
    decoder = SSEDecoder()
    for piece in pieces:
        for sent in decoder.feed(piece):
            yield from reader.read(parse_event(sent.data))
        yield None


def events_of(pieces: Iterable[bytes]) -> list[ProviderEvent]:
    reader = ReplyReader(())
    return [ours for ours in read(pieces, reader) if ours is not None] + [*reader.end()]


def test_the_stream_with_calls() -> None:
    *events, result = events_of([WITH_CALLS])

    assert events == [
        ReasoningDelta("Früh, "),
        ReasoningDelta("hm."),
        TextDelta("Grüß "),
        TextDelta("💡"),
        ToolCallReady(ToolCall("toolu_1", "on", '{"name":"Küche"}')),
        ToolCallReady(ToolCall("toolu_2", "now", "{}")),
    ]
    assert isinstance(result, CompletionResult)
    assert (result.finish_reason, result.usage) == (FinishReason.TOOL_CALLS, Usage(5, 9, 2))
    [item] = result.provider_items
    assert item.data["block"] == {"type": "thinking", "thinking": "Früh, hm.", "signature": "EqoB"}


def test_the_recorded_stream_that_ran_out_of_tokens_says_so() -> None:
    *deltas, result = events_of([STREAMS["recorded"]])

    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    assert (text[:3], text[-3:]) == ("\ufffd{8", "3\ufffdy")
    assert result == CompletionResult(FinishReason.LENGTH, Usage(21, 200, 20))


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_byte_by_byte_gives_the_same_events(stream: bytes) -> None:
    assert events_of(bytes([byte]) for byte in stream) == events_of([stream])


def test_a_cut_in_two_at_every_byte_gives_the_same_events() -> None:
    whole = events_of([WITH_CALLS])

    for place in range(len(WITH_CALLS)):
        assert events_of([WITH_CALLS[:place], WITH_CALLS[place:]]) == whole, place


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_an_end_at_every_byte_is_a_failure_until_the_finish_has_come(stream: bytes) -> None:
    last_event = stream.index(b"event: message_stop")
    line_end = 2 if b"\r\n" in stream else 1
    finish_comes = last_event - line_end + 1
    reader = ReplyReader(())
    failures = successes = 0

    for ours in read((bytes([byte]) for byte in stream), reader):
        if ours is None and failures + 1 < finish_comes:
            with pytest.raises(ProviderReplyInvalid):
                next(reader.end())
            failures += 1
        elif ours is None:
            *_, last = deepcopy(reader).end()
            assert isinstance(last, CompletionResult)
            successes += 1

    assert failures == finish_comes - 1
    assert failures + successes == len(stream)
