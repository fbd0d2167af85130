"""Requests to one service, at the address that a person typed, over the connections of a shared session.

A request is sent once. It is repeated only without a parameter that was refused, or if
it went out over a reused connection that the server may have closed at that moment (RFC
9112, 9.3.1): then it cannot have been processed. On a new connection, a request without
an answer may have been processed, and a model that is asked twice costs twice. The body
of an answer is read in slices, bounded in size and time.
"""

import asyncio
import math
import re
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, closing
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from io import BytesIO
from types import SimpleNamespace
from typing import Final

import aiohttp
from yarl import URL

from ..errors import (
    PromptTooLong,
    ProviderError,
    ProviderRejectedKey,
    ProviderReplyInvalid,
    ProviderUnreachable,
    UnparsedReply,
)
from ..events import ProviderEvent
from ..json.text import payload_to_bytes
from ..messages import JsonObject
from .failures import error_of_exception, error_of_response
from .refused_parameters import RefusedParameters

_FULL_ADDRESS: Final = re.compile(
    "/(chat/completions|completions|messages|models|responses)$"
)
_VERSION: Final = re.compile(r"/v\d[^/]*(/|$)")
_AZURE_DEPLOYMENT: Final = "/openai/deployments/"
"""In addresses of Azure OpenAI that take a key in `api-key` alone. Its SDK sends both headers, too."""
_LAST_VERSION: Final = re.compile(r"/v\d[^/]*$")
_OLLAMA_API: Final = re.compile(
    "/(api(/(chat|generate|tags|show))?|v1(/(chat/completions|models|responses))?)$"
)


def api_root(base_url: str) -> URL:
    """Return the URL that `/chat/completions`, `/responses` and `/models` are added to.

    `http://host:1234`, the same with `/v1`, with a slash at its end, or with
    `/chat/completions` pasted from a manual all mean `http://host:1234/v1`. Without a
    version anywhere in the path, `/v1` is added; a full address that ends in
    `/chat/completions` is used as it is. A query (`?api-version=...`) is kept. Raises
    `ProviderUnreachable` for anything but an http or https address.
    """
    url = _parse_address(base_url)
    path = url.path.rstrip("/")
    if _FULL_ADDRESS.search(path):
        path = _FULL_ADDRESS.sub("", path)
    elif not _VERSION.search(path):
        path += "/v1"
    return url.with_path(path, keep_query=True)


def address_without_version(base_url: str) -> str:
    """Return the same address in a form to which no `/v1` is added; see `api_root`."""
    url = _parse_address(base_url)
    path = url.path.rstrip("/")
    if _FULL_ADDRESS.search(path) or _VERSION.search(path):
        return base_url
    return str(url.with_path(f"{path}/chat/completions", keep_query=True))


def server_root(base_url: str) -> URL:
    """Return the URL of the server of an API, for pages beside the API; see `api_root`."""
    url = api_root(base_url)
    return url.with_path(
        _LAST_VERSION.sub("", url.path),
        keep_query=True,
    )


def ollama_root(base_url: str) -> URL:
    """Return the URL that Ollama's `/api/chat` is added to; see `api_root`.

    The address of its API, or of its copy of OpenAI's (`http://host:11434/v1`), means
    the server.
    """
    url = _parse_address(base_url)
    return url.with_path(
        _OLLAMA_API.sub(
            "",
            url.path.rstrip("/"),
        ),
        keep_query=True,
    )


def _parse_address(typed: str) -> URL:
    try:
        url = URL(typed.strip())
    except ValueError:
        url = URL()
    if url.scheme not in {"http", "https"} or not url.host:
        raise ProviderUnreachable(
            "the address of the service is not a valid http:// or https:// address"
        )
    return url


@dataclass(frozen=True, slots=True)
class Access:
    """Address and credentials of a service. The key goes into its headers and nowhere else."""

    base_url: str = field(repr=False)
    """As a person typed it; it may hold a password."""
    key: str = field(default="", repr=False)
    """Sent as `key_header: key_prefix + key`, unless it is empty."""
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    headers: Mapping[str, str] = field(default_factory=dict)
    """Additional headers of every request."""
    root_of: Callable[[str], URL] = api_root
    """Reads `base_url`; raises `ProviderUnreachable` for an invalid address."""

    @property
    def secret(self) -> str:
        """The key as it is sent, without surrounding whitespace."""
        return self.key.strip()

    def target(
        self,
        path: str,
    ) -> tuple[URL, dict[str, str]]:
        """Return URL and headers of a path: relative to the server with a leading slash, else to the API.

        Raises a `ProviderError` if the address is invalid or cannot be used with this
        key.
        """
        root = (server_root if path.startswith("/") else self.root_of)(self.base_url)
        headers = {
            "Accept": "text/event-stream, application/x-ndjson, application/json",
            "Accept-Encoding": "identity",
        }
        headers |= {
            "Content-Type": "application/json",
            **self.headers,
        }
        key = self.secret
        if key:
            if not key.isprintable():
                raise ProviderRejectedKey(
                    "the key holds characters that cannot be sent"
                )
            if root.user or root.password:
                raise ProviderRejectedKey(
                    "the address holds a user and a password: only they or a key can be sent"
                )
            headers[self.key_header] = self.key_prefix + key
            if _AZURE_DEPLOYMENT in root.path:
                headers["api-key"] = key
        return (root / path.removeprefix("/")).with_query(root.query), headers


def redirected_root(
    url: URL,
    location: str | None,
) -> str:
    """Return the address of the API that a response redirects to, without what may hold a key; empty if none."""
    if location is None:
        return ""
    try:
        target = url.join(URL(location))
    except ValueError:
        return ""
    return str(target.with_user(None).with_path(_FULL_ADDRESS.sub("", target.path)))


_MAX_BODY_BYTES: Final = 8 * 1024 * 1024
_MAX_ERROR_BYTES: Final = 64 * 1024
_SLICE: Final = 16 * 1024
"""Bytes that are read between two turns of the event loop."""


class ResponseBody:
    """The body of a response. Close it.

    Between two reads the connection is paused. Otherwise `aiohttp` would discard what
    it has received when the connection breaks before the next read.
    """

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        """Read nothing yet."""
        self.content_type = response.content_type
        self._response = response
        if response.connection:
            self._transport = response.connection.transport
        else:
            self._transport = None
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
        self._ends_at = min(
            self._ends_at,
            asyncio.get_running_loop().time() + seconds,
        )

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
        chunk = self._rest[:_SLICE]
        self._rest = self._rest[_SLICE:]
        return chunk

    async def _receive(self) -> bytes:
        failure: Exception
        self._set_paused(paused=False)
        try:
            async with asyncio.timeout_at(
                None if math.isinf(self._ends_at) else self._ends_at
            ):
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
            start = chunk.lstrip()
            if start:
                return start
        return b""

    async def read_text(
        self, start: bytes = b"", *, limit: int = _MAX_BODY_BYTES
    ) -> str:
        """Return `start` and the rest as text. Raises a `ProviderError`, also for more than `limit` bytes."""
        body = bytearray(start)
        while chunk := await self.read():
            body += chunk
            if len(body) > limit:
                raise ProviderReplyInvalid(
                    f"the service sent an answer of more than {limit} bytes"
                )
        return body.decode(errors="replace")

    async def read_within(self, seconds: float) -> bytes:
        """Return what arrives within `seconds`, up to 64 KiB. Never fails."""
        self.end_within(seconds)
        body = bytearray()
        while len(body) < _MAX_ERROR_BYTES and (chunk := await self.read()):
            body += chunk
        return bytes(body[:_MAX_ERROR_BYTES])


_ERROR_BODY_TIMEOUT: Final = 1.0
"""Seconds: the status says most, and the next provider may be waiting."""
_MAX_HEADER_BYTES: Final = 65_536
"""As Home Assistant allows; `aiohttp`'s own limit is too small for some services."""
_LARGE_BYTES: Final = 2**20
"""`aiohttp` warns about a larger body in one piece, because it blocks the event loop."""


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Time limits of requests, in seconds. A whole reply has none here: the turn has one."""

    connect: float = 10.0
    """Until the connection is established, TLS included."""
    between_bytes: float = 60.0
    """Without a byte, the first one included. Long: a local server may have to load its model first."""
    after_finish: float = 5.0
    """For the usage and the end of the stream, once the message itself is finished."""
    after_done: float = 0.1
    """For the end of the response, once the stream is done: then its connection can be reused."""


DEFAULT_LIMITS: Final = TimeLimits()


@dataclass(slots=True)
class _Connection:
    """Trace context of a request, with its time limits."""

    timeout: aiohttp.ClientTimeout
    reused: bool = False


class ServiceClient:
    """Sends requests to one service. Safe to use for several turns at the same time."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        access: Access,
        refused: RefusedParameters,
        limits: TimeLimits = DEFAULT_LIMITS,
    ) -> None:
        """Open nothing yet; a wrong address or key shows as a `ProviderError` of the first call.

        `session` is the caller's and stays open.
        """
        self.limits = limits
        self.secret = access.secret
        """For error messages, which must not hold it."""
        self._session = session
        self._traced: aiohttp.ClientSession | None = None
        self._target = cache(access.target)
        self._refused = refused
        self._timeout = aiohttp.ClientTimeout(
            total=None,
            connect=limits.connect,
            sock_connect=limits.connect,
            sock_read=limits.between_bytes,
        )
        self._unlimited = aiohttp.ClientTimeout(
            total=None, connect=limits.connect, sock_connect=limits.connect
        )

    async def open(
        self,
        path: str,
        payload: JsonObject,
    ) -> ResponseBody:
        """Return the body of the answer to `POST path`, without parameters that the model refuses.

        Raises a `ProviderError`.
        """
        trial = self._refused.trial(payload)
        while True:
            response = await self._send(
                "POST",
                path,
                trial.payload,
            )
            if _succeeded(response):
                trial.accepted()
                return _body_of(response)
            error_body = await _error_body(response)
            refusal = self._refusal(response, error_body)
            if _is_hopeless(refusal) or not trial.leave_out(
                response.status, error_body
            ):
                raise refusal

    async def open_text(
        self,
        path: str,
        payload: JsonObject,
        limit: int,
    ) -> str:
        """Return the text of up to `limit` bytes that `POST path` answers; see `open`. The caller bounds the time."""
        with closing(await self.open(path, payload)) as body:
            return await body.read_text(limit=limit)

    async def get_text(
        self,
        path: str,
        what: str,
        query: Mapping[str, str] | None = None,
        *,
        limit: int = _MAX_BODY_BYTES,
    ) -> str:
        """Return the text of up to `limit` bytes at `GET path?query`; `what` names it in errors: "list of models".

        Raises a `ProviderError`; `ProviderReplyInvalid` if there is nothing at this
        address.
        """
        async with self._bounded():
            response = await self._send(
                "GET",
                path,
                query=query,
            )
            if response.status == HTTPStatus.NOT_FOUND:
                response.close()
                raise ProviderReplyInvalid(
                    f"HTTP 404: the service has no {what} at this address"
                )
            return await self._text_of(response, limit)

    async def post_text(
        self,
        path: str,
        payload: JsonObject,
    ) -> str:
        """Return the text that `POST path` answers. Raises a `ProviderError`."""
        async with self._bounded():
            return await self._text_of(await self._send("POST", path, payload))

    async def prefill(
        self,
        path: str,
        payload: JsonObject,
    ) -> None:
        """Have the service process `POST path`, and wait until it begins to answer. The answer is discarded.

        Raises a `ProviderError`. Cancellation closes the connection, so that the
        service can stop. The caller bounds the time: nobody hears the silence of a
        service that reads for minutes.
        """
        response = await self._send(
            "POST", path, self._refused.trial(payload).payload, timeout=self._unlimited
        )
        if not _succeeded(response):
            raise self._refusal(response, await _error_body(response))
        with closing(_body_of(response)) as body:
            while (await body.read_start()).startswith(b":"):
                pass  # a comment, which llama.cpp sends every 30 seconds while it reads
            await body.read_within(
                self.limits.after_finish
            )  # to its end, so that the connection can be reused

    async def connect(self, path: str) -> None:
        """Open a connection for the next request, unless one is open, by `HEAD path`.

        Raises a `ProviderError` if nobody answers; the answer is ignored.
        """
        async with self._bounded():
            (await self._send("HEAD", path)).release()

    async def await_first(self, events: AsyncGenerator[ProviderEvent]) -> None:
        """Wait for the first of `events`, no longer than an answer may take to begin, and close them.

        Raises the `ProviderError` that a turn would get.
        """
        async with self._bounded(), aclosing(events):
            await anext(events)

    @asynccontextmanager
    async def _bounded(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self.limits.connect + self.limits.between_bytes):
                yield
        except TimeoutError as err:
            raise error_of_exception(err) from err

    async def _text_of(
        self, response: aiohttp.ClientResponse, limit: int = _MAX_BODY_BYTES
    ) -> str:
        if not _succeeded(response):
            raise self._refusal(response, await _error_body(response))
        with closing(_body_of(response)) as body:
            return await body.read_text(limit=limit)

    async def _send(
        self,
        method: str,
        path: str,
        payload: JsonObject | None = None,
        *,
        query: Mapping[str, str] | None = None,
        timeout: aiohttp.ClientTimeout | None = None,  # noqa: ASYNC109  # of the socket, as `aiohttp` calls it
    ) -> aiohttp.ClientResponse:
        url, headers = self._target(path)
        if query:
            url = url.update_query(query)
        if payload is None:
            body = None
        else:
            body = payload_to_bytes(payload)
        connection = _Connection(timeout or self._timeout)
        try:
            try:
                return await self._request(
                    method,
                    url,
                    headers,
                    body,
                    connection,
                )
            except aiohttp.ServerDisconnectedError, aiohttp.ClientOSError:
                if not connection.reused:
                    raise
            return await self._request(
                method, url, headers, body, _Connection(connection.timeout)
            )
        except (aiohttp.ClientError, OSError) as err:
            raise error_of_exception(err) from err

    async def _request(
        self,
        method: str,
        url: URL,
        headers: Mapping[str, str],
        body: bytes | None,
        connection: _Connection,
    ) -> aiohttp.ClientResponse:
        if self._session.closed:
            raise aiohttp.ClientConnectionError("the session is closed")
        if self._traced is None:
            self._traced = _traced(self._session)
            weakref.finalize(self, self._traced.detach)
        return await self._traced.request(
            method,
            url,
            data=body if body is None or len(body) < _LARGE_BYTES else BytesIO(body),
            headers=headers,
            timeout=connection.timeout,
            # a POST would become a GET, and the key would reach another host
            allow_redirects=False,
            trace_request_ctx=connection,
        )

    def _refusal(
        self,
        response: aiohttp.ClientResponse,
        body: bytes,
    ) -> ProviderError:
        retry_after = response.headers.get("Retry-After")
        error = error_of_response(
            response.status, body, retry_after=retry_after, secret=self.secret
        )
        if (
            isinstance(error, ProviderReplyInvalid)
            and response.status < HTTPStatus.BAD_REQUEST
        ):
            location = redirected_root(
                response.url,
                response.headers.get("Location"),
            )
            if self.secret and self.secret in location:
                error.location = ""
            else:
                error.location = location
        return error


async def _note_reuse(
    _session: aiohttp.ClientSession,
    context: SimpleNamespace,
    _params: aiohttp.TraceConnectionReuseconnParams,
) -> None:
    connection: _Connection = context.trace_request_ctx
    connection.reused = True


def _traced(session: aiohttp.ClientSession) -> aiohttp.ClientSession:
    """Return a session over the same connections that reports their reuse; tracing cannot be added to a session."""
    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(_note_reuse)
    return aiohttp.ClientSession(
        connector=session.connector,
        connector_owner=False,
        headers=session.headers,
        cookie_jar=session.cookie_jar,
        trace_configs=[trace],
        auto_decompress=False,  # a small body may unpack to a large one
        max_line_size=_MAX_HEADER_BYTES,
        max_field_size=_MAX_HEADER_BYTES,
    )


def _body_of(response: aiohttp.ClientResponse) -> ResponseBody:
    """Return the body of a response; a compressed one, which requests do not allow, raises `ProviderReplyInvalid`."""
    body = ResponseBody(response)
    if _is_compressed(response):
        body.close()
        raise ProviderReplyInvalid(
            "the service sent a compressed answer, which was not asked for"
        )
    return body


async def _error_body(response: aiohttp.ClientResponse) -> bytes:
    """Return the start of an error body, none if it is compressed, and close the response."""
    with closing(response):
        if _is_compressed(response):
            return b""
        return await ResponseBody(response).read_within(_ERROR_BODY_TIMEOUT)


def _is_hopeless(refusal: ProviderError) -> bool:
    """Return whether the prompt itself is too long, or the reply is at fault: no parameter to leave out helps."""
    if not isinstance(refusal, PromptTooLong):
        return isinstance(refusal, UnparsedReply)
    prompt = refusal.prompt_tokens
    window = refusal.window_tokens
    return prompt is None or window is None or prompt >= window


def _succeeded(response: aiohttp.ClientResponse) -> bool:
    return HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES


def _is_compressed(response: aiohttp.ClientResponse) -> bool:
    return response.headers.get(
        "Content-Encoding", "identity"
    ).strip().casefold() not in {"", "identity"}
