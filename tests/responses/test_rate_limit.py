"""How often and how much at once a token may ask."""

from contextlib import ExitStack

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.responses.api_errors import ApiError
from custom_components.chatterbox.responses.rate_limit import RateLimit


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def refusal_of(limit: RateLimit) -> ApiError | None:
    try:
        limit.take("one")
    except ApiError as error:
        return error
    return None


def test_a_rested_token_has_all_of_a_minute_at_one_stroke_and_then_one_by_one() -> None:
    clock = Clock()
    limit = RateLimit(per_minute=60, clock=clock)

    assert [refusal_of(limit) for _ in range(60)] == [None] * 60
    refused = refusal_of(limit)
    assert refused
    assert (refused.status, refused.code, refused.retry_after) == (429, "rate_limit_exceeded", 1)
    clock.now = 1.0
    assert refusal_of(limit) is None
    assert refusal_of(limit)


@given(st.lists(st.floats(0, 90), min_size=1, max_size=120))
def test_in_no_minute_are_there_more_than_twice_as_many(waits: list[float]) -> None:
    clock = Clock()
    limit = RateLimit(per_minute=10, clock=clock)
    taken: list[float] = []

    for wait in waits:
        clock.now += wait
        if refusal_of(limit) is None:
            taken.append(clock.now)

    assert all(sum(begin <= one < begin + 60 for one in taken) <= 20 for begin in taken)


@given(st.integers(1, 20), st.integers(0, 60))
def test_after_the_wait_that_was_told_there_is_one(per_minute: int, seconds: int) -> None:
    clock = Clock()
    limit = RateLimit(per_minute=per_minute, clock=clock)
    for _ in range(per_minute):
        limit.take("one")
    clock.now += seconds

    while refused := refusal_of(limit):
        assert refused.retry_after
        clock.now += refused.retry_after
        assert refusal_of(limit) is None
        return


def test_so_many_at_once_and_no_more_until_one_ends() -> None:
    limit = RateLimit(at_once=2, clock=Clock())
    with ExitStack() as first:
        first.enter_context(limit.running("one"))
        with limit.running("one"):
            with pytest.raises(ApiError, match="2 requests at once"), limit.running("one"):
                pass
            with limit.running("other"):
                pass
        with limit.running("one"):
            pass
    assert limit.allowance("one").remaining == 297


def test_what_is_refused_at_once_does_not_count() -> None:
    limit = RateLimit(per_minute=5, at_once=1, clock=Clock())
    with limit.running("one"):
        for _ in range(9):
            with pytest.raises(ApiError), limit.running("one"):
                pass
    assert limit.allowance("one").remaining == 4


def test_tokens_that_rest_take_no_memory_and_those_that_run_are_never_forgotten() -> None:
    clock = Clock()
    limit = RateLimit(per_minute=2, at_once=1, clock=clock)
    with limit.running("busy"):
        for number in range(5_000):
            limit.take(f"token {number}")
        assert len(limit) <= 1_001
        with pytest.raises(ApiError), limit.running("busy"):
            pass
    clock.now += 60
    limit.take("one more")
    assert len(limit) == 1
