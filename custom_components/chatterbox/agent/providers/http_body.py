"""The body of a response, as far as it is wanted: piece by piece, whole, or the beginning of an error.

Knows bounds of size and time; must not know who is asked, or what the bytes mean.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Final, final

import aiohttp

from ..errors import ProviderReplyInvalid
from ..timeouts import SYSTEM_CLOCK, Clock, Timer, WaitLimit
from .failures import error_of_exception

_MAX_BODY_BYTES: Final = 8 * 1024 * 1024
_MAX_ERROR_BYTES: Final = 64 * 1024
_FOR_ERROR_BODY: Final = 1.0
"""Seconds to wait for an error body: the status says most, and somebody waits for who comes next."""

type Receive = Callable[[], Awaitable[bytes]]
"""Returns the next bytes of a body; see `receive`."""


async def receive(response: aiohttp.ClientResponse, deadline: float = math.inf) -> bytes:
    """Return the next bytes, empty at the end of the response.

    A finite `deadline`, on the clock of the event loop, means that all that matters was
    received: what fails now is the end. Raises a `ProviderError` before that.
    """
    must_succeed = math.isinf(deadline)
    try:
        if must_succeed:
            return await response.content.readany()
        async with asyncio.timeout_at(deadline):
            return await response.content.readany()
    except (aiohttp.ClientError, OSError) as err:
        if must_succeed:
            raise error_of_exception(err) from err
        return b""


@final
class StreamedBody:
    """What is left of a response that comes in pieces. To be closed."""

    def __init__(
        self, response: aiohttp.ClientResponse, limit: WaitLimit, silence: float, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        """Wait no longer than `silence`, in seconds, for any piece; the `limit` is that of the request."""
        self._response = response
        self._limit = limit
        self._silence = silence
        self._clock = clock
        self._ends_at = math.inf
        """When the response is taken to be over, by which time all that matters was received."""
        self._transport = response.connection.transport if response.connection else None
        self._held: asyncio.Transport | None = None
        """The connection, while nothing is read from it."""
        self._held_until = 0.0
        self._timer: Timer | None = None
        """Of the moment at which it is read again."""

    def close(self) -> None:
        """Let the connection be read."""
        self._release()

    def hold(self, seconds: float = 0) -> None:
        """Read nothing until the next `receive`, nor for so many seconds from now.

        The system keeps what comes, and nobody is woken by it. So nothing can fail either, before what came until now
        has been handled.
        """
        if self._held is None and self._transport is not None and not self._response.closed:
            self._transport.pause_reading()
            self._held = self._transport
        if seconds:
            self._held_until = self._clock.now() + seconds

    async def receive(self, rest: float | None = None) -> bytes:
        """Return the next bytes; see `receive`. After `hold`, all that are there at the end of its time.

        Where a `rest` is given, all that matters was received: the response is over in so many seconds, nothing is held
        any more, and what fails is the end.
        """
        now = self._clock.now()
        if rest is not None:
            self._ends_at, self._held_until = min(self._ends_at, now + rest), now
        if self._held is not None and self._timer is None:
            self._release_in(self._held_until - now)
        must_succeed = math.isinf(self._ends_at)
        self._limit.set(self._silence if must_succeed else self._ends_at - now)
        failure: Exception
        try:
            with self._limit:
                chunk = await self._response.content.readany()
        except RuntimeError:  # so `aiohttp` says that its session was closed between two reads
            failure = aiohttp.ClientConnectionError("the connection was closed")
        except (aiohttp.ClientError, OSError) as err:
            failure = err
        else:
            return chunk
        if must_succeed:
            raise error_of_exception(failure) from failure
        return b""

    def _release_in(self, seconds: float) -> None:
        if seconds <= 0:
            self._release()
        else:  # a timer lets the connection be read: who sleeps would be woken twice for a frame
            self._timer = self._clock.call_later(seconds, self._release)

    def _release(self) -> None:
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        held, self._held = self._held, None
        if held is not None:
            held.resume_reading()


async def read_beginning(receive_next: Receive) -> bytes:
    """Return the first bytes that are not blank, empty where there are none.

    Blanks before an answer keep the connection alive and mean nothing. Raises a `ProviderError`.
    """
    while chunk := await receive_next():
        if beginning := chunk.lstrip():
            return beginning
    return b""


async def read_text(receive_next: Receive, beginning: bytes = b"", *, most: int = _MAX_BODY_BYTES) -> str:
    """Return `beginning` and all that follows it as text.

    Raises a `ProviderError`, also for more than `most` bytes.
    """
    body = bytearray(beginning)
    while chunk := await receive_next():
        body += chunk
        if len(body) > most:
            raise ProviderReplyInvalid(f"the service sent an answer of more than {most} bytes")
    return body.decode(errors="replace")


async def read_error(response: aiohttp.ClientResponse) -> bytes:
    """Return the beginning of an error body, or what there is of it: the status says enough."""
    return await read_soon(response, _FOR_ERROR_BODY)


async def read_soon(response: aiohttp.ClientResponse, seconds: float) -> bytes:
    """Return what comes of a body within `seconds`, up to 64 KiB; never fails, because it does not matter much."""
    body = bytearray()
    deadline = asyncio.get_running_loop().time() + seconds
    while len(body) < _MAX_ERROR_BYTES and (chunk := await receive(response, deadline)):
        body += chunk
    return bytes(body[:_MAX_ERROR_BYTES])
