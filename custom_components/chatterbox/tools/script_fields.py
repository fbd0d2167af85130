"""Finds the ids of what the fields of a script name: entities, devices, areas and floors.

Home Assistant passes on to a script what a model writes. A selector tells which things
its field takes; of these, only exposed entities and their devices are found.
"""

from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import probatio
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
)
from homeassistant.helpers.selector import Selector, TargetSelector

from ..agent.json.coercion import Unfit
from ..agent.messages import JsonObject, JsonValue
from ..home.description import quoted
from ..home.entities import Home
from ..home.name_index import NameIndex

_KINDS: Final = frozenset({"entity", "device", "area", "floor"})
_FILTERS: Final = (
    "filter",
    "entity",
    "device",
)
"""The keys of a selector with alternatives, of which one has to fit."""
_ASKED: Final = (
    "domain",
    "integration",
    "device_class",
    "unit_of_measurement",
    "manufacturer",
    "model",
    "model_id",
)
"""The facts that a filter asks for. Home Assistant describes no script whose fields ask for features."""
_OF_DEVICE: Final = (
    "id",
    "manufacturer",
    "model",
    "model_id",
    "name",
    "name_by_user",
)
_MOST_LISTED: Final = 12


@dataclass(frozen=True, slots=True)
class ScriptFields:
    """Finds ids for the calls of one turn."""

    hass: HomeAssistant
    home: Home
    called: Callable[[str, AbstractSet[str]], AbstractSet[str]]
    """Returns those of some exposed entities that a name may mean."""

    def resolved(
        self,
        fields: probatio.Schema,
        arguments: JsonObject,
    ) -> JsonObject:
        """Return the arguments of a script with ids in place of names. Raises `Unfit`."""
        given = dict(arguments)
        known = {
            str(key): one
            for key, one in fields.schema.items()
            if isinstance(one, Selector) and str(key) in given
        }
        for name, field in known.items():
            if isinstance(field, TargetSelector) and isinstance(
                target := given[name], dict
            ):
                given[name] = {
                    one: self._ids(one, one.removesuffix("_id"), field.config, value)
                    for one, value in target.items()
                }
            else:
                given[name] = self._ids(
                    name, field.selector_type, field.config, given[name]
                )
        return given

    def _ids(
        self,
        field: str,
        kind: str,
        config: Mapping[str, object],
        value: JsonValue,
    ) -> JsonValue:
        if isinstance(value, list):
            return [self._ids(field, kind, config, one) for one in value]
        if kind not in _KINDS or not value:
            return value
        name = str(value)
        options = self._options(kind, config)
        if name in options:
            return name
        if kind == "entity":
            found = self.called(name, options.keys())
        else:
            found = _index(options).find(name)
        if len(found) == 1:
            return next(iter(found))
        names: list[str] = []
        for one in found or options:
            titles = options[one] or [one]
            names.append(f"{quoted(titles[0])} ({one})")
        names.sort()
        problem = "may be any of these" if found else "is none of these"
        some = "; ".join(names[:_MOST_LISTED]) or "there is none"
        raise Unfit(
            f"Not run: {field} takes one {kind}, and {quoted(name)} {problem}: {some}."
        )

    def _options(
        self, kind: str, config: Mapping[str, object]
    ) -> Mapping[str, Sequence[str]]:
        """Return the names of what a selector takes, by id."""
        known = ((one, self._facts(one.entity_id)) for one in self.home.all_entities)
        fitting = [
            (one, facts) for one, facts in known if _fits(one.entity_id, facts, config)
        ]
        match kind:
            case "entity":
                return {one.entity_id: one.names for one, _ in fitting}
            case "device":
                devices = [facts for _, facts in fitting if facts["id"]]
                return {
                    str(one["id"]): [str(one["name_by_user"] or one["name"])]
                    for one in devices
                }
            case "area":
                return {
                    one.id: [one.name, *one.aliases]
                    for one in ar.async_get(self.hass).async_list_areas()
                }
            case _:
                return {
                    one.floor_id: [one.name, *one.aliases]
                    for one in fr.async_get(self.hass).async_list_floors()
                }

    def _facts(self, entity_id: str) -> Mapping[str, object]:
        """Return what a filter may ask of an entity and its device, and what the device is called."""
        state = self.hass.states.get(entity_id)
        entry = er.async_get(self.hass).async_get(entity_id)
        if entry and entry.device_id:
            device = dr.async_get(self.hass).async_get(entry.device_id)
        else:
            device = None
        facts = {key: getattr(device, key, None) for key in _OF_DEVICE}
        own = {
            "domain": entity_id.partition(".")[0],
            "integration": entry.platform if entry else None,
        }
        return {
            **(state.attributes if state else {}),
            **facts,
            **own,
        }


def _fits(
    entity_id: str, facts: Mapping[str, object], config: Mapping[str, object]
) -> bool:
    only, not_these = (
        _listed(config.get(f"{key}clude_entities")) for key in ("in", "ex")
    )
    alternatives: list[list[object]] = [
        [config],
        *filter(
            None,
            [_listed(config.get(key)) for key in _FILTERS],
        ),
    ]
    is_one = entity_id not in not_these and (not only or entity_id in only)
    return is_one and all(
        any(_has(facts, one) for one in those) for those in alternatives
    )


def _has(
    facts: Mapping[str, object],
    wanted: object,
) -> bool:
    """Return whether a thing has one of the values for each of the facts that are wanted."""
    if isinstance(wanted, Mapping):
        given = wanted
    else:
        given = {}
    return all(
        facts.get(key) in _listed(given[key]) for key in _ASKED if given.get(key)
    )


def _listed(value: object) -> list[object]:
    if isinstance(value, list):
        return value
    if value:
        return [value]
    return []


def _index(options: Mapping[str, Sequence[str]]) -> NameIndex[str]:
    index = NameIndex[str]()
    for one, names in options.items():
        for name in names:
            index.add(name, one)
    return index
