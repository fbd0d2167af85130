"""Bodies are read strictly and within limits, and events are streamed until nobody reads them, over real HTTP."""

import asyncio
import gzip
import json
import logging
from collections.abc import AsyncIterator, Mapping
from functools import partial
from http import HTTPStatus
from io import BytesIO
from urllib.parse import quote

import pytest
from aiohttp import ClientError, ClientResponse
from homeassistant.auth.models import User
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import HomeAssistant
from hypothesis import HealthCheck, given, settings, strategies as st
from pytest_homeassistant_custom_component.common import CLIENT_ID, MockUser
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.responses.exchange import HttpLimits
from custom_components.chatterbox.responses.protocol.errors import invalid
from tests.agent.json_values import json_values
from tests.support.api_clients import HttpClient
from tests.support.scripted_endpoint import (
    BASE,
    EVENTS,
    error_of,
    event,
    forever,
    serve,
)
from tests.support.thorough import some_examples

URL = f"{BASE}/responses"
MIME = "application/json"
JSON: Mapping[str, str] = {"Content-Type": MIME}


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def test_only_json_is_taken(hass: HomeAssistant, client: HttpClient) -> None:
    """Invariant 67."""
    endpoint = await serve(hass)

    for content_type in (
        "text/plain",
        "application/xml",
        f"{MIME}; charset=utf-16",
        f"{MIME}; charset=x",
        "",
        ";;;",
    ):
        answer = await client.post(
            URL, data=b"{}", headers={"Content-Type": content_type}
        )
        assert answer.status == HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        await error_of(answer)
    assert endpoint.requests == []


async def test_a_character_set_that_is_json_own_is_taken(
    hass: HomeAssistant, client: HttpClient
) -> None:
    endpoint = await serve(hass)

    for charset in ("", "; charset=utf-8", "; charset=UTF8"):
        await client.post(
            URL,
            data='{"input": "Zażółć"}'.encode(),
            headers={"Content-Type": f"application/json{charset}"},
        )

    assert endpoint.requests == [{"input": "Zażółć"}] * 3


async def test_what_is_no_json_is_refused_by_name(
    hass: HomeAssistant, client: HttpClient
) -> None:
    endpoint = await serve(hass)
    cases = [
        (b"", "Expecting value"),
        (b'{"model": "m", "model": "n"}', "stands twice"),
        (b'{"temperature": NaN}', "NaN"),
        (b'{"input": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\xef\xbb\xbf{}", "BOM"),
        (b"[" + b'{"a": 1},' * 20_000 + b'{"a": 1, "a": 2}]', "stands twice"),
    ]

    for body, problem in cases:
        answer = await client.post(URL, data=body, headers=JSON)
        assert answer.status == HTTPStatus.BAD_REQUEST
        error = await error_of(answer)
        assert error["code"] == "invalid_json"
        assert problem in str(error["message"])
    assert endpoint.requests == []


@pytest.mark.parametrize("megabytes", [1, 10])
async def test_a_body_as_large_as_the_owner_allows_is_read_and_not_a_byte_more(
    hass: HomeAssistant, client: HttpClient, megabytes: int
) -> None:
    """Invariant 67."""
    endpoint = await serve(hass)
    [entry] = hass.config_entries.async_entries(DOMAIN)
    if megabytes > 1:
        options = {**entry.options, "request_megabytes": megabytes}
        hass.config_entries.async_update_entry(entry, options=options)
    largest = b'"' + b"a" * (megabytes * 1024 * 1024 - 2) + b'"'

    for body in (BytesIO(largest), pieces(largest[:-1], largest[-1:])):
        assert (await client.post(URL, data=body, headers=JSON)).status == HTTPStatus.OK
    for body in (BytesIO(largest + b" "), pieces(largest, b" ")):
        answer = await client.post(URL, data=body, headers=JSON)
        assert answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        error = await error_of(answer)
        assert error["code"] == "request_too_large"
        assert f"more than {megabytes} MB. Send smaller files" in str(error["message"])
    assert endpoint.requests == [largest.decode()[1:-1]] * 2


async def test_a_body_that_says_that_it_is_too_long_is_not_waited_for(
    hass: HomeAssistant, client: HttpClient
) -> None:
    await serve(hass)
    answered = asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        yield b"{"
        await answered.wait()

    answer = await client.post(
        URL, data=slowly(), headers={**JSON, "Content-Length": "1048577"}
    )

    assert answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    await error_of(answer)
    answer.close()
    answered.set()


async def test_what_is_packed_is_unpacked_up_to_the_same_bound(
    hass: HomeAssistant, client: HttpClient
) -> None:
    endpoint = await serve(hass)
    packed = {**JSON, "Content-Encoding": "gzip"}

    assert (
        await client.post(URL, data=gzip.compress(b'{"a": 1}'), headers=packed)
    ).status == HTTPStatus.OK
    bomb = await client.post(
        URL, data=gzip.compress(b"[" * 200_000_000, 1), headers=packed
    )
    assert bomb.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert bomb.headers["Connection"] == "close"
    await error_of(bomb)
    assert (
        await client.post(URL, data=b"no gzip at all", headers=packed)
    ).status == HTTPStatus.BAD_REQUEST
    assert endpoint.requests == [{"a": 1}]


async def test_bodies_of_all_tokens_have_room_together_and_of_one_token_half_of_it(
    hass: HomeAssistant, client: HttpClient, guest: HttpClient
) -> None:
    """A body takes room until it is answered, also one that is still being sent."""
    endpoint = await serve(
        hass, event(0), forever, limits=HttpLimits(size=1_000, size_of_all=3_600)
    )
    large = json.dumps({"stream": True, "input": "x" * 850})

    async def ask(client: HttpClient) -> ClientResponse:
        answer = await client.post(URL, data=large, headers=JSON)
        if answer.status == HTTPStatus.OK:
            await answer.content.readline()
        return answer

    first, _second, third = [await ask(guest) for _ in range(3)]
    assert third.status == HTTPStatus.TOO_MANY_REQUESTS
    assert third.headers["Retry-After"] == "1"
    error = await error_of(third)
    assert error["code"] == "rate_limit_exceeded"
    assert "one after the other" in str(error["message"])
    others = [await ask(client) for _ in range(3)]
    assert [answer.status for answer in others] == [200, 200, 429]
    assert (await guest.get(f"{BASE}/models")).status == HTTPStatus.OK, (
        "what is small has room"
    )

    first.close()
    while (again := await ask(guest)).status != HTTPStatus.OK:
        await again.read()
    for answer in (_second, again, *others):
        answer.close()
    await endpoint.all_closed.wait()


async def test_the_room_of_a_user_who_is_deactivated_is_free_again(
    hass: HomeAssistant,
    hass_client: ClientSessionGenerator,
    hass_read_only_user: MockUser,
) -> None:
    endpoint = await serve(
        hass, event(0), forever, limits=HttpLimits(size=1_000, size_of_all=1_000)
    )
    refresh = await hass.auth.async_create_refresh_token(hass_read_only_user, CLIENT_ID)
    guest, owner = (
        await hass_client(hass.auth.async_create_access_token(refresh)),
        await hass_client(),
    )
    large = json.dumps({"stream": True, "input": "x" * 850})
    answer = await guest.post(URL, data=large, headers=JSON)
    await answer.content.readline()

    await hass.auth.async_deactivate_user(hass_read_only_user)
    await endpoint.all_closed.wait()

    assert (await owner.post(URL, data=large, headers=JSON)).status == HTTPStatus.OK


async def test_a_body_that_does_not_come_is_not_waited_for(
    hass: HomeAssistant, client: HttpClient
) -> None:
    await serve(hass, limits=HttpLimits(body_seconds=0.01))

    answered = asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        yield b"{"
        await answered.wait()

    answer = await client.post(URL, data=slowly(), headers=JSON)

    assert answer.status == HTTPStatus.REQUEST_TIMEOUT
    await error_of(answer)
    answered.set()


@pytest.fixture
async def connected(hass: HomeAssistant, client: HttpClient) -> HttpClient:
    """An API client that a surface answers."""
    await serve(hass)
    return client


@settings(
    max_examples=some_examples(100),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    body=st.binary(max_size=60)
    | st.text(max_size=40).map(str.encode)
    | json_values().map(json.dumps).map(str.encode),
    cut=st.integers(0, 60),
    method=st.sampled_from(["GET", "POST", "DELETE", "PUT", "PATCH"]),
    path=st.sampled_from(["/responses", "/responses/compact", "/models", ""])
    | st.text(
        st.characters(codec="utf-8", exclude_characters="\t\r\n.<"), max_size=20
    ).map(lambda text: f"/{quote(text)}"),
    headers=st.fixed_dictionaries(
        {},
        optional={
            "Content-Type": st.sampled_from(
                [
                    "application/json",
                    "application/json;",
                    "text/plain",
                    "a/b;charset=\udc80",
                ]
            ),
            "Upgrade": st.sampled_from(["websocket", "h2c"]),
        },
    ),
)
async def test_whatever_is_sent_gets_an_answer_or_an_error_of_the_api(
    connected: HttpClient,
    *,
    body: bytes,
    cut: int,
    method: str,
    path: str,
    headers: dict[str, str],
) -> None:
    """Invariant 67: never a failure of the server, whatever comes."""
    answer = await connected.request(
        method, BASE + path, data=body[:cut], headers=headers
    )

    assert answer.status < HTTPStatus.INTERNAL_SERVER_ERROR
    if answer.status >= HTTPStatus.BAD_REQUEST:
        await error_of(answer)


async def begin(client: HttpClient) -> ClientResponse:
    """Ask for a stream, and return once it has begun."""
    answer = await client.post(f"{BASE}/responses", json={"stream": True})
    assert answer.status == HTTPStatus.OK
    return answer


def events_in(text: str) -> list[JsonObject]:
    """Read a stream as strictly as any client does."""
    *blocks, end = text.split("\n\n")
    assert end == ""
    assert blocks.pop() == "data: [DONE]"
    bodies: list[JsonObject] = []
    for block in blocks:
        name, data = block.split("\n")
        bodies.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {bodies[-1]['type']}"
    return bodies


async def test_events_come_as_they_were_made_and_then_done(
    hass: HomeAssistant, client: HttpClient
) -> None:
    """Invariants 8, 9."""
    await serve(hass)

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
    hass: HomeAssistant, client: HttpClient
) -> None:
    """Invariant 9."""
    seen = [asyncio.Event() for _ in EVENTS]
    lines = [
        line
        for one, heard in zip(EVENTS, seen, strict=True)
        for line in (one, heard.wait)
    ]
    await serve(hass, *lines)

    answer = await begin(client)
    for one, heard in zip(EVENTS, seen, strict=True):
        written, is_whole = await answer.content.readchunk()
        assert is_whole
        assert events_in(f"{written.decode()}data: [DONE]\n\n") == [one]
        heard.set()
    assert await answer.content.readchunk() == (b"data: [DONE]\n\n", True)


async def test_a_stream_is_resumed_by_its_address(
    hass: HomeAssistant, client: HttpClient
) -> None:
    endpoint = await serve(hass)

    answer = await client.get(f"{BASE}/responses/resp_1?stream=true&starting_after=4")

    assert events_in(await answer.text()) == list(EVENTS)
    assert endpoint.requests == [("resp_1", {"stream": "true", "starting_after": "4"})]


async def test_a_stream_that_is_resumed_at_its_end_ends(
    hass: HomeAssistant, client: HttpClient
) -> None:
    await serve(hass, partial(asyncio.sleep, 0))  # no event is left

    answer = await client.get(f"{BASE}/responses/resp_1?stream=true&starting_after=9")

    assert (answer.status, await answer.text()) == (HTTPStatus.OK, "data: [DONE]\n\n")


async def test_what_fails_before_the_first_event_is_a_plain_error(
    hass: HomeAssistant, client: HttpClient
) -> None:
    """Invariant 58."""
    endpoint = await serve(hass, invalid("No such tool.", "tools[0]"))

    answer = await client.post(f"{BASE}/responses", json={"stream": True})

    assert answer.status == HTTPStatus.BAD_REQUEST
    assert (await error_of(answer))["param"] == "tools[0]"
    assert endpoint.all_closed.is_set()


async def test_a_bug_in_a_stream_is_told_and_logged_without_words(
    hass: HomeAssistant, client: HttpClient, caplog: pytest.LogCaptureFixture
) -> None:
    await serve(hass, event(0, "response.created"), RuntimeError("s3cret"))

    text = await (await begin(client)).text()

    assert "[DONE]" not in text
    *_, last = events_in(f"{text}data: [DONE]\n\n")
    assert (last["type"], last["sequence_number"]) == ("error", 1)
    assert isinstance(last["error"], dict)
    assert last["error"]["type"] == "server_error"
    assert "s3cret" not in text + caplog.text
    assert [
        record.levelno
        for record in caplog.records
        if "RuntimeError" in record.getMessage()
    ] == [logging.ERROR]


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_who_hangs_up_ends_what_was_asked(
    hass: HomeAssistant, client: HttpClient, *, is_streamed: bool
) -> None:
    """Invariant 54."""
    began = asyncio.Event()
    endpoint = await serve(hass, event(0), began.set, forever)

    asking = asyncio.create_task(
        client.post(f"{BASE}/responses", json={"stream": is_streamed})
    )
    await began.wait()
    assert endpoint.open_streams == 1
    if is_streamed:
        (await asking).close()
    asking.cancel()

    await endpoint.all_closed.wait()


async def test_a_reader_that_takes_nothing_holds_the_stream_back_and_is_cut_off_in_the_end(
    hass: HomeAssistant, client: HttpClient
) -> None:
    flood = [event(number, delta="x" * 1_000_000) for number in range(100)]
    endpoint = await serve(hass, *flood, limits=HttpLimits(reader_seconds=0.05))

    answer = await begin(client)
    await endpoint.all_closed.wait()

    assert endpoint.played < 50
    with pytest.raises(ClientError):
        await answer.read()


async def test_silence_is_filled_with_comments(
    hass: HomeAssistant, client: HttpClient
) -> None:
    heard = asyncio.Event()
    lines = (event(0), heard.wait, event(1))
    await serve(hass, *lines, limits=HttpLimits(comment_seconds=0.01))

    answer = await begin(client)
    await answer.content.readuntil(b": still here\n\n")
    heard.set()

    rest = (await answer.text()).replace(": still here\n\n", "")
    assert events_in(rest) == [event(1)]


async def test_streams_end_when_the_home_stops(
    hass: HomeAssistant, client: HttpClient
) -> None:
    endpoint = await serve(hass, event(0), forever)
    answer = await begin(client)

    hass.bus.async_fire(EVENT_HOMEASSISTANT_STOP)

    await endpoint.all_closed.wait()
    with pytest.raises(ClientError):
        await answer.read()


async def test_a_stream_ends_with_its_token(
    hass: HomeAssistant, client: HttpClient, hass_admin_user: User
) -> None:
    endpoint = await serve(hass, event(0), forever)
    answer = await begin(client)

    for token in list(hass_admin_user.refresh_tokens.values()):
        hass.auth.async_remove_refresh_token(token)

    await endpoint.all_closed.wait()
    with pytest.raises(ClientError):
        await answer.read()
