"""`LLMProvider` for servers of OpenAI's Responses API."""

from typing import ClassVar, Final, override

from ..errors import ProviderBusy, ProviderError
from ..messages import JsonObject
from ..protocols import CompletionRequest, ReasoningEffort
from ..wire.openai_responses import (
    ResponsesReplyReader,
    request_to_payload,
    without_carried_items,
)
from ..wire.reply_reader import ReplyReader
from .failures import WORDINGS
from .http_provider import HTTPProvider, lay_over
from .profiles import OPENAI, ServiceTier, WireFormat, nearest_effort, with_wishes
from .refused_parameters import OUTPUT_REFUSALS, TOOL_ADJUSTMENTS

_EFFORTS: Final = tuple(
    effort for effort in ReasoningEffort if effort is not ReasoningEffort.MAX
)


class OpenAIResponsesProvider(HTTPProvider):
    """One model of one server. Safe to use for several turns at the same time."""

    _PATH = "responses"
    _WIRE = WireFormat.OPENAI_RESPONSES
    _PROFILE = OPENAI
    _REQUIRED = frozenset(
        {
            "model",
            "input",
            "instructions",
            "tools",
            "stream",
            "store",
        }
    )
    """Also so that nothing is stored at the service."""
    _ADJUSTMENTS = TOOL_ADJUSTMENTS
    _ALSO_CALLED: ClassVar = {
        "text.format": (
            *OUTPUT_REFUSALS,
            "response_format",
            "response format",
        )
    }

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
            search_tool=self._search_tool,
        )
        return lay_over(
            with_wishes(
                payload,
                self._wishes(request),
            ),
            self._options.extra,
        )

    @override
    def _shortest(self, payload: JsonObject) -> JsonObject:
        return payload | {"max_output_tokens": 1}

    @override
    async def _payload_after(
        self, error: ProviderError, request: CompletionRequest, payload: JsonObject
    ) -> JsonObject:
        changed = _without_cause(payload, error)
        if changed is None:
            return await super()._payload_after(
                error,
                request,
                payload,
            )
        return changed

    def _wishes(self, request: CompletionRequest) -> JsonObject:
        options = self._options_for(request)
        if options.reasoning_effort:
            effort = nearest_effort(options.reasoning_effort, _EFFORTS)
        else:
            effort = None
        return {
            "temperature": options.temperature,
            "top_p": options.top_p,
            "max_output_tokens": options.max_tokens,
            "reasoning": {"effort": effort} if effort else None,
            "text": {"verbosity": options.verbosity} if options.verbosity else None,
            "service_tier": options.service_tier,
            "prompt_cache_key": options.prompt_cache_key or None,
        }


def _without_cause(
    payload: JsonObject,
    err: ProviderError,
) -> JsonObject | None:
    """Return a payload without the cause of a refusal that does not concern parameters, None for other failures."""
    plain = without_carried_items(payload)
    if plain != payload and WORDINGS["refused_carried"].search(str(err)):
        return plain
    is_flexible = (
        isinstance(err, ProviderBusy)
        and payload.get("service_tier") == ServiceTier.FLEX
    )
    if is_flexible and WORDINGS["no_room"].search(str(err)):
        return payload | {"service_tier": ServiceTier.DEFAULT}
    return None
