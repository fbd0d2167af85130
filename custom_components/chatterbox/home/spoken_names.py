"""Names of entities, areas and tools as they are spoken, and those of them that mean one entity alone.

A name may contain anything that a user or a device put there: characters that cannot be spoken are removed.
"""

import re
import unicodedata
from collections.abc import Callable, Set as AbstractSet
from functools import lru_cache
from typing import Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.core import HomeAssistant, callback, split_entity_id
from homeassistant.helpers import area_registry as ar, entity_registry as er, floor_registry as fr

from ..agent.consent.language import Phrase, Wording, phrases_of
from ..agent.text import character_map, fold, spoken_words
from .entity_matches import areas_of_entities, entities_by_name

_LONGEST: Final = 60
"""Characters of a name that are spoken."""
_MOST_KEPT: Final = 512
"""Names that are cached."""
_SPOKEN_MARKS: Final = frozenset("'\N{RIGHT SINGLE QUOTATION MARK}-+&/%°.")
_STRAY_MARK: Final = re.compile(r"(?<!\w)[./%°]|[./](?!\w)")
_NEW_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@callback
def entity_name(hass: HomeAssistant, entity_id: str) -> str:
    """Return the spoken name of an entity."""
    state = hass.states.get(entity_id)
    if state and (name := spoken(state.name)):
        return name
    entry = er.async_get(hass).async_get(entity_id)
    registered = spoken(er.async_get_full_entity_name(hass, entry)) if entry else ""
    return registered or spoken(split_entity_id(entity_id)[1])


@callback
def area_name(hass: HomeAssistant, entity_id: str) -> str:
    """Return the spoken name of the area of an entity; empty if it is in none."""
    area_id = areas_of_entities(hass).get(entity_id)
    area = ar.async_get(hass).async_get_area(area_id) if area_id else None
    return spoken(area.name) if area else ""


def tool_name(offered: str) -> str:
    """Return the name under which a tool is offered, such as `mail__send_email`, as words."""
    words = spoken(_NEW_WORD.sub(" ", offered.rpartition("__")[2])) or spoken(offered)
    return " ".join(word if word.isupper() else word.lower() for word in words.split())


@lru_cache(_MOST_KEPT)
def spoken(name: str) -> str:
    """Return the part of a name that can be spoken: letters, digits and signs within words, shortened."""
    words = " ".join(_STRAY_MARK.sub(" ", "".join(map(_said, unicodedata.normalize("NFC", name)))).split())
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST].rpartition(' ')[0] or words[:_LONGEST]}…"


def _said(char: str) -> str:
    """Return a character, or its replacement."""
    kind = unicodedata.category(char)
    if kind == "Cf":  # invisible, and within words
        return ""
    return char if kind[0] in "LMN" or char in _SPOKEN_MARKS else " "


@callback
def names_of(
    hass: HomeAssistant, entity_id: str, wording: Wording, with_place: Callable[[str], str]
) -> tuple[str, ...]:
    """Return the names and aliases of an entity that mean nothing else in the home.

    They are compared with all other exposed entities, areas and floors, regardless of articles. A name that is not
    unique is combined with the area by `with_place`, if the other entity is in another area.
    """
    entry = er.async_get(hass).async_get(entity_id)
    aliases = er.async_get_entity_aliases(hass, entry) if entry else []
    names = {name: with_place(name) for name in (entity_name(hass, entity_id), *map(spoken, aliases)) if name}
    ends = {words[-1] for name in (*names, *names.values()) if (words := _words(name, wording))}
    beside = _other_names(hass, entity_id, wording, ends)
    area_id = areas_of_entities(hass).get(entity_id)

    def places_of_others(name: str) -> list[str | None]:
        words = _words(name, wording)
        return [place for other, place in beside if _sound_alike(words, other, wording)]

    plain = [name for name in names if not places_of_others(name)]
    apart = [name for name in names if name not in plain and area_id and area_id not in places_of_others(name)]
    return (*plain, *(placed for name in apart if not places_of_others(placed := names[name])))


def _other_names(
    hass: HomeAssistant, entity_id: str, wording: Wording, ends: AbstractSet[str]
) -> frozenset[tuple[Phrase, str | None]]:
    """Return the names of other entities, areas and floors as words, with the ids of their areas.

    The result contains at least those that end in one of `ends`.
    """
    characters = character_map(wording.folded)
    pieces = {end.rpartition("'")[2] for end in ends}

    def may_end(name: str) -> bool:
        plain = fold(name, keep_accents=True).translate(characters)
        return any(piece in plain for piece in pieces)

    states = ((state.name, {state.entity_id}) for state in hass.states.async_all())
    named = [(name, ids - {entity_id}) for name, ids in (*entities_by_name(hass).items(), *states) if may_end(name)]
    exposed = ((name, one) for name, ids in named for one in ids if async_should_expose(hass, CONVERSATION, one))
    area_ids = areas_of_entities(hass)
    found = {(_words(name, wording), area_ids.get(one)) for name, one in exposed}
    areas, floors = ar.async_get(hass).async_list_areas(), fr.async_get(hass).async_list_floors()
    places = [*((area.name, *area.aliases) for area in areas), *((floor.name, *floor.aliases) for floor in floors)]
    return frozenset(found).union((_words(name, wording), None) for names in places for name in names if may_end(name))


def _sound_alike(one: Phrase, other: Phrase, wording: Wording) -> bool:
    """Return True if two names may sound the same, with articles before them."""
    shorter, longer = sorted(("'".join(words).split("'") for words in (one, other)), key=len)
    if longer[-len(shorter) :] != shorter:
        return False
    return not _forms(one, wording).isdisjoint(_forms(other, wording))


def _words(name: str, wording: Wording) -> Phrase:
    """Return the words of a name; empty if it cannot be spoken."""
    return spoken_words(spoken(name), wording.folded) or ()


def _forms(words: Phrase, wording: Wording) -> frozenset[Phrase]:
    """Return the forms of a name in a sentence."""
    return phrases_of(wording.named, {"name": [" ".join(words)]})
