"""The home as an assistant may see it: floors, rooms, and the things in them with the names that they go by.

Knows Home Assistant's registries and exposure settings. Must not know how a home is told to a model. States are not
part of it, and the same home is read alike in whatever order Home Assistant started.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import area_registry as ar, entity_registry as er, floor_registry as fr, intent

from ..data import singleton
from .changes import async_home_version
from .exposed_entities import exposed_states
from .names import NamedThing, Told, tell_names

_TOLD_BY_THEIR_TOOLS: Final = frozenset({"calendar", "script"})
"""Domains whose entities Home Assistant's list leaves out, too: their tools name them."""
_FOUND_BY_NAME_ALONE: Final = frozenset({"calendar", "humidifier", "todo"})
"""Domains with tools that are given no room, or that take nothing but the names they list."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A floor of the home."""

    floor_id: str
    name: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Room:
    """An area of the home."""

    area_id: str
    name: str
    aliases: tuple[str, ...]
    floor_id: str | None


@dataclass(frozen=True, slots=True)
class Thing:
    """An exposed entity."""

    entity_id: str
    names: tuple[str, ...]
    """What Home Assistant's tools know it by, the first before all; none where its owner left it without."""
    area_id: str | None
    told: str
    """What it is called under its room, where the name of the room need not be said again; empty without a name."""
    also: tuple[str, ...]
    """Those of its other names that say something new."""

    @property
    def domain(self) -> str:
        """Its domain."""
        return self.entity_id.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Home:
    """What there is, in the order in which it is told."""

    floors: tuple[Floor, ...]
    """From the lowest to the highest; those without a level come last."""
    rooms: tuple[Room, ...]
    """Sorted by name, also those in which nothing is."""
    things: tuple[Thing, ...]
    """Sorted by domain and name, without those that are told elsewhere."""
    by_room: Mapping[str | None, tuple[Thing, ...]] = field(default_factory=dict)
    """The same by the ids of areas; None for what is in no room."""
    elsewhere: tuple[Thing, ...] = ()
    """Calendars and scripts, which tools of their own tell of."""

    @property
    def every(self) -> tuple[Thing, ...]:
        """All things."""
        return self.things + self.elsewhere


@singleton
def _homes(_hass: HomeAssistant) -> dict[str, tuple[int, Home]]:
    """Return homes by assistant, with the version that was read."""
    return {}


@callback
def async_get_home(hass: HomeAssistant, assistant: str) -> Home:
    """Return what an assistant may see, which is read anew when something of it has changed."""
    homes, state = _homes(hass), async_home_version(hass, assistant)
    known = homes.get(assistant)
    if known is None or known[0] != state:
        known = homes[assistant] = state, _read_home(hass, assistant)
    return known[1]


@callback
def _read_home(hass: HomeAssistant, assistant: str) -> Home:
    rooms = {area.id: _room(area) for area in ar.async_get(hass).async_list_areas()}
    found = [_named(hass, state, rooms) for state in exposed_states(hass, assistant)]
    told = tell_names([named for named, _ in found])
    every = sorted((_thing(named, area_id, told) for named, area_id in found), key=_place_of_thing)
    things = [thing for thing in every if thing.domain not in _TOLD_BY_THEIR_TOOLS]
    by_room: dict[str | None, list[Thing]] = {}
    for thing in things:
        by_room.setdefault(thing.area_id, []).append(thing)
    floors = sorted(fr.async_get(hass).async_list_floors(), key=_place_of_floor)
    return Home(
        tuple(Floor(floor.floor_id, floor.name.strip(), _sorted(floor.aliases)) for floor in floors),
        tuple(sorted(rooms.values(), key=lambda room: (room.name.casefold(), room.name, room.area_id))),
        tuple(things),
        {area_id: tuple(in_room) for area_id, in_room in by_room.items()},
        tuple(thing for thing in every if thing.domain in _TOLD_BY_THEIR_TOOLS),
    )


def _named(hass: HomeAssistant, state: State, rooms: Mapping[str, Room]) -> tuple[NamedThing, str | None]:
    """Return a thing with its names, and its area."""
    entry = er.async_get(hass).async_get(state.entity_id)
    area_id = er.async_get_effective_area_id(hass, entry) if entry else None
    room = rooms.get(area_id) if area_id else None
    names = intent.async_get_entity_aliases(hass, entry, state=state)
    words = (room.name, *room.aliases) if room else ()
    named = tuple(dict.fromkeys(filter(None, names)))
    thing = NamedThing(state.entity_id, named, words, needs_whole_name=state.domain in _FOUND_BY_NAME_ALONE)
    return thing, room.area_id if room else None


def _thing(named: NamedThing, area_id: str | None, told: Mapping[str, Told]) -> Thing:
    name = told[named.entity_id]
    return Thing(named.entity_id, named.names, area_id, name.name, name.also)


def _room(area: ar.AreaEntry) -> Room:
    return Room(area.id, area.name.strip(), _sorted(area.aliases), area.floor_id)


def _sorted(aliases: set[str]) -> tuple[str, ...]:
    """Put aliases in order, which are kept in none."""
    return tuple(sorted(filter(None, (alias.strip() for alias in aliases)), key=lambda name: (name.casefold(), name)))


def _place_of_thing(thing: Thing) -> tuple[str, str, str, str]:
    return thing.domain, thing.told.casefold(), thing.told, thing.entity_id


def _place_of_floor(floor: fr.FloorEntry) -> tuple[bool, int, str, str]:
    return floor.level is None, floor.level or 0, floor.name.casefold(), floor.floor_id
