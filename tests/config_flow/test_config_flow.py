"""The dialogs that add a service, as a person walks through them."""

import asyncio

import pytest
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import CONF_API_KEY, CONF_LLM_HASS_API, CONF_MODEL, CONF_PROMPT
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import llm
from yarl import URL

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_KIND,
    CONF_SERVER,
    DOMAIN,
    SUBENTRY_AI_TASK,
)
from tests.support.config_entries import offline_entry, only_agent, server_entry, set_up
from tests.support.servers.in_process import serving, serving_script, with_list
from tests.support.service_dialogs import (
    GUARDED,
    TALKING,
    add,
    choose_offline,
    connect,
    models_in,
    open_dialog,
    submit,
    suggested,
)

pytestmark = pytest.mark.usefixtures("socket_enabled")


async def test_two_clicks_add_the_offline_service_with_an_agent(
    hass: HomeAssistant,
) -> None:
    step = await choose_offline(hass)
    result = await submit(hass, step, **suggested(step))

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == "Offline"
    assert result["data"] == {CONF_KIND: "offline"}
    assert only_agent(result["result"]).title == "Chatterbox"
    assert result["result"].state is ConfigEntryState.LOADED


async def test_a_second_offline_service_is_not_offered(hass: HomeAssistant) -> None:
    await set_up(hass, offline_entry())

    step = await open_dialog(hass)

    assert step["menu_options"] == ["in_my_home", "internet"]


async def test_a_second_offline_service_is_refused(hass: HomeAssistant) -> None:
    menu = await open_dialog(hass)
    await set_up(hass, offline_entry())

    result = await hass.config_entries.flow.async_configure(
        menu["flow_id"], {"next_step_id": "offline"}
    )

    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "already_configured"


async def test_of_two_dialogs_and_two_clicks_only_one_adds_a_service(
    hass: HomeAssistant, address: str
) -> None:
    dialogs = [await choose_offline(hass), await choose_offline(hass)]
    for _ in range(2):
        step = await connect(hass, address)
        dialogs.append(await submit(hass, step, model="big-model"))
    sent = [
        (step["flow_id"], {**suggested(step)}) for step in dialogs for _ in range(2)
    ]
    answers = [hass.config_entries.flow.async_configure(*one) for one in sent]
    results = [
        one
        for one in await asyncio.gather(*answers, return_exceptions=True)
        if isinstance(one, dict)
    ]
    await hass.async_block_till_done()

    added = [
        result["title"]
        for result in results
        if result["type"] is FlowResultType.CREATE_ENTRY
    ]
    assert added == ["Offline", URL(address).authority]
    assert {
        result["reason"] for result in results if result["type"] is FlowResultType.ABORT
    } == {"already_configured"}
    assert len(hass.config_entries.async_entries(DOMAIN)) == len(added)


async def test_a_server_is_added_with_the_model_that_was_chosen(
    hass: HomeAssistant, guarded_address: str
) -> None:
    step = await connect(hass, f" {guarded_address}/ ", "right-key")
    assert step["step_id"] == "model"
    assert models_in(step) == ["big-model", "scripted-model"]
    result = await add(hass, step, model="big-model")

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == URL(guarded_address).authority
    assert result["data"] == {
        CONF_KIND: "openai_chat",
        CONF_SERVER: "other",
        CONF_BASE_URL: guarded_address,
        CONF_API_KEY: "right-key",
    }
    agent = only_agent(result["result"])
    assert agent.title == "Chatterbox"
    assert agent.data == {
        CONF_MODEL: "big-model",
        CONF_LLM_HASS_API: ["assist"],
        CONF_PROMPT: llm.DEFAULT_INSTRUCTIONS_PROMPT,
    }
    assert not [*result["result"].get_subentries_of_type(SUBENTRY_AI_TASK)]
    assert result["result"].state is ConfigEntryState.LOADED


async def test_the_only_model_is_chosen_already(hass: HomeAssistant) -> None:
    async with serving_script(
        TALKING.model_copy(update={"models": ("the-one",)})
    ) as address:
        step = await connect(hass, address)

    assert suggested(step) == {CONF_MODEL: "the-one"}


async def test_the_same_server_with_the_same_key_is_set_up_once(
    hass: HomeAssistant, guarded_address: str
) -> None:
    await set_up(hass, server_entry(guarded_address, "right-key"))
    result = await connect(hass, guarded_address.removesuffix("/v1"), "right-key")

    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "already_configured"


async def test_the_same_server_with_another_key_is_another_service(
    hass: HomeAssistant, guarded_address: str
) -> None:
    await set_up(hass, server_entry(guarded_address, "one-key"))
    await set_up(hass, offline_entry())
    step = await connect(hass, guarded_address, "right-key")

    assert step["step_id"] == "model"


async def test_a_server_without_a_list_has_its_model_typed(hass: HomeAssistant) -> None:
    async with serving(with_list(GUARDED, 404, "{}")) as address:
        step = await connect(hass, address, "right-key")
        assert models_in(step) is None
        result = await add(hass, step, model="big-model")

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["result"].state is ConfigEntryState.LOADED
