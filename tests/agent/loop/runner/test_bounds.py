"""No turn goes beyond its bounds, and one that ends at a bound says what was done."""

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import override

import pytest

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    StopReason,
    TextDelta,
    ToolCallReady,
    ToolStarted,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    ToolCall,
    ToolChoiceMode,
    ToolDefinition,
    ToolOutcome,
    ToolResult,
)
from custom_components.chatterbox.agent.protocols import (
    CompletionRequest,
    Hooks,
    LeavableProvider,
)
from tests.agent.turns import collect, finished, results, run_other_tasks, spoken
from tests.support.doubles import (
    Gate,
    Line,
    ScriptedDispatcher,
    ScriptedProvider,
    call,
    never,
    say,
    tool,
)
from tests.support.loop_clock import LoopClock

pytestmark = pytest.mark.usefixtures("loop_clock")

LIGHT, LOOK = tool("light_on"), tool("look", read_only=True)
TURN = Turn("Light!", tools=(LIGHT, LOOK))


def light(number: int) -> ToolCall:
    """Return one of many calls that differ."""
    return ToolCall(f"light{number}", "light_on", f'{{"n":{number}}}')


@pytest.mark.parametrize("bound", [1, 3])
async def test_no_inference_is_made_above_the_bound(bound: int) -> None:
    """Invariant 20."""
    provider = ScriptedProvider(*(call(light(n)) for n in range(bound)))
    dispatcher = ScriptedDispatcher()

    events = await collect(
        AgenticLoop(provider, dispatcher),
        replace(TURN, limits=Limits(max_iterations=bound, max_tool_calls=100)),
    )

    assert len(provider.requests) == bound
    assert len(dispatcher.finished) == bound - 1, "the last inference runs no tool"
    assert finished(events).stop_reason is StopReason.MAX_ITERATIONS


async def test_only_the_last_inference_is_told_to_answer_without_tools() -> None:
    """Invariant 18."""
    provider = ScriptedProvider(call(light(1)), call(light(2)), say("Both are on."))

    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher()),
        replace(TURN, limits=Limits(max_iterations=3)),
    )

    assert [request.tool_choice for request in provider.requests] == [
        ToolChoiceMode.AUTO,
        ToolChoiceMode.AUTO,
        ToolChoiceMode.NONE,
    ]
    assert [bool(request.directive) for request in provider.requests] == [
        False,
        False,
        True,
    ]
    assert provider.requests[2].tools == provider.requests[0].tools
    assert finished(events).stop_reason is StopReason.COMPLETED
    assert finished(events).text == "Both are on."


async def test_the_bound_of_tools_counts_calls_and_not_rounds() -> None:
    """Invariant 18."""
    provider = ScriptedProvider(
        call(*(light(n) for n in range(5))), say("Three are on.")
    )
    dispatcher = ScriptedDispatcher()

    events = await collect(
        AgenticLoop(provider, dispatcher),
        replace(TURN, limits=Limits(max_tool_calls=3)),
    )

    assert len(dispatcher.finished) == 3
    assert [result.is_error for result in results(events)] == [
        False,
        False,
        False,
        True,
        True,
    ]
    assert "used up" in results(events)[4].content
    assert provider.requests[1].tool_choice is ToolChoiceMode.NONE
    assert provider.requests[1].directive
    assert finished(events).stop_reason is StopReason.COMPLETED


async def test_the_deadline_ends_all_tools_that_run() -> None:
    """Invariant 21."""
    provider = ScriptedProvider(call(light(1), ToolCall("l", "look", "{}"), light(2)))
    dispatcher = ScriptedDispatcher({"light_on": never}, lambda _, __: frozenset())

    events = await collect(
        AgenticLoop(provider, dispatcher), replace(TURN, limits=Limits(deadline=1))
    )

    assert dispatcher.running == 0
    assert [result.is_error for result in results(events)] == [True, True, True]
    assert "Cut off" in results(events)[0].content
    assert finished(events).stop_reason is StopReason.DEADLINE


async def test_calls_that_had_no_time_to_start_are_said_not_to_have_run() -> None:
    provider = ScriptedProvider([ToolCallReady(light(1)), never])

    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher()),
        replace(TURN, limits=Limits(deadline=0.3)),
    )

    [result] = results(events)
    assert result.content == "Not run: the turn ended first."
    assert not any(isinstance(event, ToolStarted) for event in events)


class Hasty(LeavableProvider):
    """A model that has another word for far longer than the turn may last, so that nobody who reads it ever waits."""

    def __init__(self, clock: LoopClock) -> None:
        self._clock = clock

    async def stream(self, _: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Write for 30 seconds, and end well."""
        for number in range(30_000):
            self._clock.now += 0.001
            yield TextDelta(f"so {number} ")
        yield CompletionResult(FinishReason.STOP)


async def test_the_deadline_ends_an_answer_that_nobody_has_to_wait_for(
    loop_clock: LoopClock,
) -> None:
    model = Hasty(loop_clock)
    events = await collect(
        AgenticLoop(model, ScriptedDispatcher()),
        replace(TURN, limits=Limits(deadline=2)),
    )

    assert finished(events).stop_reason is StopReason.DEADLINE
    assert spoken(events).startswith("so 0 so 1 ")


async def test_a_result_that_is_there_at_the_deadline_is_kept() -> None:
    looked = Gate()
    looked.opened.set()
    provider = ScriptedProvider(
        [ToolCallReady(ToolCall("l", "look", "{}")), looked.reached.wait, never]
    )

    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher({"look": looked})),
        replace(TURN, limits=Limits(deadline=1)),
    )

    [result] = results(events)
    assert not result.is_error
    assert finished(events).text.startswith("Done: look.")


async def test_one_tool_may_take_only_its_time() -> None:
    provider = ScriptedProvider(
        call(light(1), ToolCall("l", "look", "{}")), say("The light did not answer.")
    )
    dispatcher = ScriptedDispatcher({"light_on": never})

    events = await collect(
        AgenticLoop(provider, dispatcher), replace(TURN, limits=Limits(tool_timeout=2))
    )

    slow, quick = results(events)
    assert (
        slow.content
        == "light_on did not finish within 2 seconds. It may still take effect."
    )
    assert slow.is_error
    assert not quick.is_error
    assert finished(events).stop_reason is StopReason.COMPLETED


async def test_a_tool_that_ignores_its_cancellation_holds_nobody_up() -> None:
    release = asyncio.Event()

    async def stubborn(_: JsonObject) -> ToolOutcome:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return ToolOutcome("at last")

    provider = ScriptedProvider(call(light(1), light(2)), say("They hang."))
    dispatcher = ScriptedDispatcher({"light_on": stubborn}, lambda _, __: frozenset())

    events = await collect(
        AgenticLoop(provider, dispatcher), replace(TURN, limits=Limits(tool_timeout=2))
    )

    assert [result.is_error for result in results(events)] == [True, True]
    assert finished(events).text == "They hang."
    release.set()
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})


async def test_a_model_that_ignores_its_cancellation_holds_nobody_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    release = asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await release.wait()

    provider = ScriptedProvider([TextDelta("It is"), stubborn])

    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher()),
        replace(TURN, limits=Limits(deadline=0.5)),
    )

    assert finished(events).stop_reason is StopReason.DEADLINE
    assert "provider ignores its cancellation" in caplog.text
    assert provider.open_streams == 1
    release.set()
    await run_other_tasks()
    assert provider.open_streams == 0


class Sleepy(Hooks):
    """Never decides about one of the things it is asked."""

    def __init__(self, query: str) -> None:
        self._query = query

    async def _sleep(self, query: str) -> None:
        if query == self._query:
            await never()

    @override
    async def user_prompt_submit(self, text: str) -> None:
        await self._sleep("prompt")

    @override
    async def pre_tool_use(self, tool: ToolDefinition, arguments: JsonObject) -> None:
        await self._sleep("before")

    @override
    async def post_tool_use(self, call: ToolCall, result: ToolResult) -> None:
        await self._sleep("after")

    @override
    async def pre_speech(self, text: str) -> None:
        await self._sleep("speech")


@pytest.mark.parametrize("query", ["prompt", "before", "after", "speech"])
async def test_the_deadline_ends_hooks_too(query: str) -> None:
    provider = ScriptedProvider(
        [
            TextDelta("Hm."),
            ToolCallReady(light(1)),
            CompletionResult(FinishReason.TOOL_CALLS),
        ]
    )
    loop = AgenticLoop(provider, ScriptedDispatcher(), hooks=[Sleepy(query)])

    events = await collect(
        loop, replace(TURN, limits=Limits(deadline=2, tool_timeout=1_000))
    )

    assert finished(events).stop_reason in {
        StopReason.DEADLINE,
        StopReason.PROMPT_DENIED,
    }
    assert all(result.is_error for result in results(events))


async def test_a_hook_may_take_no_longer_than_a_tool() -> None:
    loop = AgenticLoop(
        ScriptedProvider(), ScriptedDispatcher(), hooks=[Sleepy("prompt")]
    )

    events = await collect(loop, replace(TURN, limits=Limits(tool_timeout=2)))

    assert finished(events).text == "A safety check failed."


class Reader(Hooks):
    """Reads every message before it is spoken, and lets it pass."""

    @override
    async def pre_speech(self, text: str) -> None:
        await asyncio.sleep(0)


async def test_words_that_are_there_at_the_deadline_are_still_read_and_spoken() -> None:
    loop = AgenticLoop(
        ScriptedProvider([TextDelta("It is dark."), never]),
        ScriptedDispatcher(),
        hooks=[Reader()],
    )

    events = await collect(loop, replace(TURN, limits=Limits(deadline=0.5)))

    assert finished(events).stop_reason is StopReason.DEADLINE
    assert spoken(events).startswith("It is dark. ")


class Sulking(LeavableProvider):
    """Says all that it has to say, and fails when its stream is closed."""

    async def stream(self, _: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        try:
            yield TextDelta("Hello.")
            yield CompletionResult(FinishReason.STOP)
        finally:
            raise ProviderUnreachable("gone")


async def test_a_stream_that_cannot_be_closed_is_a_failure_of_its_model() -> None:
    events = await collect(AgenticLoop(Sulking(), ScriptedDispatcher()), TURN)
    assert finished(events).stop_reason is StopReason.PROVIDER_FAILED


async def test_a_call_that_reads_is_not_waited_for_when_its_model_fails() -> None:
    look = ToolCall("l", "look", "{}")
    provider = ScriptedProvider(
        [ToolCallReady(look), run_other_tasks, ProviderUnreachable("gone")]
    )
    dispatcher = ScriptedDispatcher({"look": never})
    events = await collect(
        AgenticLoop(provider, dispatcher), replace(TURN, limits=Limits(deadline=1e6))
    )
    assert "Cut off" in results(events)[0].content
    assert dispatcher.running == 0
    assert finished(events).stop_reason is StopReason.PROVIDER_FAILED


@pytest.mark.parametrize(
    ("limits", "inferences", "bound"),
    [
        (Limits(max_iterations=1), [call(light(1))], "max_iterations"),
        (
            Limits(max_iterations=2),
            [call(light(1)), say("It is on.")],
            "max_iterations",
        ),
        (
            Limits(max_tool_calls=1),
            [call(light(1), light(2)), say("One is on.")],
            "max_tool_calls",
        ),
        (Limits(deadline=0.1), [[ToolCallReady(light(1)), never]], "deadline"),
        (Limits(), [say("The light is", FinishReason.LENGTH)], "length"),
    ],
)
async def test_a_bound_that_is_reached_is_logged_as_a_warning(
    limits: Limits,
    inferences: list[list[Line]],
    bound: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await collect(
        AgenticLoop(ScriptedProvider(*inferences), ScriptedDispatcher()),
        replace(TURN, limits=limits),
    )

    [record] = [record for record in caplog.records if "A turn ended" in record.message]
    assert record.levelno == logging.WARNING
    assert record.message.endswith(f"at its bound {bound}")


async def test_each_turn_is_one_line_in_the_log_of_who_looks_for_faults(
    caplog: pytest.LogCaptureFixture,
) -> None:
    loop = AgenticLoop(
        ScriptedProvider(call(light(1), light(2)), say("They are on.")),
        ScriptedDispatcher(),
    )

    with caplog.at_level(logging.DEBUG, "custom_components.chatterbox.agent.loop"):
        await collect(loop, TURN)

    [record] = [record for record in caplog.records if "A turn ended" in record.message]
    assert record.levelno == logging.DEBUG
    assert re.fullmatch(
        r"A turn ended as completed after 2 inferences, 2 tool calls and \d+\.\d s",
        record.message,
    )
