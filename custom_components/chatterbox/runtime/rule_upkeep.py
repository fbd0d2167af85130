"""Keeps what is set for agents in step with the house: an entity that gets another id keeps its rules and its trust.

Knows what is stored of agents, and the registry of entities. Must not know what a rule means, or what a house has at
the moment: that is `runtime/rule_gaps.py`. It follows for all entries at once and whether or not they are loaded,
because one that is just being set up, or whose server is down, would miss what happens meanwhile.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er

from ..agent.messages import JsonValue
from ..const import CONF_NOTIFY, CONF_PEOPLE_AT_SATELLITES, CONF_RULES, CONF_TRUSTED_CALLERS, DOMAIN
from ..settings.options import SCRIPTS
from ..settings.rules import Policy, PolicyError, Rule, policy_from_json, policy_to_json

type _Stored = Mapping[str, Any]
"""The data of an agent; see `settings/agent.py`."""


@callback
def async_follow_entities(hass: HomeAssistant) -> None:
    """Change what is stored of agents, from now on, when an entity that it names gets another id or is removed."""

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
    """Take an entity that is gone out of those that are trusted, or whatever gets its id would be trusted as well.

    Everything else keeps it: a rule that lost what it names would be about something else, and an entity may come back.
    """
    if removed not in stored.get(CONF_TRUSTED_CALLERS, ()):
        return stored
    trusted = [caller for caller in stored[CONF_TRUSTED_CALLERS] if caller != removed]
    return {**stored, CONF_TRUSTED_CALLERS: trusted}


def _renamed(stored: _Stored, old: str, new: str) -> _Stored:
    # What had the new id before is gone, although nobody may have told: the entity that has it now is another one.
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
    if rules := _renamed_rules(data.get(CONF_RULES, []), old, now):
        data[CONF_RULES] = rules
    return data


def _renamed_rules(stored: JsonValue, old: str, now: Callable[[str], str]) -> list[JsonValue] | None:
    """Return rules that name an entity by its present id; None when none named it, or when they cannot be read."""
    try:
        rules = policy_from_json(stored).rules
    except PolicyError:
        return None
    if not any(old in rule.entities for rule in rules):
        return None

    def renamed(rule: Rule) -> Rule:
        return replace(rule, entities=frozenset(map(now, rule.entities)))

    return policy_to_json(Policy(tuple(map(renamed, rules))))
