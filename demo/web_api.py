"""A client of Home Assistant's own interfaces, as a browser uses them: REST for flows, WebSocket for the rest.

Knows both protocols (developers.home-assistant.io: "WebSocket API", "REST API",
"Authentication API"); must not know what is asked for or why. Every answer is handed on
as the type that the caller names, checked.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Literal, Self

import aiohttp
from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from demo.errors import DemoError

ANSWER_TIMEOUT_SECONDS = 60.0


class _Problem(BaseModel):
    code: str
    message: str


class _Incoming(BaseModel):
    """Any message that Home Assistant sends over the WebSocket, of which only the named parts are needed."""

    id: int = 0
    type: str
    success: bool = True
    result: JsonValue = None
    error: _Problem | None = None
    event: JsonValue = None


class _Token(BaseModel):
    access_token: str
    token_type: Literal["Bearer"]


class RequestRefusedError(DemoError):
    """Home Assistant answered a request with an error."""

    def __init__(self, request: str, code: str, message: str) -> None:
        """Name the request and give Home Assistant's own words."""
        super().__init__(f"Home Assistant refused {request}: {message} ({code})")
        self.code = code


class Subscription:
    """The events of one WebSocket command, in order."""

    def __init__(self) -> None:
        """Start without events."""
        self._events: asyncio.Queue[JsonValue | DemoError] = asyncio.Queue()

    def put(self, event: JsonValue | DemoError) -> None:
        """Add an event, or the reason why no more will come."""
        self._events.put_nowait(event)

    async def next[T](self, as_type: type[T], timeout_seconds: float) -> T:
        """Return the next event; `TimeoutError` when none comes in time, `DemoError` when none can come any more."""
        async with asyncio.timeout(timeout_seconds):
            event = await self._events.get()
        if isinstance(event, DemoError):
            raise event
        return _checked(event, as_type, "an event")


class HomeAssistantClient:
    """One signed-in connection; use `connected` to get one."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        socket: aiohttp.ClientWebSocketResponse,
        url: str,
    ) -> None:
        """Wrap what `connected` opened."""
        self._session = session
        self._socket = socket
        self._url = url
        self._last_id = 0
        self._results: dict[int, asyncio.Future[_Incoming]] = {}
        self._subscriptions: dict[int, Subscription] = {}

    @classmethod
    @contextlib.asynccontextmanager
    async def connected(cls, url: str, authorization_code: str) -> AsyncIterator[Self]:
        """Exchange the one-time `authorization_code` for a token and hold a connection until the block is left."""
        timeout = aiohttp.ClientTimeout(total=ANSWER_TIMEOUT_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout) as anonymous:
            token = await post_form(
                anonymous,
                f"{url}/auth/token",
                {
                    "grant_type": "authorization_code",
                    "code": authorization_code,
                    "client_id": f"{url}/",
                },
                _Token,
            )
        async with cls.signed_in(url, token.access_token) as client:
            yield client

    @classmethod
    @contextlib.asynccontextmanager
    async def signed_in(cls, url: str, access_token: str) -> AsyncIterator[Self]:
        """Hold a connection with a token until the block is left."""
        timeout = aiohttp.ClientTimeout(total=ANSWER_TIMEOUT_SECONDS)
        headers = {"Authorization": f"Bearer {access_token}"}
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
            session.ws_connect(f"{url}/api/websocket", max_msg_size=0) as socket,
        ):
            await socket.receive_json(timeout=ANSWER_TIMEOUT_SECONDS)
            await socket.send_json({"type": "auth", "access_token": access_token})
            await socket.receive_json(timeout=ANSWER_TIMEOUT_SECONDS)
            client = cls(session, socket, url)
            reader = asyncio.create_task(
                client._read(), name="read the WebSocket of Home Assistant"
            )
            try:
                yield client
            finally:
                reader.cancel()
                await asyncio.gather(reader, return_exceptions=True)

    async def post[T](
        self, path: str, body: Mapping[str, JsonValue], as_type: type[T]
    ) -> T:
        """Return the JSON answer to a JSON request."""
        return await post_json(self._session, f"{self._url}{path}", body, as_type)

    async def delete[T](self, path: str, as_type: type[T]) -> T:
        """Return the JSON answer to a request to remove something."""
        async with (
            _lost_connections_told(),
            self._session.delete(f"{self._url}{path}") as response,
        ):
            return await _answer(response, as_type)

    async def command[T](
        self, command: str, as_type: type[T], /, **fields: JsonValue
    ) -> T:
        """Return the result of a WebSocket command."""
        reply = await self._send(command, fields, None)
        return _checked(reply.result, as_type, command)

    async def subscribe(self, command: str, /, **fields: JsonValue) -> Subscription:
        """Start a WebSocket command that goes on sending events."""
        subscription = Subscription()
        await self._send(command, fields, subscription)
        return subscription

    async def _send(
        self,
        command: str,
        fields: Mapping[str, JsonValue],
        subscription: Subscription | None,
    ) -> _Incoming:
        self._last_id += 1
        message_id = self._last_id
        result: asyncio.Future[_Incoming] = asyncio.get_running_loop().create_future()
        self._results[message_id] = result
        if subscription is not None:
            self._subscriptions[message_id] = subscription
        try:
            await self._socket.send_json({"id": message_id, "type": command, **fields})
            async with asyncio.timeout(ANSWER_TIMEOUT_SECONDS):
                reply = await result
        except TimeoutError as error:
            raise DemoError(
                f"Home Assistant did not answer {command} in {ANSWER_TIMEOUT_SECONDS:.0f} s."
            ) from error
        except ConnectionError as error:
            raise DemoError("The connection to Home Assistant is closed.") from error
        finally:
            del self._results[message_id]
        if reply.error is not None:
            raise RequestRefusedError(command, reply.error.code, reply.error.message)
        return reply

    async def _read(self) -> None:
        """Hand each message to whoever waits for it; tell everybody when the connection ends."""
        try:
            async for frame in self._socket:
                self._hand_out(_Incoming.model_validate_json(frame.data))
        finally:
            closed = DemoError("Home Assistant closed the connection.")
            for result in self._results.values():
                if not result.done():
                    result.set_exception(closed)
            for subscription in self._subscriptions.values():
                subscription.put(closed)

    def _hand_out(self, message: _Incoming) -> None:
        match message.type:
            case "result":
                if (
                    result := self._results.get(message.id)
                ) is not None and not result.done():
                    result.set_result(message)
            case "event":
                if (subscription := self._subscriptions.get(message.id)) is not None:
                    subscription.put(message.event)
            case _:
                pass


async def post_json[T](
    session: aiohttp.ClientSession,
    url: str,
    body: Mapping[str, JsonValue],
    as_type: type[T],
) -> T:
    """Return the JSON answer to a JSON request."""
    async with _lost_connections_told(), session.post(url, json=body) as response:
        return await _answer(response, as_type)


async def post_form[T](
    session: aiohttp.ClientSession,
    url: str,
    fields: Mapping[str, str],
    as_type: type[T],
) -> T:
    """Return the JSON answer to a form."""
    async with _lost_connections_told(), session.post(url, data=fields) as response:
        return await _answer(response, as_type)


@contextlib.asynccontextmanager
async def _lost_connections_told() -> AsyncIterator[None]:
    try:
        yield
    except (aiohttp.ClientError, TimeoutError) as error:
        raise DemoError(
            f"Home Assistant cannot be reached any more: {str(error) or type(error).__name__}"
        ) from error


async def _answer[T](response: aiohttp.ClientResponse, as_type: type[T]) -> T:
    text = await response.text()
    if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise DemoError(
            f"Home Assistant failed at {response.method} {response.url.path}; its log says why."
        )
    if not response.ok:
        raise RequestRefusedError(
            f"{response.method} {response.url.path}", str(response.status), text
        )
    try:
        return TypeAdapter(as_type).validate_json(text)
    except ValidationError as error:
        raise DemoError(
            f"Home Assistant's answer to {response.method} {response.url.path} is not as expected: {error}"
        ) from error


def _checked[T](value: JsonValue, as_type: type[T], what: str) -> T:
    try:
        return TypeAdapter(as_type).validate_python(value)
    except ValidationError as error:
        raise DemoError(
            f"Home Assistant's answer to {what} is not as expected: {error}"
        ) from error
