"""The tools of one turn: those of the chosen LLM APIs, the agent's own, and the understanding of sentences."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from homeassistant.components.conversation import ConversationInput
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..agent.messages import JsonObject, ToolCall, ToolOutcome
from ..const import DOMAIN, TOOL_SEARCH_HISTORY
from ..effects.effect import NOTHING, Effects
from ..home.description import FIND_ENTITIES
from ..offline.dispatcher import OfflineDispatcher
from ..offline.provider import PROCESS_SENTENCE
from ..people.speakers import NOBODY, Speaker
from ..records.turn_record import result_content
from ..settings.agent import AgentSettings
from .find_entities import async_find_entities
from .llm_apis import context_without_speaker
from .memory_tools import async_get_memory_prompt, async_run_memory_tool
from .offer import API_TIMEOUT, EffectDispatcher, TurnTools, async_offer_tools
from .own_tools import own_definitions, with_own_tools
from .search_history import async_search_history

_MEMORIES: Final = frozenset({f"{DOMAIN}.memories"})


async def async_offer_common_tools(hass: HomeAssistant, settings: AgentSettings) -> TurnTools:
    """Return the tools and the prompt with which every turn of an agent begins, with the agent's own tools."""
    timeout = min(API_TIMEOUT, settings.limits.preparation)
    offer = await async_offer_tools(hass, settings.llm_apis, context_without_speaker(hass), timeout, home=settings.home)
    definitions = with_own_tools(offer.definitions, settings, home_is_large=offer.home_is_large)
    return offer._replace(definitions=definitions)


async def async_gather_tools(  # noqa: PLR0913  # each of these alone changes which tools there are, or what they do
    hass: HomeAssistant,
    user_input: ConversationInput,
    conversation_id: str,
    settings: AgentSettings,
    *,
    understands_sentences: bool,
    agent: str = "",
    speaker: Speaker = NOBODY,
    brought: llm.API | None = None,
) -> TurnTools:
    """Gather the tools of a turn. `understands_sentences` adds Home Assistant's own understanding.

    `agent` is the subentry id of the agent; memories and history are looked up by agent and speaker. An API that is
    `brought` by the caller is asked beside those of the settings.
    """
    timeout = min(API_TIMEOUT, settings.limits.preparation)
    llm_context = user_input.as_llm_context(DOMAIN)
    offer = await async_offer_tools(hass, settings.llm_apis, llm_context, timeout, brought=brought, home=settings.home)
    own = OwnDispatcher(hass, settings, agent, speaker, user_input.language)
    by_name: dict[str, EffectDispatcher] = {
        tool.name: own for tool in own_definitions(settings, home_is_large=offer.home_is_large)
    }
    labels = {name: label for name, label in offer.labels.items() if name not in by_name}
    if FIND_ENTITIES in by_name:
        labels[FIND_ENTITIES] = llm.LLM_API_ASSIST  # whoever allows the tools of Assist needs it to name entities
    definitions = with_own_tools(offer.definitions, settings, home_is_large=offer.home_is_large)
    if understands_sentences:
        by_name[PROCESS_SENTENCE.name] = OfflineDispatcher(
            hass,
            conversation_id,
            user_input.context,
            user_input.language,
            user_input.device_id,
            user_input.satellite_id,
        )
        definitions += (PROCESS_SENTENCE,)
    return offer._replace(
        definitions=definitions,
        dispatcher=_JoinedDispatcher(by_name, offer.dispatcher),
        memories=await async_get_memory_prompt(hass, agent, speaker) if settings.remember_facts else "",
        labels=labels,
    )


@dataclass(frozen=True, slots=True)
class OwnDispatcher:
    """The `ToolDispatcher` of the agent's own tools in one turn. Natives are `llm.ToolResult`."""

    hass: HomeAssistant
    settings: AgentSettings
    agent: str
    speaker: Speaker
    language: str

    def targets(self, name: str, arguments: JsonObject) -> frozenset[str] | None:  # noqa: ARG002 demanded by the protocol
        """Return one target for all of them, which no tool of Home Assistant has."""
        return _MEMORIES

    async def async_effects(self, name: str, arguments: JsonObject) -> Effects:  # noqa: ARG002 demanded by the protocol
        """Return nothing: no entity is changed."""
        return NOTHING

    async def dispatch(self, call: ToolCall, arguments: JsonObject) -> ToolOutcome:
        """Run a tool."""
        if call.name == FIND_ENTITIES:
            answer = await async_find_entities(self.hass, self.language, arguments)
        elif call.name == TOOL_SEARCH_HISTORY:
            is_stored = self.settings.keep_history
            answer = await async_search_history(self.hass, self.agent, self.speaker, arguments, is_stored=is_stored)
        else:
            answer = await async_run_memory_tool(self.hass, self.agent, self.speaker, call.name, arguments)
        native = llm.ToolResult(answer.data, error=answer.is_error)
        return ToolOutcome(
            result_content(native), is_error=answer.is_error, native=native, open_world=answer.open_world
        )


@dataclass(slots=True)
class _JoinedDispatcher:
    """Passes each call to the dispatcher of its tool."""

    by_name: Mapping[str, EffectDispatcher]
    otherwise: EffectDispatcher
    """Runs all other tools, and fails for unknown ones."""

    def targets(self, name: str, arguments: JsonObject) -> frozenset[str] | None:
        return self._of(name).targets(name, arguments)

    async def async_effects(self, name: str, arguments: JsonObject) -> Effects:
        return await self._of(name).async_effects(name, arguments)

    async def dispatch(self, call: ToolCall, arguments: JsonObject) -> ToolOutcome:
        return await self._of(call.name).dispatch(call, arguments)

    def _of(self, name: str) -> EffectDispatcher:
        return self.by_name.get(name, self.otherwise)
