"""Predicts the effects of a tool call before it runs.

The answer contains at least what the call will do. Tools of others, such as those of an MCP server, act on no entity
that could be known; they are judged by their annotations.
"""

from collections.abc import Mapping
from typing import Final

from homeassistant.components.conversation import HOME_ASSISTANT_AGENT, ConversationInput
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import intent, llm

from ..agent.messages import JsonObject
from ..effects.actions import ActionReader
from ..effects.effect import NOTHING, Annotated, Effects, Unresolved
from ..effects.intents import delayed_command, intent_effects
from ..home.entity_matches import matching_states
from ..offline.sentence_effects import async_later_effects
from .llm_apis import UnavailableTool
from .merge import annotations_of, class_path, unwrapped

_SCRIPT_TOOL: Final = "homeassistant.components.script.llm.ScriptTool"
_PLAY_TOOL: Final = "homeassistant.components.media_player.llm.MediaPlayTool"


async def async_call_effects(
    hass: HomeAssistant, llm_context: llm.LLMContext, tool: llm.Tool, arguments: JsonObject
) -> Effects:
    """Return the effects of a call, including those of a command that a timer runs when it finishes."""
    own = unwrapped(tool)
    command = delayed_command(own.intent_type, arguments) if isinstance(own, llm.IntentTool) else ""
    if not command:
        return call_effects(hass, llm_context, tool, arguments)
    context = llm_context.context or Context()
    language = llm_context.language or hass.config.language
    said = ConversationInput(command, context, None, llm_context.device_id, None, language, HOME_ASSISTANT_AGENT)
    return await async_later_effects(hass, said)


@callback
def call_effects(hass: HomeAssistant, llm_context: llm.LLMContext, tool: llm.Tool, arguments: JsonObject) -> Effects:
    """Return the immediate effects of a call. Those of a timer's command are unknown here."""
    match unwrapped(tool):
        case UnavailableTool():
            return NOTHING
        case llm.IntentTool() as own:
            return _of_intent(hass, llm_context, own, arguments)
        case own if class_path(own) == _SCRIPT_TOOL:
            reader = ActionReader(hass)
            reader.touch([own.name.replace("__", ".", 1)], "script", "turn_on", arguments)
            return reader.effects()
        case own if class_path(own) == _PLAY_TOOL:
            return _of_player(hass, llm_context, arguments)
        case own:
            return Annotated(annotations_of(own))


def _of_intent(
    hass: HomeAssistant, llm_context: llm.LLMContext, tool: llm.IntentTool, arguments: JsonObject
) -> Effects:
    slots = {name: value for name, value in arguments.items() if not intent.is_blank_slot_value(value)}
    effects = intent_effects(hass, tool.intent_type, slots, llm_context.assistant)
    if isinstance(effects, Unresolved) and tool.annotations.read_only:
        return Annotated(annotations_of(tool))
    return effects


def _of_player(hass: HomeAssistant, llm_context: llm.LLMContext, arguments: Mapping[str, object]) -> Effects:
    """Return the effects of playing media on any of the matching players."""
    name, area, floor = (
        str(value) if not intent.is_blank_slot_value(value := arguments.get(f"player_{slot}")) else None
        for slot in ("name", "area", "floor")
    )
    constraints = intent.MatchTargetsConstraints(
        name=name,
        area_name=area,
        floor_name=floor,
        domains={"media_player"},
        assistant=llm_context.assistant,
        allow_duplicate_names=True,
    )
    reader = ActionReader(hass)
    reader.touch([state.entity_id for state in matching_states(hass, constraints)], "media_player", "play_media", {})
    return reader.effects()
