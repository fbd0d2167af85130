"""The subentry flow of agents and AI tasks: the forms Settings and Advanced, built from `settings/options.py`."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

import voluptuous as vol
from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.config_entries import (
    SOURCE_USER,
    ConfigEntryState,
    ConfigSubentryFlow,
    SubentryFlowResult,
)
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import section
from homeassistant.exceptions import TemplateError
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.helpers.selector import (
    BooleanSelector,
    EntitySelector,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    ObjectSelector,
    Selector,
    SelectSelector,
    TemplateSelector,
    TextSelector,
)
from homeassistant.helpers.template import Template

from ..agent.errors import ProviderError, ProviderRejectedRequest
from ..agent.protocols import ReasoningEffort, Verbosity
from ..agent.providers.http_provider import HTTPProvider
from ..agent.providers.profiles import ServiceTier
from ..agent.wire.model_lists import ChatModel, by_usefulness
from ..const import (
    CONF_BUDGET_DAY,
    CONF_BUDGET_MONTH,
    CONF_CONFIRMATION,
    CONF_CONTEXT_WINDOW,
    CONF_EXTRA_PARAMETERS,
    CONF_FALLBACKS,
    CONF_IMAGE_MODEL,
    CONF_KIND,
    CONF_LOCAL_COMMANDS,
    CONF_LOOK_TASK,
    CONF_MODEL_REQUESTS,
    CONF_NUM_CTX,
    CONF_REASONING_EFFORT,
    CONF_SERVICE_TIER,
    CONF_SUMMARY,
    CONF_VERBOSITY,
    CONF_WEB_SEARCH,
    CONF_WEB_SEARCH_ADDRESS,
    CONF_WEB_SEARCH_KEY,
    CONF_WHEN_SPENT,
    DOMAIN,
    LOGGER,
    SCRIPT_DOMAIN,
    ServiceKind,
)
from ..runtime.composition import (
    known_server,
    model_server,
    reads_free,
)
from ..runtime.models import offered_models
from ..settings.agent import (
    SUMMARIES,
    AgentSettings,
    Confirmation,
    EntryData,
    LocalCommands,
    RequestKind,
    WebSearch,
    WhenSpent,
    readable_entries,
    settings_of,
)
from ..settings.options import (
    ANSWERS,
    NUMBERS,
    SCRIPTS,
    SETTINGS,
    WEB,
    NumberOption,
    Problem,
    asks_alike,
    find_late_deadlines,
    find_problems,
    new_agent_data,
    options_of,
    set_options,
    value_of,
)
from ..settings.service_address import InvalidAddress, parse_address
from ..settings.tasks import image_model_of, new_task_data, task_settings_of
from ..speech.sentences import Sentences, async_get_sentences, error_key
from ..tools.llm_apis import source_names
from ..tools.own.search_web import async_search, search_problem
from ..usage.prices import async_known_price, entered_price
from ..usage.tracker import FREE, ModelPrice
from .dialog import (
    DROPDOWN,
    KNOWN_SECRET,
    FormInput,
    FormValues,
    Unchecked,
    async_free_title,
    async_placeholders,
    async_viewer_sentences,
    choice,
    labelled,
    marked,
    typed_secret,
)
from .service_checks import (
    MEASURED,
    ToolTrial,
    async_home_prompt,
    async_tight_window,
    measure,
    times_sentence,
    try_out,
)
from .service_form import PASSWORD

_CHOICES: Final = {
    CONF_REASONING_EFFORT: tuple(ReasoningEffort),
    CONF_VERBOSITY: tuple(Verbosity),
    CONF_SERVICE_TIER: tuple(ServiceTier),
    CONF_CONFIRMATION: tuple(Confirmation),
    CONF_WHEN_SPENT: tuple(WhenSpent),
    CONF_LOCAL_COMMANDS: tuple(LocalCommands),
    CONF_MODEL_REQUESTS: tuple(RequestKind),
    CONF_WEB_SEARCH: tuple(WebSearch),
}


class _UncheckedTemplateSelector(Unchecked, TemplateSelector):
    kind = vol.Schema(str)


class _UncheckedNumberSelector(Unchecked, NumberSelector):
    kind = vol.Schema(vol.Coerce(float))


class _UncheckedEntitySelector(Unchecked, EntitySelector):
    kind = vol.Schema([str])


def model_selector(
    models: Sequence[str],
) -> SelectSelector | TextSelector:
    """Return the field for a model: the list of the server with free input, or plain text without a list."""
    if not models:
        return TextSelector()
    names = [model.name for model in by_usefulness(map(ChatModel, models))]
    return choice(
        options=names,
        mode=DROPDOWN,
        custom_value=True,
    )


async def async_chat_model_selector(
    hass: HomeAssistant, service: EntryData, models: Sequence[ChatModel]
) -> Selector[Any]:
    """Return the field for a model, with what is known of each: its price, and whether it only talks."""
    if not models:
        return TextSelector()
    sentences = await async_viewer_sentences(hass)
    labels: dict[str, str] = {}
    for model in models:
        price = await async_known_price(
            hass, service, known_server(service), AgentSettings(model.name)
        )
        if model.uses_tools is False:
            label = sentences["model_talks"].format(model=model.name)
        else:
            label = model.name
        if price is not None and price.usual != FREE:
            label += f" · ${price.usual.input:g} / ${price.usual.output:g}"
        labels[model.name] = label
    return choice(
        options=labelled(labels),
        mode=DROPDOWN,
        custom_value=True,
    )


def only_model(models: Sequence[str]) -> str:
    """Return the model of a server that has only one, else an empty string."""
    if len(models) == 1:
        return models[0]
    return ""


def model_title(model: str) -> str:
    """Return the name of a model as a title: without folders and file extension."""
    return model.rstrip("/").rpartition("/")[2].removesuffix(".gguf") or model


def typed_options(
    kind: ServiceKind, options: Collection[str], values: FormValues
) -> dict[str, Any]:
    """Return the values of a form as they are stored. Empty ones are left out."""
    stored = {
        option: int(value) if option in NUMBERS and NUMBERS[option].step == 1 else value
        for option, value in set_options(
            {option: values.get(option) for option in options}
        )
    }
    if CONF_NUM_CTX in options and kind is ServiceKind.OLLAMA_CHAT:
        stored.setdefault(
            CONF_NUM_CTX, None
        )  # empty is a choice here: the default of the server
    return stored


def number_selector(number: NumberOption) -> NumberSelector:
    """Return the field of a number. It accepts numbers out of range, so that the flow can name the problem."""
    bounds = NumberSelectorConfig(
        min=number.least,
        max=number.most,
        step=number.step,
        mode=NumberSelectorMode.BOX,
    )
    unit = NumberSelectorConfig(
        unit_of_measurement=number.unit, translation_key="number"
    )
    return _UncheckedNumberSelector(bounds | unit if number.unit else bounds)


_FIELDS: Final[Mapping[str, Selector[Any]]] = {
    **dict.fromkeys(
        SCRIPTS,
        EntitySelector({"domain": SCRIPT_DOMAIN}),
    ),
    CONF_LOOK_TASK: EntitySelector(
        {
            "filter": {
                "domain": "ai_task",
                "supported_features": [
                    "ai_task.AITaskEntityFeature.SUPPORT_ATTACHMENTS"
                ],
            }
        }
    ),
    CONF_PROMPT: _UncheckedTemplateSelector(),
    CONF_WEB_SEARCH_ADDRESS: TextSelector(),
    CONF_WEB_SEARCH_KEY: PASSWORD,
    CONF_EXTRA_PARAMETERS: ObjectSelector(),
}
"""Those that are neither numbers nor choices, nor know the agent; all others are switches."""


def _selector(option: str) -> Selector[Any]:
    if option in NUMBERS:
        return number_selector(NUMBERS[option])
    if option in _CHOICES:
        several = option == CONF_MODEL_REQUESTS
        return choice(
            options=list(_CHOICES[option]),
            mode=DROPDOWN,
            translation_key=option,
            multiple=several,
        )
    return _FIELDS.get(option, BooleanSelector())


def _find_search_typos(values: FormValues) -> list[Problem]:
    """Return the problem of what searches the web, if its address or its key is missing or invalid."""
    match values.get(CONF_WEB_SEARCH):
        case WebSearch.BRAVE if not values.get(CONF_WEB_SEARCH_KEY, "").strip():
            return [Problem(CONF_WEB_SEARCH_KEY, "search_key_missing")]
        case WebSearch.SEARXNG:
            try:
                parse_address(values.get(CONF_WEB_SEARCH_ADDRESS, ""))
            except InvalidAddress:
                place = CONF_WEB_SEARCH_ADDRESS
                return [Problem(place, "search_address_unfit")]
        case _:
            pass
    return []


def _has_other_window(
    settings: AgentSettings,
    stored: AgentSettings,
) -> bool:
    sizes = ((one.context_window, one.num_ctx) for one in (settings, stored))
    return len(set(sizes)) > 1


def price_words(sentences: Sentences, model: str, known: ModelPrice | None) -> str:
    """Return a sentence about the known price of a model; `model` is empty before one was chosen."""
    match known:
        case ModelPrice(usual=rates) if rates == FREE:
            return sentences["price_free"]
        case ModelPrice(usual=rates) if model:
            numbers = {
                "input": rates.input,
                "cached": rates.cached,
                "output": rates.output,
            }
            return sentences["price_known"].format(
                model=model, **{name: f"{one:g}" for name, one in numbers.items()}
            )
        case _ if model:
            return sentences["price_unknown"].format(model=model)
        case _:
            return sentences["price_of_no_model"]


class ModelFlow(ConfigSubentryFlow):
    """Adds or changes an agent, or in a subclass an AI task."""

    title_key = "agent_title"
    """Key of the name of a new subentry."""
    settings_of = staticmethod(settings_of)
    new_data: Callable[[ServiceKind], dict[str, Any]] = staticmethod(new_agent_data)
    extra_steps: ClassVar[tuple[str, ...]] = ()
    """The steps in the menu beside the two forms."""

    def __init__(self) -> None:
        """Start with nothing stored."""
        self._name = ""
        self._stored: EntryData = {}
        self._models: list[str] = []
        self._fallbacks: Mapping[str, str] = {}
        """Entity IDs of the agents that may be a fallback, by subentry ID."""
        self._sentences: Sentences = {}
        self._known_price = ""
        """The known price of the model, as text."""
        self._warned_of = ""
        """The warning that was shown last."""
        self._measured: dict[str, Any] = {}
        """The times of another model, and the timeouts that it needs."""

    async def async_step_user(
        self,
        user_input: FormInput = None,  # noqa: ARG002 nothing was asked yet
    ) -> SubentryFlowResult:
        """Start a new one with its settings."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        sentences = await async_get_sentences(self.hass)
        self._name = async_free_title(
            self.hass,
            sentences[self.title_key],
        )
        self._stored = self.new_data(self._kind)
        return await self.async_step_settings()

    async def async_step_reconfigure(
        self,
        user_input: FormInput = None,  # noqa: ARG002 nothing was asked yet
    ) -> SubentryFlowResult:
        """Ask what to change."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        subentry = self._get_reconfigure_subentry()
        self._name = subentry.title
        self._stored = subentry.data
        sentences = await async_viewer_sentences(self.hass)
        times = times_sentence(sentences, subentry.data)
        return self.async_show_menu(
            step_id="reconfigure",
            menu_options=[
                "settings",
                "advanced",
                *self.extra_steps,
            ],
            description_placeholders=await async_placeholders(
                self.hass, "reconfigure", agent=self._name, times=times
            ),
        )

    async def async_step_settings(
        self, user_input: FormInput = None
    ) -> SubentryFlowResult:
        """Ask for what every agent or task has to be told, and try the model."""
        return await self._async_ask("settings", user_input)

    async def async_step_advanced(
        self, user_input: FormInput = None
    ) -> SubentryFlowResult:
        """Ask for everything that has a good default, and try it on the model."""
        return await self._async_ask("advanced", user_input)

    @property
    def _kind(self) -> ServiceKind:
        return ServiceKind(self._get_entry().data[CONF_KIND])

    @property
    def _present(self) -> Mapping[str, Any]:
        """The stored data, which another dialog may have changed meanwhile."""
        if self.source == SOURCE_USER:
            return self._stored
        return self._get_reconfigure_subentry().data

    def _groups(self, step_id: str) -> Mapping[str, tuple[str, ...]]:
        """Return the options of a form, by group."""
        groups = {
            SETTINGS: (),
            **options_of(self._kind, self._subentry_type),
        }
        return {
            group: names
            for group, names in groups.items()
            if (group in {SETTINGS, WEB}) == (step_id == SETTINGS)
        }

    async def _async_ask(
        self, step_id: str, user_input: FormInput
    ) -> SubentryFlowResult:
        """Show a form, or save what was typed into it."""
        groups = self._groups(step_id)
        if user_input is None:
            self._fallbacks = self._possible_fallbacks()
            await self._async_prepare_form(self.settings_of(self._stored))
            return await self._async_show(
                step_id, {CONF_NAME: self._name, **self._as_form(groups)}
            )
        values = {
            name: value for name, value in user_input.items() if name not in groups
        }
        values |= {
            name: value
            for group in groups
            for name, value in user_input.get(group, {}).items()
        }
        problems = self._find_typos(step_id, values)
        data: dict[str, Any] = {}
        if not problems:
            data = self._as_data(groups, values)
            place = CONF_MODEL if step_id == SETTINGS else ANSWERS
            now = self.settings_of(data)
            stored = self.settings_of(self._stored)
            problems = await self._async_try(
                now,
                stored,
                place,
            )
            if not problems and now.model != stored.model:
                data = {
                    name: value for name, value in data.items() if name not in MEASURED
                } | self._measured
        if problems:
            return await self._async_show(
                step_id,
                user_input,
                problems,
            )
        return await self._async_complete(
            values.get(CONF_NAME, self._name),
            data,
        )

    async def _async_complete(self, name: str, data: EntryData) -> SubentryFlowResult:
        """Continue once everything is set."""
        return self._save(name, data)

    def _possible_fallbacks(self) -> Mapping[str, str]:
        """Return the entity IDs of all other agents that have a model, by subentry ID."""
        if self.source == SOURCE_USER:
            own_id = None
        else:
            own_id = self._get_reconfigure_subentry().subentry_id
        registry = er.async_get(self.hass)
        return {
            entity.unique_id: entity.entity_id
            for entry in readable_entries(self.hass)
            if entry.data[CONF_KIND] != ServiceKind.OFFLINE
            for entity in er.async_entries_for_config_entry(registry, entry.entry_id)
            if entity.domain == CONVERSATION_DOMAIN
            and entity.unique_id in entry.subentries.keys() - {own_id}
        }

    async def _async_prepare_form(self, settings: AgentSettings) -> None:
        """Load what the form shows: the models of the server, and the known price of this one."""
        if self._kind is ServiceKind.OFFLINE:
            return
        service = self._get_entry().data
        self._sentences = await async_viewer_sentences(self.hass)
        known = await async_known_price(
            self.hass, service, known_server(service), settings
        )
        self._known_price = price_words(
            self._sentences,
            settings.model,
            known,
        )
        try:
            self._models = await offered_models(model_server(self.hass, service))
        except ProviderError as error:
            # Everything but the model can be changed while the server is down.
            LOGGER.debug("The server lists no models: %s", error)

    def _find_typos(
        self,
        step_id: str,
        values: FormValues,
    ) -> list[Problem]:
        """Return the problems that need no server to find."""
        problems: list[Problem] = []
        if step_id == SETTINGS and not values[CONF_NAME].strip():
            problems.append(Problem(CONF_NAME, "name_missing"))
        if CONF_MODEL in values and not values[CONF_MODEL].strip():
            problems.append(Problem(CONF_MODEL, "model_missing"))
        try:
            Template(values.get(CONF_PROMPT, ""), self.hass).ensure_valid()
        except TemplateError as error:
            problems.append(
                Problem(
                    CONF_PROMPT,
                    "invalid_template",
                    {"problem": str(error)},
                )
            )
        problems += find_problems(values) + _find_search_typos(values)
        if not set(values.get(CONF_FALLBACKS, ())) <= set(self._fallbacks.values()):
            problems.append(Problem(CONF_FALLBACKS, "fallback_unknown"))
        return problems

    async def _async_try(
        self,
        settings: AgentSettings,
        stored: AgentSettings,
        place: str,
    ) -> list[Problem]:
        """Return the problems of complete settings, those of the model at `place`.

        The model is tried, unless it is used like that already.
        """
        service = self._get_entry().data
        if self._kind is ServiceKind.OFFLINE:
            return []
        problems = find_late_deadlines(settings)
        problems += await self._async_try_search(settings, stored)
        if settings.budget_day is not None or settings.budget_month is not None:
            known = await async_known_price(
                self.hass, service, known_server(service), settings
            )
            if entered_price(settings, known) is None:
                budget = (
                    CONF_BUDGET_MONTH
                    if settings.budget_day is None
                    else CONF_BUDGET_DAY
                )
                problems.append(
                    Problem(
                        budget,
                        "budget_without_price",
                        {"model": settings.model},
                    )
                )
        is_tried = asks_alike(settings, stored)
        if problems or (is_tried and not _has_other_window(settings, stored)):
            return problems
        try:
            server = model_server(self.hass, service, settings)
            return await self._async_try_on_home(server, settings, stored, place)
        except ProviderError as error:
            LOGGER.debug("The model cannot be used: %s", error)
            has_options = not asks_alike(settings, AgentSettings(settings.model))
            if isinstance(error, ProviderRejectedRequest) and has_options:
                refusal = {"refusal": error.words or str(error)}
                return [Problem(ANSWERS, "options_refused", refusal)]
            problems = [Problem(place, error_key(error))]
            if error.words:
                problems.append(Problem(place, "service_said", {"words": error.words}))
            return problems

    async def _async_try_search(
        self, settings: AgentSettings, stored: AgentSettings
    ) -> list[Problem]:
        """Return the problem of a server that searches the web, which is tried if it is another one than before."""
        now, before = (
            (
                one.web_search,
                one.web_search_address,
                one.web_search_key,
            )
            for one in (settings, stored)
        )
        engine = settings.web_search
        if now == before or engine in {WebSearch.OFF, WebSearch.SERVICE}:
            return []
        try:
            await async_search(
                self.hass,
                settings,
                "Home Assistant",
                "en",
            )
        except ProviderError as error:
            LOGGER.debug("The web cannot be searched: %s", error)
            if engine is WebSearch.BRAVE:
                place = CONF_WEB_SEARCH_KEY
            else:
                place = CONF_WEB_SEARCH_ADDRESS
            return [Problem(place, search_problem(error, engine))]
        return []

    async def _async_try_on_home(
        self,
        server: HTTPProvider,
        settings: AgentSettings,
        stored: AgentSettings,
        place: str,
    ) -> list[Problem]:
        """Try a model, measure another one, and compare the prompt of the home with its window.

        A model of which there is something to say is taken the second time. Raises
        `ProviderError`.
        """
        self._measured = {}
        is_other = settings.model != stored.model
        trial: ToolTrial | None = None
        if is_other and settings.llm_apis:
            trial = await try_out(server)
        else:
            await server.check()
        if not settings.llm_apis or not (
            is_other or _has_other_window(settings, stored)
        ):
            return []
        service = self._get_entry().data
        prompt = await async_home_prompt(self.hass, settings)
        tight = await async_tight_window(
            self.hass,
            server,
            service,
            settings,
            prompt,
        )
        model = model_title(settings.model)
        against = (one.warning(self._sentences, model) for one in (trial, tight) if one)
        warning = " ".join(filter(None, against))
        if warning and self._warned_of != warning:
            self._warned_of = warning
            windows = {ServiceKind.OLLAMA_CHAT: CONF_NUM_CTX}
            window = windows.get(self._kind, CONF_CONTEXT_WINDOW)
            where = place if is_other else window
            return [Problem(where, "model_warning", {"warning": warning})]
        if trial and trial.uses_tools and reads_free(service, settings):
            times = await measure(server, trial, prompt)
            self._measured = trial.waits(settings, times) | (
                times.stored if times else {}
            )
        return []

    def _as_form(self, groups: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the stored options as form values, without what no longer exists. All groups but one are sections."""
        settings = self.settings_of(self._stored)
        converted = {
            CONF_MODEL: settings.model or only_model(self._models),
            CONF_LLM_HASS_API: list(settings.llm_apis),
            CONF_PROMPT: settings.prompt or "",
            CONF_FALLBACKS: [
                self._fallbacks[one]
                for one in settings.fallbacks
                if one in self._fallbacks
            ],
            CONF_IMAGE_MODEL: image_model_of(
                self._kind,
                self._stored,
            )
            or None,
            CONF_WEB_SEARCH_KEY: KNOWN_SECRET if settings.web_search_key else None,
            CONF_MODEL_REQUESTS: [
                kind for kind in RequestKind if kind in settings.model_requests
            ],
        }
        form: dict[str, dict[str, Any]] = {}
        for group, names in groups.items():
            values = {
                name: converted[name] if name in converted else value_of(settings, name)
                for name in names
            }
            form[group] = {
                name: value
                for name, value in values.items()
                if self._is_shown(name, value)
            }
        return {
            **form.pop(SETTINGS, {}),
            **form,
        }

    def _is_shown(
        self,
        option: str,
        value: Any,
    ) -> bool:
        """Return whether a value is set, and no choice that does not exist any more."""
        if option == CONF_SUMMARY:
            return value in SUMMARIES or value in self._fallbacks
        is_one = option in _CHOICES and option != CONF_MODEL_REQUESTS
        return value is not None and (not is_one or value in _CHOICES[option])

    def _as_data(
        self, groups: Mapping[str, Sequence[str]], values: FormValues
    ) -> dict[str, Any]:
        """Return the stored data with the values of a form. Options for other kinds of service go."""
        options = {name for names in groups.values() for name in names}
        every = (options_of(kind, self._subentry_type) for kind in ServiceKind)
        others = {
            name
            for one in every
            for group in groups
            for name in one.get(
                group,
                (),
            )
        }
        agent_ids = {
            entity_id: agent_id for agent_id, entity_id in self._fallbacks.items()
        }
        converted = {
            **values,
            CONF_MODEL: values.get(CONF_MODEL, "").strip(),
            CONF_IMAGE_MODEL: values.get(CONF_IMAGE_MODEL, "").strip(),
            **self._search_data(values),
            CONF_FALLBACKS: [
                agent_ids[one] for one in dict.fromkeys(values.get(CONF_FALLBACKS, ()))
            ],
        }
        can_be_empty = {
            CONF_PROMPT: "",
            CONF_LLM_HASS_API: [],
            CONF_MODEL_REQUESTS: [],
        }
        return {
            **{key: value for key, value in self._present.items() if key not in others},
            **{name: value for name, value in can_be_empty.items() if name in options},
            **typed_options(
                self._kind,
                options,
                converted,
            ),
        }

    def _search_data(self, values: FormValues) -> Mapping[str, Any]:
        """Return the address or the key of what searches the web, and not that of another."""
        engine = values.get(CONF_WEB_SEARCH)
        address = values.get(CONF_WEB_SEARCH_ADDRESS, "")
        key = values.get(CONF_WEB_SEARCH_KEY, "")
        known = self.settings_of(self._stored).web_search_key
        return {
            CONF_WEB_SEARCH_ADDRESS: parse_address(address)
            if engine == WebSearch.SEARXNG
            else "",
            CONF_WEB_SEARCH_KEY: typed_secret(key, known)
            if engine == WebSearch.BRAVE
            else "",
        }

    async def _async_show(
        self,
        step_id: str,
        form: FormValues,
        problems: Sequence[Problem] = (),
    ) -> SubentryFlowResult:
        groups = self._groups(step_id)
        fields: dict[vol.Marker, Any] = (
            {vol.Required(CONF_NAME): TextSelector()} if SETTINGS in groups else {}
        )
        for group, names in groups.items():
            part: dict[vol.Marker, Any] = {
                vol.Required(name)
                if name == CONF_MODEL
                else vol.Optional(name): self._selector(name)
                for name in names
            }
            if group != SETTINGS:
                # Of many groups, even one with a problem is closed: so the dialog is
                # short, and the list at its top is seen.
                marker = vol.Optional if group == WEB else vol.Required
                is_open = group == WEB and any(one.place in names for one in problems)
                field = section(
                    vol.Schema(part),
                    {"collapsed": not is_open},
                )
                part = {marker(group): field}
            fields |= part
        sentences = await async_viewer_sentences(self.hass)
        assist = source_names(self.hass, sentences)[llm.LLM_API_ASSIST]
        ranges = {f"{name}_range": number.range for name, number in NUMBERS.items()}
        return await self._async_show_form(
            step_id,
            vol.Schema(fields),
            form,
            problems,
            known_price=self._known_price,
            assist=assist,
            **ranges,
        )

    def _selector(self, option: str) -> Selector[Any]:
        """Return the field of an option."""
        if option in (CONF_MODEL, CONF_IMAGE_MODEL):
            return model_selector(self._models)
        if option == CONF_LLM_HASS_API:
            return self._tool_source_selector()
        if option == CONF_WEB_SEARCH:
            return self._search_selector()
        if option == CONF_SUMMARY:
            return self._summary_selector()
        if option == CONF_FALLBACKS:
            agents = list(self._fallbacks.values())
            return _UncheckedEntitySelector(
                {
                    "include_entities": agents,
                    "multiple": True,
                    "reorder": True,
                }
            )
        return _selector(option)

    def _search_selector(self) -> SelectSelector:
        """Return the field for what searches the web: the service only where it can, or is chosen."""
        can = known_server(self._get_entry().data).searches_over(self._kind)
        chosen = self.settings_of(self._stored).web_search
        options = [
            one.value
            for one in WebSearch
            if can or one is not WebSearch.SERVICE or one is chosen
        ]
        return choice(options=options, mode=DROPDOWN, translation_key=CONF_WEB_SEARCH)

    def _summary_selector(self) -> SelectSelector:
        """Return the field for the model that writes summaries; the titles of agents are not translated."""
        labels = {choice: choice for choice in SUMMARIES}
        labels |= self._titles_of(self._fallbacks)
        return choice(
            options=labelled(labels), mode=DROPDOWN, translation_key=CONF_SUMMARY
        )

    def _tool_source_selector(self) -> SelectSelector:
        """Return the field for all LLM APIs, and for those that are chosen."""
        absent = self._sentences["source_absent"]
        chosen = self.settings_of(self._stored).llm_apis
        gone = {api_id: absent.format(source=api_id) for api_id in chosen}
        there = source_names(self.hass, self._sentences)
        return choice(
            options=labelled({**there, **gone, **there}),
            multiple=True,
        )

    def _titles_of(self, agent_ids: Iterable[str]) -> Mapping[str, str]:
        """Return the titles of agents with those of their services, since several agents may have the same title."""
        entries = self.hass.config_entries.async_entries(DOMAIN)
        return {
            agent_id: f"{entry.subentries[agent_id].title} ({entry.title})"
            for agent_id in agent_ids
            for entry in entries
            if agent_id in entry.subentries
        }

    async def _async_show_form(
        self,
        step_id: str,
        schema: vol.Schema,
        form: FormValues,
        problems: Sequence[Problem],
        **placeholders: str,
    ) -> SubentryFlowResult:
        named = await async_placeholders(
            self.hass,
            step_id,
            problems,
            f"config_subentries.{self._subentry_type}",
            agent=self._name,
            **placeholders,
        )
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(schema, form),
            errors=marked(schema, problems),
            description_placeholders=named,
        )

    def _save(
        self,
        name: str,
        data: EntryData,
    ) -> SubentryFlowResult:
        title = name.strip()
        if self.source == SOURCE_USER:
            return self.async_create_entry(title=title, data=data)
        return self.async_update_and_abort(
            self._get_entry(), self._get_reconfigure_subentry(), title=title, data=data
        )


class AITaskFlow(ModelFlow):
    """Adds or changes an AI task."""

    title_key = "ai_task_title"
    settings_of = staticmethod(task_settings_of)
    new_data = staticmethod(lambda _: new_task_data())
