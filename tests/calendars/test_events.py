"""Events of all calendars are read once, and a late calendar keeps nobody from the others."""

import asyncio

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.calendars.tools import (
    ADD_EVENT,
    FIND_FREE_TIME,
    GET_EVENTS,
)
from custom_components.chatterbox.tools.own.own_tool import (
    OwnTool,
    Prepared,
)
from tests.calendars.conftest import (
    answer,
    spoken_answer,
)
from tests.support.calendars import BookedCalendar, add_calendars, event
from tests.support.config_entries import prepare
from tests.support.loop_clock import LoopClock
from tests.support.own_tools import own_call


async def test_a_day_is_as_long_as_clocks_make_it(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    freezer.move_to("2026-10-31T12:00:00-07:00")
    late = event("Late", "2026-11-01T23:30:00-08:00", "2026-11-01T23:45:00-08:00")
    abroad = event("Call", "2026-11-02T09:30:00+01:00", "2026-11-02T10:00:00+01:00")
    await prepare(hass)
    await add_calendars(hass, BookedCalendar("Family", late, abroad))

    spoken = await spoken_answer(hass, GET_EVENTS, when="tomorrow")
    monday = await spoken_answer(hass, GET_EVENTS, when="2026-11-02")

    assert spoken == "Sunday, November 1: Late, 23:30 to 23:45."
    assert monday == "Monday, November 2: Call, 00:30 to 01:00."


@pytest.mark.usefixtures("family")
async def test_one_event_of_two_calendars_is_told_once(
    hass: HomeAssistant,
) -> None:
    work = BookedCalendar(
        "Work", event("dentist", "2026-12-04 15:00", "2026-12-04 16:00")
    )
    broken = BookedCalendar("School", fails=True)
    hidden = BookedCalendar("Diary", event("Secret", "2026-12-04"))
    await add_calendars(hass, work, broken, hidden)
    async_expose_entity(hass, "conversation", hidden.entity_id, should_expose=False)

    spoken = await spoken_answer(hass, GET_EVENTS, when="on Friday", text="dentist")
    named = await spoken_answer(hass, GET_EVENTS, when="on Friday", calendar="Work")
    free = await spoken_answer(hass, FIND_FREE_TIME, when="on Wednesday")
    alone = await answer(hass, GET_EVENTS, when="on Friday", calendar="School")
    gone = await answer(hass, FIND_FREE_TIME, calendar="School")

    assert spoken == (
        "Friday, December 4: Dentist, 15:00 to 16:00, Station Road 5 (Family, Work). "
        "I couldn't read School."
    )
    assert named == "Friday, December 4: dentist, 15:00 to 16:00 (Work)."
    assert free.startswith("I couldn't read School. There is nothing in")
    assert alone.is_error
    assert alone.speech == gone.speech == "I couldn't read School."


@pytest.mark.usefixtures("family")
async def test_a_late_calendar_keeps_nobody_from_the_others(
    hass: HomeAssistant,
) -> None:
    late = BookedCalendar("Work")
    late.released = asyncio.Event()
    await add_calendars(hass, late)

    with LoopClock().running():
        spoken = await spoken_answer(hass, GET_EVENTS, when="on Tuesday")
        await spoken_answer(hass, GET_EVENTS, text="Zoo")

    assert spoken == (
        "Tuesday, December 1: Gym, 18:00 to 19:00 (Family). I couldn't read Work."
    )
    assert late.requests == 2, "not again for the months that follow"


@pytest.mark.usefixtures("family")
async def test_what_a_calendar_says_of_its_failure_is_in_no_log(
    hass: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    broken = BookedCalendar("School")
    await add_calendars(hass, broken)
    added = await prepared(
        hass, ADD_EVENT, text="Play", when="on Friday at 3 pm", calendar="School"
    )
    broken.fails = True

    listed = await answer(hass, GET_EVENTS, when="on Friday", calendar="School")
    refused = await ADD_EVENT.run(own_call(hass, {**added}))

    assert listed.is_error
    assert refused.is_error
    assert "The calendar is away" not in caplog.text


async def prepared(hass: HomeAssistant, tool: OwnTool, **arguments: str) -> JsonObject:
    """Return the arguments of a call as it is asked about."""
    assert tool.prepare
    found = await tool.prepare(own_call(hass, {**arguments}))
    assert isinstance(found, Prepared)
    return found.arguments
