"""The tool that tells what was: when something last happened, for how long, how cold it got, how much was used.

It reads what Home Assistant records of exposed entities. An answer is words and
durations, not rows. Decision 53.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from operator import itemgetter
from typing import Final, NamedTuple

from homeassistant.auth.permissions.const import POLICY_READ
from homeassistant.components.binary_sensor import DOMAIN as BINARY_SENSOR
from homeassistant.components.homeassistant import async_should_expose
from homeassistant.components.sensor import ATTR_STATE_CLASS
from homeassistant.const import ATTR_UNIT_OF_MEASUREMENT
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import (
    entity_registry as er,
    intent,
    llm,
)
from homeassistant.util import dt as dt_util

from ...agent.messages import JsonObject, JsonValue
from ...agent.text import compared, heard_words
from ...const import DOMAIN
from ...effects.effect import Effects, EntityAction, run_by
from ...effects.intents import Naming
from ...home.description import listed, quoted
from ...home.entities import async_get_home, exposed_names
from ...home.entity_matches import (
    by_name,
    devices_called,
    matching_states,
    states_in_place,
)
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
from ...people.speakers import async_user_of
from ...speech.sentences import Sentences, async_get_sentences, listed_texts
from .own_tool import (
    DEFINITIONS,
    READS,
    NoAnswer,
    OwnCall,
    OwnTool,
    SharedWith,
    ToolAnswer,
    own_name,
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
    Period,
    PeriodName,
    earlier_periods,
    named_period,
    period_name,
    written_period,
)

TOOL_NAME: Final = own_name("get_past")
_ARGUMENTS: Final = (
    "name",
    "area",
    "kind",
    "state",
    "period",
)
_TIMEOUT: Final = 1.0
"""Seconds, while a person waits for the answer. Things that were not reached by then are named."""
_MOST_READ: Final = 20
"""Entities that are read for one answer."""
_MOST_TOLD: Final = 8
_MOST_IN_FULL: Final = 3
_MOST_TIMES: Final = 5
_IN_ALL: Final = ("before, to the same time", "before, in all")
_DETAILS: Final = frozenset(
    {
        "earlier times",
        "for",
        "latest",
        "until",
        "when",
        "before",
        *_IN_ALL,
    }
)
"""Parts of what is told of one thing that are left out beside many others."""
_MOST_NAMES: Final = 12
_LATEST: Final = 20
"""States that are read first: the last change is mostly among them, and they are read in milliseconds."""
_TEMPERATURE: Final = "temperature"
_ENERGY: Final = frozenset({"energy", "gas", "water"})
_METERS: Final = frozenset({"total", "total_increasing"})
"""State classes."""
_ATTRIBUTES: Final = {
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


@dataclass(frozen=True, slots=True)
class _Question:
    """A question about some entities."""

    hass: HomeAssistant
    language: str
    assistant: str
    name: str
    area: str
    kind: str
    word: str
    """For a state; empty for any."""
    period: Period | None
    """Up to now at most; None for the last time."""
    earlier: Sequence[Period]
    """The period before: up to the corresponding moment, and if it went on, the whole one."""
    now: datetime

    @property
    def kept_since(self) -> datetime:
        """Return the moment since which states are kept."""
        return self.now - timedelta(days=days_kept(self.hass))

    @property
    def is_older_than_states(self) -> bool:
        """Return whether it is about a time of which states are not kept any more."""
        return self.period is not None and self.period.begin < self.kept_since

    @property
    def period_or_today(self) -> Period:
        """Return the period that amounts are of."""
        return self.period or Period(dt_util.start_of_local_day(self.now), self.now)


async def _async_tell_past(call: OwnCall) -> ToolAnswer:
    """Answer a question about what was."""
    if not records(call.hass):
        raise NoAnswer(_NOT_RECORDED)
    question = _question(call)
    states = await _async_selected(call, question)
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
    """Return the question of a call. Raises `NoAnswer`."""
    now = dt_util.now()
    name, area, kind, word, written = map(call.text, _ARGUMENTS)
    period: Period | None = None
    earlier: Sequence[Period] = ()
    name_of_period = period_name(written)
    if name_of_period:
        begin, end = named_period(name_of_period, now)
        period = Period(begin, min(end, now))
        earlier = earlier_periods(name_of_period, now)
    elif written:
        try:
            period = written_period(written, now)
        except NoAnswer as error:
            raise NoAnswer(f"{error} {_PERIODS}") from error
    given = (
        call.language,
        call.llm_context.assistant,
        name,
        area,
        kind,
        word,
    )
    return _Question(
        call.hass,
        *given,
        period,
        earlier,
        now,
    )


async def _async_selected(
    call: OwnCall,
    question: _Question,
) -> list[State]:
    """Return the exposed entities that a question is about. Raises `NoAnswer` for none."""
    if not (question.name or question.area or question.kind):
        raise NoAnswer(_NOTHING_NAMED)
    states = await _async_readable(call, await _async_matching(question))
    others = [one for one in states if one.domain not in _PRESENCE]
    if others or call.llm_context.platform != DOMAIN:  # no rule holds for other agents
        states = others
    if not states:
        raise NoAnswer(_nothing_called(question))
    contacts = await _async_readable(
        call, [contact for one in states for contact in _contacts(question, one)]
    )
    return by_name(contacts or states)


async def _async_matching(question: _Question) -> list[State]:
    """Return the exposed entities with a name, in an area or on a floor, or of a kind. Raises `NoAnswer`."""
    hass = question.hass
    name = question.name
    area = question.area
    domains, classes = (None, None) if name else _kinds(question)
    constraints = intent.MatchTargetsConstraints(
        name or None,
        area or None,
        domains=domains,
        device_classes=classes,
        assistant=question.assistant,
    )
    states = states_in_place(hass, constraints)
    if not states and name:
        return await _async_of_device(question)
    if question.kind in _ENERGY and not (name or area):
        _, home = await async_consumption(hass)
        return [state for state in states if state.entity_id in home] or states
    return states


async def _async_readable(
    call: OwnCall,
    states: list[State],
) -> list[State]:
    """Return those of some entities that the user who asks may read, if one is known."""
    user = await async_user_of(call.hass, call.llm_context)
    if user is None:
        return states
    may_read = user.permissions.check_entity
    return [one for one in states if may_read(one.entity_id, POLICY_READ)]


def _kinds(question: _Question) -> tuple[set[str] | None, set[str] | None]:
    """Return the domain or the device class that a kind is. Raises `NoAnswer` for one of which nothing is exposed."""
    if not question.kind:
        return None, None
    home = async_get_home(question.hass, question.assistant)
    domains = {entity.domain for entity in home.entities}
    plain = question.kind.lower().replace(" ", "_")
    if plain == _TEMPERATURE and plain not in home.device_classes:
        return {*_ATTRIBUTES}, None
    for written in (plain, plain.removesuffix("s")):
        if written in home.device_classes:
            return None, {written}
        if written in domains:
            return {written}, None
    raise NoAnswer(
        f"There is no kind {quoted(question.kind)}. There are: {listed(sorted(domains | home.device_classes))}."
    )


async def _async_of_device(question: _Question) -> list[State]:
    """Return the exposed entities of the devices with a name, or the meter that the energy dashboard calls so."""
    hass = question.hass
    wanted = compared(question.name)
    registry = er.async_get(hass)
    found = [
        entry.entity_id
        for device_id in devices_called(hass, question.name)
        for entry in er.async_entries_for_device(registry, device_id)
    ]
    meters, _ = await async_consumption(hass)
    found += [meter for meter, called in meters.items() if compared(called) == wanted]
    return [
        state
        for entity_id in dict.fromkeys(found)
        if async_should_expose(hass, question.assistant, entity_id)
        and (state := hass.states.get(entity_id))
    ]


def _contacts(
    question: _Question,
    state: State,
) -> list[State]:
    """Return the contacts of a door for a question about a lock that is about whether the door was open.

    They belong to the device of the lock, or are called after it: "Haustürkontakt".
    """
    word = question.word.lower()
    if state.domain != "lock" or not word.startswith(("open", "clos", "shut")):
        return []
    home = async_get_home(question.hass, question.assistant)
    area_ids = {
        one.area_id for one in home.entities if one.entity_id == state.entity_id
    }
    contacts = matching_states(
        question.hass,
        intent.MatchTargetsConstraints(
            area_name=next(iter(area_ids), None),
            domains={BINARY_SENSOR},
            device_classes={*_CONTACTS},
            assistant=question.assistant,
        ),
    )
    name = heard_words(state.name)
    return [
        one
        for one in contacts
        if _is_of_one_device(question.hass, one, state)
        or all(
            any(word.startswith(part) for word in heard_words(one.name))
            for part in name
        )
    ]


def _is_of_one_device(hass: HomeAssistant, *states: State) -> bool:
    entries = [er.async_get(hass).async_get(one.entity_id) for one in states]
    device_ids = {one.device_id if one else None for one in entries}
    return len(device_ids) == 1 and None not in device_ids


def _nothing_called(question: _Question) -> str:
    name = question.name
    area = question.area
    kind = question.kind
    parts = [
        f"called {quoted(name)}" if name else "",
        f"in {quoted(area)}" if area else "",
        f"of the kind {kind}" if kind else "",
    ]
    words = {*heard_words(name)}
    known = exposed_names(question.hass, question.assistant) if words else ()
    alike = [one for one in known if words & {*heard_words(one)}][:_MOST_NAMES]
    hint = f" Similar: {listed(alike)}." if alike else ""
    return f"There is nothing {' '.join(filter(None, parts))}.{hint}"


async def _async_tell(
    question: _Question,
    state: State,
) -> JsonObject:
    """Return the answer about one entity."""
    if state.attributes.get(ATTR_STATE_CLASS) in _METERS:
        answer = await _async_used(question, state)
    elif (unit := _unit(question, state)) is not None:
        answer = await _async_values(
            question,
            state,
            unit,
        )
    elif question.period is None:
        answer = await _async_last(question, state)
    else:
        answer = await _async_times(
            question,
            question.period,
            state,
        )
    return {
        "name": state.name,
        **answer,
    }


async def _async_words(
    question: _Question,
    state: State,
) -> StateWords:
    """Return the words for the states of an entity."""
    return await async_state_words(
        question.hass,
        state.entity_id,
        question.language,
    )


def _unit(
    question: _Question,
    state: State,
) -> str | None:
    """Return the unit of an entity whose state, or the asked attribute of which, is a number; None for others."""
    is_temperature = question.kind.lower() == _TEMPERATURE and not question.word
    if state.domain == "weather" or (state.domain == "climate" and is_temperature):
        usual = question.hass.config.units.temperature_unit
        return str(state.attributes.get("temperature_unit") or usual)
    unit: object = state.attributes.get(ATTR_UNIT_OF_MEASUREMENT)
    is_number = ATTR_STATE_CLASS in state.attributes or state.domain in _NUMBERS
    if unit is not None or is_number:
        return str(unit or "")
    return None


async def _async_used(
    question: _Question,
    state: State,
) -> JsonObject:
    """Return the growth of a meter, and that of the period before."""
    unit = str(state.attributes.get(ATTR_UNIT_OF_MEASUREMENT) or "")
    written = list[str]()
    for one in (question.period_or_today, *question.earlier):
        found = await async_statistics(
            question.hass, state.entity_id, one.begin, one.end
        )
        growth = found.get("change")
        written.append("not known" if growth is None else _quantity(growth, unit))
    label = "used" if question.period else "used today"
    return {
        label: written[0],
        **_earlier(written[1:]),
    }


def _earlier(written: Sequence[str]) -> JsonObject:
    """Return the values of the period before: to the same time and in all, or of one that is over."""
    return dict(
        zip(
            _IN_ALL if len(written) > 1 else ("before",),
            written,
            strict=False,
        )
    )


async def _async_values(
    question: _Question,
    state: State,
    unit: str,
) -> JsonObject:
    """Return the lowest, the highest and the average value."""
    found = await _async_numbers(question, state)
    if found is None:
        return {"values": "not known for that time"}
    (coldest, lowest) = found.lowest
    (warmest, highest) = found.highest
    return {
        "lowest": f"{_quantity(lowest, unit)}, {_time(coldest, question.now)}",
        "highest": f"{_quantity(highest, unit)}, {_time(warmest, question.now)}",
        "average": _quantity(found.average, unit),
    }


async def _async_numbers(
    question: _Question,
    state: State,
) -> Numbers | None:
    attribute = _ATTRIBUTES.get(state.domain)
    begin, end = question.period_or_today
    wanted = (
        question.hass,
        state.entity_id,
        begin,
        end,
    )
    extremes = {} if attribute else await async_statistics(*wanted)
    lowest, highest, average = (extremes.get(name) for name in ("min", "max", "mean"))
    hours = await async_hours(*wanted) if lowest is not None else ()
    if hours and lowest is not None and highest is not None and average is not None:
        at_lowest = min(hours, key=itemgetter(1))
        at_highest = max(hours, key=itemgetter(2))
        return Numbers(
            (at_lowest[0], lowest),
            (at_highest[0], highest),
            average,
        )
    rows = await async_states(
        *wanted,
        with_attributes=attribute is not None,
    )

    def summed_up() -> Numbers | None:
        values = [
            (
                max(one.last_updated, begin),
                number_in(one.attributes.get(attribute) if attribute else one.state),
            )
            for one in rows
        ]
        return numbers(values, end)

    return await question.hass.async_add_executor_job(summed_up)


async def _async_spans(
    question: _Question,
    state: State,
    period: Period,
) -> list[Span]:
    """Return the spans of an entity in a period, up to its present state."""
    is_climate = state.domain == "climate"
    rows = await async_states(
        question.hass, state.entity_id, *period, with_attributes=is_climate
    )
    return await question.hass.async_add_executor_job(
        spans, _with_present(rows, state, period.end), *period
    )


def _with_present(
    rows: Sequence[State], state: State, end: datetime
) -> Sequence[State]:
    """Add the present state, which the recorder writes some seconds later."""
    is_newer = not rows or state.last_updated > rows[-1].last_updated
    if is_newer and state.last_updated < end:
        return [*rows, state]
    return rows


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


class _Length(NamedTuple):
    """For how long an entity was in some states in a period."""

    name: str
    length: timedelta
    known_since: datetime
    """The end of the period if nothing is known."""
    gap: timedelta
    """The time after that of which nothing is known."""


async def _async_find_last(question: _Question, state: State) -> _Last:
    """Find when an entity was last in the state that is asked about, or last changed."""
    words = await _async_words(question, state)
    since = question.kept_since
    now = question.now
    rows = (
        []
        if state.domain == "climate"
        else await async_last_states(
            question.hass,
            state.entity_id,
            since,
            _LATEST,
        )
    )
    found = spans(
        _with_present(
            rows,
            state,
            now,
        ),
        since,
        now,
        is_start_known=False,
    )
    values = _asked_about(
        question,
        state,
        words,
        found,
    )
    latest = _latest(found, values)
    if latest is None and (len(rows) == _LATEST or state.domain == "climate"):
        found = await _async_spans(
            question,
            state,
            Period(since, now),
        )
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
    return words.meant(
        question.word,
        {span.value for span in found},
    )


async def _async_last(
    question: _Question,
    state: State,
) -> JsonObject:
    """Return when an entity was last in the state that is asked about, or last changed, and its present state."""
    words = await _async_words(question, state)
    now = question.now
    last = await _async_find_last(question, state)
    if not last.values:
        return _never_so(
            question.word,
            words,
            last.seen,
        )
    value = words.name(recorded_value(state))
    present = {} if recorded_value(state) in last.values else {"now": value}
    label = f"last {question.word.lower() or value}"
    span = last.span
    if span is None:
        since = _time(last.known_since, now)
        if last.is_all:
            known = f"{since} or before; it has been so since"
        else:
            known = f"not since {since}; before is not known"
        return {label: known, **present}
    until = {} if span.end >= now else {"until": _time(span.end, now)}
    by = await _async_author(
        question.hass,
        state.entity_id,
        span.begin,
    )
    begin = f"{_time(span.begin, now)}, {_length(now - span.begin)} ago"
    return {
        label: begin,
        **until,
        "for": _length(span.length),
        **({"by": by} if by else {}),
        **present,
    }


def _never_so(
    word: str,
    words: StateWords,
    seen: Iterable[str],
) -> JsonObject:
    """Return the answer about a state that an entity never has, with those that it has."""
    known = sorted({words.name(value) for value in {*words.names, *seen} - NO_VALUES})
    return {
        "error": f"It is never {quoted(word)}. Its states are: {listed(known, _MOST_NAMES)}."
    }


def _latest(
    found: Sequence[Span],
    values: frozenset[str],
) -> Span | None:
    """Return the last span in some states of which the beginning is known."""
    last = next(
        reversed(list(changes_to(found, values))),
        None,
    )
    if last is None or last.begins_before:
        return None
    return last


async def _async_author(
    hass: HomeAssistant,
    entity_id: str,
    when: datetime,
) -> str:
    """Return the name of the person, the automation or the script that made a change; empty if it is not known."""
    cause = await async_cause(
        hass,
        entity_id,
        when,
    )
    state = hass.states.get(entity_id)
    is_unchanged = state is not None and state.last_updated == state.last_changed
    if (
        state
        and is_unchanged
        and not any(cause)
        and abs(state.last_changed - when) < _SAME_MOMENT
    ):
        cause = cause._replace(user_id=state.context.user_id)
    user = await hass.auth.async_get_user(cause.user_id or "")
    if user and not user.system_generated and user.name:
        return user.name
    return cause.name or ""


async def _async_times(question: _Question, period: Period, state: State) -> JsonObject:
    """Return how often and for how long an entity was in the state that is asked about, or in each of its states."""
    words = await _async_words(question, state)
    now = question.now
    found = await _async_spans(question, state, period)
    inside = _clipped(found, period)
    if not inside:
        return {"states": "not known for that time"}
    since: JsonObject = {}
    if inside[0].begin - period.begin >= _RESOLUTION:
        since["known since"] = _time(inside[0].begin, now)
    gap = _gap(inside, period)
    if gap >= _RESOLUTION:
        since["not known for"] = _length(gap)
    if not question.word:
        return _all_states(question, inside, words) | since
    # A span that goes on before the period may owe its gaps to either.
    if question.earlier:
        first = min(one.begin for one in question.earlier)
        found = await _async_spans(
            question,
            state,
            Period(first, period.end),
        )
    seen = {span.value for span in found}
    values = words.meant(question.word, seen)
    if not values:
        return _never_so(question.word, words, seen)
    label = question.word.lower()
    times = list(changes_to(inside, values))
    if not times:
        return {label: _NEVER, **since}
    entered = sum(not span.begins_before for span in times)
    was_before = entered < len(times)
    latest = times[-_MOST_TIMES:]
    before = [
        _length(_total(changes_to(_clipped(found, one), values)))
        for one in question.earlier
    ]
    return {
        label: _length(_total(times)),
        "times": f"{entered}, and it was so from the beginning"
        if was_before
        else entered,
        "when": [_span(span, now) for span in latest],
        **({"earlier times": len(times) - len(latest)} if times != latest else {}),
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


def _clipped(
    found: Iterable[Span],
    period: Period,
) -> list[Span]:
    return [part for span in found if (part := span.within(period.begin, period.end))]


def _gap(
    inside: Sequence[Span],
    period: Period,
) -> timedelta:
    """Return the time of a period for which states are not known although they are recorded; all of it without any."""
    if not inside:
        return period.end - period.begin
    return period.end - inside[0].begin - _total(inside)


def _total(times: Iterable[Span]) -> timedelta:
    return sum(
        (span.length for span in times),
        timedelta(),
    )


def _answer(
    question: _Question, answers: Sequence[JsonObject], left_out: Sequence[str]
) -> JsonObject:
    """Return the whole answer."""
    period = question.period
    now = question.now
    word = question.word.lower()
    rest = [*answers]
    notes = list[str]()
    never = [one for one in answers if one.get(word) == _NEVER]
    if never and len(answers) > 1:
        rest = [one for one in answers if one not in never]
        notes.append(f"Not {word}: {_names_in(never)}.")
    if len(rest) > _MOST_TOLD:
        notes.append(f"And {_names_in(rest[_MOST_TOLD:])}: ask about them by name.")
    if left_out:
        notes.append(
            f"Left out, since it would take too long: {listed(left_out, _MOST_NAMES)}."
        )
    # Statistics are kept longer than states.
    tells_states = any({"used", "lowest"}.isdisjoint(one) for one in answers)
    if question.is_older_than_states and tells_states:
        notes.append(
            f"States are kept for {days_kept(question.hass)} days, so what was before that is not known. Say so."
        )
    if len(rest) > _MOST_IN_FULL:
        rest = [*map(_without_details, rest)]
    answer: JsonObject = {}
    if period:
        begin = _time(period.begin, now)
        end = _time(period.end, now)
        answer["time"] = f"{begin} to {end}"
    answer["found"] = [*rest[:_MOST_TOLD]]
    if notes:
        answer["note"] = " ".join(notes)
    return answer


def _without_details(answer: JsonObject) -> JsonObject:
    return {key: value for key, value in answer.items() if key not in _DETAILS}


def _names_in(answers: Sequence[JsonObject]) -> str:
    return listed([str(one["name"]) for one in answers], _MOST_NAMES)


def _quantity(value: float, unit: str) -> str:
    rounded = round(
        value,
        0 if abs(value) >= _NO_DECIMALS else 1,
    )
    written = f"{int(rounded) if rounded == int(rounded) else rounded}"
    return f"{written} {unit}".strip()


def _length(length: timedelta) -> str:
    """Return a duration in words, of at most two units."""
    if length:
        return dt_util.get_age(
            dt_util.now() - length,
            2,
        )
    return _NEVER


def _time(when: datetime, now: datetime) -> str:
    """Return a moment in local time, as it would be told now."""
    local = dt_util.as_local(when)
    days = (now.date() - local.date()).days
    day = {0: "today", 1: "yesterday"}.get(days)
    if day is None:
        day = f"{local:%A} {local.day} {local:%B}"
        if local.year != now.year:
            day += f" {local:%Y}"
    return f"{day} {local:%H:%M}"


def _span(span: Span, now: datetime) -> str:
    begin = _time(span.begin, now)
    end = _time(span.end, now)
    is_same_day = (
        dt_util.as_local(span.begin).date() == dt_util.as_local(span.end).date()
    )
    if is_same_day:
        end = f"{dt_util.as_local(span.end):%H:%M}"
    return f"{begin} to {'now' if span.end >= now else end}"


async def _async_effects(call: OwnCall) -> Effects:
    """Return that the past of people is told, which rules are about. It changes nothing."""
    states = await _async_selected(call, _question(call))
    presence = frozenset(
        EntityAction(one.entity_id, f"{one.domain}.get_past")
        for one in states
        if one.domain in _PRESENCE
    )
    return Effects(presence, annotations=READS)


@dataclass(frozen=True, slots=True)
class SpokenPast:
    """Answers questions about what was in sentences of the speaker's language, without a model."""

    hass: HomeAssistant
    llm_context: llm.LLMContext

    async def async_effects(self, arguments: JsonObject) -> Effects:
        """Return the effects of an answer: those of the tool."""
        call = OwnCall(self.hass, self.llm_context, arguments)
        effects = await GET_PAST.async_effects(call)
        return run_by(TOOL_NAME, replace(effects, annotations=None))

    async def async_answer(
        self,
        arguments: JsonObject,
        *,
        is_whether: bool,
    ) -> str:
        """Return the answer; `is_whether` for a question that is answered by yes or no."""
        call = OwnCall(
            self.hass,
            self.llm_context,
            arguments,
        )
        sentences = await async_get_sentences(self.hass, call.language)
        try:
            question = _question(call)
            if records(self.hass):
                states = await _async_selected(call, question)
            else:
                states = []
        except NoAnswer:
            return sentences["spoken_past_unknown"]
        telling = _Telling(
            sentences,
            question,
            states,
        )
        if question.period is None:
            answer = await telling.async_last()
        else:
            answer = await telling.async_lengths(
                question.period,
                is_whether=is_whether,
            )
        return answer or sentences["spoken_past_unknown"]


@dataclass(frozen=True, slots=True)
class _Telling:
    """Tells in sentences what is known of some entities. A sentence is empty if nothing is known."""

    sentences: Sentences
    question: _Question
    states: Sequence[State]

    async def async_last(self) -> str:
        """Return when one of the entities was last so."""
        find = partial(_async_find_last, self.question)
        found = await _async_each(self.states, find)
        lasts = [
            (last, state)
            for state in self.states
            if (last := found.get(state.entity_id)) and last.values
        ]
        begun = [(span, state) for last, state in lasts if (span := last.span)]
        if not begun:
            if not lasts:
                return ""
            last, state = max(
                lasts,
                key=lambda one: one[0].is_all,
            )
            key = "always" if last.is_all else "never_since"
            since = self._time(last.known_since)
            return await self._async_told(
                key,
                state,
                last.values,
                time=since,
            )
        span, state = max(
            begun,
            key=lambda one: one[0].begin,
        )
        if span.end >= self.question.now:
            key = "since"
        else:
            key = "last"
        time = self._time(span.begin)
        answer = await self._async_told(
            key, state, {span.value}, time=time, duration=self._length(span.length)
        )
        by = await _async_author(
            self.question.hass,
            state.entity_id,
            span.begin,
        )
        if by:
            return f"{answer} {self._sentence('by', by=by)}"
        return answer

    async def async_lengths(
        self,
        period: Period,
        *,
        is_whether: bool,
    ) -> str:
        """Return for how long each entity was so; if the question was whether one was, only of those that were."""
        found = await _async_each(
            self.states,
            partial(self._async_length_of, period),
        )
        lengths = [*filter(None, found.values())]
        known = [one for one in lengths if one.known_since < period.end]
        if not known:
            return ""
        answer = self._lengths_told(
            known,
            period,
            is_whether=is_whether,
        )
        gaps = [
            f"{one.name} {self._length(one.gap)}"
            for one in lengths
            if one.gap >= _RESOLUTION
        ]
        left_out = [one.name for one in self.states if one.entity_id not in found]
        since = max(one.known_since for one in known)
        if since - period.begin >= _RESOLUTION:
            answer += f" {self._sentence('known_since', time=self._time(since))}"
        for key, names in (("gap", gaps), ("left_out", left_out)):
            if names:
                answer += f" {self._sentence(key, entities=self._listed(names))}"
        return answer

    def _lengths_told(
        self, known: Sequence[_Length], period: Period, *, is_whether: bool
    ) -> str:
        """Return for how long each entity was so, or which one was, if any."""
        times = [
            f"{one.name} {self._length(one.length)}" for one in known if one.length
        ]
        never = [one.name for one in known if not one.length]
        # Those of a night are told: for some people, it begins earlier.
        begin = f"{period.begin:%H:%M}"
        end = f"{period.end:%H:%M}"
        if period.begin.hour:
            hours = f" ({begin}-{end})"
        else:
            hours = ""
        if is_whether:
            key = "yes" if times else "no"
            return self._sentence(
                key,
                entities=f"{self._listed(times or never)}{hours}",
            )
        not_once = (f"{name} {self.sentences['past_never']}" for name in never)
        return f"{self._listed([*times, *not_once])}{hours}."

    async def _async_length_of(
        self,
        period: Period,
        state: State,
    ) -> _Length | None:
        """Return for how long an entity was so; None for one that is never so."""
        spans_in = await _async_spans(
            self.question,
            state,
            period,
        )
        found = _clipped(spans_in, period)
        words = await _async_words(self.question, state)
        values = words.meant(
            self.question.word,
            {span.value for span in found},
        )
        if not values:
            return None
        if found:
            begin = found[0].begin
        else:
            begin = period.end
        total = _total(changes_to(found, values))
        return _Length(
            state.name,
            total,
            begin,
            _gap(found, period),
        )

    async def _async_told(
        self, key: str, state: State, values: Collection[str], **rest: str | int
    ) -> str:
        words = await _async_words(self.question, state)
        named = words.spoken(min(values))
        return self._sentence(
            key,
            name=state.name,
            state=named,
            **rest,
        )

    def _listed(self, names: Sequence[str]) -> str:
        return listed_texts(self.sentences, names, _MOST_NAMES)

    def _sentence(
        self,
        key: str,
        **parts: str | int,
    ) -> str:
        return self.sentences[f"spoken_past_{key}"].format_map(parts)

    def _time(self, when: datetime) -> str:
        local = dt_util.as_local(when)
        days = (self.question.now.date() - local.date()).days
        near = {0: "past_today", 1: "past_yesterday"}.get(
            days,
            "past_days_ago",
        )
        return self.sentences[near].format_map({"time": f"{local:%H:%M}", "days": days})

    @staticmethod
    def _length(length: timedelta) -> str:
        """Return a duration with units that voices get words for."""
        minutes, seconds = divmod(
            round(length.total_seconds()),
            60,
        )
        hours, left = divmod(minutes, 60)
        parts = [
            (hours, "h"),
            (left, "min"),
            (0 if minutes else seconds, "s"),
        ]
        return " ".join(f"{count} {unit}" for count, unit in parts if count)


GET_PAST: Final = OwnTool(
    definition=DEFINITIONS["get_past"],
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
