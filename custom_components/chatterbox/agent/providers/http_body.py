"""The body of a response, as far as it is wanted: piece by piece, whole, or the beginning of an error.

Knows bounds of size and time; must not know who is asked, or what the bytes mean.
"""

import asyncio
import math
from typing import Final

import aiohttp
from aiohttp.helpers import set_result

from ..clock import SYSTEM_CLOCK, WaitedTooLong, WaitLimit
from ..errors import ProviderReplyInvalid
from .failures import error_of_exception

_MAX_BODY_BYTES: Final = 8 * 1024 * 1024
_MAX_ERROR_BYTES: Final = 64 * 1024
_FOR_ERROR_BODY: Final = 1.0
"""Seconds to wait for an error body: the status says most, and somebody waits for who comes next."""


def now() -> float:
    """Return the time of the event loop, in seconds."""
    return asyncio.get_running_loop().time()


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
        if not isinstance(err, TimeoutError) and (left := _take(response)):
            return left
        if must_succeed:
            raise error_of_exception(err) from err
        return b""


def _take(response: aiohttp.ClientResponse) -> bytes:
    """Return the bytes that are there, also when the connection has failed since: then `readany` holds them back."""
    packets = response.content._buffer  # noqa: SLF001  # no public way leads to what came before a failure
    if len(packets) > 1:  # taking one has the whole connection go on reading: once is enough
        whole = b"".join(packets)
        packets.clear()
        packets.append(whole)
    return response.content._read_nowait(-1)  # noqa: SLF001  # the same


class StreamedBody:
    """What is left of a response that comes in pieces.

    Bounds the silence itself: `aiohttp` sets a timer anew for every packet, this has one for all. To be closed.
    """

    def __init__(self, response: aiohttp.ClientResponse, silence: float) -> None:
        """Wait no longer than `silence`, in seconds, for any piece."""
        self._response = response
        self._silence = silence
        self._limit = WaitLimit(SYSTEM_CLOCK)
        if response.connection is not None and (protocol := response.connection.protocol) is not None:
            protocol.read_timeout = None  # from the next packet on; until then its timer says the same as ours

    def close(self) -> None:
        """Bound nothing any more."""
        self._limit.stop()

    async def receive(self, deadline: float) -> bytes:
        """Return the next bytes; see `receive`."""
        if not math.isinf(deadline):
            return await receive(self._response, deadline)
        self._limit.set(self._silence)
        try:
            with self._limit:
                return await receive(self._response, deadline)
        except WaitedTooLong:
            err = aiohttp.SocketTimeoutError()
            raise error_of_exception(err) from err

    async def receive_until(self, end: float) -> bytes:
        """Return all that comes until `end`, on the clock of the event loop, or until nothing more can come.

        No longer than the silence that is allowed. Wakes once, however many packets that are. Never fails: the next
        `receive` tells what went wrong.
        """
        timer = asyncio.get_running_loop().call_at(min(end, now() + self._silence), self._end_wait)
        try:
            await self._response.content.wait_eof()
        except aiohttp.ClientError, OSError:
            pass
        finally:
            timer.cancel()
        return _take(self._response)

    def _end_wait(self) -> None:
        """End the wait of `receive_until`: a timeout would do it by cancelling, which costs much more."""
        waiter = self._response.content._eof_waiter  # noqa: SLF001  # nothing public waits for the end or a failure
        if waiter is not None:  # else the response has ended in the same moment
            set_result(waiter, None)


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
    deadline = now() + seconds
    while len(body) < _MAX_ERROR_BYTES and (chunk := await receive(response, deadline)):
        body += chunk
    return bytes(body[:_MAX_ERROR_BYTES])
