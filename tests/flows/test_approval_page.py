"""The preview of rules: how much needs a yes now, and which entities."""

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.flows.approval_page import MOST_ROWS
from tests.demo_house.move_in import move_in
from tests.flows.rule_forms import ALL, HOME, PIN, counted, placeholders, sent, stored
from tests.support.config_entries import offline_entry, set_up
from tests.support.sentences import sentence


@pytest.fixture
async def entry(hass: HomeAssistant) -> MockConfigEntry:
    """The offline agent in a home whose entities are all exposed."""
    entry = await set_up(hass, offline_entry())
    await move_in(hass, HOME)
    for entity_id in ALL:
        async_expose_entity(hass, conversation.DOMAIN, entity_id, should_expose=True)
    return entry


async def test_what_the_rules_mean_is_shown_before_they_are_saved(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    rules = [
        {"verdict": "Never", "entities": ["cover.garage"]},
        {"verdict": "Ask for the PIN", "actions": ["lock.unlock"]},
        {"verdict": "Ask first", "domains": ["Lock"]},
        {"verdict": "Ask first", "domains": ["cover"]},
    ]
    home = await sent(hass, entry, rules=rules, pin=PIN, pin_for=[])

    assert home["step_id"] == "home"
    assert counted(home) == {"entities": 5, "allow": 2, "ask": 1, "pin": 1, "deny": 1}
    assert stored(hass) == {}
    lines = placeholders(home)["table"].splitlines()
    assert lines[0] == "| Device | Area | Action | Result |"
    assert (
        lines[2]
        == "| Garage | Gar\\|den | Close cover, Close cover tilt, Open cover, … | Never |"
    )
    assert lines[3] == "| Front Door | Hall | Unlock lock | Ask for the PIN |"
    assert lines[4].startswith("| Blind \\*1\\* |  | Close")
    assert len(lines) == 5


async def test_a_home_in_which_nothing_needs_a_yes_says_so(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    home = await sent(hass, entry, rules=[{"verdict": "Allow"}])

    assert counted(home) == {"entities": 5, "allow": 5, "ask": 0, "pin": 0, "deny": 0}
    assert placeholders(home)["table"] == sentence("common.home_all_allowed")


async def test_what_a_script_does_and_what_nobody_can_tell_is_in_the_table(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    scripts = {
        "welcome": {
            "alias": "Welcome",
            "sequence": [
                {"action": "lock.unlock", "target": {"entity_id": "lock.door"}}
            ],
        },
        "riddle": {"alias": "Riddle", "sequence": [{"action": "{{ 'lock.unlock' }}"}]},
    }
    assert await async_setup_component(hass, "script", {"script": scripts})
    for name in scripts:
        async_expose_entity(
            hass, conversation.DOMAIN, f"script.{name}", should_expose=True
        )
    lines = placeholders(await sent(hass, entry))["table"].splitlines()

    assert "| Welcome |  | Unlock lock | Ask first |" in lines
    assert f"| Riddle |  | {sentence('common.home_unknown')} | Ask first |" in lines


async def test_a_big_home_is_shown_in_part(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    assert await async_setup_component(hass, "lock", {})
    for number in range(MOST_ROWS + 3):
        hass.states.async_set(f"lock.cell_{number}", "locked")
        async_expose_entity(
            hass, conversation.DOMAIN, f"lock.cell_{number}", should_expose=True
        )
    home = await sent(hass, entry)

    assert counted(home)["ask"] == MOST_ROWS + 5
    table, more = placeholders(home)["table"].split("\n\n")
    assert len(table.splitlines()) == MOST_ROWS + 2
    assert more == sentence("common.home_more", count="5")
