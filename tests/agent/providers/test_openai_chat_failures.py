"""The Chat Completions provider tells what fails: refusals, errors amid a stream, and what is no such server."""

import json

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
from custom_components.chatterbox.agent.wire.openai_chat import request_to_payload
from tests.support.servers.raw_http import Ending, RawReply, event_stream, head, raw_http_server, reply

from .chat_completions import ANSWER, ANSWER_EVENTS, HELLO, KEY, RECORDED, STOP, WITH_TOOLS, collect, provider_of


@pytest.mark.parametrize("stream", [b"", b": nothing\n\n", b"data:\n\n", b'data: {"choices":[]}\n\n'])
async def test_an_empty_stream_is_a_failure(session: aiohttp.ClientSession, stream: bytes) -> None:
    async with raw_http_server(event_stream([stream])) as server:
        with pytest.raises(ProviderReplyInvalid):
            await collect(provider_of(server, session))


async def test_nonsense_in_a_stream_is_a_failure(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(event_stream([HELLO, b"data: {nonsense\n\n", STOP])) as server:
        with pytest.raises(ProviderReplyInvalid, match="not JSON"):
            await collect(provider_of(server, session))


async def test_an_error_in_a_stream_is_a_failure(session: aiohttp.ClientSession) -> None:
    error = b'data: {"error":{"message":"slow down, topsecretkey","code":429},"choices":[]}\n\n'

    async with raw_http_server(event_stream([HELLO, error])) as server:
        with pytest.raises(ProviderBusy, match="slow down, …"):
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
