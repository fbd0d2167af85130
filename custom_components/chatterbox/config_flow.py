"""The config flow of a service: adding it, a new key, and another server."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, override

import voluptuous as vol
from homeassistant.config_entries import (
    SOURCE_REAUTH,
    ConfigEntry,
    ConfigFlow,
    ConfigFlowResult,
    ConfigSubentryData,
    ConfigSubentryFlow,
    OptionsFlow,
)
from homeassistant.const import CONF_API_KEY, CONF_MODEL
from homeassistant.core import callback
from homeassistant.data_entry_flow import AbortFlow

from . import const
from .agent.errors import ProviderError, ProviderRejectedKey, ProviderReplyInvalid
from .agent.providers.profiles import PROFILES
from .flows.agent_flow import ConversationAgentFlow
from .flows.model_flow import AITaskFlow, model_selector, model_title, only_model
from .flows.service_form import (
    EXAMPLE_URL,
    INTERFACES,
    KEY_SCHEMA,
    SECTION_INTERFACE,
    SERVER_SCHEMA,
    TypedService,
    answering_interface,
    check_key,
    connect_schema,
    models_of,
    title_of,
)
from .flows.service_options import ServiceOptionsFlow
from .runtime.composition import is_same_server, model_server
from .runtime.models import ModelProvider, offered_models
from .settings.agent import AgentSettings, settings_of
from .settings.options import new_agent_data
from .settings.service_address import parse_address
from .settings.tasks import new_task_data
from .speech.sentences import async_get_sentences, error_key

_STEP_CLOUD: Final = "cloud"
_STEP_OWN_SERVER: Final = "own_server"
_STEP_RECONFIGURE: Final = "reconfigure"
_NO_MODEL: Final = AgentSettings()


class ChatterboxConfigFlow(ConfigFlow, domain=const.DOMAIN):
    """From "Add integration" to an entry with its first conversation agent and, with a model, its first AI task."""

    VERSION = 1
    MINOR_VERSION = 1

    def __init__(self) -> None:
        """Start with nothing typed and no server found."""
        self._service = TypedService.new(next(iter(PROFILES)))
        self._models: list[str] = []
        self._refused_kind: const.ServiceKind | None = None
        """The interface that the server does not answer over, where another one was found."""

    @classmethod
    @callback
    @override
    def async_get_supported_subentry_types(cls, config_entry: ConfigEntry) -> dict[str, type[ConfigSubentryFlow]]:
        """Let every service have any number of conversation agents and, with a model, of AI tasks."""
        if config_entry.data[const.CONF_KIND] == const.ServiceKind.OFFLINE:
            return {const.SUBENTRY_CONVERSATION: ConversationAgentFlow}
        return {const.SUBENTRY_CONVERSATION: ConversationAgentFlow, const.SUBENTRY_AI_TASK: AITaskFlow}

    @staticmethod
    @callback
    @override
    def async_get_options_flow(config_entry: ConfigEntry) -> OptionsFlow:
        """Let every service have options: its database, its diagnostics, and the Responses API."""
        return ServiceOptionsFlow()

    @override
    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask who shall understand; once there is an offline service, only models are left."""
        if any(entry.data[const.CONF_KIND] == const.ServiceKind.OFFLINE for entry in self._async_current_entries()):
            return await self.async_step_server()
        return self.async_show_menu(step_id="user", menu_options=[const.ServiceKind.OFFLINE, "server"])

    async def async_step_offline(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:  # noqa: ARG002 a menu brings nothing
        """Add the offline service, which needs nothing."""
        self._async_abort_entries_match({const.CONF_KIND: const.ServiceKind.OFFLINE})
        sentences = await async_get_sentences(self.hass, self.hass.config.language)
        return self.async_create_entry(
            title=sentences["entry_title_offline"],
            data={const.CONF_KIND: const.ServiceKind.OFFLINE},
            subentries=[
                _subentry(
                    const.SUBENTRY_CONVERSATION, sentences["agent_title"], new_agent_data(const.ServiceKind.OFFLINE)
                )
            ],
        )

    async def async_step_server(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask which server it is."""
        if user_input is None:
            return self.async_show_form(step_id="server", data_schema=SERVER_SCHEMA)
        self._service = TypedService.new(user_input[const.CONF_SERVER])
        return await self._async_connect_first(None)

    async def async_step_cloud(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for the key of a service on the internet, and connect."""
        return await self._async_connect_first(user_input)

    async def async_step_own_server(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for the address of a server that somebody runs, and connect."""
        return await self._async_connect_first(user_input)

    async def async_step_model(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for the model of the first agent, try it, and create the entry."""
        if user_input is None:
            return self._show_model(only_model(self._models))
        model = user_input[CONF_MODEL].strip()
        if not model:
            return self._show_model(model, {CONF_MODEL: "model_missing"})
        data = new_agent_data(self._service.kind, model)
        try:
            await self._server(settings_of(data)).check()
        except (ProviderRejectedKey, ProviderReplyInvalid) as error:
            # Only now the key was looked at, or the interface used: some servers list their models for everybody.
            return self._show_service(self._connect_step, await self._async_refuse(error, model))
        except ProviderError as error:
            return self._show_model(model, {CONF_MODEL: error_key(error)})
        sentences = await async_get_sentences(self.hass, self.hass.config.language)
        task_title = sentences["first_ai_task_title"].format(model=model_title(model))
        return self.async_create_entry(
            title=title_of(self._service.data),
            data=self._service.data,
            subentries=[
                _subentry(const.SUBENTRY_CONVERSATION, model_title(model), data),
                _subentry(const.SUBENTRY_AI_TASK, task_title, new_task_data(model)),
            ],
        )

    async def async_step_reauth(self, entry_data: Mapping[str, Any]) -> ConfigFlowResult:  # noqa: ARG002 the entry is asked itself
        """Begin when the service no longer accepts its key."""
        self._service = replace(TypedService.stored(self._get_reauth_entry().data), api_key=None)
        return await self.async_step_reauth_confirm()

    async def async_step_reauth_confirm(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for a new key, and try it."""
        entry = self._get_reauth_entry()
        errors: dict[str, str] = {}
        if user_input is not None:
            errors = await self._async_connect(
                user_input | {const.CONF_BASE_URL: entry.data[const.CONF_BASE_URL]}, entry
            )
            if not errors:
                return self._update(entry)
        return self.async_show_form(
            step_id="reauth_confirm",
            data_schema=self.add_suggested_values_to_schema(KEY_SCHEMA, self._service.shown_key),
            # There is one field only: what is wrong with anything else is said above it.
            errors={field if field == CONF_API_KEY else "base": key for field, key in errors.items()},
            description_placeholders=self._placeholders(),
        )

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for another server, address, key or interface, and try them."""
        entry = self._get_reconfigure_entry()
        if entry.data[const.CONF_KIND] == const.ServiceKind.OFFLINE:
            return self.async_abort(reason="offline_needs_no_settings")
        if user_input is None:
            self._service = TypedService.stored(entry.data)
            return self._show_service(_STEP_RECONFIGURE)
        if errors := await self._async_connect(user_input, entry):
            return self._show_service(_STEP_RECONFIGURE, errors)
        return self._update(entry)

    @property
    def _connect_step(self) -> str:
        return _STEP_CLOUD if self._service.known.host else _STEP_OWN_SERVER

    async def _async_connect_first(self, user_input: Mapping[str, Any] | None) -> ConfigFlowResult:
        if user_input is None:
            return self._show_service(self._connect_step)
        if errors := await self._async_connect(user_input):
            return self._show_service(self._connect_step, errors)
        return await self.async_step_model()

    async def _async_connect(self, user_input: Mapping[str, Any], entry: ConfigEntry | None = None) -> dict[str, str]:
        """Remember what was typed and find the server; return the errors by field.

        With an entry, the models of its agents are tried too: some servers look at the key
        only then. Aborts when another entry is that server with that key already.
        """
        self._service, self._refused_kind = self._service.with_form(user_input), None
        if errors := self._service.errors():
            if CONF_API_KEY in errors:
                self._service = replace(self._service, api_key=None)
            return errors
        self._service = replace(self._service, base_url=parse_address(self._service.base_url))
        self._abort_if_set_up()
        models = models_of(entry)
        try:
            self._models = await offered_models(self._server())
            await check_key(self._server(settings) for settings in models)
        except ProviderError as error:
            return await self._async_refuse(error, models[0].model if models else "")
        return {}

    def _server(self, settings: AgentSettings = _NO_MODEL, kind: const.ServiceKind | None = None) -> ModelProvider:
        return model_server(self.hass, replace(self._service, kind=kind or self._service.kind).data, settings)

    async def _async_refuse(self, error: ProviderError, model: str) -> dict[str, str]:
        """Put an error at the field that mends it; a key that was refused is not kept.

        A server that answers over another interface gets that one, and the form says so.
        """
        const.LOGGER.debug("The server cannot be used: %s", error)
        match error:
            case ProviderRejectedKey():
                self._service = replace(self._service, api_key=None)
                return {CONF_API_KEY: error_key(error)}
            case ProviderReplyInvalid() if self.source != SOURCE_REAUTH:  # that form can only change the key
                best = const.ServiceKind(self._service.known.wire.value)
                others = [kind for kind in (best, *INTERFACES) if kind is not self._service.kind]
                servers = {kind: self._server(AgentSettings(model), kind) for kind in others}
                if found := await answering_interface(servers, has_model=bool(model)):
                    self._refused_kind = self._service.kind
                    self._service = replace(self._service, kind=found)
                    return {SECTION_INTERFACE: "other_interface"}
        return {const.CONF_BASE_URL: error_key(error)}

    def _abort_if_set_up(self) -> None:
        kind, url = self._service.kind, self._service.base_url
        for entry in self._async_current_entries():
            if (
                entry.entry_id != self.context.get("entry_id")
                and entry.data[const.CONF_KIND] == kind
                and is_same_server(kind, entry.data[const.CONF_BASE_URL], url)
                and entry.data.get(CONF_API_KEY) == self._service.api_key
            ):
                raise AbortFlow("already_configured")

    def _update(self, entry: ConfigEntry) -> ConfigFlowResult:
        """Give the entry the server that was found; its agents stay."""
        data = self._service.data
        title = title_of(data) if entry.title == title_of(entry.data) else entry.title
        if entry.update_listeners:  # they reload the entry
            return self.async_update_and_abort(entry, data=data, title=title)
        return self.async_update_reload_and_abort(entry, data=data, title=title)

    def _show_service(self, step_id: str, errors: Mapping[str, str] | None = None) -> ConfigFlowResult:
        schema = connect_schema(asks_server=step_id == _STEP_RECONFIGURE, opened=errors or ())
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(schema, self._service.form),
            errors=dict(errors) if errors else None,
            description_placeholders=self._placeholders(),
        )

    def _placeholders(self) -> dict[str, str]:
        service = self._service
        return {
            "url": service.base_url,
            "example_url": EXAMPLE_URL,
            "server": service.known.name,
            "interface": INTERFACES[self._refused_kind or service.kind],
            "other_interface": INTERFACES[service.kind],
        }

    def _show_model(self, model: str, errors: dict[str, str] | None = None) -> ConfigFlowResult:
        schema = vol.Schema({vol.Required(CONF_MODEL): model_selector(self._models)})
        return self.async_show_form(
            step_id="model",
            data_schema=self.add_suggested_values_to_schema(schema, {CONF_MODEL: model} if model else {}),
            errors=errors,
            description_placeholders=self._placeholders(),
        )


def _subentry(subentry_type: str, title: str, data: Mapping[str, Any]) -> ConfigSubentryData:
    return ConfigSubentryData(data=data, subentry_type=subentry_type, title=title, unique_id=None)
