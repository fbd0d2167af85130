"""Handles what a sentence asks for as the built-in agent does, and answers in its words.

Of several entities with one name, and of items of a list, the only one that can be
meant is. "Unlock smart lock" means the lock, not the sensor of that name; of two locks
of that name none is meant, and nobody is asked about what would be refused after the
yes. The temperature of each of several thermostats is told.
"""

import re
from collections.abc import Mapping
from typing import Final

from hassil.recognize import RecognizeResult
from home_assistant_intents import ErrorKey
from homeassistant.components.binary_sensor import DOMAIN as BINARY_SENSOR_DOMAIN
from homeassistant.components.climate import (
    ATTR_CURRENT_TEMPERATURE,
    DOMAIN as CLIMATE_DOMAIN,
)
from homeassistant.components.conversation import DOMAIN, ConversationInput
from homeassistant.components.cover import DOMAIN as COVER_DOMAIN
from homeassistant.components.sensor.const import DOMAIN as SENSOR_DOMAIN
from homeassistant.const import ATTR_DEVICE_CLASS, STATE_PLAYING
from homeassistant.core import HomeAssistant, State
from homeassistant.exceptions import TemplateError
from homeassistant.helpers import entity_registry as er, intent
from homeassistant.helpers.area_registry import AreaEntry
from homeassistant.helpers.template import Template, TemplateState
from homeassistant.helpers.translation import async_get_translations

from ..agent.messages import JsonValue
from ..effects.effect import Effects
from ..effects.intents import (
    Slots,
    handler_of,
    intent_effects,
    items_meant,
    missed_by_intent,
    selection,
)
from ..effects.reading import IntentCall
from ..effects.silent_home import handling_home
from ..home.entity_matches import assist_name, matching_states
from ..internals.conversation import (
    async_recognized,
    async_texts,
    mismatch_words,
    slots_of,
)
from ..nlu.requests import StateQuestion
from ..people.speakers import async_speaker_area
from ..speech.sentences import async_get_sentences

_SENSED: Final = {
    "door": "door",
    "garage": "garage_door",
    "window": "window",
}
"""The device classes of contact sensors by those of covers."""
_MOST_THERMOSTATS: Final = 5
"""Whose temperatures are told in one answer."""


def is_ambiguous(
    hass: HomeAssistant,
    intent_type: str,
    slots: Slots,
    area: AreaEntry | None,
    effects: Effects,
) -> bool:
    """Return whether the built-in agent refuses a command for its name, and none of those called so is meant."""
    touched = effects.entity_ids
    return len(touched) > 1 and _is_shared(hass, intent_type, slots, area)


async def async_mismatch(
    hass: HomeAssistant, user_input: ConversationInput, area: AreaEntry | None
) -> str:
    """Return why a command fits nothing, in the words of the built-in agent; empty if it fits, or is not understood."""
    found = await async_recognized(hass, user_input)
    texts = await async_texts(hass, user_input.language)
    slots = slots_of(found) if found else {}
    preferences = _preferences(
        hass,
        slots,
        area,
    )
    if found:
        missed = missed_by_intent(
            hass,
            found.intent.name,
            slots,
            DOMAIN,
            preferences,
        )
    else:
        missed = None
    if texts is None or not isinstance(missed, intent.MatchFailedError):
        return ""
    key, values = mismatch_words(hass, missed)
    answer = Template(
        texts.error_responses.get(key, ""),
        hass,
    )
    return str(answer.async_render(values, parse_result=False))


def sensed_question(
    hass: HomeAssistant, found: RecognizeResult
) -> StateQuestion | None:
    """Return a question that sensors answer, too: is a window open, how warm is a room? None for others.

    The built-in agent looks at covers and thermostats alone: with an open window and no
    motorized one, "No" was heard.
    """
    slots = slots_of(found)
    state = found.entities.get("state")
    is_of_place = not slots.keys().isdisjoint(("area", "floor"))
    if found.intent.name == intent.INTENT_GET_TEMPERATURE and is_of_place:
        return _temperature_question(hass, slots)
    is_of_covers = slots.get("domain") == COVER_DOMAIN and "name" not in slots
    if found.intent.name != intent.INTENT_GET_STATE or not (is_of_covers and state):
        return None
    # In French, it is a list: one word means blinds and shades.
    device_class = slots.get("device_class")
    if isinstance(device_class, str):
        sensed = _SENSED.get(device_class)
    else:
        sensed = None
    if sensed is None:
        return None
    sensors = slots | {"domain": BINARY_SENSOR_DOMAIN, "device_class": sensed}
    covers, contacts = (
        matching_states(
            hass,
            selection(
                one,
                DOMAIN,
                None,
            ),
        )
        for one in (slots, sensors)
    )
    if not contacts:
        return None
    ids = frozenset(one.entity_id for one in (*covers, *contacts))
    return StateQuestion(
        ids,
        found.response or "",
        str(state.value),
        state.text,
    )


def _temperature_question(
    hass: HomeAssistant, slots: dict[str, JsonValue]
) -> StateQuestion | None:
    """Return a question about the sensors of a place without a thermostat."""
    sensors = slots | {"device_class": "temperature"}
    sensing = matching_states(
        hass,
        selection(
            sensors,
            DOMAIN,
            {SENSOR_DOMAIN},
        ),
    )
    has_climate = matching_states(
        hass,
        selection(
            slots,
            DOMAIN,
            {CLIMATE_DOMAIN},
        ),
    )
    ids = frozenset(one.entity_id for one in sensing)
    if ids and not has_climate:
        return StateQuestion(ids, "one")
    return None


async def async_tell_temperatures(
    hass: HomeAssistant,
    user_input: ConversationInput,
    found: RecognizeResult,
    area: AreaEntry | None,
) -> intent.IntentResponse | None:
    """Tell what each thermostat of a place measures, where the built-in agent only answers if there is one.

    None for other sentences. Without a place in the sentence, it is that of the
    speaker, else the home.
    """
    slots = slots_of(found)
    name = found.intent.name
    if area and not {"name", "area", "floor"} & slots.keys():
        here = {"area": area.id}
    else:
        here = {}
    states = matching_states(
        hass,
        selection(slots | here, DOMAIN, {CLIMATE_DOMAIN}),
    )
    known = [
        state
        for state in states
        if state.attributes.get(ATTR_CURRENT_TEMPERATURE) is not None
    ]
    if name != intent.INTENT_GET_TEMPERATURE or not 1 < len(known) <= _MOST_THERMOSTATS:
        return None
    answers: list[str] = []
    for state in known:
        call = IntentCall(
            name,
            {"name": state.entity_id},
            found.response or "",
        )
        speech = (
            (await async_handle(hass, user_input, call))
            .speech.get("plain", {})
            .get("speech", "")
        )
        answers.append(f"{assist_name(hass, state)}: {speech}")
    response = intent.IntentResponse(user_input.language)
    response.response_type = intent.IntentResponseType.QUERY_ANSWER
    response.async_set_states(known)
    response.async_set_speech(", ".join(sorted(answers)))
    return response


async def async_handle(
    hass: HomeAssistant, user_input: ConversationInput, call: IntentCall
) -> intent.IntentResponse:
    """Handle an intent, and answer in the words of the built-in agent."""
    texts = await async_texts(hass, user_input.language)
    spoken = {
        slot: call.spoken.get(slot) or _spoken(hass, slot, value)
        for slot, value in call.slots.items()
    }
    given = {
        slot: {"value": value, "text": spoken[slot]}
        for slot, value in call.slots.items()
    }
    area = async_speaker_area(hass, user_input)
    area_id = _preferences(hass, call.slots, area).area_id
    if area_id:
        given["preferred_area_id"] = {"value": area_id}
    words = user_input.text, user_input.context, user_input.language
    satellite = er.async_get(hass).async_get(user_input.satellite_id or "")
    device_id = satellite.device_id if satellite else user_input.device_id
    place = device_id, user_input.satellite_id, user_input.agent_id
    try:
        response = await intent.async_handle(
            handling_home(hass), DOMAIN, call.intent, given, *words, DOMAIN, *place
        )
    except intent.IntentError as error:
        return await _async_failed(
            hass, user_input.language, texts.error_responses if texts else {}, error
        )
    if (
        texts
        and not response.speech
        and (answer := texts.intent_responses.get(call.intent, {}).get(call.response))
    ):
        try:
            speech = state_sentence(
                hass, answer, spoken | response.speech_slots, response
            )
            response.async_set_speech(await _async_worded(hass, response, speech))
        except TemplateError:  # it cannot word what it has done
            sentence = (await async_get_sentences(hass, user_input.language))[
                "spoken_done_targets"
            ]
            response.async_set_speech(
                sentence.format(
                    targets=", ".join(one.name for one in response.success_results)
                )
            )
    return response


async def _async_worded(
    hass: HomeAssistant,
    response: intent.IntentResponse,
    speech: str,
) -> str:
    """Return the answer to a question about one state with the state in the words of the language."""
    states = [*response.matched_states, *response.unmatched_states]
    if len(states) != 1:
        return speech
    words = await async_get_translations(
        hass, response.language, "entity_component", {states[0].domain}
    )
    return worded(speech, states[0], words)


async def _async_failed(
    hass: HomeAssistant,
    language: str,
    texts: Mapping[str, str],
    error: intent.IntentError,
) -> intent.IntentResponse:
    """Return the response to an intent that was not handled; Home Assistant's own says "playing" in English."""
    response = intent.IntentResponse(language)
    code = intent.IntentResponseErrorCode.UNKNOWN
    key: str | None = None
    values: Mapping[str, object] = {}
    if isinstance(error, intent.MatchFailedError):
        code = intent.IntentResponseErrorCode.NO_VALID_TARGETS
        (key, values) = mismatch_words(hass, error)
        if values.get("state") == STATE_PLAYING:
            sentences = await async_get_sentences(hass, language)
            response.async_set_error(code, sentences["song_none"])
            return response
    elif isinstance(error, intent.IntentHandleError):
        code = intent.IntentResponseErrorCode.FAILED_TO_HANDLE
        key = error.response_key
    text = Template(
        texts.get(
            key or ErrorKey.HANDLE_ERROR,
            "",
        ),
        hass,
    )
    response.async_set_error(
        code,
        str(text.async_render(values, parse_result=False)),
    )
    return response


def _spoken(
    hass: HomeAssistant,
    slot: str,
    value: JsonValue,
) -> JsonValue:
    """Return the value of a slot as it is said: the name of an entity for its id."""
    if slot == "name" and isinstance(value, str):
        state = hass.states.get(value)
    else:
        state = None
    if state:
        return assist_name(hass, state)
    return value


def recognized_call(
    hass: HomeAssistant, found: RecognizeResult, area: AreaEntry | None
) -> IntentCall:
    """Return the intent that the built-in agent recognizes, for the only thing that its words can mean."""
    name = found.intent.name
    slots = slots_of(found)
    items = items_meant(
        hass,
        name,
        slots,
        DOMAIN,
    )
    touched = {
        action.entity_id for action in intent_effects(hass, name, slots, DOMAIN).actions
    }
    meant: dict[str, JsonValue] = {}
    if len(items) == 1:
        meant["item"] = items[0]
    if len(touched) == 1 and _is_shared(hass, name, slots, area):
        meant["name"] = touched.pop()  # Home Assistant accepts an entity id as a name
    texts = {
        one.name: one.text
        for one in found.entities_list
        if one.text and isinstance(one.value, str)
    }
    return IntentCall(
        name,
        slots | meant,
        found.response or "",
        texts,
    )


def _is_shared(
    hass: HomeAssistant,
    intent_type: str,
    slots: Slots,
    area: AreaEntry | None,
) -> bool:
    """Return whether the handler of an intent would fail because several entities have the name."""
    handler = handler_of(hass, intent_type)
    if (
        not isinstance(handler, intent.DynamicServiceIntentHandler)
        or "name" not in slots
    ):
        return False
    constraints = selection(
        slots,
        DOMAIN,
        handler.required_domains,
    )
    constraints.features = handler.required_features
    constraints.states = handler.required_states
    preferences = _preferences(
        hass,
        slots,
        area,
    )
    found = intent.async_match_targets(
        hass,
        constraints,
        preferences,
    )
    return found.no_match_reason is intent.MatchFailedReason.DUPLICATE_NAME


def _preferences(
    hass: HomeAssistant, slots: Slots, area: AreaEntry | None
) -> intent.MatchTargetsPreferences:
    """Return the room of the speaker, unless several entities have the name and none of them is there.

    Home Assistant says that there is none at all then.
    """
    nowhere = intent.MatchTargetsPreferences()
    if area is None:
        return nowhere
    near = intent.MatchTargetsPreferences(area_id=area.id)
    found = intent.async_match_targets(
        hass,
        selection(slots, DOMAIN, None),
        near,
    )
    is_elsewhere = found.no_match_reason is intent.MatchFailedReason.NAME
    return nowhere if is_elsewhere else near


def state_sentence(
    hass: HomeAssistant,
    answer: str,
    slots: Mapping[str, object],
    response: intent.IntentResponse,
) -> str:
    """Return a sentence of Home Assistant's about the states of a response."""
    matched, unmatched = (
        [TemplateState(hass, state) for state in states]
        for states in (response.matched_states, response.unmatched_states)
    )
    state = next(iter((*matched, *unmatched)), None)
    query = {
        "matched": matched,
        "unmatched": unmatched,
    }
    sentence = Template(answer, hass).async_render(
        {
            "slots": slots,
            "state": state,
            "query": query,
        },
        parse_result=False,
    )
    return " ".join(str(sentence).split())


def worded(
    composed: str,
    state: State,
    translations: Mapping[str, str],
) -> str:
    """Return an answer with the state in the words of its language."""
    word = state_word(
        state,
        state.state,
        translations,
    )
    if word:
        return re.sub(
            rf"(?<![a-z]){re.escape(state.state)}(?![a-z])", word.lower(), composed
        )
    return composed


def state_word(
    state: State,
    value: str,
    translations: Mapping[str, str],
) -> str:
    """Return the word of a language for a state that an entity has, or might have; empty if there is none."""
    kind = state.attributes.get(ATTR_DEVICE_CLASS) or "_"
    key = f"component.{state.domain}.entity_component.{kind}.state.{value}"
    plain = key.replace(f".{kind}.", "._.")
    return translations.get(key) or translations.get(plain, "")
