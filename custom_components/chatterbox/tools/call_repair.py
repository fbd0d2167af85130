"""Repairs calls of intents that Home Assistant would refuse, and refuses those whose parameters it would ignore.

A repaired call acts on no entity that the call as written would not act on, unless the
call as written would fail. A filter is dropped only where a name, or a room that the
person may mean, has determined what is meant, and where it says nothing else of that:
it repeats a part of the names of the entity, of its area or its floor, or the home does
not know. Another area or floor beside a name, also one that does not exist, refuses the
call: the name or the place is wrong, and the model knows the request. Recorded models
wrote "Downstairs" as the area of "Roborock Downstairs", and no other place of their
own.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from hassil.intents import SlotList, TextSlotList
from hassil.sample import sample_expression
from homeassistant.components.cover import DOMAIN as COVER_DOMAIN, CoverEntityFeature
from homeassistant.components.todo.const import DOMAIN as TODO_DOMAIN
from homeassistant.components.valve import DOMAIN as VALVE_DOMAIN, ValveEntityFeature
from homeassistant.const import ATTR_DEVICE_CLASS, ATTR_SUPPORTED_FEATURES
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import (
    area_registry as ar,
    entity_registry as er,
    floor_registry as fr,
    intent,
    llm,
)
from homeassistant.util.color import COLORS

from ..agent.json.coercion import Unfit, bare_name, is_called
from ..agent.json.text import display
from ..agent.messages import JsonObject, JsonValue, ToolDefinition
from ..agent.text import clipped, plain_name
from ..effects.intents import (
    Naming,
    delay_of,
    delayed_command,
    intent_naming,
    selection,
)
from ..home.description import listed, quoted
from ..home.entities import telling_words
from ..home.entity_matches import areas_of_entities, is_named_in, matching_states
from ..home.name_index import place_name
from ..home.request import Request
from ..settings.tool_names import LATER_TOOL, SENTENCE_TOOL
from .name_resolver import EVERYTHING, entities_called

_CLASS: Final = "device_class"
_FILTERS: Final = (_CLASS, "domain", "floor", "area")
_SILENT: Final = frozenset(
    {
        "comment",
        "explanation",
        "language",
        "rationale",
        "reason",
        "reasoning",
        "userid",
        "why",
    }
)
"""Parameters that say nothing about the act, in their bare form."""
_STATES: Final = frozenset({"action", "command", "on", "power", "state"})
_SWITCHES: Final[Mapping[str, AbstractSet[str]]] = {
    intent.INTENT_TURN_ON: {"on", "true", "turn on", "turn_on"},
    intent.INTENT_TURN_OFF: {"false", "off", "turn off", "turn_off"},
}
"""Values of the parameters in `_STATES` that repeat the name of a tool."""
_KINDS: Final = frozenset(
    {
        "devicetype",
        "devicetypes",
        "entitytype",
        "entitytypes",
        "kind",
        "kinds",
        "type",
        "types",
    }
)
"""Parameters that give a domain, in their bare form."""
_LATER: Final = (
    "It acts now and on all that it names; for later, call the tool that "
    "plans, or say that you cannot do it."
)
_KEY_LENGTH: Final = 60
"""Characters of an unknown parameter in a message."""
_TAKES_POSITION: Final = {
    COVER_DOMAIN: CoverEntityFeature.SET_POSITION,
    VALVE_DOMAIN: ValveEntityFeature.SET_POSITION,
}
_UNDETERMINED: Final = (
    "Nothing was done: {} is no device_class of anything, and without it the call would be about everything of its"
    " domain. Give the name, the area or the floor that the person means."
)
_ENDS: Final = {0: intent.INTENT_TURN_OFF, 100: intent.INTENT_TURN_ON}
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
_SELECTING: Final = frozenset({"name", "area", "floor"})
_MOVED: Final = frozenset({"open", "close"})
"""Wishes that are about a cover, whatever kind of thing a model takes it for."""


SET_LIGHT: Final = "HassLightSet"
"""The intent that sets brightness and colour."""
_WHITES: Final = {
    "warm": 2700,
    "soft": 2700,
    "neutral": 4000,
    "natural": 4000,
    "daylight": 5500,
    "cool": 6500,
    "cold": 6500,
}
"""Colour temperatures in kelvin, by the names of shades of white."""
_WHITE: Final = re.compile(rf"({'|'.join(_WHITES)})[ _-]?(?:white)?")
_HEX: Final = re.compile("#([0-9a-f]{6})")


@dataclass(frozen=True, slots=True)
class CallRepairs:
    """Repairs calls of the tools of one turn."""

    hass: HomeAssistant
    assistant: str
    intents: Mapping[str, llm.IntentTool]
    """By name."""
    request: Request
    colors: SlotList | None = None
    """The names of colours in the language of the request, where lights are offered."""

    def added_to(
        self, definitions: Sequence[ToolDefinition]
    ) -> tuple[ToolDefinition, ...]:
        """Return definitions of the tools; those of intents repair their calls."""
        return tuple(
            replace(
                one,
                repair=partial(self._repaired, self.intents[one.name].intent_type, one),
            )
            if one.name in self.intents
            else one
            for one in definitions
        )

    def _repaired(
        self, intent_type: str, tool: ToolDefinition, arguments: JsonObject
    ) -> tuple[str, JsonObject]:
        """Return the tool that is meant by a call, and arguments that it takes. Raises `Unfit`."""
        known, naming = _properties(tool), intent_naming(self.hass, intent_type)
        if command := delayed_command(intent_type, arguments):
            when = f"in {seconds} seconds" if (seconds := delay_of(arguments)) else ""
            given: JsonObject = {"kind": "act", "when": when, "tool": SENTENCE_TOOL}
            return LATER_TOOL, {**given, "arguments": {"sentence": command}}
        if naming.slots:
            chosen = _Selection(self.hass, self.assistant, naming, known, self.request)
            arguments = chosen.repaired(chosen.translated(chosen.with_list(arguments)))
        unknown = [
            name
            for name, value in arguments.items()
            if name not in known and not _says_nothing(intent_type, naming, name, value)
        ]
        if unknown:
            raise Unfit(self._refusal(tool, naming, unknown))
        arguments = {name: value for name, value in arguments.items() if name in known}
        if intent_type == SET_LIGHT:
            return tool.name, _with_known_color(arguments, self.colors)
        if intent_type == intent.INTENT_SET_POSITION:
            return self._moved(tool, arguments)
        meant = _OF_VACUUMS.get(intent_type)
        return self._sent(tool, arguments, meant) if meant else (tool.name, arguments)

    def _refusal(
        self, tool: ToolDefinition, naming: Naming, unknown: Sequence[str]
    ) -> str:
        """Return the error for parameters that a tool does not have, with what takes them."""
        names = ", ".join(clipped(name, _KEY_LENGTH) for name in unknown)
        reason = f"{names} {'is not a parameter' if len(unknown) == 1 else 'are not parameters'}, so nothing was done."
        has = f"{tool.name} has {', '.join(sorted(_properties(tool))) or 'no parameters'}."
        if tool.annotations.read_only or not naming.slots:
            return f"{reason} {has}"
        takers = {
            f"{name} takes {one}."
            for one in unknown
            for name, own in self.intents.items()
            if intent_naming(self.hass, own.intent_type).slots
            and any(is_called(key, one) for key in _parameters(own))
        }
        return " ".join((reason, has, *sorted(takers), _LATER))

    def _sent(
        self, tool: ToolDefinition, arguments: JsonObject, meant: str
    ) -> tuple[str, JsonObject]:
        """Start or send home a vacuum, which can neither be turned on or off nor be stopped."""
        selected = matching_states(
            self.hass, selection(arguments, self.assistant, None)
        )
        if {state.domain for state in selected} == {"vacuum"}:
            if "pause" in self.request.wanted and meant == _GO_HOME:
                raise Unfit(_NO_PAUSE)
            for name, own in self.intents.items():
                if own.intent_type == meant:
                    return name, {
                        key: value
                        for key, value in arguments.items()
                        if key in _SELECTING
                    }
        return tool.name, arguments

    def _moved(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> tuple[str, JsonObject]:
        """Open or close what can take no position. Raises `Unfit` where only another position is given."""
        naming, position = (
            Naming(("area", "floor"), frozenset(_TAKES_POSITION)),
            arguments.get("position"),
        )
        chosen = _Selection(
            self.hass, self.assistant, naming, _properties(tool), self.request
        )
        moved = chosen.states(arguments, _FILTERS)
        if not moved or not isinstance(position, int):
            return tool.name, arguments
        if any(
            state.attributes.get(ATTR_SUPPORTED_FEATURES, 0)
            & _TAKES_POSITION[state.domain]
            for state in moved
        ):
            return tool.name, arguments
        if position not in _ENDS:
            names = listed(sorted(state.name for state in moved))
            raise Unfit(
                f"Only open and closed are possible, which are the positions 100 and 0: {names}."
            )
        for name, own in self.intents.items():
            if own.intent_type == _ENDS[position]:
                domains: list[JsonValue] = [*sorted({state.domain for state in moved})]
                return name, {
                    key: value for key, value in arguments.items() if key != "position"
                } | {"domain": domains}
        return tool.name, arguments


@dataclass(frozen=True, slots=True)
class _Selection:
    """The entities that the calls of a tool select."""

    hass: HomeAssistant
    assistant: str
    naming: Naming
    known: JsonObject
    """The schemas of the parameters that the tool has."""
    request: Request

    def translated(self, arguments: JsonObject) -> JsonObject:
        """Return arguments in which no area is given as a floor, no floor as an area, and no domain as a class or type.

        Raises `Unfit` for a domain that is given as a class where neither a name nor a
        place determines what is meant.
        """
        arguments = self._with_domain(arguments)
        for place, other in (("area", "floor"), ("floor", "area")):
            value, beside = _text(arguments.get(place)), _text(arguments.get(other))
            meant = (
                self._places(other, value)
                if value and {place, other} <= {*self.naming.slots}
                else set()
            )
            if (
                meant
                and not self._places(place, value)
                and (not beside or self._places(other, beside) == meant)
            ):
                del arguments[place]
                arguments[other] = beside or value
        classes, domains = (
            _texts(arguments.get(_CLASS)),
            _texts(arguments.get("domain")),
        )
        possible = (
            domains
            or self.naming.domains
            or {state.domain for state in self.hass.states.async_all()}
        )
        fits = (
            classes
            and self._is_valid(arguments, _CLASS)
            and self.states(arguments, _FILTERS)
        )
        if classes and classes <= possible and not fits:
            if not self._is_determined(arguments):
                raise Unfit(_UNDETERMINED.format(display(arguments[_CLASS])))
            del arguments[_CLASS]
            arguments |= (
                {"domain": [*sorted(classes)]} if "domain" in self.known else {}
            )
        places = {
            one: place_name(self.hass, one, place)
            for one in ("area", "floor")
            if (place := _text(arguments.get(one)))
        }
        return arguments | places

    def with_list(self, arguments: JsonObject) -> JsonObject:
        """Return arguments in which a list is not named like the item: the words name it, or there is only one.

        Raises `Unfit` if there are several.
        """
        name, item = _name(arguments), _text(arguments.get("item"))
        if (
            self.naming.domains != {TODO_DOMAIN}
            or not name
            or plain_name(name) != plain_name(item)
        ):
            return arguments
        if self.states(arguments, ()) or not (lists := self.states({}, ())):
            return arguments
        words = self.request.words
        meant = [
            state for state in lists if is_named_in(self.hass, state.entity_id, words)
        ] or lists
        if len(meant) > 1:
            names = listed(sorted(quoted(state.name) for state in lists))
            raise Unfit(
                f"Nothing was done: there is no list {quoted(name)}. The lists are {names}."
            )
        return {**arguments, "name": meant[0].name}

    def _with_domain(self, arguments: JsonObject) -> JsonObject:
        """Return arguments in which a domain is not given as a type, where a name or a place determines what is meant.

        Only the domain is added, so that a call acts on no more than without it.
        """
        given = [
            one
            for one in arguments
            if one not in self.known and bare_name(one) in _KINDS
        ]
        kinds = {domain for one in given for domain in _texts(arguments[one])}
        is_domain = bool(kinds) and kinds <= {
            state.domain for state in self.hass.states.async_all()
        }
        if (
            not is_domain
            or _texts(arguments.get("domain")) - kinds
            or not self._is_determined(arguments)
        ):
            return dict(arguments)
        domains: list[JsonValue] = [*sorted(kinds)]
        return {
            name: value for name, value in arguments.items() if name not in given
        } | {"domain": domains}

    def _is_determined(self, arguments: JsonObject) -> bool:
        """Return whether a call has a name, or a place that exists and that the person may mean."""
        if _name(arguments):
            return True
        places = [
            (one, place)
            for one in ("area", "floor")
            if (place := _text(arguments.get(one)))
        ]
        return any(
            self.request.may_mean(kind, self._places(kind, name))
            for kind, name in places
        )

    def repaired(self, arguments: JsonObject) -> JsonObject:
        """Return arguments without the filters that leave nothing of what a name or a room determines.

        Raises `Unfit` for a class that nothing in the room has, and for what
        contradicts a name.
        """
        filters = [one for one in _FILTERS if self._is_given(arguments, one)]
        by_room = not _name(arguments)
        is_one_room = "area" in filters and self._is_valid(arguments, "area")
        if by_room and not (
            is_one_room and (self.naming.domains or "domain" in filters)
        ):
            return arguments
        if not filters or any(
            one in {"area", "floor"} and not _text(arguments[one]) for one in filters
        ):
            return arguments
        is_valid = all(self._is_valid(arguments, one) for one in filters)
        if is_valid and (
            self.states(arguments, filters, in_full=True)
            or self.states(arguments, filters)
        ):
            return arguments
        base = self.states(arguments, ("area", "domain") if by_room else ())
        useless = [
            one for one in filters if not self._leaves_some(arguments, one, base)
        ]
        dropped = [
            one for one in useless if self._contradicts_nothing(arguments, one, base)
        ]
        rest = [one for one in filters if one not in dropped]
        if not base or not self.states(
            arguments, [one for one in rest if one != _CLASS]
        ):
            if not by_room and base and {*rest} <= {*self.known}:
                if (meant := self._as_said(arguments, useless, base)) is not None:
                    return meant
                raise Unfit(
                    self._contradiction(
                        arguments, [one for one in useless if one in rest] or rest, base
                    )
                )
            return arguments
        if _CLASS in useless and _CLASS in rest:
            classes = {
                state.name: state.attributes.get(ATTR_DEVICE_CLASS) or "none"
                for state in base
            }
            there = "; ".join(
                f"{listed([name])}: {one}" for name, one in sorted(classes.items())
            )
            raise Unfit(
                f"Nothing there has this device_class. What there is: {there}. Name what is meant."
            )
        if by_room and not self._is_determined(arguments):
            return arguments
        return {name: value for name, value in arguments.items() if name not in dropped}

    def _as_said(
        self, arguments: JsonObject, useless: Sequence[str], base: Sequence[State]
    ) -> JsonObject | None:
        """Return a call without a place, or a kind, that a model made up: the words name the thing and no other place.

        A place that does not exist may be a translation of another one that the words
        name. Whatever kind a model takes it for, a cover is what can be opened or
        closed.
        """
        words, moves = self.request.words, not self.request.wanted.isdisjoint(_MOVED)
        meant = [
            state for state in base if state.domain == COVER_DOMAIN or not moves
        ] or base
        if len(meant) != 1 or not is_named_in(self.hass, meant[0].entity_id, words):
            return None
        if len(base) > 1 and "domain" not in self.known:
            return None
        is_cover = moves and meant[0].domain == COVER_DOMAIN
        for one in useless:
            is_place, value = one in {"area", "floor"}, _text(arguments[one])
            is_meant = self.request.has_word_of(value) or self.request.may_mean(
                one, self._places(one, value)
            )
            if (is_meant or self._is_elsewhere(meant[0])) if is_place else not is_cover:
                return None
        rest = {name: value for name, value in arguments.items() if name not in useless}
        return (
            rest | {"domain": [COVER_DOMAIN]}
            if is_cover and "domain" in self.known
            else rest
        )

    def _is_elsewhere(self, state: State) -> bool:
        """Return whether the words name a room or a floor that is not that of an entity."""
        area_id, floor_id = (
            self._place_of("area", state),
            self._place_of("floor", state),
        )
        areas = [
            one
            for one in ar.async_get(self.hass).async_list_areas()
            if one.id != area_id
        ]
        floors = [
            one
            for one in fr.async_get(self.hass).async_list_floors()
            if one.floor_id != floor_id
        ]
        named = [name for area in areas for name in (area.name, *area.aliases)]
        named += [name for floor in floors for name in (floor.name, *floor.aliases)]
        entry = er.async_get(self.hass).async_get(state.entity_id)
        own = [
            *intent.async_get_entity_aliases(self.hass, entry, state=state),
            *self._where(state),
        ]
        return bool(self.request.words_of(named) - self.request.words_of(own))

    def states(
        self, arguments: JsonObject, filters: Iterable[str], *, in_full: bool = False
    ) -> list[State]:
        """Return the exposed entities that have the name of a call, `in_full` no short one, and fit some filters."""
        given = {
            one: arguments[one] for one in filters if self._is_given(arguments, one)
        }
        where = _text(given.get("area")), _text(given.get("floor"))
        constraints = intent.MatchTargetsConstraints(
            None, *where, assistant=self.assistant
        )
        name = _name(arguments)
        called = (
            entities_called(self.hass, self.assistant, name, in_full=in_full)
            if name
            else None
        )
        domains, classes = _texts(given.get("domain")), _texts(given.get(_CLASS))
        return [
            state
            for state in matching_states(self.hass, constraints, called)
            if (not self.naming.domains or state.domain in self.naming.domains)
            and (not domains or state.domain in domains)
            and (not classes or state.attributes.get(ATTR_DEVICE_CLASS) in classes)
        ]

    def _is_given(self, arguments: JsonObject, one: str) -> bool:
        """Return whether a call has a filter: what is no filter of a tool may be a setting, like the area to clean."""
        is_filter = (
            one in {_CLASS, "domain", *self.naming.slots} or one not in self.known
        )
        return is_filter and not intent.is_blank_slot_value(arguments.get(one))

    def _is_valid(self, arguments: JsonObject, one: str) -> bool:
        """Return whether a tool has a filter, and its value exists."""
        if one in {"area", "floor"}:
            place = _text(arguments[one])
            return one in self.known and bool(place and self._places(one, place))
        match self.known.get(one):
            case {"items": {"enum": list(values)}}:
                return _texts(arguments[one]) <= {str(value) for value in values}
            case schema:
                return schema is not None

    def _leaves_some(
        self, arguments: JsonObject, one: str, base: Sequence[State]
    ) -> bool:
        found = {state.entity_id for state in self.states(arguments, (one,))}
        return self._is_valid(arguments, one) and not found.isdisjoint(
            state.entity_id for state in base
        )

    def _contradicts_nothing(
        self, arguments: JsonObject, one: str, base: Sequence[State]
    ) -> bool:
        """Return whether a filter that leaves nothing of `base` says nothing else of it."""
        match one:
            case "area" | "floor":
                meant, name = self._places(one, _text(arguments[one])), _name(arguments)
                # a short name could mean another thing there, and beside a room it may
                # be a second place
                if not meant:
                    called = (
                        entities_called(self.hass, self.assistant, name, in_full=True)
                        if name
                        else frozenset()
                    )
                    words = telling_words(_text(arguments[one]))
                    return bool(words) and all(
                        state.entity_id in called
                        and words <= telling_words(name, *self._where(state))
                        for state in base
                    )
                return all(
                    self._place_of(one, state) in {None, *meant} for state in base
                )
            case "domain":
                return bool(self.naming.domains)
            case _:
                is_without = not any(
                    state.attributes.get(ATTR_DEVICE_CLASS) for state in base
                )
                return bool(_name(arguments)) or (len(base) == 1 and is_without)

    def _contradiction(
        self, arguments: JsonObject, filters: Sequence[str], base: Sequence[State]
    ) -> str:
        """Return the error for filters that contradict the name beside them."""
        given = " and ".join(f"{one} {display(arguments[one])}" for one in filters)
        there = (
            f"{quoted(state.name)} ({', '.join((state.domain, *map(quoted, self._where(state))))})"
            for state in sorted(base, key=lambda state: state.entity_id)
        )
        text = f"Nothing was done: {given} does not fit {quoted(_name(arguments))}. There is {'; '.join(there)}."
        return f"{text} If that is meant, leave out {' and '.join(filters)}; otherwise ask."

    def _where(self, state: State) -> list[str]:
        """Return the names of the area and the floor of an entity."""
        areas, floors = ar.async_get(self.hass), fr.async_get(self.hass)
        area = areas.async_get_area(self._place_of("area", state) or "")
        floor = (
            floors.async_get_floor(area.floor_id) if area and area.floor_id else None
        )
        return [place.name for place in (area, floor) if place]

    def _places(self, kind: str, name: str) -> set[str]:
        """Return the ids of the areas or floors that have a name."""
        name = place_name(self.hass, kind, name)
        if kind == "area":
            return {
                area.id for area in intent.find_areas(name, ar.async_get(self.hass))
            }
        return {
            floor.floor_id
            for floor in intent.find_floors(name, fr.async_get(self.hass))
        }

    def _place_of(self, kind: str, state: State) -> str | None:
        """Return the id of the area or floor of an entity."""
        area_id = areas_of_entities(self.hass).get(state.entity_id)
        area = ar.async_get(self.hass).async_get_area(area_id) if area_id else None
        return area_id if kind == "area" or area is None else area.floor_id


def _with_known_color(arguments: JsonObject, colors: SlotList | None) -> JsonObject:
    """Return arguments in which a shade of white is a temperature, and a colour has a name that Home Assistant knows.

    A colour in hex is the nearest that has a name, and one of `colors` that which it
    means.
    """
    color = _text(arguments.get("color")).lower()
    if white := _WHITE.fullmatch(color):
        rest = {name: value for name, value in arguments.items() if name != "color"}
        return {"temperature": _WHITES[white[1]]} | rest
    if figures := _HEX.fullmatch(color):
        red, green, blue = bytes.fromhex(figures[1])
        near = min(COLORS, key=lambda name: math.dist(COLORS[name], (red, green, blue)))
        return {**arguments, "color": near}
    if (
        color
        and color.replace(" ", "") not in COLORS
        and (known := _color_named(color, colors))
    ):
        return {**arguments, "color": known}
    return arguments


def _color_named(word: str, colors: SlotList | None) -> str | None:
    """Return the English name of a colour."""
    for color in colors.values if isinstance(colors, TextSlotList) else ():
        if color.value_out in COLORS and word in {
            one.strip().lower() for one in sample_expression(color.text_in)
        }:
            return str(color.value_out)
    return None


def _says_nothing(
    intent_type: str, naming: Naming, name: str, value: JsonValue
) -> bool:
    """Return whether a parameter that a tool does not have changes nothing in the meaning of a call."""
    if intent.is_blank_slot_value(value) or value in ([], {}):
        return True
    if name == "domain" and naming.domains:
        return _texts(value) == naming.domains
    bare, is_plain = bare_name(name), not isinstance(value, list | dict)
    repeats = bare in _STATES and plain_name(str(value)) in _SWITCHES.get(
        intent_type, ()
    )
    return is_plain and (bare in _SILENT or repeats)


def _parameters(tool: llm.IntentTool) -> frozenset[str]:
    """Return the names of the parameters of an intent."""
    return frozenset(str(getattr(key, "schema", key)) for key in tool.parameters.schema)


def _properties(tool: ToolDefinition) -> JsonObject:
    properties = tool.parameters.get("properties")
    return properties if isinstance(properties, dict) else {}


def _name(arguments: JsonObject) -> str:
    """Return the name of what is meant; empty where a call names nothing, or everything."""
    name = _text(arguments.get("name"))
    return "" if name == EVERYTHING else name


def _text(value: JsonValue) -> str:
    return value.strip() if isinstance(value, str) else ""


def _texts(value: JsonValue) -> set[str]:
    """Return a text or the texts of a list in small letters."""
    return {
        plain_name(text)
        for one in (value if isinstance(value, list) else [value])
        if (text := _text(one))
    }
