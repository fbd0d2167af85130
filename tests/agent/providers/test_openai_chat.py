"""The Chat Completions provider reads what servers send, over real connections."""

import gzip
import json
from contextlib import aclosing

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid, ProviderUnreachable
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import FinishReason, ToolCall, Usage
from custom_components.chatterbox.agent.wire.openai_chat import request_to_payload
from custom_components.chatterbox.agent.wire.request_parts import payload_to_bytes
from tests.support.servers.raw_http import Ending, event_stream, raw_http_server, reply

from .chat_completions import (
    ANSWER,
    ANSWER_EVENTS,
    CALL,
    DONE,
    HELLO,
    HI,
    IMPATIENT,
    KEY,
    RECORDED,
    REQUEST,
    STOP,
    USAGE,
    collect,
    provider_of,
)


async def test_an_answer_is_streamed(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(ANSWER) as server:
        assert await collect(provider_of(server, session)) == ANSWER_EVENTS

    [request] = server.requests
    assert (request.method, request.target) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"
    assert request.body == payload_to_bytes(request_to_payload(REQUEST, "small-1"))


async def test_each_event_arrives_while_the_server_still_writes(session: aiohttp.ClientSession) -> None:
    waiting = event_stream([b": ready\n\n", HELLO, CALL], Ending.WAIT)

    async with raw_http_server(waiting) as server, aclosing(provider_of(server, session).stream(REQUEST)) as events:
        assert await anext(events) == TextDelta("Hello")
        assert await anext(events) == ToolCallReady(ToolCall("a", "on", '{"x":1}'))


@pytest.mark.parametrize("name", sorted(path.name for path in RECORDED.glob("chat-*.sse")))
async def test_recorded_streams_arrive_whole(session: aiohttp.ClientSession, name: str) -> None:
    recorded = (RECORDED / name).read_bytes()
    pieces = [recorded[at : at + 997] for at in range(0, len(recorded), 997)]

    async with raw_http_server(event_stream(pieces), event_stream([recorded])) as server:
        provider = provider_of(server, session)
        first, second = await collect(provider), await collect(provider)

    assert first == second
    assert isinstance(first[-1], CompletionResult)
    assert first[-1].usage.input_tokens == 21


@pytest.mark.parametrize("ending", [Ending.CLOSE, Ending.RESET])
async def test_a_recorded_stream_cut_at_any_byte_is_a_failure_until_the_finish_has_come(
    session: aiohttp.ClientSession, ending: Ending
) -> None:
    recorded = (RECORDED / "chat-length.sse").read_bytes()
    finish_comes = recorded.index(b"\n\n", recorded.index(b'"finish_reason":"')) + 2
    cuts = [*range(0, len(recorded), 11), finish_comes - 1, finish_comes, len(recorded)]
    replies = [event_stream([recorded[:cut]], ending) for cut in cuts]
    failed: list[int] = []
    finished: list[int] = []

    async with raw_http_server(*replies) as server:
        provider = provider_of(server, session)
        for cut in cuts:
            try:
                *_, last = await collect(provider)
            except ProviderReplyInvalid, ProviderUnreachable:
                failed.append(cut)
            else:
                assert isinstance(last, CompletionResult)
                assert last.finish_reason is FinishReason.LENGTH
                finished.append(cut)

    assert {*failed, *finished} == {*cuts}
    assert {cut for cut in cuts if cut < finish_comes} <= {*failed}
    if ending is Ending.CLOSE:  # a reset may overtake what was sent before it
        assert {cut for cut in cuts if cut >= finish_comes} == {*finished}


@pytest.mark.parametrize("ending", [Ending.KEEP, Ending.CLOSE, Ending.RESET])
async def test_a_stream_that_ends_after_whole_calls_but_without_a_finish_is_a_failure(
    session: aiohttp.ClientSession, ending: Ending
) -> None:
    async with raw_http_server(event_stream([CALL], ending)) as server:
        with pytest.raises((ProviderReplyInvalid, ProviderUnreachable)):
            await collect(provider_of(server, session))


async def test_done_is_no_finish(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(event_stream([HELLO, DONE])) as server:
        with pytest.raises(ProviderReplyInvalid, match="before the service said"):
            await collect(provider_of(server, session))


@pytest.mark.parametrize(
    "pieces",
    [[HELLO, STOP], [HELLO, STOP, USAGE], [HELLO, STOP, DONE], [HELLO, STOP, DONE, b"data: nonsense\n\n"]],
)
@pytest.mark.parametrize("ending", [Ending.KEEP, Ending.CLOSE, Ending.WAIT])
async def test_once_the_finish_has_come_nothing_can_go_wrong(
    session: aiohttp.ClientSession, pieces: list[bytes], ending: Ending
) -> None:
    async with (
        raw_http_server(event_stream(pieces, ending)) as server,
        aclosing(provider_of(server, session, limits=IMPATIENT).stream(REQUEST)) as events,
    ):
        assert await anext(events) == TextDelta("Hello")
        result = await anext(events)

    assert isinstance(result, CompletionResult)
    assert result.finish_reason is FinishReason.STOP


async def test_an_empty_answer_is_an_answer(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(event_stream([STOP, DONE])) as server:
        assert await collect(provider_of(server, session)) == [CompletionResult(FinishReason.STOP)]


WHOLE_CHOICES: list[dict[str, object]] = [
    {
        "index": 0,
        "message": {
            "role": "assistant",
            "content": "Hello",
            "reasoning_content": "hm",
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "on", "arguments": '{"x":1}'}}],
        },
        "finish_reason": "tool_calls",
    }
]
WHOLE = {
    "object": "chat.completion",
    "choices": WHOLE_CHOICES,
    "usage": {"prompt_tokens": 5, "completion_tokens": 1},
}


async def test_a_server_that_does_not_stream_is_understood(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(reply(json.dumps(WHOLE).encode())) as server:
        assert await collect(provider_of(server, session)) == [
            ReasoningDelta("hm"),
            TextDelta("Hello"),
            ToolCallReady(ToolCall("a", "on", '{"x":1}')),
            CompletionResult(FinishReason.TOOL_CALLS, Usage(5, 1)),
        ]


async def test_a_last_message_that_repeats_what_came_in_pieces_is_no_second_call(
    session: aiohttp.ClientSession,
) -> None:
    begun = {"index": 0, "id": "a", "type": "function", "function": {"name": "on", "arguments": '{"x":'}}
    ended = {"index": 0, "function": {"arguments": "1}"}}
    choices = [{"delta": {"tool_calls": [begun]}}, {"delta": {"tool_calls": [ended]}}, *WHOLE_CHOICES]
    events = [b"data: %b\n\n" % json.dumps({"choices": [choice]}).encode() for choice in choices]
    async with raw_http_server(event_stream([*events, DONE])) as server:
        assert await collect(provider_of(server, session)) == [
            ToolCallReady(ToolCall("a", "on", '{"x":1}')),
            CompletionResult(FinishReason.TOOL_CALLS),
        ]


@pytest.mark.parametrize(
    "content_type", ["application/json", "text/event-stream", "text/plain", "application/x-ndjson", "nonsense"]
)
@pytest.mark.parametrize(
    ("body", "events"),
    [
        (HELLO + STOP + USAGE + DONE, ANSWER_EVENTS),
        (b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}', HI),
        (b' \r\n\t{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}', HI),
    ],
    ids=["stream", "whole", "whole after blanks"],
)
async def test_an_answer_is_known_by_its_beginning_and_not_by_its_type(
    session: aiohttp.ClientSession, content_type: str, body: bytes, events: list[ProviderEvent]
) -> None:
    async with raw_http_server(reply(body, content_type)) as server:
        assert await collect(provider_of(server, session)) == events


async def test_blanks_that_arrive_before_a_whole_answer_are_passed_over(session: aiohttp.ClientSession) -> None:
    pieces = [b"\n", b" \n", b'\n{"choices":[{"message"', b':{"content":"Hi"},"finish_reason":"stop"}]}']

    async with raw_http_server(event_stream(pieces, content_type="application/json")) as server:
        assert await collect(provider_of(server, session)) == HI


@pytest.mark.parametrize("rest", [b"\n", b"", b'\n\ndata: {"choices"', b"\n\ndata: [DONE]", b"\n\ndata: [DO"])
async def test_a_last_event_needs_no_blank_line(session: aiohttp.ClientSession, rest: bytes) -> None:
    async with raw_http_server(event_stream([HELLO, STOP.rstrip() + rest])) as server:
        events = await collect(provider_of(server, session))

    assert events == [TextDelta("Hello"), CompletionResult(FinishReason.STOP)]


async def test_a_compressed_stream_is_read(session: aiohttp.ClientSession) -> None:
    packed = gzip.compress(HELLO + STOP)

    async with raw_http_server(reply(packed, "text/event-stream", headers={"Content-Encoding": "gzip"})) as server:
        assert (await collect(provider_of(server, session)))[0] == TextDelta("Hello")
