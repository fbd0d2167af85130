"""What markers in a model's text open, and where that ends.

Knows kinds of stretches of text and how their end is found; not which markers models write.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import Final

from .opening import NOT_YET, Opening

_FIRST_CHARACTERS: Final = re.compile(r"[<\[◁`aA]")
"""What the marks that end a region begin with."""


class Kind(Enum):
    """What a marker opens."""

    THOUGHT = auto()
    """Reasoning."""
    DRAFT = auto()
    """Reasoning by all signs, but the answer if the message has no other."""
    CALL = auto()
    """What only ever means a call."""
    MAYBE_CALL = auto()
    """What is a call if it reads like one."""
    NOISE = auto()
    """What is for nobody, such as the result of a tool that a model made up."""
    HEADER = auto()
    """Who speaks to whom in the message that follows (harmony)."""
    TOKEN = auto()
    """The marker itself and nothing more."""
    THOUGHT_END = auto()
    """The end of a thought; by itself, when the template of the model began it."""


class Ends:
    """Where a region ends: after one of `closed_by`, or before one of `until`."""

    def __init__(self, closed_by: Iterable[Opening] = (), until: Iterable[Opening] = ()) -> None:
        """Take marks that begin with one of `_FIRST_CHARACTERS`; those of `until` belong to what comes after."""
        self._marks = [(mark, True) for mark in closed_by] + [(mark, False) for mark in until]

    def find(self, text: str, start: int, *, final: bool) -> tuple[int, int] | None:
        """Return where the end mark begins and where it ends, None when there is none.

        Of a mark that may still become whole, where it begins and -1; there is none in a final text.
        """
        for place in _FIRST_CHARACTERS.finditer(text, start):
            for mark, closes in self._marks:
                found = mark.match(text, place.start())
                if isinstance(found, re.Match):
                    return place.start(), found.end() if closes else place.start()
                if found == NOT_YET and not final:
                    return place.start(), -1
        return None


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of text that a marker opens."""

    kind: Kind
    ends: Ends | None = None
    """None for a region that ends where its first bracket is closed."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker and what it opens."""

    opening: Opening
    region: Region
    keeps_opening: bool = False
    """True when the marker itself is part of the content."""


type Beginnings = Mapping[str, Sequence[Marker]]

_NONE: Final[Beginnings] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Markers:
    """Markers by the place where they count, and by the characters that they may begin with."""

    anywhere: Beginnings
    line_start: Beginnings = _NONE
    message_start: Beginnings = _NONE
    """Only before anything was said."""
    glued: Beginnings = _NONE
    """Only without a space after the end of a sentence."""

    def at(self, character: str, *, line_start: bool, message_start: bool, glued: bool) -> list[Marker]:
        """Return the markers that may begin with a character at a place, the more special first."""
        found = [*self.message_start.get(character, ())] if message_start else []
        if glued:
            found += self.glued.get(character, ())
        if line_start:
            found += self.line_start.get(character, ())
        return [*found, *self.anywhere.get(character, ())]
