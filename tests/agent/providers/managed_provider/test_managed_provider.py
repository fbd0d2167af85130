"""A managed provider starts in time, is retried, and tells its breaker and the log."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import pytest

from custom_components.chatterbox.agent.errors import (
    BetweenTokensTimeout,
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
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    PromptProgress,
    ProviderEvent,
    TextDelta,
)
from custom_components.chatterbox.agent.messages import FinishReason, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.managed_provider import (
    RANDOM_JITTER,
    BreakerPolicy,
    BreakerState,
    CircuitBreaker,
    ManagedProvider,
    Prefix,
    ReadAhead,
    StartedStream,
    StartLimits,
    Timeouts,
    await_first,
)
from tests.agent.providers.manual_clock import ManualClock
from tests.agent.turns import run_other_tasks
from tests.support.doubles import Gate, Line, ScriptedProvider, say

CLOSED, OPEN, HALF_OPEN = BreakerState
POLICY = BreakerPolicy(failures=2, cool_down=10, growth=2, longest_cool_down=60)
DOWN = ProviderUnreachable("HTTP 500: boom")


class Server:
    """A server that a provider asks whether it would answer: raises its outcomes in turn, None for none."""

    def __init__(self, *outcomes: ProviderError | None) -> None:
        self.outcomes = list(outcomes)
        self.requests = 0

    async def check(self) -> None:
        self.requests += 1
        if (outcome := self.outcomes.pop(0)) is not None:
            raise outcome


class Home:
    """A provider whose circuit is open, on a clock of its own."""

    def __init__(
        self,
        check: Callable[[], Coroutine[object, object, None]] | None,
        seconds: float = 30,
    ) -> None:
        self.clock = ManualClock()
        self.breaker = CircuitBreaker(POLICY, self.clock)
        self.managed = ManagedProvider(
            "kitchen",
            ScriptedProvider(),
            self.breaker,
            Timeouts(first_token=seconds),
            check=check,
        )
        self.breaker.trip(DOWN)

    def cool_down(self) -> None:
        self.clock.advance(self.breaker.seconds_until_probe)


async def test_a_service_that_is_back_gets_its_place_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    home = Home(Server(None).check)
    home.cool_down()

    with caplog.at_level(logging.INFO):
        await home.managed.probe()

    assert home.breaker.state is CLOSED
    assert caplog.messages == ["kitchen answers again"]


@pytest.mark.parametrize("error", [DOWN, ProviderRejectedKey("HTTP 401")], ids=repr)
async def test_a_service_that_is_not_back_is_left_alone_for_longer(
    error: ProviderError,
) -> None:
    home = Home(Server(error).check)
    home.cool_down()

    await home.managed.probe()

    assert (home.breaker.state, home.breaker.seconds_until_probe) == (OPEN, 20)
    assert home.breaker.last_error is type(error)


async def test_a_service_that_works_is_not_asked() -> None:
    server = Server()
    home = Home(server.check)
    home.breaker.insist().succeeded()

    await home.managed.probe()

    assert server.requests == 0


async def test_where_nobody_needs_to_ask_nothing_happens() -> None:
    home = Home(None)
    home.cool_down()

    await home.managed.probe()

    assert home.breaker.state is HALF_OPEN


@pytest.mark.usefixtures("loop_clock")
async def test_a_service_that_is_late_is_not_back() -> None:
    gate = Gate()

    async def check() -> None:
        await gate()

    home = Home(check, seconds=5)
    home.cool_down()

    await home.managed.probe()

    assert home.breaker.state is OPEN
    assert home.breaker.last_error is FirstTokenTimeout
    assert not gate.passed.is_set()


@pytest.mark.usefixtures("loop_clock")
async def test_a_service_that_has_to_load_its_model_may_take_as_long_as_measured() -> (
    None
):
    gate = Gate()

    async def check() -> None:
        await gate()

    home = Home(check, seconds=5)
    home.managed = replace(
        home.managed, timeouts=replace(home.managed.timeouts, first_answer=60)
    )
    home.cool_down()

    probe = asyncio.create_task(home.managed.probe())
    await gate.reached.wait()
    await asyncio.sleep(59)
    gate.opened.set()
    await probe

    assert home.breaker.state is CLOSED


def test_a_failure_found_elsewhere_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    home = Home(None)
    for error in (DOWN, ProviderRejectedKey("no"), ProviderRejectedKey("no")):
        home.managed.tripped(error)

    assert home.breaker.state is OPEN
    assert [record.message for record in caplog.records] == [
        "kitchen failed: ProviderRejectedKey: no"
    ]


REQUEST = CompletionRequest("", (UserMessage("Hi"),))
TIMEOUTS = Timeouts(first_token=4, between_tokens=2)
LONGEST = 60
END = CompletionResult(FinishReason.STOP)


async def read(provider: ScriptedProvider, clock: ManualClock) -> list[ProviderEvent]:
    """Follow a stream to its end, within the timeouts of these tests."""
    begun = await await_first(
        provider.stream(REQUEST), TIMEOUTS.first_token, LONGEST, clock
    )
    async with aclosing(begun):
        return await read_on(begun)


async def read_on(
    begun: StartedStream, after_each: Callable[[], None] = lambda: None
) -> list[ProviderEvent]:
    """Follow a stream that has begun to its end."""
    events: list[ProviderEvent] = []
    event: ProviderEvent | None = begun.first
    while event is not None:
        events.append(event)
        after_each()
        event = await begun.after(event, TIMEOUTS)
    return events


async def test_a_stream_in_time_passes_unchanged_and_is_closed() -> None:
    provider = ScriptedProvider([TextDelta("It is "), TextDelta("dark."), END])

    assert await read(provider, ManualClock()) == [
        TextDelta("It is "),
        TextDelta("dark."),
        END,
    ]
    assert provider.open_streams == 0


async def test_nothing_is_asked_of_a_stream_after_its_end() -> None:
    assert await read(
        ScriptedProvider([END, ProviderUnreachable("never seen")]), ManualClock()
    ) == [END]


@pytest.mark.parametrize(
    ("lines", "seconds", "late"),
    [([], 4, FirstTokenTimeout), ([TextDelta("It")], 2, BetweenTokensTimeout)],
    ids=["first", "between"],
)
async def test_each_wait_has_its_own_bound_and_error(
    lines: list[Line], seconds: float, late: type[ProviderError]
) -> None:
    clock, gate = ManualClock(), Gate()
    provider = ScriptedProvider([*lines, gate, *say("Late.")])
    reading = asyncio.create_task(read(provider, clock))
    await gate.reached.wait()

    clock.advance(seconds - 0.001)
    await asyncio.sleep(0)
    assert not reading.done()
    clock.advance(0.001)

    with pytest.raises(late, match=f"for {seconds:g} seconds") as caught:
        await reading
    assert type(caught.value) is late
    assert provider.open_streams == 0
    assert not gate.passed.is_set()


async def test_the_time_that_a_reader_takes_is_not_the_models() -> None:
    clock = ManualClock()
    stream = ScriptedProvider([TextDelta("It "), TextDelta("is "), END]).stream(REQUEST)
    begun = await await_first(stream, TIMEOUTS.first_token, LONGEST, clock)

    async with aclosing(begun):
        read_slowly = await read_on(begun, lambda: clock.advance(60))
    assert read_slowly == [TextDelta("It "), TextDelta("is "), END]


@pytest.mark.parametrize(
    "lines", [[], [TextDelta("It")]], ids=["at once", "in the middle"]
)
async def test_a_stream_that_ends_without_a_finish_is_a_failure(
    lines: list[Line],
) -> None:
    with pytest.raises(ProviderReplyInvalid, match="without a finish"):
        await read(ScriptedProvider(lines), ManualClock())


@pytest.mark.parametrize(
    "error",
    [ProviderUnreachable("gone"), TimeoutError("a bug"), ValueError("a bug")],
    ids=repr,
)
async def test_exceptions_of_a_stream_are_passed_on(error: Exception) -> None:
    scripts: list[list[Line]] = [[error], [TextDelta("It"), error]]
    for lines in scripts:
        with pytest.raises(type(error)) as caught:
            await read(ScriptedProvider(lines), ManualClock())
        assert caught.value is error


@pytest.mark.parametrize("lines", [[], [TextDelta("It")]], ids=["first", "between"])
async def test_a_cancelled_reader_closes_the_stream(lines: list[Line]) -> None:
    clock, gate = ManualClock(), Gate()
    provider = ScriptedProvider([*lines, gate])
    reading = asyncio.create_task(read(provider, clock))
    await gate.reached.wait()

    reading.cancel()

    with pytest.raises(asyncio.CancelledError):
        await reading
    assert provider.open_streams == 0


@pytest.mark.parametrize("lines", [[], [TextDelta("It")]], ids=["first", "between"])
async def test_a_cancellation_from_elsewhere_is_a_failure_of_the_service(
    lines: list[Line],
) -> None:
    """Then the service has failed, and whoever waits for it was not cancelled."""
    waited_for = asyncio.get_running_loop().create_future()
    gate = Gate()

    async def wait() -> None:
        gate.reached.set()
        await waited_for

    provider = ScriptedProvider([*lines, wait])
    reading = asyncio.create_task(read(provider, ManualClock()))
    await gate.reached.wait()

    waited_for.cancel()

    with pytest.raises(ProviderUnreachable):
        await reading
    assert provider.open_streams == 0


@dataclass
class Reading:
    """A service that reads a prompt of 100 tokens: tokens read, and the seconds until it tells that."""

    reports: Sequence[tuple[float, int]]
    silent_for: float = 0
    """Seconds between the last report and the answer."""
    clock: ManualClock = field(default_factory=ManualClock)

    def lines(self) -> list[Line]:
        lines: list[Line] = []
        for seconds, processed in self.reports:
            lines += [partial(self._rest, seconds), PromptProgress(processed, 100)]
        return [*lines, partial(self._rest, self.silent_for), *say("At last.")]

    async def _rest(self, seconds: float) -> None:
        self.clock.advance(seconds)
        await run_other_tasks()


@pytest.mark.parametrize(
    ("reports", "silent_for"),
    [
        ([(3, 10), (5, 20), (9, 30), (15, 40)], 25),
        ([(0, 0)], 59),
        ([(3, 100)], 3),
        ([(3, 0), (10, 90), (10, 100)], 3),
        ([(3, 0), (10, 60), (19, 50)], 0),
    ],
    ids=[
        "in batches",
        "in one batch",
        "at once",
        "to its end",
        "and tells less at the end",
    ],
)
async def test_a_service_that_gets_on_with_the_prompt_is_waited_for(
    reports: Sequence[tuple[float, int]], silent_for: float
) -> None:
    reading = Reading(reports, silent_for)
    provider = ScriptedProvider(reading.lines())

    assert (await read(provider, reading.clock))[0] == TextDelta("At last.")


@pytest.mark.parametrize(
    ("reports", "silent_for", "given_up_at"),
    [
        ([(5, 10)], 0, 5),
        ([(3, 0), (10, 50)], 21, 34),
        ([(3, 0), (1, 50)], 5, 9),
        ([(3, 100)], 5, 8),
        ([(3, 50), (1, 50), *[(1, 50), (1, 30)] * 40], 0, 60),
        ([(3, 0), (2, 50), *[(1, 50), (1, 30)] * 40], 0, 9),
        ([(3, one) for one in range(100)], 0, 60),
    ],
    ids=[
        "late from the start",
        "silent",
        "silent after a short batch",
        "silent at the end",
        "the same from the start",
        "no further",
        "for ever",
    ],
)
async def test_a_service_that_gets_on_no_more_is_given_up(
    reports: Sequence[tuple[float, int]], silent_for: float, given_up_at: float
) -> None:
    reading = Reading(reports, silent_for)
    provider, begun = ScriptedProvider(reading.lines()), reading.clock.now()

    with pytest.raises(FirstTokenTimeout):
        await read(provider, reading.clock)

    assert reading.clock.now() - begun == given_up_at
    assert provider.open_streams == 0


async def test_the_first_answer_after_a_start_a_failure_or_a_pause_may_take_longer() -> (
    None
):
    home = Home(Server(None).check)
    home.managed = replace(
        home.managed, timeouts=Timeouts(first_token=4, first_answer=40)
    )

    async def ask(silent_for: float) -> type[Exception] | None:
        provider = ScriptedProvider(Reading([], silent_for, home.clock).lines())
        managed = replace(home.managed, provider=provider, retries=False)
        with home.breaker.insist() as permit:
            try:
                await (
                    await managed.start(
                        REQUEST,
                        StartLimits(LONGEST),
                        home.clock,
                        RANDOM_JITTER,
                        may_retry=False,
                    )
                ).aclose()
            except ProviderError as error:
                managed.failed(permit, error)
                return type(error)
            managed.succeeded(permit)
            return None

    home.cool_down()
    await home.managed.probe()
    assert [await ask(39), await ask(3), await ask(5)] == [
        None,
        None,
        FirstTokenTimeout,
    ]
    assert [await ask(39), await ask(39), await ask(39)] == [
        None,
        None,
        FirstTokenTimeout,
    ], "the second may be a check"
    await ask(1), await ask(1)
    home.clock.advance(301)
    assert [await ask(41), await ask(39)] == [FirstTokenTimeout, None]


BROKEN = ProviderUnreachable("down")


def at_most() -> float:
    """Make every wait as long as it may be (nearly: jitter stays below 1)."""
    return 1.0


async def ask(
    provider: ScriptedProvider, clock: ManualClock, within: float = 10
) -> StartedStream:
    """Begin a stream that may be begun once more."""
    managed = ManagedProvider(
        "kitchen", provider, CircuitBreaker(), closes_promptly=True
    )
    return await managed.start(
        REQUEST, StartLimits(within), clock, at_most, may_retry=True
    )


async def test_a_second_try_that_works_is_the_answer() -> None:
    clock, provider = ManualClock(), ScriptedProvider([BROKEN], say("Here."))

    begun = await ask(provider, clock)

    assert begun.first == TextDelta("Here.")
    assert clock.sleeps == [0.25]
    assert provider.open_streams == 1
    await begun.rest.aclose()
    assert provider.open_streams == 0


async def test_a_second_failure_is_the_end() -> None:
    clock, provider = (
        ManualClock(),
        ScriptedProvider([BROKEN], [ProviderReplyInvalid("nonsense")]),
    )

    with pytest.raises(ProviderReplyInvalid):
        await ask(provider, clock)

    assert clock.sleeps == [0.25]
    assert len(provider.requests) == 2


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
async def test_permanent_errors_are_not_retried(error: ProviderError) -> None:
    clock, provider = ManualClock(), ScriptedProvider([error])

    with pytest.raises(type(error)):
        await ask(provider, clock)

    assert len(provider.requests) == 1
    assert not clock.sleeps


async def test_all_tries_share_one_deadline() -> None:
    clock, gate = ManualClock(), Gate()
    provider = ScriptedProvider([BROKEN], [gate])
    asking = asyncio.create_task(ask(provider, clock))
    await gate.reached.wait()

    clock.advance(9.75)

    with pytest.raises(FirstTokenTimeout, match=r"for 9\.75 seconds"):
        await asking


@pytest.mark.parametrize(("within", "tries"), [(0.25, 1), (0.26, 2)])
async def test_a_wait_that_does_not_fit_is_not_begun(within: float, tries: int) -> None:
    clock, provider = ManualClock(), ScriptedProvider([BROKEN], [BROKEN])

    with pytest.raises(ProviderUnreachable):
        await ask(provider, clock, within=within)

    assert len(provider.requests) == tries


@pytest.mark.parametrize(
    ("retry_after", "waits"),
    [(None, [0.25]), (0.2, [0.25]), (7.0, [7.0]), (10.0, []), (3600.0, [])],
    ids=repr,
)
async def test_retry_after_is_honoured_when_it_fits(
    retry_after: float | None, waits: list[float]
) -> None:
    clock, provider = (
        ManualClock(),
        ScriptedProvider([ProviderBusy("slow down", retry_after)], say("Here.")),
    )
    asking = ask(provider, clock)

    if waits:
        await (await asking).rest.aclose()
    else:
        with pytest.raises(ProviderBusy):
            await asking

    assert clock.sleeps == waits
    assert len(provider.requests) == len(waits) + 1


def test_jitter_is_a_part_of_one() -> None:
    assert all(0 <= RANDOM_JITTER() < 1 for _ in range(100))


KIND: Final[Prefix] = ("a-model", "Be kind.", ())


async def _reading(ahead: ReadAhead, prefix: Prefix | None) -> asyncio.Event:
    """Have a prefix read until the event is set."""
    done = asyncio.Event()

    async def read() -> None:
        await done.wait()

    ahead.task, ahead.prefix = asyncio.create_task(read()), prefix
    await run_other_tasks()
    return done


async def test_a_request_waits_for_its_prefix_to_be_read() -> None:
    ahead = ReadAhead()
    done = await _reading(ahead, KIND)
    assert ahead.is_under_way
    assert ahead.task
    waiting = asyncio.create_task(ahead.give_way(KIND, 60))
    await run_other_tasks()
    assert not waiting.done()
    done.set()
    await waiting

    assert not ahead.task.cancelled()
    assert [prefix for prefix, _ in ahead.known] == [KIND]
    await ahead.give_way(KIND, 60)
    assert [prefix for prefix, _ in ahead.known] == [KIND]


async def test_a_prefix_that_takes_too_long_is_read_on_until_the_next_request() -> None:
    ahead = ReadAhead()
    await _reading(ahead, KIND)
    assert ahead.task
    with pytest.raises(FirstTokenTimeout, match="still reading"):
        await ahead.give_way(KIND, 0)
    assert ahead.is_under_way
    assert ahead.known == []

    await ahead.give_way(KIND, 60)
    assert ahead.task.cancelled()
    assert [prefix for prefix, _ in ahead.known] == [KIND]


@pytest.mark.parametrize(
    "prefix", [("a-model", "Be brief.", ()), ("another", "Be kind.", ()), None]
)
async def test_a_request_ends_the_reading_of_another_prefix(
    prefix: Prefix | None,
) -> None:
    ahead = ReadAhead()
    await _reading(ahead, prefix)
    assert ahead.task

    await ahead.give_way(KIND, 60)
    await asyncio.wait({ahead.task})

    assert ahead.task.cancelled()
    assert not ahead.is_under_way


async def test_a_server_is_expected_to_hold_the_prefixes_of_one_model_only() -> None:
    ahead = ReadAhead()
    for prefix in (KIND, ("a-model", "Be brief.", ()), ("another", "Be kind.", ())):
        await ahead.give_way(prefix, 60)

    assert [prefix for prefix, _ in ahead.known] == [("another", "Be kind.", ())]


async def test_a_first_answer_that_nobody_has_measured_may_take_as_long_as_the_turn() -> (
    None
):
    home = Home(Server(None).check)
    home.managed = replace(
        home.managed, model="a-model", timeouts=Timeouts(first_token=4, is_guessed=True)
    )

    async def begins(after: float) -> bool:
        provider = ScriptedProvider(Reading([], after, home.clock).lines())
        managed = replace(home.managed, provider=provider, retries=False)
        with home.breaker.insist() as permit:
            try:
                await (
                    await managed.start(
                        REQUEST,
                        StartLimits(LONGEST),
                        home.clock,
                        RANDOM_JITTER,
                        may_retry=False,
                    )
                ).aclose()
            except FirstTokenTimeout as error:
                managed.failed(permit, error)
                return False
            managed.succeeded(permit)
            return True

    silences = [LONGEST + 1, LONGEST - 1, LONGEST - 1, 5, 5]
    assert [await begins(one) for one in silences] == [False, True, True, False, True]
    assert home.managed.first_wait == 4, "it keeps no other provider waiting"
    home.clock.advance(301)
    home.managed.ahead.seconds["a-model"] = 10
    assert home.managed.first_wait == 20, "reading ahead has measured it"
