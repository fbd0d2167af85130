"""The home in short, as a model reads it: each floor, room and domain once, and the things in them by their names.

Pure text of what `home_things.py` read. Must not know states, who asks, or Home Assistant. It says the same as Home
Assistant's own list in a quarter of the room, and the same home always gives the same bytes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from .home_names import listed, quoted
from .home_things import Floor, Home, Room, Thing

_GUIDE: Final = (
    "What there is in this home: # begins a floor, then come its rooms, and in each room its things by domain. A thing "
    "is called by its name below, with its room as area. In quotes, a name is a JSON string."
)
_ON_STATES: Final = (
    "Answer from this list whether something exists, and where. It holds no states: before you answer about a state, "
    "value, mode or measurement, or act depending on one, call {tool}. Never say that you cannot look."
)
_NO_FLOOR: Final = "# (other rooms)"
_NO_ROOM: Final = "# (in no room)"
_NAMELESS: Final = "(without a name)"


@dataclass(frozen=True, slots=True)
class HomeTelling:
    """How a model is told of the home."""

    is_compact: bool = True
    """In short; otherwise by Home Assistant's own list."""


AS_USUAL: Final = HomeTelling()


def describe_home(home: Home, state_tool: str) -> str:
    """Write what there is in a home, and how to use it; `state_tool` is the name of the tool that tells states."""
    return "\n".join((_GUIDE, _ON_STATES.format(tool=state_tool), *home_lines(home)))


def home_lines(home: Home) -> Iterator[str]:
    """Yield the lines of the list itself."""
    filled = [room for room in home.rooms if home.by_room.get(room.area_id)]
    known = {floor.floor_id for floor in home.floors}
    for floor in home.floors:
        on_floor = [room for room in filled if room.floor_id == floor.floor_id]
        if on_floor:
            yield f"# {named(floor)}"
            yield from _rooms(home, on_floor)
    elsewhere = [room for room in filled if room.floor_id not in known]
    if elsewhere and len(elsewhere) < len(filled):
        yield _NO_FLOOR
    yield from _rooms(home, elsewhere)
    if nowhere := home.by_room.get(None, ()):
        yield _NO_ROOM
        yield from _domains(nowhere)


def _rooms(home: Home, rooms: Sequence[Room]) -> Iterator[str]:
    for room in rooms:
        yield named(room)
        yield from _domains(home.by_room[room.area_id])


def _domains(things: Sequence[Thing]) -> Iterator[str]:
    for domain, alike in groupby(things, key=lambda thing: thing.domain):
        yield f" {domain}: {', '.join(map(told, alike))}"


def named(place: Floor | Room) -> str:
    """Write the name of a floor or a room with its other names."""
    return f"{quoted(place.name)}{_also(place.aliases)}"


def told(thing: Thing) -> str:
    """Write what a thing is called under its room."""
    return f"{quoted(thing.told)}{_also(thing.also)}" if thing.told else _NAMELESS


def _also(names: Sequence[str]) -> str:
    return f" (also {listed(names)})" if names else ""
