"""Finds the words for times in a sentence: phrases of known kinds, which cover it by dynamic programming.

The phrases of a language are in `time_words/<language>.toml`. In them, `[...]` may be left out, `(a|b)` is one of
several, and `<...>` stands for words of a kind or for a rule of the language. Decision 52 tells which libraries were
weighed.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict
from unicode_rbnf import FormatPurpose, RbnfEngine

from ...agent.text import fold, read_language_files
from .covering import coverings
from .language import LANGUAGES, number_words

type SunEvent = Literal["sunrise", "sunset"]
type _Unit = Literal["second", "minute", "hour", "day", "week", "fortnight", "month", "year"]
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
    "pause",
    "word",
]
"""The kind of a phrase. Its value is said at `_Words.phrases`."""

FALLBACK: Final = "en"
_UNITS: Final[Mapping[_Unit, tuple[int, int, int]]] = {
    "second": (0, 0, 1),
    "minute": (0, 0, 60),
    "hour": (0, 0, 3600),
    "day": (0, 1, 86400),
    "week": (0, 7, 604800),
    "fortnight": (0, 14, 1209600),
    "month": (1, 0, 0),
    "year": (12, 0, 0),
}
"""Months, days and seconds. Of days, those of the calendar count, unless a part of one is said."""
_COSTS: Final[Mapping[PhraseKind, float]] = {
    "word": 1.0,
    "of": 0.6,
    "article": 0.6,
    "which": 0.6,
    "joint": 0.6,
    "bound": 0.5,
    "vague": 0.4,
    "pause": 0.0,
}
_COST: Final = 0.3
_COST_OF_WEAK: Final = 0.35
_MOST_WAYS: Final = 6
_MOST_PIECES: Final = 3
_PIECE: Final = re.compile(r"[\[\]()|]|<\w+>|[^\[\]()|<]+")
_TOKEN: Final = re.compile(r"\d+|[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+|(?!(?<=[^\W\d_])-[^\W\d_])[^\w\s'\u2019]")
_NUMBER_SIGNS: Final = frozenset("%°度")
_POINTS: Final = frozenset(".,:/")
_PAUSES: Final = frozenset(",.!?，。！？、;")  # noqa: RUF001 Chinese marks
TIME: Final = "<time>"
"""Stands for a time where topics are looked for."""
_NOON: Final = 12
_MIDNIGHT: Final = 24
_SIXTY: Final = 60
_DAYS: Final = 31
_MONTHS: Final = 12
_LAST: Final = -1


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Spoken(_Table):
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
    every_days: str
    every_weeks: str
    """Each so many weeks; before a bar, each second one. The same for days."""
    every_month: str
    every_year: str
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
    units: Mapping[SpokenUnit, str]
    """Forms by plural category, divided by bars: one and other, or one, few and many."""


class _Words(_Table):
    """The words of a language for times, without regard to capitals, accents and apostrophes.

    Phrases are divided by commas. After "~", one is no time by itself: "evening" may be a part of a name.
    """

    ends: str = ""
    """Parts of the day that may end a word for a day."""
    half: str
    """Words after a number or a unit that add a half."""
    about: str = ""
    """Words before an amount that change nothing."""
    or_so: str = ""
    """Words after one."""
    ordinal_ends: str = ""
    """Signs and letters after the digits of an ordinal."""
    last: str
    """Words for the last one, among ordinals."""
    numbers: Mapping[str, float] = {}
    """Numbers of amounts beside those of Unicode CLDR."""
    hours: Mapping[str, int] = {}
    """Hours beside those, of which the forms of "one" are left out, because they may be an article."""
    ordinals: Mapping[str, int] = {}
    """Ordinals beside those of Unicode CLDR."""
    weekdays: tuple[str, ...]
    repeated: tuple[str, ...] = ()
    """Their forms that mean each one."""
    months: tuple[str, ...] = ()
    """Forms beside those of dates."""
    units: Mapping[_Unit, str]
    amounts: Mapping[int, str]
    """Amounts by their minutes."""
    periods: Mapping[str, str]
    """Parts of the day."""
    sun: Mapping[SunEvent, str]
    holidays: Mapping[str, str]
    """Days of the year, by month and day."""
    rules: Mapping[str, str] = {}
    """Parts of phrases, by the names that stand for them there."""
    phrases: Mapping[PhraseKind, Mapping[str, str]]
    """Phrases by kind, and by value: days from today, weeks or months from this one, the minutes of a time or those to
    add to the hour of a clock time, whether the sun is before or after (-1, 1), the doubt about a weekday (1 if it may
    be that of the next week, 2 if it may be each one), or how something comes again."""
    vague: str
    """Words that belong to a time of which nobody knows here what it means."""
    of: str
    """Words within times that mean nothing alone, and may begin one: prepositions."""
    articles: str
    """Those that begin none."""
    determiners: str
    """The same before what nobody knows here, which they tell from others: "next"."""
    bounds: str
    """Words before a time that make it another one: until, except."""
    joints: str
    """Words between two times, either of which may be meant."""
    denials: str
    """Words before a time that is not meant."""
    instead: str
    """Words before the one that is, after that."""
    topics: str
    """A `<time>` among words that make it a part of a text: "about tomorrow"."""
    spoken: Spoken


WORDS: Final = read_language_files(Path(__file__).with_name("time_words"), _Words)
"""Read at import, which Home Assistant does in an executor."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A length of time: months and days of the calendar, and seconds."""

    months: int = 0
    days: int = 0
    seconds: float = 0.0


class Hour(NamedTuple):
    """An hour of the clock."""

    number: int
    is_whole: bool
    """Whether it has no other half of the day."""


type SlotValue = str | float | Amount | Hour | frozenset[int]
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


@dataclass(slots=True)
class PhraseNode[Value]:
    """Phrases by their words and by what stands for words."""

    words: dict[str, PhraseNode[Value]] = field(default_factory=dict)
    slots: dict[str, PhraseNode[Value]] = field(default_factory=dict)
    values: list[Value] = field(default_factory=list)

    def found(self, words: Sequence[str], at: int) -> Iterator[tuple[int, Value]]:
        """Yield the ends and values of the phrases of plain words that begin at a word."""
        node = self
        for end in range(at, len(words)):
            if (following := node.words.get(words[end])) is None:
                return
            node = following
            yield from ((end + 1, value) for value in node.values)

    def add(self, texts: str, value: Value, rules: Mapping[str, str]) -> None:
        """Add the meaning of phrases that are divided by commas."""
        for text in filter(None, map(str.strip, texts.split(","))):
            for way in _ways(deque(_PIECE.findall(text)), rules):
                node = self
                for piece in way:
                    following = node.slots if piece.startswith("<") else node.words
                    node = following.setdefault(piece, PhraseNode())
                node.values.append(value)


def _ways(pieces: deque[str], rules: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return the sequences of words that a phrase stands for, up to the end of a group."""
    found, ways = list[tuple[str, ...]](), list[tuple[str, ...]]([()])
    while pieces:
        match piece := pieces.popleft():
            case ")" | "]":
                break
            case "|":
                found, ways = [*found, *ways], [()]
                continue
            case "(":
                inner = _ways(pieces, rules)
            case "[":
                inner = [(), *_ways(pieces, rules)]
            case _ if (rule := rules.get(piece[1:-1])) and piece[0] == "<":
                inner = _ways(deque(_PIECE.findall(rule)), rules)
            case _ if piece[0] == "<":
                inner = [(piece,)]
            case _:
                inner = [tuple(token.word for token in time_tokens(piece))]
        ways = [(*way, *more) for way in ways for more in inner]
    return [*found, *ways]


class TimeToken(NamedTuple):
    """A word, a number or a sign of a sentence, folded, and where it stands there."""

    word: str
    start: int
    end: int


def time_tokens(text: str) -> list[TimeToken]:
    """Return the words, numbers and signs of a text; each sign of a script without spaces is one."""
    return [TimeToken(fold(found[0]), found.start(), found.end()) for found in _TOKEN.finditer(text)]


@dataclass(frozen=True, eq=False, slots=True)
class Grammar:
    """The phrases of a language."""

    phrases: PhraseNode[_Meaning]
    topics: PhraseNode[bool]
    names: Mapping[str, PhraseNode[SlotValue]]
    """Words for what slots stand for, by their names."""
    amounts: PhraseNode[float | None]
    """Pieces of amounts: a half to add, or None for one in words."""
    joins: frozenset[str]
    """Words between the pieces of an amount, and between weekdays."""
    articles: frozenset[str]
    """Words between weekdays, too."""
    ends: frozenset[str]
    whole: frozenset[str]
    """Words for days, which those may follow."""

    def tokens(self, text: str) -> list[TimeToken]:
        """Return the words of a text; one for a day and a part of it is divided."""
        found = list[TimeToken]()
        for token in time_tokens(text):
            word, start, end = token
            cut = next((len(one) for one in self.ends if word.endswith(one) and word[: -len(one)] in self.whole), 0)
            if cut:
                found += [TimeToken(word[:-cut], start, end - cut), TimeToken(word[-cut:], end - cut, end)]
            else:
                found.append(token)
        return found

    def read(self, tokens: Sequence[TimeToken], *, is_whole: bool) -> Iterator[Sequence[TimePhrase]]:
        """Yield the ways to divide words into phrases, the likeliest first; if `is_whole`, without any others."""
        sentence = _Sentence(self, tokens)

        def spans(start: int) -> Iterator[TimePhrase]:
            yield from sentence.phrases(start)
            if not is_whole:
                yield TimePhrase(start, start + 1, "word")

        for _, phrases in coverings(len(tokens), spans, _cost, _MOST_WAYS):
            yield phrases

    def topics_in(self, tokens: Sequence[TimeToken]) -> set[int]:
        """Return the places of times, which have the sign of a slot, that are a part of a text."""
        sentence, found = _Sentence(self, tokens), set[int]()
        for start in range(len(tokens)):
            for _, _, slots in sentence.matches(self.topics, start):
                found.update(int(at) for name, at in slots.items() if name == "time" and isinstance(at, float))
        return found


def _cost(phrase: TimePhrase) -> float:
    return _COSTS.get(phrase.kind, _COST_OF_WEAK if phrase.is_weak else _COST)


class _Sentence:
    """The words of a sentence, and what slots stand for at each of them."""

    def __init__(self, grammar: Grammar, tokens: Sequence[TimeToken]) -> None:
        self._grammar = grammar
        self._tokens = tokens
        self._words = [token.word for token in tokens]
        self._filled: dict[tuple[str, int], list[tuple[int, SlotValue]]] = {}

    def phrases(self, start: int) -> Iterator[TimePhrase]:
        """Yield the phrases that begin at a word."""
        if self._words[start] in _PAUSES:
            yield TimePhrase(start, start + 1, "pause")
            return
        for end, meaning, slots in self.matches(self._grammar.phrases, start):
            if not self._is_cut(end):
                yield TimePhrase(start, end, meaning.kind, meaning.value, meaning.is_weak, slots)

    def _is_cut(self, end: int) -> bool:
        """Return whether a number goes on after a phrase, or has a unit that is none of time."""
        last, following = self._words[end - 1], self._words[end : end + 2]
        is_number = last.isdecimal() or any(True for _ in self._named("cardinal", end - 1))
        if not following or not last[-1].isalnum():
            return False
        if following[0] in _POINTS and len(following) > 1:
            is_close = self._tokens[end].end == self._tokens[end + 1].start
            return is_close and last.isdecimal() and following[1].isdecimal()
        return following[0] in _NUMBER_SIGNS or (is_number and any(True for _ in self._named("unit", end)))

    def matches[Value](
        self,
        node: PhraseNode[Value],
        at: int,
        slots: TimeSlots = {},  # noqa: B006 never changed
    ) -> Iterator[tuple[int, Value, TimeSlots]]:
        """Yield the ends, meanings and slots of phrases that begin at a word."""
        for value in node.values:
            yield at, value, slots
        if at < len(self._words):
            skips = self._words[at] == "," and at + 1 < len(self._words)
            if following := node.words.get(self._words[at + skips]):
                yield from self.matches(following, at + skips + 1, slots)
        for name, after in node.slots.items():
            for end, filled in self._fill(name[1:-1], at):
                yield from self.matches(after, end, {**slots, name[1:-1]: filled})

    def _fill(self, name: str, at: int) -> list[tuple[int, SlotValue]]:
        if at > len(self._words) or (at == len(self._words) and name != "end"):
            return []
        if (key := (name, at)) not in self._filled:
            self._filled[key] = [*self._found(name, at)]
        return self._filled[key]

    def _found(self, name: str, at: int) -> Iterator[tuple[int, SlotValue]]:
        """Yield where words end that a slot may stand for, and what they mean."""
        match name:
            case "end" if all(word in _PAUSES for word in self._words[at:]):
                yield at, ""
            case "word" if self._words[at].isalpha():
                yield at + 1, ""
            case "time" if self._words[at] == TIME:
                yield at + 1, float(at)
            case "end" | "word" | "time":
                pass
            case "weekdays":
                yield from self._weekdays("weekday", at, frozenset())
            case "repeated_weekdays":
                yield from self._weekdays("repeated", at, frozenset())
            case "amount":
                yield from self._amounts(at)
            case "hour":
                yield from self._hours(at)
            case _:
                yield from self._numbers(name, at) if name in _NUMBERS else self._named(name, at)

    def _named(self, name: str, at: int) -> Iterator[tuple[int, SlotValue]]:
        yield from ((end, value) for end, value, _ in self.matches(self._grammar.names[name], at))

    def _hours(self, at: int) -> Iterator[tuple[int, Hour]]:
        text = self._words[at]
        if text.isdecimal() and len(text) < 3 and (number := int(text)) <= _MIDNIGHT:  # noqa: PLR2004 digits
            yield at + 1, Hour(number, number > _NOON or text.startswith("0"))
        for table, least in (("cardinal", 2), ("hour", 1)):  # "one" may be an article
            for end, value in self._named(table, at):
                if isinstance(value, float) and least <= value <= _MIDNIGHT:
                    yield end, Hour(int(value), value > _NOON)

    def _numbers(self, name: str, at: int) -> Iterator[tuple[int, float]]:
        """Yield the numbers that a slot takes: in digits, with the end of an ordinal, or in words."""
        least, most, digits, tables = _NUMBERS[name]
        text, found = self._words[at], list[tuple[int, SlotValue]]()
        if text.isdecimal() and len(text) in digits:
            ends = [end for end, _ in self._named("ordinal_end", at + 1)] if "ordinal_word" in tables else []
            found += [(end, float(text)) for end in ends] + ([] if name in _BARE else [(at + 1, float(text))])
        match self._words[at : at + 3]:
            case [whole, "." | ",", part] if name == "number" and f"{whole}{part}".isdecimal() and len(part) < 3:  # noqa: PLR2004 digits
                found.append((at + 3, float(f"{whole}.{part}")))
            case _:
                pass
        for table in tables:
            found += self._named(table, at)
        yield from ((end, value) for end, value in found if isinstance(value, float) and least <= value <= most)

    def _weekdays(self, name: str, at: int, before: frozenset[int]) -> Iterator[tuple[int, frozenset[int]]]:
        """Yield several weekdays: "Monday, Wednesday and Friday"."""
        for end, value in (*self._fill(name, at), *(self._fill("weekday", at) if before and name != "weekday" else ())):
            if isinstance(value, float) and int(value) not in before:
                yield end, (days := before | {int(value)})
                following = end
                while (
                    following < len(self._words)
                    and self._words[following] in self._grammar.joins | self._grammar.articles | _PAUSES
                ):
                    following += 1
                if following > end or self._words[end - 1][-1] >= "\u3400":
                    yield from self._weekdays(name, following, days)

    def _amounts(self, at: int, before: Amount = Amount(), pieces: int = 0) -> Iterator[tuple[int, Amount]]:
        """Yield a length of time: "two hours and ten minutes"."""
        if at >= len(self._words) or pieces == _MOST_PIECES:
            return
        for end, value, slots in self.matches(self._grammar.amounts, at):
            match slots:
                case {"number": float(number), "unit": str(unit)}:
                    more = _amount(number + (value or 0), unit)
                case _:
                    more = Amount(seconds=60.0 * (value or 0))
            if more is not None:
                total = Amount(before.months + more.months, before.days + more.days, before.seconds + more.seconds)
                yield end, total
                is_joined = end < len(self._words) and self._words[end] in self._grammar.joins
                yield from self._amounts(end + is_joined, total, pieces + 1)


def _amount(number: float, unit: str) -> Amount | None:
    months, days, seconds = next(value for name, value in _UNITS.items() if name == unit)
    if months:
        return Amount(months=int(number * months)) if (number * months).is_integer() else None
    if days and number.is_integer():
        return Amount(days=int(number) * days)
    return Amount(seconds=number * seconds)


_NUMBERS: Final[Mapping[str, tuple[int, int, tuple[int, ...], tuple[str, ...]]]] = {
    "past": (0, _SIXTY - 1, (1, 2), ("cardinal",)),
    "to": (0, _SIXTY - 1, (1, 2), ("cardinal",)),
    "mm": (0, _SIXTY - 1, (2,), ()),
    "number": (0, 1_000_000, (1, 2, 3, 4, 5, 6), ("cardinal", "number")),
    "year": (1900, 2100, (4,), ()),
    "day": (1, _DAYS, (1, 2), ("cardinal", "ordinal_word")),
    "mday": (1, _DAYS, (1, 2), ()),
    "monthnumber": (1, _MONTHS, (1, 2), ()),
    "ordinal": (1, _DAYS, (1, 2), ("ordinal_word",)),
    "nth": (_LAST, 5, (1,), ("ordinal_word", "nth")),
}
"""The least and the largest number that a slot takes, how many digits it has, and the tables of its words."""
_BARE: Final = frozenset({"ordinal", "nth"})
"""TimeSlots that take no digits alone."""


def _ordinal_words(tag: str) -> Mapping[str, int]:
    """Return the ordinals from one to the last day of a month in words, where Unicode CLDR has them."""
    found, engine = dict[str, int](), RbnfEngine.for_language(tag)
    for value in range(1, _DAYS + 1):
        try:
            texts = engine.format_number(value, FormatPurpose.ORDINAL).text_by_ruleset
        except ValueError:  # this language has none
            return found
        found |= {text: value for text in texts.values() if not any(letter.isdigit() for letter in text)}
    return found


@cache
def grammar(tag: str) -> Grammar:
    """Return the phrases of a language that has words."""
    words = WORDS[tag]
    phrases, topics, amounts = PhraseNode[_Meaning](), PhraseNode[bool](), PhraseNode[float | None]()
    for kind, values in words.phrases.items():
        for value, texts in values.items():
            for text in map(str.strip, texts.split(",")):
                phrases.add(text.removeprefix("~"), _Meaning(kind, value, text.startswith("~")), words.rules)
    phrases.add("<year> - <monthnumber> - <mday>", _Meaning("date"), {})
    phrases.add("[at] t <hour> : <mm>, [at] t <hour> : <mm> : <mm>", _Meaning("clock", "T"), {})
    for day, texts in words.holidays.items():
        phrases.add(texts, _Meaning("date", day), words.rules)
    kinds: Mapping[PhraseKind, str] = {
        "vague": words.vague,
        "of": words.of,
        "article": words.articles,
        "which": words.determiners,
        "bound": words.bounds,
        "joint": words.joints,
        "not": words.denials,
        "but": words.instead,
    }
    for kind, texts in kinds.items():
        phrases.add(texts, _Meaning(kind, is_weak=True), words.rules)
    topics.add(words.topics, value=True, rules=words.rules)
    about, or_so, half = (one.replace(",", "|") for one in (words.about, words.or_so, words.half))
    about, or_so = (f"[{one}]" for one in (about, or_so))
    amounts.add(f"{about}<number> <unit>{or_so}", 0, {})
    amounts.add(f"{about}<number> ({half}) <unit>, <number> <unit> ({half})", 0.5, {})
    for minutes, texts in words.amounts.items():
        amounts.add(", ".join(f"{about}{text}{or_so}" for text in texts.split(",")), minutes, words.rules)
    joins = {words.joints.partition(",")[0], words.spoken.join.replace("{}", "")}
    days = [*words.weekdays, *words.repeated, *words.phrases["day"].values(), *words.phrases["weekday"].values()]
    return Grammar(
        phrases,
        topics,
        _names(words, tag),
        amounts,
        frozenset(fold(one).strip() for one in joins if one.strip()),
        frozenset(fold(one.strip()) for one in words.articles.split(",")),
        frozenset(fold(one.strip()) for one in words.ends.split(",") if one),
        frozenset(fold(one.strip(" ~")) for texts in days for one in texts.split(",")),
    )


def _names(words: _Words, tag: str) -> Mapping[str, PhraseNode[SlotValue]]:
    """Return the words for what slots stand for."""
    months = zip(LANGUAGES[tag].dates.months.split(), words.months or [""] * _MONTHS, strict=True)
    tables: Mapping[str, Sequence[tuple[str, SlotValue]]] = {
        "cardinal": [(text, float(number)) for text, number in number_words(tag).items()],
        "number": [(text, number) for text, number in words.numbers.items()],
        "hour": [(text, float(number)) for text, number in words.hours.items()],
        "ordinal_word": [(text, float(one)) for text, one in {**_ordinal_words(tag), **words.ordinals}.items()],
        "ordinal_end": [(words.ordinal_ends, "")],
        "nth": [(words.last, float(_LAST))],
        "weekday": [(texts, float(day)) for day, texts in enumerate(words.weekdays)],
        "repeated": [(texts, float(day)) for day, texts in enumerate(words.repeated)],
        "month": [(text, float(at)) for at, texts in enumerate(months, start=1) for text in texts],
        "unit": [(texts, unit) for unit, texts in words.units.items()],
        "period": [(texts, period) for period, texts in words.periods.items()],
        "meridiem": [(texts, period) for period, texts in words.periods.items() if period in {"am", "pm"}],
        "sun": [(texts, event) for event, texts in words.sun.items()],
    }
    found: dict[str, PhraseNode[SlotValue]] = {}
    for name, rows in tables.items():
        found[name] = PhraseNode()
        for texts, value in rows:
            found[name].add(texts, value, words.rules)
    return found
