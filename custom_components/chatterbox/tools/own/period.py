"""Periods of local time that tools take: named ones such as last night, and those between two written moments."""

from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Final, NamedTuple, assert_never

from homeassistant.util import dt as dt_util

from .own_tool import NoAnswer

_RESOLUTION: Final = timedelta(milliseconds=1)
_NIGHT_BEGINS: Final = time(22)
_NIGHT_ENDS: Final = time(6)
_DAY: Final = timedelta(days=1)


class PeriodName(StrEnum):
    """A period by its name. A week begins on Monday, and a night lasts from 22:00 to 6:00."""

    TODAY = "today"
    YESTERDAY = "yesterday"
    LAST_NIGHT = "last_night"
    THIS_NIGHT = "this_night"
    """The one that goes on, or else the last one."""
    THIS_WEEK = "this_week"
    LAST_WEEK = "last_week"
    THIS_MONTH = "this_month"
    LAST_MONTH = "last_month"
    THIS_YEAR = "this_year"
    LAST_YEAR = "last_year"


class Period(NamedTuple):
    """A period of local time."""

    begin: datetime
    end: datetime
    """May be in the future."""


def period_name(text: str) -> PeriodName | None:
    """Return the name of a period that a text is."""
    key = text.lower().replace(" ", "_")
    if key in PeriodName:
        return PeriodName(key)
    return None


def named_period(name: PeriodName, now: datetime) -> Period:
    """Return the period that a name means at a moment in local time."""
    today = now.date()
    match name:
        case PeriodName.TODAY:
            return _of_days(today, today + _DAY)
        case PeriodName.YESTERDAY:
            return _of_days(today - _DAY, today)
        case PeriodName.LAST_NIGHT:
            zone = dt_util.get_default_time_zone()
            evening = datetime.combine(
                today - _DAY,
                _NIGHT_BEGINS,
                zone,
            )
            return Period(
                evening,
                datetime.combine(
                    today,
                    _NIGHT_ENDS,
                    zone,
                ),
            )
        case PeriodName.THIS_NIGHT:
            evening = datetime.combine(
                today,
                _NIGHT_BEGINS,
                now.tzinfo,
            )
            return named_period(
                PeriodName.LAST_NIGHT, now + _DAY if now >= evening else now
            )
        case PeriodName.THIS_WEEK | PeriodName.LAST_WEEK:
            monday = today - today.weekday() * _DAY
            first = monday if name is PeriodName.THIS_WEEK else monday - 7 * _DAY
            return _of_days(first, first + 7 * _DAY)
        case PeriodName.THIS_MONTH:
            return _month(today)
        case PeriodName.LAST_MONTH:
            return _month(today.replace(day=1) - _DAY)
        case PeriodName.THIS_YEAR | PeriodName.LAST_YEAR:
            year = today.year if name is PeriodName.THIS_YEAR else today.year - 1
            return _of_days(
                date(year, 1, 1),
                date(year + 1, 1, 1),
            )
        case _ as unreachable:
            assert_never(unreachable)


def earlier_periods(
    name: PeriodName,
    now: datetime,
) -> list[Period]:
    """Return the period before the one that a name means. If that goes on: up to the same time, and the whole one."""
    period = named_period(name, now)
    if now >= period.end:
        return [
            named_period(
                PeriodName.LAST_NIGHT if name is PeriodName.THIS_NIGHT else name,
                period.begin,
            )
        ]
    before = named_period(name, period.begin - _RESOLUTION)
    return [
        Period(
            before.begin,
            min(
                before.end,
                before.begin + (now - period.begin),
            ),
        ),
        before,
    ]


def written_period(text: str, now: datetime) -> Period:
    """Return the period between two local times or days that are divided by a slash; a day alone is all of it.

    Without an end, it ends now. Raises `NoAnswer`.
    """
    first, is_divided, last = text.partition("/")
    begin = moment(first, is_end=False)
    end = moment(last if is_divided or "T" in first else first, is_end=True) or now
    if begin is None or begin >= min(end, now):
        raise NoAnswer("That time has not begun yet, or ends before it begins.")
    return Period(begin, min(end, now))


def moment(
    written: str,
    *,
    is_end: bool,
) -> datetime | None:
    """Return a written local time, or the beginning or the end of a written day or a named period; None for nothing.

    Raises `NoAnswer`.
    """
    text = written.strip()
    if not text:
        return None
    name = period_name(text)
    if name:
        begin, end = named_period(name, dt_util.now())
        return end - _RESOLUTION if is_end else begin
    try:
        day = dt_util.parse_date(text)
        if day is not None:
            if is_end:
                return dt_util.start_of_local_day(day + _DAY) - _RESOLUTION
            return dt_util.start_of_local_day(day)
        parsed = datetime.fromisoformat(text)
        parsed = (
            parsed
            if parsed.tzinfo
            else parsed.replace(tzinfo=dt_util.get_default_time_zone())
        )
        return dt_util.as_local(dt_util.utc_from_timestamp(parsed.timestamp()))
    except (ValueError, OverflowError, OSError) as error:
        raise NoAnswer(
            "Times are written like 2026-11-22 or 2026-11-22T18:00."
        ) from error


def _of_days(first: date, after: date) -> Period:
    return Period(
        dt_util.start_of_local_day(first),
        dt_util.start_of_local_day(after),
    )


def _month(day: date) -> Period:
    first = day.replace(day=1)
    return _of_days(
        first,
        (first + 32 * _DAY).replace(day=1),
    )
