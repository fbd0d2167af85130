"""Looks after the models of an entry between turns: finds out when one is back, and tells what its owner must mend.

Knows links, breakers and timers. Must not know what is asked of a model, or who asks. A model that fails is left alone
by its breaker; here it is asked again in the background, so that no person has to wait to find out.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from functools import partial
from typing import Final

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HassJob, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect, async_dispatcher_send
from homeassistant.helpers.event import async_call_later

from ..agent.errors import ModelNotFound, PromptTooLong, ProviderError, ProviderRejectedKey
from ..agent.providers.breaker import BreakerState
from ..const import DOMAIN
from ..repair_issues import async_report_model_gone, async_report_prompt_too_long
from .agents import ChatterboxConfigEntry
from .model import AgentModel

SIGNAL_LINKS: Final = f"{DOMAIN}_links"
"""Sent when links may be doing better or worse than before, theirs and those of other entries."""


_LEAST_WAIT: Final = 1.0
"""Seconds between two looks at a model that somebody else is trying out at the moment."""


@callback
def async_tell_links(hass: HomeAssistant) -> None:
    """Have everybody look again how the links are doing."""
    async_dispatcher_send(hass, SIGNAL_LINKS)


class LinkWatch:
    """Watches the models of one loaded entry, from `async_start` until the entry is unloaded."""

    def __init__(self, hass: HomeAssistant, entry: ChatterboxConfigEntry) -> None:
        """Take the models of `entry`, which the runtime has put together."""
        self._hass = hass
        self._entry = entry
        self._reported: dict[str, type[ProviderError] | None] = {}
        """The error that was told last, by subentry id."""
        self._overflows: dict[str, PromptTooLong | None] = {}
        """What was told last of prompts that are too long, by subentry id."""
        self._asking: asyncio.Task[None] | None = None
        self._probes: dict[str, Callable[[], object]] = {}
        """Ends what waits to ask a model again, or is asking it, by subentry id."""

    @callback
    def async_start(self) -> None:
        """Look now, and whenever something may have changed."""
        self._entry.async_on_unload(async_dispatcher_connect(self._hass, SIGNAL_LINKS, self._async_look))
        self._entry.async_on_unload(self._async_stop)
        self._async_look()
        if ask := self._entry.runtime_data.ask_service:
            self._asking = self._entry.async_create_background_task(
                self._hass, self._async_ask(ask), f"chatterbox check of {self._entry.title}"
            )

    async def _async_ask(self, ask: Callable[[], Awaitable[None]]) -> None:
        try:
            await ask()
        except ProviderError as error:
            for model in self._models:
                model.link.tripped(error)
            async_tell_links(self._hass)

    @callback
    def _async_stop(self) -> None:
        for cancel in self._probes.values():
            cancel()
        for model in self._models:
            async_report_model_gone(self._hass, model.agent, is_gone=False)
            async_report_prompt_too_long(self._hass, model.agent, None)

    @property
    def _models(self) -> Iterable[AgentModel]:
        return self._entry.runtime_data.models.values()

    @callback
    def _async_look(self) -> None:
        for model in self._models:
            self._async_report(model)
            self._async_plan_probe(model)

    @callback
    def _async_report(self, model: AgentModel) -> None:
        """Tell what only the owner can mend: once, and until the model answers again."""
        agent_id, overflow, error = model.agent.subentry_id, model.provider.overflow, model.link.breaker.last_error
        if agent_id not in self._overflows or overflow is not self._overflows[agent_id]:
            self._overflows[agent_id] = overflow
            async_report_prompt_too_long(self._hass, model.agent, overflow)
        if error is self._reported.get(agent_id):
            return
        self._reported[agent_id] = error
        if error is ModelNotFound or error is None:
            async_report_model_gone(self._hass, model.agent, is_gone=error is ModelNotFound)
        if error is ProviderRejectedKey:
            self._entry.async_start_reauth(self._hass)

    @callback
    def _async_plan_probe(self, model: AgentModel) -> None:
        agent_id = model.agent.subentry_id
        if model.link.breaker.state is BreakerState.CLOSED:
            if cancel := self._probes.pop(agent_id, None):
                cancel()
        elif agent_id not in self._probes:
            wait = max(model.link.breaker.seconds_until_probe, _LEAST_WAIT)
            job = HassJob(partial(self._async_begin_probe, model), cancel_on_shutdown=True)
            self._probes[agent_id] = async_call_later(self._hass, wait, job)

    @callback
    def _async_begin_probe(self, model: AgentModel, _now: datetime) -> None:
        name = f"chatterbox probe of {model.link.name}"
        probe = self._entry.async_create_background_task(self._hass, self._async_probe(model), name)
        self._probes[model.agent.subentry_id] = probe.cancel

    async def _async_probe(self, model: AgentModel) -> None:
        await model.link.probe()
        self._probes.pop(model.agent.subentry_id, None)
        if self._entry.state is ConfigEntryState.LOADED:
            async_tell_links(self._hass)
