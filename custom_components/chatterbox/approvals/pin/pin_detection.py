"""Detects text that may contain a PIN, so that it can be redacted. It is generous where `spoken_digits` is strict.

Speech recognition writes "for seven one one", "4711?" and
"viertausendsiebenhundertelf": none of them is compared with the PIN, and each of them
reveals it. Nothing that was said is stored or cached.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cache
from typing import Final

from ...agent.text import HAN, fold, heard_answer
from ...settings.pin_hash import SHORTEST_PIN
from ..answers.language import ALL_WORDINGS, Phrase, language_code, phrases_of
from ..answers.yes_or_no import (
    NOTHING_NAMED,
    Meaning,
    QuestionContext,
    understand_answer,
    understood_language,
)
from .spoken_digits import known_numbers, spoken_digits, whole_digits

_WORD: Final = re.compile(rf"[{HAN}]|\d+|[^\W\d_{HAN}]+")
"""A Chinese character, digits or letters, with any signs between them."""
_MAX_CHARACTERS: Final = 1_000
"""A longer text answers no question, and holds no PIN that was asked for."""
_HARDLY_WEAK: Final = 3
"""So many weak number words, and no other words, are numbers: "one one one"."""


def may_be_pin(
    text: str,
    tag: str,
    question: QuestionContext = NOTHING_NAMED,
    *,
    is_asked_for: bool,
) -> bool:
    """Return True if a PIN may be in a text; `asked` is what the question named.

    If the question asked for a PIN, this is any text with a digit, with two numbers, or
    with little else than numbers; otherwise only a number with a yes, a no or
    courtesies: "My PIN is 4711", not "Wake me at 12:30". In a language of which not all
    numbers are known, any other answer to a question for the PIN may be one.
    """
    if len(text) > _MAX_CHARACTERS:
        return False
    language = understood_language(tag)
    texts = {
        text,
        heard_answer(text, language),
    }  # what a recognizer has added hides no PIN
    if any(
        _may_hold_number(one, language, question, is_asked_for=is_asked_for)
        for one in texts
    ):
        return True
    is_known_in_full = language == tag and not ALL_WORDINGS[language_code(tag)].is_brief
    return (
        is_asked_for
        and not is_known_in_full
        and understand_answer(text, language, question) is Meaning.OTHER
    )


def _may_hold_number(
    text: str,
    language: str,
    question: QuestionContext,
    *,
    is_asked_for: bool,
) -> bool:
    if understand_answer(text, language, question) is not Meaning.OTHER:
        return False
    if (
        spoken_digits(text, language, question) is not None
        or whole_digits(text, language) is not None
    ):
        return True
    known = _vocabulary(language_code(language))
    found = _numbers_in(
        known.without_idioms(_words(text)),
        known,
    )
    is_long = found.digits >= SHORTEST_PIN or (
        found.has_large and (found.digits > 0 or len(found.numbers) > 1)
    )
    if is_asked_for:
        return (
            is_long
            or found.are_mostly_numbers
            or found.certain > 1
            or any(map(str.isdecimal, text))
        )
    return is_long and not found.others


@dataclass(frozen=True, slots=True)
class _Number:
    """A number in a text."""

    end: int
    """Index of the word after it."""
    digits: int
    """Digits that it has for certain; "tausend" has none, "viertausend" one."""
    is_large: bool = False
    """True for a word for hundreds or thousands."""
    is_weak: bool = False


@dataclass(slots=True)
class _Numbers:
    """The numbers and other words of a text."""

    numbers: list[_Number] = field(default_factory=list)
    others: int = 0
    """Words that are neither numbers nor courtesies."""

    @property
    def digits(self) -> int:
        """Return the number of digits of all numbers together."""
        return sum(number.digits for number in self.numbers)

    @property
    def certain(self) -> int:
        """Return how many of them are no other words, too."""
        return sum(not number.is_weak for number in self.numbers)

    @property
    def has_large(self) -> bool:
        """Return True if hundreds or thousands are among them."""
        return any(number.is_large for number in self.numbers)

    @property
    def are_mostly_numbers(self) -> bool:
        """Return True if the text is little else than numbers. One alone may be a digit that is said by itself."""
        if all(number.is_weak for number in self.numbers):
            return len(self.numbers) >= max(_HARDLY_WEAK, self.others)
        return not self.others or len(self.numbers) >= max(self.others, 2)


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """The words of a language, without accents."""

    numbers: Mapping[Phrase, str]
    large: re.Pattern[str]
    weak: frozenset[Phrase]
    idioms: frozenset[Phrase]
    courtesies: frozenset[Phrase]
    """Words that add nothing to a PIN, or answer a question."""

    def number_at(
        self,
        words: Phrase,
        start: int,
    ) -> _Number | None:
        """Return the longest number that begins there."""
        end = _longest(
            words,
            start,
            self.numbers,
        )
        if end:
            return _Number(
                end,
                len(self.numbers[words[start:end]]),
                is_weak=words[start:end] in self.weak,
            )
        word = "".join(words[start : start + 1])
        if word.isdecimal():
            return _Number(start + 1, len(word))
        if self.large.fullmatch(word):
            return _Number(
                start + 1,
                int(self._holds_number(word)),
                is_large=True,
            )
        return None

    def without_idioms(self, words: Phrase) -> Phrase:
        """Return the words without idioms, which contain a number and mean none."""
        left: list[str] = []
        start = 0
        while start < len(words):
            end = _longest(
                words,
                start,
                self.idioms,
            )
            if not end or self._is_number(words, start, end):
                left.append(words[start])
                end = start + 1
            start = end
        return tuple(left)

    def _is_number(
        self,
        words: Phrase,
        start: int,
        end: int,
    ) -> bool:
        """Return True if an idiom is part of a number because it stands beside another one: "四万一千"."""
        beside = [place for place in (start - 1, end) if 0 <= place < len(words)]
        return all(
            self.number_at(words[:end], place) for place in range(start, end)
        ) and any(self.number_at(words, place) for place in beside)

    def _holds_number(self, word: str) -> bool:
        """Return True if a word for hundreds or thousands begins or ends with another number: "viertausend"."""
        return any(
            len(number) == 1
            and (word.startswith(number[0]) or word.endswith(number[0]))
            for number in self.numbers
            if not number[0].isdecimal()
        )


def _numbers_in(words: Phrase, known: _Vocabulary) -> _Numbers:
    found = _Numbers()
    start = 0
    while start < len(words):
        number = known.number_at(words, start)
        if number:
            found.numbers.append(number)
            start = number.end
        elif end := _longest(words, start, known.courtesies):
            start = end
        else:
            found.others += 1
            start += 1
    return found


def _longest(
    words: Phrase, start: int, phrases: Mapping[Phrase, str] | frozenset[Phrase]
) -> int:
    """Return the end of the longest phrase that begins at `start`; 0 if none does."""
    longest = max(
        map(len, phrases),
        default=0,
    )
    ends = range(
        min(len(words), start + longest),
        start,
        -1,
    )
    return next(
        (end for end in ends if words[start:end] in phrases),
        0,
    )


def _words(text: str) -> Phrase:
    """Return the words of any text, folded, without signs and invisible characters."""
    return tuple(_WORD.findall(fold(text)))


@cache
def _vocabulary(language: str) -> _Vocabulary:
    wording = ALL_WORDINGS[language]
    numbers = wording.numbers
    answers = (
        *wording.yes,
        *wording.yes_alone,
        *wording.after_yes,
        *wording.no,
        *wording.no_alone,
    )
    return _Vocabulary(
        numbers=known_numbers(language).values,
        large=re.compile("|".join(translate(fold(word)) for word in numbers.large)),
        weak=_phrases(numbers.weak),
        idioms=_phrases(numbers.idioms),
        courtesies=_phrases(
            (
                *numbers.before,
                *numbers.after,
                *answers,
                *wording.courtesies,
            )
        ),
    )


def _phrases(templates: Iterable[str]) -> frozenset[Phrase]:
    return frozenset(_words(" ".join(phrase)) for phrase in phrases_of(templates))
