"""Finds things by their names, in whatever form these are written: the surest form first.

A name is the same in any case, composition and width of its characters, with other separators of its words, and with
characters that cannot be seen. If nothing has it then, it may be written without accents and without the emoji of a
name. Other emoji tell names apart.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, floor_registry as fr, intent

from ..agent.text import fold, plain_name

_BETWEEN: Final = re.compile(
    r"(?<!\w)-(?!\w)(?=.*\w)|(?<=\w)-(?=\w)"
    r"|[\s\N{EN DASH}\N{EM DASH}:;|/\N{MIDDLE DOT}.,!?()\[\]'\"\u00ab\u00bb\u2018-\u201f]+"
)
"""Separators of words. A sign at the end of a name, or before a number, is none: it tells names apart."""
_SPELLED_OUT: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
_EMOJI_KINDS: Final = frozenset({"So", "Sk", "Me"})
_NAMES_APART: Final = re.compile(r"\(also\b|[,()]")
"""Between the names of one thing, as a list of the home writes them: "Plug, Salt lamp", "Plug (also Salt lamp)"."""


def name_words(name: str) -> str:
    """Return the words of a name, without separators; a name without words stays as it is."""
    plain = plain_name(name)
    return " ".join(_BETWEEN.sub(" ", plain).split()) or plain


@dataclass(slots=True)
class NameIndex:
    """Keys of things by their names."""

    _written: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _folded: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, name: str, key: str) -> None:
        """Add a name of a thing."""
        words = name_words(name)
        self._written[words].add(key)
        without_emoji = "".join(" " if unicodedata.category(char) in _EMOJI_KINDS else char for char in words)
        for form in (words, without_emoji):
            for folded in {_folded(form), _folded(form.translate(_SPELLED_OUT))} - {""}:
                self._folded[folded].add(key)

    def find(self, name: str, fitting: Callable[[AbstractSet[str]], AbstractSet[str]] = frozenset) -> AbstractSet[str]:
        """Return those of the things that a name may mean which fit, or that have all of several names."""
        words = name_words(name)
        for found in (self._written.get(words, set()), self._folded.get(_folded(words), set())):
            if fit := fitting(found):
                return fit
        names = [part for part in map(str.strip, _NAMES_APART.split(name)) if part]
        return (
            frozenset.intersection(*(frozenset(self.find(part, fitting)) for part in names))
            if names[1:]
            else frozenset()
        )


def _folded(words: str) -> str:
    return " ".join(fold(words).split())


def place_name(hass: HomeAssistant, kind: str, name: str) -> str:
    """Return the name by which Home Assistant finds the only area, or the only floor, that a name may mean.

    A name that it finds, and one that may mean none or several, is returned as it is.
    """
    areas, floors = ar.async_get(hass), fr.async_get(hass)
    index, names = NameIndex(), dict[str, str]()
    if any(intent.find_areas(name, areas) if kind == "area" else intent.find_floors(name, floors)):
        return name
    if kind == "area":
        places = [(area.id, area.name, area.aliases) for area in areas.async_list_areas()]
    else:
        places = [(floor.floor_id, floor.name, floor.aliases) for floor in floors.async_list_floors()]
    for key, own, aliases in places:
        names[key] = own
        for one in (own, *aliases):
            index.add(one, key)
    found = [*index.find(name)]
    return names[found[0]] if len(found) == 1 else name
