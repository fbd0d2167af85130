"""The exposed home: floors, rooms, and the entities in them with their names, read from the registries.

States are no part of it. The same home is always read in the same order, so that prompts stay identical.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import area_registry as ar, entity_registry as er, floor_registry as fr, intent

from ..data import singleton
from .changes import async_home_version
from .entity_matches import exposed_states
from .names import ListedName, NamedEntity, listed_names

_LISTED_BY_TOOLS: Final = frozenset({"calendar", "script"})
"""Domains that Home Assistant's list leaves out, too: their own tools name the entities."""
_WITHOUT_AREA: Final = frozenset({"calendar", "humidifier", "todo"})
"""Domains with tools that take no area, or only the names that they list."""


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
class ExposedEntity:
    """An exposed entity."""

    entity_id: str
    names: tuple[str, ...]
    """The name and aliases that Home Assistant's tools accept; empty for an entity without a name."""
    area_id: str | None
    listed_name: str
    """The name under its room, without the name of the room; empty without a name."""
    other_names: tuple[str, ...]
    """The aliases that say something new."""

    @property
    def domain(self) -> str:
        """Return the domain."""
        return self.entity_id.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Home:
    """The exposed home, in the order of the list."""

    floors: tuple[Floor, ...]
    """From the lowest to the highest, then those without a level."""
    rooms: tuple[Room, ...]
    """Sorted by name, including empty ones."""
    entities: tuple[ExposedEntity, ...]
    """Sorted by domain and name, without `elsewhere`."""
    by_room: Mapping[str | None, tuple[ExposedEntity, ...]] = field(default_factory=dict)
    """The same by area id; None for those in no room."""
    elsewhere: tuple[ExposedEntity, ...] = ()
    """Calendars and scripts, which their own tools name."""

    @property
    def all_entities(self) -> tuple[ExposedEntity, ...]:
        """Return all entities."""
        return self.entities + self.elsewhere


@singleton
def _homes(_hass: HomeAssistant) -> dict[str, tuple[int, Home]]:
    """Return the homes by assistant, with the version that was read."""
    return {}


@callback
def async_get_home(hass: HomeAssistant, assistant: str) -> Home:
    """Return the home that an assistant may see, read again only after a change."""
    homes, state = _homes(hass), async_home_version(hass, assistant)
    known = homes.get(assistant)
    if known is None or known[0] != state:
        known = homes[assistant] = state, _read_home(hass, assistant)
    return known[1]


@callback
def _read_home(hass: HomeAssistant, assistant: str) -> Home:
    rooms = {area.id: _room(area) for area in ar.async_get(hass).async_list_areas()}
    found = [_named(hass, state, rooms) for state in exposed_states(hass, assistant)]
    listed = listed_names([named for named, _ in found])
    all_entities = sorted((_exposed_entity(named, area_id, listed) for named, area_id in found), key=_entity_order)
    entities = [entity for entity in all_entities if entity.domain not in _LISTED_BY_TOOLS]
    by_room: dict[str | None, list[ExposedEntity]] = {}
    for entity in entities:
        by_room.setdefault(entity.area_id, []).append(entity)
    floors = sorted(fr.async_get(hass).async_list_floors(), key=_floor_order)
    return Home(
        tuple(Floor(floor.floor_id, floor.name.strip(), _sorted(floor.aliases)) for floor in floors),
        tuple(sorted(rooms.values(), key=lambda room: (room.name.casefold(), room.name, room.area_id))),
        tuple(entities),
        {area_id: tuple(in_room) for area_id, in_room in by_room.items()},
        tuple(entity for entity in all_entities if entity.domain in _LISTED_BY_TOOLS),
    )


def _named(hass: HomeAssistant, state: State, rooms: Mapping[str, Room]) -> tuple[NamedEntity, str | None]:
    """Return an entity with its names, and its area."""
    entry = er.async_get(hass).async_get(state.entity_id)
    area_id = er.async_get_effective_area_id(hass, entry) if entry else None
    room = rooms.get(area_id) if area_id else None
    names = intent.async_get_entity_aliases(hass, entry, state=state)
    words = (room.name, *room.aliases) if room else ()
    named = tuple(dict.fromkeys(filter(None, names)))
    entity = NamedEntity(state.entity_id, named, words, needs_whole_name=state.domain in _WITHOUT_AREA)
    return entity, room.area_id if room else None


def _exposed_entity(named: NamedEntity, area_id: str | None, listed: Mapping[str, ListedName]) -> ExposedEntity:
    name = listed[named.entity_id]
    return ExposedEntity(named.entity_id, named.names, area_id, name.name, name.other_names)


def _room(area: ar.AreaEntry) -> Room:
    return Room(area.id, area.name.strip(), _sorted(area.aliases), area.floor_id)


def _sorted(aliases: set[str]) -> tuple[str, ...]:
    """Return aliases, which the registry keeps in a set, in a stable order."""
    return tuple(sorted(filter(None, (alias.strip() for alias in aliases)), key=lambda name: (name.casefold(), name)))


def _entity_order(entity: ExposedEntity) -> tuple[str, str, str, str]:
    return entity.domain, entity.listed_name.casefold(), entity.listed_name, entity.entity_id


def _floor_order(floor: fr.FloorEntry) -> tuple[bool, int, str, str]:
    return floor.level is None, floor.level or 0, floor.name.casefold(), floor.floor_id
