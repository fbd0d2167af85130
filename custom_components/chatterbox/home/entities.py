"""The exposed home: floors, areas and entities with their shortest names, read again when the home changes.

States are no part of it. The same home is always read in the same order, so that
prompts stay identical.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import inf
from typing import Final

from homeassistant.const import (
    ATTR_DEVICE_CLASS,
    ATTR_FRIENDLY_NAME,
    EVENT_STATE_CHANGED,
)
from homeassistant.core import (
    CALLBACK_TYPE,
    Event,
    EventStateChangedData,
    HomeAssistant,
    State,
    callback,
    split_entity_id,
)
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    intent,
)

from ..agent.text import compared_names, words_by_language, words_of_names
from ..const import home_singleton
from ..internals.homeassistant import listen_exposure
from .entity_matches import exposed_states

_EVENTS: Final = (
    str(ar.EVENT_AREA_REGISTRY_UPDATED),
    str(dr.EVENT_DEVICE_REGISTRY_UPDATED),
    str(er.EVENT_ENTITY_REGISTRY_UPDATED),
    str(fr.EVENT_FLOOR_REGISTRY_UPDATED),
)
_ATTRIBUTES: Final = (ATTR_FRIENDLY_NAME, ATTR_DEVICE_CLASS)
"""The device class decides whether an entity is exposed by default."""


@dataclass(slots=True)
class _KnownHomes:
    """The homes as assistants see them, and the number of changes."""

    version: int = 0
    assistants: set[str] = field(default_factory=set)
    """Those whose exposure settings are followed."""
    listeners: list[CALLBACK_TYPE] = field(default_factory=list)
    homes: dict[str, tuple[int, Home]] = field(default_factory=dict)
    """By assistant, with the version that was read."""

    @callback
    def async_count(
        self, _event: Event | Event[EventStateChangedData] | None = None
    ) -> None:
        """Count a change."""
        self.version += 1
        for listener in self.listeners:
            listener()

    def async_follow(
        self,
        hass: HomeAssistant,
        assistant: str,
    ) -> None:
        """Count the changes of an assistant's exposure settings, too."""
        if assistant not in self.assistants:
            if listen_exposure(hass, assistant, self.async_count):
                self.assistants.add(assistant)
            else:
                self.version += 1  # it may have changed


def _follow_home(hass: HomeAssistant) -> _KnownHomes:
    known = _KnownHomes()
    for kind in _EVENTS:
        hass.bus.async_listen(kind, known.async_count)
    hass.bus.async_listen(
        EVENT_STATE_CHANGED, known.async_count, event_filter=_is_other_entity
    )
    return known


_known_homes: Final = home_singleton("known_homes", _follow_home)
"""Returns what is known of the homes of all assistants."""


def async_home_version(hass: HomeAssistant, assistant: str) -> int:
    """Return a number that stays the same until the home changes as an assistant sees it."""
    known = _known_homes(hass)
    known.async_follow(hass, assistant)
    return known.version


def async_listen_home(
    hass: HomeAssistant, assistant: str, listener: CALLBACK_TYPE
) -> CALLBACK_TYPE:
    """Call a listener for every change of the home as an assistant sees it, often many at once."""
    known = _known_homes(hass)
    known.async_follow(hass, assistant)
    known.listeners.append(listener)
    return lambda: known.listeners.remove(listener)


@callback
def _is_other_entity(data: EventStateChangedData) -> bool:
    """Return whether an entity has come, gone, or changed in more than its state."""
    old = data["old_state"]
    new = data["new_state"]
    if old is None or new is None:
        return True
    before = old.attributes
    now = new.attributes
    return before is not now and any(
        before.get(name) != now.get(name) for name in _ATTRIBUTES
    )


_JOINTS: Final = " \t-\N{EN DASH}\N{EM DASH}:|/\N{MIDDLE DOT}.,"
"""Separators between the name of a room and the rest of a name."""
_CONNECTING: Final = words_by_language(__file__, "connecting_words.toml")
"""Articles and prepositions, which do not tell names apart."""


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """The full names of an entity."""

    entity_id: str
    names: tuple[str, ...]
    """Its name first, then its aliases."""
    room: tuple[str, ...]
    """The name of its room and the aliases of the room; empty without a room."""
    needs_whole_name: bool = False
    """True if a call cannot give the room."""

    @property
    def name(self) -> str:
        """Its name; empty without one."""
        if self.names:
            return self.names[0]
        return ""


type ListedName = tuple[str, tuple[str, ...]]
"""The name of an entity as it is listed under its room, empty without one, and its other names that say more."""


def listed_names(entities: Sequence[NamedEntity]) -> Mapping[str, ListedName]:
    """Return the listed names by entity id."""
    names = _short_names(entities)
    texts = {
        *names.values(),
        *(name for one in entities for name in (*one.names, *one.room)),
    }
    forms = compared_names(texts)
    words = _telling_words(texts)
    of_entity = {
        entity.entity_id: {forms[name] for name in entity.names} for entity in entities
    }
    own = Counter(chain.from_iterable(of_entity.values()))
    in_room = Counter(
        (entity.room[:1], forms[names[entity.entity_id]]) for entity in entities
    )
    with_word = _entities_with_words(entities, words)
    listed_by_id: dict[str, ListedName] = {}
    for entity in entities:
        short = names[entity.entity_id]
        full = entity.name
        form = forms[short]
        has_others = own[form] > (form in of_entity[entity.entity_id])
        is_unique = in_room[entity.room[:1], form] == 1 and not has_others
        name = short if is_unique else full
        heard = (forms[name], forms.get(full))
        news = tuple(
            alias
            for alias in entity.names[1:]
            if forms[alias] not in heard and _is_news(alias, entity, words, with_word)
        )
        listed_by_id[entity.entity_id] = name, news
    return listed_by_id


def _entities_with_words(
    entities: Iterable[NamedEntity], words: Mapping[str, frozenset[str]]
) -> Mapping[str, set[str]]:
    """Return the ids of the entities that have a word in their names or those of their rooms, by the words."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for entity in entities:
        for text in (*entity.names[:1], *entity.room):
            for word in words[text]:
                found[word].add(entity.entity_id)
    return found


def _short_names(entities: Sequence[NamedEntity]) -> Mapping[str, str]:
    """Return the names of entities by id, without the names of their rooms if anything remains."""
    divided = {entity.entity_id: _divided(entity) for entity in entities}
    forms = compared_names(part for parts in divided.values() for part in parts)
    return {
        # Home Assistant reads "all" as every entity.
        entity_id: short
        if short and forms[begin] == forms[room] and forms[short] != "all"
        else full
        for entity_id, (full, room, begin, short) in divided.items()
    }


def _divided(entity: NamedEntity) -> tuple[str, str, str, str]:
    """Return the names of an entity and its room, and the beginning and the rest of the former if it may be divided."""
    full = entity.name
    if entity.room:
        room = entity.room[0]
    else:
        room = ""
    rest = full[len(room) :]
    short = rest.lstrip(_JOINTS)
    joint = rest.removesuffix(short)
    is_signed = short[:1].isdigit() and joint.endswith((" -", " ."))
    if (
        entity.needs_whole_name
        or not room
        or is_signed
        or not rest.startswith(tuple(_JOINTS))
    ):
        return full, room, "", ""
    return full, room, full[: len(room)], short


def _is_news(
    alias: str,
    entity: NamedEntity,
    words: Mapping[str, frozenset[str]],
    with_word: Mapping[str, set[str]],
) -> bool:
    """Return True if an alias says more than name and room, or could be the name of another entity."""
    if words[alias] == words[entity.name].union(
        *(words[room] for room in entity.room[:1])
    ):
        return False
    meant = [with_word.get(word, set()) for word in words[alias]]
    return not meant or set.intersection(*meant) != {entity.entity_id}


def _telling_words(texts: Iterable[str]) -> Mapping[str, frozenset[str]]:
    return {text: words - _CONNECTING for text, words in words_of_names(texts).items()}


def telling_words(*texts: str) -> frozenset[str]:
    """Return the words of texts in lower case, without articles and prepositions."""
    return frozenset[str]().union(*_telling_words(texts).values())


_LISTED_BY_TOOLS: Final = frozenset({"calendar", "script"})
"""Domains that Home Assistant's list leaves out, too: their own tools name the entities."""
_WITHOUT_AREA: Final = frozenset({"calendar", "humidifier", "todo"})
"""Domains with tools that take no area, or only the names that they list."""


@dataclass(frozen=True, slots=True)
class HomePlace:
    """A part of the home, which has names."""

    name: str
    aliases: tuple[str, ...]
    names: tuple[str, ...] = field(init=False)
    """Its name and aliases."""

    def __post_init__(self) -> None:
        """Join the names, which are read often."""
        object.__setattr__(
            self,
            "names",
            (self.name, *self.aliases),
        )


@dataclass(frozen=True, slots=True)
class Floor(HomePlace):
    """A floor of the home."""

    floor_id: str


@dataclass(frozen=True, slots=True)
class Room(HomePlace):
    """An area of the home."""

    area_id: str
    floor_id: str | None


@dataclass(frozen=True, slots=True)
class ExposedEntity:
    """An exposed entity."""

    entity_id: str
    domain: str
    names: tuple[str, ...]
    """The name and aliases that Home Assistant's tools accept; empty for an entity without a name."""
    area_id: str | None
    listed_name: str
    """The name under its room, without the name of the room; empty without a name."""
    other_names: tuple[str, ...]
    """The aliases that say something new."""


_SENSORS: Final = frozenset({"binary_sensor", "sensor"})


@dataclass(frozen=True, slots=True, eq=False)
class Home:
    """The exposed home, in the order of the list. It equals itself alone: it is compared in each turn."""

    floors: tuple[Floor, ...]
    """From the lowest to the highest, then those without a level."""
    rooms: tuple[Room, ...]
    """Sorted by name, including empty ones."""
    entities: tuple[ExposedEntity, ...]
    """Sorted by domain and name, without `elsewhere`."""
    by_room: Mapping[str | None, tuple[ExposedEntity, ...]] = field(
        default_factory=dict
    )
    """The same by area id; None for those in no room."""
    elsewhere: tuple[ExposedEntity, ...] = ()
    """Calendars and scripts, which their own tools name."""
    device_classes: frozenset[str] = frozenset()
    told_classes: frozenset[str] = frozenset()
    """The device classes that a model has to know: those of domains with things of another class or of none. Sensors
    are left out, which nobody controls.
    """

    @property
    def all_entities(self) -> tuple[ExposedEntity, ...]:
        """Return all entities."""
        return self.entities + self.elsewhere

    @property
    def places(self) -> tuple[HomePlace, ...]:
        """Return all rooms and floors."""
        return (*self.rooms, *self.floors)

    @property
    def all_names(self) -> list[str]:
        """Return the names of all entities, rooms and floors."""
        named: Sequence[ExposedEntity | HomePlace] = [*self.all_entities, *self.places]
        return [name for one in named for name in one.names]


def async_get_home(hass: HomeAssistant, assistant: str) -> Home:
    """Return the home that an assistant may see, read again only after a change."""
    known = _known_homes(hass)
    known.async_follow(hass, assistant)
    found = known.homes.get(assistant)
    if found is None or found[0] != known.version:
        found = known.homes[assistant] = known.version, _read_home(hass, assistant)
    return found[1]


def exposed_names(
    hass: HomeAssistant, assistant: str, domains: Collection[str] | None = None
) -> list[str]:
    """Return the names and aliases of the exposed entities, all or those of some domains, sorted, each once."""
    return sorted(
        {
            name
            for one in async_get_home(hass, assistant).all_entities
            if not domains or one.domain in domains
            for name in one.names
        }
    )


def _read_home(hass: HomeAssistant, assistant: str) -> Home:
    rooms = _rooms(hass)
    states = exposed_states(hass, assistant)
    found = [_named(hass, state, rooms) for state in states]
    listed = listed_names([named for named, _ in found])
    every = [
        ExposedEntity(
            one.entity_id,
            split_entity_id(one.entity_id)[0],
            one.names,
            area_id,
            *listed[one.entity_id],
        )
        for one, area_id in found
    ]
    every.sort(
        key=lambda one: (
            one.domain,
            one.listed_name.casefold(),
            one.listed_name,
            one.entity_id,
        )
    )
    entities = [one for one in every if one.domain not in _LISTED_BY_TOOLS]
    elsewhere = [one for one in every if one.domain in _LISTED_BY_TOOLS]
    by_room: dict[str | None, list[ExposedEntity]] = {}
    for entity in entities:
        by_room.setdefault(entity.area_id, []).append(entity)
    classes = {str(state.attributes.get(ATTR_DEVICE_CLASS) or "") for state in states}
    return Home(
        _floors(hass),
        tuple(rooms.values()),
        tuple(entities),
        {area_id: tuple(in_room) for area_id, in_room in by_room.items()},
        tuple(elsewhere),
        frozenset(classes - {""}),
        _told_classes(states),
    )


def _rooms(hass: HomeAssistant) -> Mapping[str, Room]:
    """Return the rooms by id, sorted by name."""
    rooms = [
        Room(
            area.name.strip(),
            _sorted(area.aliases),
            area.id,
            area.floor_id,
        )
        for area in ar.async_get(hass).async_list_areas()
    ]
    rooms.sort(key=lambda room: (room.name.casefold(), room.name, room.area_id))
    return {room.area_id: room for room in rooms}


def _floors(hass: HomeAssistant) -> tuple[Floor, ...]:
    """Return the floors from the lowest to the highest, then those without a level."""
    floors = sorted(
        fr.async_get(hass).async_list_floors(),
        key=lambda floor: (
            inf if floor.level is None else floor.level,
            floor.name.casefold(),
            floor.floor_id,
        ),
    )
    return tuple(
        Floor(floor.name.strip(), _sorted(floor.aliases), floor.floor_id)
        for floor in floors
    )


def _told_classes(states: Iterable[State]) -> frozenset[str]:
    classes: defaultdict[str, set[object]] = defaultdict(set)
    for state in states:
        classes[state.domain].add(state.attributes.get(ATTR_DEVICE_CLASS))
    several = [
        kinds
        for domain, kinds in classes.items()
        if domain not in _SENSORS and len(kinds) > 1
    ]
    return frozenset(str(kind) for kinds in several for kind in kinds if kind)


def _named(
    hass: HomeAssistant, state: State, rooms: Mapping[str, Room]
) -> tuple[NamedEntity, str | None]:
    """Return an entity with its names, and its area."""
    entry = er.async_get(hass).async_get(state.entity_id)
    if entry:
        area_id = er.async_get_effective_area_id(hass, entry)
    else:
        area_id = None
    if area_id:
        room = rooms.get(area_id)
    else:
        room = None
    names = intent.async_get_entity_aliases(
        hass,
        entry,
        state=state,
    )
    if room:
        words = room.names
    else:
        words = ()
    named = tuple(dict.fromkeys(filter(None, names)))
    entity = NamedEntity(
        state.entity_id, named, words, needs_whole_name=state.domain in _WITHOUT_AREA
    )
    return entity, room.area_id if room else None


def _sorted(aliases: set[str]) -> tuple[str, ...]:
    """Return aliases, which the registry keeps in a set, in a stable order."""
    return tuple(
        sorted(
            filter(
                None,
                (alias.strip() for alias in aliases),
            ),
            key=lambda name: (name.casefold(), name),
        )
    )
