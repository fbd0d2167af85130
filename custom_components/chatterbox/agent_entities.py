"""The conversation agents of Chatterbox as Home Assistant lists them, for whoever is given one by its entity id.

Knows the entity registry. Must not know whether an agent can answer.
"""

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er

from .const import DOMAIN


@callback
def async_agent_entries(hass: HomeAssistant) -> list[er.RegistryEntry]:
    """Return the entries of all agents, those that are disabled left out."""
    return [
        entity
        for entity in er.async_get(hass).entities.values()
        if entity.platform == DOMAIN and entity.domain == CONVERSATION_DOMAIN and not entity.disabled
    ]
