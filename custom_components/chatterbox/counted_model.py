"""A model that writes a summary: what it takes is told to whoever counts.

Knows models and the signal of their use. Must not know what is summed up, or for whom.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from homeassistant.core import HomeAssistant
from homeassistant.helpers.dispatcher import async_dispatcher_send

from .agent.events import CompletionResult, ProviderEvent
from .agent.messages import Usage
from .agent.protocols import CompletionRequest
from .agent_model import AgentModel
from .model_usage import SIGNAL_USAGE, ModelUsage, UsagePurpose


class CountedModel:
    """The `LLMProvider` of a summary."""

    def __init__(self, hass: HomeAssistant, model: AgentModel) -> None:
        """Ask `model`; nothing is counted yet."""
        self._hass = hass
        self._model = model
        self.usage = Usage()
        """What was taken so far."""

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""
        async with aclosing(self._model.link.provider.stream(request)) as events:
            async for event in events:
                if isinstance(event, CompletionResult):
                    self.usage += event.usage
                    usage = ModelUsage(self._model.agent.subentry_id, event.usage, UsagePurpose.SUMMARY)
                    async_dispatcher_send(self._hass, SIGNAL_USAGE, usage)
                yield event
