"""Who may step in for an agent: entities in a form ⇄ subentry ids, which are stored and outlive every new name.

Knows entries and the entity registry. Must not know when somebody steps in, or what is asked of them.
"""

from collections.abc import Iterable, Mapping

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from .const import CONF_KIND, DOMAIN, ServiceKind


def possible_fallbacks(hass: HomeAssistant, own_id: str | None) -> Mapping[str, str]:
    """Return the agents that have a model, except `own_id`: the ids of their entities by those of their subentries."""
    registry = er.async_get(hass)
    return {
        entity.unique_id: entity.entity_id
        for entry in hass.config_entries.async_entries(DOMAIN)
        if entry.data[CONF_KIND] != ServiceKind.OFFLINE
        for entity in er.async_entries_for_config_entry(registry, entry.entry_id)
        if entity.domain == CONVERSATION_DOMAIN and entity.unique_id in entry.subentries and entity.unique_id != own_id
    }


def titles_of(hass: HomeAssistant, agent_ids: Iterable[str]) -> Mapping[str, str]:
    """Return how agents are called, with the service of each, since names may be alike."""
    entries = hass.config_entries.async_entries(DOMAIN)
    return {
        agent_id: f"{entry.subentries[agent_id].title} ({entry.title})"
        for agent_id in agent_ids
        for entry in entries
        if agent_id in entry.subentries
    }


def fallback_ids(possible: Mapping[str, str], entity_ids: Iterable[str]) -> list[str] | None:
    """Return the subentries of entities, each once and in their order; None when one of them may not step in."""
    agents = {entity_id: agent_id for agent_id, entity_id in possible.items()}
    chosen = list(dict.fromkeys(entity_ids))
    return [agents[entity_id] for entity_id in chosen] if all(chosen_id in agents for chosen_id in chosen) else None
