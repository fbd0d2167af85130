"""The subentry flow of what has a model: an AI task, and what a conversation agent has in common with one."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, override

import voluptuous as vol
from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.config_entries import SOURCE_USER, ConfigEntryState, ConfigSubentryFlow, SubentryFlowResult
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.data_entry_flow import section
from homeassistant.exceptions import TemplateError
from homeassistant.helpers import entity_registry as er, selector
from homeassistant.helpers.template import Template

from .. import const
from ..agent.errors import ProviderError, ProviderRejectedRequest
from ..runtime.composition import REASONING_EFFORTS, SERVICE_TIERS, VERBOSITIES, known_server, model_server
from ..runtime.models import offered_models
from ..settings.agent import SUMMARIES, AgentSettings, Confirmation, WhenSpent, settings_of
from ..settings.options import (
    NUMBERS,
    SCRIPTS,
    SECTION_COSTS,
    SECTION_MODEL_OPTIONS,
    NumberOption,
    Problem,
    asks_alike,
    find_late_deadlines,
    find_problems,
    new_agent_data,
    sections_of,
    set_options,
    value_of,
)
from ..settings.tasks import DRAWING_KINDS, image_model_of, new_task_data, task_sections_of, task_settings_of
from ..speech.sentences import async_get_sentences, error_key
from ..tools.llm_apis import source_names
from ..usage.prices import FREE, ModelPrice, async_known_price, entered_price

_AUTOMATION_DOMAIN: Final = "automation"
_CHOICES: Final[Mapping[str, Sequence[str]]] = {
    const.CONF_REASONING_EFFORT: REASONING_EFFORTS,
    const.CONF_VERBOSITY: VERBOSITIES,
    const.CONF_SERVICE_TIER: SERVICE_TIERS,
    const.CONF_CONFIRMATION: tuple(Confirmation),
    const.CONF_WHEN_SPENT: tuple(WhenSpent),
}


def errors_of(problems: Iterable[Problem]) -> dict[str, str]:
    """Return the first error of each field."""
    return {problem.place: problem.key for problem in reversed([*problems])}


# The flow checks these values itself, so that errors are translated and no input is lost.
class _UncheckedTemplateSelector(selector.TemplateSelector):
    @override
    def __call__(self, data: Any) -> str:
        text: str = vol.Schema(str)(data)
        return text


class _UncheckedNumberSelector(selector.NumberSelector):
    @override
    def __call__(self, data: Any) -> float:
        number: float = vol.Coerce(float)(data)
        return number


class _UncheckedEntitySelector(selector.EntitySelector):
    @override
    def __call__(self, data: Any) -> list[str]:
        entities: list[str] = vol.Schema([str])(data)
        return entities


def section_fields(
    sections: Mapping[str, Sequence[str]], opened: Collection[str], titles: Mapping[str, str]
) -> dict[vol.Marker, section]:
    """Return the sections with the fields of their options. The sections in `opened` are expanded."""
    selectors = {const.CONF_SUMMARY: _summary_selector(titles)}
    return {
        vol.Required(name): section(
            vol.Schema({vol.Optional(option): selectors.get(option) or _selector(option) for option in options}),
            {"collapsed": name not in opened},
        )
        for name, options in sections.items()
    }


def _summary_selector(titles: Mapping[str, str]) -> selector.SelectSelector:
    """Return the field for the model that writes summaries; the titles of agents are not translated."""
    known = [selector.SelectOptionDict(value=choice, label=choice) for choice in SUMMARIES]
    others = [selector.SelectOptionDict(value=agent_id, label=title) for agent_id, title in titles.items()]
    mode = selector.SelectSelectorMode.DROPDOWN
    return selector.SelectSelector(
        selector.SelectSelectorConfig(options=known + others, mode=mode, translation_key=const.CONF_SUMMARY)
    )


def model_selector(models: Sequence[str]) -> selector.SelectSelector | selector.TextSelector:
    """Return the field for a model: the list of the server with free input, or plain text without a list."""
    if not models:
        return selector.TextSelector()
    return selector.SelectSelector(
        selector.SelectSelectorConfig(
            options=list(models), mode=selector.SelectSelectorMode.DROPDOWN, custom_value=True
        )
    )


def only_model(models: Sequence[str]) -> str:
    """Return the model of a server that has only one, else an empty string."""
    return models[0] if len(models) == 1 else ""


def model_title(model: str) -> str:
    """Return the name of a model as a title: without folders and file extension."""
    return model.rstrip("/").rpartition("/")[2].removesuffix(".gguf") or model


def sections_as_form(
    sections: Mapping[str, Sequence[str]], settings: AgentSettings, others: Collection[str] = ()
) -> dict[str, dict[str, Any]]:
    """Return the set options as form values, by section."""
    return {
        place: dict(set_options({option: _shown(option, value_of(settings, option), others) for option in options}))
        for place, options in sections.items()
    }


def _shown(option: str, value: Any, others: Collection[str]) -> Any:
    """Return a value, unless it is a choice that does not exist any more."""
    if option == const.CONF_SUMMARY:
        return value if value in SUMMARIES or value in others else None
    return value if option not in _CHOICES or value in _CHOICES[option] else None


def typed_options(kind: const.ServiceKind, sections: Collection[str], form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a form as they are stored. Empty ones are left out."""
    options = {
        option: int(value) if option in NUMBERS and NUMBERS[option].step == 1 else value
        for place in sections
        for option, value in set_options(form[place])
    }
    if kind is const.ServiceKind.OLLAMA_CHAT:
        options.setdefault(const.CONF_NUM_CTX, None)  # empty is a choice here: the default of the server
    return options


def number_selector(number: NumberOption) -> selector.NumberSelector:
    """Return the field of a number. It accepts numbers out of range, so that the flow can name the problem."""
    bounds = selector.NumberSelectorConfig(
        min=number.least, max=number.most, step=number.step, mode=selector.NumberSelectorMode.BOX
    )
    unit = selector.NumberSelectorConfig(unit_of_measurement=number.unit, translation_key="number")
    return _UncheckedNumberSelector(bounds | unit if number.unit else bounds)


def _selector(option: str) -> selector.Selector[Any]:
    if option in NUMBERS:
        return number_selector(NUMBERS[option])
    if option in _CHOICES:
        options = list(_CHOICES[option])
        return selector.SelectSelector(
            selector.SelectSelectorConfig(
                options=options, mode=selector.SelectSelectorMode.DROPDOWN, translation_key=option
            )
        )
    if option in SCRIPTS:
        return selector.EntitySelector(selector.EntitySelectorConfig(domain=const.SCRIPT_DOMAIN))
    return selector.ObjectSelector() if option == const.CONF_EXTRA_PARAMETERS else selector.BooleanSelector()


def price_words(sentences: Mapping[str, str], model: str, known: ModelPrice | None) -> str:
    """Return a sentence about the known price of a model; `model` is empty before one was chosen."""
    match known:
        case ModelPrice(usual=rates) if rates == FREE:
            return sentences["price_free"]
        case ModelPrice(usual=rates) if model:
            numbers = {"input": rates.input, "cached": rates.cached, "output": rates.output}
            return sentences["price_known"].format(model=model, **{name: f"{one:g}" for name, one in numbers.items()})
        case _ if model:
            return sentences["price_unknown"].format(model=model)
        case _:
            return sentences["price_of_no_model"]


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
        self._admin_source = "{source}"
        """The label of a tool source for administrators."""

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
        self._absent_source, self._admin_source = sentences["source_absent"], sentences["source_admin"]
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
        callers = selector.EntitySelectorConfig(domain=[_AUTOMATION_DOMAIN, const.SCRIPT_DOMAIN], multiple=True)
        agents = selector.EntitySelectorConfig(include_entities=list(fallbacks.values()), multiple=True, reorder=True)
        selectors: Mapping[str, selector.Selector[Any]] = {
            CONF_LLM_HASS_API: self._tool_source_selector(),
            const.CONF_TRUSTED_CALLERS: selector.EntitySelector(callers),
            CONF_PROMPT: _UncheckedTemplateSelector(),
            const.CONF_FALLBACKS: _UncheckedEntitySelector(agents),
            const.CONF_IMAGE_MODEL: model_selector(self._models),
        }
        schema = vol.Schema(
            {
                vol.Required(CONF_NAME): selector.TextSelector(),
                **({vol.Required(CONF_MODEL): model_selector(self._models)} if CONF_MODEL in self._shown else {}),
                **{vol.Optional(name): field for name, field in selectors.items() if name in self._shown},
                **section_fields(self._sections, errors_of(problems), self._titles_of(fallbacks)),
            }
        )
        return self._show_form(self._step, schema, form, problems, known_price=self._known_price)

    def _tool_source_selector(self) -> selector.SelectSelector:
        """Return the field for all LLM APIs, and for those that are chosen."""
        there = source_names(self.hass, self._admin_source)
        chosen = self.form.settings_of(self._stored).llm_apis
        absent = {api_id: self._absent_source.format(source=api_id) for api_id in chosen if api_id not in there}
        apis = [selector.SelectOptionDict(value=api_id, label=name) for api_id, name in (there | absent).items()]
        return selector.SelectSelector(selector.SelectSelectorConfig(options=apis, multiple=True))

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
