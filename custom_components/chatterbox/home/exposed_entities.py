"""Which entities an assistant may see, and what they are called.

Knows Home Assistant's exposure settings and registries; nothing of tools.
"""

from collections.abc import Iterable

from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import entity_registry as er, intent


@callback
def exposed_states(hass: HomeAssistant, assistant: str, domains: Iterable[str] | None = None) -> list[State]:
    """Return the states of the exposed entities, all or those of some domains, sorted by name."""
    states = [
        state for state in hass.states.async_all(domains) if async_should_expose(hass, assistant, state.entity_id)
    ]
    return sorted(states, key=lambda state: (state.name.casefold(), state.entity_id))


@callback
def exposed_names(hass: HomeAssistant, assistant: str, domains: Iterable[str] | None = None) -> list[str]:
    """Return the names and aliases of the exposed entities, sorted, each once."""
    registry = er.async_get(hass)
    return sorted(
        {
            name
            for state in exposed_states(hass, assistant, domains)
            for name in intent.async_get_entity_aliases(hass, registry.async_get(state.entity_id), state=state)
        }
    )
