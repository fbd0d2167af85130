"""The models of agents, and the chain of providers that answers for an agent."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant

from ..agent.conversation.prompt_fitter import DEFAULT_WINDOW, Allowance, ContextWindow, PromptFitter
from ..agent.conversation.summary import MOST_TOKENS, summarize
from ..agent.errors import ModelNotFound, ProviderRejectedRequest, ProviderReplyInvalid
from ..agent.events import CompletionResult, ProviderEvent
from ..agent.messages import Summary, ToolDefinition, Transcript, Usage
from ..agent.protocols import CompletionRequest
from ..agent.providers.http_provider import HTTPProvider
from ..agent.providers.managed_provider import CircuitBreaker, ManagedProvider, is_available
from ..agent.wire.model_lists import ChatModel
from ..const import CONF_BASE_URL, CONF_KIND, ServiceKind
from ..offline.provider import OfflineProvider
from ..settings.agent import settings_of
from ..settings.tool_names import SENTENCE_TOOL
from ..usage.prices import read_known_models
from ..usage.tracker import async_get_usage_tracker

_HOME_ASSISTANT: Final = "Home Assistant"
_FOR_ANSWER: Final = 1_500
"""Tokens that a model needs in addition to the text that it summarizes."""


async def offered_models(server: HTTPProvider) -> list[str]:
    """Return the models of a server; none for a model server without a list.

    Such a server refuses a conversation without a model, unlike a server of another kind. Raises a `ProviderError`.
    """
    try:
        return await server.list_models()
    except ProviderReplyInvalid:
        with suppress(ModelNotFound, ProviderRejectedRequest):
            await server.check()
        return []


async def offered_chat_models(server: HTTPProvider) -> list[ChatModel]:
    """Return the models of a server that one can talk to; see `offered_models`."""
    return await server.chat_models() if await offered_models(server) else []


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

    def __init__(self, hass: HomeAssistant, model: AgentModel) -> None:
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
                    tracker = async_get_usage_tracker(self._hass)
                    tracker.async_count_request(self._model.agent.subentry_id, event.usage)
                yield event

    async def summary(self, messages: Transcript, earlier: Summary | None, seconds: float) -> Summary:
        """Return a summary of messages that continues an `earlier` one. Raises a `ProviderError`."""
        fitter = self._model.fitter
        tokens, estimate = min(MOST_TOKENS, fitter.context_window - _FOR_ANSWER), fitter.estimate
        return await summarize(self, messages, len(messages), earlier, seconds, tokens=tokens, estimate=estimate)


def prompt_fitter(hass: HomeAssistant, entry: ConfigEntry, agent: ConfigSubentry, model: HTTPProvider) -> PromptFitter:
    """Return what fits conversations into the context window of an agent's model.

    The server is asked for the size of the window, in the background, once the model has answered.
    """
    settings, is_ollama = settings_of(agent.data), entry.data[CONF_KIND] == ServiceKind.OLLAMA_CHAT
    loaded_with = settings.num_ctx if is_ollama else None

    async def ask() -> int | None:
        if tokens := await model.context_window():
            return tokens
        known = (await hass.async_add_executor_job(read_known_models)).find(entry.data[CONF_BASE_URL], settings.model)
        return known.window if known else None

    def in_background(work: Coroutine[Any, Any, None]) -> object:
        return entry.async_create_background_task(hass, work, f"chatterbox context window of {agent.title}")

    context = ContextWindow(settings.context_window, loaded_with or DEFAULT_WINDOW, ask, in_background)
    return PromptFitter(context, Allowance(settings.history_tokens, settings.max_tokens), server_cuts=is_ollama)


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

    def providers(self, announcement: Callable[[], str]) -> tuple[ManagedProvider, ...]:
        """Return the providers of one turn; `announcement` is called where Home Assistant itself has to answer."""
        models = self.models()
        return (*models, offline_provider(announcement)) if self.ends_offline else models

    def models(self) -> tuple[ManagedProvider, ...]:
        """Return the providers of one turn without Home Assistant itself."""
        return (self.own, *[fallback for fallback in self.find_fallbacks() if fallback is not self.own])


def offline_provider(announcement: Callable[[], str] = str) -> ManagedProvider:
    """Return the provider that needs no model. It is new in each turn: nothing about it can break."""
    return ManagedProvider(_HOME_ASSISTANT, OfflineProvider(announcement), CircuitBreaker(), tools=_for_sentences)


def for_models(tools: Iterable[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """Return the tools that a model may see: all but the one by which Home Assistant understands a sentence."""
    return tuple([tool for tool in tools if tool.name != SENTENCE_TOOL])


def _for_sentences(tools: Iterable[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    return tuple([tool for tool in tools if tool.name == SENTENCE_TOOL])
