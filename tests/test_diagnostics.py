"""Diagnostics hold the setup and the last turns of agents, and no secret."""

import json
import sqlite3
from contextlib import closing
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

import pytest
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.const import __version__
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.loader import async_get_integration
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.agent.events import (
    ProviderSwitched,
    StopReason,
    ToolCallReady,
    ToolFinished,
    TurnEvent,
    TurnFinished,
)
from custom_components.chatterbox.agent.messages import ToolCall, ToolResult, Usage
from custom_components.chatterbox.const import (
    CONF_DIAGNOSE_WORDS,
    CONF_HISTORY_ADDRESS,
    DOMAIN,
)
from custom_components.chatterbox.history.store.query import Selection
from custom_components.chatterbox.history.store.records import StoreUnavailable
from custom_components.chatterbox.history.stores import async_get_histories
from custom_components.chatterbox.records.turn_record import SIGNAL_TURN, TurnRecord
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from tests.history.store.records import response, turn
from tests.support.config_entries import offline_entry, only_agent, server_entry, set_up
from tests.support.servers.in_process import address_without_server, serving_script
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedUsage
from tests.support.talk import LIGHT_ON, Serve, say


@pytest.fixture(autouse=True)
async def _diagnostics(hass: HomeAssistant) -> None:
    assert await async_setup_component(hass, "diagnostics", {})


async def download(
    hass_client: ClientSessionGenerator, entry: ConfigEntry, device_id: str = ""
) -> dict[str, Any]:
    """Return what a person downloads from the page of a service, or from that of a device."""
    client = await hass_client()
    response = await client.get(
        f"/api/diagnostics/config_entry/{entry.entry_id}"
        + (f"/device/{device_id}" if device_id else "")
    )
    assert response.status == HTTPStatus.OK
    data: dict[str, Any] = (await response.json())["data"]
    return data


async def test_rules_that_cannot_be_read_are_not_told_as_none(
    hass: HomeAssistant,
    hass_storage: dict[str, object],
    hass_client: ClientSessionGenerator,
) -> None:
    hass_storage["chatterbox.home_rules"] = {"version": 1, "data": 5}
    data = await download(hass_client, await set_up(hass, offline_entry()))

    assert (data["unreadable_files"], data["home_rules"]) == (["home_rules"], None)


async def test_diagnostics_hold_the_set_up_and_no_secret(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    async with serving_script(Script()) as address:
        entry = await set_up(
            hass,
            server_entry(address, "the-secret-key", prompt="My door code is 4711."),
        )
    data = await download(hass_client, entry)

    (agent,) = data["agents"]
    prompt, entities = agent.pop("prompt_tokens"), agent.pop("entities")
    database = hass.config.path("chatterbox.db")
    integration = await async_get_integration(hass, DOMAIN)
    assert data == {
        "versions": {"chatterbox": integration.version, "home_assistant": __version__},
        "entry": {
            "title": "The server",
            "version": "2.1",
            "state": "loaded",
            "data": {
                "kind": "openai_chat",
                "base_url": address,
                "api_key": "**REDACTED**",
            },
            "options": {},
        },
        "unreadable_files": [],
        "home_rules": {},
        "history": {
            "database": database,
            "trouble": None,
            "waiting": 0,
            "dropped": 0,
            "put_aside": None,
            "responses": {"count": 0, "megabytes": 0.0},
        },
        "agents": [agent],
    }
    assert agent == {
        "title": "Talker",
        "type": "conversation",
        "data": {
            "model": "scripted-model",
            "llm_hass_api": ["assist"],
            "local_commands": "never",
            "prompt": "**REDACTED**",
        },
        "chain": [
            {
                "name": "Talker",
                "circuit": "closed",
                "failures": 0,
                "last_error": None,
                "seconds_until_probe": 0,
                "read_ahead": None,
            }
        ],
        "turns": [],
    }
    assert {
        "entity_id": "conversation.talker",
        "disabled_by": None,
        "state": "unknown",
    } in entities
    assert {
        "entity_id": "sensor.talker_waiting_questions",
        "disabled_by": None,
        "state": "0",
    } in entities
    assert prompt["total"] == prompt["instructions"] + prompt["home"] + prompt["tools"]
    assert prompt["tools"] == sum(tool["tokens"] for tool in prompt["each_tool"])
    assert "HassTurnOn" in {tool["name"] for tool in prompt["each_tool"]}
    assert "4711" not in json.dumps([data, prompt])


async def test_a_device_shows_its_agent_alone(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    entry = await set_up(hass, offline_entry())
    other = ConfigSubentry(
        data=MappingProxyType({}),
        subentry_type="conversation",
        title="Other",
        unique_id=None,
    )
    hass.config_entries.async_add_subentry(entry, other)
    await hass.async_block_till_done()
    device = dr.async_get(hass).async_get_device_by_identifier(
        (DOMAIN, other.subentry_id), entry.entry_id
    )
    assert device

    agents = (await download(hass_client, entry))["agents"]
    assert [(agent["title"], agent["prompt_tokens"]) for agent in agents] == [
        ("Talker", None),
        ("Other", None),
    ]
    assert [
        agent["title"]
        for agent in (await download(hass_client, entry, device.id))["agents"]
    ] == ["Other"]


async def test_the_last_turns_are_shown_without_words(
    hass: HomeAssistant, hass_client: ClientSessionGenerator, serve: Serve
) -> None:
    usage = ScriptedUsage(prompt_tokens=2000, completion_tokens=20, cached_tokens=1500)
    first = ScriptedAnswer(tool_calls=(LIGHT_ON,), usage=usage)
    await serve(Script(answers=(first, ScriptedAnswer(content="The pendant shines."))))
    await say(hass, "Make it bright in the kitchen")
    (entry,) = hass.config_entries.async_entries(DOMAIN)

    data = await download(hass_client, entry)
    (turn,) = data["agents"][0]["turns"]
    assert (turn["conversation_id"], turn["stop_reason"], turn["iterations"]) == (
        "kitchen-talk",
        "completed",
        2,
    )
    assert [
        (one["answered_by"], one["cache_hit_percent"]) for one in turn["inferences"]
    ] == [
        ("Talker", 75),
        ("Talker", None),
    ]
    assert [(tool["name"], tool["is_error"]) for tool in turn["tools"]] == [
        ("intent__HassTurnOn", False)
    ]
    assert turn["tools"][0]["duration"] >= 0
    assert "words" not in turn
    assert "bright" not in json.dumps(data)
    assert "shines" not in json.dumps(data)
    await hass.config_entries.async_unload(entry.entry_id)


async def test_a_history_that_is_down_is_shown(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    entry = await set_up(hass, offline_entry())
    hass.config_entries.async_update_entry(
        entry, options={CONF_HISTORY_ADDRESS: "sqlite:////dev/null/talk.db"}
    )
    await hass.async_block_till_done(wait_background_tasks=True)
    store = await async_get_histories(hass).async_open(entry)
    assert store
    store.record(turn(1))
    with pytest.raises(StoreUnavailable):
        await store.purge(Selection())

    history = (await download(hass_client, entry))["history"]
    assert history == {
        "database": "/dev/null/talk.db",
        "trouble": "cannot_open",
        "waiting": 1,
        "dropped": 0,
        "put_aside": None,
        "responses": None,
    }
    hass.config_entries.async_update_entry(
        entry, options={CONF_HISTORY_ADDRESS: "no address"}
    )
    await hass.async_block_till_done(wait_background_tasks=True)
    assert (await download(hass_client, entry))["history"] is None


async def test_the_number_and_size_of_responses_are_shown(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    entry = await set_up(hass, offline_entry())
    store = await async_get_histories(hass).async_open(entry)
    assert store
    agent = only_agent(entry).subentry_id
    assert await store.record(response(1, agent=agent, words="x" * 150_000)).stored()
    assert await store.record(response(2, agent="of another service")).stored()

    data = await download(hass_client, entry)
    assert data["history"]["responses"] == {"count": 1, "megabytes": 0.3}
    assert "xxx" not in json.dumps(data)

    with closing(sqlite3.connect(hass.config.path("chatterbox.db"))) as other, other:
        other.execute("DROP TABLE chatterbox_responses")
    assert (await download(hass_client, entry))["history"]["responses"] is None


async def test_no_secret_is_shown_wherever_it_stands(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    key, header, password, other_key = (
        "sk-key-1234567",
        "Bearer 7654321",
        "pass-word-99",
        "sk-other-987654",
    )
    pin = PinHash.of("739105", HashCost(memory=2, repeats=1)).as_json()
    planted = f"{key} {header} {password} {other_key}"
    await set_up(hass, server_entry(address_without_server(), other_key))
    entry = server_entry(
        address_without_server(),
        key,
        prompt=planted,
        pin=pin,
        extra_parameters={"headers": {"auth": header}},
    )
    entry = await set_up(hass, entry)
    options = {
        "history_address": f"postgresql://ha:{password}@db/talk",
        CONF_DIAGNOSE_WORDS: True,
    }
    hass.config_entries.async_update_entry(entry, title=f"Mine {key}", options=options)
    agent = only_agent(entry)
    hass.config_entries.async_update_subentry(entry, agent, title=f"Butler {planted}")
    await hass.async_block_till_done(wait_background_tasks=True)
    origin = {
        "turn_id": "1",
        "conversation_id": planted,
        "language": "en",
        "satellite_id": None,
        "caller": None,
    }
    record = TurnRecord(f"My key is {planted}", agent.subentry_id, {**origin})
    call = ToolCall(
        "1",
        "web__fetch",
        json.dumps({"url": f"https://me:{password}@example.net/?k={key}"}),
    )
    events: tuple[TurnEvent, ...] = (
        ProviderSwitched(f"Helper {key}", f"Butler {key}: ConnectTimeout"),
        ToolCallReady(call),
        ToolFinished(ToolResult("1", "web__fetch", planted, is_error=True)),
        TurnFinished(StopReason.COMPLETED, planted, Usage(), 1),
    )
    for event in events:
        record.add(event)
    async_dispatcher_send(hass, SIGNAL_TURN, record)

    data = await download(hass_client, entry)
    assert data["home_rules"] == {"pin": "**REDACTED**"}
    assert data["agents"][0]["turns"][0]["words"]["input"] == "My key is " + " ".join(
        ["**REDACTED**"] * 4
    )
    assert (
        data["entry"]["options"]["history_address"]
        == "postgresql://**REDACTED**@db/talk"
    )
    for secret in (
        key,
        header,
        password,
        other_key,
        "739105",
        str(pin["digest"]),
        str(pin["salt"]),
    ):
        assert secret not in json.dumps(data)


async def test_diagnostics_show_the_health_of_models(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    down = await set_up(
        hass,
        server_entry(
            address_without_server(), extra_parameters={"their_key": "secret"}
        ),
    )
    failed = await set_up(hass, server_entry(address_without_server(), llm_hass_api=[]))

    (agent,) = (await download(hass_client, down))["agents"]
    assert agent["data"]["extra_parameters"] == "**REDACTED**"
    (provider,) = agent["chain"]
    assert (provider["circuit"], provider["failures"], provider["last_error"]) == (
        "open",
        1,
        "ProviderUnreachable",
    )
    data = await download(hass_client, failed)
    assert data["entry"]["state"] == "setup_retry"
    assert data["agents"][0]["chain"] == []
