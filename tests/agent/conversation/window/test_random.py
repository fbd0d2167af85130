"""Invariants of a window on any conversation, at any moment of it."""

from itertools import pairwise

from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.agent.conversation.token_estimate import TokenEstimate
from custom_components.chatterbox.agent.conversation.window import (
    Window,
    fit_window,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Message,
    Summary,
    Transcript,
    UserMessage,
)
from tests.agent.conversation.transcripts import (
    LOW,
    assert_window,
    growth,
    last_turn,
    tokens_of,
    transcripts,
)
from tests.support.thorough import some_examples

BUDGETS = st.integers(-10, 3_000)
ESTIMATES = st.sampled_from([TokenEstimate(), TokenEstimate(0.5), TokenEstimate(1.7)])
SUMMARIES = st.builds(Summary, st.text(max_size=400), st.integers(0, 40), st.booleans())


def rewrites(windows: list[Window]) -> list[int]:
    """Return the numbers of the windows that do not begin with all of the one before."""
    return [
        number
        for number, (before, after) in enumerate(pairwise(windows), 1)
        if after.transcript[: len(before.transcript)] != before.transcript
    ]


@given(transcripts(), BUDGETS, ESTIMATES)
def test_a_window_is_valid_and_within_its_budget(
    transcript: Transcript, budget: int, estimate: TokenEstimate
) -> None:
    """Invariant 71."""
    assert_window(
        fit_window(transcript, budget, estimate), transcript, budget, estimate
    )


@given(transcripts(), BUDGETS, ESTIMATES, SUMMARIES)
def test_any_summary_leaves_it_so(
    transcript: Transcript, budget: int, estimate: TokenEstimate, summary: Summary
) -> None:
    window = fit_window(transcript, budget, estimate, summary)
    assert_window(window, transcript, budget, estimate)


@given(transcripts(), BUDGETS, ESTIMATES)
def test_a_window_on_a_window_is_the_same(
    transcript: Transcript, budget: int, estimate: TokenEstimate
) -> None:
    window = fit_window(transcript, budget, estimate)
    again = fit_window(window.transcript, budget, estimate)
    assert (again.transcript, again.dropped) == (window.transcript, 0)


@given(transcripts(), st.integers(0, 1_000))
def test_a_conversation_that_fits_is_sent_unchanged(
    transcript: Transcript, spare: int
) -> None:
    budget = tokens_of(transcript, TokenEstimate()) + spare
    assert fit_window(transcript, budget).transcript == transcript


@given(transcripts(), BUDGETS)
def test_dropped_messages_stay_dropped(transcript: Transcript, budget: int) -> None:
    dropped = [fit_window(before, budget).dropped for before in growth(transcript)]
    assert dropped == sorted(dropped)


@given(transcripts(), st.integers(10, 3_000))
def test_a_growing_conversation_seldom_begins_otherwise(
    transcript: Transcript, budget: int
) -> None:
    estimate = TokenEstimate()
    grown = growth(transcript)
    starts = {last_turn(before) for before in grown}
    ends = sorted(starts | {len(transcript)})
    big = [
        begin
        for begin, end in pairwise(ends)
        if tokens_of(transcript[begin:end], estimate) > budget // LOW - budget // 8
    ]
    times = len(rewrites([fit_window(before, budget) for before in grown]))
    assert times <= 1 + tokens_of(transcript, estimate) // (
        budget - budget // LOW
    ) + 2 * len(big)


@settings(max_examples=some_examples(30))
@given(
    st.lists(st.integers(1, 60), min_size=20, max_size=60),
    st.integers(120, 1_000),
    st.data(),
)
def test_between_two_such_moments_half_a_budget_is_said(
    sizes: list[int], budget: int, data: st.DataObject
) -> None:
    estimate = TokenEstimate()
    most = budget // LOW - budget // 8 - 2 * estimate.of_message(UserMessage(""))
    messages: list[Message] = []
    for size in sizes:
        words = "a" * (min(size, most) * 2)
        reply = AssistantMessage(
            data.draw(st.sampled_from(["", words[: len(words) // 4]]))
        )
        messages += [UserMessage(words), reply]
    grown = growth(tuple(messages))
    moments = rewrites([fit_window(before, budget) for before in grown])
    for before, after in pairwise(moments):
        spoken_text = grown[after][len(grown[before]) :]
        assert tokens_of(spoken_text, estimate) >= budget - budget // LOW


@given(
    transcripts(), BUDGETS, st.integers(-10, 3_000), ESTIMATES, st.none() | SUMMARIES
)
def test_earlier_turns_keep_to_their_budget(
    transcript: Transcript,
    budget: int,
    earlier: int,
    estimate: TokenEstimate,
    summary: Summary | None,
) -> None:
    window = fit_window(transcript, budget, estimate, summary, earlier)
    assert_window(window, transcript, budget, estimate)
    assert window.tokens == tokens_of(window.transcript, estimate)
    if window.dropped < last_turn(transcript):
        assert tokens_of(
            window.transcript[: last_turn(window.transcript)], estimate
        ) <= max(earlier, 0)
