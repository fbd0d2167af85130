"""What programs send to the Responses surface is read strictly and within bounds, over real HTTP."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from io import BytesIO
from urllib.parse import quote

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from homeassistant.core import HomeAssistant
from hypothesis import HealthCheck, given, settings, strategies as st
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.responses.exchange import BodyLimits
from custom_components.chatterbox.responses.views import HttpLimits
from tests.agent.json_values import json_values
from tests.support.scripted_endpoint import BASE, ScriptedService, error_of, serve

URL = f"{BASE}/responses"
JSON: Mapping[str, str] = {"Content-Type": "application/json"}


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "application/json; charset=utf-16",
        "application/json; charset=nonsense",
        "",
        ";;;",
    ],
)
async def test_only_json_is_taken(hass: HomeAssistant, hass_client: ClientSessionGenerator, content_type: str) -> None:
    """Invariant 67."""
    endpoint = await serve(hass)
    client = await hass_client()

    answer = await client.post(URL, data=b"{}", headers={"Content-Type": content_type})

    assert answer.status == HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    await error_of(answer)
    assert endpoint.asked == []


async def test_a_character_set_that_is_json_own_is_taken(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    endpoint = await serve(hass)
    client = await hass_client()

    for charset in ("", "; charset=utf-8", "; charset=UTF8"):
        await client.post(
            URL, data='{"input": "Zażółć"}'.encode(), headers={"Content-Type": f"application/json{charset}"}
        )

    assert endpoint.asked == [{"input": "Zażółć"}] * 3


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting"),
        (b'{"model": "m"} {}', "Extra data"),
        (b'{"model": "m", "model": "n"}', "stands twice"),
        (b'{"input": [{"role": "user", "role": "system"}]}', "stands twice"),
        (b'{"temperature": NaN}', "NaN"),
        (b'{"temperature": -Infinity}', "Infinity"),
        (b'{"temperature": 1e999}', "1e999"),
        (b'{"input": "\\ud83d"}', "half of a character"),
        (b'{"input": "\xff"}', "not UTF-8"),
        (b'{"input": "\xed\xa0\xbd"}', "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"9" * 5_000, "integer"),
        (b"\xef\xbb\xbf{}", "BOM"),
        (b"[" + b'{"a": 1},' * 20_000 + b'{"a": 1, "a": 2}]', "stands twice"),
    ],
    ids=lambda one: one[:20] if isinstance(one, bytes) else one,
)
async def test_what_is_no_json_is_refused_by_name(
    hass: HomeAssistant, hass_client: ClientSessionGenerator, body: bytes, problem: str
) -> None:
    endpoint = await serve(hass)
    client = await hass_client()

    answer = await client.post(URL, data=body, headers=JSON)

    assert answer.status == HTTPStatus.BAD_REQUEST
    error = await error_of(answer)
    assert error["code"] == "invalid_json"
    assert problem in str(error["message"])
    assert endpoint.asked == []


async def test_a_body_up_to_ten_megabytes_is_read_and_not_a_byte_more(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    """Invariant 67."""
    endpoint = await serve(hass)
    client = await hass_client()
    largest = b'"' + b"a" * (10 * 1024 * 1024 - 2) + b'"'

    for body in (BytesIO(largest), pieces(largest[:-1], largest[-1:])):
        assert (await client.post(URL, data=body, headers=JSON)).status == HTTPStatus.OK
    for body in (BytesIO(largest + b" "), pieces(largest, b" ")):
        answer = await client.post(URL, data=body, headers=JSON)
        assert answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        assert (await error_of(answer))["code"] == "request_too_large"
    assert endpoint.asked == [largest.decode()[1:-1]] * 2


async def test_a_body_that_says_that_it_is_too_long_is_not_waited_for(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    await serve(hass)
    client = await hass_client()
    answered = asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        yield b"{"
        await answered.wait()

    answer = await client.post(URL, data=slowly(), headers={**JSON, "Content-Length": "10485761"})

    assert answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    await error_of(answer)
    answer.close()
    answered.set()


async def test_what_is_packed_is_unpacked_up_to_the_same_bound(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    endpoint = await serve(hass)
    client = await hass_client()
    packed = {**JSON, "Content-Encoding": "gzip"}

    assert (await client.post(URL, data=gzip.compress(b'{"a": 1}'), headers=packed)).status == HTTPStatus.OK
    bomb = await client.post(URL, data=gzip.compress(b"[" * 200_000_000, 1), headers=packed)
    assert bomb.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert bomb.headers["Connection"] == "close"
    await error_of(bomb)
    assert (await client.post(URL, data=b"no gzip at all", headers=packed)).status == HTTPStatus.BAD_REQUEST
    assert endpoint.asked == [{"a": 1}]


async def test_a_body_that_does_not_come_is_not_waited_for(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    await serve(hass, limits=HttpLimits(body=BodyLimits(seconds=0.01)))
    client = await hass_client()

    answered = asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        yield b"{"
        await answered.wait()

    answer = await client.post(URL, data=slowly(), headers=JSON)

    assert answer.status == HTTPStatus.REQUEST_TIMEOUT
    await error_of(answer)
    answered.set()


@pytest.fixture
async def connected(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> tuple[ScriptedService, TestClient[web.Request, web.Application]]:
    """A surface, and a program that talks to it."""
    endpoint = await serve(hass)
    return endpoint, await hass_client()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=json_values())
async def test_any_json_arrives_as_it_was_sent(
    connected: tuple[ScriptedService, TestClient[web.Request, web.Application]], value: object
) -> None:
    endpoint, client = connected

    assert (await client.post(URL, data=json.dumps(value), headers=JSON)).status == HTTPStatus.OK
    assert json.dumps(endpoint.asked[-1]) == json.dumps(value)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.binary(max_size=60) | st.text(max_size=40).map(str.encode) | json_values().map(json.dumps).map(str.encode),
    cut=st.integers(0, 60),
    method=st.sampled_from(["GET", "POST", "DELETE", "PUT", "PATCH"]),
    path=st.sampled_from(["/responses", "/responses/compact", "/models", ""])
    | st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n.<"), max_size=20).map(
        lambda text: f"/{quote(text)}"
    ),
    headers=st.fixed_dictionaries(
        {},
        optional={
            "Content-Type": st.sampled_from(
                ["application/json", "application/json;", "text/plain", "a/b;charset=\udc80"]
            ),
            "Upgrade": st.sampled_from(["websocket", "h2c"]),
        },
    ),
)
async def test_whatever_is_sent_gets_an_answer_or_an_error_of_the_api(
    connected: tuple[ScriptedService, TestClient[web.Request, web.Application]],
    *,
    body: bytes,
    cut: int,
    method: str,
    path: str,
    headers: dict[str, str],
) -> None:
    """Invariant 67: never a failure of the server, whatever comes."""
    _, client = connected

    answer = await client.request(method, BASE + path, data=body[:cut], headers=headers)

    assert answer.status < HTTPStatus.INTERNAL_SERVER_ERROR
    if answer.status >= HTTPStatus.BAD_REQUEST:
        await error_of(answer)
