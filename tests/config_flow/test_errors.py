"""The dialogs that add a service tell what is wrong with an address, a key or a model, and keep what was typed."""

from pathlib import Path

import pytest
from homeassistant.const import CONF_API_KEY, CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType

from custom_components.chatterbox.const import CONF_BASE_URL, CONF_SERVER
from tests.support.one_home import in_one_home
from tests.support.servers.in_process import (
    address_without_server,
    always,
    serving,
    serving_untrusted_tls,
    with_list,
)
from tests.support.service_dialogs import (
    GUARDED,
    PUBLIC_LIST,
    add,
    connect,
    connect_internet,
    submit,
    suggested,
)

pytestmark = pytest.mark.usefixtures("socket_enabled")

KEY_REFUSED = {CONF_API_KEY: "provider_rejected_key", "base": "service_said"}


@pytest.mark.parametrize(
    ("typed", "error"),
    [
        ("ftp://192.168.1.10", "invalid_url"),
        ("http://", "invalid_url"),
        ("http://[::1", "invalid_url"),
        ("http://somebody:secret@192.168.1.10/v1", "url_with_secrets"),
        ("http://192.168.1.10/v1?api-key=secret", "url_with_secrets"),
    ],
)
async def test_an_address_that_is_none_is_refused_and_kept(
    hass: HomeAssistant, typed: str, error: str
) -> None:
    step = await connect(hass, typed)

    assert step["errors"] == {CONF_BASE_URL: error}
    assert suggested(step)[CONF_BASE_URL] == typed


@in_one_home(
    ("status", "body", "content_type", "errors"),
    [
        (401, '{"error": "no"}', "application/json", KEY_REFUSED),
        (403, '{"error": "no"}', "application/json", KEY_REFUSED),
        (
            404,
            "<html>Not found</html>",
            "text/html",
            {CONF_BASE_URL: "provider_reply_invalid"},
        ),
        (
            200,
            "<html>Hello</html>",
            "text/html",
            {CONF_BASE_URL: "provider_reply_invalid"},
        ),
        (
            429,
            '{"error": "slow down"}',
            "application/json",
            {CONF_BASE_URL: "provider_busy", "base": "service_said"},
        ),
        (500, "", "text/plain", {CONF_BASE_URL: "provider_failed"}),
        (304, "", "text/plain", {CONF_BASE_URL: "provider_reply_invalid"}),
        (
            500,
            '{"error": "oops"}',
            "application/json",
            {CONF_BASE_URL: "provider_failed", "base": "service_said"},
        ),
        (
            418,
            '{"error": "teapot"}',
            "application/json",
            {CONF_BASE_URL: "provider_rejected_request", "base": "service_said"},
        ),
    ],
)
async def test_each_answer_of_a_server_that_does_not_work_has_its_error(
    hass: HomeAssistant,
    status: int,
    body: str,
    content_type: str,
    errors: dict[str, str],
) -> None:
    async with serving(always(status, body, content_type)) as address:
        step = await connect(hass, address)

    assert step["step_id"] == "own_server"
    assert step["errors"] == errors


async def test_a_redirect_is_told_with_its_address(hass: HomeAssistant) -> None:
    headers = {"Location": "https://elsewhere/api/v1/models?key=private"}
    async with serving(always(302, "Found", headers=headers)) as address:
        step = await connect(hass, address)

    assert step["errors"] == {CONF_BASE_URL: "redirected"}
    assert (step["description_placeholders"] or {})[
        "location"
    ] == "https://elsewhere/api/v1"


async def test_an_address_where_nothing_answers_is_an_error(
    hass: HomeAssistant,
) -> None:
    address = address_without_server()
    step = await connect(hass, address)

    assert step["errors"] == {CONF_BASE_URL: "provider_unreachable"}
    placeholders = step["description_placeholders"]
    assert placeholders is not None
    assert placeholders["url"] == address


async def test_a_certificate_that_is_not_trusted_is_an_error(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    with serving_untrusted_tls(tmp_path) as address:
        step = await connect(hass, address)

    assert step["errors"] == {CONF_BASE_URL: "certificate_invalid"}


async def test_https_where_http_is_spoken_is_an_error(
    hass: HomeAssistant, address: str
) -> None:
    wrong = address.replace("http://", "https://")
    step = await connect(hass, wrong)

    assert step["errors"] == {CONF_BASE_URL: "no_tls"}


async def test_after_a_wrong_address_the_right_one_works_and_the_key_is_kept(
    hass: HomeAssistant, guarded_address: str
) -> None:
    step = await connect_internet(hass, "groq", address_without_server(), "right-key")
    assert step["errors"] == {CONF_SERVER: "provider_unreachable"}
    form = suggested(step)[CONF_API_KEY]
    assert "right-key" not in form
    step = await submit(
        hass, step, api_key=form, address={CONF_BASE_URL: guarded_address}
    )
    result = await add(hass, step, model="big-model")

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"][CONF_API_KEY] == "right-key"


async def test_a_refused_key_is_not_kept_in_the_form(
    hass: HomeAssistant, guarded_address: str
) -> None:
    step = await connect(hass, guarded_address, "wrong-key")

    assert step["errors"] == {
        CONF_API_KEY: "provider_rejected_key",
        "base": "service_said",
    }
    assert suggested(step) == {CONF_BASE_URL: guarded_address}


@pytest.mark.parametrize("key", ["two words", "schlüssel", "•••", "line\nbreak"])
async def test_what_cannot_be_a_key_is_refused(hass: HomeAssistant, key: str) -> None:
    step = await connect_internet(hass, "groq", address_without_server(), key)

    assert step["errors"] == {CONF_API_KEY: "api_key_malformed"}


async def test_a_key_pasted_beside_the_dots_is_a_new_key(
    hass: HomeAssistant, guarded_address: str
) -> None:
    step = await connect_internet(hass, "groq", address_without_server(), "old-key")
    dots = suggested(step)[CONF_API_KEY]
    step = await submit(
        hass, step, api_key=f"{dots}right-key", address={CONF_BASE_URL: guarded_address}
    )

    assert step["step_id"] == "model"


async def test_a_key_that_is_only_looked_at_when_the_model_talks_can_be_mended(
    hass: HomeAssistant,
) -> None:
    async with serving(with_list(GUARDED, 200, PUBLIC_LIST)) as address:
        step = await submit(hass, await connect(hass, address), model="big-model")
        assert step["step_id"] == "own_server"
        assert step["errors"] == {
            CONF_API_KEY: "provider_rejected_key",
            "base": "service_said",
        }
        step = await submit(hass, step, base_url=address, api_key="right-key")
        result = await add(hass, step, model="big-model")

    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_a_model_that_does_not_exist_is_refused_and_kept(
    hass: HomeAssistant, address: str
) -> None:
    step = await connect(hass, address)
    step = await submit(hass, step, model="no-such-model")

    assert step["step_id"] == "model"
    assert step["errors"] == {CONF_MODEL: "model_not_found", "base": "service_said"}
    assert suggested(step) == {CONF_MODEL: "no-such-model"}


async def test_a_model_of_spaces_is_refused(hass: HomeAssistant, address: str) -> None:
    step = await connect(hass, address)
    step = await submit(hass, step, model="  ")

    assert step["errors"] == {CONF_MODEL: "model_missing"}
