"""Assistants get back the agents that they had, in a real Home Assistant: whatever is removed, renamed or disabled."""

import asyncio
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from homeassistant.components.assist_pipeline.models import Pipeline
from homeassistant.components.assist_pipeline.pipeline import (
    async_get_pipelines,
    async_update_pipeline,
)
from homeassistant.components.repairs import repairs_flow_manager
from homeassistant.config_entries import ConfigEntryDisabler, ConfigSubentry
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.helpers import entity_registry as er, issue_registry as ir
from homeassistant.helpers.collection import CollectionChange
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import DOMAIN, SUBENTRY_CONVERSATION
from custom_components.chatterbox.flows.first_agent import async_use_agent
from custom_components.chatterbox.internals.assist_pipeline import assistants
from custom_components.chatterbox.runtime.earlier_agents import async_get_earlier_agents
from tests.support.config_entries import offline_entry, prepare, server_entry, set_up
from tests.support.servers.in_process import address_without_server

HOME = "conversation.home_assistant"
STORED = f"{DOMAIN}.assistants"


@pytest.fixture(autouse=True)
async def _assistants(hass: HomeAssistant) -> None:
    await prepare(hass)
    assert await async_setup_component(hass, "assist_pipeline", {})
    await async_update_pipeline(hass, preferred(hass), prefer_local_intents=True)


def preferred(hass: HomeAssistant) -> Pipeline:
    """Return the preferred assistant."""
    store = assistants(hass)
    assert store is not None
    return store.data[store.async_get_preferred_item()]


def held(hass: HomeAssistant) -> tuple[str, bool]:
    """Return the agent of the preferred assistant, and whether Home Assistant handles commands before it."""
    return preferred(hass).conversation_engine, preferred(hass).prefer_local_intents


def entity_of(hass: HomeAssistant, agent: ConfigSubentry) -> str:
    """Return the entity ID of an agent."""
    found = er.async_get(hass).async_get_entity_id(
        "conversation", DOMAIN, agent.subentry_id
    )
    assert found
    return found


def agents(entry: MockConfigEntry) -> list[ConfigSubentry]:
    """Return the agents of an entry."""
    return entry.get_subentries_of_type(SUBENTRY_CONVERSATION)


async def service_with_agents(hass: HomeAssistant, count: int = 1) -> MockConfigEntry:
    """Set up a service with some agents."""
    entry = offline_entry()
    for number in range(1, count):
        extra = ConfigSubentry(
            data=agents(entry)[0].data,
            subentry_type=SUBENTRY_CONVERSATION,
            title=f"Agent {number}",
            unique_id=None,
        )
        object.__setattr__(
            entry, "subentries", {**entry.subentries, extra.subentry_id: extra}
        )
    return await set_up(hass, entry)


def add_agent_of_another_integration(hass: HomeAssistant) -> er.RegistryEntry:
    """Register `conversation.other`."""
    return er.async_get(hass).async_get_or_create(
        "conversation", "other", "one", suggested_object_id="other"
    )


async def use(hass: HomeAssistant, agent: ConfigSubentry, *chosen: str) -> None:
    """Have assistants use an agent, as the last step of our dialogs does; by default the preferred one."""
    await async_use_agent(
        hass, entity_of(hass, agent), agent.title, chosen or [preferred(hass).id]
    )
    await hass.async_block_till_done()


async def choose(hass: HomeAssistant, engine: str) -> None:
    """Choose an agent for the preferred assistant, as a person does in Home Assistant's own dialog."""
    await async_update_pipeline(hass, preferred(hass), conversation_engine=engine)
    await hass.async_block_till_done()


async def remove(
    hass: HomeAssistant, entry: MockConfigEntry, agent: ConfigSubentry | None = None
) -> None:
    """Remove an agent, or a service with all its agents."""
    if agent:
        hass.config_entries.async_remove_subentry(entry, agent.subentry_id)
    else:
        await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)


def made(hass: HomeAssistant) -> list[Pipeline]:
    """Return all assistants but the preferred one."""
    return [one for one in async_get_pipelines(hass) if one.id != preferred(hass).id]


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize("whole_service", [False, True])
async def test_an_assistant_gets_its_earlier_agent_and_preference_back(
    hass: HomeAssistant,
    hass_storage: dict[str, Any],
    *,
    whole_service: bool,
    by_hand: bool,
) -> None:
    entry = await service_with_agents(hass, 2)
    agent = agents(entry)[0]
    if by_hand:
        await choose(hass, entity_of(hass, agent))
        await async_update_pipeline(hass, preferred(hass), prefer_local_intents=False)
    else:
        await use(hass, agent)
    assert held(hass) == (entity_of(hass, agent), False)
    assert STORED in hass_storage

    await remove(hass, entry, None if whole_service else agent)

    assert held(hass) == (HOME, True)
    assert STORED not in hass_storage


async def test_of_two_agents_the_second_gives_way_to_the_first(
    hass: HomeAssistant,
) -> None:
    entry = await service_with_agents(hass, 2)
    first, second = agents(entry)
    await use(hass, first)
    await use(hass, second)

    await remove(hass, entry, second)
    assert held(hass) == (entity_of(hass, first), False)
    await remove(hass, entry, first)
    assert held(hass) == (HOME, True)


async def test_a_first_agent_that_is_removed_leaves_its_own_predecessor_to_the_second(
    hass: HomeAssistant,
) -> None:
    one, other = await service_with_agents(hass), offline_entry()
    await set_up(hass, other)
    await use(hass, agents(one)[0])
    await use(hass, agents(other)[0])

    await remove(hass, one)
    assert held(hass) == (entity_of(hass, agents(other)[0]), False)
    await remove(hass, other)
    assert held(hass) == (HOME, True)


async def test_two_agents_that_took_turns_leave_together(hass: HomeAssistant) -> None:
    entry = await service_with_agents(hass, 2)
    first, second = agents(entry)
    for agent in (first, second, first, second):
        await use(hass, agent)

    await remove(hass, entry)
    assert held(hass) == (HOME, True)


async def test_what_a_person_has_chosen_since_stays(hass: HomeAssistant) -> None:
    add_agent_of_another_integration(hass)
    entry = await service_with_agents(hass)
    await use(hass, agents(entry)[0])
    await choose(hass, "conversation.other")

    await remove(hass, entry)
    assert held(hass) == ("conversation.other", False)


async def test_local_commands_that_were_chosen_since_and_other_settings_stay(
    hass: HomeAssistant,
) -> None:
    await async_update_pipeline(hass, preferred(hass), prefer_local_intents=False)
    entry = await service_with_agents(hass)
    await use(hass, agents(entry)[0])
    await async_update_pipeline(
        hass,
        preferred(hass),
        prefer_local_intents=True,
        name="Kitchen",
        tts_voice="Anna",
    )

    await remove(hass, entry)
    assert held(hass) == (HOME, True)
    assert (preferred(hass).name, preferred(hass).tts_voice) == ("Kitchen", "Anna")


@pytest.mark.parametrize("fate", ["stays", "renamed", "removed", "disabled"])
async def test_an_earlier_agent_of_another_integration_is_found_again(
    hass: HomeAssistant, fate: str
) -> None:
    registry = er.async_get(hass)
    add_agent_of_another_integration(hass)
    await choose(hass, "conversation.other")
    entry = await service_with_agents(hass)
    await use(hass, agents(entry)[0])
    if fate == "renamed":
        registry.async_update_entity(
            "conversation.other", new_entity_id="conversation.new_name"
        )
    elif fate == "removed":
        registry.async_remove("conversation.other")
    elif fate == "disabled":
        registry.async_update_entity(
            "conversation.other", disabled_by=er.RegistryEntryDisabler.USER
        )

    await remove(hass, entry)
    back = {"stays": "conversation.other", "renamed": "conversation.new_name"}
    assert held(hass) == (back.get(fate, HOME), True)


async def test_an_agent_that_is_renamed_keeps_its_assistants(
    hass: HomeAssistant,
) -> None:
    entry = await service_with_agents(hass)
    await use(hass, agents(entry)[0])
    er.async_get(hass).async_update_entity(
        entity_of(hass, agents(entry)[0]), new_entity_id="conversation.butler"
    )
    await hass.async_block_till_done()
    assert held(hass) == ("conversation.butler", False)

    await remove(hass, entry)
    assert held(hass) == (HOME, True)


async def test_a_reload_removes_nothing(hass: HomeAssistant) -> None:
    entry = await service_with_agents(hass)
    await use(hass, agents(entry)[0])
    assert await hass.config_entries.async_reload(entry.entry_id)
    assert await hass.config_entries.async_unload(entry.entry_id)
    await hass.async_block_till_done()
    assert held(hass) == (entity_of(hass, agents(entry)[0]), False)


@pytest.mark.usefixtures("socket_enabled")
async def test_a_service_that_does_not_come_up_is_removed_as_well(
    hass: HomeAssistant,
) -> None:
    entry = server_entry(address_without_server())
    (agent,) = agents(entry)
    entry.add_to_hass(hass)
    entity = er.async_get(hass).async_get_or_create(
        "conversation",
        DOMAIN,
        agent.subentry_id,
        config_entry=entry,
        config_subentry_id=agent.subentry_id,
    )
    await hass.config_entries.async_setup(entry.entry_id)
    await choose(hass, entity.entity_id)

    await remove(hass, entry)
    assert held(hass) == (HOME, True)


async def test_a_service_is_removed_while_home_assistant_stops(
    hass: HomeAssistant,
) -> None:
    entry = await service_with_agents(hass)
    await use(hass, agents(entry)[0])
    hass.set_state(CoreState.stopping)
    await remove(hass, entry)
    hass.set_state(CoreState.running)
    assert held(hass) == (HOME, True)


async def test_what_was_remembered_survives_a_restart(
    hass: HomeAssistant, hass_storage: dict[str, Any]
) -> None:
    """A removal that a stop has cut short is completed at the next start."""
    gone, here = "gone", offline_entry()
    registry = er.async_get(hass)
    entity = registry.async_get_or_create(
        "conversation", DOMAIN, gone, suggested_object_id="gone"
    )
    other = add_agent_of_another_integration(hass)
    await choose(hass, entity.entity_id)
    registry.async_remove(entity.entity_id)
    await async_update_pipeline(hass, preferred(hass), prefer_local_intents=False)
    takeover = {"agent": gone, "engine": other.id, "prefers_local": True, "made": None}
    hass_storage[STORED] = {"version": 1, "data": {preferred(hass).id: [takeover]}}

    await set_up(hass, here)
    assert held(hass) == ("conversation.other", True)


async def test_an_agent_that_was_chosen_while_chatterbox_was_not_loaded_is_the_earlier_one(
    hass: HomeAssistant, hass_storage: dict[str, Any]
) -> None:
    add_agent_of_another_integration(hass)
    entry = offline_entry()
    (agent,) = agents(entry)
    hass_storage[STORED] = {
        "version": 1,
        "data": {preferred(hass).id: [{"agent": agent.subentry_id, "engine": HOME}]},
    }
    await choose(hass, "conversation.other")

    await set_up(hass, entry)
    await use(hass, agent)
    await remove(hass, entry)
    assert held(hass) == ("conversation.other", True)


async def test_a_file_that_cannot_be_read_leaves_home_assistants_own_agent(
    hass: HomeAssistant, hass_storage: dict[str, Any]
) -> None:
    hass_storage[STORED] = {"version": 1, "data": {"x": "y"}}
    entry = await service_with_agents(hass)
    await use(hass, agents(entry)[0])
    await remove(hass, entry)
    assert held(hass)[0] == HOME


async def test_assistants_that_are_loaded_later_are_followed(
    hass: HomeAssistant,
) -> None:
    pipelines = hass.data.pop("assist_pipeline")
    hass.config.components.remove("assist_pipeline")
    entry = await service_with_agents(hass)
    hass.data["assist_pipeline"] = pipelines
    assert await async_setup_component(hass, "assist_pipeline", {})
    await hass.async_block_till_done()
    await use(hass, agents(entry)[0])
    await remove(hass, entry)
    assert held(hass) == (HOME, True)


async def test_an_assistant_that_was_made_for_an_agent_goes_with_it(
    hass: HomeAssistant,
) -> None:
    entry = await service_with_agents(hass)
    await use(hass, agents(entry)[0], "new")
    assert [one.name for one in made(hass)] == [agents(entry)[0].title]

    await remove(hass, entry)
    assert made(hass) == []


@pytest.mark.parametrize("change", ["tuned", "preferred"])
async def test_an_assistant_that_somebody_has_made_their_own_stays_with_an_agent_that_answers(
    hass: HomeAssistant, change: str
) -> None:
    entry = await service_with_agents(hass)
    await use(hass, agents(entry)[0], "new")
    (own,) = made(hass)
    if change == "preferred":
        hass.data["assist_pipeline"].pipeline_store.async_set_preferred_item(own.id)
    else:
        await async_update_pipeline(hass, own, tts_voice="Anna")

    await remove(hass, entry)
    store = hass.data["assist_pipeline"].pipeline_store.data
    assert (store[own.id].conversation_engine, store[own.id].prefer_local_intents) == (
        HOME,
        True,
    )


async def test_a_made_assistant_that_another_agent_took_over_goes_with_that(
    hass: HomeAssistant,
) -> None:
    entry = await service_with_agents(hass, 2)
    first, second = agents(entry)
    await use(hass, first, "new")
    await use(hass, second, made(hass)[0].id)

    await remove(hass, entry, first)
    assert [one.conversation_engine for one in made(hass)] == [entity_of(hass, second)]
    await remove(hass, entry, second)
    assert made(hass) == []


async def test_an_assistant_whose_agent_is_disabled_is_reported_and_repaired(
    hass: HomeAssistant,
) -> None:
    assert await async_setup_component(hass, "repairs", {})
    await service_with_agents(hass)
    entry = offline_entry()
    await set_up(hass, entry)
    await use(hass, agents(entry)[0])
    issue_id = f"agent_disabled_{preferred(hass).id}"

    await hass.config_entries.async_set_disabled_by(
        entry.entry_id, ConfigEntryDisabler.USER
    )
    await hass.async_block_till_done()
    assert held(hass) == (entity_of(hass, agents(entry)[0]), False), (
        "it may be enabled again"
    )
    assert ir.async_get(hass).async_get_issue(DOMAIN, issue_id)
    await hass.config_entries.async_set_disabled_by(entry.entry_id, None)
    await hass.async_block_till_done()
    assert not ir.async_get(hass).async_get_issue(DOMAIN, issue_id)

    await hass.config_entries.async_set_disabled_by(
        entry.entry_id, ConfigEntryDisabler.USER
    )
    await hass.async_block_till_done()
    flows = repairs_flow_manager(hass)
    assert flows
    step = await flows.async_init(DOMAIN, context={"issue_id": issue_id})
    await flows.async_configure(step["flow_id"], {})
    await hass.async_block_till_done()
    assert held(hass) == (HOME, True)
    assert not ir.async_get(hass).async_get_issue(DOMAIN, issue_id)


async def test_a_disabled_service_is_removed_where_nothing_of_ours_is_loaded(
    hass: HomeAssistant,
) -> None:
    entry = await service_with_agents(hass)
    await use(hass, agents(entry)[0])
    await hass.config_entries.async_set_disabled_by(
        entry.entry_id, ConfigEntryDisabler.USER
    )
    await remove(hass, entry)
    assert held(hass) == (HOME, True)
    assert not [key for domain, key in ir.async_get(hass).issues if domain == DOMAIN]


async def test_an_assistant_made_like_one_that_was_taken_over_with_it_has_the_same_earlier_agent(
    hass: HomeAssistant,
) -> None:
    add_agent_of_another_integration(hass)
    await choose(hass, "conversation.other")
    entry = await service_with_agents(hass)
    await use(hass, agents(entry)[0], preferred(hass).id, "new")
    (own,) = made(hass)
    await async_update_pipeline(hass, own, tts_voice="Anna")

    await remove(hass, entry)
    assert held(hass) == ("conversation.other", True)
    assert [one.conversation_engine for one in made(hass)] == ["conversation.other"]


async def test_what_is_taken_over_before_the_file_is_read_is_remembered(
    hass: HomeAssistant,
) -> None:
    entry = offline_entry()
    entry.add_to_hass(hass)
    agent = er.async_get(hass).async_get_or_create(
        "conversation", DOMAIN, agents(entry)[0].subentry_id
    )
    earlier = async_get_earlier_agents(hass)
    earlier.async_start()
    await async_use_agent(hass, agent.entity_id, "Butler", [preferred(hass).id, "new"])
    await hass.async_block_till_done()
    assert held(hass) == (agent.entity_id, False)
    assert [one.name for one in made(hass)] == ["Butler"]

    await remove(hass, entry)
    assert held(hass) == (HOME, True)
    assert not made(hass)


async def more_assistants(hass: HomeAssistant, *names: str) -> list[str]:
    """Create assistants like the preferred one, and return the ids of all."""
    store = assistants(hass)
    assert store is not None
    others = {
        key: value for key, value in preferred(hass).to_json().items() if key != "id"
    }
    added = [await store.async_create_item({**others, "name": name}) for name in names]
    return [preferred(hass).id, *(one.id for one in added)]


async def test_two_services_that_are_removed_at_once_leave_all_earlier_agents(
    hass: HomeAssistant,
) -> None:
    add_agent_of_another_integration(hass)
    await choose(hass, "conversation.other")
    ids = await more_assistants(hass, "Kitchen", "Attic", "Cellar")
    one, other = await service_with_agents(hass), offline_entry()
    await set_up(hass, other)
    await use(hass, agents(one)[0], *ids[:2])
    await use(hass, agents(other)[0], *ids[2:])

    await asyncio.gather(remove(hass, one), remove(hass, other))
    assert [
        (found.conversation_engine, found.prefer_local_intents)
        for found in async_get_pipelines(hass)
    ] == [("conversation.other", True)] * len(ids)


@pytest.mark.parametrize("change", ["removed", "renamed"])
async def test_what_changes_while_another_assistant_is_put_back_stays_as_it_is_then(
    hass: HomeAssistant, change: str
) -> None:
    store = assistants(hass)
    assert store is not None
    first, second = await more_assistants(hass, "Kitchen")
    entry = await service_with_agents(hass, 2)
    agent, other = agents(entry)
    await use(hass, agent, first, second)

    async def follow(changes: Iterable[CollectionChange]) -> None:
        if not any(one.item_id == first for one in changes):
            return
        if change == "renamed":
            await async_update_pipeline(hass, store.data[second], name="Attic")
        elif held(hass) in {(HOME, True), (entity_of(hass, other), False)}:
            await store.async_delete_item(second)

    store.async_add_change_set_listener(follow)
    await remove(hass, entry, agent)
    assert held(hass) == (HOME, True)
    names = [one.name for one in made(hass)]
    assert names == (["Attic"] if change == "renamed" else [])


async def test_two_assistants_find_an_agent_that_is_renamed_while_one_of_them_changes(
    hass: HomeAssistant,
) -> None:
    store = assistants(hass)
    assert store is not None
    first, second = await more_assistants(hass, "Kitchen")
    entry = await service_with_agents(hass)
    (agent,) = agents(entry)
    await use(hass, agent, first, second)

    async def follow(changes: Iterable[CollectionChange]) -> None:
        if any(one.item_id == first for one in changes):
            await async_update_pipeline(hass, store.data[second], name="Attic")

    store.async_add_change_set_listener(follow)
    er.async_get(hass).async_update_entity(
        entity_of(hass, agent), new_entity_id="conversation.butler"
    )
    await hass.async_block_till_done()
    assert {
        (one.name, one.conversation_engine) for one in async_get_pipelines(hass)
    } == {
        (preferred(hass).name, "conversation.butler"),
        ("Attic", "conversation.butler"),
    }


def damaged_file(config: Path) -> Path:
    """Store something that cannot be read, beside a pipe, whose readers wait for a writer. Return the pipe."""
    damaged = config / ".storage" / STORED
    damaged.parent.mkdir()
    damaged.write_text("{", "utf-8")
    pipe = damaged.with_name(f"{STORED}.meanwhile")
    os.mkfifo(pipe)
    return pipe


async def test_a_file_that_cannot_be_read_stays_reported_when_two_wait_for_it(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    hass.config.config_dir = str(tmp_path)
    pipe = damaged_file(tmp_path)
    earlier = async_get_earlier_agents(hass)
    first = hass.async_create_task(earlier.async_put_back())
    os.close(await hass.async_add_executor_job(os.open, pipe, os.O_WRONLY))
    second = hass.async_create_task(earlier.async_put_back())
    await first
    moved = pipe.with_name("moved")
    await hass.async_add_executor_job(pipe.rename, moved)
    with suppress(OSError):  # nobody reads it
        os.close(os.open(moved, os.O_WRONLY | os.O_NONBLOCK))
    await second
    assert ir.async_get(hass).async_get_issue(DOMAIN, "assistants_unreadable")
