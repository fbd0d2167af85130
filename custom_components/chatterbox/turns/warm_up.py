"""Warms up an agent while a person is still speaking: its service reads the prompt prefix in advance.

No failure here is worth an error, a wait or a log line: it only means a later answer.
"""

import asyncio
import time
from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback

from ..agent.errors import ProviderError
from ..agent.messages import ToolDefinition, UserMessage
from ..agent.protocols import CompletionRequest, Prefiller
from ..const import LOGGER
from ..settings.agent import AgentSettings
from ..tools.llm_apis import context_without_speaker
from ..tools.turn_tools import async_offer_common_tools, for_models
from .prepare import PromptSources, async_write_prompt

KEPT_FOR: Final = 60.0
"""Seconds for which a service is assumed to cache a prefix."""

LONGEST: Final = 60.0
"""Seconds that reading may take. It is cancelled as soon as a turn begins."""

_A_MOMENT: Final = 1.0
"""Seconds that a cancelled task may take to close its connection."""

type Prefix = tuple[str, tuple[ToolDefinition, ...]]
"""Instructions and tools, which a service reads before anything else."""


class WarmUp:
    """Keeps the prompt prefix of one agent cached at its service, until it is closed."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry, model: Prefiller, settings: AgentSettings) -> None:
        """Start idle."""
        self._hass = hass
        self._entry = entry
        self._model = model
        self._settings = settings
        self._prefixes: list[tuple[Prefix, float]] = []
        """Recent prefixes of turns with their times, in seconds of `time.monotonic`."""
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    async def async_prepare(self) -> None:
        """Collect the prefix of the next turn, and start to send it; returns as soon as it is being sent."""
        if self.is_under_way:
            return
        offer = await async_offer_common_tools(self._hass, self._settings)
        sources = PromptSources(self._settings.prompt, offer.prompt, offer.context)
        prompt = async_write_prompt(self._hass, context_without_speaker(self._hass), sources)
        if self._is_closed or self.is_under_way:
            return
        prefix, since = (prompt.instructions, offer.definitions), time.monotonic() - KEPT_FOR
        is_known = any(at > since and _as_models_read(request) == prefix for request, at in self._prefixes)
        if not is_known:
            self.async_note(prefix)
        self._task = self._entry.async_create_background_task(
            self._hass,
            self._async_send(None if is_known else prefix),
            f"chatterbox warm-up of {self._model}",
            eager_start=False,
        )

    @property
    def is_under_way(self) -> bool:
        """Return whether the service is reading a prefix now."""
        return self._task is not None and not self._task.done()

    async def async_give_way(self, seconds: float) -> None:
        """Cancel reading for a turn; returns when the service is free, after `seconds` at the latest."""
        if (task := self._task) is not None:
            task.cancel()
            await asyncio.wait({task}, timeout=min(seconds, _A_MOMENT))

    async def _async_send(self, prefix: Prefix | None) -> None:
        """Have the service read a prefix; without one, only open a connection."""
        try:
            async with asyncio.timeout(LONGEST):
                if prefix is None:
                    await self._model.connect()
                else:
                    instructions, tools = prefix
                    await self._model.prefill(CompletionRequest(instructions, (UserMessage("Hi"),), tools))
        except (ProviderError, TimeoutError) as error:
            LOGGER.debug("%s was not warmed up: %s", self._model, type(error).__name__)

    def async_note(self, prefix: Prefix) -> None:
        """Note a prefix that the service has read or is about to read."""
        now = time.monotonic()
        self._prefixes = [one for one in self._prefixes if one[1] > now - KEPT_FOR and one[0] != prefix]
        self._prefixes.append((prefix, now))

    @callback
    def async_close(self) -> None:
        """Stop for good; Home Assistant cancels the tasks of an entry that it unloads."""
        self._is_closed = True


def _as_models_read(prefix: Prefix) -> Prefix:
    instructions, tools = prefix
    return instructions, for_models(tools)
