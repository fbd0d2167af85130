"""The tool that searches the exposed entities of a home with too many to list."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers.llm import LLM_API_ASSIST

from ...agent.messages import JsonObject, JsonValue
from ...home.description import listed, quoted
from ...home.entities import ExposedEntity, Home
from ...home.entity_index import EntityIndex
from ...home.name_index import places_named
from ...home.search import async_get_entity_index
from .own_tool import (
    DEFINITIONS,
    NoAnswer,
    OwnCall,
    OwnTool,
    ToolAnswer,
)

_WORDS: Final = "words"
_AREA: Final = "area"
_DOMAIN: Final = "domain"
MAX_FOUND: Final = 50
"""Entities in one answer."""
_MAX_ARGUMENT: Final = 1_000
"""Characters of an argument that are read."""
_NO_ARGUMENTS: Final = f"Give {_WORDS}, {_AREA} or {_DOMAIN}, or several of these."
_NOTHING: Final = (
    "Nothing like that is there. Other words may find it, or its room or domain alone."
)


async def _async_find(call: OwnCall) -> ToolAnswer:
    """Find entities by words, area and domain."""
    words, area, domain = (
        call.text(name)[:_MAX_ARGUMENT] for name in (_WORDS, _AREA, _DOMAIN)
    )
    if not words and not area and not domain:
        raise NoAnswer(_NO_ARGUMENTS)
    index = await async_get_entity_index(call.hass, call.language)
    in_area = _in_area(call.hass, index, area)
    among = _in_domain(index.home, in_area, domain.casefold())
    return _answer(
        index.home,
        index.fitting(words, among) if words else among,
    )


def _in_area(
    hass: HomeAssistant, index: EntityIndex, area: str
) -> Sequence[ExposedEntity]:
    """Return the entities in an area or on a floor, or all of them if none is given."""
    home = index.home
    if not area:
        return home.entities
    places = {known.key for known in places_named(hass, area, "area", "floor")}
    found = {
        room.area_id
        for room in home.rooms
        if not places.isdisjoint({room.area_id, room.floor_id})
    }
    found = found or {*index.named_rooms(area)}
    if not found:
        filled = [room.name for room in home.rooms if home.by_room.get(room.area_id)]
        raise NoAnswer(
            f"There is no area {quoted(area)}. The areas are: {listed(filled)}."
        )
    return [entity for entity in home.entities if entity.area_id in found]


def _in_domain(
    home: Home, entities: Sequence[ExposedEntity], domain: str
) -> Sequence[ExposedEntity]:
    if not domain:
        return entities
    domains = sorted({entity.domain for entity in home.entities})
    if domain not in domains:
        raise NoAnswer(
            f"There is no domain {quoted(domain)}. The domains are: {listed(domains)}."
        )
    return [entity for entity in entities if entity.domain == domain]


def _answer(
    home: Home,
    entities: Sequence[ExposedEntity],
) -> ToolAnswer:
    rooms = {room.area_id: room.name for room in home.rooms}
    found: list[JsonValue] = []
    for entity in entities[:MAX_FOUND]:
        name, *also = entity.names or ("",)
        entry: JsonObject = {"name": name}
        if also:
            entry["also"] = [*also]
        if entity.area_id:
            entry["area"] = rooms[entity.area_id]
        entry["domain"] = entity.domain
        found.append(entry)
    more = len(entities) - len(found)
    answer: JsonObject = {"found": found}
    if more:
        answer["note"] = (
            f"There are {more} more. Give more of {_WORDS}, {_AREA} and {_DOMAIN} to narrow it down."
        )
    elif not found:
        answer["note"] = _NOTHING
    return ToolAnswer(answer)


FIND: Final = OwnTool(
    definition=DEFINITIONS["find_entities"],
    run=_async_find,
    needs=attrgetter("home_is_large"),
    # whoever allows the tools of Assist needs it to name entities
    label=LLM_API_ASSIST,
)
