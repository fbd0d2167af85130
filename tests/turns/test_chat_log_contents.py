"""What was said is translated once, and forgotten with the conversation."""

import gc
import weakref
from collections.abc import AsyncGenerator

import pytest
from homeassistant.components import conversation
from homeassistant.components.conversation import UserContent
from homeassistant.core import HomeAssistant
from homeassistant.helpers import chat_session
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.events import TurnEvent
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import ToolCall, Transcript, UserMessage
from custom_components.chatterbox.records.turn_record import TurnRecord
from custom_components.chatterbox.turns.chat_log import async_stream_into_chat_log, history, message_of
from custom_components.chatterbox.turns.shown_files import NO_FILES
from tests.support.doubles import ScriptedDispatcher, ScriptedProvider, call, say, tool


@pytest.fixture(autouse=True)
async def _set_up(hass: HomeAssistant) -> None:
    """Set up conversations."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})


class Words(str):
    """Words of which can be told whether anybody still keeps them."""

    __slots__ = ("__weakref__",)


async def _turn(hass: HomeAssistant, text: str) -> Transcript:
    """Say something in a conversation, and return what was said before."""
    loop = AgenticLoop(ScriptedProvider(call(ToolCall("1", "light_on", "{}")), say("Done.")), ScriptedDispatcher())
    with (
        chat_session.async_get_chat_session(hass, "a-talk") as session,
        conversation.async_get_chat_log(hass, session) as chat_log,
    ):
        chat_log.async_add_user_content(UserContent(text))
        before = history(chat_log)
        events: AsyncGenerator[TurnEvent] = loop.stream(Turn(text, tools=(tool("light_on"),)))
        await async_stream_into_chat_log(chat_log, "conversation.talker", events, TurnRecord(text))
    return before


async def test_later_turns_read_the_very_same_messages(hass: HomeAssistant) -> None:
    await _turn(hass, "Light!")
    second = await _turn(hass, "Again!")
    third = await _turn(hass, "Once more!")

    assert len(second) == 4
    assert len(third) == 8
    assert all(one is other for one, other in zip(second, third, strict=False))


async def test_other_words_in_place_of_some_are_other_messages(hass: HomeAssistant) -> None:
    said, instead = UserContent("1234"), UserContent("(a PIN)")

    assert message_of(hass, said, NO_FILES) == UserMessage("1234")
    assert message_of(hass, instead, NO_FILES) == UserMessage("(a PIN)")


async def test_a_message_goes_with_its_content(hass: HomeAssistant) -> None:
    words = Words("Light!")
    content, kept = UserContent(words), weakref.ref(words)
    assert message_of(hass, content, NO_FILES) == UserMessage("Light!")

    del words, content
    gc.collect()

    assert kept() is None
