"""Finds exposed entities, and entities by name, area, floor, domain or device class as Home Assistant matches them.

Home Assistant checks every entity of the home each time. Here, names and areas are found by an index, which is rebuilt
when a registry has changed.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set as AbstractSet
from dataclasses import dataclass, field
from typing import Self

from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    intent,
)

from ..agent.text import compared
from ..data import singleton

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
    def of(cls, hass: HomeAssistant, entries: _Entries) -> Self:
        """Index the registered entities."""
        index = cls(entries)
        for entry in er.async_get(hass).entities.values():
            area_id = index.area_ids[entry.entity_id] = er.async_get_effective_area_id(hass, entry)
            for name in er.async_get_entity_aliases(hass, entry):
                index.named[compared(name)].add(entry.entity_id)
            if area_id:
                index.placed[area_id].add(entry.entity_id)
        return index


@dataclass(slots=True)
class _Cache:
    index: _Index | None = None


@singleton
def _cache(_hass: HomeAssistant) -> _Cache:
    """Return what keeps the last index."""
    return _Cache()


@callback
def matching_states(
    hass: HomeAssistant, constraints: intent.MatchTargetsConstraints, among: Iterable[str] | None = None
) -> list[State]:
    """Return the states of all entities that match; none if an area or a floor does not exist.

    If `among` is given, only these entity ids count. States and features in `constraints` are ignored, and all entities
    with the same name match.
    """
    if among is not None or constraints.name or constraints.area_name or constraints.floor_name:
        found = _candidates(hass, constraints, among)
        if domains := constraints.domains:
            found = [state for state in found if state.domain in domains]
    else:
        found = hass.states.async_all(constraints.domains)
    if assistant := constraints.assistant:
        found = [state for state in found if async_should_expose(hass, assistant, state.entity_id)]
    if not found or not constraints.device_classes:
        return found
    kinds = intent.MatchTargetsConstraints(device_classes=constraints.device_classes)
    return intent.async_match_targets(hass, kinds, states=found).states


@callback
def exposed_states(hass: HomeAssistant, assistant: str, domains: Iterable[str] | None = None) -> list[State]:
    """Return the states of the exposed entities, all or those of some domains, sorted by name."""
    states = [
        state for state in hass.states.async_all(domains) if async_should_expose(hass, assistant, state.entity_id)
    ]
    return sorted(states, key=lambda state: (state.name.casefold(), state.entity_id))


@callback
def exposed_names(hass: HomeAssistant, assistant: str, domains: Iterable[str] | None = None) -> list[str]:
    """Return the names and aliases of the exposed entities, sorted, each once."""
    registry = er.async_get(hass)
    return sorted(
        {
            name
            for state in exposed_states(hass, assistant, domains)
            for name in intent.async_get_entity_aliases(hass, registry.async_get(state.entity_id), state=state)
        }
    )


@callback
def areas_of_entities(hass: HomeAssistant) -> Mapping[str, str | None]:
    """Return the area ids, their own or those of their devices, of all registered entities."""
    return _index(hass).area_ids


@callback
def entities_by_name(hass: HomeAssistant) -> Mapping[str, AbstractSet[str]]:
    """Return the ids of all registered entities by their names and aliases, in the form that is compared."""
    return _index(hass).named


def _candidates(
    hass: HomeAssistant, constraints: intent.MatchTargetsConstraints, among: Iterable[str] | None
) -> list[State]:
    """Return the states of the given entities that have the name and are in the area and on the floor."""
    groups: list[set[str]] = [] if among is None else [set(among)]
    if constraints.name:
        index, name = _index(hass), compared(constraints.name)
        groups.append({constraints.name, *index.named.get(name, ()), *_unregistered(hass, index, name)})
    if constraints.area_name:
        areas = intent.find_areas(constraints.area_name, ar.async_get(hass))
        groups.append(_in_areas(_index(hass), areas))
    if constraints.floor_name:
        floors = {floor.floor_id for floor in intent.find_floors(constraints.floor_name, fr.async_get(hass))}
        on_floors = (area for area in ar.async_get(hass).async_list_areas() if area.floor_id in floors)
        groups.append(_in_areas(_index(hass), on_floors))
    # Home Assistant takes an id for a name only as it is written, and finds its state in whatever letters.
    found = [(entity_id, hass.states.get(entity_id)) for entity_id in sorted(groups[0].intersection(*groups[1:]))]
    return [state for entity_id, state in found if state and state.entity_id == entity_id]


def _in_areas(index: _Index, areas: Iterable[ar.AreaEntry]) -> set[str]:
    return set[str]().union(*(index.placed.get(area.id, ()) for area in areas))


def _unregistered(hass: HomeAssistant, index: _Index, name: str) -> Iterable[str]:
    """Yield the entities that have the name and are in no registry."""
    for entity_id in hass.states.async_entity_ids():
        if entity_id not in index.area_ids and (state := hass.states.get(entity_id)) and compared(state.name) == name:
            yield entity_id


def _index(hass: HomeAssistant) -> _Index:
    devices = dr.async_get(hass)
    entries: _Entries = [*er.async_get(hass).entities.values(), *devices.devices, *devices.child_devices]
    cache = _cache(hass)
    if cache.index is None or cache.index.entries != entries:
        cache.index = _Index.of(hass, entries)
    return cache.index
