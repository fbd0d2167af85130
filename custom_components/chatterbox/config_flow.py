"""The dialogs that add a service, change it, and give it a new key: one config entry each.

Knows what a person is asked for, and in which order. Must not know how a server is asked
(`service_check.py`), what an agent is made of (`agent_flow.py`), or any sentence
(`translations/`).
"""

from collections.abc import Mapping
from typing import Any, Final, override

import voluptuous as vol
from homeassistant.config_entries import (
    ConfigEntry,
    ConfigFlow,
    ConfigFlowResult,
    ConfigSubentryData,
    ConfigSubentryFlow,
)
from homeassistant.const import CONF_API_KEY, CONF_MODEL
from homeassistant.core import callback
from homeassistant.data_entry_flow import AbortFlow
from homeassistant.helpers.selector import TextSelector, TextSelectorConfig, TextSelectorType

from .agent.errors import ProviderError, ProviderRejectedKey
from .agent_flow import ConversationAgentFlow
from .agent_options import model_selector, model_title, new_agent_data, only_model
from .agent_settings import AgentSettings
from .const import CONF_BASE_URL, CONF_KIND, DOMAIN, LOGGER, SUBENTRY_CONVERSATION, ServiceKind
from .error_bridge import async_get_sentences, error_key
from .runtime import is_same_server, model_server
from .service_address import InvalidAddress, parse_address, short_name
from .service_check import check_key, offered_models

_EXAMPLE_URL: Final = "http://192.168.1.10:11434/v1"
_KNOWN_KEY: Final = "•" * 8
"""Stands in a form for a key that we have, so that no form ever carries the key itself."""

_PASSWORD: Final = TextSelector(TextSelectorConfig(type=TextSelectorType.PASSWORD, autocomplete="off"))
_SERVER_SCHEMA: Final = vol.Schema(
    {
        vol.Required(CONF_BASE_URL): TextSelector(TextSelectorConfig(type=TextSelectorType.URL)),
        vol.Optional(CONF_API_KEY): _PASSWORD,
    }
)
_KEY_SCHEMA: Final = vol.Schema({vol.Required(CONF_API_KEY): _PASSWORD})


class ChatterboxConfigFlow(ConfigFlow, domain=DOMAIN):
    """From "Add integration" to an entry with its first conversation agent."""

    VERSION = 1
    MINOR_VERSION = 1

    def __init__(self) -> None:
        """Start with nothing typed and no server found."""
        self._typed_url = ""
        self._api_key: str | None = None
        self._base_url = ""
        self._models: list[str] = []

    @classmethod
    @callback
    @override
    def async_get_supported_subentry_types(cls, config_entry: ConfigEntry) -> dict[str, type[ConfigSubentryFlow]]:
        """Let every service have any number of conversation agents."""
        return {SUBENTRY_CONVERSATION: ConversationAgentFlow}

    @override
    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for the kind of service; once there is an offline one, only servers are left."""
        if any(entry.data[CONF_KIND] == ServiceKind.OFFLINE for entry in self._async_current_entries()):
            return await self.async_step_openai_chat()
        return self.async_show_menu(step_id="user", menu_options=[ServiceKind.OFFLINE, ServiceKind.OPENAI_CHAT])

    async def async_step_offline(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:  # noqa: ARG002 a menu brings nothing
        """Add the offline service, which needs nothing."""
        self._async_abort_entries_match({CONF_KIND: ServiceKind.OFFLINE})
        sentences = await async_get_sentences(self.hass, self.hass.config.language)
        return self.async_create_entry(
            title=sentences["entry_title_offline"],
            data={CONF_KIND: ServiceKind.OFFLINE},
            subentries=[_first_agent(sentences["agent_title"], new_agent_data(ServiceKind.OFFLINE))],
        )

    async def async_step_openai_chat(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for the address of a server and its key, and connect."""
        if user_input is None:
            return self._show_server("openai_chat")
        if errors := await self._connect(user_input):
            return self._show_server("openai_chat", errors)
        return await self.async_step_model()

    async def async_step_model(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for the model of the first agent, try it, and create the entry."""
        if user_input is None:
            return self._show_model(only_model(self._models))
        model = user_input[CONF_MODEL].strip()
        if not model:
            return self._show_model(model, {CONF_MODEL: "model_missing"})
        try:
            await model_server(self.hass, self._data(), AgentSettings(model)).check()
        except ProviderRejectedKey as error:
            # Some servers list their models for everybody: only now the key was looked at.
            return self._show_server("openai_chat", self._refuse(error))
        except ProviderError as error:
            return self._show_model(model, {CONF_MODEL: error_key(error)})
        return self.async_create_entry(
            title=short_name(self._base_url),
            data=self._data(),
            subentries=[_first_agent(model_title(model), new_agent_data(ServiceKind.OPENAI_CHAT, model))],
        )

    async def async_step_reauth(self, entry_data: Mapping[str, Any]) -> ConfigFlowResult:  # noqa: ARG002 the entry is asked itself
        """Begin when the service no longer accepts its key."""
        return await self.async_step_reauth_confirm()

    async def async_step_reauth_confirm(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for a new key, and try it."""
        entry = self._get_reauth_entry()
        address = {CONF_BASE_URL: entry.data[CONF_BASE_URL]}
        errors: dict[str, str] = {}
        if user_input is not None:
            errors = await self._connect(user_input | address, entry)
            if not errors:
                return self._update(entry)
        return self.async_show_form(
            step_id="reauth_confirm",
            data_schema=self.add_suggested_values_to_schema(_KEY_SCHEMA, self._shown_key()),
            # There is one field only: what is wrong with the address is said above it.
            errors={"base" if field == CONF_BASE_URL else field: key for field, key in errors.items()},
            description_placeholders={"url": entry.data[CONF_BASE_URL]},
        )

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for another address or key, and try them."""
        entry = self._get_reconfigure_entry()
        if entry.data[CONF_KIND] == ServiceKind.OFFLINE:
            return self.async_abort(reason="offline_needs_no_settings")
        if user_input is None:
            self._typed_url = entry.data[CONF_BASE_URL]
            self._api_key = entry.data.get(CONF_API_KEY)
            return self._show_server("reconfigure")
        if errors := await self._connect(user_input, entry):
            return self._show_server("reconfigure", errors)
        return self._update(entry)

    async def _connect(self, user_input: Mapping[str, Any], entry: ConfigEntry | None = None) -> dict[str, str]:
        """Remember what was typed and find the server; return the errors by field.

        With an entry, the models of its agents are tried too: some servers look at the key
        only then. Aborts when another entry is that server with that key already.
        """
        self._typed_url = user_input[CONF_BASE_URL]
        typed_key = user_input.get(CONF_API_KEY, "").strip()
        if typed_key != _KNOWN_KEY:  # pasted beside the dots it is a new key all the same
            self._api_key = typed_key.removeprefix(_KNOWN_KEY).removesuffix(_KNOWN_KEY) or None
        try:
            self._base_url = parse_address(self._typed_url)
        except InvalidAddress as invalid:
            return {CONF_BASE_URL: str(invalid)}
        if self._api_key is not None and not _may_be_a_key(self._api_key):
            self._api_key = None
            return {CONF_API_KEY: "api_key_malformed"}
        self._abort_if_set_up()
        try:
            self._models = await offered_models(model_server(self.hass, self._data()))
            await check_key(model_server(self.hass, self._data(), AgentSettings(model)) for model in _models_of(entry))
        except ProviderError as error:
            return self._refuse(error)
        return {}

    def _refuse(self, error: ProviderError) -> dict[str, str]:
        """Put an error at the field that mends it; a key that was refused is not kept."""
        LOGGER.debug("The server cannot be used: %s", error)
        if isinstance(error, ProviderRejectedKey):
            self._api_key = None
            return {CONF_API_KEY: error_key(error)}
        return {CONF_BASE_URL: error_key(error)}

    def _data(self) -> dict[str, str]:
        """Return the data of an entry for what was typed."""
        data = {CONF_KIND: ServiceKind.OPENAI_CHAT.value, CONF_BASE_URL: self._base_url}
        return data | ({CONF_API_KEY: self._api_key} if self._api_key else {})

    def _abort_if_set_up(self) -> None:
        for entry in self._async_current_entries():
            if (
                entry.entry_id != self.context.get("entry_id")
                and entry.data[CONF_KIND] == ServiceKind.OPENAI_CHAT
                and is_same_server(ServiceKind.OPENAI_CHAT, entry.data[CONF_BASE_URL], self._base_url)
                and entry.data.get(CONF_API_KEY) == self._api_key
            ):
                raise AbortFlow("already_configured")

    def _update(self, entry: ConfigEntry) -> ConfigFlowResult:
        """Give the entry the server that was found; its agents stay."""
        named_after_server = entry.title == short_name(entry.data[CONF_BASE_URL])
        title = short_name(self._base_url) if named_after_server else entry.title
        if entry.update_listeners:  # they reload the entry
            return self.async_update_and_abort(entry, data=self._data(), title=title)
        return self.async_update_reload_and_abort(entry, data=self._data(), title=title)

    def _show_server(self, step_id: str, errors: dict[str, str] | None = None) -> ConfigFlowResult:
        typed = {CONF_BASE_URL: self._typed_url} | self._shown_key()
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(_SERVER_SCHEMA, typed),
            errors=errors,
            description_placeholders={"url": self._typed_url, "example_url": _EXAMPLE_URL},
        )

    def _shown_key(self) -> dict[str, str]:
        return {CONF_API_KEY: _KNOWN_KEY} if self._api_key else {}

    def _show_model(self, model: str, errors: dict[str, str] | None = None) -> ConfigFlowResult:
        schema = vol.Schema({vol.Required(CONF_MODEL): model_selector(self._models)})
        return self.async_show_form(
            step_id="model",
            data_schema=self.add_suggested_values_to_schema(schema, {CONF_MODEL: model} if model else {}),
            errors=errors,
            description_placeholders={"url": self._base_url},
        )


def _first_agent(title: str, data: Mapping[str, object]) -> ConfigSubentryData:
    return ConfigSubentryData(data=data, subentry_type=SUBENTRY_CONVERSATION, title=title, unique_id=None)


def _models_of(entry: ConfigEntry | None) -> list[str]:
    """Return the models that the agents of an entry use, each once."""
    agents = entry.get_subentries_of_type(SUBENTRY_CONVERSATION) if entry else []
    return list(dict.fromkeys(agent.data[CONF_MODEL] for agent in agents))


def _may_be_a_key(key: str) -> bool:
    """Tell whether a key can travel in an HTTP header; our dots, for one, cannot."""
    return key.isascii() and key.isprintable() and " " not in key
