"""The subentry flow of conversation agents: their settings, and the rules of the home, which all of them share."""

from collections.abc import Sequence
from dataclasses import replace
from typing import override

import voluptuous as vol
from homeassistant.config_entries import SOURCE_USER, SubentryFlowResult
from homeassistant.exceptions import HomeAssistantError

from ..approvals.assistants import async_unguarded_assistants
from ..approvals.examples import async_example_requests
from ..const import CONF_PIN
from ..runtime.agents import async_entity_of
from ..runtime.rule_labels import RuleLabels, async_absent_names, async_get_rule_labels
from ..settings.agent import EntryData, settings_of
from ..settings.options import Problem
from ..settings.pin_hash import PinHash, flaw_of_pin
from ..settings.rules import HomeRules, async_get_home_rules
from .approval_form import approval_schema, approvals_as_form, read_approvals
from .approval_page import ApprovalPage
from .dialog import (
    KNOWN_SECRET,
    FormInput,
    FormValues,
    async_placeholders,
    async_viewer_language,
    typed_secret,
)
from .first_agent import (
    FIELD_USE_IN,
    FirstAgentForm,
    async_ready,
    async_use_added_agent,
)
from .model_flow import ModelFlow
from .rule_form import only_on_unlocking, rules_on_locking
from .tool_form import ToolForm, async_searches_web


class ConversationAgentFlow(ModelFlow):
    """Adds or changes a conversation agent."""

    extra_steps = ("tools", "approvals")

    def __init__(self) -> None:
        """Start with nothing stored."""
        super().__init__()
        self._rules = self._begun_with = HomeRules()
        """The rules of the home as they would be saved now, and as the dialog found them."""
        self._labels: RuleLabels | None = None

    @override
    async def async_step_reconfigure(
        self, user_input: FormInput = None
    ) -> SubentryFlowResult:
        """Ask what to change, with the rules of the home that are stored."""
        self._rules = self._begun_with = async_get_home_rules(self.hass).stored
        return await super().async_step_reconfigure(user_input)

    @override
    async def _async_complete(self, name: str, data: EntryData) -> SubentryFlowResult:
        """Let a new agent be used in assistants, as the first one of its service."""
        if self.source != SOURCE_USER:
            return await super()._async_complete(name, data)
        self._name = name.strip()
        self._stored = data
        return await self.async_step_assistants()

    async def async_step_assistants(
        self, user_input: FormInput = None
    ) -> SubentryFlowResult:
        """Ask for the assistants that use a new agent, say what it will ask about, and add it."""
        form = replace(
            await FirstAgentForm.async_of(
                self.hass,
                self._kind,
                "",
            ),
            name=self._name,
        )
        if user_input is None and (fields := form.assistants_schema):
            schema = vol.Schema(fields)
            return await self._async_show_form(
                "assistants", schema, form.suggested_assistants, [], asked=form.approval
            )
        chosen = (user_input or {}).get(
            FIELD_USE_IN,
            [],
        )
        ready = await async_ready(
            self.hass, self._kind, self._name, chosen, self._stored
        )
        async_use_added_agent(
            self.hass,
            self._get_entry(),
            self._name,
            chosen,
        )
        return self.async_create_entry(
            title=self._name,
            data=self._stored,
            description="ready",
            description_placeholders=ready,
        )

    async def async_step_approvals(
        self, user_input: FormInput = None
    ) -> SubentryFlowResult:
        """Ask for the rules for confirmations."""
        labels = await self._async_labels()
        if user_input is None:
            return await self._async_show_approvals(
                labels, approvals_as_form(self._rules, labels)
            )
        problems = await self._async_take_pin(user_input)
        found = read_approvals(
            user_input, labels, self._rules.pin, self._rules.policy.sources
        )
        if isinstance(found, list) or problems:
            problems += found if isinstance(found, list) else []
            return await self._async_show_approvals(
                labels,
                user_input,
                problems,
            )
        self._rules = replace(
            found,
            shows_page_to_all=self._rules.shows_page_to_all,
        )
        return await self.async_step_home()

    async def async_step_tools(
        self, user_input: FormInput = None
    ) -> SubentryFlowResult:
        """Ask how far each source of tools is trusted."""
        sentences = (await self._async_labels()).sentences
        policy = self._rules.policy
        form = await ToolForm.async_of(
            self.hass, settings_of(self._present), policy.sources, sentences
        )
        values = form.as_form(policy.sources)
        problems = list[Problem]()
        if user_input is not None:
            found = form.read(user_input)
            if not isinstance(found, Problem):
                self._rules = replace(
                    self._rules, policy=replace(policy, sources=found)
                )
                return await self.async_step_home()
            values = user_input
            problems = [found]
        return await self._async_show_form(
            "tools", form.schema, values, problems, tools=form.markdown
        )

    async def async_step_home(
        self,
        user_input: FormInput = None,  # noqa: ARG002 nothing is asked
    ) -> SubentryFlowResult:
        """Show what the rules mean for the home, before they are saved."""
        policy = self._rules.policy
        page = await ApprovalPage.async_of(
            self.hass, policy, await self._async_labels()
        )
        absent = page.absent(await async_absent_names(self.hass, policy))
        if self._begun_with.pin and not self._rules.pin:
            no_pin = page.no_pin()
        else:
            no_pin = ""
        searches_web = await async_searches_web(
            self.hass,
            settings_of(self._present),
        )
        requests = await async_example_requests(
            self.hass, self._rules, searches_web=searches_web
        )
        examples = no_pin + absent + page.examples_table(requests)
        options = [
            "save_approvals",
            "tools",
            "approvals",
        ]
        on_locking = rules_on_locking(policy)
        if on_locking:
            examples = f"{page.also_locking(on_locking)}\n\n{examples}"
            options.insert(0, "only_unlock")
        return self.async_show_menu(
            step_id="home",
            menu_options=options,
            description_placeholders=await async_placeholders(
                self.hass,
                "home",
                examples=examples,
                table=page.markdown,
                **page.numbers,
            ),
        )

    async def async_step_only_unlock(
        self,
        user_input: FormInput = None,  # noqa: ARG002 nothing is asked
    ) -> SubentryFlowResult:
        """Narrow the rules on locks to unlocking, and show again what they mean."""
        self._rules = replace(
            self._rules,
            policy=only_on_unlocking(self._rules.policy),
        )
        return await self.async_step_home()

    async def async_step_save_approvals(
        self,
        user_input: FormInput = None,  # noqa: ARG002 nothing is asked
    ) -> SubentryFlowResult:
        """Save the rules of the home, which all agents obey from now on."""
        store = async_get_home_rules(self.hass)
        if store.stored is not self._begun_with:
            return self.async_abort(reason="rules_changed_meanwhile")
        try:
            await store.async_enter(self._rules)
        except HomeAssistantError as error:
            return self.async_abort(reason=str(error.translation_key))
        return self.async_abort(reason="home_rules_saved")

    async def _async_labels(self) -> RuleLabels:
        if self._labels is None:
            language = await async_viewer_language(self.hass)
            self._labels = await async_get_rule_labels(
                self.hass, self._rules.policy, language
            )
        return self._labels

    async def _async_show_approvals(
        self,
        labels: RuleLabels,
        form: FormValues,
        problems: Sequence[Problem] = (),
    ) -> SubentryFlowResult:
        page = await ApprovalPage.async_of(
            self.hass,
            self._rules.policy,
            labels,
        )
        own_id = self._get_reconfigure_subentry().subentry_id
        entity = async_entity_of(self.hass, own_id)
        agent_id = entity.entity_id if entity else ""
        unguarded = page.unguarded(
            [one.name for one in async_unguarded_assistants(self.hass, agent_id)]
        )
        schema = approval_schema(
            labels,
            opened={problem.place for problem in problems},
        )
        values = {field: value for field, value in form.items() if field != CONF_PIN}
        if self._rules.pin:
            values[CONF_PIN] = KNOWN_SECRET
        return await self._async_show_form(
            "approvals", schema, values, problems, unguarded=unguarded, **page.numbers
        )

    async def _async_take_pin(self, form: FormValues) -> list[Problem]:
        """Keep the PIN of the form: the present one, a new one, or none. Return its problems."""
        typed = typed_secret(
            form.get(CONF_PIN, ""),
            self._rules.pin,
        )
        if isinstance(typed, str):
            flaw = flaw_of_pin(typed)
            if flaw:
                return [Problem(CONF_PIN, f"pin_{flaw}", {})]
            typed = await self.hass.async_add_executor_job(
                PinHash.of,
                typed,
            )
        self._rules = replace(
            self._rules,
            pin=typed,
        )
        return []
