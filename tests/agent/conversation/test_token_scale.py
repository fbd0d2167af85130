"""The estimate of one model, and what moves it."""

from itertools import pairwise

from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.conversation.token_scale import TokenScale


def test_an_estimate_that_is_too_low_is_raised_at_once() -> None:
    scale = TokenScale()
    scale.reported(1_000, 1_500)
    assert scale.estimate.scale >= 1.5


def test_an_estimate_that_is_too_high_is_lowered_when_it_proves_so_again_and_again() -> None:
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


def test_what_was_refused_is_never_forgotten() -> None:
    scale = TokenScale()
    scale.refused(1_000, 1_400)
    refused = scale.estimate.scale
    for _ in range(50):
        scale.reported(1_000, 100)
    assert scale.estimate.scale == refused >= 1.4


def test_what_nobody_counted_says_nothing() -> None:
    scale = TokenScale()
    estimate = scale.estimate
    for _ in range(20):
        scale.reported(1_000, 0)
        scale.reported(0, 1_000)
    assert scale.estimate is estimate


@given(st.floats(0.6, 3.5), st.lists(st.floats(0.5, 1.0), min_size=60, max_size=120))
def test_whatever_is_reported_moves_it_seldom(times: float, noise: list[float]) -> None:
    scale, scales = TokenScale(), list[float]()
    for each in noise:
        estimated = 10_000
        scale.reported(round(estimated * scale.estimate.scale), round(estimated * times * each))
        scales.append(scale.estimate.scale)
    assert sum(before != after for before, after in pairwise(scales)) <= 10
