"""The words of a person, and the things at home that they may mean.

A model chooses names and rooms; what the person said is known without it. Words are compared folded, and with the
endings that languages give to names: "Küche" is in "Küchenlicht", "kuchnia" in "kuchni".
"""

from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, floor_registry as fr

from ..agent.text import base_language, heard_words, read_data_file, words_alike
from .entities import telling_words

_WANTED: Final[Mapping[str, Mapping[str, Sequence[str]]]] = read_data_file(
    Path(__file__).with_name("wanted.toml"), dict[str, dict[str, list[str]]]
)
"""Phrases by language and by what they want done; those of `told` want nothing. A star stands for any words."""


@dataclass(frozen=True, slots=True)
class Request:
    """The words of a person, and where they were said."""

    hass: HomeAssistant
    text: str = ""
    """Empty if nobody said anything, or if it is not known."""
    area_id: str | None = None
    """The area of the device that heard them."""
    language: str = "en"

    @property
    def wanted(self) -> frozenset[str]:
        """The wishes of the words, as far as they are plain commands: "open", "off"; see `wanted.toml`."""
        words, phrases = heard_words(self.text), _WANTED.get(base_language(self.language), {})
        found = frozenset(wanted for wanted, ways in phrases.items() if any(_holds(words, way) for way in ways))
        return frozenset() if "told" in found else found

    def may_mean(self, kind: str, place_ids: AbstractSet[str]) -> bool:
        """Return whether the words may mean one of some areas or floors: they name it, or it is around the person."""
        if not self.text:
            return bool(place_ids)
        areas, floors = ar.async_get(self.hass), fr.async_get(self.hass)
        here = areas.async_get_area(self.area_id) if self.area_id else None
        if here and not place_ids.isdisjoint({here.id} if kind == "area" else {here.floor_id}):
            return True
        places = map(areas.async_get_area if kind == "area" else floors.async_get_floor, place_ids)
        return any(self.has_word_of(place.name, *place.aliases) for place in places if place)

    def has_word_of(self, *names: str) -> bool:
        """Return whether the words hold a word of one of some names."""
        return bool(self.words_of(names))

    def words_of(self, names: Iterable[str]) -> frozenset[str]:
        """Return those words that are words of some names, or forms of them."""
        return words_alike(heard_words(self.text), _telling(tuple(names)))


@lru_cache(maxsize=4096)
def _telling(names: tuple[str, ...]) -> frozenset[str]:
    return telling_words(*names)


def _holds(words: Sequence[str], phrase: str) -> bool:
    """Return whether words hold the parts of a phrase one after the other."""
    place = 0
    for part in phrase.split(" * "):
        wanted = part.split()
        found = (at for at in range(place, len(words) - len(wanted) + 1) if [*words[at : at + len(wanted)]] == wanted)
        if (at := next(found, None)) is None:
            return False
        place = at + len(wanted)
    return True
