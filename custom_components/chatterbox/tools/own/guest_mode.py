"""The tool that switches guest mode on, and the sentences about guest mode that need no model."""

from typing import Final

from homeassistant.components.conversation import ConversationInput
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError

from ...effects.effect import Effects, EntityAction
from ...effects.reading import async_lexicon
from ...effects.recognition import RecognizedRequest, tool_request
from ...nlu.guests import GuestModeWish, guest_mode_wish
from ...offline.local_commands import Talk, recognizers
from ...people.guests import GUEST_MODE_ON, async_set_guest_mode, guest_switch
from ...people.speakers import Speaker
from ...settings.rules import async_get_home_rules
from ...settings.tool_names import GUEST_MODE_TOOL
from ...speech.sentences import async_error_text, async_get_sentences
from .own_tool import (
    DEFINITIONS,
    OwnCall,
    OwnTool,
    ToolAnswer,
    error_answer,
)
from .registry import can_act, own_tools

_ON_GUESTS: Final = (
    "Guest mode is on: a guest may be speaking. Tools refuse what guests may not do."
)


def async_setup_guest_mode(hass: HomeAssistant) -> None:
    """Add the tool, and what is understood without a model."""
    own_tools(hass).append(GUEST_MODE)
    recognizers(hass)[GUEST_MODE_TOOL] = _async_recognize


async def _async_recognize(
    hass: HomeAssistant,
    user_input: ConversationInput,
    talk: Talk,
    found: RecognizedRequest | None,
) -> RecognizedRequest | None:
    """Return the request for guest mode, or else what was `found` before.

    It is not ended by words, and they are told how it is.
    """
    if found or talk.agent is None:
        return found
    words = await async_lexicon(hass, user_input.language)
    wish = guest_mode_wish(user_input.text, words) if words else None
    if wish is None:
        return None
    if wish is GuestModeWish.ON:
        return tool_request(GUEST_MODE_TOOL, {})
    is_on = async_get_home_rules(hass).current.guests_since is not None
    sentences = await async_get_sentences(hass, user_input.language)
    answer = sentences["guest_mode_by_hand" if is_on else "guest_mode_is_off"]
    return RecognizedRequest(
        GUEST_MODE_TOOL,
        is_question=False,
        answer=answer,
    )


async def _async_effects(call: OwnCall) -> Effects:
    """Return that the switch is turned on."""
    switch = guest_switch(call.hass)
    if switch:
        turned = [EntityAction(switch, GUEST_MODE_ON)]
    else:
        turned = []
    return Effects(frozenset(turned), beside_entities=True)


async def _async_run(call: OwnCall) -> ToolAnswer:
    """Switch guest mode on."""
    context = call.llm_context.context or Context()
    try:
        await async_set_guest_mode(
            call.hass,
            context,
            is_on=True,
        )
    except HomeAssistantError as error:
        why = await async_error_text(
            call.hass, call.language, str(error.translation_key)
        )
        return error_answer(why)
    speech = (await call.async_sentences())["guest_mode_is_on"]
    return ToolAnswer({"done": True}, speech=speech)


async def _async_prompt(
    _hass: HomeAssistant, _agent: str, speaker: Speaker, _words: str
) -> str:
    """Return what a model is told of a guest."""
    return _ON_GUESTS if speaker.is_guest else ""


GUEST_MODE: Final = OwnTool(
    definition=DEFINITIONS["guest_mode"],
    run=_async_run,
    needs=can_act,
    effects=_async_effects,
    prompt=_async_prompt,
    targets=frozenset({"chatterbox.guest_mode"}),
)
"""The tool, of all agents that can act. None ends guest mode."""
