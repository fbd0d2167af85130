"""The bytes of a response that comes in pieces."""

import asyncio
from collections.abc import Iterator

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid, ProviderUnreachable
from custom_components.chatterbox.agent.providers.http_body import StreamedBody
from custom_components.chatterbox.agent.timeouts import SYSTEM_CLOCK, WaitLimit
from tests.support.servers.raw_http import Ending, RawReply, raw_http_server

from .manual_clock import ManualClock

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"


@pytest.fixture
def limit() -> Iterator[WaitLimit]:
    """Give the limit of a request, which who asks stops."""
    limit = WaitLimit(SYSTEM_CLOCK)
    yield limit
    limit.stop()


async def test_what_comes_while_a_connection_is_held_waits_and_its_end_too(
    session: aiohttp.ClientSession, limit: WaitLimit
) -> None:
    go_on = asyncio.Event()
    reply = RawReply((HEAD + b"words", b" and more"), Ending.CLOSE, held={1: go_on})
    async with raw_http_server(reply) as server, session.get(f"http://127.0.0.1:{server.port}") as response:
        body = StreamedBody(response, limit, silence=60)
        assert await body.receive() == b"words"
        body.hold()
        go_on.set()
        await server.end()

        assert response.content.total_bytes == len(b"words")
        assert await body.receive() == b" and more"
        with pytest.raises(ProviderReplyInvalid):
            await body.receive()
        body.close()


async def test_who_holds_a_connection_after_its_end_gets_the_end(
    session: aiohttp.ClientSession, limit: WaitLimit
) -> None:
    async with (
        raw_http_server(RawReply((HEAD.replace(b"100", b"5") + b"words",), Ending.KEEP)) as server,
        session.get(f"http://127.0.0.1:{server.port}") as response,
    ):
        body = StreamedBody(response, limit, silence=60)
        assert await body.receive() == b"words"
        body.hold()
        assert await body.receive() == b""
        body.close()


async def test_a_session_that_is_closed_while_a_connection_is_held_is_a_failure_of_the_service(
    session: aiohttp.ClientSession, limit: WaitLimit
) -> None:
    async with (
        raw_http_server(RawReply((HEAD + b"words",), Ending.WAIT)) as server,
        session.get(f"http://127.0.0.1:{server.port}") as response,
    ):
        body = StreamedBody(response, limit, silence=60)
        assert await body.receive() == b"words"
        body.hold()
        await session.close()
        with pytest.raises(ProviderUnreachable):
            await body.receive()
        body.close()


async def test_each_piece_may_take_as_long_as_a_silence(session: aiohttp.ClientSession) -> None:
    clock, places = ManualClock(), (asyncio.Event(), asyncio.Event())
    limit = WaitLimit(clock)
    limit.set(60)  # for the request
    reply = RawReply((HEAD + b"one", b"two", b"three"), Ending.WAIT, held=dict(enumerate(places, 1)))
    async with raw_http_server(reply) as server, session.get(f"http://127.0.0.1:{server.port}") as response:
        body = StreamedBody(response, limit, silence=60, clock=clock)
        assert await body.receive() == b"one"
        for go_on, piece in zip(places, (b"two", b"three"), strict=True):
            clock.advance(50)
            go_on.set()
            assert await body.receive() == piece
        body.close()
