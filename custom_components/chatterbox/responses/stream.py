"""Sends events to a program, as server-sent events, as soon as they come and no faster than it reads.

Knows how events are written, and when nobody reads them any more. Must not know what is in them, but for their `type`.
Source: WHATWG HTML standard, "Server-sent events"; OpenResponses specification, "Streaming".
"""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from aiohttp import hdrs, web

from ..agent.messages import JsonObject
from ..agent.responses.errors import ApiError, traceback_without_words
from ..const import LOGGER
from .exchange import Exchange, encoded, unexpected

_DONE: Final = b"data: [DONE]\n\n"
_STILL_HERE: Final = b": still here\n\n"
"""A comment, which keeps proxies from hanging up while a model thinks."""
_HEADERS: Final = {
    hdrs.CONTENT_TYPE: "text/event-stream; charset=utf-8",
    hdrs.CACHE_CONTROL: "no-cache, no-transform",
    "X-Accel-Buffering": "no",
}


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """How long silence may last, on either side."""

    reader_seconds: float = 60.0
    """Of a program that takes nothing of what waits for it; then it counts as gone."""
    comment_seconds: float = 15.0
    """Between two signs that the connection is still there."""


class ClientGone(Exception):
    """Nobody reads any more."""


@contextmanager
def reading(request: web.Request) -> Generator[None]:
    """Make `ClientGone` of what happens when a client has hung up or does not read; then the connection is cut."""
    try:
        yield
    except (ConnectionError, TimeoutError) as error:
        if request.transport:
            request.transport.abort()
        raise ClientGone from error


async def send_events(
    exchange: Exchange, events: AsyncGenerator[JsonObject], limits: StreamLimits
) -> web.StreamResponse:
    """Send events until there are no more, or nobody reads them, and close them in any case.

    Raises what comes in place of the first event.
    """
    async with aclosing(events):
        event = await anext(events)
        response = web.StreamResponse(headers=exchange.headers() | _HEADERS)
        with suppress(ClientGone):
            with reading(exchange.request):
                await response.prepare(exchange.request)
            sender = _Sender(exchange, response, limits)
            async with sender.staying():
                await sender.send(event)
                try:
                    async for one in events:
                        await sender.send(one)
                except ClientGone:
                    raise
                except Exception as error:  # noqa: BLE001  # a stream that has begun cannot become an answer with a status
                    await sender.send_bug(error)
                    return response
            await sender.write(_DONE)
    return response


class _Sender:
    """Writes events to one response."""

    def __init__(self, exchange: Exchange, response: web.StreamResponse, limits: StreamLimits) -> None:
        self._exchange = exchange
        self._response = response
        self._limits = limits
        self._next_number = 0

    async def send(self, event: JsonObject) -> None:
        """Write one event, at once. Raises `ClientGone`."""
        match event.get("sequence_number"):
            case int(number):
                self._next_number = number + 1
            case _:
                pass
        await self.write(f"event: {event['type']}\ndata: {encoded(event)}\n\n".encode())

    async def send_bug(self, error: Exception) -> None:
        """Tell of a bug as well as can be done by who does not know what is streamed."""
        told = error if isinstance(error, ApiError) else unexpected(self._exchange.id)
        LOGGER.error("A stream failed (%s): %s", self._exchange.id, traceback_without_words(error))
        await self.send({"type": "error", "sequence_number": self._next_number, "error": told.payload})

    async def write(self, data: bytes) -> None:
        """Write, and wait until there is room for more. Raises `ClientGone`."""
        with reading(self._exchange.request):
            async with asyncio.timeout(self._limits.reader_seconds):
                await self._response.write(data)

    @asynccontextmanager
    async def staying(self) -> AsyncGenerator[None]:
        """Give a sign from time to time while nothing else is sent."""
        signs = asyncio.create_task(self._give_signs(), name="chatterbox signs of a stream")
        try:
            yield
        finally:
            signs.cancel()
            await asyncio.wait({signs})

    async def _give_signs(self) -> None:
        with suppress(ClientGone):
            while True:
                await asyncio.sleep(self._limits.comment_seconds)
                await self.write(_STILL_HERE)
