"""Connections of the Chat Completions provider: who asks, how long it waits, and how it leaves."""

import asyncio
import gc
import ssl
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import ProviderError, ProviderRejectedKey, ProviderUnreachable
from custom_components.chatterbox.agent.events import CompletionResult, TextDelta
from custom_components.chatterbox.agent.messages import FinishReason, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.http_client import TimeLimits
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from tests.support.servers.certificate import self_signed
from tests.support.servers.raw_http import Ending, RawReply, event_stream, head, raw_http_server

from .chat_completions import ANSWER, ANSWER_EVENTS, DONE, HELLO, IMPATIENT, KEY, REQUEST, STOP, collect, provider_of


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


async def test_one_connection_serves_all_inferences_of_a_turn(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(ANSWER) as server:
        provider = provider_of(server, session)
        for _ in range(3):
            await collect(provider)

    assert (len(server.requests), server.connections) == (3, 1)


async def test_a_provider_that_nobody_needs_any_more_leaves_no_session_open(session: aiohttp.ClientSession) -> None:
    reports: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: reports.append(context))
    async with raw_http_server(ANSWER) as server:
        provider = provider_of(server, session)
        await collect(provider)
        del provider
        gc.collect()
        await collect(provider_of(server, session))

    assert reports == []


async def test_a_response_that_ends_a_little_after_its_stream_keeps_its_connection(
    session: aiohttp.ClientSession,
) -> None:
    end = asyncio.Event()
    late = replace(ANSWER, held={-1: end})

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
