"""The dialogs of a service over every interface: chosen with the server, found out when it is another, changed."""

import pytest
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import CONF_API_KEY
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from yarl import URL

from custom_components.chatterbox.agent.providers.profiles import PROFILES
from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_KIND,
    CONF_SERVER,
    ServiceKind,
)
from custom_components.chatterbox.flows.service_form import INTERFACES
from tests.support.config_entries import server_entry, set_up
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.dialects import ScriptedMessages, ScriptedOllama
from tests.support.servers.in_process import always, serving, serving_script
from tests.support.servers.model_server import ScriptedModelServer
from tests.support.service_dialogs import (
    GUARDED,
    TALKING,
    add,
    change_server,
    choose_internet,
    connect,
    connect_internet,
    models_in,
    submit,
)
from tests.support.tasks import SERVERS

pytestmark = pytest.mark.usefixtures("socket_enabled")
KEY_REFUSED = {CONF_API_KEY: "provider_rejected_key", "base": "service_said"}
KINDS = [
    (
        next(one.id for one in PROFILES.values() if one.wire.value == kind),
        kind,
        SERVERS[kind],
    )
    for kind in INTERFACES
]


@pytest.mark.parametrize(
    ("server", "kind", "spoken"), [one for one in KINDS if PROFILES[one[0]].host]
)
async def test_a_service_is_added_over_the_interface_that_it_speaks_best(
    hass: HomeAssistant,
    server: str,
    kind: ServiceKind,
    spoken: type[ScriptedModelServer],
) -> None:
    async with serving_script(GUARDED, spoken) as address:
        step = await connect_internet(hass, server, address, "wrong-key")
        assert step["errors"] == KEY_REFUSED
        step = await submit(hass, step, api_key="right-key")
        assert models_in(step) == ["big-model", "scripted-model"]
        refused = await submit(hass, step, model="gone-model")
        assert refused["errors"] == {"model": "model_not_found", "base": "service_said"}
        result = await add(hass, step, model="big-model")

        assert result["type"] is FlowResultType.CREATE_ENTRY
        assert result["data"] == {
            CONF_KIND: kind.value,
            CONF_SERVER: server,
            CONF_BASE_URL: address,
            CONF_API_KEY: "right-key",
        }
        assert result["result"].state is ConfigEntryState.LOADED


async def test_a_missing_key_is_told_at_once(hass: HomeAssistant) -> None:
    step = await submit(hass, await choose_internet(hass), server="groq")

    assert step["errors"] == {CONF_API_KEY: "api_key_missing"}


async def test_a_server_of_ollama_is_known_by_its_address_alone(
    hass: HomeAssistant,
) -> None:
    async with serving_script(GUARDED, ScriptedOllama) as address:
        step = await connect(hass, address.removeprefix("http://"), "right-key")
        result = await add(hass, step, model="big-model")

        assert result["title"] == f"Ollama on {URL(address).authority}"
        assert result["data"] == {
            CONF_KIND: "ollama_chat",
            CONF_SERVER: "ollama",
            CONF_BASE_URL: address,
            CONF_API_KEY: "right-key",
        }
        assert result["result"].state is ConfigEntryState.LOADED


async def test_another_interface_of_a_server_is_found(hass: HomeAssistant) -> None:
    async with serving_script(TALKING, ScriptedMessages) as address:
        step = await connect_internet(hass, "mistral", address, "any-key")
        result = await add(hass, step, model="big-model")

    assert result["data"][CONF_KIND] == "anthropic_messages"


async def test_an_address_without_a_version_is_found(hass: HomeAssistant) -> None:
    class Versionless(ScriptedChatCompletions):
        """Answers beside `/inference`, and has no list of models, as GitHub Models does."""

        base_path, models_path, answer_path = (
            "/inference",
            "/elsewhere",
            "/inference/chat/completions",
        )

    async with serving_script(GUARDED, Versionless) as address:
        refused = await connect(hass, address, "wrong-key")
        assert refused["errors"] == KEY_REFUSED
        step = await submit(hass, refused, base_url=address, api_key="right-key")
        assert models_in(step) is None
        result = await add(hass, step, model="big-model")

    assert result["data"][CONF_BASE_URL] == f"{address}/chat/completions"
    assert result["title"] == f"{URL(address).authority}/inference"
    assert result["result"].state is ConfigEntryState.LOADED


async def test_an_interface_that_only_lists_models_is_found_out_when_the_model_is_tried(
    hass: HomeAssistant, address: str
) -> None:
    step = await connect_internet(hass, "openai", address, "any-key")
    assert step["step_id"] == "model"
    result = await add(hass, step, model="big-model")

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"][CONF_KIND] == "openai_chat"
    assert result["data"][CONF_API_KEY] == "any-key"


async def test_what_speaks_no_interface_is_told_by_its_name(
    hass: HomeAssistant,
) -> None:
    async with serving(always(200, "<html>Hello</html>", "text/html")) as address:
        step = await connect(hass, address)

    assert step["errors"] == {CONF_BASE_URL: "provider_reply_invalid"}
    placeholders = step["description_placeholders"]
    assert placeholders is not None
    assert placeholders["interface"] == "Chat Completions"


async def test_the_same_server_over_another_interface_is_another_service(
    hass: HomeAssistant, address: str
) -> None:
    await set_up(hass, server_entry(address, kind=ServiceKind.OPENAI_RESPONSES))
    step = await connect(hass, address)

    assert step["step_id"] == "model"


async def test_an_address_of_ollama_is_known_again_however_it_is_typed(
    hass: HomeAssistant,
) -> None:
    async with serving_script(TALKING, ScriptedOllama) as address:
        await set_up(hass, server_entry(address, kind=ServiceKind.OLLAMA_CHAT))
        result = await connect(hass, f"{address}/api/chat")

    assert result["reason"] == "already_configured"


@pytest.mark.parametrize(("server", "kind", "spoken"), KINDS)
async def test_a_new_key_is_tried_over_the_interface_of_its_service(
    hass: HomeAssistant,
    server: str,
    kind: ServiceKind,
    spoken: type[ScriptedModelServer],
) -> None:
    assert server  # the same kinds as above
    async with serving_script(GUARDED, spoken) as address:
        entry = await set_up(
            hass, server_entry(address, "old-key", kind, llm_hass_api=[])
        )
        (step,) = hass.config_entries.flow.async_progress()
        refused = await submit(hass, step, api_key="wrong-key")
        assert refused["errors"] == KEY_REFUSED
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
    hass: HomeAssistant,
    server: str,
    kind: ServiceKind,
    spoken: type[ScriptedModelServer],
) -> None:
    async with (
        serving_script(TALKING) as old_address,
        serving_script(GUARDED, spoken) as new_address,
    ):
        entry = await set_up(hass, server_entry(old_address))
        result = await submit(
            hass,
            await change_server(hass, entry),
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


async def test_a_wrong_interface_is_found_out_by_the_models_that_agents_use(
    hass: HomeAssistant, address: str
) -> None:
    entry = await set_up(hass, server_entry(address))
    step = await change_server(hass, entry)
    result = await submit(
        hass, step, base_url=address, interface={CONF_KIND: "openai_responses"}
    )

    assert result["reason"] == "reconfigure_successful"
    assert entry.data[CONF_KIND] == "openai_chat"
