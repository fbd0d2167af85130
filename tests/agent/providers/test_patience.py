"""A stream may begin late, pause and end without a word: each has its bound, and each its error."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import pytest

from custom_components.chatterbox.agent.errors import (
    BetweenTokensTimeout,
    FirstTokenTimeout,
    ProviderError,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import CompletionResult, ProviderEvent, TextDelta
from custom_components.chatterbox.agent.messages import FinishReason, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.patience import BegunStream, Patience, await_first
from custom_components.chatterbox.agent.timeouts import SYSTEM_CLOCK
from tests.support.doubles import Gate, Line, ScriptedProvider, never, say

from .manual_clock import ManualClock

REQUEST = CompletionRequest("", (UserMessage("Hi"),))
PATIENCE = Patience(connect=1, first_token=4, between_tokens=2)
END = CompletionResult(FinishReason.STOP)


async def read(provider: ScriptedProvider, clock: ManualClock) -> list[ProviderEvent]:
    """Follow a stream to its end, with the patience of these tests."""
    begun = await await_first(provider.stream(REQUEST), PATIENCE.first_token, clock)
    async with aclosing(begun):
        return await read_on(begun)


async def read_on(begun: BegunStream, after_each: Callable[[], None] = lambda: None) -> list[ProviderEvent]:
    """Follow a stream that has begun to its end."""
    events: list[ProviderEvent] = []
    event: ProviderEvent | None = begun.first
    while event is not None:
        events.append(event)
        after_each()
        event = await begun.after(event, PATIENCE)
    return events


async def test_a_stream_in_time_passes_unchanged_and_is_closed() -> None:
    provider = ScriptedProvider([TextDelta("It is "), TextDelta("dark."), END])

    assert await read(provider, ManualClock()) == [TextDelta("It is "), TextDelta("dark."), END]
    assert provider.open_streams == 0


async def test_an_end_alone_is_a_stream() -> None:
    assert await read(ScriptedProvider([END]), ManualClock()) == [END]


async def test_nothing_is_asked_of_a_stream_after_its_end() -> None:
    assert await read(ScriptedProvider([END, ProviderUnreachable("never seen")]), ManualClock()) == [END]


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
    begun = await await_first(stream, PATIENCE.first_token, clock)

    async with aclosing(begun):
        read_slowly = await read_on(begun, lambda: clock.advance(60))
    assert read_slowly == [TextDelta("It "), TextDelta("is "), END]


@pytest.mark.parametrize("lines", [[], [TextDelta("It")]], ids=["at once", "in the middle"])
async def test_a_stream_that_ends_without_a_finish_is_a_failure(lines: list[Line]) -> None:
    with pytest.raises(ProviderReplyInvalid, match="without a finish"):
        await read(ScriptedProvider(lines), ManualClock())


@pytest.mark.parametrize("error", [ProviderUnreachable("gone"), TimeoutError("a bug"), ValueError("a bug")], ids=repr)
async def test_what_a_stream_raises_is_passed_on(error: Exception) -> None:
    scripts: list[list[Line]] = [[error], [TextDelta("It"), error]]
    for lines in scripts:
        with pytest.raises(type(error)) as caught:
            await read(ScriptedProvider(lines), ManualClock())
        assert caught.value is error


async def test_leaving_in_the_middle_closes_the_stream() -> None:
    provider = ScriptedProvider([TextDelta("It"), never])
    begun = await await_first(provider.stream(REQUEST), 1, ManualClock())
    assert begun.first == TextDelta("It")

    await begun.aclose()

    assert provider.open_streams == 0


async def test_who_is_cancelled_takes_the_stream_along() -> None:
    clock, gate = ManualClock(), Gate()
    provider = ScriptedProvider([gate])
    reading = asyncio.create_task(read(provider, clock))
    await gate.reached.wait()

    reading.cancel()

    with pytest.raises(asyncio.CancelledError):
        await reading
    assert provider.open_streams == 0


@pytest.mark.parametrize("lines", [[], [TextDelta("It")]], ids=["first", "between"])
async def test_what_a_stream_waits_for_may_be_cancelled_by_others(lines: list[Line]) -> None:
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


async def test_the_clock_of_the_machine_keeps_the_bounds_too() -> None:
    before = SYSTEM_CLOCK.now()
    with pytest.raises(FirstTokenTimeout):
        await await_first(ScriptedProvider([never]).stream(REQUEST), 0.01, SYSTEM_CLOCK)
    await SYSTEM_CLOCK.sleep(0)
    assert SYSTEM_CLOCK.now() > before


@pytest.mark.parametrize("field", ["connect", "first_token", "between_tokens"])
@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_deadline_that_nobody_could_keep_is_refused(field: str, seconds: float) -> None:
    with pytest.raises(ValueError, match=f"{field} must be more than 0"):
        Patience(**{field: seconds})
