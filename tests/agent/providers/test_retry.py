"""A model that fails before it begins is asked again, when that can help and there is time for it."""

import asyncio

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.errors import (
    ConnectTimeout,
    FirstTokenTimeout,
    ModelNotFound,
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import TextDelta
from custom_components.chatterbox.agent.messages import UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.patience import BegunStream
from custom_components.chatterbox.agent.providers.retry import RANDOM_JITTER, Retries, begin
from tests.support.doubles import Gate, ScriptedProvider, say

from .manual_clock import ManualClock

REQUEST = CompletionRequest("", (UserMessage("Hi"),))
THRICE = Retries(attempts=3, first_wait=1, longest_wait=60)
DOWN = ProviderUnreachable("down")


def at_most() -> float:
    """Make every wait as long as it may be (nearly: jitter stays below 1)."""
    return 1.0


async def ask(
    provider: ScriptedProvider, clock: ManualClock, retries: Retries = THRICE, within: float = 10
) -> BegunStream:
    """Begin a stream with the retries of these tests."""
    return await begin(lambda: provider.stream(REQUEST), within, retries, clock, at_most)


async def test_a_second_try_that_works_is_the_answer() -> None:
    clock, provider = ManualClock(), ScriptedProvider([DOWN], say("Here."))

    begun = await ask(provider, clock)

    assert begun.first == TextDelta("Here.")
    assert clock.sleeps == [1]
    assert provider.open_streams == 1
    await begun.rest.aclose()
    assert provider.open_streams == 0


async def test_waits_grow_and_requests_are_counted() -> None:
    clock, provider = ManualClock(), ScriptedProvider([DOWN], [DOWN], [ProviderReplyInvalid("nonsense")])

    with pytest.raises(ProviderReplyInvalid):
        await ask(provider, clock)

    assert clock.sleeps == [1, 2]
    assert len(provider.requests) == 3


@pytest.mark.parametrize(
    "error",
    [
        ProviderRejectedKey("no"),
        ModelNotFound("no"),
        ProviderRejectedRequest("no"),
        ConnectTimeout("late"),
        FirstTokenTimeout("late"),
        ProviderError("something"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_what_does_not_pass_by_itself_is_not_asked_again(error: ProviderError) -> None:
    clock, provider = ManualClock(), ScriptedProvider([error])

    with pytest.raises(type(error)):
        await ask(provider, clock)

    assert len(provider.requests) == 1
    assert not clock.sleeps


async def test_a_late_first_token_leaves_no_time_for_another_try() -> None:
    clock, gate = ManualClock(), Gate()
    provider = ScriptedProvider([gate])
    asking = asyncio.create_task(ask(provider, clock))
    await gate.reached.wait()

    clock.advance(10)

    with pytest.raises(FirstTokenTimeout):
        await asking
    assert provider.open_streams == 0


async def test_all_tries_share_one_deadline() -> None:
    clock, gate = ManualClock(), Gate()
    provider = ScriptedProvider([DOWN], [gate])
    asking = asyncio.create_task(ask(provider, clock))
    await gate.reached.wait()

    clock.advance(9)

    with pytest.raises(FirstTokenTimeout, match="for 9 seconds"):
        await asking


@pytest.mark.parametrize(("within", "tries"), [(1, 1), (1.01, 2)])
async def test_a_wait_that_does_not_fit_is_not_begun(within: float, tries: int) -> None:
    clock, provider = ManualClock(), ScriptedProvider([DOWN], [DOWN], [DOWN])

    with pytest.raises(ProviderUnreachable):
        await ask(provider, clock, within=within)

    assert len(provider.requests) == tries


@pytest.mark.parametrize(
    ("retry_after", "waits"), [(None, [1]), (0.5, [1]), (7.0, [7.0]), (10.0, []), (3600.0, [])], ids=repr
)
async def test_retry_after_is_honoured_when_it_fits(retry_after: float | None, waits: list[float]) -> None:
    clock, provider = ManualClock(), ScriptedProvider([ProviderBusy("slow down", retry_after)], say("Here."))
    asking = ask(provider, clock)

    if waits:
        await (await asking).rest.aclose()
    else:
        with pytest.raises(ProviderBusy):
            await asking

    assert clock.sleeps == waits
    assert len(provider.requests) == len(waits) + 1


async def test_once_begun_nothing_is_asked_again() -> None:
    clock, provider = ManualClock(), ScriptedProvider([TextDelta("It "), DOWN])

    begun = await ask(provider, clock)

    with pytest.raises(ProviderUnreachable):
        await anext(begun.rest)
    assert len(provider.requests) == 1


async def test_who_is_cancelled_takes_the_stream_along() -> None:
    gate = Gate()
    provider = ScriptedProvider([gate])
    asking = asyncio.create_task(ask(provider, ManualClock()))
    await gate.reached.wait()

    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking
    assert provider.open_streams == 0


@given(
    retries=st.builds(
        Retries,
        attempts=st.integers(1, 50),
        first_wait=st.floats(0, 10),
        longest_wait=st.floats(0, 100),
    ),
    attempt=st.integers(1, 60),
    jitter=st.floats(0, 1, exclude_max=True),
    retry_after=st.none() | st.floats(0, 1000),
)
def test_waits_stay_within_what_was_set(
    retries: Retries, attempt: int, jitter: float, retry_after: float | None
) -> None:
    wait = retries.wait_after(attempt, ProviderBusy("", retry_after), lambda: jitter)

    if attempt >= retries.attempts:
        assert wait is None
    else:
        assert wait is not None
        assert (retry_after or 0) <= wait <= max(retry_after or 0, retries.longest_wait)
        assert retry_after or wait <= retries.first_wait * 2 ** (attempt - 1)


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"first_wait": -1}, {"longest_wait": -0.1}], ids=repr)
def test_retries_that_make_no_sense_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be at least"):
        Retries(**wrong)


def test_jitter_is_a_part_of_one() -> None:
    assert all(0 <= RANDOM_JITTER() < 1 for _ in range(100))
