"""Understands requests about facts without a model: "remember that the bins go out on Thursday"."""

from collections.abc import Iterator
from typing import Final

from homeassistant.components.conversation import ConversationInput
from homeassistant.core import HomeAssistant

from ..agent.messages import JsonObject
from ..effects.reading import async_lexicon
from ..effects.recognition import RecognizedRequest, tool_request
from ..nlu.facts import FactRequest, fact_request, without_until
from ..offline.local_commands import Talk
from ..people.speakers import async_get_speaker
from ..speech.text.times import TimeInSentence, times_in
from .fact_tools import (
    FORGET_TOOL,
    LIST_TOOL,
    REMEMBER_TOOL,
    end_of,
    facts_of,
    find_fact,
    is_whole_day,
)
from .facts import async_get_memories

_TOOLS: Final = {
    "remember": REMEMBER_TOOL,
    "forget": FORGET_TOOL,
    "list": LIST_TOOL,
}


async def async_recognize_fact(
    hass: HomeAssistant,
    user_input: ConversationInput,
    talk: Talk,
    found: RecognizedRequest | None,
) -> RecognizedRequest | None:
    """Return the request to remember, forget or list facts, or else what was `found` before."""
    text = user_input.text
    language = user_input.language
    if found or talk.agent is None:
        return found
    words = await async_lexicon(hass, language)
    if words is None:
        return None
    request = fact_request(text, words)
    until = ""
    for end, time in _ends_in(hass, text, language):
        until = until or end
        # "Remember until Friday that we have guests."
        if request is None or request.fact.startswith(time.words):
            request = fact_request(time.rest, words)
    if request is None:
        return None
    arguments: JsonObject = {"fact": request.fact} if request.fact else {}
    if request.action == "remember":
        arguments |= {} if request.is_own else {"household": True}
        arguments |= {"until": until} if until else {}
    return tool_request(
        _TOOLS[request.action],
        arguments,
        is_question=request.action == "list",
        is_last_resort=await _async_may_mean_more(
            hass,
            user_input,
            request,
        ),
    )


async def _async_may_mean_more(
    hass: HomeAssistant, user_input: ConversationInput, request: FactRequest
) -> bool:
    """Return whether a model may make more of a request.

    It is of what nobody has told, or it may be a secret of somebody who is known.
    """
    match request.action:
        case "remember":
            speaker = await async_get_speaker(hass, user_input)
            return not request.is_own and speaker.person_id is not None
        case "forget":
            memories = async_get_memories(hass)
            known = facts_of(memories, memories.keepers())
            return find_fact(known, request.fact) is None
        case _:
            return False


def _ends_in(
    hass: HomeAssistant, text: str, language: str
) -> Iterator[tuple[str, TimeInSentence]]:
    """Yield words for the days until which something is, without "until" and as they are in a text.

    A time of day is none: shops are open until six each day.
    """
    for time in times_in(text, language):
        words = without_until(time.words, language)
        if (
            words != time.words
            and (ends := end_of(hass, words, language))
            and is_whole_day(ends)
        ):
            yield words, time
