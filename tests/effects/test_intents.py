"""The traits of an intent, known by its handler: whether it reads, how it names entities, and which it leaves out."""

from typing import override

import pytest
from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.effects.intents import (
    Naming,
    intent_naming,
    is_foreign_intent,
    is_question_intent,
    is_reading_intent,
    missed_by_intent,
)
from tests.demo_house.move_in import move_in
from tests.support.one_home import in_one_home

HOME = """
areas:
  - { id: hall, name: Hall }
entities:
  - { name: Lamp, id: light.lamp, area: hall, state: "off" }
  - { name: Radio, id: media_player.radio, area: hall, state: playing, attributes: { supported_features: [PAUSE] } }
  - { name: Screen, id: media_player.screen, area: hall, state: idle, attributes: { supported_features: [PAUSE] } }
"""
WHERE = ("name", "area", "floor")


class Foreign(intent.IntentHandler):
    """A handler of an integration that is not Home Assistant's."""

    intent_type = "Brew"

    @override
    async def async_handle(self, intent_obj: intent.Intent) -> intent.IntentResponse:
        return intent_obj.create_response()


class ForeignService(intent.ServiceIntentHandler):
    """A handler that calls an action, and may do more."""

    @override
    async def async_call_service(
        self, domain: str, service: str, intent_obj: intent.Intent, state: object
    ) -> None:
        """Do nothing."""


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    for domain in ("homeassistant", conversation.DOMAIN, "climate", "media_player"):
        assert await async_setup_component(hass, domain, {})
    await move_in(hass, HOME)
    intent.async_register(hass, Foreign())
    intent.async_register(hass, ForeignService("Steam", "light", "turn_on"))
    return hass


@in_one_home(
    ("intent_type", "reads", "asks", "is_foreign", "naming"),
    [
        ("HassTurnOn", True, False, False, Naming(WHERE, takes_domain=True)),
        (
            "HassMediaPause",
            True,
            False,
            False,
            Naming(WHERE, frozenset({"media_player"}), takes_domain=True),
        ),
        (
            "HassClimateSetTemperature",
            False,
            False,
            False,
            Naming(WHERE, frozenset({"climate"})),
        ),
        ("HassStartTimer", False, False, False, Naming()),
        ("HassGetState", True, True, False, Naming()),
        ("Brew", False, False, True, Naming()),
        ("Steam", True, False, True, Naming(WHERE, takes_domain=True)),
        ("Unknown", True, False, False, Naming()),
    ],
)
async def test_an_intent_is_known_by_its_handler(
    home: HomeAssistant,
    intent_type: str,
    *,
    reads: bool,
    asks: bool,
    is_foreign: bool,
    naming: Naming,
) -> None:
    assert is_reading_intent(home, intent_type) is reads
    assert is_question_intent(home, intent_type) is asks
    assert is_foreign_intent(home, intent_type) is is_foreign
    assert intent_naming(home, intent_type) == naming


@in_one_home(
    ("intent_type", "slots", "missed"),
    [
        ("HassMediaPause", {"area": "Hall"}, {"media_player.screen"}),
        ("HassMediaPause", {"area": "Hall", "name": "all"}, {"media_player.screen"}),
        ("HassMediaPause", {"name": "Radio"}, set()),
        ("HassTurnOn", {"name": "Radio", "area": "Hall"}, set()),
        ("HassTurnOn", {"name": "Fan"}, intent.MatchFailedReason.NAME),
        ("HassTurnOn", {"name": "all"}, set()),
        ("HassStartTimer", {"name": "Lamp"}, set()),
    ],
)
async def test_an_intent_leaves_out_what_its_handler_would(
    home: HomeAssistant, intent_type: str, slots: JsonObject, missed: object
) -> None:
    left_out = missed_by_intent(
        home, intent_type, slots, conversation.DOMAIN, intent.MatchTargetsPreferences()
    )

    reason = (
        left_out.result.no_match_reason
        if isinstance(left_out, intent.MatchFailedError)
        else left_out
    )
    assert reason == missed
