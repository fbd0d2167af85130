"""Tells words among which a PIN may be, so that nobody else sees them. Generous, where `spoken_digits` is strict.

Speech recognition writes "for seven one one", "4711?" and "viertausendsiebenhundertelf": no try is lost to that, and
it is a PIN nevertheless. Knows words and characters; must not know which PIN is right, and keeps nothing of what was
said.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from typing import Final

from ..receipts import base_language
from . import NUMBER_WORDS, WORDINGS
from .answers import NOTHING_NAMED, Answer, Asked, understand_answer
from .pin import SHORTEST_PIN
from .reading import HAN
from .spoken_digits import KnownNumbers, known_numbers, spoken_digits, without_accents

_WORD: Final = re.compile(rf"[{HAN}]|\d+|[^\W\d_{HAN}]+")
"""A Chinese character, or digits, or letters, whatever stands between them."""
_SLOT: Final = re.compile(r"\{\w+\}")


def may_hold_pin(text: str, language: str, asked: Asked = NOTHING_NAMED, *, is_asked_for: bool) -> bool:
    """Tell whether a PIN may be among the words of a person.

    `asked` is what the question named. If it asked for a PIN, words are suspected that hold as many digits, or little
    else than numbers; otherwise only those that are nothing but numbers, a yes or a no, and courtesies: "My PIN is
    4711", not "Wake me at 12:30".
    """
    if understand_answer(text, language, asked) is not Answer.OTHER:
        return False
    if spoken_digits(text, language, asked) is not None:
        return True
    language = base_language(language)
    heard = _heard(_words(text), language)
    is_long = heard.digits >= SHORTEST_PIN or heard.has_large
    if is_asked_for:
        return is_long or (heard.numbers > 0 and heard.numbers >= len(heard.others))
    return is_long and all(word in _courtesies(language) for word in heard.others)


@dataclass(frozen=True, slots=True)
class _Heard:
    """What words are, one by one."""

    digits: int
    """Of all numbers together."""
    numbers: int
    """Words that are numbers, or parts of one."""
    has_large: bool
    """Whether hundreds or thousands are among them."""
    others: tuple[str, ...]


def _heard(words: tuple[str, ...], language: str) -> _Heard:
    known = known_numbers(language) if language in NUMBER_WORDS else _NO_NUMBERS
    large = _large(language)
    digits, numbers, has_large, others = 0, 0, False, list[str]()
    start = 0
    while start < len(words):
        longest = range(min(len(words), start + known.longest), start, -1)
        said = next(
            ((end, known.values[words[start:end]]) for end in longest if words[start:end] in known.values), None
        )
        end, value = said or (start + 1, words[start] if words[start].isdecimal() else "")
        if value:
            digits += len(value)
            numbers += end - start
        elif large.fullmatch(words[start]):
            has_large = True
            numbers += 1
        else:
            others.append(words[start])
        start = end
    return _Heard(digits, numbers, has_large, tuple(others))


def _words(text: str) -> tuple[str, ...]:
    """Return the words of any text, in small letters and without accents, signs and what cannot be seen."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    seen = "".join(char for char in plain if unicodedata.category(char) != "Cf")
    return tuple(_WORD.findall(without_accents(seen)))


_NO_NUMBERS: Final = KnownNumbers({}, frozenset(), frozenset())


@cache
def _large(language: str) -> re.Pattern[str]:
    """Return what matches a word for hundreds or thousands."""
    words = NUMBER_WORDS[language].large if language in NUMBER_WORDS else ()
    return re.compile("|".join(translate(without_accents(word)) for word in words) or r"(?!)")


@cache
def _courtesies(language: str) -> frozenset[str]:
    """Return every word that adds nothing to a PIN, or answers a question."""
    if language not in NUMBER_WORDS:
        return frozenset()
    numbers, wording = NUMBER_WORDS[language], WORDINGS[language]
    answers = (*wording.yes, *wording.yes_alone, *wording.behind_yes, *wording.no, *wording.no_alone)
    return _words_of_templates((*numbers.before, *numbers.after, *answers, *wording.courtesies))


def _words_of_templates(templates: Iterable[str]) -> frozenset[str]:
    return frozenset(word for template in templates for word in _words(_SLOT.sub(" ", template)))
