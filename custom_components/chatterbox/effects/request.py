"""The words of a person, and the things at home that they may mean.

A model chooses names and rooms; what the person said is known without it. Words are compared folded, and with the
endings that languages give to names: "Küche" is in "Küchenlicht", "kuchnia" in "kuchni".
"""

from collections.abc import Iterable, Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache

from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, floor_registry as fr

from ..agent.text import MOST_COMPARED, heard_words, words_alike
from ..home.entities import telling_words
from ..nlu.gist import NO_GIST, Gist
from .reading import async_gist


@dataclass(frozen=True, slots=True)
class Request:
    """The words of a person, and where they were said."""

    hass: HomeAssistant
    text: str = ""
    """Empty if nobody said anything, or if it is not known."""
    area_id: str | None = None
    """The area of the device that heard them."""
    language: str = "en"
    gist: Gist = NO_GIST
    """The wishes and questions in the words, as far as these are plain."""
    words: tuple[str, ...] = field(init=False, compare=False)
    """The words, the last ones of a long text."""
    _meant: dict[str, frozenset[str]] = field(init=False, compare=False, repr=False, default_factory=dict)
    """Those words that are forms of a word, by that word."""

    def __post_init__(self) -> None:
        """Find the words."""
        object.__setattr__(self, "words", heard_words(self.text[-MOST_COMPARED:]))

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
        if not self.words:
            return frozenset()
        forms = _telling(tuple(names))
        self._meant.update({form: words_alike(self.words, (form,)) for form in forms - self._meant.keys()})
        return frozenset[str]().union(*(self._meant[form] for form in forms))


@lru_cache(maxsize=4096)
def _telling(names: tuple[str, ...]) -> frozenset[str]:
    return telling_words(*names)


async def async_request(hass: HomeAssistant, text: str, area_id: str | None, language: str) -> Request:
    """Return the words of a person with their gist."""
    return Request(hass, text, area_id, language, await async_gist(hass, text, language) if text else NO_GIST)
