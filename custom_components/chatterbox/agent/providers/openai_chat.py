"""The `LLMProvider` for any server that speaks Chat Completions.

Knows connections, addresses, keys and time limits; the format stands in
`wire/openai_chat.py`, what failures mean in `failures.py`. Must not know who asks, and
keeps nothing of what is said. The key goes into one header and nowhere else.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from typing import Final, override

import aiohttp
from yarl import URL

from ..errors import ProviderError, ProviderRejectedKey, ProviderReplyInvalid
from ..events import ProviderEvent
from ..messages import JsonObject, UserMessage
from ..protocols import CompletionRequest
from ..wire.openai_chat import DONE, OPTIONAL_FIELDS, ReplyReader, payload_to_bytes, request_to_payload
from ..wire.openai_chat_schema import parse_chunk, parse_model_list
from ..wire.sse import SSEDecoder
from .address import api_root
from .failures import error_of_exception, error_of_report, error_of_response

_MAX_BODY_BYTES: Final = 8 * 1024 * 1024
_MAX_ERROR_BYTES: Final = 64 * 1024
_FOR_ERROR_BODY: Final = 5.0
"""Seconds to wait for an error body."""


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """How long to wait for a server, in seconds. A whole reply has no limit here: the turn has one."""

    connect: float = 10.0
    """Until a connection stands, TLS included."""
    between_bytes: float = 60.0
    """Without a byte. Long: a local server may have to load its model first."""
    after_finish: float = 5.0
    """For the usage and the end of the stream, once the message itself is finished."""
    after_done: float = 0.1
    """For the end of the response, once the stream is done: then its connection is used again."""


_DEFAULT_LIMITS: Final = TimeLimits()


class OpenAIChatProvider:
    """One model of one server. Safe to use for several turns at the same time."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        model: str,
        api_key: str | None = None,
        limits: TimeLimits = _DEFAULT_LIMITS,
    ) -> None:
        """Open nothing yet; a wrong address or key shows as a `ProviderError` of the first call.

        `session` is the caller's and stays open. `base_url` is read by `api_root`.
        """
        self._session = session
        self._base_url = base_url
        self._model = model
        self._key = (api_key or "").strip()
        self._limits = limits
        self._timeout = aiohttp.ClientTimeout(
            total=None, connect=limits.connect, sock_connect=limits.connect, sock_read=limits.between_bytes
        )
        self._left_out: frozenset[str] = frozenset()

    @override
    def __repr__(self) -> str:
        """Name the model, and neither key nor address: addresses may hold passwords."""
        return f"{type(self).__name__}(model={self._model!r})"

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""
        reader = ReplyReader(request.transcript)
        response = await self._post(request_to_payload(request, self._model))
        try:
            if "json" in response.content_type:  # the server does not stream
                for event in self._read_chunk(reader, await _read_text(response)):
                    yield event
            elif "html" in response.content_type:
                raise ProviderReplyInvalid("the service answered with a web page: is this the address of its API?")
            else:
                async with aclosing(self._read_stream(reader, response)) as events:
                    async for event in events:
                        yield event
            for event in reader.end():
                yield event
        finally:
            response.close()

    async def list_models(self) -> list[str]:
        """Return the names of the models that the server offers, sorted.

        Raises a `ProviderError`; `ProviderReplyInvalid` when there is no such list at this address.
        """
        async with self._bounded():
            response = await self._send("GET", "models")
            try:
                if response.status == HTTPStatus.NOT_FOUND:
                    raise ProviderReplyInvalid("HTTP 404: the service has no list of models at this address")
                if not _succeeded(response):
                    raise self._refusal(response, await _read_error(response))
                return parse_model_list(await _read_text(response))
            finally:
                response.close()

    async def check(self) -> None:
        """Make sure that the model answers, at this address and with this key.

        Asks for a real answer and leaves at its first word: the list of models is no proof,
        because many servers give it to everyone. Raises the `ProviderError` that a turn would get.
        """
        request = CompletionRequest(instructions="", transcript=(UserMessage("Hi"),))
        async with self._bounded(), aclosing(self.stream(request)) as events:
            await anext(events)

    @asynccontextmanager
    async def _bounded(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._limits.connect + self._limits.between_bytes):
                yield
        except TimeoutError as err:
            raise error_of_exception(err) from err

    async def _post(self, payload: JsonObject) -> aiohttp.ClientResponse:
        """Ask for a reply; once more without the optional fields that the server's refusal names."""
        left_out = self._left_out
        while True:
            sent = {field: value for field, value in payload.items() if field not in left_out}
            response = await self._send("POST", "chat/completions", sent)
            if _succeeded(response):
                self._left_out |= left_out
                return response
            try:
                error_body = await _read_error(response)
            finally:
                response.close()
            named = {field for field in OPTIONAL_FIELDS if field in sent and field.encode() in error_body}
            if not named:
                raise self._refusal(response, error_body)
            left_out |= named

    async def _send(self, method: str, path: str, payload: JsonObject | None = None) -> aiohttp.ClientResponse:
        root = api_root(self._base_url)
        url, headers = (root / path).with_query(root.query), self._headers(root)
        body = None if payload is None else payload_to_bytes(payload)
        try:
            try:
                return await self._request(method, url, headers, body)
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as err:
                if isinstance(err, aiohttp.ClientConnectorError):
                    raise
                return await self._request(method, url, headers, body)  # the server had closed an idle connection
        except (aiohttp.ClientError, OSError) as err:
            raise error_of_exception(err) from err

    async def _request(
        self, method: str, url: URL, headers: dict[str, str], body: bytes | None
    ) -> aiohttp.ClientResponse:
        return await self._session.request(
            method,
            url,
            data=None if body is None else BytesIO(body),
            headers=headers,
            timeout=self._timeout,
            allow_redirects=False,  # a POST would arrive as a GET, and the key at another host
        )

    def _headers(self, root: URL) -> dict[str, str]:
        headers = {"Accept": "text/event-stream, application/json", "Content-Type": "application/json"}
        if self._key:
            if not self._key.isprintable():
                raise ProviderRejectedKey("the key holds characters that cannot be sent")
            if root.user or root.password:
                raise ProviderRejectedKey("the address holds a user and a password: only they or a key can be sent")
            headers["Authorization"] = f"Bearer {self._key}"
        return headers

    def _refusal(self, response: aiohttp.ClientResponse, body: bytes) -> ProviderError:
        return error_of_response(
            response.status, body, retry_after=response.headers.get("Retry-After"), secret=self._key
        )

    async def _read_stream(
        self, reader: ReplyReader, response: aiohttp.ClientResponse
    ) -> AsyncGenerator[ProviderEvent]:
        decoder = SSEDecoder()
        done = False
        deadline = math.inf
        while chunk := await _receive(response, deadline):
            for event in decoder.feed(chunk):
                data = event.data.strip()
                done = done or data == DONE
                if data and not done:
                    for piece in self._read_chunk(reader, data):
                        yield piece
            if done or reader.finished:
                patience = self._limits.after_done if done else self._limits.after_finish
                deadline = min(deadline, _now() + patience)

    def _read_chunk(self, reader: ReplyReader, text: str) -> Iterator[ProviderEvent]:
        chunk = parse_chunk(text)
        if (reported := chunk.reported_error) is not None:
            raise error_of_report(reported, self._key)
        yield from reader.read(chunk)


def _succeeded(response: aiohttp.ClientResponse) -> bool:
    return HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _receive(response: aiohttp.ClientResponse, deadline: float) -> bytes:
    """Return the next bytes, empty at the end of the response.

    A finite `deadline`, on the clock of the event loop, means that all that matters was
    received: what fails now is the end.
    """
    must_succeed = math.isinf(deadline)
    try:
        async with asyncio.timeout_at(None if must_succeed else deadline):
            return await response.content.readany()
    except (aiohttp.ClientError, OSError) as err:
        if must_succeed:
            raise error_of_exception(err) from err
        return b""


async def _read_text(response: aiohttp.ClientResponse) -> str:
    body = bytearray()
    while chunk := await _receive(response, math.inf):
        body += chunk
        if len(body) > _MAX_BODY_BYTES:
            raise ProviderReplyInvalid(f"the service sent an answer of more than {_MAX_BODY_BYTES} bytes")
    return body.decode(errors="replace")


async def _read_error(response: aiohttp.ClientResponse) -> bytes:
    """Return the beginning of an error body, or what there is of it: the status says enough."""
    body = bytearray()
    deadline = _now() + _FOR_ERROR_BODY
    while len(body) < _MAX_ERROR_BYTES and (chunk := await _receive(response, deadline)):
        body += chunk
    return bytes(body[:_MAX_ERROR_BYTES])
