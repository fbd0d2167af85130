"""Texts as the words that they are found by, the same for what is stored and for what is asked.

Pure. Knows scripts; must not know databases: each of them would cut texts in its own way, and leave out words of its
own choice. A word is found in any case and without its accents. Chinese, Japanese, Thai and others put no space
between words: there each character counts as one, and those that stand together in a query are found together.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Final

MOST_TERMS: Final = 2_000
"""Words of a text that it is found by, from its beginning."""
_LONGEST: Final = 40
"""Characters of a word that count. PostgreSQL takes a megabyte of words for a row, and these are well below."""
_SHORTEST_BEGINNING: Final = 2
"""Characters of a beginning of a word. Those that are words by themselves have one."""
_MOST_PHRASES: Final = 20
"""Words of a query that count."""
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
"""Of Latin, Greek and Cyrillic letters; marks of other scripts make another letter."""
_ASCII_WORD: Final = re.compile("[a-z0-9]+")
"""What `_runs` finds where there is nothing else."""
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u303f\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that stand together."""

    terms: tuple[str, ...]
    is_beginning: bool = False
    """What is wanted only begins like that: the last word of a query may be half of one."""

    def is_in(self, padded: str) -> bool:
        """Tell whether it stands in a text that `padded` has made."""
        return self.padded in padded

    @property
    def padded(self) -> str:
        """The same as it stands in such a text."""
        return f" {' '.join(self.terms)}{'' if self.is_beginning else ' '}"


def terms_of(text: str) -> list[str]:
    """Return the words of a text, in their order."""
    plain = _plain(text)
    if plain.isascii():  # what most languages are without their accents
        return [word[:_LONGEST] for word in _ASCII_WORD.findall(plain)][:MOST_TERMS]
    return [term for run in _runs(plain) for term in run][:MOST_TERMS]


def phrases_of(words: str) -> tuple[Phrase, ...]:
    """Return what somebody looks for, each phrase once."""
    phrases = [Phrase(tuple(run[:_LONGEST])) for run in _runs(_plain(words))]
    if phrases and len(phrases[-1].terms[0]) >= _SHORTEST_BEGINNING:
        phrases[-1] = Phrase(phrases[-1].terms, is_beginning=True)
    return tuple(dict.fromkeys(phrases))[:_MOST_PHRASES]


def padded(terms: Iterable[str]) -> str:
    """Return words as a text in which a phrase is found as it is."""
    return f" {' '.join(terms)} "


def _plain(text: str) -> str:
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold()))
    return unicodedata.normalize("NFC", plain)


def _runs(plain: str) -> Iterable[list[str]]:
    """Yield each word alone, and characters that are written without spaces as many as stand together."""
    for is_unspaced, characters in groupby(plain, _kind):
        if is_unspaced is not None:
            run = "".join(characters)
            yield list(run) if is_unspaced else [run[:_LONGEST]]


@lru_cache(maxsize=4096)
def _kind(character: str) -> bool | None:
    """Tell whether a letter, mark or digit is of a script without spaces; None for what is no part of a word."""
    if unicodedata.category(character)[0] not in "LMN":
        return None
    return _UNSPACED.match(character) is not None
