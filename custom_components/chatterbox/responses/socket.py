"""Serves one WebSocket connection of an API client. Its messages are answered one after the other.

Source: OpenResponses specification, "WebSocket transport".
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, override

from aiohttp import WSCloseCode, WSMsgType, web
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Event, HomeAssistant, callback

from ..agent.messages import JsonObject
from .exchange import ClientGone, Exchange, encoded
from .protocol.errors import ApiError, invalid

if TYPE_CHECKING:  # imported in a thread when the API is enabled
    from .protocol.socket import SocketSession

_LIMIT_REACHED: Final = ApiError(
    "This connection has been open for as long as one may be. Open another one.",
    code="websocket_connection_limit_reached",
)
_PINGS_UNTIL_GONE: Final = 2
_TOO_MANY: Final = b"Too many messages wait."


async def serve_socket(
    hass: HomeAssistant,
    exchange: Exchange,
    session: SocketSession,
    admit: Callable[[], None],
) -> web.WebSocketResponse:
    """Answer messages until either side closes the connection.

    `admit` raises `ApiError` for a message that may not be answered. Raises `ApiError`
    (426) for another request.
    """
    # aiohttp's heartbeat would leave a timer behind when the connection is closed from
    # here.
    response = web.WebSocketResponse(
        autoping=False, max_msg_size=exchange.limits.size, compress=False
    )
    if not response.can_prepare(exchange.request):
        raise ApiError(
            "Open a WebSocket here, or POST a request for a response.",
            status=426,
            code="upgrade_required",
        )
    response.headers.update(exchange.headers())
    await response.prepare(exchange.request)
    arriving = _Arriving(exchange)
    try:
        await _Connection(exchange, response, session, admit, arriving).run(hass)
    finally:
        arriving.close()
    return response


class _Arriving(asyncio.Protocol):
    """Counts what a connection sends until it is a whole message; aborts a connection for which there is no room.

    It stands between the transport and `aiohttp`, which tells nobody of a message
    before it is whole.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._counted = self._latest = 0
        self._transport = exchange.request.transport
        self._protocol = exchange.request.protocol
        if self._transport is not None:
            self._transport.set_protocol(self)

    @override
    def data_received(self, data: bytes) -> None:
        self._latest = len(data)
        self._counted += self._latest
        if self._exchange.receive(self._latest):
            self._protocol.data_received(data)
        elif self._transport is not None:
            self._transport.abort()

    def note_message(self, size: int) -> None:
        """Count a message no longer, nor its head; at most what came last is of the next one."""
        left = min(
            max(self._counted - size, 0),
            self._latest,
        )
        self._exchange.receive(left - self._counted)
        self._counted = left

    def close(self) -> None:
        """Count nothing more."""
        self._exchange.receive(-self._counted)
        self._counted = 0
        if self._transport is not None:
            self._transport.set_protocol(self._protocol)

    @override
    def eof_received(self) -> None:
        self._protocol.eof_received()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._protocol.connection_lost(exc)

    @override
    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    @override
    def resume_writing(self) -> None:
        self._protocol.resume_writing()


@dataclass(slots=True)
class _Connection:
    """One connection, from its handshake to its end."""

    _exchange: Exchange
    _response: web.WebSocketResponse
    _session: SocketSession
    _admit: Callable[[], None]
    _arriving: _Arriving
    _messages: asyncio.Queue[str | ApiError] = field(default_factory=asyncio.Queue)
    _pings_since_heard: int = 0
    _is_stopping: bool = False

    async def run(self, hass: HomeAssistant) -> None:
        """Read messages while another task answers, so that a closed connection is noticed at once."""
        answering = asyncio.create_task(
            self._answer_all(), name="chatterbox answers of a socket"
        )
        pinging = asyncio.create_task(
            self._ping(),
            name="chatterbox pings of a socket",
        )
        try:
            async with asyncio.timeout(
                self._exchange.limits.connection_seconds
            ) as time_left:

                @callback
                def stop(_event: Event) -> None:
                    self._is_stopping = True
                    if not time_left.expired():
                        time_left.reschedule(hass.loop.time())

                forget = hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, stop)
                try:
                    await self._read()
                finally:
                    if not self._is_stopping:
                        forget()
        except TimeoutError:
            pinging.cancel()
            with suppress(ClientGone):
                await self._close(answering)
        finally:
            answering.cancel()
            pinging.cancel()
            await asyncio.wait({answering, pinging})

    async def _read(self) -> None:
        with suppress(ClientGone):
            async for message in self._response:
                self._pings_since_heard = 0
                self._arriving.note_message(
                    len(message.data) if message.type is WSMsgType.TEXT else 0
                )
                match message.type:
                    case WSMsgType.TEXT:
                        request: str | ApiError = message.data
                    case WSMsgType.PING:
                        await self._exchange.write(self._response.pong(message.data))
                        continue
                    case WSMsgType.PONG:
                        continue
                    case WSMsgType.ERROR:
                        return
                    case _:
                        request = invalid("Send messages as text.")
                if not self._keep(request):
                    closing = self._response.close(
                        code=WSCloseCode.POLICY_VIOLATION, message=_TOO_MANY
                    )
                    await self._exchange.write(closing)
                    return

    def _keep(self, message: str | ApiError) -> bool:
        """Queue a message; return whether there was room for it."""
        limits = self._exchange.limits
        if isinstance(message, str):
            size = len(message)
        else:
            size = 0
        if (
            self._messages.qsize() >= limits.waiting
            or self._exchange.held + size > 2 * limits.size
        ):
            return False
        try:
            self._exchange.hold(size)
        except ApiError as error:
            message = error
        self._messages.put_nowait(message)
        return True

    async def _ping(self) -> None:
        with suppress(ClientGone):
            while self._pings_since_heard < _PINGS_UNTIL_GONE:
                self._pings_since_heard += 1
                await self._exchange.write(self._response.ping())
                await asyncio.sleep(self._exchange.limits.ping_seconds)
        if self._exchange.request.transport:
            self._exchange.request.transport.abort()

    async def _close(self, answering: asyncio.Task[None]) -> None:
        """Close the connection after the current answer, or at once when Home Assistant stops."""
        if self._is_stopping:
            await self._exchange.write(
                self._response.close(code=WSCloseCode.GOING_AWAY)
            )
            return
        self._messages.shutdown(immediate=True)
        await asyncio.wait(
            {answering}, timeout=self._exchange.limits.last_answer_seconds
        )
        await self._send_error(_LIMIT_REACHED)
        await self._exchange.write(self._response.close())

    async def _answer_all(self) -> None:
        with suppress(ClientGone, asyncio.QueueShutDown):
            while True:
                message = await self._messages.get()
                try:
                    await self._answer(message)
                except ApiError as error:
                    await self._send_error(error)
                except ClientGone:
                    raise
                except Exception as error:  # noqa: BLE001  # a bug ends one answer, not the connection
                    await self._send_error(self._exchange.bug("A message", error))

    async def _answer(self, message: str | ApiError) -> None:
        if isinstance(message, ApiError):
            raise message
        try:
            self._admit()
            async with aclosing(self._session.answer(message)) as events:
                async for event in events:
                    await self._send(event)
        finally:
            self._exchange.hold(-len(message))

    async def _send_error(self, error: ApiError) -> None:
        await self._send(
            {
                "type": "error",
                "status": error.status,
                "error": error.payload,
            }
        )

    async def _send(self, event: JsonObject) -> None:
        await self._exchange.write(self._response.send_str(encoded(event)))
