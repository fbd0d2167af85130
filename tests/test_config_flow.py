"""The dialogs that add, change and re-authenticate a service, in a real Home Assistant, against real servers."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from homeassistant.config_entries import ConfigEntryState, ConfigFlowResult, ConfigSubentry
from homeassistant.const import CONF_API_KEY, CONF_LLM_HASS_API, CONF_MODEL, CONF_PROMPT
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import llm
from yarl import URL

from custom_components.chatterbox.const import CONF_BASE_URL, CONF_KIND, DOMAIN, SUBENTRY_CONVERSATION, ServiceKind
from tests.config_entries import offline_entry, only_agent, prepare, server_entry, set_up, state_of
from tests.servers.chat_completions import ScriptedChatCompletions
from tests.servers.in_process import (
    address_without_server,
    always,
    serving,
    serving_script,
    serving_untrusted_tls,
    with_list,
)
from tests.servers.script import Script, ScriptedFailure

pytestmark = pytest.mark.usefixtures("socket_enabled")

TALKING = Script(models=("big-model", "scripted-model"))
GUARDED = TALKING.model_copy(update={"api_key": "right-key"})
PUBLIC_LIST = '{"data": [{"id": "big-model"}]}'


async def open_dialog(hass: HomeAssistant) -> ConfigFlowResult:
    """Begin to add the integration."""
    await prepare(hass)
    return await hass.config_entries.flow.async_init(DOMAIN, context={"source": "user"})


async def choose(hass: HomeAssistant, kind: ServiceKind) -> ConfigFlowResult:
    """Begin to add the integration, and click a kind of service."""
    menu = await open_dialog(hass)
    return await hass.config_entries.flow.async_configure(menu["flow_id"], {"next_step_id": kind})


async def submit(hass: HomeAssistant, step: ConfigFlowResult, **fields: str) -> ConfigFlowResult:
    """Fill in a form and send it."""
    result = await hass.config_entries.flow.async_configure(step["flow_id"], dict(fields))
    await hass.async_block_till_done()
    return result


def suggested(step: ConfigFlowResult) -> Mapping[str, str]:
    """Return what a form shows in its fields."""
    schema = step["data_schema"]
    assert schema is not None
    return {marker.schema: marker.description["suggested_value"] for marker in schema.schema if marker.description}


def models_in(step: ConfigFlowResult) -> object:
    """Return the models that a form offers; None when it is a text field."""
    schema = step["data_schema"]
    assert schema is not None
    return schema.schema[CONF_MODEL].config.get("options")


async def test_one_click_adds_the_offline_service_with_an_agent(hass: HomeAssistant) -> None:
    result = await choose(hass, ServiceKind.OFFLINE)
    await hass.async_block_till_done()

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == "Offline"
    assert result["data"] == {CONF_KIND: "offline"}
    assert only_agent(result["result"]).title == "Chatterbox"
    assert result["result"].state is ConfigEntryState.LOADED


async def test_the_kinds_are_offered_as_a_menu(hass: HomeAssistant) -> None:
    menu = await open_dialog(hass)

    assert menu["type"] is FlowResultType.MENU
    assert menu["menu_options"] == ["offline", "openai_chat"]


async def test_a_second_offline_service_is_not_offered(hass: HomeAssistant) -> None:
    await set_up(hass, offline_entry())

    step = await open_dialog(hass)

    assert step["step_id"] == "openai_chat"


async def test_a_second_offline_service_is_refused(hass: HomeAssistant) -> None:
    menu = await open_dialog(hass)
    await set_up(hass, offline_entry())

    result = await hass.config_entries.flow.async_configure(menu["flow_id"], {"next_step_id": "offline"})

    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "already_configured"


async def test_a_server_is_added_with_the_model_that_was_chosen(hass: HomeAssistant) -> None:
    async with serving_script(GUARDED) as address:
        step = await choose(hass, ServiceKind.OPENAI_CHAT)
        step = await submit(hass, step, base_url=f" {address}/ ", api_key="right-key")
        assert step["step_id"] == "model"
        assert models_in(step) == ["big-model", "scripted-model"]
        result = await submit(hass, step, model="big-model")

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == URL(address).authority
    assert result["data"] == {CONF_KIND: "openai_chat", CONF_BASE_URL: address, CONF_API_KEY: "right-key"}
    agent = only_agent(result["result"])
    assert agent.title == "big-model"
    assert agent.data == {
        CONF_MODEL: "big-model",
        CONF_LLM_HASS_API: ["assist"],
        CONF_PROMPT: llm.DEFAULT_INSTRUCTIONS_PROMPT,
        "max_iterations": 10,
        "max_tool_calls": 32,
        "deadline": 60,
        "tool_timeout": 30,
    }
    assert result["result"].state is ConfigEntryState.LOADED


async def test_a_server_without_a_key_is_added_without_one(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as address:
        step = await submit(hass, await choose(hass, ServiceKind.OPENAI_CHAT), base_url=address)
        result = await submit(hass, step, model="big-model")

    assert result["data"] == {CONF_KIND: "openai_chat", CONF_BASE_URL: address}


async def test_the_only_model_is_chosen_already(hass: HomeAssistant) -> None:
    async with serving_script(TALKING.model_copy(update={"models": ("the-one",)})) as address:
        step = await submit(hass, await choose(hass, ServiceKind.OPENAI_CHAT), base_url=address)

    assert suggested(step) == {CONF_MODEL: "the-one"}


@pytest.mark.parametrize(
    ("typed", "error"),
    [
        ("192.168.1.10:11434", "invalid_url"),
        ("ftp://192.168.1.10", "invalid_url"),
        ("http://", "invalid_url"),
        ("http://[::1", "invalid_url"),
        ("http://somebody:secret@192.168.1.10/v1", "url_with_secrets"),
        ("http://192.168.1.10/v1?api-key=secret", "url_with_secrets"),
    ],
)
async def test_an_address_that_is_none_is_refused_and_kept(hass: HomeAssistant, typed: str, error: str) -> None:
    step = await submit(hass, await choose(hass, ServiceKind.OPENAI_CHAT), base_url=typed)

    assert step["errors"] == {CONF_BASE_URL: error}
    assert suggested(step)[CONF_BASE_URL] == typed


@pytest.mark.parametrize(
    ("status", "body", "content_type", "errors"),
    [
        (401, '{"error": "no"}', "application/json", {CONF_API_KEY: "provider_rejected_key"}),
        (403, '{"error": "no"}', "application/json", {CONF_API_KEY: "provider_rejected_key"}),
        (404, "<html>Not found</html>", "text/html", {CONF_BASE_URL: "provider_reply_invalid"}),
        (200, "<html>Hello</html>", "text/html", {CONF_BASE_URL: "provider_reply_invalid"}),
        (429, '{"error": "slow down"}', "application/json", {CONF_BASE_URL: "provider_busy"}),
        (500, '{"error": "oops"}', "application/json", {CONF_BASE_URL: "provider_unreachable"}),
        (418, '{"error": "teapot"}', "application/json", {CONF_BASE_URL: "provider_rejected_request"}),
    ],
)
async def test_each_answer_of_a_server_that_does_not_work_has_its_error(
    hass: HomeAssistant, status: int, body: str, content_type: str, errors: dict[str, str]
) -> None:
    async with serving(always(status, body, content_type)) as address:
        step = await submit(hass, await choose(hass, ServiceKind.OPENAI_CHAT), base_url=address)

    assert step["step_id"] == "openai_chat"
    assert step["errors"] == errors


async def test_an_address_where_nothing_answers_is_an_error(hass: HomeAssistant) -> None:
    address = address_without_server()
    step = await submit(hass, await choose(hass, ServiceKind.OPENAI_CHAT), base_url=address)

    assert step["errors"] == {CONF_BASE_URL: "provider_unreachable"}
    assert step["description_placeholders"] == {"url": address, "example_url": "http://192.168.1.10:11434/v1"}


async def test_a_certificate_that_is_not_trusted_is_an_error(hass: HomeAssistant, tmp_path: Path) -> None:
    with serving_untrusted_tls(tmp_path) as address:
        step = await submit(hass, await choose(hass, ServiceKind.OPENAI_CHAT), base_url=address)

    assert step["errors"] == {CONF_BASE_URL: "certificate_invalid"}


async def test_https_where_http_is_spoken_is_an_error(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as address:
        wrong = address.replace("http://", "https://")
        step = await submit(hass, await choose(hass, ServiceKind.OPENAI_CHAT), base_url=wrong)

    assert step["errors"] == {CONF_BASE_URL: "no_tls"}


async def test_after_a_wrong_address_the_right_one_works_and_the_key_is_kept(hass: HomeAssistant) -> None:
    step = await choose(hass, ServiceKind.OPENAI_CHAT)
    step = await submit(hass, step, base_url=address_without_server(), api_key="right-key")
    shown = suggested(step)[CONF_API_KEY]
    assert "right-key" not in shown
    async with serving_script(GUARDED) as address:
        step = await submit(hass, step, base_url=address, api_key=shown)
        result = await submit(hass, step, model="big-model")

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"][CONF_API_KEY] == "right-key"


async def test_a_refused_key_is_not_kept_in_the_form(hass: HomeAssistant) -> None:
    async with serving_script(GUARDED) as address:
        step = await choose(hass, ServiceKind.OPENAI_CHAT)
        step = await submit(hass, step, base_url=address, api_key="wrong-key")

    assert step["errors"] == {CONF_API_KEY: "provider_rejected_key"}
    assert suggested(step) == {CONF_BASE_URL: address}


@pytest.mark.parametrize("key", ["two words", "schlüssel", "•••", "line\nbreak"])
async def test_what_cannot_be_a_key_is_refused(hass: HomeAssistant, key: str) -> None:
    step = await choose(hass, ServiceKind.OPENAI_CHAT)
    step = await submit(hass, step, base_url=address_without_server(), api_key=key)

    assert step["errors"] == {CONF_API_KEY: "api_key_malformed"}


async def test_a_key_pasted_beside_the_dots_is_a_new_key(hass: HomeAssistant) -> None:
    step = await choose(hass, ServiceKind.OPENAI_CHAT)
    step = await submit(hass, step, base_url=address_without_server(), api_key="old-key")
    dots = suggested(step)[CONF_API_KEY]
    async with serving_script(GUARDED) as address:
        step = await submit(hass, step, base_url=address, api_key=f"{dots}right-key")

    assert step["step_id"] == "model"


async def test_the_same_server_with_the_same_key_is_set_up_once(hass: HomeAssistant) -> None:
    async with serving_script(GUARDED) as address:
        await set_up(hass, server_entry(address, "right-key"))
        step = await choose(hass, ServiceKind.OPENAI_CHAT)
        typed = address.removesuffix("/v1")
        result = await submit(hass, step, base_url=typed, api_key="right-key")

    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "already_configured"


async def test_the_same_server_with_another_key_is_another_service(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as address:
        await set_up(hass, server_entry(address, "one-key"))
        await set_up(hass, offline_entry())
        step = await open_dialog(hass)
        step = await submit(hass, step, base_url=address, api_key="other-key")

    assert step["step_id"] == "model"


async def test_a_server_without_a_list_has_its_model_typed(hass: HomeAssistant) -> None:
    async with serving(with_list(GUARDED, 404, "{}")) as address:
        step = await choose(hass, ServiceKind.OPENAI_CHAT)
        step = await submit(hass, step, base_url=address, api_key="right-key")
        assert models_in(step) is None
        result = await submit(hass, step, model="big-model")

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["result"].state is ConfigEntryState.LOADED


async def test_a_key_that_is_only_looked_at_when_the_model_talks_can_be_mended(hass: HomeAssistant) -> None:
    async with serving(with_list(GUARDED, 200, PUBLIC_LIST)) as address:
        step = await choose(hass, ServiceKind.OPENAI_CHAT)
        step = await submit(hass, step, base_url=address, api_key="wrong-key")
        step = await submit(hass, step, model="big-model")
        assert step["step_id"] == "openai_chat"
        assert step["errors"] == {CONF_API_KEY: "provider_rejected_key"}
        step = await submit(hass, step, base_url=address, api_key="right-key")
        result = await submit(hass, step, model="big-model")

    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_a_model_that_does_not_exist_is_refused_and_kept(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as address:
        step = await submit(hass, await choose(hass, ServiceKind.OPENAI_CHAT), base_url=address)
        step = await submit(hass, step, model="no-such-model")

    assert step["step_id"] == "model"
    assert step["errors"] == {CONF_MODEL: "model_not_found"}
    assert suggested(step) == {CONF_MODEL: "no-such-model"}


async def test_a_model_of_spaces_is_refused(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as address:
        step = await submit(hass, await choose(hass, ServiceKind.OPENAI_CHAT), base_url=address)
        step = await submit(hass, step, model="  ")

    assert step["errors"] == {CONF_MODEL: "model_missing"}


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (ScriptedFailure(status=429, body={"error": "slow down"}), "provider_busy"),
        (ScriptedFailure(status=500, body={"error": "oops"}), "provider_unreachable"),
        (ScriptedFailure(status=400, body={"error": "this is for embeddings"}), "provider_rejected_request"),
    ],
)
async def test_a_model_that_does_not_talk_is_refused(hass: HomeAssistant, failure: ScriptedFailure, error: str) -> None:
    async with serving_script(TALKING.model_copy(update={"trial_answer": failure})) as address:
        step = await submit(hass, await choose(hass, ServiceKind.OPENAI_CHAT), base_url=address)
        step = await submit(hass, step, model="big-model")

    assert step["errors"] == {CONF_MODEL: error}


async def test_a_new_key_brings_an_entry_back(hass: HomeAssistant) -> None:
    async with serving_script(GUARDED) as address:
        entry = await set_up(hass, server_entry(address, "old-key"))
        assert state_of(entry) is ConfigEntryState.SETUP_ERROR
        (step,) = hass.config_entries.flow.async_progress()
        assert step["step_id"] == "reauth_confirm"
        refused = await submit(hass, step, api_key="wrong-key")
        assert refused["errors"] == {CONF_API_KEY: "provider_rejected_key"}
        result = await submit(hass, step, api_key="right-key")

        assert result["reason"] == "reauth_successful"
        assert entry.data[CONF_API_KEY] == "right-key"
        assert entry.state is ConfigEntryState.LOADED
        assert len(entry.subentries) == 1


async def test_a_new_key_is_kept_while_the_server_is_away(hass: HomeAssistant) -> None:
    async with serving_script(GUARDED) as address:
        entry = await set_up(hass, server_entry(address, "old-key"))
    (flow,) = hass.config_entries.flow.async_progress()
    step = await submit(hass, flow, api_key="right-key")

    assert step["errors"] == {"base": "provider_unreachable"}
    assert suggested(step)[CONF_API_KEY]
    assert "right-key" not in suggested(step)[CONF_API_KEY]
    assert step["description_placeholders"] == {"name": "The server", "url": address}
    assert entry.data[CONF_API_KEY] == "old-key"


async def test_an_address_can_be_changed_and_the_agents_stay(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as old_address, serving_script(GUARDED) as new_address:
        entry = await set_up(hass, server_entry(old_address))
        agents = dict(entry.subentries)
        states: list[ConfigEntryState] = []
        entry.async_on_state_change(lambda: states.append(entry.state))
        step = await entry.start_reconfigure_flow(hass)
        assert suggested(step) == {CONF_BASE_URL: old_address}
        result = await submit(hass, step, base_url=new_address, api_key="right-key")

        assert result["reason"] == "reconfigure_successful"
        assert entry.data == {CONF_KIND: "openai_chat", CONF_BASE_URL: new_address, CONF_API_KEY: "right-key"}
        assert entry.subentries == agents
        assert entry.state is ConfigEntryState.LOADED
        assert entry.title == "The server"
        assert states.count(ConfigEntryState.LOADED) == 1


async def test_an_entry_named_after_its_server_follows_it(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as old_address, serving_script(TALKING) as new_address:
        entry = await set_up(hass, server_entry(old_address))
        hass.config_entries.async_update_entry(entry, title=URL(old_address).authority)
        await hass.async_block_till_done()
        await submit(hass, await entry.start_reconfigure_flow(hass), base_url=new_address)

        assert entry.title == URL(new_address).authority


async def test_a_stored_key_is_never_shown_and_kept_by_its_dots(hass: HomeAssistant) -> None:
    async with serving_script(GUARDED) as address:
        entry = await set_up(hass, server_entry(address, "right-key"))
        step = await entry.start_reconfigure_flow(hass)
        assert "right-key" not in json.dumps(suggested(step))
        result = await submit(hass, step, **suggested(step))

    assert result["reason"] == "reconfigure_successful"
    assert entry.data[CONF_API_KEY] == "right-key"


async def test_a_stored_key_can_be_removed(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as address:
        entry = await set_up(hass, server_entry(address, "right-key"))
        await submit(hass, await entry.start_reconfigure_flow(hass), base_url=address)

    assert CONF_API_KEY not in entry.data


async def test_reconfiguring_tries_the_key_where_the_list_is_public(hass: HomeAssistant) -> None:
    async with serving(with_list(GUARDED, 200, PUBLIC_LIST)) as address:
        entry = await set_up(hass, server_entry(address, "right-key"))
        step = await entry.start_reconfigure_flow(hass)
        step = await submit(hass, step, base_url=address, api_key="wrong-key")

        assert step["step_id"] == "reconfigure"
        assert step["errors"] == {CONF_API_KEY: "provider_rejected_key"}
        assert entry.data[CONF_API_KEY] == "right-key"


async def test_reconfiguring_tries_one_model_that_is_there_and_no_more(hass: HomeAssistant) -> None:
    server = ScriptedChatCompletions(TALKING)
    async with serving(server.application()) as address:
        entry = await set_up(hass, server_entry(address, **{CONF_MODEL: "gone-model"}))
        for model in ("big-model", "scripted-model"):
            agent = ConfigSubentry(
                data=MappingProxyType({CONF_MODEL: model}),
                subentry_type=SUBENTRY_CONVERSATION,
                title=model,
                unique_id=None,
            )
            hass.config_entries.async_add_subentry(entry, agent)
        await hass.async_block_till_done()
        await submit(hass, await entry.start_reconfigure_flow(hass), base_url=address)

    assert [request.body["model"] for request in server.requests] == ["gone-model", "big-model"]


async def test_an_agent_whose_model_is_gone_does_not_keep_a_server_from_being_changed(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as address:
        entry = await set_up(hass, server_entry(address, **{CONF_MODEL: "gone-model"}))
        result = await submit(hass, await entry.start_reconfigure_flow(hass), base_url=address, api_key="new-key")

    assert result["reason"] == "reconfigure_successful"


async def test_an_entry_that_waits_for_its_server_comes_up_with_another_address(hass: HomeAssistant) -> None:
    entry = await set_up(hass, server_entry(address_without_server()))
    assert state_of(entry) is ConfigEntryState.SETUP_RETRY
    async with serving_script(TALKING) as address:
        await submit(hass, await entry.start_reconfigure_flow(hass), base_url=address)

        assert entry.state is ConfigEntryState.LOADED


async def test_a_service_does_not_become_another_that_is_set_up(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as one, serving_script(TALKING) as other:
        await set_up(hass, server_entry(one))
        entry = await set_up(hass, server_entry(other))
        result = await submit(hass, await entry.start_reconfigure_flow(hass), base_url=one)

    assert result["reason"] == "already_configured"
    assert entry.data[CONF_BASE_URL] == other


async def test_the_offline_service_has_nothing_to_change(hass: HomeAssistant) -> None:
    entry = await set_up(hass, offline_entry())

    result = await entry.start_reconfigure_flow(hass)

    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "offline_needs_no_settings"
