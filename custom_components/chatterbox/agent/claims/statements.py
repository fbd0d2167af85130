"""Cuts an answer into the statements that it makes.

Questions are left out, and what stands in quotation marks becomes `x`: neither says that anything
was done. Knows punctuation and markup; which words matter is a grammar's to say.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from .grammar import Patterns

_LEFT: Final = "\N{LEFT SINGLE QUOTATION MARK}"
_RIGHT: Final = "\N{RIGHT SINGLE QUOTATION MARK}"
_QUOTATION_MARKS: Final = ('""', "“”", "„“", "„”", "””", "«»", "»«", "「」", "『』", "《》")
_QUOTED: Final = re.compile(
    rf"(?<!\w){_LEFT}[^{_LEFT}{_RIGHT}\n]{{1,120}}{_RIGHT}(?!\w)|"  # the right one is an apostrophe too
    + "|".join(f"{left}[^{left}{right}\n]{{1,120}}{right}" for left, right in _QUOTATION_MARKS)
)
_APOSTROPHES: Final = str.maketrans(dict.fromkeys((_LEFT, _RIGHT, "\N{MODIFIER LETTER APOSTROPHE}", "`"), "'"))
_MARKUP: Final = re.compile(r"[*_#~>|¡¿]+")
_DASH: Final = re.compile(r"[^\S\n]+(?:-|\N{EN DASH}|\N{EM DASH})+[^\S\n]+|\N{EM DASH}")
_END: Final = re.compile(r"([.:]+(?=\s|$)|[!?;。]+|\n+)")
_AROUND: Final = re.compile(r"^\W+|\W+$")


def statements(text: str, patterns: Patterns) -> Iterator[str]:
    """Yield what the text states, one statement at a time, in the form that grammars read."""
    for sentence in _sentences(_plain(text).translate(patterns.folds)):
        for part in patterns.breaks.split(sentence):
            if statement := patterns.openings.sub("", _AROUND.sub("", " ".join(part.split()))):
                yield statement


def _plain(text: str) -> str:
    """Return the text in small letters, without quotations, markup and variants of characters."""
    text = _QUOTED.sub("x", unicodedata.normalize("NFKC", text).lower())
    return _DASH.sub(", ", _MARKUP.sub("", text.translate(_APOSTROPHES)))


def _sentences(text: str) -> Iterator[str]:
    """Yield every sentence that is no question."""
    pieces = _END.split(text)
    ends = [*pieces[1::2], ""]
    yield from (sentence for sentence, end in zip(pieces[::2], ends, strict=True) if "?" not in end)
