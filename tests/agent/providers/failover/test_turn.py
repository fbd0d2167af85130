"""Whole turns over a chain: an action happens once, whoever fails, and there are always words."""

import asyncio
from dataclasses import replace

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.events import (
    ProviderSwitched,
    StopReason,
    TurnEvent,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import (
    JsonObject,
    ToolCall,
    ToolOutcome,
    ToolResult,
)
from custom_components.chatterbox.agent.providers.failover import FailoverProvider
from custom_components.chatterbox.agent.providers.managed_provider import (
    CircuitBreaker,
    ManagedProvider,
)
from tests.agent.providers.manual_clock import ManualClock
from tests.agent.turns import collect, finished, spoken
from tests.support.doubles import ScriptedDispatcher, ScriptedProvider, call, say, tool

LIGHT, LOOK, SENTENCE = (
    tool("light_on"),
    tool("look", read_only=True),
    tool("process_sentence"),
)
TURN = Turn("Light on!", tools=(LIGHT, LOOK, SENTENCE))
ON = ToolCall("a", "light_on", "{}")
SAID = ToolCall("b", "process_sentence", '{"sentence":"Light on!"}')
DOWN = ProviderUnreachable("down")


class Home:
    """A model, a fallback with a tool of its own, and what becomes of their turns."""

    def __init__(self, model: ScriptedProvider, fallback: ScriptedProvider) -> None:
        self.model, self.fallback = model, fallback
        self.dispatcher = ScriptedDispatcher()
        clock = ManualClock()
        self.managed = [
            ManagedProvider(
                "model",
                model,
                CircuitBreaker(clock=clock),
                retries=False,
                tools=lambda tools: tuple(
                    tool for tool in tools if tool.name != SENTENCE.name
                ),
            ),
            ManagedProvider(
                "fallback",
                fallback,
                CircuitBreaker(clock=clock),
                tools=lambda tools: tuple(
                    tool for tool in tools if tool.name == SENTENCE.name
                ),
            ),
        ]
        self.loop = AgenticLoop(FailoverProvider(self.managed, clock), self.dispatcher)

    async def take(self, turn: Turn = TURN) -> list[TurnEvent]:
        """Take a turn to its end; nothing is left open by it."""
        events = await collect(self.loop, turn)
        assert self.model.open_streams == self.fallback.open_streams == 0
        return events


def switches(events: list[TurnEvent]) -> list[ProviderSwitched]:
    """Return who took over."""
    return [event for event in events if isinstance(event, ProviderSwitched)]


async def test_when_the_model_is_down_the_fallback_acts_with_its_own_tool() -> None:
    home = Home(
        ScriptedProvider([DOWN]), ScriptedProvider(call(SAID), say("Turned on."))
    )

    events = await home.take()

    assert finished(events).stop_reason is StopReason.COMPLETED
    assert spoken(events) == "Turned on."
    assert switches(events) == [
        ProviderSwitched("fallback", "model: ProviderUnreachable")
    ]
    assert home.dispatcher.started == [SAID]
    assert [request.tools for request in home.fallback.requests] == [(SENTENCE,)] * 2
    assert [request.tools for request in home.model.requests] == [(LIGHT, LOOK)]


async def test_a_model_cannot_call_a_tool_that_only_another_provider_may_see() -> None:
    home = Home(
        ScriptedProvider(
            call(SAID), call(replace(SAID, name="PROCESS_SENTENCE")), say("I cannot.")
        ),
        ScriptedProvider(),
    )

    events = await home.take()

    assert spoken(events) == "I cannot."
    assert home.dispatcher.started == []
    result = [
        message.content
        for message in home.model.requests[-1].transcript
        if isinstance(message, ToolResult)
    ]
    assert len(result) == 2
    assert all(
        "There is no tool" in text and "Tools: light_on, look." in text
        for text in result
    )


async def test_a_model_that_fails_after_its_action_is_asked_no_more_and_nobody_repeats_it() -> (
    None
):
    home = Home(ScriptedProvider(call(ON), [DOWN]), ScriptedProvider())

    events = await home.take()

    end = finished(events)
    assert end.stop_reason is StopReason.PROVIDER_FAILED
    assert end.error is DOWN
    assert [result.name for result in end.tool_results] == ["light_on"]
    assert end.text.startswith("Done: light_on.")
    assert home.dispatcher.started == [ON]
    assert not home.fallback.requests


async def test_a_model_that_acted_is_asked_for_the_words_although_its_circuit_is_open() -> (
    None
):
    home = Home(ScriptedProvider(call(ON), say("It is on.")), ScriptedProvider())

    async def turn_on(_: JsonObject) -> ToolOutcome:
        home.managed[0].breaker.trip(DOWN)  # another conversation found out
        return ToolOutcome('{"done":true}')

    home.dispatcher.bodies["light_on"] = turn_on

    events = await home.take()

    assert spoken(events) == "It is on."
    assert not switches(events)


async def cancel_it() -> None:
    """End by a cancellation that nobody who waits has asked for."""
    raise asyncio.CancelledError


async def test_a_model_that_is_cancelled_by_somebody_else_is_answered_for() -> None:
    home = Home(ScriptedProvider([cancel_it]), ScriptedProvider(say("I stand in.")))

    assert spoken(await home.take()) == "I stand in."
    assert home.managed[0].breaker.failures == 1


async def test_nothing_is_asked_again_after_a_change() -> None:
    home = Home(
        ScriptedProvider(call(ON), [DOWN], say("Never asked.")), ScriptedProvider()
    )
    home.managed[0] = replace(home.managed[0], retries=True)
    home.loop = AgenticLoop(
        FailoverProvider(home.managed, ManualClock()), home.dispatcher
    )

    events = await home.take()

    assert len(home.model.requests) == 2
    assert finished(events).stop_reason is StopReason.PROVIDER_FAILED
