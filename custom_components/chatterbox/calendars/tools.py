"""The tools for calendars, which a model sees as one, in place of the tool that Home Assistant offers.

An event is added, deleted or moved after a yes to a question that tells it with its day
and its time: a call is resolved before it is reviewed, and runs only as it was asked
about. Events that recur are only read. The content of calendars is outside
content: others write into them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from homeassistant.components import conversation
from homeassistant.components.calendar import CalendarEntity
from homeassistant.components.calendar.const import (
    CREATE_EVENT_SERVICE,
    DOMAIN as CALENDAR,
    EVENT_DESCRIPTION,
    EVENT_END,
    EVENT_LOCATION,
    EVENT_START,
    EVENT_SUMMARY,
    SERVICE_GET_EVENTS,
    CalendarEntityFeature,
)
from homeassistant.components.homeassistant import async_should_expose
from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.llm import LLM_API_ASSIST
from homeassistant.helpers.sun import get_astral_event_date
from homeassistant.util import dt as dt_util
from probatio import Invalid

from ..agent.messages import (
    JsonObject,
    ToolAnnotations,
    ToolDefinition,
    ToolGroup,
    ToolPart,
)
from ..agent.text import capitalized, clipped, plain_name
from ..const import LOGGER, REDACTED_PIN
from ..effects.effect import NOTHING, Effects, EntityAction
from ..home.entity_matches import entity_name
from ..internals.calendar import calendar_entity
from ..speech.text.times import Moment, prepare, resolve_range, resolve_time
from ..tools.own.own_tool import (
    READS,
    Offered,
    OwnCall,
    OwnTool,
    Prepared,
    ToolAnswer,
    error_answer,
    own_name,
    parameters,
)
from ..tools.own.registry import can_act
from .event_text import EventText
from .events import (
    Calendars,
    EventRange,
    FoundEvent,
    async_calendars,
)

_WHEN: Final = "when"
_TEXT: Final = "text"
_CALENDAR: Final = "calendar"
_TO: Final = "to"
_MOST: Final = "most"
_EVENT: Final = "event"
_SUMMARY: Final = "summary"
"""The arguments. Of the last three, models are not told."""
GET_EVENTS_TOOL: Final = "calendar__get_events"
"""The name of Home Assistant's own, which it replaces."""
_FREE_TOOL: Final = own_name("find_free_time")
_ADD_TOOL: Final = own_name("add_event")
_DELETE_TOOL: Final = own_name("delete_event")
_MOVE_TOOL: Final = own_name("move_event")
ACTIONS: Final = {
    "list": GET_EVENTS_TOOL,
    "free": _FREE_TOOL,
    "add": _ADD_TOOL,
    "delete": _DELETE_TOOL,
    "move": _MOVE_TOOL,
}
"""The tools by what they do."""
_GROUP: Final = ToolGroup(
    own_name("calendar"),
    "Calendars. free: free time. when: as said, or ISO 8601 interval.",
    ACTIONS,
)
_READS: Final = replace(READS, open_world=True)
_ADDS: Final = ToolAnnotations(
    read_only=False, destructive=False, idempotent=False, open_world=False
)
_CHANGES: Final = replace(_ADDS, destructive=True)
_NO_MORE: Final[Mapping[str, str]] = MappingProxyType({})
_CALENDARS: Final = frozenset({"chatterbox.calendars"})
_LIMIT: Final = 10.0
"""Seconds in which a calendar is changed."""
_NEXT: Final = 5
"""The coming events that are told."""
_LONGEST: Final = 100
"""Characters of a title."""
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_SHORTEST_SLOT: Final = timedelta(minutes=30)
_WRITTEN_TIMES: Final = (
    "Times may be written like 2026-12-04, or 2026-12-04T15:00/2026-12-04T16:00."
)
_WAKING: Final = (time(8), time(22))
"""The time of a day at which people ask whether they are free."""


class _NotPossible(Exception):
    """A call cannot be done. The text tells why, in the language of the speaker."""

    def __init__(
        self,
        text: str,
        hint: str = "",
    ) -> None:
        """Keep the text, and a `hint` for the model alone."""
        super().__init__(text)
        self.for_model = f"{text} {hint}".rstrip()


class _Resolved(NamedTuple):
    """A call with all that it needs."""

    arguments: JsonObject
    entity: CalendarEntity
    time: EventRange
    """The time of a new event, or the new one of an event that is moved."""
    is_of_days: bool
    found: FoundEvent | None = None
    """The event that is deleted or moved."""


@dataclass(frozen=True, slots=True)
class _Request:
    """A call, with the calendars that the speaker may use."""

    call: OwnCall
    calendars: Calendars
    text: EventText

    def given(self, name: str) -> str:
        """Return an argument; empty without one."""
        return str(self.call.arguments.get(name) or "").strip()

    def fail(
        self,
        key: str,
        **parts: str,
    ) -> _NotPossible:
        """Return why something cannot be done."""
        hint = _WRITTEN_TIMES if key == "no_time" else ""
        return _NotPossible(
            self.text.say(key, **parts),
            hint,
        )

    def ids(self) -> Sequence[str]:
        """Return the calendars that are meant. Raises `_NotPossible`."""
        ids = self.calendars.called(self.given(_CALENDAR))
        if not self.calendars.ids:
            raise self.fail("none_allowed")
        if not ids:
            names = self.text.names(self.calendars.ids)
            raise self.fail("unknown", calendars=names)
        return ids

    def range(self, words: str) -> EventRange:
        """Return the range of time that words mean. Raises `_NotPossible`."""
        found = resolve_range(
            words,
            now=dt_util.now(),
            language=self.call.language,
        )
        time = _written(words) or (EventRange(*found) if found else None)
        if time is None or time.end <= time.begin:
            raise self.fail("no_time")
        return time

    def new_time(
        self,
        words: str,
        moved: FoundEvent | None,
    ) -> tuple[EventRange, bool]:
        """Return the time of an event, an hour if no end is said, and whether it is one of days.

        What is moved keeps its length, and what is not said of its time. Raises
        `_NotPossible`.
        """
        time = _written(words) or self._spoken_time(words, moved)
        is_of_days = time.is_of_days
        if moved and "/" not in words:
            is_of_days = is_of_days and moved.event.all_day
            time = EventRange(
                time.begin,
                time.begin + (moved.end - moved.begin),
            )
        if time.end <= time.begin:
            raise self.fail("no_time")
        if dt_util.as_utc(time.end) <= dt_util.utcnow():
            raise self.fail("past")
        return time, is_of_days

    def _spoken_time(
        self,
        words: str,
        moved: FoundEvent | None,
    ) -> EventRange:
        now = dt_util.now()
        language = self.call.language
        keeps = moved is not None and not moved.event.all_day
        moment = resolve_time(
            words,
            now=now,
            language=language,
            sun=partial(get_astral_event_date, self.call.hass),
            moved=Moment(
                moved.begin,
                "",
                is_sure=True,
            )
            if moved and keeps
            else None,
        )
        found = resolve_range(
            words,
            now=now,
            language=language,
        )
        if moment and moment.every:
            raise self.fail("no_series")
        if found and not keeps:
            time = EventRange(*found)
            is_exact = time.is_of_days or time.end - time.begin == _HOUR
            if is_exact and time.end > now:
                begin = time.begin.replace(
                    second=0,
                    microsecond=0,
                )
                return EventRange(begin, time.end)
        if moment is None:
            raise self.fail("no_time")
        due = moment.due.replace(
            second=0,
            microsecond=0,
        )
        if moment.other and not moment.is_sure and due.hour < _WAKING[0].hour:
            due = moment.other
        return EventRange(due, due + _HOUR)

    def supporting(
        self,
        ids: Sequence[str],
        feature: CalendarEntityFeature,
        key: str,
    ) -> Sequence[str]:
        """Return the calendars that can do something. Raises `_NotPossible` if none can."""
        able = self.calendars.supporting(ids, feature)
        if not able:
            raise self.fail(
                f"cannot_{key}",
                calendar=self.text.names(ids),
            )
        return able

    async def async_meant(self) -> Sequence[FoundEvent]:
        """Return the events that are meant: with a title, or else with words of it. Raises `_NotPossible`."""
        ids = self.ids()
        words = self.given(_TEXT)
        when = self.given(_WHEN)
        if not words and not when:
            raise self.fail("which_event")
        if when:
            found = await self.calendars.async_events(
                ids,
                self.range(when),
            )
        else:
            found = await self.calendars.async_next(ids, words)
        called = [one for one in found.events if one.is_called(words)]
        named = [one for one in called if plain_name(one.title) == plain_name(words)]
        if not called:
            nothing = self.text.say(
                "no_match",
                text=words or when,
            )
            raise _NotPossible(self.text.answer(replace(found, events=()), nothing))
        return named or called

    async def async_event(
        self, feature: CalendarEntityFeature, key: str
    ) -> tuple[FoundEvent, CalendarEntity]:
        """Return the only event that is meant, and its calendar. Raises `_NotPossible`."""
        events = await self.async_meant()
        first = events[0]
        if all(one.is_recurring for one in events):
            raise self.fail("recurs", event=first.title)
        if len(events) > 1:
            raise self.fail(
                "several",
                events=self.text.events(events[:_NEXT]),
            )
        able = self.supporting(
            first.calendars,
            feature,
            key,
        )
        if len(first.calendars) > 1:
            raise self.fail(
                "which",
                calendars=self.text.names(first.calendars),
            )
        entity = calendar_entity(
            self.call.hass,
            able[0],
        )
        if entity is None or not first.event.uid:
            raise self.fail(
                f"cannot_{key}",
                calendar=self.text.names(able),
            )
        return first, entity


def _written(words: str) -> EventRange | None:
    """Return a time in ISO format: a day, an hour that begins then, or two of these divided by a slash."""
    first, _, last = (part.strip() for part in words.partition("/"))
    begin = _edge(first)
    end = _edge(last or first)
    if begin is None or end is None:
        return None
    if dt_util.parse_date(last or first):
        return EventRange(
            begin,
            dt_util.start_of_local_day(end.date() + _DAY),
        )
    return EventRange(begin, end if last else begin + _HOUR)


def _edge(written: str) -> datetime | None:
    day = dt_util.parse_date(written)
    if day:
        return dt_util.start_of_local_day(day)
    moment = dt_util.parse_datetime(written)
    if moment:
        return dt_util.as_local(moment)
    return None


def _iso(
    time: EventRange,
    *,
    is_of_days: bool,
) -> str:
    """Return a time as `_written` reads it."""
    if is_of_days:
        return f"{time.begin.date()}/{time.end.date() - _DAY}"
    last = max(
        time.end,
        time.begin + timedelta(minutes=1),
    )
    return f"{time.begin.isoformat()}/{last.isoformat()}"


async def _async_request(call: OwnCall) -> _Request:
    calendars = await async_calendars(call.hass, call.llm_context)
    await call.hass.async_add_executor_job(prepare, call.language)
    sentences = await call.async_sentences()
    several = len(calendars.ids) > 1
    text = EventText(
        call.hass,
        sentences,
        call.language,
        names_calendars=several,
    )
    return _Request(
        call,
        calendars,
        text,
    )


def _refused(error: _NotPossible) -> ToolAnswer:
    answer = error_answer(error.for_model)
    return replace(
        answer,
        speech=str(error),
        open_world=True,
    )


async def _async_get_events(call: OwnCall) -> ToolAnswer:
    """Tell the events in a range of time, or those that come next, all or those with some words."""
    request = await _async_request(call)
    words = request.given(_TEXT)
    when = request.given(_WHEN)
    calendars = request.calendars
    text = request.text
    most = call.arguments.get(_MOST)
    try:
        ids = request.ids()
        if when:
            time = request.range(when)
        else:
            time = None
    except _NotPossible as error:
        return _refused(error)
    if time is None:
        found = await calendars.async_next(ids, words)
        events = found.events[: most if isinstance(most, int) else _NEXT]
        nothing = text.say("none_ahead")
    else:
        found = await calendars.async_events(ids, time)
        now = dt_util.now()
        is_begun = time.begin <= now < time.end
        events = [one for one in found.events if not is_begun or one.end > now]
        key = "none_left" if len(events) < len(found.events) else "none"
        nothing = text.say(key, when=text.range(time))
    if words:
        events = [one for one in events if one.is_called(words)]
        nothing = text.say("no_match", text=words)
    if len(found.failed) == len(ids):
        return _refused(request.fail("failed", calendars=text.names(ids)))
    speech = text.answer(
        replace(found, events=events),
        nothing,
    )
    return ToolAnswer(
        {},
        speech=speech,
        open_world=True,
    )


async def _async_find_free_time(call: OwnCall) -> ToolAnswer:
    """Tell what is in a range of time, and when nothing is."""
    request = await _async_request(call)
    text = request.text
    now = dt_util.now()
    try:
        ids = request.ids()
        time = request.range(request.given(_WHEN) or f"{now.date()}")
        if time.end <= now:
            raise request.fail("past")
    except _NotPossible as error:
        return _refused(error)
    coming = EventRange(
        max(
            time.begin,
            now.replace(second=0, microsecond=0),
        ),
        time.end,
    )
    found = await request.calendars.async_events(ids, coming)
    if len(found.failed) == len(ids):
        return _refused(request.fail("failed", calendars=text.names(ids)))
    speech = text.answer(
        found,
        text.say(
            "none",
            when=text.range(time),
        ),
    )
    if found.events:
        if time.is_of_days:
            windows = _windows(coming)
        else:
            windows = [coming]
        slots = [one for window in windows for one in _slots(window, found.events)]
        speech += f" {text.free(slots)}"
    return ToolAnswer(
        {},
        speech=speech,
        open_world=True,
    )


def _windows(time: EventRange) -> Sequence[EventRange]:
    """Return the waking hours of the days of a range."""
    count = (time.end.date() - time.begin.date()).days or 1
    days = [time.begin.date() + number * _DAY for number in range(count)]
    zone = dt_util.get_default_time_zone()
    hours = ([datetime.combine(day, edge, zone) for edge in _WAKING] for day in days)
    return [EventRange(max(first, time.begin), last) for first, last in hours]


def _slots(
    window: EventRange,
    events: Sequence[FoundEvent],
) -> Sequence[EventRange]:
    """Return the parts of a time in which no event with an hour is."""
    slots = list[EventRange]()
    begin = window.begin
    timed = [one for one in events if not one.event.all_day and one.overlaps(window)]
    for one in timed:
        slots.append(EventRange(begin, one.begin))
        begin = max(
            begin,
            one.end,
            key=dt_util.as_utc,
        )
    slots.append(EventRange(begin, window.end))
    return [one for one in slots if one.end - one.begin >= _SHORTEST_SLOT]


async def _async_resolved_add(request: _Request) -> _Resolved:
    title = clipped(request.given(_TEXT), _LONGEST)
    if not title or REDACTED_PIN in title:
        raise request.fail("no_title")
    if not request.given(_WHEN):
        raise request.fail("no_time")
    time, is_of_days = request.new_time(
        request.given(_WHEN),
        None,
    )
    able = request.supporting(
        request.ids(),
        CalendarEntityFeature.CREATE_EVENT,
        "add",
    )
    entity = calendar_entity(
        request.call.hass,
        able[0],
    )
    if len(able) > 1 or entity is None:
        raise request.fail(
            "which",
            calendars=request.text.names(able),
        )
    arguments: JsonObject = {
        _TEXT: title,
        _WHEN: _iso(time, is_of_days=is_of_days),
        _CALENDAR: able[0],
        _SUMMARY: _summary(
            request,
            time,
            is_of_days=is_of_days,
        ),
    }
    return _Resolved(
        arguments,
        entity,
        time,
        is_of_days,
    )


def _summary(
    request: _Request,
    time: EventRange,
    *,
    is_of_days: bool,
) -> str:
    """Return the day and the time of an event that is not there yet."""
    text = request.text
    whole = text.range(time)
    last_minute = time.end - timedelta(minutes=1)
    if is_of_days or time.begin.date() == last_minute.date():
        return capitalized(whole)
    last = text.moment(time.end, is_first=False)
    return f"{text.moment(time.begin)}, {text.say('until', end=last)}"


async def _async_resolved_delete(request: _Request) -> _Resolved:
    found, entity = await request.async_event(
        CalendarEntityFeature.DELETE_EVENT, "delete"
    )
    time = EventRange(found.begin, found.end)
    arguments = _of_event(found) | {_SUMMARY: request.text.time(found)}
    return _Resolved(
        arguments,
        entity,
        time,
        found.event.all_day,
        found,
    )


async def _async_resolved_move(request: _Request) -> _Resolved:
    found, entity = await request.async_event(
        CalendarEntityFeature.UPDATE_EVENT, "move"
    )
    if not request.given(_TO):
        raise request.fail("no_time")
    time, is_of_days = request.new_time(
        request.given(_TO),
        found,
    )
    new = _summary(
        request,
        time,
        is_of_days=is_of_days,
    )
    old = request.text.begin(found)
    arguments = _of_event(found) | {
        _TO: _iso(time, is_of_days=is_of_days),
        _SUMMARY: request.text.say("old_new", old=old, new=new),
    }
    return _Resolved(
        arguments,
        entity,
        time,
        is_of_days,
        found,
    )


def _of_event(found: FoundEvent) -> JsonObject:
    time = EventRange(found.begin, found.end)
    return {
        _TEXT: found.title,
        _WHEN: _iso(
            time,
            is_of_days=found.event.all_day,
        ),
        _CALENDAR: found.calendars[0],
        _EVENT: found.event.uid or "",
    }


async def _async_add(
    call: OwnCall,
    resolved: _Resolved,
) -> None:
    kind = "date" if resolved.is_of_days else "date_time"
    begin, end = _edges(resolved)
    await call.hass.services.async_call(
        CALENDAR,
        CREATE_EVENT_SERVICE,
        {
            ATTR_ENTITY_ID: resolved.arguments[_CALENDAR],
            EVENT_SUMMARY: resolved.arguments[_TEXT],
            f"start_{kind}": begin.isoformat(),
            f"end_{kind}": end.isoformat(),
        },
        blocking=True,
        context=call.llm_context.context,
    )


async def _async_delete(
    _call: OwnCall,
    resolved: _Resolved,
) -> None:
    await resolved.entity.async_delete_event(str(resolved.arguments[_EVENT]))


async def _async_move(
    _call: OwnCall,
    resolved: _Resolved,
) -> None:
    begin, end = _edges(resolved)
    event = resolved.found and resolved.found.event
    details = {
        EVENT_SUMMARY: event and event.summary,
        EVENT_DESCRIPTION: event and event.description,
        EVENT_LOCATION: event and event.location,
    }
    changed: dict[str, Any] = {name: value for name, value in details.items() if value}
    changed |= {
        EVENT_START: begin,
        EVENT_END: end,
    }
    await resolved.entity.async_update_event(
        str(resolved.arguments[_EVENT]),
        changed,
    )


def _edges(resolved: _Resolved) -> tuple[date, date]:
    """Return the beginning and the exclusive end of an event, as calendars take them."""
    time = resolved.time
    if resolved.is_of_days:
        return time.begin.date(), time.end.date()
    return time.begin, time.end


@dataclass(frozen=True, slots=True)
class _Change:
    """A way to change a calendar."""

    action: str
    """As rules name it."""
    done: str
    """The key of the sentence that tells it."""
    resolve: Callable[[_Request], Awaitable[_Resolved]]
    """Returns the call as it is asked about. Raises `_NotPossible`."""
    change: Callable[[OwnCall, _Resolved], Awaitable[None]]

    async def async_prepare(self, call: OwnCall) -> Prepared:
        """Resolve a call; one that is not possible tells why when it runs."""
        try:
            resolved = await self.resolve(await _async_request(call))
        except _NotPossible:
            given = {
                key: call.arguments[key] for key in call.arguments if key != _SUMMARY
            }
            return Prepared(given)
        return Prepared(resolved.arguments)

    async def async_effects(self, call: OwnCall) -> Effects:
        """Return what is done after a yes."""
        if _SUMMARY not in call.arguments:
            return NOTHING
        action = EntityAction(
            str(call.arguments[_CALENDAR]),
            self.action,
        )
        return Effects(frozenset({action}), needs_yes=True)

    async def async_run(self, call: OwnCall) -> ToolAnswer:
        """Do what was asked about, if it is still the same."""
        request = await _async_request(call)
        calendar = ""
        try:
            resolved = await self.resolve(request)
            if resolved.arguments != call.arguments:
                raise request.fail("changed")
            calendar = entity_name(
                call.hass,
                request.given(_CALENDAR),
            )
            async with asyncio.timeout(_LIMIT):
                await self.change(call, resolved)
        except _NotPossible as error:
            return _refused(error)
        except TimeoutError:
            return _refused(request.fail("late", calendar=calendar))
        except (HomeAssistantError, Invalid, ValueError, NotImplementedError) as error:
            # Its text may hold what an event says.
            LOGGER.warning(
                "%s failed: %s",
                self.action,
                type(error).__name__,
            )
            return _refused(request.fail("not_changed", calendar=calendar))
        summary = f"{request.given(_TEXT)}, {request.given(_SUMMARY)}"
        speech = request.text.say(
            self.done,
            event=summary,
            calendar=calendar,
        )
        return ToolAnswer({}, speech=speech)


async def _async_read_effects(call: OwnCall) -> Effects:
    """Return that calendars are read, which rules may be about. It changes nothing."""
    calendars = await async_calendars(call.hass, call.llm_context)
    name = call.text(_CALENDAR)
    reading = [
        EntityAction(one, f"{CALENDAR}.{SERVICE_GET_EVENTS}")
        for one in calendars.called(name)
    ]
    return Effects(frozenset(reading), annotations=_READS)


def _has_calendars(offered: Offered) -> bool:
    hass = offered.hass
    return can_act(offered) and any(
        async_should_expose(hass, conversation.DOMAIN, entity_id)
        for entity_id in hass.states.async_entity_ids(CALENDAR)
    )


def _definition(
    action: str,
    description: str,
    arguments: Sequence[str],
    annotations: ToolAnnotations,
    hidden: Mapping[str, str] = _NO_MORE,
) -> ToolDefinition:
    required = [one.removesuffix("!") for one in arguments if one.endswith("!")]
    names = [one.removesuffix("!") for one in arguments]
    short = parameters(
        dict.fromkeys(names, ("string", "")),
        *required,
    )
    every = dict.fromkeys(names, ("string", "")) | {
        name: (kind, "") for name, kind in hidden.items()
    }
    return ToolDefinition(
        ACTIONS[action],
        description,
        parameters(every, *required),
        annotations,
        short_parameters=short,
        part=ToolPart(_GROUP, action),
    )


GET_EVENTS: Final = OwnTool(
    definition=_definition(
        "list",
        "Gets events: those at a time, or the next ones, all or those with a title.",
        (
            _WHEN,
            _TEXT,
            _CALENDAR,
        ),
        _READS,
        {_MOST: "integer"},
    ),
    run=_async_get_events,
    needs=_has_calendars,
    effects=_async_read_effects,
    label=LLM_API_ASSIST,
)
FIND_FREE_TIME: Final = OwnTool(
    definition=_definition(
        "free", "Finds the time at which nothing is.", (_WHEN, _CALENDAR), _READS
    ),
    run=_async_find_free_time,
    needs=_has_calendars,
    effects=_async_read_effects,
    label=LLM_API_ASSIST,
)


def _changing(
    action: str,
    description: str,
    arguments: Sequence[str],
    annotations: ToolAnnotations,
    change: _Change,
) -> OwnTool:
    hidden = {
        _EVENT: "string",
        _SUMMARY: "string",
    }
    return OwnTool(
        definition=_definition(
            action,
            description,
            arguments,
            annotations,
            hidden,
        ),
        run=change.async_run,
        needs=_has_calendars,
        prepare=change.async_prepare,
        effects=change.async_effects,
        targets=_CALENDARS,
    )


ADD_EVENT: Final = _changing(
    "add",
    "Adds an event, after a yes.",
    (
        f"{_TEXT}!",
        f"{_WHEN}!",
        _CALENDAR,
    ),
    _ADDS,
    _Change(
        "calendar.create_event",
        "added",
        _async_resolved_add,
        _async_add,
    ),
)
DELETE_EVENT: Final = _changing(
    "delete",
    "Deletes an event, after a yes.",
    (
        _TEXT,
        _WHEN,
        _CALENDAR,
    ),
    _CHANGES,
    _Change(
        "calendar.delete_event",
        "deleted",
        _async_resolved_delete,
        _async_delete,
    ),
)
MOVE_EVENT: Final = _changing(
    "move",
    "Moves an event to another time, after a yes.",
    (
        _TEXT,
        f"{_TO}!",
        _WHEN,
        _CALENDAR,
    ),
    _CHANGES,
    _Change(
        "calendar.update_event",
        "moved",
        _async_resolved_move,
        _async_move,
    ),
)
