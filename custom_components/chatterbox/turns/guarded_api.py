"""Offers Assist's tools to other agents and to MCP clients, under the rules of the home and with nobody to ask.

Home Assistant runs the tools of its own APIs for whoever calls them. Those of this one
run like the calls of an agent: repaired, judged, audited. The rules are those of the
home, so it belongs to no agent. Decision 55.
"""

from contextlib import aclosing
from dataclasses import replace
from typing import Final, override

from homeassistant.components.conversation import ConversationInput
from homeassistant.const import MATCH_ALL
from homeassistant.core import CALLBACK_TYPE, Context, HomeAssistant, callback
from homeassistant.helpers import llm

from ..agent.events import ToolFinished
from ..agent.loop.loop import AgenticLoop
from ..agent.loop.turn import Turn
from ..agent.messages import ToolCall, ToolResult, canonical_json
from ..approvals.audit import CallAudit, async_get_change_texts
from ..approvals.guard import CallGuard
from ..const import home_singleton
from ..people.speakers import (
    Asking,
    async_get_context_watch,
    async_get_speaker,
    in_turn,
)
from ..settings.agent import HomeDetail
from ..settings.rules import async_get_home_rules
from ..speech.sentences import async_get_sentences
from ..tools.llm_apis import GUARDED_API, DescribedTool, UnavailableTool
from ..tools.turn_tools import TurnTools, async_offer_tools
from .record import turn_origin
from .source import SilentModel


class _GuardedApi(llm.API):
    @override
    async def async_get_api_instance(
        self, llm_context: llm.LLMContext
    ) -> llm.APIInstance:
        """Return the tools of Assist."""
        if llm_context.language != MATCH_ALL:
            language = llm_context.language
        else:
            language = None
        known = replace(
            llm_context,
            language=language or self.hass.config.language,
        )
        home = HomeDetail(is_compact=False)
        policy = async_get_home_rules(self.hass).current.policy
        offer = await async_offer_tools(
            self.hass, [llm.LLM_API_ASSIST], known, home=home, policy=policy
        )
        given = offer.instance or llm.APIInstance(self, offer.context, known, [])
        usable = [tool for tool in given.tools if not isinstance(tool, UnavailableTool)]
        tools: list[llm.Tool] = [
            _GuardedTool(
                self.name,
                tool,
                offer,
            )
            for tool in usable
        ]
        return llm.APIInstance(
            self, given.api_prompt, known, tools, given.custom_serializer
        )


class _GuardedTool(DescribedTool):
    def __init__(
        self,
        source: str,
        tool: llm.Tool,
        offer: TurnTools,
    ) -> None:
        """Run a tool of an offer; `source` is the name under which its calls are audited."""
        super().__init__(tool)
        self._source = source
        self._offer = offer

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Run a call like one of an agent, and record it, or return why it is refused."""
        context = llm_context.context or Context()
        # Since Home Assistant 2026.11.
        agent_id = getattr(llm_context, "agent_id", None) or ""
        language = llm_context.language or hass.config.language
        user_input = ConversationInput(
            "", context, None, llm_context.device_id, None, language, agent_id
        )
        speaker = replace(
            await async_get_speaker(hass, user_input), asking=Asking.NOBODY
        )
        guard = CallGuard(
            hass,
            None,
            speaker,
            self._offer.dispatcher.async_effects,
            has_outside_content=True,  # what another agent has read is not known
            labels=self._offer.labels,
        )
        origin = turn_origin(user_input, agent_id, "", speaker)
        texts = await async_get_change_texts(hass)
        audit = CallAudit(texts, {**origin, "source": self._source}, context)
        audit.guard = guard
        async_get_context_watch(hass).take_for_turn(context)
        call = ToolCall(
            tool_input.id,
            self.name,
            canonical_json(tool_input.tool_args),
        )
        result = await self._async_run(
            call,
            guard,
            audit,
        )
        native = result.native
        if isinstance(native, llm.ToolResult):
            return native
        return llm.ToolResult(
            {"error": result.content},
            error=True,
        )

    async def _async_run(
        self, call: ToolCall, guard: CallGuard, audit: CallAudit
    ) -> ToolResult:
        """Run a call in a turn of its own."""
        offer = self._offer
        loop = AgenticLoop(
            SilentModel([call]),
            offer.dispatcher,
            hooks=(offer.name_resolver, guard),
        )
        turn = Turn(
            "",
            tools=offer.definitions,
            repair=offer.repair,
        )
        results = list[ToolResult]()
        try:
            with in_turn():
                async with aclosing(loop.stream(turn)) as events:
                    async for event in events:
                        await audit.follow(event)
                        if isinstance(event, ToolFinished):
                            results.append(event.result)
        finally:
            audit.finished()
        return results[0]


_held: Final = home_singleton("guarded_api", lambda _: list[CALLBACK_TYPE]())
"""Returns what withdraws the API, once for each that holds it."""


async def async_offer_guarded_api(hass: HomeAssistant) -> CALLBACK_TYPE:
    """Offer the API until all that have called this have called what it returns."""
    name = (await async_get_sentences(hass))["guarded_api"]
    held = _held(hass)
    if held:
        withdraw = held[0]
    else:
        withdraw = llm.async_register_api(
            hass, _GuardedApi(hass=hass, id=GUARDED_API, name=name)
        )
    held.append(withdraw)

    @callback
    def end() -> None:
        held.remove(withdraw)
        if not held:
            withdraw()

    return end
