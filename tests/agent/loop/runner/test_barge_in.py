"""A turn may be left at every event and at every moment: the transcript stays valid, and nothing runs on."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import override

import pytest

from custom_components.chatterbox.agent.events import (
    Answer,
    CompletionResult,
    PendingApproval,
    PendingCall,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
    TurnEvent,
    TurnFinished,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    ToolCall,
    ToolDefinition,
    ToolOutcome,
    ToolResult,
)
from custom_components.chatterbox.agent.protocols import Ask, Hooks
from custom_components.chatterbox.agent.transcript import TranscriptRecorder
from tests.agent.turns import assert_valid
from tests.support.doubles import (
    Line,
    ScriptedDispatcher,
    ScriptedProvider,
    never,
    say,
    tool,
)


async def moment(_: object = None) -> None:
    """Wait as briefly as one can."""
    await asyncio.sleep(0)


async def work(_: JsonObject) -> ToolOutcome:
    """Take a few moments."""
    for _moment in range(3):
        await moment()
    return ToolOutcome("done")


async def trouble(_: JsonObject) -> ToolOutcome:
    """Fail after a moment."""
    await moment()
    raise ValueError("broken")


class SlowHooks(Hooks):
    """Takes a moment for each thought."""

    @override
    async def user_prompt_submit(self, text: str) -> None:
        await moment()

    @override
    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Ask | None:
        await moment()
        return Ask("It is risky.") if tool.name == "unlock" else None

    @override
    async def post_tool_use(self, call: ToolCall, result: ToolResult) -> None:
        await moment()


class SlowCensor(SlowHooks):
    """Thinks about speech too."""

    @override
    async def pre_speech(self, text: str) -> None:
        await moment()


TOOLS = (
    tool("light_on"),
    tool("fan_on"),
    tool("look", read_only=True, open_world=True),
    tool("unlock"),
    tool("fail", open_world=True),
)
PAGE = tool("show_page", client=True)


def message(*names: str, text: str = "") -> list[Line]:
    """Script an inference in which every event takes a moment."""
    lines: list[Line] = [moment, ReasoningDelta("Hm."), moment]
    if text:
        lines += [TextDelta(text), moment]
    for name in names:
        number = name.removesuffix("*")
        lines += [
            ToolCallReady(
                ToolCall(f"{number}-{len(lines)}", number, f'{{"n":{len(lines)}}}')
            ),
            moment,
        ]
    return [*lines, CompletionResult(FinishReason.TOOL_CALLS)]


@dataclass(frozen=True)
class Scene:
    """A rich turn, and what it meets."""

    turn: Turn
    script: tuple[list[Line], ...]
    hooks: tuple[Hooks, ...] = (SlowHooks(),)

    def start(
        self,
    ) -> tuple[AsyncGenerator[TurnEvent], ScriptedProvider, ScriptedDispatcher]:
        """Begin the turn anew."""
        provider = ScriptedProvider(*self.script)
        bodies = {
            "light_on": work,
            "fan_on": work,
            "look": work,
            "unlock": work,
            "fail": trouble,
        }
        dispatcher = ScriptedDispatcher(dict(bodies), lambda name, _: frozenset({name}))
        return (
            AgenticLoop(provider, dispatcher, hooks=self.hooks).stream(self.turn),
            provider,
            dispatcher,
        )


TURN = Turn("Go!", tools=TOOLS)
PENDING = PendingApproval(
    "q",
    (PendingCall(ToolCall("u", "unlock", "{}"), "risky"),),
    time.time() + 3600,
    1,
    0,
)
SCENES = {
    "many calls": Scene(
        TURN,
        (
            message(
                "look", "light_on", "fan_on", "unheard_of", "fail", text="One moment."
            ),
            message("look", "light_on"),
            say("Done."),
        ),
    ),
    "held speech": Scene(
        TURN,
        (message("look", "light_on", text="One moment."), say("Done.")),
        (SlowCensor(),),
    ),
    "a question": Scene(
        TURN, (message("look", "unlock", "light_on", text="One moment."),)
    ),
    "a yes": Scene(
        replace(
            TURN,
            user_text="Yes",
            approval=replace(PENDING, answers={"u": Answer(approved=True)}),
        ),
        (message("light_on"), say("Done.")),
    ),
    "the client's tools": Scene(
        replace(TURN, tools=(*TOOLS, PAGE)),
        (message("look", "show_page", text="Look:"),),
    ),
    "a bound": Scene(
        replace(TURN, limits=Limits(max_iterations=2, max_tool_calls=2)),
        (message("look", "light_on", "fan_on"), message("light_on", text="Well,")),
    ),
}


def check(
    recorder: TranscriptRecorder,
    provider: ScriptedProvider,
    dispatcher: ScriptedDispatcher,
) -> None:
    """Check that what was left is in order."""
    end = recorder.interrupted()
    assert_valid(end)
    results = {
        message.call_id: message for message in end if isinstance(message, ToolResult)
    }
    for call in dispatcher.started:
        if call.id in results:
            assert not results[call.id].synthetic, (
                f"{call} ran, and the transcript says that it did not"
            )
            outside = call.name in {"look", "fail"}
            assert results[call.id].open_world == outside, (
                f"it is not said where the result of {call} is from"
            )
    assert (provider.open_streams, dispatcher.running) == (0, 0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
async def test_a_turn_may_be_left_at_every_event(scene: Scene) -> None:
    """Invariant 63."""
    left_at, finished = 0, False
    while not finished:
        events, provider, dispatcher = scene.start()
        recorder = TranscriptRecorder()
        async with aclosing(events):
            seen = 0
            async for event in events:
                recorder.add(event)
                seen += 1
                finished = isinstance(event, TurnFinished)
                if seen > left_at:
                    break
        check(recorder, provider, dispatcher)
        left_at += 1
    assert left_at > 8, "a rich turn has many events"


async def listen(
    events: AsyncGenerator[TurnEvent],
    recorder: TranscriptRecorder,
    pause: bool,  # noqa: FBT001 two listeners in one
) -> None:
    """Follow a turn, quickly or with a pause at each event."""
    async with aclosing(events):
        async for event in events:
            recorder.add(event)
            if pause:
                await moment()


@pytest.mark.parametrize("pause", [False, True], ids=["eager", "slow"])
@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
async def test_a_listener_may_be_cancelled_at_every_moment(
    scene: Scene, *, pause: bool
) -> None:
    moments, finished = 0, False
    while not finished:
        events, provider, dispatcher = scene.start()
        recorder = TranscriptRecorder()
        listener = asyncio.create_task(listen(events, recorder, pause))
        for _ in range(moments):
            await asyncio.sleep(0)
        finished = listener.done()
        listener.cancel()
        with suppress(asyncio.CancelledError):
            await listener
        check(recorder, provider, dispatcher)
        moments += 1
    assert moments > 10, "a rich turn has many moments"


@pytest.mark.parametrize("hanging", ["stream", "tool", "hook"])
async def test_a_listener_may_be_cancelled_while_something_hangs(hanging: str) -> None:
    class Hanging(Hooks):
        @override
        async def post_tool_use(self, call: ToolCall, result: ToolResult) -> None:
            await never()

    stream: list[Line] = [never] if hanging == "stream" else []
    provider = ScriptedProvider(
        [ToolCallReady(ToolCall("1", "look", "{}")), *stream, *say("")]
    )
    dispatcher = ScriptedDispatcher({"look": never if hanging == "tool" else work})
    hooks = [Hanging()] if hanging == "hook" else []
    recorder = TranscriptRecorder()
    listener = asyncio.create_task(
        listen(
            AgenticLoop(provider, dispatcher, hooks=hooks).stream(TURN),
            recorder,
            pause=False,
        )
    )
    for _ in range(50):
        await moment()

    listener.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listener

    check(recorder, provider, dispatcher)
    assert recorder.interrupted()


@pytest.mark.parametrize("error", [None, ValueError("bug")], ids=repr)
async def test_a_turn_that_was_left_is_over(error: Exception | None) -> None:
    events, provider, dispatcher = SCENES["many calls"].start()
    for _ in range(12):
        await anext(events)

    if error is None:
        await events.aclose()
    else:
        with pytest.raises(ValueError, match="bug"):
            await events.athrow(error)

    assert [event async for event in events] == []
    check(TranscriptRecorder(), provider, dispatcher)
