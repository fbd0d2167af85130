"""The tools of one turn: those of the chosen LLM APIs, an agent's own, and the one that understands a sentence.

Knows who runs which. Must not know who may call them: that is the chain's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, Protocol

from homeassistant.components.conversation import ConversationInput
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..agent.messages import JsonObject, ToolCall, ToolDefinition, ToolOutcome
from ..agent.protocols import ToolDispatcher
from ..const import DOMAIN
from ..effects.effect import Effects
from ..home.description import FIND_ENTITIES
from ..memory.facts import Keeper, NotRemembered, async_get_memories
from ..offline.dispatcher import OfflineDispatcher
from ..offline.provider import PROCESS_SENTENCE
from ..people.speakers import NOBODY, Speaker
from ..settings.agent import AgentSettings
from .find_entities import FindTool
from .memory_tools import MemoryTools, told_memories
from .name_resolver import NameResolver
from .offer import API_TIMEOUT, async_offer_tools
from .own_dispatcher import OwnDispatcher
from .own_tools import ToolAnswer, own_definitions, person_served, with_own_tools
from .search_history import HistoryTool


class HouseDispatcher(ToolDispatcher, Protocol):
    """Runs tools, and can tell beforehand what a call would do."""

    async def async_effects(self, name: str, arguments: JsonObject) -> Effects:
        """Return what a call of an offered tool would do. May raise anything; nothing is done by asking."""
        ...


class TurnTools(NamedTuple):
    """What an agent may use in one turn."""

    llm_context: llm.LLMContext
    """Who asks, as Home Assistant's tools are told."""
    instance: llm.APIInstance | None
    """The same tools for Home Assistant's ChatLog, if they are tools of its kind."""
    definitions: tuple[ToolDefinition, ...]
    dispatcher: HouseDispatcher
    missing_apis: tuple[str, ...] = ()
    """Ids of LLM APIs that the agent is set to use and that Home Assistant does not have."""
    prompt: str = ""
    """What these APIs say that holds for everybody in the house."""
    context: str = ""
    """What these APIs say that holds for who asks, or at this moment."""
    memories: str = ""
    """What the agent was asked to remember by who asks, as its model reads it."""
    labels: Mapping[str, str] = MappingProxyType({})
    """Ids of the APIs that tools come from, by the names of the tools; an agent's own come from none."""
    name_resolver: NameResolver | None = None
    """The first hook of the turn, if the prompt describes the home in short names."""


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
    """Gather the tools of a turn; `understands_sentences` adds Home Assistant's own understanding.

    `agent` is the subentry id of the agent: what it remembers, and whom of, is found by it and by `speaker`. An API
    that is `brought` along is asked beside those that are set.
    """
    patience = min(API_TIMEOUT, settings.limits.preparation)
    llm_context = user_input.as_llm_context(DOMAIN)
    offer = await async_offer_tools(hass, settings.llm_apis, llm_context, patience, brought=brought, home=settings.home)
    by_name: dict[str, HouseDispatcher] = {}
    definitions = offer.definitions
    if own := own_definitions(settings, home_is_large=offer.home_is_large):
        by_name = _own_dispatchers(hass, own, settings, agent, speaker, language=user_input.language)
        definitions = with_own_tools(definitions, settings, home_is_large=offer.home_is_large)
    if understands_sentences:
        by_name[PROCESS_SENTENCE.name] = _sentences(hass, user_input, conversation_id)
        definitions += (PROCESS_SENTENCE,)
    return TurnTools(
        llm_context,
        offer.instance,
        definitions,
        _JoinedDispatcher(by_name, offer.dispatcher),
        offer.missing_apis,
        offer.prompt,
        offer.context,
        await _async_told_memories(hass, agent, speaker) if settings.remember_facts else "",
        _labels(offer.labels, by_name),
        offer.name_resolver,
    )


def _own_dispatchers(  # noqa: PLR0913  # who speaks to whom, and how
    hass: HomeAssistant,
    definitions: Iterable[ToolDefinition],
    settings: AgentSettings,
    agent: str,
    speaker: Speaker,
    *,
    language: str,
) -> dict[str, HouseDispatcher]:
    own = OwnDispatcher(
        MemoryTools(async_get_memories(hass), agent, speaker),
        HistoryTool(hass, agent, speaker, is_kept=settings.keep_history),
        FindTool(hass, language),
    )
    return {tool.name: own for tool in definitions}


def _labels(offered: Mapping[str, str], by_name: Mapping[str, object]) -> Mapping[str, str]:
    """Return where tools come from. What finds things in a home belongs to those that act on them."""
    if not by_name:
        return offered
    of_assist = {FIND_ENTITIES: llm.LLM_API_ASSIST} if FIND_ENTITIES in by_name else {}
    return {name: label for name, label in offered.items() if name not in by_name} | of_assist


def _sentences(hass: HomeAssistant, user_input: ConversationInput, conversation_id: str) -> HouseDispatcher:
    return OfflineDispatcher(
        hass,
        conversation_id,
        user_input.context,
        user_input.language,
        user_input.device_id,
        user_input.satellite_id,
    )


async def _async_told_memories(hass: HomeAssistant, agent: str, speaker: Speaker) -> str:
    """Return what a model is told of who speaks; nothing when that is not known, or cannot be read."""
    person = person_served(speaker)
    if isinstance(person, ToolAnswer):
        return ""
    memories = async_get_memories(hass)
    try:
        await memories.async_load()
    except NotRemembered:
        return ""
    return told_memories(memories.facts(Keeper(agent, person)))


@dataclass(slots=True)
class _JoinedDispatcher:
    """Has every call run by who runs the tool of its name."""

    by_name: Mapping[str, HouseDispatcher]
    otherwise: HouseDispatcher
    """Runs all other tools, and knows what to say of one that there is not."""

    def targets(self, name: str, arguments: JsonObject) -> frozenset[str] | None:
        return self._of(name).targets(name, arguments)

    async def async_effects(self, name: str, arguments: JsonObject) -> Effects:
        return await self._of(name).async_effects(name, arguments)

    async def dispatch(self, call: ToolCall, arguments: JsonObject) -> ToolOutcome:
        return await self._of(call.name).dispatch(call, arguments)

    def _of(self, name: str) -> HouseDispatcher:
        return self.by_name.get(name, self.otherwise)
