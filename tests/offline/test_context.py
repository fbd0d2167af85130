"""The meaning of "it" and "them" after a question in between."""

import pytest
from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from tests.demo_house.move_in import move_in
from tests.support.llm_apis import satellite
from tests.support.offline_talk import HOME, Talk
from tests.support.one_home import in_one_home

WEATHER = """
  - { name: Kitchen Blinds, id: cover.kitchen, area: kitchen, state: open, attributes: { device_class: blind } }
  - { name: Outside, id: weather.outside, state: sunny, attributes: { temperature: 14 } }
"""

THERMOSTAT = """
  - name: Kitchen Thermostat
    id: climate.kitchen
    area: kitchen
    state: heat
    attributes: { hvac_modes: ["off", heat], current_temperature: 20, target_temperature: 19 }
"""


@pytest.fixture
async def talk(hass: HomeAssistant) -> Talk:
    """Return a conversation in a home."""
    await move_in(hass, HOME + WEATHER)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return Talk(hass)


@in_one_home("question", ["what time is it", "what is the date", "what's the weather"])
async def test_a_question_in_between_does_not_take_the_word_from_what_was_done(
    talk: Talk, question: str
) -> None:
    await talk.say("turn on the kitchen lights")
    await talk.say(question)
    await talk.say("turn them off again")

    assert talk.hass.states.is_state("light.kitchen_ceiling", "off")
    assert talk.hass.states.is_state("light.counter", "off")


async def test_what_was_asked_for_last_is_meant_first(talk: Talk) -> None:
    await talk.say("turn on the counter lamp")
    await talk.say("is the hallway light on")
    await talk.say("turn it off")

    assert talk.hass.states.is_state("light.hallway", "off")
    assert talk.hass.states.is_state("light.counter", "on")


async def test_what_was_done_last_is_meant_however_many_questions_came_before(
    talk: Talk,
) -> None:
    await talk.say("is the front door locked")
    await talk.say("turn on the counter lamp")
    await talk.say("is the front door locked")
    await talk.say("what time is it")
    await talk.say("turn off the hallway light")
    await talk.say("what is the date")
    await talk.say("turn it on again")

    assert talk.hass.states.is_state("light.hallway", "on")
    assert talk.hass.states.is_state("light.counter", "on")


async def test_a_sentence_that_nothing_explains_is_refused_once(talk: Talk) -> None:
    await talk.say("turn on the counter lamp")
    await talk.say("what time is it")
    spoken = await talk.say("what is the meaning of life")

    assert talk.results[-1].is_error
    assert spoken.startswith("Sorry")
    assert len(talk.results) == 3


@in_one_home(
    ("again", "lights", "blinds"),
    [
        ("turn them on again", "on", "closed"),
        ("open them again", "off", "open"),
        ("close them", "off", "closed"),
    ],
)
async def test_them_after_a_compound_command_is_what_the_word_fits(
    talk: Talk, again: str, lights: str, blinds: str
) -> None:
    await talk.say("turn on the kitchen lights")
    await talk.say("turn off the lights and close the blinds in the kitchen")
    await talk.say(again)

    assert talk.hass.states.is_state("light.counter", lights)
    assert talk.hass.states.is_state("cover.kitchen", blinds)


async def test_them_never_turns_on_blinds_beside_a_light(talk: Talk) -> None:
    await talk.say("close the kitchen blinds and turn off the hallway light")
    await talk.say("turn them on")

    assert talk.hass.states.is_state("light.hallway", "on")
    assert talk.hass.states.is_state("cover.kitchen", "closed")


async def test_off_without_a_name_is_no_mode_of_the_heating(
    hass: HomeAssistant,
) -> None:
    await move_in(hass, HOME + THERMOSTAT)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    talk = Talk(hass, device_id=satellite(hass, "kitchen"))
    for words in ("turn it off", "switch it off", "turn off"):
        await talk.say(words)
        assert "no_intent_match" in talk.results[-1].content, words

    await talk.say("turn off the thermostat")
    assert hass.states.is_state("climate.kitchen", "off")
