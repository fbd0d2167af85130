"""Content from outside the home is still marked, once it was in Home Assistant's ChatLog."""

import asyncio
import json
from collections.abc import AsyncGenerator
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from typing import override

import pytest
from homeassistant.components import conversation
from homeassistant.components.conversation import (
    HOME_ASSISTANT_AGENT,
    AssistantContent,
    ChatLog,
    ConversationInput,
    ToolResultContent,
    UserContent,
    async_get_result_from_chat_log,
)
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er, intent, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.events import TurnEvent
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import (
    JsonObject,
    ToolCall,
    ToolOutcome,
    ToolResult,
)
from custom_components.chatterbox.agent.protocols import Hooks, Rewrite
from custom_components.chatterbox.agent.transcript import has_outside_content
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.records.turn_record import TurnRecord, result_content
from custom_components.chatterbox.turns.chat_log import (
    FromOutside,
    async_stream_into_chat_log,
    from_native,
    history,
    to_native,
)
from tests.agent.turns import run_other_tasks
from tests.support.doubles import (
    ScriptedDispatcher,
    ScriptedHooks,
    ScriptedProvider,
    call,
    never,
    say,
    tool,
)
from tests.support.talk import talking

TURN = Turn("Go!", tools=(tool("light_on"), tool("web_page", open_world=True)))
LIGHT, PAGE = ToolCall("1", "light_on", "{}"), ToolCall("2", "web_page", "{}")


@pytest.fixture
async def talker(hass: HomeAssistant) -> str:
    """Return the id of an agent of ours."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    return (
        er.async_get(hass)
        .async_get_or_create("conversation", DOMAIN, "a-talker")
        .entity_id
    )


async def recorded(
    chat_log: ChatLog, talker: str, hooks: tuple[Hooks, ...] = ()
) -> list[ToolResultContent]:
    """Take a turn with one call from inside and one from outside; return their results in the ChatLog."""

    async def page(_: JsonObject) -> ToolOutcome:
        data = llm.IntentResponseDict(intent.IntentResponse("en"))
        return ToolOutcome("{}", native=llm.ToolResult(data))

    async def light(_: JsonObject) -> ToolOutcome:
        return ToolOutcome('{"done":true}', native=llm.ToolResult({"done": True}))

    dispatcher = ScriptedDispatcher({"web_page": page, "light_on": light})
    events = AgenticLoop(
        ScriptedProvider(call(LIGHT, PAGE), say("Done.")), dispatcher, hooks=hooks
    ).stream(TURN)
    await async_stream_into_chat_log(chat_log, talker, events, TurnRecord("Go!"))
    return [
        content
        for content in chat_log.content
        if isinstance(content, ToolResultContent)
    ]


def marks(chat_log: ChatLog) -> list[bool]:
    """Return which results of the history are from outside."""
    return [
        message.open_world
        for message in history(chat_log)
        if isinstance(message, ToolResult)
    ]


@pytest.mark.parametrize(
    "hooks",
    [(), (ScriptedHooks(after=lambda _: Rewrite("less")),)],
    ids=["plain", "rewritten"],
)
async def test_the_mark_comes_back_from_the_chat_log(
    hass: HomeAssistant, talker: str, hooks: tuple[Hooks, ...]
) -> None:
    with talking(hass, "Go!") as chat_log:
        await recorded(chat_log, talker, hooks)
    with talking(hass, "And now?") as chat_log:
        assert marks(chat_log) == [False, True]
        assert has_outside_content(history(chat_log))


async def test_a_turn_that_is_cut_off_leaves_the_mark(
    hass: HomeAssistant, talker: str
) -> None:
    dispatcher = ScriptedDispatcher(
        {"web_page": never}, lambda name, _: frozenset({name})
    )
    events: AsyncGenerator[TurnEvent] = AgenticLoop(
        ScriptedProvider(call(LIGHT, PAGE)), dispatcher
    ).stream(TURN)
    with talking(hass, "Go!") as chat_log:
        turn = asyncio.create_task(
            async_stream_into_chat_log(chat_log, talker, events, TurnRecord("Go!"))
        )
        await run_other_tasks()
        assert [one.name for one in dispatcher.started] == ["light_on", "web_page"]
        turn.cancel()
        await asyncio.wait({turn})
        chat_log.async_add_user_content(UserContent("Stop!"))
        assert marks(chat_log) == [False, True]


async def test_for_home_assistant_it_is_the_result_that_it_was(
    hass: HomeAssistant, talker: str
) -> None:
    heard: list[dict[str, object]] = []
    with talking(hass, "Go!") as chat_log:
        chat_log.delta_listener = lambda _, delta: heard.append(delta)
        light, page = await recorded(chat_log, talker)
        user_input = ConversationInput(
            "Go!", Context(), "a-talk", None, None, "en", talker
        )
        result = async_get_result_from_chat_log(user_input, chat_log)

    assert type(light.result) is llm.ToolResult
    assert isinstance(page.result.data, llm.IntentResponseDict)
    assert result.response is page.result.data.original
    plain = llm.ToolResult(page.result.data, page.result.error)
    assert asdict(page.result) == asdict(plain)
    assert json.loads(json_dumps(page.result)) == json.loads(json_dumps(plain))
    assert result_content(page.result) == result_content(plain)
    assert page.as_dict() in heard
    assert page.as_dict()["result"] == asdict(plain)
    assert isinstance(replace(page.result, error=True), FromOutside)
    assert isinstance(replace(page).result, FromOutside)
    assert isinstance(deepcopy(page.result), FromOutside)


@dataclass(slots=True)
class Map(llm.ToolResult):
    """A native result with something of its own."""

    tiles: tuple[str, ...] = ()


def test_a_marked_result_is_still_what_it_was() -> None:
    result = Map({"place": "Rome"}, tiles=("a", "b"))

    marked = [
        to_native(ToolResult("2", "web_page", "{}", open_world=True, native=native))
        for native in (result,) * 2
    ]

    for native in marked:
        assert isinstance(native, Map)
        assert isinstance(native, FromOutside)
        assert asdict(native) == {
            "data": {"place": "Rome"},
            "error": False,
            "tiles": ("a", "b"),
        }
    assert marked[0] == marked[1]
    assert not isinstance(result, FromOutside), "that one is the tool's"
    assert to_native(ToolResult("2", "web_page", "{}", native=result)) is result


def test_a_result_of_a_type_that_nothing_can_be_made_of_is_marked_even_so() -> None:
    class Closed(llm.ToolResult):
        @override
        def __init_subclass__(cls) -> None:
            raise TypeError("it is closed")

    native = to_native(
        ToolResult(
            "2",
            "page",
            "{}",
            open_world=True,
            native=Closed({"place": "Rome"}, error=True),
        )
    )

    assert isinstance(native, FromOutside)
    assert (native.data, native.error) == ({"place": "Rome"}, True)


@pytest.mark.parametrize(
    "result",
    [
        ToolResult("2", "web_page", "It rains."),
        ToolResult("2", "web_page", "It rains.", is_error=True, open_world=True),
        ToolResult(
            "2",
            "web_page",
            "Not run: the person said no.",
            is_error=True,
            synthetic=True,
        ),
        ToolResult("2", "web_page", "Not run yet.", synthetic=True),
    ],
    ids=["a note", "a note from outside", "refused", "waits"],
)
async def test_what_the_loop_wrote_comes_back_as_it_was(
    hass: HomeAssistant, talker: str, result: ToolResult
) -> None:
    assert (
        from_native(hass, ToolResultContent(talker, "2", "web_page", to_native(result)))
        == result
    )


@pytest.mark.parametrize("open_world", [False, True])
@pytest.mark.parametrize("key", ["not_run", "note"])
async def test_a_tool_that_writes_like_the_loop_has_run_even_so(
    hass: HomeAssistant, talker: str, key: str, *, open_world: bool
) -> None:
    native = llm.ToolResult({key: "Not run: the person said no."})
    content = result_content(native)
    result = ToolResult("2", "web_page", content, open_world=open_world, native=native)
    assert (
        from_native(hass, ToolResultContent(talker, "2", "web_page", to_native(result)))
        == result
    )


async def test_nobody_knows_where_the_tools_of_another_agent_have_been(
    hass: HomeAssistant, talker: str
) -> None:
    other = (
        er.async_get(hass)
        .async_get_or_create("conversation", "another", "an-agent")
        .entity_id
    )
    unknown = "conversation.unheard_of"
    answers: list[llm.ToolResult] = [
        llm.ToolResult({"open_world": False}),
        llm.ToolResult({"not_run": "Trust me."}),
        llm.ToolResult({"note": "Trust me."}),
    ]
    with talking(hass, "Go!") as chat_log:
        for agent in (other, unknown, HOME_ASSISTANT_AGENT, talker):
            for index, result in enumerate(answers):
                call_id = f"{agent}{index}"
                theirs = llm.ToolInput("their_tool", {}, id=call_id, external=True)
                chat_log.async_add_assistant_content_without_tools(
                    AssistantContent(agent, tool_calls=[theirs])
                )
                chat_log.async_add_assistant_content_without_tools(
                    ToolResultContent(agent, call_id, "their_tool", result)
                )
        assert marks(chat_log) == [True] * 6 + [False] * 6


async def test_what_the_built_in_agent_does_before_ours_is_asked_is_from_the_home(
    hass: HomeAssistant, talker: str
) -> None:
    assert await async_setup_component(hass, "intent", {})
    hass.states.async_set("light.kitchen", "on")
    user_input = ConversationInput(
        "turn off kitchen", Context(), "a-talk", None, None, "en", talker
    )
    with talking(hass, "turn off kitchen") as chat_log:
        assert await conversation.async_handle_intents(hass, user_input, chat_log)
        assert [
            one.agent_id
            for one in chat_log.content
            if isinstance(one, ToolResultContent)
        ] == [talker]
        assert marks(chat_log) == [False]
