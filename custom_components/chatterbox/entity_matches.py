"""Which entities are meant by a name, an area, a floor, a domain or a device class, as Home Assistant matches them.

Knows Home Assistant's matching and registries. Must not know what is to be done with the entities.
"""

from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import intent


@callback
def matching_states(hass: HomeAssistant, constraints: intent.MatchTargetsConstraints) -> list[State]:
    """Return the states of all entities that fit; none when an area or a floor does not exist."""
    return intent.async_match_targets(hass, constraints).states
