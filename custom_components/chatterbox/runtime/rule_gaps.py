"""Tells the owner of a house what the settings of an agent name and the house does not have any more.

Knows the registries, states and users of Home Assistant, and what agents are set to. Must not know how a rule is
judged, and changes none: a rule holds for everything that it still names. Tools and actions are not looked for, since
they come and go with what offers them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
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

from ..const import CONF_NOTIFY, CONF_PEOPLE_AT_SATELLITES, CONF_TRUSTED_CALLERS, DOMAIN
from ..repair_issues import async_report_gone_names
from ..settings.agent import AgentSettings
from ..settings.rules import Rule, Verdict
from ..speech.sentences import async_get_sentences
from .agents import ChatterboxConfigEntry

_SETTLES_IN: Final = 10.0
"""Seconds in which things that are taken away and put back, as when YAML is read anew, are back."""

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


@dataclass(frozen=True, slots=True)
class _Gap:
    """What one field of the form "What needs a yes" names and the house does not have."""

    place: tuple[str, ...]
    """Keys of the names that the form has for the field, from the outside in."""
    names: tuple[str, ...]
    """Ids."""
    rule: tuple[int, Verdict] | None = None
    """With its number, where a rule names it."""


@dataclass(frozen=True, slots=True)
class _House:
    """What a house has."""

    hass: HomeAssistant
    user_ids: frozenset[str]

    def gaps(self, settings: AgentSettings) -> Iterator[_Gap]:
        """Yield what is missing of what an agent's settings name."""
        for number, rule in enumerate(settings.policy.rules, start=1):
            for field, missing in self._missing_in(rule).items():
                if missing:
                    yield _Gap((f"{_SELECTOR}.rules.fields.{field}.name",), tuple(missing), (number, rule.verdict))
        people = settings.people_at_satellites
        fields = {
            (f"{_FORM}.data.{CONF_NOTIFY}",): self._missing_entities(settings.notify),
            _of_people("device"): self._missing_devices(people),
            _of_people("person"): self._missing_entities(people.values()),
            (f"{_WHO_SPEAKS}.{CONF_TRUSTED_CALLERS}",): self._missing_entities(settings.trusted_callers),
        }
        for place, missing in fields.items():
            if missing:
                yield _Gap(place, tuple(missing))

    def _missing_in(self, rule: Rule) -> Mapping[str, list[str]]:
        areas, labels = ar.async_get(self.hass), lr.async_get(self.hass)
        return {
            "entities": self._missing_entities(rule.entities),
            "areas": [area for area in sorted(rule.areas) if areas.async_get_area(area) is None],
            "labels": [label for label in sorted(rule.labels) if labels.async_get_label(label) is None],
            "users": sorted(rule.users - self.user_ids),
            "devices": self._missing_devices(rule.devices),
        }

    def _missing_entities(self, entity_ids: Iterable[str]) -> list[str]:
        registry = er.async_get(self.hass)
        return [
            entity_id
            for entity_id in sorted(set(entity_ids))
            if not registry.async_is_registered(entity_id) and self.hass.states.get(entity_id) is None
        ]

    def _missing_devices(self, device_ids: Iterable[str]) -> list[str]:
        registry = dr.async_get(self.hass)
        return [device_id for device_id in sorted(set(device_ids)) if registry.async_get(device_id) is None]


def _of_people(field: str) -> tuple[str, ...]:
    return f"{_WHO_SPEAKS}.{CONF_PEOPLE_AT_SATELLITES}", f"{_SELECTOR}.{CONF_PEOPLE_AT_SATELLITES}.fields.{field}.name"


class RuleGaps:
    """Watches over what the agents of one loaded entry name, from `async_start` until the entry is unloaded."""

    def __init__(self, hass: HomeAssistant, entry: ChatterboxConfigEntry) -> None:
        """Take the agents of `entry`, which the runtime has put together."""
        self._hass = hass
        self._entry = entry
        self._agents: list[tuple[ConfigSubentry, AgentSettings]] = [
            (entry.subentries[agent_id], agent.settings)
            for agent_id, agent in {**entry.runtime_data.agents, **entry.runtime_data.tasks}.items()
            if agent_id in entry.subentries and _names_something(agent.settings)
        ]
        self._planned: CALLBACK_TYPE | None = None
        """Takes back the look that is planned."""
        self._has_ended = False
        """An event that ends it, as it makes the entry load anew, may still be told to it afterwards."""

    @callback
    def async_start(self) -> None:
        """Look once everything has had its chance to be there, and whenever something goes or comes."""
        if not self._agents:
            return
        self._entry.async_on_unload(self._async_stop)
        self._entry.async_on_unload(async_at_started(self._hass, self._async_begin))

    @callback
    def _async_begin(self, hass: HomeAssistant) -> None:
        for change in _CHANGES:
            self._entry.async_on_unload(hass.bus.async_listen(change, self._async_see_change))
        named = {entity_id for _, settings in self._agents for entity_id in _named_entities(settings)}
        self._entry.async_on_unload(async_track_state_change_event(hass, named, self._async_see_state))
        self._async_look_in_background()

    @callback
    def _async_stop(self) -> None:
        self._has_ended = True
        if self._planned:
            self._planned()
        for agent, _ in self._agents:
            async_report_gone_names(self._hass, agent, ())

    @callback
    def _async_see_state(self, event: Event[EventStateChangedData]) -> None:
        if event.data["old_state"] is None or event.data["new_state"] is None:
            self._async_plan()

    @callback
    def _async_see_change(self, _event: Event) -> None:
        self._async_plan()

    @callback
    def _async_plan(self) -> None:
        if self._planned is None and not self._has_ended:
            job = HassJob(self._async_look_in_background, cancel_on_shutdown=True)
            self._planned = async_call_later(self._hass, _SETTLES_IN, job)

    @callback
    def _async_look_in_background(self, _now: datetime | None = None) -> None:
        self._planned = None
        name = f"chatterbox look at what {self._entry.title} names"
        _ = self._entry.async_create_background_task(self._hass, self._async_look(), name)

    async def _async_look(self) -> None:
        words = await _async_words(self._hass)
        users = await self._hass.auth.async_get_users()
        house = _House(self._hass, frozenset(user.id for user in users))
        for agent, settings in self._agents:
            async_report_gone_names(self._hass, agent, [_line(gap, words) for gap in house.gaps(settings)])


def _names_something(settings: AgentSettings) -> bool:
    return bool(settings.policy.rules or settings.notify or settings.trusted_callers or settings.people_at_satellites)


def _named_entities(settings: AgentSettings) -> set[str]:
    in_rules = (rule.entities for rule in settings.policy.rules)
    people = settings.people_at_satellites.values()
    return {*settings.notify, *settings.trusted_callers, *people}.union(*in_rules)


async def _async_words(hass: HomeAssistant) -> Mapping[str, str]:
    """Return our sentences by bare key, and the names that our forms have for things, in the language of the house."""
    words = dict(await async_get_sentences(hass, hass.config.language))
    for category in ("selector", "config_subentries"):
        words |= await async_get_translations(hass, hass.config.language, category, [DOMAIN])
    return words


def _line(gap: _Gap, words: Mapping[str, str]) -> str:
    """Say where something is named, as the form shows it, and what: "Rule 2 · Never · Areas · kitchen"."""
    path = [words[key] for key in gap.place]
    if gap.rule is not None:
        number, verdict = gap.rule
        path = [words["rule_number"].format(number=number), words[f"verdict_{verdict}"], *path]
    return " · ".join([*path, ", ".join(f"`{name}`" for name in gap.names)])
