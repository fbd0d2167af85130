"""`LLMProvider` for servers of Anthropic's Messages API."""

from dataclasses import replace
from typing import Final, override

from ..messages import JsonObject
from ..protocols import CompletionRequest, ReasoningEffort
from ..text import read_data_file
from ..wire.anthropic_messages import AnthropicReplyReader, request_to_payload
from ..wire.model_lists import ChatModel, parse_chat_models
from ..wire.reply_reader import ReplyReader
from .http_provider import HTTPProvider, lay_over
from .profiles import ANTHROPIC, ModelOptions, WireFormat, with_wishes
from .refused_parameters import ANTHROPIC_ADJUSTMENTS, ANTHROPIC_ALSO_CALLED
from .service_client import Access

MAX_TOKENS: Final = 8192
"""Default limit of an answer, thinking included: the format requires one."""
MAX_TOKENS_OF_LONG_THINKING: Final = 32_000

_VERSION: Final = "2023-06-01"
"""The current version of the format."""
_MAX_MODELS: Final = "1000"
"""On one page of the list of models; the default is twenty."""
_EFFORTS: Final = read_data_file(__file__, dict[ReasoningEffort, JsonObject])
_HOTTEST: Final = 1.0
"""The highest temperature of the format; others go up to 2."""
_LEAST_TOP_P_OF_THOUGHT: Final = 0.95
_LONG_THINKING: Final = frozenset(
    {
        ReasoningEffort.HIGH,
        ReasoningEffort.XHIGH,
        ReasoningEffort.MAX,
    }
)


class AnthropicMessagesProvider(HTTPProvider):
    """One model of one server. Safe to use for several turns at the same time."""

    _PATH = "messages"
    _WIRE = WireFormat.ANTHROPIC_MESSAGES
    _PROFILE = ANTHROPIC
    _REQUIRED = frozenset(
        {
            "model",
            "max_tokens",
            "messages",
            "system",
            "tools",
            "stream",
        }
    )
    _ALSO_CALLED = ANTHROPIC_ALSO_CALLED
    _ADJUSTMENTS = ANTHROPIC_ADJUSTMENTS

    @override
    def _access(
        self,
        base_url: str,
        key: str,
    ) -> Access:
        headers = {"anthropic-version": _VERSION}
        return Access(
            base_url, key, key_header="x-api-key", key_prefix="", headers=headers
        )

    @override
    def _reader(self, request: CompletionRequest) -> ReplyReader:
        return AnthropicReplyReader(request.transcript)

    @override
    def _payload(self, request: CompletionRequest) -> JsonObject:
        options = self._options_for(request)
        payload = request_to_payload(
            request,
            self._model,
            _max_tokens(options),
            self._profile.attachments,
            self._search_tool,
        )
        return lay_over(
            with_wishes(payload, _wishes(options)),
            self._options.extra,
        )

    @override
    def _options_for(self, request: CompletionRequest) -> ModelOptions:
        """Return the options of a request. A model that thinks accepts no temperature.

        If a wish for this turn would combine the two, thinking wins. The owner's
        settings are sent unchanged: other servers of this format may accept both.
        """
        options = super()._options_for(request)
        wishes = request.options
        if wishes.temperature is not None:
            options = replace(
                options,
                temperature=min(wishes.temperature, _HOTTEST),
            )
        wished = (wishes.temperature, wishes.top_p, wishes.reasoning_effort) != (
            None,
            None,
            None,
        )
        if not wished or options.reasoning_effort in {None, ReasoningEffort.NONE}:
            return options
        if options.top_p is not None and options.top_p >= _LEAST_TOP_P_OF_THOUGHT:
            top_p = options.top_p
        else:
            top_p = None
        return replace(
            options,
            temperature=None,
            top_p=top_p,
        )

    @override
    def _shortest(self, payload: JsonObject) -> JsonObject:
        return payload | {"max_tokens": 1}

    @override
    async def list_models(self) -> list[str]:
        """Return the names of the server's models, sorted; see `HTTPProvider.list_models`."""
        return [model.name for model in await self.chat_models()]

    @override
    async def chat_models(self) -> list[ChatModel]:
        """Return the models that one can talk to, the most useful first; see `HTTPProvider.chat_models`."""
        return parse_chat_models(
            await self._client.get_text(
                "models", "list of models", {"limit": _MAX_MODELS}
            )
        )


def _max_tokens(options: ModelOptions) -> int:
    if options.max_tokens is not None:
        return options.max_tokens
    if options.reasoning_effort in _LONG_THINKING:
        return MAX_TOKENS_OF_LONG_THINKING
    return MAX_TOKENS


def _wishes(options: ModelOptions) -> JsonObject:
    if options.reasoning_effort is None:
        effort = {}
    else:
        effort = _EFFORTS[options.reasoning_effort]
    return {
        "temperature": options.temperature,
        "top_p": options.top_p,
        **effort,
    }
