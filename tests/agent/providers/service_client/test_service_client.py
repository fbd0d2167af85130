"""Connections of the HTTP client, beside the contract of all formats."""

import asyncio
import gc
import ssl
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import (
    ProviderRejectedKey,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import CompletionResult, TextDelta
from custom_components.chatterbox.agent.messages import FinishReason, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from custom_components.chatterbox.agent.providers.refused_parameters import (
    RefusedParameters,
)
from custom_components.chatterbox.agent.providers.service_client import (
    Access,
    ServiceClient,
    TimeLimits,
)
from tests.agent.providers.chat_completions import (
    ANSWER,
    ANSWER_EVENTS,
    DONE,
    HELLO,
    IMPATIENT,
    KEY,
    REQUEST,
    STOP,
    collect,
    provider_of,
)
from tests.support.servers.certificate import self_signed
from tests.support.servers.raw_http import (
    Ending,
    RawReply,
    head,
    raw_http_server,
    reply,
)


async def test_a_password_in_the_address_is_sent_as_one(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(ANSWER) as server:
        provider = OpenAIChatProvider(
            session, f"http://user:pass@127.0.0.1:{server.port}/v1?a=b", "m"
        )
        await collect(provider)

    assert server.requests[0].headers["authorization"] == "Basic dXNlcjpwYXNz"
    assert server.requests[0].target == "/v1/chat/completions?a=b"


async def test_a_provider_that_nobody_needs_any_more_leaves_no_session_open(
    session: aiohttp.ClientSession,
) -> None:
    reports: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: reports.append(context)
    )
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
    stream = RawReply(
        [head(200, {"Content-Type": "text/event-stream"}), *pieces, b": more\n\n"],
        Ending.REPEAT,
    )

    async with raw_http_server(stream) as server:
        events = await collect(
            provider_of(server, session, limits=TimeLimits(after_finish=0.1))
        )
        await server.left.wait()

    assert events == [TextDelta("Hello"), CompletionResult(FinishReason.STOP)]


async def test_a_conversation_of_some_megabytes_is_sent(
    session: aiohttp.ClientSession,
) -> None:
    request = CompletionRequest("", (UserMessage("x" * 3_000_000),))

    async with raw_http_server(ANSWER) as server:
        assert await collect(provider_of(server, session), request) == ANSWER_EVENTS

    assert len(server.requests[0].body) > 3_000_000


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
async def test_words_and_key_go_nowhere_else(
    session: aiohttp.ClientSession, status: int
) -> None:
    async with raw_http_server(ANSWER) as elsewhere:
        moved = reply(
            b"",
            status=status,
            headers={"Location": f"http://127.0.0.1:{elsewhere.port}/v1"},
        )
        async with raw_http_server(moved) as server:
            provider = provider_of(server, session)
            for attempt in (lambda: collect(provider), provider.list_models):
                with pytest.raises(ProviderReplyInvalid):
                    await attempt()

    assert len(server.requests) == 2
    assert elsewhere.requests == []


@pytest.mark.parametrize(
    ("location", "message"),
    [
        (
            "https://user:password@elsewhere/api/v1/models?key=private#private",
            "https://elsewhere/api/v1",
        ),
        ("/login?next=private", "http://127.0.0.1:{port}/login"),
        ("https://elsewhere/any-key/models", ""),
        ("http://[", ""),
        ("", "http://127.0.0.1:{port}/v1"),
        (None, ""),
    ],
)
async def test_a_redirect_tells_its_address_without_secrets(
    session: aiohttp.ClientSession, location: str | None, message: str
) -> None:
    moved = reply(
        b"", status=307, headers={} if location is None else {"Location": location}
    )
    async with raw_http_server(moved) as server:
        with pytest.raises(ProviderReplyInvalid) as caught:
            await provider_of(server, session, key="any-key").list_models()

    assert caught.value.location == message.format(port=server.port)
    assert caught.value.words == ""


async def test_a_certificate_that_nobody_vouches_for(
    session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    async with raw_http_server(ANSWER, tls=self_signed(tmp_path)) as server:
        provider = OpenAIChatProvider(
            session, f"https://127.0.0.1:{server.port}", "m", KEY
        )
        with pytest.raises(ProviderUnreachable, match=r"TLS.*self-signed") as caught:
            await provider.check()

    assert isinstance(caught.value.__cause__, aiohttp.ClientSSLError)
    assert not server.requests


async def test_https_where_the_server_speaks_http(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(ANSWER) as server:
        with pytest.raises(ProviderUnreachable, match="TLS") as caught:
            await OpenAIChatProvider(
                session, f"https://127.0.0.1:{server.port}", "m"
            ).check()

    assert isinstance(caught.value.__cause__, ssl.SSLError)


@pytest.mark.parametrize(
    ("ask", "limit"),
    [
        (lambda client: client.get_text("models", "list of models"), 8 * 2**20),
        (lambda client: client.open_text("images", {}, 1000), 1000),
    ],
    ids=["list", "image"],
)
async def test_an_answer_that_never_ends_is_left_as_soon_as_it_is_too_long(
    session: aiohttp.ClientSession,
    ask: Callable[[ServiceClient], Awaitable[str]],
    limit: int,
) -> None:
    endless = RawReply(
        [head(200, {"Content-Type": "application/json"}), b" " * 2**20], Ending.REPEAT
    )

    async with raw_http_server(endless) as server:
        client = ServiceClient(
            session,
            Access(f"http://127.0.0.1:{server.port}"),
            RefusedParameters("m", ()),
        )
        with pytest.raises(
            ProviderReplyInvalid, match=f"more than {limit} bytes"
        ) as caught:
            await ask(client)
        await server.left.wait()
    assert (
        caught.traceback
    )  # holds the response, so it was not the garbage collector that closed it


async def test_an_error_whose_body_never_ends_is_still_that_error(
    session: aiohttp.ClientSession,
) -> None:
    endless = RawReply([head(401, {"Content-Length": "99"}), b"No."], Ending.WAIT)

    async with raw_http_server(endless) as server:
        with pytest.raises(ProviderRejectedKey, match=r"No\."):
            await collect(provider_of(server, session, limits=IMPATIENT))
        await server.left.wait()
