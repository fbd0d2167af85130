"""How long a model may keep us waiting: the deadlines as data, and streams that keep to them.

Knows any `LLMProvider`'s stream and a clock. Only the time in which we wait counts, never what
the reader of a stream does between two events. The whole turn has its own deadline, elsewhere. A
stream that might ignore its cancellation is handed in as a `leavable` one.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, fields
from typing import Final

from ..errors import BetweenTokensTimeout, FirstTokenTimeout, ProviderReplyInvalid, ProviderUnreachable
from ..events import CompletionResult, ProviderEvent
from ..timeouts import Clock, WaitedTooLong, WaitLimit, is_cancelled

_NO_FINISH: Final = "the stream ended without a finish"
_CANCELLED: Final = "the stream was cancelled"


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
    """A stream whose first event is there. Whoever holds it closes it."""

    first: ProviderEvent
    rest: AsyncGenerator[ProviderEvent]
    limit: WaitLimit
    """Bounds the waits for `rest`, by the timer that bounded the first one."""

    async def after(self, event: ProviderEvent, patience: Patience) -> ProviderEvent | None:
        """Wait for what follows an event; None after its `CompletionResult`.

        Raises as `await_first` does, with `BetweenTokensTimeout` for a silence that is too long.
        """
        if isinstance(event, CompletionResult):
            return None
        self.limit.set(patience.between_tokens)
        try:
            with self.limit:
                return await anext(self.rest)
        except StopAsyncIteration:
            raise ProviderReplyInvalid(_NO_FINISH) from None
        except WaitedTooLong as err:
            raise BetweenTokensTimeout(f"the service fell silent for {patience.between_tokens:g} seconds") from err
        except asyncio.CancelledError as err:
            if is_cancelled():
                raise
            raise ProviderUnreachable(_CANCELLED) from err

    async def aclose(self) -> None:
        """Leave the stream, and bound nothing any more."""
        self.limit.stop()
        await self.rest.aclose()


async def await_first(stream: AsyncGenerator[ProviderEvent], seconds: float, clock: Clock) -> BegunStream:
    """Wait for a stream to begin; closes one that does not.

    Raises `FirstTokenTimeout`, whatever `ProviderError` the stream raises, `ProviderReplyInvalid` when it ends without
    a finish, or `ProviderUnreachable` when something cancels what it waits for, and not who waits for the stream.
    """
    limit = WaitLimit(clock)
    limit.set(seconds)
    begun = None
    try:
        with limit:
            begun = BegunStream(await anext(stream), stream, limit)
    except StopAsyncIteration:
        raise ProviderReplyInvalid(_NO_FINISH) from None
    except WaitedTooLong as err:
        raise FirstTokenTimeout(f"the service sent nothing for {max(seconds, 0):g} seconds") from err
    except asyncio.CancelledError as err:
        if is_cancelled():
            raise
        raise ProviderUnreachable(_CANCELLED) from err
    finally:
        if begun is None:
            limit.stop()
            await stream.aclose()
    return begun
