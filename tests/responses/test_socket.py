"""API clients talk to the Responses surface over a WebSocket of a real Home Assistant."""

import asyncio
import json
import logging
import os
import struct
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Any
from unittest.mock import ANY

import pytest
from aiohttp import (
    ClientWebSocketResponse,
    WSCloseCode,
    WSMsgType,
    WSServerHandshakeError,
)
from homeassistant.auth.models import User
from homeassistant.components.http.auth import async_sign_path
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.responses.exchange import HttpLimits
from custom_components.chatterbox.responses.protocol.errors import invalid
from tests.support.api_clients import HttpClient
from tests.support.loop_clock import LoopClock
from tests.support.scripted_endpoint import (
    BASE,
    EVENTS,
    error_of,
    event,
    forever,
    serve,
)

URL = f"{BASE}/responses"


async def hear(socket: ClientWebSocketResponse, count: int) -> list[Any]:
    return [json.loads(await socket.receive_str()) for _ in range(count)]


async def hear_error(socket: ClientWebSocketResponse) -> Any:
    [error_event] = await hear(socket, 1)
    assert error_event["type"] == "error"
    assert set(error_event["error"]) == {"type", "code", "message", "param"}
    return error_event


async def close_code(socket: ClientWebSocketResponse) -> int | None:
    message = await socket.receive()
    assert message.type in {WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED}
    return socket.close_code


async def test_messages_are_answered_one_after_the_other(
    hass: HomeAssistant, client: HttpClient, hass_admin_user: User
) -> None:
    """Invariant 69."""
    endpoint = await serve(hass)

    async with client.ws_connect(URL) as socket:
        for text in ("first", "second", "third"):
            await socket.send_str(text)
        assert await hear(socket, 9) == [*EVENTS, *EVENTS, *EVENTS]

    assert endpoint.requests == ["socket", "first", "second", "third"]
    assert [caller.user_id for caller in endpoint.callers] == [hass_admin_user.id]


async def test_only_one_message_is_being_answered(
    hass: HomeAssistant, client: HttpClient
) -> None:
    """Invariant 69."""
    resume = asyncio.Event()
    endpoint = await serve(hass, event(0), resume.wait, event(1))

    async with client.ws_connect(URL) as socket:
        await socket.send_str("first")
        await socket.send_str("second")
        assert await hear(socket, 1) == [event(0)]
        assert endpoint.open_streams == 1
        resume.set()
        assert await hear(socket, 3) == [event(1), event(0), event(1)]


async def test_a_request_that_opens_no_socket_is_told_so(
    hass: HomeAssistant, client: HttpClient
) -> None:
    await serve(hass)

    answer = await client.get(URL)

    assert answer.status == HTTPStatus.UPGRADE_REQUIRED
    assert answer.headers["Upgrade"] == "websocket"
    assert (await error_of(answer))["code"] == "upgrade_required"


async def test_a_signed_path_reads_and_opens_no_socket(
    hass: HomeAssistant,
    hass_client_no_auth: ClientSessionGenerator,
    hass_admin_user: User,
) -> None:
    """Whoever was given it may look at a response, and take no turn."""
    endpoint = await serve(hass)
    client = await hass_client_no_auth()
    token = await hass.auth.async_create_refresh_token(
        hass_admin_user, "https://client.example"
    )

    def signed(path: str) -> str:
        return async_sign_path(
            hass, path, timedelta(minutes=1), refresh_token_id=token.id
        )

    assert (await client.get(signed(f"{URL}/resp_1"))).status == HTTPStatus.OK
    assert (await client.post(signed(URL), json={})).status == HTTPStatus.UNAUTHORIZED
    with pytest.raises(WSServerHandshakeError) as refused:
        await client.ws_connect(signed(URL))
    answer = await client.get(signed(URL))

    assert refused.value.status == answer.status == HTTPStatus.FORBIDDEN
    error = await error_of(answer)
    assert (error["type"], error["code"]) == ("authentication_error", "signed_path")
    assert endpoint.requests == [("resp_1", {"authSig": ANY})]


async def test_an_error_ends_one_answer_and_not_the_connection(
    hass: HomeAssistant, client: HttpClient, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint = await serve(hass)

    async with client.ws_connect(URL) as socket:
        endpoint.failure = invalid("No such agent.", "model")
        await socket.send_str("{}")
        error_event = await hear_error(socket)
        assert (error_event["status"], error_event["error"]["param"]) == (400, "model")

        endpoint.failure = RuntimeError("s3cret")
        await socket.send_str("{}")
        error_event = await hear_error(socket)
        assert (error_event["status"], error_event["error"]["type"]) == (
            500,
            "server_error",
        )
        assert "s3cret" not in caplog.text + str(error_event)
        assert [
            record.levelno
            for record in caplog.records
            if "RuntimeError" in record.getMessage()
        ] == [logging.ERROR]

        await socket.send_bytes(b"{}")
        assert (await hear_error(socket))["status"] == 400

        endpoint.failure = None
        await socket.send_str("{}")
        assert await hear(socket, 3) == list(EVENTS)


async def test_a_message_that_is_too_long_ends_the_connection(
    hass: HomeAssistant, client: HttpClient
) -> None:
    endpoint = await serve(hass, limits=HttpLimits(size=1_000))

    async with client.ws_connect(URL) as socket:
        await socket.send_str("x" * 1_001)
        assert await close_code(socket) == WSCloseCode.MESSAGE_TOO_BIG
    assert endpoint.requests == ["socket"]


@pytest.mark.parametrize(
    ("count", "text"), [(20, "x"), (5, "x" * 400)], ids=["many", "large"]
)
async def test_who_sends_faster_than_is_answered_is_hung_up_on(
    hass: HomeAssistant, client: HttpClient, count: int, text: str
) -> None:
    limits = HttpLimits(waiting=10, size=1_000)
    endpoint = await serve(hass, event(0), forever, limits=limits)

    async with client.ws_connect(URL) as socket:
        await socket.send_str(text)
        assert await hear(socket, 1) == [event(0)]
        for _ in range(count):
            await socket.send_str(text)
        assert await close_code(socket) == WSCloseCode.POLICY_VIOLATION
    await endpoint.all_closed.wait()


async def test_a_message_for_which_all_have_no_room_is_refused_and_the_connection_stays(
    hass: HomeAssistant, client: HttpClient
) -> None:
    release = asyncio.Event()
    await serve(
        hass, event(0), release.wait, limits=HttpLimits(size=1_000, size_of_all=2_000)
    )

    async with client.ws_connect(URL) as first, client.ws_connect(URL) as second:
        await first.send_str("x" * 700)
        assert await hear(first, 1) == [event(0)]
        await second.send_str("x" * 700)
        error_event = await hear_error(second)
        assert (error_event["status"], error_event["error"]["code"]) == (
            429,
            "rate_limit_exceeded",
        )
        release.set()
        await first.send_str("x")
        assert await hear(first, 1) == [event(0)]
        await second.send_str("x" * 700)
        assert await hear(second, 1) == [event(0)]


def half_of(text: str) -> bytes:
    """Return the beginning of a message, without its last character."""
    return (
        struct.pack("!BBH4x", 0x81, 0x80 | 126, len(text)) + text[:-1].encode()
    )  # masked with zeros


async def test_who_sends_halves_of_messages_beyond_a_budget_is_cut_off(
    hass: HomeAssistant, client: HttpClient
) -> None:
    await serve(hass, event(0), limits=HttpLimits(size=1_000, size_of_all=2_000))
    connect = partial(
        client.ws_connect, URL, autoping=False
    )  # no answer to a ping gets into a message

    async with connect() as first, connect() as second, connect() as third:
        for socket in (first, second, third):
            assert (await socket.receive()).type is WSMsgType.PING
        for socket in (first, second):
            os.write(socket.get_extra_info("socket").fileno(), half_of("x" * 700))
            if socket is first:
                await third.send_str("x")  # so that the server has read the half
                assert await hear(third, 1) == [event(0)]
        assert await close_code(second) == WSCloseCode.ABNORMAL_CLOSURE
        for _ in range(3):
            os.write(first.get_extra_info("socket").fileno(), b"x")
            assert await hear(first, 1) == [event(0)]
            os.write(first.get_extra_info("socket").fileno(), half_of("x" * 700))


async def test_what_was_answered_makes_room(
    hass: HomeAssistant, client: HttpClient
) -> None:
    await serve(hass, event(0), limits=HttpLimits(waiting=1, size=1_000))

    async with client.ws_connect(URL) as socket:
        for _ in range(5):
            await socket.send_str("x" * 400)
            assert await hear(socket, 1) == [event(0)]


async def test_a_connection_that_was_open_for_an_hour_ends_with_the_answer_that_is_being_given(
    hass: HomeAssistant, client: HttpClient
) -> None:
    """Invariant 69: the limit has its own word."""
    slowly = partial(asyncio.sleep, 3601)
    await serve(
        hass, event(0), slowly, event(1), limits=HttpLimits(connection_seconds=3600)
    )

    with LoopClock().running():
        async with client.ws_connect(URL) as socket:
            await socket.send_str("first")
            await socket.send_str("second, which comes too late")
            assert await hear(socket, 2) == [event(0), event(1)]
            error_event = await hear_error(socket)
            assert (error_event["status"], error_event["error"]["code"]) == (
                400,
                "websocket_connection_limit_reached",
            )
            assert await close_code(socket) == WSCloseCode.OK


async def test_an_answer_that_never_ends_does_not_keep_a_connection_open(
    hass: HomeAssistant, client: HttpClient
) -> None:
    limits = HttpLimits(connection_seconds=3600, last_answer_seconds=60)
    endpoint = await serve(hass, event(0), forever, limits=limits)

    with LoopClock().running():
        async with client.ws_connect(URL) as socket:
            await socket.send_str("first")
            error_event = await hear(socket, 2)
            assert (
                error_event[-1]["error"]["code"] == "websocket_connection_limit_reached"
            )
            assert await close_code(socket) == WSCloseCode.OK
        await endpoint.all_closed.wait()


async def test_connections_end_when_the_home_stops(
    hass: HomeAssistant, client: HttpClient
) -> None:
    endpoint = await serve(hass, event(0), forever)

    async with client.ws_connect(URL) as busy, client.ws_connect(URL) as idle:
        await busy.send_str("first")
        assert await hear(busy, 1) == [event(0)]
        hass.bus.async_fire(EVENT_HOMEASSISTANT_STOP)
        assert await close_code(busy) == WSCloseCode.GOING_AWAY
        assert await close_code(idle) == WSCloseCode.GOING_AWAY
    await endpoint.all_closed.wait()


async def test_who_hangs_up_ends_what_was_asked(
    hass: HomeAssistant, client: HttpClient
) -> None:
    """Invariant 54."""
    endpoint = await serve(hass, event(0), forever)
    before = asyncio.all_tasks()

    for _ in range(20):
        socket = await client.ws_connect(URL)
        await socket.send_str("first")
        assert await hear(socket, 1) == [event(0)]
        await socket.close()
        await endpoint.all_closed.wait()

    while left := asyncio.all_tasks() - before:
        await asyncio.wait(left)


async def test_a_connection_that_breaks_ends_what_was_asked(
    hass: HomeAssistant, client: HttpClient
) -> None:
    endpoint = await serve(hass, event(0), forever)

    socket = await client.ws_connect(URL)
    await socket.send_str("first")
    assert await hear(socket, 1) == [event(0)]
    transport = socket.get_extra_info("socket")
    transport.shutdown(2)

    await endpoint.all_closed.wait()


async def test_a_connection_ends_with_its_token(
    hass: HomeAssistant, client: HttpClient, hass_admin_user: User
) -> None:
    endpoint = await serve(hass, event(0), forever)
    socket = await client.ws_connect(URL)
    await socket.send_str("first")
    assert await hear(socket, 1) == [event(0)]

    for token in tokens_of(hass_admin_user):
        hass.auth.async_remove_refresh_token(token)

    await endpoint.all_closed.wait()
    assert (await socket.receive()).type in {
        WSMsgType.CLOSE,
        WSMsgType.CLOSED,
        WSMsgType.CLOSING,
        WSMsgType.ERROR,
    }


async def test_who_is_switched_off_meanwhile_is_answered_no_more(
    hass: HomeAssistant, client: HttpClient, hass_admin_user: User
) -> None:
    endpoint = await serve(hass)
    [entry] = hass.config_entries.async_entries(DOMAIN)

    async with client.ws_connect(URL) as socket:
        hass.config_entries.async_update_entry(entry, options={})
        await socket.send_str("{}")
        assert (await hear_error(socket))["status"] == 404
        hass.config_entries.async_update_entry(entry, options={"responses_api": True})

        hass_admin_user.is_active = False
        await socket.send_str("{}")
        error_event = await hear_error(socket)
        assert (error_event["status"], error_event["error"]["code"]) == (
            401,
            "invalid_api_key",
        )
    assert endpoint.requests == ["socket"]


def tokens_of(user: User) -> Iterable[Any]:
    return list(user.refresh_tokens.values())


async def test_a_reader_that_takes_nothing_is_cut_off(
    hass: HomeAssistant, client: HttpClient
) -> None:
    flood = [event(number, delta="x" * 1_000_000) for number in range(100)]
    endpoint = await serve(hass, *flood, limits=HttpLimits(reader_seconds=0.05))

    socket = await client.ws_connect(URL)
    await socket.send_str("first")
    await endpoint.all_closed.wait()

    assert endpoint.played < 50
    await socket.close()


async def test_pings_are_answered_while_an_answer_is_being_made(
    hass: HomeAssistant, client: HttpClient
) -> None:
    resume = asyncio.Event()
    await serve(hass, event(0), resume.wait, event(1))

    async with client.ws_connect(URL, autoping=False) as socket:
        assert (await socket.receive()).type is WSMsgType.PING
        await socket.send_str("first")
        assert await hear(socket, 1) == [event(0)]
        await socket.ping(b"there?")
        pong = await socket.receive()
        assert (pong.type, bytes(pong.data)) == (WSMsgType.PONG, b"there?")
        resume.set()
        assert await hear(socket, 1) == [event(1)]


async def test_a_client_that_does_not_answer_pings_is_gone(
    hass: HomeAssistant, client: HttpClient
) -> None:
    limits = HttpLimits(ping_seconds=20)
    endpoint = await serve(hass, event(0), forever, limits=limits)

    with LoopClock().running():
        async with client.ws_connect(URL, autoping=False) as deaf:
            await deaf.send_str("first")
            await endpoint.all_closed.wait()
            received = [message.type async for message in deaf]
    assert WSMsgType.PING in received
