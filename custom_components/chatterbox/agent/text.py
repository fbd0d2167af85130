"""Operations on text that everything else shares: shortening, language tags, and the spellings of a tool's name.

Knows characters, and of tools their names only.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from .messages import ToolDefinition

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


def base_language(tag: str) -> str:
    """Return the language of a tag, without region or script: `pt` for `pt-BR` and `pt_BR`."""
    return tag.replace("_", "-").partition("-")[0].lower()


def find_tool(name: str, tools: Sequence[ToolDefinition]) -> ToolDefinition | None:
    """Return the one tool that a name means, or None.

    The exact name wins; then the only tool that has it but for case, for the prefix before a
    double underscore, or for a single one in its place (Home Assistant put the domain before
    all its tools in 2026.9; some had it already, as in `todo_get_items`).
    """
    for tool in tools:
        if tool.name == name:
            return tool
    for spelling in _SPELLINGS:
        spoken = spelling(name.strip())
        matches = [tool for tool in tools if spoken and spelling(tool.name) == spoken]
        if len(matches) == 1:
            return matches[0]
    return None


@lru_cache(maxsize=1024)
def spellings(name: str) -> frozenset[str]:
    """Return the names by which `find_tool` knows a tool, in small letters."""
    return frozenset(spelling(name) for spelling in _SPELLINGS) - {""}


def _bare(name: str) -> str:
    return name.casefold().rpartition("__")[2]


def _joined(name: str) -> str:
    return name.casefold().replace("__", "_")


_SPELLINGS: Final = (str.casefold, _bare, _joined)
