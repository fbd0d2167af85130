"""The words of a person, and the things at home that they may mean.

A model chooses names and rooms; what the person said is known without it. Words are compared folded, and with the
endings that languages give to names: "Küche" is in "Küchenlicht", "kuchnia" in "kuchni".
"""

from collections.abc import Iterable, Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, floor_registry as fr

from ..agent.text import fold, heard_words
from .entities import telling_words

_STEM: Final = 4
"""Letters with which two forms of a word begin alike."""


@dataclass(frozen=True, slots=True)
class Request:
    """The words of a person, and where they were said."""

    hass: HomeAssistant
    text: str = ""
    """Empty if nobody said anything, or if it is not known."""
    area_id: str | None = None
    """The area of the device that heard them."""

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
        telling = {fold(word) for word in telling_words(*names)}
        return frozenset(word for word in heard_words(self.text) if any(_is_alike(word, other) for other in telling))


def _is_alike(word: str, other: str) -> bool:
    """Return whether two words are the same, or forms of one; in other scripts, one may be a part of the other."""
    if word == other or (not word.isascii() and word in other):
        return True
    stem = max(_STEM, min(len(word), len(other)) - 1)
    return word[:stem] == other[:stem]
