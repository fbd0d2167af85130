"""References in the settings of agents: new ids are followed, trust ends with its entity, missing ones are reported."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Final

import pytest
from aiohttp import web
from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntryState, ConfigSubentry
from homeassistant.const import EVENT_HOMEASSISTANT_STARTED
from homeassistant.core import Context, CoreState, HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
    label_registry as lr,
)
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.chatterbox.const import CONF_TRUSTED_CALLERS, DOMAIN, SUBENTRY_AI_TASK
from custom_components.chatterbox.settings.agent import AgentSettings, settings_of
from custom_components.chatterbox.settings.rules import Rule, Verdict
from tests.support.config_entries import offline_entry, only_agent, server_entry, set_up, state_of
from tests.support.servers.in_process import address_without_server, serving
from tests.support.talk import AGENT, move_into_the_demo_home, speech

LIGHT: Final = "light.kitchen_ceiling"
LAMP: Final = "light.cooking_lamp"
NEVER_LIGHT: Final = {"rules": [{"verdict": "deny", "entities": [LIGHT]}]}


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
    await set_up(hass, offline_entry(**NEVER_LIGHT))

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


def told(hass: HomeAssistant) -> list[str]:
    """Return the lines of what Repairs says is gone."""
    issues = [issue for (domain, _), issue in ir.async_get(hass).issues.items() if domain == DOMAIN and issue.active]
    assert {issue.translation_key for issue in issues} <= {"names_gone"}
    return [line for issue in issues for line in (issue.translation_placeholders or {})["gone"].splitlines()]


async def later(hass: HomeAssistant, seconds: float = 11) -> None:
    """Have everything happen that is due by then."""
    await hass.async_block_till_done(wait_background_tasks=True)
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=seconds))
    await hass.async_block_till_done(wait_background_tasks=True)


class HomeWithEverything:
    """A home that has one of everything that settings can name."""

    def __init__(self, hass: HomeAssistant) -> None:
        entry = MockConfigEntry(domain="test")
        entry.add_to_hass(hass)
        self._hass = hass
        self.area = ar.async_get(hass).async_create("Kitchen").id
        self.label = lr.async_get(hass).async_create("Night").label_id
        devices = dr.async_get(hass)
        self.device, self.satellite = (
            devices.async_get_or_create(config_entry_id=entry.entry_id, identifiers={("test", name)}).id
            for name in ("one", "two")
        )
        self.entities = (LIGHT, "notify.phone", "person.anna", "automation.night")
        for entity_id in self.entities:
            register(hass, entity_id)

    async def async_settings(self) -> Mapping[str, object]:
        """Return settings that name everything."""
        await self._hass.auth.async_create_user("Owner")
        self.user = await self._hass.auth.async_create_user("Anna")
        return {
            "rules": [
                {"verdict": "allow", "domains": ["light"], "tools": ["absent"], "actions": ["light.absent"]},
                {
                    "verdict": "pin",
                    "entities": [LIGHT],
                    "areas": [self.area],
                    "labels": [self.label],
                    "users": [self.user.id],
                    "devices": [self.device],
                },
            ],
            "notify": ["notify.phone"],
            "people_at_satellites": [{"device": self.satellite, "person": "person.anna"}],
            "trusted_callers": ["automation.night"],
        }

    async def async_lose(self, kind: str) -> None:
        """Take away everything of a kind."""
        match kind:
            case "entities":
                for entity_id in self.entities:
                    er.async_get(self._hass).async_remove(entity_id)
            case "area":
                ar.async_get(self._hass).async_delete(self.area)
            case "label":
                lr.async_get(self._hass).async_delete(self.label)
            case "devices":
                for device in (self.device, self.satellite):
                    dr.async_get(self._hass).async_remove_device(device)
            case _:
                await self._hass.auth.async_remove_user(self.user)


@pytest.mark.parametrize("kind", ["entities", "area", "label", "user", "devices"])
async def test_what_is_gone_is_told_where_it_is_named(hass: HomeAssistant, kind: str) -> None:
    home = HomeWithEverything(hass)
    settings = await home.async_settings()
    await set_up(hass, offline_entry(**settings))
    await later(hass)
    assert not told(hass)

    await home.async_lose(kind)
    await later(hass)

    assert (
        told(hass)
        == {
            "entities": [
                f"- Rule 2 · Ask for the PIN · Entities · `{LIGHT}`",
                "- Also ask on phones · `notify.phone`",
                "- People at satellites · Person · `person.anna`",
            ],
            "area": [f"- Rule 2 · Ask for the PIN · Areas · `{home.area}`"],
            "label": [f"- Rule 2 · Ask for the PIN · Labels · `{home.label}`"],
            "user": [f"- Rule 2 · Ask for the PIN · Speaker · `{home.user.id}`"],
            "devices": [
                f"- Rule 2 · Ask for the PIN · Asked from · `{home.device}`",
                f"- People at satellites · Satellite · `{home.satellite}`",
            ],
        }[kind]
    )


async def test_what_is_gone_is_told_in_the_language_of_the_home(hass: HomeAssistant) -> None:
    hass.config.language = "de"
    rules = [{"verdict": "deny", "entities": ["light.b", "light.a"]}]
    await set_up(hass, offline_entry(rules=rules, trusted_callers=["automation.gone"]))

    assert told(hass) == [
        "- Regel 1 · Nie · Entitäten · `light.a`, `light.b`",
        "- Vertraute Automationen und Skripte · `automation.gone`",
    ]


async def test_what_comes_back_is_not_told_any_more(hass: HomeAssistant) -> None:
    await set_up(hass, offline_entry(**NEVER_LIGHT))
    assert told(hass)

    register(hass, LIGHT)
    await later(hass)
    assert not told(hass)

    er.async_get(hass).async_remove(LIGHT)
    await later(hass)
    assert told(hass)

    hass.states.async_set(LIGHT, "off")
    await later(hass)
    assert not told(hass)


async def test_what_is_not_in_the_registry_is_missed_once_it_has_no_state(hass: HomeAssistant) -> None:
    hass.states.async_set(LIGHT, "off")
    await set_up(hass, offline_entry(**NEVER_LIGHT))
    hass.states.async_set(LIGHT, "on")
    await later(hass)
    assert not told(hass)

    hass.states.async_remove(LIGHT)
    await later(hass)

    assert told(hass)


async def test_what_is_away_for_a_moment_is_not_told(hass: HomeAssistant) -> None:
    hass.states.async_set(LIGHT, "off")
    await set_up(hass, offline_entry(**NEVER_LIGHT))

    hass.states.async_remove(LIGHT)
    await later(hass, 5)
    hass.states.async_set(LIGHT, "off")
    assert not told(hass)
    await later(hass)

    assert not told(hass)


async def test_nothing_is_missed_before_home_assistant_has_started(hass: HomeAssistant) -> None:
    hass.set_state(CoreState.starting)
    await set_up(hass, offline_entry(**NEVER_LIGHT))
    await later(hass)
    assert not told(hass)

    hass.set_state(CoreState.running)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    await later(hass)

    assert told(hass)


async def test_a_rule_that_is_mended_is_not_told_any_more(hass: HomeAssistant) -> None:
    register(hass, LIGHT)
    entry = await set_up(hass, offline_entry(rules=[{"verdict": "deny", "entities": ["light.old_one"]}]))
    assert told(hass)

    hass.config_entries.async_update_subentry(entry, only_agent(entry), data=NEVER_LIGHT)
    await later(hass)

    assert not told(hass)


async def test_an_entity_with_a_new_id_is_not_told(hass: HomeAssistant) -> None:
    register(hass, LIGHT)
    await set_up(hass, offline_entry(**NEVER_LIGHT))

    er.async_get(hass).async_update_entity(LIGHT, new_entity_id="light.cooking_lamp")
    await later(hass)

    assert not told(hass)


@pytest.mark.parametrize("by", ["unloading", "removing the agent"])
async def test_an_agent_that_is_not_there_misses_nothing(hass: HomeAssistant, by: str) -> None:
    entry = await set_up(hass, offline_entry(**NEVER_LIGHT))
    assert told(hass)

    register(hass, "light.other")
    if by == "unloading":
        await hass.config_entries.async_unload(entry.entry_id)
    else:
        hass.config_entries.async_remove_subentry(entry, only_agent(entry).subentry_id)
    await later(hass)

    assert not told(hass)
