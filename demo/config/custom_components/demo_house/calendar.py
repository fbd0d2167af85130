"""The calendars of a demo house."""

from datetime import date, datetime, timedelta
from typing import Any, override

from homeassistant.components.calendar import CalendarEntity, CalendarEvent
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.util import dt as dt_util

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_information import HomeCalendar, HomeEvent


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the calendars of the home."""
    async_add_entities(
        DemoCalendar(entry, calendar)
        for calendar in entry.runtime_data.entities_of(HomeCalendar)
    )


class DemoCalendar(DemoHouseEntity, CalendarEntity):
    """A calendar whose events have the uids 1, 2, 3, … in the order of their making."""

    def __init__(self, entry: DemoHouseConfigEntry, calendar: HomeCalendar) -> None:
        """Take the events of the home file, on the days from the first one on."""
        super().__init__(entry, calendar)
        self._attr_supported_features = calendar.supported_features
        self._events = {
            str(number): _event(item, str(number))
            for number, item in enumerate(calendar.events, start=1)
        }
        self._made = len(self._events)

    @property
    @override
    def event(self) -> None:
        """Return none: the state would change by itself when one begins."""
        return None

    @override
    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        """Return the events in a range."""
        return [
            one
            for one in self._events.values()
            if one.start_datetime_local < end_date
            and one.end_datetime_local > start_date
        ]

    @override
    async def async_create_event(self, **kwargs: Any) -> None:
        """Add an event."""
        self._made += 1
        await self.async_update_event(str(self._made), kwargs)

    @override
    async def async_delete_event(
        self,
        uid: str,
        recurrence_id: str | None = None,
        recurrence_range: str | None = None,
    ) -> None:
        """Delete an event."""
        if self._events.pop(uid, None) is None:
            raise HomeAssistantError("There is no such event")
        self.async_write_ha_state()

    @override
    async def async_update_event(
        self,
        uid: str,
        event: dict[str, Any],
        recurrence_id: str | None = None,
        recurrence_range: str | None = None,
    ) -> None:
        """Replace an event."""
        fields = {"start": event["dtstart"], "end": event["dtend"]}
        known = ("summary", "description", "location", "rrule")
        texts = {name: event[name] for name in known if event.get(name)}
        self._events[uid] = CalendarEvent(**fields, **texts, uid=uid)
        self.async_write_ha_state()


def _event(item: HomeEvent, uid: str) -> CalendarEvent:
    day = dt_util.start_of_local_day().date() + timedelta(days=item.day)
    start: date | datetime = day
    end: date | datetime = day + timedelta(days=item.days)
    if item.start is not None:
        zone = dt_util.get_default_time_zone()
        start = datetime.combine(day, item.start, zone)
        end = start + timedelta(minutes=item.minutes)
    return CalendarEvent(
        start, end, item.summary, location=item.location, uid=uid, rrule=item.rrule
    )
