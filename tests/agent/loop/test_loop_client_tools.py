"""Tools of the caller go back to the caller; beside them nothing runs."""

from dataclasses import replace

from custom_components.chatterbox.agent.events import StopReason, ToolStarted
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    ToolCall,
)
from tests.agent.turns import collect, finished, results
from tests.support.doubles import ScriptedDispatcher, ScriptedProvider, asks_for, call, tool

TOOLS = (tool("light_on"), tool("look", read_only=True), tool("unlock"), tool("show_page", client=True))
TURN = Turn("Page!", tools=TOOLS)
SHOW, ON = ToolCall("s", "show_page", '{ "n" : 1 }'), ToolCall("a", "light_on", "{}")
LOOKING, UNLOCK = ToolCall("l", "look", "{}"), ToolCall("u", "unlock", "{}")


async def test_a_call_of_the_caller_goes_back_as_it_was_written() -> None:
    provider = ScriptedProvider(call(SHOW, text="Look:"))
    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)
    end = finished(events)
    assert end.stop_reason is StopReason.CLIENT_TOOLS
    assert end.client_calls == (SHOW,)
    assert results(events) == []
    assert len(provider.requests) == 1


async def test_beside_a_call_of_the_caller_nothing_runs_and_the_model_may_call_again() -> None:
    """Invariant 22."""
    dispatcher = ScriptedDispatcher()
    provider = ScriptedProvider(call(LOOKING, ON, SHOW, UNLOCK, replace(ON, id="x", name="unheard_of")))

    events = await collect(AgenticLoop(provider, dispatcher, hooks=[asks_for("unlock")]), TURN)

    assert dispatcher.started == []
    assert not any(isinstance(event, ToolStarted) for event in events)
    assert finished(events).client_calls == (SHOW,)
    assert [(result.call_id, "Call it again" in result.content) for result in results(events)] == [
        ("l", True),
        ("a", True),
        ("u", True),
        ("x", False),
    ]
    assert all(result.synthetic for result in results(events))


async def test_the_caller_may_be_called_when_the_home_may_no_more() -> None:
    """Invariants 18, 19."""
    provider = ScriptedProvider(call(ON), call(replace(ON, id="x", arguments='{"n":1}')), call(SHOW))
    dispatcher = ScriptedDispatcher()

    events = await collect(AgenticLoop(provider, dispatcher), replace(TURN, limits=Limits(max_tool_calls=1)))

    assert [one.id for one in dispatcher.finished] == ["a"]
    assert ["used up" in result.content for result in results(events)] == [False, True]
    assert finished(events).client_calls == (SHOW,)
