"""Rules of the home in plain words, such as "Between 22:00 and 06:00: never open the Garage Door."."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    label_registry as lr,
)

from ..agent.text import capitalized
from ..effects.effect import ActionKind, kind_of
from ..home.entity_matches import entity_name, tool_name
from ..runtime.rule_labels import RuleLabels
from ..settings.rules import NEVER_WHERE_PEOPLE_WERE, Policy, Rule
from ..speech.sentences import joined_texts

_MOST_NAMES: Final = 5
_IMPLIED: Final = {
    ActionKind.OPEN: frozenset({ActionKind.OPEN_OR_CLOSE}),
    ActionKind.TURN_ON: frozenset({ActionKind.TOGGLE}),
    ActionKind.UNLOCK: frozenset({ActionKind.OPEN}),
}
"""Kinds of action that go without saying beside another one."""
_UNNAMED: Final = frozenset({ActionKind.CHANGE, ActionKind.USE})
"""Kinds of which the names of the actions tell more."""


@dataclass(frozen=True, slots=True)
class RuleText:
    """Writes rules in the language of their labels."""

    hass: HomeAssistant
    labels: RuleLabels
    names: Mapping[str, Mapping[str, str]]
    """The names of areas, labels and devices, by condition and id."""

    def of(self, rule: Rule) -> str:
        """Return a rule as a sentence."""
        is_past = rule.actions == NEVER_WHERE_PEOPLE_WERE.actions
        text = self._say(
            f"rule_{rule.verdict}",
            actions=self._say("rule_past") if is_past else self._actions(rule),
        )
        conditions = self._conditions(rule)
        if conditions:
            text = self._say(
                "rule_if",
                conditions=joined_texts(self.labels.sentences, conditions),
                rule=text,
            )
        return capitalized(text)

    def _conditions(self, rule: Rule) -> list[str]:
        """Return what is not about the entities: the time, the speaker, the place and the tool."""
        found: list[str] = []
        if rule.window:
            after, before = (
                end.isoformat("minutes")
                for end in (rule.window.after, rule.window.before)
            )
            found.append(self._say("rule_between", after=after, before=before))
        if rule.users:
            found.append(
                self._say(
                    "rule_users",
                    names=self._listed(self._labelled("users", rule.users)),
                )
            )
        if rule.devices:
            found.append(
                self._say(
                    "rule_devices",
                    names=self._listed(self._named("devices", rule.devices)),
                )
            )
        if rule.tools and rule.is_about_entities:
            found.append(
                self._say(
                    "rule_tools", names=self._listed(sorted(map(tool_name, rule.tools)))
                )
            )
        return found

    def _actions(self, rule: Rule) -> str:
        """Return what is done, and to what."""
        if rule.tools and not rule.is_about_entities:
            return self._say(
                "asked_use", targets=self._listed(sorted(map(tool_name, rule.tools)))
            )
        kinds = {kind_of(action) for action in rule.actions}
        implied = [_IMPLIED.get(kind, ()) for kind in kinds]
        kinds -= set[ActionKind]().union(*implied)
        vague = [action for action in rule.actions if kind_of(action) in _UNNAMED]
        targets = self._targets(rule)
        parts = [
            self._say(
                f"asked_{kind}",
                targets=targets,
            )
            for kind in ActionKind
            if kind in kinds - _UNNAMED
        ]
        if vague:
            names = self._listed(self._labelled("actions", vague))
            parts.append(self._say("rule_action", names=names, targets=targets))
        if parts:
            return self._listed(parts)
        return self._say("asked_use", targets=targets)

    def _targets(self, rule: Rule) -> str:
        """Return the names of entities, or of kinds of them, with their place."""
        domains = rule.domains or {action.partition(".")[0] for action in rule.actions}
        if rule.entities:
            named = sorted(
                entity_name(self.hass, entity_id) for entity_id in rule.entities
            )
            targets = self._listed(
                [self._say("asked_name", name=name) for name in named]
            )
        elif rule.device_classes:
            targets = self._say(
                "rule_kind",
                names=self._listed(
                    self._labelled("device_classes", rule.device_classes)
                ),
            )
        elif domains:
            targets = self._say(
                "rule_kind", names=self._listed(self._labelled("domains", domains))
            )
        else:
            targets = self._say("rule_anything")
        if rule.labels:
            names = self._listed(self._named("labels", rule.labels))
            targets = self._say(
                "rule_labels",
                targets=targets,
                names=names,
            )
        if rule.areas:
            place = self._listed(self._named("areas", rule.areas))
            targets = self._say(
                "asked_placed",
                name=targets,
                place=place,
            )
        return targets

    def _labelled(
        self,
        condition: str,
        ids: Iterable[str],
    ) -> list[str]:
        labels = self.labels.of_conditions[condition]
        return sorted(
            {labels.label(one) for one in ids},
            key=str.casefold,
        )

    def _named(
        self,
        condition: str,
        ids: Iterable[str],
    ) -> list[str]:
        names = self.names[condition]
        return sorted(
            {names.get(one, one) for one in ids},
            key=str.casefold,
        )

    def _say(
        self,
        key: str,
        **placeholders: str,
    ) -> str:
        return self.labels.sentences[key].format_map(placeholders)

    def _listed(self, names: Sequence[str]) -> str:
        """Return names with "or" before the last one; of many, the first ones and how many there are more."""
        more = len(names) - _MOST_NAMES
        sentences = self.labels.sentences
        if more > 0:
            return self._say(
                "asked_many",
                targets=joined_texts(sentences, names[:_MOST_NAMES]),
                count=str(more),
            )
        *others, last = names
        if others:
            first = joined_texts(sentences, others)
            return self._say("rule_or", first=first, second=last)
        return last


def registered_names(
    hass: HomeAssistant, policy: Policy
) -> Mapping[str, Mapping[str, str]]:
    """Return the names of areas, labels, satellites and the entities of rules, by condition and id."""
    devices = dr.async_get(hass)
    registry = er.async_get(hass)
    satellites = {
        one.device_id
        for one in registry.entities.values()
        if one.domain == Platform.ASSIST_SATELLITE
    }
    found = [device for one in satellites if one and (device := devices.async_get(one))]
    return {
        "areas": {area.id: area.name for area in ar.async_get(hass).async_list_areas()},
        "labels": {
            label.label_id: label.name
            for label in lr.async_get(hass).async_list_labels()
        },
        "devices": {
            device.id: device.name_by_user or device.name or device.id
            for device in found
        },
        "entities": {
            one: entity_name(hass, one)
            for rule in policy.rules
            for one in rule.entities
        },
    }
