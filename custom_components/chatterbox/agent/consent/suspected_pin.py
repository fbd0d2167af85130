"""Tells words among which a PIN may be, so that nobody else sees them. Generous, where `spoken_digits` is strict.

Speech recognition writes "for seven one one", "4711?" and "viertausendsiebenhundertelf": no try is lost to that, and
it is a PIN nevertheless. Knows words and characters; must not know which PIN is right, and keeps nothing of what was
said.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cache
from typing import Final

from ..text import base_language
from . import NUMBER_WORDS, WORDINGS
from .answers import NOTHING_NAMED, Answer, Asked, understand_answer
from .pin import SHORTEST_PIN
from .reading import HAN, Phrase, phrases_of, without_accents
from .spoken_digits import known_numbers, spoken_digits

_WORD: Final = re.compile(rf"[{HAN}]|\d+|[^\W\d_{HAN}]+")
"""A Chinese character, or digits, or letters, whatever stands between them."""
_HARDLY_WEAK: Final = 3
"""Words that are other words, too, are numbers if nothing but so many of them are said: "one one one"."""


def may_hold_pin(text: str, language: str, asked: Asked = NOTHING_NAMED, *, is_asked_for: bool) -> bool:
    """Tell whether a PIN may be among the words of a person.

    `asked` is what the question named. If it asked for a PIN, words are suspected that hold as many digits, or little
    else than numbers; otherwise only those that are nothing but a number, a yes or a no, and courtesies: "My PIN is
    4711", not "Wake me at 12:30".
    """
    if understand_answer(text, language, asked) is not Answer.OTHER:
        return False
    if spoken_digits(text, language, asked) is not None:
        return True
    known = _vocabulary(base_language(language))
    heard = _heard(known.without_idioms(_words(text)), known)
    is_long = heard.digits >= SHORTEST_PIN or (heard.has_large and (heard.digits > 0 or len(heard.numbers) > 1))
    if is_asked_for:
        return is_long or heard.are_mostly_numbers
    return is_long and not heard.others


@dataclass(frozen=True, slots=True)
class _Number:
    """One number that was said."""

    end: int
    """The place behind it."""
    digits: int
    """How many it has for sure; of "tausend" none, of "viertausend" one."""
    is_large: bool = False
    """Whether it is a word for hundreds or thousands."""
    is_weak: bool = False


@dataclass(slots=True)
class _Heard:
    """What words are, one by one."""

    numbers: list[_Number] = field(default_factory=list)
    others: int = 0
    """Words that are neither numbers nor courtesies."""

    @property
    def digits(self) -> int:
        """Return how many digits all numbers have together."""
        return sum(number.digits for number in self.numbers)

    @property
    def has_large(self) -> bool:
        """Tell whether hundreds or thousands are among them."""
        return any(number.is_large for number in self.numbers)

    @property
    def are_mostly_numbers(self) -> bool:
        """Tell whether little else than numbers was said, and more than one digit."""
        if all(number.is_weak for number in self.numbers):
            return len(self.numbers) >= max(_HARDLY_WEAK, self.others)
        if len(self.numbers) > 1:
            return len(self.numbers) >= self.others
        return not self.others and (self.has_large or self.digits > 1)


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """The words of a language, all of them without accents."""

    numbers: Mapping[Phrase, str]
    large: re.Pattern[str]
    weak: frozenset[Phrase]
    idioms: frozenset[Phrase]
    courtesies: frozenset[Phrase]
    """What adds nothing to a PIN, or answers a question."""

    def number_at(self, words: Phrase, start: int) -> _Number | None:
        """Return the longest number that begins there."""
        if end := _longest(words, start, self.numbers):
            return _Number(end, len(self.numbers[words[start:end]]), is_weak=words[start:end] in self.weak)
        word = "".join(words[start : start + 1])
        if word.isdecimal():
            return _Number(start + 1, len(word))
        if self.large.fullmatch(word):
            return _Number(start + 1, int(self._holds_number(word)), is_large=True)
        return None

    def without_idioms(self, words: Phrase) -> Phrase:
        """Return the words without those that say no number, though one stands in them."""
        left: Phrase = ()
        start = 0
        while start < len(words):
            end = _longest(words, start, self.idioms)
            if not end or self._is_number(words, start, end):
                left += words[start : start + 1]
                end = start + 1
            start = end
        return left

    def _is_number(self, words: Phrase, start: int, end: int) -> bool:
        """Tell whether an idiom is part of a number, as it stands beside another: "四万一千"."""
        beside = [place for place in (start - 1, end) if 0 <= place < len(words)]
        return all(self.number_at(words[:end], place) for place in range(start, end)) and any(
            self.number_at(words, place) for place in beside
        )

    def _holds_number(self, word: str) -> bool:
        """Tell whether a word for hundreds or thousands begins or ends with another number: "viertausend"."""
        return any(
            len(said) == 1 and (word.startswith(said[0]) or word.endswith(said[0]))
            for said in self.numbers
            if not said[0].isdecimal()
        )


def _heard(words: Phrase, known: _Vocabulary) -> _Heard:
    heard = _Heard()
    start = 0
    while start < len(words):
        if number := known.number_at(words, start):
            heard.numbers.append(number)
            start = number.end
        elif end := _longest(words, start, known.courtesies):
            start = end
        else:
            heard.others += 1
            start += 1
    return heard


def _longest(words: Phrase, start: int, phrases: Mapping[Phrase, str] | frozenset[Phrase]) -> int:
    """Return where the longest of the phrases ends that begins there; 0 if none does."""
    longest = max(map(len, phrases), default=0)
    ends = range(min(len(words), start + longest), start, -1)
    return next((end for end in ends if words[start:end] in phrases), 0)


def _words(text: str) -> Phrase:
    """Return the words of any text, in small letters and without accents, signs and what cannot be seen."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    seen = "".join(char for char in plain if unicodedata.category(char) != "Cf")
    return tuple(_WORD.findall(without_accents(seen)))


@cache
def _vocabulary(language: str) -> _Vocabulary:
    if language not in NUMBER_WORDS:
        return _Vocabulary({}, re.compile(r"(?!)"), frozenset(), frozenset(), frozenset())
    numbers, wording = NUMBER_WORDS[language], WORDINGS[language]
    answers = (*wording.yes, *wording.yes_alone, *wording.behind_yes, *wording.no, *wording.no_alone)
    return _Vocabulary(
        numbers=known_numbers(language).values,
        large=re.compile("|".join(translate(without_accents(word)) for word in numbers.large)),
        weak=_phrases(numbers.weak),
        idioms=_phrases(numbers.idioms),
        courtesies=_phrases((*numbers.before, *numbers.after, *answers, *wording.courtesies)),
    )


def _phrases(templates: Iterable[str]) -> frozenset[Phrase]:
    return frozenset(_words(" ".join(phrase)) for phrase in phrases_of(templates))
