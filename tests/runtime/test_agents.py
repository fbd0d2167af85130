"""The providers that answer the turns of an agent."""

from contextlib import aclosing
from dataclasses import replace

from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    TextDelta,
)
from custom_components.chatterbox.agent.messages import FinishReason, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.failover import FailoverProvider
from custom_components.chatterbox.agent.providers.managed_provider import every_tool
from custom_components.chatterbox.runtime.agents import offline_provider
from tests.agent.providers.manual_clock import ManualClock
from tests.agent.turns import run_other_tasks
from tests.support.doubles import ScriptedProvider


async def test_home_assistant_itself_has_all_the_time_of_the_turn() -> None:
    clock = ManualClock()

    async def rest() -> None:
        clock.advance(90)
        await run_other_tasks()

    hello: list[ProviderEvent] = [
        TextDelta("Hello."),
        CompletionResult(FinishReason.STOP),
    ]
    slow = ScriptedProvider([rest, hello[0], rest, hello[1]])
    itself = replace(offline_provider(), provider=slow, tools=every_tool)
    turn = FailoverProvider([itself], clock, within=200)
    request = CompletionRequest("", (UserMessage("Hi"),))

    async with aclosing(turn.stream(request)) as events:
        assert await anext(events) == hello[0]
        assert [type(event) async for event in events] == [CompletionResult]
