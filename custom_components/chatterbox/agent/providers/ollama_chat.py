"""`LLMProvider` for servers of Ollama's own chat format.

Unlike the Chat Completions that Ollama also offers, its own format sets how long the
model stays in memory and the context length it is loaded with. Without a sufficient
`num_ctx`, Ollama truncates a long prompt silently, unless a request sets `truncate:
false` (Ollama's issues 3839 and 4967). So requests set it, and only a refused prompt
may be truncated.
"""

import asyncio
import logging
from typing import ClassVar, Final, override

from ..errors import PromptTooLong, ProviderError
from ..events import CompletionResult
from ..json.text import as_object
from ..messages import JsonObject, JsonValue, canonical_json
from ..protocols import CompletionRequest, ReasoningEffort
from ..wire.model_lists import ChatModel, by_usefulness, is_for_chat, parse_model_list
from ..wire.ollama_chat import (
    ModelDescription,
    OllamaReplyReader,
    parse_model_description,
    parse_running_window,
    request_to_payload,
)
from ..wire.reply_reader import ReplyReader
from .http_provider import HTTPProvider, lay_over
from .profiles import OLLAMA, ModelOptions, WireFormat, nearest_effort, with_wishes
from .refused_parameters import OUTPUT_REFUSALS, TOOL_ADJUSTMENTS
from .service_client import ollama_root

_LOGGER = logging.getLogger(__name__)

_EFFORTS: Final = (
    ReasoningEffort.LOW,
    ReasoningEffort.MEDIUM,
    ReasoningEffort.HIGH,
)
_CHARACTERS_PER_TOKEN: Final = 4
"""An estimate for prompts that the server does not count."""
_WINDOW_TIMEOUT: Final = 2.0
"""Seconds to ask for the context length, while the user waits."""


class OllamaChatProvider(HTTPProvider):
    """One model of one server. Safe to use for several turns at the same time."""

    root_of = staticmethod(ollama_root)
    _PATH = "api/chat"
    _WIRE = WireFormat.OLLAMA_CHAT
    _PROFILE = OLLAMA
    _FREE_PATH = "api/version"
    _STREAMS_OBJECTS = True
    _REQUIRED = frozenset({"model", "messages", "tools", "stream"})
    _ADJUSTMENTS = TOOL_ADJUSTMENTS
    _ALSO_CALLED: ClassVar = {
        "think": ("thinking",),
        "format": OUTPUT_REFUSALS,
    }

    @override
    def _reader(self, request: CompletionRequest) -> ReplyReader:
        return OllamaReplyReader(request.transcript)

    @override
    def _payload(self, request: CompletionRequest) -> JsonObject:
        payload = request_to_payload(
            request, self._model, attachments=self._profile.attachments
        )
        options = self._options_for(request)
        model_options = self._model_options(options)
        payload |= {
            "truncate": False,
            "keep_alive": options.keep_alive,
            "think": _think(options.reasoning_effort),
            "options": model_options or None,
        }
        return lay_over(payload, self._extra(model_options))

    @override
    def _shortest(self, payload: JsonObject) -> JsonObject:
        options = as_object(payload.get("options"))
        # All other options stay: another context length would reload the model.
        return payload | {
            "options": {
                **options,
                "num_predict": 1,
            }
        }

    @override
    async def _note_result(
        self,
        payload: JsonObject,
        result: CompletionResult,
    ) -> None:
        """Note a prompt that fits, or one that an old server truncated although it was told not to."""
        if self._is_retry(payload):
            return
        window = _num_ctx_of(payload)
        count = result.usage.input_tokens
        if window and count >= window:
            await self._note_overflow(
                payload, PromptTooLong("the server has cut the prompt")
            )
        else:
            self.overflow = None

    @override
    async def _payload_after(
        self, error: ProviderError, request: CompletionRequest, payload: JsonObject
    ) -> JsonObject:
        """Let the server truncate a prompt that does not fit, unless the request forbids it."""
        if not isinstance(error, PromptTooLong) or self._is_retry(payload):
            raise error
        if not request.may_be_cut:
            raise await self._with_numbers(payload, error) from error
        await self._note_overflow(payload, error)
        if "truncate" in self._options.extra:
            raise error
        return {name: value for name, value in payload.items() if name != "truncate"}

    def _is_retry(self, payload: JsonObject) -> bool:
        return "truncate" not in payload and "truncate" not in self._options.extra

    async def _note_overflow(
        self,
        payload: JsonObject,
        error: PromptTooLong,
    ) -> None:
        numbered = await self._with_numbers(payload, error)
        if self.overflow is None:
            room = numbered.window_tokens or "an unknown number of"
            prompt = numbered.prompt_tokens
            _LOGGER.warning(
                "A prompt of about %d tokens does not fit %s, which reads %s",
                prompt,
                self._model,
                room,
            )
        self.overflow = numbered

    async def _with_numbers(
        self, payload: JsonObject, error: PromptTooLong
    ) -> PromptTooLong:
        """Return the error with the numbers that the server omitted, as far as they are known."""
        window = error.window_tokens or _num_ctx_of(payload)
        if window is None:
            if self.overflow is None:
                window = await self._loaded_window()
            else:
                window = self.overflow.window_tokens
        prompt = error.prompt_tokens or max(
            _estimated_tokens(payload), (window or 0) + 1
        )
        return PromptTooLong(
            str(error),
            prompt,
            window,
        )

    async def _loaded_window(self) -> int | None:
        try:
            async with asyncio.timeout(_WINDOW_TIMEOUT):
                running = await self._client.get_text(
                    "api/ps", "list of running models"
                )
            return parse_running_window(running, self._model)
        except ProviderError, TimeoutError:
            return None

    @override
    async def list_models(self) -> list[str]:
        """Return the names of the server's models, sorted; see `HTTPProvider.list_models`."""
        return parse_model_list(
            await self._client.get_text("api/tags", "list of models")
        )

    @override
    async def chat_models(self) -> list[ChatModel]:
        """Return the models that one can talk to, the most useful first; see `HTTPProvider.chat_models`."""
        names = [name for name in await self.list_models() if is_for_chat(name)]
        capabilities = await asyncio.gather(*map(self._capabilities, names))
        models = [
            ChatModel(name, None if can is None else "tools" in can)
            for name, can in zip(names, capabilities, strict=True)
            if can is None or "completion" in can
        ]
        return by_usefulness(models)

    async def _capabilities(self, model: str) -> frozenset[str] | None:
        try:
            return (await self.describe_model(model)).capabilities
        except ProviderError:
            return None

    async def describe_model(self, model: str = "") -> ModelDescription:
        """Return the server's description of a model, its own by default.

        Raises a `ProviderError`; `ModelNotFound` if the server does not have it.
        """
        return parse_model_description(
            await self._client.post_text(
                "api/show",
                {"model": model or self._model},
            )
        )

    @override
    async def context_window(self) -> int | None:
        """Return the context length in use: as configured, else as loaded, else the default of the Modelfile.

        None if it is unknown: the maximum is no answer, because the server uses less.
        Raises a `ProviderError`.
        """
        options = self._model_options(self._options)
        configured = _num_ctx_of(lay_over({"options": options}, self._extra(options)))
        if configured is not None:
            return configured
        running = await self._client.get_text("api/ps", "list of running models")
        return (
            parse_running_window(running, self._model)
            or (await self.describe_model()).num_ctx
        )

    def _model_options(self, options: ModelOptions) -> JsonObject:
        wishes: JsonObject = {
            "num_ctx": options.num_ctx,
            "temperature": options.temperature,
            "top_p": options.top_p,
            "num_predict": options.max_tokens,
        }
        return with_wishes({}, wishes)

    def _extra(self, model_options: JsonObject) -> JsonObject:
        """Return the user's extra parameters, their `options` merged with ours so that `num_ctx` is kept."""
        match self._options.extra:
            case {"options": dict(own), **others}:
                return {
                    **others,
                    "options": lay_over(model_options, own),
                }
            case extra:
                return extra


def _think(effort: ReasoningEffort | None) -> JsonValue:
    """Return the effort as Ollama knows it: off, or one of three steps."""
    match effort:
        case None:
            return None
        case ReasoningEffort.NONE:
            return False
        case _:
            return nearest_effort(effort, _EFFORTS)


def _num_ctx_of(payload: JsonObject) -> int | None:
    match payload.get("options"):
        case {"num_ctx": int(num_ctx)}:
            return num_ctx
        case _:
            return None


def _estimated_tokens(payload: JsonObject) -> int:
    """Estimate the length of a prompt without its images."""
    match payload.get("messages"):
        case list(messages):
            without_images = [
                {
                    **message,
                    "images": None,
                }
                for message in messages
                if isinstance(message, dict)
            ]
            return (
                len(canonical_json([payload.get("tools"), *without_images]))
                // _CHARACTERS_PER_TOKEN
            )
        case _:
            return 0
