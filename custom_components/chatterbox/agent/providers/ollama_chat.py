"""The `LLMProvider` for a server that speaks Ollama's own chat format.

Knows which paths that interface has and what a request of it is made of; the format stands
in `wire/ollama_chat.py`, connections and failures in `http_stream.py`. Must not know who asks.

Beside the Chat Completions that Ollama also speaks, its own format can say how long the model
stays in memory and how much of it is kept for the conversation: without a `num_ctx` that fits
the home, Ollama cuts the beginning of a long prompt without a word.
"""

from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from typing import Final, override

import aiohttp

from ..events import ProviderEvent
from ..messages import JsonObject, JsonValue, Transcript, UserMessage
from ..protocols import CompletionRequest
from ..wire.ndjson import NDJSONDecoder
from ..wire.ollama_chat import ReplyReader as LineReader, request_to_payload
from ..wire.ollama_chat_schema import ModelDescription, parse_chunk, parse_model_description, parse_model_list
from .address import ollama_root
from .http_stream import DEFAULT_LIMITS, Access, FailureReported, ModelService, ReplyReader, TimeLimits
from .options import DEFAULT_OPTIONS, ModelOptions, ReasoningEffort, lay_over
from .profiles import OLLAMA, ServerProfile, nearest_effort
from .refused_parameters import RefusedParameters

_REQUIRED: Final = frozenset({"model", "messages", "tools", "stream"})
"""Fields without which a request would mean something else."""
_EFFORTS: Final = (ReasoningEffort.LOW, ReasoningEffort.MEDIUM, ReasoningEffort.HIGH)
_ALSO_CALLED: Final = {"think": ("thinking",)}

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


class OllamaChatProvider:
    """One model of one server. Safe to use for several turns at the same time."""

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
        self._model = model
        self._options = options
        self._settings = settings
        self._shown = profile.attachments
        access = Access(base_url, api_key or "", root_of=ollama_root)
        self._service = ModelService(session, access, RefusedParameters(model, _REQUIRED, _ALSO_CALLED), limits)

    @override
    def __repr__(self) -> str:
        """Name the model, and neither key nor address: addresses may hold passwords."""
        return f"{type(self).__name__}(model={self._model!r})"

    def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""
        payload = request_to_payload(request, self._model, attachments=self._shown)
        payload = lay_over(payload | self._wishes(), self._extra())
        return self._service.stream("api/chat", payload, OllamaChatReply(request.transcript), streams_objects=True)

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

    async def check(self) -> None:
        """Make sure that the model answers, at this address and with this key.

        Asks for a real answer and leaves at its first word. Raises the `ProviderError` that a turn would get.
        """
        request = CompletionRequest(instructions="", transcript=(UserMessage("Hi"),))
        await self._service.await_first(self.stream(request))

    def _wishes(self) -> JsonObject:
        wishes: JsonObject = {
            "keep_alive": self._settings.keep_alive,
            "think": _think(self._options.reasoning_effort),
            "options": self._model_options() or None,
        }
        return {name: value for name, value in wishes.items() if value is not None}

    def _model_options(self) -> JsonObject:
        options: JsonObject = {
            "num_ctx": self._settings.num_ctx,
            "temperature": self._options.temperature,
            "top_p": self._options.top_p,
            "num_predict": self._options.max_tokens,
        }
        return {name: value for name, value in options.items() if value is not None}

    def _extra(self) -> JsonObject:
        """Return the person's own parameters; their `options` are laid over ours one by one, lest `num_ctx` be lost."""
        match self._options.extra:
            case {"options": dict(options), **others}:
                return {**others, "options": lay_over(self._model_options(), options)}
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
            yield from self.read_whole(line)

    @override
    def read_whole(self, text: str) -> Iterator[ProviderEvent]:
        chunk = parse_chunk(text)
        if chunk.error:
            raise FailureReported(chunk.error)
        yield from self._reader.read(chunk)

    @override
    def end(self) -> Iterator[ProviderEvent]:
        if (rest := self._decoder.end()) and not self.finished:  # a last line that nothing ends is a line
            yield from self.read_whole(rest)
        yield from self._reader.end()
