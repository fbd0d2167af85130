"""Waits end in time, by one timer for many of them."""

import asyncio
from collections.abc import Callable
from typing import override

import pytest

from custom_components.chatterbox.agent.timeouts import SYSTEM_CLOCK, SystemClock, Timer, WaitedTooLong, WaitLimit
from tests.agent.providers.manual_clock import ManualClock
from tests.agent.turns import let_others_go_on
from tests.support.doubles import Gate


class CountingClock(SystemClock):
    """The clock of the machine, which counts who wants to be called."""

    def __init__(self) -> None:
        self.timers = 0

    @override
    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        self.timers += 1
        return super().call_later(seconds, callback)


class Home:
    """Somebody who waits at a gate, with a limit, and what came of it."""

    def __init__(self, clock: ManualClock) -> None:
        self.limit = WaitLimit(clock)
        self.gate = Gate()

    async def wait(self) -> str:
        """Wait, and tell how it ended."""
        try:
            with self.limit:
                await self.gate()
        except WaitedTooLong:
            return "too long"
        return "in time"

    async def begin(self) -> asyncio.Task[str]:
        """Begin to wait."""
        waiting = asyncio.create_task(self.wait())
        await self.gate.reached.wait()
        return waiting


async def test_a_wait_ends_when_its_time_has_come() -> None:
    clock = ManualClock()
    home = Home(clock)
    home.limit.set(2)
    waiting = await home.begin()

    clock.advance(1.9)
    await let_others_go_on()
    assert not waiting.done()
    clock.advance(0.1)

    assert await waiting == "too long"
    assert waiting.cancelling() == 0


async def test_a_limit_can_be_moved_while_its_timer_runs() -> None:
    clock = ManualClock()
    home = Home(clock)
    home.limit.set(2)
    with home.limit:
        pass
    clock.advance(1)
    home.limit.set(2)
    waiting = await home.begin()

    clock.advance(1)
    await let_others_go_on()
    assert not waiting.done(), "that was the time of the first wait"
    clock.advance(1)

    assert await waiting == "too long"


async def test_a_limit_can_come_sooner_than_its_timer() -> None:
    clock = ManualClock()
    home = Home(clock)
    home.limit.set(20)
    with home.limit:
        pass
    home.limit.set(1)
    waiting = await home.begin()

    clock.advance(1)

    assert await waiting == "too long"


async def test_time_in_which_nobody_waits_harms_nobody() -> None:
    clock = ManualClock()
    home = Home(clock)
    home.limit.set(1)
    with home.limit:
        pass
    clock.advance(5)
    await let_others_go_on()

    waiting = await home.begin()

    assert await waiting == "too long", "the time is over since"
    with home.limit:
        pass  # nothing has to be waited for


async def test_who_is_cancelled_by_somebody_else_as_well_ends() -> None:
    clock = ManualClock()
    home = Home(clock)
    home.limit.set(1)
    waiting = await home.begin()

    clock.advance(1)
    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_what_ends_while_it_is_cut_off_is_passed_on() -> None:
    clock = ManualClock()
    limit = WaitLimit(clock)
    limit.set(1)
    gate = Gate()

    async def stumble() -> None:
        with limit:
            try:
                await gate()
            finally:
                raise ValueError("broken")

    waiting = asyncio.create_task(stumble())
    await gate.reached.wait()
    clock.advance(1)

    with pytest.raises(ValueError, match="broken"):
        await waiting
    assert waiting.cancelling() == 0


async def test_limits_within_each_other_each_end_their_own_wait() -> None:
    clock, gate = ManualClock(), Gate()
    inner, outer = WaitLimit(clock), WaitLimit(clock)
    inner.set(1)
    outer.set(2)

    async def wait() -> str:
        try:
            with outer:
                try:
                    with inner:
                        await gate()
                except WaitedTooLong:
                    await gate()
        except WaitedTooLong:
            return "both"
        return "one"

    waiting = asyncio.create_task(wait())
    await gate.reached.wait()
    clock.advance(1)
    await let_others_go_on()
    assert not waiting.done()
    clock.advance(1)

    assert await waiting == "both"


async def test_many_waits_need_one_timer() -> None:
    clock = CountingClock()
    limit = WaitLimit(clock)
    for _ in range(100):
        limit.set(30)
        with limit:
            await asyncio.sleep(0)
    limit.stop()

    assert clock.timers == 1


async def test_a_limit_keeps_to_the_clock_of_the_machine() -> None:
    limit = WaitLimit(SYSTEM_CLOCK)
    limit.set(0.01)
    with pytest.raises(WaitedTooLong), limit:
        await asyncio.Event().wait()


def test_a_limit_that_bounds_nothing_can_be_stopped() -> None:
    WaitLimit(ManualClock()).stop()
