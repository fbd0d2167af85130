"""Where a model insists, leaves something undone or goes astray, the person is asked about what they said."""

from collections.abc import AsyncGenerator, Sequence

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.util.ulid import ulid_now
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import MockUser, async_mock_service

from tests.demo_house.move_in import move_in
from tests.support.config_entries import prepare, server_entry, set_up
from tests.support.home_rules import set_home_rules
from tests.support.one_home import in_one_home
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import AGENT, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")

HOME = """
floors:
  - { id: ground, name: Ground }
  - { id: upstairs, name: Upstairs }
areas:
  - { id: living_room, name: Living Room, floor: ground }
  - { id: entry, name: Entry, floor: ground }
  - { id: bedroom, name: Bedroom, floor: upstairs }
  - { id: bath, name: Bath, floor: upstairs }
  - { id: yard, name: Front Yard }
entities:
  - { id: light.living_room, name: Living Room Light, area: living_room, state: "on" }
  - { id: light.bedroom, name: Bedroom Light, area: bedroom, state: "on" }
  - { id: light.bath, name: Mirror, area: bath, state: "on" }
  - { id: lock.rear, name: Rear Door Lock, area: living_room, state: locked }
  - { id: lock.smart, name: Smart Lock, area: entry, state: unlocked }
  - id: fan.bedroom
    name: Bedroom Fan
    area: bedroom
    state: "on"
    attributes: { percentage: 100, supported_features: [SET_SPEED, TURN_ON, TURN_OFF] }
  - { id: fan.bath, name: Air, area: bath, state: "off" }
  - id: vacuum.robo
    name: Robo Downstairs
    area: living_room
    state: cleaning
    attributes: { supported_features: [START, PAUSE, STOP, RETURN_HOME, STATE] }
  - id: valve.irrigation
    name: Irrigation
    area: yard
    state: open
    attributes: { device_class: water, supported_features: [OPEN, CLOSE] }
  - id: cover.curtain
    name: Smart Curtain
    area: bedroom
    state: open
    attributes: { device_class: curtain, supported_features: [OPEN, CLOSE] }
  - { id: todo.tasks, name: Tasks }
  - { id: todo.groceries, name: Groceries }
"""
SATELLITE = "assist_satellite.hall"
CANNOT = "I can't do that."
NOT_DONE = "As far as I can tell, that wasn't done."
ALLOW = [{"verdict": "allow"}]


@pytest.fixture
async def model(hass: HomeAssistant) -> AsyncGenerator[ScriptedChatCompletions]:
    """Return the model of an agent that leaves all requests to it, and that may do everything."""
    await prepare(hass)
    await move_in(hass, HOME)
    async with serving(
        (scripted := ScriptedChatCompletions(Script())).application()
    ) as address:
        await set_up(hass, server_entry(address, rules=ALLOW))
        yield scripted


async def talk(
    hass: HomeAssistant,
    model: ScriptedChatCompletions,
    text: str,
    answers: Sequence[ScriptedAnswer | str],
    *then: str,
    context: Context | None = None,
) -> list[str]:
    """Say one thing after the other to a model, in the home as it was; return what is heard."""
    (home,) = hass.config_entries.async_entries("demo_house")
    assert await hass.config_entries.async_reload(home.entry_id)
    await hass.async_block_till_done()
    return await talk_on(hass, model, text, answers, *then, context=context)


async def talk_on(
    hass: HomeAssistant,
    model: ScriptedChatCompletions,
    text: str,
    answers: Sequence[ScriptedAnswer | str],
    *then: str,
    context: Context | None = None,
) -> list[str]:
    """Say one thing after the other to a model; return what is heard."""
    scripted = [
        ScriptedAnswer(content=one) if isinstance(one, str) else one for one in answers
    ]
    model.play(
        Script(
            answers=(*scripted, *(ScriptedAnswer(content="Done.") for _ in range(3)))
        )
    )
    chat, heard = f"chat {ulid_now()}", list[str]()
    for words in (text, *then):
        result = await conversation.async_converse(
            hass, words, chat, context or Context(), "en", AGENT, None, SATELLITE
        )
        await hass.async_block_till_done()
        heard.append(speech(result))
    return heard


def call(tool: str, *names: str, **arguments: JsonValue) -> ScriptedAnswer:
    """Return a message that calls a tool for each of some names."""
    calls: list[dict[str, JsonValue]] = [
        {"name": name, **arguments} for name in names
    ] or [arguments]
    return ScriptedAnswer(
        tool_calls=tuple(ScriptedCall(name=tool, arguments=one) for one in calls)
    )


def states(hass: HomeAssistant, *entity_ids: str) -> list[str]:
    """Return the states of some entities."""
    return [
        state.state if (state := hass.states.get(one)) else "" for one in entity_ids
    ]


START = call("HassVacuumStart", "Robo Downstairs")
DOCK = "Send the Robo Downstairs in the Living Room back to the dock?"
OPEN = call("HassTurnOn", "Smart Curtain")
CLOSE = "Close the Smart Curtain in the Bedroom?"
ALL_LIGHTS = "Turn off the Bedroom Light, the Living Room Light and the Mirror?"
ROOM_BY_ROOM = "Turn off the Mirror, the Bedroom Light and the Living Room Light?"
WATER_OFF = "Close the Irrigation in the Front Yard?"


@in_one_home(
    ("text", "answers", "question", "entity_id", "state"),
    [
        ("Stop vacuuming", [START, START], DOCK, "vacuum.robo", "returning"),
        ("Stop vacuuming", [START, CANNOT], DOCK, "vacuum.robo", "returning"),
        ("Close the smart curtain", [OPEN, OPEN], CLOSE, "cover.curtain", "closed"),
        (
            "Close the smart curtain",
            [OPEN, "The curtain could not be closed."],
            CLOSE,
            "cover.curtain",
            "closed",
        ),
        (
            "Close the smart curtain",
            [OPEN, "The curtain has been closed."],
            CLOSE,
            "cover.curtain",
            "closed",
        ),
        (
            "Turn the fan in the bedroom off",
            [call("HassFanSetSpeed", "Bedroom Fan", percentage=100), "It is off now."],
            "Turn off the Bedroom Fan?",
            "fan.bedroom",
            "off",
        ),
        (
            "Turn on the air",
            [call("HassFanSetSpeed", "Air", percentage=0), "It is on now."],
            "Turn on the Air in the Bath?",
            "fan.bath",
            "on",
        ),
        (
            "Turn off the water in the front yard",
            [CANNOT, CANNOT],
            WATER_OFF,
            "valve.irrigation",
            "closed",
        ),
        (
            "Turn off all the lights",
            ["Sure!", "Sure!"],
            ROOM_BY_ROOM,
            "light.bath",
            "off",
        ),
        (
            "Shut off the front yard water",
            ["Which valve?", ""],
            WATER_OFF,
            "valve.irrigation",
            "closed",
        ),
    ],
)
async def test_the_person_is_asked_about_what_they_said(  # noqa: PLR0917  # a row
    hass: HomeAssistant,
    model: ScriptedChatCompletions,
    text: str,
    answers: Sequence[ScriptedAnswer | str],
    question: str,
    entity_id: str,
    state: str,
) -> None:
    assert await talk(hass, model, text, answers) == [question]
    assert states(hass, entity_id) != [state]
    await talk(hass, model, text, answers, "no")
    assert states(hass, entity_id) != [state]
    heard = await talk(hass, model, text, answers, "yes")
    assert states(hass, entity_id) == [state], heard


def lamp_off(*names: str) -> ScriptedAnswer:
    return call("HassTurnOff", *names)


UPSTAIRS = ["light.bedroom", "light.bath"]
ALL_OFF = "All the lights have been turned off."
REST = "Turn off the Mirror and the Bedroom Light?"


@in_one_home(
    ("text", "answers", "entity_ids", "after", "heard"),
    [
        (
            "Turn off the upstairs lights",
            [lamp_off("Living Room Light"), ALL_OFF],
            ["light.living_room"],
            ["on"],
            REST,
        ),
        (
            "Turn off the upstairs lights",
            [lamp_off("Living Room Light"), lamp_off("Living Room Light"), ALL_OFF],
            ["light.living_room"],
            ["on"],
            REST,
        ),
        (
            "Turn off the upstairs lights",
            [call("HassTurnOff", domain=["light"]), ALL_OFF],
            ["light.living_room", *UPSTAIRS],
            ["on", "on", "on"],
            REST,
        ),
        (
            "Turn off the bedroom light upstairs",
            [lamp_off("Bedroom Light"), "OK"],
            UPSTAIRS,
            ["off", "on"],
            "OK",
        ),
        (
            "Stop the downstairs vacuum",
            [call("HassVacuumReturnToBase", "Robo Downstairs"), "OK"],
            ["vacuum.robo"],
            ["returning"],
            "OK",
        ),
        (
            "I go upstairs, turn off the living room light",
            [lamp_off("Living Room Light"), "OK"],
            ["light.living_room"],
            ["off"],
            "OK",
        ),
        (
            "Turn off all the lights",
            [lamp_off("Living Room Light"), ALL_OFF],
            UPSTAIRS,
            ["on", "on"],
            "Done: Living Room Light. Turn off the Bedroom Light and the Mirror?",
        ),
        (
            "Turn off all the lights",
            [lamp_off("Living Room Light", "Bedroom Light", "Mirror"), ALL_OFF],
            UPSTAIRS,
            ["off", "off"],
            ALL_OFF,
        ),
    ],
)
async def test_a_call_is_for_the_floor_and_for_all_that_the_words_name(  # noqa: PLR0917  # a row
    hass: HomeAssistant,
    model: ScriptedChatCompletions,
    text: str,
    answers: Sequence[ScriptedAnswer | str],
    entity_ids: Sequence[str],
    after: Sequence[str],
    heard: str,
) -> None:
    assert await talk(hass, model, text, answers) == [heard]
    assert states(hass, *entity_ids) == after


LOCKS = ("lock.smart", "lock.rear")


@in_one_home(
    ("text", "names", "heard", "after"),
    [
        ("Lock the front door lock", ["Smart Lock"], "Done.", ["locked", "locked"]),
        (
            "Lock the front door lock",
            ["Smart Lock", "Rear Door Lock"],
            "Done.",
            ["locked", "locked"],
        ),
        (
            "Lock the lock",
            ["Smart Lock", "Rear Door Lock"],
            "Done.",
            ["locked", "locked"],
        ),
        (
            "Lock the rear door lock",
            ["Smart Lock"],
            "The Smart Lock or the Rear Door Lock?",
            ["unlocked", "locked"],
        ),
    ],
)
async def test_what_is_locked_already_or_was_just_done_is_no_choice(  # noqa: PLR0917  # a row
    hass: HomeAssistant,
    model: ScriptedChatCompletions,
    text: str,
    names: Sequence[str],
    heard: str,
    after: list[str],
) -> None:
    assert await talk(hass, model, text, [call("HassTurnOn", *names)]) == [heard]
    assert states(hass, *LOCKS) == after


async def test_nothing_is_done_beside_a_choice_that_it_belongs_to(
    hass: HomeAssistant, model: ScriptedChatCompletions
) -> None:
    heard = await talk(
        hass,
        model,
        "Unlock the door lock",
        [call("HassTurnOff", "Smart Lock", "Rear Door Lock")],
    )

    assert heard == ["The Smart Lock or the Rear Door Lock?"]
    assert states(hass, *LOCKS) == ["unlocked", "locked"]


@in_one_home(
    "names",
    [
        ["Bedroom Light"],
        ["Bedroom Light", "Living Room Light"],
        ["Bedroom Light", "Living Room Light", "Mirror"],
    ],
)
async def test_a_yes_is_for_all(
    hass: HomeAssistant, model: ScriptedChatCompletions, names: Sequence[str]
) -> None:
    await set_home_rules(hass, rules=[{"verdict": "ask"}])
    heard = await talk(
        hass, model, "Turn off all the lights", [lamp_off(*names)], "yes"
    )

    assert heard[0] == ALL_LIGHTS
    assert states(hass, "light.living_room", *UPSTAIRS) == ["off", "off", "off"]
    await set_home_rules(hass, rules=ALLOW)


@in_one_home(
    ("text", "heard"),
    [
        ("Add milk to the list", "The Tasks or the Groceries?"),
        ("Add milk to the groceries list", "The Tasks or the Groceries?"),
        ("Add milk", "Added."),
        ("Add milk to the tasks", "Added."),
    ],
)
async def test_a_list_is_a_kind_of_its_own(
    hass: HomeAssistant, model: ScriptedChatCompletions, text: str, heard: str
) -> None:
    assert await talk(
        hass, model, text, [call("HassListAddItem", "Tasks", item="milk"), "Added."]
    ) == [heard]


@in_one_home(
    "text",
    [
        "Don't turn off the bedroom fan",
        "Turn off the bedroom fan when it is cold",
        "Turn off the bedroom fan and do a dance",
        "Turn off the bedroom fan tonight",
        "Turn off the bedroom fan in five minutes",
        "Turn the bedroom fan off at 50",
        "Turn off everything but the fan in the attic",
        "My partner turned off the bedroom fan",
        "Should I turn off the bedroom fan?",
        "Turn off the fan in the attic",
        "Turn off the rear door fan",
        "Turn off the kitchen light in the bedroom, I said",
        "Open the rear door",
        "Lock the curtain",
    ],
)
async def test_nothing_is_asked_where_it_is_not_plain(
    hass: HomeAssistant, model: ScriptedChatCompletions, text: str
) -> None:
    heard, _ = await talk(hass, model, text, ["Which one?", "Which one?"], "yes")

    assert heard == "Which one?"
    assert states(
        hass, "fan.bedroom", "light.bedroom", "lock.rear", "cover.curtain"
    ) == ["on", "on", "locked", "open"]


async def test_rules_hold_for_what_is_asked_about(
    hass: HomeAssistant, model: ScriptedChatCompletions
) -> None:
    await set_home_rules(hass, rules=[{"verdict": "deny", "domains": ["fan"]}, *ALLOW])
    denied = await talk(
        hass, model, "Turn off the bedroom fan", [CANNOT, CANNOT], "yes"
    )
    async_expose_entity(hass, conversation.DOMAIN, "fan.bath", should_expose=False)
    hidden = await talk(hass, model, "Turn on the air", [CANNOT, CANNOT])
    await set_home_rules(hass, rules=ALLOW)
    guest = MockUser(name="Guest").add_to_hass(hass)
    forbidden = await talk(
        hass,
        model,
        "Turn off the bedroom fan",
        [CANNOT, CANNOT],
        "yes",
        context=Context(user_id=guest.id),
    )

    assert not any(heard.endswith("?") for heard in (*denied, *hidden, *forbidden))
    assert states(hass, "fan.bedroom", "fan.bath") == ["on", "off"]


async def test_a_fan_that_is_set_to_nothing_has_to_be_off(
    hass: HomeAssistant, model: ScriptedChatCompletions
) -> None:
    zero = call("HassFanSetSpeed", "Bedroom Fan", percentage=0)
    assert await talk(hass, model, "Turn the bedroom fan off", [zero, ""]) == [
        "Done: Bedroom Fan."
    ]
    await hass.services.async_call(
        "fan", "turn_on", {"entity_id": "fan.bedroom"}, blocking=True
    )
    async_mock_service(hass, "fan", "turn_on")

    heard = await talk_on(hass, model, "Turn the bedroom fan off", [zero, ""])

    assert heard == ["Asked, but not confirmed yet: Bedroom Fan."]
