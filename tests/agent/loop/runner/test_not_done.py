"""The answer of a model ends with what its calls were to change and have not."""

import time
from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.events import (
    Answer,
    PendingApproval,
    PendingCall,
    StopReason,
    TurnEvent,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import (
    JsonObject,
    ToolCall,
    ToolOutcome,
)
from custom_components.chatterbox.agent.transcript import TranscriptRecorder
from tests.agent.turns import assert_valid, collect, finished, spoken
from tests.support.doubles import (
    NO,
    YES,
    Line,
    ScriptedDispatcher,
    ScriptedProvider,
    call,
    say,
    tool,
)

TOOLS = (tool("fails"), tool("light_on"), tool("look", read_only=True))
TURN = Turn("Light!", tools=TOOLS, checks_answer=True)
FAILS, ON, LOOK = (
    ToolCall("a", "fails", "{}"),
    ToolCall("b", "light_on", "{}"),
    ToolCall("c", "look", "{}"),
)
LIE = "I've turned on the light."
TOLD = f"{LIE} As far as I can tell, that was not done."


async def fail(_: JsonObject) -> ToolOutcome:
    """Answer with an error."""
    return ToolOutcome("There is no such light.", is_error=True)


async def play(*inferences: list[Line], turn: Turn = TURN) -> list[TurnEvent]:
    """Run a turn with a scripted model."""
    dispatcher = ScriptedDispatcher({"fails": fail, "look": fail})
    events = await collect(AgenticLoop(ScriptedProvider(*inferences), dispatcher), turn)
    recorder = TranscriptRecorder()
    for event in events:
        recorder.add(event)
    assert_valid(recorder.messages)
    return events


@pytest.mark.parametrize(
    "tried",
    [
        [FAILS],
        [FAILS, LOOK],
        [ToolCall("d", "unheard_of", "{}")],
        [ToolCall("e", "light_on", "[]")],
    ],
    ids=["failed", "failed beside a look", "no such tool", "unreadable"],
)
async def test_if_every_call_has_failed_the_answer_ends_with_that(
    tried: list[ToolCall],
) -> None:
    events = await play(call(*tried), say(LIE))

    assert spoken(events) == finished(events).text == TOLD
    assert finished(events).stop_reason is StopReason.NOT_DONE


@pytest.mark.parametrize(
    "inferences",
    [
        [say(LIE)],
        [call(ON), say(LIE)],
        [call(FAILS), call(ON), say(LIE)],
        [call(LOOK), say(LIE)],
        [call(FAILS), say("There are two. Which one do you mean?")],
    ],
    ids=["no call", "done", "done at last", "only looked", "asks back"],
)
async def test_otherwise_the_answer_is_that_of_the_model(
    inferences: list[list[Line]],
) -> None:
    events = await play(*inferences)

    assert "As far as" not in spoken(events)
    assert finished(events).stop_reason is StopReason.COMPLETED


async def test_a_turn_that_nobody_checks_says_what_the_model_says() -> None:
    assert (
        spoken(
            await play(call(FAILS), say(LIE), turn=replace(TURN, checks_answer=False))
        )
        == LIE
    )


async def test_a_model_without_words_is_answered_for_as_always() -> None:
    events = await play(call(FAILS), say(" "))

    assert finished(events).stop_reason is StopReason.COMPLETED
    assert "As far as" not in spoken(events)


@pytest.mark.parametrize(
    ("decision", "spoken_text"), [(YES, TOLD), (NO, LIE), (None, LIE)], ids=str
)
async def test_after_a_question_it_is_told_only_if_the_answer_was_yes(
    decision: Answer | None, spoken_text: str
) -> None:
    pending = PendingApproval("q", (PendingCall(FAILS, ""),), time.time() + 60, 1, 0)
    answer = replace(pending, answers={"a": decision} if decision else {})

    assert (
        spoken(
            await play(say(LIE), turn=replace(TURN, user_text="yes", approval=answer))
        )
        == spoken_text
    )
