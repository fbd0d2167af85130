"""Tells whether Home Assistant's own understanding recognizes a request with certainty.

Certain is what its strict match finds: every word, in the speaker's language, with
exposed names that select something. Its second recognizer, which guesses, is not asked,
and sentence triggers are left to their automations.
"""

import asyncio
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from hassil.errors import MissingListError
from hassil.intents import Intents
from hassil.recognize import RecognizeResult, recognize_all
from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationInput
from homeassistant.components.conversation.const import METADATA_CUSTOM_SENTENCE
from homeassistant.components.person.const import DOMAIN as PERSON_DOMAIN
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent

from ..agent.messages import JsonObject, ToolCall, canonical_json
from ..agent.text import MOST_UNDERSTOOD, plain_name, read_data_file
from ..home.entity_matches import matching_states
from ..home.name_index import with_known_names
from ..home.request import QUESTION_ENDS
from ..internals.conversation import built_in_agent, slots_of
from ..people.speakers import async_speaker_area
from ..settings.agent import RequestKind
from .intents import Slots, handler_of, intent_naming, is_question_intent, selection
from .reading import async_is_assumed

if TYPE_CHECKING:
    from homeassistant.components.conversation.default_agent import DefaultAgent

REQUEST_KINDS: Final = read_data_file(__file__, dict[str, RequestKind])
_LONGEST_NEVER_MIND: Final = 60
"""Characters."""
_SMALL_TALK: Final = frozenset({intent.INTENT_NEVERMIND, intent.INTENT_RESPOND})
_ASKS_ABOUT_ALL: Final = "all"
"""The response to "are all lights off?". In several languages, "all lights off" is taken for that question."""
_SELECTING: Final = frozenset({"name", "area", "floor", "domain", "device_class"})
"""The slots that select entities."""


@dataclass(frozen=True, slots=True)
class RecognizedRequest:
    """A command, or a question about state."""

    intent: str
    """Type of the intent."""
    is_question: bool
    kind: RequestKind | None = None
    """None for one that belongs to none of the kinds that an owner may leave to the model."""
    is_elliptic: bool = False
    """Whether it names no target, or only that: "pause", "floor lamp". In a conversation it may mean something else."""
    call: ToolCall | None = None
    """The call that does it; None if Home Assistant processes the sentence."""
    first: str = ""
    """A sentence that Home Assistant processes before the call."""
    answer: str = ""
    """The words that are said in place of a call."""
    is_last_resort: bool = False
    """Whether a model may make more of it."""


def tool_request(
    tool: str,
    arguments: JsonObject,
    *,
    is_question: bool = False,
    is_last_resort: bool = False,
) -> RecognizedRequest:
    """Return a request that a call of a tool does."""
    call = ToolCall(
        "",
        tool,
        canonical_json(arguments),
    )
    return RecognizedRequest(
        tool, is_question, call=call, is_last_resort=is_last_resort
    )


async def async_recognize(
    hass: HomeAssistant, user_input: ConversationInput
) -> RecognizedRequest | None:
    """Return what a request is, as far as that is certain."""
    agent = built_in_agent(hass, user_input.text)
    if agent is None:
        return None
    intents = await agent.async_get_or_load_intents(user_input.language)
    if intents is None:
        return None
    # After a change of the home, its tools were described before, and its names are
    # read now.
    await asyncio.sleep(0)
    user_input = replace(
        user_input,
        text=readable_sentence(hass, user_input.text),
    )
    found = await _async_certain(agent, user_input)
    if found is None or _is_unclear(found, user_input.text):
        return None
    name = found.intent.name
    slots = slots_of(found)
    is_question = is_question_intent(hass, name)
    if (found.intent_metadata or {}).get(METADATA_CUSTOM_SENTENCE):
        return RecognizedRequest(name, is_question)
    if await async_is_assumed(hass, user_input, name, slots):
        return None
    is_about_people = slots.get("domain") == PERSON_DOMAIN
    kind = RequestKind.PEOPLE if is_about_people else REQUEST_KINDS.get(name)
    # Text that may be anything may hold a second request, and a name that nobody has.
    if kind is None and any(entity.is_wildcard for entity in found.entities_list):
        return None
    if not _is_there(hass, name, slots, user_input, is_question=is_question):
        return None
    rules = intents.intents.expansion_rules
    template = found.intent_sentence
    is_name = template is not None and not template.get_required_clauses(rules)
    is_elliptic = _is_elliptic(
        hass,
        found,
        user_input.text,
        is_name=is_name,
    )
    return RecognizedRequest(
        name,
        is_question,
        kind,
        is_elliptic=is_elliptic,
    )


async def _async_certain(
    agent: DefaultAgent, user_input: ConversationInput
) -> RecognizeResult | None:
    """Return what Home Assistant recognizes without a guess; None where a trigger reacts to the sentence."""
    if await agent.async_recognize_sentence_trigger(user_input):
        return None
    return await agent.async_recognize_intent(user_input, strict_intents_only=True)


def _is_elliptic(
    hass: HomeAssistant, found: RecognizeResult, text: str, *, is_name: bool
) -> bool:
    """Return whether words name no target of an intent that has one, or only that.

    What was not said, Home Assistant has filled in from the room of the speaker.
    """
    words = plain_name(text)
    spoken = {
        entity.name
        for entity in found.entities_list
        if plain_name(entity.text) in words
    }
    naming = intent_naming(hass, found.intent.name).slots
    return bool(naming) and (is_name or spoken.isdisjoint(naming))


def readable_sentence(
    hass: HomeAssistant,
    text: str,
) -> str:
    """Return a sentence with its names as Home Assistant knows them.

    Of the units of temperatures, its sentences have none but "°", which is that of the
    home.
    """
    plain = re.sub(
        rf"(?<=\d)\s?{hass.config.units.temperature_unit}\b",
        "°",
        text,
    )
    if len(text) <= MOST_UNDERSTOOD:
        return with_known_names(hass, plain)
    return text


async def async_is_never_mind(
    hass: HomeAssistant, user_input: ConversationInput
) -> bool:
    """Return whether a sentence only takes back what was said, or asked: "never mind"."""
    agent = built_in_agent(hass)
    if agent is None or len(user_input.text) > _LONGEST_NEVER_MIND:
        return False
    # Recognition of a whole language takes long, and each turn would wait for it.
    known = await agent.async_get_or_load_intents(user_input.language)
    if known is None or not _is_sentence_of(
        known.intents,
        intent.INTENT_NEVERMIND,
        user_input.text,
    ):
        return False
    found = await _async_certain(agent, user_input)
    return found is not None and found.intent.name == intent.INTENT_NEVERMIND


def _is_sentence_of(
    known: Intents,
    name: str,
    text: str,
) -> bool:
    """Return whether a text may be a sentence of an intent, whatever else it is: what is of the home is left open."""
    if name not in known.intents:
        return False
    sentences = known.intents[name]
    if any(data.requires_context for data in sentences.data):
        return True
    alone = replace(
        known,
        intents={name: sentences},
    )
    try:
        return next(iter(recognize_all(text, alone)), None) is not None
    except MissingListError:  # names and places of the home
        return True


async def async_is_request(
    hass: HomeAssistant,
    user_input: ConversationInput,
) -> bool:
    """Return whether Home Assistant would act on a sentence or answer it, by a trigger or an intent that is certain."""
    agent = built_in_agent(hass, user_input.text)
    if agent and await agent.async_recognize_sentence_trigger(user_input):
        return True
    return await async_recognize(hass, user_input) is not None


def _is_unclear(
    found: RecognizeResult,
    text: str,
) -> bool:
    """Return whether Home Assistant takes words for small talk, or what may be a command for a question about all."""
    is_asked = text.rstrip().endswith(QUESTION_ENDS)
    return found.intent.name in _SMALL_TALK or may_be_command(found, is_asked=is_asked)


def may_be_command(found: RecognizeResult, *, is_asked: bool) -> bool:
    """Return whether words that Home Assistant takes for a question about all may be a command: "all lights off"."""
    is_about_all = (
        found.intent.name == intent.INTENT_GET_STATE
        and found.response == _ASKS_ABOUT_ALL
    )
    return is_about_all and not is_asked


def _is_there(
    hass: HomeAssistant,
    name: str,
    slots: Slots,
    user_input: ConversationInput,
    *,
    is_question: bool,
) -> bool:
    """Return whether an intent finds what it selects, and for a question all that the words may mean."""
    if handler_of(hass, name) is None:
        return False
    if _SELECTING.isdisjoint(slots):
        return True
    area = async_speaker_area(hass, user_input)
    preferences = intent.MatchTargetsPreferences(area_id=area.id if area else None)
    named_slots = {
        slot: value for slot, value in slots.items() if (slot, value) != ("name", "all")
    }
    constraints = selection(
        named_slots, conversation.DOMAIN, intent_naming(hass, name).domains
    )
    if constraints.name:
        named = matching_states(hass, constraints)
    else:
        named = None
    found = intent.async_match_targets(
        hass,
        constraints,
        preferences,
        named,
    )
    if (
        not found.is_match
        or not is_question
        or not (constraints.domains and constraints.device_classes)
    ):
        return found.is_match
    # An open window may be a sensor, a closed one a cover: Home Assistant's sentences
    # mean one of them.
    alike = intent.async_match_targets(
        hass, replace(constraints, domains=None), preferences
    )
    return len(alike.states) == len(found.states)
