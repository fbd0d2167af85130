"""The dialogs that change a service that is set up, and that ask for a new key."""

from types import MappingProxyType

import pytest
from homeassistant.config_entries import ConfigEntryState, ConfigSubentry
from homeassistant.const import CONF_API_KEY, CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from yarl import URL

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_KIND,
    CONF_SERVER,
    SUBENTRY_CONVERSATION,
)
from tests.support.config_entries import offline_entry, server_entry, set_up, state_of
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import (
    address_without_server,
    serving,
    serving_script,
    with_list,
)
from tests.support.service_dialogs import (
    GUARDED,
    PUBLIC_LIST,
    TALKING,
    change_server,
    submit,
    suggested,
)

pytestmark = pytest.mark.usefixtures("socket_enabled")


async def test_a_new_key_is_kept_while_the_server_is_away(hass: HomeAssistant) -> None:
    async with serving_script(GUARDED) as address:
        entry = await set_up(hass, server_entry(address, "old-key"))
    (flow,) = hass.config_entries.flow.async_progress()
    step = await submit(hass, flow, api_key="right-key")

    assert step["errors"] == {"base": "provider_unreachable"}
    assert suggested(step)[CONF_API_KEY]
    assert "right-key" not in suggested(step)[CONF_API_KEY]
    placeholders = step["description_placeholders"]
    assert placeholders is not None
    assert placeholders["name"] == "The server"
    assert placeholders["url"] == address
    assert placeholders["key_pages"] == "", "a server of one's own has no page for keys"
    assert entry.data[CONF_API_KEY] == "old-key"


async def test_an_address_can_be_changed_and_the_agents_stay(
    hass: HomeAssistant,
) -> None:
    async with (
        serving_script(TALKING) as old_address,
        serving_script(GUARDED) as new_address,
    ):
        entry = await set_up(hass, server_entry(old_address))
        agents = dict(entry.subentries)
        states: list[ConfigEntryState] = []
        entry.async_on_state_change(lambda: states.append(entry.state))
        step = await change_server(hass, entry)
        assert suggested(step) == {
            CONF_SERVER: "other",
            CONF_BASE_URL: old_address,
            "interface": {CONF_KIND: "openai_chat"},
        }
        result = await submit(hass, step, base_url=new_address, api_key="right-key")

        assert result["reason"] == "reconfigure_successful"
        assert entry.data == {
            CONF_KIND: "openai_chat",
            CONF_SERVER: "other",
            CONF_BASE_URL: new_address,
            CONF_API_KEY: "right-key",
        }
        assert entry.subentries == agents
        assert entry.state is ConfigEntryState.LOADED
        assert entry.title == "The server"
        assert states.count(ConfigEntryState.LOADED) == 1


async def test_an_entry_named_after_its_server_follows_it(hass: HomeAssistant) -> None:
    async with (
        serving_script(TALKING) as old_address,
        serving_script(TALKING) as new_address,
    ):
        entry = await set_up(hass, server_entry(old_address))
        hass.config_entries.async_update_entry(entry, title=URL(old_address).authority)
        await hass.async_block_till_done()
        await submit(hass, await change_server(hass, entry), base_url=new_address)
        await hass.async_block_till_done(wait_background_tasks=True)

        assert entry.title == URL(new_address).authority


async def test_reconfiguring_tries_the_key_where_the_list_is_public(
    hass: HomeAssistant,
) -> None:
    async with serving(with_list(GUARDED, 200, PUBLIC_LIST)) as address:
        entry = await set_up(hass, server_entry(address, "right-key"))
        step = await change_server(hass, entry)
        step = await submit(hass, step, base_url=address, api_key="wrong-key")

        assert step["step_id"] == "server"
        assert step["errors"] == {
            CONF_API_KEY: "provider_rejected_key",
            "base": "service_said",
        }
        assert entry.data[CONF_API_KEY] == "right-key"


async def test_reconfiguring_tries_one_model_that_is_there_and_no_more(
    hass: HomeAssistant,
) -> None:
    server = ScriptedChatCompletions(TALKING)
    async with serving(server.application()) as address:
        entry = await set_up(hass, server_entry(address, model="gone-model"))
        for model in ("gone-model", "big-model", "scripted-model"):
            agent = ConfigSubentry(
                data=MappingProxyType({CONF_MODEL: model}),
                subentry_type=SUBENTRY_CONVERSATION,
                title=model,
                unique_id=None,
            )
            hass.config_entries.async_add_subentry(entry, agent)
        await hass.async_block_till_done()
        await submit(hass, await change_server(hass, entry), base_url=address)

    assert [request.body["model"] for request in server.requests] == [
        "gone-model",
        "big-model",
    ]


async def test_an_entry_that_waits_for_its_server_comes_up_with_another_address(
    hass: HomeAssistant, address: str
) -> None:
    entry = await set_up(hass, server_entry(address_without_server(), llm_hass_api=[]))
    assert state_of(entry) is ConfigEntryState.SETUP_RETRY
    await submit(hass, await change_server(hass, entry), base_url=address)

    assert entry.state is ConfigEntryState.LOADED


async def test_a_service_does_not_become_another_that_is_set_up(
    hass: HomeAssistant,
) -> None:
    async with serving_script(TALKING) as one, serving_script(TALKING) as other:
        await set_up(hass, server_entry(one))
        entry = await set_up(hass, server_entry(other))
        result = await submit(hass, await change_server(hass, entry), base_url=one)

    assert result["reason"] == "already_configured"
    assert entry.data[CONF_BASE_URL] == other


async def test_the_only_gear_is_that_of_an_agent(hass: HomeAssistant) -> None:
    entry = await set_up(hass, server_entry("http://127.0.0.1:9/v1"))

    assert not entry.supports_options
    assert entry.supported_subentry_types[SUBENTRY_CONVERSATION]["supports_reconfigure"]


async def test_the_offline_service_has_options_only(hass: HomeAssistant) -> None:
    entry = await set_up(hass, offline_entry())

    result = await entry.start_reconfigure_flow(hass)

    assert result["type"] is FlowResultType.FORM
    assert result["step_id"] == "options"
