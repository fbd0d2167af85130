"""Calendars with events that a test writes, which may be late, fail, or refuse to be changed."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any, override

from homeassistant.components.calendar import (
    CalendarEntity,
    CalendarEntityFeature,
    CalendarEvent,
)
from homeassistant.components.calendar.const import DATA_COMPONENT
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util

ALL = CalendarEntityFeature(7)
READ_ONLY = CalendarEntityFeature(0)


def event(
    summary: str,
    start: str,
    end: str = "",
    *,
    rrule: str | None = None,
    location: str | None = None,
    uid: str = "",
) -> CalendarEvent:
    """Return an event between two ISO times in the zone of the home, or on days; the end is exclusive."""
    return CalendarEvent(
        _edge(start),
        _edge(end or start),
        summary,
        "Bring the card.",
        location,
        uid or summary,
        rrule=rrule,
    )


def _edge(written: str) -> date | datetime:
    if day := dt_util.parse_date(written):
        return day
    moment = dt_util.parse_datetime(written, raise_on_error=True)
    return moment if moment.tzinfo else dt_util.as_local(moment)


class BookedCalendar(CalendarEntity):
    """A calendar that keeps its events in a list."""

    _attr_should_poll = False

    def __init__(
        self,
        name: str,
        *events: CalendarEvent,
        features: CalendarEntityFeature = ALL,
        fails: bool = False,
    ) -> None:
        self._attr_name = self._attr_unique_id = name
        self._attr_supported_features = features
        self.events = [*events]
        self.fails = fails
        self.released: asyncio.Event | None = None
        """Set when it may answer."""
        self.requests = 0
        """How often its events were asked for."""

    @property
    @override
    def event(self) -> CalendarEvent | None:
        return None

    @override
    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        self.requests += 1
        await self._answer()
        # More than was asked for, as some calendars send.
        return [*self.events]

    @override
    async def async_create_event(self, **kwargs: Any) -> None:
        await self._answer()
        start, end = kwargs["dtstart"], kwargs["dtend"]
        self.events.append(
            CalendarEvent(start, end, kwargs["summary"], uid=kwargs["summary"])
        )

    @override
    async def async_delete_event(
        self,
        uid: str,
        recurrence_id: str | None = None,
        recurrence_range: str | None = None,
    ) -> None:
        await self._answer()
        self.events = [one for one in self.events if one.uid != uid]

    @override
    async def async_update_event(
        self,
        uid: str,
        event: dict[str, Any],
        recurrence_id: str | None = None,
        recurrence_range: str | None = None,
    ) -> None:
        await self._answer()
        self.events = [
            replace(
                one,
                start=event["dtstart"],
                end=event["dtend"],
                summary=event["summary"],
                description=event.get("description"),
                location=event.get("location"),
            )
            if one.uid == uid
            else one
            for one in self.events
        ]

    async def _answer(self) -> None:
        if self.released:
            await self.released.wait()
        if self.fails:
            raise HomeAssistantError("The calendar is away")

    def contents(self) -> Sequence[tuple[str, str, str]]:
        """Return its events as texts."""
        return [
            (one.summary, one.start.isoformat(), one.end.isoformat())
            for one in self.events
        ]


async def add_calendars(hass: HomeAssistant, *calendars: CalendarEntity) -> None:
    """Add calendars, which Assist sees."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "calendar", {})
    await hass.data[DATA_COMPONENT].async_add_entities(calendars)
    for one in calendars:
        async_expose_entity(hass, "conversation", one.entity_id, should_expose=True)
