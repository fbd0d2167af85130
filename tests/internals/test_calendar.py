"""Calendars cannot be read without the inside of the calendar integration."""

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.internals.calendar import calendar_entity
from tests.support.calendars import BookedCalendar, add_calendars
from tests.support.moved_names import take_away


async def test_a_calendar_becomes_unknown(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    calendar = BookedCalendar("Family")
    await add_calendars(hass, calendar)
    assert calendar_entity(hass, "calendar.family") is calendar
    assert calendar_entity(hass, "calendar.unknown") is None
    hass.states.async_set("calendar.family", "unavailable")
    assert calendar_entity(hass, "calendar.family") is None
    hass.states.async_set("calendar.family", "off")
    take_away(monkeypatch, hass, "calendar_events")

    assert calendar_entity(hass, "calendar.family") is None
