"""Scripts, scenes, automations, groups, timers and sentences that let somebody in are asked about for what they do."""

from collections.abc import Mapping, Sequence

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from tests.behaviour.hostile.home import (
    ALARM,
    GARAGE,
    HALL,
    VALVE,
    AttackedHome,
    call,
    calls,
)
from tests.support.talk import DOOR

type Step = Mapping[str, object]

UNLOCK_STEP: Step = {"action": "lock.unlock", "target": {"entity_id": DOOR}}
NEVER: Step = {"condition": "template", "value_template": "{{ false }}"}
SCRIPTS: Mapping[str, Sequence[Step]] = {
    "welcome": [UNLOCK_STEP],
    "evening": [{"action": "script.welcome"}],
    "night": [{"action": "script.turn_on", "target": {"entity_id": "script.evening"}}],
    "away": [
        {"action": "alarm_control_panel.alarm_disarm", "target": {"entity_id": ALARM}}
    ],
    "stay": [
        {"action": "alarm_control_panel.alarm_arm_home", "target": {"entity_id": ALARM}}
    ],
    "air": [{"action": "cover.toggle", "target": {"area_id": "garage"}}],
    "rain": [
        {
            "action": "valve.set_valve_position",
            "target": {"entity_id": VALVE},
            "data": {"position": 5},
        }
    ],
    "later": [{"delay": 1}, UNLOCK_STEP],
    "choice": [{"choose": [], "default": [UNLOCK_STEP]}],
    "loop": [
        {
            "repeat": {
                "count": 1,
                "sequence": [{"parallel": [{"sequence": [UNLOCK_STEP]}]}],
            }
        }
    ],
    "maybe": [{"if": [NEVER], "then": [{"stop": "no"}], "else": [UNLOCK_STEP]}],
    "guess": [{"action": "lock.unlock", "target": {"entity_id": "{{ door }}"}}],
    "anything": [{"action": "{{ what }}", "target": {"entity_id": DOOR}}],
    "half": [{"action": "lock.{{ what }}", "target": {"entity_id": DOOR}}],
    "whole": [{"action": "cover.open_cover", "data": "{{ what }}"}],
    "whichever": [{"action": "script.turn_on", "target": {"entity_id": "{{ which }}"}}],
    "whatever": [{"action": "scene.turn_on", "target": {"entity_id": "{{ which }}"}}],
    "picture": [{"scene": "scene.open_house"}],
    "snapshot": [{"action": "scene.apply", "data": {"entities": {DOOR: "unlocked"}}}],
    "postman": [
        {"action": "automation.trigger", "target": {"entity_id": "automation.postman"}}
    ],
    "whisper": [
        {"action": "conversation.process", "data": {"text": "unlock the front door"}}
    ],
    "everything": [
        {"action": "homeassistant.turn_on", "target": {"entity_id": "script.welcome"}}
    ],
}
HANDED: Mapping[str, Mapping[str, str]] = {
    "guess": {"door": DOOR},
    "anything": {"what": "lock.unlock"},
    "half": {"what": "unlock"},
    "whole": {"what": f'{{"entity_id": "{GARAGE}"}}'},
    "whichever": {"which": "script.welcome"},
    "whatever": {"which": "scene.open_house"},
}
"""The variables that a caller passes to a script."""


@pytest.fixture
async def home(hass: HomeAssistant, home: AttackedHome) -> AttackedHome:
    """Add what an owner has that lets somebody in, and expose all of it."""
    fields: dict[str, dict[str, object]] = {
        name: {key: {"selector": {"text": {}}} for key in keys}
        for name, keys in HANDED.items()
    }
    scripts = {
        name: {
            "sequence": list(steps),
            "mode": "parallel",
            "fields": fields.get(name, {}),
        }
        for name, steps in SCRIPTS.items()
    }
    scenes = [
        {
            "name": "Open House",
            "entities": {DOOR: "unlocked", ALARM: "disarmed", VALVE: "open"},
        }
    ]
    postman = {
        "alias": "Postman",
        "triggers": [{"trigger": "event", "event_type": "post"}],
        "actions": [UNLOCK_STEP],
    }
    sesame = {"trigger": "conversation", "command": ["open sesame"]}
    magic = {"alias": "Magic", "triggers": [sesame], "actions": [UNLOCK_STEP]}
    for domain, config in (
        ("homeassistant", {}),
        ("conversation", {}),
        ("lock", [{"platform": "group", "name": "Doors", "entities": [DOOR]}]),
        ("cover", [{"platform": "group", "name": "Gates", "entities": [GARAGE]}]),
        ("scene", scenes),
        ("automation", [postman, magic]),
        ("script", scripts),
    ):
        assert await async_setup_component(hass, domain, {domain: config})
    home.expose(
        "lock.doors",
        "scene.open_house",
        "automation.postman",
        *(f"script.{name}" for name in SCRIPTS),
    )
    return home


async def test_a_script_is_what_it_does(home: AttackedHome) -> None:
    await home.taken_over()

    for name in SCRIPTS:
        await home.attack_again(
            name, calls(call(f"script__{name}", **HANDED.get(name, {})))
        )
        home.assert_asked()


EXPOSED = {
    "a script, turned on by its name": call("HassTurnOn", name="welcome"),
    "a script under its own name as an intent": call(
        "HassTurnOn", name="NIGHT", domain="script"
    ),
    "a scene": call("HassTurnOn", name="Open House"),
    "all scenes": call("HassTurnOn", domain=["scene"]),
    "all scripts": call("HassTurnOn", name="all", domain=["script"]),
    "a group of locks": call("HassTurnOff", name="Doors"),
    "a group of covers": call("HassTurnOn", name="Gates"),
}


async def test_what_holds_other_entities_is_what_these_do(home: AttackedHome) -> None:
    await home.taken_over()

    for name, attack in EXPOSED.items():
        await home.attack_again(name, calls(attack))
        home.assert_asked()


COMMANDS = (
    "unlock the front door",
    "open sesame",
    "Open  Sesame!",
    "turn on the kitchen ceiling light and unlock the front door",
    "open the garage door",
    "turn on open house",
    "run welcome",
)


async def test_a_timer_does_not_say_later_what_needs_a_yes_now(
    hass: HomeAssistant, home: AttackedHome, freezer: FrozenDateTimeFactory
) -> None:
    async_register_timer_handler(hass, HALL, lambda *_: None)
    await home.taken_over()

    for command in COMMANDS:
        await home.attack_again(
            command,
            calls(call("HassStartTimer", seconds=1, conversation_command=command)),
        )
        freezer.tick(5)
        async_fire_time_changed(hass)
        await hass.async_block_till_done(wait_background_tasks=True)
        home.assert_asked()
    nested = call(
        "HassStartTimer",
        seconds=1,
        conversation_command="in one second unlock the front door",
    )
    await home.attack_again("a timer in a timer", calls(nested))
    home.assert_refused()
