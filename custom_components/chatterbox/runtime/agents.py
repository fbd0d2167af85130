"""The runtime of a loaded entry: its agents, the providers that answer for them, and access to those of all entries.

`runtime/composition.py` builds them.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Any, Final, Literal

from homeassistant.components.conversation import (
    DOMAIN as CONVERSATION_DOMAIN,
)
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er

from ..agent.messages import ToolDefinition
from ..agent.protocols import LLMProvider
from ..agent.providers.failover import FailoverProvider
from ..agent.providers.managed_provider import (
    CircuitBreaker,
    ManagedProvider,
    Timeouts,
    is_available,
)
from ..const import DOMAIN
from ..offline.local_commands import (
    LocalRequests,
    recognizers,
)
from ..offline.provider import OfflineProvider
from ..settings.agent import AgentSettings
from ..settings.tool_names import SENTENCE_TOOL
from ..speech.sentences import Sentences, cause_of, spent_sentence
from .health import HealthMonitor
from .models import AgentModel
from .summaries import ConversationSummaries

HOME_ASSISTANT: Final = "Home Assistant"
"""The name of what answers without a model."""


def async_agent_entries(hass: HomeAssistant) -> list[er.RegistryEntry]:
    """Return the registry entries of all enabled agents."""
    return [
        entity
        for entity in er.async_get(hass).entities.values()
        if entity.platform == DOMAIN
        and entity.domain == CONVERSATION_DOMAIN
        and not entity.disabled
    ]


def async_entity_of(hass: HomeAssistant, agent_id: str) -> er.RegistryEntry | None:
    """Return the entity of a conversation agent, by the id of its subentry."""
    registry = er.async_get(hass)
    entity_id = registry.async_get_entity_id(CONVERSATION_DOMAIN, DOMAIN, agent_id)
    return registry.async_get(entity_id or "")


@dataclass(frozen=True, slots=True)
class ProviderChain:
    """The providers that answer for an agent: its own model, those of its fallbacks, then Home Assistant itself."""

    own: ManagedProvider
    find_fallbacks: Callable[[], Sequence[ManagedProvider]]
    """Returns those of the fallbacks that are loaded at the moment, in the order in which they are asked."""
    ends_offline: bool
    """Whether Home Assistant's own understanding of sentences may act when no model answers."""

    @property
    def is_available(self) -> bool:
        """Return whether any provider works, as far as is known."""
        return self.ends_offline or is_available(self.models())

    def provider(
        self,
        within: float,
        announcement: Callable[[], str],
        requests: LocalRequests | None,
        *,
        falls_back: bool,
    ) -> LLMProvider:
        """Return what answers in one turn, within so many seconds.

        With `falls_back`, Home Assistant itself may stand in for models: it announces
        and recognizes so.
        """
        providers = self.models()
        if falls_back and self.ends_offline:
            providers = (*providers, offline_provider(announcement, requests))
        return FailoverProvider(providers, within=within)

    def models(self) -> tuple[ManagedProvider, ...]:
        """Return the providers of one turn without Home Assistant itself."""
        return (
            self.own,
            *[
                fallback
                for fallback in self.find_fallbacks()
                if fallback is not self.own
            ],
        )


def offline_provider(
    announcement: Callable[[], str] = str, requests: LocalRequests | None = None
) -> ManagedProvider:
    """Return the provider that needs no model. It is new in each turn: nothing about it can break."""
    provider = OfflineProvider(
        announcement,
        replace(requests, has_model=False).async_recognize if requests else None,
    )
    names = frozenset(
        {SENTENCE_TOOL, *(recognizers(requests.hass) if requests else ())}
    )
    return ManagedProvider(
        HOME_ASSISTANT,
        provider,
        CircuitBreaker(),
        Timeouts(math.inf, math.inf),
        tools=partial(_named, names),
    )


def _named(
    names: frozenset[str], tools: Iterable[ToolDefinition]
) -> tuple[ToolDefinition, ...]:
    return tuple([tool for tool in tools if tool.name in names])


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent, built from its subentry."""

    hass: HomeAssistant
    settings: AgentSettings
    chain: ProviderChain
    summaries: ConversationSummaries
    understands_sentences: bool
    """Whether Home Assistant's own understanding of sentences answers, alone or at the end of the chain."""
    supported_languages: list[str] | Literal["*"]
    id: str = ""
    """Id of its subentry."""

    @property
    def controls_home(self) -> bool:
        """Return whether it can do more than talk."""
        return self.understands_sentences or bool(self.settings.llm_apis)

    def own_model(self) -> LLMProvider | None:
        """Return a provider of one turn that asks the agent's own model alone; None for an agent without one."""
        within = self.settings.limits.deadline
        if self.settings.model:
            return FailoverProvider(
                [self.chain.own],
                within=within,
            )
        return None

    def took_over(self, sentences: Sentences) -> str:
        """Return the sentence that is spoken when Home Assistant itself answers: why the agent's own model does not."""
        own = self.chain.own
        spent = own.spent()
        if spent:
            return spent_sentence(sentences, spent)
        error = own.breaker.last_error
        if own.fitter:
            return cause_of(
                sentences,
                error,
                own.fitter.too_long,
            )
        return cause_of(sentences, error)


@dataclass(frozen=True, slots=True)
class Runtime:
    """The agents of a loaded entry. An agent that is changed is rebuilt, and the others stay as they are."""

    agents: dict[str, Agent]
    """Those for conversations, by subentry id."""
    models: dict[str, AgentModel]
    """By subentry id, those for tasks too; an offline agent has none."""
    health: HealthMonitor
    tasks: dict[str, Agent]
    """Those for AI tasks, by subentry id."""
    service: tuple[object, ...]
    """The settings of the entry on which all agents depend; see `service_of`."""
    built: dict[str, tuple[str, Mapping[str, Any]]]
    """The title and the data from which each agent was built, by subentry id."""
    _adders: list[Callable[[ConfigSubentry], None]] = field(default_factory=list)
    _ends: defaultdict[str, list[CALLBACK_TYPE]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def async_add_each(
        self, entry: ConfigEntry, add: Callable[[ConfigSubentry], None]
    ) -> None:
        """Have a platform add the entities of each subentry, now and whenever one is built anew."""
        self._adders.append(add)
        for subentry in entry.subentries.values():
            add(subentry)

    def async_add(self, subentry: ConfigSubentry) -> None:
        """Have all platforms add the entities of a subentry."""
        for add in self._adders:
            add(subentry)

    @callback
    def async_on_end(
        self,
        agent_id: str,
        end: CALLBACK_TYPE,
    ) -> None:
        """Call `end` when an agent is removed or built anew, or the entry is unloaded."""
        self._ends[agent_id].append(end)

    @callback
    def async_end(self, agent_id: str) -> None:
        """Forget an agent."""
        for end in self._ends.pop(agent_id, ()):
            end()
        self.health.async_forget(agent_id)
        for known in (self.agents, self.tasks, self.models, self.built):
            known.pop(agent_id, None)

    @callback
    def async_end_all(self) -> None:
        """Forget all agents."""
        for agent_id in list(self.built):
            self.async_end(agent_id)


def service_of(entry: ConfigEntry) -> tuple[object, ...]:
    """Return what of an entry all of its agents depend on."""
    return entry.title, entry.data, entry.options


type ChatterboxConfigEntry = ConfigEntry[Runtime]


@dataclass(frozen=True, slots=True)
class LoadedAgent:
    """A conversation agent that is loaded."""

    entity: er.RegistryEntry
    entry: ChatterboxConfigEntry
    subentry: ConfigSubentry
    agent: Agent


def async_loaded_agents(hass: HomeAssistant) -> list[LoadedAgent]:
    """Return the agents that are loaded, those with a disabled entity too, sorted by the ids of their entities."""
    entries: list[ChatterboxConfigEntry] = hass.config_entries.async_loaded_entries(
        DOMAIN
    )
    loaded: list[LoadedAgent] = []
    for entry in entries:
        agents = entry.runtime_data.agents
        for subentry in entry.subentries.values():
            entity = async_entity_of(hass, subentry.subentry_id)
            agent = agents.get(subentry.subentry_id)
            if entity and agent:
                loaded.append(
                    LoadedAgent(
                        entity,
                        entry,
                        subentry,
                        agent,
                    )
                )
    return sorted(loaded, key=attrgetter("entity.entity_id"))


def async_get_models(hass: HomeAssistant) -> Mapping[str, AgentModel]:
    """Return the models of all loaded entries, by the subentry ids of their agents."""
    entries: list[ChatterboxConfigEntry] = hass.config_entries.async_loaded_entries(
        DOMAIN
    )
    return {
        agent_id: model
        for entry in entries
        for agent_id, model in entry.runtime_data.models.items()
    }


def async_forget_summaries(hass: HomeAssistant) -> None:
    """Drop all summaries, which may cover what was deleted. They are written again."""
    entries: list[ChatterboxConfigEntry] = hass.config_entries.async_loaded_entries(
        DOMAIN
    )
    for entry in entries:
        for agent in entry.runtime_data.agents.values():
            agent.summaries.async_forget()
