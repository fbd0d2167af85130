"""One model service over HTTP: asks for a reply, hands its bytes to a reader, and turns what fails into our errors.

Knows paths and time limits; addresses and keys stand in `http_access.py`, requests and bodies in
`http_request.py` and `http_body.py`, what failures mean in `failures.py`. Must not know any wire
format: that is the reader's. Nothing of what is said is kept.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Final

import aiohttp
from yarl import URL

from ..errors import PromptTooLong, ProviderError, ProviderReplyInvalid
from ..events import ProviderEvent
from ..messages import JsonObject
from ..timeouts import SYSTEM_CLOCK, Clock, WaitLimit
from ..wire.sendable import payload_to_bytes
from .failures import error_of_exception, error_of_report, error_of_response
from .http_access import Access, target_at
from .http_body import StreamedBody, read_beginning, read_error, read_soon, read_text, receive
from .http_request import HTTPRequest, RequestSender
from .refused_parameters import RefusedParameters
from .reply_reader import PIECES, FailureReported, ReplyReader, joined

_JSON_LINES: Final = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})
"""Types of streams, although they have JSON in their names."""


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """How long to wait for a server, in seconds. A whole reply has no limit here: the turn has one."""

    connect: float = 10.0
    """Until a connection stands, TLS included."""
    between_bytes: float = 60.0
    """Without a byte; for the first one of a stream, connecting counts too. Long: a local server may have to load its
    model first."""
    after_finish: float = 5.0
    """For the usage and the end of the stream, once the message itself is finished."""
    after_done: float = 0.1
    """For the end of the response, once the stream is done: then its connection is used again."""
    frame: float = 1 / 30
    """For words that follow others so soon: they are passed on together. Nobody hears or sees a thirtieth of a second,
    and one piece costs all who handle it as much as ten."""


DEFAULT_LIMITS: Final = TimeLimits()


class ModelService:
    """What the providers of all wire formats share. Safe to use for several turns at the same time."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        access: Access,
        refused: RefusedParameters,
        limits: TimeLimits = DEFAULT_LIMITS,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """Open nothing yet; a wrong address or key shows as a `ProviderError` of the first call.

        `session` is the caller's and stays open.
        """
        self.overflow: PromptTooLong | None = None
        """By how much the last prompt that was asked about did not fit; None once one was answered in full."""
        self._sender = RequestSender(session)
        self._targets: dict[str, tuple[URL, dict[str, str]]] = {}
        self._access = access
        self._refused = refused
        self._limits = limits
        self._clock = clock
        self._timeout = aiohttp.ClientTimeout(
            total=None, connect=limits.connect, sock_connect=limits.connect, sock_read=limits.between_bytes
        )
        self._timeout_of_stream = aiohttp.ClientTimeout(connect=limits.connect, sock_connect=limits.connect)
        """Leaves the silence to us: for it, `aiohttp` sets a timer anew with every packet."""

    async def stream(
        self, path: str, payload: JsonObject, reader: ReplyReader, *, streams_objects: bool = False
    ) -> AsyncGenerator[ProviderEvent]:
        """Ask for a reply by `POST path` and yield its events; see `LLMProvider.stream`.

        `streams_objects` says that streams of this format begin as whole answers do, with `{`:
        then the Content-Type tells them apart, which many servers give wrongly.
        """
        limit = WaitLimit(self._clock)
        try:
            response = await self._post(path, payload, limit)
            body = StreamedBody(response, limit, self._limits.between_bytes, self._clock)
            try:
                if "html" in response.content_type:
                    raise ProviderReplyInvalid("the service answered with a web page: is this the address of its API?")
                chunk = await read_beginning(body.receive)
                if _is_whole(response, chunk, streams_objects=streams_objects):
                    for event in reader.read_whole(await read_text(body.receive, chunk)):
                        yield event
                    chunk = b""
                while chunk:
                    for event in () if reader.done else joined(reader.feed(chunk)):
                        # Words that come right after others are read in one piece.
                        body.hold(self._limits.frame if isinstance(event, PIECES) else 0)
                        yield event
                    chunk = await body.receive(self._rest(reader))
                self.overflow = None  # before the last event, after which nobody reads on
                for event in reader.end():
                    yield event
            except FailureReported as failure:
                raise error_of_report(failure.report, self._access.secret) from None
            finally:
                body.close()
                if not response.closed:  # as it is after its end, when its connection may serve somebody else
                    response.close()
        except PromptTooLong as error:
            self.overflow = error
            raise
        finally:
            limit.stop()

    async def get_text(self, path: str, what: str, query: Mapping[str, str] | None = None) -> str:
        """Return the text at `GET path?query`; `what` names it for errors, as in "list of models".

        A path that begins with a slash hangs from the server, all others hang from its API.

        Raises a `ProviderError`; `ProviderReplyInvalid` when there is nothing at this address.
        """
        async with self._bounded():
            response = await self._send("GET", path, query=query)
            if response.status == HTTPStatus.NOT_FOUND:
                response.close()
                raise ProviderReplyInvalid(f"HTTP 404: the service has no {what} at this address")
            return await self._text_of(response)

    async def post_text(self, path: str, payload: JsonObject) -> str:
        """Return the text that `POST path` answers.

        Raises a `ProviderError`.
        """
        async with self._bounded():
            return await self._text_of(await self._send("POST", path, payload))

    async def ask_text(self, path: str, payload: JsonObject, most: int) -> str:
        """Return the text of up to `most` bytes that `POST path` answers, without parameters that are refused.

        Raises a `ProviderError`. How long it may take as a whole is the caller's to say.
        """
        response = await self._post(path, payload)
        try:
            return await read_text(partial(receive, response), most=most)
        finally:
            response.close()

    async def prefill(self, path: str, payload: JsonObject) -> None:
        """Have the service read what `POST path` asks, and wait until it begins to answer. Nothing is learnt from it.

        Raises a `ProviderError`. When it is cancelled, its connection is closed, and the service can stop reading.
        """
        async with self._bounded():
            response = await self._send("POST", path, self._refused.trial(payload).payload)
            try:
                if not _succeeded(response):
                    raise self._refusal(response, await read_error(response))
                await read_beginning(partial(receive, response))
                await read_soon(response, self._limits.after_finish)  # to its end, so that the connection can be kept
            finally:
                response.close()

    async def connect(self, path: str) -> None:
        """Open a connection for the next request, unless one is open: ask for nothing at all, by `HEAD path`.

        Raises a `ProviderError` when nobody answers; what is answered does not matter.
        """
        async with self._bounded():
            (await self._send("HEAD", path)).release()

    async def _text_of(self, response: aiohttp.ClientResponse) -> str:
        try:
            if not _succeeded(response):
                raise self._refusal(response, await read_error(response))
            return await read_text(partial(receive, response))
        finally:
            response.close()

    async def await_first(self, events: AsyncGenerator[ProviderEvent]) -> None:
        """Wait for the first of `events`, no longer than an answer may take to begin, and leave.

        Raises the `ProviderError` that a turn would get.
        """
        async with self._bounded(), aclosing(events):
            await anext(events)

    @asynccontextmanager
    async def _bounded(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._limits.connect + self._limits.between_bytes):
                yield
        except TimeoutError as err:
            raise error_of_exception(err) from err

    async def _post(self, path: str, payload: JsonObject, limit: WaitLimit | None = None) -> aiohttp.ClientResponse:
        """Ask for a reply; again without the parameter that a refusal names, for as long as one does."""
        trial = self._refused.trial(payload)
        while True:
            response = await self._send("POST", path, trial.payload, limit=limit)
            if _succeeded(response):
                trial.accepted()
                return response
            try:
                error_body = await read_error(response)
            finally:
                response.close()
            refusal = self._refusal(response, error_body)
            if _is_hopeless(refusal) or not trial.leave_out(response.status, error_body):
                raise refusal

    async def _send(
        self,
        method: str,
        path: str,
        payload: JsonObject | None = None,
        *,
        query: Mapping[str, str] | None = None,
        limit: WaitLimit | None = None,
    ) -> aiohttp.ClientResponse:
        """Send a request; a `limit` is set to when its headers have to be whole, and bounds the wait for them."""
        if (target := self._targets.get(path)) is None:
            target = self._targets[path] = target_at(self._access, path)
        url, headers = target
        body = None if payload is None else payload_to_bytes(payload)
        timeout = self._timeout_of_stream if limit else self._timeout
        request = HTTPRequest(method, url.update_query(query) if query else url, headers, body, timeout)
        if limit:
            limit.set(self._limits.connect + self._limits.between_bytes)
        try:
            with limit or nullcontext():
                return await self._sender.send(request)
        except (aiohttp.ClientError, OSError) as err:
            raise error_of_exception(err) from err

    def _refusal(self, response: aiohttp.ClientResponse, body: bytes) -> ProviderError:
        return error_of_response(
            response.status, body, retry_after=response.headers.get("Retry-After"), secret=self._access.secret
        )

    def _rest(self, reader: ReplyReader) -> float | None:
        """Return how long what is left of a response is waited for; None while it matters."""
        if reader.done:
            return self._limits.after_done
        return self._limits.after_finish if reader.finished else None


def _is_hopeless(refusal: ProviderError) -> bool:
    """Tell whether the prompt is too long by itself: then no parameter that the refusal names is to blame."""
    match refusal:
        case PromptTooLong(prompt_tokens=int(prompt), window_tokens=int(window)):
            return prompt >= window
        case _:
            return isinstance(refusal, PromptTooLong)


def _succeeded(response: aiohttp.ClientResponse) -> bool:
    return HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES


def _is_whole(response: aiohttp.ClientResponse, beginning: bytes, *, streams_objects: bool) -> bool:
    """Tell a whole JSON answer from a stream by how it begins, where that says it."""
    if streams_objects:
        return "json" in response.content_type and response.content_type not in _JSON_LINES
    return beginning.startswith(b"{")
