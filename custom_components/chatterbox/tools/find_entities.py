"""Runs the tool by which an agent finds things in a home that is too large to be listed.

Knows the home as an assistant may see it. Must not know states, or how things are ranked. What is not exposed is not
found.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from homeassistant.core import HomeAssistant

from ..agent.messages import JsonObject, JsonValue
from ..home.entities import Home, Thing
from ..home.names import compared, listed, quoted
from ..home.ranking import ThingIndex
from ..home.search import async_get_index
from .own_tools import AREA, KIND, WORDS, ToolAnswer, refused

MOST_FOUND: Final = 50
"""Things of one answer."""
_MOST_NAMES: Final = 100
"""Names of areas that an answer holds where another one was asked for."""
_MOST_READ: Final = 1_000
"""Characters of an argument in which it is looked for words."""
_NOTHING_GIVEN: Final = f"Give {WORDS}, {AREA} or {KIND}, or several of these."
_NOTHING: Final = "Nothing like that is there. Other words may find it, or its room or domain alone."


class _NoSuchPlace(Exception):
    """There is no such area or domain; the text names those that there are."""


@dataclass(frozen=True, slots=True)
class FindTool:
    """What there is in the home, for who speaks a language."""

    hass: HomeAssistant
    language: str

    async def async_run(self, arguments: JsonObject) -> ToolAnswer:
        """Find things."""
        words, area, domain = (str(arguments.get(name) or "").strip()[:_MOST_READ] for name in (WORDS, AREA, KIND))
        if not words and not area and not domain:
            return refused(_NOTHING_GIVEN)
        index = await async_get_index(self.hass, self.language)
        try:
            among = _of_domain(index.home, _in_area(index, area), domain.casefold())
        except _NoSuchPlace as error:
            return refused(str(error))
        return _answer(index.home, index.fitting(words, among) if words else among)


def _in_area(index: ThingIndex, area: str) -> Sequence[Thing]:
    """Return what is in an area, or on a floor; everything where none is named."""
    home = index.home
    if not area:
        return home.things
    name = compared(area)
    floors = {floor.floor_id for floor in home.floors if name in map(compared, (floor.name, *floor.aliases))}
    meant: Collection[str] = {
        room.area_id
        for room in home.rooms
        if room.floor_id in floors or name in map(compared, (room.name, *room.aliases))
    }
    meant = meant or index.named_rooms(area)
    if not meant:
        filled = [room.name for room in home.rooms if home.by_room.get(room.area_id)]
        raise _NoSuchPlace(f"There is no area {quoted(area)}. {_listed('areas', filled)}")
    return [thing for thing in home.things if thing.area_id in meant]


def _of_domain(home: Home, things: Sequence[Thing], domain: str) -> Sequence[Thing]:
    if not domain:
        return things
    domains = sorted({thing.domain for thing in home.things})
    if domain not in domains:
        raise _NoSuchPlace(f"There is no domain {quoted(domain)}. {_listed('domains', domains)}")
    return [thing for thing in things if thing.domain == domain]


def _listed(what: str, names: Sequence[str]) -> str:
    more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"The {what} are: {listed(names[:_MOST_NAMES])}{more}."


def _answer(home: Home, things: Sequence[Thing]) -> ToolAnswer:
    rooms = {room.area_id: room.name for room in home.rooms}
    found: list[JsonValue] = []
    for thing in things[:MOST_FOUND]:
        place: JsonObject = {"area": rooms[thing.area_id]} if thing.area_id else {}
        also: JsonObject = {"also": list(thing.names[1:])} if thing.names[1:] else {}
        found.append({"name": thing.names[0] if thing.names else "", **also, **place, "domain": thing.domain})
    more = len(things) - len(found)
    note = f"There are {more} more. Give more of {WORDS}, {AREA} and {KIND} to narrow it down." if more else ""
    note = note or ("" if found else _NOTHING)
    return ToolAnswer({"found": found, **({"note": note} if note else {})})
