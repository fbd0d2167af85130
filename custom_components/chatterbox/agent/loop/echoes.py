"""Drops instructions of the context block that a small model repeats as its answer.

Only whole lines at the beginning of a sentence are dropped, and none that states a fact, such as the time, a name or a
room, or that is about something in the words of the person: a request for a timer may be answered with "This device is
not able to start timers."
"""

import re
from typing import Final

from ..messages import Transcript, UserMessage

_LEAST: Final = 20
"""Characters of the shortest line that counts as repeated."""
_FACT: Final = re.compile(r"""[\d:"“”\[\]<>]""")
_WORD: Final = re.compile(r"\w{5,}")
_STEM: Final = 5
_BEGIN: Final = re.compile(r"(?:\n|[.!?…:]\s)\s*\Z")
"""The end of text after which a sentence begins."""


def echoed_lines(transcript: Transcript) -> frozenset[str]:
    """Return the lines of the latest context that answer nothing."""
    words = next((message for message in reversed(transcript) if isinstance(message, UserMessage)), UserMessage(""))
    stems = _stems(words.text)
    lines = map(str.strip, words.context.splitlines())
    return frozenset(line for line in lines if len(line) >= _LEAST and not (_FACT.search(line) or stems & _stems(line)))


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.casefold())}


class EchoFilter:
    """Passes on the text of a message without echoes, a moment later where one may have begun."""

    def __init__(self, lines: frozenset[str] = frozenset()) -> None:
        """Drop these lines."""
        self._lines = lines
        self._held = ""
        self._begins = True
        """Whether a sentence begins with the next character, which may be a space."""
        self._last = ""

    def feed(self, text: str) -> str:
        """Add text; return the part that may be passed on by now."""
        return "".join(map(self._add, text)) if self._lines else text

    def end(self) -> str:
        """Return the held text at the end of the text, unless it is an echo."""
        held, self._held = self._held, ""
        return "" if held.strip() in self._lines else held

    def _add(self, character: str) -> str:
        if self._held.strip() in self._lines and character.isspace():
            self._held, self._begins = "", True
            return ""
        if not (self._begins or self._held):
            passed = character
        elif any(line.startswith((self._held + character).lstrip()) for line in self._lines):
            self._held += character
            return ""
        else:
            passed, self._held = self._held + character, ""
        self._begins = _BEGIN.search(self._last + passed) is not None
        self._last = passed[-1]
        return passed
