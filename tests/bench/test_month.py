"""The costs of a month in the documentation are those of the built-in prices."""

import pytest

from bench.month import PAGE, month_of, month_table, prompt_of


def test_the_page_has_the_costs_of_a_month() -> None:
    assert month_table() in PAGE.read_text("utf-8"), "run python -m bench.month"


def test_a_month_is_two_requests_a_sentence_and_the_second_is_cached() -> None:
    # 600 sentences of 1,000 tokens at 1 and 0.1 dollars, and 120 written ones at 5
    assert month_of("anthropic", "claude-haiku-4-5", 1_000) == pytest.approx(1.02)


def test_a_home_or_a_model_that_is_not_known_has_no_costs() -> None:
    with pytest.raises(ValueError, match="no tokens of a hut"):
        prompt_of("a hut")
    with pytest.raises(ValueError, match="no price of dream-1"):
        month_of("openai", "dream-1", 1)
