"""An answer to "Which one?" makes the request before it clear, and nothing else does; a yes to nothing is answered."""

import pytest
from homeassistant.components.homeassistant.exposed_entities import (
    async_expose_entity,
)
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.const import (
    CONF_KIND,
    CONF_LOCAL_COMMANDS,
    EVENT_TOOL_CALLED,
    ServiceKind,
)
from custom_components.chatterbox.offline.provider import SENTENCE
from tests.support.one_home import in_one_home
from tests.support.talk import add_agent, move_into_the_demo_home, say, speech

WHICH = "Which one: Bathroom Fan, Bedroom Fan?"
BATHROOM, BEDROOM = "fan.bathroom", "fan.bedroom"


@pytest.fixture(name="home")
async def move_in(hass: HomeAssistant) -> HomeAssistant:
    await move_into_the_demo_home(hass)
    await add_agent(
        hass, {CONF_KIND: ServiceKind.OFFLINE}, {CONF_LOCAL_COMMANDS: "first"}
    )
    return hass


@in_one_home(
    ("answers", "turned_on"),
    [
        (("bathroom",), {BATHROOM}),
        (("in the bedroom please",), {BEDROOM}),
        (("the bedroom fan",), {BEDROOM}),
        (("both",), {BATHROOM, BEDROOM}),
        (("no",), set()),
        (("neither",), set()),
        (("not the bathroom",), set()),
        (("bedroom fan off",), set()),
        (("bedroom off",), set()),
        (("bedroom light off",), set()),
        (("the bedroom light",), set()),
        (("bedroom curtains",), set()),
        (("everything in the bedroom",), set()),
        (("both and the tv",), set()),
        (("the kitchen",), set()),
        (("turn off the tv",), set()),
        (("never mind", "bathroom"), set()),
        (("thanks", "bathroom"), set()),
        (("what time is it", "bathroom"), set()),
        (("remind me at six to call mum", "bathroom"), set()),
    ],
    puts_back=True,
)
async def test_the_answer_to_which_one(
    home: HomeAssistant, answers: tuple[str, ...], turned_on: set[str]
) -> None:
    talk = " ".join(answers)
    calls = async_capture_events(home, "call_service")

    assert speech(await say(home, "turn on the fan", talk)) == WHICH
    for answer in answers:
        await say(home, answer, talk)
    await home.async_block_till_done()

    targets = [
        call.data["service_data"]["entity_id"]
        for call in calls
        if (call.data["domain"], call.data["service"]) == ("fan", "turn_on")
    ]
    assert {one for ids in targets for one in ids} == turned_on


async def test_a_door_that_is_chosen_needs_a_yes(home: HomeAssistant) -> None:
    home.states.async_set("lock.back_door", "locked", {"friendly_name": "Back Door"})
    async_expose_entity(home, "conversation", "lock.back_door", should_expose=True)

    async def heard(words: str) -> str:
        return speech(await say(home, words, satellite_id="assist_satellite.kitchen"))

    assert await heard("unlock the door") == "Which one: Back Door, Front Door?"
    assert await heard("the front door") == "Unlock the Front Door in the Hallway?"
    assert home.states.is_state("lock.front_door", "locked")
    assert await heard("yes") == "Unlocking"
    assert not home.states.is_state("lock.front_door", "locked")
    assert home.states.is_state("lock.back_door", "locked")


async def test_the_completed_sentence_is_written_as_it_would_be_said(
    home: HomeAssistant,
) -> None:
    tools = async_capture_events(home, EVENT_TOOL_CALLED)

    await say(home, "turn on the fan")
    await say(home, "bathroom")
    await home.async_block_till_done()

    assert [event.data["arguments"] for event in tools][-1] == {
        SENTENCE: "turn on the Bathroom Fan"
    }


async def test_a_yes_to_what_is_not_found_is_answered(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)
    options: dict[str, object] = {
        "rules": [{"verdict": "ask", "domains": ["media_player"]}]
    }
    await add_agent(hass, {CONF_KIND: ServiceKind.OFFLINE}, options)

    async def heard(words: str) -> str:
        return speech(await say(hass, words, satellite_id="assist_satellite.kitchen"))

    assert await heard("play zzzz") == "Play zzzz on the Living Room Speaker?"
    assert await heard("yes") == "I couldn't find that to play."
