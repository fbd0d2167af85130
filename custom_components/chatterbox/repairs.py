"""Repair issues: problems that only the owner can solve, and the dialog that solves one of them.

Issues do not survive a restart: a problem that persists is found again.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, override

from homeassistant.components.repairs import (
    ConfirmRepairFlow,
    RepairsFlow,
    RepairsFlowResult,
)
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.const import CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir

from .agent.conversation.prompt_fitter import PromptSize
from .agent.errors import BudgetSpent, PromptTooLong
from .agent.protocols import HookPoint
from .agent.providers.failures import server_refusing_tools
from .agent.text import uncapitalized
from .const import DOMAIN
from .internals.assist_pipeline import assistants, settings_of_assistant

if TYPE_CHECKING:  # it needs packages of its own
    from homeassistant.components.assist_pipeline.models import Pipeline


def async_report_missing_tools(
    hass: HomeAssistant, agent: ConfigSubentry, api_ids: Sequence[str]
) -> None:
    """Report the LLM APIs that an agent uses and that do not exist; an empty list ends the issue."""
    _report(
        hass,
        agent,
        "missing_tools",
        {"sources": ", ".join(api_ids)} if api_ids else None,
    )


def async_report_model_gone(
    hass: HomeAssistant, agent: ConfigSubentry, *, is_gone: bool
) -> None:
    """Report that the service no longer has an agent's model, or that it has it again."""
    _report(
        hass,
        agent,
        "model_gone",
        {"model": agent.data[CONF_MODEL]} if is_gone else None,
    )


def async_report_refused_tools(
    hass: HomeAssistant, agent: ConfigSubentry, refusal: str
) -> None:
    """Report that the server of an agent's model refuses tools, and how to allow them; an empty text ends the issue.

    `refusal` is what the server said.
    """
    found = server_refusing_tools(refusal) if refusal else ""
    for server in ("vllm", "llama_cpp", "other"):
        _report(
            hass,
            agent,
            f"tools_refused_{server}",
            {"model": agent.data[CONF_MODEL]} if server == found else None,
        )


def async_report_service_down(
    hass: HomeAssistant, entry: ConfigEntry, since: datetime | None
) -> None:
    """Report that a service does not answer, and since when; None ends the issue."""
    if since:
        placeholders = {
            "service": entry.title,
            "since": since.strftime("%Y-%m-%d %H:%M"),
        }
    else:
        placeholders = None
    _set(
        hass,
        f"service_down_{entry.entry_id}",
        "service_down",
        placeholders,
    )


def async_report_prompt_too_long(
    hass: HomeAssistant, agent: ConfigSubentry, overflow: PromptTooLong | None
) -> None:
    """Report a prompt that exceeds the context window of an agent's model; None ends the issue."""
    placeholders = None
    if overflow is not None:
        numbers = {
            "prompt_tokens": overflow.prompt_tokens,
            "window_tokens": overflow.window_tokens,
        }
        placeholders = {name: _number(number) for name, number in numbers.items()}
    _report(
        hass,
        agent,
        "prompt_too_long",
        placeholders,
    )


def async_report_shortage(
    hass: HomeAssistant, agent: ConfigSubentry, shortage: PromptSize | None
) -> None:
    """Report a home that leaves too little of a model's context window for a conversation; None ends the issue."""
    reported = dict[str, dict[str, str]]()
    if shortage is not None:
        problem = (
            "window_assumed" if shortage.is_window_assumed else "conversation_short"
        )
        reported[problem] = {
            "home_tokens": _number(shortage.tools + shortage.instructions),
            "window_tokens": _number(shortage.window),
        }
    for problem in ("conversation_short", "window_assumed"):
        _report(hass, agent, problem, reported.get(problem))


def async_report_failed_script(
    hass: HomeAssistant, agent: ConfigSubentry, point: HookPoint, script: str | None
) -> None:
    """Report a hook script that failed; None ends the issue."""
    problem = "guard_failed" if point is HookPoint.PRE_TOOL_USE else "script_failed"
    placeholders = None
    if script is not None:
        state = hass.states.get(script)
        placeholders = {"script": state.name if state else script}
    _report(
        hass,
        agent,
        problem,
        placeholders,
        f"{point.value}_",
    )


def async_report_broken_template(
    hass: HomeAssistant, agent: ConfigSubentry, problem: str | None
) -> None:
    """Report why an agent's instructions cannot be rendered; None ends the issue."""
    _report(
        hass,
        agent,
        "template_broken",
        None if problem is None else {"problem": problem},
    )


def async_forget_turns(hass: HomeAssistant, agent: ConfigSubentry) -> None:
    """End the issues that the turns of an agent have reported: the agent is removed, or reports them again."""
    async_report_missing_tools(
        hass,
        agent,
        (),
    )
    async_report_broken_template(
        hass,
        agent,
        None,
    )
    for point in HookPoint:
        async_report_failed_script(
            hass,
            agent,
            point,
            None,
        )


def async_report_gone_names(
    hass: HomeAssistant,
    gaps: Sequence[str],
) -> None:
    """Report missing references in the rules of the home; an empty list ends the issue."""
    _set(
        hass,
        "names_gone",
        "names_gone",
        {"gone": "\n".join(f"- {gap}" for gap in gaps)} if gaps else None,
    )


def async_report_moved_parts(
    hass: HomeAssistant,
    abilities: Sequence[str],
) -> None:
    """Report what is off until Chatterbox is updated, because Home Assistant has moved parts that it relies on."""
    _set(
        hass,
        "internals_missing",
        "internals_missing",
        {"abilities": "\n".join(f"- {one}" for one in abilities)},
    )


def async_report_rules_of_agents(
    hass: HomeAssistant,
    agents: Sequence[str],
) -> None:
    """Report agents that hold rules of their own; an empty list ends the issue."""
    key = "home_rules_of_agents"
    _set(
        hass,
        key,
        key,
        {"agents": ", ".join(agents)} if agents else None,
        severity=ir.IssueSeverity.ERROR,
    )


def async_report_newer_entries(
    hass: HomeAssistant,
    services: Sequence[str],
) -> None:
    """Report services that a later version of Chatterbox has stored; an empty list ends the issue."""
    if services:
        placeholders = {"services": ", ".join(services)}
    else:
        placeholders = None
    _set(
        hass,
        "newer_entries",
        "newer_entries",
        placeholders,
        severity=ir.IssueSeverity.ERROR,
    )


_IS_UNREADABLE: Final = "_unreadable"
"""The end of the ids of issues about files, after the name of the file."""
_UNREADABLE: Final = {
    "home_rules": "home_rules_unreadable",
    "later": "plans_unreadable",
    "memories": "memories_unreadable",
}
"""The keys of issues about files that have one of their own."""


def async_report_unreadable_file(
    hass: HomeAssistant,
    name: str,
    path: Path,
    copy: Path | None,
    *,
    is_newer: bool,
) -> None:
    """Report that a stored file cannot be read, and where it is kept, or that a later version has stored it.

    None ends the issue.
    """
    key = "stored_by_newer" if is_newer else _UNREADABLE.get(name, "file_unreadable")
    if copy:
        placeholders = {
            "file": _short(path),
            "kept": _short(copy),
        }
    else:
        placeholders = None
    _set(
        hass,
        f"{name}{_IS_UNREADABLE}",
        key,
        placeholders,
        severity=ir.IssueSeverity.ERROR,
    )


def unreadable_files(hass: HomeAssistant) -> list[str]:
    """Return the names of the stored files that are reported to be unreadable."""
    return [
        one.issue_id.removesuffix(_IS_UNREADABLE)
        for one in _reported(hass)
        if one.active and one.issue_id.endswith(_IS_UNREADABLE)
    ]


def async_report_not_stored(
    hass: HomeAssistant, name: str, path: Path, obstacle: str | None
) -> None:
    """Report why a file cannot be written: `no_room` or `not_kept`; None ends the issue."""
    if obstacle:
        placeholders = {"file": _short(path)}
    else:
        placeholders = None
    _set(
        hass,
        f"{name}_not_stored",
        f"file_{obstacle}",
        placeholders,
        severity=ir.IssueSeverity.ERROR,
    )


def _short(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def async_report_removed_plans(
    hass: HomeAssistant, agent: str, texts: Iterable[str]
) -> None:
    """Report the plans that were removed with an agent, by its subentry id."""
    _set(
        hass,
        f"plans_removed_{agent}",
        "plans_removed",
        {"plans": "\n".join(f"- {text}" for text in texts)},
    )


def async_report_history(
    hass: HomeAssistant,
    address: str,
    key: str,
    placeholders: Mapping[str, str],
    put_aside: str,
) -> None:
    """Report the trouble of the history at an address under the key of an issue; an empty key ends the issue.

    `put_aside` is where a damaged file was put: it is reported until Home Assistant
    restarts, or the owner dismisses the issue.
    """
    place = hashlib.sha256(address.encode()).hexdigest()[
        :12
    ]  # an address may contain a password
    _set(
        hass,
        f"history_down_{place}",
        key,
        placeholders if key else None,
    )
    if put_aside:
        aside = {
            "where": placeholders["where"],
            "aside": put_aside,
        }
        _set(
            hass,
            f"history_put_aside_{place}",
            "history_put_aside",
            aside,
        )


def async_report_spent_budget(
    hass: HomeAssistant, agent: ConfigSubentry, spent: BudgetSpent | None
) -> None:
    """Report a spent daily or monthly budget of an agent's model, in US dollars; None ends the issue."""
    placeholders = {"limit": f"{spent.limit:.2f}"} if spent else None
    _report(
        hass,
        agent,
        "budget_spent",
        placeholders if spent and spent.period == "day" else None,
    )
    _report(
        hass,
        agent,
        "budget_spent_month",
        placeholders if spent and spent.period == "month" else None,
    )


def async_report_unguarded(
    hass: HomeAssistant,
    agent_id: str,
    pipelines: Iterable[Pipeline],
    request: str,
    *,
    keep_ignored: bool = False,
) -> None:
    """Report the assistants that handle commands before an agent, which would ask first, and end all other reports.

    `request` is an example, empty if there is none.
    """
    found = {f"unguarded_{agent_id}_{pipeline.id}": pipeline for pipeline in pipelines}
    for issue in _reported(hass, "unguarded_"):
        is_own = issue.data and issue.data.get("agent_id") == agent_id
        if (
            is_own
            and issue.issue_id not in found
            and not (keep_ignored and issue.dismissed_version)
        ):
            ir.async_delete_issue(
                hass,
                DOMAIN,
                issue.issue_id,
            )
    action = uncapitalized(request)
    for issue_id, pipeline in found.items():
        fix: dict[str, str | bool] = {
            "agent_id": agent_id,
            "pipeline_id": pipeline.id,
            "prefer_local_intents": False,
        }
        placeholders = {
            "assistant": pipeline.name,
            "request": request,
            "action": action,
        }
        _set(
            hass,
            issue_id,
            "unguarded" if request else "unguarded_rules",
            placeholders,
            fix=fix,
        )


def async_report_disabled_agents(
    hass: HomeAssistant, assistants: Iterable[tuple[Pipeline, Mapping[str, str | bool]]]
) -> None:
    """Report the assistants whose agent is disabled, each with the settings that a fix gives it; end all others."""
    found = {
        f"agent_disabled_{pipeline.id}": (pipeline, settings)
        for pipeline, settings in assistants
    }
    for issue in _reported(hass, "agent_disabled_"):
        if issue.issue_id not in found:
            ir.async_delete_issue(
                hass,
                DOMAIN,
                issue.issue_id,
            )
    for issue_id, (pipeline, settings) in found.items():
        fix = {
            "agent_id": pipeline.conversation_engine,
            "pipeline_id": pipeline.id,
            **settings,
        }
        _set(
            hass,
            issue_id,
            "agent_disabled",
            {"assistant": pipeline.name},
            fix=fix,
        )


class _ChangeAssistant(ConfirmRepairFlow):
    """Gives an assistant the settings of the issue, unless it has another agent by now."""

    @override
    async def async_step_confirm(
        self, user_input: dict[str, str] | None = None
    ) -> RepairsFlowResult:
        """Change it after the owner has agreed."""
        data = self.data or {}
        if user_input is not None and (store := assistants(self.hass)):
            pipeline_id = str(data.get("pipeline_id"))
            pipeline = store.data.get(pipeline_id)
            if pipeline is not None and pipeline.conversation_engine == data.get(
                "agent_id"
            ):
                settings = {
                    key: data.get(key, value)
                    for key, value in settings_of_assistant(pipeline).items()
                }
                await store.async_update_item(pipeline_id, settings)
        return await super().async_step_confirm(user_input)


async def async_create_fix_flow(
    hass: HomeAssistant,  # noqa: ARG001  # Home Assistant's signature
    issue_id: str,  # noqa: ARG001
    data: dict[str, str | int | float | None] | None,  # noqa: ARG001
) -> RepairsFlow:
    """Return the dialog of an issue; they differ in the settings that they give."""
    return _ChangeAssistant()


def _reported(hass: HomeAssistant, kind: str = "") -> list[ir.IssueEntry]:
    """Return the issues of ours, those whose ids begin with a kind."""
    return [
        one
        for one in ir.async_get(hass).issues.values()
        if one.domain == DOMAIN and one.issue_id.startswith(kind)
    ]


def _number(number: int | None) -> str:
    if number is None:
        return "?"
    return f"{number:,}".replace(
        ",",
        "\N{NARROW NO-BREAK SPACE}",
    )


def _report(
    hass: HomeAssistant,
    agent: ConfigSubentry,
    problem: str,
    placeholders: Mapping[str, str] | None,
    place: str = "",
) -> None:
    """Report a problem of an agent, once per `place`; None ends the issue."""
    if placeholders is None:
        named = None
    else:
        named = {
            "agent": agent.title,
            **placeholders,
        }
    _set(
        hass,
        f"{problem}_{place}{agent.subentry_id}",
        problem,
        named,
    )


def _set(  # noqa: PLR0913  # the parts of an issue
    hass: HomeAssistant,
    issue_id: str,
    key: str,
    placeholders: Mapping[str, str] | None,
    *,
    severity: ir.IssueSeverity = ir.IssueSeverity.WARNING,
    fix: Mapping[str, str | bool] | None = None,
) -> None:
    """Report an issue; `placeholders` of None end it. `fix` is the data of the dialog that solves it."""
    if placeholders is None:
        ir.async_delete_issue(
            hass,
            DOMAIN,
            issue_id,
        )
        return
    ir.async_create_issue(
        hass,
        DOMAIN,
        issue_id,
        data={**fix} if fix else None,
        is_fixable=fix is not None,
        severity=severity,
        translation_key=key,
        translation_placeholders=dict(placeholders),
    )
