"""A question tells each action from all others of the same thing, in every language, with the values that it sets."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final

import pytest
from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.messages import (
    JsonObject,
    ToolCall,
    canonical_json,
)
from custom_components.chatterbox.approvals.asking import question_text
from custom_components.chatterbox.approvals.review import CallReview
from custom_components.chatterbox.effects.actions import SELF_CONTAINED
from custom_components.chatterbox.effects.effect import Effects, EntityAction
from custom_components.chatterbox.effects.intents import intent_effects
from custom_components.chatterbox.offline.provider import sentence_call
from custom_components.chatterbox.speech.sentences import async_get_sentences
from tests.support.fragments import LANGUAGES
from tests.support.one_home import in_one_home
from tests.support.talk import move_into_the_demo_home

DOMAINS: Final = sorted(
    {*SELF_CONTAINED, "automation", "button", "input_button", "scene", "script"}
)
ALIKE: Final[Collection[frozenset[str]]] = (
    frozenset({"automation.trigger", "automation.turn_on"}),
    frozenset({"cover.set_cover_position", "cover.open_cover"}),
    frozenset({"media_player.search_media", "media_player.play_media"}),
    frozenset({"script.toggle", "script.turn_on"}),
    frozenset({"valve.set_valve_position", "valve.open_valve"}),
)
"""Actions that are named alike where no value is known: a position that is not 0 is open."""


@pytest.fixture
async def demo_home(hass: HomeAssistant) -> HomeAssistant:
    await move_into_the_demo_home(hass)
    for domain in DOMAINS:
        assert await async_setup_component(hass, domain, {})
    return hass


async def question(
    hass: HomeAssistant,
    effects: Effects,
    language: str = "en",
    arguments: JsonObject | None = None,
) -> str:
    """Return the question for a call, which is a sentence if it has no arguments."""
    call = (
        sentence_call("do it")
        if arguments is None
        else ToolCall("call_1", "tool", canonical_json(arguments))
    )
    return question_text(
        hass, await async_get_sentences(hass, language), [CallReview(call, effects)]
    )


@in_one_home("language", LANGUAGES, share=10)
async def test_no_two_actions_of_a_device_are_asked_about_alike(
    demo_home: HomeAssistant, language: str
) -> None:
    services = demo_home.services.async_services()
    for domain in DOMAINS:
        named: dict[str, set[str]] = defaultdict(set)
        for service in services[domain].keys() - {"reload"}:
            action = EntityAction(f"{domain}.one", f"{domain}.{service}")
            named[
                await question(
                    demo_home, Effects(actions=frozenset({action})), language
                )
            ].add(action.action)
        same = [frozenset(one) for one in named.values() if len(one) > 1]
        assert not [one for one in same if one not in ALIKE], language


VALUES: Final[Sequence[tuple[str, JsonObject, str]]] = (
    (
        "HassTurnOn",
        {"name": "Floor Lamp"},
        "Turn on the Floor Lamp in the Living Room?",
    ),
    (
        "HassLightSet",
        {"name": "Floor Lamp", "brightness": 30},
        "Set the Floor Lamp in the Living Room to 30%?",
    ),
    (
        "HassLightSet",
        {"name": "Floor Lamp", "color": "red"},
        "Set the Floor Lamp in the Living Room to red?",
    ),
    (
        "HassLightSet",
        {"name": "Floor Lamp", "temperature": 2700},
        "Set the Floor Lamp in the Living Room to 2700 K?",
    ),
    (
        "HassVacuumStart",
        {"name": "Robot Vacuum"},
        "Start the Robot Vacuum in the Living Room?",
    ),
    (
        "HassVacuumReturnToBase",
        {"name": "Robot Vacuum"},
        "Send the Robot Vacuum in the Living Room back to the dock?",
    ),
    (
        "HassSetPosition",
        {"name": "Garage Door", "position": 40},
        "Set the Garage Door to 40%?",
    ),
    (
        "HassClimateSetTemperature",
        {"name": "Living Room Thermostat", "temperature": 21.5},
        "Set the Living Room Thermostat to 21.5 °C?",
    ),
    (
        "HassSetVolume",
        {"name": "Living Room Speaker", "volume_level": 40},
        "Set the Living Room Speaker to 40%?",
    ),
    (
        "HassSetVolumeRelative",
        {"name": "Living Room Speaker", "volume_step": "up"},
        "Turn up media player volume: the Living Room Speaker?",
    ),
    (
        "HassSetVolumeRelative",
        {"name": "Living Room Speaker", "volume_step": -10},
        "Turn down media player volume: the Living Room Speaker (10%)?",
    ),
    (
        "HassMediaPlayerMute",
        {"name": "Living Room Speaker"},
        "Mute the Living Room Speaker?",
    ),
    (
        "HassMediaPlayerUnmute",
        {"name": "Living Room Speaker"},
        "Unmute the Living Room Speaker?",
    ),
    (
        "HassMediaPause",
        {"name": "Living Room Speaker"},
        "Pause the Living Room Speaker?",
    ),
    (
        "HassMediaNext",
        {"name": "Living Room Speaker"},
        "Next track: the Living Room Speaker?",
    ),
    (
        "HassMediaSearchAndPlay",
        {"name": "Living Room Speaker", "search_query": "Queen"},
        "Play Queen on the Living Room Speaker?",
    ),
)


@in_one_home(("intent_type", "slots", "text"), VALUES)
async def test_a_question_says_what_an_intent_does_and_sets(
    demo_home: HomeAssistant, intent_type: str, slots: JsonObject, text: str
) -> None:
    effects = intent_effects(demo_home, intent_type, slots, conversation.DOMAIN)

    assert await question(demo_home, effects) == text
    assert await question(demo_home, effects, arguments=slots) == text
