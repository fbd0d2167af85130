"""Events reach programs as server-sent events over real HTTP, and end when nobody reads them."""

import asyncio
import json
import logging
from http import HTTPStatus

import pytest
from aiohttp import ClientError, ClientResponse, web
from aiohttp.test_utils import TestClient
from homeassistant.auth.models import User
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.agent.responses.errors import invalid
from custom_components.chatterbox.responses.exchange import StreamLimits
from custom_components.chatterbox.responses.views import HttpLimits
from tests.support.scripted_endpoint import BASE, EVENTS, error_of, event, forever, serve

type Client = TestClient[web.Request, web.Application]


async def begin(client: Client) -> ClientResponse:
    """Ask for a stream, and return once it has begun."""
    answer = await client.post(f"{BASE}/responses", json={"stream": True})
    assert answer.status == HTTPStatus.OK
    return answer


def events_in(text: str) -> list[JsonObject]:
    """Read a stream as strictly as any client does."""
    *blocks, end = text.split("\n\n")
    assert end == ""
    assert blocks.pop() == "data: [DONE]"
    read: list[JsonObject] = []
    for block in blocks:
        name, data = block.split("\n")
        read.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {read[-1]['type']}"
    return read


async def test_events_come_as_they_were_made_and_then_done(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    """Invariants 8, 9."""
    await serve(hass)
    client = await hass_client()

    answer = await begin(client)
    raw = await answer.read()

    assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-cache, no-transform"
    assert answer.headers["X-Accel-Buffering"] == "no"
    assert "Content-Encoding" not in answer.headers
    assert answer.headers["x-request-id"].startswith("req_")
    assert events_in(raw.decode()) == list(EVENTS)
    assert b"\r" not in raw
    assert b"id:" not in raw


async def test_each_event_is_written_at_once_and_alone(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    """Invariant 9."""
    seen = [asyncio.Event() for _ in EVENTS]
    lines = [line for one, heard in zip(EVENTS, seen, strict=True) for line in (one, heard.wait)]
    await serve(hass, *lines)
    client = await hass_client()

    answer = await begin(client)
    for one, heard in zip(EVENTS, seen, strict=True):
        written, is_whole = await answer.content.readchunk()
        assert is_whole
        assert events_in(f"{written.decode()}data: [DONE]\n\n") == [one]
        heard.set()
    assert await answer.content.readchunk() == (b"data: [DONE]\n\n", True)


async def test_a_stream_is_resumed_by_its_address(hass: HomeAssistant, hass_client: ClientSessionGenerator) -> None:
    endpoint = await serve(hass)
    client = await hass_client()

    answer = await client.get(f"{BASE}/responses/resp_1?stream=true&starting_after=4")

    assert events_in(await answer.text()) == list(EVENTS)
    assert endpoint.asked == [("resp_1", {"stream": "true", "starting_after": "4"})]


async def test_what_fails_before_the_first_event_is_a_plain_error(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    """Invariant 58."""
    endpoint = await serve(hass, invalid("No such tool.", "tools[0]"))
    client = await hass_client()

    answer = await client.post(f"{BASE}/responses", json={"stream": True})

    assert answer.status == HTTPStatus.BAD_REQUEST
    assert (await error_of(answer))["param"] == "tools[0]"
    assert endpoint.all_closed.is_set()


async def test_a_bug_in_a_stream_is_told_and_logged_without_words(
    hass: HomeAssistant, hass_client: ClientSessionGenerator, caplog: pytest.LogCaptureFixture
) -> None:
    await serve(hass, event(0, "response.created"), RuntimeError("s3cret"))
    client = await hass_client()

    text = await (await begin(client)).text()

    assert "[DONE]" not in text
    *_, last = events_in(f"{text}data: [DONE]\n\n")
    assert (last["type"], last["sequence_number"]) == ("error", 1)
    assert isinstance(last["error"], dict)
    assert last["error"]["type"] == "server_error"
    assert "s3cret" not in text + caplog.text
    assert [record.levelno for record in caplog.records if "RuntimeError" in record.getMessage()] == [logging.ERROR]


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_who_hangs_up_ends_what_was_asked(
    hass: HomeAssistant, hass_client: ClientSessionGenerator, *, is_streamed: bool
) -> None:
    """Invariant 54."""
    began = asyncio.Event()
    endpoint = await serve(hass, event(0), began.set, forever)
    client = await hass_client()

    asking = asyncio.create_task(client.post(f"{BASE}/responses", json={"stream": is_streamed}))
    await began.wait()
    assert endpoint.open_streams == 1
    if is_streamed:
        (await asking).close()
    asking.cancel()

    await endpoint.all_closed.wait()


async def test_a_hundred_abandoned_streams_leave_nothing(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    """Invariants 54, 70."""
    endpoint = await serve(hass, event(0), forever, limits=HttpLimits(at_once=100))
    client = await hass_client()
    await client.get(f"{BASE}/models")
    before = asyncio.all_tasks()

    answers = await asyncio.gather(*(begin(client) for _ in range(100)))
    assert endpoint.open_streams == 100
    for answer in answers:
        answer.close()
    await endpoint.all_closed.wait()

    while left := asyncio.all_tasks() - before:
        await asyncio.wait(left)


async def test_a_reader_that_takes_nothing_holds_the_stream_back_and_is_cut_off_in_the_end(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    flood = [event(number, delta="x" * 1_000_000) for number in range(100)]
    endpoint = await serve(hass, *flood, limits=HttpLimits(stream=StreamLimits(reader_seconds=0.05)))
    client = await hass_client()

    answer = await begin(client)
    await endpoint.all_closed.wait()

    assert endpoint.played < 50
    with pytest.raises(ClientError):
        await answer.read()


async def test_silence_is_filled_with_comments(hass: HomeAssistant, hass_client: ClientSessionGenerator) -> None:
    heard = asyncio.Event()
    lines = (event(0), heard.wait, event(1))
    await serve(hass, *lines, limits=HttpLimits(stream=StreamLimits(comment_seconds=0.01)))
    client = await hass_client()

    answer = await begin(client)
    await answer.content.readuntil(b": still here\n\n")
    heard.set()

    rest = (await answer.text()).replace(": still here\n\n", "")
    assert events_in(rest) == [event(1)]


async def test_streams_end_when_the_house_stops(hass: HomeAssistant, hass_client: ClientSessionGenerator) -> None:
    endpoint = await serve(hass, event(0), forever)
    client = await hass_client()
    answer = await begin(client)

    hass.bus.async_fire(EVENT_HOMEASSISTANT_STOP)

    await endpoint.all_closed.wait()
    with pytest.raises(ClientError):
        await answer.read()


async def test_a_stream_ends_with_its_token(
    hass: HomeAssistant, hass_client: ClientSessionGenerator, hass_admin_user: User
) -> None:
    endpoint = await serve(hass, event(0), forever)
    answer = await begin(await hass_client())

    for token in list(hass_admin_user.refresh_tokens.values()):
        hass.auth.async_remove_refresh_token(token)

    await endpoint.all_closed.wait()
    with pytest.raises(ClientError):
        await answer.read()


async def test_streams_at_once_do_not_mix(hass: HomeAssistant, hass_client: ClientSessionGenerator) -> None:
    """Invariant 70."""
    everybody = asyncio.Barrier(32)
    await serve(hass, event(0), everybody.wait, event(1), everybody.wait, event(2))
    client = await hass_client()

    answers = await asyncio.gather(*(begin(client) for _ in range(32)))
    texts = await asyncio.gather(*(answer.text() for answer in answers))

    assert [events_in(text) for text in texts] == [[event(0), event(1), event(2)]] * 32
