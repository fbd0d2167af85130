"""The health of an entry's models: they are asked again in the background, and the owner is told what to repair.

A model that fails is left alone by its circuit breaker. It is asked again here, so that
no person has to wait to find out whether it is back. Entities follow the monitor of
their entry. Decision 10.
"""

import asyncio
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final, override

from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntry,
    ConfigEntryChange,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import (
    async_dispatcher_connect,
    async_dispatcher_send,
)
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator
from homeassistant.util import dt as dt_util
from homeassistant.util.signal_type import SignalType

from ..agent.errors import (
    ModelNotFound,
    ProviderError,
    ProviderFailed,
    ProviderRejectedKey,
    ProviderUnreachable,
    ToolsRefused,
)
from ..agent.providers.http_provider import HTTPProvider
from ..agent.providers.managed_provider import BreakerState
from ..const import CONF_BASE_URL, DOMAIN, LOGGER, home_singleton
from ..records.turn_record import SIGNAL_USAGE
from ..repairs import (
    async_report_model_gone,
    async_report_prompt_too_long,
    async_report_refused_tools,
    async_report_service_down,
    async_report_shortage,
    async_report_spent_budget,
)
from ..settings.service_address import is_local_address
from .models import AgentModel, offered_models

_INTERVAL: Final = 30.0
"""Seconds after which a service in the home that works is asked for its list of models, which costs nothing."""
_INTERNET_INTERVAL: Final = 300.0
"""The same for a service on the internet."""
_CONFIRMATION: Final = 8.0
"""Seconds after which a service that failed is asked once more, before it counts as down."""
_SLACK: Final = 1.0
"""Seconds after which a model that is due is asked: Home Assistant begins updates up to a second early."""
SIGNAL_HEALTH: Final[SignalType[()]] = SignalType(f"{DOMAIN}_health")
"""Sent when a model was found to work, or not to work."""
_NOTHING_WRONG: Final = (
    None,
    None,
    None,
    None,
    "",
)


class HealthMonitor(DataUpdateCoordinator[None]):
    """Follows the models of one loaded entry until it is unloaded. An update asks those models that are due."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        models: Mapping[str, AgentModel],
        service: HTTPProvider | None,
        *,
        asks_at_once: bool,
    ) -> None:
        """Take the models of an entry, by the subentry ids of their agents.

        `service` is the entry's service, which is asked from time to time whether it is
        there; None for none.
        """
        super().__init__(
            hass, LOGGER, config_entry=entry, name=f"{DOMAIN} health of {entry.title}"
        )
        self._entry = entry
        self._models = models
        self._service = service
        self._interval = (
            _INTERVAL
            if is_local_address(entry.data.get(CONF_BASE_URL, ""))
            else _INTERNET_INTERVAL
        )
        self._answers = 0
        """Of all models, when they were last counted."""
        self._failing_since = dt_util.now() if asks_at_once else None
        """Since when the service has not listed its models, and no model has answered; None if it did the last time."""
        self.down_since: datetime | None = None
        """Since when no model of the service answers; None while they do."""
        self._is_updating = False
        self._circuits: list[tuple[BreakerState, int]] = []
        """States of the circuits and numbers of failures, as they were last checked."""
        self._refused: set[str] = set()
        """Subentry ids of the agents whose key was refused the last time."""
        self._reported: dict[str, tuple[object, ...]] = {}
        """The state of each agent's model that was reported last."""

    def async_start(self) -> None:
        """Begin to follow the models, once entities follow the monitor."""
        entry = self._entry
        monitors = _monitors(self.hass)
        monitors.add(self)
        entry.async_on_unload(lambda: monitors.discard(self))
        entry.async_on_unload(lambda: async_report_service_down(self.hass, entry, None))
        entry.async_on_unload(self.async_add_listener(self._async_report))
        entry.async_on_unload(
            async_dispatcher_connect(
                self.hass,
                SIGNAL_USAGE,
                self._async_report,
            )
        )
        entry.async_on_unload(
            async_dispatcher_connect(
                self.hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._async_follow_entries
            )
        )
        self.async_check()
        if self._service and self._failing_since:
            _ = entry.async_create_background_task(
                self.hass, self.async_refresh(), f"chatterbox check of {entry.title}"
            )

    def async_check(self) -> bool:
        """Take note of what a turn has found out about the models; return whether entities have to follow."""
        if not self._is_updating:
            planned = self._answers, self.update_interval
            self._plan_update()
            if planned != (self._answers, self.update_interval):
                self._schedule_refresh()
        self._async_report()
        breakers = [model.managed.breaker for model in self._models.values()]
        before = self._circuits
        self._circuits = [(breaker.state, breaker.failures) for breaker in breakers]
        return before != self._circuits

    @override
    async def _async_update_data(self) -> None:
        """Ask the models that are due. A failure opens their breakers, and is no failure of the update."""
        self._is_updating = True
        try:
            due = self._due_models()
            if due:
                await asyncio.gather(*(model.managed.probe() for model in due))
            elif self._service:
                await self._async_ask(self._service)
        finally:
            self._is_updating = False
            self._plan_update()

    @callback
    @override
    def _async_refresh_finished(self) -> None:
        """Have agents of other entries follow, too: they may fall back on a model of this one."""
        for other in _monitors(self.hass) - {self}:
            other.async_update_listeners()
        async_dispatcher_send(self.hass, SIGNAL_HEALTH)

    async def _async_ask(self, service: HTTPProvider) -> None:
        try:
            await offered_models(service)
        except ProviderError as error:
            self._plan_update()
            was_failing = self._failing_since is not None
            self._failing_since = self._failing_since or dt_util.now()
            if was_failing or isinstance(error, ProviderRejectedKey):
                for model in self._models.values():
                    model.managed.tripped(error)
        else:
            self._failing_since = None

    def _open(self) -> list[AgentModel]:
        """Return the models that are left alone, those first that are due first."""
        found = [
            model
            for model in self._models.values()
            if model.managed.breaker.state is not BreakerState.CLOSED
        ]
        return sorted(
            found, key=lambda model: model.managed.breaker.seconds_until_probe
        )

    def _due_models(self) -> list[AgentModel]:
        waits = [
            (model.managed.breaker.seconds_until_probe, model) for model in self._open()
        ]
        return [model for wait, model in waits if wait <= waits[0][0] + _SLACK]

    def _plan_update(self) -> None:
        """Decide when to ask next. A model that has answered in the meantime proves that the service is there."""
        answers = sum(model.managed.breaker.answers for model in self._models.values())
        if answers != self._answers:
            self._answers = answers
            self._failing_since = None
        models = self._open()
        wait = _CONFIRMATION if self._failing_since else self._interval
        if models:
            wait = models[0].managed.breaker.seconds_until_probe + _SLACK
        self.update_interval = timedelta(seconds=wait) if self._service else None

    @callback
    def _async_report(self, _changed: Collection[str] | None = None) -> None:
        """Tell the owner what only they can repair, until the model answers again."""
        errors = [model.managed.breaker.last_error for model in self._open()]
        is_down = any(
            error is not None
            and issubclass(error, ProviderUnreachable | ProviderFailed)
            for error in errors
        )
        if is_down is not (self.down_since is not None):
            self.down_since = self._failing_since or dt_util.now() if is_down else None
            async_report_service_down(
                self.hass,
                self._entry,
                self.down_since,
            )
        for agent_id, model in self._models.items():
            self._report_model(agent_id, model)
            if model.managed.breaker.last_error is not ProviderRejectedKey:
                self._refused.discard(agent_id)
            elif agent_id not in self._refused:
                self._refused.add(agent_id)
                self._entry.async_start_reauth(self.hass)

    def _report_model(
        self,
        agent_id: str,
        model: AgentModel,
    ) -> None:
        """Tell the owner what is wrong with the model of an agent, once."""
        error = model.managed.breaker.last_error
        overflow = model.provider.overflow
        # A prompt that is too long leaves no room at all.
        shortage = None if overflow else model.fitter.shortage
        spent = model.managed.spent()
        refusal = model.provider.tools_refusal
        if error is ToolsRefused:
            refusal = refusal or "?"
        limit = (spent.period, spent.limit) if spent else None
        state = (
            error,
            overflow,
            shortage,
            limit,
            refusal,
        )
        if self._reported.get(agent_id, _NOTHING_WRONG) == state:
            return
        self._reported[agent_id] = state
        async_report_prompt_too_long(self.hass, model.agent, overflow)
        async_report_shortage(
            self.hass,
            model.agent,
            shortage,
        )
        async_report_spent_budget(
            self.hass,
            model.agent,
            spent,
        )
        async_report_refused_tools(self.hass, model.agent, refusal)
        if error in {ModelNotFound, None}:
            is_gone = error is ModelNotFound
            async_report_model_gone(
                self.hass,
                model.agent,
                is_gone=is_gone,
            )

    def async_forget(self, agent_id: str) -> None:
        """Take back what was reported of an agent that ends."""
        self._refused.discard(agent_id)
        self._reported.pop(agent_id, None)
        model = self._models.get(agent_id)
        if model:
            async_report_prompt_too_long(
                self.hass,
                model.agent,
                None,
            )
            async_report_shortage(
                self.hass,
                model.agent,
                None,
            )
            async_report_spent_budget(
                self.hass,
                model.agent,
                None,
            )
            async_report_model_gone(
                self.hass,
                model.agent,
                is_gone=False,
            )
            async_report_refused_tools(
                self.hass,
                model.agent,
                "",
            )

    @callback
    def _async_follow_entries(
        self, _change: ConfigEntryChange, entry: ConfigEntry
    ) -> None:
        """Update the entities when another entry comes or goes: its models may answer for an agent of this one."""
        if entry.domain == DOMAIN and entry is not self._entry:
            self.async_update_listeners()


def async_check_health(hass: HomeAssistant) -> None:
    """Take note of what a turn has found out about models, of whichever entries they are.

    Most turns change no circuit. Entities of one entry follow those of others, on which
    their agents fall back.
    """
    monitors = tuple(_monitors(hass))
    changed = [monitor for monitor in monitors if monitor.async_check()]
    for monitor in monitors if changed else ():
        monitor.async_update_listeners()
    if changed:
        async_dispatcher_send(hass, SIGNAL_HEALTH)


_monitors: Final = home_singleton("monitors", lambda _: set[HealthMonitor]())
"""Returns the monitors of all loaded entries."""
