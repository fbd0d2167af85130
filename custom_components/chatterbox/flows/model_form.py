"""The fields, checks and flow that conversation agents and AI tasks share."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, override

import voluptuous as vol
from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.config_entries import SOURCE_USER, ConfigSubentryFlow, SubentryFlowResult
from homeassistant.const import CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import section
from homeassistant.exceptions import TemplateError
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.helpers.selector import (
    BooleanSelector,
    EntitySelector,
    EntitySelectorConfig,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    ObjectSelector,
    SelectOptionDict,
    Selector,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TemplateSelector,
    TextSelector,
)
from homeassistant.helpers.template import Template

from ..agent.errors import ProviderError, ProviderRejectedRequest
from ..const import (
    CONF_CHECK_ACTIONS,
    CONF_COMPACT_HOME,
    CONF_CONFIRMATION,
    CONF_EXTRA_PARAMETERS,
    CONF_FALLBACKS,
    CONF_KEEP_HISTORY,
    CONF_KIND,
    CONF_NUM_CTX,
    CONF_REASONING_EFFORT,
    CONF_REMEMBER_FACTS,
    CONF_SEARCH_HISTORY,
    CONF_SERVICE_TIER,
    CONF_SUMMARY,
    CONF_VERBOSITY,
    CONF_WHEN_SPENT,
    DOMAIN,
    LOGGER,
    SCRIPT_DOMAIN,
    ServiceKind,
)
from ..runtime.composition import REASONING_EFFORTS, SERVICE_TIERS, VERBOSITIES, known_server, model_server
from ..runtime.models import offered_models
from ..settings.agent import SUMMARIES, AgentSettings, Confirmation, WhenSpent
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
    set_options,
    value_of,
)
from ..speech.sentences import async_get_sentences, error_key
from ..usage.prices import FREE, ModelPrice, async_known_price, entered_price

_CHOICES: Final[Mapping[str, Sequence[str]]] = {
    CONF_REASONING_EFFORT: REASONING_EFFORTS,
    CONF_VERBOSITY: VERBOSITIES,
    CONF_SERVICE_TIER: SERVICE_TIERS,
    CONF_CONFIRMATION: tuple(Confirmation),
    CONF_WHEN_SPENT: tuple(WhenSpent),
}


class ModelFlow(ConfigSubentryFlow):
    """The flow of a subentry that has a model."""

    def __init__(self) -> None:
        """Start with nothing stored."""
        self._name = ""
        self._stored: Mapping[str, Any] = {}
        self._models: list[str] = []
        self._known_price = ""
        """The known price of the model, as text."""
        self._absent_source = "{source}"
        """The label of a tool source that does not exist at the moment."""

    @property
    def _kind(self) -> ServiceKind:
        return ServiceKind(self._get_entry().data[CONF_KIND])

    async def _async_prepare_form(self, settings: AgentSettings) -> None:
        """Load what the form shows: the models of the server, and the known price of this one."""
        service = self._get_entry().data
        sentences = await async_get_sentences(self.hass, self.hass.config.language)
        self._absent_source = sentences["source_absent"]
        known = await async_known_price(self.hass, service, known_server(service), settings)
        self._known_price = price_words(sentences, settings.model, known)
        try:
            self._models = await offered_models(model_server(self.hass, service))
        except ProviderError as error:
            # Everything but the model can be changed while the server is down.
            LOGGER.debug("The server lists no models: %s", error)

    def _find_typos(
        self, form: Mapping[str, Any], sections: Collection[str], fallbacks: Sequence[str] | None
    ) -> list[Problem]:
        """Return the problems that need no server to find. `fallbacks` is None if one of them is unknown."""
        problems: list[Problem] = []
        if not form[CONF_NAME].strip():
            problems.append(Problem(CONF_NAME, "name_missing", {}))
        if not form[CONF_MODEL].strip():
            problems.append(Problem(CONF_MODEL, "model_missing", {}))
        try:
            Template(form.get(CONF_PROMPT, ""), self.hass).ensure_valid()
        except TemplateError as error:
            problems.append(Problem(CONF_PROMPT, "invalid_template", {"problem": str(error)}))
        problems += find_problems({place: form[place] for place in sections})
        return problems if fallbacks is not None else [*problems, Problem(CONF_FALLBACKS, "fallback_unknown", {})]

    async def _async_try(self, settings: AgentSettings, stored: AgentSettings) -> list[Problem]:
        """Return the problems of complete settings. The model is tried, unless it is used like that already."""
        service = self._get_entry().data
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
            LOGGER.debug("The model cannot be used: %s", error)
            has_options = not asks_alike(settings, AgentSettings(settings.model))
            if isinstance(error, ProviderRejectedRequest) and has_options:
                return [Problem(SECTION_MODEL_OPTIONS, "options_refused", {"refusal": str(error)})]
            return [Problem(CONF_MODEL, error_key(error), {})]
        return []

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


def errors_of(problems: Iterable[Problem]) -> dict[str, str]:
    """Return the first error of each field."""
    return {problem.place: problem.key for problem in reversed([*problems])}


# The flow checks these values itself, so that errors are translated and no input is lost.
class _UncheckedTemplateSelector(TemplateSelector):
    @override
    def __call__(self, data: Any) -> str:
        text: str = vol.Schema(str)(data)
        return text


class _UncheckedNumberSelector(NumberSelector):
    @override
    def __call__(self, data: Any) -> float:
        number: float = vol.Coerce(float)(data)
        return number


class _UncheckedEntitySelector(EntitySelector):
    @override
    def __call__(self, data: Any) -> list[str]:
        entities: list[str] = vol.Schema([str])(data)
        return entities


def possible_fallbacks(hass: HomeAssistant, own_id: str | None) -> Mapping[str, str]:
    """Return the entity IDs of all agents that have a model except `own_id`, by subentry ID."""
    registry = er.async_get(hass)
    return {
        entity.unique_id: entity.entity_id
        for entry in hass.config_entries.async_entries(DOMAIN)
        if entry.data[CONF_KIND] != ServiceKind.OFFLINE
        for entity in er.async_entries_for_config_entry(registry, entry.entry_id)
        if entity.domain == CONVERSATION_DOMAIN and entity.unique_id in entry.subentries and entity.unique_id != own_id
    }


def fallback_ids(possible: Mapping[str, str], entity_ids: Iterable[str]) -> list[str] | None:
    """Return the subentry IDs of entities in order, without duplicates; None if one is not in `possible`."""
    agents = {entity_id: agent_id for agent_id, entity_id in possible.items()}
    chosen = list(dict.fromkeys(entity_ids))
    return [agents[entity_id] for entity_id in chosen] if all(chosen_id in agents for chosen_id in chosen) else None


def tool_sources(hass: HomeAssistant, chosen: Collection[str], absent: str) -> Mapping[str, str]:
    """Return the names of all LLM APIs, and of those that an agent has `chosen`, by ID.

    `absent` is the label of one that does not exist at the moment, with a placeholder for its ID.
    """
    there = {api.id: api.name for api in llm.async_get_apis(hass)}
    return there | {api_id: absent.format(source=api_id) for api_id in chosen if api_id not in there}


def section_fields(
    sections: Mapping[str, Sequence[str]], opened: Collection[str], titles: Mapping[str, str]
) -> dict[vol.Marker, section]:
    """Return the sections with the fields of their options. The sections in `opened` are expanded."""
    selectors = {CONF_SUMMARY: _summary_selector(titles)}
    return {
        vol.Required(name): section(
            vol.Schema({vol.Optional(option): selectors.get(option) or _selector(option) for option in options}),
            {"collapsed": name not in opened},
        )
        for name, options in sections.items()
    }


def tool_source_selector(sources: Mapping[str, str]) -> SelectSelector:
    """Return the field for tool sources."""
    apis = [SelectOptionDict(value=api_id, label=name) for api_id, name in sources.items()]
    return SelectSelector(SelectSelectorConfig(options=apis, multiple=True))


def prompt_selector() -> TemplateSelector:
    """Return the field for instructions."""
    return _UncheckedTemplateSelector()


def fallback_selector(fallbacks: Mapping[str, str]) -> EntitySelector:
    """Return the field for fallback agents."""
    others = EntitySelectorConfig(include_entities=list(fallbacks.values()), multiple=True, reorder=True)
    return _UncheckedEntitySelector(others)


def _summary_selector(titles: Mapping[str, str]) -> SelectSelector:
    """Return the field for the model that writes summaries; the titles of agents are not translated."""
    known = [SelectOptionDict(value=choice, label=choice) for choice in SUMMARIES]
    others = [SelectOptionDict(value=agent_id, label=title) for agent_id, title in titles.items()]
    mode = SelectSelectorMode.DROPDOWN
    return SelectSelector(SelectSelectorConfig(options=known + others, mode=mode, translation_key=CONF_SUMMARY))


def model_selector(models: Sequence[str]) -> SelectSelector | TextSelector:
    """Return the field for a model: the list of the server with free input, or plain text without a list."""
    if not models:
        return TextSelector()
    return SelectSelector(
        SelectSelectorConfig(options=list(models), mode=SelectSelectorMode.DROPDOWN, custom_value=True)
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
    if option == CONF_SUMMARY:
        return value if value in SUMMARIES or value in others else None
    return value if option not in _CHOICES or value in _CHOICES[option] else None


def typed_options(kind: ServiceKind, sections: Collection[str], form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a form as they are stored. Empty ones are left out."""
    options = {
        option: int(value) if option in NUMBERS and NUMBERS[option].step == 1 else value
        for place in sections
        for option, value in set_options(form[place])
    }
    if kind is ServiceKind.OLLAMA_CHAT:
        options.setdefault(CONF_NUM_CTX, None)  # empty is a choice here: the default of the server
    return options


def number_selector(number: NumberOption) -> NumberSelector:
    """Return the field of a number. It accepts numbers out of range, so that the flow can name the problem."""
    bounds = NumberSelectorConfig(min=number.least, max=number.most, step=number.step, mode=NumberSelectorMode.BOX)
    unit = NumberSelectorConfig(unit_of_measurement=number.unit, translation_key="number")
    return _UncheckedNumberSelector(bounds | unit if number.unit else bounds)


def _selector(option: str) -> Selector[Any]:
    if option in NUMBERS:
        return number_selector(NUMBERS[option])
    if option in _CHOICES:
        options = list(_CHOICES[option])
        return SelectSelector(
            SelectSelectorConfig(options=options, mode=SelectSelectorMode.DROPDOWN, translation_key=option)
        )
    if option in SCRIPTS:
        return EntitySelector(EntitySelectorConfig(domain=SCRIPT_DOMAIN))
    selectors: Mapping[str, Selector[Any]] = {
        CONF_CHECK_ACTIONS: BooleanSelector(),
        CONF_COMPACT_HOME: BooleanSelector(),
        CONF_KEEP_HISTORY: BooleanSelector(),
        CONF_EXTRA_PARAMETERS: ObjectSelector(),
        CONF_REMEMBER_FACTS: BooleanSelector(),
        CONF_SEARCH_HISTORY: BooleanSelector(),
    }
    return selectors[option]


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
