"""Home Assistant's tools run for the loop: whatever one of them does is an answer, never the end of the turn."""

import asyncio
import json
import logging
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import override

import pytest
import voluptuous as vol
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.calendar import CalendarEntity, CalendarEvent
from homeassistant.components.calendar.const import DATA_COMPONENT as CALENDARS
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import area_registry as ar, intent, llm
from homeassistant.setup import async_setup_component
from homeassistant.util.json import JsonObjectType

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue, ToolCall
from custom_components.chatterbox.records.turn_record import result_content
from custom_components.chatterbox.tools.turn_tools import async_offer_tools
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import (
    StubTool,
    error_of,
    llm_context_of,
    offer_of,
    register,
    run,
    satellite,
)
from tests.support.loop_clock import LoopClock
from tests.support.one_home import in_one_home


@pytest.mark.parametrize("order", [["first", "second"], ["second", "first"]])
async def test_all_apis_are_asked_at_once(
    home: HomeAssistant, order: list[str]
) -> None:
    both_are_asked = asyncio.Barrier(2)
    for api_id in ("first", "second"):
        register(
            home, api_id, StubTool(name=f"tool_of_{api_id}")
        ).until = both_are_asked.wait

    offer = await offer_of(home, *order)

    assert [definition.name for definition in offer.definitions] == [
        "tool_of_first",
        "tool_of_second",
    ]


async def test_apis_that_never_answer_are_left_out_after_one_wait(
    home: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    for api_id in ("silent", "mute"):
        register(
            home, api_id, StubTool(name=f"tool_of_{api_id}"), name=f"The {api_id}"
        ).until = asyncio.Event().wait
    register(home, "good", StubTool(name="search"))

    with LoopClock().running():
        offer = await async_offer_tools(
            home, ["silent", "good", "mute", "gone"], llm_context_of(), api_timeout=2
        )

    assert [definition.name for definition in offer.definitions] == ["search"]
    assert offer.missing_apis == ("gone",)
    assert offer.context == (
        "The tools of The silent cannot be used at the moment.\nThe tools of The mute cannot be used at the moment."
    )
    assert "LLM API silent: it did not name its tools in time" in caplog.text


async def test_an_api_that_cancels_itself_leaves_the_others(
    home: HomeAssistant,
) -> None:
    async def give_up() -> None:
        raise asyncio.CancelledError

    register(home, "silent", StubTool(name="find")).until = give_up
    register(home, "good", StubTool(name="search"))

    offer = await offer_of(home, "silent", "good")

    assert [definition.name for definition in offer.definitions] == ["search"]


async def test_an_api_that_is_deaf_to_its_cancellation_is_not_waited_for(
    home: HomeAssistant,
) -> None:
    wakes = asyncio.Event()

    async def sleep_on() -> None:
        while not wakes.is_set():
            with suppress(asyncio.CancelledError):
                await wakes.wait()

    register(home, "deaf", StubTool(name="find")).until = sleep_on

    with LoopClock().running():
        offer = await async_offer_tools(home, ["deaf"], llm_context_of(), api_timeout=2)

    wakes.set()
    assert offer.definitions == ()


async def test_a_call_acts_and_keeps_the_native_result(home: HomeAssistant) -> None:
    outcome = await run(
        await offer_of(home, llm.LLM_API_ASSIST),
        "intent__HassTurnOn",
        name="Cooking Light",
    )

    await home.async_block_till_done()
    assert home.states.is_state("light.kitchen", "on")
    assert not outcome.is_error
    assert json.loads(outcome.content)["data"]["success"][0]["id"] == "light.kitchen"
    assert isinstance(outcome.native, llm.ToolResult)
    assert isinstance(outcome.native.data, llm.IntentResponseDict)
    response = outcome.native.data.original
    assert isinstance(response, intent.IntentResponse)
    assert [target.id for target in response.success_results] == ["light.kitchen"]


def break_lights(hass: HomeAssistant, *broken: str) -> None:
    """Have these lights refuse to be turned on."""

    async def turn_on(call: ServiceCall) -> None:
        if set(call.data[ATTR_ENTITY_ID]) & set(broken):
            raise HomeAssistantError("no answer")

    hass.services.async_register("light", "turn_on", turn_on)


async def test_an_area_whose_entities_all_failed_is_a_failure(
    home: HomeAssistant,
) -> None:
    break_lights(home, "light.kitchen", "light.lamp")

    outcome = await run(
        await offer_of(home, llm.LLM_API_ASSIST),
        "intent__HassTurnOn",
        area="Kitchen",
        domain=["light"],
    )

    assert outcome.is_error
    names = (
        error_of(outcome)
        .removeprefix("Nothing was done. It failed for: ")
        .removesuffix(".")
        .split(", ")
    )
    assert sorted(names) == ["Kitchen Lamp (no answer)", "Kitchen Light (no answer)"]


async def test_a_broadcast_that_nothing_can_speak_is_a_failure(
    home: HomeAssistant,
) -> None:
    assert await async_setup_component(home, "assist_satellite", {})

    outcome = await run(
        await offer_of(home, llm.LLM_API_ASSIST),
        "assist_satellite__HassBroadcast",
        message="Dinner is ready.",
    )

    assert outcome.is_error
    assert "nothing in this home can speak" in error_of(outcome)


async def test_an_action_that_failed_in_part_names_what_was_not_done_first(
    home: HomeAssistant,
) -> None:
    break_lights(home, "light.lamp")

    outcome = await run(
        await offer_of(home, llm.LLM_API_ASSIST),
        "intent__HassTurnOn",
        area="Kitchen",
        domain=["light"],
    )

    assert not outcome.is_error
    # Home Assistant 2026.10 takes one entity for the other.
    assert outcome.content.startswith(
        (
            '{"not_done":["Kitchen Lamp (no answer)"]',
            '{"not_done":["Kitchen Light (no answer)"]',
        )
    )
    assert isinstance(outcome.native, llm.ToolResult)
    assert result_content(outcome.native) == outcome.content


async def test_the_asking_device_says_which_room_is_meant(home: HomeAssistant) -> None:
    offer = await offer_of(
        home, llm.LLM_API_ASSIST, device_id=satellite(home, "hallway")
    )

    await run(offer, "climate__HassClimateSetTemperature", temperature=23)

    await home.async_block_till_done()
    temperatures = {
        entity_id: state.attributes["temperature"]
        for entity_id in ("climate.kitchen", "climate.hallway")
        if (state := home.states.get(entity_id))
    }
    assert temperatures == {"climate.kitchen": 20, "climate.hallway": 23}


async def test_a_tool_cannot_change_the_arguments_that_are_recorded(
    home: HomeAssistant,
) -> None:
    async def empty_the_list(tool_input: llm.ToolInput) -> JsonObjectType:
        tool_input.tool_args["list"].clear()
        return {}

    register(home, "mcp-1", StubTool(name="eat", answer=empty_the_list))
    arguments: JsonObject = {"list": ["a"]}

    await (await offer_of(home, "mcp-1")).dispatcher.dispatch(
        ToolCall("1", "eat", "{}"), arguments
    )

    assert arguments == {"list": ["a"]}


@pytest.mark.each_row
@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (HomeAssistantError("The server is asleep"), "The server is asleep"),
        (HomeAssistantError(), "The tool failed: HomeAssistantError."),
        (
            vol.MultipleInvalid(
                [
                    vol.Invalid("expected int", ["position"]),
                    vol.Invalid("too short", ["name", "value"]),
                ]
            ),
            "The arguments do not fit: position: expected int; name: too short.",
        ),
        (TimeoutError(), "The tool took too long and was stopped."),
        (asyncio.CancelledError(), "The tool was interrupted before it was done."),
    ],
)
async def test_a_foreseen_failure_is_told_to_the_model(
    home: HomeAssistant,
    caplog: pytest.LogCaptureFixture,
    failure: BaseException,
    expected: str,
) -> None:
    register(home, "mcp-1", StubTool(name="search", answer=failure))

    assert error_of(await run(await offer_of(home, "mcp-1"), "search")) == expected
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_an_unforeseen_failure_is_logged_once_without_what_was_said(
    home: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    failure = KeyError("1234")
    failure.__cause__ = ValueError("pin 1234")
    register(home, "mcp-1", StubTool(name="unlock", answer=failure))

    text = error_of(await run(await offer_of(home, "mcp-1"), "unlock", query="1234"))

    assert "KeyError" in text
    errors = [
        record.getMessage()
        for record in caplog.records
        if record.levelno >= logging.ERROR
    ]
    assert len(errors) == 1
    assert "async_call" in errors[0]
    assert "ValueError" in errors[0]
    assert "1234" not in errors[0] + text


async def test_cancellation_is_let_through(home: HomeAssistant) -> None:
    running = asyncio.Event()

    async def wait_for_ever(_: llm.ToolInput) -> JsonObjectType:
        running.set()
        await asyncio.Event().wait()
        return {}

    register(home, "mcp-1", StubTool(name="wait", answer=wait_for_ever))
    task = asyncio.create_task(run(await offer_of(home, "mcp-1"), "wait"))
    await running.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("answer", [{"a": object()}, {"a": 2**70}, {"a": "\ud800"}])
async def test_an_answer_that_is_not_json_is_a_failure(
    home: HomeAssistant, answer: JsonObjectType
) -> None:
    register(home, "mcp-1", StubTool(name="search", answer=answer))

    assert "Do not run it again" in error_of(
        await run(await offer_of(home, "mcp-1"), "search")
    )


async def test_a_tool_may_say_itself_that_it_failed(home: HomeAssistant) -> None:
    register(
        home,
        "mcp-1",
        StubTool(name="search", answer={"content": "no network"}, is_error=True),
    )

    outcome = await run(await offer_of(home, "mcp-1"), "search")

    assert outcome.is_error
    assert outcome.content == '{"error":{"content":"no network"}}'
    assert outcome.native == llm.ToolResult({"content": "no network"}, error=True)


async def test_what_the_model_reads_can_be_written_again_from_the_native_result(
    home: HomeAssistant,
) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST)
    for outcome in (
        await run(offer, "intent__HassTurnOn", name="Kitchen Light"),
        await run(offer, "intent__HassTurnOn", name="Nobody"),
    ):
        assert isinstance(outcome.native, llm.ToolResult)
        assert result_content(outcome.native) == outcome.content


@in_one_home(
    ("arguments", "expected"),
    [
        (
            {"name": "kitchen lihgt", "domain": ["light"]},
            "Similar names are: Kitchen Light, Kitchen Lamp, Cooking Light.",
        ),
        ({"area": "Cellar", "domain": ["light"]}, "The areas are: Hallway, Kitchen."),
        ({"floor": "Attic", "domain": ["light"]}, "The floors are: Ground Floor."),
        ({}, "cannot target all devices"),
    ],
)
async def test_a_name_that_is_not_there_is_answered_with_those_that_are(
    home: HomeAssistant, arguments: JsonObject, expected: str
) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST)

    assert expected in error_of(await run(offer, "intent__HassTurnOn", **arguments))


async def test_a_missing_argument_is_named(home: HomeAssistant) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST)

    text = error_of(
        await run(offer, "light__HassLightSet", name="Kitchen Light", brightness=400)
    )

    assert text.startswith("The arguments do not fit: brightness: ")
    assert "100" in text


async def test_an_area_without_a_match_is_not_answered_with_names_of_other_rooms(
    home: HomeAssistant,
) -> None:
    ar.async_get(home).async_create("Cellar")
    offer = await offer_of(home, llm.LLM_API_ASSIST)

    text = error_of(
        await run(offer, "intent__HassTurnOn", area="Cellar", domain=["light"])
    )

    assert text == "No entities were in the area (given area 'Cellar', domains light)."


async def test_a_thermostat_with_two_set_points_says_what_it_takes(
    hass: HomeAssistant,
) -> None:
    attributes = (
        '{ hvac_modes: ["off", heat, cool, heat_cool], target_temperature_low: '
        "18, target_temperature_high: 25 }"
    )
    home = f"entities:\n  - {{ id: climate.range, name: Range, state: heat_cool, attributes: {attributes} }}\n"
    await move_in(hass, home)
    assert await async_setup_component(hass, "intent", {})
    assert await async_setup_component(hass, "climate", {})
    offered = await async_offer_tools(hass, ["assist"], llm_context_of())
    arguments = '{"name": "Range", "temperature": 21}'
    call = ToolCall("1", "climate__HassClimateSetTemperature", arguments)

    outcome = await offered.dispatcher.dispatch(call, json.loads(arguments))

    assert outcome.is_error
    assert "Range keeps between 18.0 and 25.0" in outcome.content
    assert "It takes one in its modes heat, cool" in outcome.content
    assert "Similar names" not in outcome.content


RADIATORS = """
areas: [{ id: den, name: Den }, { id: attic, name: Attic }]
entities:
  - { id: climate.left, name: Left Radiator, area: den, state: heat, attributes: { target_temperature: 20 } }
  - { id: climate.right, name: Right Radiator, area: den, state: heat, attributes: { target_temperature: 20 } }
  - { id: climate.attic, name: Attic Radiator, area: attic, state: heat, attributes: { target_temperature: 20 } }
"""


async def test_a_call_for_one_of_several_is_answered_with_their_names(
    hass: HomeAssistant,
) -> None:
    """home-assistant/core#136900, #153393."""
    await move_in(hass, RADIATORS)
    assert await async_setup_component(hass, "intent", {})
    assert await async_setup_component(hass, "climate", {})
    offer = await offer_of(hass, llm.LLM_API_ASSIST)

    text = error_of(
        await run(
            offer, "climate__HassClimateSetTemperature", area="Den", temperature=22
        )
    )

    assert (
        "There are: Left Radiator, Right Radiator. Call it by name, once for each one that is meant."
        in text
    )


LAMPS = """
areas: [{ id: den, name: Den }]
entities:
  - { id: light.colour, name: Colour, area: den, state: "on", attributes: { supported_color_modes: [hs] } }
  - { id: light.white, name: White, area: den, state: "on", attributes: { supported_color_modes: [color_temp] } }
  - { id: light.dim, name: Dim, area: den, state: "on", attributes: { supported_color_modes: [brightness] } }
  - { id: light.plain, name: Plain, area: den, state: "on", attributes: { supported_color_modes: [onoff] } }
"""


async def test_a_light_that_lacks_what_is_set_has_failed(
    hass: HomeAssistant, subtests: pytest.Subtests
) -> None:
    """home-assistant/core#134159."""
    await move_in(hass, LAMPS)
    assert await async_setup_component(hass, "intent", {})
    offer = await offer_of(hass, llm.LLM_API_ASSIST)
    able: tuple[JsonObject, ...] = (
        {"name": "Colour", "color": "red", "brightness": 40},
        {"name": "White", "color": "floralwhite"},
        {"name": "White", "temperature": 2700},
        {"name": "Dim", "brightness": 40},
        {"name": "Plain", "brightness": 100},
        {"area": "Den", "color": "red"},
    )
    unable: tuple[JsonObject, ...] = (
        {"name": "White", "color": "red"},
        {"name": "Dim", "color": "white"},
        {"name": "Dim", "temperature": 2700},
        {"name": "Dim", "brightness": 40, "color": "red"},
        {"name": "Plain", "brightness": 40},
    )
    for arguments in (*able, *unable):
        with subtests.test(arguments=arguments):
            outcome = await run(offer, "light__HassLightSet", **arguments)
            assert outcome.is_error is (arguments in unable)
            if outcome.is_error:
                assert (
                    error_of(outcome)
                    == f"It failed for: {arguments['name']} (It does not support that.)."
                )


async def test_an_automation_that_is_enabled_has_not_run(home: HomeAssistant) -> None:
    """skye-harris/llm_intents#128."""
    good_night = {
        "alias": "Good Night",
        "triggers": [],
        "actions": [{"event": "good_night"}],
    }
    assert await async_setup_component(home, "automation", {"automation": good_night})
    async_expose_entity(
        home, "conversation", "automation.good_night", should_expose=True
    )
    offer = await offer_of(home, llm.LLM_API_ASSIST)

    outcome = await run(
        offer, "intent__HassTurnOn", name="Good Night", domain=["automation"]
    )

    assert not outcome.is_error
    assert "Its actions were not run" in json.loads(outcome.content)["note"]
    assert "note" not in json.loads(
        (
            await run(offer, "intent__HassTurnOn", area="Kitchen", domain=["light"])
        ).content
    )


class _Calendar(CalendarEntity):
    """Has an event that lasts the whole of Sunday, and one whose times are those of UTC."""

    _attr_name = "Family"

    @property
    @override
    def event(self) -> None:
        return None

    @override
    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        choir = (
            datetime(2026, 11, 30, 1, tzinfo=UTC),
            datetime(2026, 11, 30, 2, tzinfo=UTC),
        )
        return [
            CalendarEvent(
                start=date(2026, 11, 29), end=date(2026, 11, 30), summary="Fair"
            ),
            CalendarEvent(
                start=choir[0],
                end=choir[1],
                summary="Choir",
                location="2026-11-30T01:00:00+00:00",
            ),
        ]


async def test_an_event_of_a_whole_day_is_told_apart_from_one_of_two_days(
    home: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    freezer.move_to("2026-11-28 20:00:00+00:00")
    assert await async_setup_component(home, "calendar", {})
    await home.data[CALENDARS].async_add_entities([_Calendar()])
    async_expose_entity(home, "conversation", "calendar.family", should_expose=True)
    offer = await offer_of(home, llm.LLM_API_ASSIST)

    (tool,) = (one for one in offer.definitions if one.name.endswith("get_events"))
    outcome = await run(offer, tool.name, calendar="Family", range="week")

    assert "exclusive" in tool.description
    fair, choir = json.loads(outcome.content)["events"]
    assert fair == {
        "start": "2026-11-29",
        "end": "2026-11-30",
        "summary": "Fair",
        "all_day": True,
    }
    # skye-harris/hass_local_openai_llm#102: a model reads the times as they are.
    assert (choir["start"], choir["end"]) == (
        "2026-11-29T17:00:00-08:00",
        "2026-11-29T18:00:00-08:00",
    )
    assert choir["location"] == "2026-11-30T01:00:00+00:00"


FAILURES: list[tuple[JsonObject, str]] = [
    ({"error": "No beans"}, "No beans"),
    ({"error": "No beans", "attempts": 3}, "No beans"),
    ({"error": "error"}, "error"),
    ({"error": {"message": "No beans", "code": 7}}, "No beans"),
    ({"error": True}, "It reports that it has failed"),
    ({"success": False}, "It reports that it has failed"),
    ({"success": False, "error": None, "code": 7}, "It reports that it has failed"),
    ({"success": False, "message": "No beans"}, "No beans"),
    ({"ok": False, "data": None}, "It reports that it has failed"),
    ({"response": {"error": "No beans"}}, "No beans"),
    ({"status": "error", "message": "No beans"}, "No beans"),
    ({"status": "Failed"}, "It reports that it has failed"),
    ({"errors": ["No beans", "No water"]}, "No beans"),
    ({"errors": [{"message": "No beans", "code": 7}], "data": None}, "No beans"),
    ({"status": "error", "errors": [7]}, "It reports that it has failed"),
]
NO_ERROR: tuple[JsonValue, ...] = (
    "none",
    "None",
    None,
    False,
    "",
    " ",
    "no error",
    "ok",
    "0",
    0,
)
REPORTS: list[JsonObject] = [
    *[dict[str, JsonValue](error=none) for none in NO_ERROR],
    {"title": "Blue", "error": "n/a"},
    {"error": 0.3, "value": 21},
    {"success": False, "of": "the backup last night"},
    {"success": False, "finished_at": "2026-11-25 03:00"},
    {"last_backup": {"success": False, "error": "disk full"}},
    {"state": "docked", "error": "The bin is full"},
    {"success": True, "error": "1 warning"},
    {"status": "error", "printer": "Office"},
    {"status": "ok", "errors": ["1 mail was skipped"]},
    {"errors": []},
    {"errors": ["E24"], "machine": "Washer"},
    {"status": "on"},
]


async def test_only_a_result_that_tells_of_its_own_failure_has_failed(
    home: HomeAssistant, subtests: pytest.Subtests
) -> None:
    brew = StubTool(name="brew")
    register(home, "kitchen", brew)
    for answer, reason in [*FAILURES, *((report, "") for report in REPORTS)]:
        for is_wrapped in (False, True):
            with subtests.test(str(answer), is_wrapped=is_wrapped):
                brew.answer = {"result": answer} if is_wrapped else answer
                outcome = await run(await offer_of(home, "kitchen"), "brew")

                assert outcome.is_error == bool(reason)
                assert not reason or json.loads(outcome.content)["error"] == reason
