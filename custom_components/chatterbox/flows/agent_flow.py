"""The dialogs that add and change a conversation agent: one subentry each.

Knows the walk through the dialogs. Must not know what can be set (`settings/options.py`), what the forms look like
(`flows/agent_form.py`, `flows/approval_form.py`), how a server is asked (`runtime/service_check.py`), what rules mean
(`flows/approval_page.py`), or any sentence (`translations/`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from homeassistant.config_entries import (
    SOURCE_USER,
    ConfigEntryState,
    ConfigSubentryFlow,
    SubentryFlowResult,
)
from homeassistant.const import CONF_MODEL, CONF_NAME

from ..agent.consent.pin import PinHash, flaw_of_pin
from ..agent.errors import ProviderError
from ..const import CONF_FALLBACKS, CONF_KIND, CONF_PIN, LOGGER, ServiceKind
from ..runtime.composition import model_server
from ..runtime.service_check import offered_models
from ..settings.agent import settings_of
from ..settings.options import Problem, find_late_deadlines, find_problems, new_agent_data, sections_of
from ..speech.sentences import async_get_sentences
from .agent_form import (
    agent_schema,
    as_data,
    as_form,
    fallback_ids,
    offline_agent_schema,
    offline_as_data,
    offline_as_form,
    only_model,
    possible_fallbacks,
    titles_of,
    tool_sources,
)
from .approval_form import (
    APPROVAL_KEYS,
    approval_schema,
    approvals_as_form,
    read_approvals,
    shown_pin,
    typed_pin,
    without_pin,
)
from .approval_page import HousePage
from .model_trial import async_find_gaps, async_find_idle_budget, async_price_words, async_try_model
from .rule_words import RuleWords, async_get_rule_words


class ConversationAgentFlow(ConfigSubentryFlow):
    """From "Add conversation agent", or from an agent's own menu, to what is stored of it."""

    def __init__(self) -> None:
        """Start with an agent that has nothing."""
        self._name = ""
        self._stored: dict[str, Any] = {}
        self._models: list[str] = []
        self._absent = "{source}"
        """How a source of tools is called that is not there."""
        self._known_price = ""
        """What is known of the price of the model, in words."""
        self._approvals: dict[str, Any] = {}
        """What would be stored of approvals if it was saved now."""
        self._pin: PinHash | None = None
        """The PIN, as it would be stored."""
        self._words: RuleWords | None = None

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing was asked yet
        """Begin a new agent, with its settings."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        sentences = await async_get_sentences(self.hass, self.hass.config.language)
        self._name, self._stored = sentences["agent_title"], new_agent_data(self._kind)
        if self._kind is ServiceKind.OFFLINE:
            return await self.async_step_offline_agent()
        return await self.async_step_agent()

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing was asked yet
        """Ask what is to be changed of an agent that exists."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        agent = self._get_reconfigure_subentry()
        self._name, self._stored = agent.title, dict(agent.data)
        self._approvals = {key: value for key, value in agent.data.items() if key in APPROVAL_KEYS}
        self._pin = settings_of(self._approvals).pin
        settings = "offline_agent" if self._kind is ServiceKind.OFFLINE else "agent"
        return self.async_show_menu(
            menu_options=[settings, "approvals"], description_placeholders={"agent": agent.title}
        )

    async def async_step_agent(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for everything that a model's agent has, and try the model if it would be asked in another way."""
        fallbacks = possible_fallbacks(self.hass, self._own_id)
        if user_input is None:
            await self._async_list_models()
            form = as_form(self._kind, self._name, settings_of(self._stored), fallbacks)
            return self._show_agent(form | {CONF_MODEL: form[CONF_MODEL] or only_model(self._models)}, fallbacks)
        stand_ins = fallback_ids(fallbacks, user_input.get(CONF_FALLBACKS, ()))
        problems = async_find_gaps(self.hass, user_input)
        problems += find_problems({place: user_input[place] for place in sections_of(self._kind)})
        if stand_ins is None:
            problems.append(Problem(CONF_FALLBACKS, "fallback_unknown", {}))
        if problems:
            return self._show_agent(user_input, fallbacks, problems)
        data = as_data(self._kind, user_input, stand_ins or (), self._present)
        settings = settings_of(data)
        problems = (
            find_late_deadlines(settings)
            or await async_find_idle_budget(self.hass, self._get_entry().data, settings)
            or await async_try_model(self.hass, self._get_entry().data, settings, settings_of(self._stored))
        )
        if problems:
            return self._show_agent(user_input, fallbacks, problems)
        return self._save(user_input[CONF_NAME], data)

    async def async_step_offline_agent(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for what an agent has that needs no model."""
        form = offline_as_form(self._name, settings_of(self._stored)) if user_input is None else user_input
        problems = [] if user_input is None else self._offline_problems(form)
        if user_input is not None and not problems:
            return self._save(user_input[CONF_NAME], offline_as_data(user_input, self._present))
        errors = {problem.place: problem.key for problem in reversed(problems)}
        placeholders = {name: text for problem in problems for name, text in problem.placeholders.items()}
        schema = self.add_suggested_values_to_schema(offline_agent_schema(opened=errors), form)
        return self.async_show_form(
            step_id="offline_agent", data_schema=schema, errors=errors, description_placeholders=placeholders
        )

    async def async_step_approvals(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask what needs a yes, and show what that would mean."""
        words = await self._async_words()
        if user_input is None:
            return self._show_approvals(words, approvals_as_form(settings_of(self._approvals), words))
        problems = await self._async_take_pin(user_input)
        found = read_approvals(user_input, words, has_pin=self._pin is not None)
        if isinstance(found, list) or problems:
            problems += found if isinstance(found, list) else []
            return self._show_approvals(words, without_pin(user_input), problems)
        self._approvals = {**found, **({CONF_PIN: self._pin.as_json()} if self._pin else {})}
        return await self.async_step_house()

    async def async_step_house(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing is asked
        """Show what would be saved."""
        page = HousePage.of(self.hass, settings_of(self._approvals).policy, await self._async_words())
        return self.async_show_menu(
            step_id="house",
            menu_options=["save_approvals", "approvals"],
            description_placeholders={**page.numbers, "table": page.markdown},
        )

    async def async_step_save_approvals(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing is asked
        """Store what needs a yes."""
        others = {key: value for key, value in self._present.items() if key not in APPROVAL_KEYS}
        return self._save(self._name, others | self._approvals)

    @property
    def _present(self) -> Mapping[str, Any]:
        """What is stored by now, perhaps by another dialog."""
        return self._stored if self.source == SOURCE_USER else self._get_reconfigure_subentry().data

    @property
    def _own_id(self) -> str | None:
        return None if self.source == SOURCE_USER else self._get_reconfigure_subentry().subentry_id

    @property
    def _kind(self) -> ServiceKind:
        return ServiceKind(self._get_entry().data[CONF_KIND])

    async def _async_words(self) -> RuleWords:
        if self._words is None:
            self._words = await async_get_rule_words(self.hass, self._kind, settings_of(self._stored))
        return self._words

    async def _async_list_models(self) -> None:
        sentences, settings = await async_get_sentences(self.hass, self.hass.config.language), settings_of(self._stored)
        self._absent = sentences["source_absent"]
        self._known_price = await async_price_words(self.hass, self._get_entry().data, settings, sentences)
        try:
            self._models = await offered_models(model_server(self.hass, self._get_entry().data))
        except ProviderError as error:
            # Everything but the model can be changed while the server is down.
            LOGGER.debug("The server lists no models: %s", error)

    def _show_agent(
        self, form: Mapping[str, Any], fallbacks: Mapping[str, str], problems: Sequence[Problem] = ()
    ) -> SubentryFlowResult:
        errors = {problem.place: problem.key for problem in reversed(problems)}  # the first of a place is told
        sources = tool_sources(self.hass, settings_of(self._stored).llm_apis, self._absent)
        titles = titles_of(self.hass, fallbacks)
        schema = agent_schema(sources, self._kind, self._models, fallbacks, titles=titles, opened=errors)
        placeholders = {name: text for problem in problems for name, text in problem.placeholders.items()}
        placeholders["known_price"] = self._known_price
        return self.async_show_form(
            step_id="agent",
            data_schema=self.add_suggested_values_to_schema(schema, form),
            errors=errors,
            description_placeholders=placeholders,
        )

    def _show_approvals(
        self, words: RuleWords, form: Mapping[str, Any], problems: Sequence[Problem] = ()
    ) -> SubentryFlowResult:
        errors = {problem.place: problem.key for problem in reversed(problems)}
        placeholders = {name: text for problem in problems for name, text in problem.placeholders.items()}
        numbers = HousePage.of(self.hass, settings_of(self._approvals).policy, words).numbers
        return self.async_show_form(
            step_id="approvals",
            data_schema=self.add_suggested_values_to_schema(
                approval_schema(words, opened=errors), {**form, **shown_pin(self._pin)}
            ),
            errors=errors,
            description_placeholders=placeholders | numbers,
        )

    async def _async_take_pin(self, form: Mapping[str, Any]) -> list[Problem]:
        """Keep what the form says of the PIN: the present one, another, or none; unless it cannot be one."""
        typed = typed_pin(form, self._pin)
        if isinstance(typed, str):
            if flaw := flaw_of_pin(typed):
                return [Problem(CONF_PIN, f"pin_{flaw}", {})]
            typed = await self.hass.async_add_executor_job(PinHash.of, typed)
        self._pin = typed
        return []

    def _offline_problems(self, form: Mapping[str, Any]) -> list[Problem]:
        problems = [] if form[CONF_NAME].strip() else [Problem(CONF_NAME, "name_missing", {})]
        return problems + find_problems({place: form[place] for place in sections_of(ServiceKind.OFFLINE)})

    def _save(self, name: str, data: Mapping[str, Any]) -> SubentryFlowResult:
        if self.source == SOURCE_USER:
            return self.async_create_entry(title=name.strip(), data=data)
        return self.async_update_and_abort(
            self._get_entry(), self._get_reconfigure_subentry(), title=name.strip(), data=data
        )
