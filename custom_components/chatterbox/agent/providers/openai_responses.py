"""The `LLMProvider` for any server that speaks the Responses API.

Knows which paths that interface has and what a request of it is made of; the format stands in
`wire/openai_responses.py`, connections and failures in `http_stream.py`. Must not know who asks.
"""

import logging
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, override

import aiohttp

from ..errors import ProviderBusy, ProviderError
from ..events import ProviderEvent
from ..messages import JsonObject, Transcript
from ..protocols import CompletionRequest, ReasoningEffort, Verbosity
from ..wire.openai_chat import DONE
from ..wire.openai_chat_schema import parse_model_list
from ..wire.openai_responses import request_to_payload, without_carried_items
from ..wire.openai_responses_reply import ReplyReader as EventReader
from ..wire.openai_responses_schema import parse_event, parse_response, plain_piece
from ..wire.sse import SSEDecoder
from .http_access import Access
from .http_provider import HTTPProvider
from .http_stream import DEFAULT_LIMITS, ModelService, TimeLimits
from .options import DEFAULT_OPTIONS, ModelOptions, lay_over, with_wishes
from .profiles import OPENAI, ServerProfile, nearest_effort
from .refused_parameters import OUTPUT_REFUSALS, RefusedParameters
from .reply_reader import FailureReported, ReplyReader

_LOGGER = logging.getLogger(__name__)

_REQUIRED: Final = frozenset({"model", "input", "instructions", "tools", "stream", "store"})
"""Fields without which a request would mean something else, or what is said would be kept at the service."""
_ALSO_CALLED: Final = {"text.format": (*OUTPUT_REFUSALS, "response_format", "response format")}

_EFFORTS: Final = tuple(effort for effort in ReasoningEffort if effort is not ReasoningEffort.MAX)

_REFUSES_CARRIED: Final = re.compile(
    r"encrypted content|of type 'reasoning'|'rs_\w+' not found|item\['content'\]", re.IGNORECASE
)
"""How services say that they cannot read reasoning: of another key, of another service, or grown too old."""

_NO_ROOM: Final = re.compile(r"resource.unavailable", re.IGNORECASE)
"""How OpenAI says that it has nothing to spare for a cheaper tier at the moment."""


class ServiceTier(StrEnum):
    """What a request may cost, and how soon it is answered."""

    AUTO = "auto"
    DEFAULT = "default"
    FLEX = "flex"
    """Half the price, and slow; where there is no room for it, the default tier answers."""
    PRIORITY = "priority"


class ReasoningSummary(StrEnum):
    """How much a model tells about its reasoning. OpenAI asks some organisations to prove who they are first."""

    AUTO = "auto"
    CONCISE = "concise"
    DETAILED = "detailed"


@dataclass(frozen=True, slots=True)
class ResponsesSettings:
    """What can be set in the Responses API alone. What is None or empty is not sent: the service's default holds."""

    prompt_cache_key: str = ""
    """The same for requests that begin alike, such as an agent's; at most 64 characters. Names no person."""
    verbosity: Verbosity | None = None
    service_tier: ServiceTier | None = None
    reasoning_summary: ReasoningSummary | None = None


DEFAULT_SETTINGS: Final = ResponsesSettings()


class OpenAIResponsesProvider(HTTPProvider):
    """One model of one server. Safe to use for several turns at the same time."""

    _PATH = "responses"

    def __init__(  # noqa: PLR0913  # where, what, who, how long and how: all that a provider is made of
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        model: str,
        api_key: str | None = None,
        limits: TimeLimits = DEFAULT_LIMITS,
        *,
        options: ModelOptions = DEFAULT_OPTIONS,
        settings: ResponsesSettings = DEFAULT_SETTINGS,
        profile: ServerProfile = OPENAI,
    ) -> None:
        """Open nothing yet; a wrong address or key shows as a `ProviderError` of the first call.

        `session` is the caller's and stays open. `base_url` is read by `api_root`; the
        `profile` tells what models can be shown.
        """
        access = Access(base_url, api_key or "")
        service = ModelService(session, access, RefusedParameters(model, _REQUIRED, _ALSO_CALLED), limits)
        super().__init__(model, options, profile, service)
        self._settings = settings

    @override
    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""
        payload = self._payload(request)
        while True:
            begun = False
            try:
                async with aclosing(self._ask(payload, request.transcript)) as events:
                    async for event in events:
                        begun = True
                        yield event
            except ProviderError as err:
                mended = None if begun else _mended(payload, err)
                if mended is None:
                    raise
                _LOGGER.info("%s is asked again: %s", self._model, err)
                payload = mended
            else:
                return

    @override
    def _payload(self, request: CompletionRequest) -> JsonObject:
        profile = self._profile
        payload = request_to_payload(
            request,
            self._model,
            attachments=profile.attachments,
            output_beside_tools=profile.output_beside_tools,
        )
        return lay_over(with_wishes(payload, self._wishes(request)), self._options.extra)

    @override
    def _shortest(self, payload: JsonObject) -> JsonObject:
        return payload | {"max_output_tokens": 1}

    @override
    async def list_models(self) -> list[str]:
        """Return the names of the models that the server offers, sorted.

        Raises a `ProviderError`; `ProviderReplyInvalid` when there is no such list at this address.
        """
        return parse_model_list(await self._service.get_text("models", "list of models"))

    def _ask(self, payload: JsonObject, transcript: Transcript) -> AsyncGenerator[ProviderEvent]:
        return self._service.stream(self._PATH, payload, OpenAIResponsesReply(transcript, self._model))

    def _wishes(self, request: CompletionRequest) -> JsonObject:
        options, settings = self._options_for(request), self._settings
        verbosity = request.options.verbosity or settings.verbosity
        effort = nearest_effort(options.reasoning_effort, _EFFORTS) if options.reasoning_effort else None
        reasoning: JsonObject = {"effort": effort, "summary": settings.reasoning_summary}
        wishes: JsonObject = {
            "temperature": options.temperature,
            "top_p": options.top_p,
            "max_output_tokens": options.max_tokens,
            "reasoning": {name: value for name, value in reasoning.items() if value is not None} or None,
            "text": {"verbosity": verbosity} if verbosity else None,
            "service_tier": settings.service_tier,
            "prompt_cache_key": settings.prompt_cache_key or None,
        }
        return {name: value for name, value in wishes.items() if value is not None}


def _mended(payload: JsonObject, err: ProviderError) -> JsonObject | None:
    """Return a payload without the cause of a refusal that has nothing to do with parameters, or None."""
    plain = without_carried_items(payload)
    if plain != payload and _REFUSES_CARRIED.search(str(err)):
        return plain
    if isinstance(err, ProviderBusy) and payload.get("service_tier") == ServiceTier.FLEX and _NO_ROOM.search(str(err)):
        return payload | {"service_tier": ServiceTier.DEFAULT}
    return None


class OpenAIResponsesReply(ReplyReader):
    """Reads one reply: events of a stream, or a whole response."""

    def __init__(self, transcript: Transcript, model: str) -> None:
        """Keep the ids of new calls apart from those of `transcript`."""
        self._decoder = SSEDecoder()
        self._reader = EventReader(transcript, model)

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
        for sent in self._decoder.feed(chunk):
            if not (data := sent.data.strip()) or data == DONE or self.finished:
                continue
            if (piece := plain_piece(data)) and (said := self._reader.say_on(*piece)):
                yield said
                continue
            event = parse_event(data)
            if (reported := event.reported_error) is not None:
                raise FailureReported(reported)
            yield from self._reader.read(event)

    @override
    def read_whole(self, text: str) -> Iterator[ProviderEvent]:
        response = parse_response(text)
        if (reported := response.reported_error) is not None:
            raise FailureReported(reported)
        yield from self._reader.read_whole(response)

    @override
    def end(self) -> Iterator[ProviderEvent]:
        yield from self._reader.end()
