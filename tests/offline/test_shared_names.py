"""Of several entities with one name, the only one that a sentence can act on is meant."""

import pytest
from homeassistant.components import conversation
from homeassistant.components.climate import ClimateEntityFeature
from homeassistant.components.conversation import ConversationInput
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.effects.effect import NOTHING, actions_of
from custom_components.chatterbox.offline.sentence_effects import async_sentence_effects
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import satellite
from tests.support.offline_talk import HOME, Talk

SENSOR = "  - { name: Front Door, id: binary_sensor.front_door, area: hallway, attributes: { device_class: lock } }\n"
SECOND = "  - { name: Front Door, id: lock.second, area: kitchen, state: locked }\n"
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


async def test_nothing_is_foreseen_of_what_is_refused_for_its_name(hass: HomeAssistant) -> None:
    talk = await talk_in(hass, HOME + SENSOR + SECOND)
    agent = conversation.HOME_ASSISTANT_AGENT
    user_input = ConversationInput("unlock the front door", Context(), None, None, None, "en", agent)
    in_the_kitchen = ConversationInput("unlock the front door in the kitchen", Context(), None, None, None, "en", agent)

    assert await async_sentence_effects(hass, user_input, talk.conversation_id) == NOTHING
    assert await talk.say(user_input.text) == REFUSED
    assert hass.states.is_state("lock.front_door", "locked")
    found = actions_of(await async_sentence_effects(hass, in_the_kitchen, talk.conversation_id))
    assert [action.entity_id for action in found] == ["lock.second"]


@pytest.mark.parametrize("home", [HOME + SENSOR, HOME + SENSOR + SECOND], ids=["one lock", "two locks"])
async def test_a_delayed_command_that_would_be_refused_for_its_name_is_refused_at_once(
    hass: HomeAssistant, home: str
) -> None:
    talk = await talk_in(hass, home)

    assert await talk.say("unlock the front door in 5 minutes") == f"{LATER} {REFUSED}"
    assert hass.states.is_state("lock.front_door", "locked")


@pytest.mark.parametrize(
    ("text", "place", "answer"),
    [
        ("what is the temperature in the kitchen?", "", "Left: 20.5 degrees, Right: 19 degrees"),
        ("what is the temperature?", "kitchen", "Left: 20.5 degrees, Right: 19 degrees"),
        ("what is the temperature in the hallway?", "kitchen", "17 degrees"),
        ("set the temperature in the kitchen to 20 degrees", "", "Sorry, more than one device matched your request"),
    ],
)
async def test_the_temperature_of_each_thermostat_is_told(
    hass: HomeAssistant, text: str, place: str, answer: str
) -> None:
    several = (("left", "kitchen", 20.5), ("right", "kitchen", 19), ("idle", "kitchen", None), ("hall", "hallway", 17))
    talk = await talk_in(hass, HOME)
    assert await async_setup_component(hass, "climate", {})
    for name, area, temperature in several:
        entity = er.async_get(hass).async_get_or_create("climate", "test", name, suggested_object_id=name)
        er.async_get(hass).async_update_entity(entity.entity_id, area_id=area)
        features = ClimateEntityFeature.TARGET_TEMPERATURE
        attributes = {"friendly_name": name.title(), "current_temperature": temperature, "supported_features": features}
        hass.states.async_set(entity.entity_id, "heat", attributes)
        async_expose_entity(hass, conversation.DOMAIN, entity.entity_id, should_expose=True)
    talk.device_id = satellite(hass, place) if place else None

    assert await talk.say(text) == answer
