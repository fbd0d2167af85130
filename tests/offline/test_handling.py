"""Of several entities with one name, the only one that a sentence can act on is meant."""

from pathlib import Path

import pytest
from homeassistant.components import conversation
from homeassistant.components.climate import ClimateEntityFeature
from homeassistant.components.conversation import ConversationInput
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.effects.effect import NOTHING
from custom_components.chatterbox.offline.sentence_effects import async_sentence_effects
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import satellite
from tests.support.offline_talk import HOME, Talk
from tests.support.one_home import in_one_home

SENSOR = "  - { name: Front Door, id: binary_sensor.front_door, area: hallway, attributes: { device_class: lock } }\n"
SECOND = "  - { name: Front Door, id: lock.second, area: kitchen, state: locked }\n"
BLINDS = (
    "  - { name: Front Door, id: cover.front_door, area: kitchen, state: closed }\n"
)
REFUSED = "Sorry, there are multiple devices called Front Door"
LATER = "I haven't planned “unlock the front door”: I can't do that later."


async def talk_in(hass: HomeAssistant, home: str, language: str = "en") -> Talk:
    await move_in(hass, home)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return Talk(hass, language)


@pytest.mark.parametrize(
    ("language", "text", "answer"),
    [
        ("en", "unlock the front door", "Unlocking"),
        ("en", "unlock the front door in the hallway", "Unlocking"),
        ("de", "Schließe Front Door auf", "entsperrt"),
    ],
)
async def test_the_only_one_that_can_be_acted_on_is_meant(
    hass: HomeAssistant, language: str, text: str, answer: str
) -> None:
    talk = await talk_in(hass, HOME + SENSOR, language)

    assert await talk.say(text) == answer
    assert hass.states.is_state("lock.front_door", "unlocked")


async def test_nothing_is_foreseen_of_what_is_refused_for_its_name(
    hass: HomeAssistant,
) -> None:
    talk = await talk_in(hass, HOME + SENSOR + SECOND)
    agent = conversation.HOME_ASSISTANT_AGENT
    user_input = ConversationInput(
        "unlock the front door",
        Context(),
        talk.conversation_id,
        None,
        None,
        "en",
        agent,
    )
    in_the_kitchen = ConversationInput(
        "unlock the front door in the kitchen",
        Context(),
        talk.conversation_id,
        None,
        None,
        "en",
        agent,
    )

    assert await async_sentence_effects(hass, user_input) == NOTHING
    assert await talk.say(user_input.text) == REFUSED
    assert hass.states.is_state("lock.front_door", "locked")
    found = (await async_sentence_effects(hass, in_the_kitchen)).actions
    assert [action.entity_id for action in found] == ["lock.second"]


@pytest.mark.parametrize(
    ("home", "answer"),
    [
        (HOME + SENSOR, "Unlocking"),
        (HOME + SENSOR + SECOND, REFUSED),
        (HOME + BLINDS, REFUSED),
    ],
    ids=["one lock", "two locks", "blinds"],
)
async def test_a_name_of_several_means_the_same_in_a_room_that_has_none_of_them(
    hass: HomeAssistant, home: str, answer: str
) -> None:
    await talk_in(hass, home)
    attic = ar.async_get(hass).async_create("Attic")
    talk = Talk(hass, "en", device_id=satellite(hass, attic.id))

    assert await talk.say("unlock the front door") == answer


PLAYERS = """
  - name: TV
    id: media_player.tv
    area: kitchen
    state: "off"
    attributes: { supported_features: [VOLUME_SET, VOLUME_STEP], volume_level: 0.4 }
  - name: Radio
    id: media_player.radio
    area: kitchen
    state: paused
    attributes: { supported_features: [VOLUME_SET, VOLUME_STEP], volume_level: 0.4 }
"""


async def test_of_several_players_the_one_that_is_on_becomes_louder(
    hass: HomeAssistant,
) -> None:
    await talk_in(hass, HOME + PLAYERS)
    talk = Talk(hass, "fr", device_id=satellite(hass, "kitchen"))

    assert await talk.say("monte le son") == "Volume ajusté"
    radio = hass.states.get("media_player.radio")
    assert radio
    assert radio.attributes["volume_level"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    "home", [HOME + SENSOR, HOME + SENSOR + SECOND], ids=["one lock", "two locks"]
)
async def test_a_delayed_command_that_would_be_refused_for_its_name_is_refused_at_once(
    hass: HomeAssistant, home: str
) -> None:
    talk = await talk_in(hass, home)

    assert await talk.say("unlock the front door in 5 minutes") == f"{LATER} {REFUSED}"
    assert hass.states.is_state("lock.front_door", "locked")


@pytest.mark.parametrize(
    ("text", "place", "answer"),
    [
        (
            "what is the temperature in the kitchen?",
            "",
            "Left: 20.5 degrees, Right: 19 degrees",
        ),
        (
            "what is the temperature?",
            "kitchen",
            "Left: 20.5 degrees, Right: 19 degrees",
        ),
        ("what is the temperature in the hallway?", "kitchen", "17 degrees"),
        (
            "set the temperature in the kitchen to 20 degrees",
            "",
            "Sorry, more than one device matched your request",
        ),
    ],
)
async def test_the_temperature_of_each_thermostat_is_told(
    hass: HomeAssistant, text: str, place: str, answer: str
) -> None:
    several = (
        ("left", "kitchen", 20.5),
        ("right", "kitchen", 19),
        ("idle", "kitchen", None),
        ("hall", "hallway", 17),
    )
    talk = await talk_in(hass, HOME)
    assert await async_setup_component(hass, "climate", {})
    for name, area, temperature in several:
        entity = er.async_get(hass).async_get_or_create(
            "climate", "test", name, suggested_object_id=name
        )
        er.async_get(hass).async_update_entity(entity.entity_id, area_id=area)
        features = ClimateEntityFeature.TARGET_TEMPERATURE
        attributes = {
            "friendly_name": name.title(),
            "current_temperature": temperature,
            "supported_features": features,
        }
        hass.states.async_set(entity.entity_id, "heat", attributes)
        async_expose_entity(
            hass, conversation.DOMAIN, entity.entity_id, should_expose=True
        )
    talk.device_id = satellite(hass, place) if place else None

    assert await talk.say(text) == answer


THERMOSTAT = """
areas:
  - { id: salon, name: Salon }
entities:
  - id: climate.salon
    name: Thermostat
    area: salon
    state: heat
    attributes: { current_temperature: 20, target_temperature: 19, target_temperature_step: 0.5 }
"""


@in_one_home(
    ("language", "text", "temperature"),
    [
        (
            "en",
            "set the temperature in the salon to twenty three point five degrees",
            23.5,
        ),
        ("en", "set the temperature in the salon to 19.5 °C", 19.5),
        (
            "de",
            "stelle die Temperatur im Salon auf einundzwanzig Komma fünf Grad",
            21.5,
        ),
        ("es", "pon la temperatura de Salon a veintidós coma cinco grados", 22.5),
        ("fr", "règle la température du Salon à vingt et un virgule cinq degrés", 21.5),
        ("it", "imposta la temperatura in Salon a ventitré virgola cinque gradi", 23.5),
        ("nl", "zet de temperatuur in Salon op tweeëntwintig komma vijf graden", 22.5),
        (
            "pl",
            "ustaw temperaturę w Salon na dwadzieścia dwa przecinek pięć stopni",
            22.5,
        ),
        (
            "pt",
            "define a temperatura em Salon para vinte e dois vírgula cinco graus",
            22.5,
        ),
        ("sv", "sätt temperaturen i Salon till tjugotvå grader", 22),
        ("zh-Hans", "把Salon温度调到二十三点五度", 23.5),
    ],
)
async def test_a_number_in_words_is_set_and_told(
    thermostat: HomeAssistant, language: str, text: str, temperature: float
) -> None:
    talk = Talk(thermostat, language, text)

    answer = await talk.say(text)

    state = thermostat.states.get("climate.salon")
    assert state
    assert state.attributes["temperature"] == temperature
    assert answer
    assert not any(result.is_error for result in talk.results)


@pytest.fixture
async def thermostat(hass: HomeAssistant) -> HomeAssistant:
    await talk_in(hass, THERMOSTAT)
    return hass


async def test_what_cannot_be_worded_is_told_as_done(hass: HomeAssistant) -> None:
    sentences = Path(hass.config.config_dir) / "custom_sentences" / "en"
    sentences.mkdir(parents=True)
    (sentences / "broken.yaml").write_text(
        'language: en\nintents:\n  HassTurnOff:\n    data:\n      - sentences: ["let it be dark at {name}"]\n'
        '        response: broken\nresponses:\n  intents:\n    HassTurnOff:\n      broken: "{{ 1 / 0 }}"\n',
        encoding="utf-8",
    )
    talk = await talk_in(hass, HOME)

    assert await talk.say("let it be dark at Hallway Light") == "Done: Hallway Light."
    assert hass.states.is_state("light.hallway", "off")
