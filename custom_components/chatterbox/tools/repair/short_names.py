"""Replaces listed names in tool calls by names that Home Assistant's tools accept.

A model reads `Ceiling Light` under `Kitchen` and may use that name, with the room or
without. It is replaced before the call is judged, so that the same entity is asked
about, recorded and controlled. A name is replaced only if exactly one entity can be
meant: of several with that name, the only one that the tool can act on, or else the
only one near the speaker. The unique names that Home Assistant knows, and names of
nothing, are left alone. Decision 20.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final, override

from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent, llm

from ...agent.json.coercion import Unfit
from ...agent.json.text import as_list
from ...agent.messages import (
    JsonObject,
    JsonValue,
    ToolDefinition,
)
from ...agent.protocols import Deny, Hooks, Rewrite
from ...agent.text import compared, compared_names
from ...effects.intents import Naming, delayed_command, intent_naming, items_meant
from ...home.description import listed, quoted
from ...home.entities import ExposedEntity, Home, async_get_home
from ...home.entity_matches import matching_states
from ...home.name_index import NameIndex, floor_called, name_words, place_name
from ...internals.llm import KnownTool, known_tool
from ..annotations import unwrapped
from ..dispatch import NOT_DELAYED, call_effects
from ..own.registry import SharedTool
from ..script_fields import ScriptFields

_MAX_LISTED: Final = 12
"""Rooms or names in the answer to an ambiguous name."""
EVERYTHING: Final = "all"
"""Means every entity that matches the rest of a call. Source: `DynamicServiceIntentHandler.async_handle`."""


@dataclass(frozen=True, slots=True)
class _Search:
    """The arguments of a call that select entities."""

    slot: str
    name: str
    constraints: intent.MatchTargetsConstraints
    """The rest of them: area, floor, domains and device classes."""
    naming: Naming
    """All that the call may give."""

    def fitting(
        self,
        hass: HomeAssistant,
        entity_ids: Iterable[str],
    ) -> frozenset[str]:
        """Return the given entities that match area, floor, domains and device classes of the call."""
        return frozenset(
            [
                state.entity_id
                for state in matching_states(hass, self.constraints, entity_ids)
            ]
        )


@dataclass(frozen=True, slots=True)
class _Names:
    """The names by which entities of a home may be called."""

    known: Mapping[str, AbstractSet[str]]
    """Entity ids by the names that Home Assistant accepts."""
    entities: Mapping[str, ExposedEntity]
    """By entity id."""


class NameResolver(Hooks):
    """Resolves names in the calls of one turn. It is the first hook, so that all others see the resolved names."""

    def __init__(
        self,
        hass: HomeAssistant,
        llm_context: llm.LLMContext,
        tools: Mapping[str, llm.Tool],
    ) -> None:
        """Resolve names in calls of `tools`, by tool name."""
        self._hass = hass
        self._llm_context = llm_context
        self._tools = tools

    @override
    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Rewrite[JsonObject] | None:
        offered = self._tools.get(tool.name)
        if offered is None:
            return None
        named = self._with_name(
            tool,
            offered,
            arguments,
        )
        own = unwrapped(offered)
        if isinstance(own, llm.IntentTool):
            if delayed_command(own.intent_type, arguments):
                return Deny(NOT_DELAYED)  # not even by a plan
            if not isinstance(named, Deny):
                named = self._with_item(own.intent_type, named)
        meant = named if isinstance(named, Deny) else self._with_ids(offered, named)
        if isinstance(meant, Deny):
            return meant
        if meant != arguments:
            return Rewrite(meant)
        return None

    def _with_name(
        self, tool: ToolDefinition, offered: llm.Tool, arguments: JsonObject
    ) -> Deny | JsonObject:
        """Return arguments with the names by which Home Assistant finds the place and the entity that are meant."""
        naming, prefix = _naming(self._hass, offered)
        given = self._with_places(
            naming,
            prefix,
            arguments,
        )
        search = _search(
            naming,
            prefix,
            given,
            self._llm_context.assistant,
        )
        if search is None or search.name == EVERYTHING:
            return given
        if self._hass.states.get(search.name):
            return given
        area = search.constraints.area_name
        floor_id = floor_called(self._hass, area) if area else None
        if floor_id:
            constraints = replace(
                search.constraints,
                area_name=None,
                floor_name=floor_id,
            )
            search = replace(search, constraints=constraints)
        name = self._meant(
            tool,
            search,
            given,
        )
        if isinstance(name, Deny):
            return name
        return {
            **given,
            search.slot: name,
        }

    def _with_places(
        self, naming: Naming, prefix: str, arguments: JsonObject
    ) -> JsonObject:
        """Return arguments with places by their names; a floor may be given as the area."""
        given = dict(arguments)
        area, floor = (f"{prefix}{slot}" for slot in ("area", "floor"))
        if "area" in naming.slots:
            place = text_of(given.get(area))
        else:
            place = ""
        if place and not given.get(floor) and floor_called(self._hass, place):
            if "floor" not in naming.slots:
                return given  # the tool knows floors by itself
            given[floor] = given.pop(area)
        for slot in {*naming.slots} & {"area", "floor"}:
            place = text_of(given.get(f"{prefix}{slot}"))
            if place:
                given[f"{prefix}{slot}"] = place_name(
                    self._hass,
                    slot,
                    place,
                )
        return given

    def _with_item(
        self,
        intent_type: str,
        arguments: JsonObject,
    ) -> Deny | JsonObject:
        """Return arguments with the item of a list as it stands there."""
        items = items_meant(
            self._hass, intent_type, arguments, self._llm_context.assistant
        )
        if len(items) > 1:
            several = f"several items are called {quoted(str(arguments['item']))}: {listed(items, _MAX_LISTED)}"
            return Deny(
                f"Not run: {several}. Give the whole name, or ask which one is meant."
            )
        if items:
            return {
                **arguments,
                "item": items[0],
            }
        return arguments

    def _with_ids(
        self,
        offered: llm.Tool,
        arguments: JsonObject,
    ) -> Deny | JsonObject:
        """Return arguments with ids in place of names in the fields of a script."""
        script = unwrapped(offered)
        if not isinstance(script, llm.ActionTool):
            return arguments
        fields = ScriptFields(
            self._hass,
            async_get_home(self._hass, self._llm_context.assistant),
            self._called,
        )
        try:
            return fields.resolved(script.parameters, arguments)
        except Unfit as error:
            return Deny(str(error), is_final=False)

    def _called(
        self,
        name: str,
        fitting: AbstractSet[str],
    ) -> AbstractSet[str]:
        """Return those of some exposed entities that a name may mean, in the room of the person if that tells."""
        names = _names(home := async_get_home(self._hass, self._llm_context.assistant))
        known = fitting & names.known.get(compared(name), frozenset())
        meant = known or _index(home).find(name, fitting.__and__)
        entities = [names.entities[one] for one in sorted(meant)]
        return {one.entity_id for one in self._nearest(home, entities)}

    def _meant(
        self, tool: ToolDefinition, search: _Search, arguments: JsonObject
    ) -> Deny | JsonValue:
        """Return the name for the entity that is meant: the one that was given, unless it has to be replaced."""
        home = async_get_home(self._hass, self._llm_context.assistant)
        fitting = partial(search.fitting, self._hass)
        names = _names(home)
        reads = tool.annotations.read_only
        known = fitting(names.known.get(compared(search.name), frozenset()))
        if len(known) == 1 or (known and reads):
            return arguments[search.slot]
        meant = sorted(known or _index(home).find(search.name, fitting))
        able = [
            one
            for one in meant
            if reads
            or self._acts_on(
                one,
                tool,
                search,
                arguments,
            )
        ]
        if known and not able:
            return arguments[search.slot]  # the tool tells best why
        entities = [names.entities[entity_id] for entity_id in able or meant]
        match self._nearest(home, entities):
            case []:
                return arguments[search.slot]
            case [entity]:
                same = fitting(names.known[compared(entity.names[0])])
                return _sure_name(entity, same)
            case several:
                return Deny(_which_one(home, search, several))

    def _acts_on(
        self,
        entity_id: str,
        tool: ToolDefinition,
        search: _Search,
        arguments: JsonObject,
    ) -> bool:
        """Return whether a call with the ID of an entity in place of a name would act on it."""
        given = {
            **arguments,
            search.slot: entity_id,
        }
        effects = call_effects(
            self._hass, self._llm_context, self._tools[tool.name], given
        )
        return any(action.entity_id == entity_id for action in effects.actions)

    def _nearest(
        self, home: Home, entities: Sequence[ExposedEntity]
    ) -> Sequence[ExposedEntity]:
        """Return the only entity in the room, or else on the floor, of the device that asks; otherwise all of them."""
        near = llm.async_get_match_preferences(self._hass, self._llm_context)
        floors = {room.area_id: room.floor_id for room in home.rooms}
        in_room = [
            entity
            for entity in entities
            if near.area_id and entity.area_id == near.area_id
        ]
        on_floor = [
            entity
            for entity in entities
            if near.floor_id and floors.get(entity.area_id or "") == near.floor_id
        ]
        return next(
            (found for found in (in_room, on_floor) if len(found) == 1), entities
        )


def _sure_name(entity: ExposedEntity, alike: AbstractSet[str]) -> str:
    """Return the name of an entity, or its id, which Home Assistant accepts as a name, if others are called alike."""
    if len(alike) == 1:
        return entity.names[0]
    return entity.entity_id


def _naming(
    hass: HomeAssistant,
    tool: llm.Tool,
) -> tuple[Naming, str]:
    """Return the slots by which a tool selects entities, and how the names of its parameters begin."""
    match unwrapped(tool):
        case llm.IntentTool(intent_type=intent_type):
            return intent_naming(hass, intent_type), ""
        case own if known_tool(own) is KnownTool.LIVE_CONTEXT:
            return Naming(("name", "area")), ""
        case SharedTool(shared=shared):
            return shared.naming, ""
        case own if known_tool(own) in (KnownTool.PLAY_MEDIA, KnownTool.SEARCH_MEDIA):
            return Naming(
                ("name", "area", "floor"), frozenset({"media_player"})
            ), "player_"
        case _:
            return Naming(), ""


def _search(
    naming: Naming,
    prefix: str,
    arguments: JsonObject,
    assistant: str | None,
) -> _Search | None:
    """Return the search of a call that selects entities by name; None for others."""
    given = {slot: text_of(arguments.get(f"{prefix}{slot}")) for slot in naming.slots}
    name = given.get("name")
    if not name:
        return None
    domains = {*map(str.lower, texts_of(arguments.get("domain")))} or {*naming.domains}
    constraints = intent.MatchTargetsConstraints(
        area_name=given.get("area") or None,
        floor_name=given.get("floor") or None,
        domains=domains or None,
        device_classes={*texts_of(arguments.get("device_class"))} or None,
        assistant=assistant,
    )
    return _Search(
        f"{prefix}name",
        name,
        constraints,
        naming,
    )


def entities_called(
    hass: HomeAssistant, assistant: str, name: str, *, in_full: bool = False
) -> frozenset[str]:
    """Return the ids of the exposed entities that a name may mean; `in_full` without a short name."""
    names = _names(home := async_get_home(hass, assistant))
    known = names.known.get(
        compared(name),
        (),
    )
    short = () if in_full else _index(home).find(name)
    return frozenset({*known, *short, *names.entities.keys() & {name}})


@lru_cache(maxsize=4)
def _names(home: Home) -> _Names:
    """Return the names of a home."""
    known: dict[str, set[str]] = defaultdict(set)
    forms = compared_names(
        name for entity in home.all_entities for name in entity.names
    )
    for entity in home.all_entities:
        for name in entity.names:
            known[forms[name]].add(entity.entity_id)
    return _Names(
        known,
        {entity.entity_id: entity for entity in home.all_entities},
    )


@lru_cache(maxsize=4)
def _index(home: Home) -> NameIndex[str]:
    """Return entity ids by their listed and full names, with their rooms and without. It takes a while to build."""
    rooms = {room.area_id: room.names for room in home.rooms}
    index = NameIndex[str]()
    for entity in home.all_entities:
        for name in _called(entity, rooms.get(entity.area_id or "", ())):
            index.add(name, entity.entity_id)
    return index


def _called(
    entity: ExposedEntity,
    rooms: Iterable[str],
) -> Iterator[str]:
    """Yield every name of an entity, or its words."""
    for name in dict.fromkeys((entity.listed_name, *entity.names)):
        if name:
            yield name
            for room in rooms:
                words = name_words(name)
                if words.startswith(prefix := f"{name_words(room)} "):
                    yield words.removeprefix(prefix)
                yield f"{room} {name}"
                yield f"{name} {room}"


def _which_one(
    home: Home,
    search: _Search,
    entities: Sequence[ExposedEntity],
) -> str:
    """Return the error for a name that may mean several entities, with what tells them apart."""
    several = f"Not run: several things are called {quoted(search.name)}"
    rooms = {room.area_id: room.name for room in home.rooms}
    names, places, domains = (
        dict.fromkeys(values)
        for values in (
            (entity.names[0] for entity in entities),
            (rooms[entity.area_id] if entity.area_id else "" for entity in entities),
            (entity.domain for entity in entities),
        )
    )
    if "area" in search.naming.slots and len(places) > 1:
        where = listed(sorted(filter(None, places)), _MAX_LISTED)
        return f"{several}: in {where}. Give the area too, or ask which one is meant."
    if len(names) == len(entities):
        return f"{several}: {listed(names, _MAX_LISTED)}. Give the whole name, or ask which one is meant."
    if search.naming.takes_domain and len(domains) == len(entities):
        return f"{several}. Give the domain: {' or '.join(sorted(domains))}."
    ids = [entity.entity_id for entity in entities]
    return f"{several}. Ask which one is meant, then give it as the name: {listed(ids, _MAX_LISTED)}."


def text_of(value: JsonValue) -> str:
    """Return a stripped text; empty for anything else."""
    return value.strip() if isinstance(value, str) else ""


def texts_of(value: JsonValue) -> list[str]:
    """Return a text as a list, or the texts of a list, without empty ones."""
    return [*filter(None, map(text_of, as_list(value)))]
