"""Tracks the usage of all agents, over restarts: each turn is counted once, then stored, then shown.

Sensors show what is stored, so that no crash makes a total smaller, which long-term statistics would take for a new
meter. Usage is stored some seconds after the first change, which spares the disk, and at once when a budget is spent:
no crash opens it again. Budgets are compared with the current usage.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect, async_dispatcher_send
from homeassistant.helpers.event import async_track_time_change
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util
from homeassistant.util.signal_type import SignalType

from ..agent.errors import BudgetPeriod, BudgetSpent
from ..agent.messages import Usage
from ..const import DOMAIN, LOGGER
from ..data import singleton
from ..records.turn_record import SIGNAL_TURN, TurnFacts, TurnRecord
from .prices import ModelPrice
from .totals import AgentUsage, Budget, UsageTotals

_STORAGE_VERSION: Final = 1
_SAVE_DELAY: Final = 10.0
"""Seconds from the first change until it is stored. A crash loses no more than that, and never a spent budget."""

SIGNAL_USAGE: Final[SignalType[Collection[str] | None]] = SignalType(f"{DOMAIN}_usage")
"""Sent when the stored usage of these agents has changed; None for all agents, when a day has begun."""


@dataclass(frozen=True, slots=True)
class LastTurn:
    """The last turn of an agent. It is not kept over a restart."""

    duration: float
    """Seconds."""
    first_token: float | None = None
    """Seconds until its model began to answer; None while no model has."""


@dataclass(frozen=True, slots=True)
class Account:
    """The price of an agent's model, and what may be spent on it."""

    price: ModelPrice | None
    """None for an unknown price."""
    budget: Budget


_NO_ACCOUNT: Final = Account(None, Budget())
_NO_USAGE: Final = Usage()


def today() -> date:
    """Return the day in the time zone of the home."""
    return dt_util.now().date()


class UsageTracker:
    """The usage of all agents. For one event loop."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Count nothing before `async_start`."""
        self._hass = hass
        self._store = Store[dict[str, Any]](hass, _STORAGE_VERSION, f"{DOMAIN}.usage", private=True)
        self._totals = self._stored = UsageTotals()
        self._changed: set[str] = set()
        """Agents whose usage has changed since it was stored."""
        self._is_save_planned = False
        self._accounts: dict[str, Account] = {}
        self._last_turns: dict[str, LastTurn] = {}
        self._last_usages: dict[str, Usage] = {}

    async def async_start(self) -> None:
        """Load what is stored, and count turns until Home Assistant stops."""
        try:
            if (stored := await self._store.async_load()) is not None:
                self._totals = self._stored = UsageTotals.from_json(stored)
        except Exception as error:  # noqa: BLE001  # whatever the file holds, agents have to come up
            LOGGER.error("The usage of agents cannot be read and begins at zero: %s", type(error).__name__)
        async_dispatcher_connect(self._hass, SIGNAL_TURN, self._async_count_turn)
        timers = (
            async_track_time_change(self._hass, self._async_end_day, hour=23, minute=59, second=58),
            async_track_time_change(self._hass, self._async_begin_day, hour=0, minute=0, second=0),
        )

        @callback
        def async_stop(_event: Event) -> None:
            for cancel in timers:
                cancel()

        self._hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, async_stop)

    @callback
    def async_set_account(self, agent: str, account: Account) -> None:
        """Count what the model of an agent takes at this price, and against this budget, from now on."""
        self._accounts[agent] = account

    def usage(self, agent: str) -> AgentUsage:
        """Return the usage of an agent, as it is stored."""
        return self._stored.of(agent)

    def has_price(self, agent: str) -> bool:
        """Return whether the price of an agent's model is known."""
        return self._account(agent).price is not None

    def spent_budget(self, agent: str) -> tuple[BudgetPeriod, float] | None:
        """Return the period for which the budget of an agent is spent, and its limit; None while it is not."""
        return self._account(agent).budget.spent(self._totals.of(agent), today())

    def refusal(self, agent: str) -> BudgetSpent | None:
        """Return why the model of an agent may not be asked now; None when it may."""
        spent = self.spent_budget(agent)
        return BudgetSpent(spent[0]) if spent else None

    def last_turn(self, agent: str) -> LastTurn | None:
        """Return the last turn of an agent, since the start."""
        return self._last_turns.get(agent)

    def last_usage(self, agent: str) -> Usage | None:
        """Return the usage of the last turn in which the model of an agent answered, since the start."""
        return self._last_usages.get(agent)

    @callback
    def async_count_request(self, agent: str, usage: Usage, *, is_priced: bool = True) -> None:
        """Count a request outside of turns, to the model of an agent.

        `is_priced` is false for another model of the same service, whose price is unknown.
        """
        price = self._account(agent).price if is_priced else None
        self._async_change(self._totals.with_request(agent, usage, price, today()), {agent})

    @callback
    def async_forget_removed(self) -> None:
        """Forget the usage of agents that were removed."""
        self._async_change(self._totals, ())

    @callback
    def _async_count_turn(self, record: TurnRecord) -> None:
        facts, turn_id = record.facts, str(record.origin["turn_id"])
        totals = self._totals.with_turn(record.agent, turn_id, facts, lambda agent: self._account(agent).price, today())
        if totals is self._totals:
            return
        self._last_turns[record.agent] = _last_turn(facts, self._last_turns.get(record.agent))
        usages = _usages(facts)
        self._last_usages |= usages
        self._async_change(totals, {record.agent, *usages})

    def _account(self, agent: str) -> Account:
        return self._accounts.get(agent, _NO_ACCOUNT)

    @callback
    def _async_change(self, totals: UsageTotals, agents: Collection[str]) -> None:
        """Have changed usage of these agents stored."""
        spent_before = [self.spent_budget(agent) for agent in agents]
        self._totals = totals
        self._changed.update(agents)
        if self._hass.is_stopping or spent_before != [self.spent_budget(agent) for agent in agents]:
            self._async_save_now()
        elif not self._is_save_planned:  # each call would put the others off
            self._is_save_planned = True
            self._store.async_delay_save(self._async_data_to_store, _SAVE_DELAY)

    @callback
    def _async_save_now(self) -> None:
        saving = self._store.async_save(self._async_data_to_store())
        _ = self._hass.async_create_task(saving, "chatterbox usage")  # Home Assistant keeps it

    @callback
    def _async_data_to_store(self) -> dict[str, Any]:
        """Return what is about to be stored, and have it shown."""
        self._is_save_planned = False
        entries = self._hass.config_entries.async_entries(DOMAIN)
        self._totals = self._stored = self._totals.only_of({agent for entry in entries for agent in entry.subentries})
        changed, self._changed = self._changed, set()
        async_dispatcher_send(self._hass, SIGNAL_USAGE, changed)
        return self._stored.as_json()

    @callback
    def _async_end_day(self, _now: datetime) -> None:
        """Show what was spent today while it still is today."""
        if self._is_save_planned:
            self._async_save_now()

    @callback
    def _async_begin_day(self, _now: datetime) -> None:
        async_dispatcher_send(self._hass, SIGNAL_USAGE, None)


def _last_turn(facts: TurnFacts, before: LastTurn | None) -> LastTurn:
    began = (one.first_token for one in facts.inferences if one.first_token is not None)
    return LastTurn(facts.duration, next(began, before.first_token if before else None))


def _usages(facts: TurnFacts) -> Mapping[str, Usage]:
    """Return the usage of each model that has answered in a turn."""
    usages: dict[str, Usage] = {}
    for one in facts.inferences:
        if one.usage is not None and one.answered_by:
            usages[one.answered_by] = usages.get(one.answered_by, _NO_USAGE) + one.usage
    return usages


@callback
@singleton
def async_get_usage_tracker(hass: HomeAssistant) -> UsageTracker:
    """Return the usage tracker."""
    return UsageTracker(hass)
