"""The subentry flow of conversation agents: their settings, and their rules for confirmations."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import voluptuous as vol
from homeassistant.config_entries import SOURCE_USER, ConfigEntryState, SubentryFlowResult
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.core import HomeAssistant
from homeassistant.helpers.selector import TextSelector

from ..agent.confirmation.pin import PinHash, flaw_of_pin
from ..const import CONF_FALLBACKS, CONF_PIN, DOMAIN, ServiceKind
from ..settings.agent import AgentSettings, settings_of
from ..settings.options import Problem, find_problems, new_agent_data, sections_of
from ..speech.sentences import async_get_sentences
from .approval_form import (
    APPROVAL_KEYS,
    approval_schema,
    approvals_as_form,
    read_approvals,
    shown_pin,
    typed_pin,
    without_pin,
)
from .approval_page import ApprovalPage
from .model_form import (
    ModelFlow,
    errors_of,
    fallback_ids,
    fallback_selector,
    model_selector,
    only_model,
    possible_fallbacks,
    prompt_selector,
    section_fields,
    sections_as_form,
    tool_source_selector,
    tool_sources,
    typed_options,
)
from .rule_form import RuleLabels, async_get_rule_labels

_OWN_KEYS: Final = frozenset({CONF_MODEL, CONF_LLM_HASS_API, CONF_PROMPT, CONF_FALLBACKS}).union(
    *(options for kind in ServiceKind for options in sections_of(kind).values())
)
"""The stored keys that this form sets, for all kinds of service."""


class ConversationAgentFlow(ModelFlow):
    """Adds or changes a conversation agent."""

    def __init__(self) -> None:
        """Start with nothing stored."""
        super().__init__()
        self._approvals: dict[str, Any] = {}
        """The data of the form for confirmations, as it would be saved now."""
        self._pin: PinHash | None = None
        self._labels: RuleLabels | None = None

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing was asked yet
        """Start a new agent with its settings."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        sentences = await async_get_sentences(self.hass, self.hass.config.language)
        self._name, self._stored = sentences["agent_title"], new_agent_data(self._kind)
        if self._kind is ServiceKind.OFFLINE:
            return await self.async_step_offline_agent()
        return await self.async_step_agent()

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing was asked yet
        """Ask what to change."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        agent = self._get_reconfigure_subentry()
        self._name, self._stored = agent.title, agent.data
        self._approvals = {key: value for key, value in agent.data.items() if key in APPROVAL_KEYS}
        self._pin = settings_of(self._approvals).pin
        settings = "offline_agent" if self._kind is ServiceKind.OFFLINE else "agent"
        return self.async_show_menu(
            menu_options=[settings, "approvals"], description_placeholders={"agent": agent.title}
        )

    async def async_step_agent(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for the settings of an agent with a model, and try the model."""
        fallbacks = possible_fallbacks(self.hass, self._own_id)
        if user_input is None:
            await self._async_prepare_form(settings_of(self._stored))
            form = as_form(self._kind, self._name, settings_of(self._stored), fallbacks)
            return self._show_agent(form | {CONF_MODEL: form[CONF_MODEL] or only_model(self._models)}, fallbacks)
        chosen = fallback_ids(fallbacks, user_input.get(CONF_FALLBACKS, ()))
        if problems := self._find_typos(user_input, sections_of(self._kind), chosen):
            return self._show_agent(user_input, fallbacks, problems)
        data = as_data(self._kind, user_input, chosen or (), self._present)
        if problems := await self._async_try(settings_of(data), settings_of(self._stored)):
            return self._show_agent(user_input, fallbacks, problems)
        return self._save(user_input[CONF_NAME], data)

    async def async_step_offline_agent(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for the settings of an agent without a model."""
        sections = sections_of(ServiceKind.OFFLINE)
        problems: list[Problem] = []
        form: Mapping[str, Any] = {CONF_NAME: self._name, **sections_as_form(sections, settings_of(self._stored))}
        if user_input is not None:
            form = user_input
            problems += [] if form[CONF_NAME].strip() else [Problem(CONF_NAME, "name_missing", {})]
            problems += find_problems({place: form[place] for place in sections})
            if not problems:
                kept = {key: value for key, value in self._present.items() if key not in _OWN_KEYS}
                return self._save(form[CONF_NAME], kept | typed_options(ServiceKind.OFFLINE, sections, form))
        fields = section_fields(sections, errors_of(problems), {})
        schema = vol.Schema({vol.Required(CONF_NAME): TextSelector(), **fields})
        return self._show_form("offline_agent", schema, form, problems)

    async def async_step_approvals(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for the rules for confirmations."""
        labels = await self._async_labels()
        if user_input is None:
            return self._show_approvals(labels, approvals_as_form(settings_of(self._approvals), labels))
        problems = await self._async_take_pin(user_input)
        found = read_approvals(user_input, labels, has_pin=self._pin is not None)
        if isinstance(found, list) or problems:
            problems += found if isinstance(found, list) else []
            return self._show_approvals(labels, without_pin(user_input), problems)
        self._approvals = {**found, **({CONF_PIN: self._pin.as_json()} if self._pin else {})}
        return await self.async_step_home()

    async def async_step_home(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing is asked
        """Show what the rules mean for the home, before they are saved."""
        page = ApprovalPage.of(self.hass, settings_of(self._approvals).policy, await self._async_labels())
        return self.async_show_menu(
            step_id="home",
            menu_options=["save_approvals", "approvals"],
            description_placeholders={**page.numbers, "table": page.markdown},
        )

    async def async_step_save_approvals(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing is asked
        """Save the rules."""
        others = {key: value for key, value in self._present.items() if key not in APPROVAL_KEYS}
        return self._save(self._name, others | self._approvals)

    @property
    def _present(self) -> Mapping[str, Any]:
        """The stored data, which another dialog may have changed meanwhile."""
        return self._stored if self.source == SOURCE_USER else self._get_reconfigure_subentry().data

    @property
    def _own_id(self) -> str | None:
        return None if self.source == SOURCE_USER else self._get_reconfigure_subentry().subentry_id

    async def _async_labels(self) -> RuleLabels:
        if self._labels is None:
            self._labels = await async_get_rule_labels(self.hass, self._kind, settings_of(self._stored))
        return self._labels

    def _show_agent(
        self, form: Mapping[str, Any], fallbacks: Mapping[str, str], problems: Sequence[Problem] = ()
    ) -> SubentryFlowResult:
        sources = tool_sources(self.hass, settings_of(self._stored).llm_apis, self._absent_source)
        titles = _titles_of(self.hass, fallbacks)
        schema = vol.Schema(
            {
                vol.Required(CONF_NAME): TextSelector(),
                vol.Required(CONF_MODEL): model_selector(self._models),
                vol.Optional(CONF_LLM_HASS_API): tool_source_selector(sources),
                vol.Optional(CONF_PROMPT): prompt_selector(),
                vol.Optional(CONF_FALLBACKS): fallback_selector(fallbacks),
                **section_fields(sections_of(self._kind), errors_of(problems), titles),
            }
        )
        return self._show_form("agent", schema, form, problems, known_price=self._known_price)

    def _show_approvals(
        self, labels: RuleLabels, form: Mapping[str, Any], problems: Collection[Problem] = ()
    ) -> SubentryFlowResult:
        numbers = ApprovalPage.of(self.hass, settings_of(self._approvals).policy, labels).numbers
        schema = approval_schema(labels, opened=errors_of(problems))
        return self._show_form("approvals", schema, {**form, **shown_pin(self._pin)}, problems, **numbers)

    async def _async_take_pin(self, form: Mapping[str, Any]) -> list[Problem]:
        """Keep the PIN of the form: the present one, a new one, or none. Return its problems."""
        typed = typed_pin(form, self._pin)
        if isinstance(typed, str):
            if flaw := flaw_of_pin(typed):
                return [Problem(CONF_PIN, f"pin_{flaw}", {})]
            typed = await self.hass.async_add_executor_job(PinHash.of, typed)
        self._pin = typed
        return []


def _titles_of(hass: HomeAssistant, agent_ids: Iterable[str]) -> Mapping[str, str]:
    """Return the titles of agents with those of their services, since several agents may have the same title."""
    entries = hass.config_entries.async_entries(DOMAIN)
    return {
        agent_id: f"{entry.subentries[agent_id].title} ({entry.title})"
        for agent_id in agent_ids
        for entry in entries
        if agent_id in entry.subentries
    }


def as_form(kind: ServiceKind, name: str, settings: AgentSettings, fallbacks: Mapping[str, str]) -> dict[str, Any]:
    """Return settings as form values, without agents that no longer exist."""
    return {
        CONF_NAME: name,
        CONF_MODEL: settings.model,
        CONF_LLM_HASS_API: list(settings.llm_apis),
        CONF_PROMPT: settings.prompt or "",
        CONF_FALLBACKS: [fallbacks[agent_id] for agent_id in settings.fallbacks if agent_id in fallbacks],
        **sections_as_form(sections_of(kind), settings, fallbacks),
    }


def as_data(
    kind: ServiceKind, form: Mapping[str, Any], fallbacks: Sequence[str], stored: Mapping[str, Any]
) -> dict[str, Any]:
    """Return form values as they are stored, without empty ones.

    `fallbacks` are the subentry IDs of the fallback agents. Keys in `stored` that this form does not set are kept.
    """
    return {
        **{key: value for key, value in stored.items() if key not in _OWN_KEYS},
        CONF_MODEL: form[CONF_MODEL].strip(),
        CONF_LLM_HASS_API: form.get(CONF_LLM_HASS_API, []),
        CONF_PROMPT: form.get(CONF_PROMPT, ""),
        **({CONF_FALLBACKS: list(fallbacks)} if fallbacks else {}),
        **typed_options(kind, sections_of(kind), form),
    }
