"""What an agent names and the house does not have any more is told under Repairs, until it is mended."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import pytest
from homeassistant.const import EVENT_HOMEASSISTANT_STARTED
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
    label_registry as lr,
)
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.chatterbox.const import DOMAIN
from tests.support.config_entries import offline_entry, only_agent, set_up

LIGHT: Final = "light.kitchen_ceiling"
NEVER_LIGHT: Final = {"rules": [{"verdict": "deny", "entities": [LIGHT]}]}


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


def register(hass: HomeAssistant, entity_id: str) -> None:
    """Have Home Assistant know an entity."""
    domain, _, name = entity_id.partition(".")
    er.async_get(hass).async_get_or_create(domain, "test", name, suggested_object_id=name)


class House:
    """A house that has one of everything that settings can name."""

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
    house = House(hass)
    settings = await house.async_settings()
    await set_up(hass, offline_entry(**settings))
    await later(hass)
    assert not told(hass)

    await house.async_lose(kind)
    await later(hass)

    assert (
        told(hass)
        == {
            "entities": [
                f"- Rule 2 · Ask for the PIN · Entities · `{LIGHT}`",
                "- Also ask on phones · `notify.phone`",
                "- People at satellites · Person · `person.anna`",
            ],
            "area": [f"- Rule 2 · Ask for the PIN · Areas · `{house.area}`"],
            "label": [f"- Rule 2 · Ask for the PIN · Labels · `{house.label}`"],
            "user": [f"- Rule 2 · Ask for the PIN · Who asks · `{house.user.id}`"],
            "devices": [
                f"- Rule 2 · Ask for the PIN · Asked from · `{house.device}`",
                f"- People at satellites · Satellite · `{house.satellite}`",
            ],
        }[kind]
    )


async def test_what_is_gone_is_told_in_the_language_of_the_house(hass: HomeAssistant) -> None:
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
