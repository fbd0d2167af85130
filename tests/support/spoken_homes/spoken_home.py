"""A home of 2,000 entities in one language, and what is said in it: the YAML files in `homes/`.

A file has rooms by floor, and entities by domain and device class; every room has every
entity. In each second room a entity is called by its room first, as people do it, and
otherwise by itself alone, as Home Assistant does it today. Sensors of a technical kind,
which every device brings along, have English names everywhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import yaml
from homeassistant.core import split_entity_id
from pydantic import BaseModel, ConfigDict

from custom_components.chatterbox.home.entities import (
    ExposedEntity,
    Floor,
    Home,
    NamedEntity,
    Room,
    listed_names,
)
from custom_components.chatterbox.home.entity_index import EntityQuery

HOMES: Final = Path(__file__).parent / "homes"
LANGUAGES: Final = tuple(sorted(path.stem for path in HOMES.glob("*.yaml")))
GUEST_ROOMS: Final = 15
_TECHNICAL: Final = {
    "sensor": ("Uptime", "Last Seen", "Restart Reason"),
    "sensor/signal_strength": ("RSSI", "Link Quality"),
    "switch": ("Status LED", "Child Lock"),
    "button/restart": ("Restart",),
    "button/identify": ("Identify",),
    "select": ("Power-on Behavior", "Operation Mode"),
    "number": ("Transition", "Report Interval"),
    "update/firmware": ("Firmware",),
    "binary_sensor/connectivity": ("Connection",),
    "binary_sensor/problem": ("Fault",),
}


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    guest_room: str
    rooms: dict[str, tuple[str, ...]]
    entities: dict[str, tuple[str, ...]]
    also: dict[str, str]
    says: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Saying:
    """A sentence, and the id of the entity that it means."""

    query: EntityQuery
    means: str


@dataclass(frozen=True, slots=True)
class SpokenHome:
    """A home, what its entities are, and what is said in it."""

    home: Home
    kinds: dict[str, tuple[str, str]]
    """Domains and device classes by entity id."""
    sayings: tuple[Saying, ...]

    @classmethod
    def read(cls, language: str) -> Self:
        """Read the file of a language."""
        written = (HOMES / f"{language}.yaml").read_text(encoding="utf-8")
        file = _File.model_validate(yaml.load(written, yaml.CSafeLoader))
        rooms = list(_rooms(file))
        kinds: dict[str, tuple[str, str]] = {}
        named: list[tuple[NamedEntity, str]] = []
        ids: dict[str, str] = {}
        for number, room in enumerate(rooms):
            for kind, names in (*file.entities.items(), *_TECHNICAL.items()):
                domain, _, device_class = kind.partition("/")
                for name in names:
                    place = f"{room.name}/{name}"
                    entity_id = ids[place] = f"{domain}.thing_{len(named)}"
                    kinds[entity_id] = domain, device_class
                    full = f"{room.name} {name}" if number % 2 else name
                    also = (file.also[place],) if place in file.also else ()
                    named.append(
                        (
                            NamedEntity(entity_id, (full, *also), (room.name,)),
                            room.area_id,
                        )
                    )
        areas = {room.name: room.area_id for room in rooms}
        sayings = tuple(_saying(line, ids, areas) for line in file.says)
        return cls(_home(file, rooms, named), kinds, sayings)


def _rooms(file: _File) -> Iterator[Room]:
    numbers = range(1, GUEST_ROOMS + 1)
    names = [(name, floor) for floor, in_it in file.rooms.items() for name in in_it]
    top = list(file.rooms)[1]
    for name, floor in (
        *names,
        *((f"{file.guest_room} {number}", top) for number in numbers),
    ):
        yield Room(name, (), name.casefold(), floor)


def _home(file: _File, rooms: list[Room], named: list[tuple[NamedEntity, str]]) -> Home:
    listed = listed_names([entity for entity, _ in named])
    entities = tuple(
        ExposedEntity(
            one.entity_id,
            split_entity_id(one.entity_id)[0],
            one.names,
            area_id,
            *listed[one.entity_id],
        )
        for one, area_id in named
    )
    by_room: dict[str | None, tuple[ExposedEntity, ...]] = {
        room.area_id: tuple(one for one in entities if one.area_id == room.area_id)
        for room in rooms
    }
    return Home(
        tuple(Floor(name, (), name) for name in file.rooms),
        tuple(rooms),
        entities,
        by_room,
    )


def _saying(line: str, ids: dict[str, str], areas: dict[str, str]) -> Saying:
    words, means, *spoken_in = (part.strip() for part in line.split("|"))
    return Saying(
        EntityQuery(words, area_id=areas[spoken_in[0]] if spoken_in else None),
        ids[means],
    )
