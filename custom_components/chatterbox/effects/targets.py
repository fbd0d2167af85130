"""Resolves the targets of actions to entities, and groups to their members."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from homeassistant.const import (
    ATTR_AREA_ID,
    ATTR_DEVICE_ID,
    ATTR_ENTITY_ID,
    ATTR_FLOOR_ID,
    ATTR_LABEL_ID,
    ENTITY_MATCH_ALL,
    Platform,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.group import get_group_entities
from homeassistant.helpers.target import TargetSelection, async_extract_referenced_entity_ids
from homeassistant.helpers.template import Template, is_template_string

TARGET_KEYS: Final = (ATTR_ENTITY_ID, ATTR_DEVICE_ID, ATTR_AREA_ID, ATTR_FLOOR_ID, ATTR_LABEL_ID)

_HELPERS: Final = frozenset(
    {
        "automation",
        "counter",
        "group",
        "input_boolean",
        "input_button",
        "input_datetime",
        "input_number",
        "input_select",
        "input_text",
        "schedule",
        "script",
        "timer",
    }
)
_ENTITY_DOMAINS: Final = frozenset(platform.value for platform in Platform) | _HELPERS


def acts_on_own_domain(domain: str) -> bool:
    """Tell whether the services of a domain act on the entities of that domain."""
    return domain in _ENTITY_DOMAINS


def has_target(data: Mapping[str, object]) -> bool:
    """Tell whether the data of an action contains a target."""
    return any(data.get(key) for key in TARGET_KEYS)


def decided_by_template(value: object) -> bool:
    """Tell whether a template decides any part of a value."""
    match value:
        case Template():
            return True
        case str():
            return is_template_string(value)
        case list():
            return any(decided_by_template(part) for part in value)
        case _:
            return False


@callback
def action_targets(hass: HomeAssistant, domain: str, data: Mapping[str, object]) -> frozenset[str]:
    """Return the entities of any domain that the data of an action targets, with the members of groups.

    `all` means every entity of the action's domain.
    """
    target = {key: data[key] for key in TARGET_KEYS if key in data}
    named = target.get(ATTR_ENTITY_ID)
    if named in (ENTITY_MATCH_ALL, [ENTITY_MATCH_ALL]):
        return frozenset(hass.states.async_entity_ids(domain))
    if isinstance(named, str):
        named = [part.strip() for part in named.split(",")]
    if isinstance(named, list):
        registry = er.async_get(hass)
        target[ATTR_ENTITY_ID] = [er.async_resolve_entity_id(registry, part) or part for part in named]
    selected = async_extract_referenced_entity_ids(hass, TargetSelection(target), primary_entities_only=False)
    groups = target.get(ATTR_ENTITY_ID)
    itself = {part for part in groups if "." in part} if isinstance(groups, list) else frozenset()
    return frozenset(selected.referenced | selected.indirectly_referenced | itself)


@callback
def groups_among(hass: HomeAssistant, entity_ids: Iterable[str]) -> Iterator[str]:
    """Yield the entities that may be groups."""
    known, states = get_group_entities(hass), hass.states
    for entity_id in entity_ids:
        if entity_id in known or ((state := states.get(entity_id)) and ATTR_ENTITY_ID in state.attributes):
            yield entity_id


@callback
def members_of(hass: HomeAssistant, entity_id: str) -> frozenset[str]:
    """Return the direct members of a group. Empty for other entities."""
    state = hass.states.get(entity_id)
    listed: object = state.attributes.get(ATTR_ENTITY_ID) if state else None
    entity = get_group_entities(hass).get(entity_id)
    found = set(entity.group.member_entity_ids) if entity and entity.group else set[str]()
    if isinstance(listed, (list, tuple)):
        found |= {member for member in listed if isinstance(member, str)}
    return frozenset(found - {entity_id})
