"""Tells the owner when what may be spent on a model is spent, and when something may be spent again.

Knows sums, budgets and issues. Must not know how a turn is kept from costing more: that is the link's doing.
"""

from collections.abc import Collection

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect

from ..repair_issues import async_report_spent_budget
from ..usage.tracker import SIGNAL_USAGE, async_get_usage_tracker
from .agents import ChatterboxConfigEntry


@callback
def async_watch_budgets(hass: HomeAssistant, entry: ChatterboxConfigEntry) -> None:
    """Watch the budgets of a loaded entry until it is unloaded."""
    models, tracker = entry.runtime_data.models, async_get_usage_tracker(hass)

    @callback
    def async_look(changed: Collection[str] | None) -> None:
        """Look at those agents whose sums have changed, or at all."""
        for agent_id, model in models.items():
            if changed is None or agent_id in changed:
                async_report_spent_budget(hass, model.agent, tracker.spent_budget(agent_id))

    @callback
    def async_end_issues() -> None:
        for model in models.values():
            async_report_spent_budget(hass, model.agent, None)

    entry.async_on_unload(async_dispatcher_connect(hass, SIGNAL_USAGE, async_look))
    entry.async_on_unload(async_end_issues)
    async_look(None)
