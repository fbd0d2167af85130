"""A model that writes a summary: what it takes is told to whoever counts.

Knows models and the signal of their use. Must not know what is summed up, or for whom.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant

from ..agent.conversation.windowed_provider import WindowedProvider
from ..agent.errors import PromptTooLong
from ..agent.events import CompletionResult, ProviderEvent
from ..agent.messages import Usage
from ..agent.protocols import CompletionRequest, Prefiller
from ..agent.providers.links import Link
from ..usage.tracker import async_get_usage_tracker
from .service_check import ModelServer
from .window import MeasurableModel


class ModelProvider(MeasurableModel, ModelServer, Prefiller, Protocol):
    """One model of one server: it answers, and it can be asked whether it would, and told what is coming."""

    @property
    def overflow(self) -> PromptTooLong | None:
        """By how much the last prompt did not fit the model's window; None once one fits."""
        ...


@dataclass(frozen=True, slots=True)
class AgentModel:
    """The model of an agent. It is asked in the agent's own turns, and in those of agents that fall back on it."""

    agent: ConfigSubentry
    provider: ModelProvider
    """As it is, without what stands in front of it in `link`."""
    windowed: WindowedProvider
    """Stands in front of it there: knows how much it reads, and what the last request took of that."""
    link: Link
    """One for all turns: a provider learns what its server does not take, and a breaker how it is doing."""


class CountedModel:
    """The `LLMProvider` of a summary."""

    def __init__(self, hass: HomeAssistant, model: AgentModel) -> None:
        """Ask `model`."""
        self._hass = hass
        self._model = model
        self.usage = Usage()
        """Of all requests so far."""

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""
        async with aclosing(self._model.link.provider.stream(request)) as events:
            async for event in events:
                if isinstance(event, CompletionResult):
                    self.usage += event.usage
                    tracker = async_get_usage_tracker(self._hass)
                    tracker.async_count_request(self._model.agent.subentry_id, event.usage)
                yield event
