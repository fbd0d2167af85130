"""Matching of entities by name, area, floor, domain and device class, and the names by which they are spoken of.

A name may contain anything that a user or a device put there: characters that cannot be
spoken are removed.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Self

from homeassistant.components.homeassistant import async_should_expose
from homeassistant.const import ATTR_DEVICE_CLASS
from homeassistant.core import HomeAssistant, State, split_entity_id
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    intent,
)

from ..agent.text import compared, compared_names, contains_phrase, heard_words
from ..const import home_singleton

type _Entries = list[er.RegistryEntry | dr.AnyDeviceEntry]


@dataclass(slots=True)
class _Index:
    """Names and areas of the registered entities."""

    entries: _Entries
    """The registry entries that it was built from; entries are never changed, only replaced."""
    named: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Entity ids by name and alias, in the form that is compared."""
    placed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Entity ids by the id of their area."""
    area_ids: dict[str, str | None] = field(default_factory=dict)
    """Area ids by entity id, for every registered entity."""

    @classmethod
    def of(
        cls,
        hass: HomeAssistant,
        entries: _Entries,
    ) -> Self:
        """Index the registered entities."""
        index = cls(entries)
        names = {
            entry.entity_id: er.async_get_entity_aliases(hass, entry)
            for entry in er.async_get(hass).entities.values()
        }
        forms = compared_names(name for aliases in names.values() for name in aliases)
        for entry in er.async_get(hass).entities.values():
            area_id = index.area_ids[entry.entity_id] = er.async_get_effective_area_id(
                hass, entry
            )
            for name in names[entry.entity_id]:
                index.named[forms[name]].add(entry.entity_id)
            if area_id:
                index.placed[area_id].add(entry.entity_id)
        return index


_indexes: Final = home_singleton("entity_matches", lambda _: list[_Index]())
"""Returns the latest index, if there is one."""


def matching_states(
    hass: HomeAssistant,
    constraints: intent.MatchTargetsConstraints,
    among: Iterable[str] | None = None,
) -> list[State]:
    """Return the states of all entities that match; none if an area or a floor does not exist.

    If `among` is given, only these entity ids count. States and features in
    `constraints` are ignored, and all entities with the same name match.
    """
    if (
        among is not None
        or constraints.name
        or constraints.area_name
        or constraints.floor_name
    ):
        found = _candidates(
            hass,
            constraints,
            among,
        )
        domains = constraints.domains
        if domains:
            found = [state for state in found if state.domain in domains]
    else:
        found = hass.states.async_all(constraints.domains)
    assistant = constraints.assistant
    if assistant:
        found = [
            state
            for state in found
            if async_should_expose(hass, assistant, state.entity_id)
        ]
    if not found or not constraints.device_classes:
        return found
    kinds = intent.MatchTargetsConstraints(device_classes=constraints.device_classes)
    return intent.async_match_targets(hass, kinds, states=found).states


def states_in_place(
    hass: HomeAssistant, constraints: intent.MatchTargetsConstraints
) -> list[State]:
    """Return the states of all entities that match; where none does, their area may be the name of a floor."""
    place = constraints.area_name
    found = matching_states(hass, constraints)
    if found or not place:
        return found
    on_floor = replace(constraints, area_name=None, floor_name=place)
    return matching_states(hass, on_floor)


def devices_called(hass: HomeAssistant, name: str) -> list[str]:
    """Return the ids of the devices with a name."""
    return [
        device.id
        for device in dr.async_get(hass).devices
        if compared(device_name(hass, device.id)) == compared(name)
    ]


def entity_kinds(
    hass: HomeAssistant, entity_ids: Iterable[str]
) -> dict[str, tuple[str, str]]:
    """Return the domains and the device classes of entities, which are empty for none, by entity id."""
    kinds: dict[str, tuple[str, str]] = {}
    for entity_id in entity_ids:
        state = hass.states.get(entity_id)
        device_class = state.attributes.get(ATTR_DEVICE_CLASS) if state else None
        domain = entity_id.partition(".")[0]
        kinds[entity_id] = domain, str(device_class or "")
    return kinds


def exposed_states(
    hass: HomeAssistant, assistant: str, domains: Iterable[str] | None = None
) -> list[State]:
    """Return the states of the exposed entities, all or those of some domains, sorted by name."""
    states = [
        state
        for state in hass.states.async_all(domains)
        if async_should_expose(hass, assistant, state.entity_id)
    ]
    return by_name(states)


def by_name(states: Iterable[State]) -> list[State]:
    """Return states, sorted by the names of their entities."""
    return sorted(
        states,
        key=lambda state: (state.name.casefold(), state.entity_id),
    )


def is_named_in(
    hass: HomeAssistant,
    entity_id: str,
    words: Sequence[str],
) -> bool:
    """Return whether words contain the name of an entity, or an alias."""
    entry = er.async_get(hass).async_get(entity_id)
    state = hass.states.get(entity_id)
    names = intent.async_get_entity_aliases(hass, entry, state=state) if state else ()
    return has_name_in(words, names)


_words_of_name: Final = lru_cache(maxsize=4096)(heard_words)


def has_name_in(
    words: Sequence[str],
    names: Iterable[str],
) -> bool:
    """Return whether words contain one of some names."""
    return any(contains_phrase(words, _words_of_name(name)) for name in names)


def areas_of_entities(hass: HomeAssistant) -> Mapping[str, str | None]:
    """Return the area ids, their own or those of their devices, of all registered entities."""
    return _index(hass).area_ids


def entities_by_name(hass: HomeAssistant) -> Mapping[str, AbstractSet[str]]:
    """Return the ids of all registered entities by their names and aliases, in the form that is compared."""
    return _index(hass).named


def _candidates(
    hass: HomeAssistant,
    constraints: intent.MatchTargetsConstraints,
    among: Iterable[str] | None,
) -> list[State]:
    """Return the states of the given entities that have the name and are in the area and on the floor."""
    groups: list[set[str]] = [] if among is None else [set(among)]
    if constraints.name:
        index = _index(hass)
        name = compared(constraints.name)
        groups.append(
            {
                constraints.name,
                *index.named.get(name, ()),
                *_unregistered(
                    hass,
                    index,
                    name,
                ),
            }
        )
    if constraints.area_name:
        areas = intent.find_areas(
            constraints.area_name,
            ar.async_get(hass),
        )
        groups.append(_in_areas(_index(hass), areas))
    if constraints.floor_name:
        floors = {
            floor.floor_id
            for floor in intent.find_floors(constraints.floor_name, fr.async_get(hass))
        }
        on_floors = (
            area
            for area in ar.async_get(hass).async_list_areas()
            if area.floor_id in floors
        )
        groups.append(_in_areas(_index(hass), on_floors))
    # Home Assistant takes an id for a name only as it is written, and finds its state
    # in whatever letters.
    found = [
        (entity_id, hass.states.get(entity_id))
        for entity_id in sorted(groups[0].intersection(*groups[1:]))
    ]
    return [
        state for entity_id, state in found if state and state.entity_id == entity_id
    ]


def _in_areas(
    index: _Index,
    areas: Iterable[ar.AreaEntry],
) -> set[str]:
    found = set[str]()
    for area in areas:
        found |= index.placed.get(area.id, set())
    return found


def _unregistered(
    hass: HomeAssistant,
    index: _Index,
    name: str,
) -> Iterable[str]:
    """Yield the entities that have the name and are in no registry."""
    for entity_id in hass.states.async_entity_ids():
        if (
            entity_id not in index.area_ids
            and (state := hass.states.get(entity_id))
            and compared(state.name) == name
        ):
            yield entity_id


def _index(hass: HomeAssistant) -> _Index:
    devices = dr.async_get(hass)
    entries: _Entries = [
        *er.async_get(hass).entities.values(),
        *devices.devices,
        *devices.child_devices,
    ]
    indexes = _indexes(hass)
    if not indexes or indexes[0].entries != entries:
        indexes[:] = [_Index.of(hass, entries)]
    return indexes[0]


_LONGEST: Final = 60
"""Characters of a name that are spoken."""
_MOST_KEPT: Final = 512
"""Names that are cached."""
_SPOKEN_MARKS: Final = frozenset("'\N{RIGHT SINGLE QUOTATION MARK}-+&/%°.")
_STRAY_MARK: Final = re.compile(r"(?<!\w)[./%°]|[./](?!\w)")
_NEW_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def assist_name(hass: HomeAssistant, state: State) -> str:
    """Return the name of an entity for Assist: the first of its aliases, which is its own name unless replaced.

    Home Assistant 2026.4 has put the name of its device before the name that a person
    gave, and kept the latter so.
    """
    entry = er.async_get(hass).async_get(state.entity_id)
    if entry and entry.aliases:
        first = entry.aliases[0]
    else:
        first = None
    if isinstance(first, str) and first.strip():
        return first
    return state.name


def entity_name(hass: HomeAssistant, entity_id: str) -> str:
    """Return the spoken name of an entity."""
    state = hass.states.get(entity_id)
    if state and (name := spoken(assist_name(hass, state))):
        return name
    entry = er.async_get(hass).async_get(entity_id)
    if entry:
        registered = spoken(er.async_get_full_entity_name(hass, entry))
    else:
        registered = ""
    return registered or spoken(split_entity_id(entity_id)[1])


def area_name(hass: HomeAssistant, entity_id: str) -> str:
    """Return the spoken name of the area of an entity; empty if it is in none."""
    area_id = areas_of_entities(hass).get(entity_id)
    area = ar.async_get(hass).async_get_area(area_id or "")
    return spoken(area.name) if area else ""


def device_name(hass: HomeAssistant, device_id: str | None) -> str:
    """Return the name of a device; empty for an unknown one."""
    device = dr.async_get(hass).async_get(device_id or "")
    return (device and (device.name_by_user or device.name)) or ""


def tool_name(offered: str) -> str:
    """Return the name under which a tool is offered, such as `mail__send_email`, as words."""
    words = spoken(_NEW_WORD.sub(" ", offered.rpartition("__")[2])) or spoken(offered)
    return " ".join(word if word.isupper() else word.lower() for word in words.split())


def action_name(action: str) -> str:
    """Return the name of an action, such as `shell_command.open_up`, as words."""
    return spoken(action.replace("_", " ").replace(".", " "))


@lru_cache(_MOST_KEPT)
def spoken(name: str) -> str:
    """Return the part of a name that can be spoken: letters, digits and signs within words, shortened."""
    words = " ".join(
        _STRAY_MARK.sub(
            " ", "".join(map(_spoken_char, unicodedata.normalize("NFC", name)))
        ).split()
    )
    if len(words) <= _LONGEST:
        return words
    return f"{words[:_LONGEST].rpartition(' ')[0] or words[:_LONGEST]}…"


@lru_cache(_MOST_KEPT)
def written(name: str) -> str:
    """Return a name as it is shown: in one line, without invisible characters, shortened."""
    line = "".join(
        char for char in " ".join(name.split()) if unicodedata.category(char)[0] != "C"
    )
    if len(line) <= _LONGEST:
        return line
    return f"{line[:_LONGEST]}…"


def _spoken_char(char: str) -> str:
    """Return a character, or its replacement."""
    kind = unicodedata.category(char)
    if kind == "Cf":  # invisible, and within words
        return ""
    if kind[0] in "LMN" or char in _SPOKEN_MARKS:
        return char
    return " "
