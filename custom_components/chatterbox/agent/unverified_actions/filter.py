"""Holds back an answer from the first unverified action on, while it streams.

It is used in a turn in which no tool has changed anything yet: speech cannot be taken back, and a voice reads whole
sentences anyway. The work for a piece of the answer is linear in the length of that piece.
"""

import re
from typing import Final

from .check import reports_action
from .statements import unfinished

_END: Final = re.compile(
    r"[.!?;][\"')*_\N{RIGHT SINGLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}»」』]{0,3}\s"
    r"|[。\N{FULLWIDTH EXCLAMATION MARK}\N{FULLWIDTH QUESTION MARK}\N{FULLWIDTH SEMICOLON}\n]"
)
"""The end of a sentence. A colon is none, since the words after it may report an action."""
_LONGEST_END: Final = 5
_LONGEST_SENTENCE: Final = 1000
"""Characters after which a sentence without an end is released in parts."""


class UnverifiedActionFilter:
    """Releases the sentences of an answer up to the first one that reports an action.

    Pass the text to `feed` as it arrives, then call `end`. Both return text that may be spoken; `held` is the rest.
    """

    def __init__(self, language: str | None) -> None:
        """Begin an answer in a language, given as a tag; None releases everything at once."""
        self._language = language
        self._begun = ""
        self._searched = 0
        self.held = ""
        """Text that was not released."""
        self.found = False
        """True once a sentence reports an action; all text from there on is held."""

    def feed(self, text: str) -> str:
        """Add a piece of the answer and return the text that may be spoken now."""
        if self._language is None:
            return text
        self.held += text
        start = 0
        while not self.found and (stop := self._sentence_stop(start)) is not None:
            if self._may_say(self.held[start:stop]):
                start = self._searched = stop
        said, self.held = self.held[:start], self.held[start:]
        self._searched -= start
        return said

    def end(self) -> str:
        """End the answer, complete or not, and return the held text if it reports no action.

        Read as a whole, an apparent report may turn out to be a quotation.
        """
        self.found = False
        if not self._may_say(self.held):
            return ""
        said, self.held, self._searched = self.held, "", 0
        return said

    def _sentence_stop(self, start: int) -> int | None:
        """Return the end of the sentence that starts at `start`, or None while it has not arrived."""
        longest = start + _LONGEST_SENTENCE
        if end := _END.search(self.held, self._searched, longest + _LONGEST_END):
            return end.end()
        if len(self.held) >= longest + _LONGEST_END:
            space = self.held.rfind(" ", start, longest)
            return longest if space < 0 else space + 1
        self._searched = max(start, len(self.held) - _LONGEST_END + 1)
        return None

    def _may_say(self, text: str) -> bool:
        """Return True if a text reports no action, read together with the unfinished sentence before it."""
        if self._language is None or not text:
            return True
        text = self._begun + text
        self.found = reports_action(text, self._language)
        if not self.found:
            self._begun = unfinished(text.rpartition("\n")[2])
        return not self.found
