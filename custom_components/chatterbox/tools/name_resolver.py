"""Calls with names as the home is told by them → calls with names as Home Assistant's tools know them.

Knows Home Assistant's intents, rooms and preferences. Must not know how a home is written, or how a call runs. A model
reads `Ceiling Light` under `Kitchen`, and may call it that, with its room or without. That is put right before anybody
judges the call, so that what is asked about, recorded and run is the thing that is meant. It is done only where exactly
one thing can be meant: a name that Home Assistant itself knows stays as it is, and so does one that nothing goes by.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, override

from homeassistant.components.homeassistant.llm import GetLiveContextTool
from homeassistant.components.media_player.llm import MediaPlayTool, MediaSearchTool
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import intent, llm

from ..agent.messages import JsonObject, JsonValue, ToolDefinition
from ..agent.protocols import Deny, Hooks, Rewrite
from ..data import singleton
from ..effects.intents import Naming, intent_naming
from ..home.entities import Home, Thing, async_get_home
from ..home.entity_matches import matching_states
from ..home.names import compared, listed, quoted
from .merge import unwrapped
from .weather import GetForecastTool

_BETWEEN: Final = re.compile(
    r"(?<!\w)-(?!\w)(?=.*\w)|(?<=\w)-(?=\w)"
    r"|[\s\N{EN DASH}\N{EM DASH}:;|/\N{MIDDLE DOT}.,!?()\[\]'\"\u00ab\u00bb\u2018-\u201f]+"
)
"""What stands between words. A sign at the end of a name, or before a number, tells it from another one."""
_MOST_LISTED: Final = 12
"""Rooms or names that a model is told of when it has to say which thing is meant."""
_EVERYTHING: Final = "all"
"""Stands for all that fits the rest of a call. Source: `DynamicServiceIntentHandler.async_handle`."""


@dataclass(frozen=True, slots=True)
class _Search:
    """By which arguments of a call things are found, and what they say."""

    slot: str
    name: str
    area: str | None
    floor: str | None
    domains: frozenset[str]
    device_classes: frozenset[str]
    takes_area: bool
    """Whether the call can say in which room a thing is."""

    def fitting(self, hass: HomeAssistant, assistant: str, entity_ids: Iterable[str]) -> frozenset[str]:
        """Return those that are where the call says, and of the kind that it says."""
        constraints = intent.MatchTargetsConstraints(
            area_name=self.area,
            floor_name=self.floor,
            domains=self.domains or None,
            device_classes=self.device_classes or None,
            assistant=assistant,
        )
        return frozenset([state.entity_id for state in matching_states(hass, constraints, entity_ids)])


@dataclass(frozen=True, slots=True)
class _Names:
    """What the things of a home may be called."""

    home: Home
    known: Mapping[str, frozenset[str]]
    """Entity ids by the names that Home Assistant compares."""
    told: Mapping[str, frozenset[str]]
    """Entity ids by the words of what they may be called, with their rooms and without."""
    things: Mapping[str, Thing]
    """By entity id."""


@singleton
def _names_by_assistant(_hass: HomeAssistant) -> dict[str, _Names]:
    """Return the names that are known, by assistant."""
    return {}


class NameResolver(Hooks):
    """Puts the names in the calls of one turn right. It is the first of the hooks, so that all others see the same."""

    def __init__(self, hass: HomeAssistant, llm_context: llm.LLMContext, tools: Mapping[str, llm.Tool]) -> None:
        """Read the calls of `tools`, by their names, for who asks."""
        self._hass = hass
        self._llm_context = llm_context
        self._tools = tools

    @override
    async def pre_tool_use(self, tool: ToolDefinition, arguments: JsonObject) -> Deny | Rewrite[JsonObject] | None:
        offered = self._tools.get(tool.name)
        search = _search(self._hass, offered, arguments) if offered else None
        if search is None or search.name == _EVERYTHING or self._hass.states.get(search.name):
            return None
        assistant = self._llm_context.assistant
        names = _names(self._hass, assistant)
        if search.fitting(self._hass, assistant, names.known.get(compared(search.name), ())):
            return None
        meant = search.fitting(self._hass, assistant, names.told.get(_words(search.name), ()))
        things = [names.things[entity_id] for entity_id in sorted(meant)]
        match self._nearest(names.home, things) if len(things) > 1 else things:
            case []:
                return None
            case [thing]:
                known = search.fitting(self._hass, assistant, names.known[compared(thing.names[0])])
                # Home Assistant takes an id for a name, and no other thing has it.
                return Rewrite({**arguments, search.slot: thing.names[0] if len(known) == 1 else thing.entity_id})
            case several:
                return Deny(_which_one(names.home, search, several))

    def _nearest(self, home: Home, things: Sequence[Thing]) -> Sequence[Thing]:
        """Return the one in the room, or else on the floor, of the device that asks; all of them if there is none."""
        near = llm.async_get_match_preferences(self._hass, self._llm_context)
        floors = {room.area_id: room.floor_id for room in home.rooms}
        in_room = [thing for thing in things if near.area_id and thing.area_id == near.area_id]
        on_floor = [thing for thing in things if near.floor_id and floors.get(thing.area_id or "") == near.floor_id]
        return next((found for found in (in_room, on_floor) if len(found) == 1), things)


@callback
def _search(hass: HomeAssistant, tool: llm.Tool, arguments: JsonObject) -> _Search | None:
    """Return what a call looks for by name; None for one that does not."""
    match unwrapped(tool):
        case llm.IntentTool(intent_type=intent_type):
            naming, prefix = intent_naming(hass, intent_type), ""
        case GetLiveContextTool():
            naming, prefix = Naming(("name", "area")), ""
        case GetForecastTool():
            naming, prefix = Naming(("name", "area"), frozenset({"weather"})), ""
        case MediaPlayTool() | MediaSearchTool():
            naming, prefix = Naming(("name", "area", "floor"), frozenset({"media_player"})), "player_"
        case _:
            return None
    given = {slot: _text(arguments.get(f"{prefix}{slot}")) for slot in naming.slots}
    if not (name := given.get("name")):
        return None
    domains = frozenset([domain.lower() for domain in _texts(arguments.get("domain"))]) or naming.domains
    classes = frozenset(_texts(arguments.get("device_class")))
    takes_area = "area" in naming.slots
    return _Search(f"{prefix}name", name, given.get("area"), given.get("floor"), domains, classes, takes_area)


@callback
def _names(hass: HomeAssistant, assistant: str) -> _Names:
    """Return what the things of the home may be called at the moment."""
    kept, home = _names_by_assistant(hass), async_get_home(hass, assistant)
    if assistant not in kept or kept[assistant].home is not home:
        kept[assistant] = _names_of(home)
    return kept[assistant]


def _names_of(home: Home) -> _Names:
    rooms = {room.area_id: (room.name, *room.aliases) for room in home.rooms}
    known: dict[str, set[str]] = defaultdict(set)
    told: dict[str, set[str]] = defaultdict(set)
    for thing in home.every:
        for name in thing.names:
            known[compared(name)].add(thing.entity_id)
        for words in _called(thing, rooms.get(thing.area_id or "", ())):
            told[words].add(thing.entity_id)
    things = {thing.entity_id: thing for thing in home.every}
    return _Names(home, _frozen(known), _frozen(told), things)


def _frozen(ids: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    return {name: frozenset(found) for name, found in ids.items()}


def _called(thing: Thing, rooms: Iterable[str]) -> Iterator[str]:
    """Yield the words of all that a thing may be called."""
    for name in dict.fromkeys((thing.told, *thing.names)):
        if name:
            yield (words := _words(name))
            for room in rooms:
                if words.startswith(beginning := f"{_words(room)} "):
                    yield words.removeprefix(beginning)
                yield _words(f"{room} {name}")
                yield _words(f"{name} {room}")


def _which_one(home: Home, search: _Search, things: Sequence[Thing]) -> str:
    """Say that a name may mean several things, and how to name one of them."""
    several = f"Not run: several things are called {quoted(search.name)}"
    if not search.takes_area:
        whole = dict.fromkeys(thing.names[0] for thing in things)
        return f"{several}: {_some(list(whole))}. Give the whole name, or ask which one is meant."
    rooms = {room.area_id: room.name for room in home.rooms}
    places = _some(sorted({rooms[thing.area_id] for thing in things if thing.area_id}))
    where = f": in {places}" if places else ""
    return f"{several}{where}. Give the area too, or ask which one is meant."


def _some(names: Sequence[str]) -> str:
    """List names, but not too many."""
    return f"{listed(names[:_MOST_LISTED])}{' and more' if len(names) > _MOST_LISTED else ''}"


def _words(name: str) -> str:
    """Write a name as its words, whatever stands between them; one without any stays as it is."""
    return " ".join(_BETWEEN.sub(" ", name.casefold()).split()) or compared(name)


def _text(value: JsonValue) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _texts(value: JsonValue) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [text for one in values if (text := _text(one))]
