"""The `LLMProvider` for a server that speaks Ollama's own chat format.

Knows which paths that interface has and what a request of it is made of; the format stands
in `wire/ollama_chat.py`, connections and failures in `http_stream.py`. Must not know who asks.

Beside the Chat Completions that Ollama also speaks, its own format can say how long the model
stays in memory and how much of it is kept for the conversation. Without a `num_ctx` that fits
the home, Ollama cuts a long prompt without a word, unless it is asked not to: so it is asked not
to, and only what it refuses then may be cut (Ollama's issues 3839 and 4967).
"""

import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, override

import aiohttp

from ..errors import PromptTooLong
from ..events import CompletionResult, ProviderEvent, TextDelta
from ..messages import JsonObject, JsonValue, Transcript
from ..protocols import CompletionRequest, ReasoningEffort
from ..wire.ndjson import NDJSONDecoder
from ..wire.ollama_chat import ReplyReader as LineReader, request_to_payload
from ..wire.ollama_chat_schema import (
    ModelDescription,
    parse_chunk,
    parse_model_description,
    parse_model_list,
    parse_running_window,
    plain_text,
)
from .address import ollama_root
from .http_access import Access
from .http_provider import HTTPProvider
from .http_stream import DEFAULT_LIMITS, ModelService, TimeLimits
from .ollama_overflow import OverflowNotes, cut_by, num_ctx_of
from .options import DEFAULT_OPTIONS, ModelOptions, lay_over
from .profiles import OLLAMA, ServerProfile, nearest_effort
from .refused_parameters import OUTPUT_REFUSALS, RefusedParameters
from .reply_reader import FailureReported, ReplyReader

_LOGGER = logging.getLogger(__name__)

_REQUIRED: Final = frozenset({"model", "messages", "tools", "stream"})
"""Fields without which a request would mean something else."""
_EFFORTS: Final = (ReasoningEffort.LOW, ReasoningEffort.MEDIUM, ReasoningEffort.HIGH)
_ALSO_CALLED: Final = {"think": ("thinking",), "format": OUTPUT_REFUSALS}

KEEP_FOREVER: Final = -1
"""The `keep_alive` of a model that is never unloaded."""


@dataclass(frozen=True, slots=True)
class OllamaSettings:
    """What can be set for a model of Ollama's alone. What is None is not sent: the server's default holds."""

    keep_alive: int | str | None = None
    """How long the model stays in memory after an answer: seconds, 0 for not at all, `KEEP_FOREVER`, or `"30m"`."""
    num_ctx: int | None = None
    """Tokens of context that the model is loaded with. Another value means that it is loaded anew."""


DEFAULT_SETTINGS: Final = OllamaSettings()


class OllamaChatProvider(HTTPProvider):
    """One model of one server. Safe to use for several turns at the same time."""

    _PATH = "api/chat"
    _FREE_PATH = "api/version"

    def __init__(  # noqa: PLR0913  # where, what, who, how long and how: all that a provider is made of
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        model: str,
        api_key: str | None = None,
        limits: TimeLimits = DEFAULT_LIMITS,
        *,
        options: ModelOptions = DEFAULT_OPTIONS,
        settings: OllamaSettings = DEFAULT_SETTINGS,
        profile: ServerProfile = OLLAMA,
    ) -> None:
        """Open nothing yet; a wrong address or key shows as a `ProviderError` of the first call.

        `session` is the caller's and stays open. `base_url` is read by `ollama_root`; the
        `profile` tells what models can be shown.
        """
        access = Access(base_url, api_key or "", root_of=ollama_root)
        service = ModelService(session, access, RefusedParameters(model, _REQUIRED, _ALSO_CALLED), limits)
        super().__init__(model, options, profile, service)
        self._settings = settings
        self._overflow = OverflowNotes(model, service)

    @property
    @override
    def overflow(self) -> PromptTooLong | None:
        """By how much the last prompt did not fit the window of the model; None once one fits.

        It may have been answered all the same, by what was left of it.
        """
        return self._overflow.last

    @override
    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`.

        A prompt that does not fit is cut by the server, and noted, unless the request forbids it.
        """
        payload = self._payload(request)
        begun = False
        try:
            async with aclosing(self._ask(payload, request.transcript)) as events:
                async for event in events:
                    begun = True
                    if isinstance(event, CompletionResult):
                        await self._overflow.note(payload, cut_by(payload, event))
                    yield event
        except PromptTooLong as error:
            if not request.may_be_cut:
                raise await self._overflow.numbered(payload, error) from error
            await self._overflow.note(payload, error)
            if begun or "truncate" in self._options.extra:
                raise
        else:
            return
        del payload["truncate"]
        async with aclosing(self._ask(payload, request.transcript)) as events:
            async for event in events:
                yield event

    @override
    def _payload(self, request: CompletionRequest) -> JsonObject:
        payload = request_to_payload(request, self._model, attachments=self._profile.attachments)
        options = self._options_for(request)
        model_options = self._model_options(options)
        payload |= {"truncate": False} | self._wishes(options, model_options)
        return lay_over(payload, self._extra(model_options))

    def _ask(self, payload: JsonObject, transcript: Transcript) -> AsyncGenerator[ProviderEvent]:
        return self._service.stream(self._PATH, payload, OllamaChatReply(transcript), streams_objects=True)

    @override
    def _shortest(self, payload: JsonObject) -> JsonObject:
        options = payload.get("options")
        # All other options stay as they are: another window would have the model loaded anew.
        return payload | {"options": {**(options if isinstance(options, dict) else {}), "num_predict": 1}}

    @override
    async def list_models(self) -> list[str]:
        """Return the names of the models that the server has, sorted.

        Raises a `ProviderError`; `ProviderReplyInvalid` when there is no such list at this address.
        """
        return parse_model_list(await self._service.get_text("api/tags", "list of models"))

    async def describe_model(self) -> ModelDescription:
        """Return what the server tells about the model: its context window, what it can do.

        Raises a `ProviderError`; `ModelNotFound` when the server does not have it.
        """
        return parse_model_description(await self._service.post_text("api/show", {"model": self._model}))

    @override
    async def context_window(self) -> int | None:
        """Return how many tokens the model reads at once: as we wish, else as it is loaded, else as its author set it.

        None where nobody says: what a model could read at most is no answer, because the server gives it less. Raises
        a `ProviderError`.
        """
        options = self._model_options(self._options)
        wished = num_ctx_of(lay_over({"options": options}, self._extra(options)))
        if wished is not None:
            return wished
        running = await self._service.get_text("api/ps", "list of running models")
        return parse_running_window(running, self._model) or (await self.describe_model()).num_ctx

    def _wishes(self, options: ModelOptions, model_options: JsonObject) -> JsonObject:
        wishes: JsonObject = {
            "keep_alive": self._settings.keep_alive,
            "think": _think(options.reasoning_effort),
            "options": model_options or None,
        }
        return {name: value for name, value in wishes.items() if value is not None}

    def _model_options(self, options: ModelOptions) -> JsonObject:
        wishes: JsonObject = {
            "num_ctx": self._settings.num_ctx,
            "temperature": options.temperature,
            "top_p": options.top_p,
            "num_predict": options.max_tokens,
        }
        return {name: value for name, value in wishes.items() if value is not None}

    def _extra(self, model_options: JsonObject) -> JsonObject:
        """Return the person's own parameters; their `options` are laid over ours one by one, lest `num_ctx` be lost."""
        match self._options.extra:
            case {"options": dict(own), **others}:
                return {**others, "options": lay_over(model_options, own)}
            case extra:
                return extra


def _think(effort: ReasoningEffort | None) -> JsonValue:
    """Say it as Ollama does: off is a word of its own, and there are three steps."""
    match effort:
        case None:
            return None
        case ReasoningEffort.NONE:
            return False
        case _:
            return nearest_effort(effort, _EFFORTS)


class OllamaChatReply(ReplyReader):
    """Reads one reply: lines of a stream, or a whole answer."""

    def __init__(self, transcript: Transcript) -> None:
        """Keep the ids of new calls apart from those of `transcript`."""
        self._decoder = NDJSONDecoder()
        self._reader = LineReader(transcript)

    @property
    @override
    def finished(self) -> bool:
        return self._reader.finished

    @property
    @override
    def done(self) -> bool:
        return self._reader.finished

    @override
    def feed(self, chunk: bytes) -> Iterator[ProviderEvent]:
        for line in self._decoder.feed(chunk):
            if self.finished:
                return
            if text := plain_text(line):
                yield TextDelta(text)
            else:
                yield from self._read(line)

    @override
    def read_whole(self, text: str) -> Iterator[ProviderEvent]:
        return self._read(text)

    def _read(self, sent: str | bytes) -> Iterator[ProviderEvent]:
        chunk = parse_chunk(sent)
        if chunk.error:
            raise FailureReported(chunk.error)
        return self._reader.read(chunk)

    @override
    def end(self) -> Iterator[ProviderEvent]:
        if (rest := self._decoder.end()) and not self.finished:  # a last line that nothing ends is a line
            yield from self._read(rest)
        yield from self._reader.end()
