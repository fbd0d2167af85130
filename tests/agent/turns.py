"""Runs turns of the loop, and holds every one of them to what is true of all.

Knows events and messages; must not know how the loop works inside.
"""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from functools import reduce
from operator import add

from custom_components.chatterbox.agent.events import (
    MessageDone,
    Phase,
    PhaseEntered,
    StopReason,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    TurnFinished,
    UsageReported,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolResult,
    Usage,
)

_SILENT_ENDINGS = {StopReason.APPROVAL_REQUIRED, StopReason.CLIENT_TOOLS}


async def collect(loop: AgenticLoop, turn: Turn) -> list[TurnEvent]:
    """Run a turn to its end, and check what holds for all turns."""
    async with aclosing(loop.stream(turn)) as stream:
        events = [event async for event in stream]
    assert_whole(events, turn)
    return events


async def run_other_tasks() -> None:
    """Give every other task the chance to come as far as it can without us."""
    for _ in range(50):
        await asyncio.sleep(0)


def phases(events: Iterable[TurnEvent]) -> list[Phase]:
    """Return the walk."""
    return [event.phase for event in events if isinstance(event, PhaseEntered)]


def finished(events: Sequence[TurnEvent]) -> TurnFinished:
    """Return the end of a turn."""
    end = events[-1]
    assert isinstance(end, TurnFinished)
    return end


def calls(events: Iterable[TurnEvent]) -> list[ToolCall]:
    """Return the calls of a turn as they are recorded."""
    return [event.call for event in events if isinstance(event, ToolCallReady)]


def results(events: Iterable[TurnEvent]) -> list[ToolResult]:
    """Return the results of a turn."""
    return [event.result for event in events if isinstance(event, ToolFinished)]


def spoken(events: Iterable[TurnEvent]) -> str:
    """Return everything that was said."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def assert_valid(messages: Iterable[Message]) -> None:
    """Check that every call has exactly one result, right after its message and in its order."""
    due: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if isinstance(message, ToolResult):
            assert due, f"a result without a call: {message}"
            assert message.call_id == due.pop(0), (
                "results in another order than the calls"
            )
        else:
            assert not due, f"calls without a result: {due}"
            if isinstance(message, AssistantMessage):
                due = [call.id for call in message.tool_calls]
                assert not seen & set(due), "a call id that was given twice"
                seen |= set(due)
    assert not due, f"calls without a result: {due}"


def assert_whole(events: Sequence[TurnEvent], turn: Turn) -> None:
    """Check what holds for the events of every turn that came to its end."""
    end = finished(events)
    assert sum(isinstance(event, TurnFinished) for event in events) == 1
    walk = phases(events)
    assert walk[0] is Phase.RECEIVE_INPUT
    assert walk[-1] is Phase.OUTPUT
    assert walk.count(Phase.OUTPUT) == 1

    used_before = turn.approval
    inferences = walk.count(Phase.LLM_INFERENCE)
    assert end.iterations <= turn.limits.max_iterations
    assert end.iterations == inferences + (
        min(used_before.iterations, turn.limits.max_iterations) if used_before else 0
    )

    pending_calls = calls(events)
    answers = results(events)
    assert len({call.id for call in pending_calls}) == len(pending_calls)
    handed_out = {call.id for call in end.client_calls}
    assert sorted(result.call_id for result in answers) == sorted(
        {call.id for call in pending_calls} - handed_out
    )
    started = [event.call.id for event in events if isinstance(event, ToolStarted)]
    assert len(set(started)) == len(started)
    assert len(started) <= max(
        turn.limits.max_tool_calls - (used_before.tool_calls if used_before else 0), 0
    )
    assert handed_out.isdisjoint(started)
    outside = {tool.name for tool in turn.tools if tool.annotations.open_world}
    for result in answers:
        assert result.synthetic == (result.call_id not in started)
        assert (
            result.open_world
            or result.call_id not in started
            or result.name not in outside
        )
        assert not result.open_world or result.call_id in started

    waiting = {
        event.result.call_id
        for event in events
        if isinstance(event, ToolFinished) and event.awaits_approval
    }
    assert waiting == (
        {pending_call.call.id for pending_call in end.pending.calls}
        if end.pending
        else set()
    )

    assert list(end.tool_results) == [
        result for result in answers if not (result.is_error or result.synthetic)
    ]
    assert end.usage == reduce(
        add,
        (event.usage for event in events if isinstance(event, UsageReported)),
        Usage(),
    )
    assert end.text.strip() or end.stop_reason in _SILENT_ENDINGS
    _assert_messages_say_what_was_streamed(events)


def _assert_messages_say_what_was_streamed(events: Sequence[TurnEvent]) -> None:
    sentence = ""
    requested: tuple[ToolCall, ...] = ()
    for event in events:
        match event:
            case TextDelta(text):
                sentence += text
            case ToolCallReady(call):
                requested += (call,)
            case MessageDone(message):
                assert (message.text, message.tool_calls) == (sentence, requested)
                sentence, requested = "", ()
            case _:
                pass
    assert (sentence, requested) == ("", ()), "said or called without a message"
