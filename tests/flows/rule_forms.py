"""The form of rules, in a home whose entities are all exposed."""

from collections.abc import Mapping

from homeassistant.config_entries import SubentryFlowResult
from homeassistant.core import HomeAssistant
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.settings.rules import (
    HomeRules,
    async_get_home_rules,
    home_rules_to_json,
)
from tests.flows.agent_forms import choose, open_menu, submit

HOME = """
areas:
  - { id: hall, name: Hall }
  - { id: garden, name: "Gar|den" }
entities:
  - { name: Lamp, id: light.lamp, area: hall, state: "off" }
  - { name: Front Door, id: lock.door, area: hall, state: locked }
  - { name: Garage, id: cover.garage, area: garden, state: closed, attributes: { device_class: garage } }
  - { name: "Blind *1*", id: cover.blind, state: closed, attributes: { device_class: blind } }
  - { name: Noise, id: sensor.noise, state: 4 }
"""
ALL = ("light.lamp", "lock.door", "cover.garage", "cover.blind", "sensor.noise")
PIN = "7391058264"
NOBODY_SPEAKS: Mapping[str, JsonValue] = {
    "people_at_satellites": [],
    "trusted_callers": [],
    "household_writers": "everyone",
}


def approvals(**changes: object) -> dict[str, object]:
    """Return the form as the frontend sends it when nothing was set, with changes."""
    form: dict[str, object] = {
        "rules": [],
        "ask_after_outside_content": "risky",
        "pin_for": ["unlock", "open", "disarm"],
        "notify": [],
        "who_speaks": NOBODY_SPEAKS,
        "guests": {"guest_domains": ["light", "media_player"], "guest_areas": []},
        "night_hours": {},
    }
    return form | changes


async def open_approvals(
    hass: HomeAssistant, entry: MockConfigEntry
) -> SubentryFlowResult:
    """Open the form."""
    return await choose(hass, await open_menu(hass, entry), "approvals")


async def sent(
    hass: HomeAssistant, entry: MockConfigEntry, **changes: object
) -> SubentryFlowResult:
    """Open the form, and send it with changes."""
    return await submit(hass, await open_approvals(hass, entry), approvals(**changes))


def home_rules(hass: HomeAssistant) -> HomeRules:
    """Return the rules of the home that are obeyed."""
    return async_get_home_rules(hass).current


def stored(hass: HomeAssistant) -> JsonObject:
    """Return the rules of the home as they are stored."""
    return home_rules_to_json(home_rules(hass))


def placeholders(step: SubentryFlowResult) -> Mapping[str, str]:
    """Return what is filled into the sentences of a step."""
    found = step["description_placeholders"]
    assert found is not None
    return found


def counted(step: SubentryFlowResult) -> dict[str, int]:
    """Return the numbers that a step tells."""
    return {
        name: int(placeholders(step)[name])
        for name in ("entities", "allow", "ask", "pin", "deny")
    }
