"""Finds things by their names, in whatever form these are written: the surest form first.

A name is the same in any case, composition and width of its characters, with other
separators of its words, and with characters that cannot be seen. If nothing has it
then, it may be written without accents and without the emoji of a name. Other emoji
tell names apart.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, floor_registry as fr, intent

from ..agent.text import MOST_UNDERSTOOD, PART, compared, fold, plain_name
from .entities import Home, async_get_home
from .entity_matches import entities_by_name

_BETWEEN: Final = re.compile(
    r"(?<!\w)-(?!\w)(?=.*\w)|(?<=\w)-(?=\w)"
    r"|[\s\N{EN DASH}\N{EM DASH}:;|/\N{MIDDLE DOT}.,!?()\[\]'\"\u00ab\u00bb\u2018-\u201f]+"
)
"""Separators of words. A sign at the end of a name, or before a number, is none: it tells names apart."""
_SPELLED_OUT: Final = str.maketrans(
    {
        "ä": "ae",
        "ö": "oe",
        "ü": "ue",
        "å": "aa",
        "ø": "oe",
    }
)
_EMOJI_KINDS: Final = frozenset({"So", "Sk", "Me"})


class _Spaced(dict[int, str]):
    """Translates emoji to spaces, and looks each character up once: a home has many names."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = " " if unicodedata.category(char) in _EMOJI_KINDS else char
        return self[code]


_WITHOUT_EMOJI: Final = _Spaced()
_LONGEST: Final = 24
"""Words, or characters of a script without spaces, of a name that is found in a text."""
_NAMES_APART: Final = re.compile(r"\(also\b|[,()=]")
"""Between the names of one thing, as lists write them: "Plug = Salt lamp", "Plug, Salt lamp", "Plug (also Salt lamp)".
"""


def name_words(name: str) -> str:
    """Return the words of a name, without separators; a name without words stays as it is."""
    plain = plain_name(name)
    return " ".join(_BETWEEN.sub(" ", plain).split()) or plain


@dataclass(slots=True)
class NameIndex[Key]:
    """Keys of things by their names."""

    _written: dict[str, set[Key]] = field(default_factory=lambda: defaultdict(set))
    _folded: dict[str, set[Key]] = field(default_factory=lambda: defaultdict(set))
    _heads: set[str] = field(default_factory=set)
    """The first part of each name, folded."""

    def add(
        self,
        name: str,
        key: Key,
    ) -> None:
        """Add a name of a thing."""
        words = name_words(name)
        self._written[words].add(key)
        forms = {words, words.translate(_WITHOUT_EMOJI)}
        forms |= {form.translate(_SPELLED_OUT) for form in forms}
        for folded in {_folded(form) for form in forms} - {""}:
            self._folded[folded].add(key)
            self._heads.add(_head(folded))

    def may_begin(self, part: str) -> bool:
        """Return whether a name may begin with a part of a text."""
        return _head(_folded(name_words(part))) in self._heads

    def find(
        self,
        name: str,
        fitting: Callable[[AbstractSet[Key]], AbstractSet[Key]] = frozenset,
    ) -> AbstractSet[Key]:
        """Return those of the things that a name may mean which fit, or that have all of several names."""
        words = name_words(name)
        for found in (
            self._written.get(words, set()),
            self._folded.get(_folded(words), set()),
        ):
            fit = fitting(found)
            if fit:
                return fit
        names = [part for part in map(str.strip, _NAMES_APART.split(name)) if part]
        if names[1:]:
            return frozenset.intersection(
                *(frozenset(self.find(part, fitting)) for part in names)
            )
        return frozenset()


def _folded(words: str) -> str:
    return " ".join(fold(words).split())


def _head(folded: str) -> str:
    part = PART.search(folded)
    if part:
        return part[0]
    return folded


@dataclass(frozen=True, slots=True)
class Known:
    """A thing that Home Assistant knows by a name."""

    kind: str
    """`entity`, `area` or `floor`."""
    key: str
    """Id of what has the name."""
    name: str = field(compare=False)


@lru_cache(maxsize=2)
def _names_of(home: Home) -> NameIndex[Known]:
    """Return the full names of the exposed entities of a home, and those of all areas and floors."""
    index = NameIndex[Known]()
    named = (
        *(("entity", entity.entity_id, entity.names) for entity in home.all_entities),
        *(("area", room.area_id, room.names) for room in home.rooms),
        *(("floor", floor.floor_id, floor.names) for floor in home.floors),
    )
    for kind, key, names in named:
        for name in names:
            index.add(
                name,
                Known(
                    kind,
                    key,
                    name,
                ),
            )
    return index


def names_in(
    hass: HomeAssistant, text: str
) -> Iterator[tuple[int, int, AbstractSet[Known]]]:
    """Yield where a text holds a name of the home, the longest at each place, with all that may be meant."""
    index = _names_of(async_get_home(hass, CONVERSATION))
    stop = 0
    parts = [*PART.finditer(text, 0, MOST_UNDERSTOOD)]
    for place, begin in enumerate(parts):
        if begin.start() < stop or not index.may_begin(begin[0]):
            continue
        for end in reversed(parts[place : place + _LONGEST]):
            known = index.find(text[begin.start() : end.end()])
            if known:
                stop = end.end()
                yield begin.start(), stop, known
                break


def with_known_names(hass: HomeAssistant, text: str) -> str:
    """Return a text in which each name is written as Home Assistant knows it, if it can mean only one thing.

    A name that somebody gave to a thing, be it exposed or not, stays as it is.
    """
    written = ""
    begin = 0
    for start, stop, known in names_in(hass, text):
        heard = compared(text[start:stop])
        names = {compared(one.name): one.name for one in known}
        if (
            len(names) == 1
            and heard not in names
            and heard not in entities_by_name(hass)
        ):
            written = written + text[begin:start] + names.popitem()[1]
            begin = stop
    return written + text[begin:]


def place_name(
    hass: HomeAssistant,
    kind: str,
    name: str,
) -> str:
    """Return the name by which Home Assistant finds the only area, or the only floor, that a name may mean.

    A name that it finds, and one that may mean none or several, is returned as it is.
    """
    areas = ar.async_get(hass)
    floors = fr.async_get(hass)
    if any(
        intent.find_areas(name, areas)
        if kind == "area"
        else intent.find_floors(name, floors)
    ):
        return name
    found = places_named(
        hass,
        name,
        kind,
    )
    if len(found) == 1:
        return next(iter(found)).name
    return name


def floor_called(
    hass: HomeAssistant,
    name: str,
) -> str | None:
    """Return the id of the floor that is meant by a name that is none of an area, and may mean none."""
    if any(intent.find_areas(name, ar.async_get(hass))):
        return None
    found = [*intent.find_floors(name, fr.async_get(hass))]
    if found:
        return found[0].floor_id
    match [*places_named(hass, name, "area", "floor")]:
        case [Known(kind="floor", key=floor_id)]:
            return floor_id
        case _:
            return None


def places_named(
    hass: HomeAssistant,
    name: str,
    *kinds: str,
) -> AbstractSet[Known]:
    """Return the areas and floors that a name may mean."""
    index = _names_of(async_get_home(hass, CONVERSATION))
    return index.find(
        name, lambda names: {known for known in names if known.kind in kinds}
    )
