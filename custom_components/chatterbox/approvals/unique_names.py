"""Finds the names of an entity that mean nothing else in the home, by which an answer may name it."""

from collections.abc import Callable, Set as AbstractSet

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.components.homeassistant import async_should_expose
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er, floor_registry as fr

from ..agent.text import character_map, fold, spoken_words
from ..home.entity_matches import areas_of_entities, entities_by_name, entity_name, spoken
from .answers.language import Phrase, Wording, phrases_of


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
