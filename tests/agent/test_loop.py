"""The loop as a surface sees it: a turn goes in, events come out."""

from contextlib import aclosing

import pytest

from custom_components.chatterbox.agent.events import (
    Phase,
    PhaseEntered,
    StopReason,
    TurnEvent,
    TurnFinished,
)
from custom_components.chatterbox.agent.loop import AgenticLoop
from custom_components.chatterbox.agent.messages import ToolCall
from custom_components.chatterbox.agent.turn import Turn
from tests.doubles import ScriptedDispatcher, ScriptedProvider, call, say, tool


async def collect(loop: AgenticLoop, turn: Turn) -> list[TurnEvent]:
    """Run a turn to its end."""
    async with aclosing(loop.stream(turn)) as events:
        return [event async for event in events]


def phases(events: list[TurnEvent]) -> list[Phase]:
    """Return the walk."""
    return [event.phase for event in events if isinstance(event, PhaseEntered)]


async def test_words_alone_walk_straight_to_the_output() -> None:
    provider = ScriptedProvider(say("Hello."))
    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), Turn("Hi"))

    assert phases(events) == [
        Phase.RECEIVE_INPUT,
        Phase.LLM_INFERENCE,
        Phase.TOOL_DECISION,
        Phase.RESPONSE_COMPOSITION,
        Phase.OUTPUT,
    ]
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].text == "Hello."
    assert events[-1].stop_reason is StopReason.COMPLETED


async def test_a_call_is_run_and_answered() -> None:
    provider = ScriptedProvider(call(ToolCall("1", "light_on", "{}")), say("It is on."))
    dispatcher = ScriptedDispatcher()
    events = await collect(AgenticLoop(provider, dispatcher), Turn("Light!", tools=(tool("light_on"),)))

    assert phases(events) == [
        Phase.RECEIVE_INPUT,
        Phase.LLM_INFERENCE,
        Phase.TOOL_DECISION,
        Phase.TOOL_EXECUTION,
        Phase.RESULT_AGGREGATION,
        Phase.LLM_INFERENCE,
        Phase.TOOL_DECISION,
        Phase.RESPONSE_COMPOSITION,
        Phase.OUTPUT,
    ]
    assert [one.name for one in dispatcher.finished] == ["light_on"]
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].usage.input_tokens == 20


@pytest.mark.parametrize("stop_after", range(20))
async def test_smoke_barge_in(stop_after: int) -> None:
    provider = ScriptedProvider(call(ToolCall("1", "light_on", "{}")), say("It is on."))
    dispatcher = ScriptedDispatcher()
    loop = AgenticLoop(provider, dispatcher)
    async with aclosing(loop.stream(Turn("Light!", tools=(tool("light_on"),)))) as events:
        seen = 0
        async for _ in events:
            seen += 1
            if seen > stop_after:
                break
    assert provider.open_streams == 0
    assert dispatcher.running == 0
