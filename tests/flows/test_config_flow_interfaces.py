"""The dialogs of a service over every interface: chosen with the server, found out when it is another, changed."""

import asyncio

import pytest
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import CONF_API_KEY
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from yarl import URL

from custom_components.chatterbox.const import CONF_BASE_URL, CONF_KIND, CONF_SERVER, ServiceKind
from custom_components.chatterbox.flows.service_form import INTERFACES, answering_interface, title_of
from custom_components.chatterbox.runtime.models import ModelServer
from tests.support.config_entries import server_entry, set_up
from tests.support.sentences import sentence
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.dialects import ScriptedMessages, ScriptedOllama, ScriptedResponses
from tests.support.servers.in_process import always, serving, serving_script
from tests.support.servers.model_server import ScriptedModelServer
from tests.support.service_dialogs import (
    GUARDED,
    TALKING,
    choose_server,
    is_open,
    models_in,
    open_dialog,
    submit,
    suggested,
)

pytestmark = pytest.mark.usefixtures("socket_enabled")

KINDS = [
    pytest.param("groq", ServiceKind.OPENAI_CHAT, ScriptedChatCompletions, id="chat"),
    pytest.param("openai", ServiceKind.OPENAI_RESPONSES, ScriptedResponses, id="responses"),
    pytest.param("anthropic", ServiceKind.ANTHROPIC_MESSAGES, ScriptedMessages, id="messages"),
    pytest.param("ollama", ServiceKind.OLLAMA_CHAT, ScriptedOllama, id="ollama"),
]


async def test_the_servers_that_people_use_are_offered_by_name(hass: HomeAssistant) -> None:
    menu = await open_dialog(hass)
    step = await hass.config_entries.flow.async_configure(menu["flow_id"], {"next_step_id": "server"})

    schema = step["data_schema"]
    assert schema is not None
    names = [option["label"] for option in schema.schema[CONF_SERVER].config["options"]]
    assert names[:2] == ["OpenAI", "Anthropic"]
    assert {"Ollama", "llama.cpp", "LM Studio", "Google Gemini"} < set(names)
    assert names[-1] == "Other"


@pytest.mark.parametrize(("server", "kind", "spoken"), KINDS)
async def test_a_server_is_added_over_the_interface_that_it_speaks_best(
    hass: HomeAssistant, server: str, kind: ServiceKind, spoken: type[ScriptedModelServer]
) -> None:
    async with serving_script(GUARDED, spoken) as address:
        step = await choose_server(hass, server)
        assert suggested(step)["interface"] == {CONF_KIND: kind.value}
        assert not is_open(step, "interface")
        step = await submit(hass, step, base_url=address, api_key="wrong-key")
        assert step["errors"] == {CONF_API_KEY: "provider_rejected_key"}
        step = await submit(hass, step, base_url=address, api_key="right-key")
        assert models_in(step) == ["big-model", "scripted-model"]
        refused = await submit(hass, step, model="gone-model")
        assert refused["errors"] == {"model": "model_not_found"}
        result = await submit(hass, step, model="big-model")

        assert result["type"] is FlowResultType.CREATE_ENTRY
        assert result["title"] == URL(address).authority
        assert result["data"] == {
            CONF_KIND: kind.value,
            CONF_SERVER: server,
            CONF_BASE_URL: address,
            CONF_API_KEY: "right-key",
        }
        assert result["result"].state is ConfigEntryState.LOADED


async def test_a_wrong_address_and_a_missing_key_are_told_at_once(hass: HomeAssistant) -> None:
    step = await submit(hass, await choose_server(hass, "groq"), base_url="api.groq.com")

    assert step["errors"] == {CONF_BASE_URL: "invalid_url", CONF_API_KEY: "api_key_missing"}


@pytest.mark.parametrize(
    ("server", "step_id", "address"),
    [
        ("openai", "cloud", "https://api.openai.com/v1"),
        ("ollama", "own_server", "http://localhost:11434"),
        ("other", "own_server", None),
    ],
)
async def test_the_usual_address_of_a_server_is_suggested(
    hass: HomeAssistant, server: str, step_id: str, address: str | None
) -> None:
    step = await choose_server(hass, server)

    assert step["step_id"] == step_id
    assert suggested(step).get(CONF_BASE_URL) == address


@pytest.mark.parametrize(
    ("service", "title"),
    [
        ({CONF_SERVER: "openai", CONF_BASE_URL: "https://api.openai.com/v1"}, "OpenAI"),
        ({CONF_SERVER: "openai", CONF_BASE_URL: "https://gateway.example/v1"}, "gateway.example"),
        ({CONF_SERVER: "ollama", CONF_BASE_URL: "http://192.168.1.10:11434"}, "192.168.1.10:11434"),
        ({CONF_BASE_URL: "https://api.mistral.ai/v1"}, "Mistral"),
        ({CONF_BASE_URL: "http://[fd00::1]:8080/v1"}, "[fd00::1]:8080"),
    ],
)
def test_a_service_is_named_after_its_product_or_its_machine(service: dict[str, str], title: str) -> None:
    assert title_of(service) == title


async def test_a_server_that_speaks_another_interface_is_told_from_one_that_is_not_there(hass: HomeAssistant) -> None:
    async with serving_script(TALKING, ScriptedOllama) as address:
        step = await choose_server(hass, "lm_studio")
        step = await submit(hass, step, base_url=address)
        assert step["errors"] == {"interface": "other_interface"}
        assert is_open(step, "interface")
        assert suggested(step)["interface"] == {CONF_KIND: "ollama_chat"}
        placeholders = step["description_placeholders"]
        assert placeholders is not None
        assert (placeholders["interface"], placeholders["other_interface"]) == ("Chat Completions", "Ollama")
        step = await submit(hass, step, base_url=address)
        result = await submit(hass, step, model="big-model")

    assert result["data"] == {CONF_KIND: "ollama_chat", CONF_SERVER: "lm_studio", CONF_BASE_URL: address}


async def test_an_interface_is_found_before_the_key_is(hass: HomeAssistant) -> None:
    async with serving_script(GUARDED) as address:
        step = await choose_server(hass, "ollama")
        step = await submit(hass, step, base_url=address)
        assert step["errors"] == {"interface": "other_interface"}
        step = await submit(hass, step, base_url=address)
        assert step["errors"] == {CONF_API_KEY: "provider_rejected_key"}
        step = await submit(hass, step, base_url=address, api_key="right-key")

    assert step["step_id"] == "model"


async def test_an_interface_that_only_lists_models_is_found_out_when_the_model_is_tried(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as address:
        step = await choose_server(hass, "openai")
        step = await submit(hass, step, base_url=address, api_key="any-key")
        assert step["step_id"] == "model"
        step = await submit(hass, step, model="big-model")
        assert step["step_id"] == "cloud"
        assert step["errors"] == {"interface": "other_interface"}
        assert suggested(step)["interface"] == {CONF_KIND: "openai_chat"}
        step = await submit(hass, step, **suggested(step))
        result = await submit(hass, step, model="big-model")

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"][CONF_KIND] == "openai_chat"
    assert result["data"][CONF_API_KEY] == "any-key"


async def test_the_model_itself_decides_which_interface_is_found(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as address:
        step = await choose_server(hass, "openai")  # would speak Responses best, and lists its models alike
        chosen = {CONF_KIND: "anthropic_messages"}
        step = await submit(hass, step, base_url=address, api_key="any-key", interface=chosen)
        step = await submit(hass, step, model="big-model")

    assert step["errors"] == {"interface": "other_interface"}
    assert suggested(step)["interface"] == {CONF_KIND: "openai_chat"}


async def test_what_speaks_no_interface_is_told_by_its_name(hass: HomeAssistant) -> None:
    async with serving(always(200, "<html>Hello</html>", "text/html")) as address:
        step = await submit(hass, await choose_server(hass, "ollama"), base_url=address)

    assert step["errors"] == {CONF_BASE_URL: "provider_reply_invalid"}
    placeholders = step["description_placeholders"]
    assert placeholders is not None
    assert placeholders["interface"] == "Ollama"
    assert suggested(step)["interface"] == {CONF_KIND: "ollama_chat"}


async def test_the_same_server_over_another_interface_is_another_service(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as address:
        await set_up(hass, server_entry(address, kind=ServiceKind.OPENAI_RESPONSES))
        step = await submit(hass, await choose_server(hass), base_url=address)

    assert step["step_id"] == "model"


async def test_an_address_of_ollama_is_known_again_however_it_is_typed(hass: HomeAssistant) -> None:
    async with serving_script(TALKING, ScriptedOllama) as address:
        await set_up(hass, server_entry(address, kind=ServiceKind.OLLAMA_CHAT))
        result = await submit(hass, await choose_server(hass, "ollama"), base_url=f"{address}/api/chat")

    assert result["reason"] == "already_configured"


@pytest.mark.parametrize(("server", "kind", "spoken"), KINDS)
async def test_a_new_key_is_tried_over_the_interface_of_its_service(
    hass: HomeAssistant, server: str, kind: ServiceKind, spoken: type[ScriptedModelServer]
) -> None:
    assert server  # the same kinds as above
    async with serving_script(GUARDED, spoken) as address:
        entry = await set_up(hass, server_entry(address, "old-key", kind, llm_hass_api=[]))
        (step,) = hass.config_entries.flow.async_progress()
        refused = await submit(hass, step, api_key="wrong-key")
        assert refused["errors"] == {CONF_API_KEY: "provider_rejected_key"}
        result = await submit(hass, step, api_key="right-key")

        assert result["reason"] == "reauth_successful"
        assert entry.data[CONF_API_KEY] == "right-key"
        assert entry.data[CONF_KIND] == kind
        assert entry.state is ConfigEntryState.LOADED


async def test_a_new_key_does_not_change_the_interface(hass: HomeAssistant) -> None:
    async with serving_script(GUARDED) as address:
        entry = await set_up(hass, server_entry(address, "old-key", llm_hass_api=[]))
        (step,) = hass.config_entries.flow.async_progress()
    url = URL(address)
    assert url.port is not None
    async with serving(ScriptedOllama(GUARDED).application(), port=url.port):
        step = await submit(hass, step, api_key="right-key")

    assert step["errors"] == {"base": "provider_reply_invalid"}
    assert entry.data[CONF_KIND] == "openai_chat"


@pytest.mark.parametrize(("server", "kind", "spoken"), KINDS)
async def test_a_service_becomes_another(
    hass: HomeAssistant, server: str, kind: ServiceKind, spoken: type[ScriptedModelServer]
) -> None:
    async with serving_script(TALKING) as old_address, serving_script(GUARDED, spoken) as new_address:
        entry = await set_up(hass, server_entry(old_address))
        result = await submit(
            hass,
            await entry.start_reconfigure_flow(hass),
            server=server,
            base_url=new_address,
            api_key="right-key",
            interface={CONF_KIND: kind.value},
        )

        assert result["reason"] == "reconfigure_successful"
        assert entry.data == {
            CONF_KIND: kind.value,
            CONF_SERVER: server,
            CONF_BASE_URL: new_address,
            CONF_API_KEY: "right-key",
        }
        assert entry.state is ConfigEntryState.LOADED


async def test_a_wrong_interface_is_found_out_by_the_models_that_agents_use(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as address:
        entry = await set_up(hass, server_entry(address))
        step = await entry.start_reconfigure_flow(hass)
        step = await submit(hass, step, base_url=address, interface={CONF_KIND: "openai_responses"})

    assert step["step_id"] == "reconfigure"
    assert step["errors"] == {"interface": "other_interface"}
    assert suggested(step)["interface"] == {CONF_KIND: "openai_chat"}
    assert entry.data[CONF_KIND] == "openai_chat"


@pytest.mark.parametrize("kind", INTERFACES)
def test_an_interface_is_chosen_by_the_name_that_errors_call_it(kind: ServiceKind) -> None:
    assert sentence(f"selector.interface.options.{kind}").startswith(f"{INTERFACES[kind]} (")


async def test_a_search_for_another_interface_has_an_end() -> None:
    asked = asyncio.Event()

    class SilentServer:
        """Takes every question, and answers none."""

        async def list_models(self) -> list[str]:
            asked.set()
            return await asyncio.Future()

        async def check(self) -> None:
            await asyncio.Future()

    servers: dict[ServiceKind, ModelServer] = {ServiceKind.OLLAMA_CHAT: SilentServer()}

    assert await answering_interface(servers, has_model=False, seconds=0.01) is None
    assert asked.is_set()
