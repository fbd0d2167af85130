"""The body of a response, as far as it is wanted: piece by piece, whole, or the beginning of an error.

Knows bounds of size and time; must not know who is asked, or what the bytes mean.
"""

import asyncio
import math
from typing import Final, final

import aiohttp

from ..clock import SYSTEM_CLOCK, Clock, Timer, WaitedTooLong, WaitLimit
from ..errors import ProviderReplyInvalid
from .failures import error_of_exception

_MAX_BODY_BYTES: Final = 8 * 1024 * 1024
_MAX_ERROR_BYTES: Final = 64 * 1024
_FOR_ERROR_BODY: Final = 1.0
"""Seconds to wait for an error body: the status says most, and somebody waits for who comes next."""


async def receive(response: aiohttp.ClientResponse, deadline: float) -> bytes:
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
    """What is left of a response that comes in pieces. To be closed.

    Bounds the silence itself: `aiohttp` sets a timer anew for every packet, this has one for all.
    """

    def __init__(self, response: aiohttp.ClientResponse, silence: float, clock: Clock = SYSTEM_CLOCK) -> None:
        """Wait no longer than `silence`, in seconds, for any piece."""
        self._response = response
        self._silence = silence
        self._clock = clock
        self._limit = WaitLimit(clock)
        self._held: asyncio.Transport | None = None
        """The connection, while nothing is read from it."""
        self._timer: Timer | None = None
        """Of the moment at which it is read again."""
        if response.connection is not None and (protocol := response.connection.protocol) is not None:
            protocol.read_timeout = None  # from the next packet on; until then its timer says the same as ours

    def close(self) -> None:
        """Bound nothing any more, and let the connection be read."""
        self._limit.stop()
        self._release()

    def hold(self) -> None:
        """Read nothing until the next `receive`: the system keeps what comes, and nobody is woken by it.

        So nothing can fail either, before what came until now has been handled.
        """
        if self._held is None and (connection := self._response.connection) and (transport := connection.transport):
            transport.pause_reading()
            self._held = transport

    async def receive(self, deadline: float, not_before: float = 0) -> bytes:
        """Return the next bytes; see `receive`. After `hold`, all that are there at the time `not_before`.

        Both times are on the clock that this was given.
        """
        if self._held is not None and self._timer is None:
            self._release_in(not_before - self._clock.now())
        must_succeed = math.isinf(deadline)
        self._limit.set(self._silence if must_succeed else deadline - self._clock.now())
        failure: Exception
        try:
            with self._limit:
                chunk = await self._response.content.readany()
        except WaitedTooLong:
            failure = aiohttp.SocketTimeoutError()
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


async def read_beginning(response: aiohttp.ClientResponse) -> bytes:
    """Return the first bytes that are not blank, empty where there are none.

    Blanks before an answer keep the connection alive and mean nothing. Raises a `ProviderError`.
    """
    while chunk := await receive(response, math.inf):
        if beginning := chunk.lstrip():
            return beginning
    return b""


async def read_text(response: aiohttp.ClientResponse, beginning: bytes = b"", *, most: int = _MAX_BODY_BYTES) -> str:
    """Return `beginning` and all that follows it as text.

    Raises a `ProviderError`, also for more than `most` bytes.
    """
    body = bytearray(beginning)
    while chunk := await receive(response, math.inf):
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
