"""HTTP requests below `/api/chatterbox/v1` of a real Home Assistant: who may call, and the errors that are returned."""

import base64
import logging
from http import HTTPStatus

import jwt
import pytest
from aiohttp import ServerDisconnectedError
from homeassistant.auth.models import User
from homeassistant.components.http.ban import KEY_FAILED_LOGIN_ATTEMPTS
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import CLIENT_ID
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.responses.exchange import HttpLimits
from custom_components.chatterbox.responses.protocol.errors import ApiError, ErrorType
from tests.support.api_clients import HttpClient
from tests.support.scripted_endpoint import (
    BASE,
    EVENTS,
    MODELS,
    WHOLE,
    error_of,
    forever,
    serve,
)

ADDRESSES = [
    ("POST", "/responses"),
    ("GET", "/responses"),
    ("POST", "/responses/compact"),
    ("GET", "/responses/resp_1"),
    ("DELETE", "/responses/resp_1"),
    ("POST", "/responses/resp_1/cancel"),
    ("GET", "/responses/resp_1/input_items"),
    ("GET", "/models"),
    ("GET", "/models/conversation.kitchen"),
    ("GET", "/chat/completions"),
    ("GET", ""),
    ("PUT", "/responses"),
]
SECRET = "s3cret-words"


async def test_each_address_asks_for_what_it_names(
    hass: HomeAssistant, client: HttpClient, hass_admin_user: User
) -> None:
    endpoint = await serve(hass)

    assert (
        await (
            await client.post(f"{BASE}/responses", json={"model": "m", "input": "Hi"})
        ).json()
        == WHOLE
    )
    assert (
        await (await client.get(f"{BASE}/responses/resp_1?include=a")).json() == WHOLE
    )
    assert (await (await client.delete(f"{BASE}/responses/resp_1")).json())["deleted"]
    assert await (await client.post(f"{BASE}/responses/resp_1/cancel")).json() == WHOLE
    assert (
        await (await client.get(f"{BASE}/responses/resp_1/input_items?limit=3")).json()
    )["object"] == "list"
    assert (
        await (
            await client.post(f"{BASE}/responses/compact", json={"model": "m"})
        ).json()
    )["object"]
    assert await (await client.get(f"{BASE}/models")).json() == MODELS
    assert (
        await client.get(f"{BASE}/models/conversation.kitchen")
    ).status == HTTPStatus.NOT_FOUND

    assert endpoint.requests == [
        {"model": "m", "input": "Hi"},
        ("resp_1", {"include": "a"}),
        ("delete", "resp_1"),
        ("cancel", "resp_1"),
        ("input_items", "resp_1", {"limit": "3"}),
        ("compact", {"model": "m"}),
        "models",
        ("model", "conversation.kitchen"),
    ]
    assert {caller.user_id for caller in endpoint.callers} == {hass_admin_user.id}


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic YTpi"}]
)
async def test_who_has_no_token_gets_an_error_that_home_assistant_counts(
    hass: HomeAssistant,
    hass_client_no_auth: ClientSessionGenerator,
    headers: dict[str, str],
) -> None:
    assert await async_setup_component(
        hass, "http", {"http": {"login_attempts_threshold": 99}}
    )
    endpoint = await serve(hass)
    client = await hass_client_no_auth()

    for method, path in ADDRESSES:
        answer = await client.request(method, BASE + path, headers=headers)

        assert answer.status == HTTPStatus.UNAUTHORIZED
        assert (await error_of(answer))["code"] == "invalid_api_key"
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert sum(hass.http.app[KEY_FAILED_LOGIN_ATTEMPTS].values()) == len(ADDRESSES)
    assert endpoint.requests == []


async def test_only_a_living_access_token_in_its_header_opens_anything(
    hass: HomeAssistant,
    hass_client_no_auth: ClientSessionGenerator,
    hass_admin_user: User,
) -> None:
    endpoint = await serve(hass)
    client = await hass_client_no_auth()
    refresh = await hass.auth.async_create_refresh_token(hass_admin_user, CLIENT_ID)
    gone = await hass.auth.async_create_refresh_token(hass_admin_user, CLIENT_ID)
    access, dead = (
        hass.auth.async_create_access_token(refresh),
        hass.auth.async_create_access_token(gone),
    )
    hass.auth.async_remove_refresh_token(gone)
    head, payload, _ = access.split(".")
    unsigned = (
        base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').decode().rstrip("=")
    )
    late = jwt.encode(
        {"iss": refresh.id, "iat": 0, "exp": 1}, refresh.jwt_key, algorithm="HS256"
    )
    foreign = jwt.encode(
        {"iss": refresh.id, "iat": 0, "exp": 2**40}, "x" * 64, algorithm="HS256"
    )

    tokens = [
        refresh.token,
        dead,
        late,
        foreign,
        f"{unsigned}.{payload}.",
        f"{head}.{payload}.",
        f"{access} x",
    ]
    headers = [{"Authorization": f"Bearer {token}"} for token in tokens]
    headers += [
        {name: access}
        for name in ("Authorization", "X-API-Key", "X-HA-Access", "Cookie")
    ]
    headers += [
        {"X-Remote-User-Id": hass_admin_user.id},
        {"Authorization": f"Token {access}"},
    ]
    queries = [
        {name: access}
        for name in ("access_token", "token", "authSig", "api_password", "api_key")
    ]
    sent = [*((one, {}) for one in headers), *(({}, one) for one in queries)]
    for method, path in ADDRESSES:
        for header, query in sent:
            answer = await client.request(
                method, BASE + path, headers=header, params=query
            )
            assert answer.status == HTTPStatus.UNAUTHORIZED, (path, header, query)

    assert endpoint.requests == []
    assert (
        await client.get(
            f"{BASE}/models", headers={"Authorization": f"Bearer {access}"}
        )
    ).ok


async def test_a_user_who_was_switched_off_is_nobody(
    hass: HomeAssistant, client: HttpClient, hass_admin_user: User
) -> None:
    endpoint = await serve(hass)
    hass_admin_user.is_active = False

    assert (await client.get(f"{BASE}/models")).status == HTTPStatus.UNAUTHORIZED
    assert endpoint.requests == []


async def test_a_home_that_has_it_switched_off_has_nothing_there(
    hass: HomeAssistant, client: HttpClient
) -> None:
    endpoint = await serve(hass, switched_on=False)

    for method, path in ADDRESSES:
        answer = await client.request(method, BASE + path)
        assert answer.status == HTTPStatus.NOT_FOUND
        await error_of(answer)
    assert endpoint.requests == []


async def test_the_switch_works_at_once(
    hass: HomeAssistant, client: HttpClient
) -> None:
    await serve(hass)
    [entry] = hass.config_entries.async_entries(DOMAIN)

    async def status() -> int:
        return (await client.get(f"{BASE}/models")).status

    assert await status() == HTTPStatus.OK
    hass.config_entries.async_update_entry(entry, options={})
    assert await status() == HTTPStatus.NOT_FOUND
    hass.config_entries.async_update_entry(entry, options={"responses_api": True})
    assert await status() == HTTPStatus.OK
    entry.mock_state(hass, ConfigEntryState.NOT_LOADED)  # type: ignore[attr-defined]  # it is an entry for tests
    assert await status() == HTTPStatus.NOT_FOUND, "a disabled service is not there"


async def test_a_wrong_method_is_told_the_right_one(
    hass: HomeAssistant, client: HttpClient
) -> None:
    await serve(hass)

    for method, path, allowed in [
        ("PUT", "/responses", "POST, GET"),
        ("GET", "/responses/compact", "POST"),
        ("PATCH", "/responses/resp_1", "GET, DELETE"),
        ("GET", "/responses/resp_1/cancel", "POST"),
        ("POST", "/models", "GET"),
        ("DELETE", "/models/conversation.kitchen", "GET"),
    ]:
        answer = await client.request(method, BASE + path)

        assert answer.status == HTTPStatus.METHOD_NOT_ALLOWED
        assert answer.headers["Allow"] == allowed
        assert (await error_of(answer))["code"] == "method_not_allowed"


async def test_where_nothing_is_an_error_says_so(
    hass: HomeAssistant, client: HttpClient
) -> None:
    await serve(hass)

    for path in (
        "",
        "/",
        "/nothing",
        "/responses/",
        "/responses/resp_1/nothing",
        "/chat/completions",
    ):
        for method in ("GET", "POST", "OPTIONS"):
            answer = await client.request(method, BASE + path)
            assert answer.status == HTTPStatus.NOT_FOUND
            assert (await error_of(answer))["code"] == "unknown_url"


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("/chat/completions", "client.responses.create()"),
        ("/completions", "POST /api/chatterbox/v1/responses"),
        ("/responses/input_tokens", "`usage`"),
    ],
)
async def test_what_is_not_served_names_what_to_use(
    hass: HomeAssistant, client: HttpClient, path: str, hint: str
) -> None:
    await serve(hass)

    answer = await client.post(BASE + path, json={"model": "m", "input": "Hi"})

    assert answer.status == HTTPStatus.NOT_FOUND
    assert hint in str((await error_of(answer))["message"])


async def test_pages_of_configured_origins_may_call(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    origin = "https://dashboard.example"
    assert await async_setup_component(
        hass, "http", {"http": {"cors_allowed_origins": [origin]}}
    )
    await serve(hass)
    client = await hass_client()

    preflight_headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    first = await client.options(f"{BASE}/responses", headers=preflight_headers)
    then = await client.post(
        f"{BASE}/responses", headers={"Origin": origin}, json={"model": "m"}
    )

    for answer in (first, then):
        assert answer.status == HTTPStatus.OK
        assert answer.headers["Access-Control-Allow-Origin"] == origin


async def test_answers_say_who_they_are_and_how_long_they_took(
    hass: HomeAssistant, client: HttpClient
) -> None:
    await serve(hass)

    answers = [await client.get(f"{BASE}/models") for _ in range(4)]

    assert len({answer.headers["x-request-id"] for answer in answers}) == 4
    assert all(answer.headers["openai-processing-ms"].isdigit() for answer in answers)


async def test_a_token_has_so_many_requests_at_once(
    hass: HomeAssistant, client: HttpClient, guest: HttpClient
) -> None:
    endpoint = await serve(hass, EVENTS[0], forever, limits=HttpLimits(at_once=1))
    running = await client.post(f"{BASE}/responses", json={"stream": True})

    refused = await client.get(f"{BASE}/models")

    assert refused.status == HTTPStatus.TOO_MANY_REQUESTS
    assert refused.headers["Retry-After"] == "1"
    assert (await error_of(refused))["code"] == "rate_limit_exceeded"
    assert (await guest.get(f"{BASE}/models")).status == HTTPStatus.OK
    running.close()
    await endpoint.all_closed.wait()
    assert (await client.get(f"{BASE}/models")).status == HTTPStatus.OK


async def test_an_error_of_the_surface_keeps_its_status_and_words(
    hass: HomeAssistant, client: HttpClient
) -> None:
    endpoint = await serve(hass)
    endpoint.failure = ApiError(
        "Too big.",
        status=503,
        kind=ErrorType.MODEL,
        code="c",
        param="input[0]",
        retry_after=7,
    )

    answer = await client.post(f"{BASE}/responses", json={"stream": True})

    assert answer.status == HTTPStatus.SERVICE_UNAVAILABLE
    assert answer.headers["Retry-After"] == "7"
    assert await error_of(answer) == {
        "type": "model_error",
        "code": "c",
        "message": "Too big.",
        "param": "input[0]",
    }


async def test_a_bug_is_an_error_and_its_place_is_logged_without_words(
    hass: HomeAssistant, client: HttpClient, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint = await serve(hass)
    endpoint.failure = KeyError(SECRET)
    endpoint.failure.__cause__ = ValueError(SECRET)

    answer = await client.post(f"{BASE}/responses", json={"input": SECRET})

    assert answer.status == HTTPStatus.INTERNAL_SERVER_ERROR
    error = await error_of(answer)
    assert error["type"] == "server_error"
    assert answer.headers["x-request-id"] in str(error["message"])
    [logged] = [
        record.getMessage()
        for record in caplog.records
        if record.levelno == logging.ERROR
    ]
    assert answer.headers["x-request-id"] in logged
    assert "KeyError" in logged
    assert "ValueError" in logged
    assert "scripted_endpoint.py" in logged
    assert SECRET not in caplog.text
    assert SECRET not in await answer.text()


async def test_no_token_is_logged(
    hass: HomeAssistant,
    hass_client_no_auth: ClientSessionGenerator,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    await serve(hass)
    client = await hass_client_no_auth()

    for path in ("/responses", "/nothing"):
        await client.post(
            BASE + path,
            headers={"Authorization": f"Bearer {SECRET}"},
            json={"input": SECRET},
        )

    assert SECRET not in caplog.text


async def test_a_home_that_stops_says_so(
    hass: HomeAssistant, client: HttpClient
) -> None:
    await serve(hass)
    hass.set_state(CoreState.stopping)

    answer = await client.get(f"{BASE}/models")

    assert answer.status == HTTPStatus.SERVICE_UNAVAILABLE
    assert (await error_of(answer))["code"] == "stopping"


async def test_requests_end_when_the_home_stops(
    hass: HomeAssistant, client: HttpClient
) -> None:
    endpoint = await serve(
        hass, lambda: hass.bus.async_fire(EVENT_HOMEASSISTANT_STOP), forever
    )

    with pytest.raises(ServerDisconnectedError):
        await client.post(f"{BASE}/responses", json={})

    await endpoint.all_closed.wait()
