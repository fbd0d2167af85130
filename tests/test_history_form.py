"""The dialog that says where conversations are stored, in a real Home Assistant, with real files."""

from pathlib import Path

import pytest
from homeassistant.config_entries import ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from hypothesis import given, strategies as st
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.history_form import shown_address, typed_address
from custom_components.chatterbox.history_keeping import async_get_histories
from tests.config_entries import offline_entry, set_up
from tests.sentences import sentence
from tests.service_dialogs import shown

SERVER = "postgresql://anna:s3cret%40home@db.local/chatterbox"


async def open_options(hass: HomeAssistant, entry: MockConfigEntry) -> ConfigFlowResult:
    return await hass.config_entries.options.async_init(entry.entry_id)


async def submit(hass: HomeAssistant, step: ConfigFlowResult, **fields: object) -> ConfigFlowResult:
    result = await hass.config_entries.options.async_configure(step["flow_id"], fields)
    await hass.async_block_till_done(wait_background_tasks=True)
    return result


async def test_conversations_are_stored_where_the_owner_wants(hass: HomeAssistant, tmp_path: Path) -> None:
    entry = await set_up(hass, offline_entry())
    step = await open_options(hass, entry)
    assert shown(step["data_schema"]) == {"history_address": ""}

    result = await submit(hass, step, history_address=f"sqlite:///{tmp_path}/elsewhere.db")

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert (tmp_path / "elsewhere.db").exists()
    store = async_get_histories(hass).of(entry)
    assert store
    assert store.where == f"{tmp_path}/elsewhere.db"


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("not an address", "history_wrong_url"),
        ("sqlite:////no/such/folder/history.db", "history_cannot_open"),
        ("oracle://name:secret@server/x", "history_no_driver"),
        ("postgresql+psycopg://name:secret@localhost:1/x?connect_timeout=1", "history_server_gone"),
    ],
)
async def test_an_address_that_cannot_be_used_is_not_saved(hass: HomeAssistant, address: str, error: str) -> None:
    entry = await set_up(hass, offline_entry())

    refused = await submit(hass, await open_options(hass, entry), history_address=address, diagnose_words=True)

    assert refused["errors"] == {"history_address": error}
    assert sentence(f"options.error.{error}")
    assert shown(refused["data_schema"]) == {"history_address": shown_address(address), "diagnose_words": True}
    assert not entry.options


async def test_a_password_is_not_shown_and_not_lost(hass: HomeAssistant, tmp_path: Path) -> None:
    entry = await set_up(hass, offline_entry())
    hass.config_entries.async_update_entry(entry, options={"history_address": SERVER})
    await hass.async_block_till_done(wait_background_tasks=True)

    step = await open_options(hass, entry)

    address = shown(step["data_schema"])["history_address"]
    assert address == "postgresql://anna:***@db.local/chatterbox"
    assert (await submit(hass, step, history_address=address, diagnose_words=True))["type"] is (
        FlowResultType.CREATE_ENTRY
    )
    assert entry.options == {"history_address": SERVER, "diagnose_words": True}

    await submit(hass, await open_options(hass, entry))

    assert entry.options == {"diagnose_words": False}, "an empty address is the file again"
    store = async_get_histories(hass).of(entry)
    assert store
    assert store.where == str(tmp_path / "chatterbox.db")


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1))
def test_what_was_typed_is_what_is_meant(password: str) -> None:
    address = f"mysql://anna:{password}@db.local/chatterbox?charset=utf8mb4"

    assert shown_address(address) == "mysql://anna:***@db.local/chatterbox?charset=utf8mb4"
    assert typed_address(shown_address(address), address) == address
    assert typed_address(address, "") == address
    assert typed_address(f" {address} ", "mysql://anna:other@db.local/chatterbox") == address


@pytest.mark.parametrize(
    ("address", "shown_as"),
    [
        ("postgresql://anna:s3/cret@db.local/x", "postgresql://anna:***@db.local/x"),
        ("postgresql://anna:s3:cret@db.local/x", "postgresql://anna:***@db.local/x"),
        ("mysql://anna:s3?c&ret@db.local/x", "mysql://anna:***@db.local/x"),
        ("mysql://db.local/x?user=anna&passwd=s3cret&ssl=1", "mysql://db.local/x?user=anna&passwd=***&ssl=1"),
        (
            "postgresql://anna:s3cret@db.local/x?sslpassword=c3rt",
            "postgresql://anna:***@db.local/x?sslpassword=***",
        ),
        ("sqlite:////config/anna:home@2026.db", "sqlite:////config/anna:home@2026.db"),
    ],
)
def test_a_password_is_hidden_whatever_is_in_it_and_wherever_it_stands(address: str, shown_as: str) -> None:
    assert shown_address(address) == shown_as
    assert typed_address(shown_as, address) == address
