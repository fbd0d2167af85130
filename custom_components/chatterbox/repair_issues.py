"""Tells the owner of a house, under Settings → Repairs, what only they can mend.

Knows issues and subentries. Must not know how a problem was found. Issues are not kept over a restart: what is still
wrong then is found again.
"""

from collections.abc import Sequence

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from .const import DOMAIN

_MISSING_TOOLS = "missing_tools"


@callback
def async_report_missing_tools(hass: HomeAssistant, agent: ConfigSubentry, api_ids: Sequence[str]) -> None:
    """Name the sources of tools that an agent is set to use and that are gone; none ends the issue."""
    issue_id = f"{_MISSING_TOOLS}_{agent.subentry_id}"
    if not api_ids:
        ir.async_delete_issue(hass, DOMAIN, issue_id)
        return
    ir.async_create_issue(
        hass,
        DOMAIN,
        issue_id,
        is_fixable=False,
        severity=ir.IssueSeverity.WARNING,
        translation_key=_MISSING_TOOLS,
        translation_placeholders={"agent": agent.title, "sources": ", ".join(api_ids)},
    )
