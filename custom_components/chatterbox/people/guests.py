"""Guest mode: a switch of the home. While it is on, voices are guests, with less than the rules of the home allow.

Everybody may switch it on, by voice as well; see `is_guest` for the people that it is
about. It is switched off by users of Home Assistant and by automations, never by what
is said to an agent. Decision 64.
"""

from dataclasses import replace
from typing import Final

from homeassistant.const import Platform
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from ..settings.rules import async_get_home_rules
from .speakers import async_is_by_hand

GUEST_MODE: Final = f"{DOMAIN}_guest_mode"
"""The unique id of the switch."""
GUEST_MODE_ON: Final = "switch.turn_on"


def guest_switch(hass: HomeAssistant) -> str | None:
    """Return the entity id of the switch, if there is one."""
    return er.async_get(hass).async_get_entity_id(
        Platform.SWITCH,
        DOMAIN,
        GUEST_MODE,
    )


async def async_set_guest_mode(
    hass: HomeAssistant, context: Context, *, is_on: bool
) -> None:
    """Switch guest mode on or off.

    Raises `HomeAssistantError` for a voice or an agent that would end it, and while the
    rules of the home cannot be read.
    """
    store = async_get_home_rules(hass)
    key = ""
    if not is_on and not await async_is_by_hand(hass, context):
        key = "guest_mode_by_hand"
    elif store.current is not store.stored:
        key = "guest_mode_unknown"
    if key:
        raise HomeAssistantError(translation_domain=DOMAIN, translation_key=key)
    if is_on:
        since = store.stored.guests_since or dt_util.utcnow()
    else:
        since = None
    store.async_change(lambda rules: replace(rules, guests_since=since))
