"""What a person may attach to a report about an entry: how it is set up, and no secret.

Knows entries and registries. Must not show a key, or what somebody wrote for an agent.
"""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.components.diagnostics import async_redact_data
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import CONF_API_KEY, CONF_PROMPT
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.loader import async_get_integration

from .agent.providers.links import LinkState
from .const import CONF_EXTRA_PARAMETERS, CONF_PIN, DOMAIN
from .runtime import ChatterboxConfigEntry

_PRIVATE: Final = frozenset({CONF_API_KEY, CONF_PROMPT, CONF_EXTRA_PARAMETERS, CONF_PIN})


async def async_get_config_entry_diagnostics(hass: HomeAssistant, entry: ChatterboxConfigEntry) -> dict[str, Any]:
    """Return how an entry and its agents are set up, and what became of their entities."""
    integration = await async_get_integration(hass, DOMAIN)
    entities = er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)
    return {
        "version": str(integration.version),
        "entry": {
            "version": f"{entry.version}.{entry.minor_version}",
            "state": entry.state.value,
            "data": _public(entry.data),
        },
        "agents": [
            {
                "type": agent.subentry_type,
                "data": _public(agent.data),
                "chain": [_link(link) for link in _chain(entry, agent.subentry_id)],
                "entities": [
                    {
                        "entity_id": entity.entity_id,
                        "disabled_by": entity.disabled_by,
                        "state": state.state if (state := hass.states.get(entity.entity_id)) else None,
                    }
                    for entity in entities
                    if entity.config_subentry_id == agent.subentry_id
                ],
            }
            for agent in entry.subentries.values()
        ],
    }


def _chain(entry: ChatterboxConfigEntry, agent_id: str) -> tuple[LinkState, ...]:
    """Return the models that answer for an agent; none when the entry is not loaded."""
    if entry.state is not ConfigEntryState.LOADED:
        return ()
    agent = entry.runtime_data.agents.get(agent_id)
    return agent.chain.state if agent else ()


def _link(link: LinkState) -> dict[str, object]:
    return {
        "name": link.name,
        "circuit": link.breaker.value,
        "failures": link.failures,
        "last_error": link.last_error and link.last_error.__name__,
        "seconds_until_probe": round(link.seconds_until_probe),
    }


def _public(data: Mapping[str, Any]) -> dict[str, Any]:
    return async_redact_data(dict(data), _PRIVATE)
