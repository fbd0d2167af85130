"""The next request can be sent ahead: read by servers that keep it, and never at anybody's cost."""

import asyncio
import json
from dataclasses import replace

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import (
    FirstTokenTimeout,
    ProviderError,
    ProviderRejectedRequest,
)
from custom_components.chatterbox.agent.messages import (
    JsonObject,
    ToolDefinition,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import (
    CompletionRequest,
    ReasoningEffort,
)
from custom_components.chatterbox.agent.providers.http_provider import HTTPProvider
from custom_components.chatterbox.agent.providers.profiles import (
    LLAMA_CPP,
    ModelOptions,
)
from custom_components.chatterbox.agent.providers.service_client import TimeLimits
from tests.agent.providers.contract.dialect import Dialect
from tests.agent.providers.contract.dialects import DIALECTS
from tests.agent.providers.contract.service import (
    HELLO,
    answered,
    collect,
    provider_of,
    streamed,
)
from tests.support.servers.raw_http import (
    Ending,
    RawHTTPServer,
    RawReply,
    raw_http_server,
    reply,
)

REQUEST = CompletionRequest(
    "Be brief.",
    (UserMessage("Hi"),),
    (ToolDefinition("light_on", "Light.", {"type": "object", "properties": {}}),),
)
WISHES = ModelOptions(
    temperature=0.5, max_tokens=500, reasoning_effort=ReasoningEffort.HIGH
)
LIMITS = TimeLimits(connect=5, between_bytes=5, after_finish=0.1)
pytestmark = pytest.mark.parametrize(
    "dialect", DIALECTS, ids=lambda dialect: dialect.name
)
CACHING, FREE_OF_CACHE = (
    replace(LLAMA_CPP, caches_prefix=caches) for caches in (True, False)
)


def _provider(
    dialect: Dialect,
    server: RawHTTPServer,
    session: aiohttp.ClientSession,
    options: ModelOptions = WISHES,
) -> HTTPProvider:
    return provider_of(
        dialect, server, session, options=options, limits=LIMITS, profile=CACHING
    )


def _payloads(server: RawHTTPServer) -> list[JsonObject]:
    return [json.loads(request.body) for request in server.requests]


async def test_prefilling_sends_the_later_request_but_for_the_length_of_the_answer(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    async with raw_http_server(answered(dialect, HELLO)) as server:
        provider = _provider(dialect, server, session)
        await provider.prefill(REQUEST)
        await collect(provider, REQUEST)

        ahead, later = _payloads(server)
        assert server.connections == 1
    *inside, last = dialect.length
    shortened, whole = ahead, later
    for name in inside:
        for payload in (shortened, whole):
            assert isinstance(payload[name], dict)
        shortened, whole = shortened[name], whole[name]  # type: ignore[assignment]  # just seen to be objects
    assert (shortened.pop(last), whole.pop(last)) == (1, 500)
    later.pop(
        "return_progress", None
    )  # a server that told of its progress would begin its answer at once
    assert ahead == later


async def test_the_answer_is_short_whatever_the_owner_wants(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    name, *inside = dialect.length
    extras: list[JsonObject] = [{}, {name: {inside[0]: 900} if inside else 900}]
    for extra in extras:
        async with raw_http_server(answered(dialect, HELLO)) as server:
            await _provider(
                dialect, server, session, ModelOptions(extra=extra)
            ).prefill(REQUEST)

            (payload,) = _payloads(server)
        assert payload[name] == ({inside[0]: 1} if inside else 1)


async def test_where_nothing_is_kept_only_a_connection_is_opened(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    async with raw_http_server(reply(b""), answered(dialect, HELLO)) as server:
        provider = provider_of(
            dialect, server, session, limits=LIMITS, profile=FREE_OF_CACHE
        )
        await provider.prefill(REQUEST)
        await collect(provider, REQUEST)

        assert [request.method for request in server.requests] == ["HEAD", "POST"]
        assert server.connections == 1


@pytest.mark.parametrize("status", [401, 404, 405, 500])
async def test_any_answer_is_a_connection(
    dialect: Dialect, session: aiohttp.ClientSession, status: int
) -> None:
    async with raw_http_server(reply(b"", status=status)) as server:
        await _provider(dialect, server, session).connect()

        assert [(request.method, request.body) for request in server.requests] == [
            ("HEAD", b"")
        ]


async def test_a_server_that_is_not_there_is_told(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    async with raw_http_server() as server:
        provider = _provider(dialect, server, session)
    for ahead in (provider.prefill(REQUEST), provider.connect()):
        with pytest.raises(ProviderError):
            await ahead


@pytest.mark.parametrize(
    "pieces", [[], [b" "]], ids=["before the headers", "before the answer"]
)
async def test_a_cancelled_prefill_closes_its_connection(
    dialect: Dialect, session: aiohttp.ClientSession, pieces: list[bytes]
) -> None:
    waiting = (
        streamed(dialect, pieces, Ending.WAIT) if pieces else RawReply([], Ending.WAIT)
    )
    async with raw_http_server(waiting) as server:
        ahead = asyncio.create_task(
            _provider(dialect, server, session).prefill(REQUEST)
        )
        await server.arrived.wait()
        ahead.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ahead

        await server.left.wait()


@pytest.mark.parametrize(
    "comments", [[], [b":\n\n", b": ping\n\n"]], ids=["silent", "with comments"]
)
async def test_a_server_that_reads_for_longer_than_a_turn_waits_is_waited_for(
    dialect: Dialect, session: aiohttp.ClientSession, comments: list[bytes]
) -> None:
    has_read = asyncio.Event()
    slow = streamed(dialect, [*comments, dialect.render(HELLO)])
    slow, limits = (
        replace(slow, held={len(comments): has_read}),
        TimeLimits(0.1, 0.1, after_finish=0.01),
    )
    async with raw_http_server(slow, RawReply([], Ending.WAIT)) as server:
        provider = provider_of(
            dialect, server, session, options=WISHES, limits=limits, profile=CACHING
        )
        ahead = asyncio.create_task(provider.prefill(REQUEST))
        await server.arrived.wait()
        with pytest.raises(FirstTokenTimeout):
            await collect(provider, REQUEST)
        was_waiting = not ahead.done()
        has_read.set()
        await ahead

    assert was_waiting


async def test_a_server_that_does_not_stop_is_left(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    endless = streamed(dialect, [dialect.render(HELLO)[:20]], Ending.REPEAT)
    async with raw_http_server(endless) as server:
        await _provider(dialect, server, session).prefill(REQUEST)

        await server.left.wait()
    assert len(server.requests) == 1


async def test_a_refusal_teaches_nothing(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    name = ".".join(dialect.length)
    body = dialect.render_error(400, f"'{name}' must be at least 16")
    async with raw_http_server(
        reply(body, status=400), answered(dialect, HELLO)
    ) as server:
        provider = _provider(dialect, server, session)
        with pytest.raises(ProviderRejectedRequest):
            await provider.prefill(REQUEST)
        await collect(provider, REQUEST)

        payload = json.dumps(_payloads(server)[-1])
    assert f'"{dialect.length[-1]}": 500' in payload
