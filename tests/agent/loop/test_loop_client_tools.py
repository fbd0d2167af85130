"""Tools of the caller go back to the caller; beside them nothing runs."""

from dataclasses import replace

from custom_components.chatterbox.agent.events import StopReason, ToolStarted
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    NamedTool,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from tests.agent.turns import assert_valid, collect, finished, results
from tests.support.doubles import ScriptedDispatcher, ScriptedProvider, asks_for, call, say, tool

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


async def test_a_call_of_the_caller_without_arguments_has_none() -> None:
    """Invariant 29."""
    provider = ScriptedProvider(call(replace(SHOW, arguments=" ")))
    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)
    assert finished(events).client_calls == (replace(SHOW, arguments="{}"),)


async def test_calls_of_the_caller_do_not_count() -> None:
    """Invariant 19."""
    shows = [replace(SHOW, id=f"s{number}", arguments=f'{{"n":{number}}}') for number in range(3)]
    turn = replace(TURN, limits=Limits(max_tool_calls=1))

    events = await collect(AgenticLoop(ScriptedProvider(call(*shows)), ScriptedDispatcher()), turn)

    assert finished(events).client_calls == tuple(shows)


async def test_the_caller_may_be_called_when_the_home_may_no_more() -> None:
    """Invariants 18, 19."""
    provider = ScriptedProvider(call(ON), call(replace(ON, id="x", arguments='{"n":1}')), call(SHOW))
    dispatcher = ScriptedDispatcher()

    events = await collect(AgenticLoop(provider, dispatcher), replace(TURN, limits=Limits(max_tool_calls=1)))

    assert [one.id for one in dispatcher.finished] == ["a"]
    assert ["used up" in result.content for result in results(events)] == [False, True]
    assert finished(events).client_calls == (SHOW,)


async def test_a_call_of_the_caller_that_is_not_allowed_is_answered() -> None:
    """Invariant 25."""
    provider = ScriptedProvider(call(SHOW), say("I may not."))
    turn = replace(TURN, allowed_tools=frozenset({"light_on"}))

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), turn)

    assert [(result.call_id, "not allowed" in result.content) for result in results(events)] == [("s", True)]
    assert provider.requests[1].tools == provider.requests[0].tools
    assert finished(events).stop_reason is StopReason.COMPLETED


async def test_a_tool_that_does_not_exist_is_not_taken_for_one_of_the_caller() -> None:
    provider = ScriptedProvider(call(replace(SHOW, name="unheard_of")), say("Hm."))
    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)
    assert finished(events).stop_reason is StopReason.COMPLETED
    assert results(events)[0].is_error


async def test_the_next_turn_brings_the_results() -> None:
    history: Transcript = (
        UserMessage("Page!"),
        AssistantMessage(tool_calls=(SHOW, ON)),
        ToolResult("s", "show_page", "shown"),
        ToolResult("a", "light_on", "done"),
    )
    provider = ScriptedProvider(say("There it is."))
    turn = replace(TURN, user_text=None, history=history)

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), turn)

    assert provider.requests[0].transcript == history
    assert finished(events).text == "There it is."


async def test_a_next_turn_without_all_results_is_still_valid() -> None:
    history: Transcript = (UserMessage("Page!"), AssistantMessage(tool_calls=(SHOW, ON)))
    provider = ScriptedProvider(say("Hm."))

    await collect(AgenticLoop(provider, ScriptedDispatcher()), replace(TURN, user_text=None, history=history))

    assert_valid(provider.requests[0].transcript)
    assert len(provider.requests[0].transcript) == 4


async def test_a_choice_of_the_next_request_holds_for_its_first_inference() -> None:
    history: Transcript = (
        UserMessage("Page!"),
        AssistantMessage(tool_calls=(SHOW,)),
        ToolResult("s", "show_page", "shown"),
    )
    provider = ScriptedProvider(call(ON), say("Done."))
    choice = NamedTool("light_on")

    turn = replace(TURN, user_text=None, history=history, tool_choice=choice)
    await collect(AgenticLoop(provider, ScriptedDispatcher()), turn)

    assert provider.requests[0].tool_choice == choice
    assert provider.requests[1].tool_choice != choice
