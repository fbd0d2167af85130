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
from homeassistant.helpers.singleton import singleton
from homeassistant.util.hass_dict import HassKey

from ..agent.events import ToolFinished
from ..agent.loop.loop import AgenticLoop
from ..agent.loop.turn import Turn
from ..agent.messages import ToolCall, canonical_json
from ..approvals.audit import CallAudit, async_get_change_texts
from ..approvals.guard import CallGuard
from ..const import DOMAIN
from ..people.speakers import (
    Asking,
    async_get_context_watch,
    async_get_speaker,
    in_turn,
)
from ..settings.agent import HomeDetail
from ..settings.rules import async_get_home_rules
from ..speech.sentences import async_get_sentences
from ..tools.llm_apis import GUARDED_API, UnavailableTool
from ..tools.turn_tools import TurnTools, async_offer_tools
from .record import turn_origin
from .source import SilentModel


class _GuardedApi(llm.API):
    @override
    async def async_get_api_instance(
        self, llm_context: llm.LLMContext
    ) -> llm.APIInstance:
        """Return the tools of Assist."""
        language = llm_context.language if llm_context.language != MATCH_ALL else None
        known = replace(llm_context, language=language or self.hass.config.language)
        home, policy = (
            HomeDetail(is_compact=False),
            async_get_home_rules(self.hass).current.policy,
        )
        offer = await async_offer_tools(
            self.hass, [llm.LLM_API_ASSIST], known, home=home, policy=policy
        )
        given = offer.instance or llm.APIInstance(self, offer.context, known, [])
        usable = [tool for tool in given.tools if not isinstance(tool, UnavailableTool)]
        tools: list[llm.Tool] = [
            _GuardedTool(self.name, tool, offer) for tool in usable
        ]
        return llm.APIInstance(
            self, given.api_prompt, known, tools, given.custom_serializer
        )


class _GuardedTool(llm.Tool):
    def __init__(self, source: str, tool: llm.Tool, offer: TurnTools) -> None:
        """Run a tool of an offer; `source` is the name under which its calls are audited."""
        self.name, self.title, self.description = (
            tool.name,
            tool.title,
            tool.description,
        )
        self.parameters, self.annotations, self.integration = (
            tool.parameters,
            tool.annotations,
            tool.integration,
        )
        self._source, self._offer = source, offer

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Run a call like one of an agent, and record it, or return why it is refused."""
        context = llm_context.context or Context()
        agent_id = (
            getattr(llm_context, "agent_id", None) or ""
        )  # since Home Assistant 2026.11
        language = llm_context.language or hass.config.language
        user_input = ConversationInput(
            "", context, None, llm_context.device_id, None, language, agent_id
        )
        speaker = replace(
            await async_get_speaker(hass, user_input), asking=Asking.NOBODY
        )
        offer, effects_of = self._offer, self._offer.dispatcher.async_effects
        # What another agent has read elsewhere is not known.
        guard = CallGuard(
            hass,
            None,
            speaker,
            effects_of,
            has_outside_content=True,
            labels=offer.labels,
        )
        origin, texts = (
            turn_origin(user_input, agent_id, "", speaker),
            await async_get_change_texts(hass),
        )
        audit = CallAudit(texts, {**origin, "source": self._source}, context)
        audit.reviewed_by(guard)
        async_get_context_watch(hass).take_for_turn(context)
        call = ToolCall(tool_input.id, self.name, canonical_json(tool_input.tool_args))
        loop, results = (
            AgenticLoop(
                SilentModel([call]),
                offer.dispatcher,
                hooks=(offer.name_resolver, guard),
            ),
            [],
        )
        try:
            with in_turn():
                async with aclosing(
                    loop.stream(Turn("", tools=offer.definitions))
                ) as events:
                    async for event in events:
                        await audit.follow(event)
                        results += (
                            [event.result] if isinstance(event, ToolFinished) else []
                        )
        finally:
            audit.finished()
        if isinstance(native := results[0].native, llm.ToolResult):
            return native
        return llm.ToolResult({"error": results[0].content}, error=True)


_held: Final = singleton(HassKey[list[CALLBACK_TYPE]](f"{DOMAIN}_guarded_api"))(
    lambda _: []
)
"""Returns what withdraws the API, once for each that holds it."""


async def async_offer_guarded_api(hass: HomeAssistant) -> CALLBACK_TYPE:
    """Offer the API until all that have called this have called what it returns."""
    name, held = (
        (await async_get_sentences(hass, hass.config.language))["guarded_api"],
        _held(hass),
    )
    withdraw = (
        held[0]
        if held
        else llm.async_register_api(
            hass, _GuardedApi(hass=hass, id=GUARDED_API, name=name)
        )
    )
    held.append(withdraw)

    @callback
    def end() -> None:
        held.remove(withdraw)
        if not held:
            withdraw()

    return end
