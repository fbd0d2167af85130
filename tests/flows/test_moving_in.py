"""The dialog that copies an agent of another integration, in a real Home Assistant, against real servers."""

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import pytest
import yaml
from homeassistant.config_entries import ConfigFlowResult
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_PROMPT
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import DOMAIN, ENTRY_VERSION
from custom_components.chatterbox.flows.moving_in import ForeignAgent, foreign_agents
from tests.support.config_entries import only_agent, prepare, server_entry, set_up
from tests.support.servers.in_process import address_without_server, serving_script
from tests.support.service_dialogs import TALKING, submit, suggested

pytestmark = pytest.mark.usefixtures("socket_enabled")

FOREIGN = yaml.load(
    Path(__file__).with_name("foreign_agents.yaml").read_text(encoding="utf-8"),
    yaml.CSafeLoader,
)


def other_entry(
    hass: HomeAssistant,
    domain: str,
    data: Mapping[str, object],
    agent: Mapping[str, object] | None = None,
) -> MockConfigEntry:
    """Add an entry of another integration, with one agent."""
    subentries = [
        {
            "subentry_type": "conversation",
            "title": "Jeeves",
            "unique_id": None,
            "data": agent,
        }
    ]
    entry = MockConfigEntry(
        domain=domain,
        title="Other",
        data=data,
        subentries_data=() if agent is None else subentries,
    )
    entry.add_to_hass(hass)
    return entry


def only_foreign(hass: HomeAssistant) -> ForeignAgent:
    """Return the only agent that can be copied."""
    (agent,) = foreign_agents(hass)
    return agent


async def begin(hass: HomeAssistant) -> ConfigFlowResult:
    """Choose to copy the only agent."""
    await prepare(hass)
    menu = await hass.config_entries.flow.async_init(DOMAIN, context={"source": "user"})
    assert menu["type"] is FlowResultType.MENU
    step = await hass.config_entries.flow.async_configure(
        menu["flow_id"], {"next_step_id": "move_in"}
    )
    return await submit(hass, step, agent="0")


@pytest.mark.each_row
@pytest.mark.parametrize("domain", FOREIGN)
async def test_what_both_have_is_carried_over_and_the_rest_is_named(
    hass: HomeAssistant, domain: str
) -> None:
    other, stored_data = FOREIGN[domain], FOREIGN[domain]["kept"]
    other_entry(hass, domain, other["service"], other["options"])
    agent = only_foreign(hass)
    data = agent.data

    assert [agent.service.server, agent.service.kind, agent.service.base_url] == other[
        "server"
    ]
    assert agent.key == other["service"].get("api_key")
    assert {
        name: value for name, value in data.items() if name in stored_data
    } == stored_data
    assert data.keys() - stored_data.keys() <= {CONF_PROMPT}, (
        "Home Assistant's own instructions stand in for others"
    )
    assert [name.casefold() for name in await agent.async_left(hass)] == [
        name.casefold() for name in other["left"]
    ]


@pytest.mark.parametrize(
    ("domain", "known"),
    [
        ("openai_conversation", {"RECOMMENDED_CHAT_MODEL": "its-own"}),
        ("anthropic", {"DEFAULT": {"chat_model": "its-own"}}),
        (
            "google_generative_ai_conversation",
            {"RECOMMENDED_CHAT_MODEL": "models/its-own"},
        ),
    ],
)
async def test_a_model_that_was_never_chosen_is_that_of_the_integration_while_it_is_loaded(
    hass: HomeAssistant,
    monkeypatch: pytest.MonkeyPatch,
    domain: str,
    known: dict[str, object],
) -> None:
    other_entry(hass, domain, {"api_key": "k"}, {"recommended": True, "prompt": "Hm."})
    constants = ModuleType("const")
    constants.__dict__.update(known)
    monkeypatch.setitem(
        sys.modules, f"homeassistant.components.{domain}.const", constants
    )
    assert only_foreign(hass).data[CONF_MODEL] == "its-own"

    monkeypatch.delitem(sys.modules, f"homeassistant.components.{domain}.const")
    step = await begin(hass)
    assert suggested(step)[CONF_MODEL] == ""
    assert (await submit(hass, step, name="Butler", model=" ", take_key=True))[
        "errors"
    ] == {CONF_MODEL: "model_missing"}


async def test_agents_of_old_entries_are_read(hass: HomeAssistant) -> None:
    entry = other_entry(
        hass, "extended_openai_conversation", {"api_key": "k", "base_url": None}
    )
    assert not any(foreign_agents(hass)), "it has no agent"
    hass.config_entries.async_update_entry(
        entry, options={"chat_model": "gpt-5", "prompt": "Hm."}
    )
    agent = only_foreign(hass)

    assert agent.title == "Other"
    assert agent.service.base_url == "https://api.openai.com/v1"
    assert agent.data[CONF_MODEL] == "gpt-5"


@pytest.mark.parametrize(
    ("domain", "data", "reason"),
    [
        (
            "extended_openai_conversation",
            {"base_url": "https://user:pw@proxy.example/v1"},
            "url_with_secrets",
        ),
        (
            "extended_openai_conversation",
            {"base_url": "https://user@proxy.example/v1"},
            "url_with_secrets",
        ),
        (
            "extended_openai_conversation",
            {"base_url": "https://proxy.example/v1?key=abc"},
            "url_with_secrets",
        ),
        (
            "extended_openai_conversation",
            {"base_url": "https://proxy.example/v1?x-api-key=abc"},
            "url_with_secrets",
        ),
        (
            "extended_openai_conversation",
            {"base_url": "https://proxy.example/v1?a=1;sig=abc"},
            "url_with_secrets",
        ),
        ("extended_openai_conversation", {"base_url": "ftp://box"}, "invalid_url"),
        (
            "extended_openai_conversation",
            {"base_url": "http+unix://%2Frun%2Fmodel.sock/v1"},
            "invalid_url",
        ),
        (
            "extended_openai_conversation",
            {"base_url": "unix:/run/model.sock"},
            "invalid_url",
        ),
        (
            "extended_openai_conversation",
            {"base_url": "proxy.example/v1"},
            "invalid_url",
        ),
        (
            "extended_openai_conversation",
            {"base_url": "https://{{ host }}/v1"},
            "invalid_url",
        ),
        (
            "extended_openai_conversation",
            {"base_url": {"host": "proxy.example"}},
            "invalid_url",
        ),
        (
            "extended_openai_conversation",
            {"base_url": "https://home.openai.azure.com/", "api_version": "1"},
            "azure",
        ),
        (
            "extended_openai_conversation",
            {"base_url": "https://proxy.example/", "api_provider": "azure"},
            "azure",
        ),
        ("llama_cpp", {"base_url": "http://user:pw@box:8080/v1"}, "url_with_secrets"),
        ("llama_cpp", {}, "invalid_url"),
        ("ollama", {"url": "https://box/?token=abc"}, "url_with_secrets"),
        ("ollama", {"url": "unix:///run/ollama.sock"}, "invalid_url"),
        ("ollama", {}, "invalid_url"),
        (
            "openai_conversation",
            {"base_url": "https://proxy.example/v1"},
            "invalid_url",
        ),
        ("anthropic", {"endpoint": "https://proxy.example/v1"}, "invalid_url"),
    ],
)
async def test_an_address_that_cannot_be_carried_over_stops_the_copy(
    hass: HomeAssistant, domain: str, data: Mapping[str, object], reason: str
) -> None:
    agent = {"chat_model": "big-model", "model": "big-model", "prompt": "Hm."}
    other_entry(hass, domain, {"api_key": "of-the-proxy", **data}, agent)
    result = await begin(hass)

    assert (result["type"], result["reason"]) == (
        FlowResultType.ABORT,
        f"move_in_{reason}",
    )
    assert "of-the-proxy" not in str(result)
    assert "proxy.example" not in str(result)


async def test_a_copy_stops_when_the_address_becomes_unusable_while_its_form_is_open(
    hass: HomeAssistant, address: str
) -> None:
    entry = other_entry(
        hass,
        "llama_cpp",
        {"base_url": address, "api_key": "k"},
        {"chat_model": "big-model"},
    )
    step = await begin(hass)
    hass.config_entries.async_update_entry(
        entry, data={"base_url": f"{address}?key=k", "api_key": "k"}
    )
    result = await submit(hass, step, name="Butler", model="big-model", take_key=True)

    assert (result["type"], result["reason"]) == (
        FlowResultType.ABORT,
        "move_in_url_with_secrets",
    )


async def test_an_organization_that_is_billed_is_named_as_left_out(
    hass: HomeAssistant,
) -> None:
    other_entry(
        hass,
        "extended_openai_conversation",
        {"api_key": "k", "organization": "org-1"},
        {"chat_model": "gpt-5"},
    )
    assert await only_foreign(hass).async_left(hass) == ["organization"]


async def test_an_agent_is_copied_with_its_key_and_nothing_of_it_is_changed(
    hass: HomeAssistant,
) -> None:
    async with serving_script(
        TALKING.model_copy(update={"api_key": "right-key"})
    ) as address:
        stored = {
            "chat_model": "scripted-model",
            "prompt": "Be *brief*.",
            "llm_hass_api": ["assist"],
        }
        other = other_entry(
            hass, "llama_cpp", {"base_url": address, "api_key": "right-key"}, stored
        )
        step = await begin(hass)
        placeholders = step["description_placeholders"]
        assert placeholders is not None
        assert (placeholders["agent"], placeholders["left"]) == ("Jeeves", "–")  # noqa: RUF001  # a dash in a sentence
        without = await submit(hass, step, name="Butler", model="scripted-model")
        assert without["errors"]
        assert without["errors"]["api_key"] == "provider_rejected_key", (
            "nobody agreed to the use of the key"
        )
        result = await submit(
            hass, without, name=" Butler ", model=" scripted-model ", take_key=True
        )

    assert result["type"] is FlowResultType.CREATE_ENTRY
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    assert (entry.data["api_key"], entry.data["base_url"]) == ("right-key", address)
    agent = only_agent(entry)
    assert agent.title == "Butler"
    assert agent.data == {
        CONF_MODEL: "scripted-model",
        CONF_PROMPT: "Be *brief*.",
        CONF_LLM_HASS_API: ["assist"],
    }
    assert hass.states.get("conversation.butler")
    assert next(iter(other.subentries.values())).data == MappingProxyType(stored)


async def test_an_agent_of_an_integration_that_was_removed_can_still_be_copied(
    hass: HomeAssistant,
) -> None:
    other_entry(
        hass, "extended_openai_conversation", {"api_key": "k"}, {"chat_model": "gpt-5"}
    )
    other_entry(hass, "open_router", {"api_key": "k"}, {"model": "meta/llama"})
    await prepare(hass)
    menu = await hass.config_entries.flow.async_init(DOMAIN, context={"source": "user"})
    step = await hass.config_entries.flow.async_configure(
        menu["flow_id"], {"next_step_id": "move_in"}
    )

    assert step["data_schema"] is not None
    offered = [
        option["label"]
        for option in step["data_schema"].schema["agent"].config["options"]
    ]
    assert offered == [
        "Jeeves (OpenRouter: Other)",
        "Jeeves (extended_openai_conversation: Other)",
    ]
    assert suggested(await submit(hass, step, agent="1"))[CONF_MODEL] == "gpt-5"


async def test_a_copy_of_a_server_that_is_there_joins_its_service(
    hass: HomeAssistant, address: str
) -> None:
    entry = await set_up(hass, server_entry(address))
    other_entry(hass, "llama_cpp", {"base_url": address}, {"chat_model": "big-model"})
    result: Any = await submit(hass, await begin(hass), name=" ", model="big-model")
    await hass.async_block_till_done()

    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "moved_in")
    assert [agent.title for agent in entry.subentries.values()] == ["Talker", "Jeeves"]

    hass.config_entries.async_update_entry(entry, version=ENTRY_VERSION + 1)
    before = entry.as_dict()
    result = await submit(hass, await begin(hass), name=" ", model="big-model")
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "newer_entry")
    assert entry.as_dict() == before


async def test_a_window_that_is_small_for_the_home_is_told_once(
    hass: HomeAssistant,
) -> None:
    async with serving_script(
        TALKING.model_copy(update={"context_window": 700})
    ) as address:
        stored = {"chat_model": "big-model", "llm_hass_api": ["assist"]}
        other_entry(hass, "llama_cpp", {"base_url": address}, stored)
        step = await submit(hass, await begin(hass), name="Butler", model="big-model")
        assert step["errors"] == {"model": "model_warning"}
        assert "at most 700" in (step["description_placeholders"] or {})["warning"]
        assert not hass.config_entries.async_entries(DOMAIN)
        result = await submit(hass, step, name="Butler", model="big-model")
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_a_server_that_is_away_and_a_key_that_is_missing_are_told(
    hass: HomeAssistant,
) -> None:
    other_entry(
        hass,
        "llama_cpp",
        {"base_url": address_without_server()},
        {"chat_model": "big-model"},
    )
    refused = await submit(hass, await begin(hass), name="Butler", model="big-model")
    assert refused["errors"] == {"model": "provider_unreachable"}

    other_entry(hass, "open_router", {"api_key": "k"}, {"model": "meta/llama"})
    step = await submit(hass, await begin(hass), name="Butler", model="big-model")
    assert step["errors"] == {"api_key": "api_key_missing"}
    assert not hass.config_entries.async_entries(DOMAIN)
