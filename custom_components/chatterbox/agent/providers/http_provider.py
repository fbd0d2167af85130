"""Providers over HTTP: one model service, asked with a payload and read as bytes, as an `LLMProvider`.

A request is sent once. It is repeated only without a parameter that was refused, or if it went out over a reused
connection that the server may have closed at that moment (RFC 9112, 9.3.1): then it cannot have been processed. On a
new connection, a request without an answer may have been processed, and a model that is asked twice costs twice.
"""

import asyncio
import math
import re
import weakref
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from http import HTTPStatus
from io import BytesIO
from types import SimpleNamespace
from typing import ClassVar, Final, override

import aiohttp
from yarl import URL

from ..conversation.token_estimate import plausible_usage
from ..errors import PromptTooLong, ProviderError, ProviderRejectedKey, ProviderReplyInvalid, ProviderUnreachable
from ..events import CompletionResult, ProviderEvent, ReasoningDelta, TextDelta
from ..messages import FinishReason, JsonObject, UserMessage
from ..protocols import CompletionRequest
from ..wire.model_lists import ChatModel, parse_chat_models, parse_context_window, parse_model_list
from ..wire.reply_reader import ReplyReader, ReportedFailure
from ..wire.sendable import payload_to_bytes
from .failures import error_of_exception, error_of_report, error_of_response
from .profiles import DEFAULT_OPTIONS, ModelOptions, ServerProfile, profile_at, with_answer_options
from .refused_parameters import Adjustment, RefusedParameters
from .text_calls import TextCalls

_FULL_ADDRESS: Final = re.compile("/(chat/completions|completions|messages|models|responses)$")
_VERSION: Final = re.compile(r"/v\d[^/]*(/|$)")
_LAST_VERSION: Final = re.compile(r"/v\d[^/]*$")
_OLLAMA_API: Final = re.compile("/(api(/(chat|generate|tags|show))?|v1(/(chat/completions|models|responses))?)$")

_MAX_BODY_BYTES: Final = 8 * 1024 * 1024
_MAX_ERROR_BYTES: Final = 64 * 1024
_MAX_STREAM_BYTES: Final = 16 * 1024 * 1024
"""Far more than an answer of the longest text needs; what is read without an event counts too."""
_SLICE: Final = 16 * 1024
"""Bytes that are read before others get their turn."""
_PIECE: Final = 512
"""Characters of text that are passed on before others get their turn."""
_ERROR_BODY_TIMEOUT: Final = 1.0
"""Seconds: the status says most, and the next provider may be waiting."""
_MAX_HEADER_BYTES: Final = 65_536
"""As Home Assistant allows; `aiohttp`'s own limit is too small for some services."""
_BATCH: Final = 0.025
"""Seconds for which text is collected after text was passed on: nobody hears the delay, and each read costs the same,
however much it brings."""
_LARGE_BYTES: Final = 2**20
"""`aiohttp` warns about a larger body in one piece, because it blocks the event loop."""


def api_root(base_url: str) -> URL:
    """Return the URL that `/chat/completions`, `/responses` and `/models` are added to.

    `http://host:1234`, the same with `/v1`, with a slash at its end, or with `/chat/completions` pasted from a manual
    all mean `http://host:1234/v1`. Without a version anywhere in the path, `/v1` is added; a full address that ends in
    `/chat/completions` is used as it is. A query (`?api-version=...`) is kept. Raises `ProviderUnreachable` for
    anything but an http or https address.
    """
    url = _parse_address(base_url)
    path = url.path.rstrip("/")
    if _FULL_ADDRESS.search(path):
        path = _FULL_ADDRESS.sub("", path)
    elif not _VERSION.search(path):
        path += "/v1"
    return url.with_path(path, keep_query=True)


def server_root(base_url: str) -> URL:
    """Return the URL of the server of an API, for pages beside the API; see `api_root`."""
    url = api_root(base_url)
    return url.with_path(_LAST_VERSION.sub("", url.path), keep_query=True)


def ollama_root(base_url: str) -> URL:
    """Return the URL that Ollama's `/api/chat` is added to; see `api_root`.

    The address of its API, or of its copy of OpenAI's (`http://host:11434/v1`), means the server.
    """
    url = _parse_address(base_url)
    return url.with_path(_OLLAMA_API.sub("", url.path.rstrip("/")), keep_query=True)


def _parse_address(typed: str) -> URL:
    try:
        url = URL(typed.strip())
    except ValueError:
        url = URL()
    if url.scheme not in {"http", "https"} or not url.host:
        raise ProviderUnreachable("the address of the service is not a valid http:// or https:// address")
    return url


@dataclass(frozen=True, slots=True)
class Access:
    """Address and credentials of a service. The key goes into one header and nowhere else."""

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

    def target(self, path: str) -> tuple[URL, dict[str, str]]:
        """Return URL and headers of a path: relative to the server with a leading slash, else to the API.

        Raises a `ProviderError` if the address is invalid or cannot be used with this key.
        """
        root = (server_root if path.startswith("/") else self.root_of)(self.base_url)
        headers = {"Accept": "text/event-stream, application/x-ndjson, application/json", "Accept-Encoding": "identity"}
        headers |= {"Content-Type": "application/json", **self.headers}
        if key := self.secret:
            if not key.isprintable():
                raise ProviderRejectedKey("the key holds characters that cannot be sent")
            if root.user or root.password:
                raise ProviderRejectedKey("the address holds a user and a password: only they or a key can be sent")
            headers[self.key_header] = self.key_prefix + key
        return (root / path.removeprefix("/")).with_query(root.query), headers


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
        """Return the next bytes, empty at the end, and give others their turn. Raises a `ProviderError`."""
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


@dataclass(slots=True)
class _Connection:
    """Trace context of a request."""

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
            total=None, connect=limits.connect, sock_connect=limits.connect, sock_read=limits.between_bytes
        )

    async def open(self, path: str, payload: JsonObject) -> ResponseBody:
        """Return the body of the answer to `POST path`, without parameters that the model refuses.

        Raises a `ProviderError`.
        """
        trial = self._refused.trial(payload)
        while True:
            response = await self._send("POST", path, trial.payload)
            if _succeeded(response):
                trial.accepted()
                return _body_of(response)
            error_body = await _error_body(response)
            refusal = self._refusal(response, error_body)
            if _is_hopeless(refusal) or not trial.leave_out(response.status, error_body):
                raise refusal

    async def open_text(self, path: str, payload: JsonObject, limit: int) -> str:
        """Return the text of up to `limit` bytes that `POST path` answers; see `open`. The caller bounds the time."""
        body = await self.open(path, payload)
        try:
            return await body.read_text(limit=limit)
        finally:
            body.close()

    async def get_text(self, path: str, what: str, query: Mapping[str, str] | None = None) -> str:
        """Return the text at `GET path?query`; `what` names it in errors, as in "list of models".

        Raises a `ProviderError`; `ProviderReplyInvalid` if there is nothing at this address.
        """
        async with self._bounded():
            response = await self._send("GET", path, query=query)
            if response.status == HTTPStatus.NOT_FOUND:
                response.close()
                raise ProviderReplyInvalid(f"HTTP 404: the service has no {what} at this address")
            return await self._text_of(response)

    async def post_text(self, path: str, payload: JsonObject) -> str:
        """Return the text that `POST path` answers. Raises a `ProviderError`."""
        async with self._bounded():
            return await self._text_of(await self._send("POST", path, payload))

    async def prefill(self, path: str, payload: JsonObject) -> None:
        """Have the service process `POST path`, and wait until it begins to answer. The answer is discarded.

        Raises a `ProviderError`. Cancellation closes the connection, so that the service can stop.
        """
        async with self._bounded():
            response = await self._send("POST", path, self._refused.trial(payload).payload)
            if not _succeeded(response):
                raise self._refusal(response, await _error_body(response))
            body = _body_of(response)
            try:
                await body.read_start()
                await body.read_within(self.limits.after_finish)  # to its end, so that the connection can be reused
            finally:
                body.close()

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

    async def _text_of(self, response: aiohttp.ClientResponse) -> str:
        if not _succeeded(response):
            raise self._refusal(response, await _error_body(response))
        body = _body_of(response)
        try:
            return await body.read_text()
        finally:
            body.close()

    async def _send(
        self, method: str, path: str, payload: JsonObject | None = None, *, query: Mapping[str, str] | None = None
    ) -> aiohttp.ClientResponse:
        url, headers = self._target(path)
        if query:
            url = url.update_query(query)
        body = None if payload is None else payload_to_bytes(payload)
        connection = _Connection()
        try:
            try:
                return await self._request(method, url, headers, body, connection)
            except aiohttp.ServerDisconnectedError, aiohttp.ClientOSError:
                if not connection.reused:
                    raise
            return await self._request(method, url, headers, body, _Connection())
        except (aiohttp.ClientError, OSError) as err:
            raise error_of_exception(err) from err

    async def _request(
        self, method: str, url: URL, headers: Mapping[str, str], body: bytes | None, connection: _Connection
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
            timeout=self._timeout,
            allow_redirects=False,  # a POST would become a GET, and the key would reach another host
            trace_request_ctx=connection,
        )

    def _refusal(self, response: aiohttp.ClientResponse, body: bytes) -> ProviderError:
        retry_after = response.headers.get("Retry-After")
        error = error_of_response(response.status, body, retry_after=retry_after, secret=self.secret)
        if isinstance(error, ProviderReplyInvalid) and response.status < HTTPStatus.BAD_REQUEST:
            location = _redirect_of(response)
            error.location = "" if self.secret and self.secret in location else location
        return error


def _redirect_of(response: aiohttp.ClientResponse) -> str:
    """Return the address of the API that a response redirects to, without what may hold a key; empty if none."""
    try:
        url = response.url.join(URL(response.headers["Location"]))
        return str(url.with_user(None).with_path(_FULL_ADDRESS.sub("", url.path)))
    except KeyError, ValueError:
        return ""


async def _note_reuse(
    _session: aiohttp.ClientSession, context: SimpleNamespace, _params: aiohttp.TraceConnectionReuseconnParams
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
        raise ProviderReplyInvalid("the service sent a compressed answer, which was not asked for")
    return body


async def _error_body(response: aiohttp.ClientResponse) -> bytes:
    """Return the start of an error body, none if it is compressed, and close the response."""
    try:
        if _is_compressed(response):
            return b""
        return await ResponseBody(response).read_within(_ERROR_BODY_TIMEOUT)
    finally:
        response.close()


def _is_hopeless(refusal: ProviderError) -> bool:
    """Return whether the prompt itself is too long: then leaving out a parameter does not help."""
    match refusal:
        case PromptTooLong(prompt_tokens=int(prompt), window_tokens=int(window)):
            return prompt >= window
        case _:
            return isinstance(refusal, PromptTooLong)


def _succeeded(response: aiohttp.ClientResponse) -> bool:
    return HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES


def _is_compressed(response: aiohttp.ClientResponse) -> bool:
    return response.headers.get("Content-Encoding", "identity").strip().casefold() not in {"", "identity"}


def _in_pieces(events: Iterable[ProviderEvent]) -> Iterator[ProviderEvent]:
    """Yield events with adjacent text merged, and long text cut into pieces.

    The text before a failure is yielded before the failure is raised.
    """
    text = ""
    try:
        for event in events:
            if isinstance(event, TextDelta) and len(text) < _PIECE:
                text += event.text
                continue
            yield from map(TextDelta, _pieces(text))
            text = event.text if isinstance(event, TextDelta) else ""
            if isinstance(event, ReasoningDelta):
                yield from map(ReasoningDelta, _pieces(event.text))
            elif not text:
                yield event
    except ProviderError, ReportedFailure:
        yield from map(TextDelta, _pieces(text))
        raise
    yield from map(TextDelta, _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def _with_plausible_usage(
    events: Iterable[ProviderEvent], payload: JsonObject, body: ResponseBody
) -> Iterator[ProviderEvent]:
    """Replace impossible counts of the service by estimates."""
    for event in events:
        if isinstance(event, CompletionResult):
            usage = plausible_usage(event.usage, partial(payload_to_bytes, payload), body.received)
            yield event if usage is event.usage else replace(event, usage=usage)
        else:
            yield event


async def _share(event: ProviderEvent) -> None:
    """Give others their turn after a whole piece of text."""
    if isinstance(event, TextDelta | ReasoningDelta) and len(event.text) == _PIECE:
        await asyncio.sleep(0)


@dataclass(slots=True)
class _Room:
    """The characters that an answer may still have, arguments of calls included."""

    characters: int
    reader: ReplyReader

    def bounded(self, events: Iterable[ProviderEvent]) -> Iterator[ProviderEvent]:
        """Yield events in pieces; an answer that becomes too long ends as one that was cut."""
        for event in _in_pieces(events):
            if isinstance(event, TextDelta | ReasoningDelta):
                self.characters -= len(event.text)
                if self.characters < 0:
                    break
            elif self.is_full:
                break
            yield event
        if self.is_full:
            yield CompletionResult(FinishReason.LENGTH)

    @property
    def is_full(self) -> bool:
        """Return whether the answer is too long."""
        return self.characters < self.reader.call_length


_JSON_LINES: Final = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})
"""Content types of streams, although they name JSON."""


class HTTPProvider(ABC):
    """One model of one server. Safe to use for several turns at the same time."""

    _PATH: ClassVar[str]
    """Of requests for an answer."""
    _FREE_PATH: ClassVar[str] = "models"
    """Of a request that costs nothing."""
    _REQUIRED: ClassVar[frozenset[str]]
    """Fields without which a request would mean something else."""
    _ALSO_CALLED: ClassVar[Mapping[str, Collection[str]]] = {}
    """Other names of parameters in refusals; see `RefusedParameters`."""
    _ADJUSTMENTS: ClassVar[Sequence[Adjustment]] = ()
    _PROFILE: ClassVar[ServerProfile | None] = None
    """The default; None to guess it from the address."""
    _STREAMS_OBJECTS: ClassVar[bool] = False
    """Whether streams begin with `{`, as whole answers do. Then the content type tells them apart, which many servers
    set wrongly."""

    def __init__(  # noqa: PLR0913  # address, model, key, limits and options make up a provider
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        model: str,
        api_key: str | None = None,
        limits: TimeLimits = DEFAULT_LIMITS,
        *,
        options: ModelOptions = DEFAULT_OPTIONS,
        profile: ServerProfile | None = None,
    ) -> None:
        """Open nothing yet; a wrong address or key shows as a `ProviderError` of the first call.

        `session` is the caller's and stays open.
        """
        self.overflow: PromptTooLong | None = None
        """By how much the last prompt exceeded the context window; None once one fits."""
        self._model = model
        self._options = options
        self._profile = profile or self._PROFILE or profile_at(base_url)
        self._refused = RefusedParameters(model, self._REQUIRED, self._ALSO_CALLED, self._ADJUSTMENTS)
        self._client = ServiceClient(session, self._access(base_url, api_key or ""), self._refused, limits)
        self._text_calls = TextCalls(model)

    @override
    def __repr__(self) -> str:
        """Name the model, but neither key nor address: addresses may hold passwords."""
        return f"{type(self).__name__}(model={self._model!r})"

    @property
    def tools_refusal(self) -> str:
        """What the server said when it refused tools; empty if it takes them, and until it was asked."""
        return self._refused.tools_refusal

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""
        payload = self._payload(request)
        await self._text_calls.prepare(request)
        while True:
            reader, message, started = self._reader(request), self._text_calls.message(request), False
            room = _Room(self._options_for(request).max_characters, reader)
            try:
                body = await self._client.open(self._PATH, payload)
                try:
                    events, complete = await self._first_events(body, reader), False
                    while not complete:
                        event = None
                        for event in _with_plausible_usage(room.bounded(events), payload, body):
                            started = True
                            if isinstance(event, CompletionResult):
                                complete = True
                                await self._note_result(payload, event)
                            for each in _in_pieces(await message.read(event)):
                                yield each
                                await _share(each)
                            await _share(event)
                        if not complete:
                            events = await self._next_events(body, reader, event, started=started)
                finally:
                    body.close()
            except ReportedFailure as failure:
                error = error_of_report(failure.report, self._client.secret)
            except ProviderError as err:
                error = err
            else:
                return
            payload = await self._payload_after(error, request, payload, started=started)

    def _access(self, base_url: str, key: str) -> Access:
        return Access(base_url, key)

    @abstractmethod
    def _reader(self, request: CompletionRequest) -> ReplyReader:
        """Return a new reader of one reply."""

    @abstractmethod
    def _payload(self, request: CompletionRequest) -> JsonObject:
        """Return the body of a request."""

    @abstractmethod
    def _shortest(self, payload: JsonObject) -> JsonObject:
        """Return the same request with the shortest possible answer."""

    async def _note_result(self, _payload: JsonObject, _result: CompletionResult) -> None:
        """Handle the end of an answer."""
        self.overflow = None

    async def _payload_after(
        self,
        error: ProviderError,
        _request: CompletionRequest,
        _payload: JsonObject,
        *,
        started: bool,  # noqa: ARG002  # for those that override this
    ) -> JsonObject:
        """Return the payload to send after a failure; raises `error` if there is none, or the answer has `started`."""
        if isinstance(error, PromptTooLong):
            self.overflow = error
        raise error

    async def _first_events(self, body: ResponseBody, reader: ReplyReader) -> Iterator[ProviderEvent]:
        """Return the events of the first bytes, or of a whole answer if the server does not stream."""
        if "html" in body.content_type:
            raise ProviderReplyInvalid("the service answered with a web page: is this the address of its API?")
        start = await body.read_start()
        if self._STREAMS_OBJECTS:
            is_whole = "json" in body.content_type and body.content_type not in _JSON_LINES
        else:
            is_whole = start.startswith(b"{")
        return reader.read_whole(await body.read_text(start)) if is_whole else reader.feed(start)

    async def _next_events(
        self, body: ResponseBody, reader: ReplyReader, last: ProviderEvent | None, *, started: bool
    ) -> Iterator[ProviderEvent]:
        """Return the events of the next bytes after `last`, or the last ones at the end of the reply.

        A reply of too many bytes ends there; one that has not `started` by then fails.
        """
        if reader.finished:
            limits = self._client.limits
            body.end_within(limits.after_done if reader.done else limits.after_finish)
        elif isinstance(last, TextDelta | ReasoningDelta) and not body.has_more:
            await asyncio.sleep(_BATCH)
        while chunk := await body.read():
            if body.received > _MAX_STREAM_BYTES and started:
                return reader.end() if reader.finished else iter([CompletionResult(FinishReason.LENGTH)])
            if body.received > _MAX_STREAM_BYTES:
                raise ProviderReplyInvalid(f"the service sent an answer of more than {_MAX_STREAM_BYTES} bytes")
            if not reader.done:
                return reader.feed(chunk)
        return reader.end()

    async def list_models(self) -> list[str]:
        """Return the names of the server's models, sorted.

        Raises a `ProviderError`; `ProviderReplyInvalid` if there is no such list at this address.
        """
        return parse_model_list(await self._client.get_text("models", "list of models"))

    async def chat_models(self) -> list[ChatModel]:
        """Return the models that one can talk to, the most useful first; see `list_models`."""
        with suppress(ProviderReplyInvalid):  # an old server
            if page := self._profile.models_page:
                return parse_chat_models(await self._client.get_text(page, "list of models"))
        return parse_chat_models(await self._client.get_text("models", "list of models"))

    async def context_window(self) -> int | None:
        """Return the context length of the model in tokens; None if the server does not say.

        Raises a `ProviderError`.
        """
        for page in self._profile.window_pages:
            with suppress(ProviderReplyInvalid):  # there is no such page
                text = await self._client.get_text(page.format(model=self._model), "page about its models")
                if (tokens := parse_context_window(text, self._model)) is not None:
                    return tokens
        return None

    async def check(self) -> None:
        """Check that the model answers, at this address and with this key, and close at its first word.

        The list of models would be no proof: many servers give it to everyone. Raises the `ProviderError` that a turn
        would get.
        """
        request = CompletionRequest(instructions="", transcript=(UserMessage("Hi"),))
        await self._client.await_first(self.stream(request))

    async def prefill(self, request: CompletionRequest) -> None:
        """Have the server process a request, if it caches prompts; otherwise only connect. See `Prefiller.prefill`."""
        if self._profile.caches_prefix:
            await self._client.prefill(self._PATH, self._shortest(self._payload(request)))
        else:
            await self.connect()

    async def connect(self) -> None:
        """Open a connection for the next request; see `Prefiller.connect`."""
        await self._client.connect(self._FREE_PATH)

    def _options_for(self, request: CompletionRequest) -> ModelOptions:
        return with_answer_options(self._options, request.options)
