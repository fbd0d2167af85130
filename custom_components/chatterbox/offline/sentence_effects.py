"""Predicts the effects of a sentence that Home Assistant's built-in agent would process.

It follows the built-in agent: sentence triggers, its two recognizers, and the intents that they find.
"""

import re
from collections.abc import Container
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationInput
from homeassistant.components.conversation.const import METADATA_CUSTOM_SENTENCE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent

from ..agent.messages import JsonValue
from ..agent.text import MOST_UNDERSTOOD, read_data_file
from ..effects.effect import NOTHING, Touches, Unknown, UnknownReason, Unresolved, actions_of, joined, run_by
from ..effects.intents import delayed_command, handler_of, intent_effects, is_question_intent, is_reading_intent
from ..effects.reading import NOTHING_READ, ReadSentence, async_read
from ..effects.recognition import async_speaker_area
from ..home.entity_matches import entity_name
from ..internals.conversation import async_recognized, built_in_agent, gazetteer, slots_of
from .context import async_places, last_targets
from .shared_names import is_ambiguous

if TYPE_CHECKING:
    from gazetteer_matcher import Interpretation  # type: ignore[import-untyped]  # typed, not marked

_TRIGGERED: Final = Unresolved(frozenset({Unknown(UnknownReason.SENTENCE)}))
_UNKNOWN: Final = run_by("", _TRIGGERED)
_TIMER: Final = "timer"
"""In English, the only language of the second recognizer."""
_LIGHT: Final = "HassLightSet"
_LEAST_OF_LIGHT: Final = 1_000
"""Kelvin. A lower temperature is that of a room."""
_PRONOUNS: Final = re.compile(r"\b(?:it|them|back|again)\b", re.IGNORECASE)
"""Those that it understands, and the words that may come with them."""
_WORDS: Final = {
    use: frozenset(words.split())
    for use, words in read_data_file(Path(__file__).with_suffix(".toml"), dict[str, str]).items()
}
_UNFORESEEN: Final = replace(_UNKNOWN, is_guessed=True)
"""Of a sentence whose effects this release of Home Assistant does not let us foresee."""


async def async_sentence_effects(
    hass: HomeAssistant, user_input: ConversationInput, conversation_id: str
) -> Touches | Unresolved:
    """Return the effects of a sentence, none if it would not be understood.

    It is tried in the same conversations and order as when it is processed; see `offline/context.py`.
    """
    effects = await _async_effects_in_places(hass, user_input, conversation_id)
    if effects in (None, NOTHING):
        reading = await async_read_sentence(hass, user_input, conversation_id)
        if reading.calls:
            return joined([_intent_effects(hass, one.intent, {**one.slots}) for one in reading.calls])
    return NOTHING if effects is None else effects


async def async_read_sentence(hass: HomeAssistant, user_input: ConversationInput, conversation_id: str) -> ReadSentence:
    """Return what is read in a sentence that Home Assistant does not understand, or that changes nothing there.

    "Turn off the fan" means the only one in the home, also where there is none in the room.
    """
    if await _async_effects_in_places(hass, user_input, conversation_id) not in (None, NOTHING):
        return NOTHING_READ
    agent, is_theirs = built_in_agent(hass), False
    found = await agent.async_recognize_intent(user_input) if agent else None
    if found is not None and not found.unmatched_entities:
        slots: dict[str, JsonValue] = {entity.name: entity.value for entity in found.entities_list}
        is_theirs = _is_theirs(hass, found.intent.name, slots, user_input)
    elif found is not None and (found.intent_metadata or {}).get(METADATA_CUSTOM_SENTENCE):
        is_theirs = True
    elif meaning := await _async_guess(hass, user_input):
        is_theirs = meaning.accepted and not _is_misread(hass, meaning)
    return NOTHING_READ if is_theirs else await async_read(hass, user_input, last_targets(hass, conversation_id))


def _is_theirs(
    hass: HomeAssistant, intent_type: str, slots: dict[str, JsonValue], user_input: ConversationInput
) -> bool:
    """Return whether Home Assistant answers a sentence that changes nothing, or refuses it for a name of several."""
    if handler_of(hass, intent_type) is None:
        return False
    if is_question_intent(hass, intent_type) or not {"area", "name"} & slots.keys():
        return True
    effects = _intent_effects(hass, intent_type, slots)
    return is_ambiguous(hass, intent_type, slots, async_speaker_area(hass, user_input), effects)


async def _async_effects_in_places(
    hass: HomeAssistant, user_input: ConversationInput, conversation_id: str
) -> Touches | Unresolved | None:
    """Return the effects of a sentence where Home Assistant understands it, or None if it does not."""
    is_short = len(user_input.text) <= MOST_UNDERSTOOD
    for placed in await async_places(hass, user_input, conversation_id) if is_short else ():
        effects = await _async_effects(hass, placed)
        if effects is not None:
            return effects
    return None


async def async_with_names(hass: HomeAssistant, user_input: ConversationInput) -> str:
    """Return a sentence with names in place of "it" or "them", as long as it does what it would do in its conversation.

    So it can be said in another conversation, and later.
    """
    text, pronouns = user_input.text, _PRONOUNS.findall(user_input.text)
    effects = await async_sentence_effects(hass, user_input, user_input.conversation_id or "") if pronouns else NOTHING
    names = " and ".join(sorted({entity_name(hass, action.entity_id) for action in actions_of(effects)}))
    named = replace(user_input, text=f"{' '.join(_PRONOUNS.sub('', text).split())} {names}")
    is_same = names and await async_sentence_effects(hass, named, "") == effects
    return named.text if is_same else text


async def _async_effects(hass: HomeAssistant, user_input: ConversationInput) -> Touches | Unresolved | None:
    """Return the effects of a sentence in one conversation, or None if it would not be understood."""
    if (agent := built_in_agent(hass)) is None:
        return _UNFORESEEN
    if await agent.async_recognize_sentence_trigger(user_input):
        return _TRIGGERED
    recognized = await agent.async_recognize_intent(user_input)
    if recognized is not None and not recognized.unmatched_entities:
        slots = slots_of(recognized)
        effects = _intent_effects(hass, recognized.intent.name, slots)
        texts = {one.name: one.text.strip() for one in recognized.entities_list if isinstance(one.value, str)}
        runs = tuple(run._replace(slots=slots | texts) for run in effects.intents)
        effects = replace(effects, intents=runs)
        is_refused = is_ambiguous(hass, recognized.intent.name, slots, async_speaker_area(hass, user_input), effects)
        return NOTHING if is_refused else effects
    if recognized is not None and (recognized.intent_metadata or {}).get(METADATA_CUSTOM_SENTENCE):
        return NOTHING  # after a custom sentence, the built-in agent tries no other recognizer
    if gazetteer(hass) is None:
        return _UNFORESEEN
    if (meaning := await _async_guess(hass, user_input)) is None:
        return NOTHING if recognized else None
    is_whole = meaning.accepted and meaning.frames and all(frame.response_key is not None for frame in meaning.frames)
    if not is_whole or _is_misread(hass, meaning):
        return None
    effects = joined([_intent_effects(hass, frame.intent, dict(frame.slots)) for frame in meaning.frames])
    is_guessed = any(frame.unexplained_tokens for frame in meaning.frames) and not _timer_name(meaning)
    return replace(effects, is_guessed=True) if is_guessed and effects != NOTHING else effects


def _timer_name(meaning: Interpretation) -> str:
    """Return the name before the word for a timer that is started, the only words that a guess does not explain."""
    frame = meaning.frames[0] if len(meaning.frames) == 1 else None
    if frame is None or frame.intent != intent.INTENT_START_TIMER or not frame.unexplained_tokens:
        return ""
    if delayed_command(frame.intent, dict(frame.slots)):
        return ""
    at = sorted(frame.unexplained_tokens)
    *name, last = [token.text for token in meaning.tokens[at[0] : at[-1] + 2]]
    return " ".join(name) if len(name) == len(at) and last == _TIMER else ""


async def async_guessed_timer(hass: HomeAssistant, user_input: ConversationInput) -> tuple[str, dict[str, JsonValue]]:
    """Return the intent and the slots of a guess of Home Assistant that it does not do; none for anything else.

    It starts a timer without its name, and tells of those of devices alone.
    """
    meaning = await _async_guess(hass, user_input)
    if meaning is None or not meaning.accepted or len(meaning.frames) != 1:
        return "", {}
    if name := _timer_name(meaning):
        return intent.INTENT_START_TIMER, {**meaning.frames[0].slots, "name": name}
    return (meaning.frames[0].intent, {}) if meaning.frames[0].intent == intent.INTENT_TIMER_STATUS else ("", {})


def _unknown_name(meaning: Interpretation) -> str:
    """Return a name that a guess takes for all things of a kind, such as "guest lamp"; empty if there is none."""
    for frame in meaning.frames:
        kinds = [frame.slot_options[slot] for slot in ("device_class", "domain") if slot in frame.slot_options]
        unexplained = {*frame.unexplained_tokens}
        if frame.target_scope == "entity" or not kinds or not unexplained:
            continue
        span = next((option.spans[0] for option in kinds if option.spans), None)
        last = span.start - 1 if span else max(unexplained)
        if last in unexplained:
            first = next(at for at in range(last, -2, -1) if at not in unexplained) + 1
            return " ".join(token.text for token in meaning.tokens[first : span.end if span else last + 1])
    return ""


async def async_unknown_name(hass: HomeAssistant, user_input: ConversationInput) -> str | None:
    """Return the name in a sentence that nothing has; empty for one that is understood, and None for all others."""
    agent = built_in_agent(hass)
    if agent is None or await agent.async_recognize_sentence_trigger(user_input):
        return ""
    if (found := await async_recognized(hass, user_input)) is not None:
        command = delayed_command(found.intent.name, slots_of(found))
        return (await async_unknown_name(hass, replace(user_input, text=command)) or "") if command else ""
    meaning = await _async_guess(hass, user_input)
    return _unknown_name(meaning) if meaning and meaning.accepted else None


async def async_is_misread(hass: HomeAssistant, user_input: ConversationInput, conversation_id: str) -> bool:
    """Return whether Home Assistant leaves out a word that makes a sentence another one: "in London", "don't", "if"."""
    for placed in await async_places(hass, user_input, conversation_id):
        if await async_recognized(hass, placed) is not None:
            return False
        if (meaning := await _async_guess(hass, placed)) and meaning.accepted and _is_misread(hass, meaning):
            return True
    return False


def _is_misread(hass: HomeAssistant, meaning: Interpretation) -> bool:
    for frame in meaning.frames:
        left = {at for at in frame.unexplained_tokens if meaning.tokens[at].text not in _WORDS.get(frame.intent, ())}
        words = {meaning.tokens[at].text for at in left}
        is_question = is_question_intent(hass, frame.intent) and frame.intent != intent.INTENT_TIMER_STATUS
        if not words.isdisjoint(_WORDS["reversing"] if is_question else _WORDS["reversing"] | _WORDS["conditional"]):
            return True
        kelvin = dict(frame.slots).get("temperature") if frame.intent == _LIGHT else None
        if isinstance(kelvin, int) and kelvin < _LEAST_OF_LIGHT:
            return True
        asks = 0 in frame.unexplained_tokens and meaning.tokens[0].text in _WORDS["asking"]
        if words - _WORDS["idle"] if is_question else asks or _begins_otherwise(meaning, left):
            return True
    return False


def _begins_otherwise(meaning: Interpretation, unexplained: Container[int]) -> bool:
    """Return whether a command begins with a word that is not explained, such as the verb of another command."""
    texts = [token.text for token in meaning.tokens]
    starts = (at for at in range(len(texts)) if not at or texts[at - 1] in _WORDS["joining"])
    for start in starts:
        heads = takewhile(lambda at: at in unexplained, range(start, len(texts)))
        if not {texts[at] for at in heads} <= _WORDS["polite"]:
            return True
    return False


async def async_delayed_command(hass: HomeAssistant, user_input: ConversationInput) -> str:
    """Return the command that a timer of Home Assistant would run by itself for a sentence; empty for all others."""
    agent = built_in_agent(hass)
    if agent is None or await agent.async_recognize_sentence_trigger(user_input):
        return ""
    if found := await async_recognized(hass, user_input):
        return delayed_command(found.intent.name, slots_of(found))
    meaning = await _async_guess(hass, user_input)
    frames = meaning.frames if meaning else ()
    return next(filter(None, (delayed_command(frame.intent, dict(frame.slots)) for frame in frames)), "")


async def async_is_certain(hass: HomeAssistant, user_input: ConversationInput) -> bool:
    """Return whether Home Assistant's second recognizer understands each word of a command for entities or a room."""
    meaning = await _async_guess(hass, user_input)
    return (
        meaning is not None
        and meaning.accepted
        and all(
            frame.target_scope in {"entity", "area"}
            and not frame.unexplained_tokens
            and not is_question_intent(hass, frame.intent)
            for frame in meaning.frames
        )
    )


async def _async_guess(hass: HomeAssistant, user_input: ConversationInput) -> Interpretation | None:
    guessing, area = gazetteer(hass, user_input.text), async_speaker_area(hass, user_input)
    if guessing is None or not guessing.supports(user_input.language or hass.config.language):
        return None
    return (await guessing.async_interpret(user_input.text, user_input.conversation_id or "", area))[1]


def _intent_effects(hass: HomeAssistant, intent_type: str, slots: dict[str, JsonValue]) -> Touches | Unresolved:
    if delayed_command(intent_type, slots):
        return NOTHING  # it is refused
    effects = intent_effects(hass, intent_type, slots, conversation.DOMAIN)
    is_beside = effects == NOTHING and not is_reading_intent(hass, intent_type)
    return Touches(beside_entities=True, intents=effects.intents) if is_beside else effects
