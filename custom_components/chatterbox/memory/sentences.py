"""Understands requests about facts without a model: "remember that the bins go out on Thursday"."""

from typing import Final

from homeassistant.components.conversation import ConversationInput
from homeassistant.core import HomeAssistant

from ..agent.messages import JsonObject, ToolCall, Transcript, canonical_json
from ..effects.reading import async_fact_request
from ..effects.recognition import RecognizedRequest
from ..internals.conversation import built_in_agent
from ..nlu.facts import FactRequest, without_until
from ..people.speakers import async_get_speaker
from ..speech.text.times import prepare, times_in
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
    _history: Transcript,
    found: RecognizedRequest | None,
) -> RecognizedRequest | None:
    """Return the request to remember, forget or list facts, or else what was `found` before."""
    text, language = user_input.text, user_input.language
    agent = built_in_agent(hass, text)
    if found or agent is None:
        return found
    if await agent.async_recognize_sentence_trigger(user_input):
        return None
    request = await async_fact_request(hass, text, language)
    if request is None:
        return None
    await hass.async_add_executor_job(prepare, language)
    call = ToolCall(
        "",
        _TOOLS[request.action],
        canonical_json(_arguments(hass, request, language)),
    )
    return RecognizedRequest(
        call.name,
        is_question=request.action == "list",
        call=call,
        is_last_resort=await _async_may_mean_more(hass, user_input, request),
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


def _arguments(hass: HomeAssistant, request: FactRequest, language: str) -> JsonObject:
    """Return the arguments of the call that a request stands for."""
    if request.action == "list":
        return {}
    if request.action == "forget":
        return {"fact": request.fact}
    given: JsonObject = {"fact": request.fact}
    if not request.is_own:
        given["household"] = True
    for time in times_in(request.fact, language):
        words = without_until(time.words, language)
        ends = end_of(hass, words, language) if words != time.words else None
        if ends and is_whole_day(ends):  # shops are open until six each day
            given["until"] = words
    return given
