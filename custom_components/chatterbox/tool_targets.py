"""Which entities a call of one of Home Assistant's tools may change, before it runs.

Knows intents, areas and floors. The answer is at least what the call would change, never less: states and features,
which an earlier call of the same message may alter, are not looked at. Has no side effect.
"""

from typing import Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import intent, llm

from .agent.messages import JsonObject, JsonValue

_ACTS_ELSEWHERE: Final = frozenset({"automation", "button", "input_button", "scene", "script"})
"""Domains whose entities change something other than themselves."""


@callback
def call_targets(
    hass: HomeAssistant, llm_context: llm.LLMContext, tool: llm.Tool, arguments: JsonObject
) -> frozenset[str] | None:
    """Return entity ids, members of groups included, or None when it cannot be told.

    It can be told for the intents that act on entities by name, area, floor, domain or device class.
    """
    handler = _service_intent(hass, tool)
    if handler is None:
        return None
    name = _text(arguments.get("name"))
    constraints = intent.MatchTargetsConstraints(
        name=None if name == "all" else name,
        area_name=_text(arguments.get("area")),
        floor_name=_text(arguments.get("floor")),
        domains=_texts(arguments.get("domain")) or handler.required_domains,
        device_classes=_texts(arguments.get("device_class")),
        assistant=llm_context.assistant,
        allow_duplicate_names=True,
    )
    if not constraints.has_constraints:
        return None
    result = intent.async_match_targets(hass, constraints)
    if not result.is_match or any(state.domain in _ACTS_ELSEWHERE for state in result.states):
        return None
    return _with_members(hass, {state.entity_id for state in result.states})


@callback
def intent_type(tool: llm.Tool) -> str | None:
    """Return the intent behind a tool, or None when it is something else."""
    while isinstance(tool, llm.NamespacedTool):
        tool = tool.tool
    return tool.intent_type if isinstance(tool, llm.IntentTool) else None


def _service_intent(hass: HomeAssistant, tool: llm.Tool) -> intent.DynamicServiceIntentHandler | None:
    wanted = intent_type(tool)
    for handler in intent.async_get(hass):
        if handler.intent_type == wanted and isinstance(handler, intent.DynamicServiceIntentHandler):
            return handler
    return None


def _with_members(hass: HomeAssistant, entity_ids: set[str]) -> frozenset[str]:
    """Add what groups hold, which Home Assistant lists in the attribute `entity_id`."""
    found: set[str] = set()
    waiting = list(entity_ids)
    while waiting:
        entity_id = waiting.pop()
        if entity_id in found:
            continue
        found.add(entity_id)
        state = hass.states.get(entity_id)
        members: object = state.attributes.get("entity_id") if state else None
        if isinstance(members, (list, tuple)):
            waiting += [member for member in members if isinstance(member, str)]
    return frozenset(found)


def _text(value: JsonValue) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _texts(value: JsonValue) -> set[str] | None:
    values = value if isinstance(value, list) else [value]
    return {text for item in values if (text := _text(item))} or None
