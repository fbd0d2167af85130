"""The dialogs that add and change a conversation agent: one subentry each.

Knows the walk through the dialogs. Must not know what can be set (`agent_options.py`), how
a server is asked (`service_check.py`), or any sentence (`translations/`).
"""

from collections.abc import Mapping
from typing import Any, Final

import voluptuous as vol
from homeassistant.config_entries import (
    SOURCE_USER,
    ConfigEntryState,
    ConfigSubentryFlow,
    SubentryFlowResult,
)
from homeassistant.const import CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.exceptions import TemplateError
from homeassistant.helpers.selector import TextSelector
from homeassistant.helpers.template import Template

from .agent.errors import ProviderError
from .agent_options import agent_schema, as_data, as_form, new_agent_data, only_model
from .agent_settings import AgentSettings
from .const import CONF_KIND, LOGGER, ServiceKind
from .error_bridge import async_get_sentences, error_key
from .runtime import model_server
from .service_check import offered_models

_NAME_SCHEMA: Final = vol.Schema({vol.Required(CONF_NAME): TextSelector()})


class ConversationAgentFlow(ConfigSubentryFlow):
    """From "Add conversation agent", or from an agent's own menu, to what is stored of it."""

    def __init__(self) -> None:
        """Start with an agent that has nothing."""
        self._name = ""
        self._stored: dict[str, Any] = {}
        self._models: list[str] = []

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing was asked yet
        """Begin a new agent."""
        sentences = await async_get_sentences(self.hass, self.hass.config.language)
        return await self._begin(sentences["agent_title"], new_agent_data(self._kind))

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing was asked yet
        """Begin with an agent that exists."""
        agent = self._get_reconfigure_subentry()
        return await self._begin(agent.title, agent.data)

    async def async_step_agent(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for everything that a model's agent has, and try the model if it is another one."""
        if user_input is None:
            form = as_form(self.hass, self._name, self._stored)
            return self._show_agent(form | {CONF_MODEL: form[CONF_MODEL] or only_model(self._models)})
        data = as_data(user_input)
        errors: dict[str, str] = {}
        problem = self._template_problem(data[CONF_PROMPT])
        if problem:
            errors[CONF_PROMPT] = "invalid_template"
        if not user_input[CONF_NAME].strip():
            errors[CONF_NAME] = "name_missing"
        errors |= await self._model_errors(data[CONF_MODEL])
        if errors:
            return self._show_agent(user_input, errors, problem)
        return self._save(user_input[CONF_NAME], data)

    async def async_step_offline_agent(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for the name, which is all that an offline agent has."""
        errors: dict[str, str] = {}
        if user_input is not None:
            if user_input[CONF_NAME].strip():
                return self._save(user_input[CONF_NAME], self._stored)
            errors[CONF_NAME] = "name_missing"
        schema = self.add_suggested_values_to_schema(_NAME_SCHEMA, {CONF_NAME: self._name})
        return self.async_show_form(step_id="offline_agent", data_schema=schema, errors=errors)

    @property
    def _kind(self) -> ServiceKind:
        return ServiceKind(self._get_entry().data[CONF_KIND])

    async def _begin(self, name: str, data: Mapping[str, Any]) -> SubentryFlowResult:
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        self._name, self._stored = name, dict(data)
        if self._kind is ServiceKind.OFFLINE:
            return await self.async_step_offline_agent()
        try:
            self._models = await offered_models(model_server(self.hass, self._get_entry().data))
        except ProviderError as error:
            # Everything but the model can be changed while the server is down.
            LOGGER.debug("The server lists no models: %s", error)
        return await self.async_step_agent()

    def _show_agent(
        self, form: Mapping[str, Any], errors: dict[str, str] | None = None, problem: str = ""
    ) -> SubentryFlowResult:
        return self.async_show_form(
            step_id="agent",
            data_schema=self.add_suggested_values_to_schema(agent_schema(self.hass, self._models), form),
            errors=errors,
            description_placeholders={"problem": problem},
        )

    def _template_problem(self, prompt: str) -> str:
        try:
            Template(prompt, self.hass).ensure_valid()
        except TemplateError as error:
            return str(error)
        return ""

    async def _model_errors(self, model: str) -> dict[str, str]:
        if not model:
            return {CONF_MODEL: "model_missing"}
        if model == self._stored[CONF_MODEL]:
            return {}
        try:
            await model_server(self.hass, self._get_entry().data, AgentSettings(model)).check()
        except ProviderError as error:
            LOGGER.debug("The model cannot be used: %s", error)
            return {CONF_MODEL: error_key(error)}
        return {}

    def _save(self, name: str, data: Mapping[str, Any]) -> SubentryFlowResult:
        if self.source == SOURCE_USER:
            return self.async_create_entry(title=name.strip(), data=data)
        return self.async_update_and_abort(
            self._get_entry(), self._get_reconfigure_subentry(), title=name.strip(), data=data
        )
