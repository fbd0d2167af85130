"""A transcript holds whatever happens: folded from events, cut off anywhere, or handed in broken."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.events import (
    MessageDone,
    Phase,
    PhaseEntered,
    PromptReplaced,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    ToolStarted,
    TurnEvent,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.agent.transcript import (
    INTERRUPTED,
    NO_RESULT,
    NOT_STARTED,
    TranscriptRecorder,
    has_outside_content,
    open_calls,
    repair,
    synthetic_result,
)
from tests.agent.turns import assert_valid

A, B = ToolCall("a", "light_on", "{}"), ToolCall("b", "look", "{}")
RESULT_A, RESULT_B = (
    ToolResult("a", "light_on", "done"),
    ToolResult("b", "look", "dark"),
)
SAID = UserMessage("Light!")
ASKED = AssistantMessage("Wait.", "Hm.", (A, B))
ONE, AGAIN = AssistantMessage(tool_calls=(A,)), replace(RESULT_A, content="again")

EVENTS: list[TurnEvent] = [
    PhaseEntered(Phase.RECEIVE_INPUT),
    PromptReplaced("Please!"),
    TextDelta("Wa"),
    ReasoningDelta("Hm."),
    TextDelta("it."),
    ToolCallReady(A),
    ToolCallReady(B),
    ToolStarted(B),
    MessageDone(ASKED),
    ToolStarted(A),
    ToolFinished(RESULT_A),
    ToolFinished(RESULT_B),
    TextDelta("It is on."),
    MessageDone(AssistantMessage("It is on.")),
]


def recorded(events: list[TurnEvent]) -> TranscriptRecorder:
    """Fold events."""
    recorder = TranscriptRecorder()
    for event in events:
        recorder.add(event)
    return recorder


def test_events_fold_into_messages() -> None:
    recorder = recorded(EVENTS)
    assert recorder.messages == (
        ASKED,
        RESULT_A,
        RESULT_B,
        AssistantMessage("It is on."),
    )
    assert recorder.interrupted() == recorder.messages


def test_what_no_event_announces_is_appended() -> None:
    recorder = TranscriptRecorder()
    recorder.append(SAID)
    recorder.add(MessageDone(AssistantMessage("Hi.")))
    assert recorder.messages == (SAID, AssistantMessage("Hi."))


@pytest.mark.parametrize("length", range(len(EVENTS) + 1))
def test_a_turn_cut_off_after_any_event_leaves_a_valid_transcript(length: int) -> None:
    assert_valid(recorded(EVENTS[:length]).interrupted())


@pytest.mark.parametrize(
    ("length", "messages"),
    [
        (2, ()),
        (3, (AssistantMessage("Wa"),)),
        (5, (AssistantMessage("Wait."),)),
        (
            7,
            (
                AssistantMessage("Wait.", tool_calls=(A, B)),
                "not started",
                "not started",
            ),
        ),
        (8, (AssistantMessage("Wait.", tool_calls=(A, B)), "not started", "started")),
        (10, (ASKED, "started", "started")),
        (11, (ASKED, RESULT_A, "started")),
        (13, (ASKED, RESULT_A, RESULT_B, AssistantMessage("It is on."))),
    ],
)
def test_what_was_cut_off_is_closed_and_says_how_far_it_came(
    length: int, messages: tuple[Message | str, ...]
) -> None:
    for found, expected in zip(
        recorded(EVENTS[:length]).interrupted(), messages, strict=True
    ):
        match expected:
            case "started":
                assert isinstance(found, ToolResult)
                assert (found.content, found.is_error, found.synthetic) == (
                    INTERRUPTED,
                    True,
                    False,
                )
            case "not started":
                assert isinstance(found, ToolResult)
                assert (found.content, found.is_error, found.synthetic) == (
                    NOT_STARTED,
                    True,
                    True,
                )
            case message:
                assert found == message


def test_what_came_from_outside_stays_marked() -> None:
    page = replace(RESULT_B, open_world=True)
    events: list[TurnEvent] = [
        MessageDone(ASKED),
        ToolStarted(A),
        ToolStarted(B, open_world=True),
    ]

    light, interrupted = recorded(events).interrupted()[1:]
    assert isinstance(light, ToolResult)
    assert isinstance(interrupted, ToolResult)
    assert (light.open_world, interrupted.open_world) == (False, True)
    assert recorded([*events, ToolFinished(RESULT_A), ToolFinished(page)]).messages == (
        ASKED,
        RESULT_A,
        page,
    )
    assert repair((page, SAID, ASKED)) == (
        SAID,
        ASKED,
        synthetic_result(A, NO_RESULT),
        page,
    )


def test_outside_content_is_found_wherever_it_stands() -> None:
    page = replace(RESULT_B, open_world=True, is_error=True)
    assert has_outside_content(
        (SAID, ASKED, RESULT_A, page, AssistantMessage("Hi."), SAID)
    )
    assert not has_outside_content((SAID, ASKED, RESULT_A, RESULT_B))
    assert not has_outside_content(())


def test_open_calls_are_those_without_a_result() -> None:
    assert open_calls((SAID, ASKED, RESULT_B)) == (A,)
    assert open_calls((ASKED, RESULT_B, RESULT_A)) == ()
    assert open_calls(()) == ()


@pytest.mark.parametrize(
    ("broken", "repaired"),
    [
        ((), ()),
        ((SAID, ASKED, RESULT_A, RESULT_B), (SAID, ASKED, RESULT_A, RESULT_B)),
        (
            (SAID, ASKED),
            (
                SAID,
                ASKED,
                synthetic_result(A, NO_RESULT),
                synthetic_result(B, NO_RESULT),
            ),
        ),
        (
            (ASKED, RESULT_A, SAID),
            (ASKED, RESULT_A, synthetic_result(B, NO_RESULT), SAID),
        ),
        ((ASKED, RESULT_B, RESULT_A), (ASKED, RESULT_A, RESULT_B)),
        ((ASKED, RESULT_A, SAID, RESULT_B), (ASKED, RESULT_A, RESULT_B, SAID)),
        ((RESULT_A, SAID), (SAID,)),
        ((ASKED, RESULT_A, RESULT_B, AGAIN), (ASKED, RESULT_A, RESULT_B)),
        ((SAID, ToolResult("x", "light_on", "?")), (SAID,)),
        ((ONE, RESULT_A, ONE, AGAIN), (ONE, RESULT_A, ONE, AGAIN)),
        ((ONE, ONE, RESULT_A, AGAIN), (ONE, RESULT_A, ONE, AGAIN)),
    ],
    ids=[
        "nothing",
        "whole",
        "none",
        "one missing",
        "other order",
        "late",
        "no call",
        "twice",
        "stranger",
        "one id",
        "one id, late",
    ],
)
def test_a_broken_transcript_is_repaired(
    broken: Transcript, repaired: Transcript
) -> None:
    assert repair(broken) == repaired


_IDS = st.sampled_from("abcd")


def test_context_of_messages_that_are_missing_is_restored() -> None:
    first = UserMessage("One", context="In the hall.")
    second = UserMessage("Two", context="For Anna.", omitted="In the hall.")
    third = UserMessage("Three", omitted="In the hall.\nFor Anna.")

    assert repair((first, second, third)) == (first, second, third)
    assert repair((second, third)) == (
        UserMessage("Two", context="In the hall.\n\nFor Anna."),
        third,
    )
    assert repair((first, third)) == (
        first,
        UserMessage("Three", context="In the hall.\nFor Anna."),
    )


_MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(UserMessage, st.text(max_size=3)),
    st.builds(
        AssistantMessage,
        st.text(max_size=3),
        tool_calls=st.lists(
            st.builds(ToolCall, _IDS, st.just("t"), st.just("{}")), max_size=3
        ).map(tuple),
    ),
    st.builds(ToolResult, _IDS, st.just("t"), st.text(max_size=3)),
)


@given(st.lists(_MESSAGES, max_size=12))
def test_any_messages_are_repaired_once_and_for_all(messages: list[Message]) -> None:
    repaired = repair(messages)

    spoken = [message for message in messages if not isinstance(message, ToolResult)]
    assert [
        message for message in repaired if not isinstance(message, ToolResult)
    ] == spoken
    due: list[str] = []
    for message in repaired:
        if isinstance(message, ToolResult):
            assert message.call_id == due.pop(0)
        else:
            assert not due
            due = (
                [call.id for call in message.tool_calls]
                if isinstance(message, AssistantMessage)
                else []
            )
    assert not due
    assert repair(repaired) == repaired
    results, remaining = (
        {one.call_id: one for one in reversed(each) if isinstance(one, ToolResult)}
        for each in (messages, repaired)
    )
    assert all(
        one == results.get(call_id, one) for call_id, one in remaining.items()
    ), "a result of a call is kept"
