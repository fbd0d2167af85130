"""A link is tried out in the background: in bounded time, and what is new is told once."""

import asyncio
import logging
from collections.abc import Callable, Coroutine

import pytest

from custom_components.chatterbox.agent.errors import (
    FirstTokenTimeout,
    PromptTooLong,
    ProviderError,
    ProviderRejectedKey,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.providers.breaker import BreakerPolicy, BreakerState, CircuitBreaker
from custom_components.chatterbox.agent.providers.links import Link
from custom_components.chatterbox.agent.providers.patience import Patience
from tests.agent.turns import let_others_go_on
from tests.support.doubles import Gate, ScriptedProvider

from .manual_clock import ManualClock

CLOSED, OPEN, HALF_OPEN = BreakerState
POLICY = BreakerPolicy(failures=2, cool_down=10, growth=2, longest_cool_down=60)
DOWN = ProviderUnreachable("HTTP 500: boom")


class Server:
    """What a link asks whether it would answer: raises its outcomes in turn, None for none."""

    def __init__(self, *outcomes: ProviderError | None) -> None:
        self.outcomes = list(outcomes)
        self.asked = 0

    async def check(self) -> None:
        self.asked += 1
        if (outcome := self.outcomes.pop(0)) is not None:
            raise outcome


class House:
    """A link whose circuit is open, on a clock of its own."""

    def __init__(self, check: Callable[[], Coroutine[object, object, None]] | None, seconds: float = 30) -> None:
        self.clock = ManualClock()
        self.breaker = CircuitBreaker(POLICY, self.clock)
        self.link = Link("kitchen", ScriptedProvider(), self.breaker, Patience(first_token=seconds), check=check)
        self.breaker.trip(DOWN)

    def cool_down(self) -> None:
        self.clock.advance(self.breaker.seconds_until_probe)


async def test_a_service_that_is_back_gets_its_place_back(caplog: pytest.LogCaptureFixture) -> None:
    house = House(Server(None).check)
    house.cool_down()

    with caplog.at_level(logging.INFO):
        await house.link.probe()

    assert house.breaker.state is CLOSED
    assert caplog.messages == ["kitchen answers again"]


@pytest.mark.parametrize("error", [DOWN, ProviderRejectedKey("HTTP 401")], ids=repr)
async def test_a_service_that_is_not_back_is_left_alone_for_longer(error: ProviderError) -> None:
    house = House(Server(error).check)
    house.cool_down()

    await house.link.probe()

    assert (house.breaker.state, house.breaker.seconds_until_probe) == (OPEN, 20)
    assert house.breaker.last_error is type(error)


async def test_who_refuses_is_there() -> None:
    house = House(Server(PromptTooLong("too long")).check)
    house.cool_down()

    await house.link.probe()

    assert house.breaker.state is CLOSED


async def test_what_is_new_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    house = House(Server(DOWN, DOWN, ProviderRejectedKey("no"), None).check)

    with caplog.at_level(logging.INFO):
        for _ in range(4):
            house.cool_down()
            await house.link.probe()

    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", "kitchen failed: ProviderRejectedKey: no"),
        ("INFO", "kitchen answers again"),
    ]


async def test_a_service_that_works_is_not_asked() -> None:
    server = Server()
    house = House(server.check)
    house.breaker.insist().succeeded()

    await house.link.probe()

    assert server.asked == 0


async def test_a_service_may_be_asked_before_its_time() -> None:
    house = House(Server(DOWN, None).check)

    await house.link.probe()
    assert (house.breaker.state, house.breaker.seconds_until_probe) == (OPEN, 10)

    await house.link.probe()
    assert house.breaker.state is CLOSED


async def test_where_nobody_needs_to_ask_nothing_happens() -> None:
    house = House(None)
    house.cool_down()

    await house.link.probe()

    assert house.breaker.state is HALF_OPEN


async def test_a_service_that_is_late_is_not_back() -> None:
    gate = Gate()

    async def check() -> None:
        await gate()

    house = House(check, seconds=0.01)
    house.cool_down()

    await house.link.probe()

    assert house.breaker.state is OPEN
    assert house.breaker.last_error is FirstTokenTimeout
    assert not gate.passed.is_set()


async def test_asking_can_be_broken_off() -> None:
    gate = Gate()

    async def check() -> None:
        await gate()

    house = House(check)
    house.cool_down()
    asking = asyncio.create_task(house.link.probe())
    await gate.reached.wait()

    asking.cancel()
    await let_others_go_on()

    assert asking.cancelled()
    assert house.breaker.state is HALF_OPEN
    assert house.breaker.admit() is not None


def test_what_somebody_else_has_found_out_is_told_while_it_is_news(caplog: pytest.LogCaptureFixture) -> None:
    house = House(None)
    for error in (DOWN, ProviderRejectedKey("no"), ProviderRejectedKey("no")):
        house.link.tripped(error)

    assert house.breaker.state is OPEN
    assert [record.message for record in caplog.records] == ["kitchen failed: ProviderRejectedKey: no"]
