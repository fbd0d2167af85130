"""Devices that heat, cool and play are set as people say it, and refuse in plain words whatever they cannot do."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er, intent
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.agent.messages import JsonValue
from custom_components.chatterbox.effects.device_intents import (
    JOIN_PLAYERS,
    PART_PLAYERS,
    SET_CLIMATE,
    SET_PLAYER,
)
from custom_components.chatterbox.effects.intents import intent_effects
from custom_components.chatterbox.effects.reported import intent_failures
from tests.support.comfort_home import done_by, move_into_the_comfort_home
from tests.support.one_home import in_one_home

SAYS = "says "
SENTENCES: Mapping[str, Mapping[str, str | list[str]]] = tomllib.loads(
    Path(__file__).with_name("device_sentences.toml").read_text("utf-8")
)


@pytest.mark.parametrize("language", SENTENCES)
async def test_devices_are_set_as_people_say_it(
    hass: HomeAssistant, language: str
) -> None:
    await move_into_the_comfort_home(hass)
    wrong = []
    for sentence, expected in SENTENCES[language].items():
        if not isinstance(expected, str):
            continue
        done, answer = await done_by(hass, sentence, language, talk=sentence)
        answer_text = f"{SAYS}{answer}" if expected.startswith(SAYS) else ""
        short = "; ".join(done).replace("climate.", "").replace("media_player.", "")
        if (answer_text or short) != expected or (answer_text and done):
            wrong.append((sentence, expected, answer_text or short, answer))
    assert wrong == []


@pytest.mark.parametrize("language", SENTENCES)
async def test_what_is_not_understood_yet_does_nothing(
    hass: HomeAssistant, language: str
) -> None:
    unreached = SENTENCES[language].get("unreached", ())
    if unreached:
        await move_into_the_comfort_home(hass)
    for sentence in unreached:
        done, _ = await done_by(hass, sentence, language, talk=sentence)
        assert [one for one in done if "search_media" not in one] == []


@pytest.fixture
async def comfort(hass: HomeAssistant) -> HomeAssistant:
    """Return the home, with an agent without a model."""
    await move_into_the_comfort_home(hass)
    return hass


@in_one_home(
    "sentence",
    [
        "don't set the AC to heat",
        "never turn on eco mode",
        "the AC was set to cool",
        "the heating",
        "bedroom heating",
        "away",
        "sleep",
        "home",
        "low",
        "netflix",
        "hdmi 2",
        "set the floor lamp to cool",
        "set the AC to heat and cool and dry",
        "set the AC to heat to 25 and cool to 21",
        "keep the milk between 21 and 24",
        "why is the AC in dry mode",
        "is the AC in dry mode?",
        "dry the towels",
        "get out of eco mode",
        "change the AC from cool to heat",
        "cool",
        "repeat after me",
        "shuffle the cards",
        "join the army",
        "join the kitchen speaker with the attic speaker",
        "set the humidity",
        "humidity 50",
        "pause the army everywhere",
    ],
)
async def test_what_only_sounds_alike_does_nothing(
    comfort: HomeAssistant, sentence: str
) -> None:
    done, _ = await done_by(comfort, sentence, talk=sentence)
    assert done == []


@in_one_home(
    ("language", "sentence"),
    [
        ("pt", "muda o ar condicionado de arrefecimento para aquecimento"),
        ("sv", "ställ luftkonditioneringen från kyla till värme"),
        ("zh", "把空调从制冷改成制热"),
    ],
)
async def test_of_two_modes_neither_is_set(
    comfort: HomeAssistant, language: str, sentence: str
) -> None:
    done, _ = await done_by(comfort, sentence, language, talk=sentence)
    assert done == []


async def _set(home: HomeAssistant, intent_type: str, **values: object) -> str:
    """Handle an intent as for a tool; return why it fails, or what it has acted on."""
    slots = {slot: {"value": value} for slot, value in values.items()}
    try:
        response = await intent.async_handle(
            home, "test", intent_type, slots, assistant="conversation"
        )
    except intent.IntentError as error:
        return str(error.__cause__ or error)
    return " ".join(str(one.id) for one in response.success_results)


@in_one_home(
    ("intent_type", "values", "outcome"),
    [
        (
            SET_CLIMATE,
            {"name": "Bedroom Heater", "hvac_mode": "cool"},
            "It has: Off, Heat",
        ),
        (SET_CLIMATE, {"name": "Bedroom Heater", "preset_mode": "eco"}, "features"),
        (SET_CLIMATE, {"name": "Office Climate", "humidity": 400}, "30 to 99"),
        (
            SET_CLIMATE,
            {"name": "Living Room AC", "hvac_mode": "cool", "temperature": 90},
            "7 to 35",
        ),
        (
            SET_CLIMATE,
            {"name": "Living Room AC", "target_temp_low": 25, "target_temp_high": 20},
            "cannot be higher",
        ),
        (SET_CLIMATE, {"hvac_mode": "heat"}, "Multiple entities"),
        (SET_CLIMATE, {"area": "Attic", "hvac_mode": "heat"}, "attic"),
        (SET_CLIMATE, {"name": "Living Room AC"}, "what should be set"),
        (SET_PLAYER, {"name": "TV", "source": "HDMI 9"}, "HDMI 1, HDMI 2, Netflix"),
        (SET_PLAYER, {"name": "TV", "shuffle": True}, "features"),
        (JOIN_PLAYERS, {"name": "Kitchen Speaker", "members": ["TV"]}, "features"),
        (JOIN_PLAYERS, {"name": "TV", "members": ["Kitchen Speaker"]}, "features"),
        (PART_PLAYERS, {"name": "Bedroom Radio"}, "features"),
        (PART_PLAYERS, {}, "Multiple entities"),
    ],
)
async def test_what_a_device_cannot_do_is_told_and_nothing_is_done(
    comfort: HomeAssistant, intent_type: str, values: dict[str, object], outcome: str
) -> None:
    calls = async_capture_events(comfort, "call_service")
    assert outcome.lower() in (await _set(comfort, intent_type, **values)).lower()
    assert calls == []


async def test_all_of_a_place_that_can_are_set(comfort: HomeAssistant) -> None:
    shuffled = await _set(comfort, SET_PLAYER, area="Living Room", shuffle=True)
    assert shuffled == "media_player.living_room"


async def test_what_some_of_a_place_cannot_do_is_told(comfort: HomeAssistant) -> None:
    for one in ("living_room", "bedroom", "office"):
        er.async_get(comfort).async_update_entity(f"climate.{one}", area_id="office")
    slots = {"area": {"value": "Office"}, "fan_mode": {"value": "low"}}

    with intent_failures() as failures:
        response = await intent.async_handle(
            comfort, "test", SET_CLIMATE, slots, assistant="conversation"
        )

    assert [one.id for one in response.success_results] == ["climate.living_room"]
    assert [one.id for one in response.failed_results] == ["climate.office"]
    assert "It has: Quiet, Turbo" in str(failures["climate.office"])


async def test_a_device_that_fails_is_told_beside_those_that_do_not(
    comfort: HomeAssistant,
) -> None:
    for one in ("kitchen", "bathroom"):
        er.async_get(comfort).async_update_entity(
            f"media_player.{one}", area_id="kitchen"
        )

    async def shuffle(call: ServiceCall) -> None:
        if "media_player.kitchen" in call.data["entity_id"]:
            raise HomeAssistantError("It is broken")

    comfort.services.async_register("media_player", "shuffle_set", shuffle)
    slots = {"area": {"value": "Kitchen"}, "shuffle": {"value": True}}

    response = await intent.async_handle(
        comfort, "test", SET_PLAYER, slots, assistant="conversation"
    )

    assert [one.id for one in response.success_results] == ["media_player.bathroom"]
    assert [one.id for one in response.failed_results] == ["media_player.kitchen"]


async def test_devices_write_their_values_as_they_like(comfort: HomeAssistant) -> None:
    assert await _set(comfort, SET_CLIMATE, name="Office Climate", fan_mode="TURBO")
    state = comfort.states.get("climate.office")
    assert state
    assert state.attributes["fan_mode"] == "Turbo"


@in_one_home(
    ("intent_type", "values", "actions"),
    [
        (
            SET_CLIMATE,
            {"name": "Living Room AC", "hvac_mode": "cool", "temperature": 21.0},
            "climate.living_room: set_hvac_mode set_temperature turn_on",
        ),
        (
            SET_CLIMATE,
            {"name": "Living Room AC", "hvac_mode": "off"},
            "climate.living_room: set_hvac_mode turn_off",
        ),
        (
            SET_CLIMATE,
            {"area": "office", "target_temp_low": 20.0, "target_temp_high": 23.0},
            "climate.office: set_hvac_mode set_temperature",
        ),
        (
            JOIN_PLAYERS,
            {"name": "Kitchen Speaker", "members": ["Bathroom"]},
            "media_player.bathroom: join; media_player.kitchen: join",
        ),
        (JOIN_PLAYERS, {"name": "Kitchen Speaker", "members": ["Attic"]}, ""),
        (PART_PLAYERS, {"name": "Kitchen Speaker"}, "media_player.kitchen: unjoin"),
        (
            SET_PLAYER,
            {"name": "TV", "source": "HDMI 1"},
            "media_player.tv: select_source",
        ),
    ],
)
async def test_all_that_a_call_may_do_is_known_before(
    comfort: HomeAssistant, intent_type: str, values: dict[str, JsonValue], actions: str
) -> None:
    effects = intent_effects(comfort, intent_type, values, "conversation")
    assert effects.is_known
    found: dict[str, set[str]] = {}
    for one in effects.actions:
        found.setdefault(one.entity_id, set()).add(one.action.partition(".")[2])
    answer_text = [
        f"{key}: {' '.join(sorted(one))}" for key, one in sorted(found.items())
    ]
    assert "; ".join(answer_text) == actions
