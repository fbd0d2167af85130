"""An answer to "Which one?" makes the request before it clear, and nothing else does; a yes to nothing is answered."""

import pytest
from homeassistant.components.homeassistant.exposed_entities import (
    async_expose_entity,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.config_validation import ensure_list
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.const import (
    CONF_KIND,
    CONF_LOCAL_COMMANDS,
    EVENT_TOOL_CALLED,
    ServiceKind,
)
from custom_components.chatterbox.offline.provider import SENTENCE
from tests.support.one_home import in_one_home
from tests.support.talk import (
    DOOR,
    add_agent,
    move_into_the_demo_home,
    say,
    speech,
)

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


@in_one_home(
    ("language", "talk", "touched"),
    [
        ("en", ("it's too dark", "bedroom"), {"light.bedroom", "light.bedside_lamp"}),
        ("en", ("it's too dark in here", "the garage"), {"light.garage"}),
        ("en", ("brighter", "in the garage"), {"light.garage"}),
        ("de", ("es ist zu dunkel", "Garage"), {"light.garage"}),
        ("zh-Hans", ("太暗了", "Garage"), {"light.garage"}),
        ("en", ("it's too dark", "no"), set()),
        ("en", ("it's too dark", "yes"), set()),
        ("en", ("it's too dark", "bedroom curtains"), set()),
        ("en", ("it's too dark", "what time is it", "bedroom"), set()),
        ("en", ("don't make it brighter", "bedroom"), set()),
        ("en", ("it's too dark at 8 pm", "bedroom"), set()),
        ("en", ("it's too dark and turn on the fan", "bedroom"), set()),
    ],
    puts_back=True,
)
async def test_without_a_room_it_is_asked_where_it_is_too_dark(
    home: HomeAssistant, language: str, talk: tuple[str, ...], touched: set[str]
) -> None:
    calls = async_capture_events(home, "call_service")

    for words in talk:
        await say(home, words, " ".join(talk), language=language)
    await home.async_block_till_done()

    targets: list[list[str]] = [
        ensure_list(call.data["service_data"].get("entity_id")) for call in calls
    ]
    assert {one for ids in targets for one in ids} == touched


async def test_the_only_light_at_home_is_meant_without_a_room(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass, frozenset({"light.bedroom", DOOR}))
    await add_agent(hass, {CONF_KIND: ServiceKind.OFFLINE}, {})

    await say(hass, "it's too dark")

    assert hass.states.is_state("light.bedroom", "on")


async def test_a_room_that_is_as_bright_as_it_gets_is_told(home: HomeAssistant) -> None:
    await say(home, "turn on the garage light")

    assert "Which one" in speech(await say(home, "brighter", "b"))

    assert speech(await say(home, "garage", "b")) == "Garage light is on"


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


async def test_a_list_that_was_read_is_the_one_that_follows(
    home: HomeAssistant,
) -> None:
    await say(home, "what's on my shopping list?")
    await say(home, "put butter on it")

    assert "butter" in speech(await say(home, "what's on it?")).lower()
    assert "Butter" not in speech(await say(home, "what's on my to-do list?"))
