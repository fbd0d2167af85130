"""What a loaded entry has: its agents and their models, and how those of all entries are found.

How they are built stands in `runtime/composition.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er

from ..agent.loop.loop import AgenticLoop
from ..agent.loop.turn import Limits
from ..agent.protocols import HookPoint, Hooks, LLMProvider, ResponseComposer
from ..agent.providers.failover import FailoverProvider
from ..const import DOMAIN
from ..offline.local_commands import LocalCommandsProvider, LocalRequests
from ..settings.agent import AgentSettings, LocalCommands
from ..speech.sentences import spent_sentence
from ..tools.turn_tools import TurnTools
from .health import HealthMonitor
from .models import AgentModel, ProviderChain
from .summaries import ConversationSummaries


@callback
def async_agent_entries(hass: HomeAssistant) -> list[er.RegistryEntry]:
    """Return the registry entries of all enabled agents."""
    return [
        entity
        for entity in er.async_get(hass).entities.values()
        if entity.platform == DOMAIN and entity.domain == CONVERSATION_DOMAIN and not entity.disabled
    ]


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
    """Of its subentry."""

    @property
    def controls_home(self) -> bool:
        """Return whether it can do more than talk."""
        return self.understands_sentences or bool(self.settings.llm_apis)

    @property
    def acts_locally(self) -> bool:
        """Return whether Home Assistant's own understanding acts beside its model.

        A script that judges each call knows the tools of models, so it judges all calls then.
        """
        is_wanted = self.settings.local_commands is not LocalCommands.NEVER
        return is_wanted and self.chain.ends_offline and HookPoint.PRE_TOOL_USE not in self.settings.scripts

    def took_over(self, sentences: Mapping[str, str]) -> str:
        """Return what is said where Home Assistant itself has to answer: why the agent's own model does not."""
        spent = self.chain.own.spent()
        return spent_sentence(sentences, spent) if spent else sentences["spoken_offline_took_over"]

    def build_loop(  # noqa: PLR0913  # what a loop is made of
        self,
        tools: TurnTools,
        limits: Limits,
        hooks: Sequence[Hooks],
        composer: ResponseComposer,
        took_over: str,
        *,
        falls_back: bool = True,
        local_requests: LocalRequests | None = None,
    ) -> AgenticLoop:
        """Return the loop of one turn within `limits`; `took_over` is said when Home Assistant itself answers.

        `falls_back` tells whether it may do that for a model. It may act beside a model on `local_requests`.
        """
        providers = self.chain.providers(took_over) if falls_back else self.chain.models()
        provider: LLMProvider = FailoverProvider(providers, within=limits.deadline)
        if local_requests is not None:
            provider = LocalCommandsProvider(provider, local_requests)
        return AgenticLoop(provider, tools.dispatcher, hooks=hooks, composer=composer)


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a loaded entry has."""

    agents: Mapping[str, Agent]
    """Those for conversations, by subentry id."""
    models: Mapping[str, AgentModel]
    """By subentry id, those for tasks too; an offline agent has none."""
    health: HealthMonitor
    tasks: Mapping[str, Agent] = field(default_factory=dict)
    """Those for AI tasks, by subentry id."""


type ChatterboxConfigEntry = ConfigEntry[Runtime]


def async_get_models(hass: HomeAssistant) -> Mapping[str, AgentModel]:
    """Return the models of all loaded entries, by the subentry ids of their agents."""
    entries: list[ChatterboxConfigEntry] = hass.config_entries.async_loaded_entries(DOMAIN)
    return {agent_id: model for entry in entries for agent_id, model in entry.runtime_data.models.items()}


@callback
def async_forget_conversations(hass: HomeAssistant) -> None:
    """Empty the caches of all models, as something that was said was deleted: any of them may have answered there."""
    for model in async_get_models(hass).values():
        model.fitter.forget_conversations()
