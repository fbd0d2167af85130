"""Base of the providers of all wire formats over HTTP: one model of one server."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from typing import ClassVar, Final, override

from ..errors import PromptTooLong, ProviderError, ProviderReplyInvalid
from ..events import CompletionResult, ProviderEvent
from ..messages import JsonObject, UserMessage
from ..protocols import CompletionRequest
from ..wire.context_windows import parse_context_window
from ..wire.openai_chat import parse_model_list
from ..wire.parts import ReplyReader, ReportedFailure
from .failures import error_of_report
from .http_client import ResponseBody, ServiceClient
from .profiles import ModelOptions, ServerProfile, with_answer_options

_JSON_LINES: Final = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})
"""Content types of streams, although they name JSON."""


class HTTPProvider(ABC):
    """One model of one server. Safe to use for several turns at the same time."""

    _PATH: ClassVar[str]
    """Of requests for an answer."""
    _FREE_PATH: ClassVar[str] = "models"
    """Of a request that costs nothing."""
    _STREAMS_OBJECTS: ClassVar[bool] = False
    """Whether streams begin with `{`, as whole answers do. Then the content type tells them apart, which many servers
    set wrongly."""

    def __init__(self, model: str, options: ModelOptions, profile: ServerProfile, client: ServiceClient) -> None:
        """Ask `model` by `client`; the `profile` describes the server."""
        self.overflow: PromptTooLong | None = None
        """By how much the last prompt exceeded the context window; None once one fits."""
        self._model = model
        self._options = options
        self._profile = profile
        self._client = client

    @override
    def __repr__(self) -> str:
        """Name the model, but neither key nor address: addresses may hold passwords."""
        return f"{type(self).__name__}(model={self._model!r})"

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""
        payload = self._payload(request)
        while True:
            reader, started = self._reader(request), False
            try:
                body = await self._client.open(self._PATH, payload)
                try:
                    events, complete = await self._first_events(body, reader), False
                    while not complete:
                        for event in events:
                            started = True
                            if isinstance(event, CompletionResult):
                                complete = True
                                await self._note_result(payload, event)
                            yield event
                        if not complete:
                            events = await self._next_events(body, reader)
                finally:
                    body.close()
            except ReportedFailure as failure:
                error = error_of_report(failure.report, self._client.secret)
            except ProviderError as err:
                error = err
            else:
                return
            payload = await self._payload_after(error, request, payload, started=started)

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

    async def _next_events(self, body: ResponseBody, reader: ReplyReader) -> Iterator[ProviderEvent]:
        """Return the events of the next bytes, or the last ones at the end of the reply."""
        if reader.finished:
            limits = self._client.limits
            body.end_within(limits.after_done if reader.done else limits.after_finish)
        while chunk := await body.read():
            if not reader.done:
                return reader.feed(chunk)
        return reader.end()

    async def list_models(self) -> list[str]:
        """Return the names of the server's models, sorted.

        Raises a `ProviderError`; `ProviderReplyInvalid` if there is no such list at this address.
        """
        return parse_model_list(await self._client.get_text("models", "list of models"))

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
