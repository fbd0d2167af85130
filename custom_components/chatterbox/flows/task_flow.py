"""The dialog that adds and changes a model for tasks: one subentry each.

Knows the walk through the dialog. Must not know what can be set (`settings/tasks.py`), what the form looks like
(`flows/task_form.py`), how a server is asked (`runtime/service_check.py`), or any sentence (`translations/`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from homeassistant.config_entries import SOURCE_USER, ConfigEntryState, ConfigSubentryFlow, SubentryFlowResult
from homeassistant.const import CONF_MODEL, CONF_NAME

from ..agent.errors import ProviderError
from ..const import CONF_FALLBACKS, CONF_KIND, LOGGER, ServiceKind
from ..runtime.composition import model_server
from ..runtime.service_check import offered_models
from ..settings.options import Problem, find_late_deadlines, find_problems
from ..settings.tasks import new_task_data, task_sections_of, task_settings_of
from ..speech.sentences import async_get_sentences
from .agent_form import fallback_ids, only_model, possible_fallbacks, tool_sources
from .model_trial import async_find_gaps, async_find_idle_budget, async_price_words, async_try_model
from .task_form import task_as_data, task_as_form, task_schema


class AITaskFlow(ConfigSubentryFlow):
    """From "Add AI task", or from the menu of one, to what is stored of it."""

    def __init__(self) -> None:
        """Start with nothing set."""
        self._name = ""
        self._stored: Mapping[str, Any] = {}
        self._models: list[str] = []
        self._absent = "{source}"
        """How a source of tools is called that is not there."""
        self._known_price = ""
        """What is known of the price of the model, in words."""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing was asked yet
        """Begin a new one."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        sentences = await async_get_sentences(self.hass, self.hass.config.language)
        self._name, self._stored = sentences["ai_task_title"], new_task_data()
        return await self.async_step_task()

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing was asked yet
        """Change one that exists."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        task = self._get_reconfigure_subentry()
        self._name, self._stored = task.title, task.data
        return await self.async_step_task()

    async def async_step_task(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for everything that it has, and try the model if it would be asked in another way."""
        fallbacks = possible_fallbacks(self.hass, None)
        if user_input is None:
            await self._async_list_models()
            form = task_as_form(self._kind, self._name, self._stored, fallbacks)
            return self._show(form | {CONF_MODEL: form[CONF_MODEL] or only_model(self._models)}, fallbacks)
        stand_ins = fallback_ids(fallbacks, user_input.get(CONF_FALLBACKS, ()))
        problems = async_find_gaps(self.hass, user_input)
        problems += find_problems({place: user_input[place] for place in task_sections_of(self._kind)})
        if stand_ins is None:
            problems.append(Problem(CONF_FALLBACKS, "fallback_unknown", {}))
        if problems:
            return self._show(user_input, fallbacks, problems)
        data = task_as_data(self._kind, user_input, stand_ins or (), self._stored)
        settings = task_settings_of(data)
        service = self._get_entry().data
        if problems := (
            find_late_deadlines(settings)
            or await async_find_idle_budget(self.hass, service, settings)
            or await async_try_model(self.hass, service, settings, task_settings_of(self._stored))
        ):
            return self._show(user_input, fallbacks, problems)
        return self._save(user_input[CONF_NAME].strip(), data)

    @property
    def _kind(self) -> ServiceKind:
        return ServiceKind(self._get_entry().data[CONF_KIND])

    async def _async_list_models(self) -> None:
        service, settings = self._get_entry().data, task_settings_of(self._stored)
        sentences = await async_get_sentences(self.hass, self.hass.config.language)
        self._absent = sentences["source_absent"]
        self._known_price = await async_price_words(self.hass, service, settings, sentences)
        try:
            self._models = await offered_models(model_server(self.hass, service))
        except ProviderError as error:
            # Everything but the model can be changed while the server is down.
            LOGGER.debug("The server lists no models: %s", error)

    def _show(
        self, form: Mapping[str, Any], fallbacks: Mapping[str, str], problems: Sequence[Problem] = ()
    ) -> SubentryFlowResult:
        errors = {problem.place: problem.key for problem in reversed(problems)}  # the first of a place is told
        sources = tool_sources(self.hass, task_settings_of(self._stored).llm_apis, self._absent)
        schema = task_schema(sources, self._kind, self._models, fallbacks, opened=errors)
        placeholders = {name: text for one in problems for name, text in one.placeholders.items()}
        return self.async_show_form(
            step_id="task",
            data_schema=self.add_suggested_values_to_schema(schema, form),
            errors=errors,
            description_placeholders=placeholders | {"known_price": self._known_price},
        )

    def _save(self, name: str, data: Mapping[str, Any]) -> SubentryFlowResult:
        if self.source == SOURCE_USER:
            return self.async_create_entry(title=name, data=data)
        return self.async_update_and_abort(self._get_entry(), self._get_reconfigure_subentry(), title=name, data=data)
