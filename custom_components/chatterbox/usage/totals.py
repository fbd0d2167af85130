"""What agents have read, written, done and cost, summed up over their life. Pure.

Knows how a turn went, and what a model costs. Must not know where sums are kept, or who shows them. What concerns a
model counts for the agent whose model it is, also where it answered for another one; everything else counts for the
agent that took the turn.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final, Self

from pydantic import TypeAdapter

from ..agent.events import StopReason
from ..agent.messages import JsonValue, Usage
from ..records.facts import TurnFacts
from .prices import ModelPrice

_TURNS_KNOWN: Final = 50
"""A turn that is told twice is told twice soon."""
_DAYS_KNOWN: Final = 40
"""Of each agent. A clock that is set back finds what was spent on the day that it shows."""
_FAILURES: Final = frozenset(
    {
        StopReason.MAX_ITERATIONS,
        StopReason.MAX_TOOL_CALLS,
        StopReason.DEADLINE,
        StopReason.LENGTH,
        StopReason.CONTENT_FILTER,
        StopReason.UNKNOWN_FINISH,
        StopReason.NO_RECEIPT,
        StopReason.PROVIDER_FAILED,
    }
)
"""A turn that ended so has not come to an answer."""

type PriceOf = Callable[[str], ModelPrice | None]
"""Returns what the model of an agent costs, by its subentry id; None where nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The sums of one agent."""

    input_tokens: int = 0
    """All that its model has read, cached tokens included."""
    cached_tokens: int = 0
    output_tokens: int = 0
    """All that its model has written, reasoning included."""
    reasoning_tokens: int = 0
    inferences: int = 0
    """Requests that its model has answered."""
    cost: float = 0.0
    """US dollars."""
    spent: Mapping[str, float] = field(default_factory=dict)
    """US dollars by day (ISO 8601) and by month ("2026-11"), what was added last at the end."""
    turns: int = 0
    tool_calls: int = 0
    """Those that have run."""
    failures: int = 0
    """Turns that have not come to an answer."""
    failovers: int = 0
    """How often another model had to take over."""

    def with_usage(self, usage: Usage, price: ModelPrice | None, day: date) -> Self:
        """Add a request that was answered."""
        cost = price.cost(usage) if price else 0.0
        return replace(
            self,
            input_tokens=self.input_tokens + usage.input_tokens,
            cached_tokens=self.cached_tokens + usage.cached_tokens,
            output_tokens=self.output_tokens + usage.output_tokens,
            reasoning_tokens=self.reasoning_tokens + usage.reasoning_tokens,
            inferences=self.inferences + 1,
            cost=self.cost + cost,
            spent=_spent(self.spent, cost, day) if cost else self.spent,
        )

    def with_turn(self, facts: TurnFacts) -> Self:
        """Add a turn, without what models had to do with it."""
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


_NOTHING: Final = Tally()


@dataclass(frozen=True, slots=True)
class Tallies:
    """The sums of all agents of a house."""

    agents: Mapping[str, Tally] = field(default_factory=dict)
    """By subentry id."""
    turns: tuple[str, ...] = ()
    """Ids of the turns that were counted last."""

    def of(self, agent: str) -> Tally:
        """Return the sums of an agent."""
        return self.agents.get(agent, _NOTHING)

    def with_turn(self, agent: str, turn_id: str, facts: TurnFacts, price_of: PriceOf, day: date) -> Self:
        """Count a turn, unless it was counted before."""
        if turn_id in self.turns:
            return self
        agents = dict(self.agents)
        agents[agent] = self.of(agent).with_turn(facts)
        for one in facts.inferences:
            if one.usage is not None and one.answered_by:
                tally = agents.get(one.answered_by, _NOTHING)
                agents[one.answered_by] = tally.with_usage(one.usage, price_of(one.answered_by), day)
        return type(self)(agents, (*self.turns, turn_id)[-_TURNS_KNOWN:])

    def with_usage(self, agent: str, usage: Usage, price: ModelPrice | None, day: date) -> Self:
        """Count a request that an agent's model has answered outside of turns."""
        return replace(self, agents={**self.agents, agent: self.of(agent).with_usage(usage, price, day)})

    def only_of(self, agents: Collection[str]) -> Self:
        """Return the sums of those agents that there still are."""
        kept = {agent: tally for agent, tally in self.agents.items() if agent in agents}
        return self if len(kept) == len(self.agents) else replace(self, agents=kept)

    @classmethod
    def from_json(cls, stored: JsonValue) -> Self:
        """Read them, written as an object with these fields.

        Raises ValueError for something else; what only another version counts is left out.
        """
        return TypeAdapter(cls).validate_python(stored)


def _month(day: date) -> str:
    return f"{day:%Y-%m}"


def _spent(spent: Mapping[str, float], cost: float, day: date) -> Mapping[str, float]:
    """Add to a day and its month, and forget the days to which nothing was added for longest."""
    changed = dict(spent)
    for span in (day.isoformat(), _month(day)):
        changed[span] = changed.pop(span, 0.0) + cost
    for span in list(changed)[: max(len(changed) - _DAYS_KNOWN, 0)]:
        del changed[span]
    return changed
