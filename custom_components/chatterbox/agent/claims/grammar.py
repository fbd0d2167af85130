"""What is known of a language to tell a claim from every other sentence.

All patterns are regular expressions that read a statement as `statements.py` cuts it: in small
letters, one space between words, an ASCII apostrophe, no markup, and `x` in place of what was in
quotation marks. Knows no language.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

GAP: Final = r"(?: [^\s,]+)"
"""One word more, in the same part of the sentence."""

YEAR: Final = r"\b(?:1[5-9]\d\d|20[0-4]\d)\b(?! ?k)"
"""A year, and no colour temperature: what was done in a year belongs to history."""


def words(listed: str) -> str:
    """Return a pattern for any one of the words, which whitespace parts; `_` stands for a space.

    Each word may be a pattern itself.
    """
    return f"(?:{'|'.join(word.replace('_', ' ') for word in listed.split())})"


@dataclass(frozen=True, slots=True)
class Grammar:
    """How one language claims that something was done, and how it only seems to."""

    claims: tuple[str, ...]
    """A statement with one of these says that something was done, or is under way."""
    vetoes: tuple[str, ...]
    """A statement with one of these claims nothing: it denies, offers, tells of earlier, sets a condition."""
    openings: str
    """What may stand before a statement and adds nothing: "okay", "no problem"."""
    breaks: str
    """Words that begin another statement within a sentence: "but", "so"."""
    closings: str
    """How a question begins that closes a statement, after a comma or a dash: "anything else?"."""
    folded: str = ""
    """Pairs of characters: one, and what is read in its place."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """A grammar, ready to be searched for."""

    claim: re.Pattern[str]
    veto: re.Pattern[str]
    openings: re.Pattern[str]
    breaks: re.Pattern[str]
    closings: re.Pattern[str]
    folds: dict[int, int]


@cache
def patterns_of(grammar: Grammar) -> Patterns:
    """Compile a grammar, once."""
    return Patterns(
        claim=re.compile("|".join(f"(?:{claim})" for claim in grammar.claims)),
        veto=re.compile("|".join(f"(?:{veto})" for veto in grammar.vetoes)),
        openings=re.compile(rf"^(?:{grammar.openings}(?:[\s,]+|$))+"),
        breaks=re.compile(grammar.breaks),
        closings=re.compile(rf",\s*+(?:{grammar.closings})"),
        folds=str.maketrans(grammar.folded[::2], grammar.folded[1::2]),
    )
