"""The models of agents, and what they are asked outside of turns."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Final

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.dispatcher import async_dispatcher_send

from ..agent.conversation.prompt_fitter import PromptFitter
from ..agent.conversation.summary import MOST_TOKENS, summarize
from ..agent.errors import ModelNotFound, ProviderRejectedRequest, ProviderReplyInvalid
from ..agent.events import CompletionResult, ProviderEvent
from ..agent.messages import Summary, Transcript, Usage
from ..agent.protocols import CompletionRequest
from ..agent.providers.http_provider import HTTPProvider
from ..agent.providers.managed_provider import ManagedProvider
from ..agent.wire.model_lists import ChatModel
from ..records.turn_record import SIGNAL_REQUEST, RequestRecord

_FOR_ANSWER: Final = 1_500
"""Tokens that a model needs in addition to the text that it summarizes."""


async def offered_models(server: HTTPProvider) -> list[str]:
    """Return the models of a server; none for a model server without a list.

    Such a server refuses a conversation without a model, unlike a server of another
    kind. Raises a `ProviderError`.
    """
    try:
        return await server.list_models()
    except ProviderReplyInvalid:
        with suppress(ModelNotFound, ProviderRejectedRequest):
            await server.check()
        return []


async def offered_chat_models(server: HTTPProvider) -> list[ChatModel]:
    """Return the models of a server that one can talk to; see `offered_models`."""
    if await offered_models(server):
        return await server.chat_models()
    return []


@dataclass(frozen=True, slots=True)
class AgentModel:
    """The model of an agent. It is asked in the agent's own turns, and in those of agents that fall back on it."""

    agent: ConfigSubentry
    provider: HTTPProvider
    """Without what `managed` adds to it."""
    fitter: PromptFitter
    """Fits the conversations of turns into its context window."""
    managed: ManagedProvider
    """The same in all turns: a provider learns what its server does not take, and a breaker how it is doing."""


class CountedModel:
    """The `LLMProvider` of requests outside of turns, such as summaries; their usage is counted."""

    def __init__(
        self,
        hass: HomeAssistant,
        model: AgentModel,
    ) -> None:
        """Ask `model`."""
        self._hass = hass
        self._model = model
        self.usage = Usage()
        """Of all requests so far."""

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""
        async with aclosing(self._model.provider.stream(request)) as events:
            async for event in events:
                if isinstance(event, CompletionResult):
                    self.usage += event.usage
                    async_dispatcher_send(
                        self._hass,
                        SIGNAL_REQUEST,
                        RequestRecord(
                            self._model.agent.subentry_id,
                            event.usage,
                        ),
                    )
                yield event

    async def summary(
        self, messages: Transcript, earlier: Summary | None, seconds: float
    ) -> Summary:
        """Return a summary of messages that continues an `earlier` one. Raises a `ProviderError`."""
        fitter = self._model.fitter
        tokens = min(MOST_TOKENS, fitter.context_window - _FOR_ANSWER)
        estimate = fitter.estimate
        return await summarize(
            self,
            messages,
            len(messages),
            earlier,
            seconds,
            tokens=tokens,
            estimate=estimate,
        )
