"""Facts that people asked their agents to remember, and the tools for them."""

from homeassistant.core import HomeAssistant

from ..tools.own.registry import own_tools
from .fact_tools import FORGET, LIST_MEMORIES, REMEMBER


def async_setup_memory(hass: HomeAssistant) -> None:
    """Add the tools to those of the agents that remember facts."""
    own_tools(hass).extend((FORGET, LIST_MEMORIES, REMEMBER))
