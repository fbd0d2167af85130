"""Follows the brackets of a text that arrives in pieces, and the quotes around some of them.

Knows brackets and quotes; nothing of what stands between them.
"""

import re
from typing import Final

_MARK: Final = re.compile(r"[\\\"'{}\[\]()]")


class BracketFollower:
    """Finds where the first bracket of a text closes; each character is looked at once."""

    def __init__(self) -> None:
        """Begin before the first bracket."""
        self._depth = 0
        self._quote = ""

    def scan(self, text: str, position: int) -> tuple[int, bool]:
        """Look on from `position`; return how far that went, and whether the first bracket closes there."""
        while mark := _MARK.search(text, position):
            position = mark.end()
            match mark.group():
                case "\\" if self._quote:
                    if position == len(text):
                        return mark.start(), False
                    position += 1
                case '"' | "'" as quote:
                    self._see_quote(quote, text[mark.start() - 1])
                case _ if self._quote:
                    pass
                case "{" | "[" | "(":
                    self._depth += 1
                case "}" | "]" | ")":
                    self._depth -= 1
                    if self._depth <= 0:
                        return position, True
                case _:  # a backslash that escapes nothing
                    pass
        return len(text), False

    def _see_quote(self, quote: str, before: str) -> None:
        if quote == self._quote:
            self._quote = ""
        elif not self._quote and (quote == '"' or not before.isalnum()):  # no apostrophe
            self._quote = quote
