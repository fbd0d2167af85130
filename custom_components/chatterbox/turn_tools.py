"""The tools of one turn: those of the chosen LLM APIs, and the one by which Home Assistant understands a sentence.

Knows who runs which. Must not know who may call them: that is the chain's.
"""

from dataclasses import dataclass
from typing import Protocol

from homeassistant.components.conversation import ConversationInput
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from .agent.messages import JsonObject, ToolCall, ToolDefinition, ToolOutcome
from .agent.protocols import ToolDispatcher
from .agent_settings import AgentSettings
from .const import DOMAIN
from .effects import Effects
from .offline_dispatcher import OfflineDispatcher
from .offline_provider import PROCESS_SENTENCE
from .tool_bridge import API_TIMEOUT, async_offer_tools


class HouseDispatcher(ToolDispatcher, Protocol):
    """Runs tools, and can tell beforehand what a call would do."""

    async def async_effects(self, name: str, arguments: JsonObject) -> Effects:
        """Return what a call of an offered tool would do. May raise anything; nothing is done by asking."""
        ...


@dataclass(frozen=True, slots=True)
class TurnTools:
    """What an agent may use in one turn."""

    api: llm.API | None
    """The same tools for Home Assistant's ChatLog, if they are tools of its kind."""
    definitions: tuple[ToolDefinition, ...]
    dispatcher: HouseDispatcher
    missing_apis: tuple[str, ...] = ()
    """Ids of LLM APIs that the agent is set to use and that Home Assistant does not have."""
    prompt: str = ""
    """What these APIs say that holds for everybody in the house."""
    context: str = ""
    """What these APIs say that holds for who asks, or at this moment."""


async def async_gather_tools(
    hass: HomeAssistant,
    user_input: ConversationInput,
    conversation_id: str,
    settings: AgentSettings,
    *,
    understands_sentences: bool,
) -> TurnTools:
    """Gather the tools of a turn; `understands_sentences` adds Home Assistant's own understanding."""
    patience = min(API_TIMEOUT, settings.limits.preparation)
    offer = await async_offer_tools(hass, settings.llm_apis, user_input.as_llm_context(DOMAIN), patience)
    if not understands_sentences:
        return TurnTools(
            offer.api, offer.definitions, offer.dispatcher, offer.missing_apis, offer.prompt, offer.context
        )
    offline = OfflineDispatcher(
        hass,
        conversation_id,
        user_input.context,
        user_input.language,
        user_input.device_id,
        user_input.satellite_id,
    )
    return TurnTools(
        offer.api,
        (*offer.definitions, PROCESS_SENTENCE),
        _EitherDispatcher(offer.dispatcher, offline),
        offer.missing_apis,
        offer.prompt,
        offer.context,
    )


@dataclass(frozen=True, slots=True)
class _EitherDispatcher:
    """Runs a sentence by the one dispatcher, and everything else by the other."""

    tools: HouseDispatcher
    sentences: HouseDispatcher

    def targets(self, name: str, arguments: JsonObject) -> frozenset[str] | None:
        return self._of(name).targets(name, arguments)

    async def async_effects(self, name: str, arguments: JsonObject) -> Effects:
        return await self._of(name).async_effects(name, arguments)

    async def dispatch(self, call: ToolCall, arguments: JsonObject) -> ToolOutcome:
        return await self._of(call.name).dispatch(call, arguments)

    def _of(self, name: str) -> HouseDispatcher:
        return self.sentences if name == PROCESS_SENTENCE.name else self.tools
