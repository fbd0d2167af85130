"""`LLMProvider` for servers of OpenAI's Chat Completions."""

from dataclasses import replace
from typing import ClassVar, override

from ..errors import ProviderError, UnparsedReply
from ..messages import JsonObject
from ..protocols import CompletionRequest
from ..wire.call_assembly import ACCEPTED_ID
from ..wire.openai_chat import ChatReplyReader, request_to_payload
from ..wire.reply_reader import ReplyReader
from .failures import WORDINGS
from .http_provider import HTTPProvider, lay_over
from .profiles import WireFormat
from .refused_parameters import OUTPUT_REFUSALS, TOOL_ADJUSTMENTS, whole_answer


class OpenAIChatProvider(HTTPProvider):
    """One model of one server. Safe to use for several turns at the same time."""

    _PATH = "chat/completions"
    _WIRE = WireFormat.OPENAI_CHAT
    _REQUIRED = frozenset({"model", "messages", "tools", "stream"})
    _ADJUSTMENTS = TOOL_ADJUSTMENTS
    _ALSO_CALLED: ClassVar = {"response_format": (*OUTPUT_REFUSALS, "response format")}

    @override
    def _reader(self, request: CompletionRequest) -> ReplyReader:
        searches = bool(request.searches and self._search_tool)
        return ChatReplyReader(request.transcript, searches=searches)

    @override
    def _payload(self, request: CompletionRequest) -> JsonObject:
        profile = self._profile
        payload = request_to_payload(
            request,
            self._model,
            profile.chat,
            profile.attachments,
            output_beside_tools=profile.output_beside_tools,
            search_tool=self._search_tool,
        )
        return lay_over(
            payload | self._wishes(request),
            self._options.extra,
        )

    def _wishes(self, request: CompletionRequest) -> JsonObject:
        options = self._options_for(request)
        profile = self._profile
        if options.reasoning_effort is None:
            effort = {}
        else:
            effort = profile.effort_fields(options.reasoning_effort)
        return {
            "temperature": options.temperature,
            "top_p": options.top_p,
            profile.max_tokens_field: options.max_tokens,
            "verbosity": request.options.verbosity,
            "return_progress": profile.tells_progress or None,
            **effort,
        }

    @override
    def _shortest(self, payload: JsonObject) -> JsonObject:
        return lay_over(
            payload, {self._profile.max_tokens_field: 1, "return_progress": None}
        )

    @override
    async def _payload_after(
        self, error: ProviderError, request: CompletionRequest, payload: JsonObject
    ) -> JsonObject:
        """Ask once for a whole answer where the server cannot parse what its model wrote in a stream.

        Once the model has turned out to need its reasoning back with its calls, or to
        take no ids of other services, always do so.
        """
        if isinstance(error, UnparsedReply) and payload.get("stream"):
            return whole_answer(payload)
        chat = known = self._profile.chat
        if (
            WORDINGS["missing_reasoning"].search(error.words)
            and not known.needs_reasoning
        ):
            chat = replace(
                known, reasoning_field="reasoning_content", needs_reasoning=True
            )
        if WORDINGS["refused_ids"].search(error.words):
            chat = replace(known, call_ids=ACCEPTED_ID)
        if chat != known:
            self._profile = replace(self._profile, chat=chat)
            return self._payload(request)
        return await super()._payload_after(
            error,
            request,
            payload,
        )
