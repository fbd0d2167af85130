"""Resolves words for a time, such as "at half past six", and says a time back.

The words are divided into phrases (`time_phrases.py`), these make the parts of one
time, and the next time that has all of them is meant.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import dropwhile, pairwise
from math import inf
from typing import Annotated, Final

from pydantic import StringConstraints

from ...agent.text import MOST_UNDERSTOOD, base_language, capitalized, read_data_file
from .language import LANGUAGES, number_words
from .phrases import Token, divided
from .time_phrases import (
    FALLBACK,
    TIME,
    WORDS,
    Amount,
    PhraseKind,
    SlotValue,
    Spoken,
    SpokenUnit,
    SunEvent,
    TimePhrase,
    TimeSlots,
    grammar,
)

_REPETITION: Final = (
    r"^(?:|day|workday|week|month|year|[1-9]\d? (?:days|weeks)|[0-6](?:,[0-6])+)$"
)
type Repetition = Annotated[str, StringConstraints(pattern=_REPETITION)]
"""How a time comes again: as one of these words, each so many days or weeks, or on several weekdays, Monday being 0."""
type SunTimes = Callable[[SunEvent, date], datetime | None]
"""Returns when the sun rises or sets on a day; None where it does not."""

FURTHEST: Final = timedelta(days=366)
_HOUR: Final = 60
"""Times of the day are in minutes."""
_DAY: Final = 24 * _HOUR
_NOON: Final = 12 * _HOUR
_DEFAULT: Final = 8 * _HOUR
"""The time on a day that was named without one."""
_LATER_TODAY: Final = (
    _DEFAULT,
    _NOON,
    18 * _HOUR,
    21 * _HOUR,
)
"""The same for today, of which the next is asked about."""
_AGREEING: Final = timedelta(minutes=1)
"""The difference up to which a distance from now and a time of day are the same time."""
_NEAR: Final = timedelta(hours=8)
"""A time is surely the next one of its two readings up to this distance."""
_NEAR_AT_NIGHT: Final = timedelta(hours=3)
_NEAR_IN_MINUTES: Final = 4 * _HOUR
"""A time of day surely means its reading this close to the one that it replaces."""
_WAKING: Final = 5
"""The hour from which on people are thought to mean the morning."""
_SOON: Final = 120
"""Seconds up to which a time is said by its distance alone."""
_TELLING: Final = 3
"""Words from which on those that nobody knows here are a time by themselves: "three times a day"."""
_ENOUGH: Final = 3
"""Times that are to come, of which the first is meant."""


@dataclass(frozen=True, slots=True)
class _PartOfDay:
    """A part of the day; see parts_of_day.toml."""

    clock: tuple[int, int]
    lasts: tuple[int, int]
    usual: tuple[int, ...] = ()
    half: str = ""


_PARTS_OF_DAY: Final = read_data_file(
    __file__, dict[str, _PartOfDay], "parts_of_day.toml"
)
_EARLIEST: Final = 7 * _HOUR
"""An hour in both halves of the day is not before this one where something takes place."""
APART: Final = " / "
"""Between times that are not understood together."""
_WEEK: Final = 7
"""Days."""
_WORKDAYS: Final = 5
"""From Monday on."""
_WEEKEND: Final = frozenset({5, 6})
_MONTHS: Final = 12
_LAST: Final = -1
_EVERY_DAY: Final = frozenset(range(_WEEK))
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:?\d\d.*)?", re.IGNORECASE)
_ISO_CLOCK: Final = "T"
_EASTER: Final = "easter "
_NEAR_DAYS: Final = 300
"""Days within which a date needs no year."""
_SOME: Final = range(2, 100)
"""Days or weeks after which something comes again."""
_DATE_SLOTS: Final = (
    "day",
    "mday",
    "ordinal",
)
_SAID_TWICE: Final = (
    "every",
    "week",
    "period",
)
"""Parts that two phrases of a time may both name."""
_FORMS: Final = {
    "one": 0,
    "few": 1,
}
"""Places of the forms by plural category. All others are the last one."""
_BETWEEN: Final[frozenset[PhraseKind]] = frozenset(
    {
        "of",
        "article",
        "which",
        "joint",
        "bound",
        "not",
        "but",
        "pause",
    }
)
"""Kinds of phrases that are only a part of a time between others."""
_DIVIDING: Final[frozenset[PhraseKind]] = frozenset(
    {
        "joint",
        "bound",
        "not",
        "but",
        "pause",
    }
)
_DIVIDING_WORDS: Final = _DIVIDING - {"pause"}
_STRONG: Final[frozenset[PhraseKind]] = frozenset({"of", "which", "bound", "joint"})
"""Kinds of phrases with which a time begins, be it known or not."""
_UNCLEAR: Final[frozenset[PhraseKind]] = frozenset(
    {
        "vague",
        "someday",
        "which",
        "bound",
        "joint",
        "not",
        "but",
    }
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A resolved point in time."""

    due: datetime
    """Aware, in the zone of the home."""
    every: Repetition
    is_sure: bool
    """Whether the words fit no other time as well."""
    names_hour: bool = False
    """Whether the words name an hour and leave no other day, so that at most the half of the day is unclear."""
    other: datetime | None = None
    """The time in the other half of the day, if the words fit both halves."""


@dataclass(frozen=True, slots=True)
class TimeInSentence:
    """A time within a sentence."""

    words: str
    rest: str
    """The sentence without it."""
    is_alone: bool = True
    """Whether no other time is left in the rest."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a time that were said."""

    delay: Amount | None = None
    sun: tuple[SunEvent, timedelta] | None = None
    readings: tuple[int, ...] = ()
    """Minutes of the day; two if the half of the day is open."""
    period: str = ""
    day: int | None = None
    """Days from today."""
    plus: Amount | None = None
    """An amount that is added to the day."""
    weekdays: frozenset[int] = frozenset()
    doubt: int = 0
    """1 if the weekday may be that of the next week, 2 if it may be each one."""
    nth: int | None = None
    """Which of these weekdays of a month."""
    week: int | None = None
    """Weeks from this one."""
    is_weekend: bool = False
    month: int | None = None
    """Months from this one."""
    on: date | None = None
    month_day: tuple[int, int] | None = None
    mday: int | None = None
    easter: int | None = None
    """Days from Easter Sunday."""
    every: Repetition = ""
    is_about: bool = False
    is_unresolved: bool = False

    @property
    def has_day(self) -> bool:
        """Whether a day was named."""
        return bool(self.weekdays) or any(
            getattr(self, name) is not None for name in _OF_DAYS
        )

    @property
    def has_clock(self) -> bool:
        """Whether a time of day was named."""
        return bool(self.readings or self.sun)

    @property
    def names_days(self) -> bool:
        """Whether a day was named, or repeated days."""
        return bool(self.has_day or self.every)

    @property
    def names_days_only(self) -> bool:
        """Whether days were named without a time of day."""
        return self.names_days and not (self.has_clock or self.period or self.delay)

    @property
    def names_time_only(self) -> bool:
        """Whether a time of day was named without days."""
        return self.has_clock and not (self.names_days or self.delay)

    @property
    def is_today(self) -> bool:
        """Whether the day is today."""
        return self.day == 0 and self.plus is None


_OF_DAYS: Final = (
    "day",
    "week",
    "month",
    "on",
    "month_day",
    "mday",
    "easter",
)
_NOTHING: Final = _Parts()
_UNRESOLVED: Final = _Parts(is_unresolved=True)
_CONFLICT: Final = _Parts(is_unresolved=True, is_about=True)
"""Phrases that do not fit, unless they are divided otherwise."""


def prepare(language: str) -> None:
    """Read the phrases of a language, which takes some time: call it in an executor before the first use."""
    for tag in (base_language(language), FALLBACK):
        if tag in WORDS:
            grammar(tag)


def resolve_time(
    words: str,
    *,
    now: datetime,
    language: str,
    sun: SunTimes,
    moved: Moment | None = None,
) -> Moment | None:
    """Return the time that words mean; None for the past, for over a year ahead, and for words that are no time.

    `now` is in the zone of the home. ISO dates and times are understood, too. What is
    `moved` keeps its day and its repetition if words name a time of day alone that is
    to come, and its time of day if they name none.
    """
    text = words.strip()
    parts = None
    moment = None
    if _ISO.fullmatch(text) and _ISO_CLOCK in text.upper():
        moment = _written(text, now)
    else:
        parts = _read(words, language)
    if parts and moved:
        moment = _moment(
            _moved(parts, moved),
            now,
            sun,
        )
    if parts and moment is None:
        moment = _moment(
            parts,
            now,
            sun,
        )
    if moment is None:
        return None
    wait = moment.due.astimezone(UTC) - now.astimezone(UTC)
    if timedelta() < wait <= FURTHEST:
        return moment
    return None


def _written(
    text: str,
    now: datetime,
) -> Moment | None:
    """Return an ISO time, in the zone of the home if it names none."""
    try:
        due = datetime.fromisoformat(text)
    except ValueError:
        return None
    if due.tzinfo:
        due = due.astimezone(now.tzinfo)
    else:
        due = _local(due, now)
    return Moment(
        due,
        "",
        is_sure=True,
    )


def resolve_range(
    words: str, *, now: datetime, language: str
) -> tuple[datetime, datetime] | None:
    """Return the range of time that words mean: "this weekend", "on Friday evening", "at three", "next month".

    An hour lasts until the next one, and a number of days from now until the last of
    them is over. None for words that are no such time, or are more than a year ahead.
    """
    parts = _read(
        words,
        language,
        is_range=True,
    )
    if parts is None or parts.is_unresolved or parts.every or parts.sun:
        return None
    today = now.date()
    delay = parts.delay
    if delay and delay.is_of_days and not parts.names_days:
        last = _later(today, delay)
        if last == date.max:
            return None
        return (now, _minute_of(last, _DAY, now))
    if delay:
        begin = _after(delay, now)
        return begin, begin + timedelta(hours=1)
    days = _days_of(parts, today)
    if not days:
        return None
    if parts.readings:
        first = _hour_of(
            parts,
            days[0],
            now,
        )
        last_minute = first + _HOUR
    else:
        first, last_minute = (
            hour * _HOUR for hour in _PARTS_OF_DAY[parts.period].lasts
        )
    begin = _minute_of(days[0], first, now)
    end = _minute_of(
        days[-1],
        last_minute,
        now,
    )
    if end <= now and not parts.has_day:
        return begin + timedelta(days=1), end + timedelta(days=1)
    return begin, end


def _hour_of(
    parts: _Parts,
    on: date,
    now: datetime,
) -> int:
    """Return the minute that is meant where something takes place: by day, and still to come if it can be."""
    minutes = _fitting_readings(parts)
    waking = [one for one in minutes if one >= _EARLIEST]
    coming = [
        one
        for one in waking
        if _minute_of(
            on,
            one + _HOUR,
            now,
        )
        > now
    ]
    return (coming or waking or minutes)[0]


def _days_of(
    parts: _Parts,
    today: date,
) -> Sequence[date]:
    """Return the days of a range, from today on: the first that fits, and those of the same week or month."""
    found = [on for on in _dates(parts, today) if on >= today]
    if parts.has_day or not found:
        is_long = parts.week is not None or parts.month is not None
        names_one = bool(parts.weekdays) or parts.mday is not None
        if is_long and not names_one:
            return found
        return found[:1]
    return [today]


def _minute_of(
    on: date,
    minutes: int,
    now: datetime,
) -> datetime:
    """Return a minute of a day, as clocks show it."""
    return (datetime.combine(on, time()) + timedelta(minutes=minutes)).replace(
        tzinfo=now.tzinfo
    )


def names_days(words: str, language: str) -> bool:
    """Return whether words for a time name a day or repeated days."""
    parts = _read(words, language)
    return bool(parts and parts.names_days)


def is_delay(words: str, language: str) -> bool:
    """Return whether words for a time are a distance from now alone: "in an hour", not "in the night"."""
    parts = _read(words, language)
    return bool(parts and parts == _Parts(delay=parts.delay, is_about=parts.is_about))


def names_sun(words: str, language: str) -> bool:
    """Return whether words for a time name the rising or the setting of the sun."""
    parts = _read(words, language)
    return bool(parts and parts.sun)


def follows_sun(words: str, language: str) -> bool:
    """Return whether words of a language mean a time that comes again with the rising or the setting of the sun."""
    parts = _read(
        words,
        language,
        or_english=False,
    )
    return bool(parts and parts.sun and parts.every)


def is_resolved(words: str, language: str) -> bool:
    """Return whether all of the words are understood as a time, be it the past or too far ahead."""
    parts = _read(words, language)
    return bool(_ISO.fullmatch(words.strip()) or (parts and not parts.is_unresolved))


def _read(
    words: str,
    language: str,
    *,
    is_range: bool = False,
    or_english: bool = True,
) -> _Parts | None:
    """Return the parts of words that are a time as a whole in a language, or else in English."""
    tags = (base_language(language), *((FALLBACK,) if or_english else ()))
    for tag in dict.fromkeys(tags):
        ways = [
            _parts_of(
                phrases,
                is_range=is_range,
            )
            for phrases in _divided(words, tag)[1]
        ]
        parts = next(
            (one for one in ways if one != _CONFLICT), ways[0] if ways else None
        )
        if parts:
            return parts if parts != _NOTHING else None
    return None


def _divided(
    words: str, tag: str, *, is_whole: bool = True
) -> tuple[Sequence[Token], Sequence[Sequence[TimePhrase]]]:
    """Return the tokens of words and the ways to divide them into phrases; none of words that are too many."""
    if tag not in WORDS or len(words) > MOST_UNDERSTOOD:
        return (), ()
    tokens = grammar(tag).tokens(words)
    return tokens, grammar(tag).read(tokens, is_whole=is_whole)


def parts_of_time(
    words: str,
    language: str,
) -> Sequence[str]:
    """Return the times among which words tell one: both of "not at six but at seven", or of "from six to seven"."""
    tokens, ways = _divided(words, base_language(language))
    phrases = ways[0] if ways else ()
    if any(phrase.kind in {"vague", "someday", "which"} for phrase in phrases):
        return [words]
    runs = [list[TimePhrase]()]
    parts = _NOTHING
    for phrase in phrases:
        if phrase.kind in {"of", "article"}:
            more = _NOTHING
        else:
            more = _part_of(phrase) or _NOTHING
        if phrase.kind in _DIVIDING:
            together = None
        else:
            together = _together(parts, more)
        parts = more if together is None else together
        if together is None:
            runs.append([])
        if phrase.kind not in _DIVIDING:
            runs[-1].append(phrase)
    return [
        words[tokens[run[0].start].start : tokens[run[-1].end - 1].end]
        for run in runs
        if run
    ]


def has_bound(words: str, language: str) -> bool:
    """Return whether words for a time name one up to which, or from which on, something is: "before eight"."""
    _, ways = _divided(words, base_language(language))
    return any(phrase.kind == "bound" for phrases in ways[:1] for phrase in phrases)


@dataclass(frozen=True, slots=True)
class _Span:
    """A time in a sentence: where it begins and ends there, and its parts."""

    start: int
    end: int
    parts: _Parts
    is_strong: bool


def times_in(
    sentence: str,
    language: str,
    *,
    joined: bool = False,
    has_days: bool = False,
) -> Sequence[TimeInSentence]:
    """Return the times in a sentence, the longest first; a bare day is one if the sentence `has_days`.

    If `joined`, days and a later time of day ("every day ... at six") are a time as
    well, before those that it joins. All of several times are one, too, which is the
    last and is not understood.
    """
    spans = _spans(
        sentence,
        base_language(language),
        has_days=has_days,
    )
    times = list[TimeInSentence]()
    pairs = [
        two
        for two in pairwise(spans)
        if joined and two[0].parts.names_days_only and two[1].parts.names_time_only
    ]
    singles = [
        (span,) for span in sorted(spans, key=lambda span: span.start - span.end)
    ]
    groups = [(" ", some) for some in (*pairs, *singles)] + (
        [(APART, (*spans,))] if joined and len(spans) > 1 else []
    )
    for gap, some in groups:
        words = gap.join(sentence[span.start : span.end] for span in some)
        times.append(
            TimeInSentence(
                words, _without(sentence, some), is_alone=len(some) == len(spans)
            )
        )
    return times


@lru_cache(maxsize=8)  # several ask about the sentence of one turn
def _spans(
    sentence: str,
    tag: str,
    *,
    has_days: bool,
) -> Sequence[_Span]:
    """Return the times in a sentence, and bare days beside them, but for topics after another time."""
    tokens, ways = _divided(
        sentence,
        tag,
        is_whole=False,
    )
    readings = [_spans_of(one, tokens) for one in ways]
    # The likeliest way to divide the sentence tells where times are; of those that find
    # them there, too, the first counts whose phrases fit.
    alike = (one for one in readings if _places(one) == _places(readings[0]))
    found = min(
        alike,
        key=lambda one: any(span.parts == _CONFLICT for span in one),
        default=(),
    )
    if not found:
        return []
    if not (has_days or any(span.is_strong for span in found)):
        return []
    topics = _topics(
        tokens,
        found,
        tag,
    )
    first = next(
        (span.start for span in found if span.start not in topics),
        inf,
    )
    return [span for span in found if span.start not in topics or span.start < first]


def _places(spans: Sequence[_Span]) -> Sequence[tuple[int, int]]:
    return [(span.start, span.end) for span in spans]


def _topics(
    tokens: Sequence[Token], spans: Sequence[_Span], tag: str
) -> AbstractSet[SlotValue]:
    """Return the starts of the times that are a part of a text: "about tomorrow"."""
    starts = {span.start for span in spans}
    return grammar(tag).topics_in(
        [
            token._replace(word=TIME) if token.start in starts else token
            for token in tokens
            if not any(span.start < token.start < span.end for span in spans)
        ]
    )


def _spans_of(
    phrases: Sequence[TimePhrase],
    tokens: Sequence[Token],
) -> list[_Span]:
    """Return the times of a sentence that is divided into phrases, and days that are none by themselves."""
    found = list[_Span]()
    for run in _runs(phrases):
        some = _trimmed(run)
        if not some:
            continue
        parts = _parts_of(some)
        if parts.is_unresolved:
            # Words such as "next" belong to what nobody knows here.
            until = run.index(some[-1]) + 1
            some = [*dropwhile(lambda one: one.kind == "pause", run[:until])]
        is_strong = some[0].kind in _STRONG or any(map(_is_telling, some))
        is_day = parts.weekdays or any(one.kind == "someday" for one in some)
        if is_strong or is_day:
            start = tokens[some[0].start].start
            end = tokens[some[-1].end - 1].end
            found.append(
                _Span(
                    start,
                    end,
                    parts,
                    is_strong,
                )
            )
    return found


def _runs(phrases: Sequence[TimePhrase]) -> Iterator[list[TimePhrase]]:
    """Yield phrases that stand together; a bare number is one of them only beside a word that belongs to times."""
    kinds = [
        "",
        *(one.kind for one in phrases),
        "",
    ]
    run = list[TimePhrase]()
    for at, phrase in enumerate(phrases):
        is_number = phrase.is_weak and phrase.kind in {"clock", "sun"}
        is_bare = is_number and _DIVIDING_WORDS.isdisjoint((kinds[at], kinds[at + 2]))
        if phrase.kind != "word" and not is_bare:
            run.append(phrase)
        else:
            yield run
            run = []
    yield run


def _is_telling(phrase: TimePhrase) -> bool:
    """Return whether a phrase is a time by itself."""
    is_long = phrase.end - phrase.start >= _TELLING
    return not phrase.is_weak or (phrase.kind == "vague" and is_long)


def _trimmed(run: Sequence[TimePhrase]) -> Sequence[TimePhrase]:
    """Return phrases without those at the beginning and at the end that only belong between others."""
    inner = [at for at, one in enumerate(run) if one.kind not in _BETWEEN or one.slots]
    if not inner:
        return ()
    start = inner[0]
    is_vague = run[inner[0]].kind == "vague"
    leading = {"bound", "of", "article", "which"} | (
        {"not"} if any(one.kind == "but" for one in run) else set()
    )
    while start and run[start - 1].kind in leading:
        start -= 1
    while not is_vague and run[start].kind in {
        "of",
        "article",
    }:  # "at the tomorrow" is no time, "on my birthday" is
        start += 1
    return run[start : inner[-1] + 1]


def _parts_of(
    phrases: Sequence[TimePhrase],
    *,
    is_range: bool = False,
) -> _Parts:
    """Return what all phrases of a time mean together. A month without a day is a range alone."""
    parts = _NOTHING
    for phrase in _corrected(phrases):
        if phrase.kind in _UNCLEAR:
            return _UNRESOLVED
        if phrase.kind in {"of", "article", "pause"}:
            continue
        more = _part_of(phrase)
        if more is None:
            return _UNRESOLVED
        together = _together(parts, more)
        if together is None:
            return _CONFLICT
        parts = together
    is_whole_month = is_range and parts == replace(_NOTHING, month=parts.month)
    if _lacks_day(parts) and not is_whole_month:
        return _UNRESOLVED
    return parts


def _corrected(phrases: Sequence[TimePhrase]) -> Sequence[TimePhrase]:
    """Return phrases without a time that is denied: "not at six but at seven"."""
    kinds = [phrase.kind for phrase in phrases]
    instead: PhraseKind = "but" if "but" in kinds else "pause"
    if kinds.count("not") != 1 or kinds.count(instead) != 1:
        return phrases
    start = kinds.index("not")
    end = kinds.index(instead)
    if start < end:
        return [*phrases[:start], *phrases[end + 1 :]]
    return phrases


def _lacks_day(parts: _Parts) -> bool:
    """Return whether a time needs a day that was not named, or has one that does not fit."""
    has_mday = parts.mday is not None or parts.nth is not None
    if parts.month is not None and not has_mday:
        return True  # "next month"
    if parts.plus and not parts.has_day:
        return True  # "an hour after the meeting"
    if parts.delay and parts.delay.is_of_days and parts.weekdays:
        return True  # "in two weeks on Monday"
    match parts.every:
        case "month":
            return not has_mday
        case "year":
            return parts.month_day is None
        case "day" | "workday":
            return bool(parts.weekdays)
        case "":
            return parts.nth is not None and not parts.weekdays
        case every:
            return not parts.weekdays and not every.endswith("days")


def _part_of(phrase: TimePhrase) -> _Parts | None:
    """Return what one phrase means; None for a time that does not exist."""
    slots = phrase.slots
    value = phrase.value
    amount = _slot(
        slots,
        Amount,
        "amount",
    )
    period = _slot(slots, str, "period", "meridiem") or ""
    parts = _Parts(
        weekdays=_slot(slots, frozenset, "weekday", "weekdays", "repeated_weekdays")
        or frozenset(),
        period=period,
    )
    match phrase.kind:
        case "clock" | "time":
            readings = _readings(
                slots,
                value,
                has_hour=phrase.kind == "clock",
            )
            return replace(parts, readings=readings) if readings else None
        case "date":
            return _dated(parts, slots, value)
        case "every":
            return _repeated(parts, slots, value)
        case "delay":
            if amount and _is_delay(amount, value):
                return replace(parts, delay=amount)
            return None
        case "plus":
            return replace(
                parts,
                plus=amount or Amount(days=int(value)),
            )
        case "sun":
            event: SunEvent = "sunrise" if slots["sun"] == "sunrise" else "sunset"
            distance = (
                timedelta(days=amount.days, seconds=amount.seconds)
                if amount
                else timedelta()
            )
            return replace(
                parts,
                sun=(event, int(value) * distance),
            )
        case _:
            return _plain_part(parts, phrase)


def _slot[
    T,
](slots: TimeSlots, kind: type[T], *names: str) -> T | None:
    """Return the value of a kind in the first slot of a name that has one."""
    return next(
        (value for name in names if isinstance(value := slots.get(name), kind)), None
    )


def _number(
    slots: TimeSlots,
    *names: str,
) -> int | None:
    """Return the number in the first slot of a name that has one."""
    number = _slot(
        slots,
        float,
        *names,
    )
    if number is None:
        return None
    return int(number)


def _plain_part(parts: _Parts, phrase: TimePhrase) -> _Parts:
    """Return what a phrase means that has one value."""
    value = phrase.value
    match phrase.kind:
        case "period":
            return replace(parts, period=value or parts.period)
        case "today":
            return replace(
                parts,
                day=0,
                period=value or parts.period,
            )
        case "day":
            return replace(parts, day=int(value))
        case "weekday":
            return replace(parts, doubt=int(value))
        case "week" | "weekend":
            return replace(
                parts,
                week=int(value),
                is_weekend=phrase.kind == "weekend",
            )
        case "month":
            return replace(parts, month=int(value))
        case "nth":
            return replace(
                parts,
                nth=_number(phrase.slots, "nth"),
            )
        case _:
            return replace(parts, is_about=True)


def _is_delay(amount: Amount, unlike: str) -> bool:
    """Return whether an amount is a time from now: "après 18 heures" is none."""
    is_hour = amount.seconds > 0 and amount.seconds % (60 * _HOUR) == 0
    return not (unlike and is_hour) and not (amount.months and amount.seconds)


def _dated(
    parts: _Parts,
    slots: TimeSlots,
    value: str,
) -> _Parts | None:
    """Return the date of a day and a month, or the day of a month, or one of a holiday."""
    if value.startswith(_EASTER):
        return replace(
            parts,
            easter=int(value.removeprefix(_EASTER)),
        )
    if value:
        month, mday = map(int, value.split("-"))
    else:
        mday = _number(slots, *_DATE_SLOTS) or 1
        month = _number(slots, "month", "monthnumber") or 0
    if not month:
        return replace(parts, mday=mday)
    year = _number(slots, "year")
    try:
        on = date(year or 2000, month, mday)  # 2000 is a leap year
    except ValueError:
        return None
    if year:
        return replace(parts, on=on)
    return replace(parts, month_day=(month, mday))


def _repeated(
    parts: _Parts,
    slots: TimeSlots,
    value: str,
) -> _Parts | None:
    """Return how something comes again: on all weekdays `except` some, on `several`, or each `amount`."""
    days = parts.weekdays
    count = _number(
        slots,
        "number",
        "ordinal",
    )
    match value, _slot(slots, Amount, "amount"):
        case (("week" | "several"), _) if len(days) > 1:
            return _on_weekdays(parts, days)
        case (("except" | "weekend"), _):
            return _on_weekdays(parts, _EVERY_DAY - days if days else _WEEKEND)
        case "amount", Amount(months=0, days=total, seconds=0) if total in _SOME:
            weeks, rest = divmod(total, _WEEK)
            is_weeks = weeks > 1 and not rest
            if is_weeks:
                every = f"{weeks} weeks"
            else:
                every = f"{total} days"
            return replace(parts, every=every)
        case (("days" | "weeks"), _) if count in _SOME:
            return replace(
                parts,
                every=f"{count} {value}",
            )
        case (("unknown" | "several" | "amount" | "days" | "weeks"), _):
            return None
        case (("month" | "year"), _):
            has_date = not slots.keys().isdisjoint(_DATE_SLOTS)
            if has_date:
                dated = _dated(parts, slots, "")
            else:
                dated = parts
            nth = _number(slots, "nth")
            if dated:
                return replace(
                    dated,
                    every=value,
                    nth=nth,
                )
            return None
        case _:
            return replace(parts, every=value)


def _on_weekdays(
    parts: _Parts,
    weekdays: frozenset[int],
) -> _Parts:
    return replace(
        parts,
        weekdays=weekdays,
        every=",".join(map(str, sorted(weekdays))),
    )


def _together(
    parts: _Parts,
    more: _Parts,
) -> _Parts | None:
    """Return the parts of two phrases as those of one time; None if they do not fit."""
    names_one_day = parts.day is not None or len(parts.weekdays) == 1
    if more.delay and more.delay.is_of_days and names_one_day:
        more = replace(
            more,
            delay=None,
            plus=more.delay,
        )  # "on Monday in a week"
    # A part of the day tells its half as well.
    if more.period == _PARTS_OF_DAY[parts.period].half:
        more = replace(more, period="")
    if parts.period == _PARTS_OF_DAY[more.period].half:
        parts = replace(parts, period="")
    changes = dict[str, object]()
    for one in fields(_Parts):
        old, new, none = (getattr(some, one.name) for some in (parts, more, _NOTHING))
        if new == none:
            continue
        is_repeated = old == new and one.name in _SAID_TWICE
        if old != none and not is_repeated:
            return None
        changes[one.name] = new
    together = replace(parts, **changes)  # type: ignore[arg-type] # each is a value of its field
    if together.weekdays and together.day is not None:
        return None
    return together


def _readings(
    slots: TimeSlots,
    minutes: str,
    *,
    has_hour: bool,
) -> tuple[int, ...]:
    """Return the minutes of the day that a clock time means: two if its half is open, none if it is no time."""
    hours = _slot(
        slots,
        tuple,
        "hour",
    ) or (0,)
    past, to, written = (_number(slots, one) or 0 for one in ("past", "to", "mm"))
    if minutes == _ISO_CLOCK:
        hours = hours[:1]
        minutes = "0"
    found = tuple(hour * _HOUR + int(minutes) + past + written - to for hour in hours)
    if has_hour and max(hours[0] * _HOUR, found[0]) > _DAY:
        return ()
    return found


def _without(
    sentence: str,
    spans: Sequence[_Span],
) -> str:
    """Return a sentence without some times and the pauses beside them."""
    starts = (0, *(span.end for span in spans))
    ends = (*(span.start for span in spans), len(sentence))
    pieces = [
        sentence[start:end]
        for start, end in zip(
            starts,
            ends,
            strict=True,
        )
    ]
    rest = ""
    for piece in (*(piece.rstrip("'’") for piece in pieces[:-1]), pieces[-1]):  # noqa: RUF001
        plain = piece.strip(" ,，")  # noqa: RUF001 Chinese comma
        rest += f" {plain}" if rest and plain and plain[0] not in ".!?" else plain
    return rest


def _moment(
    parts: _Parts,
    now: datetime,
    sun: SunTimes,
) -> Moment | None:
    """Return the next time that parts mean; None if they have not all a meaning."""
    delay = parts.delay
    if parts.is_unresolved:
        return None
    # A distance in days leaves a part of the day open: "in two days in the evening".
    is_open = delay and delay.is_of_days and parts.period
    if delay and not (parts.has_clock or is_open):
        return _from_now(
            parts,
            delay,
            now,
        )
    readings = _fitting_readings(parts)
    times = _coming(
        parts,
        readings,
        now,
        sun,
    )
    if not times:
        return None
    due, *others = (one.astimezone(now.tzinfo) for one in times)
    has_halves = bool(others and parts.readings) and len(readings) > 1
    return Moment(
        due,
        parts.every,
        _is_sure(
            parts,
            readings,
            due,
            now,
            is_only=not others,
        ),
        bool(parts.readings)
        and not _may_be_another_day(
            parts,
            due,
            now,
        ),
        others[0] if has_halves and not parts.every else None,
    )


def _from_now(
    parts: _Parts,
    delay: Amount,
    now: datetime,
) -> Moment | None:
    """Return the time that is a distance from now; None if another day is named as well."""
    if parts.names_days or parts.period:
        return None
    if not delay.is_of_days:
        return Moment(
            _after(delay, now),
            "",
            is_sure=True,
        )
    on = _later(now.date(), delay)
    if on == date.max:
        return None
    return Moment(
        _local(
            datetime.combine(on, now.time()),
            now,
        ),
        "",
        is_sure=True,
    )


def _coming(
    parts: _Parts, readings: Sequence[int], now: datetime, sun: SunTimes
) -> Sequence[datetime]:
    """Return the next times that are meant, of which the first counts."""
    future = set[datetime]()
    for on in _dates(parts, now.date()):
        future.update(
            one
            for one in _times_on(
                on,
                parts,
                readings,
                now,
                sun,
            )
            if one > now
        )
        if len(future) >= _ENOUGH:
            break
    times = sorted(future)
    if parts.delay is None or parts.delay.is_of_days:
        return times
    distant = _after(parts.delay, now)
    return [one for one in times if abs(one - distant) <= _AGREEING]


def _after(delay: Amount, now: datetime) -> datetime:
    """Return the time after an amount of days of 24 hours and seconds."""
    return (
        now.astimezone(UTC) + timedelta(days=delay.days, seconds=delay.seconds)
    ).astimezone(now.tzinfo)


def _later(day: date, amount: Amount) -> date:
    """Return the day after months and days of the calendar; the last one of a month that has no such day."""
    if amount.months > _MONTHS or amount.days > FURTHEST.days:
        return date.max
    more, month = divmod(
        day.month - 1 + amount.months,
        _MONTHS,
    )
    first = day.replace(
        day=1,
        month=month + 1,
        year=day.year + more,
    )
    last = monthrange(first.year, first.month)[1]
    return first + timedelta(days=min(day.day, last) - 1 + amount.days)


def _times_on(
    on: date,
    parts: _Parts,
    readings: Sequence[int],
    now: datetime,
    sun: SunTimes,
) -> Iterator[datetime]:
    """Yield the times of a day that are meant."""
    if parts.sun is None:
        midnight = datetime.combine(on, time())
        for minutes in readings[:1] if parts.every else readings:
            yield _local(midnight + timedelta(minutes=minutes), now).astimezone(UTC)
    elif event := sun(parts.sun[0], on):
        yield event.astimezone(UTC) + parts.sun[1]


def _moved(parts: _Parts, moment: Moment) -> _Parts:
    """Return parts with what they leave out: the time of day of a moment, or its day and its half of the day.

    A part of the day, such as "tomorrow evening", leaves out a time of day within it.
    """
    if parts.delay is not None:
        return parts
    due = moment.due.hour * _HOUR + moment.due.minute
    with_time = replace(parts, readings=(due,))
    if not parts.has_clock and _fitting_readings(with_time):
        parts = with_time
    if parts.names_days:
        every = parts.every or _every_on(parts.weekdays, moment.every)
        return replace(parts, every=every)
    near = tuple(
        minutes for minutes in parts.readings if abs(minutes - due) <= _NEAR_IN_MINUTES
    )
    if len(near) == 1 and not parts.period:
        parts = replace(parts, readings=near)
    return _on_same_day(parts, moment)


def _on_same_day(parts: _Parts, moment: Moment) -> _Parts:
    """Return parts without a day with that of a moment, on which they come again as it does."""
    parts = replace(parts, every=moment.every)
    on = moment.due.date()
    match moment.every:
        case "":
            return replace(parts, on=on)
        case "month":
            return replace(parts, mday=on.day)
        case "year":
            return replace(
                parts,
                month_day=(on.month, on.day),
            )
        case every if every.endswith(("day", "days")):
            return parts
        case every if "," in every:
            return replace(
                parts,
                weekdays=frozenset(map(int, every.split(","))),
            )
        case _:
            return replace(
                parts,
                weekdays=frozenset({on.weekday()}),
            )


def _every_on(
    weekdays: frozenset[int],
    every: Repetition,
) -> Repetition:
    """Return how something goes on to come again if it is moved to some weekdays."""
    if not weekdays:
        return every
    if every == "workday" or "," in every:
        return "week"
    return "" if every == "day" else every


def _fitting_readings(parts: _Parts) -> Sequence[int]:
    """Return the minutes of the day that a time means, counted from the beginning of its day."""
    if not parts.period:
        return parts.readings or (_LATER_TODAY if parts.day == 0 else (_DEFAULT,))
    part = _PARTS_OF_DAY[parts.period]
    if not parts.readings:
        return [hour * _HOUR for hour in part.usual]
    shifted = {
        minutes + days * _DAY for minutes in parts.readings for days in (-1, 0, 1)
    }
    fitting = (one for one in shifted if one // _HOUR in range(*part.clock))
    return sorted(fitting)


def _dates(
    parts: _Parts,
    today: date,
) -> Iterator[date]:
    """Yield the days that a time may fall on. Its minutes may reach into the next day: yesterday counts, too."""
    base = None
    if parts.delay and parts.delay.is_of_days:
        base = _later(today, parts.delay)
    for days in range(-1, FURTHEST.days + 1):
        on = today + timedelta(days=days)
        if base not in {None, on} or not _fits(
            parts,
            on,
            today,
        ):
            continue
        if parts.plus is None:
            yield on
        elif on >= today:
            yield _later(on, parts.plus)
            return


def _fits(
    parts: _Parts,
    on: date,
    today: date,
) -> bool:
    """Return whether a day is one of those that were named."""
    months = (on.year - today.year) * _MONTHS + on.month - today.month
    weeks = (_monday(on) - _monday(today)).days // _WEEK
    days = (on - today).days
    # The night of today may have begun yesterday.
    is_tonight = bool(parts.period) and parts.day == 0 and days == -1
    is_last = (on + timedelta(days=_WEEK)).month != on.month
    named = (
        parts.day in {None, days} or is_tonight,
        not parts.weekdays or on.weekday() in parts.weekdays,
        parts.week is None or (parts.week == weeks and days >= 0),
        not parts.is_weekend or on.weekday() in _WEEKEND,
        parts.month in {None, months},
        parts.on in {None, on},
        parts.month_day in {None, (on.month, on.day)},
        parts.mday in {None, on.day},
        parts.easter in {None, (on - _easter(on.year)).days},
        parts.nth in {None, (on.day - 1) // _WEEK + 1, _LAST if is_last else None},
        parts.every != "workday" or on.weekday() < _WORKDAYS,
    )
    return all(named)


def _easter(year: int) -> date:
    """Return Easter Sunday, by the Gregorian computus of Meeus, Jones and Butcher."""
    century, rest = divmod(year, 100)
    epact = (
        19 * (year % 19)
        + century
        - century // 4
        - (century - (century + 8) // 25 + 1) // 3
        + 15
    ) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    late = (year % 19 + 11 * epact + 22 * weekday) // 451
    month, day = divmod(
        epact + weekday - 7 * late + 114,
        31,
    )
    return date(
        year,
        month,
        day + 1,
    )


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _is_sure(
    parts: _Parts,
    readings: Sequence[int],
    due: datetime,
    now: datetime,
    *,
    is_only: bool,
) -> bool:
    """Return whether people can only have meant this of all times that fit their words."""
    is_first = due.hour * _HOUR + due.minute == readings[0] % _DAY
    if parts.is_about or _may_be_another_day(
        parts,
        due,
        now,
    ):
        return False
    if parts.sun:
        return True
    # A part of the day means its first time, as long as that is to come.
    if not parts.readings:
        return bool(parts.period) and is_first
    # Midnight of a day may be its beginning or its end.
    if len(readings) == 1:
        return readings[0] < _DAY or parts.is_today or not parts.has_day
    # The hour is in both halves of the day, of which one may be over.
    if parts.is_today:
        return is_only or _is_near(due, now)
    if parts.names_days or parts.delay:
        return readings[0] == _NOON and is_first and not parts.every
    return _is_near(due, now)


def _is_near(due: datetime, now: datetime) -> bool:
    """Return whether a time is near enough to be surely the next one, and not in the night."""
    wait = due.astimezone(UTC) - now.astimezone(UTC)
    return wait <= _NEAR and (due.hour >= _WAKING or wait <= _NEAR_AT_NIGHT)


def _may_be_another_day(
    parts: _Parts,
    due: datetime,
    now: datetime,
) -> bool:
    """Return whether words name the weekday that is today, one that may be another or each one, or no certain day."""
    is_open = parts.week is not None or parts.month is not None
    names_day = parts.every or parts.on or parts.month_day or parts.mday or parts.nth
    if not parts.weekdays or names_day:
        return is_open and not names_day
    if is_open or parts.plus:
        return False
    is_this_week = due.isocalendar()[:2] == now.isocalendar()[:2]
    return (
        due.date() == now.date()
        or parts.doubt > 1
        or (parts.doubt == 1 and is_this_week)
    )


def _local(wall: datetime, now: datetime) -> datetime:
    """Return the time at which clocks show this, or later where they skip it; the first one that is to come of two."""
    both = [
        wall.replace(tzinfo=now.tzinfo, fold=fold).astimezone(UTC) for fold in (0, 1)
    ]
    return next((one for one in both if one > now), both[0]).astimezone(now.tzinfo)


def as_repetition(text: str) -> Repetition:
    """Return how something comes again; empty for what is none of the ways."""
    if re.fullmatch(_REPETITION, text):
        return text
    return ""


def recurs_on(
    day: date,
    first: date,
    every: Repetition,
) -> bool:
    """Return whether what comes again from a first day on comes on another one."""
    match every:
        case "day" | "workday":
            return every == "day" or day.weekday() < _WORKDAYS
        case "week":
            return day.weekday() == first.weekday()
        case "month" | "year":
            return day.day == first.day and (
                every == "month" or day.month == first.month
            )
        case _ if step := _step(every):
            return (day - first) % step == timedelta()
        case _:
            return str(day.weekday()) in every.split(",")


def pause_after(every: Repetition) -> timedelta:
    """Return how long what was due does not come again in any case."""
    return max(
        _step(every) - timedelta(hours=12),
        timedelta(),
    )


def _step(every: Repetition) -> timedelta:
    """Return the time between two of what comes each so many days or weeks; none for other ways."""
    count, _, unit = every.partition(" ")
    if unit:
        return timedelta(days=int(count) * (_WEEK if unit == "weeks" else 1))
    return timedelta()


def exact_words(moment: Moment) -> str:
    """Return words that mean a moment in every language."""
    if not moment.every:
        return moment.due.isoformat()
    fields = _fields(
        moment.due,
        moment.every,
        FALLBACK,
    ) | {"time": f"at {_ISO_CLOCK}{moment.due:%H:%M}"}
    return _every_template(moment.every, FALLBACK).format_map(fields)


def lasting_words(
    words: str,
    moment: Moment,
    language: str,
) -> str:
    """Return words that mean a moment from now on: those that mean it today, if they follow the sun.

    `words` may leave out how it comes again: "half an hour before sunset".
    """
    if not moment.every:
        return exact_words(moment)
    tag = _spoken_language(language)
    days, _, _ = _every_template(moment.every, tag).partition("{time}")
    again = (
        days.format_map(
            _fields(
                moment.due,
                moment.every,
                tag,
            )
        )
        + words
    )
    for one in (words,) if names_days(words, language) else (words, again):
        parts = _read(one, language)
        if parts and parts.sun and parts.every == moment.every:
            return one
    return exact_words(moment)


def spoken_time(
    due: datetime,
    *,
    now: datetime,
    language: str,
    every: Repetition = "",
    has_distance: bool = True,
) -> str:
    """Return a time in words: "At six this evening, in 47 minutes". It `has_distance` if that is less than a day."""
    tag = _spoken_language(language)
    words = WORDS[tag].spoken
    due = due.astimezone(now.tzinfo)
    wait = due.astimezone(UTC) - now.astimezone(UTC)
    is_near = wait < timedelta(days=1) and not every
    if wait.total_seconds() < _SOON and not every:
        return capitalized(words.soon.format(_distance(tag, wait)))
    fields = _fields(
        due,
        every,
        tag,
    )
    if every:
        template = _every_template(every, tag)
    else:
        template = _once_template(
            words,
            due,
            now,
        )
    clock = (words.time if due.minute else words.full_hour).format_map(fields)
    if due.hour == 1 and not due.minute and words.one[0]:
        clock = clock.replace(*words.one)
    # Midnight has a name of its own where no day has to be said that it might not be of.
    if due.hour == due.minute == 0 and (is_near or every in {"day", "workday"}):
        clock = words.midnight
        if every:
            template = template.partition("{time}")[0] + "{time}"
        else:
            template = "{time}"
    text = template.format_map(fields | {"time": clock})
    if has_distance and is_near:
        text = words.delay.format(
            text,
            _distance(tag, wait),
        )
    return capitalized(text)


def _spoken_language(language: str) -> str:
    """Return the language in which times are said."""
    tag = base_language(language)
    if tag in WORDS:
        return tag
    return FALLBACK


def _fields(
    due: datetime,
    every: Repetition,
    tag: str,
) -> dict[str, int | str]:
    """Return the fields of templates but the time; `word` is that of `hour12`."""
    words = WORDS[tag].spoken
    hour12 = due.hour % 12 or 12
    (count, _, unit) = every.partition(" ")
    return {
        "hour": due.hour,
        "hour12": hour12,
        "minute": due.minute,
        "word": next(
            word for word, number in number_words(tag).items() if number == hour12
        ),
        "period": words.periods.split()[due.hour // 6],
        "weekday": _weekday_names(
            words,
            due.weekday(),
            every,
        ),
        "month": LANGUAGES[tag].dates.months.split()[due.month - 1],
        "day": due.day,
        "count": count,
        "amount": _counted(
            tag,
            "day" if unit == "days" else "week",
            int(count),
        )
        if unit
        else "",
    }


def _once_template(
    words: Spoken,
    due: datetime,
    now: datetime,
) -> str:
    days = (due.date() - now.date()).days
    if days <= 1:
        return (words.today, words.tomorrow)[days]
    if days < _WEEK:
        return words.weekday
    return words.date


def _every_template(every: Repetition, tag: str) -> str:
    """Return how a time that comes again is said."""
    templates = WORDS[tag].spoken.every
    (count, _, unit) = every.partition(" ")
    each_second, _, others = templates.get(unit or every, templates["week"]).partition(
        "|"
    )
    if count == "2" or not others:
        return each_second
    return others


def _weekday_names(
    words: Spoken,
    weekday: int,
    every: Repetition,
) -> str:
    """Return the name of a weekday, or of all those on which something comes again."""
    is_weekly = every and not every.endswith(" weeks")
    names = ((is_weekly and words.every_weekdays) or words.weekdays).split()
    if "," in every:
        days = [int(day) for day in every.split(",")]
    else:
        days = [weekday]
    first, *more = (names[day] for day in days)
    *others, last = (
        first.replace("_", " "),
        *(name.rpartition("_")[2] for name in more),
    )
    if others:
        return words.join.format(
            ", ".join(others),
            last,
        )
    return last


def _distance(tag: str, wait: timedelta) -> str:
    """Return a duration in seconds, or in hours and minutes."""
    seconds = max(1, round(wait.total_seconds()))
    hours, minutes = divmod(round(seconds / 60), 60)
    if seconds < _SOON and seconds % 60:
        return _counted(
            tag,
            "second",
            seconds,
        )
    if hours:
        texts = [_counted(tag, "hour", hours)]
    else:
        texts = []
    texts += (
        [
            _counted(
                tag,
                "minute",
                minutes,
            )
        ]
        if minutes
        else []
    )
    if len(texts) > 1:
        return WORDS[tag].spoken.join.format(*texts)
    return texts[0]


def _counted(
    tag: str,
    unit: SpokenUnit,
    count: int,
) -> str:
    """Return a number of units in words."""
    written_out = LANGUAGES[tag].written_out
    forms = WORDS[tag].spoken.units[unit].split("|")
    last = len(forms) - 1
    form = forms[_FORMS.get(written_out.plural(str(count)), last)]
    return f"{count}{written_out.gap}{form}"


def with_feasts(text: str, language: str) -> str:
    """Return a question about a date with the days that are told of feasts: "Christmas" is its first day."""
    for day, names in WORDS[_spoken_language(language)].feasts.items():
        for name in divided(names):
            text = re.sub(rf"\b{name}\b", day, text, flags=re.IGNORECASE)
    return text


def spoken_days(days: int, language: str) -> str:
    """Return a number of days in words."""
    return _counted(_spoken_language(language), "day", days)


def spoken_weekday(day: date, language: str) -> str:
    """Return the name of the weekday of a date."""
    words = WORDS[_spoken_language(language)].spoken
    return capitalized(
        _weekday_names(
            words,
            day.weekday(),
            "",
        )
    )


def spoken_date(
    day: date,
    language: str,
    *,
    is_first: bool = True,
    now: date | None = None,
) -> str:
    """Return a date in words, with its weekday: "Saturday, December 5, 2026".

    It `is_first` if a sentence begins with it; the year is left out of one that is near.
    """
    tag = _spoken_language(language)
    weekday = spoken_weekday(day, language)
    if not is_first:
        weekday = _weekday_names(
            WORDS[tag].spoken,
            day.weekday(),
            "",
        )
    is_near = now is not None and abs((day - now).days) < _NEAR_DAYS
    return f"{weekday}, {LANGUAGES[tag].dates.text(day, has_year=not is_near)}"
