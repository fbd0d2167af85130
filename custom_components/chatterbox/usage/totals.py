"""The usage of agents since they exist, and what may be spent on their models.

Tokens, requests and cost count for the agent whose model answered, also where it answered for another one; turns, tool
calls and failures count for the agent that took the turn.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from typing import Any, Final, Self

from pydantic import TypeAdapter

from ..agent.errors import BudgetPeriod
from ..agent.events import StopReason
from ..agent.messages import Usage
from ..records.turn_record import TurnFacts
from .prices import ModelPrice

_TURNS_KNOWN: Final = 50
"""A turn that is reported twice is reported twice soon."""
_DAYS_KNOWN: Final = 40
"""Of each agent. A clock that is set back finds what was spent on the day that it shows."""
_MOST_TOKENS: Final = 2**53
"""Whatever a server reports: a file holds no number that is much larger."""
_FAILURES: Final = frozenset(
    {
        StopReason.MAX_ITERATIONS,
        StopReason.MAX_TOOL_CALLS,
        StopReason.DEADLINE,
        StopReason.LENGTH,
        StopReason.CONTENT_FILTER,
        StopReason.UNKNOWN_FINISH,
        StopReason.UNVERIFIED_ACTION,
        StopReason.PROVIDER_FAILED,
    }
)
"""A turn that ended so has not come to an answer."""

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
    """Requests that its model has answered."""
    cost: float = 0.0
    """US dollars."""
    spent: Mapping[str, float] = field(default_factory=dict)
    """US dollars by day (ISO 8601) and by month ("2026-11"), the latest addition at the end."""
    turns: int = 0
    tool_calls: int = 0
    """Those that have run."""
    failures: int = 0
    """Turns that have not come to an answer."""
    failovers: int = 0
    """How often another model had to take over."""

    def with_request(self, usage: Usage, price: ModelPrice | None, day: date) -> Self:
        """Add a request that was answered."""
        cost = price.cost(usage) if price else 0.0
        return replace(
            self,
            input_tokens=_added(self.input_tokens, usage.input_tokens),
            cached_tokens=_added(self.cached_tokens, usage.cached_tokens),
            output_tokens=_added(self.output_tokens, usage.output_tokens),
            reasoning_tokens=_added(self.reasoning_tokens, usage.reasoning_tokens),
            inferences=self.inferences + 1,
            cost=self.cost + cost,
            spent=_spent(self.spent, cost, day) if cost else self.spent,
        )

    def with_turn(self, facts: TurnFacts) -> Self:
        """Add a turn, without its requests to models."""
        return replace(
            self,
            turns=self.turns + 1,
            tool_calls=self.tool_calls + len([tool for tool in facts.tools if tool.began is not None]),
            failures=self.failures + (facts.stop_reason in _FAILURES),
            failovers=self.failovers + facts.handovers,
        )

    def spent_on(self, day: date) -> float:
        """Return the US dollars that were spent on a day."""
        return self.spent.get(day.isoformat(), 0.0)

    def spent_in_month_of(self, day: date) -> float:
        """Return the US dollars that were spent in the month of a day."""
        return self.spent.get(_month(day), 0.0)


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent on the model of an agent, in US dollars; None for no limit."""

    per_day: float | None = None
    per_month: float | None = None

    def spent(self, usage: AgentUsage, day: date) -> tuple[BudgetPeriod, float] | None:
        """Return the period for which the budget is spent, the longer first, and its limit; None while it is not."""
        if self.per_month is not None and usage.spent_in_month_of(day) >= self.per_month:
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

    def with_turn(self, agent: str, turn_id: str, facts: TurnFacts, price_of: PriceOf, day: date) -> Self:
        """Count a turn, unless it was counted before."""
        if turn_id in self.turns:
            return self
        agents = {**self.agents, agent: self.of(agent).with_turn(facts)}
        for one in facts.inferences:
            if one.usage is not None and (by := one.answered_by):
                agents[by] = agents.get(by, _NOTHING).with_request(one.usage, price_of(by), day)
        return type(self)(agents, (*self.turns, turn_id)[-_TURNS_KNOWN:])

    def with_request(self, agent: str, usage: Usage, price: ModelPrice | None, day: date) -> Self:
        """Count a request that an agent's model has answered outside of turns."""
        return replace(self, agents={**self.agents, agent: self.of(agent).with_request(usage, price, day)})

    def only_of(self, agents: Collection[str]) -> Self:
        """Return the usage of those agents that still exist."""
        return replace(self, agents={agent: usage for agent, usage in self.agents.items() if agent in agents})

    def as_json(self) -> dict[str, Any]:
        """Return an object with these fields."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: object) -> Self:
        """Read an object with these fields; raises ValueError for anything else, and ignores unknown fields."""
        return TypeAdapter(cls).validate_python(stored)


def _added(tokens: int, more: int) -> int:
    return min(tokens + more, _MOST_TOKENS)


def _month(day: date) -> str:
    return f"{day:%Y-%m}"


def _spent(spent: Mapping[str, float], cost: float, day: date) -> Mapping[str, float]:
    """Add to a day and its month, and drop the periods that were added to longest ago."""
    changed = dict(spent)
    for span in (day.isoformat(), _month(day)):
        changed[span] = changed.pop(span, 0.0) + cost
    for span in list(changed)[: max(len(changed) - _DAYS_KNOWN, 0)]:
        del changed[span]
    return changed
