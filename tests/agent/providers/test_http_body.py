"""The bytes of a response that comes in pieces, at moments that no server can be told to meet."""

import asyncio

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid
from custom_components.chatterbox.agent.providers.http_body import StreamedBody
from tests.servers.raw_http import Ending, RawReply, raw_http_server

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"


async def test_a_response_may_end_in_the_very_moment_in_which_a_frame_does(session: aiohttp.ClientSession) -> None:
    async with (
        raw_http_server(RawReply((HEAD + b"words",), Ending.WAIT)) as server,
        session.get(f"http://127.0.0.1:{server.port}") as response,
    ):
        body = StreamedBody(response, silence=60)
        assert await body.receive(float("inf")) == b"words"
        loop = asyncio.get_running_loop()
        loop.call_soon(response.content.feed_eof)
        assert await body.receive_until(loop.time()) == b""
        body.close()


async def test_what_came_before_a_connection_broke_is_received_before_that_is_told(
    session: aiohttp.ClientSession,
) -> None:
    async with (
        raw_http_server(RawReply((HEAD + b"words",), Ending.WAIT)) as server,
        session.get(f"http://127.0.0.1:{server.port}") as response,
    ):
        body = StreamedBody(response, silence=60)
        assert await body.receive(float("inf")) == b"words"
        response.content.feed_data(b" and more")
        response.content.set_exception(aiohttp.ClientPayloadError("broken"))
        assert await body.receive(float("inf")) == b" and more"
        with pytest.raises(ProviderReplyInvalid):
            await body.receive(float("inf"))
        body.close()
