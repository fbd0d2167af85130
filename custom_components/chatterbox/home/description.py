"""Writes the list of the exposed home for the prompt: floors, rooms, and the entities in them by domain and name.

Pure text of what `home/entities.py` read. Must not know states, who asks, or Home
Assistant. It says the same as Home Assistant's own list in less room, and
the same home always gives the same bytes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Final

from ..const import DOMAIN
from ..settings.agent import HomeDetail
from .entities import ExposedEntity, Home, HomePlace, Room

_GUIDE: Final = (
    "What there is in this home: # begins a floor, then come its rooms, and in each room its things by domain, with = "
    "before another name. In a call, give a thing's name as it stands here, and its room as area."
)
_ON_QUOTES: Final = "In quotes, a name is a JSON string."
_ON_FLOORS: Final = "For all of a floor, give it as area."
_ON_CLASSES: Final = "Values of device_class: {classes}."
_ON_STATES: Final = (
    "Answer from this list whether something exists, and where. It holds no states: before you answer about a state, "
    "value, mode or measurement, or act depending on one, call {tool}. Never say that you cannot look."
)
FIND_ENTITIES: Final = f"{DOMAIN}__find_entities"
"""Name of the tool that searches a home with too many entities to list."""
_GUIDE_TO_MANY: Final = (
    "This home has {count} things, too many to list. # begins a floor, then come its rooms, and in each room how many "
    "things of each domain there are. Beside the person's words stand things that these may mean. Find any other, and "
    "what there is, with {find}: never guess a name. In a call, give a thing's name as it is told, and its room as "
    "area. In quotes, a name is a JSON string."
)
_ON_STATES_OF_MANY: Final = (
    "None of that holds states: before you answer about a state, value, mode or measurement, or act depending on one, "
    "call {tool}. Never say that you cannot look."
)
GUIDE_TO_CALLS: Final = (
    "To act, always call a tool: for one thing with its name, area and domain, for all of a kind in a room with area "
    "and domain alone."
)
"""In place of Home Assistant's guide to its tools, which says that a name is enough without an area: not for short
names.
"""
ON_CHANGES: Final = "Changes since the list of the home was written, in place of any that messages before name:"
"""Begins the line before changes of the home."""
_NO_FLOOR: Final = "# (other rooms)"
_NO_ROOM: Final = "# (in no room)"

AS_USUAL: Final = HomeDetail()


@lru_cache(maxsize=4)
def describe_home(
    home: Home,
    state_tool: str,
    telling: HomeDetail = AS_USUAL,
) -> str:
    """Write what there is in a home, and how to use it; `state_tool` is the name of the tool that tells states."""
    is_large = telling.sums_up(len(home.entities))
    lines = home_list(home, is_large=is_large)
    guide = _GUIDE
    on_states = _ON_STATES
    if is_large:
        guide = _GUIDE_TO_MANY.format(
            count=len(home.entities),
            find=FIND_ENTITIES,
        )
        on_states = _ON_STATES_OF_MANY
    elif '"' in lines:
        guide = f"{guide} {_ON_QUOTES}"
    if len(home.floors) > 1:
        guide = f"{guide} {_ON_FLOORS}"
    classes = home.told_classes
    if classes:
        guide = f"{guide} {_ON_CLASSES.format(classes=', '.join(sorted(classes)))}"
    return "\n".join((guide, on_states.format(tool=state_tool), lines))


@lru_cache(maxsize=4)
def home_list(
    home: Home,
    *,
    is_large: bool,
) -> str:
    """Write the list alone, which sums up a large home."""
    return "\n".join(home_lines(home, _counts if is_large else None))


def home_changes(before: Home, now: Home) -> str:
    """Write the entities that have changed in the list of a home; empty without any, and if floors or rooms have."""
    if (before.floors, before.rooms) != (now.floors, now.rooms):
        return ""
    lines, earlier = (dict(_single_lines(home)) for home in (now, before))
    changes = [
        f"- {earlier_line}: {'now ' + lines[entity_id] if entity_id in lines else 'no longer there'}"
        for entity_id, earlier_line in earlier.items()
        if lines.get(entity_id) != earlier_line
    ]
    changes += [
        f"- new: {line}"
        for entity_id, line in lines.items()
        if entity_id not in earlier
    ]
    if changes:
        return "\n".join((ON_CHANGES, *changes))
    return ""


def _single_lines(home: Home) -> Iterator[tuple[str, str]]:
    """Yield each entity with its place, domain and names in one line."""
    floors = {floor.floor_id: f"{quoted(floor.name)} / " for floor in home.floors}
    rooms = {
        room.area_id: f"{floors.get(room.floor_id or '', '')}{quoted(room.name)}"
        for room in home.rooms
    }
    for entity in home.entities:
        place = rooms.get(
            entity.area_id or "",
            _NO_ROOM.removeprefix("# "),
        )
        yield entity.entity_id, f"{place}, {entity.domain} {listed_entities([entity])}"


type _Contents = Callable[[Sequence[ExposedEntity]], Iterator[str]]
"""Yields the lines for the entities in one place."""


def home_lines(
    home: Home,
    contents: _Contents | None = None,
) -> Iterator[str]:
    """Yield the lines of the list; without `contents`, all entities are named."""
    contents = contents or _domains
    filled = [room for room in home.rooms if home.by_room.get(room.area_id)]
    known = {floor.floor_id for floor in home.floors}
    for floor in home.floors:
        on_floor = [room for room in filled if room.floor_id == floor.floor_id]
        if on_floor:
            yield f"# {named(floor)}"
            yield from _rooms(
                home,
                on_floor,
                contents,
            )
    elsewhere = [room for room in filled if room.floor_id not in known]
    if elsewhere and len(elsewhere) < len(filled):
        yield _NO_FLOOR
    yield from _rooms(
        home,
        elsewhere,
        contents,
    )
    nowhere = home.by_room.get(None, ())
    if nowhere:
        yield _NO_ROOM
        yield from contents(nowhere)


def _rooms(
    home: Home,
    rooms: Sequence[Room],
    contents: _Contents,
) -> Iterator[str]:
    for room in rooms:
        yield named(room)
        yield from contents(home.by_room[room.area_id])


def _domains(entities: Sequence[ExposedEntity]) -> Iterator[str]:
    for domain, alike in groupby(entities, key=attrgetter("domain")):
        yield f" {domain}: {listed_entities(alike)}"


def _counts(entities: Sequence[ExposedEntity]) -> Iterator[str]:
    counts = Counter(entity.domain for entity in entities)
    texts = (f"{number} {domain}" for domain, number in sorted(counts.items()))
    yield f" {', '.join(texts)}"


def named(place: HomePlace) -> str:
    """Write the name of a floor or a room with its other names."""
    return f"{quoted(place.name)}{also(place.aliases)}"


_STRUCTURE: Final = frozenset(',:=()"\\<>')
"""Characters with a meaning in the list."""
_JOINERS: Final = "\u200c\u200d"
"""Without these, words of some languages and some emoji fall apart."""


def quoted(name: str) -> str:
    r"""Return a name as it is, or as a JSON string if it could be read as more than one name on one line.

    Markup is escaped: a call with `"\u003c"` in its arguments has the same name as one
    with `"<"`.
    """
    is_plain = (
        not _STRUCTURE.intersection(name)
        and name.isprintable()
        and not name.startswith(("#", "-", "*"))
    )
    if is_plain and name.strip():
        return name
    return f'"{"".join(map(_escaped, name))}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character in "<>" or not (character.isprintable() or character in _JOINERS):
        units = character.encode("utf-16-be", "surrogatepass").hex()
        return "".join(
            f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4)
        )
    return character


def listed(names: Iterable[str], most: int = 100) -> str:
    """Return several names, separated by commas; of too many, the first ones and how many there are more."""
    some = [*map(quoted, names)]
    more = len(some) - most
    text = ", ".join(some[:most])
    return f"{text}, and {more} more" if more > 0 else text


def also(names: Sequence[str]) -> str:
    """Return other names, to follow the first one."""
    return "".join(f" = {quoted(name)}" for name in names)


_NAMELESS: Final = "(without a name)"


def listed_entities(entities: Iterable[ExposedEntity]) -> str:
    """Return the names of entities under their room, with their other names."""
    return ", ".join(
        f"{quoted(one.listed_name)}{also(one.other_names)}"
        if one.listed_name
        else _NAMELESS
        for one in entities
    )
