"""What entities and tools are called when they are spoken of, and whether a name means one of them alone.

Knows Home Assistant's registries and states. Must not know sentences, nor what is done to an entity. A name is what
somebody typed, or what a device brought along, and may hold anything: what nobody can say is left out.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.core import HomeAssistant, callback, split_entity_id
from homeassistant.helpers import area_registry as ar, entity_registry as er, floor_registry as fr, intent

from .agent.consent.reading import Phrase, phrases_of, words_of
from .agent.consent.wording import Wording
from .entity_matches import areas_of_entities

_LONGEST: Final = 60
"""Characters of a name that are spoken."""
_SPOKEN_MARKS: Final = frozenset("'\N{RIGHT SINGLE QUOTATION MARK}-+&/%°.")
_STRAY_MARK: Final = re.compile(r"(?<!\w)[./%°]|[./](?!\w)")
_NEW_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@callback
def entity_name(hass: HomeAssistant, entity_id: str) -> str:
    """Return what an entity is called, as it can be spoken."""
    entry = er.async_get(hass).async_get(entity_id)
    registered = er.async_get_full_entity_name(hass, entry) if entry else ""
    state = hass.states.get(entity_id)
    names = (state.name if state else "", registered, split_entity_id(entity_id)[1])
    return next(name for name in map(spoken, names) if name)


@callback
def area_name(hass: HomeAssistant, entity_id: str) -> str:
    """Return what the area of an entity is called; empty if it is in none, or if its own name tells."""
    area_id = areas_of_entities(hass).get(entity_id)
    area = ar.async_get(hass).async_get_area(area_id) if area_id else None
    name = spoken(area.name) if area else ""
    return "" if name.casefold() in entity_name(hass, entity_id).casefold() else name


def tool_name(offered: str) -> str:
    """Return the name under which a tool is offered, such as `mail__send_email`, as words."""
    words = spoken(_NEW_WORD.sub(" ", offered.rpartition("__")[2])) or spoken(offered)
    return " ".join(word if word.isupper() else word.lower() for word in words.split())


def spoken(name: str) -> str:
    """Return what can be said of a name: letters, digits and what joins them, without markup, and not endlessly."""
    words = " ".join(_STRAY_MARK.sub(" ", "".join(map(_said, unicodedata.normalize("NFC", name)))).split())
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST].rpartition(' ')[0] or words[:_LONGEST]}…"


def _said(char: str) -> str:
    """Return a character, or what is read in its place."""
    kind = unicodedata.category(char)
    if kind == "Cf":  # invisible, and within words
        return ""
    return char if kind[0] in "LMN" or char in _SPOKEN_MARKS else " "


@callback
def names_of(hass: HomeAssistant, entity_id: str, wording: Wording) -> tuple[str, ...]:
    """Return the names and aliases that mean this entity, and nothing else that an assistant may be told of."""
    names = dict.fromkeys([entity_name(hass, entity_id), *map(spoken, _all_names(hass, entity_id))])
    return tuple(name for name in names if name and means_one(hass, entity_id, name, wording))


@callback
def means_one(hass: HomeAssistant, entity_id: str, name: str, wording: Wording) -> bool:
    """Tell whether a name means no other exposed entity, no area and no floor, with or without an article."""
    forms = _forms(name, wording)
    ends = {form[-1] for form in forms}
    others = (one for names in _other_names(hass, entity_id) for one in names if _ending(one, wording) in ends)
    return all(forms.isdisjoint(_forms(other, wording)) for other in others)


def _other_names(hass: HomeAssistant, entity_id: str) -> Iterator[Iterable[str]]:
    """Yield the names of each thing in the home but one entity."""
    for other in hass.states.async_entity_ids():
        if other != entity_id and async_should_expose(hass, CONVERSATION, other):
            yield _all_names(hass, other)
    areas, floors = ar.async_get(hass).async_list_areas(), fr.async_get(hass).async_list_floors()
    yield from ([area.name, *area.aliases] for area in areas)
    yield from ([floor.name, *floor.aliases] for floor in floors)


def _all_names(hass: HomeAssistant, entity_id: str) -> list[str]:
    state = hass.states.get(entity_id)
    entry = er.async_get(hass).async_get(entity_id)
    return [state.name, *intent.async_get_entity_aliases(hass, entry, state=state)] if state else []


def _ending(name: str, wording: Wording) -> str:
    words = words_of(spoken(name), wording.folded)
    return words[-1] if words else ""


def _forms(name: str, wording: Wording) -> frozenset[Phrase]:
    """Return how a name may stand in a sentence."""
    words = " ".join(words_of(spoken(name), wording.folded) or ())
    return phrases_of(form.replace("{name}", words) for form in wording.named) if words else frozenset()
