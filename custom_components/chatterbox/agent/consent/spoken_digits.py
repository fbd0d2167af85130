"""Understands the digits of a PIN as people say them: "four seven one one", "47 11", "double seven".

Every word has to be understood, and in one way only: what could be two different PINs is none, so
that nobody loses a try to a misunderstanding. Knows words; must not know which PIN is right, and
keeps nothing of what was said.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from ..receipts import base_language
from . import NUMBER_WORDS
from .pin import LONGEST_PIN, SHORTEST_PIN
from .reading import Phrase, phrases_of, words_of
from .wording import NumberWords

_MAX_WORDS: Final = 24
_MAX_CHARACTERS: Final = 200
_PAUSE: Final = re.compile(r"[.,;:!。、]+")
_PAUSED: Final = ","
"""Stands between two words where the speaker paused: what is on both sides is not one number."""
_DIGITS: Final = frozenset("123456789")
_TENS: Final = frozenset(f"{ten}0" for ten in range(2, 10))


def spoken_digits(text: str, language: str) -> str | None:
    """Return the digits of a PIN that was said in a language such as `de` or `pt-BR`.

    None if it is no PIN of `SHORTEST_PIN` to `LONGEST_PIN` digits, if any word is left over, and if it can be read in
    two ways.
    """
    language = base_language(language)
    if language not in NUMBER_WORDS or len(text) > _MAX_CHARACTERS:
        return None
    words = _words_and_pauses(text)
    if words is None or len(words) > _MAX_WORDS:
        return None
    known = _known(language)
    readings = {digits for core in _cores(words, known) for digits in _readings(core, known.values)}
    return readings.pop() if len(readings) == 1 else None


@dataclass(frozen=True, slots=True)
class _Known:
    """The number words of a language, ready to be looked up; all of them without accents."""

    values: Mapping[Phrase, str]
    before: frozenset[Phrase]
    after: frozenset[Phrase]


@cache
def _known(language: str) -> _Known:
    """Spell out the numbers and the courtesies of a language."""
    numbers = NUMBER_WORDS[language]
    said = [(str(number), template) for number, template in _numbers(numbers)]
    said += [
        (str(digit) * times, f"{repeat} ({word}|{digit})")
        for repeat, times in numbers.repeats.items()
        for digit, word in enumerate(numbers.digits)
    ]
    return _Known(
        values={phrase: digits for digits, template in said for phrase in _phrases((template,))},
        before=_phrases(numbers.before) | {()},
        after=_phrases(numbers.after) | {()},
    )


def _numbers(numbers: NumberWords) -> Iterator[tuple[int, str]]:
    """Yield every number up to 99 with a template of how it is said; some come more than once."""
    yield from enumerate((*numbers.digits, *numbers.teens))
    units = numbers.units or numbers.digits[1:]
    for ten, said in enumerate(numbers.tens, start=2):
        yield ten * 10, said
        for unit, word in enumerate(units, start=1):
            for compound in numbers.compounds:
                yield ten * 10 + unit, compound.replace("{ten}", f"({said})").replace("{unit}", f"({word})")
    yield from numbers.irregular.items()


def _words_and_pauses(text: str) -> Phrase | None:
    """Return the words without accents, with a sign for each pause between them."""
    words: list[str] = []
    for part in _PAUSE.split(unicodedata.normalize("NFKC", text)):
        spoken = words_of(part)
        if spoken is None:
            return None
        if words and spoken:
            words.append(_PAUSED)
        words += map(_without_accents, spoken)
    return tuple(words)


def _without_accents(word: str) -> str:
    """Return a word as somebody writes it who leaves the accents out."""
    return "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))


def _phrases(templates: Iterable[str]) -> frozenset[Phrase]:
    """Return the phrases of templates, without accents."""
    return frozenset(tuple(map(_without_accents, phrase)) for phrase in phrases_of(templates))


def _cores(words: Phrase, known: _Known) -> Iterator[Phrase]:
    """Yield what may be the digits, for each way to leave out the courtesies around them."""
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            if _spoken(words[:start]) in known.before and _spoken(words[end:]) in known.after:
                yield words[start:end]


def _spoken(words: Phrase) -> Phrase:
    """Return the words without the pauses between them."""
    return tuple(word for word in words if word != _PAUSED)


def _readings(words: Phrase, values: Mapping[Phrase, str]) -> set[str]:
    """Return the PINs that the words can be read as.

    A reading parts the words into numbers. Two neighbours that would make one number have to be one: "forty seven" is
    47, never 407.
    """
    # per position, and per start of the number that ends there: the digits so far
    endings: list[dict[int, set[str]]] = [{0: {""}}, *(dict[int, set[str]]() for _ in words)]
    for start, before in enumerate(endings[:-1]):
        if words[start] == _PAUSED:
            endings[start + 1][start + 1] = {said for beginnings in before.values() for said in beginnings}
            continue
        for end in range(start + 1, len(words) + 1):
            if (digits := _value(words[start:end], values)) is None:
                continue
            heads = {
                said + digits
                for last, beginnings in before.items()
                if not _make_one(words[last:start], words[start:end], values)
                for said in beginnings
                if len(said + digits) <= LONGEST_PIN
            }
            endings[end].setdefault(start, set()).update(heads)
    return {said for whole in endings[-1].values() for said in whole if len(said) >= SHORTEST_PIN}


def _value(words: Phrase, values: Mapping[Phrase, str]) -> str | None:
    """Return the digits of one number."""
    if len(words) == 1 and words[0].isascii() and words[0].isdigit():
        return words[0]
    return values.get(words)


def _make_one(first: Phrase, second: Phrase, values: Mapping[Phrase, str]) -> bool:
    """Tell whether two numbers next to each other are, or may be meant as, one: "forty seven", "forty 7"."""
    if not first:
        return False
    return first + second in values or (second[0] in _DIGITS and values.get(first) in _TENS)
