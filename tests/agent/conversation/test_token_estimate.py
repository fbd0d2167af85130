"""Tokens, told without a tokenizer."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.conversation.token_estimate import (
    TokenEstimate,
    TokenScale,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    Message,
    ProviderItem,
    ToolCall,
    ToolResult,
    UserMessage,
)

ESTIMATE = TokenEstimate()
SAID = UserMessage("Turn on the light.")
CALLED = AssistantMessage(
    "Wait.", "Hm.", (ToolCall("1", "light_on", '{"name":"Kitchen"}'),)
)
RESULT = ToolResult("1", "light_on", "done")


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("The light in the kitchen is on.", 7, 11),
        ('{"area":"Kitchen","brightness":42}', 10, 17),
        ("Das Licht in der Küche ist an.", 8, 11),
        ("Свет на кухне включён.", 6, 10),
        ("厨房的灯开着。", 5, 8),
        ("주방 불이 켜져 있습니다.", 8, 13),
        ("台所の電気がついています。", 9, 13),
        ("रसोई की बत्ती जल रही है।", 10, 21),
        ("🎉", 1, 3),
    ],
)
def test_texts_of_all_scripts_are_told_about_rightly(
    text: str, least: int, most: int
) -> None:
    assert least <= ESTIMATE.of_text(text) <= most


@given(st.text(), st.text())
def test_no_text_becomes_shorter_by_being_longer(one: str, other: str) -> None:
    both = ESTIMATE.of_text(one + other)
    assert max(ESTIMATE.of_text(one), ESTIMATE.of_text(other)) <= both
    assert both <= ESTIMATE.of_text(one) + ESTIMATE.of_text(other)


def test_a_text_with_half_a_character_is_counted() -> None:
    assert ESTIMATE.of_text("\ud83c!") == 2


@pytest.mark.parametrize(
    ("small", "large"),
    [
        (SAID, replace(SAID, text="Turn on the light and the fan.")),
        (SAID, replace(SAID, context="It is noon.")),
        (SAID, replace(SAID, attachments=(Attachment("image/png", b""),))),
        (
            replace(SAID, attachments=(Attachment("application/pdf", b"1"),)),
            replace(SAID, attachments=(Attachment("application/pdf", bytes(10**6)),)),
        ),
        (CALLED, replace(CALLED, text="Wait for it.")),
        (CALLED, replace(CALLED, reasoning="Hm, which light is that?")),
        (CALLED, replace(CALLED, tool_calls=CALLED.tool_calls * 2)),
        (
            CALLED,
            replace(
                CALLED, tool_calls=(replace(CALLED.tool_calls[0], arguments="{}" * 99),)
            ),
        ),
        (
            CALLED,
            replace(
                CALLED,
                provider_items=(ProviderItem("chat", {"signature": "abc" * 20}),),
            ),
        ),
        (RESULT, replace(RESULT, content="done, all of it")),
        (RESULT, replace(RESULT, name="light_on_in_the_kitchen")),
    ],
)
def test_all_that_is_sent_of_a_message_counts(small: Message, large: Message) -> None:
    assert 0 < ESTIMATE.of_message(small) < ESTIMATE.of_message(large)


def test_a_picture_counts_the_same_whatever_its_file_is_like() -> None:
    small, large = (
        replace(SAID, attachments=(Attachment("image/jpeg", bytes(size)),))
        for size in (10, 1_000_000)
    )
    assert ESTIMATE.of_message(small) == ESTIMATE.of_message(large)


def test_signed_reasoning_and_its_words_count_once() -> None:
    thought = replace(CALLED, reasoning="Which light? " * 30)
    signed = replace(
        thought,
        provider_items=(ProviderItem("messages", {"thinking": "Which light?"}),),
    )
    assert ESTIMATE.of_message(signed) == ESTIMATE.of_message(thought)


@given(st.integers(50, 10**6), st.floats(0.55, 3.9))
def test_reported_usage_corrects_the_estimate_to_the_high_side(
    tokens: int, times: float
) -> None:
    reported = round(tokens * times)
    scale = ESTIMATE.corrected(tokens, reported).scale
    assert reported <= tokens * scale * 1.000001
    assert tokens * scale <= reported * 1.25


@given(
    st.floats(0.6, 3.5),
    st.lists(
        st.tuples(st.integers(1_000, 100_000), st.floats(1, 1.05)),
        min_size=1,
        max_size=20,
    ),
)
def test_reports_that_are_alike_move_the_estimate_twice_at_most(
    times: float, requests: list[tuple[int, float]]
) -> None:
    estimate, scales = ESTIMATE, [ESTIMATE.scale]
    for tokens, more in requests:
        estimate = estimate.corrected(
            round(tokens * estimate.scale), round(tokens * times * more)
        )
        scales.append(estimate.scale)
    assert sum(before != after for before, after in pairwise(scales)) <= 2


def test_a_report_that_fits_changes_nothing() -> None:
    estimate = TokenEstimate(1.1)
    assert estimate.corrected(100, 90) is estimate


def test_reports_that_no_tokenizer_explains_are_followed_half_way() -> None:
    assert ESTIMATE.corrected(10_000, 12) == TokenEstimate(0.5)
    assert ESTIMATE.corrected(10_000, 900_000) == TokenEstimate(4.0)
    assert TokenEstimate(4.0).corrected(40_000, 900_000) == TokenEstimate(4.0)


def test_a_scale_is_what_all_is_multiplied_by() -> None:
    doubled = TokenEstimate(2.0)
    for message in (SAID, CALLED, RESULT):
        assert (
            2 * ESTIMATE.of_message(message) - 2
            <= doubled.of_message(message)
            <= 2 * ESTIMATE.of_message(message)
        )


def test_an_estimate_that_is_too_low_is_raised_at_once() -> None:
    scale = TokenScale()
    scale.reported(1_000, 1_500)
    assert scale.estimate.scale >= 1.5


def test_an_estimate_that_is_too_high_is_lowered_when_it_proves_so_again_and_again() -> (
    None
):
    scale = TokenScale()
    for _ in range(7):
        scale.reported(1_000, 600)
        assert scale.estimate.scale == 1
    scale.reported(1_000, 700)
    assert 0.7 <= scale.estimate.scale < 0.9


def test_one_report_that_fits_begins_the_count_anew() -> None:
    scale = TokenScale()
    for tokens in (*[600] * 7, 990, *[600] * 7):
        scale.reported(1_000, tokens)
    assert scale.estimate.scale == 1


def test_a_refused_prompt_bounds_the_scale_for_good() -> None:
    scale = TokenScale()
    scale.refused(1_000, 1_400)
    refused = scale.estimate.scale
    for _ in range(50):
        scale.reported(1_000, 100)
    assert scale.estimate.scale == refused >= 1.4


def test_missing_counts_change_no_estimate() -> None:
    scale = TokenScale()
    estimate = scale.estimate
    for _ in range(20):
        scale.reported(1_000, 0)
        scale.reported(0, 1_000)
    assert scale.estimate is estimate


@given(st.floats(0.6, 3.5), st.lists(st.floats(0.5, 1.0), min_size=60, max_size=120))
def test_any_reports_move_it_seldom(times: float, noise: list[float]) -> None:
    scale, scales = TokenScale(), list[float]()
    for each in noise:
        estimated = 10_000
        scale.reported(
            round(estimated * scale.estimate.scale), round(estimated * times * each)
        )
        scales.append(scale.estimate.scale)
    assert sum(before != after for before, after in pairwise(scales)) <= 10
