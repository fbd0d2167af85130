"""The actions of Chatterbox that automations and people call: ask, approve, deny, purge, export.

They exist as long as Home Assistant runs, even without an agent.
"""

from homeassistant.core import HomeAssistant

from .answers import async_register_answers
from .ask import async_register_ask
from .history import async_register_history_actions


def async_register_actions(hass: HomeAssistant) -> None:
    """Register all actions."""
    async_register_answers(hass)
    async_register_ask(hass)
    async_register_history_actions(hass)
