"""Cuts text that arrives in pieces into words.

Knows where words end, in scripts with and without spaces; nothing of what they say.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LONGEST_WORD: Final = 200
"""Characters. What is longer is data and no word."""

_BOUNDARY: Final = re.compile(
    r"\s|["
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"  # Chinese, Japanese
    "]"
)
"""Where a word ends: at a space, and in scripts that have none, at every character."""
_PUNCTUATION: Final = ".!?…,;:"


@dataclass(frozen=True, slots=True)
class Word:
    """A word and the one space after it; either may be empty."""

    text: str
    space: str = ""
    is_cut: bool = False
    """True for the beginning of what is too long for a word."""


class WordStream:
    """Holds back the word that is not finished, and of what is too long for a word nothing."""

    def __init__(self) -> None:
        """Begin without text."""
        self._held = ""
        self._cut = False

    def feed(self, text: str) -> Iterator[Word]:
        """Take more text; yield the words that are finished."""
        self._held += text
        start = 0
        for boundary in _BOUNDARY.finditer(self._held):
            character = boundary.group()
            yield from self._end(self._held[start : boundary.start()], character if character.isspace() else "")
            if not character.isspace():
                yield Word(character)
            start = boundary.end()
        self._held = self._held[start:]
        if len(self._held) > LONGEST_WORD:
            yield from self._begin_cut(self._held)
            self._held = self._held[-1:]

    def finish(self) -> Iterator[Word]:
        """Yield what is left."""
        rest, self._held = self._held, ""
        yield from self._end(rest, "")

    def _end(self, text: str, space: str) -> Iterator[Word]:
        if len(text) > LONGEST_WORD:
            yield from self._begin_cut(text)
        if self._cut:  # what ends the sentence counts
            text = text[-1:] if text[-1:] in _PUNCTUATION else ""
            self._cut = False
        if text or space:
            yield Word(text, space)

    def _begin_cut(self, text: str) -> Iterator[Word]:
        if not self._cut:
            yield Word(text[:LONGEST_WORD], is_cut=True)
        self._cut = True
