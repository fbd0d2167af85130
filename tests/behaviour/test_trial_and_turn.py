"""A sentence that is tried is answered word for word as when it is said, and nothing happens meanwhile."""

from collections.abc import Iterator
from typing import Final

import pytest
from homeassistant.components import conversation
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockUser, async_capture_events

from custom_components.chatterbox.later.schedule import async_get_schedule
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.turns.dry_run import (
    DryAsker,
    DryConversation,
    DryOutcome,
)
from tests.support.one_home import in_one_home
from tests.support.talk import AGENT, speech

LIGHTS: Final = (
    "hallway light",
    "kitchen ceiling light",
    "kitchen pendant",
    "floor lamp",
    "bedroom light",
    "bedside lamp",
    "desk lamp",
    "bathroom light",
    "night light",
    "garden lights",
)
ROOMS: Final = (
    "kitchen",
    "living room",
    "bedroom",
    "kids room",
    "office",
    "bathroom",
    "hallway",
    "garden",
)
OTHERS: Final = (
    "lock the front door",
    "unlock the front door",
    "open the garage door",
    "close the garage door",
    "open the bedroom curtains",
    "close the bedroom curtains",
    "close the living room blinds",
    "set the living room blinds to 40 percent",
    "open the kids room blind",
    "turn on the bedroom fan",
    "turn off the bedroom fan",
    "set the bedroom fan speed to 50 percent",
    "turn on the coffee machine",
    "turn off the coffee machine",
    "turn on the printer",
    "set the living room thermostat to 22 degrees",
    "set the temperature to 21 degrees in the living room",
    "turn on the tv",
    "turn off the tv",
    "pause the living room speaker",
    "resume the living room speaker",
    "next track on the living room speaker",
    "set the living room speaker volume to 30 percent",
    "mute the living room speaker",
    "turn up the volume of the living room speaker",
    "start the robot vacuum",
    "return the robot vacuum to base",
    "send the vacuum home",
    "press the doorbell chime",
    "add milk to the shopping list",
    "what is on the shopping list",
    "activate movie night",
    "turn on movie night",
    "run good night",
    "what is the temperature in the living room",
    "what is the temperature outside",
    "what is the weather",
    "is the front door locked",
    "is the garage door open",
    "are any lights on",
    "are all lights off",
    "is the kitchen window open",
    "which lights are on",
    "how many lights are on",
    "what time is it",
    "what is the fridge temperature",
    "where is alice",
    "who is at home",
    "when was the front door last opened",
    "was the garage door open today",
    "how long was the coffee machine on yesterday",
    "turn off all the lights",
    "turn on all the lights",
    "turn off everything",
    "close all the blinds",
    "turn on the kitchen lights and close the blinds",
    "turn on the floor lamp and turn off the desk lamp",
    "turn on the floor lamp and open the garage door",
    "turn on the guest lamp",
    "turn on the lights in the attic",
    "open the pod bay doors",
    "tell me a joke",
    "good morning",
    "hello",
    "never mind",
    "thank you",
    "blah blah blah",
    "turn on",
    "what",
    "stop",
    "turn it off",
    "yes",
    "no",
    "cancel",
    "perhaps turn on the hallway light",
    "don't turn on the hallway light",
    "turn on the flaw lamp",
    "turn of the dusk lamp",
    "unlock the font door",
    "turn on the floor lamp next week",
    "remind me at six pm to call mum",
    "remind me in twenty minutes to take out the pizza",
    "remind me tomorrow at eight to water the plants",
    "remind me to call mum",
    "remind me at six to call mum",
    "wake me at seven",
    "wake me at 6:30 am",
    "turn off the coffee machine in twenty minutes",
    "turn on the hallway light at 9 pm",
    "dim the bedroom light to 30 percent in ten minutes",
    "unlock the front door in an hour",
    "lock the front door at eleven pm",
    "what have I asked you to do",
    "what alarms do I have",
    "cancel my alarm",
    "cancel everything",
    "set a timer for five minutes",
    "set a pizza timer for ten minutes",
    "how long is left on my timer",
    "cancel the timer",
    "pause the timer",
    "set the hallway light to red",
    "set the bedside lamp to warm white",
    "make the night light green",
    "start the lawn mower",
    "what can you do",
)


IN_OTHER_LANGUAGES: Final = (
    ("de", "Schalte Floor Lamp ein"),
    ("de", "Stelle Floor Lamp auf 30 Prozent"),
    ("de", "Schalte Coffee Machine in zehn Minuten aus"),
    ("de", "Erinnere mich um 18 Uhr an die Wäsche"),
    ("de", "Was hast du geplant?"),
    ("de", "Wie spät ist es?"),
    ("de", "Schließe Front Door auf"),
    ("de", "Erzähl mir was"),
    ("fr", "Allume Floor Lamp"),
    ("fr", "Déverrouille Front Door"),
    ("fr", "Rappelle-moi dans dix minutes de sortir le pain"),
    ("es", "Enciende Floor Lamp"),
    ("it", "Accendi Floor Lamp"),
    ("nl", "Zet Floor Lamp aan"),
    ("pl", "Włącz Floor Lamp"),
    ("pt-BR", "Ligue Floor Lamp"),
    ("sv", "Tänd Floor Lamp"),
    ("zh-Hans", "打开Floor Lamp"),
)


def sentences() -> Iterator[tuple[str, str]]:
    """Yield sentences with their languages."""
    for light in LIGHTS:
        yield from (("en", f"turn {way} the {light}") for way in ("on", "off"))
        yield from (
            ("en", f"is the {light} on"),
            ("en", f"set the {light} to 40 percent"),
        )
    for room in ROOMS:
        yield from (("en", f"turn {way} the {room} lights") for way in ("on", "off"))
        yield from (
            ("en", f"are the {room} lights on"),
            ("en", f"turn on the lights in the {room}"),
        )
        yield "en", f"set the {room} lights to 70 percent brightness"
    yield from (("en", other) for other in OTHERS)
    yield "en", "turn on the floor lamp " * 20
    yield from IN_OTHER_LANGUAGES


SENTENCES: Final = tuple(dict.fromkeys(sentences()))


def test_there_are_enough_sentences() -> None:
    assert len(SENTENCES) >= 200


@pytest.mark.usefixtures("offline", "freezer")
@in_one_home(("language", "text"), SENTENCES, share=7)
async def test_a_trial_says_what_the_turn_says(
    hass: HomeAssistant, hass_admin_user: MockUser, language: str, text: str
) -> None:
    speaker = Speaker(
        hass_admin_user.id,
        asking=Asking.PERSON,
        is_signed_in=True,
        person_id=hass_admin_user.id,
    )
    talk = DryConversation.with_agent(hass, AGENT, DryAsker(speaker, language))
    assert talk
    calls, plans = (
        async_capture_events(hass, EVENT_CALL_SERVICE),
        async_get_schedule(hass).plans.stored,
    )

    tried = await talk.async_say(text)
    await hass.async_block_till_done()
    assert (calls, async_get_schedule(hass).plans.stored) == ([], plans)
    context = Context(user_id=hass_admin_user.id)
    result = await conversation.async_converse(
        hass, text, None, context, language, AGENT
    )
    await hass.async_block_till_done()

    assert tried.text == speech(result)
    assert tried.question is None or result.continue_conversation


@pytest.mark.usefixtures("offline")
@in_one_home(
    ("text", "outcome"),
    [
        ("turn on the floor lamp", DryOutcome.RUNS),
        ("turn on the floor lamp in ten minutes", DryOutcome.PLANNED),
        ("remind me in ten minutes to call mum", DryOutcome.PLANNED),
        ("unlock the front door in ten minutes", DryOutcome.HELD),
        ("unlock the front door", DryOutcome.HELD),
    ],
)
async def test_a_plan_is_told_from_what_is_done_at_once(
    hass: HomeAssistant, text: str, outcome: DryOutcome
) -> None:
    talk = DryConversation.with_agent(
        hass, AGENT, DryAsker(Speaker(asking=Asking.PERSON), "en")
    )
    assert talk

    assert [one.outcome for one in (await talk.async_say(text)).calls] == [outcome]


@pytest.mark.usefixtures("offline")
async def test_no_sentence_that_is_tried_starts_an_automation(
    hass: HomeAssistant,
) -> None:
    trigger = {"platform": "conversation", "command": ["party time"]}
    action = {"action": "light.turn_on", "target": {"entity_id": "light.floor_lamp"}}
    assert await async_setup_component(
        hass,
        "automation",
        {"automation": {"triggers": [trigger], "actions": [action], "alias": "Party"}},
    )
    await hass.async_block_till_done()
    talk = DryConversation.with_agent(
        hass, AGENT, DryAsker(Speaker(asking=Asking.PERSON), "en")
    )
    assert talk

    await talk.async_say("party time")
    await hass.async_block_till_done()

    state = hass.states.get("automation.party")
    assert state
    assert state.attributes["last_triggered"] is None
