"""How long a model may keep us waiting: the deadlines as data, and streams that keep to them.

Knows any `LLMProvider`'s stream and a clock. Only the time in which we wait counts, never what
the reader of a stream does between two events. The whole turn has its own deadline, elsewhere. A
stream that might ignore its cancellation is handed in as a `leavable` one.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, fields

from ..clock import Clock, WaitedTooLong, WaitLimit
from ..errors import BetweenTokensTimeout, FirstTokenTimeout, ProviderReplyInvalid
from ..events import CompletionResult, ProviderEvent


@dataclass(frozen=True, slots=True)
class Patience:
    """Deadlines for one provider, each in seconds and more than 0."""

    connect: float = 5.0
    """Until a connection stands, TLS included. Kept by the provider itself, which alone sees its connections: build it
    with this as its time limit, and it raises `ConnectTimeout`."""
    first_token: float = 20.0
    """Until the first event, connecting and all retries included."""
    between_tokens: float = 30.0
    """Between two events. A tool call is one event, however long the model writes it."""

    def __post_init__(self) -> None:
        """Refuse deadlines that no service could keep."""
        for one in fields(self):
            if not getattr(self, one.name) > 0:
                raise ValueError(f"{one.name} must be more than 0 seconds")


@dataclass(frozen=True, slots=True)
class BegunStream:
    """A stream whose first event is there. Whoever holds it closes `rest`."""

    first: ProviderEvent
    rest: AsyncGenerator[ProviderEvent]


async def await_first(stream: AsyncGenerator[ProviderEvent], seconds: float, clock: Clock) -> BegunStream:
    """Wait for a stream to begin.

    Raises `FirstTokenTimeout`, whatever `ProviderError` the stream raises, or `ProviderReplyInvalid` when
    it ends without a finish.
    """
    limit = WaitLimit(clock)
    limit.set(seconds)
    try:
        return BegunStream(await _next(stream, limit), stream)
    except WaitedTooLong as err:
        raise FirstTokenTimeout(f"the service sent nothing for {max(seconds, 0):g} seconds") from err
    finally:
        limit.stop()


async def follow(begun: BegunStream, patience: Patience, clock: Clock) -> AsyncGenerator[ProviderEvent]:
    """Yield all events of a stream, the first one and its `CompletionResult` included; closes it at the end.

    Raises as `await_first` does, with `BetweenTokensTimeout` for a silence that is too long.
    """
    limit = WaitLimit(clock)
    async with aclosing(begun.rest):
        event = begun.first
        try:
            while not isinstance(event, CompletionResult):
                yield event
                limit.set(patience.between_tokens)
                event = await _next(begun.rest, limit)
        except WaitedTooLong as err:
            raise BetweenTokensTimeout(f"the service fell silent for {patience.between_tokens:g} seconds") from err
        finally:
            limit.stop()
        yield event


async def _next(stream: AsyncGenerator[ProviderEvent], limit: WaitLimit) -> ProviderEvent:
    try:
        with limit:
            return await anext(stream)
    except StopAsyncIteration:
        raise ProviderReplyInvalid("the stream ended without a finish") from None
