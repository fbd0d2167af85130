"""What a provider wants back survives the ChatLog."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from homeassistant.components import conversation
from homeassistant.components.conversation import UserContent
from homeassistant.core import HomeAssistant
from homeassistant.helpers import chat_session, entity_registry as er
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.events import CompletionResult, TextDelta, TurnEvent
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    ProviderItem,
    ToolCall,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import Rewrite
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.records.turn_record import TurnRecord
from custom_components.chatterbox.turns.chat_log import async_stream_into_chat_log, history, keep_context
from tests.support.doubles import Gate, ScriptedDispatcher, ScriptedHooks, ScriptedProvider, asks_for, call, say, tool

TALKER = "conversation.talker"
SIGNED = ProviderItem("a-format", {"type": "thinking", "signature": "abc"})


@pytest.fixture(autouse=True)
async def _set_up(hass: HomeAssistant) -> None:
    """Set up conversations, and an agent of ours."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    er.async_get(hass).async_get_or_create("conversation", DOMAIN, "talker", suggested_object_id="talker")


async def test_a_turn_comes_back_from_the_chat_log_as_it_was(hass: HomeAssistant) -> None:
    provider = ScriptedProvider(
        call(ToolCall("1", "light_on", "{}"), text="One moment."),
        [TextDelta("It is on."), CompletionResult(FinishReason.STOP, provider_items=(SIGNED,))],
    )
    loop = AgenticLoop(provider, ScriptedDispatcher())
    with (
        chat_session.async_get_chat_session(hass, "a-talk") as session,
        conversation.async_get_chat_log(hass, session) as chat_log,
    ):
        chat_log.async_add_user_content(UserContent("Light!"))
        events: AsyncGenerator[TurnEvent] = loop.stream(Turn("Light!", tools=(tool("light_on"),)))
        await async_stream_into_chat_log(chat_log, TALKER, events, TurnRecord("Light!"))
        chat_log.async_add_user_content(UserContent("Thanks."))
        remembered = history(chat_log)

    assert remembered == (
        UserMessage("Light!"),
        AssistantMessage("One moment.", tool_calls=(ToolCall("1", "light_on", "{}"),)),
        ToolResult("1", "light_on", '{"done":true}'),
        AssistantMessage("It is on.", provider_items=(SIGNED,)),
    )


async def test_what_was_told_of_a_message_stays_as_it_was_told(hass: HomeAssistant) -> None:
    light, fan = ToolCall("1", "light_on", "{}"), ToolCall("2", "fan_on", "{}")
    provider = ScriptedProvider(call(light, fan), say("Both are on."))
    heard: list[dict[str, object]] = []
    as_told: list[dict[str, object]] = []

    def listen(_: conversation.ChatLog, delta: dict[str, object]) -> None:
        heard.append(delta)
        as_told.append({key: list(value) if isinstance(value, list) else value for key, value in delta.items()})

    with (
        chat_session.async_get_chat_session(hass, "a-talk") as session,
        conversation.async_get_chat_log(hass, session, chat_log_delta_listener=listen) as chat_log,
    ):
        chat_log.async_add_user_content(UserContent("Both!"))
        turn = Turn("Both!", tools=(tool("light_on"), tool("fan_on")))
        loop = AgenticLoop(provider, ScriptedDispatcher())
        await async_stream_into_chat_log(chat_log, TALKER, loop.stream(turn), TurnRecord("Both!"))

    assert heard == as_told
    assert [sorted(delta) for delta in heard if delta.get("role") != "tool_result"] == [
        ["role"],
        ["tool_calls"],
        ["tool_calls"],
        ["content", "role"],
    ]


async def test_a_call_that_did_not_run_is_remembered_as_such(hass: HomeAssistant) -> None:
    loop = AgenticLoop(
        ScriptedProvider(call(ToolCall("1", "light_on", "{}"))), ScriptedDispatcher(), hooks=[asks_for("light_on")]
    )
    with (
        chat_session.async_get_chat_session(hass, "a-talk") as session,
        conversation.async_get_chat_log(hass, session) as chat_log,
    ):
        chat_log.async_add_user_content(UserContent("Light!"))
        events: AsyncGenerator[TurnEvent] = loop.stream(Turn("Light!", tools=(tool("light_on"),)))
        await async_stream_into_chat_log(chat_log, TALKER, events, TurnRecord("Light!"))
        *_, answer = history(chat_log)

    assert answer == ToolResult("1", "light_on", "Not run yet: a person has to say yes first.", synthetic=True)


async def test_what_another_agent_left_is_no_item_of_ours(hass: HomeAssistant) -> None:
    with (
        chat_session.async_get_chat_session(hass, "a-talk") as session,
        conversation.async_get_chat_log(hass, session) as chat_log,
    ):
        chat_log.async_add_assistant_content_without_tools(
            conversation.AssistantContent("conversation.other", "Hello.", native={"their": "own"})
        )
        remembered = history(chat_log)

    assert remembered == (AssistantMessage("Hello."),)


async def test_words_that_a_hook_took_out_are_not_remembered(hass: HomeAssistant) -> None:
    hook = ScriptedHooks(prompt=lambda text: Rewrite(text.replace("1234", "****")))
    loop = AgenticLoop(ScriptedProvider(say("Thank you.")), ScriptedDispatcher(), hooks=[hook])
    with (
        chat_session.async_get_chat_session(hass, "a-talk") as session,
        conversation.async_get_chat_log(hass, session) as chat_log,
    ):
        chat_log.async_add_user_content(UserContent("My PIN is 1234."))
        events: AsyncGenerator[TurnEvent] = loop.stream(Turn("My PIN is 1234."))
        await async_stream_into_chat_log(chat_log, TALKER, events, TurnRecord("My PIN is ****."))
        chat_log.async_add_user_content(UserContent("Bye."))
        remembered = history(chat_log)

    assert remembered == (UserMessage("My PIN is ****."), AssistantMessage("Thank you."))


async def test_words_are_remembered_with_what_held_when_they_were_said(hass: HomeAssistant) -> None:
    hooks = ScriptedHooks(prompt=lambda _: Rewrite("Light, please!"))
    loop = AgenticLoop(ScriptedProvider(say("It is on.")), ScriptedDispatcher(), hooks=[hooks])
    with (
        chat_session.async_get_chat_session(hass, "a-talk") as session,
        conversation.async_get_chat_log(hass, session) as chat_log,
    ):
        chat_log.async_add_user_content(UserContent("Light!"))
        keep_context(chat_log, "It is dark.")
        events: AsyncGenerator[TurnEvent] = loop.stream(Turn("Light!"))
        await async_stream_into_chat_log(chat_log, TALKER, events, TurnRecord("Light!"))
        keep_context(chat_log, "That was no person.")
        chat_log.async_add_user_content(UserContent("Thanks."))
        remembered = history(chat_log)

    assert remembered == (UserMessage("Light, please!", context="It is dark."), AssistantMessage("It is on."))


class Turns:
    """Takes turns of one conversation, which may overlap."""

    def __init__(self, hass: HomeAssistant) -> None:
        self._hass = hass

    async def take(self, text: str, gate: Gate | None = None) -> None:
        """Take a turn as Home Assistant does; with a gate, its end waits there."""

        async def settle() -> None:
            if gate is not None:
                await gate()

        with (
            chat_session.async_get_chat_session(self._hass, "a-talk") as session,
            conversation.async_get_chat_log(self._hass, session) as chat_log,
        ):
            chat_log.async_add_user_content(UserContent(text))
            events: AsyncGenerator[TurnEvent] = AgenticLoop(
                ScriptedProvider(say(f"You said: {text}")), ScriptedDispatcher()
            ).stream(Turn(text))
            await async_stream_into_chat_log(chat_log, TALKER, events, TurnRecord(text), settle)

    @property
    def said(self) -> list[str]:
        """What the next turn would know of what people have said."""
        with (
            chat_session.async_get_chat_session(self._hass, "a-talk") as session,
            conversation.async_get_chat_log(self._hass, session) as chat_log,
        ):
            chat_log.async_add_user_content(UserContent("And?"))
            return [message.text for message in history(chat_log) if isinstance(message, UserMessage)]


async def test_what_another_turn_adds_while_the_end_of_one_waits_is_kept(hass: HomeAssistant) -> None:
    turns, gate = Turns(hass), Gate()
    first = asyncio.create_task(turns.take("first", gate))
    await gate.reached.wait()

    await turns.take("second")
    gate.opened.set()
    await first

    assert turns.said == ["second", "first"]


async def test_a_turn_that_is_cut_off_while_its_end_waits_is_kept(hass: HomeAssistant) -> None:
    turns, gate = Turns(hass), Gate()
    first = asyncio.create_task(turns.take("first", gate))
    await gate.reached.wait()

    first.cancel()
    await asyncio.wait({first})

    assert turns.said == ["first"]
