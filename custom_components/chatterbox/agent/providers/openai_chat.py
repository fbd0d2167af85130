"""`LLMProvider` for servers of OpenAI's Chat Completions."""

from typing import Final, override

import aiohttp

from ..messages import JsonObject
from ..protocols import CompletionRequest
from ..wire.openai_chat import ChatReplyReader, request_to_payload
from ..wire.reply_reader import ReplyReader
from .http_provider import DEFAULT_LIMITS, Access, HTTPProvider, ServiceClient, TimeLimits
from .profiles import DEFAULT_OPTIONS, ModelOptions, ServerProfile, lay_over, profile_at
from .refused_parameters import OUTPUT_REFUSALS, RefusedParameters

_REQUIRED: Final = frozenset({"model", "messages", "tools", "stream"})
"""Fields without which a request would mean something else."""
_ALSO_CALLED: Final = {"response_format": (*OUTPUT_REFUSALS, "response format")}


class OpenAIChatProvider(HTTPProvider):
    """One model of one server. Safe to use for several turns at the same time."""

    _PATH = "chat/completions"

    def __init__(  # noqa: PLR0913  # address, model, key, limits and options make up a provider
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

        `session` is the caller's and stays open. `base_url` is read by `api_root`; it also selects the `profile` if
        there is none.
        """
        access = Access(base_url, api_key or "")
        client = ServiceClient(session, access, RefusedParameters(model, _REQUIRED, _ALSO_CALLED), limits)
        super().__init__(model, options, profile or profile_at(base_url), client)

    @override
    def _reader(self, request: CompletionRequest) -> ReplyReader:
        return ChatReplyReader(request.transcript)

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
