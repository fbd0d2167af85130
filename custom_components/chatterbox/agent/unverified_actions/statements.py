"""Splits an answer into statements.

Questions are dropped and quotations become `x`, since neither reports an action. A question that closes a statement
("..., anything else?") is cut off. Every search is linear in the length of the text.
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
_SENTENCE_END: Final = re.compile(
    r"[.:](?=[\"')*_\N{RIGHT SINGLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}»」』]{0,3}\s)|[!?;。]"
)
_LONGEST_STATEMENT: Final = 1000
"""Characters of an unfinished statement that are kept to be read with its continuation."""


def statements(text: str, patterns: Patterns) -> Iterator[str]:
    """Yield the statements of a text in the form that the patterns of a grammar expect."""
    for sentence in _sentences(_plain(text).translate(patterns.characters), patterns.closings):
        for part in patterns.breaks.split(sentence):
            if statement := patterns.openings.sub("", _AROUND.sub("", " ".join(part.split()))):
                yield statement


def _plain(text: str) -> str:
    """Return the text in lower case, without quotations, markup and variants of characters."""
    text = _QUOTED.sub("x", unicodedata.normalize("NFKC", text).lower())
    return _DASH.sub(", ", _MARKUP.sub("", text.translate(_APOSTROPHES)))


def _sentences(text: str, closings: re.Pattern[str]) -> Iterator[str]:
    """Yield every sentence that is no question, and the part before a closing question."""
    pieces = _END.split(text)
    for sentence, end in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        if "?" not in end:
            yield sentence
        elif closing := closings.search(sentence):
            yield sentence[: closing.start()]


def unfinished(line: str) -> str:
    """Return the last, unfinished sentence of a line, which the text that follows continues.

    It begins outside of quotation marks; of a sentence that is very long, only the last words are returned.
    """
    text = unicodedata.normalize("NFKC", line)
    unquoted = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), text)
    opening = _OPENING_MARK.search(unquoted, max(0, len(text) - _LONGEST_QUOTATION))
    ends = (end.end() for end in _SENTENCE_END.finditer(unquoted, 0, opening.start() if opening else len(text)))
    begun = text[max(ends, default=0) :]
    return begun if len(begun) <= _LONGEST_STATEMENT else begun[-_LONGEST_STATEMENT:].partition(" ")[2]
