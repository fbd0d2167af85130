"""Tells which of several entities with one name, and which item of a list, a sentence means: the only one possible.

"Unlock smart lock" means the lock, not the sensor of that name. The built-in agent refuses both, so the lock is
controlled here. Of two locks of that name none is meant, and nobody is asked about what would be refused after the yes.
The temperature of each of several thermostats is told.
"""

from collections.abc import Mapping
from typing import Final

from hassil.recognize import RecognizeResult
from home_assistant_intents import ErrorKey
from homeassistant.components.climate import ATTR_CURRENT_TEMPERATURE, DOMAIN as CLIMATE_DOMAIN
from homeassistant.components.conversation import DOMAIN, ConversationInput
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent
from homeassistant.helpers.area_registry import AreaEntry
from homeassistant.helpers.template import Template

from ..agent.messages import JsonValue
from ..effects.effect import Effects, actions_of
from ..effects.intents import handler_of, intent_effects, items_meant, missed_by_intent, selection
from ..effects.reading import IntentCall
from ..effects.silent_home import async_handle_intent
from ..home.entity_matches import assist_name, matching_states
from ..internals.conversation import async_recognized, async_texts, mismatch_words, slots_of
from .openings import state_sentence

_MOST_THERMOSTATS: Final = 5
"""Whose temperatures are told in one answer."""


def is_ambiguous(
    hass: HomeAssistant, intent_type: str, slots: Mapping[str, JsonValue], area: AreaEntry | None, effects: Effects
) -> bool:
    """Return whether the built-in agent refuses a command for its name, and none of those called so is meant."""
    touched = {action.entity_id for action in actions_of(effects)}
    return len(touched) > 1 and _is_shared(hass, intent_type, slots, area)


async def async_mismatch(hass: HomeAssistant, user_input: ConversationInput, area: AreaEntry | None) -> str:
    """Return why a command fits nothing, in the words of the built-in agent; empty if it fits, or is not understood."""
    found, texts = await async_recognized(hass, user_input), await async_texts(hass, user_input.language)
    preferences = intent.MatchTargetsPreferences(area_id=area.id if area else None)
    missed = missed_by_intent(hass, found.intent.name, slots_of(found), DOMAIN, preferences) if found else None
    if texts is None or not isinstance(missed, intent.MatchFailedError):
        return ""
    key, values = mismatch_words(hass, missed)
    answer = Template(texts.error_responses.get(key, ""), hass)
    return str(answer.async_render(values, parse_result=False))


async def async_act_on_meant(
    hass: HomeAssistant, user_input: ConversationInput, area: AreaEntry | None
) -> intent.IntentResponse | None:
    """Do what the built-in agent has refused for the name, if only one entity can be meant; None if there is none."""
    if (recognized := await async_recognized(hass, user_input)) is None:
        return None
    name, slots = recognized.intent.name, slots_of(recognized)
    touched = {action.entity_id for action in actions_of(intent_effects(hass, name, slots, DOMAIN))}
    if len(touched) != 1 or not _is_shared(hass, name, slots, area):
        return None
    # Home Assistant accepts an entity id as a name.
    return await _async_handle(hass, user_input, recognized, {"name": touched.pop()})


async def async_act_on_item(hass: HomeAssistant, user_input: ConversationInput) -> intent.IntentResponse | None:
    """Do what a sentence asks for an item of a list that is written otherwise there; None unless it is the only one."""
    if (recognized := await async_recognized(hass, user_input)) is None:
        return None
    meant = items_meant(hass, recognized.intent.name, slots_of(recognized), DOMAIN)
    return await _async_handle(hass, user_input, recognized, {"item": meant[0]}) if len(meant) == 1 else None


async def async_tell_temperatures(
    hass: HomeAssistant, user_input: ConversationInput, area: AreaEntry | None
) -> intent.IntentResponse | None:
    """Tell what each thermostat of a place measures, where the built-in agent only answers if there is one.

    None for other sentences. Without a place in the sentence, it is that of the speaker, else the home.
    """
    recognized, texts = await async_recognized(hass, user_input), await async_texts(hass, user_input.language)
    if recognized is None or texts is None or recognized.intent.name != intent.INTENT_GET_TEMPERATURE:
        return None
    answer = texts.intent_responses.get(recognized.intent.name, {}).get(recognized.response)
    slots = slots_of(recognized)
    here = {"area": area.id} if area and not {"name", "area", "floor"} & slots.keys() else {}
    found = matching_states(hass, selection(slots | here, DOMAIN, {CLIMATE_DOMAIN}))
    known = [state for state in found if state.attributes.get(ATTR_CURRENT_TEMPERATURE) is not None]
    if not answer or not 1 < len(known) <= _MOST_THERMOSTATS:
        return None
    response = intent.IntentResponse(user_input.language)
    response.response_type = intent.IntentResponseType.QUERY_ANSWER
    answers: list[str] = []
    for state in known:
        response.async_set_states([state])
        answers.append(
            f"{assist_name(hass, state.entity_id, state.name)}: {state_sentence(hass, answer, slots, response)}"
        )
    response.async_set_states(known)
    response.async_set_speech(", ".join(sorted(answers)))
    return response


async def async_do_read(hass: HomeAssistant, user_input: ConversationInput, call: IntentCall) -> intent.IntentResponse:
    """Handle an intent that was read in a sentence, and answer as Home Assistant."""
    texts = await async_texts(hass, user_input.language)
    spoken = {slot: _spoken(hass, slot, value) for slot, value in call.slots.items()}
    ids = {slot: str(value) for slot, value in call.slots.items() if spoken[slot] != value}
    try:
        response = await async_handle_intent(hass, user_input, call.intent, spoken, ids)
    except intent.IntentError:
        response = intent.IntentResponse(user_input.language)
        failure = texts.error_responses.get(ErrorKey.HANDLE_ERROR, "") if texts else ""
        response.async_set_error(intent.IntentResponseErrorCode.FAILED_TO_HANDLE, failure)
        return response
    if texts and (answer := texts.intent_responses.get(call.intent, {}).get(call.response)):
        response.async_set_speech(state_sentence(hass, answer, spoken | response.speech_slots, response))
    return response


def _spoken(hass: HomeAssistant, slot: str, value: JsonValue) -> JsonValue:
    """Return the value of a slot as it is said: the name of an entity for its id."""
    state = hass.states.get(value) if slot == "name" and isinstance(value, str) else None
    return assist_name(hass, state.entity_id, state.name) if state else value


async def _async_handle(
    hass: HomeAssistant, user_input: ConversationInput, recognized: RecognizeResult, meant: Mapping[str, str]
) -> intent.IntentResponse | None:
    """Handle a recognized intent with other values of some slots, and answer as Home Assistant; None if it fails."""
    name, slots = recognized.intent.name, slots_of(recognized)
    try:
        response = await async_handle_intent(hass, user_input, name, slots, meant)
    except intent.IntentError:
        return None
    texts = await async_texts(hass, user_input.language)
    if texts and (answer := texts.intent_responses.get(name, {}).get(recognized.response)):
        response.async_set_speech(state_sentence(hass, answer, slots | response.speech_slots, response))
    return response


def _is_shared(hass: HomeAssistant, intent_type: str, slots: Mapping[str, JsonValue], area: AreaEntry | None) -> bool:
    """Return whether the handler of an intent would fail because several entities have the name."""
    handler = handler_of(hass, intent_type)
    if not isinstance(handler, intent.DynamicServiceIntentHandler) or "name" not in slots:
        return False
    constraints = selection(slots, DOMAIN, handler.required_domains)
    constraints.features, constraints.states = handler.required_features, handler.required_states
    preferences = intent.MatchTargetsPreferences(area_id=area.id if area else None)
    found = intent.async_match_targets(hass, constraints, preferences)
    return found.no_match_reason is intent.MatchFailedReason.DUPLICATE_NAME
