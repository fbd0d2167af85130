"""The config flow of a service: adding it, a new key, and another server."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, override

import voluptuous as vol
from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.config_entries import (
    SOURCE_REAUTH,
    ConfigEntry,
    ConfigFlowResult,
    ConfigSubentryData,
    ConfigSubentryFlow,
)
from homeassistant.const import CONF_API_KEY, CONF_MODEL, CONF_NAME
from homeassistant.core import callback
from homeassistant.data_entry_flow import AbortFlow, UnknownFlow
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er

from .agent.errors import ProviderError, ProviderRejectedKey, ProviderReplyInvalid
from .agent.messages import paragraphs
from .agent.providers.http_provider import HTTPProvider
from .agent.providers.profiles import OTHER, PROFILES
from .agent.wire.model_lists import ChatModel
from .const import (
    CONF_BASE_URL,
    CONF_KIND,
    CONF_SERVER,
    DOMAIN,
    ENTRY_VERSION,
    SUBENTRY_AI_TASK,
    SUBENTRY_CONVERSATION,
    ServiceKind,
)
from .flows.agent_flow import ConversationAgentFlow
from .flows.dialog import (
    FormInput,
    FormValues,
    async_viewer_language,
    async_viewer_sentences,
    docs_url,
    escaped,
)
from .flows.first_agent import (
    FIELD_AI_TASK,
    FIELD_USE_IN,
    FirstAgentForm,
    async_ready,
    async_use_agent,
)
from .flows.model_flow import (
    AITaskFlow,
    async_chat_model_selector,
    model_title,
    only_model,
)
from .flows.moving_in import MovingIn, foreign_agents
from .flows.service_checks import (
    AnswerTimes,
    TightWindow,
    ToolTrial,
    answering_interface,
    async_home_prompt,
    async_tight_window,
    check_key,
    measure,
    models_of,
    try_out,
)
from .flows.service_form import (
    INTERFACES,
    INTERNET_SCHEMA,
    KEY_SCHEMA,
    RECONFIGURE_SCHEMA,
    TypedService,
    example_address,
    key_pages,
    own_server_schema,
    title_of,
)
from .flows.service_options import ServiceOptions
from .runtime.composition import model_server, reads_free
from .runtime.discovery import FoundServer, async_find_servers, async_profile_at
from .runtime.models import offered_chat_models
from .settings.agent import AgentSettings, EntryData, settings_of
from .settings.options import new_agent_data
from .settings.rules import HomeRules, async_get_home_rules
from .settings.service_address import InvalidAddress, parse_address, place_of
from .settings.tasks import new_task_data, task_settings_of
from .speech.sentences import Sentences, async_error_text, async_get_sentences

_STEP_INTERNET: Final = "internet"
_STEP_OWN_SERVER: Final = "own_server"
_STEP_SERVER: Final = "server"
_STEP_FIRST_AGENT: Final = "first_agent"
_STEP_NO_TOOLS: Final = "no_tools"
_NO_MODEL: Final = AgentSettings()
_MOST_OFFERED: Final = 4
"""Models of one server that are a choice of their own in the menu; the others are behind one more."""
_MOST_DESCRIBED: Final = 15
"""Choices for which the translations have a second line, which tells the server."""


class ChatterboxConfigFlow(MovingIn, ServiceOptions, domain=DOMAIN):
    """From "Add integration" to an entry with its first conversation agent and, with a model, its first AI task."""

    VERSION = ENTRY_VERSION
    MINOR_VERSION = 1

    def __init__(self) -> None:
        """Start with nothing typed and no server found."""
        self._service = TypedService.new(OTHER)
        self._asks_key = False
        self._models: list[ChatModel] = []
        self._model = ""
        self._trial: ToolTrial | None = None
        """Of the model, where there is one."""
        self._tight_window: TightWindow | None = None
        self._measuring: asyncio.Task[AnswerTimes | None] | None = None
        """Measures the model while the last form is filled in; nobody waits for it."""
        self._use_in: list[str] = []
        self._known_servers = ""
        """A sentence about servers in the home that are set up already."""
        self._change_rules: Callable[[HomeRules], HomeRules] | None = None
        self._is_sent = False
        """Whether the last form was accepted."""

    @classmethod
    @callback
    @override
    def async_get_supported_subentry_types(
        cls, config_entry: ConfigEntry
    ) -> dict[str, type[ConfigSubentryFlow]]:
        """Let every service have any number of conversation agents and, with a model, of AI tasks."""
        if config_entry.data.get(CONF_KIND) == ServiceKind.OFFLINE:
            return {SUBENTRY_CONVERSATION: ConversationAgentFlow}
        return {
            SUBENTRY_CONVERSATION: ConversationAgentFlow,
            SUBENTRY_AI_TASK: AITaskFlow,
        }

    @override
    async def async_step_user(self, user_input: FormInput = None) -> ConfigFlowResult:
        """Ask where the model runs; there is one service without a model at most."""
        options = [
            "in_my_home",
            _STEP_INTERNET,
            ServiceKind.OFFLINE.value,
        ]
        entries = self._async_current_entries()
        if any(entry.data.get(CONF_KIND) == ServiceKind.OFFLINE for entry in entries):
            options.pop()
        if any(foreign_agents(self.hass)):
            options.append("move_in")
        return self.async_show_menu(
            step_id="user",
            menu_options=options,
            description_placeholders=self._placeholders(),
        )

    async def async_step_offline(
        self,
        user_input: FormInput = None,  # noqa: ARG002 a menu brings nothing
    ) -> ConfigFlowResult:
        """Add the offline service, which needs nothing."""
        self._async_abort_entries_match({CONF_KIND: ServiceKind.OFFLINE})
        self._service = replace(self._service, kind=ServiceKind.OFFLINE)
        return await self.async_step_first_agent()

    async def async_step_in_my_home(
        self,
        user_input: FormInput = None,  # noqa: ARG002 a menu brings nothing
    ) -> ConfigFlowResult:
        """Look for servers, and offer the models of those that are there."""
        sentences = await async_viewer_sentences(self.hass)
        every = await async_find_servers(self.hass)
        found = [one for one in every if not self._entry_at(one)]
        known = (
            f"**{escaped(self._name_of(one, sentences))}**"
            for one in every
            if self._entry_at(one)
        )
        names = ", ".join(dict.fromkeys(known))
        self._known_servers = (
            sentences["already_set_up"].format(names=names) + "\n\n" if names else ""
        )
        most = min(
            _MOST_OFFERED,
            _MOST_DESCRIBED // max(len(found), 1) - 1,
        )
        options = dict[str, str]()
        places = dict[str, str]()
        for server in found:
            offered = [
                (one.name, model_title(one.name), one.uses_tools)
                for one in server.models[:most]
            ]
            if len(offered) < len(server.models) or not server.models:
                key = "found_more" if server.models else "found_empty"
                offered.append(
                    ("", sentences[key].format(count=len(server.models)), None)
                )
            for model, label, uses_tools in offered:
                step = self._add_step(len(options), server, model)
                options[step] = (
                    sentences["model_talks"].format(model=label)
                    if uses_tools is False
                    else label
                )
                places[step] = title_of(server.service, sentences)
        if not options:
            return await self.async_step_own_server()
        return self.async_show_menu(
            step_id="in_my_home",
            menu_options=options | {_STEP_OWN_SERVER: sentences["other_address"]},
            description_placeholders=self._placeholders("in_my_home") | places,
        )

    def _entry_at(self, server: FoundServer) -> ConfigEntry | None:
        """Return an entry of a server that was found, whatever its key and interface."""
        place = place_of(server.base_url)
        services = (
            one for one in self._async_current_entries() if CONF_BASE_URL in one.data
        )
        return next(
            (one for one in services if place_of(one.data[CONF_BASE_URL]) == place),
            None,
        )

    def _name_of(
        self,
        server: FoundServer,
        sentences: Sentences,
    ) -> str:
        """Return the usual name of a server that was found, and that of its entry where it was renamed."""
        entry = self._entry_at(server)
        usual = title_of(server.service, sentences)
        if entry and entry.title not in usual:
            return f"{usual} ({entry.title})"
        return usual

    def _add_step(
        self,
        number: int,
        server: FoundServer,
        model: str,
    ) -> str:
        """Add the step behind a choice of the menu: Home Assistant finds the steps of a flow by their names."""
        setattr(
            self, f"async_step_found_{number}", partial(self._async_take, server, model)
        )
        return f"found_{number}"

    async def _async_take(
        self,
        server: FoundServer,
        model: str,
        user_input: FormInput = None,  # noqa: ARG002 a menu brings nothing
    ) -> ConfigFlowResult:
        self._service = TypedService.new(
            server.profile,
            server.base_url,
        )
        self._models = list(server.models)
        return await (self._async_try(model) if model else self.async_step_model())

    async def async_step_internet(
        self, user_input: FormInput = None
    ) -> ConfigFlowResult:
        """Ask for a service on the internet and its key, and connect."""
        return await self._async_connect_first(_STEP_INTERNET, user_input)

    async def async_step_own_server(
        self, user_input: FormInput = None
    ) -> ConfigFlowResult:
        """Ask for the address of a server that somebody runs, and connect."""
        return await self._async_connect_first(_STEP_OWN_SERVER, user_input)

    async def async_step_model(self, user_input: FormInput = None) -> ConfigFlowResult:
        """Ask for the model of the first agent, and try it."""
        if user_input is None:
            return await self._async_show_model(
                self._model or only_model([model.name for model in self._models])
            )
        model = user_input[CONF_MODEL].strip()
        if not model:
            return await self._async_show_model(model, {CONF_MODEL: "model_missing"})
        return await self._async_try(model)

    async def _async_try(self, model: str) -> ConfigFlowResult:
        """Have a model use a tool. One that only talks is taken if somebody wants it nevertheless."""
        self._model = model
        settings = AgentSettings(model)
        try:
            try:
                self._trial = await try_out(self._server(settings))
            except ProviderReplyInvalid:
                # Only now the interface was used: some servers list their models over
                # others, too.
                await self._async_change_interface(model)
                self._trial = await try_out(self._server(settings))
        except (ProviderRejectedKey, ProviderReplyInvalid) as error:
            return self._show_service(
                self._connect_step,
                self._refuse(error),
            )
        except ProviderError as error:
            return await self._async_show_model(
                model,
                self._refuse(error, CONF_MODEL),
            )
        agent = settings_of(new_agent_data(self._service.kind, model))
        prompt = await async_home_prompt(self.hass, agent)
        self._tight_window = await async_tight_window(
            self.hass, self._server(agent), self._service.data, agent, prompt
        )
        self.async_remove()
        if self._trial.uses_tools and reads_free(self._service.data, agent):
            measuring = measure(
                self._server(settings),
                self._trial,
                prompt,
            )
            self._measuring = self.hass.async_create_task(
                measuring, "chatterbox measurement of a model"
            )
        if self._tight_window:
            return await self.async_step_small_window()
        if self._trial.uses_tools:
            return await self.async_step_first_agent()
        return await self.async_step_no_tools()

    @callback
    @override
    def async_remove(self) -> None:
        """Stop to measure, when another model was chosen or the dialog ends."""
        if self._measuring:
            self._measuring.cancel()
            self._measuring = None

    @property
    def _times(self) -> AnswerTimes | None:
        """The measured times, if the measurement has ended in time."""
        task = self._measuring
        is_done = task and task.done() and not task.cancelled() and not task.exception()
        if task and is_done:
            return task.result()
        return None

    async def async_step_small_window(
        self,
        user_input: FormInput = None,  # noqa: ARG002 a menu brings nothing
    ) -> ConfigFlowResult:
        """Warn of a window that the prompt of the home nearly fills."""
        uses_tools = self._trial is not None and self._trial.uses_tools
        next_step = _STEP_FIRST_AGENT if uses_tools else _STEP_NO_TOOLS
        return await self._async_warn(
            "small_window",
            self._tight_window,
            next_step,
        )

    async def async_step_no_tools(
        self,
        user_input: FormInput = None,  # noqa: ARG002 a menu brings nothing
    ) -> ConfigFlowResult:
        """Warn of a model that only talked, or of a server that refuses tools."""
        return await self._async_warn(
            _STEP_NO_TOOLS,
            self._trial,
            _STEP_FIRST_AGENT,
        )

    async def _async_warn(
        self,
        step_id: str,
        reason: ToolTrial | TightWindow | None,
        next_step: str,
    ) -> ConfigFlowResult:
        """Let another model be chosen, or go on with this one."""
        sentences = await async_viewer_sentences(self.hass)
        model = model_title(self._model)
        trial = {"trial": reason.warning(sentences, model) if reason else ""}
        return self.async_show_menu(
            step_id=step_id,
            menu_options=[CONF_MODEL, next_step],
            description_placeholders=self._placeholders(step_id) | trial,
        )

    async def async_step_first_agent(
        self, user_input: FormInput = None
    ) -> ConfigFlowResult:
        """Ask for the name of the first agent and who uses it, and create the entry."""
        form = await FirstAgentForm.async_of(
            self.hass,
            self._service.kind,
            self._model,
        )
        errors = form.errors(user_input) if user_input else {}
        if not user_input or errors:
            return self.async_show_form(
                step_id=_STEP_FIRST_AGENT,
                data_schema=self.add_suggested_values_to_schema(
                    form.schema, user_input or form.suggested
                ),
                errors=errors,
                description_placeholders={
                    "docs": docs_url(self.hass, _STEP_FIRST_AGENT),
                    "asked": form.approval,
                    "trial": self._trial_sentence(form.sentences),
                },
            )
        self._use_in = user_input.get(FIELD_USE_IN, [])
        self._change_rules = await form.async_change(user_input)
        subentries = [self._first_agent(user_input[CONF_NAME].strip())]
        if user_input.get(FIELD_AI_TASK):
            subentries.append(self._first_task(form.sentences))
        data = self._service.data
        title = form.sentences["entry_title_offline"]
        if self._service.kind is ServiceKind.OFFLINE:
            data = {CONF_KIND: self._service.kind.value}
        else:
            title = title_of(data, form.sentences)
        # From here on, nothing is awaited: the form may be sent twice, and another
        # dialog may have been faster.
        if self._is_sent:
            raise UnknownFlow
        self._is_sent = True
        if self._entry_of(data):
            return self.async_abort(reason="already_configured")
        return self.async_create_entry(
            title=title,
            data=data,
            subentries=subentries,
        )

    def _first_agent(self, name: str) -> ConfigSubentryData:
        agent = new_agent_data(self._service.kind, self._model) | self._waits(_NO_MODEL)
        agent |= self._times.stored if self._times else {}
        return _subentry(
            SUBENTRY_CONVERSATION,
            name,
            agent,
        )

    def _first_task(self, sentences: Sentences) -> ConfigSubentryData:
        model = model_title(self._model)
        title = sentences["first_ai_task_title"].format(model=model)
        task = new_task_data(self._model) | self._waits(task_settings_of({}))
        return _subentry(
            SUBENTRY_AI_TASK,
            title,
            task,
        )

    def _waits(self, settings: AgentSettings) -> dict[str, float]:
        if self._trial:
            return self._trial.waits(settings, self._times)
        return {}

    def _trial_sentence(self, sentences: Sentences) -> str:
        if not self._trial or not self._trial.uses_tools:
            return ""
        sentence = sentences["trial_slow" if self._waits(_NO_MODEL) else "trial_passed"]
        return sentence.format(seconds=max(round(self._trial.seconds), 1))

    @override
    async def async_on_create_entry(self, result: ConfigFlowResult) -> ConfigFlowResult:
        """Take the PIN, have the chosen assistants use the agent, and say what one could ask it."""
        rules = async_get_home_rules(self.hass)
        problem = ""
        if self._change_rules:
            try:
                await rules.async_enter(self._change_rules(rules.stored))
            except HomeAssistantError as error:
                language = await async_viewer_language(self.hass)
                problem = f"**PIN:** {await async_error_text(self.hass, language, str(error.translation_key))}"
        (agent,) = result["result"].get_subentries_of_type(SUBENTRY_CONVERSATION)
        registry = er.async_get(self.hass)
        entity_id = registry.async_get_entity_id(
            CONVERSATION_DOMAIN, DOMAIN, agent.subentry_id
        )
        if entity_id:
            await async_use_agent(
                self.hass,
                entity_id,
                agent.title,
                self._use_in,
            )
        ready = await async_ready(
            self.hass, self._service.kind, agent.title, self._use_in, agent.data
        )
        ready["try_it"] = paragraphs(problem, ready["try_it"])
        result["description"] = "ready"
        result["description_placeholders"] = ready
        return result

    async def async_step_reauth(
        self,
        entry_data: EntryData,  # noqa: ARG002 the entry is asked itself
    ) -> ConfigFlowResult:
        """Begin when the service no longer accepts its key."""
        self._service = replace(
            TypedService.stored(self._get_reauth_entry().data), api_key=None
        )
        return await self.async_step_reauth_confirm()

    async def async_step_reauth_confirm(
        self, user_input: FormInput = None
    ) -> ConfigFlowResult:
        """Ask for a new key, and try it."""
        entry = self._get_reauth_entry()
        errors: dict[str, str] = {}
        if user_input is not None:
            errors = await self._async_connect(
                user_input | {CONF_BASE_URL: entry.data[CONF_BASE_URL]},
                entry,
            )
            if not errors:
                return await self._async_update(entry)
        return self.async_show_form(
            step_id="reauth_confirm",
            data_schema=self.add_suggested_values_to_schema(
                KEY_SCHEMA, self._service.shown_key
            ),
            # There is one field only: what is wrong with anything else is said above
            # it.
            errors={
                field if field == CONF_API_KEY else "base": key
                for field, key in reversed(errors.items())
            },
            description_placeholders=self._placeholders(),
        )

    async def async_step_reconfigure(
        self,
        user_input: FormInput = None,  # noqa: ARG002 a menu brings nothing
    ) -> ConfigFlowResult:
        """Ask what to change. The gear that people see first is that of an agent: a service has no options flow."""
        entry = self._get_reconfigure_entry()
        if entry.version > ENTRY_VERSION:
            return self.async_abort(reason="newer_entry")
        if entry.data[CONF_KIND] == ServiceKind.OFFLINE:
            return await self.async_step_options()
        return self.async_show_menu(
            step_id="reconfigure",
            menu_options=[_STEP_SERVER, "options"],
            description_placeholders={
                "docs": docs_url(
                    self.hass,
                    "reconfigure",
                )
            },
        )

    async def async_step_server(self, user_input: FormInput = None) -> ConfigFlowResult:
        """Ask for another server, address, key or interface, and try them."""
        entry = self._get_reconfigure_entry()
        if user_input is None:
            self._service = TypedService.stored(entry.data)
            return self._show_service(_STEP_SERVER)
        errors = await self._async_connect(user_input, entry)
        if errors:
            return self._show_service(_STEP_SERVER, errors)
        return await self._async_update(entry)

    @property
    def _connect_step(self) -> str:
        if self._service.known.host:
            return _STEP_INTERNET
        return _STEP_OWN_SERVER

    async def _async_connect_first(
        self, step_id: str, user_input: FormValues | None
    ) -> ConfigFlowResult:
        if user_input is None:
            self._service = TypedService.new(OTHER)
            return self._show_service(step_id)
        if step_id == _STEP_OWN_SERVER:
            with suppress(InvalidAddress):
                url = parse_address(user_input[CONF_BASE_URL])
                profile = await async_profile_at(self.hass, url)
                self._service = replace(
                    TypedService.new(
                        profile,
                        url,
                    ),
                    api_key=self._service.api_key,
                )
        errors = await self._async_connect(user_input)
        if errors:
            return self._show_service(step_id, errors)
        return await self.async_step_model()

    async def _async_connect(
        self, user_input: FormValues, entry: ConfigEntry | None = None
    ) -> dict[str, str]:
        """Remember what was typed and find the server; return the errors by field.

        With an entry, the models of its agents are tried too: some servers look at the
        key only then. Aborts when another entry is that server with that key already.
        """
        self._service = self._service.with_form(user_input)
        errors = self._service.errors()
        if errors:
            if CONF_API_KEY in errors:
                self._service = replace(self._service, api_key=None)
            return errors
        self._service = replace(
            self._service, base_url=parse_address(self._service.base_url)
        )
        models = models_of(entry)
        try:
            try:
                await self._async_ask(models)
            except ProviderReplyInvalid:
                if self.source == SOURCE_REAUTH:  # that form can only change the key
                    raise
                await self._async_change_interface(models[0].model if models else "")
                await self._async_ask(models)
        except ProviderError as error:
            return self._refuse(error)
        return {}

    async def _async_ask(self, models: Iterable[AgentSettings]) -> None:
        if self._entry_of(self._service.data):
            raise AbortFlow("already_configured")
        self._models = await offered_chat_models(self._server())
        await check_key(self._server(settings) for settings in models)

    def _server(self, settings: AgentSettings = _NO_MODEL) -> HTTPProvider:
        return model_server(
            self.hass,
            self._service.data,
            settings,
        )

    async def _async_change_interface(self, model: str) -> None:
        """Take another interface over which the server answers, if there is one."""
        settings = AgentSettings(model)
        servers = {
            one: model_server(
                self.hass,
                one.data,
                settings,
            )
            for one in self._service.others
        }
        self._service = (
            await answering_interface(
                servers,
                has_model=bool(model),
            )
            or self._service
        )

    @override
    def _refuse(
        self, error: ProviderError, field: str = CONF_BASE_URL
    ) -> dict[str, str]:
        """Do not keep a key that was refused, either."""
        if isinstance(error, ProviderRejectedKey):
            self._service = replace(self._service, api_key=None)
        return super()._refuse(error, field)

    async def _async_update(self, entry: ConfigEntry) -> ConfigFlowResult:
        """Give the entry the server that was found; its agents stay."""
        data = self._service.data
        sentences = await async_get_sentences(self.hass)
        if entry.title == title_of(entry.data, sentences):
            title = title_of(data, sentences)
        else:
            title = entry.title
        if entry.update_listeners:  # they reload the entry
            finish = self.async_update_and_abort
        else:
            finish = self.async_update_reload_and_abort
        return finish(
            entry,
            data=data,
            title=title,
        )

    def _show_service(
        self, step_id: str, errors: Mapping[str, str] | None = None
    ) -> ConfigFlowResult:
        self._asks_key = self._asks_key or CONF_API_KEY in (errors or ())
        own = own_server_schema(asks_key=self._asks_key)
        schema = {
            _STEP_INTERNET: INTERNET_SCHEMA,
            _STEP_SERVER: RECONFIGURE_SCHEMA,
        }.get(step_id, own)
        is_new = self._service.known is OTHER and not self._service.base_url
        # The address of a service on the internet is in a closed section.
        field = CONF_BASE_URL if CONF_BASE_URL in schema.schema else CONF_SERVER
        field_errors = {
            field if name == CONF_BASE_URL else name: key
            for name, key in (errors or {}).items()
        }
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(
                schema, {} if is_new else self._service.form
            ),
            errors=field_errors,
            description_placeholders=self._placeholders(step_id),
        )

    def _placeholders(self, step_id: str = "") -> dict[str, str]:
        service = self._service
        known = [service.known] if self.source == SOURCE_REAUTH else PROFILES.values()
        return {
            "url": service.base_url,
            "key_pages": key_pages(known),
            "example_url": example_address(service.known),
            "server": service.known.name,
            "interface": INTERFACES[service.kind],
            "words": self._words,
            "location": self._location,
            "known": self._known_servers,
            "docs": docs_url(self.hass, step_id),
        }

    async def _async_show_model(
        self, model: str, errors: dict[str, str] | None = None
    ) -> ConfigFlowResult:
        field = await async_chat_model_selector(
            self.hass, self._service.data, self._models
        )
        suggested = {CONF_MODEL: model} if model else {}
        return self.async_show_form(
            step_id="model",
            data_schema=self.add_suggested_values_to_schema(
                vol.Schema({vol.Required(CONF_MODEL): field}), suggested
            ),
            errors=errors,
            description_placeholders=self._placeholders(),
        )


def _subentry(subentry_type: str, title: str, data: EntryData) -> ConfigSubentryData:
    return ConfigSubentryData(
        data=data, subentry_type=subentry_type, title=title, unique_id=None
    )
