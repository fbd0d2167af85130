"""Whole turns over a chain: an action happens once, whoever fails, and there are always words."""

import asyncio
import contextlib
import time
from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.events import (
    PendingApproval,
    PendingCall,
    ProviderSwitched,
    StopReason,
    TextDelta,
    TurnEvent,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import ApprovalAnswer, Approved, Limits, Turn
from custom_components.chatterbox.agent.messages import JsonObject, ToolCall, ToolOutcome, ToolResult
from custom_components.chatterbox.agent.providers.failover import FailoverProvider
from custom_components.chatterbox.agent.providers.managed_provider import CircuitBreaker, ManagedProvider, Retries
from tests.agent.turns import collect, finished, run_other_tasks, spoken
from tests.support.doubles import ScriptedDispatcher, ScriptedProvider, call, never, say, tool

from .manual_clock import ManualClock

LIGHT, LOOK, SENTENCE = tool("light_on"), tool("look", read_only=True), tool("process_sentence")
TURN = Turn("Light on!", tools=(LIGHT, LOOK, SENTENCE))
LOOKING = ToolCall("c", "look", "{}")
ON = ToolCall("a", "light_on", "{}")
SAID = ToolCall("b", "process_sentence", '{"sentence":"Light on!"}')
DOWN = ProviderUnreachable("down")


class Home:
    """A model, a fallback with a tool of its own, and what becomes of their turns."""

    def __init__(self, model: ScriptedProvider, fallback: ScriptedProvider) -> None:
        self.model, self.fallback = model, fallback
        self.dispatcher = ScriptedDispatcher()
        clock = ManualClock()
        self.links = [
            ManagedProvider(
                "model",
                model,
                CircuitBreaker(clock=clock),
                retries=Retries(attempts=1),
                tools=lambda offered: offered.name != SENTENCE.name,
            ),
            ManagedProvider(
                "fallback", fallback, CircuitBreaker(clock=clock), tools=lambda offered: offered.name == SENTENCE.name
            ),
        ]
        self.loop = AgenticLoop(FailoverProvider(self.links, clock), self.dispatcher)

    async def take(self, turn: Turn = TURN) -> list[TurnEvent]:
        """Take a turn to its end; nothing is left open by it."""
        events = await collect(self.loop, turn)
        assert self.model.open_streams == self.fallback.open_streams == 0
        return events


def switches(events: list[TurnEvent]) -> list[ProviderSwitched]:
    """Return who took over."""
    return [event for event in events if isinstance(event, ProviderSwitched)]


async def test_when_the_model_is_down_the_fallback_acts_with_its_own_tool() -> None:
    home = Home(ScriptedProvider([DOWN]), ScriptedProvider(call(SAID), say("Turned on.")))

    events = await home.take()

    assert finished(events).stop_reason is StopReason.COMPLETED
    assert spoken(events) == "Turned on."
    assert switches(events) == [ProviderSwitched("fallback", "model: ProviderUnreachable")]
    assert home.dispatcher.started == [SAID]
    assert [request.tools for request in home.fallback.requests] == [(SENTENCE,)] * 2
    assert [request.tools for request in home.model.requests] == [(LIGHT, LOOK)]


async def test_a_model_cannot_call_a_tool_that_only_another_link_may_see() -> None:
    home = Home(
        ScriptedProvider(call(SAID), call(replace(SAID, name="PROCESS_SENTENCE")), say("I cannot.")), ScriptedProvider()
    )

    events = await home.take()

    assert spoken(events) == "I cannot."
    assert home.dispatcher.started == []
    told = [message.content for message in home.model.requests[-1].transcript if isinstance(message, ToolResult)]
    assert len(told) == 2
    assert all("There is no tool" in text and "Tools: light_on, look." in text for text in told)


async def test_a_model_that_fails_after_its_action_is_asked_no_more_and_nobody_repeats_it() -> None:
    home = Home(ScriptedProvider(call(ON), [DOWN]), ScriptedProvider())

    events = await home.take()

    end = finished(events)
    assert end.stop_reason is StopReason.PROVIDER_FAILED
    assert end.error is DOWN
    assert [result.name for result in end.tool_results] == ["light_on"]
    assert end.text.startswith("Done: light_on.")
    assert home.dispatcher.started == [ON]
    assert not home.fallback.requests


async def test_who_took_over_is_who_corrects_its_answer() -> None:
    home = Home(ScriptedProvider([DOWN]), ScriptedProvider(say("I've turned on the light."), say("I did nothing.")))

    events = await home.take(replace(TURN, checked_language="en"))

    assert spoken(events) == "I did nothing."
    assert len(switches(events)) == 1


async def test_who_only_looked_is_answered_for() -> None:
    home = Home(ScriptedProvider(call(LOOKING), [DOWN]), ScriptedProvider(say("It is dark.")))

    events = await home.take()

    assert spoken(events) == "It is dark."
    assert home.fallback.requests[0].transcript[-1] == ToolResult("c", "look", '{"done":true}')


async def test_who_acted_is_asked_for_the_words_although_it_is_in_doubt_by_now() -> None:
    home = Home(ScriptedProvider(call(ON), say("It is on.")), ScriptedProvider())

    async def turn_on(_: JsonObject) -> ToolOutcome:
        home.links[0].breaker.trip(DOWN)  # another conversation found out
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
    assert home.links[0].breaker.failures == 1


async def test_a_cancellation_amid_the_words_is_a_failure_of_the_model() -> None:
    home = Home(ScriptedProvider([TextDelta("The light "), cancel_it]), ScriptedProvider())

    events = await home.take()

    assert isinstance(finished(events).error, ProviderUnreachable)
    assert spoken(events).startswith("The light ")


async def test_nothing_is_asked_again_after_a_change() -> None:
    home = Home(ScriptedProvider(call(ON), [DOWN], say("Never asked.")), ScriptedProvider())
    home.links[0] = replace(home.links[0], retries=Retries(attempts=3))
    home.loop = AgenticLoop(FailoverProvider(home.links, ManualClock()), home.dispatcher)

    events = await home.take()

    assert len(home.model.requests) == 2
    assert finished(events).stop_reason is StopReason.PROVIDER_FAILED


async def test_an_answer_that_was_read_to_its_end_makes_a_link_whole() -> None:
    home = Home(ScriptedProvider([DOWN], say("I am back.")), ScriptedProvider(say("I stand in.")))
    await home.take()
    assert home.links[0].breaker.failures == 1

    await home.take()

    assert (home.links[0].breaker.failures, home.links[0].breaker.last_error) == (0, None)


async def test_after_a_yes_a_model_that_works_finds_the_words() -> None:
    home = Home(ScriptedProvider(), ScriptedProvider(say("It is on.")))
    home.links[0].breaker.trip(DOWN)
    asked = PendingApproval("p", (PendingCall(ON, "risky"),), time.time() + 50, 1, 0)

    events = await home.take(replace(TURN, user_text=None, approval=ApprovalAnswer(asked, {ON.id: Approved()})))

    assert spoken(events) == "It is on."
    assert switches(events) == [ProviderSwitched("fallback", "model: circuit open")]
    assert [ran.name for ran in home.dispatcher.started] == ["light_on"]


async def test_a_model_that_fails_after_its_first_words_is_not_answered_for() -> None:
    home = Home(ScriptedProvider([TextDelta("The light "), DOWN]), ScriptedProvider())

    events = await home.take()

    assert finished(events).stop_reason is StopReason.PROVIDER_FAILED
    assert spoken(events).startswith("The light ")
    assert not switches(events)


@pytest.mark.parametrize("begun", [[], [TextDelta("It")]], ids=["before the first word", "after it"])
async def test_the_deadline_of_the_turn_holds_whatever_the_links_may_take(begun: list[TextDelta]) -> None:
    home = Home(ScriptedProvider([*begun, never]), ScriptedProvider())

    events = await home.take(Turn("Hi", limits=Limits(deadline=0.05)))

    assert finished(events).stop_reason is StopReason.DEADLINE
    assert not home.fallback.requests


async def test_the_next_turn_begins_with_the_model_again() -> None:
    home = Home(ScriptedProvider([DOWN], say("I am back.")), ScriptedProvider(say("I am the fallback.")))

    assert spoken(await home.take()) == "I am the fallback."
    assert spoken(await home.take()) == "I am back."


async def test_no_turn_waits_for_a_model_that_ignores_its_cancellation(caplog: pytest.LogCaptureFixture) -> None:
    release = asyncio.Event()

    async def deaf() -> None:
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await release.wait()

    home = Home(ScriptedProvider([TextDelta("Well, "), deaf]), ScriptedProvider())

    events = await collect(home.loop, replace(TURN, limits=Limits(deadline=0.05)))

    assert finished(events).stop_reason is StopReason.DEADLINE
    assert caplog.messages == ["provider of model ignores its cancellation"]
    release.set()
    await run_other_tasks()
    assert home.model.open_streams == 0
