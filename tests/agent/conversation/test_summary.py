"""What stands in place of what is no longer sent."""

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.conversation.summary import asked_and_done, recap, turns_backwards
from custom_components.chatterbox.agent.conversation.token_estimate import TokenEstimate
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Summary,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from tests.agent.conversation.transcripts import transcripts

ESTIMATE = TokenEstimate()
ON, OFF, LOOK = (
    ToolCall("a", "light_on", '{"name":"Küche"}'),
    ToolCall("b", "light_off", "{}"),
    ToolCall("c", "look", "{}"),
)
TURN: Transcript = (
    UserMessage("Mach das Licht\n in der Küche an!", context="It is noon."),
    AssistantMessage("Moment.", "Hm.", (ON, OFF, LOOK)),
    ToolResult("a", "light_on", "done"),
    ToolResult("b", "light_off", "no such light", is_error=True),
    ToolResult("c", "look", "it is on"),
    AssistantMessage("Es ist an."),
)


def test_what_was_asked_and_done_is_listed() -> None:
    line = '“Mach das Licht in der Küche an!” → light_on {"name":"Küche"}; look {}'
    assert [*asked_and_done(TURN)] == [line]
    assert [*asked_and_done((*TURN, UserMessage("Danke!"), AssistantMessage("Gern.")))] == ["“Danke!”", line]


def test_what_did_not_run_is_not_listed() -> None:
    calls = AssistantMessage(tool_calls=(ON,))
    turn = (UserMessage("On!"), calls, ToolResult("a", "light_on", "", synthetic=True))
    assert [*asked_and_done(turn)] == ["“On!”"]


def test_a_turn_without_words_and_deeds_is_no_line() -> None:
    assert not [*asked_and_done((AssistantMessage("Good morning!"), UserMessage("")))]
    assert [*asked_and_done((AssistantMessage(tool_calls=(LOOK,)), TURN[4]))] == ["look {}"]


@given(transcripts())
def test_turns_are_the_whole_transcript(transcript: Transcript) -> None:
    found = list(turns_backwards(transcript))[::-1]
    assert tuple(message for turn in found for message in turn) == transcript
    assert all(isinstance(turn[0], UserMessage) for turn in found[1:])
    assert not any(isinstance(message, UserMessage) for turn in found for message in turn[1:])


@given(
    transcripts(),
    st.none() | st.builds(Summary, st.text(max_size=500), st.just(3)),
    st.integers(-5, 400),
    st.sampled_from([ESTIMATE, TokenEstimate(3.2)]),
)
def test_a_recap_keeps_to_its_room(
    since: Transcript, summary: Summary | None, tokens: int, estimate: TokenEstimate
) -> None:
    told = recap(summary, since, tokens, estimate)
    assert not told or estimate.of_text(f"{told}\n\n") <= tokens


def test_the_newest_is_told_where_there_is_no_room_for_all() -> None:
    since = tuple(UserMessage(f"Question {number}?") for number in range(100))
    lines = recap(None, since, 200, ESTIMATE).splitlines()
    assert lines[0] == "[Earlier in this conversation, in short:"
    assert lines[1:-1] == [f"“Question {number}?”" for number in range(100 - len(lines) + 2, 100)]
    assert len(lines) > 8
    assert lines[-1] == "]"


def test_of_a_summary_that_is_too_long_the_beginning_is_told() -> None:
    told = recap(Summary("They like it dark. " * 100, 8), TURN, 200, ESTIMATE)
    assert told.startswith("[Earlier in this conversation, in short:\nThey like it dark. ")
    assert "…\n“Mach das Licht" in told
    assert ESTIMATE.of_text(told) > 90


def test_nothing_is_told_of_nothing_or_without_room() -> None:
    assert recap(None, (), 200, ESTIMATE) == ""
    assert recap(Summary("", 0), (), 200, ESTIMATE) == ""
    assert recap(Summary("They like it dark.", 8), TURN, 0, ESTIMATE) == ""


def test_a_summary_of_less_than_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="0 messages or more"):
        Summary("", -1)
