"""The actions of Chatterbox, which are there as long as Home Assistant runs, whether or not there is an agent.

Each kind has a module of its own.
"""

from homeassistant.core import HomeAssistant, callback

from .answer_actions import async_register_answers
from .ask_action import async_register_ask
from .history_actions import async_register_history_actions


@callback
def async_register_actions(hass: HomeAssistant) -> None:
    """Register all of them."""
    async_register_answers(hass)
    async_register_ask(hass)
    async_register_history_actions(hass)
