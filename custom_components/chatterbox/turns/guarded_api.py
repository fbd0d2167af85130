"""Offers Assist's tools to other agents and to MCP clients, under the rules of the home and with nobody to ask.

Home Assistant runs the tools of its own APIs for whoever calls them. Those of this one run like the calls of an agent:
repaired, judged, audited. The rules are those of the home, so it belongs to no agent. Decision 55.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final, override

from homeassistant.components.conversation import ConversationInput
from homeassistant.const import MATCH_ALL
from homeassistant.core import CALLBACK_TYPE, Context, HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.helpers.singleton import singleton
from homeassistant.util.hass_dict import HassKey

from ..agent.events import CompletionResult, ProviderEvent, ToolCallReady, ToolFinished
from ..agent.loop.loop import AgenticLoop
from ..agent.loop.turn import Turn
from ..agent.messages import FinishReason, ToolCall, ToolResult, canonical_json
from ..agent.protocols import CompletionRequest, LLMProvider
from ..approvals.audit import CallAudit, async_get_change_texts
from ..approvals.guard import CallGuard
from ..const import DOMAIN
from ..people.speakers import Asking, async_get_context_watch, async_get_speaker, in_turn
from ..settings.agent import HomeDetail
from ..settings.rules import async_get_home_rules
from ..speech.sentences import async_get_sentences
from ..tools.llm_apis import GUARDED_API, UnavailableTool
from ..tools.turn_tools import TurnTools, async_offer_tools
from .record import turn_origin

_AS_ASSIST: Final = HomeDetail(is_compact=False)
_NOT_RUN: Final = "Not run."


class _GuardedApi(llm.API):
    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return the tools of Assist."""
        context = llm_context.context or Context()
        language = llm_context.language if llm_context.language != MATCH_ALL else None
        known = replace(llm_context, context=context, language=language or self.hass.config.language)
        policy = async_get_home_rules(self.hass).current.policy
        offer = await async_offer_tools(self.hass, [llm.LLM_API_ASSIST], known, home=_AS_ASSIST, policy=policy)
        there = offer.instance.tools if offer.instance else []
        tools: list[llm.Tool] = [
            _GuardedTool(self.name, tool, offer) for tool in there if not isinstance(tool, UnavailableTool)
        ]
        serializer = offer.instance.custom_serializer if offer.instance else None
        return llm.APIInstance(self, f"{offer.prompt}\n{offer.context}".strip(), known, tools, serializer)


class _GuardedTool(llm.Tool):
    def __init__(self, source: str, tool: llm.Tool, offer: TurnTools) -> None:
        """Run a tool of an offer; `source` is the name under which its calls are audited."""
        self.name, self.title, self.description = tool.name, tool.title, tool.description
        self.parameters, self.annotations, self.integration = tool.parameters, tool.annotations, tool.integration
        self._source, self._offer = source, offer

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Run a call like one of an agent, or return why it is refused."""
        call = ToolCall(tool_input.id, self.name, canonical_json(tool_input.tool_args))
        with in_turn():
            result = await _async_run(hass, self._source, self._offer, call)
        if result and isinstance(result.native, llm.ToolResult):
            return result.native
        return llm.ToolResult({"error": result.content if result else _NOT_RUN}, error=True)


class _OneCall(LLMProvider):
    """Makes one call, and says nothing."""

    def __init__(self, call: ToolCall) -> None:
        """Take the call."""
        self._calls = [call]

    @override
    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        reason = FinishReason.TOOL_CALLS if self._calls else FinishReason.STOP
        if self._calls:
            yield ToolCallReady(self._calls.pop())
        yield CompletionResult(reason)


async def _async_run(hass: HomeAssistant, source: str, offer: TurnTools, call: ToolCall) -> ToolResult | None:
    """Run a call under the rules of the home, and record it. What another agent has read elsewhere is not known."""
    given = offer.llm_context
    context, agent_id = given.context or Context(), given.agent_id or ""
    language = given.language or hass.config.language
    user_input = ConversationInput("", context, None, given.device_id, None, language, agent_id)
    speaker = replace(await async_get_speaker(hass, user_input), asking=Asking.NOBODY)
    guard = CallGuard(
        hass, None, speaker, offer.dispatcher.async_effects, has_outside_content=True, labels=offer.labels
    )
    origin = {**turn_origin(user_input, agent_id, "", speaker), "source": source}
    audit = CallAudit(await async_get_change_texts(hass), origin, context)
    audit.reviewed_by(guard)
    async_get_context_watch(hass).take_for_turn(context)
    loop = AgenticLoop(_OneCall(call), offer.dispatcher, hooks=(offer.name_resolver, guard))
    finished: ToolResult | None = None
    try:
        async with aclosing(loop.stream(Turn("", tools=offer.definitions))) as events:
            async for event in events:
                await audit.follow(event)
                finished = event.result if isinstance(event, ToolFinished) else finished
    finally:
        audit.finished()
    return finished


@dataclass(slots=True)
class _Offer:
    holders: int = 0
    withdraw: CALLBACK_TYPE = lambda: None


_offer: Final = singleton(HassKey[_Offer](f"{DOMAIN}_guarded_api"))(lambda _: _Offer())


async def async_offer_guarded_api(hass: HomeAssistant) -> CALLBACK_TYPE:
    """Offer the API until all that have called this have called what it returns."""
    name, offer = (await async_get_sentences(hass, hass.config.language))["guarded_api"], _offer(hass)
    if not offer.holders:
        offer.withdraw = llm.async_register_api(hass, _GuardedApi(hass=hass, id=GUARDED_API, name=name))
    offer.holders += 1

    @callback
    def end() -> None:
        offer.holders -= 1
        if not offer.holders:
            offer.withdraw()

    return end
