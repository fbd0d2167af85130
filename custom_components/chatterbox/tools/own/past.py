"""The tool that tells what was: when something last happened, for how long, how cold it got, how much was used.

It reads what Home Assistant records of exposed entities. An answer is words and
durations, not rows. Decision 53.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple

from homeassistant.auth.models import User
from homeassistant.auth.permissions.const import POLICY_READ
from homeassistant.components.homeassistant import async_should_expose
from homeassistant.components.sensor import ATTR_STATE_CLASS
from homeassistant.const import ATTR_DEVICE_CLASS, ATTR_UNIT_OF_MEASUREMENT
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import (
    device_registry as dr,
    entity_registry as er,
    intent,
    llm,
)
from homeassistant.util import dt as dt_util

from ...agent.messages import JsonObject, JsonValue, ToolDefinition
from ...agent.text import compared, heard_words
from ...const import DOMAIN
from ...effects.effect import Annotated, Effects, EntityAction, Touches, run_by
from ...effects.intents import Naming
from ...home.description import listed, quoted
from ...home.entities import async_get_home
from ...home.entity_matches import exposed_names, matching_states
from ...internals.recorder import (
    TooManyStates,
    async_cause,
    async_consumption,
    async_hours,
    async_last_states,
    async_states,
    async_statistics,
    days_kept,
    records,
)
from ...speech.sentences import async_get_sentences
from .own_tool import (
    READS,
    OwnCall,
    OwnTool,
    SharedWith,
    ToolAnswer,
    error_answer,
    own_name,
    parameters,
)
from .past_states import (
    NO_VALUES,
    Numbers,
    Span,
    StateWords,
    async_state_words,
    changes_to,
    number_in,
    numbers,
    recorded_value,
    spans,
)
from .period import (
    InvalidTime,
    Period,
    PeriodName,
    earlier_periods,
    named_period,
    written_period,
)

TOOL_NAME: Final = own_name("get_past")
_TIMEOUT: Final = 1.0
"""Seconds, while a person waits for the answer. Things that were not reached by then are named."""
_MOST_READ: Final = 20
"""Entities that are read for one answer."""
_MOST_TOLD: Final = 8
_MOST_IN_FULL: Final = 3
_MOST_TIMES: Final = 5
_IN_ALL: Final = ("before, to the same time", "before, in all")
_DETAILS: Final = frozenset(
    {"earlier times", "for", "latest", "until", "when", "before", *_IN_ALL}
)
"""Parts of what is told of one thing that are left out beside many others."""
_MOST_NAMES: Final = 12
_LATEST: Final = 20
"""States that are read first: the last change is mostly among them, and they are read in milliseconds."""
_TEMPERATURE: Final = "temperature"
_ENERGY: Final = frozenset({"energy", "gas", "water"})
_METERS: Final = frozenset({"total", "total_increasing"})
"""State classes."""
_ATTRIBUTES: Final[Mapping[str, str]] = {
    "weather": "temperature",
    "climate": "current_temperature",
}
_CONTACTS: Final = frozenset({"door", "garage_door", "opening", "window"})
_PRESENCE: Final = frozenset({"device_tracker", "person", "zone"})
"""Domains of which nothing is told unless a rule allows it, and only if they alone are meant."""

_NUMBERS: Final = frozenset({"counter", "input_number", "number"})
_RESOLUTION: Final = timedelta(minutes=1)
_SAME_MOMENT: Final = timedelta(milliseconds=1)
"""A recorded change this close to the present state is its own: its author may not be recorded yet."""
_NO_DECIMALS: Final = 100
"""A value from here on is told without decimals."""

_PERIODS: Final = f"period is one of {', '.join(PeriodName)}, a day, or two days or times with a slash between them."
_NOT_RECORDED: Final = "Home Assistant does not record what was here. Say so."
_NEVER: Final = "not once"
_NOTHING_NAMED: Final = "Give name, area or kind."


class _NoAnswer(Exception):
    """The question cannot be answered. The text says what can be asked instead."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A question about some entities."""

    hass: HomeAssistant
    language: str
    word: str
    """For a state; empty for any."""
    kind: str
    period: Period | None
    """Up to now at most; None for the last time."""
    earlier: Sequence[Period]
    """The period before: up to the corresponding moment, and if it went on, the whole one."""
    now: datetime

    @property
    def kept_since(self) -> datetime:
        """Return the moment since which states are kept."""
        return self.now - timedelta(days=days_kept(self.hass))


async def _async_tell_past(call: OwnCall) -> ToolAnswer:
    """Answer a question about what was."""
    if not records(call.hass):
        return error_answer(_NOT_RECORDED)
    try:
        question = _question(call)
        states = await _async_selected(call, question)
    except (InvalidTime, _NoAnswer) as error:
        return error_answer(str(error))
    answers = await _async_each(states, partial(_async_tell, question))
    left_out = [state.name for state in states if state.entity_id not in answers]
    return ToolAnswer(_answer(question, list(answers.values()), left_out))


async def _async_each[T](
    states: Sequence[State], find: Callable[[State], Awaitable[T]]
) -> Mapping[str, T]:
    """Return what is found of entities by id, as far as there is time; nothing of one with too many states."""
    found: dict[str, T] = {}
    with suppress(TimeoutError):
        async with asyncio.timeout(_TIMEOUT):
            for state in states[:_MOST_READ]:
                with suppress(TooManyStates):
                    found[state.entity_id] = await find(state)
    return found


def _question(call: OwnCall) -> _Question:
    now, given = dt_util.now(), call.arguments
    word, kind = (str(given.get(name) or "").strip() for name in ("state", "kind"))
    written = str(given.get("period") or "").strip()
    name = written.lower().replace(" ", "_")
    period: Period | None = None
    earlier: list[Period] = []
    if name in PeriodName:
        begin, end = named_period(PeriodName(name), now)
        period, earlier = (
            Period(begin, min(end, now)),
            earlier_periods(PeriodName(name), now),
        )
    elif written:
        try:
            period = written_period(written, now)
        except InvalidTime as error:
            raise InvalidTime(f"{error} {_PERIODS}") from error
    return _Question(call.hass, call.language, word, kind, period, earlier, now)


async def _async_selected(call: OwnCall, question: _Question) -> list[State]:
    """Return the exposed entities that a question is about. Raises `_NoAnswer` for none."""
    hass, assistant = call.hass, call.llm_context.assistant
    name, area = (
        str(call.arguments.get(slot) or "").strip() for slot in ("name", "area")
    )
    if not name and not area and not question.kind:
        raise _NoAnswer(_NOTHING_NAMED)
    domains, classes = (None, None) if name else _kinds(hass, assistant, question.kind)

    def matching(area_name: str | None, floor_name: str | None) -> list[State]:
        constraints = intent.MatchTargetsConstraints(
            name or None, area_name, floor_name, domains, classes, assistant=assistant
        )
        return matching_states(hass, constraints)

    states = matching(area or None, None) or (matching(None, area) if area else [])
    if not states and name:
        states = [
            one
            for one in await _async_of_device(hass, name)
            if async_should_expose(hass, assistant, one.entity_id)
        ]
    elif question.kind in _ENERGY and not name and not area:
        _, home = await async_consumption(hass)
        states = [state for state in states if state.entity_id in home] or states
    if user := await _async_user(call):
        states = [
            one
            for one in states
            if user.permissions.check_entity(one.entity_id, POLICY_READ)
        ]
    others = [one for one in states if one.domain not in _PRESENCE]
    if others or call.llm_context.platform != DOMAIN:  # no rule holds for other agents
        states = others
    if not states:
        raise _NoAnswer(_nothing_called(hass, assistant, name, area, question.kind))
    contacts = [
        contact
        for one in states
        for contact in _contacts(hass, assistant, one, question.word)
    ]
    return sorted(
        contacts or states, key=lambda state: (state.name.casefold(), state.entity_id)
    )


async def _async_user(call: OwnCall) -> User | None:
    """Return the user who asks, if one is known."""
    user_id = call.llm_context.context.user_id if call.llm_context.context else None
    return await call.hass.auth.async_get_user(user_id) if user_id else None


def _kinds(
    hass: HomeAssistant, assistant: str, kind: str
) -> tuple[set[str] | None, set[str] | None]:
    """Return the domain or the device class that a kind is. Raises `_NoAnswer` for one of which nothing is exposed."""
    if not kind:
        return None, None
    home = async_get_home(hass, assistant)
    domains = {entity.domain for entity in home.entities}
    plain = kind.lower().replace(" ", "_")
    if plain == _TEMPERATURE and plain not in home.device_classes:
        return {*_ATTRIBUTES}, None
    for written in (plain, plain.removesuffix("s")):
        if written in home.device_classes:
            return None, {written}
        if written in domains:
            return {written}, None
    raise _NoAnswer(
        f"There is no kind {quoted(kind)}. There are: {listed(sorted(domains | home.device_classes))}."
    )


async def _async_of_device(hass: HomeAssistant, name: str) -> list[State]:
    """Return the entities of the devices with a name, or the meter that the energy dashboard calls so."""
    wanted, registry = compared(name), er.async_get(hass)
    devices = [
        one.id
        for one in dr.async_get(hass).devices
        if compared(one.name_by_user or one.name or "") == wanted
    ]
    found = [
        entry.entity_id
        for device in devices
        for entry in er.async_entries_for_device(registry, device)
    ]
    meters, _ = await async_consumption(hass)
    found += [meter for meter, called in meters.items() if compared(called) == wanted]
    return [
        state
        for entity_id in dict.fromkeys(found)
        if (state := hass.states.get(entity_id))
    ]


def _contacts(
    hass: HomeAssistant, assistant: str, state: State, word: str
) -> list[State]:
    """Return the contacts of a door for a question about a lock that is about whether the door was open."""
    if state.domain != "lock" or not word.lower().startswith(("open", "clos", "shut")):
        return []
    registry = er.async_get(hass)
    entry = registry.async_get(state.entity_id)
    siblings = (
        er.async_entries_for_device(registry, entry.device_id)
        if entry and entry.device_id
        else []
    )
    found = (
        hass.states.get(one.entity_id)
        for one in siblings
        if async_should_expose(hass, assistant, one.entity_id)
    )
    return [
        one
        for one in found
        if one and one.attributes.get(ATTR_DEVICE_CLASS) in _CONTACTS
    ]


def _nothing_called(
    hass: HomeAssistant, assistant: str, name: str, area: str, kind: str
) -> str:
    parts = [
        f"called {quoted(name)}" if name else "",
        f"in {quoted(area)}" if area else "",
        f"of the kind {kind}" if kind else "",
    ]
    words = {*heard_words(name)}
    alike = (
        [one for one in exposed_names(hass, assistant) if words & {*heard_words(one)}][
            :_MOST_NAMES
        ]
        if name
        else []
    )
    hint = f" Similar: {listed(alike)}." if alike else ""
    return f"There is nothing {' '.join(filter(None, parts))}.{hint}"


async def _async_tell(question: _Question, state: State) -> JsonObject:
    """Return what is told of one entity."""
    if state.attributes.get(ATTR_STATE_CLASS) in _METERS:
        return {"name": state.name, **await _async_used(question, state)}
    if _unit(question, state) is not None:
        return {"name": state.name, **await _async_values(question, state)}
    words = await async_state_words(question.hass, state.entity_id, question.language)
    if question.period is None:
        return {"name": state.name, **await _async_last(question, state, words)}
    return {
        "name": state.name,
        **await _async_times(question, question.period, state, words),
    }


def _unit(question: _Question, state: State) -> str | None:
    """Return the unit of an entity whose state, or the asked attribute of which, is a number; None for others."""
    if state.domain == "weather" or (
        state.domain == "climate"
        and question.kind.lower() == _TEMPERATURE
        and not question.word
    ):
        return str(
            state.attributes.get("temperature_unit")
            or question.hass.config.units.temperature_unit
        )
    unit: object = state.attributes.get(ATTR_UNIT_OF_MEASUREMENT)
    if (
        unit is None
        and ATTR_STATE_CLASS not in state.attributes
        and state.domain not in _NUMBERS
    ):
        return None
    return str(unit or "")


async def _async_used(question: _Question, state: State) -> JsonObject:
    """Return the growth of a meter, and that of the period before."""
    unit = str(state.attributes.get(ATTR_UNIT_OF_MEASUREMENT) or "")
    period = question.period or Period(
        dt_util.start_of_local_day(question.now), question.now
    )
    growth = [
        (
            await async_statistics(question.hass, state.entity_id, one.begin, one.end)
        ).get("change")
        for one in (period, *question.earlier)
    ]
    written = [
        _quantity(value, unit) if value is not None else "not known" for value in growth
    ]
    return {
        "used" if period is question.period else "used today": written[0],
        **_earlier(written[1:]),
    }


def _earlier(written: Sequence[str]) -> JsonObject:
    """Return the values of the period before: to the same time and in all, or of one that is over."""
    return dict(
        zip(_IN_ALL if len(written) > 1 else ("before",), written, strict=False)
    )


async def _async_values(question: _Question, state: State) -> JsonObject:
    """Return the lowest, the highest and the average value."""
    unit = _unit(question, state) or ""
    period = question.period or Period(
        dt_util.start_of_local_day(question.now), question.now
    )
    found = await _async_numbers(question, state, period)
    if found is None:
        return {"values": "not known for that time"}
    return {
        "lowest": f"{_quantity(found.lowest[1], unit)}, {_time(found.lowest[0], question.now)}",
        "highest": f"{_quantity(found.highest[1], unit)}, {_time(found.highest[0], question.now)}",
        "average": _quantity(found.average, unit),
    }


async def _async_numbers(
    question: _Question, state: State, period: Period
) -> Numbers | None:
    hass, entity_id = question.hass, state.entity_id
    attribute = _ATTRIBUTES.get(state.domain)
    extremes = (
        {}
        if attribute
        else await async_statistics(hass, entity_id, period.begin, period.end)
    )
    lowest, highest, average = (extremes.get(name) for name in ("min", "max", "mean"))
    hours = (
        await async_hours(hass, entity_id, period.begin, period.end)
        if lowest is not None
        else ()
    )
    if hours and lowest is not None and highest is not None and average is not None:
        at_lowest, at_highest = (
            min(hours, key=lambda row: row[1]),
            max(hours, key=lambda row: row[2]),
        )
        return Numbers((at_lowest[0], lowest), (at_highest[0], highest), average)
    rows = await async_states(
        hass, entity_id, period.begin, period.end, with_attributes=attribute is not None
    )

    def summed_up() -> Numbers | None:
        values = [
            (
                max(one.last_updated, period.begin),
                number_in(one.attributes.get(attribute) if attribute else one.state),
            )
            for one in rows
        ]
        return numbers(values, period.end)

    return await hass.async_add_executor_job(summed_up)


async def _async_spans(
    question: _Question, state: State, begin: datetime, end: datetime
) -> list[Span]:
    """Return the spans of an entity in a period, up to its present state."""
    is_climate = state.domain == "climate"
    rows = await async_states(
        question.hass, state.entity_id, begin, end, with_attributes=is_climate
    )
    return await question.hass.async_add_executor_job(
        spans, _with_present(rows, state, end), begin, end
    )


def _with_present(
    rows: Sequence[State], state: State, end: datetime
) -> Sequence[State]:
    """Add the present state, which the recorder writes some seconds later."""
    is_newer = not rows or state.last_updated > rows[-1].last_updated
    return [*rows, state] if is_newer and state.last_updated < end else rows


class _Last(NamedTuple):
    """The last time that an entity was in some states."""

    values: frozenset[str]
    """The states; none if the question is about one that it never has."""
    span: Span | None
    """None if it did not begin in the time for which states are kept."""
    known_since: datetime
    is_all: bool
    """Whether it has been so since then."""
    seen: frozenset[str]
    """All states that it had in that time."""


async def _async_find_last(
    question: _Question, state: State, words: StateWords
) -> _Last:
    """Find when an entity was last in the state that is asked about, or last changed."""
    since, now = question.kept_since, question.now
    rows = (
        []
        if state.domain == "climate"
        else await async_last_states(question.hass, state.entity_id, since, _LATEST)
    )
    found = spans(_with_present(rows, state, now), since, now, is_start_known=False)
    values = _asked_about(question, state, words, found)
    latest = _latest(found, values)
    if latest is None and (len(rows) == _LATEST or state.domain == "climate"):
        found = await _async_spans(question, state, since, now)
        values = values or _asked_about(question, state, words, found)
        latest = _latest(found, values)
    is_all = latest is None and any(span.value in values for span in found)
    known_since = found[0].begin if found else now
    return _Last(
        values, latest, known_since, is_all, frozenset(span.value for span in found)
    )


def _asked_about(
    question: _Question, state: State, words: StateWords, found: Iterable[Span]
) -> frozenset[str]:
    """Return the states that a question means; without a word, the present one."""
    if not question.word:
        return frozenset({state.state, recorded_value(state)})
    return words.meant(question.word, {span.value for span in found})


async def _async_last(
    question: _Question, state: State, words: StateWords
) -> JsonObject:
    """Return when an entity was last in the state that is asked about, or last changed, and its present state."""
    last, now = await _async_find_last(question, state, words), question.now
    if not last.values:
        return _never_so(question.word, words, last.seen)
    value = words.name(recorded_value(state))
    present = {} if recorded_value(state) in last.values else {"now": value}
    label = f"last {question.word.lower() or value}"
    if (span := last.span) is None:
        since = _time(last.known_since, now)
        known = (
            f"{since} or before; it has been so since"
            if last.is_all
            else f"not since {since}; before is not known"
        )
        return {label: known, **present}
    until = {} if span.end >= now else {"until": _time(span.end, now)}
    by = await _async_author(question.hass, state.entity_id, span.begin)
    begin = f"{_time(span.begin, now)}, {_length(now - span.begin)} ago"
    return {
        label: begin,
        **until,
        "for": _length(span.length),
        **({"by": by} if by else {}),
        **present,
    }


def _never_so(word: str, words: StateWords, seen: Iterable[str]) -> JsonObject:
    """Return the answer about a state that an entity never has, with those that it has."""
    known = sorted({words.name(value) for value in {*words.names, *seen} - NO_VALUES})
    return {
        "error": f"It is never {quoted(word)}. Its states are: {listed(known[:_MOST_NAMES])}."
    }


def _latest(found: Sequence[Span], values: frozenset[str]) -> Span | None:
    """Return the last span in some states of which the beginning is known."""
    last = next(reversed(list(changes_to(found, values))), None)
    return None if last is None or last.begins_before else last


async def _async_author(hass: HomeAssistant, entity_id: str, when: datetime) -> str:
    """Return the name of the person, the automation or the script that made a change; empty if it is not known."""
    cause, state = await async_cause(hass, entity_id, when), hass.states.get(entity_id)
    is_unchanged = state is not None and state.last_updated == state.last_changed
    if (
        state
        and is_unchanged
        and not any(cause)
        and abs(state.last_changed - when) < _SAME_MOMENT
    ):
        cause = cause._replace(user_id=state.context.user_id)
    user = await hass.auth.async_get_user(cause.user_id) if cause.user_id else None
    if user and not user.system_generated and user.name:
        return user.name
    return cause.name or ""


async def _async_times(
    question: _Question, period: Period, state: State, words: StateWords
) -> JsonObject:
    """Return how often and for how long an entity was in the state that is asked about, or in each of its states."""
    first = min((period.begin, *(one.begin for one in question.earlier)))
    found = await _async_spans(question, state, first, period.end)
    # A span that goes on before the period may owe its gaps to either.
    inside = (
        await _async_spans(question, state, period.begin, period.end)
        if question.earlier
        else found
    )
    if not (inside := _clipped(inside, period)):
        return {"states": "not known for that time"}
    is_known = inside[0].begin - period.begin < _RESOLUTION
    since: JsonObject = (
        {} if is_known else {"known since": _time(inside[0].begin, question.now)}
    )
    if (gap := _gap(inside, period)) >= _RESOLUTION:
        since["not known for"] = _length(gap)
    if not question.word:
        return _all_states(question, inside, words) | since
    values = words.meant(question.word, {span.value for span in found})
    if not values:
        return _never_so(question.word, words, (span.value for span in found))
    label = question.word.lower()
    times = list(changes_to(inside, values))
    if not times:
        return {label: _NEVER, **since}
    total = _total(times)
    entered = sum(not span.begins_before for span in times)
    listed_times: list[JsonValue] = [
        _span(span, question.now) for span in times[-_MOST_TIMES:]
    ]
    more = (
        {"earlier times": len(times) - len(listed_times)}
        if len(times) > len(listed_times)
        else {}
    )
    before = [
        _length(_total(list(changes_to(_clipped(found, one), values))))
        for one in question.earlier
    ]
    return {
        label: _length(total),
        "times": entered
        if entered == len(times)
        else f"{entered}, and it was so from the beginning",
        "when": listed_times,
        **more,
        **_earlier(before),
        **since,
    }


def _all_states(
    question: _Question, inside: Sequence[Span], words: StateWords
) -> JsonObject:
    lengths: dict[str, timedelta] = {}
    for span in inside:
        lengths[span.value] = lengths.get(span.value, timedelta()) + span.length
    totals = sorted(lengths, key=lambda value: lengths[value], reverse=True)[
        :_MOST_TIMES
    ]
    latest: list[JsonValue] = [
        f"{words.name(span.value)} {_span(span, question.now)}"
        for span in inside[-_MOST_TIMES:]
    ]
    return {
        **{words.name(value): _length(lengths[value]) for value in totals},
        "latest": latest,
    }


def _clipped(found: Iterable[Span], period: Period) -> list[Span]:
    return [part for span in found if (part := span.within(period.begin, period.end))]


def _gap(inside: Sequence[Span], period: Period) -> timedelta:
    """Return the time of a period for which states are not known although they are recorded; all of it without any."""
    return period.end - (inside[0].begin if inside else period.begin) - _total(inside)


def _total(times: Iterable[Span]) -> timedelta:
    return sum((span.length for span in times), timedelta())


def _answer(
    question: _Question, answers: Sequence[JsonObject], left_out: Sequence[str]
) -> JsonObject:
    """Return the whole answer."""
    period, now = question.period, question.now
    time: JsonObject = (
        {"time": f"{_time(period.begin, now)} to {_time(period.end, now)}"}
        if period
        else {}
    )
    never = [one for one in answers if one.get(question.word.lower()) == _NEVER]
    rest = (
        [one for one in answers if one not in never]
        if len(answers) > 1
        else list(answers)
    )
    notes = (
        [f"Not {question.word.lower()}: {_names([str(one['name']) for one in never])}."]
        if len(answers) > 1 and never
        else []
    )
    if len(rest) > _MOST_TOLD:
        notes.append(
            f"And {_names([str(one['name']) for one in rest[_MOST_TOLD:]])}: ask about them by name."
        )
    if left_out:
        notes.append(f"Left out, since it would take too long: {_names(left_out)}.")
    if (
        period
        and period.begin < question.kept_since
        and any({"used", "lowest"}.isdisjoint(one) for one in answers)
    ):
        notes.append(
            f"States are kept for {days_kept(question.hass)} days, so what was before that is not known. Say so."
        )
    if len(rest) > _MOST_IN_FULL:
        rest = [
            {key: value for key, value in one.items() if key not in _DETAILS}
            for one in rest
        ]
    return {
        **time,
        "found": [*rest[:_MOST_TOLD]],
        **({"note": " ".join(notes)} if notes else {}),
    }


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"


def _quantity(value: float, unit: str) -> str:
    rounded = round(value, 0 if abs(value) >= _NO_DECIMALS else 1)
    written = f"{int(rounded) if rounded == int(rounded) else rounded}"
    return f"{written} {unit}".strip()


def _length(length: timedelta) -> str:
    """Return a duration in words, of at most two units."""
    return dt_util.get_age(dt_util.now() - length, 2) if length else _NEVER


def _time(when: datetime, now: datetime) -> str:
    """Return a moment in local time, as it would be told now."""
    local = dt_util.as_local(when)
    days = (now.date() - local.date()).days
    near = {0: "today", 1: "yesterday"}.get(days)
    year = f" {local:%Y}" if local.year != now.year else ""
    return f"{near or f'{local:%A} {local.day} {local:%B}{year}'} {local:%H:%M}"


def _span(span: Span, now: datetime) -> str:
    begin, end = _time(span.begin, now), _time(span.end, now)
    is_same_day = (
        dt_util.as_local(span.begin).date() == dt_util.as_local(span.end).date()
    )
    end = f"{dt_util.as_local(span.end):%H:%M}" if is_same_day else end
    return f"{begin} to {'now' if span.end >= now else end}"


async def _async_effects(call: OwnCall) -> Annotated:
    """Return that the past of people is told, which rules are about. It changes nothing."""
    try:
        states = await _async_selected(call, _question(call))
    except InvalidTime, _NoAnswer:
        states = []
    presence = frozenset(
        EntityAction(one.entity_id, f"{one.domain}.get_past")
        for one in states
        if one.domain in _PRESENCE
    )
    return Annotated(READS, Touches(presence))


@dataclass(frozen=True, slots=True)
class SpokenPast:
    """Answers questions about what was in sentences of the speaker's language, without a model."""

    hass: HomeAssistant
    llm_context: llm.LLMContext

    async def async_effects(self, arguments: JsonObject) -> Effects:
        """Return the effects of an answer: those of the tool."""
        effects = await _async_effects(OwnCall(self.hass, self.llm_context, arguments))
        return run_by(TOOL_NAME, effects.named)

    async def async_answer(self, arguments: JsonObject, *, is_whether: bool) -> str:
        """Return the answer; `is_whether` for a question that is answered by yes or no."""
        call = OwnCall(self.hass, self.llm_context, arguments)
        sentences = await async_get_sentences(self.hass, call.language)
        try:
            question = _question(call)
            states = await _async_selected(call, question) if records(self.hass) else []
        except InvalidTime, _NoAnswer:
            return sentences["spoken_past_unknown"]
        telling = _Telling(sentences, question, states)
        if question.period is None:
            answer = await telling.async_last()
        else:
            answer = await telling.async_lengths(question.period, is_whether=is_whether)
        return answer or sentences["spoken_past_unknown"]


@dataclass(frozen=True, slots=True)
class _Telling:
    """Tells in sentences what is known of some entities. A sentence is empty if nothing is known."""

    sentences: Mapping[str, str]
    question: _Question
    states: Sequence[State]

    async def async_last(self) -> str:
        """Return when one of the entities was last so."""
        found = await _async_each(self.states, self._async_last_of)
        lasts = [
            (last, state)
            for state in self.states
            if (last := found.get(state.entity_id)) and last.values
        ]
        begun = [(span, state) for last, state in lasts if (span := last.span)]
        if not begun:
            if not lasts:
                return ""
            last, state = max(lasts, key=lambda one: one[0].is_all)
            key, since = (
                "always" if last.is_all else "never_since",
                self._time(last.known_since),
            )
            return await self._async_told(key, state, last.values, time=since)
        span, state = max(begun, key=lambda one: one[0].begin)
        key, time = (
            "since" if span.end >= self.question.now else "last",
            self._time(span.begin),
        )
        answer = await self._async_told(
            key, state, {span.value}, time=time, duration=self._length(span.length)
        )
        by = await _async_author(self.question.hass, state.entity_id, span.begin)
        return f"{answer} {self._sentence('by', by=by)}" if by else answer

    async def async_lengths(self, period: Period, *, is_whether: bool) -> str:
        """Return for how long each entity was so; if the question was whether one was, only of those that were."""
        found = await _async_each(self.states, partial(self._async_length_of, period))
        lengths = [
            (one.name, *length)
            for one in self.states
            if (length := found.get(one.entity_id))
        ]
        if not (known := [one for one in lengths if one[2] < period.end]):
            return ""
        times = [
            f"{name} {self._length(length)}" for name, length, *_ in known if length
        ]
        never = [name for name, length, *_ in known if not length]
        gaps = [
            f"{name} {self._length(gap)}"
            for name, *_, gap in lengths
            if gap >= _RESOLUTION
        ]
        # Those of a night are told: for some people, it begins earlier.
        hours = (
            f" ({period.begin:%H:%M}-{period.end:%H:%M})" if period.begin.hour else ""
        )
        if is_whether:
            answer = self._sentence(
                "yes" if times else "no", entities=f"{_names(times or never)}{hours}"
            )
        else:
            answer = f"{_names([*times, *(f'{name} {self.sentences["past_never"]}' for name in never)])}{hours}."
        left_out = [one.name for one in self.states if one.entity_id not in found]
        rest = self._sentence("left_out", entities=_names(left_out)) if left_out else ""
        gap = self._sentence("gap", entities=_names(gaps)) if gaps else ""
        since = max(begin for _, _, begin, _ in known)
        is_known = since - period.begin < _RESOLUTION
        known_since = (
            "" if is_known else self._sentence("known_since", time=self._time(since))
        )
        return " ".join(filter(None, (answer, known_since, gap, rest)))

    async def _async_last_of(self, state: State) -> _Last:
        return await _async_find_last(
            self.question, state, await self._async_words(state)
        )

    async def _async_length_of(
        self, period: Period, state: State
    ) -> tuple[timedelta, datetime, timedelta] | None:
        """Return for how long an entity was so, since when that is known, and for how long it is not known after that.

        If it is not known at all, that is since the end. Return None for one that is
        never so.
        """
        found = _clipped(
            await _async_spans(self.question, state, period.begin, period.end), period
        )
        values = (await self._async_words(state)).meant(
            self.question.word, {span.value for span in found}
        )
        begin = found[0].begin if found else period.end
        return (
            (_total(changes_to(found, values)), begin, _gap(found, period))
            if values
            else None
        )

    async def _async_words(self, state: State) -> StateWords:
        return await async_state_words(
            self.question.hass, state.entity_id, self.question.language
        )

    async def _async_told(
        self, key: str, state: State, values: Collection[str], **rest: str | int
    ) -> str:
        name = (await self._async_words(state)).spoken(min(values))
        return self._sentence(key, name=state.name, state=name, **rest)

    def _sentence(self, key: str, **parts: str | int) -> str:
        return self.sentences[f"spoken_past_{key}"].format_map(parts)

    def _time(self, when: datetime) -> str:
        local = dt_util.as_local(when)
        days = (self.question.now.date() - local.date()).days
        near = {0: "past_today", 1: "past_yesterday"}.get(days, "past_days_ago")
        return self.sentences[near].format_map({"time": f"{local:%H:%M}", "days": days})

    @staticmethod
    def _length(length: timedelta) -> str:
        """Return a duration with units that voices get words for."""
        minutes, seconds = divmod(round(length.total_seconds()), 60)
        hours, left = divmod(minutes, 60)
        parts = [(hours, "h"), (left, "min"), (0 if minutes else seconds, "s")]
        return " ".join(f"{count} {unit}" for count, unit in parts if count)


GET_PAST: Final = OwnTool(
    definition=ToolDefinition(
        TOOL_NAME,
        "Tells what was: last time and by whom, how often and long, lowest, highest, energy used.",
        parameters(
            {
                "name": ("string", ""),
                "area": ("string", ""),
                "kind": ("string", "window, temperature, energy"),
                "state": ("string", "open, on, heating"),
                "period": (
                    "string",
                    "today, yesterday, last_night, this or last week, month, year; or 2026-11-22/2026-11-23T18:00",
                ),
            }
        ),
        READS,
    ),
    run=_async_tell_past,
    effects=_async_effects,
    shared=SharedWith(
        frozenset(
            {
                "binary_sensor",
                "climate",
                "cover",
                "light",
                "lock",
                "media_player",
                "sensor",
                "switch",
                "vacuum",
            }
        ),
        "Get the past",
        Naming(("name", "area")),
        component="recorder",
        instead_of=frozenset({"history", "recorder"}),
    ),
)
