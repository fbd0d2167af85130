"""Counts in replies: what cannot be a count has the usage estimated."""

import pytest

from custom_components.chatterbox.agent.conversation.token_estimate import (
    plausible_usage,
)
from custom_components.chatterbox.agent.messages import Usage
from custom_components.chatterbox.agent.wire.reply_reader import TokenCounts

SENT = b"Is the front door locked?"


def counted(count: str) -> Usage:
    """Return the usage of a reply with this count."""
    report = f'{{"input_tokens": {count}, "output_tokens": 3, "cached_tokens": {count}, "reasoning_tokens": null}}'
    return plausible_usage(
        TokenCounts.model_validate_json(report).usage(), lambda: SENT, received=100
    )


@pytest.mark.parametrize(
    "count", ["-5", "1e30", "1e400", "NaN", "12.7", '"many"', "[3]", "{}"]
)
def test_a_figure_that_cannot_be_a_count_has_the_usage_estimated(count: str) -> None:
    usage = counted(count)

    assert usage.is_estimated
    assert 0 < usage.input_tokens < len(SENT)


@pytest.mark.parametrize(
    ("count", "tokens"), [("7", 7), ("7.0", 7), ('"7"', 7), ("0", 0), ("null", 0)]
)
def test_a_count_is_taken_as_it_is_and_a_missing_one_is_zero(
    count: str, tokens: int
) -> None:
    assert counted(count) == Usage(tokens, 3, tokens)


def test_of_a_wrong_figure_for_the_cache_nothing_counts_as_cached() -> None:
    assert TokenCounts(input_tokens=7).model_validate_json(
        '{"input_tokens": 7, "cached_tokens": -1}'
    ).usage() == Usage(7)
