"""The ChatLog returns a conversation as the loop wrote it, and each content is translated once."""

import asyncio
import gc
import weakref
from contextlib import nullcontext
from datetime import datetime

import pytest
from homeassistant.components import conversation
from homeassistant.components.conversation import (
    AssistantContent,
    ToolResultContent,
    UserContent,
)
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.events import CompletionResult, TextDelta
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    ProviderItem,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import Rewrite
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.records.turn_record import TurnRecord
from custom_components.chatterbox.tools.dispatch import UNREADABLE
from custom_components.chatterbox.turns.chat_log import (
    async_stream_into_chat_log,
    history,
    keep_context,
    message_of,
)
from custom_components.chatterbox.turns.shown_files import NO_FILES
from tests.support.doubles import (
    Gate,
    ScriptedDispatcher,
    ScriptedHooks,
    ScriptedProvider,
    asks_for,
    call,
    say,
    tool,
)
from tests.support.talk import AGENT, talking
from tests.support.versions import IS_LATEST

SIGNED = ProviderItem("a-format", {"type": "thinking", "signature": "abc"})


@pytest.fixture(autouse=True)
async def _set_up(hass: HomeAssistant) -> None:
    """Set up conversations, and an agent of ours."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    er.async_get(hass).async_get_or_create(
        "conversation", DOMAIN, "talker", suggested_object_id="talker"
    )


async def test_a_turn_comes_back_from_the_chat_log_as_it_was(
    hass: HomeAssistant,
) -> None:
    provider = ScriptedProvider(
        call(ToolCall("1", "light_on", "{}"), text="One moment."),
        [
            TextDelta("It is on."),
            CompletionResult(FinishReason.STOP, provider_items=(SIGNED,)),
        ],
    )
    loop = AgenticLoop(provider, ScriptedDispatcher())
    with talking(hass, "Light!") as chat_log:
        events = loop.stream(Turn("Light!", tools=(tool("light_on"),)))
        await async_stream_into_chat_log(chat_log, AGENT, events, TurnRecord("Light!"))
        chat_log.async_add_user_content(UserContent("Thanks."))
        remembered = history(chat_log)

    assert remembered == (
        UserMessage("Light!"),
        AssistantMessage("One moment.", tool_calls=(ToolCall("1", "light_on", "{}"),)),
        ToolResult("1", "light_on", '{"done":true}'),
        AssistantMessage("It is on.", provider_items=(SIGNED,)),
    )


async def test_deltas_are_not_changed_after_a_listener_has_them(
    hass: HomeAssistant,
) -> None:
    light, fan = ToolCall("1", "light_on", "{}"), ToolCall("2", "fan_on", "{}")
    provider = ScriptedProvider(call(light, fan), say("Both are on."))
    heard: list[dict[str, object]] = []
    as_told: list[dict[str, object]] = []

    def listen(_: conversation.ChatLog, delta: dict[str, object]) -> None:
        heard.append(delta)
        as_told.append(
            {
                key: list(value) if isinstance(value, list) else value
                for key, value in delta.items()
            }
        )

    with talking(hass, "Both!") as chat_log:
        chat_log.delta_listener = listen
        turn = Turn("Both!", tools=(tool("light_on"), tool("fan_on")))
        loop = AgenticLoop(provider, ScriptedDispatcher())
        await async_stream_into_chat_log(
            chat_log, AGENT, loop.stream(turn), TurnRecord("Both!")
        )

    assert heard == as_told
    keys = [sorted(delta) for delta in heard if delta.get("role") != "tool_result"]
    assert keys == [["role"], ["tool_calls"], ["tool_calls"], ["content", "role"]]


async def test_a_call_that_did_not_run_is_remembered_as_such(
    hass: HomeAssistant,
) -> None:
    loop = AgenticLoop(
        ScriptedProvider(call(ToolCall("1", "light_on", "{}"))),
        ScriptedDispatcher(),
        hooks=[asks_for("light_on")],
    )
    with talking(hass, "Light!") as chat_log:
        events = loop.stream(Turn("Light!", tools=(tool("light_on"),)))
        await async_stream_into_chat_log(chat_log, AGENT, events, TurnRecord("Light!"))
        *_, answer = history(chat_log)

    assert answer == ToolResult(
        "1", "light_on", "Not run yet: a person has to say yes first.", synthetic=True
    )


@pytest.mark.parametrize(
    "arguments",
    [{"when": datetime(2026, 1, 1)}, {"what": object()}],  # noqa: DTZ001  # odd on purpose
)
async def test_odd_contents_of_another_agent_break_nothing(
    hass: HomeAssistant, arguments: dict[str, object]
) -> None:
    theirs = llm.ToolInput("their_tool", arguments, id="theirs", external=True)
    result = llm.ToolResult({"what": object()})  # type: ignore[dict-item]  # what another agent may do all the same
    with talking(hass, "Hello") as chat_log:
        for content in (
            AssistantContent(
                "conversation.other",
                "Hello.",
                native={"their": "own"},
                tool_calls=[theirs],
            ),
            ToolResultContent("conversation.other", "theirs", "their_tool", result),
        ):
            chat_log.async_add_assistant_content_without_tools(content)
        _, words, message = history(chat_log)

    assert isinstance(words, AssistantMessage)
    assert (words.text, words.provider_items) == ("Hello.", ())
    assert isinstance(message, ToolResult)
    assert message.content == UNREADABLE


async def test_words_that_a_hook_took_out_are_not_remembered(
    hass: HomeAssistant,
) -> None:
    hook = ScriptedHooks(prompt=lambda text: Rewrite(text.replace("1234", "****")))
    loop = AgenticLoop(
        ScriptedProvider(say("Thank you.")), ScriptedDispatcher(), hooks=[hook]
    )
    with talking(hass, "My PIN is 1234.") as chat_log:
        events = loop.stream(Turn("My PIN is 1234."))
        await async_stream_into_chat_log(
            chat_log, AGENT, events, TurnRecord("My PIN is ****.")
        )
        chat_log.async_add_user_content(UserContent("Bye."))
        remembered = history(chat_log)

    assert remembered == (
        UserMessage("My PIN is ****."),
        AssistantMessage("Thank you."),
    )


async def test_words_keep_the_context_of_their_turn(hass: HomeAssistant) -> None:
    hooks = ScriptedHooks(prompt=lambda _: Rewrite("Light, please!"))
    loop = AgenticLoop(
        ScriptedProvider(say("It is on.")), ScriptedDispatcher(), hooks=[hooks]
    )
    with talking(hass, "Light!") as chat_log:
        keep_context(chat_log, "It is dark.")
        events = loop.stream(Turn("Light!"))
        await async_stream_into_chat_log(chat_log, AGENT, events, TurnRecord("Light!"))
        keep_context(chat_log, "That was no person.")
        chat_log.async_add_user_content(UserContent("Thanks."))
        remembered = history(chat_log)

    assert remembered == (
        UserMessage("Light, please!", context="It is dark."),
        AssistantMessage("It is on."),
    )


class Turns:
    """Takes turns of one conversation, which may overlap."""

    def __init__(self, hass: HomeAssistant) -> None:
        self._hass = hass

    async def take(self, text: str, gate: Gate | None = None) -> None:
        """Take a turn as Home Assistant does; with a gate, its end waits there."""

        async def end() -> None:
            if gate is not None:
                await gate()

        with talking(self._hass, text) as chat_log:
            events = AgenticLoop(
                ScriptedProvider(say(f"You said: {text}")), ScriptedDispatcher()
            ).stream(Turn(text))
            await async_stream_into_chat_log(
                chat_log, AGENT, events, TurnRecord(text), end
            )

    @property
    def known_words(self) -> list[str]:
        """The words of people that the next turn would know."""
        with talking(self._hass, "And?") as chat_log:
            return [
                message.text
                for message in history(chat_log)
                if isinstance(message, UserMessage)
            ]


async def test_a_turn_that_overlaps_the_end_of_another_is_kept(
    hass: HomeAssistant,
) -> None:
    turns, gate = Turns(hass), Gate()
    first = asyncio.create_task(turns.take("first", gate))
    await gate.reached.wait()

    with (
        pytest.raises(HomeAssistantError, match="busy") if IS_LATEST else nullcontext()
    ):
        await turns.take("second")
    gate.opened.set()
    await first

    assert turns.known_words == (["first"] if IS_LATEST else ["second", "first"])


async def test_a_turn_that_is_cut_off_while_its_end_waits_is_kept(
    hass: HomeAssistant,
) -> None:
    turns, gate = Turns(hass), Gate()
    first = asyncio.create_task(turns.take("first", gate))
    await gate.reached.wait()

    first.cancel()
    await asyncio.wait({first})

    assert turns.known_words == ["first"]


class TrackedText(str):
    """A text whose garbage collection can be observed."""

    __slots__ = ("__weakref__",)


async def _turn(hass: HomeAssistant, text: str) -> Transcript:
    """Take a turn of a conversation, and return what was said before."""
    loop = AgenticLoop(
        ScriptedProvider(call(ToolCall("1", "light_on", "{}")), say("Done.")),
        ScriptedDispatcher(),
    )
    with talking(hass, text) as chat_log:
        before = history(chat_log)
        events = loop.stream(Turn(text, tools=(tool("light_on"),)))
        await async_stream_into_chat_log(chat_log, AGENT, events, TurnRecord(text))
    return before


async def test_later_turns_read_the_very_same_messages(hass: HomeAssistant) -> None:
    await _turn(hass, "Light!")
    second = await _turn(hass, "Again!")
    third = await _turn(hass, "Once more!")

    assert len(second) == 4
    assert len(third) == 8
    assert all(one is other for one, other in zip(second, third, strict=False))


async def test_other_words_in_place_of_some_are_other_messages(
    hass: HomeAssistant,
) -> None:
    words, instead = UserContent("1234"), UserContent("(a PIN)")

    assert message_of(hass, words, NO_FILES) == UserMessage("1234")
    assert message_of(hass, instead, NO_FILES) == UserMessage("(a PIN)")


async def test_a_message_goes_with_its_content(hass: HomeAssistant) -> None:
    words = TrackedText("Light!")
    content, reference = UserContent(words), weakref.ref(words)
    assert message_of(hass, content, NO_FILES) == UserMessage("Light!")

    del words, content
    gc.collect()

    assert reference() is None
