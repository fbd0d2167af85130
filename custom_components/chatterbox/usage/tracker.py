"""Usage of agents: tokens, their costs, turns and tool calls, which are added up, stored and shown by sensors.

Sensors show stored values, so that no crash makes a total smaller, which long-term
statistics would take for a new meter. Usage is stored some seconds after the first
change, to spare the disk, and at once when a budget is spent, so that a crash does not
reopen it. Budgets are compared with the current usage. Decision 16.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Final, Self

from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.dispatcher import (
    async_dispatcher_connect,
    async_dispatcher_send,
)
from homeassistant.helpers.event import async_track_time_change
from homeassistant.util import dt as dt_util
from pydantic import TypeAdapter

from ..agent.errors import BudgetPeriod, BudgetSpent
from ..agent.messages import JsonObject, Usage
from ..const import home_singleton
from ..history.stores import async_keeps_turns
from ..records.turn_record import (
    SIGNAL_REQUEST,
    SIGNAL_TURN,
    SIGNAL_USAGE,
    RequestRecord,
    TurnFacts,
    TurnRecord,
)
from ..settings.agent import existing_agents
from ..settings.stored_file import StoredFile

_MILLION: Final = 1_000_000
_TURNS_KNOWN: Final = 50
"""Ids of counted turns that are kept: duplicate reports of a turn come soon."""
_DAYS_KNOWN: Final = 40
"""Days that are kept for each agent, in case the clock is set back."""


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars for a million tokens."""

    input: float
    cached: float
    """Of cached input."""
    output: float

    def cost(self, usage: Usage) -> float:
        """Return the US dollars that tokens cost."""
        fresh = usage.input_tokens - usage.cached_tokens
        return (
            fresh * self.input
            + usage.cached_tokens * self.cached
            + usage.output_tokens * self.output
        ) / _MILLION


FREE: Final = Rates(
    0,
    0,
    0,
)


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """The price of a model, which may be higher for long requests."""

    usual: Rates
    longer: tuple[tuple[int, Rates], ...] = ()
    """For requests of more input tokens than these, in rising order, the rates of the whole request."""

    def cost(self, usage: Usage) -> float:
        """Return the US dollars that one request costs."""
        rates = [
            self.usual,
            *(dearer for than, dearer in self.longer if usage.input_tokens > than),
        ]
        return rates[-1].cost(usage)


type PriceOf = Callable[[str], ModelPrice | None]
"""Returns the price of an agent's model, by its subentry id; None for an unknown price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentUsage:
    """The usage of one agent."""

    input_tokens: int = 0
    """Includes cached tokens."""
    cached_tokens: int = 0
    output_tokens: int = 0
    """Includes reasoning tokens."""
    reasoning_tokens: int = 0
    inferences: int = 0
    """Requests that the model has answered."""
    cost: float = 0.0
    """US dollars."""
    spent: Mapping[str, float] = field(default_factory=dict)
    """US dollars by day (ISO 8601) and by month ("2026-11"), the latest addition at the end."""
    turns: int = 0
    turns_in: Mapping[str, float] = field(default_factory=dict)
    """Turns by day and by month, as in `spent`."""
    tool_calls: int = 0
    """Calls that have run."""
    failures: int = 0
    """Turns that have failed; see `TurnFacts.has_failed`."""
    failovers: int = 0
    """Handovers to another model."""

    def with_request(
        self,
        usage: Usage,
        price: ModelPrice | None,
        day: date,
    ) -> Self:
        """Add an answered request."""
        if price:
            cost = price.cost(usage)
        else:
            cost = 0.0
        return replace(
            self,
            input_tokens=self.input_tokens + usage.input_tokens,
            cached_tokens=self.cached_tokens + usage.cached_tokens,
            output_tokens=self.output_tokens + usage.output_tokens,
            reasoning_tokens=self.reasoning_tokens + usage.reasoning_tokens,
            inferences=self.inferences + 1,
            cost=self.cost + cost,
            spent=_added(
                self.spent,
                cost,
                day,
            )
            if cost
            else self.spent,
        )

    def with_turn(
        self,
        facts: TurnFacts,
        day: date,
    ) -> Self:
        """Add a turn, without its requests to models."""
        fees = sum(tool.fee for tool in facts.tools)
        return replace(
            self,
            cost=self.cost + fees,
            spent=_added(
                self.spent,
                fees,
                day,
            )
            if fees
            else self.spent,
            turns=self.turns + 1,
            turns_in=_added(
                self.turns_in,
                1,
                day,
            ),
            tool_calls=self.tool_calls
            + len([tool for tool in facts.tools if tool.began is not None]),
            failures=self.failures + facts.has_failed,
            failovers=self.failovers + len(facts.handovers),
        )

    def turns_on(self, day: date) -> int:
        """Return the turns of a day."""
        return int(self.turns_in.get(day.isoformat(), 0))

    def spent_on(self, day: date) -> float:
        """Return the US dollars that were spent on a day."""
        return self.spent.get(day.isoformat(), 0.0)

    def spent_in_month_of(self, day: date) -> float:
        """Return the US dollars that were spent in the month of a day."""
        return self.spent.get(_month(day), 0.0)


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of an agent's model, in US dollars; None for no limit."""

    per_day: float | None = None
    per_month: float | None = None

    def spent(
        self,
        usage: AgentUsage,
        day: date,
    ) -> tuple[BudgetPeriod, float] | None:
        """Return the period whose budget is spent, the longer one first, and its limit; None if none is spent."""
        if (
            self.per_month is not None
            and usage.spent_in_month_of(day) >= self.per_month
        ):
            return "month", self.per_month
        if self.per_day is not None and usage.spent_on(day) >= self.per_day:
            return "day", self.per_day
        return None


_NOTHING: Final = AgentUsage()


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """The usage of all agents."""

    agents: Mapping[str, AgentUsage] = field(default_factory=dict)
    """By subentry id."""
    turns: tuple[str, ...] = ()
    """Ids of the turns that were counted last."""

    def of(self, agent: str) -> AgentUsage:
        """Return the usage of an agent."""
        return self.agents.get(agent, _NOTHING)

    def with_turn(
        self,
        agent: str,
        turn_id: str,
        facts: TurnFacts,
        price_of: PriceOf,
        day: date,
    ) -> Self:
        """Count a turn, unless it has been counted."""
        if turn_id in self.turns:
            return self
        agents = {
            **self.agents,
            agent: self.of(agent).with_turn(
                facts,
                day,
            ),
        }
        for one in facts.inferences:
            if one.usage is not None and (by := one.answered_by):
                agents[by] = agents.get(by, _NOTHING).with_request(
                    one.usage, price_of(by), day
                )
        return type(self)(
            agents,
            (*self.turns, turn_id)[-_TURNS_KNOWN:],
        )

    def with_request(
        self,
        agent: str,
        usage: Usage,
        price: ModelPrice | None,
        day: date,
    ) -> Self:
        """Count a request that an agent's model has answered outside of turns."""
        return replace(
            self,
            agents={
                **self.agents,
                agent: self.of(agent).with_request(
                    usage,
                    price,
                    day,
                ),
            },
        )

    def only_of(self, agents: Collection[str]) -> Self:
        """Return the usage of those agents that still exist; nothing is kept without any."""
        if not agents:
            return type(self)()
        return replace(
            self,
            agents={
                agent: usage for agent, usage in self.agents.items() if agent in agents
            },
        )

    @classmethod
    def from_json(cls, stored: object) -> Self:
        """Read an object with these fields; raises ValueError for anything else, and ignores unknown fields."""
        return TypeAdapter(cls).validate_python(stored)

    def as_json(self) -> JsonObject:
        """Return an object with these fields."""
        stored: JsonObject = _TOTALS.dump_python(self, mode="json")
        return stored


_TOTALS: Final = TypeAdapter(UsageTotals)


def _month(day: date) -> str:
    return f"{day:%Y-%m}"


def _added(
    sums: Mapping[str, float],
    more: float,
    day: date,
) -> Mapping[str, float]:
    """Add to a day and its month, and drop the periods with the oldest additions."""
    changed = dict(sums)
    for span in (day.isoformat(), _month(day)):
        changed[span] = changed.pop(span, 0.0) + more
    for span in list(changed)[: max(len(changed) - _DAYS_KNOWN, 0)]:
        del changed[span]
    return changed


_SAVE_DELAY: Final = 10.0
"""Seconds from the first change until it is stored. A crash loses no more than that, and never a spent budget."""


@dataclass(frozen=True, slots=True)
class LastTurn:
    """The last turn of an agent since the start."""

    duration: float
    """Seconds."""
    first_token: float | None = None
    """Seconds until the model began its answer; None without an answer."""
    stored_id: str | None = None
    """Its id in the history; None if it is not stored."""


@dataclass(frozen=True, slots=True)
class Account:
    """The price and the budget of an agent's model."""

    price: ModelPrice | None
    """None for an unknown price."""
    budget: Budget


_NO_ACCOUNT: Final = Account(None, Budget())


def today() -> date:
    """Return the day in the time zone of the home."""
    return dt_util.now().date()


class UsageTracker:
    """The usage of all agents. For one event loop."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Count nothing before `async_start`."""
        self._hass = hass
        self._file = StoredFile(
            hass,
            "usage",
            UsageTotals.from_json,
            grows=True,
        )
        self._totals = self._stored = UsageTotals()
        self._changed: set[str] = set()
        """Agents whose usage has changed since it was stored."""
        self._is_save_planned = False
        self._accounts: dict[str, Account] = {}
        self._last_turns: dict[str, LastTurn] = {}
        self._last_usages: dict[str, Usage] = {}

    async def async_start(self) -> None:
        """Load the stored usage, and count turns until Home Assistant stops."""
        self._totals = self._stored = await self._file.async_load() or UsageTotals()
        async_dispatcher_connect(
            self._hass,
            SIGNAL_TURN,
            self._async_count_turn,
        )
        async_dispatcher_connect(
            self._hass,
            SIGNAL_REQUEST,
            self._async_count_request,
        )
        timers = (
            async_track_time_change(
                self._hass, self._async_end_day, hour=23, minute=59, second=58
            ),
            async_track_time_change(
                self._hass, self._async_begin_day, hour=0, minute=0, second=0
            ),
        )

        @callback
        def async_stop(_event: Event) -> None:
            for cancel in timers:
                cancel()

        self._hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, async_stop)

    def async_set_account(
        self,
        agent: str,
        account: Account,
    ) -> None:
        """Apply this price and budget to an agent's model from now on."""
        self._accounts[agent] = account

    def usage(self, agent: str) -> AgentUsage:
        """Return the stored usage of an agent."""
        return self._stored.of(agent)

    def latest_usage(self, agent: str) -> AgentUsage:
        """Return the usage of an agent, with what will be stored soon."""
        return self._totals.of(agent)

    def cost(
        self,
        agent: str,
        usage: Usage,
    ) -> float | None:
        """Return the US dollars that tokens of an agent's model cost today; None for an unknown price."""
        price = self._account(agent).price
        if price:
            return price.cost(usage)
        return None

    def has_price(self, agent: str) -> bool:
        """Return whether the price of an agent's model is known."""
        return self._account(agent).price is not None

    def _spent_budget(self, agent: str) -> tuple[BudgetPeriod, float] | None:
        """Return the period whose budget an agent has spent, and its limit; None if none is spent."""
        return self._account(agent).budget.spent(
            self._totals.of(agent),
            today(),
        )

    def refusal(self, agent: str) -> BudgetSpent | None:
        """Return why the model of an agent may not be called now; None if it may."""
        spent = self._spent_budget(agent)
        if spent:
            return BudgetSpent(*spent)
        return None

    def last_turn(self, agent: str) -> LastTurn | None:
        """Return the last turn of an agent, since the start."""
        return self._last_turns.get(agent)

    def last_usage(self, agent: str) -> Usage | None:
        """Return the usage of the last turn in which the model of an agent answered, since the start."""
        return self._last_usages.get(agent)

    @callback
    def _async_count_request(self, request: RequestRecord) -> None:
        if request.is_priced:
            price = self._account(request.agent).price
        else:
            price = None
        totals = self._totals.with_request(
            request.agent,
            request.usage,
            price,
            today(),
        )
        self._async_change(totals, {request.agent})

    def async_forget_removed(self) -> None:
        """Forget the usage of agents that were removed."""
        self._async_change(self._totals, ())

    @callback
    def _async_count_turn(self, record: TurnRecord) -> None:
        facts = record.facts
        turn_id = str(record.origin["turn_id"])
        totals = self._totals.with_turn(
            record.agent,
            turn_id,
            facts,
            lambda agent: self._account(agent).price,
            today(),
        )
        if totals is self._totals:
            return
        before = self._last_turns.get(record.agent)
        began = (
            one.first_token for one in facts.inferences if one.first_token is not None
        )
        first_token = next(began, before.first_token if before else None)
        if record.is_stored and async_keeps_turns(self._hass, record.agent):
            stored_id = turn_id
        else:
            stored_id = None
        self._last_turns[record.agent] = LastTurn(
            facts.duration, first_token, stored_id
        )
        usages = defaultdict[str, Usage](Usage)  # of each model that has answered
        for one in facts.inferences:
            if one.usage is not None and one.answered_by:
                usages[one.answered_by] += one.usage
        self._last_usages |= usages
        self._async_change(
            totals,
            {record.agent, *usages},
        )

    def _account(self, agent: str) -> Account:
        return self._accounts.get(agent, _NO_ACCOUNT)

    def _async_change(
        self,
        totals: UsageTotals,
        agents: Collection[str],
    ) -> None:
        """Have changed usage of these agents stored."""
        spent_before = [self._spent_budget(agent) for agent in agents]
        self._totals = totals
        self._changed.update(agents)
        if self._hass.is_stopping or spent_before != [
            self._spent_budget(agent) for agent in agents
        ]:
            self._async_save_now()
        elif not self._is_save_planned:  # otherwise each call would delay the save
            self._is_save_planned = True
            self._file.async_delay_save(self._async_data_to_store, _SAVE_DELAY)

    def _async_save_now(self) -> None:
        saving = self._file.async_save(self._async_data_to_store())
        _ = self._hass.async_create_task(
            saving, "chatterbox usage"
        )  # Home Assistant keeps it

    @callback
    def _async_data_to_store(self) -> JsonObject:
        """Return the data to store, and show it in sensors."""
        self._is_save_planned = False
        self._totals = self._stored = self._totals.only_of(existing_agents(self._hass))
        changed = self._changed
        self._changed = set()
        async_dispatcher_send(
            self._hass,
            SIGNAL_USAGE,
            changed,
        )
        return self._stored.as_json()

    @callback
    def _async_end_day(self, _now: datetime) -> None:
        """Show the amount of the day that ends."""
        if self._is_save_planned:
            self._async_save_now()

    @callback
    def _async_begin_day(self, _now: datetime) -> None:
        async_dispatcher_send(
            self._hass,
            SIGNAL_USAGE,
            None,
        )


async_get_usage_tracker: Final = home_singleton("usage_tracker", UsageTracker)
"""Returns the usage tracker."""
