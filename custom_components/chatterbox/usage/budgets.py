"""What may be spent on the model of an agent, per day and per month. Pure.

Knows sums of money and the calendar. Must not know who asks, or what becomes of a turn whose model may not be asked.
"""

from dataclasses import dataclass
from datetime import date

from ..agent.errors import BudgetPeriod
from .totals import Tally


@dataclass(frozen=True, slots=True)
class Budget:
    """US dollars; None for no limit."""

    per_day: float | None = None
    per_month: float | None = None

    @property
    def is_unlimited(self) -> bool:
        """Tell whether anything may be spent."""
        return self.per_day is None and self.per_month is None

    def limit(self, period: BudgetPeriod) -> float | None:
        """Return what may be spent in a period."""
        return self.per_day if period == "day" else self.per_month

    def spent_up(self, tally: Tally, day: date) -> BudgetPeriod | None:
        """Return for how long nothing may be spent any more; None when something may."""
        if self.per_month is not None and tally.spent_in_month_of(day) >= self.per_month:
            return "month"
        if self.per_day is not None and tally.spent_on(day) >= self.per_day:
            return "day"
        return None
