"""The patterns by which a language reports an action, read from `languages/<language>.toml`.

A pattern is a regular expression for one statement as `statements.py` cuts it: lower case, one space between words, an
ASCII apostrophe, no markup, and `x` in place of a quotation. `<name>` in a pattern stands for the word list or the
pattern of that name.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from ..text import character_map, read_language_files

_REFERENCE: Final = re.compile(r"<([a-z_]+)>")
_SHARED: Final = {
    # One more word in the same part of the sentence.
    "gap": r"(?: [^\s,]+)",
    # A year, but no color temperature: what was done in a year is history.
    "year": r"\b(?:1[5-9]\d\d|20[0-4]\d)\b(?! ?k)",
}


class Grammar(BaseModel):
    """How one language reports that an action was done. The fields are those of the language file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reports: tuple[str, ...]
    """Patterns of a statement that an action was done or is under way."""
    vetoes: tuple[str, ...]
    """Patterns that rule a statement out: negations, offers, conditions, earlier actions."""
    openings: str
    """Pattern of words that may precede a statement and add nothing: "okay", "no problem"."""
    breaks: str
    """Pattern of words that begin another statement within a sentence: "but", "so"."""
    closings: str
    """Pattern of the beginning of a closing question after a comma or a dash: "anything else?"."""
    folded: str = ""
    """Pairs of characters: the first is read as the second."""
    words: dict[str, str] = {}
    """Word lists, separated by whitespace; `_` stands for a space, and each word may be a pattern itself."""
    patterns: dict[str, str] = {}
    """Patterns that other patterns refer to."""

    def resolved(self, pattern: str) -> str:
        """Return a pattern with its references replaced."""
        return _REFERENCE.sub(lambda found: self._named(found[1]), pattern)

    def _named(self, name: str) -> str:
        if name in self.words:
            return f"(?:{'|'.join(word.replace('_', ' ') for word in self.words[name].split())})"
        return _SHARED.get(name) or self.resolved(self.patterns[name])


@dataclass(frozen=True, slots=True)
class Patterns:
    """The compiled patterns of a grammar."""

    report: re.Pattern[str]
    veto: re.Pattern[str]
    openings: re.Pattern[str]
    breaks: re.Pattern[str]
    closings: re.Pattern[str]
    characters: dict[int, int]


GRAMMARS: Final = read_language_files(Path(__file__).with_name("languages"), Grammar)
"""By language code (ISO 639-1). Read at import, which Home Assistant does in an executor."""


@cache
def language_patterns(language: str) -> Patterns | None:
    """Return the compiled patterns of a language, or None if it has no file."""
    grammar = GRAMMARS.get(language)
    return compiled(grammar) if grammar else None


def compiled(grammar: Grammar) -> Patterns:
    """Compile the patterns of a grammar."""
    return Patterns(
        report=re.compile(_any(grammar, grammar.reports)),
        veto=re.compile(_any(grammar, grammar.vetoes)),
        openings=re.compile(rf"^(?:{grammar.resolved(grammar.openings)}(?:[\s,]+|$))+"),
        breaks=re.compile(grammar.resolved(grammar.breaks)),
        closings=re.compile(rf",\s*+(?:{grammar.resolved(grammar.closings)})"),
        characters=character_map(grammar.folded),
    )


def _any(grammar: Grammar, patterns: Iterable[str]) -> str:
    return "|".join(f"(?:{grammar.resolved(pattern)})" for pattern in patterns)
