"""Predicts the effects of a sentence that Home Assistant's built-in agent would process.

It follows the built-in agent as far as that is certain, its sentence triggers and its
sentences, and then the reading. Its second recognizer, which passes over words, is
never asked.
"""

import asyncio
import re
from dataclasses import replace
from typing import Final, NamedTuple

from hassil.recognize import RecognizeResult
from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationInput
from homeassistant.components.conversation.const import METADATA_CUSTOM_SENTENCE
from homeassistant.components.media_player import INTENT_MEDIA_SEARCH_AND_PLAY
from homeassistant.components.media_player.const import INTENT_SET_VOLUME_RELATIVE
from homeassistant.components.todo.const import DOMAIN as TODO
from homeassistant.components.weather.const import INTENT_GET_WEATHER
from homeassistant.const import STATE_CLOSED, STATE_OFF, STATE_PLAYING
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent

from ..agent.messages import JsonValue
from ..agent.text import MOST_UNDERSTOOD
from ..effects.effect import NOTHING, Effects, Unknown, UnknownReason, joined, run_by
from ..effects.intents import (
    READ_ENTITIES,
    delayed_command,
    handler_of,
    intent_effects,
    is_question_intent,
    is_reading_intent,
)
from ..effects.reading import NOTHING_READ, ReadSentence, async_is_assumed, async_read
from ..effects.recognition import REQUEST_KINDS, RecognizedRequest, may_be_command
from ..home.entity_matches import entity_name
from ..home.request import QUESTION_ENDS
from ..internals.conversation import built_in_agent, slots_of
from ..nlu.lexicon import lexicon
from ..nlu.requests import (
    Choice,
    ListRequest,
    OpenQuestion,
    StateQuestion,
    WorldQuestion,
)
from ..people.speakers import async_speaker_area
from ..settings.agent import RequestKind
from .context import last_request
from .handling import is_ambiguous

TRIGGERED: Final = Effects(unknowns=frozenset({Unknown(UnknownReason.SENTENCE)}))
_UNKNOWN: Final = run_by("", TRIGGERED)
_OF_PLAYING: Final = frozenset({"name", "area", "floor", "media_class"})
"""Slots that words for music may fill beside a title."""
_KINDS: Final = frozenset({"domain", "device_class"})
"""Slots with values of Home Assistant, whatever the words are."""
_PRONOUNS: Final = re.compile(
    r"\b(?:it|them|back|again)\b",
    re.IGNORECASE,
)
"""Those that it understands, and the words that may come with them."""
_NO_WEATHER: Final = frozenset({"date", "song", "time"})
_UNFORESEEN: Final = replace(_UNKNOWN, is_guessed=True)
"""Of a sentence whose effects this release of Home Assistant does not let us foresee."""


_RESTING: Final = ("turn_off", "close_cover", "close_valve")
"""Endings of actions after which something is off or closed."""


async def async_sentence_effects(
    hass: HomeAssistant, user_input: ConversationInput
) -> Effects:
    """Return the effects of a sentence, none if it would not be understood."""
    effects = await async_own_effects(hass, user_input)
    if effects in (None, NOTHING):
        reading = await async_read_sentence(hass, user_input)
        if reading.calls:
            found: list[Effects] = []
            for one in reading.calls:
                found.append(_intent_effects(hass, one.intent, {**one.slots}))
                await asyncio.sleep(0)  # there may be hundreds, as in "all lights"
            return joined(found)
        reads = _entities_asked_about(hass, reading)
        if reads:
            return run_by(
                intent.INTENT_GET_STATE,
                NOTHING,
                {READ_ENTITIES: reads},
            )
    return NOTHING if effects is None else effects


class Undoing(NamedTuple):
    """A command that undoes another one, and the effects of both."""

    text: str
    done: Effects
    undone: Effects


async def async_undoing(
    hass: HomeAssistant,
    user_input: ConversationInput,
) -> Undoing | None:
    """Return the command that undoes one, in the words of the person; None if none is known to do so.

    What is off or closed already would not be so again: nothing undoes that.
    """
    words = lexicon(user_input.language)
    done = await async_sentence_effects(hass, user_input)
    if words is None or not is_certain(done) or _is_done(hass, done):
        return None
    for text in words.undoing(user_input.text):
        undone = await async_sentence_effects(
            hass,
            replace(user_input, text=text),
        )
        if (
            is_certain(undone)
            and undone.entity_ids == done.entity_ids
            and intents_of(undone).isdisjoint(intents_of(done))
        ):
            return Undoing(text, done, undone)
    return None


def is_certain(effects: Effects) -> bool:
    """Return whether it is known what is changed, and that nothing else is."""
    return bool(effects.actions) and effects.is_known and not effects.is_guessed


def intents_of(effects: Effects) -> frozenset[str]:
    """Return the types of the intents that are run."""
    return frozenset(run.intent_type for run in effects.intents)


def _is_done(hass: HomeAssistant, done: Effects) -> bool:
    """Return whether something that is to be off or closed is so already."""
    return any(
        action.action.endswith(_RESTING)
        and hass.states.is_state(action.entity_id, state)
        for action in done.actions
        for state in (STATE_OFF, STATE_CLOSED)
    )


def _entities_asked_about(
    hass: HomeAssistant, reading: ReadSentence
) -> list[JsonValue]:
    """Return the entities of which the answer to a question tells."""
    match reading.answered:
        case StateQuestion(ids=ids) | ListRequest(ids=ids) if ids:
            return [*sorted(ids)]
        case ListRequest():
            return [*hass.states.async_entity_ids(TODO)]
        case _:
            return []


async def async_read_sentence(
    hass: HomeAssistant, user_input: ConversationInput
) -> ReadSentence:
    """Return what is read in a sentence that Home Assistant does not understand, or that changes nothing there.

    "Turn off the fan" means the only one in the home, also where there is none in the
    room. What a conversation was about counts if the input has its id.
    """
    if await async_own_effects(hass, user_input) not in (None, NOTHING):
        return NOTHING_READ
    found = await _async_recognized(hass, user_input)
    is_theirs = False
    if found is not None and not found.unmatched_entities:
        is_theirs = _is_theirs(
            hass,
            found.intent.name,
            slots_of(found),
            user_input,
        )
    elif (
        found is not None
    ):  # after a custom sentence, the built-in agent tries no other recognizer
        is_theirs = _is_custom(found)
    is_asked = user_input.text.rstrip().endswith(QUESTION_ENDS)
    is_command = (
        found is not None
        and may_be_command(found, is_asked=is_asked)
        and not _is_custom(found)
    )
    if is_theirs and not is_command:
        return NOTHING_READ
    return await async_read(
        hass,
        user_input,
        *last_request(hass, user_input.conversation_id or ""),
    )


async def async_recognize_read(
    hass: HomeAssistant, user_input: ConversationInput
) -> RecognizedRequest | None:
    """Return the request that is read in a sentence; None if not all of it is understood, or something is open."""
    reading = await async_read_sentence(hass, user_input)
    match reading:
        case (
            ReadSentence(answered=Choice() | OpenQuestion())
            | ReadSentence(unknown=[_, *_])
        ):
            return None
        case ReadSentence(answered=WorldQuestion(topics=("help",))):
            return None
        case ReadSentence(answered=answered, calls=[_, *_]) if answered:
            return None
        case ReadSentence(answered=WorldQuestion(topics=topics)) if (
            not _NO_WEATHER.issuperset(topics)
        ):
            return RecognizedRequest(
                INTENT_GET_WEATHER, is_question=True, kind=RequestKind.WEATHER
            )
        case ReadSentence(answered=ListRequest()):
            return RecognizedRequest(
                intent.INTENT_GET_STATE, is_question=True, kind=RequestKind.LISTS
            )
        case ReadSentence(answered=WorldQuestion() | StateQuestion()):
            return RecognizedRequest(intent.INTENT_GET_STATE, is_question=True)
        case ReadSentence(calls=[first, *_]):
            kind = REQUEST_KINDS.get(first.intent)
            is_question = is_question_intent(hass, first.intent)
            return RecognizedRequest(
                first.intent, is_question, kind, is_elliptic=reading.is_elliptic
            )
        case _:
            return None


async def _async_recognized(
    hass: HomeAssistant, user_input: ConversationInput
) -> RecognizeResult | None:
    """Return what Home Assistant recognizes; None where words that may be any are understood: "milk and eggs"."""
    agent = built_in_agent(hass, user_input.text)
    if (
        agent is None
        or (found := await agent.async_recognize_intent(user_input)) is None
    ):
        return None
    if _is_custom(found):
        return found
    has_text = not found.unmatched_entities and any(
        one.is_wildcard for one in found.entities_list
    )
    if has_text:
        reading = await async_read(hass, user_input)
    else:
        reading = NOTHING_READ
    is_told = not _OF_PLAYING.isdisjoint(slots_of(found))
    is_same = any(
        call.intent == found.intent.name == INTENT_MEDIA_SEARCH_AND_PLAY
        and (is_told or "name" not in call.slots)
        for call in reading.calls
    )
    is_other = reading.is_understood and not is_same
    is_other = is_other or await async_is_assumed(
        hass, user_input, found.intent.name, slots_of(found)
    )
    return None if is_other else found


def _is_custom(found: RecognizeResult) -> bool:
    """Return whether somebody wrote a sentence."""
    return bool((found.intent_metadata or {}).get(METADATA_CUSTOM_SENTENCE))


def _is_theirs(
    hass: HomeAssistant,
    intent_type: str,
    slots: dict[str, JsonValue],
    user_input: ConversationInput,
) -> bool:
    """Return whether Home Assistant answers a sentence that changes nothing, or refuses it for a name of several."""
    if handler_of(hass, intent_type) is None:
        return False
    if is_question_intent(hass, intent_type) or not {"area", "name"} & slots.keys():
        return True
    effects = _intent_effects(
        hass,
        intent_type,
        slots,
    )
    return is_ambiguous(
        hass, intent_type, slots, async_speaker_area(hass, user_input), effects
    )


async def async_with_names(
    hass: HomeAssistant,
    user_input: ConversationInput,
) -> str:
    """Return a sentence with names in place of "it" or "them", as long as it does what it would do in its conversation.

    So it can be said in another conversation, and later.
    """
    text = user_input.text
    pronouns = _PRONOUNS.findall(user_input.text)
    if pronouns:
        effects = await async_sentence_effects(hass, user_input)
    else:
        effects = NOTHING
    names = " and ".join(
        sorted({entity_name(hass, action.entity_id) for action in effects.actions})
    )
    others = " ".join(_PRONOUNS.sub("", text).split())
    named = replace(
        user_input,
        text=f"{others} {names}",
        conversation_id=None,
    )
    is_same = names and await async_sentence_effects(hass, named) == effects
    return named.text if is_same else text


async def async_own_effects(
    hass: HomeAssistant, user_input: ConversationInput
) -> Effects | None:
    """Return the effects of a sentence where Home Assistant understands it with certainty, or None."""
    if len(user_input.text) > MOST_UNDERSTOOD:
        return None
    agent = built_in_agent(hass)
    if agent is None:
        return _UNFORESEEN
    if await agent.async_recognize_sentence_trigger(user_input):
        return TRIGGERED
    recognized = await _async_recognized(hass, user_input)
    if recognized is None or recognized.unmatched_entities:
        return None
    slots = slots_of(recognized)
    effects = _intent_effects(
        hass,
        recognized.intent.name,
        slots,
    )
    texts = {
        one.name: text
        for one in recognized.entities_list
        if isinstance(one.value, str)
        and one.name not in _KINDS
        and (text := one.text.strip())
    }
    runs = tuple(run._replace(slots=slots | texts) for run in effects.intents)
    effects = replace(effects, intents=runs)
    is_refused = is_ambiguous(
        hass,
        recognized.intent.name,
        slots,
        async_speaker_area(hass, user_input),
        effects,
    )
    is_unheard = recognized.intent.name == INTENT_SET_VOLUME_RELATIVE and (
        "name" not in slots and _plays_none_of_several(hass, effects)
    )
    return NOTHING if is_refused or is_unheard else effects


def _plays_none_of_several(
    hass: HomeAssistant,
    effects: Effects,
) -> bool:
    """Return whether none of several players plays, so that Home Assistant changes the volume of none."""
    players = effects.entity_ids
    return len(players) > 1 and not any(
        hass.states.is_state(one, STATE_PLAYING) for one in players
    )


def _intent_effects(
    hass: HomeAssistant, intent_type: str, slots: dict[str, JsonValue]
) -> Effects:
    if delayed_command(intent_type, slots):
        return NOTHING  # it is refused
    effects = intent_effects(
        hass,
        intent_type,
        slots,
        conversation.DOMAIN,
    )
    is_beside = effects == NOTHING and not is_reading_intent(hass, intent_type)
    if is_beside:
        return Effects(
            beside_entities=True,
            intents=effects.intents,
        )
    return effects
