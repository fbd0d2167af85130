"""References in rules and agents: new ids are followed, trust ends with its entity, missing ones are reported."""

import asyncio
from copy import deepcopy
from dataclasses import fields
from datetime import timedelta
from typing import Any, Final

import pytest
from aiohttp import web
from homeassistant.components import conversation
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
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
)

from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.settings.agent import AgentSettings
from custom_components.chatterbox.settings.rules import (
    HomeRules,
    Rule,
    ToolSource,
    TrustLevel,
    Verdict,
    async_get_home_rules,
    home_rules_of,
    policy_from_json,
)
from tests.support.config_entries import offline_entry, server_entry, set_up
from tests.support.home_rules import set_home_rules
from tests.support.servers.in_process import serving
from tests.support.talk import AGENT, LIGHT, move_into_the_demo_home, speech

LAMP: Final = "light.cooking_lamp"
NEVER_LIGHT: Final = {"rules": [{"verdict": "deny", "entities": [LIGHT]}]}


def register(hass: HomeAssistant, *entity_ids: str) -> None:
    """Have Home Assistant know entities by these ids."""
    for entity_id in entity_ids:
        domain, _, name = entity_id.partition(".")
        entity = er.async_get(hass).async_get_or_create(
            domain, "test", name, suggested_object_id=name
        )
        assert entity.entity_id == entity_id


async def rename(hass: HomeAssistant, old: str, new: str) -> None:
    """Give an entity another id, as its dialog does."""
    er.async_get(hass).async_update_entity(old, new_entity_id=new)
    await hass.async_block_till_done()


def stored(hass: HomeAssistant) -> HomeRules:
    """Return the rules of the home."""
    return async_get_home_rules(hass).stored


async def test_a_call_is_judged_by_the_rule_of_an_entity_with_a_new_id(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass)
    await set_up(hass, offline_entry(**NEVER_LIGHT))

    await rename(hass, LIGHT, LAMP)
    answer = await conversation.async_converse(
        hass,
        "turn on the Kitchen Ceiling Light",
        None,
        Context(),
        "en",
        AGENT,
        device_id="a-satellite",
    )

    assert speech(answer) == "The rules of this home don't allow that."
    assert hass.states.is_state(LAMP, "off")


async def test_a_new_id_is_followed_wherever_it_is_named(
    hass: HomeAssistant, hass_storage: dict[str, Any]
) -> None:
    names = ("light.a", "light.b", "automation.a", "script.a", "notify.a", "person.a")
    entry = await set_up(
        hass,
        offline_entry(
            rules=[
                {"verdict": "deny", "entities": ["light.a", "light.b"]},
                {"verdict": "pin", "areas": ["hall"]},
            ],
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

    rules = stored(hass)
    assert rules == HomeRules(
        policy=rules.policy,
        trusted_callers=frozenset({"automation.a_anew", "automation.other"}),
        notify=("notify.a_anew", "notify.other"),
        people_at_satellites={"kitchen": "person.a_anew"},
    )
    assert rules.policy.rules == (
        Rule(
            verdict=Verdict.DENY, entities=frozenset({"light.a_anew", "light.b_anew"})
        ),
        Rule(verdict=Verdict.PIN, areas=frozenset({"hall"})),
    )
    assert home_rules_of(hass_storage["chatterbox.home_rules"]["data"]) == rules
    (agent,) = entry.runtime_data.agents.values()
    assert agent.settings == AgentSettings(
        pre_tool_use="script.a_anew", temperature=0.5
    )


async def test_trust_in_scripts_follows_new_ids_and_ends_with_them(
    hass: HomeAssistant,
) -> None:
    sources = {
        "assist": {"level": "ask"},
        "script.a": {"level": "free", "affects": ["light.b", "light.a"]},
    }
    await set_up(hass, offline_entry(tool_sources=sources))
    register(hass, "script.a", "script.b", "light.a", "light.b")

    await rename(hass, "script.a", "script.new")
    await rename(hass, "light.a", "light.new")
    renamed = stored(hass).policy.sources
    er.async_get(hass).async_remove("light.new")
    await hass.async_block_till_done()
    without_light = stored(hass).policy.sources
    await rename(hass, "script.b", "script.new_b")
    er.async_get(hass).async_remove("script.new")
    await hass.async_block_till_done()

    asks, free = ToolSource(TrustLevel.ASK), TrustLevel.FREE
    assert renamed == {
        "assist": asks,
        "script.new": ToolSource(free, frozenset({"light.b", "light.new"})),
    }
    assert without_light == {
        "assist": asks,
        "script.new": ToolSource(free, frozenset({"light.b"})),
    }
    assert stored(hass).policy.sources == {"assist": asks}


async def test_an_entity_that_nothing_names_reloads_nothing(
    hass: HomeAssistant,
) -> None:
    rules: JsonValue = [{"verdict": "deny", "entities": ["light.z", "light.a"]}]
    entry = await set_up(
        hass,
        offline_entry(
            rules=rules, trusted_callers=["automation.a"], notify=["notify.a"]
        ),
    )
    register(hass, "light.other", "automation.other")
    before = entry.runtime_data

    await rename(hass, "light.other", "light.another")
    er.async_get(hass).async_update_entity("light.another", name="Another")
    er.async_get(hass).async_remove("automation.other")
    await hass.async_block_till_done()

    assert entry.runtime_data is before
    assert stored(hass).policy == policy_from_json(rules)


async def test_trust_ends_with_its_entity_and_rules_keep_their_names(
    hass: HomeAssistant,
) -> None:
    register(hass, "automation.a", "light.a")
    rules: JsonValue = [{"verdict": "deny", "entities": ["light.a"]}]
    await set_up(
        hass, offline_entry(trusted_callers=["automation.a", "script.b"], rules=rules)
    )

    er.async_get(hass).async_remove("automation.a")
    er.async_get(hass).async_remove("light.a")
    await hass.async_block_till_done()

    assert stored(hass).trusted_callers == {"script.b"}
    assert stored(hass).policy == policy_from_json(rules)


async def test_a_reused_id_is_not_trusted(hass: HomeAssistant) -> None:
    register(hass, "automation.a", "automation.stranger", "automation.other")
    await set_up(
        hass, offline_entry(trusted_callers=["automation.a", "automation.gone"])
    )

    await rename(hass, "automation.a", "automation.b")
    await rename(hass, "automation.stranger", "automation.a")
    await rename(hass, "automation.other", "automation.gone")

    assert stored(hass).trusted_callers == {"automation.b"}


async def test_unreadable_rules_are_left_unchanged(
    hass: HomeAssistant, hass_storage: dict[str, Any]
) -> None:
    register(hass, "light.a", "notify.a")
    rules = {
        "rules": [{"verdict": "deny", "entities": ["light.a"], "moat": True}],
        "notify": ["notify.a"],
    }
    hass_storage["chatterbox.home_rules"] = {
        "version": 1,
        "minor_version": 1,
        "data": deepcopy(rules),
    }
    await set_up(hass, offline_entry())

    await rename(hass, "light.a", "light.b")
    await rename(hass, "notify.a", "notify.b")

    assert hass_storage["chatterbox.home_rules"]["data"] == rules


@pytest.mark.usefixtures("socket_enabled")
async def test_a_new_id_is_followed_during_setup(hass: HomeAssistant) -> None:
    is_asked, may_answer = asyncio.Event(), asyncio.Event()

    async def answer(_request: web.Request) -> web.Response:
        is_asked.set()
        await may_answer.wait()
        return web.json_response({"object": "list", "data": []})

    slow = web.Application()
    slow.router.add_get("/v1/models", answer)
    register(hass, "automation.a")
    async with serving(slow) as address:
        entry = server_entry(address, llm_hass_api=[], trusted_callers=["automation.a"])
        setting_up = hass.async_create_task(set_up(hass, entry))
        await is_asked.wait()
        er.async_get(hass).async_update_entity(
            "automation.a", new_entity_id="automation.b"
        )
        may_answer.set()
        await setting_up
        await hass.async_block_till_done()

    assert stored(hass).trusted_callers == {"automation.b"}


def reported(hass: HomeAssistant) -> list[str]:
    """Return the lines of what Repairs says is gone."""
    issues = [
        issue
        for (domain, _), issue in ir.async_get(hass).issues.items()
        if domain == DOMAIN and issue.active
    ]
    assert {issue.translation_key for issue in issues} <= {"names_gone"}
    return [
        line
        for issue in issues
        for line in (issue.translation_placeholders or {})["gone"].splitlines()
    ]


async def later(hass: HomeAssistant, seconds: float = 11) -> None:
    """Have everything happen that is due by then."""
    await hass.async_block_till_done(wait_background_tasks=True)
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=seconds))
    await hass.async_block_till_done(wait_background_tasks=True)


async def test_missing_references_are_reported_where_they_are_named(
    hass: HomeAssistant,
) -> None:
    owner = MockConfigEntry(domain="test")
    owner.add_to_hass(hass)
    area = ar.async_get(hass).async_create("Kitchen").id
    label = lr.async_get(hass).async_create("Night").label_id
    devices, entities = (
        dr.async_get(hass),
        (LIGHT, "notify.phone", "person.anna", "automation.night"),
    )
    device, satellite = (
        devices.async_get_or_create(
            config_entry_id=owner.entry_id, identifiers={("test", name)}
        ).id
        for name in ("one", "two")
    )
    register(hass, *entities)
    await hass.auth.async_create_user("Owner")
    user = await hass.auth.async_create_user("Anna")
    names = {
        "entities": [LIGHT],
        "areas": [area],
        "labels": [label],
        "users": [user.id],
        "devices": [device],
    }
    tools = {
        "domains": ["light"],
        "device_classes": ["absent"],
        "tools": ["absent"],
        "actions": ["light.absent"],
    }
    assert {*names, *tools, "verdict", "window"} == {
        field.name for field in fields(Rule)
    }
    entry = offline_entry(
        rules=[{"verdict": "allow", **tools}, {"verdict": "pin", **names}],
        notify=["notify.phone"],
        people_at_satellites=[{"device": satellite, "person": "person.anna"}],
        trusted_callers=["automation.night"],
    )
    await set_up(hass, entry)
    await later(hass)
    assert not reported(hass)
    for entity_id in entities:
        await rename(hass, entity_id, f"{entity_id}_anew")
    await later(hass)
    assert not reported(hass)

    rule, people = "- Rule 2 · Ask for the PIN", "- People at satellites"
    expected: list[str] = []

    async def check(*lines: str) -> None:
        await later(hass)
        expected.extend(lines)
        assert sorted(reported(hass)) == sorted(expected)

    ar.async_get(hass).async_delete(area)
    await check(f"{rule} · Areas · `{area}`")
    lr.async_get(hass).async_delete(label)
    await check(f"{rule} · Labels · `{label}`")
    await hass.auth.async_remove_user(user)
    await check(f"{rule} · Speaker · `{user.id}`")
    devices.async_remove_device(device)
    devices.async_remove_device(satellite)
    await check(
        f"{rule} · Asked from · `{device}`", f"{people} · Satellite · `{satellite}`"
    )
    for entity_id in entities:
        er.async_get(hass).async_remove(f"{entity_id}_anew")
    phone = "- Also ask on phones · `notify.phone_anew`"
    await check(
        f"{rule} · Entities · `{LIGHT}_anew`",
        phone,
        f"{people} · Person · `person.anna_anew`",
    )


async def test_missing_references_are_reported_in_the_language_of_the_home(
    hass: HomeAssistant,
) -> None:
    hass.config.language = "de"
    rules = [{"verdict": "deny", "entities": ["light.b", "light.a"]}]
    await set_up(hass, offline_entry(rules=rules, trusted_callers=["automation.gone"]))

    assert reported(hass) == [
        "- Regel 1 · Nie · Entitäten · `light.a`, `light.b`",
        "- Vertrauenswürdige Automationen und Skripte · `automation.gone`",
    ]


async def test_a_report_ends_when_the_entity_is_back(hass: HomeAssistant) -> None:
    await set_up(hass, offline_entry(**NEVER_LIGHT))
    assert reported(hass)

    register(hass, LIGHT)
    await later(hass)
    assert not reported(hass)

    er.async_get(hass).async_remove(LIGHT)
    await later(hass)
    assert reported(hass)

    hass.states.async_set(LIGHT, "off")
    await later(hass)
    assert not reported(hass)


async def test_an_unregistered_entity_is_missed_without_a_state(
    hass: HomeAssistant,
) -> None:
    hass.states.async_set(LIGHT, "off")
    await set_up(hass, offline_entry(**NEVER_LIGHT))
    hass.states.async_set(LIGHT, "on")
    await later(hass)
    assert not reported(hass)

    hass.states.async_remove(LIGHT)
    await later(hass)

    assert reported(hass)


async def test_an_entity_that_is_away_for_a_moment_is_not_reported(
    hass: HomeAssistant,
) -> None:
    hass.states.async_set(LIGHT, "off")
    await set_up(hass, offline_entry(**NEVER_LIGHT))

    hass.states.async_remove(LIGHT)
    await later(hass, 5)
    hass.states.async_set(LIGHT, "off")
    assert not reported(hass)
    await later(hass)

    assert not reported(hass)


async def test_nothing_is_missed_before_home_assistant_has_started(
    hass: HomeAssistant,
) -> None:
    hass.set_state(CoreState.starting)
    await set_up(hass, offline_entry(**NEVER_LIGHT))
    await later(hass)
    assert not reported(hass)

    hass.set_state(CoreState.running)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    await later(hass)

    assert reported(hass)


@pytest.mark.parametrize("by", ["removing the last service", "mending the rule"])
async def test_a_report_ends_with_its_rule(hass: HomeAssistant, by: str) -> None:
    entry = await set_up(hass, offline_entry(**NEVER_LIGHT))
    assert reported(hass)

    if by == "mending the rule":
        await set_home_rules(hass, rules=[])
    else:
        await hass.config_entries.async_remove(entry.entry_id)
    await later(hass)

    assert not reported(hass)
