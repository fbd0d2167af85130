"""Which entities a call of one of Home Assistant's tools may change, for the order of calls.

Knows the effects of calls. Must not know how a call runs.
"""

from typing import Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm

from .agent.messages import JsonObject
from .call_effects import call_effects
from .effects import Touches

_ACTS_ELSEWHERE: Final = frozenset({"automation", "button", "input_button", "scene", "script"})
"""Domains whose entities change something other than themselves."""


@callback
def call_targets(
    hass: HomeAssistant, llm_context: llm.LLMContext, tool: llm.Tool, arguments: JsonObject
) -> frozenset[str] | None:
    """Return entity ids, members of groups included, or None when it cannot be told.

    It can be told for the intents that act on entities by name, area, floor, domain or device class.
    """
    effects = call_effects(hass, llm_context, tool, arguments)
    if not isinstance(effects, Touches) or not effects.actions:
        return None
    if any(action.domain in _ACTS_ELSEWHERE for action in effects.actions):
        return None
    return frozenset(action.entity_id for action in effects.actions)
