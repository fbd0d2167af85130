"""Nothing is done, and nothing offered, for a sentence of which some words are passed over."""

import pytest
from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationResult
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_capture_events

from tests.support.config_entries import offline_entry, set_up
from tests.support.one_home import in_one_home
from tests.support.talk import AGENT, move_into_the_demo_home, speech

PROHIBITIONS = [
    *(
        "perhaps turn on the hallway light",
        "should I turn off the hallway light",
        "maybe open the bedroom curtains",
    ),
    "don't turn on the hallway light",
    "do not turn off the hallway light",
    "please don't open the bedroom curtains",
    "turn off all the lights except the lava lamp",
    "did you turn on the hallway light",
]
OTHER_TIMES = [
    *(
        "next week",
        "this weekend",
        "on monday",
        "in december",
        "for christmas",
        "in the summer",
        "every other day",
    ),
    *("twice", "at lunch", "soon", "in half an hour or so"),
]
OTHER_ACTS = [
    *("stop the vacuum", "find the keys"),
    "turn on the hallway light and find the keys",
]


@pytest.fixture
async def permissive(hass: HomeAssistant) -> None:
    """Set up an agent that may do everything, in the demo home."""
    await move_into_the_demo_home(hass)
    await set_up(hass, offline_entry(rules=[{"verdict": "allow"}]))


async def say(hass: HomeAssistant, text: str) -> ConversationResult:
    """Say something at a satellite."""
    place = "assist_satellite.hall"
    return await conversation.async_converse(
        hass, text, "a-talk", Context(), "en", AGENT, satellite_id=place
    )


@pytest.mark.usefixtures("permissive")
@in_one_home(
    "text",
    [*(f"turn on the hallway light {time}" for time in OTHER_TIMES), *OTHER_ACTS],
    share=3,
)
async def test_what_is_said_with_another_time_or_verb_is_not_done_now(
    hass: HomeAssistant, text: str
) -> None:
    actions = async_capture_events(hass, EVENT_CALL_SERVICE)

    answer = await say(hass, text)
    await say(hass, "yes")
    await say(hass, "no")  # what comes again is read back
    await hass.async_block_till_done()

    assert (
        not answer.response.error_code
        or speech(answer) == "Sorry, I couldn't understand that"
    )
    assert actions == []


@pytest.mark.usefixtures("permissive")
@in_one_home("text", PROHIBITIONS)
async def test_what_is_not_asked_for_is_not_offered(
    hass: HomeAssistant, text: str
) -> None:
    actions = async_capture_events(hass, EVENT_CALL_SERVICE)

    answer = await say(hass, text)
    await hass.async_block_till_done()

    assert (speech(answer), answer.continue_conversation) == (
        "Sorry, I couldn't understand that",
        False,
    )
    assert actions == []


@pytest.mark.usefixtures("permissive")
async def test_a_yes_after_a_reminder_without_a_time_does_nothing(
    hass: HomeAssistant,
) -> None:
    actions = async_capture_events(hass, EVENT_CALL_SERVICE)

    question = speech(await say(hass, "remind me to turn off the hallway light"))
    await say(hass, "yes")
    await hass.async_block_till_done()

    assert (question, actions) == ("When should I remind you?", [])


@pytest.mark.usefixtures("offline")
@in_one_home(
    "text",
    [
        "turn off the kitchen lights and close the bedroom curtains",
        "could you please switch off the kitchen lights",
        "turn off the counter light",
    ],
)
async def test_a_sentence_that_is_wholly_explained_is_done_at_once(
    hass: HomeAssistant, text: str
) -> None:
    actions = async_capture_events(hass, EVENT_CALL_SERVICE)

    answer = await say(hass, text)
    await hass.async_block_till_done()

    assert not answer.continue_conversation
    assert actions


async def test_a_question_about_a_delayed_command_names_the_delay(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass)
    await set_up(hass, offline_entry())

    question = speech(await say(hass, "unlock the front door in 5 minutes"))
    answer = speech(await say(hass, "yes, unlock the front door"))

    assert question.endswith("in 5 minutes. Unlock the Front Door in the Hallway?")
    assert answer.endswith("in 5 minutes: unlock the Front Door in the Hallway.")


async def test_a_question_that_is_read_is_answered(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)
    await set_up(hass, offline_entry())

    answer = await say(hass, "could you tell me whether the front door is locked")

    assert (speech(answer), answer.continue_conversation) == ("Yes", False)


async def test_where_nobody_can_be_asked_it_is_not_understood_either(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass)
    await set_up(hass, offline_entry(trusted_callers=["script.ask"]))
    ask = {
        "action": "conversation.process",
        "data": {"text": PROHIBITIONS[0], "agent_id": AGENT},
    }
    steps = [
        {**ask, "response_variable": "said"},
        {"stop": "", "response_variable": "said"},
    ]
    assert await async_setup_component(
        hass, "script", {"script": {"ask": {"sequence": steps}}}
    )

    words = await hass.services.async_call(
        "script", "ask", blocking=True, return_response=True
    )

    assert "Sorry, I couldn't understand that" in str(words)
    assert "turn on the kitchen light" in str(words)
    assert hass.states.is_state("light.hallway", "off")
