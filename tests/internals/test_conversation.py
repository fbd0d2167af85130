"""Without the inside of the conversation integration, sentences are not understood, and all else works."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from custom_components.chatterbox.internals.conversation import set_tools
from custom_components.chatterbox.speech.sentences import async_get_sentences
from tests.support.llm_apis import llm_context_of
from tests.support.moved_names import take_away
from tests.support.talk import LIGHT, say, speech, talking
from tests.support.versions import IS_LATEST


@pytest.mark.usefixtures("offline")
async def test_without_the_built_in_agent_a_sentence_is_not_understood(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_away(monkeypatch, hass, "sentences")
    sentences = await async_get_sentences(hass, "en")

    for text in ("turn on the kitchen ceiling light", "unlock the front door"):
        assert speech(await say(hass, text)) == sentences["spoken_offline_is_off"]

    assert hass.states.is_state(LIGHT, "off")
    assert hass.states.is_state("lock.front_door", "locked")


@pytest.mark.usefixtures("offline")
async def test_an_agent_that_comes_back_to_a_conversation_gets_its_own_tools(
    hass: HomeAssistant,
) -> None:
    ours = await llm.async_get_api(hass, llm.LLM_API_ASSIST, llm_context_of())
    context = llm_context_of()
    if IS_LATEST:
        context.agent_id = "conversation.another"
    with talking(hass, "Hello") as chat_log:
        await chat_log.async_provide_llm_data(context, [llm.LLM_API_ASSIST])
        set_tools(chat_log, ours)
        await chat_log.async_provide_llm_data(context, [llm.LLM_API_ASSIST])

        assert chat_log.llm_api is not None
        assert chat_log.llm_api is not ours


@pytest.mark.usefixtures("offline")
async def test_no_other_agent_finds_tools_that_it_would_take_for_its_own(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = await llm.async_get_api(hass, llm.LLM_API_ASSIST, llm_context_of())
    with talking(hass, "Hello") as chat_log:
        set_tools(chat_log, instance)
        assert chat_log.llm_api is instance
        take_away(monkeypatch, hass, "debug_view")
        set_tools(chat_log, instance)
        assert (chat_log.llm_api is None) is IS_LATEST
