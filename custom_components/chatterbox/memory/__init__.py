"""Facts that people asked their agents to remember, and the tools for them."""

from homeassistant.core import HomeAssistant

from ..offline.local_commands import recognizers
from ..tools.own.registry import own_tools
from .fact_tools import FORGET, LIST_MEMORIES, REMEMBER
from .sentences import async_recognize_fact


def async_setup_memory(hass: HomeAssistant) -> None:
    """Add the tools to those of the agents that remember facts, and what is understood without a model."""
    own_tools(hass).extend((FORGET, LIST_MEMORIES, REMEMBER))
    recognizers(hass)[REMEMBER.definition.name] = async_recognize_fact
