"""The unverified-action check: whether an answer reports an action that no tool has done.

A filter lets an answer through sentence by sentence, up to the first one that reports an action. Precision goes before
recall: a miss leaves things as they are, a false alarm costs a person time. `docs/unverified-actions.md` measures both.

It is used in a turn in which no tool has changed anything yet: speech cannot be taken back, and a voice reads whole
sentences anyway. The work for a piece of the answer is linear in the length of that piece.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from ..messages import Message, ToolDefinition, ToolResult, UserMessage
from ..text import base_language
from .grammar import language_patterns
from .statements import statements, unfinished

CHECKED_LANGUAGES: Final = frozenset({"de", "en", "es", "fr", "it", "nl", "pl", "pt", "sv", "zh"})
"""Languages whose measured precision is good enough to check answers by default."""


def reports_action(text: str, language: str) -> bool:
    """Return True if an answer reports that an action was done, or is under way, in this turn.

    `language` is a tag such as `de` or `pt-BR`. The report of a state ("The light is on.") or of an earlier action does
    not count, nor does an offer, a question, a refusal, a condition, or any text in a language without a file.
    """
    patterns = language_patterns(base_language(language))
    return patterns is not None and any(
        patterns.report.search(statement) and not patterns.veto.search(statement)
        for statement in statements(text, patterns)
    )


def changed_something(transcript: Sequence[Message], tools: Iterable[ToolDefinition]) -> bool:
    """Return True if the next answer may report an action: a tool that is not read-only has succeeded.

    `transcript` ends with the current turn. If no tool of the current turn was to change anything, the results of the
    previous turn count, so that "Did you turn on the light?" can be answered.
    """
    read_only = {tool.name for tool in tools if tool.annotations.read_only}
    for results in islice(_results_by_turn(transcript), 2):
        if changing := [result for result in results if result.name not in read_only]:
            return any(not (result.is_error or result.synthetic) for result in changing)
    return False


def _results_by_turn(transcript: Sequence[Message]) -> Iterator[list[ToolResult]]:
    """Yield the tool results of each turn, the last turn first."""
    results: list[ToolResult] = []
    for message in reversed(transcript):
        match message:
            case ToolResult():
                results.append(message)
            case UserMessage():
                yield results
                results = []
            case _:
                pass
    yield results


_END: Final = re.compile(
    r"[.!?;][\"')*_\N{RIGHT SINGLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}»」』]{0,3}\s"
    r"|[。\N{FULLWIDTH EXCLAMATION MARK}\N{FULLWIDTH QUESTION MARK}\N{FULLWIDTH SEMICOLON}\n]"
)
"""The end of a sentence. A colon is none, since the words after it may report an action."""
_LONGEST_END: Final = 5
_LONGEST_SENTENCE: Final = 1000
"""Characters after which a sentence without an end is released in parts."""
_LONGEST_HELD: Final = 10_000
"""Characters of held text that are read again at the end; no quotation is as long."""


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
        if len(self.held) > _LONGEST_HELD or not self._may_say(self.held):
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
