"""Reads the events of exposed calendars, from their entities: the actions of Home Assistant tell no ids of events.

An event that several calendars have is one. A calendar that fails, or is late, keeps
nobody from the others.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.components.calendar import CalendarEvent
from homeassistant.components.calendar.const import (
    DOMAIN as CALENDAR,
    CalendarEntityFeature,
)
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import intent
from homeassistant.helpers.llm import LLMContext
from homeassistant.util import dt as dt_util

from ..agent.text import clipped, compared, fold, heard_words, plain_name, words_alike
from ..const import LOGGER
from ..home.entities import telling_words
from ..home.entity_matches import matching_states
from ..internals.calendar import calendar_entity
from ..people.speakers import async_user_of

_LIMIT: Final = 8.0
"""Seconds for one calendar."""
_LONGEST: Final = 100
"""Characters of a title or a place."""
_AHEAD: Final = (timedelta(days=31), timedelta(days=366))
"""How far the next events are looked for; the second time only if there are none before."""


class EventRange(NamedTuple):
    """A range of local time."""

    begin: datetime
    end: datetime
    """Exclusive."""

    @property
    def is_of_days(self) -> bool:
        """Whether it is one of whole days."""
        return all(one == dt_util.start_of_local_day(one) for one in self)


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """An event of one or more calendars."""

    event: CalendarEvent
    calendars: tuple[str, ...]
    """The ids of their entities."""

    @property
    def title(self) -> str:
        """The title on one line."""
        return clipped(self.event.summary, _LONGEST)

    @property
    def location(self) -> str:
        """The place on one line; empty if it has none."""
        return clipped(self.event.location or "", _LONGEST)

    @property
    def begin(self) -> datetime:
        """Its local beginning; of a day, midnight."""
        return dt_util.as_local(self.event.start_datetime_local)

    @property
    def end(self) -> datetime:
        """Its local end, which is exclusive."""
        return dt_util.as_local(self.event.end_datetime_local)

    @property
    def is_recurring(self) -> bool:
        """Whether it is one of a series."""
        return bool(self.event.rrule or self.event.recurrence_id)

    def overlaps(self, time: EventRange) -> bool:
        """Return whether some of it is in a range."""
        begin, end, first, after = map(
            dt_util.as_utc, (self.begin, self.end, time.begin, time.end)
        )
        return begin < after and (end > first or begin == end == first)

    def is_called(self, words: str) -> bool:
        """Return whether its title or its place has some words."""
        meant = frozenset(map(fold, telling_words(words)))
        heard = heard_words(f"{self.title} {self.location}")
        if not words or f" {plain_name(words)} " in f" {plain_name(self.title)} ":
            return True
        return bool(meant) and words_alike(meant, heard) == meant


@dataclass(frozen=True, slots=True)
class FoundEvents:
    """The events of some calendars."""

    events: Sequence[FoundEvent] = ()
    """In the order of their beginnings."""
    failed: Sequence[str] = ()
    """The ids of the calendars that could not be read."""


@dataclass(frozen=True, slots=True)
class Calendars:
    """The exposed calendars that a speaker may use."""

    hass: HomeAssistant
    states: Sequence[State] = field(default_factory=list)

    @property
    def ids(self) -> Sequence[str]:
        """The ids of their entities."""
        return [state.entity_id for state in self.states]

    def called(self, name: str) -> Sequence[str]:
        """Return the ids of those with a name or an entity id; all without one."""
        if not name:
            return self.ids
        named = intent.MatchTargetsConstraints(
            name=name, domains={CALENDAR}, allow_duplicate_names=True
        )
        known = {state.entity_id for state in matching_states(self.hass, named)}
        return [one for one in self.ids if one in known or one == name]

    def supporting(
        self, ids: Iterable[str], feature: CalendarEntityFeature
    ) -> Sequence[str]:
        """Return those of some calendars that can do something."""
        found = ((one, calendar_entity(self.hass, one)) for one in ids)
        return [
            one
            for one, entity in found
            if entity and feature & (entity.supported_features or 0)
        ]

    async def async_events(
        self,
        ids: Sequence[str],
        time: EventRange,
    ) -> FoundEvents:
        """Return the events of some calendars in a range."""
        answers = await asyncio.gather(
            *(_async_read(self.hass, one, time) for one in ids)
        )
        merged: dict[tuple[object, ...], FoundEvent] = {}
        for entity_id, events in zip(ids, answers, strict=True):
            for event in events or ():
                found = FoundEvent(event, (entity_id,))
                key = compared(found.title), event.all_day, found.begin, found.end
                known = merged.get(key, found)
                if entity_id not in known.calendars:
                    known = FoundEvent(
                        known.event,
                        (*known.calendars, entity_id),
                    )
                if known.overlaps(time):
                    merged[key] = known
        ordered = sorted(
            merged.values(), key=lambda one: (dt_util.as_utc(one.begin), one.title)
        )
        failed = [
            one for one, events in zip(ids, answers, strict=True) if events is None
        ]
        return FoundEvents(ordered, failed)

    async def async_next(
        self,
        ids: Sequence[str],
        words: str = "",
    ) -> FoundEvents:
        """Return the coming events, or those with some words; one that goes on is coming as well."""
        now = dt_util.now()
        failed = list[str]()
        for ahead in _AHEAD:
            readable = [one for one in ids if one not in failed]
            found = await self.async_events(
                readable,
                EventRange(now, now + ahead),
            )
            failed += found.failed
            called = [one for one in found.events if one.is_called(words)]
            if called:
                return FoundEvents(called, failed)
        return FoundEvents((), failed)


async def async_calendars(
    hass: HomeAssistant,
    llm_context: LLMContext,
) -> Calendars:
    """Return the exposed calendars that a speaker may use, as for the action that gets events."""
    every = intent.MatchTargetsConstraints(
        domains={CALENDAR}, assistant=llm_context.assistant
    )
    states = sorted(
        matching_states(hass, every),
        key=lambda one: one.entity_id,
    )
    user = await async_user_of(hass, llm_context)
    if user:
        may = user.permissions.check_entity
        states = [one for one in states if may(one.entity_id, POLICY_CONTROL)]
    return Calendars(hass, states)


async def _async_read(
    hass: HomeAssistant, entity_id: str, time: EventRange
) -> Sequence[CalendarEvent] | None:
    """Return the events of a calendar; None if it cannot be read."""
    entity = calendar_entity(hass, entity_id)
    if entity is None:
        return None
    try:
        async with asyncio.timeout(_LIMIT):
            return await entity.async_get_events(
                hass,
                time.begin,
                time.end,
            )
    except Exception as error:  # noqa: BLE001 a calendar may be anybody's code, and the others are still good
        # Its text may hold an address with a password, or what an event says.
        LOGGER.warning(
            "%s could not be read: %s",
            entity_id,
            type(error).__name__,
        )
        return None
