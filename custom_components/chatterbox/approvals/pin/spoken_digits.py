"""Understands the digits of a spoken PIN: "four seven one one", "47 11", "double seven".

Every word has to be understood, and in one way only: words that could be two different
PINs are none, so that nobody loses a try to a misunderstanding. Nothing that was said
is stored or cached.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from ...agent.text import fold, in_ascii_digits, spoken_words, words_by_language
from ...settings.pin_hash import LONGEST_PIN, SHORTEST_PIN
from ..answers.language import ALL_WORDINGS, NumberWords, Phrase, phrases_of
from ..answers.yes_or_no import (
    NOTHING_NAMED,
    Meaning,
    QuestionContext,
    languages_of_answers,
    understand_answer,
)

_MAX_WORDS: Final = 24
_MAX_CHARACTERS: Final = 200
_PAUSE: Final = re.compile(r"[.,;:!。、]+")
_PAUSED: Final = ","
"""Marks a pause between two words: the words around it are not one number."""
_WRITTEN: Final = re.compile(r"\d+(?:[ ,-]{1,2}\d+)*")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_MAX_OTHER_WORDS: Final = 4
_UNSURE: Final = re.compile("[?:/%°\N{FULLWIDTH QUESTION MARK}\N{FULLWIDTH COLON}]")
"""Marks a question, a time or an amount."""
_DIGITS: Final = frozenset("123456789")
_TENS: Final = frozenset(f"{ten}0" for ten in range(2, 10))


def spoken_digits(
    text: str, language: str, question: QuestionContext = NOTHING_NAMED
) -> str | None:
    """Return the digits of a PIN said in a language such as `de` or `pt-BR`, alone or with a yes around it.

    Returns None if it is no PIN of `SHORTEST_PIN` to `LONGEST_PIN` digits, if any word
    is left over, or if it can be read in two ways. `asked` is what the question named,
    so that the yes may repeat it.
    """
    if len(text) > _MAX_CHARACTERS:
        return None
    readings = (
        _digits_in(
            text,
            code,
            question,
        )
        for code in languages_of_answers(language)
    )
    return next(filter(None, readings), None)


_AROUND_PIN: Final = words_by_language(__file__, "words_around.toml")
"""Words, without accents, that may stand around a PIN, as they are said or misheard."""


def whole_digits(
    text: str,
    language: str,
) -> str | None:
    """Return the digits of a PIN that was recognized between a few other words: "My pen is 4711".

    Returns None if another word may mean anything, or if the digits are not written as
    one number or one by one.
    """
    codes = languages_of_answers(language)
    numbers = _WRITTEN.findall(in_ascii_digits(text))
    words = tuple(map(fold, _LETTERS.findall(text)))
    if (
        len(numbers) != 1
        or len(words) > _MAX_OTHER_WORDS
        or not codes
        or _UNSURE.search(text)
    ):
        return None
    if not _AROUND_PIN.issuperset(words):
        return None
    digits = re.sub(
        r"\D",
        "",
        numbers[0],
    )
    if SHORTEST_PIN <= len(digits) <= LONGEST_PIN:
        return digits
    return None


def _digits_in(
    text: str,
    language: str,
    question: QuestionContext,
) -> str | None:
    """Return the digits of a PIN said in one language."""
    words = _words_and_pauses(
        in_ascii_digits(text) if ALL_WORDINGS[language].is_brief else text
    )
    if words is None or len(words) > _MAX_WORDS:
        return None
    surroundings = _Surroundings(
        known_numbers(language),
        language,
        question,
    )
    plain = tuple(map(fold, words))
    readings = {
        digits
        for start, end in surroundings.cores(words, plain)
        for digits in _readings(plain[start:end], surroundings.known.values)
    }
    if len(readings) == 1:
        return readings.pop()
    return None


@dataclass(frozen=True, slots=True)
class KnownNumbers:
    """The number words of a language, without accents."""

    values: Mapping[Phrase, str]
    """Digits by phrase."""
    before: frozenset[Phrase]
    after: frozenset[Phrase]


@cache
def known_numbers(language: str) -> KnownNumbers:
    """Expand the numbers and courtesies of a language."""
    numbers = ALL_WORDINGS[language].numbers
    templates = [(str(number), template) for number, template in _numbers(numbers)]
    templates += [
        (str(digit) * times, f"{repeat} ({word}|{digit})")
        for repeat, times in numbers.repeats.items()
        for digit, word in enumerate(numbers.digits)
    ]
    return KnownNumbers(
        values={
            phrase: digits
            for digits, template in templates
            for phrase in _phrases((template,))
        },
        before=_phrases(numbers.before) | {()},
        after=_phrases(numbers.after) | {()},
    )


def _numbers(numbers: NumberWords) -> Iterator[tuple[int, str]]:
    """Yield every number up to 99 with a template of how it is said; some of them more than once."""
    yield from enumerate((*numbers.digits, *numbers.teens))
    units = numbers.units or numbers.digits[1:]
    for ten, ten_word in enumerate(numbers.tens, start=2):
        yield ten * 10, ten_word
        for unit, word in enumerate(units, start=1):
            for compound in numbers.compounds:
                yield (
                    ten * 10 + unit,
                    compound.replace("<ten>", f"({ten_word})").replace(
                        "<unit>", f"({word})"
                    ),
                )
    yield from numbers.irregular.items()


def _words_and_pauses(text: str) -> Phrase | None:
    """Return the words, with `_PAUSED` for each pause between them."""
    words: list[str] = []
    for part in _PAUSE.split(unicodedata.normalize("NFKC", text)):
        spoken = spoken_words(part)
        if spoken is None:
            return None
        if words and spoken:
            words.append(_PAUSED)
        words += spoken
    return tuple(words)


def _phrases(templates: Iterable[str]) -> frozenset[Phrase]:
    """Return the phrases of templates, without accents."""
    return frozenset(tuple(map(fold, phrase)) for phrase in phrases_of(templates))


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """Words that may stand around the digits: courtesies, and a yes."""

    known: KnownNumbers
    language: str
    question: QuestionContext

    def cores(
        self,
        words: Phrase,
        plain: Phrase,
    ) -> Iterator[tuple[int, int]]:
        """Yield the start and end of the digits. `plain` are the same words without accents."""
        ends = [
            end
            for end in range(len(words) + 1)
            if self._may_follow(words[end:], plain[end:])
        ]
        for start in range(len(words)):
            if self._may_lead(words[:start], plain[:start]):
                yield from ((start, end) for end in ends if end > start)

    def _may_lead(
        self,
        words: Phrase,
        plain: Phrase,
    ) -> bool:
        """Return True if this is a yes and a courtesy, one of them, or nothing."""
        return any(
            _spoken(plain[parted:]) in self.known.before
            and self._agrees(words[:parted], _spoken(plain[:parted])[-1:])
            for parted in range(len(words) + 1)
        )

    def _may_follow(
        self,
        words: Phrase,
        plain: Phrase,
    ) -> bool:
        """Return True if this is a courtesy and a yes, one of them, or nothing."""
        return any(
            _spoken(plain[:parted]) in self.known.after
            and self._agrees(words[parted:], _spoken(plain[parted:])[:1])
            for parted in range(len(words) + 1)
        )

    def _agrees(
        self,
        words: Phrase,
        nearest: Phrase,
    ) -> bool:
        """Return True if the words are a plain yes, or none. A number next to the digits belongs to them."""
        spoken = _spoken(words)
        if not spoken:
            return True
        if _value(nearest, self.known.values) is not None:
            return False
        return (
            understand_answer(" ".join(spoken), self.language, self.question)
            is Meaning.YES
        )


def _spoken(words: Phrase) -> Phrase:
    """Return the words without the pauses between them."""
    return tuple(word for word in words if word != _PAUSED)


def _readings(
    words: Phrase,
    values: Mapping[Phrase, str],
) -> set[str]:
    """Return the PINs that the words can be read as.

    Each reading splits the words into numbers. Two neighbors that could be one number
    have to be one: "forty seven" is 47, never 407.
    """
    # per position, and per start of the number that ends there: the digits so far
    endings = [
        {0: {""}},
        *(dict[int, set[str]]() for _ in words),
    ]
    for start, before in enumerate(endings[:-1]):
        if words[start] == _PAUSED:
            endings[start + 1][start + 1] = {
                joined for heads in before.values() for joined in heads
            }
            continue
        for end in range(start + 1, len(words) + 1):
            digits = _value(words[start:end], values)
            if digits is None:
                continue
            heads = {
                joined + digits
                for last, begun in before.items()
                if not _make_one(words[last:start], words[start:end], values)
                for joined in begun
                if len(joined + digits) <= LONGEST_PIN
            }
            endings[end].setdefault(start, set()).update(heads)
    return {
        joined
        for whole in endings[-1].values()
        for joined in whole
        if len(joined) >= SHORTEST_PIN
    }


def _value(
    words: Phrase,
    values: Mapping[Phrase, str],
) -> str | None:
    """Return the digits of one number."""
    if len(words) == 1 and words[0].isascii() and words[0].isdigit():
        return words[0]
    return values.get(words)


def _make_one(
    first: Phrase,
    second: Phrase,
    values: Mapping[Phrase, str],
) -> bool:
    """Return True if two adjacent numbers are, or may be meant as, one: "forty seven", "forty 7"."""
    if not first:
        return False
    return first + second in values or (
        second[0] in _DIGITS and values.get(first) in _TENS
    )
