"""Lets an answer through sentence by sentence, up to the first one that claims an action.

For a turn in which nothing has a receipt yet: what was spoken cannot be unsaid, and a voice reads
whole sentences anyway. Without a language nothing is held. A piece of the answer takes time in
proportion to its own length, however long the answer is. Knows words; must not know turns, or what
becomes of a claim.
"""

import re
from typing import Final

from ..claims.receipts import claims_action
from ..claims.statements import unfinished

_END: Final = re.compile(
    r"[.!?;][\"')*_\N{RIGHT SINGLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}»」』]{0,3}\s"
    r"|[。\N{FULLWIDTH EXCLAMATION MARK}\N{FULLWIDTH QUESTION MARK}\N{FULLWIDTH SEMICOLON}\n]"
)
"""The end of a sentence. A colon is none: what it announces may be a claim."""
_LONGEST_END: Final = 5
_LONGEST_SENTENCE: Final = 1000
"""Characters after which a sentence without an end is let through in parts."""


class ClaimHold:
    """An answer on its way to the person who hears it.

    Feed it the text as it arrives, then `end` it. What both return, in order, is what may be
    said; `held` is the rest. The text that is let through claims nothing.
    """

    def __init__(self, language: str | None) -> None:
        """Begin an answer in a language, named by its tag; None to let everything through at once."""
        self._language = language
        self._begun = ""
        self._searched = 0
        self.held = ""
        """What came, and was not let through."""
        self.claimed = False
        """Whether a claim was met: all that follows it is held."""

    def feed(self, text: str) -> str:
        """Take in a piece of the answer; return what may be said now."""
        if self._language is None:
            return text
        self.held += text
        start = 0
        while not self.claimed and (stop := self._sentence_stop(start)) is not None:
            if self._may_say(self.held[start:stop]):
                start = self._searched = stop
        said, self.held = self.held[:start], self.held[start:]
        self._searched -= start
        return said

    def end(self) -> str:
        """Return what may still be said, now that the answer is complete or breaks off: all of it, or nothing.

        Seen as a whole, what looked like a claim may turn out to be a quotation.
        """
        self.claimed = False
        if not self._may_say(self.held):
            return ""
        said, self.held, self._searched = self.held, "", 0
        return said

    def _sentence_stop(self, start: int) -> int | None:
        """Return where the sentence stops that starts here; None while that is not known."""
        longest = start + _LONGEST_SENTENCE
        if end := _END.search(self.held, self._searched, longest + _LONGEST_END):
            return end.end()
        if len(self.held) >= longest + _LONGEST_END:
            space = self.held.rfind(" ", start, longest)
            return longest if space < 0 else space + 1
        self._searched = max(start, len(self.held) - _LONGEST_END + 1)
        return None

    def _may_say(self, text: str) -> bool:
        """Tell whether a text claims nothing, read with what it goes on; that becomes what the next one goes on."""
        if self._language is None or not text:
            return True
        text = self._begun + text
        self.claimed = claims_action(text, self._language)
        if not self.claimed:
            self._begun = unfinished(text.rpartition("\n")[2])
        return not self.claimed
