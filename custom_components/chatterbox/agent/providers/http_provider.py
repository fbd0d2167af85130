"""Providers over HTTP: one model of one service, asked with a payload and read as bytes, as an `LLMProvider`.

Decision 33.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncGenerator,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Final, override

import aiohttp
from yarl import URL

from ..conversation.token_estimate import plausible_usage
from ..errors import PromptTooLong, ProviderError, ProviderReplyInvalid, UnparsedReply
from ..events import (
    CompletionResult,
    PromptProgress,
    ProviderEvent,
    ReasoningDelta,
    ServiceSearched,
    TextDelta,
    ToolCallReady,
)
from ..json.text import payload_to_bytes
from ..messages import FinishReason, JsonObject, UserMessage
from ..protocols import NO_WISHES, CompletionRequest
from ..repair.text_calls import TextCallReader, TextCalls
from ..wire.model_lists import (
    ChatModel,
    parse_chat_models,
    parse_context_window,
    parse_model_list,
)
from ..wire.reply_reader import ReplyReader, ReportedFailure
from .failures import error_of_report
from .profiles import (
    DEFAULT_OPTIONS,
    ModelOptions,
    ServerProfile,
    WireFormat,
    profile_at,
)
from .refused_parameters import Adjustment, RefusedParameters
from .service_client import (
    DEFAULT_LIMITS,
    Access,
    ResponseBody,
    ServiceClient,
    TimeLimits,
    api_root,
)

_LOGGER = logging.getLogger(__name__)


def lay_over(payload: JsonObject, extra: JsonObject) -> JsonObject:
    """Return `payload` with the fields of `extra` replacing its own; null removes a field."""
    return {
        name: value for name, value in {**payload, **extra}.items() if value is not None
    }


_MAX_STREAM_BYTES: Final = 16 * 1024 * 1024
"""Far more than an answer of the longest text needs; what is read without an event counts too."""
_PIECE: Final = 512
"""Characters of text that are passed on between two turns of the event loop."""
_BATCH: Final = 0.025
"""Seconds for which text is collected after text was passed on: nobody hears the delay, and each read costs the same,
however much it brings."""
_JSON_LINES: Final = frozenset(
    {"application/x-ndjson", "application/ndjson", "application/jsonl"}
)
"""Content types of streams, although they name JSON."""


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
            if isinstance(event, TextDelta):
                text = event.text
            else:
                text = ""
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


async def _yield_to_loop(event: ProviderEvent) -> None:
    """Let the event loop run after a whole piece of text."""
    if isinstance(event, TextDelta | ReasoningDelta) and len(event.text) == _PIECE:
        await asyncio.sleep(0)


@dataclass(slots=True)
class _Reply:
    """One request, and how far its answer has come."""

    payload: JsonObject
    reader: ReplyReader
    message: TextCallReader
    room: int
    """Characters that the answer may still have, arguments of calls included."""
    body: ResponseBody | None = None
    events: Iterator[ProviderEvent] = field(default_factory=lambda: iter(()))
    """The events of the latest bytes."""
    last: ProviderEvent | None = None
    """The latest of these events."""
    started: bool = False
    complete: bool = False

    def close(self) -> None:
        """Release the connection."""
        body = self.body
        self.body = None
        if body is not None:
            body.close()

    def read(self, events: Iterable[ProviderEvent]) -> None:
        """Take the events of the next bytes, in pieces; an answer that becomes too long ends as one that was cut."""
        self.events = self._bounded(events)
        self.last = None

    def next_event(self) -> ProviderEvent | None:
        """Return the next of these events; None if there is none."""
        event = next(self.events, None)
        if event is not None:
            self.last = event
            self.started = self.started or not isinstance(event, PromptProgress)
            self.complete = isinstance(event, CompletionResult)
        return event

    def _bounded(self, events: Iterable[ProviderEvent]) -> Iterator[ProviderEvent]:
        for event in _in_pieces(events):
            if isinstance(event, TextDelta | ReasoningDelta):
                self.room -= len(event.text)
                if self.room < 0:
                    break
            elif self._is_full:
                break
            yield event
        if self._is_full:
            yield CompletionResult(FinishReason.LENGTH)

    @property
    def _is_full(self) -> bool:
        return self.room < self.reader.call_length


class HTTPProvider(ABC):
    """One model of one server. Safe to use for several turns at the same time."""

    _PATH: ClassVar[str]
    """Of requests for an answer."""
    _WIRE: ClassVar[WireFormat]
    """The format of requests and answers."""
    _FREE_PATH: ClassVar[str] = "models"
    """Of a request that costs nothing."""
    _REQUIRED: ClassVar[frozenset[str]]
    """Fields without which a request would mean something else."""
    _ALSO_CALLED: ClassVar[Mapping[str, Collection[str]]] = {}
    """Other names of parameters in refusals; see `RefusedParameters`."""
    _ADJUSTMENTS: ClassVar[Sequence[Adjustment]] = ()
    root_of: ClassVar[staticmethod[[str], URL]] = staticmethod(api_root)
    """Reads addresses; see `Access.root_of`."""
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
        self._refused = RefusedParameters(
            model, self._REQUIRED, self._ALSO_CALLED, self._ADJUSTMENTS
        )
        self._client = ServiceClient(
            session, self._access(base_url, api_key or ""), self._refused, limits
        )
        self._text_calls = TextCalls(model)

    @override
    def __repr__(self) -> str:
        """Name the model, but neither key nor address: addresses may hold passwords."""
        return f"{type(self).__name__}(model={self._model!r})"

    @property
    def tools_refusal(self) -> str:
        """The words in which the server refused tools; empty if it takes them, and until it was asked."""
        return self._refused.tools_refusal

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""
        payload = self._payload(request)
        reply = self._reply(request, payload)
        try:
            while not reply.complete:
                try:
                    events = await self._next(reply)
                except ProviderError as error:
                    reply.close()
                    calls = await self._quoted_calls(error, reply)
                    if calls:
                        for event in calls:
                            yield event
                        return
                    payload = await self._payload_after(
                        error,
                        request,
                        reply.payload,
                    )
                    if reply.started:
                        raise
                    _LOGGER.info("%s is asked again: %s", self._model, error)
                    reply = self._reply(request, payload)
                    events = ()
                for event in events:
                    yield event
                    await _yield_to_loop(event)
        finally:
            reply.close()

    async def _quoted_calls(
        self, error: ProviderError, reply: _Reply
    ) -> list[ProviderEvent]:
        """Return the answer that a service quotes as unusable, if it has calls; nothing otherwise."""
        if reply.started or not isinstance(error, UnparsedReply) or not error.written:
            return []
        written = (TextDelta(error.written), CompletionResult(FinishReason.STOP))
        events = [
            event for piece in written for event in await reply.message.read(piece)
        ]
        if any(isinstance(event, ToolCallReady) for event in events):
            return events
        return []

    def _reply(
        self,
        request: CompletionRequest,
        payload: JsonObject,
    ) -> _Reply:
        room = self._options_for(request).max_characters
        return _Reply(
            payload, self._reader(request), self._text_calls.message(request), room
        )

    async def _next(self, reply: _Reply) -> Iterable[ProviderEvent]:
        """Return what the next event of a reply comes to; nothing if that takes more bytes.

        Raises a `ProviderError`.
        """
        try:
            if reply.body is None:
                reply.body = await self._client.open(
                    self._PATH,
                    reply.payload,
                )
                reply.read(await self._first_events(reply.body, reply.reader))
            elif (event := reply.next_event()) is None:
                reply.read(await self._next_events(reply.body, reply))
            else:
                return await self._passed_on(
                    event,
                    reply.body,
                    reply,
                )
        except ReportedFailure as failure:
            raise error_of_report(
                failure.report,
                self._client.secret,
            ) from failure
        return ()

    async def _passed_on(
        self, event: ProviderEvent, body: ResponseBody, reply: _Reply
    ) -> Iterable[ProviderEvent]:
        """Return what becomes of an event: written calls as calls, and impossible usage as an estimate."""
        if isinstance(event, CompletionResult):
            usage = plausible_usage(
                event.usage, partial(payload_to_bytes, reply.payload), body.received
            )
            event = replace(event, usage=usage)
            await self._note_result(reply.payload, event)
        if isinstance(event, ServiceSearched) and not event.result.is_error:
            paid = replace(
                event.result,
                fee=self._profile.search_fee,
            )
            event = replace(event, result=paid)
        await _yield_to_loop(event)
        return _in_pieces(await reply.message.read(event))

    @property
    def _search_tool(self) -> str:
        """The type of the service's own tool that searches the web; empty if it has none over this format."""
        profile = self._profile
        if profile.searches_over(self._WIRE):
            return profile.search_tool
        return ""

    def _access(
        self,
        base_url: str,
        key: str,
    ) -> Access:
        return Access(
            base_url,
            key,
            root_of=self.root_of,
        )

    @abstractmethod
    def _reader(self, request: CompletionRequest) -> ReplyReader:
        """Return a new reader of one reply."""

    @abstractmethod
    def _payload(self, request: CompletionRequest) -> JsonObject:
        """Return the body of a request."""

    @abstractmethod
    def _shortest(self, payload: JsonObject) -> JsonObject:
        """Return the same request with the shortest possible answer."""

    async def _note_result(
        self, _payload: JsonObject, _result: CompletionResult
    ) -> None:
        """Handle the end of an answer."""
        self.overflow = None

    async def _payload_after(
        self, error: ProviderError, _request: CompletionRequest, _payload: JsonObject
    ) -> JsonObject:
        """Return the payload to send after a failure if the answer has not started; raises `error` if there is none."""
        if isinstance(error, PromptTooLong):
            self.overflow = error
        raise error

    async def _first_events(
        self, body: ResponseBody, reader: ReplyReader
    ) -> Iterator[ProviderEvent]:
        """Return the events of the first bytes, or of a whole answer if the server does not stream."""
        if "html" in body.content_type:
            raise ProviderReplyInvalid(
                "the service answered with a web page: is this the address of its API?"
            )
        start = await body.read_start()
        if self._STREAMS_OBJECTS:
            is_whole = (
                "json" in body.content_type and body.content_type not in _JSON_LINES
            )
        else:
            is_whole = start.startswith(b"{")
        if is_whole:
            return reader.read_whole(await body.read_text(start))
        return reader.feed(start)

    async def _next_events(
        self, body: ResponseBody, reply: _Reply
    ) -> Iterator[ProviderEvent]:
        """Return the events of the next bytes, or the last ones at the end of the reply.

        A reply of too many bytes ends there; one that has not started by then fails.
        """
        reader = reply.reader
        if reader.finished:
            limits = self._client.limits
            body.end_within(limits.after_done if reader.done else limits.after_finish)
        elif isinstance(reply.last, TextDelta | ReasoningDelta) and not body.has_more:
            await asyncio.sleep(_BATCH)
        while chunk := await body.read():
            if body.received > _MAX_STREAM_BYTES and reply.started:
                if reader.finished:
                    return reader.end()
                return iter([CompletionResult(FinishReason.LENGTH)])
            if body.received > _MAX_STREAM_BYTES:
                raise ProviderReplyInvalid(
                    f"the service sent an answer of more than {_MAX_STREAM_BYTES} bytes"
                )
            if not reader.done:
                return reader.feed(chunk)
        return reader.end()

    async def list_models(self) -> list[str]:
        """Return the names of the server's models, sorted.

        Raises a `ProviderError`; `ProviderReplyInvalid` if there is no such list at
        this address.
        """
        return parse_model_list(await self._client.get_text("models", "list of models"))

    async def chat_models(self) -> list[ChatModel]:
        """Return the models that one can talk to, the most useful first; see `list_models`."""
        with suppress(ProviderReplyInvalid):  # an old server
            page = self._profile.models_page
            if page:
                return parse_chat_models(
                    await self._client.get_text(page, "list of models")
                )
        return parse_chat_models(
            await self._client.get_text("models", "list of models")
        )

    async def context_window(self) -> int | None:
        """Return the context length of the model in tokens; None if the server does not say.

        Raises a `ProviderError`.
        """
        for page in self._profile.window_pages:
            with suppress(ProviderReplyInvalid):  # there is no such page
                text = await self._client.get_text(
                    page.format(model=self._model), "page about its models"
                )
                tokens = parse_context_window(text, self._model)
                if tokens is not None:
                    return tokens
        return None

    async def check(self) -> None:
        """Check that the model answers, at this address and with this key, and close at its first word.

        The list of models would be no proof: many servers give it to everyone. Raises
        the `ProviderError` that a turn would get.
        """
        request = CompletionRequest(
            instructions="",
            transcript=(UserMessage("Hi"),),
        )
        await self._client.await_first(self.stream(request))

    async def prefill(self, request: CompletionRequest) -> None:
        """Have the server read a request, so that one with the same beginning is answered sooner.

        The answer is as short as the server allows; all other options are as in
        `stream`, reasoning included, since some models read them before anything else.
        Where prefilling is useless or has a price, this only connects. Raises a
        `ProviderError`, and closes its connection when it is cancelled. Nothing is
        counted.
        """
        if self._profile.caches_prefix:
            await self._client.prefill(
                self._PATH, self._shortest(self._payload(request))
            )
        else:
            await self.connect()

    async def connect(self) -> None:
        """Open a connection for the next request, by a request that costs nothing. Raises a `ProviderError`."""
        await self._client.connect(self._FREE_PATH)

    def _options_for(self, request: CompletionRequest) -> ModelOptions:
        """Return the options of the owner with those of one turn; of two limits, the lower one applies."""
        options = self._options
        wishes = request.options
        if wishes == NO_WISHES:
            return options
        lengths = [
            length
            for length in (options.max_tokens, wishes.max_output_tokens)
            if length is not None
        ]
        return replace(
            options,
            temperature=options.temperature
            if wishes.temperature is None
            else wishes.temperature,
            top_p=options.top_p if wishes.top_p is None else wishes.top_p,
            max_tokens=min(lengths, default=None),
            max_characters=wishes.max_characters or options.max_characters,
            reasoning_effort=wishes.reasoning_effort or options.reasoning_effort,
            verbosity=wishes.verbosity or options.verbosity,
        )
