"""A home with more lamps than are listed for a model."""

from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant

FINDS = "find_entities"
"""The tool that finds things, as a model sees it."""


def add_lamps(hass: HomeAssistant, count: int) -> None:
    """Add things, all alike but for a number."""
    for number in range(count):
        hass.states.async_set(
            f"light.lamp_{number}", "off", {"friendly_name": f"Lantern {number}"}
        )
        async_expose_entity(
            hass, conversation.DOMAIN, f"light.lamp_{number}", should_expose=True
        )
