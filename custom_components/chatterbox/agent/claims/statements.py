"""Cuts an answer into the statements that it makes.

Questions are left out, and what stands in quotation marks becomes `x`: neither says that anything
was done. A question that closes a statement ("..., anything else?") leaves the statement. Every
search takes time in proportion to the text. Knows punctuation and markup; which words matter is a
grammar's to say.
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
_DASH: Final = re.compile(r"(?<![\s.:])[^\S\n]++[-\N{EN DASH}\N{EM DASH}]++[^\S\n]++|\N{EM DASH}")
_END: Final = re.compile(r"((?<![.:])[.:]++(?=\s|$)|[!?;。]++|\n++)")
_AROUND: Final = re.compile(r"^\W++|(?<!\W)\W++$")
_OPENING_MARK: Final = re.compile(f"[{_LEFT}{''.join(left for left, _ in _QUOTATION_MARKS)}]")
_LONGEST_QUOTATION: Final = 122
_SENTENCE_END: Final = re.compile(r"[.:](?=\s)|[!?;。]")
_LONGEST_STATEMENT: Final = 1000
"""Of a statement that arrives in pieces, so many characters are read together."""


def statements(text: str, patterns: Patterns) -> Iterator[str]:
    """Yield what the text states, one statement at a time, in the form that grammars read."""
    for sentence in _sentences(_plain(text).translate(patterns.folds), patterns.closings):
        for part in patterns.breaks.split(sentence):
            if statement := patterns.openings.sub("", _AROUND.sub("", " ".join(part.split()))):
                yield statement


def _plain(text: str) -> str:
    """Return the text in small letters, without quotations, markup and variants of characters."""
    text = _QUOTED.sub("x", unicodedata.normalize("NFKC", text).lower())
    return _DASH.sub(", ", _MARKUP.sub("", text.translate(_APOSTROPHES)))


def _sentences(text: str, closings: re.Pattern[str]) -> Iterator[str]:
    """Yield every sentence that is no question, and what stands before a closing question."""
    pieces = _END.split(text)
    for sentence, end in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        if "?" not in end:
            yield sentence
        elif closing := closings.search(sentence):
            yield sentence[: closing.start()]


def unfinished(line: str) -> str:
    """Return the end of a line with which the text that follows has to be read.

    It begins with a sentence, outside of quotation marks. What stands before it is read the same
    without it. Of a sentence without an end, only the last words are returned.
    """
    text = unicodedata.normalize("NFKC", line)
    unquoted = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), text)
    opening = _OPENING_MARK.search(unquoted, max(0, len(text) - _LONGEST_QUOTATION))
    ends = (end.end() for end in _SENTENCE_END.finditer(unquoted, 0, opening.start() if opening else len(text)))
    begun = text[max(ends, default=0) :]
    return begun if len(begun) <= _LONGEST_STATEMENT else begun[-_LONGEST_STATEMENT:].partition(" ")[2]
