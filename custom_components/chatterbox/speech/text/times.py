"""Resolves words for a time, such as "at half past six", and says a time back.

A time is read as a sequence of parts (a clock time, a part of the day, a day, a delay, the sun), each by patterns of
`time_words/<language>.toml`, and English is understood in all languages. Decision 52 tells which libraries were
weighed.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from ...agent.text import MOST_UNDERSTOOD, base_language, fold, read_language_files
from .language import LANGUAGES, number_words

type Repetition = Literal["", "day", "workday", "week"]
type SunEvent = Literal["sunrise", "sunset"]
type SunTimes = Callable[[SunEvent, date], datetime | None]
"""Returns when the sun rises or sets on a day; None where it does not."""
type _Unit = Literal["second", "minute", "hour", "day", "week"]
type _SpokenUnit = Literal["second", "minute", "hour"]
type _Kind = Literal[
    "delay", "sun", "clock", "time", "day", "day_period", "weekday", "date", "every", "workday", "period", "unresolved"
]

FURTHEST: Final = timedelta(days=366)
_FALLBACK: Final = "en"
_HOUR: Final = 60
"""Times of the day are in minutes."""
_DAY: Final = 24 * _HOUR
_NOON: Final = 12 * _HOUR
_DEFAULT: Final = 8 * _HOUR
"""The time on a day that was named without one."""
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

_PERIODS: Final[Mapping[str, tuple[int, int, tuple[int, ...]]]] = {
    "am": (0, _NOON, ()),
    "pm": (_NOON, _DAY, ()),
    "dawn": (0, 7 * _HOUR, (5 * _HOUR,)),
    "morning": (0, _NOON, (8 * _HOUR, 10 * _HOUR)),
    "noon": (11 * _HOUR, 15 * _HOUR, (_NOON,)),
    "afternoon": (_NOON, 21 * _HOUR, (15 * _HOUR, 17 * _HOUR)),
    "evening": (15 * _HOUR, 30 * _HOUR, (19 * _HOUR, 21 * _HOUR, 23 * _HOUR)),
    "night": (17 * _HOUR, 30 * _HOUR, (22 * _HOUR, _DAY)),
}
"""The minutes at which a part of the day begins and ends, and those that it means alone: the first that is to come."""
_UNITS: Final[Mapping[_Unit, int]] = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_NUMBER_WORDS: Final = re.compile(r"[^\W\d_]+(?:[ -][^\W\d_]+){0,3}")
_CARDINALS, _FRACTIONS, _HOURS = 0xE000, 0xE100, 0xE200
"""Where the private characters for numbers of CLDR, for other ones and for hours begin."""
_DAY_KINDS: Final = frozenset({"day", "day_period", "every", "workday", "weekday", "date"})
_BARE_KINDS: Final = frozenset({"clock", "sun"})
_MARK: Final = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands for a time where a sentence is compared with patterns."""
_APART: Final = " / "
"""Between times that are not understood together."""
_WEEK: Final = 7
"""Days."""
_WORKDAYS: Final = 5
"""From Monday on."""
_LEAP_YEAR: Final = 2000
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:?\d\d.*", re.IGNORECASE)
_ISO_TIME: Final = re.compile(r"\bt\d")
_ISO_PARTS: Final[Sequence[tuple[_Kind, Mapping[str, int]]]] = (
    ("date", {"~<year>-<mm>-<dd>": 0}),
    ("clock", {r"(?:at )?t?<hour>:<digits>(?::\d\d)?": 0}),
    ("unresolved", {r"~(?:19|20)\d\d": 0}),
)
_NO_TIME: Final = r"(?<=[\d\ue000-\ue2ff])(?:\d| ?[%°度]|[.,:]\d)"
"""After a number, what makes it no time."""
_GLUED: Final = re.compile(r"\d(?=[A-Za-z])")
_SEPARATOR: Final = re.compile(r"[\s,的]*")
_FILLER: Final = re.compile(r"<(\w+)>")
_NAMED: Final = re.compile(r"\(\?P<\w+>")
_FORMS: Final = {"one": 0, "few": 1}
"""Places of the forms by plural category. All others are the last one."""
_APOSTROPHES: Final = str.maketrans(dict.fromkeys("'\N{RIGHT SINGLE QUOTATION MARK}", " "))


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Spoken(_Table):
    """How a time is said. The fields of `today` and the like are described in `spoken_time`."""

    full_hour: str
    time: str
    one: tuple[str, str] = ("", "")
    """Words around one o'clock, and their replacement."""
    midnight: str
    today: str
    tomorrow: str
    weekday: str
    date: str
    every_day: str
    every_workday: str
    every_week: str
    weekdays: str
    every_weekdays: str = ""
    """Their form in `every_week`; that of `weekdays` if empty. Words of one name are joined by underscores."""
    periods: str = "- - - -"
    """The names of the quarters of a day."""
    delay: str
    soon: str
    join: str
    gap: str = " "
    """The text between a number and its unit."""
    units: Mapping[_SpokenUnit, str]
    """Forms by plural category, divided by bars: one and other, or one, few and many."""


class _Words(_Table):
    """The words of a language: regular expressions without regard to capitals, accents and apostrophes.

    An apostrophe is a space. `<hour>`, `<past>` and `<to>` stand for numbers, the latter two for minutes, `<digits>`
    for two digits of minutes; `<amount>`, `<sun>`, `<weekday>`, `<month>` and `<mday>` for those words, `<mm>` for the
    number of a month. After "~", a
    pattern is no time by itself within a sentence: "evening" may be a part of a name.
    """

    spaces: bool = True
    """Whether words are divided by spaces."""
    ends: str = ""
    """Parts of the day that may end a word for a day."""
    half: str
    """Words after a number or a unit that add a half."""
    about: str
    """Words before an amount that change nothing."""
    or_so: str = ""
    """Words after one."""
    numbers: Mapping[str, float] = {}
    """Numbers of amounts beside those of Unicode CLDR."""
    hours: Mapping[str, int] = {}
    """Hours beside those, of which the forms of "one" are left out, because they may be an article."""
    weekdays: tuple[str, ...]
    units: Mapping[_Unit, str]
    amounts: Mapping[str, int]
    """Amounts in one word, in minutes."""
    sun: Mapping[SunEvent, str]
    parts: Mapping[_Kind, Mapping[str, str | int]]
    """Patterns by the kind of part, in the order in which equally long ones count, with values.

    These are days from today, the part of the day, whether the sun is before or after (-1, 1), the minutes of a time,
    the minutes to add to the hour of a clock time, and the doubt about a weekday (see `_Parts`). The kind `unresolved`
    has words that belong to a time of which nobody knows here what it means: "next week", "until Friday". After "~",
    they only follow other words of a time.
    """
    ordinals: str
    """Numbers of days of a month."""
    joints: str
    """Words between times, which mean nothing without them."""
    topics: str
    """`<time>` among words that make it a part of a text: "call about tomorrow"."""
    spoken: _Spoken


_WORDS: Final = read_language_files(Path(__file__).with_name("time_words"), _Words)
"""Read at import, which Home Assistant does in an executor."""


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
    """The parts of a time that were said. At most one of the fields for days is set."""

    delay: float | None = None
    """Seconds."""
    same_time: bool = False
    """Whether a number of days was said as a delay."""
    sun: tuple[SunEvent, timedelta] | None = None
    readings: tuple[int, ...] = ()
    """Minutes of the day; two if the half of the day is open."""
    period: str = ""
    day: int | None = None
    """Days from today."""
    weekday: int | None = None
    on: date | None = None
    month_day: tuple[int, int] | None = None
    every: Repetition = ""
    doubt: int = 0
    """1 if the weekday may be that of the next week, 2 if it may be each one."""
    is_unresolved: bool = False

    @property
    def has_day(self) -> bool:
        """Whether a day was named."""
        return not (self.day is None and self.weekday is None and self.on is None and self.month_day is None)

    @property
    def names_days_only(self) -> bool:
        """Whether days were named without a time of day."""
        return bool(self.has_day or self.every) and not (self.readings or self.sun or self.period or self.same_time)

    @property
    def names_time_only(self) -> bool:
        """Whether a time of day was named without days."""
        return bool(self.readings or self.sun) and not (self.has_day or self.every) and self.delay is None


def prepare(language: str) -> None:
    """Compile the patterns of a language, which takes some 0.2 s: call it in an executor before the first use."""
    for tag in (base_language(language), _FALLBACK):
        if tag in _WORDS:
            _grammar(tag)


def resolve_time(
    words: str, *, now: datetime, language: str, sun: SunTimes, moved: Moment | None = None
) -> Moment | None:
    """Return the time that words mean; None for the past, for over a year ahead, and for words that are no time.

    `now` is in the zone of the home. ISO dates and times are understood, too. What is `moved` keeps its day and its
    repetition if words name a time of day alone that is to come, and its time of day if they name none.
    """
    moment = None
    if _ISO.fullmatch(text := words.strip()):
        try:
            written = datetime.fromisoformat(text)
        except ValueError:
            return None
        due = written.astimezone(now.tzinfo) if written.tzinfo else _local(written, now)
        moment = Moment(due, "", is_sure=True)
    parts = _read(text, language) if moment is None else None
    if parts and not parts.is_unresolved:
        moment = (_moment(_moved(parts, moved), now, sun) if moved else None) or _moment(parts, now, sun)
    return moment if moment and timedelta() < moment.due.astimezone(UTC) - now.astimezone(UTC) <= FURTHEST else None


def names_days(words: str, language: str) -> bool:
    """Return whether words for a time name a day or repeated days."""
    parts = _read(words, language)
    return bool(parts and (parts.has_day or parts.every))


def is_resolved(words: str, language: str) -> bool:
    """Return whether all of the words are understood as a time, be it the past or too far ahead."""
    parts = _read(words, language)
    return bool(_ISO.fullmatch(words.strip()) or (parts and not parts.is_unresolved))


def _read(words: str, language: str) -> _Parts | None:
    """Return the parts of words that are a time as a whole in a language, or else in English."""
    for tag in dict.fromkeys((base_language(language), _FALLBACK)):
        if len(words) <= MOST_UNDERSTOOD and tag in _WORDS:
            grammar = _grammar(tag)
            plain = "".join(letter for letter, _ in grammar.letters(words))
            text, _ = grammar.encoded(" ".join(plain.split()).strip(" .,!?"))
            parts, end, _ = grammar.scan(text, 0)
            if text and end == len(text):
                return parts
    return None


def times_in(sentence: str, language: str, *, joined: bool = False) -> Sequence[TimeInSentence]:
    """Return the times in a sentence, the longest first.

    If `joined`, days and a later time of day ("every day ... at six") are a time as well, before those that it joins.
    All of several times are one, too, which is the last and is not understood.
    """
    tag = base_language(language)
    if tag not in _WORDS or len(sentence) > MOST_UNDERSTOOD:
        return []
    spans, joints, times = _spans(sentence, tag), _WORDS[tag].joints, list[TimeInSentence]()
    pairs = [two for two in pairwise(spans) if joined and _are_joined(sentence, *two, joints)]
    singles = [(span,) for span in sorted(spans, key=lambda span: span[0] - span[1])]
    groups = [(" ", some) for some in (*pairs, *singles)] + ([(_APART, (*spans,))] if joined and len(spans) > 1 else [])
    for gap, some in groups:
        is_resolved = gap == " " and not any(parts.is_unresolved for *_, parts in some)
        rest = _without(sentence, some, "(?!)" if is_resolved else joints)
        words = gap.join(sentence[start:end] for start, end, _ in some)
        times.append(TimeInSentence(words, rest, is_alone=len(some) == len(spans)))
    return times


type _Span = tuple[int, int, _Parts]
"""The begin and the end of a time in a sentence, and its parts."""


def _spans(sentence: str, tag: str) -> Sequence[_Span]:
    """Return the times in a sentence, and bare weekdays beside them, but for topics after another time."""
    grammar = _grammar(tag)
    letters = grammar.letters(sentence)
    text, places = grammar.encoded("".join(letter for letter, _ in letters))
    found, start, are_strong = list[_Span](), 0, False
    while start < len(text):
        parts, end, is_strong = grammar.scan(text, start, in_sentence=True)
        if is_time := is_strong or parts.weekday is not None:
            found.append((letters[places[start]][1], letters[places[end] - 1][1] + 1, parts))
        start, are_strong = end if is_time else start + 1, are_strong or is_strong
    marked, topics = _MARK.join(_around(sentence, found)), _WORDS[tag].topics.replace("<time>", _MARK)
    about = re.finditer(topics, marked, re.IGNORECASE)
    numbers = {marked.count(_MARK, 0, one.start() + one[0].index(_MARK)) for one in about}
    first = next((number for number in range(len(found)) if number not in numbers), len(found))
    others = [span for number, span in enumerate(found) if number not in numbers or number < first]
    return others if are_strong else []


def _around(sentence: str, spans: Sequence[_Span]) -> Sequence[str]:
    """Return the pieces of a sentence before, between and after some times."""
    starts, ends = (0, *(end for _, end, _ in spans)), (*(start for start, _, _ in spans), len(sentence))
    return [sentence[start:end] for start, end in zip(starts, ends, strict=True)]


def _are_joined(sentence: str, days: _Span, time: _Span, joints: str) -> bool:
    """Return whether days and a time of day are one time: not if only numbers and joints divide them."""
    names_both = days[2].names_days_only and time[2].names_time_only
    between = rf"(?:[\s,\d]|(?<!\w)(?:{joints})(?!\w))*+"
    return names_both and re.fullmatch(between, sentence[days[1] : time[0]], re.IGNORECASE) is None


def _without(sentence: str, spans: Sequence[_Span], joints: str) -> str:
    """Return a sentence without some times, the joints before them, and the pauses beside them."""
    pieces, rest = _around(sentence, spans), ""
    before = re.compile(rf"(?:(?<!\w)(?:{joints})[\s,]*)+$", re.IGNORECASE)
    for piece in (*(before.sub("", piece).rstrip("'’") for piece in pieces[:-1]), pieces[-1]):  # noqa: RUF001
        plain = piece.strip(" ,，")  # noqa: RUF001 Chinese comma
        rest += f" {plain}" if rest and plain and plain[0] not in ".!?" else plain
    return rest


def _plain(text: str) -> str:
    return fold(text.translate(_APOSTROPHES)) if not text.isspace() else " "


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A pattern of a part of a time, with what it stands for."""

    kind: _Kind
    value: str | int
    pattern: re.Pattern[str]
    is_weak: bool


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The patterns of a language, and the values of its words."""

    signs: Mapping[str, str]
    """Numbers in words, each with the character that stands for it in patterns and in texts."""
    values: Mapping[str, float]
    """The numbers of the characters."""
    months: Sequence[str]
    spaces: bool
    patterns: Sequence[_Pattern] = ()
    amount: re.Pattern[str] = re.compile("")
    """Finds the pieces of an amount."""
    amounts: Sequence[int] = ()
    """Minutes of the amounts in one word."""

    def letters(self, text: str) -> Sequence[tuple[str, int]]:
        """Return the plain letters of a text, each with its place: "3pm" is "3 pm"."""
        glued = {one.start() + 1 for one in _GLUED.finditer(text)} if self.spaces else set[int]()
        spaced = (f" {_plain(one)}" if at in glued else _plain(one) for at, one in enumerate(text))
        return [(letter, at) for at, letters in enumerate(spaced) for letter in letters]

    def encoded(self, plain: str) -> tuple[str, Sequence[int]]:
        """Return a plain text with one character for each number in words, and the places at which these begin."""
        text, places, at = list[str](), list[int](), 0
        while at < len(plain):
            is_begin = not (self.spaces and at and plain[at - 1].isalpha())
            run = _NUMBER_WORDS.match(plain, at) if is_begin else None
            ends = [at + size for size in range(len(run[0]), 0, -1)] if run else []
            whole = (end for end in ends if not (self.spaces and plain[end : end + 1].isalpha()))
            end, sign = next(
                ((end, sign) for end in whole if (sign := self.signs.get(_spelled(plain[at:end])))), (at + 1, plain[at])
            )
            text.append(sign)
            places.append(at)
            at = end
        return "".join(text), (*places, len(plain))

    def scan(self, text: str, start: int, *, in_sentence: bool = False) -> tuple[_Parts, int, bool]:
        """Return the parts at a place of a plain text, where they end, and whether they are a time by themselves.

        In a sentence, a bare number is none, and neither are unresolved words that only follow others.
        """
        parts, end, at, is_strong = _Parts(), start, start, False
        while True:
            bare = _BARE_KINDS | ({"unresolved"} if at == start else set())
            known = (one for one in self.patterns if not (in_sentence and one.is_weak and one.kind in bare))
            matches = [(found, one) for one in known if (found := one.pattern.match(text, at))]
            for found, one in sorted(matches, key=lambda match: -match[0].end()):
                if (more := self._with(parts, one, found)) is not None:
                    parts, end, is_strong = more, found.end(), is_strong or not one.is_weak
                    break
            else:
                return parts, end, is_strong
            at = separator.end() if (separator := _SEPARATOR.match(text, end)) else end

    def _with(self, parts: _Parts, one: _Pattern, found: re.Match[str]) -> _Parts | None:
        """Return the parts with one more; None if it does not fit to them."""
        if one.kind in _DAY_KINDS:
            return self._with_day(parts, one, found)
        is_open = not (parts.readings or parts.sun)
        match one.kind, one.value:
            case ("delay", _) if parts.delay is None and not parts.same_time:
                days, seconds = self._amount(found["amount"])
                if seconds or not days:
                    return replace(parts, delay=seconds + days * _UNITS["day"])
                return None if parts.has_day else replace(parts, day=days, same_time=True)
            case ("sun", int(sign)) if is_open:
                days, seconds = self._amount(found["amount"]) if sign else (0, 0.0)
                return replace(
                    parts, sun=("sunrise" if found["sunrise"] else "sunset", sign * timedelta(days, seconds))
                )
            case ("clock" | "time", int(minutes)) if is_open and (readings := self._readings(found, minutes)):
                return replace(parts, readings=readings)
            case ("period", str(period)) if not parts.period:
                return replace(parts, period=period)
            case ("unresolved", _):
                return replace(parts, is_unresolved=True)
            case _:
                return None

    def _with_day(self, parts: _Parts, one: _Pattern, found: re.Match[str]) -> _Parts | None:
        is_dated = one.kind == "date" and parts.weekday is not None and not (parts.on or parts.month_day or parts.every)
        if (parts.has_day and not is_dated) or (parts.every and one.kind in {"every", "workday"}):
            return None
        match one.kind, one.value:
            case ("day", int(day)):
                return replace(parts, day=day)
            case ("day_period", str(period)):
                return None if parts.period else replace(parts, day=0, period=period)
            case ("every", str(period)):
                weekday = _weekday(found)
                every: Repetition = "day" if weekday is None else "week"
                return replace(parts, every=every, weekday=weekday, period=period or parts.period)
            case ("workday", _):
                return replace(parts, every="workday")
            case ("weekday", int(doubt)):
                return replace(parts, weekday=_weekday(found), doubt=doubt)
            case _:
                return self._with_date(parts, found.groupdict())

    def _with_date(self, parts: _Parts, groups: Mapping[str, str | None]) -> _Parts | None:
        name, day, year = groups["month"] or "", groups.get("mday") or "1", groups.get("year")
        month = int(name) if name.isdecimal() else self.months.index(name) + 1
        try:
            on = date(int(year or _LEAP_YEAR), month, int(self._value(day)))
        except ValueError:
            return None
        return replace(parts, on=on) if year else replace(parts, month_day=(on.month, on.day))

    def _value(self, number: str) -> float:
        return self.values[number] if number in self.values else float(number.replace(",", "."))

    def _amount(self, text: str) -> tuple[int, float]:
        """Return the days of the calendar and the seconds of an amount."""
        days, seconds = 0, 0.0
        for piece in self.amount.finditer(text):
            if not piece["number"]:
                seconds += 60 * next(minutes for at, minutes in enumerate(self.amounts) if piece[f"amount{at}"])
                continue
            value = self._value(piece["number"]) + (0.5 if piece["half_more"] or piece["and_half"] else 0)
            unit = next(length for name, length in _UNITS.items() if piece[name])
            if unit >= _UNITS["day"] and value.is_integer():
                days += int(value) * unit // _UNITS["day"]
            else:
                seconds += value * unit
        return days, seconds

    def _readings(self, found: re.Match[str], minutes: int) -> tuple[int, ...]:
        """Return the minutes of the day that a clock time means: two if its half is open, none if it is no time."""
        groups, text = found.groupdict(), found.groupdict().get("hour") or ""
        hour, past, to = (int(self._value(groups.get(one) or "0")) for one in ("hour", "past", "to"))
        start = hour * _HOUR + minutes + past - to
        if max(hour * _HOUR, start if text else 0) > _DAY or max(past, to) >= _HOUR:
            return ()
        is_whole = not text or hour == 0 or hour * _HOUR > _NOON or text.startswith("0") or _ISO_TIME.search(found[0])
        return (start,) if is_whole else (start, start + _NOON)


def _spelled(words: str) -> str:
    """Return a number in words as the tables have it."""
    return " ".join(words.replace("-", " ").split())


def _weekday(found: re.Match[str]) -> int | None:
    groups = found.groupdict()
    return next((day for day in range(7) if groups.get(f"weekday{day}")), None)


@cache
def _grammar(tag: str) -> _Grammar:
    """Return the patterns of a language that has words."""
    words = _WORDS[tag]
    cardinals = {_plain(word): chr(_CARDINALS + number) for word, number in number_words(tag).items()}
    fractions = {
        _plain(word): (chr(_FRACTIONS + at), number) for at, (word, number) in enumerate(words.numbers.items())
    }
    hours = {_plain(word): chr(_HOURS + hour) for word, hour in words.hours.items()}
    values = {sign: float(ord(sign) - _CARDINALS) for sign in cardinals.values()}
    values |= {sign: float(ord(sign) - _HOURS) for sign in hours.values()} | dict(fractions.values())
    signs = cardinals | {word: sign for word, (sign, _) in fractions.items()} | hours
    amounts = sorted(words.amounts.items(), key=lambda one: -len(one[0]))
    grammar = _Grammar(signs, values, [_plain(month) for month in LANGUAGES[tag].dates.months.split()], words.spaces)

    def plain(pattern: str) -> str:
        return grammar.encoded(fold(pattern))[0]

    pieces = [f"(?P<amount{at}>{plain(one)})" for at, (one, _) in enumerate(amounts)]
    units = "|".join(f"(?P<{unit}>{plain(one)})" for unit, one in words.units.items())
    half, join = plain(words.half), plain(words.spoken.join.replace("{}", "").strip())
    number = rf"(?P<number>\d{{1,6}}(?:[.,]\d{{1,2}})?|[{''.join(values)}])"
    piece = "|".join((*pieces, f"{number}(?P<half_more>{half})? ?(?:{units})(?P<and_half>{half})?"))
    unnamed = _NAMED.sub("(?:", piece)
    some = rf"(?:{unnamed})(?:[\s,]*(?:{join}\s*)?(?:{unnamed})){{0,{len(_UNITS) - 1}}}"
    minutes = rf"\d{{1,2}}|[{chr(_CARDINALS)}-{chr(_CARDINALS + _HOUR - 1)}]"
    fillers = {
        "amount": rf"(?:{plain(words.about)})?(?P<amount>{some})(?:{plain(words.or_so)})?",
        "ordinal": plain(words.ordinals),
        "sun": "|".join(f"(?P<{event}>{plain(one)})" for event, one in words.sun.items()),
        "weekday": "|".join(f"(?P<weekday{day}>{plain(one)})" for day, one in enumerate(words.weekdays)),
        "hour": rf"(?P<hour>\d{{1,2}}|[{chr(_CARDINALS + 2)}-{chr(_CARDINALS + 24)}{''.join(hours.values())}])",
        "month": rf"(?P<month>{'|'.join(map(re.escape, grammar.months))})",
        "digits": r"(?P<past>\d\d)",
        "year": r"(?P<year>\d{4})",
        "mm": r"(?P<month>\d{1,2})",
        "dd": r"(?P<mday>\d\d)",
        **{name: rf"(?P<{name}>{minutes})" for name in ("past", "to", "mday")},
    }
    begin, end = (r"(?<!\w)", rf"(?!\w|{_NO_TIME})") if words.spaces else ("", rf"(?!{_NO_TIME})")
    joint = rf"(?=(?:{plain(words.ends)})(?!\w))" if words.ends else "(?!)"
    begin, end = f"(?:{begin}|{joint})", f"(?:{end}|{joint})"
    patterns = [
        _Pattern(kind, value, re.compile(f"{begin}(?:{filled}){end}"), is_weak=at > 0 or text.startswith("~"))
        for kind, texts in (*_ISO_PARTS, *words.parts.items())
        for text, value in texts.items()
        for at, option in enumerate(text.split("|~"))
        for named in [_FILLER.sub(lambda name: f"(?:{fillers[name[1]]})", plain(option.removeprefix("~")))]
        for filled in [_NAMED.sub("(?:", named) if kind == "unresolved" else named]  # it may hold several of a kind
    ]
    return replace(grammar, patterns=patterns, amount=re.compile(piece), amounts=[minutes for _, minutes in amounts])


def _moment(parts: _Parts, now: datetime, sun: SunTimes) -> Moment | None:
    """Return the next time that parts mean."""
    zone, today = now.tzinfo, now.date()
    if (parts.day or 0) > FURTHEST.days or (parts.delay or 0) > FURTHEST.total_seconds():
        return None
    has_clock, delay = bool(parts.readings or parts.sun), timedelta(seconds=parts.delay or 0)
    if parts.delay is not None and not has_clock:
        is_alone = not (parts.has_day or parts.every or parts.period)
        return Moment((now.astimezone(UTC) + delay).astimezone(zone), "", is_sure=True) if is_alone else None
    if parts.day is not None and parts.same_time and not has_clock and not parts.period:
        return Moment(_local(now.replace(tzinfo=None) + timedelta(days=parts.day), now), "", is_sure=True)
    readings, times = _fitting_readings(parts), list[datetime]()
    for on in _dates(parts, today):
        if parts.sun is None:
            midnight = datetime.combine(on, time())
            times += [
                _local(midnight + timedelta(minutes=minutes), now)
                for minutes in (readings[:1] if parts.every else readings)
            ]
        elif event := sun(parts.sun[0], on):
            times.append(event.astimezone(UTC) + parts.sun[1])
    future = sorted(one for one in {one.astimezone(UTC) for one in times} if one > now)
    if parts.delay is not None:
        future = [one for one in future if abs(one - now.astimezone(UTC) - delay) <= _AGREEING]
    if not future:
        return None
    due = future[0].astimezone(zone)
    is_sure = _is_sure(parts, readings, due, now, is_only=len(future) == 1)
    names_hour = bool(parts.readings) and not _may_be_in_a_week(parts, due, now)
    other = future[1].astimezone(zone) if len(parts.readings) > 1 and len(readings) > 1 and len(future) > 1 else None
    return Moment(due, parts.every, is_sure, names_hour, other if not parts.every else None)


def _moved(parts: _Parts, moment: Moment) -> _Parts:
    """Return parts with what they leave out: the time of day of a moment, or its day and its half of the day.

    A part of the day, such as "tomorrow evening", leaves out a time of day within it.
    """
    due, on = moment.due.hour * _HOUR + moment.due.minute, moment.due.date()
    if parts.delay is not None or parts.same_time:
        return parts
    names_days = parts.has_day or parts.every
    remaining: Repetition = "week" if moment.every == "workday" and parts.weekday is not None else moment.every
    parts = replace(parts, every=parts.every or remaining)
    with_time = replace(parts, readings=(due,))
    parts = with_time if not (parts.readings or parts.sun) and _fitting_readings(with_time) else parts
    if names_days:
        return parts
    near = tuple(minutes for minutes in parts.readings if abs(minutes - due) <= _NEAR_IN_MINUTES)
    readings = near if len(near) == 1 and not parts.period else parts.readings
    if moment.every:
        weekday = on.weekday() if moment.every == "week" else None
        return replace(parts, readings=readings, weekday=weekday)
    return replace(parts, readings=readings, on=on)


def _fitting_readings(parts: _Parts) -> Sequence[int]:
    """Return the minutes of the day that a time means, counted from the beginning of its day."""
    if not parts.period:
        return parts.readings or (_DEFAULT,)
    begin, end, usual = _PERIODS[parts.period]
    if not parts.readings:
        return usual
    shifted = {minutes + days * _DAY for minutes in parts.readings for days in (-1, 0, 1)}
    return sorted(minutes for minutes in shifted if begin <= minutes < end)


def _dates(parts: _Parts, today: date) -> Sequence[date]:
    """Return the days that a time may fall on. Its minutes may reach into the next day: yesterday counts, too."""
    named = [parts.on] if parts.on else list[date]()
    if parts.month_day:
        years, (month, day) = (today.year, today.year + 1), parts.month_day
        named = [date(year, month, day) for year in years if day <= monthrange(year, month)[1]]
    if parts.on or parts.month_day:
        return [on for on in named if parts.weekday in {None, on.weekday()}]
    if parts.every == "workday" and parts.day is None:
        week = (today + timedelta(days=day) for day in range(-1, _WEEK))
        return [on for on in week if on.weekday() < _WORKDAYS]
    if parts.weekday is not None:
        first = today + timedelta(days=(parts.weekday - today.weekday()) % 7)
        return [first + timedelta(days=days) for days in (-7, 0, 7)]
    days = (
        range(-1, 3) if parts.day is None else range(-1 if parts.period else 0, 1) if parts.day == 0 else (parts.day,)
    )
    return [today + timedelta(days=day) for day in days]


def _is_sure(parts: _Parts, readings: Sequence[int], due: datetime, now: datetime, *, is_only: bool) -> bool:
    """Return whether people can only have meant this of all times that fit their words."""
    is_today = parts.day == 0
    if _may_be_in_a_week(parts, due, now):
        return False
    if parts.sun:
        return True
    if not parts.readings:
        return bool(parts.period) and due.hour * _HOUR + due.minute == readings[0] % _DAY
    if len(readings) == 1:
        return readings[0] < _DAY or is_today or not parts.has_day
    if is_today and is_only:
        return True
    if parts.every or (parts.has_day and not is_today):
        return readings[0] >= _NOON and due.hour * _HOUR + due.minute == readings[0] and not parts.every
    wait = due.astimezone(UTC) - now.astimezone(UTC)
    return wait <= _NEAR and (due.hour >= _WAKING or wait <= _NEAR_AT_NIGHT)


def _may_be_in_a_week(parts: _Parts, due: datetime, now: datetime) -> bool:
    """Return whether words name the weekday that is today, or one that may be another or each one."""
    if parts.weekday is None or parts.every or parts.on or parts.month_day:
        return False
    is_this_week = due.isocalendar()[:2] == now.isocalendar()[:2]
    return due.date() == now.date() or parts.doubt > 1 or (parts.doubt == 1 and is_this_week)


def _local(wall: datetime, now: datetime) -> datetime:
    """Return the time at which clocks show this, or later where they skip it; the first one that is to come of two."""
    both = [wall.replace(tzinfo=now.tzinfo, fold=fold).astimezone(UTC) for fold in (0, 1)]
    return next((one for one in both if one > now), both[0]).astimezone(now.tzinfo)


def exact_words(moment: Moment) -> str:
    """Return words that mean a moment in every language."""
    every = {"day": "day", "workday": "weekday", "week": f"{moment.due:%A}"}.get(moment.every)
    return f"every {every} at {moment.due:%H:%M}" if every else moment.due.isoformat()


def spoken_time(
    due: datetime, *, now: datetime, language: str, every: Repetition = "", has_distance: bool = True
) -> str:
    """Return a time in words: "At six this evening, in 47 minutes". It `has_distance` if that is less than a day.

    The templates have these fields: hour, hour12, minute, word (that of `hour12`), period, weekday, month, day, time.
    """
    tag = base_language(language) if base_language(language) in _WORDS else _FALLBACK
    words, due, wait = _WORDS[tag].spoken, due.astimezone(now.tzinfo), due.astimezone(UTC) - now.astimezone(UTC)
    if wait.total_seconds() < _SOON and not every:
        return _capitalized(words.soon.format(_distance(words, tag, wait)))
    weekdays = (every and words.every_weekdays) or words.weekdays
    fields = {
        "hour": due.hour,
        "hour12": (hour12 := due.hour % 12 or 12),
        "minute": due.minute,
        "word": next(word for word, number in number_words(tag).items() if number == hour12),
        "period": words.periods.split()[due.hour // 6],
        "weekday": weekdays.split()[due.weekday()].replace("_", " "),
        "month": LANGUAGES[tag].dates.months.split()[due.month - 1],
        "day": due.day,
    }
    days = (due.date() - now.date()).days
    once = (words.today, words.tomorrow)[days] if days <= 1 else words.weekday if days < _WEEK else words.date
    template = {"": once, "day": words.every_day, "workday": words.every_workday, "week": words.every_week}[every]
    clock = (words.time if due.minute else words.full_hour).format_map(fields)
    clock = clock.replace(*words.one) if due.hour == 1 and not due.minute and words.one[0] else clock
    is_near = wait < timedelta(days=1)
    if due.hour == due.minute == 0 and every != "week" and (is_near or every):
        template, clock = template.partition("{time}")[0] + "{time}" if every else "{time}", words.midnight
    text = template.format_map(fields | {"time": clock})
    return _capitalized(
        words.delay.format(text, _distance(words, tag, wait)) if has_distance and is_near and not every else text
    )


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _distance(words: _Spoken, tag: str, wait: timedelta) -> str:
    """Return a duration in seconds, or in hours and minutes."""
    seconds = max(1, round(wait.total_seconds()))
    hours, minutes = divmod(round(seconds / 60), 60)
    is_exact = seconds < _SOON and seconds % 60
    counts: Mapping[_SpokenUnit, int] = {"second": seconds} if is_exact else {"hour": hours, "minute": minutes}
    plurals, texts = LANGUAGES[tag].written_out.plurals, list[str]()
    for unit, count in counts.items():
        plural = next(plural for pattern, plural in plurals if re.fullmatch(pattern, str(count)))
        forms = words.units[unit].split("|")
        texts += [f"{count}{words.gap}{forms[_FORMS.get(plural, len(forms) - 1)]}"] if count else []
    return words.join.format(*texts) if len(texts) > 1 else texts[0]


def spoken_weekday(day: date, language: str) -> str:
    """Return the name of the weekday of a date."""
    tag = base_language(language) if base_language(language) in _WORDS else _FALLBACK
    return _capitalized(_WORDS[tag].spoken.weekdays.split()[day.weekday()].replace("_", " "))


def spoken_date(day: date, language: str) -> str:
    """Return a date in words, with its weekday: "Saturday, December 5"."""
    tag = base_language(language) if base_language(language) in _WORDS else _FALLBACK
    month = LANGUAGES[tag].dates.months.split()[day.month - 1]
    written = LANGUAGES[tag].dates.pattern.format(day=day.day, month=month, year=day.year)
    return f"{spoken_weekday(day, language)}, {written}"
