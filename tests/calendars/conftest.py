"""The calendars of a family, and what a tool says of them."""

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.tools.own.own_tool import (
    OwnTool,
    ToolAnswer,
)
from tests.support.calendars import BookedCalendar, add_calendars, event
from tests.support.config_entries import prepare
from tests.support.own_tools import own_call

NOW = "2026-11-29T10:00:00-08:00"
"""A Sunday."""
DENTIST = event(
    "Dentist",
    "2026-12-04 15:00-08:00",
    "2026-12-04 16:00-08:00",
    location="Station Road 5",
)
TRIP = event("Trip", "2026-11-28", "2026-12-01")
PARTY = event("Party", "2026-12-05 20:00-08:00", "2026-12-06 02:00-08:00")
BIRTHDAY = event("Birthday", "2026-12-04")
GYM = event(
    "Gym", "2026-12-01 18:00-08:00", "2026-12-01 19:00-08:00", rrule="FREQ=WEEKLY"
)
BREAKFAST = event("Breakfast", "2026-11-29 08:00-08:00", "2026-11-29 09:00-08:00")
EVERY = (DENTIST, TRIP, PARTY, BIRTHDAY, GYM, BREAKFAST)


@pytest.fixture
async def family(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> BookedCalendar:
    """Return the only calendar of a home."""
    freezer.move_to(NOW)
    await prepare(hass)
    calendar = BookedCalendar("Family", *EVERY)
    await add_calendars(hass, calendar)
    return calendar


async def answer(
    hass: HomeAssistant, tool: OwnTool, **arguments: str | int
) -> ToolAnswer:
    return await tool.run(own_call(hass, {**arguments}))


async def spoken_answer(
    hass: HomeAssistant, tool: OwnTool, **arguments: str | int
) -> str:
    return (await answer(hass, tool, **arguments)).speech
