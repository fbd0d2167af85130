"""Calls that Home Assistant would refuse, or read otherwise than meant, are repaired before they are judged."""

import json
from collections.abc import Iterator
from random import Random

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, floor_registry as fr, intent, llm
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.loop.calls import fit_call
from custom_components.chatterbox.agent.loop.turn import Resolved, Runnable
from custom_components.chatterbox.agent.messages import JsonObject, JsonValue, ToolCall
from custom_components.chatterbox.home.entity_matches import areas_of_entities
from custom_components.chatterbox.tools.repair.short_names import entities_called
from custom_components.chatterbox.tools.turn_tools import TurnTools
from tests.behaviour.recorded_runs.runs import Batch, read_batches
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import (
    StubTool,
    offer_of,
    register,
    satellite,
)
from tests.support.one_home import in_one_home

HOME = """
floors:
  - { id: ground, name: Ground Floor, level: 0 }
  - { id: upper, name: Upper Floor, level: 1 }
areas:
  - { id: kitchen, name: Kitchen, floor: ground }
  - { id: bedroom, name: Bedroom, floor: upper }
  - { id: garage, name: Garage }
entities:
  - { name: Kitchen Light, id: light.kitchen, area: kitchen, state: "off" }
  - { name: Bedroom Lamp, id: light.bedroom, area: bedroom, state: "off" }
  - { name: Lone Light, id: light.lone, state: "off" }
  - { name: Plug, id: switch.plug, area: kitchen, state: "off" }
  - { name: Kettle, id: switch.kettle, area: kitchen, state: "off", attributes: { device_class: outlet } }
  - { name: Garage Door, id: cover.garage, area: garage, state: closed, attributes: { device_class: garage } }
  - { name: Garage Door, id: binary_sensor.garage, area: garage, state: "off" }
  - name: Blind
    id: cover.blind
    area: bedroom
    state: open
    attributes: { device_class: blind, supported_features: [OPEN, CLOSE, STOP, SET_POSITION] }
  - { name: Tap, id: valve.tap, area: garage, state: closed }
  - { name: Heater, id: climate.heater, area: kitchen, state: heat, attributes: { current_temperature: 20 } }
  - name: Radio
    id: media_player.radio
    area: kitchen
    state: playing
    attributes: { supported_features: [PLAY, PAUSE, VOLUME_SET] }
  - { name: Groceries, id: todo.groceries, area: kitchen }
"""
ON, OFF, POSITION = (
    "intent__HassTurnOn",
    "intent__HassTurnOff",
    "intent__HassSetPosition",
)
LIGHT, CLIMATE, VOLUME = (
    "light__HassLightSet",
    "climate__HassClimateSetTemperature",
    "media_player__HassSetVolume",
)
ADD, STOP = "todo__HassListAddItem", "intent__HassStopMoving"
VACUUM = """
areas: [{ id: garage, name: Garage }]
entities:
  - { name: Robot, id: vacuum.robot, area: garage, state: docked }
"""


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return hass


async def read(
    hass: HomeAssistant,
    tool: str,
    arguments: JsonObject,
    from_device: str | None = None,
    text: str = "",
) -> tuple[str, JsonObject, str]:
    """Return the tool and arguments that would run, and the note; the error and nothing where none would."""
    offer = await offer_of(hass, llm.LLM_API_ASSIST, device_id=from_device, text=text)
    judged = fit_call(
        ToolCall("1", tool, json.dumps(arguments)),
        offer.definitions,
        None,
        (),
        repair=offer.repair,
    )
    match judged:
        case Runnable(call, meant, fitted, note):
            assert call == ToolCall("1", meant.name, call.arguments)
            assert json.loads(call.arguments) == fitted
            return meant.name, fitted, note
        case Resolved(_, result):
            return result.content, {}, ""
        case _:
            pytest.fail("nothing is asked here")


MEANINGFUL: JsonObject = {
    "start_time": "22:00",
    "only_if": "nobody is at home",
    "trigger": {"at": "22:00"},
    "for": "10 minutes",
    "auto_off": True,
    "dry_run": True,
    "date": "2026-12-24",
    "repeat": 3,
    "until": "sunset",
    "exceptLamps": ["Bedroom Lamp"],
    "delaySeconds": 600,
    "Delay": 0,
    "delays": {"minutes": ""},
    "state": "off",
    "action": {"service": "light.turn_off"},
    "on": False,
    "service": "light.turn_off",
    "reason": {"delay": 600},
    "brightness": 20,
    "color": "red",
    "ünknown": 1,
}


@in_one_home("name", MEANINGFUL)
async def test_a_parameter_that_may_mean_something_refuses_the_call(
    home: HomeAssistant, name: str
) -> None:
    named: JsonObject = {"name": "Kitchen Light"}
    in_room: JsonObject = {"area": "Kitchen", "domain": ["light"]}

    for meant in (named, in_room, named | in_room):
        result, ran, _ = await read(home, ON, {**meant, name: MEANINGFUL[name]})
        assert ran == {}
        assert result.startswith(f"{name} is not a parameter. Use: ")


@in_one_home(
    ("tool", "written"),
    [
        (ON, {"domain": ["light"], "zone": "upstairs"}),
        (ON, {"domain": ["light"], "area": "Kitchen", "zone": "sink"}),
        (ON, {"domain": ["light"], "area": "Kitchen", "exclude": "Kitchen Light"}),
        (ON, {"name": "Plug", "entity_id": "light.kitchen"}),
        (ON, {"name": "all", "domain": ["light"], "label": "night"}),
        (ON, {"areas": ["Kitchen", "Bedroom"], "domain": ["light"]}),
        (ON, {"name": "Kitchen Light", "areas": ["Kitchen", "Bedroom"]}),
        (ON, {"room": "Kitchen", "location": "Bedroom", "domain": ["light"]}),
        (CLIMATE, {"area": "Kitchen", "domain": ["light"], "temperature": 21}),
        (ADD, {"name": "Groceries", "item": "Milk", "area": "Bedroom"}),
        ("intent__HassCancelAllTimers", {"name": "pizza"}),
        (ON, {"area": "Kitchen", "domain": ["light"], "item": "Kitchen Light"}),
        (OFF, {"domain": ["switch"], "item": "Plug"}),
        (ON, {"name": "Heater", "Delay": "10 minutes"}),
        (ON, {"name": "Heater", "minutes": 10}),
        (OFF, {"name": "Plug", "condition": "nobody is at home"}),
        (OFF, {"name": "Plug", "entity": "Kettle"}),
        (OFF, {"name": "Plug", "and": ["Kettle"]}),
    ],
)
async def test_what_may_narrow_or_delay_a_call_is_never_ignored(
    home: HomeAssistant, tool: str, written: JsonObject
) -> None:
    result, ran, _ = await read(home, tool, written)

    assert ran == {}
    assert "is not a parameter" in result or "expected string" in result


@in_one_home(
    ("written", "meant"),
    [
        (
            {
                "name": "Kitchen Light",
                "area": "Kitchen",
                "floor": "Ground",
                "device_class": ["light"],
            },
            {"name": "Kitchen Light", "area": "Kitchen"},
        ),
        ({"name": "Kitchen Light", "floor": "Kitchen"}, {"name": "Kitchen Light"}),
        (
            {"name": "Kitchen Light", "area": "Light", "floor": "Kitchen"},
            {"name": "Kitchen Light"},
        ),
        (
            {"name": "Kitchen Light", "floor": "the kitchen light"},
            {"name": "Kitchen Light"},
        ),
        ({"name": "Garage Door", "device_class": ["door"]}, {"name": "Garage Door"}),
        (
            {"area": "Garage", "domain": "valve", "device_class": "water"},
            {"area": "Garage", "domain": ["valve"]},
        ),
        (
            {"area": "Kitchen", "domain": ["switch"], "device_class": ["outlet"]},
            {"area": "Kitchen", "domain": ["switch"], "device_class": ["outlet"]},
        ),
    ],
)
async def test_a_filter_that_leaves_nothing_of_what_is_determined_is_dropped(
    home: HomeAssistant, written: JsonObject, meant: JsonObject
) -> None:
    assert (await read(home, ON, written))[:2] == (ON, meant)


@in_one_home(
    "written",
    [
        {"name": "Nothing", "area": "Nowhere"},
        {"area": "Nowhere", "domain": ["light"]},
        {"floor": "Nowhere", "domain": ["light"]},
        {"area": "Kitchen", "floor": "Upper Floor", "domain": ["light"]},
        {"area": "Kitchen", "floor": "Attic", "domain": ["light"]},
        {"area": "Garage", "domain": ["light"], "floor": "Nowhere"},
        {"area": "Garage", "floor": "Nowhere"},
    ],
)
async def test_a_filter_that_says_something_else_stays(
    home: HomeAssistant, written: JsonObject
) -> None:
    assert await read(home, ON, written) == (ON, written, "")


@in_one_home(
    "wrong",
    [
        {"area": "Bedroom"},
        {"area": "Nowhere"},
        {"area": "Kitchen 2"},
        {"area": "?"},
        {"floor": "Upper Floor"},
        {"floor": "Nowhere"},
        {"floor": "Floor 9"},
        {"domain": ["switch"]},
        {"area": "Kitchen", "floor": "Nowhere"},
        {"area": "Nowhere", "floor": "Ground Floor", "domain": ["light"]},
    ],
)
async def test_what_contradicts_a_name_stays_for_home_assistant_to_refuse(
    home: HomeAssistant, wrong: JsonObject
) -> None:
    for name in ("Kitchen Light", "light.kitchen", "Light"):
        written = {"name": name, **wrong}
        assert await read(home, ON, written) == (ON, written, "")


@in_one_home(
    ("written", "tool", "meant"),
    [
        (
            {"name": "Garage Door", "position": 0},
            OFF,
            {"name": "Garage Door", "domain": ["cover"]},
        ),
        (
            {"name": "Garage Door", "position": "100%"},
            ON,
            {"name": "Garage Door", "domain": ["cover"]},
        ),
        (
            {"area": "Garage", "position": 100},
            ON,
            {"area": "Garage", "domain": ["cover", "valve"]},
        ),
        ({"name": "Blind", "position": 0}, POSITION, {"name": "Blind", "position": 0}),
        (
            {"name": "Nothing", "position": 0},
            POSITION,
            {"name": "Nothing", "position": 0},
        ),
        (
            {"domain": ["cover"], "position": 0},
            POSITION,
            {"domain": ["cover"], "position": 0},
        ),
    ],
)
async def test_what_takes_no_position_is_opened_or_closed(
    home: HomeAssistant, written: JsonObject, tool: str, meant: JsonObject
) -> None:
    assert (await read(home, POSITION, written))[:2] == (tool, meant)


async def test_nothing_is_closed_where_that_is_not_offered(home: HomeAssistant) -> None:
    intent.async_remove(home, intent.INTENT_TURN_OFF)
    written: JsonObject = {"name": "Tap", "position": 0}

    assert await read(home, POSITION, written) == (POSITION, written, "")


async def test_another_position_is_refused_where_there_are_only_two(
    home: HomeAssistant,
) -> None:
    assert await read(home, POSITION, {"name": "Tap", "position": 50}) == (
        "Only open and closed are possible, which are the positions 100 and 0: Tap.",
        {},
        "",
    )


@in_one_home(
    ("tool", "written", "note"),
    [
        (ON, {"name": "Kitchen Light", "domain": "Light", "area": None}, ""),
        (POSITION, {"name": "Blind", "position": "50 %"}, ""),
        (
            ON,
            {"name": "Kitchen Light", "device_class": "lamp"},
            'The call was read without "device_class".',
        ),
        (
            POSITION,
            {"name": "Tap", "position": 0},
            'The call was read as intent__HassTurnOff, with domain ["valve"], without "position".',
        ),
    ],
)
async def test_the_model_is_told_what_was_read_otherwise(
    home: HomeAssistant, tool: str, written: JsonObject, note: str
) -> None:
    assert (await read(home, tool, written))[2] == note


async def test_a_tool_that_is_no_intent_has_only_its_own_parameters(
    home: HomeAssistant,
) -> None:
    register(home, "server", StubTool(name="look_up"))
    offer = await offer_of(home, "server")

    judged = fit_call(
        ToolCall("1", "look_up", '{"query": "Milk", "area": "Kitchen"}'),
        offer.definitions,
        None,
        (),
        repair=offer.repair,
    )

    assert isinstance(judged, Resolved)
    assert judged.result.content == "area is not a parameter. Use: query."


async def test_a_script_has_only_its_own_parameters(home: HomeAssistant) -> None:
    fields = {"room": {"description": "Where", "selector": {"text": {}}}}
    script = {"description": "Cleans.", "fields": fields, "sequence": []}
    assert await async_setup_component(home, "script", {"script": {"clean": script}})
    async_expose_entity(home, conversation.DOMAIN, "script.clean", should_expose=True)

    assert (await read(home, "script__clean", {"room": "Kitchen"}))[1] == {
        "room": "Kitchen"
    }
    assert (await read(home, "script__clean", {"room": "Kitchen", "delay": 5}))[0] == (
        "delay is not a parameter. Use: room."
    )


@in_one_home(
    "written",
    [
        {"domain": "light", "device_class": "light"},
        {"device_class": ["light"]},
        {"name": "all", "domain": ["light"], "device_class": ["light"]},
        {"area": "Nowhere", "domain": "light", "device_class": "light"},
    ],
)
async def test_a_class_that_is_a_domain_refuses_a_call_that_would_be_about_everything(
    home: HomeAssistant, written: JsonObject
) -> None:
    result, ran, _ = await read(home, OFF, written)

    assert ran == {}
    assert "device_class[0]: expected one of" in result


@in_one_home(
    ("text", "room", "is_meant"),
    [
        ("Turn off the lights upstairs", None, False),
        ("Turn off the lights upstairs", "garage", False),
        ("Turn off the lights in the kitchen", None, True),
        ("Mach das Küchenlicht aus", None, False),
        ("Turn off the light", "kitchen", True),
    ],
)
async def test_a_room_that_the_person_does_not_mean_determines_nothing(
    home: HomeAssistant,
    text: str,
    room: str | None,
    is_meant: bool,  # noqa: FBT001  # as pytest calls
) -> None:
    device_id = satellite(home, room) if room else None
    outlets: JsonObject = {
        "area": "Kitchen",
        "domain": ["light"],
        "device_class": ["outlet"],
    }
    _, ran, _ = await read(home, OFF, outlets, device_id, text)
    assert ran == ({"area": "Kitchen", "domain": ["light"]} if is_meant else outlets)


@in_one_home(
    ("tool", "written", "meant"),
    [
        (
            ON,
            {"name": "Robot", "domain": ["vacuum"]},
            ("vacuum__HassVacuumStart", {"name": "Robot"}),
        ),
        (OFF, {"name": "Robot"}, ("vacuum__HassVacuumReturnToBase", {"name": "Robot"})),
        (
            STOP,
            {"name": "Robot", "domain": ["vacuum"]},
            ("vacuum__HassVacuumReturnToBase", {"name": "Robot"}),
        ),
        (
            ON,
            {"area": "Garage", "domain": ["vacuum"]},
            ("vacuum__HassVacuumStart", {"area": "Garage"}),
        ),
        (ON, {"area": "Garage"}, (ON, {"area": "Garage"})),
    ],
)
async def test_a_vacuum_is_started_and_sent_home(
    home: HomeAssistant, tool: str, written: JsonObject, meant: tuple[str, JsonObject]
) -> None:
    await move_in(home, VACUUM)

    assert (await read(home, tool, written))[:2] == meant


@in_one_home("tool", [STOP, OFF], puts_back=True)
async def test_a_vacuum_that_is_to_pause_is_not_sent_home(
    home: HomeAssistant, tool: str
) -> None:
    await move_in(home, VACUUM)
    error, called, _ = await read(
        home, tool, {"name": "Robot", "domain": ["vacuum"]}, text="Pause the robot"
    )

    assert not called
    assert "no tool lets a vacuum pause" in error


VALUES: dict[str, tuple[JsonValue, ...]] = {
    "name": (
        "Kitchen Light",
        "Light",
        "Garage Door",
        "Tap",
        "Nothing",
        "all",
        "light.bedroom",
    ),
    "area": ("Kitchen", "Garage", "Ground Floor", "Nowhere", "kitchen"),
    "floor": ("Ground Floor", "Upper", "Kitchen", "Attic"),
    "domain": (["light"], "cover", ["light", "switch"], ["valve"], ["lamp"]),
    "device_class": (["light"], "outlet", ["garage"], ["cover"], ["media_player"]),
    "type": (["cover"], "light", "thing"),
    "position": (0, 100),
    "volume_level": (20,),
    "temperature": (21,),
}
TEXTS = (
    "",
    "Turn off the lights upstairs",
    "Close the garage door",
    "Turn off the kitchen light",
    "Good night",
)


def random_calls(count: int) -> Iterator[tuple[str, JsonObject, str]]:
    """Yield tools, arguments and words, the same ones each time."""
    chance = Random(26)  # noqa: S311  # nothing is secret here
    for _ in range(count):
        keys = chance.sample(sorted(VALUES), chance.randint(1, 4))
        tool = chance.choice([ON, OFF, POSITION, VOLUME, CLIMATE, LIGHT])
        yield (
            tool,
            {key: chance.choice(VALUES[key]) for key in keys},
            chance.choice(TEXTS),
        )


async def test_a_repaired_call_acts_on_nothing_that_neither_the_call_nor_the_words_name(
    home: HomeAssistant,
) -> None:
    offers = {
        text: await offer_of(home, llm.LLM_API_ASSIST, text=text) for text in TEXTS
    }

    assert (
        sum(
            acts(home, offers[text], tool, written)
            for tool, written, text in random_calls(3_000)
        )
        > 100
    )


@pytest.mark.each_row
@pytest.mark.parametrize("batch", read_batches(), ids=lambda batch: batch.name)
async def test_a_repaired_call_of_a_recorded_model_acts_on_nothing_else(
    hass: HomeAssistant, batch: Batch
) -> None:
    await move_in(hass, batch.home)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    acting = 0
    for text in {run.text for run in batch.runs}:
        offer = await offer_of(hass, llm.LLM_API_ASSIST, text=text)
        messages = [
            message for run in batch.runs if run.text == text for message in run.asst
        ]
        acting += sum(
            acts(hass, offer, call.name, call.args)
            for message in messages
            for call in message.tool_calls
        )
    assert acting > 3


def acts(hass: HomeAssistant, offer: TurnTools, tool: str, written: JsonObject) -> bool:
    """Return whether a call acts on anything once it is repaired, which the call as written has to name."""
    call = ToolCall("1", tool, json.dumps(written))
    judged = fit_call(call, offer.definitions, None, (), repair=offer.repair)
    targets = isinstance(judged, Runnable) and offer.dispatcher.targets(
        judged.tool.name, judged.arguments
    )
    assert (targets or frozenset()) <= named_by_call(hass, offer, call, written), (
        call,
        judged,
    )
    return bool(targets)


def named_by_call(
    hass: HomeAssistant, offer: TurnTools, call: ToolCall, written: JsonObject
) -> frozenset[str]:
    """Return what a call as written names: by a name, by a place, or by what it would do as it is."""
    name = str(written.get("name", "all"))
    places = {
        str(written[key]).casefold() for key in ("area", "floor") if key in written
    }
    if name != "all":
        return entities_called(hass, conversation.DOMAIN, name)
    if places:
        areas, floors = ar.async_get(hass), fr.async_get(hass)
        there = {
            area.id
            for area in areas.async_list_areas()
            if area.name.casefold() in places
        }
        for area in areas.async_list_areas():
            floor = floors.async_get_floor(area.floor_id or "")
            there |= {area.id} if floor and floor.name.casefold() in places else set()
        found = areas_of_entities(hass)
        return frozenset(
            entity_id for entity_id, area_id in found.items() if area_id in there
        )
    as_written = fit_call(call, offer.definitions, None, ())
    if not isinstance(as_written, Runnable):
        return frozenset()
    return (
        offer.dispatcher.targets(as_written.tool.name, as_written.arguments)
        or frozenset()
    )
