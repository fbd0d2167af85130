"""The options of a service: where conversations are stored, and the Responses API; with real files."""

from http import HTTPStatus
from pathlib import Path

import pytest
from homeassistant.components.frontend.storage import async_user_store
from homeassistant.config_entries import ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.setup import async_setup_component
from hypothesis import given, strategies as st
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.const import BASE_PATH, DOMAIN
from custom_components.chatterbox.flows.service_options import (
    shown_address,
    typed_address,
)
from custom_components.chatterbox.history.stores import async_get_histories
from tests.support.config_entries import offline_entry, set_up
from tests.support.one_home import in_one_home
from tests.support.sentences import sentence
from tests.support.service_dialogs import display_data, is_open, problems_in

SWITCHED_OFF = {
    "responses_api": False,
    "response_days": 30,
    "response_megabytes": 100,
    "request_megabytes": 1,
}
SERVER = "postgresql://anna:s3cret%40home@db.local/chatterbox"


async def open_options(hass: HomeAssistant, entry: MockConfigEntry) -> ConfigFlowResult:
    step: ConfigFlowResult = await entry.start_reconfigure_flow(hass)
    return step


async def submit(
    hass: HomeAssistant, step: ConfigFlowResult, **fields: object
) -> ConfigFlowResult:
    result = await hass.config_entries.flow.async_configure(
        step["flow_id"], {"api": {}, **fields}
    )
    await hass.async_block_till_done(wait_background_tasks=True)
    return result


async def test_conversations_are_stored_where_the_owner_wants(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    entry = await set_up(hass, offline_entry())
    step = await open_options(hass, entry)
    assert display_data(step["data_schema"]) == {
        "history_address": "",
        "api": SWITCHED_OFF,
    }

    result = await submit(
        hass, step, history_address=f"sqlite:///{tmp_path}/elsewhere.db"
    )

    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "reconfigure_successful"
    assert (tmp_path / "elsewhere.db").exists()
    store = async_get_histories(hass).of(entry)
    assert store
    assert store.where == f"{tmp_path}/elsewhere.db"


@in_one_home(
    ("address", "error"),
    [
        ("not an address", "history_wrong_url"),
        ("sqlite:////no/such/folder/history.db", "history_cannot_open"),
        ("mysql+pymysql://name:secret@server/x", "history_unsupported"),
        ("postgresql+pg8000://name:secret@server/x", "history_no_driver"),
        (
            "postgresql+psycopg://name:secret@localhost:1/x?connect_timeout=1",
            "history_server_gone",
        ),
    ],
)
async def test_an_address_that_cannot_be_used_is_not_saved(
    hass: HomeAssistant, address: str, error: str
) -> None:
    entry = await set_up(hass, offline_entry())

    refused = await submit(
        hass,
        await open_options(hass, entry),
        history_address=address,
        diagnose_words=True,
    )

    error_text = sentence(f"config.error.{error}")
    assert problems_in(refused) == [
        f"Data and API clients → Database for conversations: {error_text}"
    ]
    assert sentence(f"config.error.{error}")
    assert display_data(refused["data_schema"]) == {
        "history_address": shown_address(address),
        "diagnose_words": True,
        "api": {},
    }
    assert not entry.options


async def test_problems_are_told_in_the_language_of_the_user(
    hass: HomeAssistant, hass_client: ClientSessionGenerator, hass_admin_user: MockUser
) -> None:
    entry = await set_up(hass, offline_entry())
    assert await async_setup_component(hass, "frontend", {})
    assert await async_setup_component(hass, "config", {})
    client, flows = await hass_client(), "/api/config/config_entries/flow"

    async def problems(**headers: str) -> str:
        begun = await (
            await client.post(
                flows, json={"handler": DOMAIN, "entry_id": entry.entry_id}
            )
        ).json()
        form = {"history_address": "nonsense", "diagnose_words": False, "api": {}}
        response = await client.post(
            f"{flows}/{begun['flow_id']}", json=form, headers=headers
        )
        return str((await response.json())["description_placeholders"]["problems"])

    assert "Data and API clients → Database for conversations:" in await problems()
    browser = {"Accept-Language": "de-DE,de;q=0.9,en;q=0.8"}
    assert "Daten und API-Clients → Datenbank für Gespräche:" in await problems(
        **browser
    )
    await (await async_user_store(hass, hass_admin_user.id)).async_set_item(
        "language", {"language": "fr"}
    )
    assert "Données et clients API → Base de données" in await problems(**browser)


async def test_the_responses_api_answers_once_it_is_switched_on(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    entry = await set_up(hass, offline_entry())
    client = await hass_client()
    assert (await client.get(f"{BASE_PATH}/models")).status == HTTPStatus.NOT_FOUND

    step = await open_options(hass, entry)
    assert not is_open(step, "api")
    api = {
        "responses_api": True,
        "response_days": 7,
        "response_megabytes": 0,
        "request_megabytes": 3,
    }
    await submit(hass, step, api=api)

    assert entry.options == {"diagnose_words": False, **api}
    again = await open_options(hass, entry)
    assert is_open(again, "api")
    assert display_data(again["data_schema"])["api"] == api
    assert (await client.get(f"{BASE_PATH}/models")).status == HTTPStatus.OK

    await submit(hass, again, api={"responses_api": False})
    assert entry.options == {"diagnose_words": False, **SWITCHED_OFF}, (
        "an emptied number is the default again"
    )
    assert (await client.get(f"{BASE_PATH}/models")).status == HTTPStatus.NOT_FOUND


async def test_the_dialog_shows_the_address_of_the_responses_api(
    hass: HomeAssistant,
) -> None:
    entry = await set_up(hass, offline_entry())

    async def page_text() -> str:
        placeholders = (await open_options(hass, entry))["description_placeholders"]
        assert placeholders
        return placeholders["address"]

    hass.config.internal_url = "http://house.example:8123"
    assert await page_text() == "http://house.example:8123/api/chatterbox/v1"
    hass.config.internal_url = hass.config.api = None
    assert await page_text() == "/api/chatterbox/v1", (
        "a house that does not know its own address"
    )


@in_one_home(
    ("option", "value"),
    [
        ("response_days", 3_651),
        ("response_days", 0.5),
        ("response_megabytes", -1),
        ("request_megabytes", 11),
    ],
)
async def test_a_number_that_does_not_fit_is_named_and_nothing_typed_is_lost(
    hass: HomeAssistant, tmp_path: Path, option: str, value: float
) -> None:
    entry = await set_up(hass, offline_entry())
    api = {
        "responses_api": True,
        "response_days": 5,
        "response_megabytes": 6,
        option: value,
    }
    typed = {
        "history_address": f"sqlite:///{tmp_path}/other.db",
        "diagnose_words": True,
        "api": api,
    }

    refused = await submit(hass, await open_options(hass, entry), **typed)

    label = sentence(f"config.step.options.sections.api.data.{option}")
    (problem,) = problems_in(refused)
    assert problem.startswith(
        f"Data and API clients → API clients → {label}: {value:g} is "
    )
    assert display_data(refused["data_schema"]) == typed
    assert is_open(refused, "api")
    assert not entry.options


async def test_a_password_is_not_shown_and_not_lost(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    entry = await set_up(hass, offline_entry())
    hass.config_entries.async_update_entry(entry, options={"history_address": SERVER})
    await hass.async_block_till_done(wait_background_tasks=True)

    step = await open_options(hass, entry)

    address = display_data(step["data_schema"])["history_address"]
    assert address == "postgresql://anna:***@db.local/chatterbox"
    saved = await submit(hass, step, history_address=address, diagnose_words=True)
    assert saved["reason"] == "reconfigure_successful"
    assert entry.options == {
        "history_address": SERVER,
        "diagnose_words": True,
        **SWITCHED_OFF,
    }

    await submit(hass, await open_options(hass, entry))

    assert entry.options == {"diagnose_words": False, **SWITCHED_OFF}, (
        "an empty address is the file again"
    )
    store = async_get_histories(hass).of(entry)
    assert store
    assert store.where == str(tmp_path / "chatterbox.db")


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1))
def test_what_was_typed_is_what_is_meant(password: str) -> None:
    address = f"postgresql://anna:{password}@db.local/chatterbox?sslmode=require"

    assert (
        shown_address(address)
        == "postgresql://anna:***@db.local/chatterbox?sslmode=require"
    )
    assert typed_address(shown_address(address), address) == address
    assert typed_address(address, "") == address
    assert (
        typed_address(f" {address} ", "postgresql://anna:other@db.local/chatterbox")
        == address
    )


@pytest.mark.parametrize(
    ("address", "shown_as"),
    [
        ("postgresql://anna:s3/cret@db.local/x", "postgresql://anna:***@db.local/x"),
        ("postgresql://anna:s3:cret@db.local/x", "postgresql://anna:***@db.local/x"),
        ("postgresql://anna:s3?c&ret@db.local/x", "postgresql://anna:***@db.local/x"),
        (
            "postgresql://db.local/x?user=anna&password=s3cret&ssl=1",
            "postgresql://db.local/x?user=anna&password=***&ssl=1",
        ),
        (
            "postgresql://anna:s3cret@db.local/x?sslpassword=c3rt",
            "postgresql://anna:***@db.local/x?sslpassword=***",
        ),
        ("sqlite:////config/anna:home@2026.db", "sqlite:////config/anna:home@2026.db"),
    ],
)
def test_a_password_is_hidden_whatever_is_in_it_and_wherever_it_stands(
    address: str, shown_as: str
) -> None:
    assert shown_address(address) == shown_as
    assert typed_address(shown_as, address) == address
