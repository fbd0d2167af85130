"""References in the settings of agents: new entity ids are applied, and missing targets are reported.

An entity whose id changes keeps its rules and its trust. This is done for all entries, even unloaded ones, which would
otherwise miss it. Missing targets are reported for loaded entries, and no rule is changed because of them: it still
applies to everything else that it names. Tools and actions come and go with their integrations, so they are never
reported.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from homeassistant.auth import EVENT_USER_REMOVED
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import CALLBACK_TYPE, Event, EventStateChangedData, HassJob, HomeAssistant, callback
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    label_registry as lr,
)
from homeassistant.helpers.event import async_call_later, async_track_state_change_event
from homeassistant.helpers.start import async_at_started
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util.event_type import EventType

from ..agent.messages import JsonObject, JsonValue
from ..const import CONF_NOTIFY, CONF_PEOPLE_AT_SATELLITES, CONF_RULES, CONF_TOOL_SOURCES, CONF_TRUSTED_CALLERS, DOMAIN
from ..repairs import async_report_gone_names
from ..settings.agent import AgentSettings
from ..settings.options import SCRIPTS
from ..settings.rules import (
    Policy,
    PolicyError,
    Rule,
    policy_from_json,
    policy_to_json,
    sources_from_json,
    sources_to_json,
)
from ..settings.tasks import settings_of_subentry
from ..speech.sentences import async_get_sentences
from .agents import ChatterboxConfigEntry

type _Stored = Mapping[str, Any]
"""The data of an agent; see `settings/agent.py`."""

_DELAY: Final = 10.0
"""Seconds in which something that is removed and added again, as when YAML is reloaded, is back."""
_CHANGES: Final[tuple[EventType[Any] | str, ...]] = (
    er.EVENT_ENTITY_REGISTRY_UPDATED,
    dr.EVENT_DEVICE_REGISTRY_UPDATED,
    ar.EVENT_AREA_REGISTRY_UPDATED,
    lr.EVENT_LABEL_REGISTRY_UPDATED,
    EVENT_USER_REMOVED,
)
_SELECTOR: Final = f"component.{DOMAIN}.selector"
_FORM: Final = f"component.{DOMAIN}.config_subentries.conversation.step.approvals"
_WHO_SPEAKS: Final = f"{_FORM}.sections.who_speaks.data"


@callback
def async_follow_entities(hass: HomeAssistant) -> None:
    """Change stored settings from now on when an entity that they name gets another id or is removed."""

    @callback
    def follow(event: Event[er.EventEntityRegistryUpdatedData]) -> None:
        data = event.data
        if data["action"] == "remove":
            _async_change_agents(hass, partial(_without_trust, removed=data["entity_id"]))
        elif data["action"] == "update" and "old_entity_id" in data:
            _async_change_agents(hass, partial(_renamed, old=data["old_entity_id"], new=data["entity_id"]))

    hass.bus.async_listen(er.EVENT_ENTITY_REGISTRY_UPDATED, follow)


@callback
def _async_change_agents(hass: HomeAssistant, change: Callable[[_Stored], _Stored]) -> None:
    for entry in hass.config_entries.async_entries(DOMAIN):
        for agent in entry.subentries.values():
            hass.config_entries.async_update_subentry(entry, agent, data=change(agent.data))


def _without_trust(stored: _Stored, removed: str) -> _Stored:
    """Remove an entity from the trusted ones; otherwise the next entity with its id would be trusted as well.

    All other settings keep it: a rule without its target would apply to something else, and an entity may come back.
    """
    data = dict(stored)
    if removed in stored.get(CONF_TRUSTED_CALLERS, ()):
        data[CONF_TRUSTED_CALLERS] = [caller for caller in stored[CONF_TRUSTED_CALLERS] if caller != removed]
    if (sources := _renamed_sources(stored, removed, "")) is not None:
        data[CONF_TOOL_SOURCES] = sources
    return data


def _renamed(stored: _Stored, old: str, new: str) -> _Stored:
    # An earlier entity with the new id is gone, although it may never have been reported as removed.
    data = dict(_without_trust(stored, removed=new))

    def now(entity_id: str) -> str:
        return new if entity_id == old else entity_id

    for key in (CONF_TRUSTED_CALLERS, CONF_NOTIFY):
        if old in data.get(key, ()):
            data[key] = list(dict.fromkeys(map(now, data[key])))
    if people := data.get(CONF_PEOPLE_AT_SATELLITES):
        data[CONF_PEOPLE_AT_SATELLITES] = [{**row, "person": now(row["person"])} for row in people]
    for key in SCRIPTS:
        if data.get(key) == old:
            data[key] = new
    if (sources := _renamed_sources(data, old, new)) is not None:
        data[CONF_TOOL_SOURCES] = sources
    if rules := _renamed_rules(data.get(CONF_RULES, []), old, now):
        data[CONF_RULES] = rules
    return data


def _renamed_sources(stored: _Stored, old: str, new: str) -> JsonObject | None:
    """Return what is said of sources of tools with another id for an entity, or without it if `new` is empty.

    None if nothing is said of it, or if it cannot be read.
    """

    def now(entity_ids: Iterable[str]) -> Iterator[str]:
        return filter(None, (new if one == old else one for one in entity_ids))

    try:
        sources = sources_from_json(stored.get(CONF_TOOL_SOURCES, {}))
    except PolicyError:
        return None
    if old not in set(sources).union(*(said.affects for said in sources.values())):
        return None
    kept = {name: said for source, said in sources.items() for name in now([source])}
    return sources_to_json({name: replace(said, affects=frozenset(now(said.affects))) for name, said in kept.items()})


def _renamed_rules(stored: JsonValue, old: str, now: Callable[[str], str]) -> list[JsonValue] | None:
    """Return rules that name an entity by its new id; None when none named it, or when they cannot be read."""
    try:
        rules = policy_from_json(stored).rules
    except PolicyError:
        return None
    if not any(old in rule.entities for rule in rules):
        return None
    renamed = (replace(rule, entities=frozenset(map(now, rule.entities))) for rule in rules)
    return policy_to_json(Policy(tuple(renamed)))


class MissingReferences:
    """Reports what an agent of a loaded entry names and the home does not have, until the agent ends."""

    def __init__(self, hass: HomeAssistant, entry: ChatterboxConfigEntry, agent: ConfigSubentry) -> None:
        """Take an agent of `entry`."""
        self._hass = hass
        self._entry = entry
        self._agent = agent
        self._settings = settings_of_subentry(agent)
        self._until = partial(entry.runtime_data.async_on_end, agent.subentry_id)
        self._cancel_planned: CALLBACK_TYPE | None = None
        self._has_ended = False
        """An event that ends it, as it has the agent built anew, may still be delivered afterwards."""

    @callback
    def async_start(self) -> None:
        """Look once Home Assistant has started, and whenever something is added or removed."""
        if _names_something(self._settings):
            self._until(self._async_stop)
            self._until(async_at_started(self._hass, self._async_begin))

    @callback
    def _async_begin(self, hass: HomeAssistant) -> None:
        for change in _CHANGES:
            self._until(hass.bus.async_listen(change, self._async_plan))
        named = _named_entities(self._settings)
        self._until(async_track_state_change_event(hass, named, self._async_see_state))
        self._async_look_in_background()

    @callback
    def _async_stop(self) -> None:
        self._has_ended = True
        if self._cancel_planned:
            self._cancel_planned()
        async_report_gone_names(self._hass, self._agent, ())

    @callback
    def _async_see_state(self, event: Event[EventStateChangedData]) -> None:
        if event.data["old_state"] is None or event.data["new_state"] is None:
            self._async_plan(event)

    @callback
    def _async_plan(self, _event: Event | Event[EventStateChangedData]) -> None:
        if self._cancel_planned is None and not self._has_ended:
            job = HassJob(self._async_look_in_background, cancel_on_shutdown=True)
            self._cancel_planned = async_call_later(self._hass, _DELAY, job)

    @callback
    def _async_look_in_background(self, _now: datetime | None = None) -> None:
        self._cancel_planned = None
        name = f"chatterbox look at what {self._agent.title} names"
        _ = self._entry.async_create_background_task(self._hass, self._async_look(), name)

    async def _async_look(self) -> None:
        names = await _async_field_names(self._hass)
        user_ids = {user.id for user in await self._hass.auth.async_get_users()}
        missing = _missing(self._hass, self._settings, user_ids)
        lines = [_line(rule, fields, ids, names) for rule, fields, ids in missing if ids]
        if not self._has_ended:
            async_report_gone_names(self._hass, self._agent, lines)


def _names_something(settings: AgentSettings) -> bool:
    return bool(settings.policy.rules or settings.notify or settings.trusted_callers or settings.people_at_satellites)


def _named_entities(settings: AgentSettings) -> set[str]:
    in_rules = (rule.entities for rule in settings.policy.rules)
    people = settings.people_at_satellites.values()
    return {*settings.notify, *settings.trusted_callers, *people}.union(*in_rules)


type _Numbered = tuple[int, Rule] | None


def _missing(
    hass: HomeAssistant, settings: AgentSettings, user_ids: Collection[str]
) -> Iterator[tuple[_Numbered, tuple[str, ...], list[str]]]:
    """Yield the ids that each field of the form names and the home does not have.

    A field is given by the rule that it is part of, if any, and the translation keys of its names, outermost first.
    """
    areas, labels = ar.async_get(hass), lr.async_get(hass)
    for numbered in enumerate(settings.policy.rules, start=1):
        rule = numbered[1]
        fields = {
            "entities": _missing_entities(hass, rule.entities),
            "areas": [area for area in sorted(rule.areas) if areas.async_get_area(area) is None],
            "labels": [label for label in sorted(rule.labels) if labels.async_get_label(label) is None],
            "users": sorted(rule.users.difference(user_ids)),
            "devices": _missing_devices(hass, rule.devices),
        }
        for field, ids in fields.items():
            yield numbered, (f"{_SELECTOR}.rules.fields.{field}.name",), ids
    people = settings.people_at_satellites
    yield None, (f"{_FORM}.data.{CONF_NOTIFY}",), _missing_entities(hass, settings.notify)
    yield None, _of_people("device"), _missing_devices(hass, people)
    yield None, _of_people("person"), _missing_entities(hass, people.values())
    yield None, (f"{_WHO_SPEAKS}.{CONF_TRUSTED_CALLERS}",), _missing_entities(hass, settings.trusted_callers)


def _of_people(field: str) -> tuple[str, ...]:
    return f"{_WHO_SPEAKS}.{CONF_PEOPLE_AT_SATELLITES}", f"{_SELECTOR}.{CONF_PEOPLE_AT_SATELLITES}.fields.{field}.name"


def _missing_entities(hass: HomeAssistant, entity_ids: Iterable[str]) -> list[str]:
    registry = er.async_get(hass)
    return [
        entity_id
        for entity_id in sorted(set(entity_ids))
        if not registry.async_is_registered(entity_id) and hass.states.get(entity_id) is None
    ]


def _missing_devices(hass: HomeAssistant, device_ids: Iterable[str]) -> list[str]:
    registry = dr.async_get(hass)
    return [device_id for device_id in sorted(set(device_ids)) if registry.async_get(device_id) is None]


async def _async_field_names(hass: HomeAssistant) -> Mapping[str, str]:
    """Return our sentences by bare key, and the names of the fields of our forms, in the language of the home."""
    names = dict(await async_get_sentences(hass, hass.config.language))
    for category in ("selector", "config_subentries"):
        names |= await async_get_translations(hass, hass.config.language, category, [DOMAIN])
    return names


def _line(numbered: _Numbered, fields: Iterable[str], ids: Iterable[str], names: Mapping[str, str]) -> str:
    """Return a line of the issue: "Rule 2 · Never · Areas · kitchen"."""
    path = [names[field] for field in fields]
    if numbered is not None:
        number, rule = numbered
        path = [names["rule_number"].format(number=number), names[f"verdict_{rule.verdict}"], *path]
    return " · ".join([*path, ", ".join(f"`{one}`" for one in ids)])
