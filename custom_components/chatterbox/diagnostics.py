"""What a person may attach to a report about an entry: how it is set up, and no secret.

Knows entries and registries. Must not show a key, or the words that somebody wrote for an agent.
"""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.components.diagnostics import async_redact_data
from homeassistant.const import CONF_API_KEY, CONF_PROMPT
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.loader import async_get_integration

from .const import DOMAIN
from .runtime import ChatterboxConfigEntry

_PRIVATE: Final = frozenset({CONF_API_KEY, CONF_PROMPT})


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


def _public(data: Mapping[str, Any]) -> dict[str, Any]:
    return async_redact_data(dict(data), _PRIVATE)
