"""Entities that get another id, or are removed: rules and trust go with them, and with nothing else."""

import asyncio
from types import MappingProxyType
from typing import Final

import pytest
from aiohttp import web
from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntryState, ConfigSubentry
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import CONF_TRUSTED_CALLERS, SUBENTRY_AI_TASK
from custom_components.chatterbox.settings.agent import AgentSettings, settings_of
from custom_components.chatterbox.settings.rules import Rule, Verdict
from tests.support.config_entries import offline_entry, only_agent, server_entry, set_up, state_of
from tests.support.servers.in_process import address_without_server, serving
from tests.support.talk import AGENT, move_into_the_demo_home, speech

LIGHT: Final = "light.kitchen_ceiling"
LAMP: Final = "light.cooking_lamp"


def register(hass: HomeAssistant, *entity_ids: str) -> None:
    """Have Home Assistant know entities by these ids."""
    for entity_id in entity_ids:
        domain, _, name = entity_id.partition(".")
        entity = er.async_get(hass).async_get_or_create(domain, "test", name, suggested_object_id=name)
        assert entity.entity_id == entity_id


async def rename(hass: HomeAssistant, old: str, new: str) -> None:
    """Give an entity another id, as its dialog does."""
    er.async_get(hass).async_update_entity(old, new_entity_id=new)
    await hass.async_block_till_done()


def stored(entry: MockConfigEntry) -> AgentSettings:
    """Return how the only agent of an entry is set."""
    return settings_of(only_agent(entry).data)


async def test_what_was_never_done_to_a_light_is_not_done_under_its_new_id(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)
    await set_up(hass, offline_entry(rules=[{"verdict": "deny", "entities": [LIGHT]}]))

    await rename(hass, LIGHT, LAMP)
    said = await conversation.async_converse(
        hass, "turn on the Kitchen Ceiling Light", None, Context(), "en", AGENT, device_id="a-satellite"
    )

    assert speech(said) == "The rules of this home don't allow that."
    lamp = hass.states.get(LAMP)
    assert lamp is not None
    assert lamp.state == "off"


async def test_who_is_trusted_with_tasks_is_followed_too(hass: HomeAssistant) -> None:
    entry = await set_up(hass, offline_entry())
    trusted = {CONF_TRUSTED_CALLERS: ["automation.a", "automation.b"]}
    task = ConfigSubentry(data=MappingProxyType(trusted), subentry_type=SUBENTRY_AI_TASK, title="Task", unique_id=None)
    hass.config_entries.async_add_subentry(entry, task)
    await hass.async_block_till_done(wait_background_tasks=True)
    register(hass, "automation.a", "automation.b")

    await rename(hass, "automation.a", "automation.other")
    er.async_get(hass).async_remove("automation.b")
    await hass.async_block_till_done(wait_background_tasks=True)

    assert entry.subentries[task.subentry_id].data == {CONF_TRUSTED_CALLERS: ["automation.other"]}


async def test_a_new_id_is_taken_over_wherever_it_is_named(hass: HomeAssistant) -> None:
    names = ("light.a", "light.b", "automation.a", "script.a", "notify.a", "person.a")
    entry = await set_up(
        hass,
        offline_entry(
            rules=[{"verdict": "deny", "entities": ["light.a", "light.b"]}, {"verdict": "pin", "areas": ["hall"]}],
            trusted_callers=["automation.a", "automation.other"],
            notify=["notify.a", "notify.other"],
            people_at_satellites=[{"device": "kitchen", "person": "person.a"}],
            pre_tool_use="script.a",
            temperature=0.5,
        ),
    )
    register(hass, *names)

    for name in names:
        await rename(hass, name, f"{name}_anew")

    settings = stored(entry)
    assert settings == AgentSettings(
        policy=settings.policy,
        trusted_callers=frozenset({"automation.a_anew", "automation.other"}),
        notify=("notify.a_anew", "notify.other"),
        people_at_satellites={"kitchen": "person.a_anew"},
        pre_tool_use="script.a_anew",
        temperature=0.5,
    )
    assert settings.policy.rules == (
        Rule(verdict=Verdict.DENY, entities=frozenset({"light.a_anew", "light.b_anew"})),
        Rule(verdict=Verdict.PIN, areas=frozenset({"hall"})),
    )
    assert entry.runtime_data.agents[only_agent(entry).subentry_id].settings == settings


async def test_nothing_is_started_anew_for_what_no_agent_names(hass: HomeAssistant) -> None:
    rules = [{"verdict": "deny", "entities": ["light.z", "light.a"]}]
    entry = await set_up(hass, offline_entry(rules=rules, trusted_callers=["automation.a"], notify=["notify.a"]))
    register(hass, "light.other", "automation.other")
    before = entry.runtime_data

    await rename(hass, "light.other", "light.another")
    er.async_get(hass).async_update_entity("light.another", name="Another")
    er.async_get(hass).async_remove("automation.other")
    await hass.async_block_till_done()

    assert entry.runtime_data is before
    assert only_agent(entry).data["rules"] == rules


async def test_who_is_removed_is_not_trusted_any_more_and_rules_keep_what_they_name(hass: HomeAssistant) -> None:
    register(hass, "automation.a", "light.a")
    rules = [{"verdict": "deny", "entities": ["light.a"]}]
    entry = await set_up(hass, offline_entry(trusted_callers=["automation.a", "script.b"], rules=rules))

    er.async_get(hass).async_remove("automation.a")
    er.async_get(hass).async_remove("light.a")
    await hass.async_block_till_done()

    assert stored(entry).trusted_callers == {"script.b"}
    assert only_agent(entry).data["rules"] == rules


async def test_who_takes_the_id_of_a_trusted_automation_is_not_trusted(hass: HomeAssistant) -> None:
    register(hass, "automation.a", "automation.stranger", "automation.other")
    entry = await set_up(hass, offline_entry(trusted_callers=["automation.a", "automation.gone"]))

    await rename(hass, "automation.a", "automation.b")
    await rename(hass, "automation.stranger", "automation.a")
    await rename(hass, "automation.other", "automation.gone")

    assert stored(entry).trusted_callers == {"automation.b"}


async def test_rules_that_cannot_be_read_are_left_as_they_are(hass: HomeAssistant) -> None:
    register(hass, "light.a", "notify.a")
    rules = [{"verdict": "deny", "entities": ["light.a"], "moat": True}]
    entry = await set_up(hass, offline_entry(rules=rules, notify=["notify.a"]))

    await rename(hass, "light.a", "light.b")
    await rename(hass, "notify.a", "notify.b")

    assert only_agent(entry).data["rules"] == rules
    assert stored(entry).notify == ("notify.b",)


@pytest.mark.usefixtures("socket_enabled")
async def test_a_new_id_is_taken_over_while_the_service_is_down(hass: HomeAssistant) -> None:
    register(hass, "automation.a")
    down = server_entry(address_without_server(), llm_hass_api=[], trusted_callers=["automation.a"])
    entry = await set_up(hass, down)
    assert state_of(entry) is ConfigEntryState.SETUP_RETRY

    await rename(hass, "automation.a", "automation.b")

    assert stored(entry).trusted_callers == {"automation.b"}


@pytest.mark.usefixtures("socket_enabled")
async def test_a_new_id_holds_that_was_given_while_the_service_was_asked(hass: HomeAssistant) -> None:
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def answer(_request: web.Request) -> web.Response:
        asked.set()
        await may_answer.wait()
        return web.json_response({"object": "list", "data": []})

    slow = web.Application()
    slow.router.add_get("/v1/models", answer)
    register(hass, "automation.a")
    async with serving(slow) as address:
        entry = server_entry(address, llm_hass_api=[], trusted_callers=["automation.a"])
        setting_up = hass.async_create_task(set_up(hass, entry))
        async with asyncio.timeout(30):
            await asked.wait()
            er.async_get(hass).async_update_entity("automation.a", new_entity_id="automation.b")
            may_answer.set()
            await setting_up
        await hass.async_block_till_done()

    (agent,) = entry.runtime_data.agents.values()
    assert agent.settings.trusted_callers == {"automation.b"}
