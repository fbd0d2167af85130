"""Texts that are too long for their place.

Knows characters only.
"""

from typing import Final

ELLIPSIS: Final = "…"


def shortened(text: str, length: int) -> str:
    """Return a text of at most `length` characters: of a longer one the beginning and the end, and how much is missing.

    `length` has to leave room for the note that says so, which takes up to 70 characters.
    """
    if len(text) <= length:
        return text
    kept = length - len(_note(len(text)))
    end = kept // 4
    return text[: kept - end] + _note(len(text) - kept) + text[len(text) - end :]


def clipped(text: str, length: int) -> str:
    """Return a text on one line, of at most `length` characters: of a longer one the beginning."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - len(ELLIPSIS)] + ELLIPSIS


def _note(missing: int) -> str:
    return f"\n[… {missing} characters were left out here to save room …]\n"
