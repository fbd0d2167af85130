"""The subentry flow of conversation agents: their settings, and their rules for confirmations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, override

import voluptuous as vol
from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.config_entries import SOURCE_USER, SubentryFlowResult
from homeassistant.helpers import entity_registry as er

from ..agent.confirmation.pin import PinHash, flaw_of_pin
from ..approvals.assistants import async_unguarded_assistants
from ..approvals.examples import async_example_requests
from ..const import CONF_PIN, CONF_RULES, CONF_TOOL_SOURCES, DOMAIN
from ..settings.agent import AgentSettings, settings_of
from ..settings.options import Problem
from ..settings.rules import policy_to_json
from .approval_form import APPROVAL_KEYS, KNOWN_PIN, approval_schema, approvals_as_form, read_approvals, typed_pin
from .approval_page import ApprovalPage
from .dialog import async_placeholders
from .first_agent import FIELD_USE_IN, FirstAgentForm, async_ready, async_use_added_agent
from .model_flow import ModelFlow
from .rule_form import RuleLabels, async_absent_names, async_get_rule_labels, only_on_unlocking, rules_on_locking
from .tool_form import ToolForm


class ConversationAgentFlow(ModelFlow):
    """Adds or changes a conversation agent."""

    extra_steps = ("tools", "approvals")

    def __init__(self) -> None:
        """Start with nothing stored."""
        super().__init__()
        self._approvals: dict[str, Any] = {}
        """The data of the form for confirmations, as it would be saved now."""
        self._pin: PinHash | None = None
        self._labels: RuleLabels | None = None

    @override
    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask what to change, with the rules that are stored."""
        stored = self._get_reconfigure_subentry().data
        self._approvals = {key: value for key, value in stored.items() if key in APPROVAL_KEYS}
        self._pin = settings_of(self._approvals).pin
        return await super().async_step_reconfigure(user_input)

    @override
    async def _async_complete(self, name: str, data: Mapping[str, Any]) -> SubentryFlowResult:
        """Let a new agent be used in assistants, as the first one of its service."""
        if self.source != SOURCE_USER:
            return await super()._async_complete(name, data)
        self._name, self._stored = name.strip(), data
        return await self.async_step_assistants()

    async def async_step_assistants(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for the assistants that use a new agent, say what it will ask about, and add it."""
        form = replace(await FirstAgentForm.async_of(self.hass, self._kind, "", self._stored), name=self._name)
        if user_input is None and (fields := form.assistants_schema):
            schema = vol.Schema(fields)
            return await self._async_show_form("assistants", schema, form.suggested_assistants, [], asked=form.asked)
        chosen = (user_input or {}).get(FIELD_USE_IN, [])
        ready = await async_ready(self.hass, self._kind, self._name, self._stored, chosen)
        async_use_added_agent(self.hass, self._get_entry(), self._name, chosen)
        return self.async_create_entry(
            title=self._name, data=self._stored, description="ready", description_placeholders=ready
        )

    async def async_step_approvals(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for the rules for confirmations."""
        labels = await self._async_labels()
        if user_input is None:
            return await self._async_show_approvals(labels, approvals_as_form(settings_of(self._approvals), labels))
        problems = await self._async_take_pin(user_input)
        found = read_approvals(user_input, labels, has_pin=self._pin is not None)
        if isinstance(found, list) or problems:
            problems += found if isinstance(found, list) else []
            return await self._async_show_approvals(labels, user_input, problems)
        kept = {key: value for key, value in self._approvals.items() if key == CONF_TOOL_SOURCES}
        self._approvals = {**found, **kept, **({CONF_PIN: self._pin.as_json()} if self._pin else {})}
        return await self.async_step_home()

    async def async_step_tools(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask how far each source of tools is trusted."""
        sentences, settings = (await self._async_labels()).sentences, self._settings
        form = await ToolForm.async_of(self.hass, settings, sentences)
        shown, problems = form.as_form(settings.policy.sources), list[Problem]()
        if user_input is not None:
            found = form.read(user_input)
            if not isinstance(found, Problem):
                others = {key: value for key, value in self._approvals.items() if key != CONF_TOOL_SOURCES}
                self._approvals = {**others, **({CONF_TOOL_SOURCES: found} if found else {})}
                return await self.async_step_home()
            shown, problems = user_input, [found]
        return await self._async_show_form("tools", form.schema, shown, problems, tools=form.markdown)

    async def async_step_home(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing is asked
        """Show what the rules mean for the home, before they are saved."""
        settings = self._settings
        page = ApprovalPage.of(self.hass, settings.policy, await self._async_labels())
        absent = page.absent(await async_absent_names(self.hass, self._kind, settings))
        examples = absent + page.examples_table(await async_example_requests(self.hass, settings))
        options = ["save_approvals", "tools", "approvals"]
        if on_locking := rules_on_locking(settings.policy):
            examples = f"{page.also_locking(on_locking)}\n\n{examples}"
            options.insert(0, "only_unlock")
        return self.async_show_menu(
            step_id="home",
            menu_options=options,
            description_placeholders=await async_placeholders(
                self.hass, "home", examples=examples, table=page.markdown, **page.numbers
            ),
        )

    async def async_step_only_unlock(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing is asked
        """Narrow the rules on locks to unlocking, and show again what they mean."""
        rules = policy_to_json(only_on_unlocking(self._settings.policy))
        self._approvals = {**self._approvals, CONF_RULES: rules}
        return await self.async_step_home()

    async def async_step_save_approvals(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing is asked
        """Save the rules."""
        others = {key: value for key, value in self._present.items() if key not in APPROVAL_KEYS}
        return self._save(self._name, others | self._approvals)

    @property
    def _settings(self) -> AgentSettings:
        """The settings as they would be saved now."""
        others = {key: value for key, value in self._present.items() if key not in APPROVAL_KEYS}
        return settings_of(others | self._approvals)

    async def _async_labels(self) -> RuleLabels:
        if self._labels is None:
            self._labels = await async_get_rule_labels(self.hass, self._kind, settings_of(self._stored))
        return self._labels

    async def _async_show_approvals(
        self, labels: RuleLabels, form: Mapping[str, Any], problems: Sequence[Problem] = ()
    ) -> SubentryFlowResult:
        page = ApprovalPage.of(self.hass, settings_of(self._approvals).policy, labels)
        own_id = self._get_reconfigure_subentry().subentry_id
        agent_id = er.async_get(self.hass).async_get_entity_id(CONVERSATION_DOMAIN, DOMAIN, own_id)
        unguarded = page.unguarded([one.name for one in async_unguarded_assistants(self.hass, agent_id or "")])
        schema = approval_schema(labels, opened={problem.place for problem in problems})
        shown = {field: value for field, value in form.items() if field != CONF_PIN}
        if self._pin:
            shown[CONF_PIN] = KNOWN_PIN
        return await self._async_show_form("approvals", schema, shown, problems, unguarded=unguarded, **page.numbers)

    async def _async_take_pin(self, form: Mapping[str, Any]) -> list[Problem]:
        """Keep the PIN of the form: the present one, a new one, or none. Return its problems."""
        typed = typed_pin(form, self._pin)
        if isinstance(typed, str):
            if flaw := flaw_of_pin(typed):
                return [Problem(CONF_PIN, f"pin_{flaw}", {})]
            typed = await self.hass.async_add_executor_job(PinHash.of, typed)
        self._pin = typed
        return []
