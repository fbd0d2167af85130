"""`LLMProvider` for servers of OpenAI's Responses API."""

import logging
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, override

import aiohttp

from ..errors import ProviderBusy, ProviderError
from ..messages import JsonObject
from ..protocols import CompletionRequest, ReasoningEffort, Verbosity
from ..wire.openai_responses import ResponsesReplyReader, request_to_payload, without_carried_items
from ..wire.reply_reader import ReplyReader
from .http_provider import DEFAULT_LIMITS, Access, HTTPProvider, ServiceClient, TimeLimits
from .profiles import DEFAULT_OPTIONS, OPENAI, ModelOptions, ServerProfile, lay_over, nearest_effort, with_wishes
from .refused_parameters import OUTPUT_REFUSALS, RefusedParameters

_LOGGER = logging.getLogger(__name__)

_REQUIRED: Final = frozenset({"model", "input", "instructions", "tools", "stream", "store"})
"""Fields without which a request would mean something else, or would be stored at the service."""
_ALSO_CALLED: Final = {"text.format": (*OUTPUT_REFUSALS, "response_format", "response format")}

_EFFORTS: Final = tuple(effort for effort in ReasoningEffort if effort is not ReasoningEffort.MAX)

_REFUSES_CARRIED: Final = re.compile(
    r"encrypted content|of type 'reasoning'|'rs_\w+' not found|item\['content'\]", re.IGNORECASE
)
"""Messages of services that cannot read reasoning: of another key or service, or expired."""

_NO_ROOM: Final = re.compile(r"resource.unavailable", re.IGNORECASE)
"""Message of OpenAI if a cheaper tier has no capacity."""


class ServiceTier(StrEnum):
    """Price and speed of a request."""

    AUTO = "auto"
    DEFAULT = "default"
    FLEX = "flex"
    """Half the price, but slow; without capacity, the default tier answers."""
    PRIORITY = "priority"


class ReasoningSummary(StrEnum):
    """Length of the summary of a model's reasoning. OpenAI requires some organisations to verify themselves first."""

    AUTO = "auto"
    CONCISE = "concise"
    DETAILED = "detailed"


@dataclass(frozen=True, slots=True)
class ResponsesSettings:
    """Settings of the Responses API. None or empty values are not sent: the service's default applies."""

    prompt_cache_key: str = ""
    """The same for requests with the same prefix, such as an agent's; at most 64 characters, without personal data."""
    verbosity: Verbosity | None = None
    service_tier: ServiceTier | None = None
    reasoning_summary: ReasoningSummary | None = None


DEFAULT_SETTINGS: Final = ResponsesSettings()


class OpenAIResponsesProvider(HTTPProvider):
    """One model of one server. Safe to use for several turns at the same time."""

    _PATH = "responses"

    def __init__(  # noqa: PLR0913  # address, model, key, limits and options make up a provider
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

        `session` is the caller's and stays open. `base_url` is read by `api_root`.
        """
        access = Access(base_url, api_key or "")
        client = ServiceClient(session, access, RefusedParameters(model, _REQUIRED, _ALSO_CALLED), limits)
        super().__init__(model, options, profile, client)
        self._settings = settings

    @override
    def _reader(self, request: CompletionRequest) -> ReplyReader:
        return ResponsesReplyReader(request.transcript, self._model)

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
    async def _payload_after(
        self, error: ProviderError, request: CompletionRequest, payload: JsonObject, *, started: bool
    ) -> JsonObject:
        changed = None if started else _without_cause(payload, error)
        if changed is None:
            return await super()._payload_after(error, request, payload, started=started)
        _LOGGER.info("%s is asked again: %s", self._model, error)
        return changed

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


def _without_cause(payload: JsonObject, err: ProviderError) -> JsonObject | None:
    """Return a payload without the cause of a refusal that does not concern parameters, None for other failures."""
    plain = without_carried_items(payload)
    if plain != payload and _REFUSES_CARRIED.search(str(err)):
        return plain
    if isinstance(err, ProviderBusy) and payload.get("service_tier") == ServiceTier.FLEX and _NO_ROOM.search(str(err)):
        return payload | {"service_tier": ServiceTier.DEFAULT}
    return None
