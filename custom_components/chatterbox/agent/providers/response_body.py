"""The body of a response: read in slices, bounded in size and time."""

import asyncio
import math
from typing import Final

import aiohttp

from ..errors import ProviderReplyInvalid
from .failures import error_of_exception

_MAX_BODY_BYTES: Final = 8 * 1024 * 1024
_MAX_ERROR_BYTES: Final = 64 * 1024
_SLICE: Final = 16 * 1024
"""Bytes that are read between two turns of the event loop."""


class ResponseBody:
    """The body of a response. Close it.

    Between two reads the connection is paused. Otherwise `aiohttp` would discard what it has received when the
    connection breaks before the next read.
    """

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        """Read nothing yet."""
        self.content_type = response.content_type
        self._response = response
        self._transport = response.connection.transport if response.connection else None
        self._ends_at = math.inf
        self._rest = b""
        self.received = 0
        """Bytes of the body so far."""

    def close(self) -> None:
        """Release the connection, for reuse if the response has ended; else close it."""
        self._set_paused(paused=False)
        if not self._response.closed:
            self._response.close()

    def _set_paused(self, *, paused: bool) -> None:
        if self._transport is None:
            return
        if paused and not self._response.closed:
            self._transport.pause_reading()
        elif not paused:
            self._transport.resume_reading()

    def end_within(self, seconds: float) -> None:
        """Bound the rest of the response, which no longer matters: a later failure counts as its end."""
        self._ends_at = min(self._ends_at, asyncio.get_running_loop().time() + seconds)

    @property
    def has_more(self) -> bool:
        """Return whether more bytes are here already."""
        return bool(self._rest)

    async def read(self) -> bytes:
        """Return the next bytes, empty at the end, and yield to the event loop. Raises a `ProviderError`."""
        if self._rest:
            await asyncio.sleep(0)
        else:
            self._rest = await self._receive()
            self.received += len(self._rest)
        chunk, self._rest = self._rest[:_SLICE], self._rest[_SLICE:]
        return chunk

    async def _receive(self) -> bytes:
        failure: Exception
        self._set_paused(paused=False)
        try:
            async with asyncio.timeout_at(None if math.isinf(self._ends_at) else self._ends_at):
                chunk = await self._response.content.readany()
        except RuntimeError:  # `aiohttp`, if its session was closed between two reads
            failure = aiohttp.ClientConnectionError("the connection was closed")
        except (aiohttp.ClientError, OSError) as err:
            failure = err
        else:
            self._set_paused(paused=True)
            return chunk
        if math.isinf(self._ends_at):
            raise error_of_exception(failure) from failure
        return b""

    async def read_start(self) -> bytes:
        """Return the first bytes that are not blank, which keep-alives are; empty if there are none."""
        while chunk := await self.read():
            if start := chunk.lstrip():
                return start
        return b""

    async def read_text(self, start: bytes = b"", *, limit: int = _MAX_BODY_BYTES) -> str:
        """Return `start` and the rest as text. Raises a `ProviderError`, also for more than `limit` bytes."""
        body = bytearray(start)
        while chunk := await self.read():
            body += chunk
            if len(body) > limit:
                raise ProviderReplyInvalid(f"the service sent an answer of more than {limit} bytes")
        return body.decode(errors="replace")

    async def read_within(self, seconds: float) -> bytes:
        """Return what arrives within `seconds`, up to 64 KiB. Never fails."""
        self.end_within(seconds)
        body = bytearray()
        while len(body) < _MAX_ERROR_BYTES and (chunk := await self.read()):
            body += chunk
        return bytes(body[:_MAX_ERROR_BYTES])
