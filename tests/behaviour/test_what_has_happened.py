"""Answers are true: failures of devices and scripts are told with their own reasons."""

import json
import logging
from collections.abc import Sequence
from itertools import product

import pytest
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import (
    HomeAssistantError,
    ServiceNotSupported,
    ServiceValidationError,
)
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import async_get_platforms
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_capture_events,
)

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.const import EVENT_CHANGE
from custom_components.chatterbox.effects.reported import async_script_error
from tests.support.one_home import in_one_home
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.model_server import ReceivedRequest
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import (
    DOOR,
    LIGHT,
    LIGHT_ON,
    NOT_DONE,
    PART,
    SATELLITE,
    Serve,
    messages_of,
    say,
    speech,
)


@pytest.fixture
def part() -> frozenset[str]:
    """Return the entities that lose their power, jam or stay open, and a scene."""
    return PART | {
        "cover.kids_room_blind",
        "light.kitchen_pendant",
        "scene.movie_night",
        "switch.printer",
    }


NO_WORDS = ""


def calling(call: ScriptedCall, answer: str) -> Script:
    """Return the script of a model that calls one tool, then answers."""
    return Script(
        answers=(ScriptedAnswer(tool_calls=(call,)), ScriptedAnswer(content=answer))
    )


def result_read(request: ReceivedRequest) -> str:
    """Return the result that the model reads last."""
    return str(
        [
            message["content"]
            for message in messages_of(request)
            if message["role"] == "tool"
        ][-1]
    )


def entity_of(hass: HomeAssistant, entity_id: str) -> Entity:
    """Return a device of the demo home."""
    (found,) = (
        entity
        for platform in async_get_platforms(hass, "demo_house")
        if (entity := platform.entities.get(entity_id)) is not None
    )
    return found


def break_down(
    hass: HomeAssistant, entity_id: str, action: str, error: Exception
) -> None:
    """Have an action of a device raise an error."""

    async def fail(**_: object) -> None:
        raise error

    setattr(entity_of(hass, entity_id), f"async_{action}", fail)


LIGHT_FAILED = "That didn't work: Kitchen Ceiling Light. The bulb does not answer: check the wall switch."
WALL_SWITCH = HomeAssistantError("The bulb does not answer: check the wall switch")


@pytest.mark.parametrize(
    ("answer", "spoken_text"),
    [
        ("The light is on.", f"The light is on. {LIGHT_FAILED}"),
        (NO_WORDS, LIGHT_FAILED),
    ],
)
async def test_the_reason_of_a_device_is_told_to_model_person_and_audit(
    hass: HomeAssistant, serve: Serve, answer: str, spoken_text: str
) -> None:
    changes = async_capture_events(hass, EVENT_CHANGE)
    server = await serve(calling(LIGHT_ON, answer))
    break_down(hass, LIGHT, "turn_on", WALL_SWITCH)

    assert speech(await say(hass, "Please put the light on")) == spoken_text

    assert "check the wall switch" in result_read(server.requests[-1])
    assert "check the wall switch" in changes[-1].data["message"]


@pytest.mark.parametrize(
    ("language", "spoken_text"),
    [
        ("en", "That didn't work: Kitchen Ceiling Light. It doesn't support that."),
        (
            "de",
            "Das hat nicht geklappt: Kitchen Ceiling Light. Das wird dort nicht unterstützt.",
        ),
        ("sv", "Det gick inte: Kitchen Ceiling Light. Det stöds inte."),
    ],
)
async def test_what_a_device_does_not_support_is_told_without_its_id(
    hass: HomeAssistant, serve: Serve, language: str, spoken_text: str
) -> None:
    """home-assistant/core#97941."""
    server = await serve(calling(LIGHT_ON, NO_WORDS))
    break_down(hass, LIGHT, "turn_on", ServiceNotSupported("light", "turn_on", LIGHT))

    assert (
        speech(await say(hass, "Please put the light on", language=language))
        == spoken_text
    )
    assert "It does not support that." in result_read(server.requests[-1])


async def test_what_a_person_has_renamed_is_called_by_that_name(
    hass: HomeAssistant, serve: Serve
) -> None:
    """home-assistant/core#162763."""
    renamed = ScriptedCall(
        name="HassTurnOn", arguments={"name": "Chef's Lamp", "domain": ["light"]}
    )
    unlock = ScriptedCall(
        name="HassTurnOff", arguments={"name": "Way In", "domain": ["lock"]}
    )
    server = await serve(calling(renamed, NO_WORDS))
    registry = er.async_get(hass)
    registry.async_update_entity(LIGHT, aliases=["Chef's Lamp", er.COMPUTED_NAME])
    registry.async_update_entity(DOOR, aliases=["Way In"])

    assert (
        speech(await say(hass, "Please put the chef's lamp on")) == "Done: Chef's Lamp."
    )
    assert '"name":"Chef\'s Lamp"' in result_read(server.requests[-1])

    break_down(hass, LIGHT, "turn_on", WALL_SWITCH)
    server.play(calling(renamed, NO_WORDS))
    failed = "That didn't work: Chef's Lamp. The bulb does not answer: check the wall switch."
    assert speech(await say(hass, "Please put the chef's lamp on", "again")) == failed

    server.play(calling(unlock, NO_WORDS))
    question = await say(hass, "Please unlock the way in", "door", SATELLITE)
    assert speech(question) == "Unlock the Way In in the Hallway?"


@pytest.mark.usefixtures("offline")
async def test_without_a_model_what_a_person_has_renamed_is_called_by_that_name(
    hass: HomeAssistant,
) -> None:
    er.async_get(hass).async_update_entity(LIGHT, aliases=["Chef's Lamp"])
    break_down(hass, LIGHT, "turn_on", WALL_SWITCH)

    assert speech(await say(hass, "turn on the chef's lamp")) == (
        "That didn't work: Chef's Lamp. The bulb does not answer: check the wall switch."
    )


async def test_a_value_out_of_range_is_answered_with_the_range(
    hass: HomeAssistant, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    call = ScriptedCall(
        name="HassClimateSetTemperature",
        arguments={"name": "Living Room Thermostat", "temperature": 72},
    )
    server = await serve(calling(call, NO_WORDS))

    answer = speech(await say(hass, "Please make it 72 degrees"))

    parsed = json.loads(result_read(server.requests[-1]))["error"]
    assert (
        parsed == "Provided temperature 72.0 is not valid. Accepted range is 7 to 35."
    )
    assert parsed in answer
    ours = [
        record
        for record in caplog.records
        if record.name.startswith("custom_components.chatterbox")
    ]
    warnings = [
        record.getMessage() for record in ours if record.levelno == logging.WARNING
    ]
    assert [
        text for text in warnings if "HassClimateSetTemperature failed" in text
    ] == [
        "The tool climate__HassClimateSetTemperature failed: ServiceValidationError (temp_out_of_range)"
    ]


@pytest.mark.usefixtures("offline")
async def test_the_reason_is_told_in_the_language_of_the_speaker(
    hass: HomeAssistant,
) -> None:
    refusal = ServiceValidationError(
        translation_domain="climate",
        translation_key="temp_out_of_range",
        translation_placeholders={
            "check_temp": "72",
            "min_temp": "7",
            "max_temp": "35",
        },
    )
    break_down(hass, LIGHT, "turn_on", refusal)

    answer = speech(
        await say(hass, "Schalte die Kitchen Ceiling Light ein", language="de")
    )

    assert all(part in answer for part in ("72", "35", "Temperatur"))


@pytest.mark.parametrize(
    "text", ["Please put the light on", "turn on the kitchen ceiling light"]
)
async def test_a_reason_gives_no_secret_away(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests, text: str
) -> None:
    changes = async_capture_events(hass, EVENT_CHANGE)
    server = await serve(Script(), local_commands="first")
    for error in (
        ValueError("token=5up3r-s3cr3t"),
        HomeAssistantError("No answer from http://me:5up3r@lamp.local/on?key=s3cr3t"),
    ):
        with subtests.test(str(error)):
            server.play(calling(LIGHT_ON, NO_WORDS))
            changes.clear()
            break_down(hass, LIGHT, "turn_on", error)

            answer = speech(await say(hass, text))

            messages = [
                answer,
                *(change.data for change in changes),
                *map(messages_of, server.requests),
            ]
            assert changes
            assert not [
                secret
                for secret in ("5up3r", "s3cr3t")
                if secret in json.dumps(messages, default=str)
            ]


@pytest.mark.usefixtures("offline")
async def test_the_reason_is_told_without_a_model(hass: HomeAssistant) -> None:
    break_down(hass, LIGHT, "turn_on", WALL_SWITCH)

    assert speech(await say(hass, "turn on the kitchen ceiling light")) == LIGHT_FAILED
    assert "35" in speech(
        await say(hass, "set the living room thermostat to 72 degrees")
    )


def kill(hass: HomeAssistant, *entity_ids: str) -> None:
    """Have devices of the demo home become unavailable."""
    for entity_id in entity_ids:
        entity = entity_of(hass, entity_id)
        entity._attr_available = False  # noqa: SLF001  # how an entity of Home Assistant becomes unavailable
        entity.async_write_ha_state()


DOOR_ON = ScriptedCall(
    name="HassTurnOn", arguments={"name": "Front Door", "domain": ["lock"]}
)
DOOR_OFF = ScriptedCall(
    name="HassTurnOff", arguments={"name": "Front Door", "domain": ["lock"]}
)
PRINTER_ON = ScriptedCall(
    name="HassTurnOn", arguments={"name": "Printer", "domain": ["switch"]}
)
KITCHEN_ON = ScriptedCall(
    name="HassTurnOn", arguments={"area": "Kitchen", "domain": ["light"]}
)
DEAD_DOOR = "Front Door cannot be reached."


async def test_a_dead_device_is_neither_asked_about_nor_called_done(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    changes = async_capture_events(hass, EVENT_CHANGE)
    server = await serve(Script())
    kill(hass, "lock.front_door", "switch.printer")
    for call, answer, spoken_text in (
        (
            DOOR_ON,
            "The front door is locked.",
            f"The front door is locked. {DEAD_DOOR}",
        ),
        (DOOR_ON, NO_WORDS, DEAD_DOOR),
        (DOOR_OFF, NO_WORDS, DEAD_DOOR),
        (PRINTER_ON, NO_WORDS, "Printer cannot be reached."),
    ):
        with subtests.test(f"{answer} {call}"):
            server.play(calling(call, answer))
            changes.clear()

            assert (
                speech(
                    await say(
                        hass,
                        "Please see to it",
                        satellite_id="assist_satellite.kitchen",
                    )
                )
                == spoken_text
            )

            device = spoken_text.removesuffix(" cannot be reached.").rpartition(". ")[2]
            assert (
                f"{device} cannot be reached, and the call would end in an error"
                in result_read(server.requests[-1])
            )
            assert [change.data["outcome"] for change in changes] == ["unreachable"]
            assert "cannot be reached" in changes[0].data["message"]


@pytest.mark.parametrize("answer", ["The kitchen is lit.", NO_WORDS])
async def test_the_dead_devices_of_an_area_are_named(
    hass: HomeAssistant, serve: Serve, answer: str
) -> None:
    changes = async_capture_events(hass, EVENT_CHANGE)
    server = await serve(calling(KITCHEN_ON, answer))
    kill(hass, LIGHT)

    spoken_text = speech(await say(hass, "Please light the kitchen"))

    assert spoken_text.endswith("Kitchen Ceiling Light cannot be reached.")
    assert spoken_text.startswith(
        answer or "Done: Kitchen Counter Light, Kitchen Pendant."
    )
    assert "Kitchen Ceiling Light (It cannot be reached.)" in result_read(
        server.requests[-1]
    )
    assert changes[0].data["outcome"] == "partly"


@pytest.mark.usefixtures("offline")
@in_one_home(
    ("text", "sentence"),
    [
        (
            "turn on the kitchen ceiling light",
            "Kitchen Ceiling Light cannot be reached.",
        ),
        ("unlock the front door", DEAD_DOOR),
        (
            "turn on the kitchen lights",
            "Turned on the lights. Kitchen Ceiling Light cannot be reached.",
        ),
    ],
)
async def test_dead_devices_are_named_without_a_model(
    hass: HomeAssistant, text: str, sentence: str
) -> None:
    kill(hass, LIGHT, "lock.front_door")

    assert (
        speech(await say(hass, text, satellite_id="assist_satellite.kitchen"))
        == sentence
    )


async def test_dead_devices_are_named_after_local_commands(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(Script(), local_commands="first")
    kill(hass, LIGHT)

    assert (
        speech(await say(hass, "turn on the kitchen ceiling light"))
        == "Kitchen Ceiling Light cannot be reached."
    )
    assert not server.requests


@pytest.mark.usefixtures("offline")
@in_one_home("text", ["is the front door locked", "is the front door unlocked?"])
async def test_of_a_dead_device_nobody_knows_what_it_does(
    hass: HomeAssistant, text: str
) -> None:
    kill(hass, "lock.front_door")

    assert speech(await say(hass, text)) == DEAD_DOOR


@pytest.mark.usefixtures("offline")
@in_one_home(
    ("entity_id", "text", "answer"),
    [
        (
            "lock.front_door",
            "is the front door locked",
            "The state of Front Door is not known.",
        ),
        (
            "lock.front_door",
            "is the front door unlocked?",
            "The state of Front Door is not known.",
        ),
        (
            "cover.garage_door",
            "is the garage door open?",
            "The state of Garage Door is not known.",
        ),
    ],
)
async def test_of_an_unknown_state_nobody_knows_what_it_is(
    hass: HomeAssistant, entity_id: str, text: str, answer: str
) -> None:
    report(hass, entity_id, "unknown")

    assert speech(await say(hass, text)) == answer


@pytest.mark.usefixtures("offline")
async def test_devices_without_a_state_are_told_apart(hass: HomeAssistant) -> None:
    report(hass, "cover.living_room_blinds", "unknown")
    attributes = {"device_class": "blind", "friendly_name": "Kids Room Blind"}
    hass.states.async_set("cover.kids_room_blind", "unavailable", attributes)

    spoken_text = speech(await say(hass, "are any blinds open?"))

    assert "Kids Room Blind cannot be reached. The state of " in spoken_text


@pytest.mark.usefixtures("offline")
async def test_the_state_of_a_dead_device_may_be_asked_for(hass: HomeAssistant) -> None:
    kill(hass, "lock.front_door")

    assert "navailable" in speech(
        await say(hass, "what is the state of the front door")
    )


def report(hass: HomeAssistant, entity_id: str, state: str) -> None:
    """Have a device report a state."""
    present = hass.states.get(entity_id)
    assert present is not None
    hass.states.async_set(entity_id, state, present.attributes)


def pretend(
    hass: HomeAssistant, entity_id: str, action: str, state: str | None = None
) -> None:
    """Have a device accept an action, and report another state than that which it leads to."""

    async def act(**_: object) -> None:
        if state:
            report(hass, entity_id, state)

    setattr(entity_of(hass, entity_id), f"async_{action}", act)


@pytest.mark.parametrize("answer", ["I asked the door to lock.", NO_WORDS])
async def test_what_a_device_does_not_confirm_is_asked_and_not_done(
    hass: HomeAssistant, serve: Serve, answer: str
) -> None:
    changes = async_capture_events(hass, EVENT_CHANGE)
    server = await serve(calling(DOOR_ON, answer))
    report(hass, "lock.front_door", "unlocked")
    pretend(hass, "lock.front_door", "lock")

    spoken_text = speech(await say(hass, "Please lock up"))

    assert spoken_text == (answer or "Asked, but not confirmed yet: Front Door.")
    assert result_read(server.requests[-1]).startswith(
        '{"asked_not_confirmed":["Front Door (still unlocked)"]'
    )
    assert changes[0].data["outcome"] == "unconfirmed"
    assert not changes[0].data["activity"]


@pytest.mark.usefixtures("offline")
@in_one_home(
    ("state", "sentence"),
    [("unlocked", "Asked, but not confirmed yet: Front Door."), ("locking", "Locking")],
)
async def test_what_is_on_its_way_is_no_failure(
    hass: HomeAssistant, state: str, sentence: str
) -> None:
    report(hass, "lock.front_door", "unlocked")
    pretend(hass, "lock.front_door", "lock", state)

    assert speech(await say(hass, "lock the front door")) == sentence


@pytest.mark.usefixtures("offline")
async def test_what_a_device_confirms_a_moment_later_is_done(
    hass: HomeAssistant,
) -> None:
    async def lock_slowly(**_: object) -> None:
        hass.loop.call_later(0.01, report, hass, "lock.front_door", "locked")

    report(hass, "lock.front_door", "unlocked")
    setattr(entity_of(hass, "lock.front_door"), "async_lock", lock_slowly)  # noqa: B010  # a method of another class

    assert speech(await say(hass, "lock the front door")) == "Locking"


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "turn off the kitchen lights and turn on the kitchen pendant",
            "Turned off the lights. Turned on the light",
        ),
        (
            "turn on the kitchen pendant and turn off the kitchen pendant",
            "Turned on the light. Turned off the light",
        ),
    ],
)
async def test_of_two_commands_for_a_device_the_first_is_not_missed(
    hass: HomeAssistant, text: str, sentence: str
) -> None:
    await say(hass, "turn on the kitchen lights")

    assert speech(await say(hass, text)) == sentence


@pytest.mark.usefixtures("offline")
async def test_what_is_done_is_said_beside_what_is_not_confirmed(
    hass: HomeAssistant,
) -> None:
    report(hass, LIGHT, "off")
    pretend(hass, LIGHT, "turn_on")

    answer = speech(await say(hass, "turn on the kitchen lights"))

    assert answer.split("\n") == [
        "Turned on the lights",
        "Asked, but not confirmed yet: Kitchen Ceiling Light.",
    ]


DRINKS = (
    *("Coffee", "Mocha", "Latte", "Espresso", "Ristretto", "Cortado", "Lungo"),
    *("Macchiato", "Cappuccino", "Americano", "Cocoa", "Chai", "Mate", "Matcha"),
)
"""Names of scripts: a home has one for each row of a test."""


async def with_scripts(
    hass: HomeAssistant, scripts: Sequence[JsonObject], kettle: Sequence[object]
) -> None:
    """Set up a script for each drink, and another one that these may run."""
    assert await async_setup_component(hass, "homeassistant", {})
    named = {
        name.lower(): {"alias": name, **script}
        for name, script in zip(DRINKS, scripts, strict=False)
    }
    config = {"script": {**named, "kettle": {"alias": "Kettle", "sequence": [*kettle]}}}
    assert await async_setup_component(hass, "script", config)
    for name in named:
        async_expose_entity(hass, "conversation", f"script.{name}", should_expose=True)


async def with_script(
    hass: HomeAssistant, server: ScriptedChatCompletions, name: str
) -> tuple[str, str]:
    """Let a model call a script; return what it reads, and what is said."""
    server.play(
        calling(ScriptedCall(name=f"script__{name.lower()}"), "It is on its way.")
    )
    spoken_text = speech(await say(hass, "Please do that script thing", name))
    return result_read(server.requests[-1]), spoken_text


def answering(response: JsonObject) -> list[JsonValue]:
    """Return a sequence with a response."""
    return [
        {"variables": {"answer": response}},
        {"stop": "", "response_variable": "answer"},
    ]


STOP: JsonObject = {"stop": "No water in the tank", "error": True}


async def test_a_script_that_ends_in_an_error_is_a_failure(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    changes = async_capture_events(hass, EVENT_CHANGE)
    server = await serve(Script())
    rows: list[tuple[JsonObject, str]] = [
        ({"sequence": [STOP]}, "No water in the tank"),
        ({"mode": "queued", "sequence": [STOP]}, "No water in the tank"),
        ({"sequence": [{**STOP, "stop": ""}]}, "It stopped with an error."),
        ({"sequence": [{"if": "{{ true }}", "then": [STOP]}]}, "No water in the tank"),
        ({"sequence": [{"action": "script.kettle"}]}, "No water in the tank"),
        ({"sequence": answering({"error": "No beans"})}, "No beans"),
    ]
    await with_scripts(hass, [script for script, _ in rows], [STOP])
    for name, (script, reason) in zip(DRINKS, rows, strict=False):
        with subtests.test(name, script=script):
            changes.clear()

            parsed, words = await with_script(hass, server, name)

            assert json.loads(parsed)["error"] == reason
            assert (
                words
                == f"It is on its way. As far as I can tell, that wasn't done. {reason.removesuffix('.')}."
            )
            assert [change.data["outcome"] for change in changes] == ["failed"]


async def test_a_script_that_ends_well_is_done_and_gives_its_response(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    server = await serve(Script())
    endings: list[tuple[list[JsonValue], JsonObject]] = [
        (answering({"title": "Blue", "error": None}), {"title": "Blue", "error": None}),
        (answering({"error": "none"}), {"error": "none"}),
        ([{"stop": "Enough"}], {}),
        ([{"condition": "{{ false }}"}], {}),
    ]
    rows = [*product(("single", "queued"), endings)]
    scripts: list[JsonObject] = [
        {"mode": mode, "sequence": sequence} for mode, (sequence, _) in rows
    ]
    await with_scripts(hass, scripts, [STOP])
    for name, (mode, (sequence, response)) in zip(DRINKS, rows, strict=False):
        with subtests.test(mode, sequence=sequence):
            parsed, words = await with_script(hass, server, name)

            assert json.loads(parsed) == {"result": response}
            assert words == "It is on its way."


@pytest.mark.usefixtures("offline")
async def test_a_script_that_fails_at_once_is_told_without_a_model(
    hass: HomeAssistant,
) -> None:
    assert await async_setup_component(
        hass, "script", {"script": {"coffee": {"alias": "Coffee", "sequence": [STOP]}}}
    )
    async_expose_entity(hass, "conversation", "script.coffee", should_expose=True)

    assert (
        speech(await say(hass, "run coffee"))
        == "That didn't work: Coffee. No water in the tank."
    )


@pytest.mark.usefixtures("offline")
@in_one_home(
    ("error", "reason"),
    [
        (WALL_SWITCH, "The bulb does not answer: check the wall switch"),
        (ValueError("token=abc"), "It stopped with an error."),
    ],
)
async def test_the_reason_of_a_device_in_a_script_is_known(
    hass: HomeAssistant, error: Exception, reason: str
) -> None:
    steps = [{"action": "light.turn_on", "target": {"entity_id": LIGHT}}]
    assert await async_setup_component(
        hass, "script", {"script": {"coffee": {"alias": "Coffee", "sequence": steps}}}
    )
    break_down(hass, LIGHT, "turn_on", error)
    context = Context()
    with pytest.raises(type(error)):
        await hass.services.async_call(
            "script", "coffee", blocking=True, context=context
        )

    assert await async_script_error(hass, "script.coffee", context, "en") == reason


RUN_COFFEE = ScriptedCall(name="script__coffee")
IN_VAIN: JsonObject = {"timeout": {"milliseconds": 1}, "continue_on_timeout": False}
NEVER: JsonObject = {"wait_template": "{{ false }}", **IN_VAIN}
NEVER_TRIGGERED: JsonObject = {
    "wait_for_trigger": {"trigger": "event", "event_type": "x"},
    **IN_VAIN,
}


def for_drink(call: ScriptedCall, name: str) -> ScriptedCall:
    """Return a call about coffee as one about another drink."""
    if call == RUN_COFFEE:
        return ScriptedCall(name=f"script__{name.lower()}")
    return turning_on(name) if call == turning_on("Coffee") else call


async def test_why_a_script_ended_early_is_said_in_the_language_of_the_speaker(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    server = await serve(Script())
    rows: list[tuple[JsonObject, str, str]] = [
        (NEVER, "en", "It waited in vain."),
        (NEVER, "de", "Es hat vergeblich gewartet."),
        (NEVER, "tr", "Boşuna bekledi."),
        (NEVER_TRIGGERED, "en", "It waited in vain."),
        ({"stop": "", "error": True}, "fr", "Il s'est arrêté sur une erreur."),
        ({"delay": "{{ 'soon' }}"}, "en", ""),
    ]
    await with_wrappers(hass, *([step] for step, *_ in rows))
    for name, (step, language, reason) in zip(DRINKS, rows, strict=False):
        with subtests.test(language, step=step):
            server.play(calling(for_drink(RUN_COFFEE, name), NO_WORDS))

            answer = speech(
                await say(hass, "Please see to it", name, language=language)
            )

            assert answer.endswith(reason)
            assert not {
                word
                for word in answer.split()
                if word.rstrip(".").endswith(("Error", "Exception", "Script"))
            }


LAMP: JsonObject = {"action": "light.turn_on", "target": {"entity_id": LIGHT}}
COUNTER: JsonObject = {
    "action": "light.turn_on",
    "target": {"entity_id": "light.kitchen_counter"},
}
DEAD_LAMP = "Kitchen Ceiling Light cannot be reached."


async def with_wrappers(hass: HomeAssistant, *sequences: Sequence[JsonValue]) -> None:
    """Set up scripts, scenes and a group around the ceiling light of the kitchen, which is dead."""
    kill(hass, LIGHT)
    await with_scripts(hass, [{"sequence": [*steps]} for steps in sequences], [STOP])
    for name, lights in (
        ("bright", (LIGHT,)),
        ("cosy", (LIGHT, "light.kitchen_counter")),
    ):
        data = {"scene_id": name, "entities": dict.fromkeys(lights, "on")}
        await hass.services.async_call("scene", "create", data, blocking=True)
    groups = {"gloomy": {"name": "Gloomy", "entities": [LIGHT]}}
    assert await async_setup_component(hass, "group", {"group": groups})
    await hass.async_block_till_done()
    for entity_id in ("scene.bright", "scene.cosy", "group.gloomy"):
        async_expose_entity(hass, "conversation", entity_id, should_expose=True)


def turning_on(name: str) -> ScriptedCall:
    """Return the call that turns a thing on."""
    return ScriptedCall(name="HassTurnOn", arguments={"name": name})


async def test_what_a_script_a_scene_or_a_group_cannot_reach_is_not_done(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    changes = async_capture_events(hass, EVENT_CHANGE)
    server = await serve(Script())
    rows: list[tuple[ScriptedCall, list[JsonValue], str]] = [
        (RUN_COFFEE, [LAMP], DEAD_LAMP),
        (RUN_COFFEE, [{"delay": 0}, {"if": "{{ true }}", "then": [LAMP]}], DEAD_LAMP),
        (turning_on("Coffee"), [LAMP], DEAD_LAMP),
        (turning_on("Bright"), [], DEAD_LAMP),
        (turning_on("Gloomy"), [], DEAD_LAMP),
        (RUN_COFFEE, [LAMP, COUNTER], f"Done: Coffee. {DEAD_LAMP}"),
        (turning_on("Coffee"), [LAMP, COUNTER], f"Done: Coffee. {DEAD_LAMP}"),
        (turning_on("Cosy"), [], f"Done: cosy. {DEAD_LAMP}"),
    ]
    await with_wrappers(hass, *(steps for _, steps, _ in rows))
    for name, (call, steps, sentence) in zip(DRINKS, rows, strict=False):
        with subtests.test(f"{name} {call}", steps=steps):
            server.play(calling(for_drink(call, name), NO_WORDS))
            changes.clear()

            assert speech(
                await say(hass, "Please see to it", name)
            ) == sentence.replace("Coffee", name)

            assert "cannot be reached" in result_read(server.requests[-1])
            outcome = "partly" if sentence != DEAD_LAMP else "unreachable"
            assert [change.data["outcome"] for change in changes] == [outcome]


async def test_what_a_script_cannot_reach_is_named_after_the_answer(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(Script())
    await with_wrappers(hass, [LAMP], [LAMP, COUNTER])
    for name in DRINKS[:2]:
        server.play(calling(for_drink(RUN_COFFEE, name), "All done."))

        assert (
            speech(await say(hass, "Please see to it", name))
            == f"All done. {DEAD_LAMP}"
        )


async def test_what_a_script_makes_unreachable_has_not_failed(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(calling(RUN_COFFEE, NO_WORDS))
    await with_wrappers(
        hass,
        [
            {
                "action": "light.turn_off",
                "target": {"entity_id": "light.kitchen_pendant"},
            }
        ],
    )
    action, pendant = "turn_off", entity_of(hass, "light.kitchen_pendant")

    async def lose_power(**_: object) -> None:
        kill(hass, "light.kitchen_pendant")

    setattr(pendant, f"async_{action}", lose_power)

    assert speech(await say(hass, "Please see to it")) == "Done."


@pytest.mark.usefixtures("offline")
@in_one_home(
    ("text", "sentence"),
    [
        ("run coffee", DEAD_LAMP),
        ("activate the bright scene", DEAD_LAMP),
        ("activate the cosy scene", DEAD_LAMP),
    ],
)
async def test_what_wrappers_cannot_reach_is_told_without_a_model(
    hass: HomeAssistant, text: str, sentence: str
) -> None:
    await with_wrappers(hass, [LAMP])

    assert speech(await say(hass, text)).endswith(sentence)


LOCK_UP: JsonObject = {"action": "lock.lock", "target": {"entity_id": DOOR}}
A_MOMENT: JsonObject = {"delay": {"milliseconds": 1}}
ASKED_DOOR = "Asked, but not confirmed yet: Front Door."


async def with_jammed_door(
    hass: HomeAssistant,
    *sequences: Sequence[JsonValue],
    state: str | None = None,
    kettle: Sequence[object] = (LOCK_UP,),
) -> None:
    """Set up scripts, a scene and a group around a lamp and a door whose lock accepts commands and does not move."""
    report(hass, DOOR, "unlocked")
    pretend(hass, DOOR, "lock", state)
    pretend(hass, LIGHT, "turn_on")
    await with_scripts(hass, [{"sequence": [*steps]} for steps in sequences], kettle)
    for name, states in (
        ("safe", {DOOR: "locked"}),
        ("cosy", {LIGHT: "on", "light.kitchen_counter": "on"}),
    ):
        await hass.services.async_call(
            "scene", "create", {"scene_id": name, "entities": states}, blocking=True
        )
    group = {
        "group_type": "light",
        "name": "Gloomy",
        "entities": [LIGHT],
        "hide_members": False,
        "all": False,
    }
    entry = MockConfigEntry(domain="group", title="Gloomy", options=group)
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    for entity_id in ("scene.safe", "scene.cosy", "light.gloomy"):
        async_expose_entity(hass, "conversation", entity_id, should_expose=True)


async def test_what_a_script_a_scene_or_a_group_has_asked_in_vain_is_told(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    changes = async_capture_events(hass, EVENT_CHANGE)
    server = await serve(Script())
    rows: list[tuple[ScriptedCall, list[JsonValue], str]] = [
        (RUN_COFFEE, [LOCK_UP], ASKED_DOOR),
        (turning_on("Coffee"), [LOCK_UP], ASKED_DOOR),
        (turning_on("Safe"), [], ASKED_DOOR),
        (
            turning_on("Cosy"),
            [],
            "Done: cosy. Asked, but not confirmed yet: Kitchen Ceiling Light.",
        ),
        (
            turning_on("Gloomy"),
            [],
            "Asked, but not confirmed yet: Kitchen Ceiling Light.",
        ),
        (RUN_COFFEE, [LOCK_UP, COUNTER], f"Done: Coffee. {ASKED_DOOR}"),
        (turning_on("Coffee"), [LOCK_UP, COUNTER], f"Done: Coffee. {ASKED_DOOR}"),
        (RUN_COFFEE, [LOCK_UP, A_MOMENT], ASKED_DOOR),
        (
            RUN_COFFEE,
            [{"if": "{{ true }}", "then": [LOCK_UP], "else": [COUNTER]}],
            ASKED_DOOR,
        ),
        (
            RUN_COFFEE,
            [{"choose": {"conditions": "{{ true }}", "sequence": [LOCK_UP]}}],
            ASKED_DOOR,
        ),
        (RUN_COFFEE, [{"action": "script.kettle"}], ASKED_DOOR),
        (RUN_COFFEE, [{"scene": "scene.safe"}], ASKED_DOOR),
        (
            RUN_COFFEE,
            [
                {
                    "action": "lock.lock",
                    "target": {"entity_id": "{{ 'lock.front_door' }}"},
                }
            ],
            ASKED_DOOR,
        ),
        (RUN_COFFEE, [{"repeat": {"count": 2, "sequence": [LOCK_UP]}}], ASKED_DOOR),
    ]
    await with_jammed_door(hass, *(steps for _, steps, _ in rows))
    for name, (call, steps, sentence) in zip(DRINKS, rows, strict=True):
        with subtests.test(f"{name} {call}", steps=steps):
            server.play(calling(for_drink(call, name), NO_WORDS))
            changes.clear()

            answer = speech(
                await say(hass, "Please see to it", name, "assist_satellite.kitchen")
            )

            assert answer == sentence.replace("Coffee", name)
            assert result_read(server.requests[-1]).startswith(
                '{"asked_not_confirmed":["'
            )
            assert [change.data["outcome"] for change in changes] == ["unconfirmed"]


async def test_a_jammed_lock_is_told_whatever_the_script_did_later(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    server = await serve(Script())
    at_once: list[JsonValue] = [LOCK_UP, COUNTER]
    await with_jammed_door(hass, at_once, [*at_once, A_MOMENT], at_once, state="jammed")
    for name, call in zip(
        DRINKS, (RUN_COFFEE, RUN_COFFEE, turning_on("Coffee")), strict=False
    ):
        with subtests.test(name):
            server.play(calling(for_drink(call, name), NO_WORDS))
            report(hass, DOOR, "unlocked")

            assert speech(await say(hass, "Please see to it", name)).endswith(
                ASKED_DOOR
            )


BLIND = "cover.kids_room_blind"


async def test_a_blind_that_stays_open_is_told(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    server = await serve(Script())
    report(hass, BLIND, "open")
    pretend(hass, BLIND, "close_cover")
    pretend(hass, BLIND, "set_cover_position")
    steps: list[JsonObject] = [
        {"action": "cover.close_cover", "target": {"entity_id": BLIND}},
        {
            "action": "cover.set_cover_position",
            "target": {"entity_id": BLIND},
            "data": {"position": 0},
        },
        {"action": "cover.close_cover", "target": {"area_id": "kids_room"}},
    ]
    await with_jammed_door(hass, *([step] for step in steps))
    for name, step in zip(DRINKS, steps, strict=False):
        with subtests.test(name, step=step):
            server.play(calling(for_drink(RUN_COFFEE, name), NO_WORDS))

            answer = speech(await say(hass, "Please see to it", name))

            assert answer == "Asked, but not confirmed yet: Kids Room Blind."


async def test_what_is_hidden_is_not_named(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(calling(RUN_COFFEE, NO_WORDS))
    await with_jammed_door(hass, [LOCK_UP])
    async_expose_entity(hass, "conversation", DOOR, should_expose=False)
    report(hass, DOOR, "unlocked")

    assert (
        speech(await say(hass, "Please see to it"))
        == "Asked, but not confirmed yet: Coffee."
    )
    assert "unlocked" not in result_read(server.requests[-1])


COUNTER_OFF: JsonObject = {
    "action": "light.turn_off",
    "target": {"entity_id": "light.kitchen_counter"},
}
DARKEN: JsonObject = {
    "action": "script.turn_on",
    "target": {"entity_id": "script.kettle"},
}


async def test_a_script_that_did_as_it_says_gets_no_note(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    server = await serve(Script())
    sequences: list[list[JsonValue]] = [
        [COUNTER, COUNTER_OFF],
        [{"if": "{{ false }}", "then": [LOCK_UP]}, COUNTER],
        [{**LOCK_UP, "enabled": False}],
        [{"condition": "{{ false }}"}, LOCK_UP],
        [{"parallel": [COUNTER, COUNTER_OFF]}],
        [COUNTER, DARKEN],
        [
            COUNTER,
            {
                "action": "light.toggle",
                "target": {"entity_id": "light.kitchen_counter"},
            },
        ],
        [{**LAMP, "data": {"transition": 30}}],
        [{**LAMP, "data": {"brightness_pct": 0}}],
        [{**LAMP, "target": {"entity_id": LIGHT, "exclude": {"entity_id": LIGHT}}}],
    ]
    await with_jammed_door(hass, *sequences, kettle=[COUNTER_OFF])
    drinks = zip(DRINKS, sequences, strict=False)
    for (name, steps), call in product(drinks, (RUN_COFFEE, turning_on("Coffee"))):
        with subtests.test(f"{name} {call}", steps=steps):
            server.play(calling(for_drink(call, name), NO_WORDS))
            report(hass, "light.kitchen_counter", "off")

            answer = await say(
                hass,
                "Please see to it",
                f"{call.name}-{name}",
                "assist_satellite.kitchen",
            )

            assert speech(answer).startswith("Done")


async def test_what_was_done_and_then_undone_by_a_person_gets_no_note(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(calling(RUN_COFFEE, NO_WORDS))
    await with_jammed_door(hass, [LOCK_UP, COUNTER, A_MOMENT])
    action = "lock"

    async def lock(**_: object) -> None:
        report(hass, DOOR, "locked")
        hass.loop.call_soon(report, hass, DOOR, "unlocked")

    setattr(entity_of(hass, DOOR), f"async_{action}", lock)

    assert speech(await say(hass, "Please see to it")) == "Done."


async def test_a_switch_that_goes_back_by_itself_gets_no_note(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(calling(RUN_COFFEE, NO_WORDS))
    await with_jammed_door(hass, [COUNTER])
    action = "turn_on"

    async def pulse(**_: object) -> None:
        report(hass, "light.kitchen_counter", "on")
        report(hass, "light.kitchen_counter", "off")

    setattr(entity_of(hass, "light.kitchen_counter"), f"async_{action}", pulse)

    assert speech(await say(hass, "Please see to it")) == "Done."


@pytest.mark.parametrize(
    "after",
    [{"delay": 60}, {"wait_for_trigger": {"trigger": "event", "event_type": "never"}}],
)
async def test_a_script_that_still_runs_gets_no_note(
    hass: HomeAssistant, serve: Serve, after: JsonObject
) -> None:
    await serve(calling(turning_on("Coffee"), NO_WORDS))
    await with_jammed_door(hass, [LOCK_UP, after])

    assert speech(await say(hass, "Please see to it")) == "Done: Coffee."
    await hass.services.async_call(
        "script", "turn_off", {"entity_id": "script.coffee"}, blocking=True
    )


@pytest.mark.parametrize("call", [RUN_COFFEE, turning_on("Coffee")])
async def test_a_script_that_started_one_which_still_runs_gets_no_note(
    hass: HomeAssistant, serve: Serve, call: ScriptedCall
) -> None:
    await serve(calling(call, NO_WORDS))
    await with_jammed_door(hass, [LOCK_UP, DARKEN], kettle=[{"delay": 60}, LOCK_UP])

    assert (
        speech(await say(hass, "Please see to it")) == "Done."
        if call is RUN_COFFEE
        else "Done: Coffee."
    )
    await hass.services.async_call(
        "script", "turn_off", {"entity_id": "script.kettle"}, blocking=True
    )


SUNNY = ("It is sunny.", "It is sunny.")


@pytest.mark.parametrize("apis", [[], ["assist"]])
async def test_a_tool_that_does_not_exist_spoils_no_answer_unless_it_would_act(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests, apis: list[str]
) -> None:
    server = await serve(Script(), llm_hass_api=apis)
    for tool, (text, spoken_text) in {
        **dict.fromkeys(("google_search", "weather", "get_weather"), SUNNY),
        "turn_on_light": (
            "The light is on.",
            "The light is on. As far as I can tell, that wasn't done.",
        ),
    }.items():
        with subtests.test(tool):
            server.play(calling(ScriptedCall(name=tool, arguments={"q": "Rome"}), text))

            assert (
                speech(await say(hass, "What is the weather in Rome like", tool))
                == spoken_text
            )


RADIO = ScriptedCall(name="HassTurnOn", arguments={"name": "Radioo"})
THERMOSTAT = ScriptedCall(
    name="HassClimateSetTemperature",
    arguments={"name": "Living Room Thermostat", "temperature": 72},
)
WARMER = ScriptedCall(
    name="HassClimateSetTemperature",
    arguments={"name": "Living Room Thermostat", "temperature": 22},
)
WEATHER = ScriptedCall(name="HassGetWeather", arguments={"name": "Nowhere"})
SEARCH = ScriptedCall(name="google_search", arguments={"q": "Rome"})
LOOK = ScriptedCall(name="GetLiveContext", arguments={"area": "Nowhere"})


async def test_only_a_failed_change_is_noted_after_an_answer(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    server = await serve(Script())
    rows: list[tuple[tuple[ScriptedCall, ...], str, str]] = [
        ((SEARCH,), "It is sunny.", "It is sunny."),
        ((WEATHER,), "It is sunny.", "It is sunny."),
        ((LOOK, LIGHT_ON), "The light is on.", "The light is on."),
        ((LIGHT_ON, WEATHER), "The light is on.", "The light is on."),
        ((LIGHT_ON, SEARCH), "The light is on.", "The light is on."),
        ((RADIO, LIGHT_ON), "The light is on.", "The light is on."),
        ((THERMOSTAT, WARMER), "It is 22 degrees now.", "It is 22 degrees now."),
        ((RADIO, WEATHER), "The radio is on.", f"The radio is on. {NOT_DONE}"),
        (
            (LIGHT_ON, RADIO),
            "Both are on.",
            "Both are on. Done: Kitchen Ceiling Light. That didn't work: Radioo.",
        ),
    ]
    for number, (calls, answer, spoken_text) in enumerate(rows):
        with subtests.test(f"{spoken_text} {calls}"):
            steps = [ScriptedAnswer(tool_calls=(call,)) for call in calls]
            server.play(Script(answers=(*steps, ScriptedAnswer(content=answer))))
            report(hass, LIGHT, "off")

            assert (
                speech(await say(hass, "Please see to it", f"talk-{number}"))
                == spoken_text
            )
