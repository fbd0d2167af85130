"""Finds the words for times in a sentence: phrases of known kinds, which cover it by dynamic programming.

The phrases of a language are in `languages/<language>/times.toml`. Decision 52 tells which
libraries were weighed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal, TypedDict

from pydantic import BaseModel, ConfigDict
from unicode_rbnf import FormatPurpose, RbnfEngine

from ...agent.text import fold, read_data_file, read_language_files
from .language import LANGUAGES, number_words
from .phrases import (
    PhraseTree,
    Token,
    accented_words,
    after_comma,
    coverings,
    divided,
    text_tokens,
)

type SunEvent = Literal["sunrise", "sunset"]
type _Unit = Literal[
    "second", "minute", "hour", "day", "week", "fortnight", "month", "year"
]
type SpokenUnit = Literal["second", "minute", "hour", "day", "week"]
type PhraseKind = Literal[
    "clock",
    "time",
    "period",
    "today",
    "day",
    "weekday",
    "plus",
    "date",
    "week",
    "weekend",
    "month",
    "nth",
    "delay",
    "sun",
    "every",
    "ish",
    "vague",
    "bound",
    "joint",
    "of",
    "article",
    "which",
    "not",
    "but",
    "someday",
    "pause",
    "word",
]
"""The kind of a phrase. Its value is said at `_Words.phrases`."""

FALLBACK: Final = "en"


@dataclass(frozen=True, slots=True)
class Amount:
    """A length of time: months and days of the calendar, and seconds."""

    months: int = 0
    days: int = 0
    seconds: float = 0.0

    @property
    def is_of_days(self) -> bool:
        """Whether it is counted in days of the calendar alone."""
        return not self.seconds

    def __add__(self, more: Amount) -> Amount:
        """Return both together."""
        return Amount(
            self.months + more.months,
            self.days + more.days,
            self.seconds + more.seconds,
        )


class _Measures(TypedDict):
    """Units and costs of phrases, as `time_phrases.toml` lists them."""

    units: dict[_Unit, Amount]
    costs: dict[PhraseKind, float]


_MEASURES: Final = read_data_file(__file__, _Measures)
_DAY_IN_SECONDS: Final = 86400
_COST: Final = 0.3
_COST_OF_WEAK: Final = 0.35
_MOST_WAYS: Final = 6
_MOST_PIECES: Final = 3
_NUMBER_SIGNS: Final = frozenset("%°度")
_POINTS: Final = frozenset(".,:/")
_PAUSES: Final = frozenset(",.!?，。！？、;")  # noqa: RUF001 Chinese marks
_HAN: Final = "\u3400"
"""The first sign of a script without spaces."""
TIME: Final = "<time>"
"""Stands for a time where topics are looked for."""
_NOON: Final = 12
_MIDNIGHT: Final = 24
_SIXTY: Final = 60
_DAYS: Final = 31
_MONTHS: Final = 12
_LAST: Final = -1
_WEEKS: Final = 5
_YEARS: Final = range(1900, 2101)
_LONGEST_NUMBER: Final = 6
_LONGEST_FRACTION: Final = 2


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Spoken(_Table):
    """How a time is said.

    The templates have these fields: hour, hour12, minute, word (that of `hour12`),
    period, weekday, month, day, count, amount, time.
    """

    full_hour: str
    time: str
    one: tuple[str, str] = ("", "")
    """Words around one o'clock, and their replacement."""
    midnight: str
    today: str
    tomorrow: str
    weekday: str
    date: str
    every: Mapping[str, str]
    """By how it comes again. Each so many weeks; before a bar, each second one. The same for days."""
    weekdays: str
    every_weekdays: str = ""
    """Their form in `every.week`; that of `weekdays` if empty. Words of one name are joined by underscores."""
    periods: str = "- - - -"
    """The names of the quarters of a day."""
    delay: str
    soon: str
    join: str
    units: Mapping[SpokenUnit, str]
    """Forms by plural category, divided by bars: one and other, or one, few and many."""


class _Words(_Table):
    """The words of a language for times, without regard to capitals, accents and apostrophes.

    Phrases are divided by commas. After "~", one is no time by itself: "evening" may be
    a part of a name.
    """

    ends: str = ""
    """Parts of the day that may end a word for a day."""
    day_ends: str = ""
    """Ends of words for days, of which `<day_name>` has one."""
    half: str
    """Words after a number or a unit that add a half."""
    about: str = ""
    """Words before an amount that change nothing."""
    or_so: str = ""
    """Words after one."""
    accented: str = ""
    """Words that differ from others in an accent alone: "à", which is not "a"."""
    ordinal_ends: str = ""
    """Signs and letters after the digits of an ordinal."""
    numbers: Mapping[str, float] = {}
    """Numbers of amounts beside those of Unicode CLDR."""
    hours: Mapping[str, int] = {}
    """Hours beside those, of which the forms of "one" are left out, because they may be an article."""
    ordinals: Mapping[str, int]
    """Ordinals beside those of Unicode CLDR; -1 is the last one."""
    weekdays: tuple[str, ...]
    repeated: tuple[str, ...] = ()
    """Their forms that mean each one."""
    months: tuple[str, ...] = ("",) * _MONTHS
    """Forms beside those of dates."""
    units: Mapping[_Unit, str]
    amounts: Mapping[int, str]
    """Amounts by their minutes."""
    periods: Mapping[str, str]
    """Parts of the day."""
    sun: Mapping[SunEvent, str]
    rules: Mapping[str, str] = {}
    """Parts of phrases, by the names that stand for them there."""
    phrases: Mapping[PhraseKind, Mapping[str, str]]
    """Phrases by kind, and by value: days from today, weeks or months from this one, the minutes of a time or those to
    add to the hour of a clock time, whether the sun is before or after (-1, 1), the
    doubt about a weekday (1 if it may be that of the next week, 2 if it may be each
    one), the month and day of a date, or its days from Easter, or how something comes
    again."""
    around: Mapping[PhraseKind, str]
    """Words without a time of their own.

    `vague`: of which nobody knows here which time they mean. `of`: that mean nothing
    alone, and may begin a time: prepositions. `article`: that begin none. `which`: the
    same before what nobody knows here, which they tell from others: "next". `bound`:
    that make a time another one: until, except. `joint`: between two times, either of
    which may be meant. `not`: before a time that is not meant. `but`: before the one
    that is, after that. `someday`: a day that nobody knows here, beside a time."""
    feasts: Mapping[str, str] = {}
    """Feasts of some days, by the day that is told of those whose date is asked for."""
    topics: str
    """A `<time>` among words that make it a part of a text: "about tomorrow"."""
    spoken: Spoken


WORDS: Final = read_language_files("times", _Words)
"""Read at import, which Home Assistant does in an executor."""


type Hours = tuple[int, ...]
"""The hours of the day that a number may mean: two if it may be in either half."""
type SlotValue = str | float | Amount | Hours | frozenset[int]
type TimeSlots = Mapping[str, SlotValue]


@dataclass(frozen=True, slots=True)
class _Meaning:
    kind: PhraseKind
    value: str = ""
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """Some words of a sentence that have one meaning, or one that has none here."""

    start: int
    end: int
    kind: PhraseKind
    value: str = ""
    is_weak: bool = False
    slots: TimeSlots = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class Grammar:
    """The phrases of a language."""

    phrases: PhraseTree[_Meaning]
    topics: PhraseTree[bool]
    names: Mapping[str, PhraseTree[SlotValue]]
    """Words for what slots stand for, by their names."""
    amounts: PhraseTree[float | None]
    """Pieces of amounts: a half to add, or None for one in words."""
    joins: frozenset[str]
    """Words between the pieces of an amount."""
    between: frozenset[str]
    """Words and signs between weekdays."""
    ends: frozenset[str]
    whole: frozenset[str]
    """Words for days, which those may follow."""
    day_ends: tuple[str, ...]

    def tokens(self, text: str) -> list[Token]:
        """Return the words of a text; one for a day and a part of it is divided."""
        found = list[Token]()
        for token in text_tokens(text, accented=self.phrases.accented):
            word, start, end = token
            cut = next(
                (
                    len(one)
                    for one in self.ends
                    if word.endswith(one) and word[: -len(one)] in self.whole
                ),
                0,
            )
            if cut:
                found += [
                    Token(
                        word[:-cut],
                        start,
                        end - cut,
                    ),
                    Token(
                        word[-cut:],
                        end - cut,
                        end,
                    ),
                ]
            else:
                found.append(token)
        return found

    def read(
        self, tokens: Sequence[Token], *, is_whole: bool
    ) -> Sequence[Sequence[TimePhrase]]:
        """Return the ways to divide words into phrases, the likeliest first; if `is_whole`, without any others."""
        sentence = _Sentence(self, tokens)

        def spans(start: int) -> Iterator[TimePhrase]:
            yield from sentence.phrases(start)
            if not is_whole:
                yield TimePhrase(
                    start,
                    start + 1,
                    "word",
                )

        return [
            phrases for _, phrases in coverings(len(tokens), spans, _cost, _MOST_WAYS)
        ]

    def topics_in(self, tokens: Sequence[Token]) -> set[SlotValue]:
        """Return the starts of times, which have the sign of a slot, that are a part of a text."""
        sentence = _Sentence(self, tokens)
        starts = range(len(tokens))
        return {
            slots["time"]
            for start in starts
            for _, _, slots in sentence.matches(self.topics, start)
        }


def _cost(phrase: TimePhrase) -> float:
    return _MEASURES["costs"].get(
        phrase.kind,
        _COST_OF_WEAK if phrase.is_weak else _COST,
    )


class _Sentence:
    """The words of a sentence, and what slots stand for at each of them."""

    def __init__(
        self,
        grammar: Grammar,
        tokens: Sequence[Token],
    ) -> None:
        self._grammar = grammar
        self._tokens = tokens
        self._words = [token.word for token in tokens]
        self._filled: dict[tuple[str, int], list[tuple[int, SlotValue]]] = {}

    def phrases(self, start: int) -> Iterator[TimePhrase]:
        """Yield the phrases that begin at a word."""
        if self._words[start] in _PAUSES:
            yield TimePhrase(
                start,
                start + 1,
                "pause",
            )
            return
        for end, meaning, slots in self.matches(self._grammar.phrases, start):
            if not self._is_cut(end):
                yield TimePhrase(
                    start, end, meaning.kind, meaning.value, meaning.is_weak, slots
                )

    def _is_cut(self, end: int) -> bool:
        """Return whether a number goes on after a phrase, or has a unit that is none of time."""
        last = self._words[end - 1]
        following = self._words[end : end + 2]
        if not following or not last[-1].isalnum():
            return False
        if following[0] in _POINTS and len(following) > 1:
            is_close = self._tokens[end].end == self._tokens[end + 1].start
            return is_close and last.isdecimal() and following[1].isdecimal()
        is_number = last.isdecimal() or any(self._named("cardinal", end - 1))
        return following[0] in _NUMBER_SIGNS or (
            is_number and any(self._named("unit", end))
        )

    def matches[Value](
        self, tree: PhraseTree[Value], at: int
    ) -> Iterator[tuple[int, Value, TimeSlots]]:
        """Yield the ends, meanings and slots of phrases that begin at a word."""
        return tree.matches(
            self._words,
            at,
            lambda name, at: (
                (end, {name: value}) for end, value in self._fill(name, at)
            ),
        )

    def _fill(
        self,
        name: str,
        at: int,
    ) -> list[tuple[int, SlotValue]]:
        key = (name, at)
        if key not in self._filled:
            self._filled[key] = [*self._found(name, at)]
        return self._filled[key]

    def _found(
        self,
        name: str,
        at: int,
    ) -> Iterator[tuple[int, SlotValue]]:
        """Yield where words end that a slot may stand for, and what they mean."""
        match name:
            case "end" if all(word in _PAUSES for word in self._words[at:]):
                yield at, ""
            case "word" if self._words[at : at + 1] and self._words[at].isalpha():
                yield at + 1, ""
            case "day_name" if self._words[at : at + 1] and self._words[at][
                1:
            ].endswith(self._grammar.day_ends):
                yield at + 1, ""
            case "time" if self._words[at : at + 1] == [TIME]:
                yield at + 1, float(self._tokens[at].start)
            case "end" | "word" | "day_name" | "time":
                pass
            case "weekdays":
                yield from self._weekdays("weekday", at)
            case "repeated_weekdays":
                yield from self._weekdays("repeated", at)
            case "amount":
                yield from self._amounts(at)
            case "number":
                yield from self._numbers(at)
            case _:
                yield from self._named(name, at)

    def _named(
        self,
        name: str,
        at: int,
    ) -> Iterator[tuple[int, SlotValue]]:
        return self._grammar.names[name].found(
            self._words,
            after_comma(self._words, at),
        )

    def _numbers(self, at: int) -> Iterator[tuple[int, SlotValue]]:
        """Yield the numbers of amounts: in digits, with a fraction, or in words."""
        yield from self._named("number", at)
        match self._words[at : at + 3]:
            case [whole, *others] if (
                whole.isdecimal() and len(whole) <= _LONGEST_NUMBER
            ):
                yield at + 1, float(whole)
                match others:
                    case ["." | ",", part] if (
                        part.isdecimal() and len(part) <= _LONGEST_FRACTION
                    ):
                        yield at + 3, float(f"{whole}.{part}")
                    case _:
                        pass
            case _:
                pass

    def _weekdays(
        self, name: str, at: int, before: frozenset[int] = frozenset()
    ) -> Iterator[tuple[int, frozenset[int]]]:
        """Yield several weekdays: "Monday, Wednesday and Friday"."""
        for end, value in (
            *self._fill(name, at),
            *(self._fill("weekday", at) if before and name != "weekday" else ()),
        ):
            if isinstance(value, frozenset) and not value & before:
                yield end, (days := before | value)
                following = end
                while (
                    following < len(self._words)
                    and self._words[following] in self._grammar.between
                ):
                    following += 1
                if following > end or self._words[end - 1][-1] >= _HAN:
                    yield from self._weekdays(
                        name,
                        following,
                        days,
                    )

    def _amounts(
        self, at: int, before: Amount = Amount(), pieces: int = 0
    ) -> Iterator[tuple[int, Amount]]:
        """Yield a length of time: "two hours and ten minutes"."""
        if at >= len(self._words) or pieces == _MOST_PIECES:
            return
        for end, value, slots in self.matches(self._grammar.amounts, at):
            match slots:
                case {"number": float(number), "unit": Amount() as unit}:
                    more = _amount(number + (value or 0), unit)
                case _:
                    more = Amount(seconds=60.0 * (value or 0))
            if more is not None:
                yield end, before + more
                is_joined = (
                    end < len(self._words) and self._words[end] in self._grammar.joins
                )
                yield from self._amounts(
                    end + is_joined,
                    before + more,
                    pieces + 1,
                )


def _amount(
    number: float,
    unit: Amount,
) -> Amount | None:
    """Return a number of units: of days, those of the calendar count, unless a part of one is said."""
    if unit.months and not (number * unit.months).is_integer():
        return None
    if unit.days and not number.is_integer():
        return Amount(seconds=number * unit.days * _DAY_IN_SECONDS)
    return Amount(
        int(number * unit.months), int(number * unit.days), number * unit.seconds
    )


def _ordinal_words(tag: str) -> Mapping[str, int]:
    """Return the ordinals from one to the last day of a month in words, where Unicode CLDR has them."""
    found = dict[str, int]()
    engine = RbnfEngine.for_language(tag)
    for value in range(1, _DAYS + 1):
        try:
            texts = engine.format_number(value, FormatPurpose.ORDINAL).text_by_ruleset
        except ValueError:  # this language has none
            return found
        found |= {
            text: value
            for text in texts.values()
            if not any(letter.isdigit() for letter in text)
        }
    return found


@cache
def grammar(tag: str) -> Grammar:
    """Return the phrases of a language that has words."""
    words = WORDS[tag]
    phrases = PhraseTree[_Meaning](accented=accented_words(words.accented))
    topics = PhraseTree[bool]()
    amounts = PhraseTree[float | None]()
    for kind, values in words.phrases.items():
        for value, texts in values.items():
            for text in divided(texts):
                phrases.add_all(
                    text.removeprefix("~"),
                    _Meaning(kind, value, text.startswith("~")),
                    words.rules,
                )
    phrases.add_all("<year> - <monthnumber> - <mday>", _Meaning("date"), {})
    phrases.add_all("[at] t <hour> : <mm> [: <number>]", _Meaning("clock", "T"), {})
    for kind, texts in words.around.items():
        phrases.add_all(texts, _Meaning(kind, is_weak=True), words.rules)
    topics.add_all(words.topics, value=True, rules=words.rules)
    about, or_so, half = (
        one.replace(",", "|") for one in (words.about, words.or_so, words.half)
    )
    amounts.add_all(f"[{about}]<number> <unit>[{or_so}]", 0, {})
    amounts.add_all(
        f"[{about}]<number> ({half}) <unit>, <number> <unit> ({half})", 0.5, {}
    )
    for minutes, texts in words.amounts.items():
        amounts.add_all(
            f"[{about}]({texts.replace(',', '|')})[{or_so}]", minutes, words.rules
        )
    joins = words.around["joint"].partition(",")[0], words.spoken.join.replace("{}", "")
    days = [
        *words.weekdays,
        *words.repeated,
        *words.phrases["day"].values(),
        *words.phrases["weekday"].values(),
    ]
    return Grammar(
        phrases,
        topics,
        _names(words, tag),
        amounts,
        _folded(*joins),
        _folded(*joins, words.around["article"]) | _PAUSES,
        _folded(words.ends),
        _folded(*days),
        tuple(_folded(words.day_ends)),
    )


def _folded(*texts: str) -> frozenset[str]:
    return frozenset(fold(one.strip(" ~")) for text in texts for one in divided(text))


type _Rows = Sequence[tuple[str, SlotValue]]
"""Words, divided by commas, and what they mean."""


def _names(
    words: _Words,
    tag: str,
) -> Mapping[str, PhraseTree[SlotValue]]:
    """Return the words for what slots stand for."""
    months = zip(
        LANGUAGES[tag].dates.months.split(),
        words.months,
        strict=True,
    )
    periods = [(texts, period) for period, texts in words.periods.items()]
    tables: Mapping[str, _Rows] = _number_names(words, tag) | {
        "weekday": _weekday_names(words.weekdays),
        "repeated": _weekday_names(words.repeated),
        "month": [
            (text, float(at))
            for at, texts in enumerate(months, start=1)
            for text in texts
        ],
        "unit": [
            (texts, _MEASURES["units"][unit]) for unit, texts in words.units.items()
        ],
        "period": periods,
        "meridiem": [row for row in periods if row[1] in {"am", "pm"}],
        "sun": [(texts, event) for event, texts in words.sun.items()],
    }
    found: dict[str, PhraseTree[SlotValue]] = {}
    for name, rows in tables.items():
        found[name] = PhraseTree()
        for texts, value in rows:
            found[name].add_all(
                texts,
                value,
                words.rules,
            )
    return found


def _weekday_names(names: Sequence[str]) -> _Rows:
    return [(texts, frozenset({day})) for day, texts in enumerate(names)]


def _number_names(
    words: _Words,
    tag: str,
) -> dict[str, _Rows]:
    """Return the names of numbers, by the slots that stand for those of a kind."""
    cardinals = [(text, float(number)) for text, number in number_words(tag).items()]
    named = {
        **_ordinal_words(tag),
        **words.ordinals,
    }
    ordinals = [(text, float(number)) for text, number in named.items()]
    days = _digits(1, _DAYS)
    ends = words.ordinal_ends.replace(",", "|")
    if ends:
        ordinals += [(f"{text} ({ends})", number) for text, number in days]
    # Where "one" may be an article, it is no hour, and no minute ("um 18 Uhr ein").
    hours = [
        *_digits(0, _MIDNIGHT),
        *words.hours.items(),
        *_within(2, _MIDNIGHT, cardinals),
    ]
    counted = [row for row in cardinals if row[1] != 1 or row[0] in words.hours]
    written = _digits(0, _SIXTY - 1)
    minutes = [*written, *_within(0, _SIXTY - 1, counted)]
    return {
        "cardinal": cardinals,
        "number": [*cardinals, *words.numbers.items()],
        "hour": [(text, _hours(text, int(hour))) for text, hour in hours],
        "past": minutes,
        "to": minutes,
        "mm": [row for row in written if len(row[0]) > 1],
        "day": [*days, *_within(1, _DAYS, [*cardinals, *ordinals])],
        "mday": days,
        "monthnumber": _digits(1, _MONTHS),
        "year": [(str(year), float(year)) for year in _YEARS],
        "ordinal": _within(
            1,
            _DAYS,
            ordinals,
        ),
        "nth": _within(
            _LAST,
            _WEEKS,
            ordinals,
        ),
    }


def _digits(
    least: int,
    most: int,
) -> list[tuple[str, float]]:
    """Return numbers in one or two digits."""
    return [
        (text, float(number))
        for number in range(least, most + 1)
        for text in (str(number), f"{number:02}")
    ]


def _within(
    least: int, most: int, numbers: Sequence[tuple[str, float]]
) -> list[tuple[str, float]]:
    return [(text, number) for text, number in numbers if least <= number <= most]


def _hours(text: str, hour: int) -> Hours:
    """Return the hours that a number means: one alone if it has no other half of the day."""
    if hour > _NOON or text.startswith("0"):
        return (hour,)
    return (hour, hour + _NOON)
