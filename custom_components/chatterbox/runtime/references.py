"""References in the rules of the home and in agents: new entity ids are applied, missing ones are reported.

An entity whose id changes keeps its rules and its trust, and the agents of unloaded
entries follow, too. No rule is changed because of a missing target: it still applies to
everything else that it names. Tools and actions come and go with their integrations, so
they are never reported.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from homeassistant.auth import EVENT_USER_REMOVED
from homeassistant.core import (
    CALLBACK_TYPE,
    CoreState,
    Event,
    EventStateChangedData,
    HassJob,
    HomeAssistant,
    callback,
)
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    label_registry as lr,
)
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.event import async_call_later, async_track_state_change_event
from homeassistant.helpers.start import async_at_started
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util.event_type import EventType

from ..const import (
    CONF_LOOK_TASK,
    CONF_NOTIFY,
    CONF_PEOPLE_AT_SATELLITES,
    CONF_TRUSTED_CALLERS,
    DOMAIN,
)
from ..repairs import async_report_gone_names
from ..settings.options import SCRIPTS
from ..settings.rules import (
    SIGNAL_HOME_RULES,
    HomeRules,
    Rule,
    ToolSource,
    async_get_home_rules,
)
from ..speech.sentences import async_get_sentences

_DELAY: Final = 10.0
"""Seconds in which something that is removed and added again, as when YAML is reloaded, is back."""
_CHANGES: Final[tuple[EventType[Any] | str, ...]] = (
    er.EVENT_ENTITY_REGISTRY_UPDATED,
    dr.EVENT_DEVICE_REGISTRY_UPDATED,
    ar.EVENT_AREA_REGISTRY_UPDATED,
    lr.EVENT_LABEL_REGISTRY_UPDATED,
    EVENT_USER_REMOVED,
)
_ENTITIES: Final = frozenset({*SCRIPTS, CONF_LOOK_TASK})
"""Options of agents that name an entity."""
_SELECTOR: Final = f"component.{DOMAIN}.selector"
_FORM: Final = f"component.{DOMAIN}.config_subentries.conversation.step.approvals"
_WHO_SPEAKS: Final = f"{_FORM}.sections.who_speaks.data"


def async_follow_entities(hass: HomeAssistant) -> None:
    """Change stored settings from now on when an entity that they name gets another id or is removed."""
    rules = async_get_home_rules(hass)

    @callback
    def follow(event: Event[er.EventEntityRegistryUpdatedData]) -> None:
        data = event.data
        if data["action"] == "remove":
            rules.async_change(partial(_without_trust, removed=data["entity_id"]))
        elif data["action"] == "update" and "old_entity_id" in data:
            old = data["old_entity_id"]
            new = data["entity_id"]
            rules.async_change(partial(_renamed, old=old, new=new))
            _async_rename_in_agents(
                hass,
                old,
                new,
            )

    hass.bus.async_listen(er.EVENT_ENTITY_REGISTRY_UPDATED, follow)


def _async_rename_in_agents(
    hass: HomeAssistant,
    old: str,
    new: str,
) -> None:
    for entry in hass.config_entries.async_entries(DOMAIN):
        for agent in entry.subentries.values():
            data = {
                key: new if key in _ENTITIES and value == old else value
                for key, value in agent.data.items()
            }
            hass.config_entries.async_update_subentry(
                entry,
                agent,
                data=data,
            )


def _without_trust(
    rules: HomeRules,
    removed: str,
) -> HomeRules:
    """Remove an entity from the trusted ones; otherwise the next entity with its id would be trusted as well.

    Everything else keeps it: a rule without its target would apply to something else,
    and an entity may come back.
    """
    sources = _renamed_sources(
        rules.policy.sources,
        removed,
        "",
    )
    return replace(
        rules,
        policy=replace(rules.policy, sources=sources),
        trusted_callers=rules.trusted_callers - {removed},
    )


def _renamed(
    rules: HomeRules,
    old: str,
    new: str,
) -> HomeRules:
    # An earlier entity with the new id is gone, although it may never have been
    # reported as removed.
    rules = _without_trust(rules, removed=new)

    def now(entity_id: str) -> str:
        return new if entity_id == old else entity_id

    renamed = (
        replace(
            rule,
            entities=frozenset(map(now, rule.entities)),
        )
        for rule in rules.policy.rules
    )
    policy = replace(
        rules.policy,
        rules=tuple(renamed),
        sources=_renamed_sources(
            rules.policy.sources,
            old,
            new,
        ),
    )
    return replace(
        rules,
        policy=policy,
        notify=tuple(dict.fromkeys(map(now, rules.notify))),
        trusted_callers=frozenset(map(now, rules.trusted_callers)),
        people_at_satellites={
            device: now(person) for device, person in rules.people_at_satellites.items()
        },
    )


def _renamed_sources(
    sources: Mapping[str, ToolSource], old: str, new: str
) -> Mapping[str, ToolSource]:
    """Return what is said of sources of tools with another id for an entity, or without it if `new` is empty."""

    def now(entity_ids: Iterable[str]) -> Iterator[str]:
        return filter(
            None,
            (new if one == old else one for one in entity_ids),
        )

    renamed = {
        name: trust for source, trust in sources.items() for name in now([source])
    }
    changed = {
        name: replace(trust, affects=frozenset(now(trust.affects)))
        for name, trust in renamed.items()
    }
    return {name: trust for name, trust in changed.items() if trust != ToolSource()}


class MissingReferences:
    """Reports what the rules of the home name and the home does not have."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Watch nothing yet."""
        self._hass = hass
        self._ends: list[CALLBACK_TYPE] = []
        self._cancel_planned: CALLBACK_TYPE | None = None

    def async_start(self) -> None:
        """Look once Home Assistant has started, and whenever something is added or removed, or the rules change."""
        async_dispatcher_connect(
            self._hass,
            SIGNAL_HOME_RULES,
            self._async_begin,
        )
        async_at_started(self._hass, self._async_begin)

    @callback
    def _async_begin(self, _hass: HomeAssistant | None = None) -> None:
        while self._ends:
            self._ends.pop()()
        if self._cancel_planned:
            self._cancel_planned()
            self._cancel_planned = None
        if (
            self._hass.state is not CoreState.running
        ):  # what is named may not be there yet
            return
        rules = async_get_home_rules(self._hass).stored
        self._ends = [
            *(self._hass.bus.async_listen(one, self._async_plan) for one in _CHANGES),
            async_track_state_change_event(
                self._hass, _named_entities(rules), self._async_see_state
            ),
        ]
        self._async_look_in_background()

    @callback
    def _async_see_state(self, event: Event[EventStateChangedData]) -> None:
        if event.data["old_state"] is None or event.data["new_state"] is None:
            self._async_plan(event)

    @callback
    def _async_plan(self, _event: Event | Event[EventStateChangedData]) -> None:
        if self._cancel_planned is None:
            job = HassJob(self._async_look_in_background, cancel_on_shutdown=True)
            self._cancel_planned = async_call_later(
                self._hass,
                _DELAY,
                job,
            )

    @callback
    def _async_look_in_background(self, _now: datetime | None = None) -> None:
        self._cancel_planned = None
        _ = self._hass.async_create_background_task(
            self._async_look(), "chatterbox look at what rules name"
        )

    async def _async_look(self) -> None:
        rules = async_get_home_rules(self._hass).stored
        names = await _async_field_names(self._hass)
        user_ids = {user.id for user in await self._hass.auth.async_get_users()}
        missing = _missing(
            self._hass,
            rules,
            user_ids,
        )
        lines = [
            _line(
                rule,
                fields,
                ids,
                names,
            )
            for rule, fields, ids in missing
            if ids
        ]
        if (
            rules is async_get_home_rules(self._hass).stored
        ):  # else another look is under way
            async_report_gone_names(self._hass, lines)


def _named_entities(rules: HomeRules) -> set[str]:
    in_rules = (rule.entities for rule in rules.policy.rules)
    people = rules.people_at_satellites.values()
    return {*rules.notify, *rules.trusted_callers, *people}.union(*in_rules)


type _Numbered = tuple[int, Rule] | None


def _missing(
    hass: HomeAssistant, home_rules: HomeRules, user_ids: Collection[str]
) -> Iterator[tuple[_Numbered, tuple[str, ...], list[str]]]:
    """Yield the ids that each field of the form names and the home does not have.

    A field is given by the rule that it is part of, if any, and the translation keys of
    its names, outermost first.
    """
    areas = ar.async_get(hass)
    labels = lr.async_get(hass)
    for numbered in enumerate(home_rules.policy.rules, start=1):
        rule = numbered[1]
        fields = {
            "entities": _missing_entities(hass, rule.entities),
            "areas": [
                area
                for area in sorted(rule.areas)
                if areas.async_get_area(area) is None
            ],
            "labels": [
                label
                for label in sorted(rule.labels)
                if labels.async_get_label(label) is None
            ],
            "users": sorted(rule.users.difference(user_ids)),
            "devices": _missing_devices(hass, rule.devices),
        }
        for field, ids in fields.items():
            yield numbered, (f"{_SELECTOR}.rules.fields.{field}.name",), ids
    people = home_rules.people_at_satellites
    yield (
        None,
        (f"{_FORM}.data.{CONF_NOTIFY}",),
        _missing_entities(hass, home_rules.notify),
    )
    yield None, _of_people("device"), _missing_devices(hass, people)
    yield None, _of_people("person"), _missing_entities(hass, people.values())
    yield (
        None,
        (f"{_WHO_SPEAKS}.{CONF_TRUSTED_CALLERS}",),
        _missing_entities(hass, home_rules.trusted_callers),
    )


def _of_people(field: str) -> tuple[str, ...]:
    return (
        f"{_WHO_SPEAKS}.{CONF_PEOPLE_AT_SATELLITES}",
        f"{_SELECTOR}.{CONF_PEOPLE_AT_SATELLITES}.fields.{field}.name",
    )


def _missing_entities(
    hass: HomeAssistant,
    entity_ids: Iterable[str],
) -> list[str]:
    registry = er.async_get(hass)
    return [
        entity_id
        for entity_id in sorted(set(entity_ids))
        if not registry.async_is_registered(entity_id)
        and hass.states.get(entity_id) is None
    ]


def _missing_devices(
    hass: HomeAssistant,
    device_ids: Iterable[str],
) -> list[str]:
    registry = dr.async_get(hass)
    return [
        device_id
        for device_id in sorted(set(device_ids))
        if registry.async_get(device_id) is None
    ]


async def _async_field_names(hass: HomeAssistant) -> Mapping[str, str]:
    """Return our sentences by bare key, and the names of the fields of our forms, in the language of the home."""
    names = dict(await async_get_sentences(hass))
    for category in ("selector", "config_subentries"):
        names |= await async_get_translations(
            hass, hass.config.language, category, [DOMAIN]
        )
    return names


def _line(
    numbered: _Numbered,
    fields: Iterable[str],
    ids: Iterable[str],
    names: Mapping[str, str],
) -> str:
    """Return a line of the issue: "Rule 2 · Never · Areas · kitchen"."""
    path = [names[field] for field in fields]
    if numbered is not None:
        number, rule = numbered
        path = [
            names["rule_number"].format(number=number),
            names[f"verdict_{rule.verdict}"],
            *path,
        ]
    return " · ".join([*path, ", ".join(f"`{one}`" for one in ids)])
