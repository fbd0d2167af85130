"""One model service over HTTP: asks for a reply, hands its bytes to a reader, and turns what fails into our errors.

Knows paths and time limits; addresses and keys stand in `http_access.py`, requests and bodies in
`http_request.py` and `http_body.py`, what failures mean in `failures.py`. Must not know any wire
format: that is the reader's. Nothing of what is said is kept.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import aiohttp
from yarl import URL

from ..clock import SYSTEM_CLOCK, Clock
from ..errors import PromptTooLong, ProviderError, ProviderReplyInvalid
from ..events import ProviderEvent
from ..messages import JsonObject
from ..wire.sendable import payload_to_bytes
from .failures import error_of_exception, error_of_report, error_of_response
from .http_access import Access, target_at
from .http_body import StreamedBody, read_beginning, read_error, read_soon, read_text
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
    """Without a byte. Long: a local server may have to load its model first."""
    after_finish: float = 5.0
    """For the usage and the end of the stream, once the message itself is finished."""
    after_done: float = 0.1
    """For the end of the response, once the stream is done: then its connection is used again."""
    frame: float = 0.02
    """For words that follow others so soon: they are passed on together. Nobody hears or sees a fiftieth of a second,
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

    async def stream(
        self, path: str, payload: JsonObject, reader: ReplyReader, *, streams_objects: bool = False
    ) -> AsyncGenerator[ProviderEvent]:
        """Ask for a reply by `POST path` and yield its events; see `LLMProvider.stream`.

        `streams_objects` says that streams of this format begin as whole answers do, with `{`:
        then the Content-Type tells them apart, which many servers give wrongly.
        """
        try:
            response = await self._post(path, payload)
            try:
                if "html" in response.content_type:
                    raise ProviderReplyInvalid("the service answered with a web page: is this the address of its API?")
                beginning = await read_beginning(response)
                if _is_whole(response, beginning, streams_objects=streams_objects):
                    for event in reader.read_whole(await read_text(response, beginning)):
                        yield event
                else:
                    async with aclosing(self._read_stream(reader, response, beginning)) as events:
                        async for event in events:
                            yield event
                self.overflow = None  # before the last event, after which nobody reads on
                for event in reader.end():
                    yield event
            except FailureReported as failure:
                raise error_of_report(failure.report, self._access.secret) from None
            finally:
                if not response.closed:  # as it is after its end, when its connection may serve somebody else
                    response.close()
        except PromptTooLong as error:
            self.overflow = error
            raise

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
            return await read_text(response, most=most)
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
                await read_beginning(response)
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
            return await read_text(response)
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

    async def _post(self, path: str, payload: JsonObject) -> aiohttp.ClientResponse:
        """Ask for a reply; again without the parameter that a refusal names, for as long as one does."""
        trial = self._refused.trial(payload)
        while True:
            response = await self._send("POST", path, trial.payload)
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
        self, method: str, path: str, payload: JsonObject | None = None, *, query: Mapping[str, str] | None = None
    ) -> aiohttp.ClientResponse:
        if (target := self._targets.get(path)) is None:
            target = self._targets[path] = target_at(self._access, path)
        url, headers = target
        body = None if payload is None else payload_to_bytes(payload)
        request = HTTPRequest(method, url.update_query(query) if query else url, headers, body, self._timeout)
        try:
            return await self._sender.send(request)
        except (aiohttp.ClientError, OSError) as err:
            raise error_of_exception(err) from err

    def _refusal(self, response: aiohttp.ClientResponse, body: bytes) -> ProviderError:
        return error_of_response(
            response.status, body, retry_after=response.headers.get("Retry-After"), secret=self._access.secret
        )

    async def _read_stream(
        self, reader: ReplyReader, response: aiohttp.ClientResponse, chunk: bytes
    ) -> AsyncGenerator[ProviderEvent]:
        """Yield the events of a stream that begins with `chunk`; words that come right after others in one piece."""
        clock, limits = self._clock, self._limits
        deadline, frame_end = math.inf, 0.0
        body = StreamedBody(response, limits.between_bytes, clock)
        try:
            while chunk:
                if not reader.done:
                    began = clock.now()
                    for event in joined(reader.feed(chunk)):
                        body.hold()
                        if isinstance(event, PIECES):
                            frame_end = began + limits.frame
                        yield event
                if reader.done or reader.finished:
                    frame_end = clock.now()
                    deadline = min(deadline, frame_end + (limits.after_done if reader.done else limits.after_finish))
                chunk = await body.receive(deadline, frame_end)
        finally:
            body.close()


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
