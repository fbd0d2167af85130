"""The window on a conversation that is longer than its budget."""

from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.conversation.token_estimate import TokenEstimate
from custom_components.chatterbox.agent.conversation.window import (
    RESULT_LENGTHS,
    fit_window,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Message,
    Summary,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)


def turn(number: int, seen: str = "dark") -> Transcript:
    """Return a turn in which something is looked at."""
    name = f"look_{number}"
    return (
        UserMessage(f"Question {number}?", context="It is noon."),
        AssistantMessage(tool_calls=(ToolCall(str(number), name, '{"at":"sky"}'),)),
        ToolResult(str(number), name, seen),
        AssistantMessage(f"Answer {number}."),
    )


def conversation(turns: int) -> Transcript:
    """Return a conversation of short turns."""
    return tuple(message for number in range(turns) for message in turn(number))


def tokens(messages: Transcript) -> int:
    """Return what messages are counted as."""
    return sum(map(TokenEstimate().of_message, messages))


def context_of(message: Message) -> str:
    """Return what a user message brings along."""
    assert isinstance(message, UserMessage)
    return message.context


def content_of(message: Message) -> str:
    """Return what a result says."""
    assert isinstance(message, ToolResult)
    return message.content


def test_a_conversation_that_outgrows_its_budget_falls_back_to_half_of_it() -> None:
    budget = tokens(conversation(20))
    fits, window = (
        fit_window(conversation(20), budget),
        fit_window(conversation(21), budget),
    )
    assert fits.dropped == 0
    assert budget // 2 - tokens(turn(0)) <= tokens(window.transcript) <= budget // 2
    assert window.dropped % len(turn(0)) == 0


def test_dropped_messages_are_recapped() -> None:
    window = fit_window(conversation(21), tokens(conversation(20)))
    lines = context_of(window.transcript[0]).splitlines()
    assert lines[0] == "[Earlier in this conversation, in short:"
    last = window.dropped // len(turn(0)) - 1
    assert lines[-4:] == [
        f'“Question {last}?” → look_{last} {{"at":"sky"}}',
        "]",
        "",
        "It is noon.",
    ]
    assert [context_of(message) for message in window.transcript[4::4]] == [
        "It is noon."
    ] * (20 - last - 1)


def test_the_first_message_that_is_left_has_the_context_that_dropped_ones_held() -> (
    None
):
    transcript = tuple(
        replace(message, omitted="In the kitchen.")
        if isinstance(message, UserMessage)
        else message
        for message in conversation(21)
    )
    whole, window = (
        fit_window(transcript, tokens(conversation(count))) for count in (30, 20)
    )
    assert whole.transcript is transcript
    contexts = [context_of(message) for message in window.transcript[::4]]
    assert contexts[0].endswith("]\n\nIn the kitchen.\n\nIt is noon.")
    assert set(contexts[1:]) == {"It is noon."}
    summed_up = fit_window(
        transcript,
        tokens(transcript) * 2,
        summary=Summary("They looked at the sky.", 8),
    )
    assert context_of(summed_up.transcript[0]).endswith(
        "]\n\nIn the kitchen.\n\nIt is noon."
    )


@pytest.mark.parametrize("budget", range(250, 1_000, 50))
def test_context_that_dropped_messages_held_takes_room_too(budget: int) -> None:
    room = "A room with a long name. " * 20
    transcript = tuple(
        replace(message, omitted=room)
        if isinstance(message, UserMessage) and number
        else message
        for number, message in enumerate(conversation(21))
    )
    window = fit_window(transcript, budget, earlier=budget // 2)
    assert window.tokens == tokens(window.transcript)
    assert window.tokens <= budget
    assert room in context_of(window.transcript[0])


def test_a_summary_stands_in_place_of_what_it_sums_up() -> None:
    transcript = conversation(21)
    summary = Summary("They looked at the sky.", 8)
    window = fit_window(transcript, tokens(transcript) * 2, summary=summary)
    assert window.dropped == 8
    assert context_of(window.transcript[0]) == (
        "[Earlier in this conversation, in short:\nThey looked at the sky.\n]\n\nIt is noon."
    )
    assert window.transcript[1:] == transcript[9:]


def test_a_summary_that_lags_behind_is_completed() -> None:
    transcript = conversation(21)
    window = fit_window(
        transcript,
        tokens(transcript) // 2,
        summary=Summary("They looked at the sky.", 8),
    )
    message = context_of(window.transcript[0])
    assert window.dropped > 8
    assert "They looked at the sky.\n“Question" in message
    assert "“Question 1?”" not in message


@pytest.mark.parametrize("messages", [5, 6, 7])
def test_a_summary_that_ends_within_a_turn_leaves_it_whole(messages: int) -> None:
    window = fit_window(
        conversation(3), 1_000, summary=Summary("They looked at the sky.", messages)
    )
    assert window.dropped == 4
    assert "They looked at the sky." in context_of(window.transcript[0])


def test_no_summary_stands_for_the_last_turn() -> None:
    assert (
        fit_window(conversation(3), 1_000, summary=Summary("All is said.", 99)).dropped
        == 8
    )
    assert fit_window(
        conversation(1), 1_000, summary=Summary("All is said.", 99)
    ).transcript == conversation(1)


def test_long_results_of_older_turns_go_before_any_turn_does() -> None:
    transcript = (*turn(0), *turn(1, "x" * 8_000), *turn(2))
    window = fit_window(transcript, tokens(transcript) - 1)
    assert window.dropped == 0
    short = content_of(window.transcript[6])
    assert len(short) <= 1_000
    assert short.startswith("xxx")
    assert (
        f"[… {8_000 - short.count('x')} characters were left out here to save room …]"
        in short
    )
    assert [*window.transcript[:6], *window.transcript[7:]] == [
        *transcript[:6],
        *transcript[7:],
    ]


def test_the_last_turn_stays_whole_while_it_fits() -> None:
    transcript = (*conversation(9), *turn(9, "x" * 4_400))
    window = fit_window(transcript, tokens(transcript[36:]) * 8 // 7)
    assert window.transcript[1:] == transcript[37:]
    assert "Question 8?" in context_of(window.transcript[0])


def test_long_results_of_the_last_turn_are_shortened_when_it_is_too_long_by_itself() -> (
    None
):
    """Invariant 32."""
    transcript = turn(0, "x" * 9_000)
    for length in RESULT_LENGTHS:
        longest = tokens(turn(0, "x" * length))
        window = fit_window(transcript, longest * 2 + 100)
        assert len(content_of(window.transcript[2])) == length
        assert "characters were left out here to save room" in content_of(
            window.transcript[2]
        )


def test_a_result_shortened_twice_tells_what_is_missing_of_the_whole() -> None:
    """Invariant 32."""
    content = content_of(fit_window(turn(0, "x" * 9_000), 100).transcript[2])
    assert len(content) == RESULT_LENGTHS[-1]
    assert f"[… {9_000 - content.count('x')} characters" in content
    assert content.count("left out") == 1


def test_the_newest_result_of_the_last_turn_is_shortened_last() -> None:
    first, second = turn(0, "x" * 9_000)[:3], turn(1, "y" * 5_000)[1:3]
    words = (*first, *second)
    window = fit_window(words, tokens(words) - 1)
    assert len(content_of(window.transcript[2])) == RESULT_LENGTHS[1]
    assert len(content_of(window.transcript[4])) == RESULT_LENGTHS[0]


def test_a_result_that_its_note_would_only_lengthen_stays() -> None:
    almost = turn(0, "x" * (RESULT_LENGTHS[-1] + 1))
    assert fit_window(almost, 1).transcript == almost


def test_words_of_the_assistant_before_any_person_are_a_turn() -> None:
    transcript = (AssistantMessage("Somebody is at the door. " * 40), *conversation(2))
    assert fit_window(transcript, 1_000).transcript == transcript
    assert fit_window(transcript, tokens(transcript) - 1).dropped == 1


def test_a_whole_window_is_the_same_transcript_object() -> None:
    transcript = conversation(5)
    assert fit_window(transcript, tokens(transcript)).transcript is transcript


def test_earlier_turns_have_a_budget_of_their_own() -> None:
    transcript, earlier = conversation(21), tokens(conversation(19))
    assert fit_window(transcript[: 20 * 4], 100_000, earlier=earlier).dropped == 0
    window = fit_window(transcript, 100_000, earlier=earlier)
    assert window.dropped % len(turn(0)) == 0
    assert (
        earlier // 2 - earlier // 8 - tokens(turn(0))
        <= tokens(window.transcript[:-4])
        <= earlier // 2
    )


def test_a_long_result_is_left_whole_while_it_is_new_and_the_model_can_read_it() -> (
    None
):
    transcript = (*conversation(3), *turn(3, "x" * 40_000))
    window = fit_window(transcript, 100_000, earlier=2_000)
    assert window.transcript is transcript
    later = fit_window((*transcript, *turn(4)), 100_000, earlier=2_000)
    assert later.transcript[:14] == transcript[:14]
    assert len(content_of(later.transcript[14])) == 1_000


def test_long_words_that_fit_take_nothing_from_earlier_turns() -> None:
    transcript, earlier = conversation(20), tokens(conversation(19))
    long, short = (
        fit_window((*transcript, UserMessage(words)), 20_000, earlier=earlier)
        for words in ("x" * 40_000, "x")
    )
    assert long.dropped == short.dropped > 0
