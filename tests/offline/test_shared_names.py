"""Of several entities with one name, the only one that a sentence can act on is meant."""

import pytest
from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationInput
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.effects.effect import NOTHING, actions_of
from custom_components.chatterbox.offline.sentence_effects import async_sentence_effects
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import satellite
from tests.support.offline_talk import HOME, Talk

SENSOR = "  - { name: Front Door, id: binary_sensor.front_door, area: hallway, attributes: { device_class: lock } }\n"
SECOND = "  - { name: Front Door, id: lock.second, area: kitchen, state: locked }\n"
REFUSED = "Sorry, there are multiple devices called Front Door"
LATER = "Command will be executed in 5 minutes"


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

    assert await talk.say("unlock the front door in 5 minutes") == REFUSED
    assert hass.states.is_state("lock.front_door", "locked")
    assert await talk.say("turn on the counter lamp in 5 minutes") == LATER


async def test_a_delayed_command_means_the_one_in_the_room_of_the_speaker(hass: HomeAssistant) -> None:
    talk = await talk_in(hass, HOME + SECOND)
    talk.device_id = satellite(hass, "kitchen")

    assert await talk.say("unlock the front door in 5 minutes") == LATER
