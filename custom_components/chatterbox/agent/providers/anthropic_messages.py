"""The `LLMProvider` for any server that speaks the Messages format, Anthropic's own first of all.

Knows which paths that interface has, who asks by which header, and what a person's wishes are
called there; the format stands in `wire/anthropic_messages.py` and `..._reply.py`, connections
and failures in `http_stream.py`, refusals in `anthropic_refusals.py`. Must not know who asks.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import replace
from typing import Final, override

import aiohttp

from ..events import ProviderEvent
from ..messages import JsonObject, Transcript
from ..protocols import CompletionRequest, ReasoningEffort
from ..wire.anthropic_messages import request_to_payload
from ..wire.anthropic_messages_reply import ReplyReader as MessageReader
from ..wire.anthropic_messages_schema import parse_event, plain_text
from ..wire.openai_chat import DONE
from ..wire.openai_chat_schema import parse_model_list
from ..wire.repeated_events import RepeatedEvents
from ..wire.sse import SSEDecoder
from .anthropic_refusals import AnthropicRefusals
from .http_access import Access
from .http_provider import HTTPProvider
from .http_stream import DEFAULT_LIMITS, ModelService, TimeLimits
from .options import DEFAULT_OPTIONS, ModelOptions, lay_over, with_wishes
from .profiles import ANTHROPIC, ServerProfile
from .reply_reader import FailureReported, ReplyReader

MAX_TOKENS: Final = 8192
"""Of an answer, where nobody said: the format has no default. Thinking counts, and long thinking gets more."""
MAX_TOKENS_OF_LONG_THINKING: Final = 32_000

_VERSION: Final = "2023-06-01"
"""The one version of the format; what is new since then came without another."""
_MOST_MODELS: Final = "1000"
"""Models on one page of their list; otherwise there are twenty."""
_REQUIRED: Final = frozenset({"model", "max_tokens", "messages", "system", "tools", "stream"})
"""Fields without which a request would mean something else, or nothing."""

_EFFORTS: Final[Mapping[ReasoningEffort, JsonObject]] = {
    ReasoningEffort.NONE: {"thinking": {"type": "disabled"}},
    **{
        effort: {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}
        for effort in ReasoningEffort
        if effort not in {ReasoningEffort.NONE, ReasoningEffort.MINIMAL}
    },
    ReasoningEffort.MINIMAL: {"thinking": {"type": "adaptive"}, "output_config": {"effort": ReasoningEffort.LOW}},
}
_HOTTEST: Final = 1.0
"""The highest temperature of the format; others go up to 2."""
_LEAST_TOP_P_OF_THOUGHT: Final = 0.95
_LONG_THINKING: Final = frozenset({ReasoningEffort.HIGH, ReasoningEffort.XHIGH, ReasoningEffort.MAX})


class AnthropicMessagesProvider(HTTPProvider):
    """One model of one server. Safe to use for several turns at the same time."""

    _PATH = "messages"

    def __init__(  # noqa: PLR0913  # where, what, who, how long and how: all that a provider is made of
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        model: str,
        api_key: str | None = None,
        limits: TimeLimits = DEFAULT_LIMITS,
        *,
        options: ModelOptions = DEFAULT_OPTIONS,
        profile: ServerProfile = ANTHROPIC,
    ) -> None:
        """Open nothing yet; a wrong address or key shows as a `ProviderError` of the first call.

        `session` is the caller's and stays open. `base_url` is read by `api_root`.
        """
        access = Access(
            base_url, api_key or "", key_header="x-api-key", key_prefix="", headers={"anthropic-version": _VERSION}
        )
        service = ModelService(session, access, AnthropicRefusals(model, _REQUIRED), limits)
        super().__init__(model, options, profile, service)

    @override
    def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""
        return self._service.stream(self._PATH, self._payload(request), AnthropicMessagesReply(request.transcript))

    @override
    def _payload(self, request: CompletionRequest) -> JsonObject:
        options = self._options_for(request)
        payload = request_to_payload(request, self._model, _max_tokens(options), self._profile.attachments)
        return lay_over(with_wishes(payload, _wishes(options)), self._options.extra)

    @override
    def _options_for(self, request: CompletionRequest) -> ModelOptions:
        """Return how the model is to answer. One that thinks takes no other temperature than its own.

        Where a wish for this turn would bring thinking and a temperature together, it thinks. What the owner has set
        is sent as it is: servers that only speak like Anthropic's may well take both.
        """
        options, wishes = super()._options_for(request), request.options
        if wishes.temperature is not None:
            options = replace(options, temperature=min(wishes.temperature, _HOTTEST))
        wished = (wishes.temperature, wishes.top_p, wishes.reasoning_effort) != (None, None, None)
        if not wished or options.reasoning_effort in {None, ReasoningEffort.NONE}:
            return options
        top_p = options.top_p if options.top_p is not None and options.top_p >= _LEAST_TOP_P_OF_THOUGHT else None
        return replace(options, temperature=None, top_p=top_p)

    @override
    def _shortest(self, payload: JsonObject) -> JsonObject:
        return payload | {"max_tokens": 1}

    @override
    async def list_models(self) -> list[str]:
        """Return the names of the models that the server offers, sorted.

        Raises a `ProviderError`; `ProviderReplyInvalid` when there is no such list at this address.
        """
        listed = await self._service.get_text("models", "list of models", {"limit": _MOST_MODELS})
        return parse_model_list(listed)


def _max_tokens(options: ModelOptions) -> int:
    if options.max_tokens is not None:
        return options.max_tokens
    return MAX_TOKENS_OF_LONG_THINKING if options.reasoning_effort in _LONG_THINKING else MAX_TOKENS


def _wishes(options: ModelOptions) -> JsonObject:
    wishes: JsonObject = {"temperature": options.temperature, "top_p": options.top_p}
    if options.reasoning_effort is not None:
        wishes |= _EFFORTS[options.reasoning_effort]
    return {name: value for name, value in wishes.items() if value is not None}


class AnthropicMessagesReply(ReplyReader):
    """Reads one reply: the events of a stream, or a whole message."""

    def __init__(self, transcript: Transcript) -> None:
        """Keep the ids of new calls apart from those of `transcript`."""
        self._decoder = SSEDecoder()
        self._alike = RepeatedEvents(plain_text)
        self._reader = MessageReader(transcript)
        self._is_over = False

    @property
    @override
    def finished(self) -> bool:
        return self._reader.finished

    @property
    @override
    def done(self) -> bool:
        return self._is_over or self._reader.done

    @override
    def feed(self, chunk: bytes) -> Iterator[ProviderEvent]:
        if not (self.done or self._decoder.is_amid_event):
            text, chunk = self._alike.text_of(chunk)
            if text:
                yield from self._reader.say(text)
            if not chunk:
                return
        for event in self._decoder.feed(chunk):
            data = event.data.strip()
            self._is_over = self._is_over or data == DONE  # gateways end every stream as they end OpenAI's
            if not data or self.done:
                continue
            if text := plain_text(data):
                self._alike.saw(event, text)
                yield from self._reader.say(text)
            else:
                yield from self._read(data)

    @override
    def read_whole(self, text: str) -> Iterator[ProviderEvent]:
        return self._read(text)

    def _read(self, sent: str | bytes) -> Iterator[ProviderEvent]:
        event = parse_event(sent)
        if event.error is not None:
            raise FailureReported(event.error)
        return self._reader.read(event)

    @override
    def end(self) -> Iterator[ProviderEvent]:
        return self._reader.end()
