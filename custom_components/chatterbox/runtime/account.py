"""The money of one agent's model: what it costs, what may be spent on it, and whether that is spent.

Knows prices, budgets and the sums of the house. Must not know what is asked of a model, or who answers instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from homeassistant.core import HomeAssistant

from ..agent.errors import BudgetPeriod, BudgetSpent
from ..agent.providers.profiles import ServerProfile
from ..settings.agent import AgentSettings
from ..usage.budgets import Budget
from ..usage.costs import async_known_price, entered_price
from ..usage.prices import ModelPrice
from ..usage.tracker import TallyKeeper, async_get_tally_keeper, today


@dataclass(frozen=True, slots=True)
class ModelAccount:
    """The account of a model."""

    keeper: TallyKeeper
    agent_id: str
    """Subentry id of the agent whose model it is."""
    price: ModelPrice | None
    """None where nobody knows."""
    budget: Budget

    def spent(self) -> BudgetSpent | None:
        """Return why the model may not be asked now; None when it may. Free where there is no budget."""
        if self.budget.is_unlimited:
            return None
        period = self.budget.spent_up(self.keeper.counted(self.agent_id), today())
        return None if period is None else BudgetSpent(period)

    @property
    def told(self) -> tuple[BudgetPeriod, float] | None:
        """The budget that is spent by what is stored, and its limit in US dollars; None when none is."""
        period = self.budget.spent_up(self.keeper.tally(self.agent_id), today())
        limit = self.budget.limit(period) if period else None
        return None if period is None or limit is None else (period, limit)


async def async_open_account(
    hass: HomeAssistant, service: Mapping[str, Any], server: ServerProfile, settings: AgentSettings, agent_id: str
) -> ModelAccount:
    """Open the account of an agent's model; from now on what it takes is counted at its price."""
    keeper = await async_get_tally_keeper(hass)
    price = entered_price(settings, await async_known_price(hass, service, server, settings))
    keeper.async_price(agent_id, price)
    return ModelAccount(keeper, agent_id, price, Budget(settings.budget_day, settings.budget_month))
