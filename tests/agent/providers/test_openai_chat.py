"""The Chat Completions provider against real connections: answers, refusals, cuts, silence and leaving early."""

import asyncio
import gzip
import json
import socket
import ssl
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import override

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import (
    ModelNotFound,
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    FinishReason,
    JsonObject,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest, LLMProvider
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider, TimeLimits
from custom_components.chatterbox.agent.providers.options import ModelOptions, ReasoningEffort
from custom_components.chatterbox.agent.providers.profiles import (
    DEEPSEEK,
    MISTRAL,
    OPENAI,
    OPENROUTER,
    OTHER,
    ServerProfile,
)
from custom_components.chatterbox.agent.wire.openai_chat import request_to_payload
from custom_components.chatterbox.agent.wire.sendable import payload_to_bytes
from tests.servers.raw_http import Ending, RawHTTPServer, RawReply, event_stream, head, raw_http_server, reply

from .certificate import self_signed

RECORDED = Path(__file__).parents[2] / "fixtures" / "llama.cpp-0.7.0"
REQUEST = CompletionRequest("Be brief.", (UserMessage("Hi"),))
WITH_TOOLS = CompletionRequest("", (UserMessage("Hi"),), (ToolDefinition("on", "", {"type": "object"}),))
KEY = "topsecretkey"

HELLO = b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}\n\n'
CALL = (
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":'
    b'{"name":"on","arguments":"{\\"x\\":1}"}}]},"finish_reason":null}]}\n\n'
)
STOP = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
USAGE = b'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\n'
DONE = b"data: [DONE]\n\n"

ANSWER = event_stream([HELLO, STOP, USAGE, DONE])
ANSWER_EVENTS = [TextDelta("Hello"), CompletionResult(FinishReason.STOP, Usage(5, 1))]
HI = [TextDelta("Hi"), CompletionResult(FinishReason.STOP)]
IMPATIENT = TimeLimits(connect=5, between_bytes=0.1, after_finish=0.1)


def provider_of(
    server: RawHTTPServer,
    session: aiohttp.ClientSession,
    key: str | None = KEY,
    limits: TimeLimits | None = None,
) -> OpenAIChatProvider:
    base_url = f"http://127.0.0.1:{server.port}"
    return OpenAIChatProvider(session, base_url, "small-1", key, limits or TimeLimits())


async def collect(provider: LLMProvider, request: CompletionRequest = REQUEST) -> list[ProviderEvent]:
    async with aclosing(provider.stream(request)) as events:
        return [event async for event in events]


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


@pytest.mark.parametrize("key", [None, "", "  "])
async def test_without_a_key_none_is_sent(session: aiohttp.ClientSession, key: str | None) -> None:
    async with raw_http_server(ANSWER) as server:
        await collect(provider_of(server, session, key))

    assert "authorization" not in server.requests[0].headers


async def test_spaces_around_a_pasted_key_are_not_sent(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(ANSWER) as server:
        await collect(provider_of(server, session, f" {KEY}\n"))

    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_password_in_the_address_is_sent_as_one(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(ANSWER) as server:
        provider = OpenAIChatProvider(session, f"http://user:pass@127.0.0.1:{server.port}/v1?a=b", "m")
        await collect(provider)

    assert server.requests[0].headers["authorization"] == "Basic dXNlcjpwYXNz"
    assert server.requests[0].target == "/v1/chat/completions?a=b"


@pytest.mark.parametrize(
    ("base_url", "key", "kind"),
    [
        ("http://user:pass@127.0.0.1:1", KEY, ProviderRejectedKey),
        ("http://127.0.0.1:1", "two\nlines", ProviderRejectedKey),
        ("127.0.0.1:1", None, ProviderUnreachable),
        ("http://user:pass@127.0.0.1:1", None, ProviderUnreachable),
    ],
)
async def test_what_cannot_be_sent_is_a_clear_error_of_the_first_call(
    session: aiohttp.ClientSession, base_url: str, key: str | None, kind: type[ProviderError]
) -> None:
    provider = OpenAIChatProvider(session, base_url, "m", key)

    for attempt in (lambda: collect(provider), provider.list_models, provider.check):
        with pytest.raises(kind) as caught:
            await attempt()
        assert "pass@" not in str(caught.value)


async def test_neither_key_nor_address_are_shown(session: aiohttp.ClientSession) -> None:
    shown = repr(OpenAIChatProvider(session, "http://user:pass@host", "small-1", KEY))

    assert shown == "OpenAIChatProvider(model='small-1')"


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


async def test_one_connection_serves_all_inferences_of_a_turn(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(ANSWER) as server:
        provider = provider_of(server, session)
        for _ in range(3):
            await collect(provider)

    assert (len(server.requests), server.connections) == (3, 1)


async def test_a_response_that_ends_a_little_after_its_stream_keeps_its_connection(
    session: aiohttp.ClientSession,
) -> None:
    end = asyncio.Event()
    late = replace(ANSWER, last_at=end)

    async with raw_http_server(late, ANSWER) as server:
        provider = provider_of(server, session, limits=TimeLimits(after_done=60))
        async with aclosing(provider.stream(REQUEST)) as events:
            assert await anext(events) == ANSWER_EVENTS[0]
            asyncio.get_running_loop().call_later(0.05, end.set)
            assert await anext(events) == ANSWER_EVENTS[1]
        await collect(provider)

    assert (len(server.requests), server.connections) == (2, 1)


@pytest.mark.parametrize("pieces", [[HELLO, STOP], [HELLO, STOP, DONE]])
async def test_a_server_that_keeps_talking_after_the_finish_is_left(
    session: aiohttp.ClientSession, pieces: list[bytes]
) -> None:
    stream = RawReply([head(200, {"Content-Type": "text/event-stream"}), *pieces, b": more\n\n"], Ending.REPEAT)

    async with raw_http_server(stream) as server:
        events = await collect(provider_of(server, session, limits=TimeLimits(after_finish=0.1)))
        await server.left.wait()

    assert events == [TextDelta("Hello"), CompletionResult(FinishReason.STOP)]


@pytest.mark.parametrize("ending", [Ending.CLOSE, Ending.RESET])
async def test_a_connection_that_the_server_has_given_up_is_no_failure(
    session: aiohttp.ClientSession, ending: Ending
) -> None:
    async with raw_http_server(ANSWER, RawReply([], ending), ANSWER) as server:
        provider = provider_of(server, session)
        for _ in range(2):
            assert await collect(provider) == ANSWER_EVENTS

    assert len(server.requests) == 3


@pytest.mark.parametrize("stream", [b"", b": nothing\n\n", b"data:\n\n", b'data: {"choices":[]}\n\n'])
async def test_an_empty_stream_is_a_failure(session: aiohttp.ClientSession, stream: bytes) -> None:
    async with raw_http_server(event_stream([stream])) as server:
        with pytest.raises(ProviderReplyInvalid):
            await collect(provider_of(server, session))


async def test_an_empty_answer_is_an_answer(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(event_stream([STOP, DONE])) as server:
        assert await collect(provider_of(server, session)) == [CompletionResult(FinishReason.STOP)]


async def test_nonsense_in_a_stream_is_a_failure(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(event_stream([HELLO, b"data: {nonsense\n\n", STOP])) as server:
        with pytest.raises(ProviderReplyInvalid, match="not JSON"):
            await collect(provider_of(server, session))


async def test_an_error_in_a_stream_is_a_failure(session: aiohttp.ClientSession) -> None:
    error = b'data: {"error":{"message":"slow down, topsecretkey","code":429},"choices":[]}\n\n'

    async with raw_http_server(event_stream([HELLO, error])) as server:
        with pytest.raises(ProviderBusy, match="slow down, …"):
            await collect(provider_of(server, session))


WHOLE = {
    "object": "chat.completion",
    "choices": [
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
    ],
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


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (b'{"message":"boom, topsecretkey"}', ProviderUnreachable, "error: boom, …$"),
        (b'{"error":{"message":"slow down","code":429}}', ProviderBusy, "error: slow down$"),
        (b'{"message":"no such key","code":"invalid_api_key"}', ProviderRejectedKey, "error: no such key$"),
        (b'"boom"', ProviderUnreachable, "error: boom$"),
        (b"out of memory", ProviderUnreachable, "error: out of memory$"),
        (b'{"message":"' + b"x" * 5000 + b'"}', ProviderUnreachable, "error: x{199}…$"),
    ],
    ids=["message", "error", "key", "JSON text", "words", "long"],
)
@pytest.mark.parametrize("ending", [b"\n\n", b""])
async def test_an_event_named_error_keeps_the_words_of_the_server(
    session: aiohttp.ClientSession, data: bytes, kind: type[ProviderError], words: str, ending: bytes
) -> None:
    async with raw_http_server(event_stream([HELLO, b"event: error\ndata: " + data + ending])) as server:
        with pytest.raises(ProviderError, match=words) as caught:
            await collect(provider_of(server, session))

    assert type(caught.value) is kind


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (reply(b'{"status":"ok"}'), "before the service said"),
        (reply(b"ok"), "before the service said"),
        (reply(b"{ok"), "not JSON"),
        (reply(b"<html>Welcome</html>", "text/html; charset=utf-8"), "web page"),
        (reply(b"Welcome", "text/plain"), "before the service said"),
        (RawReply([head(204, {})]), "before the service said"),
        (reply(b"x" * (8 * 1024 * 1024 + 1)), "more than"),
        (reply(b"{" * (8 * 1024 * 1024 + 1)), "more than"),
        (reply(b"", status=301, headers={"Location": "https://elsewhere"}), "HTTP 301"),
        (reply(b"<html>lost</html>", "text/html", 404), "HTTP 404"),
        (reply(b"no gzip", headers={"Content-Encoding": "gzip"}), "cut"),
        (reply(b"", headers={"Content-Length": "10"}, status=200), None),
        (RawReply([b"SSH-2.0-OpenSSH_9.9\r\n"]), "HTTP"),
        (RawReply([head(200, {"Content-Type": "application/json", "Content-Length": "99"}), b"{"]), "cut"),
    ],
    ids=[
        "other JSON",
        "no JSON",
        "hardly JSON",
        "page",
        "text",
        "nothing",
        "too long",
        "too long JSON",
        "redirect",
        "lost",
        "gzip",
        "short",
        "SSH",
        "cut",
    ],
)
async def test_what_is_no_chat_completions_server(
    session: aiohttp.ClientSession, answer: RawReply, words: str | None
) -> None:
    if words is None:
        answer = RawReply(answer.pieces, Ending.CLOSE)
    async with raw_http_server(answer) as server:
        with pytest.raises(ProviderReplyInvalid, match=words):
            await collect(provider_of(server, session))


async def test_a_compressed_stream_is_read(session: aiohttp.ClientSession) -> None:
    packed = gzip.compress(HELLO + STOP)

    async with raw_http_server(reply(packed, "text/event-stream", headers={"Content-Encoding": "gzip"})) as server:
        assert (await collect(provider_of(server, session)))[0] == TextDelta("Hello")


@pytest.mark.parametrize(
    ("refusal", "kind", "words"),
    [
        (
            reply((RECORDED / "error-missing-messages.json").read_bytes(), status=400),
            ProviderRejectedRequest,
            "required",
        ),
        (reply(b"Unauthorized: topsecretkey", "text/plain", 401), ProviderRejectedKey, "HTTP 401: Unauthorized: …"),
        (reply(b'{"error":{"message":"no model m"}}', status=404), ModelNotFound, "no model m"),
        (reply(b"{not json", status=429, headers={"Retry-After": "7"}), ProviderBusy, "HTTP 429"),
        (reply(b"<h1>Oops</h1>", "text/html", 500), ProviderUnreachable, "HTTP 500$"),
        (reply(b'{"type":"error","error":{"type":"overloaded_error"}}', status=529), ProviderBusy, "HTTP 529"),
        (reply(b"x" * 100_000, status=413), ProviderRejectedRequest, "HTTP 413: x+"),
        (RawReply([head(500, {"Content-Length": "99"}), b"Oo"]), ProviderUnreachable, "HTTP 500: Oo"),
    ],
)
async def test_refusals(
    session: aiohttp.ClientSession, refusal: RawReply, kind: type[ProviderError], words: str
) -> None:
    async with raw_http_server(refusal) as server:
        provider = provider_of(server, session)
        for attempt in (lambda: collect(provider), provider.check):
            with pytest.raises(kind, match=words) as caught:
                await attempt()
            assert KEY not in str(caught.value)
            if isinstance(caught.value, ProviderBusy) and "429" in words:
                assert caught.value.retry_after == 7.0


@pytest.mark.parametrize(
    ("refusals", "left_out"),
    [
        ([b'{"error":{"message":"Unknown field: stream_options"}}'], {"stream_options"}),
        ([b'{"detail":[{"loc":["body","parallel_tool_calls"],"msg":"Extra inputs"}]}'], {"parallel_tool_calls"}),
        ([b"no stream_options", b"no parallel_tool_calls"], {"stream_options", "parallel_tool_calls"}),
    ],
)
async def test_optional_fields_that_a_server_refuses_are_left_out_from_then_on(
    session: aiohttp.ClientSession, refusals: list[bytes], left_out: set[str]
) -> None:
    refused = [reply(body, status=400) for body in refusals]

    async with raw_http_server(*refused, ANSWER) as server:
        provider = provider_of(server, session)
        assert await collect(provider, WITH_TOOLS) == ANSWER_EVENTS
        assert await collect(provider, WITH_TOOLS) == ANSWER_EVENTS

    whole = request_to_payload(WITH_TOOLS, "small-1").keys()
    sent = [json.loads(request.body).keys() for request in server.requests]
    assert sent[0] == whole
    assert sent[-2:] == [whole - left_out] * 2
    assert len(sent) == len(refusals) + 2


async def test_a_refusal_that_leaving_out_does_not_mend_is_final(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(reply(b"neither stream_options nor you", status=400)) as server:
        provider = provider_of(server, session)
        for asked in (2, 4):
            with pytest.raises(ProviderRejectedRequest, match="nor you"):
                await collect(provider)
            assert len(server.requests) == asked


async def test_nobody_there(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(ANSWER) as server:
        pass
    provider = provider_of(server, session)

    for attempt in (lambda: collect(provider), provider.check, provider.list_models):
        with pytest.raises(ProviderUnreachable, match="no connection to the service: ") as caught:
            await attempt()
        assert isinstance(caught.value.__cause__, aiohttp.ClientConnectorError)


async def test_a_connection_that_breaks_before_any_answer(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(RawReply([], Ending.RESET)) as server:
        with pytest.raises(ProviderUnreachable):
            await collect(provider_of(server, session))

    assert len(server.requests) == 1


async def test_a_conversation_of_some_megabytes_is_sent(session: aiohttp.ClientSession) -> None:
    request = CompletionRequest("", (UserMessage("x" * 3_000_000),))

    async with raw_http_server(ANSWER) as server:
        assert await collect(provider_of(server, session), request) == ANSWER_EVENTS

    assert len(server.requests[0].body) > 3_000_000


async def test_a_certificate_that_nobody_vouches_for(session: aiohttp.ClientSession, tmp_path: Path) -> None:
    async with raw_http_server(ANSWER, tls=self_signed(tmp_path)) as server:
        provider = OpenAIChatProvider(session, f"https://127.0.0.1:{server.port}", "m", KEY)
        with pytest.raises(ProviderUnreachable, match=r"TLS.*self-signed") as caught:
            await provider.check()

    assert isinstance(caught.value.__cause__, aiohttp.ClientSSLError)
    assert not server.requests


async def test_https_where_the_server_speaks_http(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(ANSWER) as server:
        with pytest.raises(ProviderUnreachable, match="TLS") as caught:
            await OpenAIChatProvider(session, f"https://127.0.0.1:{server.port}", "m").check()

    assert isinstance(caught.value.__cause__, ssl.SSLError)


@pytest.mark.parametrize(
    "sent",
    [RawReply([], Ending.WAIT), RawReply([b"HTTP/1.1 200 OK\r\n"], Ending.WAIT), event_stream([HELLO], Ending.WAIT)],
    ids=["silence", "half a head", "half a stream"],
)
async def test_a_server_that_falls_silent_is_left(session: aiohttp.ClientSession, sent: RawReply) -> None:
    async with raw_http_server(sent) as server:
        with pytest.raises(ProviderUnreachable, match="in time"):
            await collect(provider_of(server, session, limits=IMPATIENT))
        await server.left.wait()


async def test_an_error_whose_body_never_ends_is_still_that_error(session: aiohttp.ClientSession) -> None:
    endless = RawReply([head(401, {"Content-Length": "99"}), b"No."], Ending.WAIT)

    async with raw_http_server(endless) as server:
        with pytest.raises(ProviderRejectedKey, match=r"No\."):
            await collect(provider_of(server, session, limits=IMPATIENT))
        await server.left.wait()


async def test_closing_the_events_closes_the_connection(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(event_stream([HELLO], Ending.WAIT)) as server:
        events = provider_of(server, session).stream(REQUEST)
        assert await anext(events) == TextDelta("Hello")
        await events.aclose()
        await server.left.wait()


@pytest.mark.parametrize("pieces", [[], [HELLO]], ids=["before the first event", "amid the stream"])
async def test_cancelling_closes_the_connection_and_leaves_no_task(
    session: aiohttp.ClientSession, pieces: list[bytes]
) -> None:
    seen = asyncio.Event()

    async def follow(provider: OpenAIChatProvider) -> None:
        async with aclosing(provider.stream(REQUEST)) as events:
            async for _ in events:
                seen.set()

    tasks = asyncio.all_tasks()
    async with raw_http_server(event_stream(pieces, Ending.WAIT)) as server:
        following = asyncio.create_task(follow(provider_of(server, session)))
        await server.arrived.wait()
        if pieces:
            await seen.wait()
        following.cancel()
        with pytest.raises(asyncio.CancelledError):
            await following
        await server.left.wait()

    assert asyncio.all_tasks() == tasks


async def test_a_check_that_succeeds_leaves_at_the_first_word(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(event_stream([HELLO], Ending.WAIT)) as server:
        await provider_of(server, session).check()
        await server.left.wait()

    sent = json.loads(server.requests[0].body)
    assert sent["messages"] == [{"role": "user", "content": "Hi"}]
    assert "tools" not in sent


async def test_a_check_is_bounded_although_the_server_keeps_talking(session: aiohttp.ClientSession) -> None:
    endless = RawReply([head(200, {"Content-Type": "text/event-stream"}), b": wait\n\n"], Ending.REPEAT)

    async with raw_http_server(endless) as server:
        provider = provider_of(server, session, limits=TimeLimits(connect=0.1, between_bytes=0.2))
        for attempt in (provider.check, provider.list_models):
            with pytest.raises(ProviderUnreachable, match="in time"):
                await attempt()
        await server.left.wait()


async def test_models_are_listed(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(reply((RECORDED / "models.json").read_bytes())) as server:
        assert await provider_of(server, session).list_models() == ["tiny.gguf"]

    [request] = server.requests
    assert (request.method, request.target) == ("GET", "/v1/models")
    assert request.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (reply(b'{"error":"Unexpected endpoint or method. (GET /models)"}', status=404), ProviderReplyInvalid),
        (reply(b"<html>", "text/html"), ProviderReplyInvalid),
        (reply(b'{"error":"no"}', status=401), ProviderRejectedKey),
        (reply(b"", status=503), ProviderBusy),
        (RawReply([head(200, {"Content-Length": "99"})]), ProviderReplyInvalid),
    ],
)
async def test_no_list_of_models(session: aiohttp.ClientSession, answer: RawReply, kind: type[ProviderError]) -> None:
    async with raw_http_server(answer) as server:
        with pytest.raises(kind):
            await provider_of(server, session).list_models()


async def test_a_list_of_models_that_never_ends_is_left(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(RawReply([head(200, {"Content-Length": "99"})], Ending.WAIT)) as server:
        with pytest.raises(ProviderUnreachable, match="in time"):
            await provider_of(server, session, limits=IMPATIENT).list_models()
        await server.left.wait()


WISHES = ModelOptions(max_tokens=9, reasoning_effort=ReasoningEffort.NONE)


@pytest.mark.parametrize(
    ("profile", "wishes"),
    [
        (OTHER, {"max_tokens": 9, "reasoning_effort": "none"}),
        (OPENAI, {"max_completion_tokens": 9, "reasoning_effort": "none"}),
        (OPENROUTER, {"max_tokens": 9, "reasoning": {"effort": "none"}}),
        (DEEPSEEK, {"max_tokens": 9, "thinking": {"type": "disabled"}}),
    ],
    ids=lambda value: value.id if isinstance(value, ServerProfile) else "",
)
async def test_each_server_is_told_in_its_own_words(
    session: aiohttp.ClientSession, profile: ServerProfile, wishes: JsonObject
) -> None:
    async with raw_http_server(ANSWER) as server:
        base_url = f"http://127.0.0.1:{server.port}"
        await collect(OpenAIChatProvider(session, base_url, "m", options=WISHES, profile=profile))

    plain = request_to_payload(REQUEST, "m")
    assert json.loads(server.requests[0].body) == {**plain, **wishes}


async def test_a_profile_decides_how_the_conversation_is_written(session: aiohttp.ClientSession) -> None:
    called = AssistantMessage("", "hm", (ToolCall("functions.on:0", "on", "{}"),))
    request = CompletionRequest("", (UserMessage("Hi"), called, ToolResult("functions.on:0", "on", "done")))

    async with raw_http_server(ANSWER) as server:
        base_url = f"http://127.0.0.1:{server.port}"
        for profile in (DEEPSEEK, MISTRAL):
            await collect(OpenAIChatProvider(session, base_url, "m", profile=profile), request)

    deepseek, mistral = (json.loads(sent.body)["messages"] for sent in server.requests)
    assert deepseek == json.loads(payload_to_bytes(request_to_payload(request, "m", DEEPSEEK.chat)))["messages"]
    assert deepseek[1]["reasoning_content"] == "hm"
    assert len(mistral[2]["tool_call_id"]) == 9


async def test_a_profile_decides_what_can_be_shown(session: aiohttp.ClientSession) -> None:
    request = CompletionRequest("", (UserMessage("", (Attachment("application/pdf", b"%PDF", "bill.pdf"),)),))

    async with raw_http_server(ANSWER) as server:
        base_url = f"http://127.0.0.1:{server.port}"
        for profile in (OPENAI, DEEPSEEK):
            await collect(OpenAIChatProvider(session, base_url, "m", profile=profile), request)

    seen, told = (json.loads(sent.body)["messages"][0]["content"] for sent in server.requests)
    assert seen[0]["file"]["filename"] == "bill.pdf"
    assert "bill.pdf was attached here" in told


@pytest.mark.usefixtures("socket_enabled")
async def test_without_a_profile_the_address_tells() -> None:
    async with raw_http_server(ANSWER) as server:
        local = aiohttp.TCPConnector(resolver=_Everywhere(server.port))
        async with aiohttp.ClientSession(connector=local) as redirected:
            base_url = f"http://api.deepseek.com:{server.port}"
            await collect(OpenAIChatProvider(redirected, base_url, "m", options=WISHES))

    assert json.loads(server.requests[0].body)["thinking"] == {"type": "disabled"}


class _Everywhere(aiohttp.abc.AbstractResolver):
    """Finds every host on the loopback address."""

    def __init__(self, port: int) -> None:
        self._port = port

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[aiohttp.abc.ResolveResult]:
        return [
            {
                "hostname": host,
                "host": "127.0.0.1",
                "port": self._port,
                "family": family,
                "proto": 0,
                "flags": socket.AI_NUMERICHOST,
            }
        ]

    @override
    async def close(self) -> None:
        pass
