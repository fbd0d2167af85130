"""Registers the actions of Chatterbox, which exist as long as Home Assistant runs, even without an agent.

Each kind has a module of its own.
"""

from homeassistant.core import HomeAssistant

from .actions.answers import async_register_answers
from .actions.ask import async_register_ask
from .actions.history import async_register_history_actions


def async_register_actions(hass: HomeAssistant) -> None:
    """Register all actions."""
    async_register_answers(hass)
    async_register_ask(hass)
    async_register_history_actions(hass)
