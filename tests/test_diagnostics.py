"""What a person may attach to a report holds how things are set up, and no secret."""

import json
from http import HTTPStatus

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pydantic import JsonValue
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.agent.consent.pin import HashCost, PinHash
from tests.config_entries import offline_entry, only_agent, server_entry, set_up
from tests.servers.in_process import address_without_server, serving_script
from tests.servers.script import Script


@pytest.mark.usefixtures("socket_enabled")
async def test_diagnostics_hold_the_set_up_and_no_secret(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    assert await async_setup_component(hass, "diagnostics", {})
    async with serving_script(Script()) as address:
        entry = await set_up(hass, server_entry(address, "the-secret-key", prompt="My door code is 4711."))
    client = await hass_client()
    response = await client.get(f"/api/diagnostics/config_entry/{entry.entry_id}")

    assert response.status == HTTPStatus.OK
    data = (await response.json())["data"]
    assert data == {
        "version": "0.1.0",
        "entry": {
            "version": "1.1",
            "state": "loaded",
            "data": {"kind": "openai_chat", "base_url": address, "api_key": "**REDACTED**"},
        },
        "agents": [
            {
                "type": "conversation",
                "data": {"model": "scripted-model", "llm_hass_api": ["assist"], "prompt": "**REDACTED**"},
                "chain": [
                    {
                        "name": "Talker",
                        "circuit": "closed",
                        "failures": 0,
                        "last_error": None,
                        "seconds_until_probe": 0,
                    }
                ],
                "entities": [
                    {"entity_id": "conversation.talker", "disabled_by": None, "state": "unknown"},
                    {"entity_id": "sensor.talker_waiting_questions", "disabled_by": None, "state": "0"},
                ],
            }
        ],
    }
    text = json.dumps(await response.json())
    assert "the-secret-key" not in text
    assert "4711" not in text


async def test_diagnostics_show_the_rules_and_nothing_of_the_pin(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    assert await async_setup_component(hass, "diagnostics", {})
    entry = await set_up(hass, offline_entry())
    rules: list[JsonValue] = [{"verdict": "pin", "domains": ["lock"]}]
    pin = PinHash.of("739105", HashCost(memory=2, repeats=1)).as_json()
    hass.config_entries.async_update_subentry(
        entry, only_agent(entry), data={"rules": rules, "pin": pin, "notify": ["notify.phone"]}
    )
    client = await hass_client()
    response = await client.get(f"/api/diagnostics/config_entry/{entry.entry_id}")

    (agent,) = (await response.json())["data"]["agents"]
    assert agent["data"] == {"rules": rules, "pin": "**REDACTED**", "notify": ["notify.phone"]}
    text = await response.text()
    assert str(pin["digest"]) not in text
    assert str(pin["salt"]) not in text


@pytest.mark.usefixtures("socket_enabled")
async def test_diagnostics_tell_how_the_models_of_an_agent_are_doing(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    assert await async_setup_component(hass, "diagnostics", {})
    down = await set_up(hass, server_entry(address_without_server(), extra_parameters={"their_key": "secret"}))
    failed = await set_up(hass, server_entry(address_without_server(), llm_hass_api=[]))
    client = await hass_client()

    (agent,) = (await (await client.get(f"/api/diagnostics/config_entry/{down.entry_id}")).json())["data"]["agents"]
    assert agent["data"]["extra_parameters"] == "**REDACTED**"
    (link,) = agent["chain"]
    assert (link["circuit"], link["failures"], link["last_error"]) == ("open", 1, "ProviderUnreachable")
    data = (await (await client.get(f"/api/diagnostics/config_entry/{failed.entry_id}")).json())["data"]
    assert data["entry"]["state"] == "setup_retry"
    assert data["agents"][0]["chain"] == []
