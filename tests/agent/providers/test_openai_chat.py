"""Provider of Chat Completions: what is special about its servers, beside the contract of all formats."""

import gzip
import json
import socket
from typing import override

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import (
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
    ToolResult,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest, ReasoningEffort
from custom_components.chatterbox.agent.providers.http_provider import TimeLimits
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from custom_components.chatterbox.agent.providers.profiles import (
    DEEPSEEK,
    MISTRAL,
    OPENAI,
    OPENROUTER,
    OTHER,
    ModelOptions,
    ServerProfile,
)
from custom_components.chatterbox.agent.wire.openai_chat import request_to_payload
from custom_components.chatterbox.agent.wire.parts import payload_to_bytes
from tests.support.servers.raw_http import Ending, RawReply, event_stream, head, raw_http_server, reply

from .chat_completions import (
    ANSWER,
    ANSWER_EVENTS,
    CALL,
    DONE,
    HELLO,
    HI,
    KEY,
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


@pytest.mark.parametrize("stream", [b"", b": nothing\n\n", b"data:\n\n", b'data: {"choices":[]}\n\n'])
async def test_an_empty_stream_is_a_failure(session: aiohttp.ClientSession, stream: bytes) -> None:
    async with raw_http_server(event_stream([stream])) as server:
        with pytest.raises(ProviderReplyInvalid):
            await collect(provider_of(server, session))


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (b'{"message":"boom, topsecretkey"}', ProviderUnreachable, "error: boom, …$"),
        (b'{"error":{"message":"slow down","code":429}}', ProviderBusy, "error: slow down$"),
        (b'{"message":"no such key","code":"invalid_api_key"}', ProviderRejectedKey, "error: no such key$"),
        (b'"boom"', ProviderUnreachable, "error: boom$"),
        (b"out of memory", ProviderUnreachable, "error: out of memory$"),
        (b'{"choices":[{"index":0,"delta":{"content":"boom"}}]}', ProviderUnreachable, "error"),
        (b'{"message":"' + b"x" * 5000 + b'"}', ProviderUnreachable, "error: x{199}…$"),
    ],
    ids=["message", "error", "key", "JSON text", "words", "usual chunk", "long"],
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
        (reply(b"this is no gzip at all", headers={"Content-Encoding": "gzip"}), "cut"),
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


async def test_a_refusal_that_leaving_out_does_not_mend_is_final(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(reply(b"neither stream_options nor you", status=400)) as server:
        provider = provider_of(server, session)
        for asked in (2, 4):
            with pytest.raises(ProviderRejectedRequest, match="nor you"):
                await collect(provider)
            assert len(server.requests) == asked


async def test_a_check_is_bounded_although_the_server_keeps_talking(session: aiohttp.ClientSession) -> None:
    endless = RawReply([head(200, {"Content-Type": "text/event-stream"}), b": wait\n\n"], Ending.REPEAT)

    async with raw_http_server(endless) as server:
        provider = provider_of(server, session, limits=TimeLimits(connect=0.1, between_bytes=0.2))
        for attempt in (provider.check, provider.list_models):
            with pytest.raises(ProviderUnreachable, match="in time"):
                await attempt()
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
