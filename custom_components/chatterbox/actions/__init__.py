"""The actions of Chatterbox that automations and people call: ask, approve, deny, purge, export, set guest mode.

They exist as long as Home Assistant runs, even without an agent.
"""

from typing import Final

import homeassistant.helpers.config_validation as cv
import voluptuous as vol
from homeassistant.core import HomeAssistant, ServiceCall

from ..const import DOMAIN
from ..people.guests import async_set_guest_mode
from .answers import async_register_answers
from .ask import async_register_ask
from .history import async_register_history_actions

_ACTIVE: Final = "active"


def async_register_actions(hass: HomeAssistant) -> None:
    """Register all actions."""
    async_register_answers(hass)
    async_register_ask(hass)
    async_register_history_actions(hass)
    schema = vol.Schema({vol.Required(_ACTIVE): cv.boolean})
    hass.services.async_register(
        DOMAIN,
        "set_guest_mode",
        _async_set,
        schema,
    )


async def _async_set(call: ServiceCall) -> None:
    """Switch guest mode on or off, as its switch does."""
    await async_set_guest_mode(
        call.hass,
        call.context,
        is_on=call.data[_ACTIVE],
    )
