"""Answers questions about windows and doors by contact sensors too.

For "are any windows open?", the built-in agent looks at covers alone, and at sensors alone for other words. A home with
an open window and no motorized one heard "No".
"""

from collections.abc import Mapping
from typing import Final

from homeassistant.components import conversation
from homeassistant.components.binary_sensor import DOMAIN as BINARY_SENSOR_DOMAIN, BinarySensorDeviceClass
from homeassistant.components.conversation import ConversationInput
from homeassistant.components.cover import DOMAIN as COVER_DOMAIN, CoverDeviceClass
from homeassistant.const import STATE_CLOSED, STATE_OFF, STATE_ON, STATE_OPEN
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent
from homeassistant.helpers.template import Template, TemplateState

from ..effects.intents import selection
from ..internals.conversation import async_recognized, async_texts

_SENSORS: Final[Mapping[object, str]] = {
    CoverDeviceClass.DOOR: BinarySensorDeviceClass.DOOR,
    CoverDeviceClass.GARAGE: BinarySensorDeviceClass.GARAGE_DOOR,
    CoverDeviceClass.WINDOW: BinarySensorDeviceClass.WINDOW,
}
_STATES: Final[Mapping[object, str]] = {STATE_OPEN: STATE_ON, STATE_CLOSED: STATE_OFF}


async def async_add_sensors(
    hass: HomeAssistant, user_input: ConversationInput, response: intent.IntentResponse
) -> None:
    """Add the sensors to the answer to a question about all windows, doors or garages of the home or of a room."""
    if response.response_type is not intent.IntentResponseType.QUERY_ANSWER:
        return
    recognized = await async_recognized(hass, user_input)
    if recognized is None or recognized.intent.name != intent.INTENT_GET_STATE:
        return
    slots = {entity.name: entity.value for entity in recognized.entities_list}
    of_covers = slots.get("device_class")  # in French, a list: one word means blinds and shades
    device_class = _SENSORS.get(of_covers) if isinstance(of_covers, str) else None
    wanted = _STATES.get(slots.get("state"))
    if slots.get("domain") != COVER_DOMAIN or "name" in slots or device_class is None or wanted is None:
        return
    sensors = slots | {"domain": BINARY_SENSOR_DOMAIN, "device_class": device_class}
    found = intent.async_match_targets(hass, selection(sensors, conversation.DOMAIN, None))
    texts = await async_texts(hass, user_input.language)
    answer = texts and texts.intent_responses.get(intent.INTENT_GET_STATE, {}).get(recognized.response)
    if not found.states or not answer:
        return
    matched = [*response.matched_states, *(state for state in found.states if state.state == wanted)]
    unmatched = [*response.unmatched_states, *(state for state in found.states if state.state != wanted)]
    response.async_set_states(matched, unmatched)
    kind = intent.IntentResponseTargetType.ENTITY
    targets = [intent.IntentResponseTarget(one.name, kind, one.entity_id) for one in matched]
    response.async_set_results(targets)
    response.async_set_speech(state_sentence(hass, answer, slots, response))


def state_sentence(
    hass: HomeAssistant, answer: str, slots: Mapping[str, object], response: intent.IntentResponse
) -> str:
    """Return a sentence of Home Assistant's about the states of a response."""
    matched, unmatched = (
        [TemplateState(hass, state) for state in states]
        for states in (response.matched_states, response.unmatched_states)
    )
    state, query = next(iter((*matched, *unmatched)), None), {"matched": matched, "unmatched": unmatched}
    sentence = Template(answer, hass).async_render({"slots": slots, "state": state, "query": query}, parse_result=False)
    return " ".join(str(sentence).split())
