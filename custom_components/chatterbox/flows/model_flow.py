"""The subentry flow of what has a model: an AI task, and what a conversation agent has in common with one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import voluptuous as vol
from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.config_entries import SOURCE_USER, ConfigEntryState, ConfigSubentryFlow, SubentryFlowResult
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.exceptions import TemplateError
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.helpers.selector import EntitySelector, EntitySelectorConfig, Selector, TextSelector
from homeassistant.helpers.template import Template

from .. import const
from ..agent.errors import ProviderError, ProviderRejectedRequest
from ..runtime.composition import known_server, model_server
from ..runtime.models import offered_models
from ..settings.agent import AgentSettings, settings_of
from ..settings.options import (
    SECTION_COSTS,
    SECTION_MODEL_OPTIONS,
    Problem,
    asks_alike,
    find_late_deadlines,
    find_problems,
    new_agent_data,
    sections_of,
)
from ..settings.tasks import DRAWING_KINDS, image_model_of, new_task_data, task_sections_of, task_settings_of
from ..speech.sentences import async_get_sentences, error_key
from ..usage.prices import async_known_price, entered_price
from .model_form import (
    UncheckedEntitySelector,
    UncheckedTemplateSelector,
    errors_of,
    model_selector,
    only_model,
    price_words,
    section_fields,
    sections_as_form,
    tool_source_selector,
    typed_options,
)

_AUTOMATION_DOMAIN: Final = "automation"


@dataclass(frozen=True, slots=True)
class _Form:
    """Of the form for the settings, what depends on the type of the subentry."""

    step: str
    """ID of its step."""
    title_key: str
    """Key of the name of a new subentry."""
    fields: frozenset[str]
    """The fields above the sections."""
    sections_of: Callable[[const.ServiceKind], Mapping[str, tuple[str, ...]]]
    settings_of: Callable[[Mapping[str, Any]], AgentSettings]
    new_data: Callable[[const.ServiceKind], dict[str, Any]]


_FIELDS: Final = frozenset({CONF_MODEL, CONF_LLM_HASS_API, CONF_PROMPT, const.CONF_FALLBACKS})
_AGENT: Final = _Form("agent", "agent_title", _FIELDS, sections_of, settings_of, new_agent_data)
_TASK: Final = _Form(
    "task",
    "ai_task_title",
    _FIELDS | {const.CONF_IMAGE_MODEL, const.CONF_TRUSTED_CALLERS},
    task_sections_of,
    task_settings_of,
    lambda _: new_task_data(),
)


class ModelFlow(ConfigSubentryFlow):
    """Adds or changes a subentry that has a model."""

    form: ClassVar[_Form] = _AGENT

    def __init__(self) -> None:
        """Start with nothing stored."""
        self._name = ""
        self._stored: Mapping[str, Any] = {}
        self._models: list[str] = []
        self._known_price = ""
        """The known price of the model, as text."""
        self._absent_source = "{source}"
        """The label of a tool source that does not exist at the moment."""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing was asked yet
        """Start a new one with its settings."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        sentences = await async_get_sentences(self.hass, self.hass.config.language)
        self._name, self._stored = sentences[self.form.title_key], self.form.new_data(self._kind)
        return await self._async_begin()

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing was asked yet
        """Start with what is stored."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        subentry = self._get_reconfigure_subentry()
        self._name, self._stored = subentry.title, subentry.data
        return await self._async_begin()

    async def _async_begin(self) -> SubentryFlowResult:
        return await self._async_ask_settings()

    @property
    def _kind(self) -> const.ServiceKind:
        return const.ServiceKind(self._get_entry().data[const.CONF_KIND])

    @property
    def _step(self) -> str:
        """The ID of the step that asks for the settings."""
        return "offline_agent" if self._kind is const.ServiceKind.OFFLINE else self.form.step

    @property
    def _sections(self) -> Mapping[str, tuple[str, ...]]:
        return self.form.sections_of(self._kind)

    @property
    def _shown(self) -> frozenset[str]:
        """The fields above the sections that this kind of service has."""
        if self._kind is const.ServiceKind.OFFLINE:
            return frozenset()
        return self.form.fields if self._kind in DRAWING_KINDS else self.form.fields - {const.CONF_IMAGE_MODEL}

    @property
    def _present(self) -> Mapping[str, Any]:
        """The stored data, which another dialog may have changed meanwhile."""
        return self._stored if self.source == SOURCE_USER else self._get_reconfigure_subentry().data

    async def _async_ask_settings(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for the settings, and try the model."""
        fallbacks = self._possible_fallbacks()
        if user_input is None:
            await self._async_prepare_form(self.form.settings_of(self._stored))
            return self._show_settings(self._as_form(fallbacks), fallbacks)
        agent_ids = {entity_id: agent_id for agent_id, entity_id in fallbacks.items()}
        chosen = [agent_ids.get(entity_id, "") for entity_id in dict.fromkeys(user_input.get(const.CONF_FALLBACKS, ()))]
        if problems := self._find_typos(user_input, chosen):
            return self._show_settings(user_input, fallbacks, problems)
        data = self._as_data(user_input, chosen)
        if problems := await self._async_try(self.form.settings_of(data), self.form.settings_of(self._stored)):
            return self._show_settings(user_input, fallbacks, problems)
        return self._save(user_input[CONF_NAME], data)

    def _possible_fallbacks(self) -> Mapping[str, str]:
        """Return the entity IDs of all other agents that have a model, by subentry ID."""
        own_id = None if self.source == SOURCE_USER else self._get_reconfigure_subentry().subentry_id
        registry = er.async_get(self.hass)
        return {
            entity.unique_id: entity.entity_id
            for entry in self.hass.config_entries.async_entries(const.DOMAIN)
            if entry.data[const.CONF_KIND] != const.ServiceKind.OFFLINE
            for entity in er.async_entries_for_config_entry(registry, entry.entry_id)
            if entity.domain == CONVERSATION_DOMAIN and entity.unique_id in entry.subentries.keys() - {own_id}
        }

    async def _async_prepare_form(self, settings: AgentSettings) -> None:
        """Load what the form shows: the models of the server, and the known price of this one."""
        if self._kind is const.ServiceKind.OFFLINE:
            return
        service = self._get_entry().data
        sentences = await async_get_sentences(self.hass, self.hass.config.language)
        self._absent_source = sentences["source_absent"]
        known = await async_known_price(self.hass, service, known_server(service), settings)
        self._known_price = price_words(sentences, settings.model, known)
        try:
            self._models = await offered_models(model_server(self.hass, service))
        except ProviderError as error:
            # Everything but the model can be changed while the server is down.
            const.LOGGER.debug("The server lists no models: %s", error)

    def _find_typos(self, form: Mapping[str, Any], fallbacks: Sequence[str]) -> list[Problem]:
        """Return the problems that need no server to find. An unknown agent among `fallbacks` is an empty string."""
        problems: list[Problem] = []
        if not form[CONF_NAME].strip():
            problems.append(Problem(CONF_NAME, "name_missing", {}))
        if CONF_MODEL in self._shown and not form[CONF_MODEL].strip():
            problems.append(Problem(CONF_MODEL, "model_missing", {}))
        try:
            Template(form.get(CONF_PROMPT, ""), self.hass).ensure_valid()
        except TemplateError as error:
            problems.append(Problem(CONF_PROMPT, "invalid_template", {"problem": str(error)}))
        problems += find_problems({place: form[place] for place in self._sections})
        return problems if all(fallbacks) else [*problems, Problem(const.CONF_FALLBACKS, "fallback_unknown", {})]

    async def _async_try(self, settings: AgentSettings, stored: AgentSettings) -> list[Problem]:
        """Return the problems of complete settings. The model is tried, unless it is used like that already."""
        service = self._get_entry().data
        if self._kind is const.ServiceKind.OFFLINE:
            return []
        if problems := find_late_deadlines(settings):
            return problems
        if settings.budget_day is not None or settings.budget_month is not None:
            known = await async_known_price(self.hass, service, known_server(service), settings)
            if entered_price(settings, known) is None:
                return [Problem(SECTION_COSTS, "budget_without_price", {"model": settings.model})]
        if asks_alike(settings, stored):
            return []
        try:
            await model_server(self.hass, service, settings).check()
        except ProviderError as error:
            const.LOGGER.debug("The model cannot be used: %s", error)
            has_options = not asks_alike(settings, AgentSettings(settings.model))
            if isinstance(error, ProviderRejectedRequest) and has_options:
                return [Problem(SECTION_MODEL_OPTIONS, "options_refused", {"refusal": str(error)})]
            return [Problem(CONF_MODEL, error_key(error), {})]
        return []

    def _as_form(self, fallbacks: Mapping[str, str]) -> dict[str, Any]:
        """Return the stored data as form values, without agents that no longer exist."""
        settings, sections = self.form.settings_of(self._stored), self._sections
        values = {
            CONF_MODEL: settings.model or only_model(self._models),
            CONF_LLM_HASS_API: list(settings.llm_apis),
            const.CONF_TRUSTED_CALLERS: sorted(settings.trusted_callers),
            CONF_PROMPT: settings.prompt or "",
            const.CONF_FALLBACKS: [fallbacks[agent_id] for agent_id in settings.fallbacks if agent_id in fallbacks],
            const.CONF_IMAGE_MODEL: image_model_of(self._kind, self._stored) or None,
        }
        shown = {name: value for name, value in values.items() if name in self._shown and value is not None}
        return {CONF_NAME: self._name, **shown, **sections_as_form(sections, settings, fallbacks)}

    def _as_data(self, form: Mapping[str, Any], fallbacks: Sequence[str]) -> dict[str, Any]:
        """Return form values as they are stored, without empty ones. Keys that the form does not set are kept."""
        options = (names for kind in const.ServiceKind for names in self.form.sections_of(kind).values())
        own_keys = self.form.fields.union(*options)
        values = {
            CONF_MODEL: form.get(CONF_MODEL, "").strip(),
            CONF_LLM_HASS_API: form.get(CONF_LLM_HASS_API, []),
            const.CONF_TRUSTED_CALLERS: form.get(const.CONF_TRUSTED_CALLERS) or None,
            CONF_PROMPT: form.get(CONF_PROMPT, ""),
            const.CONF_FALLBACKS: fallbacks or None,
            const.CONF_IMAGE_MODEL: form.get(const.CONF_IMAGE_MODEL, "").strip() or None,
        }
        return {
            **{key: value for key, value in self._present.items() if key not in own_keys},
            **{key: value for key, value in values.items() if key in self._shown and value is not None},
            **typed_options(self._kind, self._sections, form),
        }

    def _show_settings(
        self, form: Mapping[str, Any], fallbacks: Mapping[str, str], problems: Sequence[Problem] = ()
    ) -> SubentryFlowResult:
        callers = EntitySelectorConfig(domain=[_AUTOMATION_DOMAIN, const.SCRIPT_DOMAIN], multiple=True)
        agents = EntitySelectorConfig(include_entities=list(fallbacks.values()), multiple=True, reorder=True)
        selectors: Mapping[str, Selector[Any]] = {
            CONF_LLM_HASS_API: tool_source_selector(self._tool_sources()),
            const.CONF_TRUSTED_CALLERS: EntitySelector(callers),
            CONF_PROMPT: UncheckedTemplateSelector(),
            const.CONF_FALLBACKS: UncheckedEntitySelector(agents),
            const.CONF_IMAGE_MODEL: model_selector(self._models),
        }
        schema = vol.Schema(
            {
                vol.Required(CONF_NAME): TextSelector(),
                **({vol.Required(CONF_MODEL): model_selector(self._models)} if CONF_MODEL in self._shown else {}),
                **{vol.Optional(name): field for name, field in selectors.items() if name in self._shown},
                **section_fields(self._sections, errors_of(problems), self._titles_of(fallbacks)),
            }
        )
        return self._show_form(self._step, schema, form, problems, known_price=self._known_price)

    def _tool_sources(self) -> Mapping[str, str]:
        """Return the names of all LLM APIs, and of those that are chosen, by ID."""
        there = {api.id: api.name for api in llm.async_get_apis(self.hass)}
        chosen = self.form.settings_of(self._stored).llm_apis
        absent = {api_id: self._absent_source.format(source=api_id) for api_id in chosen if api_id not in there}
        return there | absent

    def _titles_of(self, agent_ids: Iterable[str]) -> Mapping[str, str]:
        """Return the titles of agents with those of their services, since several agents may have the same title."""
        entries = self.hass.config_entries.async_entries(const.DOMAIN)
        return {
            agent_id: f"{entry.subentries[agent_id].title} ({entry.title})"
            for agent_id in agent_ids
            for entry in entries
            if agent_id in entry.subentries
        }

    def _show_form(
        self,
        step_id: str,
        schema: vol.Schema,
        form: Mapping[str, Any],
        problems: Iterable[Problem],
        **placeholders: str,
    ) -> SubentryFlowResult:
        named = {name: text for problem in problems for name, text in problem.placeholders.items()}
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(schema, form),
            errors=errors_of(problems),
            description_placeholders=named | placeholders,
        )

    def _save(self, name: str, data: Mapping[str, Any]) -> SubentryFlowResult:
        title = name.strip()
        if self.source == SOURCE_USER:
            return self.async_create_entry(title=title, data=data)
        return self.async_update_and_abort(self._get_entry(), self._get_reconfigure_subentry(), title=title, data=data)


class AITaskFlow(ModelFlow):
    """Adds or changes an AI task."""

    form = _TASK

    async def async_step_task(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for the settings, and try the model."""
        return await self._async_ask_settings(user_input)
