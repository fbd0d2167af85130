"""Foreign work is waited for, and never longer than was said."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import override

import pytest

from custom_components.chatterbox.agent.timeouts import (
    TookTooLong,
    WaitedTooLong,
    WorkCancelled,
    finish_within,
    leavable,
    time_limit,
)
from tests.agent.providers.manual_clock import ManualClock
from tests.agent.turns import run_other_tasks
from tests.support.doubles import Gate, never


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


async def test_work_that_ignores_its_cancellation_is_left_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
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


class Numbers:
    """A stream of numbers that tells how far it came, and that it was closed."""

    def __init__(self, *lines: int | Exception | Gate) -> None:
        self.lines = lines
        self.given: list[int] = []
        self.closed = 0

    async def stream(self) -> AsyncGenerator[int]:
        """Give the numbers, wait at gates, raise exceptions."""
        try:
            for line in self.lines:
                if isinstance(line, Exception):
                    raise line
                if isinstance(line, Gate):
                    await line()
                else:
                    self.given.append(line)
                    yield line
        finally:
            self.closed += 1


class Stubborn(Numbers):
    """One that waits whatever it is told, until it is released."""

    def __init__(self, *lines: int) -> None:
        super().__init__(*lines)
        self.release = asyncio.Event()

    @override
    async def stream(self) -> AsyncGenerator[int]:
        """Give the numbers, then hang."""
        try:
            for line in self.lines:
                assert isinstance(line, int)
                yield line
            while not self.release.is_set():
                try:
                    await self.release.wait()
                except asyncio.CancelledError:
                    continue
            yield 99
        finally:
            self.closed += 1


async def read(numbers: Numbers) -> list[int]:
    """Read a stream to its end."""
    async with aclosing(leavable(numbers.stream(), "numbers")) as stream:
        return [number async for number in stream]


async def read_on(stream: AsyncGenerator[int]) -> list[int]:
    """Read what is left of a stream."""
    return [number async for number in stream]


async def test_what_comes_in_one_piece_is_handed_over_in_one_go() -> None:
    gate = Gate()
    numbers = Numbers(1, 2, 3, gate, 4)
    async with aclosing(leavable(numbers.stream(), "numbers")) as stream:
        assert not numbers.given
        assert [await anext(stream) for _ in range(2)] == [1, 2]
        assert numbers.given == [1, 2, 3], "it waits for nothing before the gate"
        reading = asyncio.create_task(read_on(stream))
        await gate.reached.wait()
        gate.opened.set()
        assert await reading == [3, 4]

    assert numbers.closed == 1
    assert not others()


async def test_a_stream_that_nobody_reads_does_not_get_far() -> None:
    numbers = Numbers(*range(1000))
    async with aclosing(leavable(numbers.stream(), "numbers")) as stream:
        await anext(stream)
        await run_other_tasks()
        assert len(numbers.given) < 100
        assert await read_on(stream) == [*range(1, 1000)]

    assert numbers.closed == 1


async def test_a_stream_that_never_waits_does_not_block_other_tasks() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    await read(Numbers(*range(1000)))
    ticking.cancel()

    assert ticks > 10


async def test_what_a_stream_raises_comes_after_what_it_gave() -> None:
    numbers = Numbers(1, 2, ValueError("broken"))
    stream = leavable(numbers.stream(), "numbers")

    assert [await anext(stream) for _ in range(2)] == [1, 2]
    with pytest.raises(ValueError, match="broken"):
        await anext(stream)


async def test_a_failure_that_nobody_has_read_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stream = leavable(Numbers(1, ValueError("broken")).stream(), "numbers")
    await anext(stream)
    await stream.aclose()

    assert caplog.messages == ["a stream failed while it was left"]
    assert "broken" in caplog.text


async def test_a_stream_that_goes_on_although_it_is_left_is_closed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gate, closed = Gate(), asyncio.Event()

    async def goes_on() -> AsyncGenerator[int]:
        try:
            yield 1
            with contextlib.suppress(asyncio.CancelledError):
                await gate()
            yield 2
        finally:
            closed.set()

    stream = leavable(goes_on(), "numbers")
    await anext(stream)
    await gate.reached.wait()
    await stream.aclose()

    assert closed.is_set()
    assert not caplog.messages
    assert not others()


async def test_who_is_cancelled_takes_the_stream_along() -> None:
    gate = Gate()
    numbers = Numbers(1, gate)
    reading = asyncio.create_task(read(numbers))
    await gate.reached.wait()

    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading

    assert numbers.closed == 1
    assert not others()


async def test_a_stream_that_was_cancelled_from_elsewhere_while_nobody_read_ends_its_reader() -> (
    None
):
    gate = Gate()
    stream = leavable(Numbers(1, gate).stream(), "numbers")
    assert await anext(stream) == 1
    [task] = others()
    task.cancel()
    await run_other_tasks()

    with pytest.raises(asyncio.CancelledError):
        await anext(stream)


async def test_a_stream_that_ignores_its_cancellation_is_left_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stubborn = Stubborn(1)
    stream = leavable(stubborn.stream(), "provider stubborn", 0.01)
    assert await anext(stream) == 1

    with caplog.at_level(logging.ERROR), pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await anext(stream)
    await stream.aclose()

    assert caplog.messages == ["provider stubborn ignores its cancellation"]
    [left] = others()
    stubborn.release.set()
    await asyncio.wait({left})
    assert stubborn.closed == 1, "it is closed as soon as it lets itself be closed"


async def test_a_busy_event_loop_is_no_reason_to_leave_a_stream_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def lets_go_step_by_step() -> AsyncGenerator[int]:
        try:
            yield 1
        finally:
            for _ in range(10):
                await asyncio.sleep(0)

    stream = leavable(lets_go_step_by_step(), "numbers", grace=0)
    await anext(stream)
    await stream.aclose()

    assert not caplog.messages
    assert not others()


@pytest.mark.parametrize(
    ("error", "logged"),
    [
        (ValueError("broken"), ["a stream failed while it was left"]),
        (ConnectionResetError(), []),
    ],
    ids=["a bug", "a failure that may happen at any time"],
)
async def test_an_unexpected_failure_after_the_reader_has_left_is_logged(
    error: Exception, logged: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def stumble() -> AsyncGenerator[int]:
        yield 1
        try:
            await never()
        finally:
            raise error

    stream = leavable(stumble(), "numbers", may_fail=OSError)
    await anext(stream)
    await stream.aclose()

    assert caplog.messages == logged


async def test_a_stream_that_is_cancelled_from_elsewhere_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def ends_by_a_cancellation() -> AsyncGenerator[str]:
        yield "first"
        waiting = asyncio.create_task(never())
        waiting.cancel()
        await waiting

    async with aclosing(leavable(ends_by_a_cancellation(), "stream")) as stream:
        assert await anext(stream) == "first"
        with pytest.raises(WorkCancelled, match="stream was cancelled"):
            await anext(stream)

    assert not caplog.records


@dataclass
class Waiter:
    """Waits at a gate, for at most 2 seconds of a manual clock, and returns how that ended."""

    clock: ManualClock = field(default_factory=ManualClock)
    gate: Gate = field(default_factory=Gate)

    async def wait(self) -> str:
        """Wait."""
        try:
            async with time_limit(2, self.clock):
                await self.gate()
        except WaitedTooLong:
            return "too long"
        return "in time"

    async def begin(self) -> asyncio.Task[str]:
        """Begin to wait."""
        waiting = asyncio.create_task(self.wait())
        await self.gate.reached.wait()
        return waiting


async def test_a_wait_ends_at_its_limit_and_not_before() -> None:
    waiter = Waiter()
    waiting = await waiter.begin()

    waiter.clock.advance(1.9)
    await run_other_tasks()
    assert not waiting.done()
    waiter.clock.advance(0.1)

    assert await waiting == "too long"
    assert waiting.cancelling() == 0


async def test_a_wait_that_ended_in_time_has_no_limit_any_more() -> None:
    waiter = Waiter()
    waiting = await waiter.begin()
    waiter.gate.opened.set()

    assert await waiting == "in time"
    waiter.clock.advance(5)
    await run_other_tasks()


async def test_a_cancellation_at_the_limit_is_kept() -> None:
    waiter = Waiter()
    waiting = await waiter.begin()

    waiter.clock.advance(2)
    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_timeout_of_the_work_is_not_taken_for_the_limit() -> None:
    with pytest.raises(TimeoutError) as raised:
        async with time_limit(60):
            raise TimeoutError

    assert not isinstance(raised.value, WaitedTooLong)


async def test_a_timeout_that_work_makes_of_the_limit_is_the_limit() -> None:
    async def work() -> None:
        try:
            await never()
        except asyncio.CancelledError:
            raise TimeoutError from None

    with pytest.raises(WaitedTooLong):
        async with time_limit(0):
            await work()


async def test_a_limit_without_time_allows_work_that_waits_for_nothing() -> None:
    async with time_limit(0):
        pass
    with pytest.raises(WaitedTooLong):
        async with time_limit(0):
            await never()
