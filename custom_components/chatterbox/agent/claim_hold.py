"""Lets an answer through sentence by sentence, up to the first one that claims an action.

For a turn in which nothing has a receipt yet: what was spoken cannot be unsaid, and a voice reads
whole sentences anyway. Without a language nothing is held. Knows words; must not know turns, or what
becomes of a claim.
"""

import re
from typing import Final

from .receipts import claims_action

_SENTENCE: Final = re.compile(
    r".*?(?:[.:!?;][\"')*_\N{RIGHT SINGLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}»」』]{0,3}\s"
    r"|[。\N{FULLWIDTH EXCLAMATION MARK}\N{FULLWIDTH QUESTION MARK}\N{FULLWIDTH SEMICOLON}\n])",
    re.DOTALL,
)
"""A sentence of which the end has been seen."""


class ClaimHold:
    """An answer on its way to the person who hears it.

    Feed it the text as it arrives, then `end` it. What both return, in order, is what may be
    said; `held` is the rest. The text that is let through claims nothing.
    """

    def __init__(self, language: str | None) -> None:
        """Begin an answer in a language, named by its tag; None to let everything through at once."""
        self._language = language
        self._line = ""
        self.held = ""
        """What came, and was not let through."""
        self.claimed = False
        """Whether a claim was met: all that follows it is held."""

    def feed(self, text: str) -> str:
        """Take in a piece of the answer; return what may be said now."""
        if self._language is None:
            return text
        self.held += text
        released = ""
        while not self.claimed and (sentence := _SENTENCE.match(self.held)):
            released += self._let_through(sentence.end())
        return released

    def end(self) -> str:
        """Return what may still be said, now that the answer is complete or breaks off: all of it, or nothing.

        Seen as a whole, what looked like a claim may turn out to be a quotation.
        """
        self.claimed = False
        return self._let_through(len(self.held))

    def _let_through(self, length: int) -> str:
        """Return the next characters unless they claim something, read with the line that they go on."""
        text = self.held[:length]
        if self._language is not None and claims_action(self._line + text, self._language):
            self.claimed = True
            return ""
        self.held = self.held[length:]
        self._line = (self._line + text).rpartition("\n")[2]
        return text
