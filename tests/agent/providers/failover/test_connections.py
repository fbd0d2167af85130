"""A chain over real connections hangs up on servers that stall, and shows nobody a key."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import (
    ConnectTimeout,
    FirstTokenTimeout,
    ProviderRejectedKey,
)
from custom_components.chatterbox.agent.events import ProviderEvent, ProviderSwitched
from custom_components.chatterbox.agent.providers.failover import FailoverProvider
from custom_components.chatterbox.agent.providers.managed_provider import (
    CircuitBreaker,
    ManagedProvider,
)
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from custom_components.chatterbox.agent.providers.service_client import TimeLimits
from tests.agent.providers.chat_completions import (
    ANSWER,
    ANSWER_EVENTS,
    KEY,
    collect,
    provider_of,
)
from tests.agent.providers.manual_clock import ManualClock
from tests.support.servers.raw_http import (
    Ending,
    RawHTTPServer,
    RawReply,
    event_stream,
    head,
    raw_http_server,
    reply,
)

FIRST_TOKEN = 20
HALF_A_CALL = (
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":'
    b'{"name":"on","arguments":"{"}}]}}]}\n\n'
)


class Pair:
    """A chain of two servers, on a clock of its own."""

    def __init__(
        self,
        first: RawHTTPServer,
        second: RawHTTPServer,
        session: aiohttp.ClientSession,
    ) -> None:
        self.first, self.second = first, second
        self.clock = ManualClock()
        self.chain = [
            ManagedProvider(
                name,
                provider_of(server, session),
                CircuitBreaker(clock=self.clock),
                retries=False,
            )
            for name, server in (("first", first), ("second", second))
        ]

    async def ask(self) -> list[ProviderEvent]:
        """Run one inference to its end."""
        return await collect(FailoverProvider(self.chain, self.clock))


@asynccontextmanager
async def pair(
    session: aiohttp.ClientSession, *replies: RawReply
) -> AsyncIterator[Pair]:
    """Serve a first server that sends `replies` and a second one that answers; afterwards no task is left."""
    tasks = asyncio.all_tasks()
    async with raw_http_server(*replies) as first, raw_http_server(ANSWER) as second:
        yield Pair(first, second, session)
    assert asyncio.all_tasks() <= tasks


async def test_a_first_server_without_a_tls_handshake_is_left(
    session: aiohttp.ClientSession,
) -> None:
    with socket.create_server(
        ("127.0.0.1", 0)
    ) as silent:  # the kernel accepts, nobody speaks TLS
        port: int = silent.getsockname()[1]
        async with pair(session, ANSWER) as servers:
            provider = OpenAIChatProvider(
                session,
                f"https://127.0.0.1:{port}",
                "m",
                limits=TimeLimits(connect=0.05),
            )
            servers.chain.insert(
                0,
                ManagedProvider(
                    "silent", provider, CircuitBreaker(clock=servers.clock)
                ),
            )
            assert (await servers.ask())[0] == ProviderSwitched(
                "first", f"silent: {ConnectTimeout.__name__}"
            )


@pytest.mark.parametrize(
    "answer",
    [
        RawReply([], Ending.WAIT),
        event_stream([b": still here\n\n"], Ending.REPEAT),
        event_stream([HALF_A_CALL], Ending.WAIT),
        RawReply([head(500, {"Content-Length": "9"}), b"Oo"], Ending.WAIT),
    ],
    ids=["silence", "comments without end", "half a call", "half an error"],
)
async def test_a_first_server_that_stalls_is_disconnected(
    session: aiohttp.ClientSession, answer: RawReply
) -> None:
    async with pair(session, answer) as servers:
        asking = asyncio.create_task(servers.ask())
        await servers.first.arrived.wait()

        servers.clock.advance(FIRST_TOKEN)

        switched = ProviderSwitched("second", f"first: {FirstTokenTimeout.__name__}")
        assert await asking == [switched, *ANSWER_EVENTS]
        await servers.first.left.wait()


async def test_neither_errors_nor_log_hold_the_key(
    session: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    async with pair(
        session, reply(f"Unauthorized: {KEY}".encode(), "text/plain", 401)
    ) as servers:
        servers.second.replies = [
            reply(f"No credit left for {KEY}".encode(), "text/plain", 403)
        ]
        with pytest.raises(ProviderRejectedKey) as caught:
            await servers.ask()

    assert caught.value.__notes__ == [
        "second failed too: ProviderRejectedKey: HTTP 403: No credit left for …"
    ]
    assert "Unauthorized" in caplog.text
    assert KEY not in caplog.text + str(caught.value) + str(caught.value.__notes__)
