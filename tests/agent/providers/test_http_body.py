"""The bytes of a response that comes in pieces."""

import asyncio
import math

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid, ProviderUnreachable
from custom_components.chatterbox.agent.providers.http_body import StreamedBody
from tests.servers.raw_http import Ending, RawReply, raw_http_server

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"


async def test_what_comes_while_a_connection_is_held_waits_and_its_end_too(session: aiohttp.ClientSession) -> None:
    go_on = asyncio.Event()
    reply = RawReply((HEAD + b"words", b" and more"), Ending.CLOSE, held={1: go_on})
    async with raw_http_server(reply) as server, session.get(f"http://127.0.0.1:{server.port}") as response:
        body = StreamedBody(response, silence=60)
        assert await body.receive(math.inf) == b"words"
        body.hold()
        go_on.set()
        await server.end()

        assert response.content.total_bytes == len(b"words")
        assert await body.receive(math.inf) == b" and more"
        with pytest.raises(ProviderReplyInvalid):
            await body.receive(math.inf)
        body.close()


async def test_who_holds_a_connection_after_its_end_gets_the_end(session: aiohttp.ClientSession) -> None:
    async with (
        raw_http_server(RawReply((HEAD.replace(b"100", b"5") + b"words",), Ending.KEEP)) as server,
        session.get(f"http://127.0.0.1:{server.port}") as response,
    ):
        body = StreamedBody(response, silence=60)
        assert await body.receive(math.inf) == b"words"
        body.hold()
        assert await body.receive(math.inf) == b""
        body.close()


async def test_a_session_that_is_closed_while_a_connection_is_held_is_a_failure_of_the_service(
    session: aiohttp.ClientSession,
) -> None:
    async with (
        raw_http_server(RawReply((HEAD + b"words",), Ending.WAIT)) as server,
        session.get(f"http://127.0.0.1:{server.port}") as response,
    ):
        body = StreamedBody(response, silence=60)
        assert await body.receive(math.inf) == b"words"
        body.hold()
        await session.close()
        with pytest.raises(ProviderUnreachable):
            await body.receive(math.inf)
        body.close()
