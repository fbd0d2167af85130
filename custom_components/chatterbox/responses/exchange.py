"""One HTTP request of an API client: its user, its JSON body, and its answer as JSON or as server-sent events.

Sources: WHATWG HTML standard, "Server-sent events"; OpenResponses specification,
"Streaming".
"""

import asyncio
import json
from codecs import lookup
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Generator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from time import monotonic
from typing import Final
from uuid import uuid4

from aiohttp import web
from aiohttp.hdrs import (
    CACHE_CONTROL,
    CONTENT_TYPE,
    RETRY_AFTER,
    WWW_AUTHENTICATE,
)
from homeassistant.auth.models import User
from homeassistant.components.http import (
    KEY_AUTHENTICATED,
    KEY_HASS_REFRESH_TOKEN_ID,
    KEY_HASS_USER,
)

from ..agent.errors import traceback_without_words
from ..agent.messages import JsonObject, JsonValue
from ..const import LOGGER
from .protocol.backend import Caller
from .protocol.errors import ApiError, ErrorType, internal_error, invalid

JSON: Final = "application/json"
_LAST_LOOK: Final = 1.0
"""Seconds in which a client may read an answer that came before it had sent its whole body."""
_DONE: Final = b"data: [DONE]\n\n"
_COMMENT: Final = b": still here\n\n"
"""A comment that keeps proxies from closing the connection while a model thinks."""
_HEADERS: Final = {
    CONTENT_TYPE: "text/event-stream; charset=utf-8",
    CACHE_CONTROL: "no-cache, no-transform",
    "X-Accel-Buffering": "no",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """Limits of requests, streams and WebSocket connections."""

    at_once: int = 64
    """Requests and connections of one token."""
    size: int = 1024 * 1024
    """Bytes of a body, uncompressed, or of a message; twice as many of all messages of a connection. An owner may set
    another size."""
    size_of_all: int = 16 * 1024 * 1024
    """Bytes of all bodies and messages that are being answered, of all tokens; one token may have half of it."""
    body_seconds: float = 60.0
    """To send a body."""
    reader_seconds: float = 60.0
    """Until a client that reads nothing counts as gone."""
    comment_seconds: float = 15.0
    """Between two comments of a stream."""
    connection_seconds: float = 3600.0
    """That a connection lasts."""
    last_answer_seconds: float = 120.0
    """Of the answer that is being sent when that time is up."""
    ping_seconds: float = 30.0
    """Between two pings; a client that sends nothing after two of them counts as gone."""
    waiting: int = 16
    """Messages that may wait on a connection."""


@dataclass(frozen=True, slots=True)
class Load:
    """The requests that are being answered: their number and their bytes, by the id of their token."""

    requests: Counter[str] = field(default_factory=Counter)
    sizes: Counter[str] = field(default_factory=Counter)
    unfinished: Counter[str] = field(default_factory=Counter)
    """Bytes of messages of connections that have not arrived whole."""


def _too_many(message: str) -> ApiError:
    status = HTTPStatus.TOO_MANY_REQUESTS
    kind = ErrorType.TOO_MANY_REQUESTS
    return ApiError(
        message, status=status, kind=kind, code="rate_limit_exceeded", retry_after=1
    )


@dataclass(slots=True)
class Exchange:
    """A request and its answer."""

    request: web.Request
    limits: HttpLimits
    load: Load
    token: str = field(init=False)
    """Id of the token that the request is made with. It stays, whatever becomes of its user."""
    held: int = 0
    """Bytes of the body, or of messages, that are being answered."""
    id: str = field(default_factory=lambda: f"req_{uuid4().hex}")
    began_at: float = field(default_factory=monotonic)

    def __post_init__(self) -> None:
        """Note the token, or the user of a signed path."""
        user: User | None = self.request.get(KEY_HASS_USER)
        self.token = self.request.get(KEY_HASS_REFRESH_TOKEN_ID) or (
            user.id if user else ""
        )

    def require_user(self) -> User:
        """Return the user whose token was sent. Raises `ApiError` (401) without one."""
        user: User | None = self.request.get(KEY_HASS_USER)
        if (
            not self.request.get(KEY_AUTHENTICATED)
            or user is None
            or not user.is_active
        ):
            raise ApiError(
                "Send a token of Home Assistant, as Authorization: Bearer TOKEN. Your profile there makes long-lived"
                " ones.",
                status=401,
                kind=ErrorType.AUTHENTICATION,
                code="invalid_api_key",
            )
        return user

    @property
    def caller(self) -> Caller:
        """The user as the API knows them."""
        return Caller(
            self.require_user().id,
            self.token,
        )

    def path(self, name: str) -> str:
        """Return a variable part of the path."""
        return self.request.match_info[name]

    def headers(self) -> dict[str, str]:
        """Return the headers of every answer, as OpenAI names them."""
        return {
            CACHE_CONTROL: "no-store",
            "x-request-id": self.id,
            "openai-processing-ms": str(round((monotonic() - self.began_at) * 1000)),
        }

    @contextmanager
    def counted(self) -> Generator[None]:
        """Count the request while it is answered. Raises `ApiError` (429) if its token has too many already."""
        requests = self.load.requests
        token = self.token
        if requests[token] >= self.limits.at_once:
            raise _too_many(
                f"This token may have {self.limits.at_once} requests at once. Wait for one to end."
            )
        requests[token] += 1
        try:
            yield
        finally:
            self.hold(-self.held)
            requests[token] -= 1
            if not requests[token]:
                del requests[token], self.load.sizes[token], self.load.unfinished[token]

    def hold(self, size: int) -> None:
        """Count bytes that are to be answered, or were (below 0). Raises `ApiError` (429) if they are too many."""
        sizes = self.load.sizes
        token = self.token
        if size > 0 and not self._has_room(sizes, size):
            raise _too_many(
                "Too much is being answered at the moment. Send large requests one after the other."
            )
        sizes[token] += size
        self.held += size

    def receive(self, size: int) -> bool:
        """Count bytes of messages that have not arrived whole, or have now (below 0); return whether there is room."""
        has_room = size <= 0 or self._has_room(self.load.unfinished, size)
        self.load.unfinished[self.token] += size
        return has_room

    def _has_room(
        self,
        sizes: Counter[str],
        size: int,
    ) -> bool:
        most = self.limits.size_of_all
        largest = self.limits.size
        return sizes[self.token] + size <= max(
            most // 2, largest
        ) and sizes.total() + size <= max(most, largest)

    async def read_text(self) -> str:
        """Return the JSON body as text. Raises `ApiError` if it is not JSON in UTF-8, too large, or too slow."""
        request = self.request
        if request.content_type != JSON or not _is_utf8(request.charset):
            raise ApiError(
                "Send JSON, as Content-Type: application/json in UTF-8.", status=415
            )
        if (request.content_length or 0) > self.limits.size:
            raise _too_large(self.limits)
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                return (await self._read()).decode()
        except TimeoutError as error:
            raise ApiError(
                "The body did not come in time. Send it at once.", status=408
            ) from error
        except web.RequestPayloadError as error:
            raise invalid(
                "The body could not be read: it is cut off, or not compressed as its headers say."
            ) from error
        except UnicodeDecodeError as error:
            raise invalid("The body is not UTF-8.", code="invalid_json") from error

    async def _read(self) -> bytes:
        """Read in pieces, so that no more than the limit is uncompressed."""
        body = bytearray()
        while piece := await self.request.content.readany():
            body += piece
            if len(body) > self.limits.size:
                raise _too_large(self.limits)
            self.hold(len(piece))
        return bytes(body)

    def json(self, value: JsonValue) -> web.Response:
        """Return a JSON answer."""
        return web.Response(
            text=encoded(value), content_type=JSON, headers=self.headers()
        )

    async def write(self, writing: Awaitable[object]) -> None:
        """Write, and wait until the client has read enough.

        Raises `ClientGone`, and closes the connection, if the client is gone or does
        not read.
        """
        try:
            async with asyncio.timeout(self.limits.reader_seconds):
                await writing
        except (ConnectionError, TimeoutError) as error:
            if self.request.transport:
                self.request.transport.abort()
            raise ClientGone from error

    async def answer_and_cut(self, response: web.Response) -> None:
        """Answer without reading the rest of the body, which would be uncompressed only to be dropped."""
        response.force_close()
        await response.prepare(self.request)
        await response.write_eof()
        if self.request.transport:
            self.request.transport.pause_reading()
            await asyncio.sleep(_LAST_LOOK)
        self.request.protocol.force_close()

    def bug(
        self,
        what: str,
        error: Exception,
    ) -> ApiError:
        """Log a bug, and return what the client is told of it."""
        LOGGER.error(
            "%s failed (%s): %s",
            what,
            self.id,
            traceback_without_words(error),
        )
        return internal_error(self.id)

    def refusal(
        self, error: ApiError, more: Mapping[str, str] | None = None
    ) -> web.Response:
        """Return an error as the answer. A 401 is raised instead, as Home Assistant counts failed logins."""
        headers = {
            **self.headers(),
            **(more or {}),
        }
        if error.retry_after is not None:
            headers[RETRY_AFTER] = str(round(error.retry_after))
        text = encoded({"error": error.payload})
        if error.status == HTTPStatus.UNAUTHORIZED:
            headers[WWW_AUTHENTICATE] = "Bearer"
            raise web.HTTPUnauthorized(
                text=text,
                content_type=JSON,
                headers=headers,
            )
        return web.Response(
            text=text, status=error.status, content_type=JSON, headers=headers
        )


def encoded(value: JsonValue) -> str:
    """Return JSON in ASCII, which needs no care with line ends or split characters."""
    return json.dumps(
        value,
        separators=(",", ":"),
        allow_nan=False,
    )


def _is_utf8(charset: str | None) -> bool:
    try:
        return charset is None or lookup(charset).name in {"utf-8", "ascii"}
    except LookupError:
        return False


def _too_large(limits: HttpLimits) -> ApiError:
    most = f"{limits.size / 1024 / 1024:g} MB"
    return ApiError(
        f"The request has more than {most}. Send smaller files, or continue a stored response."
        " The owner of the home can allow more, beside the switch of the API.",
        status=413,
        code="request_too_large",
    )


class ClientGone(Exception):
    """The client has closed the connection, or does not read."""


async def send_events(
    exchange: Exchange, events: AsyncGenerator[JsonObject]
) -> web.StreamResponse:
    """Send events until they end or the client is gone, and close them. Raises what comes instead of the first one."""
    async with aclosing(events):
        event = None
        with suppress(StopAsyncIteration):  # a stream that is resumed at its end
            event = await anext(events)
        response = web.StreamResponse(headers=exchange.headers() | _HEADERS)
        with suppress(ClientGone):
            await exchange.write(response.prepare(exchange.request))
            sender = _Sender(exchange, response)
            async with sender.commenting():
                if event is not None:
                    await sender.send(event)
                try:
                    async for one in events:
                        await sender.send(one)
                except ClientGone:
                    raise
                except Exception as error:  # noqa: BLE001  # a stream that has begun cannot become an answer with a status
                    await sender.send_bug(error)
                    return response
            await exchange.write(response.write(_DONE))
    return response


@dataclass(slots=True)
class _Sender:
    """Writes the events of one stream."""

    _exchange: Exchange
    _response: web.StreamResponse
    _next_number: int = 0

    async def send(self, event: JsonObject) -> None:
        """Write one event. Raises `ClientGone`."""
        number = event.get("sequence_number")
        if isinstance(number, int):
            self._next_number = number + 1
        data = f"event: {event['type']}\ndata: {encoded(event)}\n\n".encode()
        await self._exchange.write(self._response.write(data))

    async def send_bug(self, error: Exception) -> None:
        """Write an error event for a bug, and log it."""
        bug = self._exchange.bug("A stream", error)
        reported_error = error if isinstance(error, ApiError) else bug
        await self.send(
            {
                "type": "error",
                "sequence_number": self._next_number,
                "error": reported_error.payload,
            }
        )

    @asynccontextmanager
    async def commenting(self) -> AsyncGenerator[None]:
        """Send a comment from time to time."""
        comments = asyncio.create_task(
            self._write_comments(), name="chatterbox stream comments"
        )
        try:
            yield
        finally:
            comments.cancel()
            await asyncio.wait({comments})

    async def _write_comments(self) -> None:
        with suppress(ClientGone):
            while True:
                await asyncio.sleep(self._exchange.limits.comment_seconds)
                await self._exchange.write(self._response.write(_COMMENT))
