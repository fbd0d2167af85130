"""The actions of Chatterbox, which are there as long as Home Assistant runs, whether or not there is an agent.

Each kind has a module of its own.
"""

from homeassistant.core import HomeAssistant, callback

from .actions.answers import async_register_answers
from .actions.ask import async_register_ask
from .actions.history import async_register_history_actions


@callback
def async_register_actions(hass: HomeAssistant) -> None:
    """Register all of them."""
    async_register_answers(hass)
    async_register_ask(hass)
    async_register_history_actions(hass)
