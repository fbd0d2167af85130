"""Tells events, and ranges of time, in sentences of a language.

All-day events end on the day before their end, which is exclusive.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from ..home.entity_matches import entity_name
from ..speech.sentences import Sentences
from ..speech.text.times import spoken_date
from .events import EventRange, FoundEvent, FoundEvents

_MOST: Final = 20
"""Events in an answer."""
_MOMENT: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class EventText:
    """The words of a language."""

    hass: HomeAssistant
    sentences: Sentences
    language: str
    names_calendars: bool = False
    """Whether events are told with the names of their calendars."""

    def say(
        self,
        key: str,
        **parts: str,
    ) -> str:
        """Return a sentence."""
        return self.sentences[f"calendar_{key}"].format_map(parts)

    def day(
        self,
        day: date | datetime,
        *,
        is_first: bool = True,
    ) -> str:
        """Return a day with its weekday; it `is_first` if a sentence begins with it."""
        if isinstance(day, datetime):
            on = day.date()
        else:
            on = day
        today = dt_util.now().date()
        return spoken_date(
            on,
            self.language,
            is_first=is_first,
            now=today,
        )

    def range(self, time: EventRange) -> str:
        """Return a range of time within a sentence."""
        last = time.end - _MOMENT
        first = self.day(time.begin, is_first=False)
        if time.is_of_days:
            if last.date() == time.begin.date():
                return first
            return self.say(
                "days",
                start=first,
                end=self.day(last, is_first=False),
            )
        return f"{first}, {self._hours(time.begin, time.end)}"

    def event(self, found: FoundEvent) -> str:
        """Return an event with its day and its time, and no other words."""
        return f"{found.title}, {self.time(found)}"

    def time(self, found: FoundEvent) -> str:
        """Return the day and the time of an event."""
        return f"{self.day(found.begin)}, {self._time_of_day(found)}"

    def begin(self, found: FoundEvent) -> str:
        """Return the day and the time at which an event begins."""
        if found.event.all_day:
            return self.day(found.begin)
        return self.moment(found.begin)

    def moment(
        self,
        moment: datetime,
        *,
        is_first: bool = True,
    ) -> str:
        """Return a day and a time."""
        return f"{self.day(moment, is_first=is_first)}, {_clock(moment)}"

    def events(self, found: Sequence[FoundEvent]) -> str:
        """Return events by the days on which they begin."""
        days: dict[date, list[str]] = {}
        for one in found[:_MOST]:
            details = [
                one.title,
                self._time_of_day(one),
                one.location,
            ]
            text = ", ".join(filter(None, details))
            if self.names_calendars:
                text += f" ({self.names(one.calendars)})"
            days.setdefault(one.begin.date(), []).append(text)
        texts = []
        for day, those in days.items():
            events = "; ".join(those)
            texts.append(f"{self.day(day)}: {events}.")
        more = len(found) - _MOST
        if more:
            texts += [self.say("more", count=str(more))] if more > 0 else []
        return " ".join(texts)

    def answer(
        self,
        found: FoundEvents,
        nothing: str,
    ) -> str:
        """Return what calendars have, or that it is nothing, and which ones could not be read."""
        if found.events:
            texts = [self.events(found.events)]
        else:
            texts = []
        if found.failed:
            texts.append(self.say("failed", calendars=self.names(found.failed)))
        return " ".join(texts if found.events else [*texts, nothing])

    def free(self, slots: Sequence[EventRange]) -> str:
        """Return the times at which nothing is, by day."""
        days: dict[date, list[str]] = {}
        for one in slots:
            hours = self._hours(one.begin, one.end)
            days.setdefault(one.begin.date(), []).append(hours)
        texts = [f"{self.day(day)}, {', '.join(those)}" for day, those in days.items()]
        if not texts:
            return self.say("not_free")
        return self.say(
            "free",
            times="; ".join(texts),
        )

    def names(self, ids: Sequence[str]) -> str:
        """Return the names of calendars."""
        return ", ".join(entity_name(self.hass, one) for one in ids)

    def _time_of_day(self, found: FoundEvent) -> str:
        last = found.end - _MOMENT
        is_one_day = last.date() <= found.begin.date()
        if found.event.all_day:
            if is_one_day:
                return self.say("all_day")
            return self.say(
                "until",
                end=self.day(last, is_first=False),
            )
        if is_one_day or found.end <= found.begin:
            return self._hours(found.begin, found.end)
        end = self.moment(found.end, is_first=False)
        return f"{_clock(found.begin)}, {self.say('until', end=end)}"

    def _hours(
        self,
        begin: datetime,
        end: datetime,
    ) -> str:
        if end <= begin:
            return _clock(begin)
        return self.say(
            "hours",
            start=_clock(begin),
            end=_clock(end),
        )


def _clock(moment: datetime) -> str:
    return f"{dt_util.as_local(moment):%H:%M}"
