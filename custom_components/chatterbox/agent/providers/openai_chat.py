"""The `LLMProvider` for any server that speaks Chat Completions.

Knows which paths that interface has and what a request of it is made of; the format stands
in `wire/openai_chat.py`, connections and failures in `http_stream.py`. Must not know who asks.
"""

import json
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import suppress
from typing import Final, override

import aiohttp

from ..errors import ProviderReplyInvalid
from ..events import ProviderEvent
from ..messages import JsonObject, JsonValue, Transcript
from ..protocols import CompletionRequest
from ..wire.openai_chat import DONE, request_to_payload
from ..wire.openai_chat_reply import ReplyReader
from ..wire.openai_chat_schema import PlainEnd, parse_chunk, parse_model_list, read_plain
from ..wire.repeated_events import RepeatedEvents
from ..wire.sse import ServerSentEvent, SSEDecoder
from .http_access import Access
from .http_provider import HTTPProvider
from .http_stream import DEFAULT_LIMITS, ModelService, TimeLimits
from .options import DEFAULT_OPTIONS, ModelOptions, lay_over
from .profiles import ServerProfile, profile_at
from .refused_parameters import OUTPUT_REFUSALS, RefusedParameters
from .reply_reader import FailureReported

__all__ = ["OpenAIChatProvider", "TimeLimits"]

_REQUIRED: Final = frozenset({"model", "messages", "tools", "stream"})
"""Fields without which a request would mean something else."""
_ALSO_CALLED: Final = {"response_format": (*OUTPUT_REFUSALS, "response format")}


class OpenAIChatProvider(HTTPProvider):
    """One model of one server. Safe to use for several turns at the same time."""

    _PATH = "chat/completions"

    def __init__(  # noqa: PLR0913  # where, what, who, how long and how: all that a provider is made of
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

        `session` is the caller's and stays open. `base_url` is read by `api_root`; without a
        `profile` it also tells what is special about the server.
        """
        access = Access(base_url, api_key or "")
        service = ModelService(session, access, RefusedParameters(model, _REQUIRED, _ALSO_CALLED), limits)
        super().__init__(model, options, profile or profile_at(base_url), service)

    @override
    def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""
        return self._service.stream(self._PATH, self._payload(request), OpenAIChatReply(request.transcript))

    @override
    def _payload(self, request: CompletionRequest) -> JsonObject:
        profile = self._profile
        payload = request_to_payload(
            request, self._model, profile.chat, profile.attachments, output_beside_tools=profile.output_beside_tools
        )
        return lay_over(payload | self._wishes(request), self._options.extra)

    def _wishes(self, request: CompletionRequest) -> JsonObject:
        options, profile = self._options_for(request), self._profile
        wishes: JsonObject = {
            "temperature": options.temperature,
            "top_p": options.top_p,
            profile.max_tokens_field: options.max_tokens,
            "verbosity": request.options.verbosity,
        }
        effort = {} if options.reasoning_effort is None else profile.efforts[options.reasoning_effort]
        return {name: value for name, value in wishes.items() if value is not None} | effort

    @override
    def _shortest(self, payload: JsonObject) -> JsonObject:
        return payload | {self._profile.max_tokens_field: 1}

    @override
    async def list_models(self) -> list[str]:
        """Return the names of the models that the server offers, sorted.

        Raises a `ProviderError`; `ProviderReplyInvalid` when there is no such list at this address.
        """
        return parse_model_list(await self._service.get_text("models", "list of models"))


class OpenAIChatReply:
    """Reads one reply: events of a stream, or a whole completion."""

    def __init__(self, transcript: Transcript) -> None:
        """Keep the ids of new calls apart from those of `transcript`."""
        self._decoder = SSEDecoder()
        self._alike = RepeatedEvents(read_plain)
        self._reader = ReplyReader(transcript)
        self.done = False

    @property
    def finished(self) -> bool:
        return self._reader.finished

    def feed(self, chunk: bytes) -> Iterator[ProviderEvent]:
        if not (self.done or self._decoder.is_amid_event):
            text, chunk = self._alike.text_of(chunk)
            if text:
                yield self._reader.read_words(text)
            if not chunk:
                return
        for event in self._decoder.feed(chunk):
            plain = None if self.done or event.data == DONE or event.type == "error" else read_plain(event.data)
            match plain:
                case None:
                    yield from self._read_event(event)
                case str():
                    if plain:
                        self._alike.saw(event, plain)
                        yield self._reader.read_words(plain)
                case PlainEnd():
                    yield from self._reader.read_end(plain)
                case _:
                    yield from self._reader.read_fragments(plain)

    def _read_event(self, event: ServerSentEvent) -> Iterable[ProviderEvent]:
        data = event.data.strip()
        self.done = self.done or data == DONE
        if self.done or not data:
            return ()
        if event.type == "error":
            raise FailureReported(_report(data))
        return self._read(data)

    def read_whole(self, text: str) -> Iterator[ProviderEvent]:
        return self._read(text)

    def _read(self, sent: str | bytes) -> Iterator[ProviderEvent]:
        chunk = parse_chunk(sent)
        if (reported := chunk.reported_error) is not None:
            raise FailureReported(reported)
        return self._reader.read(chunk)

    def end(self) -> Iterator[ProviderEvent]:
        if (event := self._decoder.end()) is not None:
            with suppress(ProviderReplyInvalid):  # cut amid an event: what came before it tells whether all is there
                yield from self._read_event(event)
        yield from self._reader.end()


def _report(data: bytes) -> JsonValue:
    """Read the data of an event named `error`: JSON as it stands under `error` elsewhere, or words."""
    text = data.decode(errors="replace")
    try:
        report: JsonValue = json.loads(text)
    except ValueError, RecursionError:
        return text
    return report
