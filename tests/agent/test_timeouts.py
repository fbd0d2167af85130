"""Foreign work is waited for, and never longer than was said."""

import asyncio
import logging

import pytest

from custom_components.chatterbox.agent.timeouts import TookTooLong, WorkCancelled, finish_within
from tests.doubles import Gate, never


async def answer() -> str:
    """Return at once."""
    return "done"


async def fail() -> str:
    """Raise at once."""
    raise ValueError("broken")


async def cancel_itself() -> str:
    """End by a cancellation of its own."""
    raise asyncio.CancelledError


def others() -> set[asyncio.Task[object]]:
    """Return the tasks that run beside the test."""
    return asyncio.all_tasks() - {asyncio.current_task()}


async def test_work_that_ends_in_time_gives_its_answer() -> None:
    assert await finish_within(60, answer(), "work") == "done"
    assert not others()


@pytest.mark.parametrize("seconds", [0, -1])
async def test_work_that_needs_no_waiting_has_always_time(seconds: float) -> None:
    assert await finish_within(seconds, answer(), "work") == "done"


async def test_what_work_raises_is_passed_on() -> None:
    with pytest.raises(ValueError, match="broken"):
        await finish_within(60, fail(), "work")


async def test_work_that_takes_longer_is_cancelled() -> None:
    with pytest.raises(TookTooLong, match=r"work took longer than 0\.01 seconds"):
        await finish_within(0.01, never(), "work")
    assert not others()


async def test_work_that_ends_while_it_is_cancelled_still_gives_its_answer() -> None:
    async def last_word() -> str:
        try:
            await never()
        except asyncio.CancelledError:
            return "just in time"
        return "never"

    assert await finish_within(0.01, last_word(), "work") == "just in time"


async def test_work_that_fails_while_it_is_cancelled_took_too_long() -> None:
    async def stumble() -> None:
        try:
            await never()
        finally:
            raise ValueError("broken")

    with pytest.raises(TookTooLong):
        await finish_within(0.01, stumble(), "work")


async def test_a_cancellation_from_elsewhere_is_not_taken_for_ours() -> None:
    with pytest.raises(WorkCancelled, match="work was cancelled"):
        await finish_within(60, cancel_itself(), "work")


async def test_who_is_cancelled_takes_the_work_along() -> None:
    gate = Gate()
    waiting = asyncio.create_task(finish_within(60, gate(), "work"))
    await gate.reached.wait()

    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not others()


async def test_work_that_ignores_its_cancellation_is_left_behind(caplog: pytest.LogCaptureFixture) -> None:
    release = asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        raise ValueError("seen by nobody")

    with caplog.at_level(logging.ERROR), pytest.raises(TookTooLong):
        await finish_within(0.01, stubborn(), "tool stubborn")

    assert "tool stubborn ignores its cancellation" in caplog.text
    release.set()
    [left] = others()
    await asyncio.wait({left})
    assert isinstance(left.exception(), ValueError)
