"""How much of a conversation the model of an agent gets to read: what is set, and who is asked for the rest.

Knows settings, the snapshot of models that comes with us, and who owns the question to the server. Must not know how a
window is found (`agent/conversation/window.py`), or how a server says how much its model can read.
"""

from collections.abc import Coroutine
from typing import Any, Protocol

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant

from ..agent.conversation.context_window import DEFAULT_WINDOW, ContextWindow, WindowQuestion
from ..agent.conversation.windowed_provider import Allowance, WindowedProvider
from ..agent.protocols import LLMProvider
from ..const import CONF_BASE_URL, CONF_KIND, ServiceKind
from ..settings.agent import settings_of
from ..usage.prices import async_get_known_models


class MeasurableModel(LLMProvider, Protocol):
    """A model that can be asked how much it reads."""

    async def context_window(self) -> int | None:
        """Return how many tokens the model reads at once; None where the server does not say.

        Raises a `ProviderError`.
        """
        ...


def windowed_model(
    hass: HomeAssistant, entry: ConfigEntry, agent: ConfigSubentry, model: MeasurableModel
) -> WindowedProvider:
    """Return what sends the model of an agent only what it can read. What it can read is asked once it has answered."""
    settings, is_ollama = settings_of(agent.data), entry.data[CONF_KIND] == ServiceKind.OLLAMA_CHAT
    loaded_with = settings.num_ctx if is_ollama else None
    context = ContextWindow(settings.context_window, loaded_with or DEFAULT_WINDOW)

    async def ask() -> int | None:
        told = await model.context_window()
        return told or (await async_get_known_models(hass)).context_window(entry.data[CONF_BASE_URL], settings.model)

    def in_background(work: Coroutine[Any, Any, None]) -> object:
        return entry.async_create_background_task(hass, work, f"chatterbox context window of {agent.title}")

    return WindowedProvider(
        model,
        context,
        Allowance(settings.history_tokens, settings.max_tokens),
        question=WindowQuestion(context, ask, in_background),
        server_cuts=is_ollama,
    )
