"""Repairs calls of intents that Home Assistant would refuse, although only one thing can be meant.

A repaired call acts on no entity that the call as written would not act on, unless the
call as written would fail. A filter is dropped only where a name, or a room that the
person may mean, has determined what is meant, and where it says nothing else of that:
a class that nothing has, or a place that does not exist and repeats a part of the
names. Whatever contradicts a name stays, and Home Assistant refuses the call: the name
or the place is wrong, and the model knows the request.
"""

from collections.abc import Collection, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from homeassistant.components.cover import DOMAIN as COVER_DOMAIN, CoverEntityFeature
from homeassistant.components.valve import DOMAIN as VALVE_DOMAIN, ValveEntityFeature
from homeassistant.const import ATTR_DEVICE_CLASS
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import (
    area_registry as ar,
    floor_registry as fr,
    intent,
    llm,
)

from ...agent.json.coercion import Unfit, fit_known
from ...agent.messages import JsonObject, JsonValue, ToolDefinition
from ...agent.text import plain_name
from ...effects.device_intents import features_of
from ...effects.intents import (
    Naming,
    delay_of,
    delayed_command,
    intent_naming,
    selection,
)
from ...home.description import listed
from ...home.entities import telling_words
from ...home.entity_matches import areas_of_entities, matching_states
from ...home.request import Request
from ..own.registry import planning_call
from .short_names import EVERYTHING, entities_called, text_of, texts_of

_CLASS: Final = "device_class"
_PLACES: Final = ("area", "floor")
_FILTERS: Final = (
    _CLASS,
    "domain",
    *_PLACES,
)
_TAKES_POSITION: Final = {
    COVER_DOMAIN: CoverEntityFeature.SET_POSITION,
    VALVE_DOMAIN: ValveEntityFeature.SET_POSITION,
}
_ENDS: Final = {
    0: intent.INTENT_TURN_OFF,
    100: intent.INTENT_TURN_ON,
}
"""The intents that close and open, by the position that this means."""
_GO_HOME: Final = "HassVacuumReturnToBase"
_NO_PAUSE: Final = (
    f"Nothing was done: no tool lets a vacuum pause where it is. {_GO_HOME} sends it home. Say so, and ask whether the"
    " person wants that."
)
_OF_VACUUMS: Final = {
    intent.INTENT_TURN_ON: "HassVacuumStart",
    intent.INTENT_TURN_OFF: _GO_HOME,
    intent.INTENT_STOP_MOVING: _GO_HOME,
}
"""The intents that do what others cannot with a vacuum, as Alexa has it."""
_SELECTING: Final = frozenset({"name", *_PLACES})


@dataclass(frozen=True, slots=True)
class CallRepairs:
    """Repairs calls of the tools of one turn."""

    hass: HomeAssistant
    assistant: str
    intents: Mapping[str, llm.IntentTool]
    """By name."""
    request: Request

    def tool_of(self, intent_type: str) -> str | None:
        """Return the name of the tool of an intent."""
        names = [
            name for name, one in self.intents.items() if one.intent_type == intent_type
        ]
        return names[0] if names else None

    def repaired(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> tuple[str, JsonObject]:
        """Return the tool that is meant by a call, and arguments that it takes; see `Repair`."""
        own = self.intents.get(tool.name)
        if own is None:
            return tool.name, arguments
        arguments = fit_known(arguments, tool.parameters)
        known = tool.parameters.get("properties")
        if not isinstance(known, dict) or not arguments.keys() <= known.keys():
            # It may say when, how far or what not. The schema refuses it.
            return tool.name, arguments
        command = delayed_command(own.intent_type, arguments)
        if command:
            planned = planning_call(self.hass, command, delay_of(arguments))
            if planned:
                return planned
        call = CallToRepair(self, own.intent_type, tool.name, arguments)
        for repair in ORDER:
            call = repair(call)
        return call.tool, call.arguments


@dataclass(frozen=True, slots=True)
class CallToRepair:
    """A call of an intent, and the turn in which it was made."""

    turn: CallRepairs
    intent_type: str
    tool: str
    arguments: JsonObject

    @property
    def name(self) -> str:
        """The name of what is meant; empty where the call names nothing, or everything."""
        name = text_of(self.arguments.get("name"))
        return "" if name == EVERYTHING else name

    @property
    def naming(self) -> Naming:
        """The slots by which the call selects entities."""
        return intent_naming(self.turn.hass, self.intent_type)

    @property
    def filters(self) -> list[str]:
        """The filters that the call gives; what is none may be a setting, like the area to clean."""
        return [
            one
            for one in _FILTERS
            if one in {_CLASS, "domain", *self.naming.slots}
            and not intent.is_blank_slot_value(self.arguments.get(one))
        ]

    def states(
        self, filters: Collection[str], domains: AbstractSet[str] = frozenset()
    ) -> list[State]:
        """Return the exposed entities with the name of the call that fit some of its filters and some domains."""
        hass = self.turn.hass
        assistant = self.turn.assistant
        area, floor = (
            text_of(self.arguments.get(one)) if one in filters else ""
            for one in _PLACES
        )
        given, classes = (
            _texts(self.arguments.get(one)) if one in filters else frozenset[str]()
            for one in ("domain", _CLASS)
        )
        constraints = intent.MatchTargetsConstraints(
            None,
            area or None,
            floor or None,
            given or domains or None,
            classes or None,
            assistant=assistant,
        )
        if self.name:
            called = entities_called(
                hass,
                assistant,
                self.name,
            )
        else:
            called = None
        return [
            state
            for state in matching_states(hass, constraints, called)
            if not domains or state.domain in domains
        ]


def without_useless_filters(call: CallToRepair) -> CallToRepair:
    """Drop filters that leave nothing of what a name or a room determines: models make up classes and places."""
    naming = call.naming
    if not naming.slots or not (call.name or _is_in_one_room(call, naming)):
        return call
    # What Home Assistant finds fits all filters. Most calls end here, without the index of names.
    written = selection(
        call.arguments,
        call.turn.assistant,
        None,
    )
    if any(matching_states(call.turn.hass, written)):
        return call
    base = call.states(
        () if call.name else ("area", "domain"),
        naming.domains,
    )
    useless = [one for one in call.filters if _says_nothing_of(call, one, base)]
    rest = [one for one in call.filters if one not in useless]
    if not useless or not call.states(rest, naming.domains):
        return call
    remaining = {
        name: value for name, value in call.arguments.items() if name not in useless
    }
    return replace(call, arguments=remaining)


def _is_in_one_room(call: CallToRepair, naming: Naming) -> bool:
    """Return whether a call is about a kind of thing in a room that the person may mean."""
    room = text_of(call.arguments.get("area"))
    has_kind = bool(naming.domains or _texts(call.arguments.get("domain")))
    areas = intent.find_areas(
        room,
        ar.async_get(call.turn.hass),
    )
    return has_kind and call.turn.request.may_mean(
        "area",
        {one.id for one in areas},
    )


def _says_nothing_of(
    call: CallToRepair,
    one: str,
    base: Sequence[State],
) -> bool:
    """Return whether a filter leaves nothing of some entities, and says nothing else of them."""
    meant = {state.entity_id for state in base}
    if any(state.entity_id in meant for state in call.states((one,))):
        return False
    if one == _CLASS:
        has_class = any(state.attributes.get(ATTR_DEVICE_CLASS) for state in base)
        return bool(call.name) or (len(base) == 1 and not has_class)
    return one in _PLACES and _repeats_names(
        call,
        one,
        base,
    )


def _repeats_names(
    call: CallToRepair,
    kind: str,
    base: Sequence[State],
) -> bool:
    """Return whether a place does not exist, and repeats a part of the names of all entities that are meant."""
    hass = call.turn.hass
    place = text_of(call.arguments.get(kind))
    areas = ar.async_get(hass)
    floors = fr.async_get(hass)
    found = (
        intent.find_areas(place, areas)
        if kind == "area"
        else intent.find_floors(place, floors)
    )
    # A short name could mean another thing there, and beside a room it may be a second place.
    in_full = (
        entities_called(
            hass,
            call.turn.assistant,
            call.name,
            in_full=True,
        )
        if call.name
        else frozenset[str]()
    )
    words = telling_words(place)
    return (
        not any(found)
        and bool(words)
        and all(
            state.entity_id in in_full
            and words <= telling_words(call.name, *_where(hass, state))
            for state in base
        )
    )


def _where(
    hass: HomeAssistant,
    state: State,
) -> list[str]:
    """Return the names of the area and the floor of an entity."""
    area = ar.async_get(hass).async_get_area(
        areas_of_entities(hass).get(state.entity_id) or ""
    )
    floor = fr.async_get(hass).async_get_floor((area and area.floor_id) or "")
    return [place.name for place in (area, floor) if place]


def opened_or_closed(call: CallToRepair) -> CallToRepair:
    """Open or close what can take no position. Raises `Unfit` for a position between."""
    position = call.arguments.get("position")
    if call.intent_type != intent.INTENT_SET_POSITION:
        return call
    moved = call.states(_FILTERS, frozenset(_TAKES_POSITION))
    takes_position = any(
        features_of(state) & _TAKES_POSITION[state.domain] for state in moved
    )
    if not moved or takes_position or not isinstance(position, int):
        return call
    if position not in _ENDS:
        names = listed(sorted(state.name for state in moved))
        raise Unfit(
            f"Only open and closed are possible, which are the positions 100 and 0: {names}."
        )
    tool = call.turn.tool_of(_ENDS[position])
    if not tool:
        return call
    domains: list[JsonValue] = [*sorted({state.domain for state in moved})]
    others = {key: value for key, value in call.arguments.items() if key != "position"}
    return replace(
        call,
        tool=tool,
        arguments=others | {"domain": domains},
    )


def started_or_sent_home(call: CallToRepair) -> CallToRepair:
    """Start a vacuum, or send it home: it cannot be turned on, off or stopped. Raises `Unfit` for a pause."""
    meant = _OF_VACUUMS.get(call.intent_type)
    selected = (
        matching_states(
            call.turn.hass,
            selection(
                call.arguments,
                call.turn.assistant,
                None,
            ),
        )
        if meant
        else ()
    )
    if not meant or {state.domain for state in selected} != {"vacuum"}:
        return call
    if "pause" in call.turn.request.wanted and meant == _GO_HOME:
        raise Unfit(_NO_PAUSE)
    tool = call.turn.tool_of(meant)
    if not tool:
        return call
    remaining = {key: one for key, one in call.arguments.items() if key in _SELECTING}
    return replace(
        call,
        tool=tool,
        arguments=remaining,
    )


ORDER: Final = (
    without_useless_filters,
    opened_or_closed,
    started_or_sent_home,
)
"""All repairs, in their order."""


def _texts(value: JsonValue) -> frozenset[str]:
    """Return a text or the texts of a list in small letters."""
    return frozenset(map(plain_name, texts_of(value)))
