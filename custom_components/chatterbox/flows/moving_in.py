"""Moving in: agents of other integrations, read from their entries, and the steps that add a copy of one.

Nothing of the other integration is changed. Its constants and texts are only asked for
names and defaults.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import voluptuous as vol
from homeassistant.config_entries import (
    SOURCE_IGNORE,
    ConfigEntry,
    ConfigFlow,
    ConfigFlowResult,
    ConfigSubentry,
    ConfigSubentryData,
)
from homeassistant.const import (
    CONF_API_KEY,
    CONF_LLM_HASS_API,
    CONF_MODEL,
    CONF_NAME,
    CONF_PROMPT,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.selector import BooleanSelector, TextSelector
from homeassistant.helpers.translation import async_get_translations
from homeassistant.loader import async_get_integrations
from yarl import URL

from ..agent.errors import ProviderError, ProviderRejectedKey, ProviderReplyInvalid
from ..agent.json.text import as_list
from ..agent.providers.profiles import OTHER, PROFILES
from ..agent.text import read_data_file
from ..const import (
    CONF_BASE_URL,
    CONF_KIND,
    CONF_WEB_SEARCH,
    ENTRY_VERSION,
    LOGGER,
    SUBENTRY_CONVERSATION,
    ServiceKind,
)
from ..runtime.composition import is_same_server, known_server, model_server
from ..settings.agent import EntryData, WebSearch, settings_of
from ..settings.options import NUMBERS, find_problems, new_agent_data, set_options
from ..settings.service_address import InvalidAddress, parse_address
from ..speech.sentences import async_get_sentences, error_key
from .dialog import (
    FormInput,
    FormValues,
    async_viewer_language,
    async_viewer_sentences,
    choice,
    docs_url,
    escaped,
    labelled,
)
from .service_checks import async_home_prompt, async_tight_window
from .service_form import INTERFACES, PASSWORD, TypedService, title_of

_FIELD_AGENT: Final = "agent"
_FIELD_TAKE_KEY: Final = "take_key"
_NOT_NAMED: Final = frozenset({"recommended", CONF_NAME})
"""Options of others that say nothing about an agent."""
_MEANS_OFF: Final[tuple[object, ...]] = (
    None,
    False,
    "",
    [],
    {},
    "off",
    "none",
    "disabled",
)
_OWN_LIST: Final = "exposed_entities"
"""A variable in templates of others that lists the home, which Chatterbox does by itself."""
_ORGANIZATION: Final = "organization"
_AZURE: Final = re.compile(r"\.azure\.com$|\.azure-api\.net$")
"""Fits hosts with an interface of its own, where the key is in another header."""


@dataclass(frozen=True, slots=True)
class _Source:
    """How the entries of an integration are read; see `moving_in.toml`."""

    server: str
    """The ID of the profile of its server."""
    options: Mapping[str, str]
    """Our options by those of the integration."""
    address: str = ""
    """The key of the address in its entries; empty for that of the profile."""
    kind: ServiceKind | None = None
    """None for that of the profile."""


_SOURCES: Final = read_data_file(__file__, dict[str, _Source])
"""By domain."""


@dataclass(frozen=True, slots=True)
class ForeignAgent:
    """An agent of another integration."""

    entry: ConfigEntry
    title: str
    stored: EntryData
    """Its options."""

    @property
    def source(self) -> _Source:
        """How it is read."""
        return _SOURCES[self.entry.domain]

    @property
    def service(self) -> TypedService:
        """Its server, without the key.

        Raises `InvalidAddress` for an address that cannot be carried over: no other
        server may ever get the key.
        """
        source = self.source
        service = TypedService.new(PROFILES[self.source.server])
        url = self._address or service.base_url
        if source.server == "openai" and url != service.base_url:
            service = TypedService.new(OTHER)
        return replace(
            service,
            base_url=url,
            kind=source.kind or service.kind,
        )

    @property
    def _address(self) -> str:
        """The address in its entry, empty for the usual one of an internet service."""
        source = self.source
        data = self.entry.data
        typed = str(data.get(source.address) or "").strip()
        # A variant of an integration may have an address where the original has none.
        others = (
            value
            for name, value in data.items()
            if name not in {source.address, CONF_API_KEY}
        )
        has_other = any(isinstance(value, str) and "://" in value for value in others)
        if has_other or (
            "://" not in typed if typed else not PROFILES[source.server].host
        ):
            raise InvalidAddress("invalid_url")
        url = parse_address(typed) if typed else ""
        if _AZURE.search(URL(url).host or "") or "azure" in (
            data.get("api_provider"),
            data.get("api_type"),
        ):
            raise InvalidAddress("azure")
        return url

    @property
    def key(self) -> str | None:
        """Its API key, if it has one."""
        key: str | None = self.entry.data.get(CONF_API_KEY)
        return key or None

    @property
    def data(self) -> dict[str, Any]:
        """The stored data of the copy: all options that Chatterbox has, too, within its bounds."""
        data = new_agent_data(
            self.service.kind,
            self._model,
        )
        for theirs, ours in self.source.options.items():
            if ours != CONF_MODEL and (value := self._carried(theirs)) is not None:
                data[ours] = value
        apis = self.stored.get(
            CONF_LLM_HASS_API,
            [llm.LLM_API_ASSIST]
            if self.entry.domain == "extended_openai_conversation"
            else [],
        )
        data[CONF_LLM_HASS_API] = [
            api for api in as_list(apis) if isinstance(api, str) and api
        ]
        return data

    async def async_left(self, hass: HomeAssistant) -> list[str]:
        """Return the names of the options that cannot be carried over, as the other integration calls them."""
        known = dict[str, str]()
        language = await async_viewer_language(hass)
        for category in ("config", "options", "config_subentries"):
            texts = await async_get_translations(
                hass, language, category, [self.entry.domain]
            )
            known |= {
                key.rpartition(".")[2]: text
                for key, text in texts.items()
                if ".data." in key
            }
        names = [
            name
            for name, value in self.stored.items()
            if value not in _MEANS_OFF and name not in _NOT_NAMED
        ]
        left = [name for name in names if self._carried(name) is None]
        left += [_ORGANIZATION] if self.entry.data.get(_ORGANIZATION) else []
        return [known.get(name, name) for name in left]

    def _carried(self, name: str) -> Any:
        """Return the value of an option as it is stored here; None if it is not set or has no equal here."""
        value = self.stored.get(name)
        ours = self.source.options.get(name)
        if ours is None or (
            name == CONF_PROMPT
            and not (isinstance(value, str) and _OWN_LIST not in value)
        ):
            return None
        if ours == CONF_WEB_SEARCH:
            return self._carried_search(value)
        number = NUMBERS.get(ours)
        if number:
            if value in (None, ""):
                return None
            try:
                value = float(value)
            except TypeError, ValueError:
                return None
            if number.step == 1 and value.is_integer():
                value = int(value)
        if dict(set_options({ours: value})) and not find_problems({ours: value}):
            return value
        return None

    def _carried_search(self, value: object) -> str | None:
        """Return that the service searches the web by itself, if that is set and the service can over our format."""
        service = self.service
        can = known_server(service.data).searches_over(service.kind)
        if value not in _MEANS_OFF and can:
            return WebSearch.SERVICE.value
        return None

    @property
    def _model(self) -> str:
        """Its model, or the one that its integration takes where none was chosen; empty while that is not loaded."""
        name = next(
            theirs for theirs, ours in self.source.options.items() if ours == CONF_MODEL
        )
        defaults = sys.modules.get(
            f"homeassistant.components.{self.entry.domain}.const"
        )
        known = getattr(defaults, "DEFAULT", {}).get(name) or getattr(
            defaults, "RECOMMENDED_CHAT_MODEL", ""
        )
        model = self.stored.get(name) or self.entry.data.get(name) or known
        return str(model).removeprefix("models/")


def foreign_agents(hass: HomeAssistant) -> Iterator[ForeignAgent]:
    """Yield the agents of other integrations that can be copied."""
    for domain in _SOURCES:
        for entry in hass.config_entries.async_entries(domain, include_ignore=False):
            if entry.source == SOURCE_IGNORE:
                continue
            agents = entry.get_subentries_of_type("conversation")
            for agent in agents:
                yield ForeignAgent(
                    entry,
                    agent.title,
                    agent.data,
                )
            if not agents and entry.options:  # as before there were subentries
                yield ForeignAgent(
                    entry,
                    entry.title,
                    entry.options,
                )


class MovingIn(ConfigFlow):
    """The steps that add a copy of an agent of another integration, beside it."""

    _foreign: ForeignAgent
    _words = ""
    _location = ""
    """Of the service, when it last refused something."""
    _warned_of = ""
    """The warning that was shown last."""

    async def async_step_move_in(
        self, user_input: FormInput = None
    ) -> ConfigFlowResult:
        """Ask which agent to copy."""
        agents = list(foreign_agents(self.hass))
        if user_input is not None:
            self._foreign = agents[int(user_input[_FIELD_AGENT])]
            return await self.async_step_move_in_agent()
        # An integration may have been removed, and its entries not.
        sources = await async_get_integrations(
            self.hass, {one.entry.domain for one in agents}
        )
        names = {
            domain: domain if isinstance(one, Exception) else one.name
            for domain, one in sources.items()
        }
        labels = [
            f"{one.title} ({names[one.entry.domain]}: {one.entry.title})"
            for one in agents
        ]
        options = {str(number): label for number, label in enumerate(labels)}
        field = choice(options=labelled(options))
        return self.async_show_form(
            step_id="move_in",
            data_schema=vol.Schema({vol.Required(_FIELD_AGENT): field}),
            description_placeholders={
                "docs": docs_url(
                    self.hass,
                    "move_in",
                )
            },
        )

    async def async_step_move_in_agent(
        self, user_input: FormInput = None
    ) -> ConfigFlowResult:
        """Say what is carried over and what is not, ask for the key, try the model, and add the copy."""
        foreign = self._foreign
        errors = dict[str, str]()
        try:
            copied = foreign.service
        except InvalidAddress as invalid:
            return self.async_abort(
                reason=f"move_in_{invalid}",
                description_placeholders={"agent": escaped(foreign.title)},
            )
        data = foreign.data
        if user_input is not None:
            data[CONF_MODEL] = user_input[CONF_MODEL].strip()
            own = foreign.key if user_input.get(_FIELD_TAKE_KEY) else None
            service = replace(
                copied, api_key=user_input.get(CONF_API_KEY, "").strip() or own
            )
            errors = service.errors()
            errors = errors or await self._async_try_copy(service, data)
            if not errors:
                return await self._async_add(
                    service, user_input[CONF_NAME].strip() or foreign.title, data
                )
        return await self._async_show_copy(
            copied, user_input or {CONF_MODEL: data[CONF_MODEL]}, errors
        )

    async def _async_try_copy(
        self, service: TypedService, data: EntryData
    ) -> dict[str, str]:
        """Try the model, and return the errors by field.

        A window that is small for the home is an error the first time.
        """
        if not data[CONF_MODEL]:
            return {CONF_MODEL: "model_missing"}
        settings = settings_of(data)
        server = model_server(
            self.hass,
            service.data,
            settings,
        )
        try:
            await server.check()
        except ProviderError as error:
            return self._refuse(error, CONF_MODEL)
        prompt = await async_home_prompt(self.hass, settings)
        tight = await async_tight_window(
            self.hass, server, service.data, settings, prompt
        )
        sentences = await async_viewer_sentences(self.hass)
        if tight:
            warning = tight.warning(sentences, settings.model)
        else:
            warning = ""
        is_news = warning != self._warned_of
        self._warned_of = warning
        if warning and is_news:
            return {CONF_MODEL: "model_warning"}
        return {}

    def _refuse(
        self,
        error: ProviderError,
        field: str,
    ) -> dict[str, str]:
        """Put an error at the field that mends it, beside what the service said."""
        LOGGER.debug("The server cannot be used: %s", error)
        self._words = error.words
        if isinstance(error, ProviderReplyInvalid):
            self._location = error.location
        else:
            self._location = ""
        field = CONF_API_KEY if isinstance(error, ProviderRejectedKey) else field
        if self._location:
            key = "redirected"
        else:
            key = error_key(error)
        return {field: key} | ({"base": "service_said"} if self._words else {})

    async def _async_show_copy(
        self,
        service: TypedService,
        form: FormValues,
        errors: Mapping[str, str],
    ) -> ConfigFlowResult:
        foreign = self._foreign
        left = await foreign.async_left(self.hass)
        text = TextSelector()
        fields: dict[vol.Marker, Any] = {
            vol.Required(CONF_NAME): text,
            vol.Required(CONF_MODEL): text,
        }
        if foreign.key:
            fields[vol.Optional(_FIELD_TAKE_KEY)] = BooleanSelector()
        fields[vol.Optional(CONF_API_KEY)] = PASSWORD
        suggested_values = {
            CONF_NAME: foreign.title,
            **form,
        }
        return self.async_show_form(
            step_id="move_in_agent",
            data_schema=self.add_suggested_values_to_schema(
                vol.Schema(fields), suggested_values
            ),
            errors={
                name if name in (*map(str, fields), "base") else "base": key
                for name, key in errors.items()
            },
            description_placeholders={
                "agent": escaped(foreign.title),
                "url": service.base_url,
                "server": service.known.name,
                "interface": INTERFACES[service.kind],
                "words": self._words,
                "location": self._location,
                "warning": self._warned_of,
                "left": ", ".join(map(escaped, left)) or "–",  # noqa: RUF001  # a dash in a sentence
                "docs": docs_url(self.hass, "move_in_agent"),
            },
        )

    def _entry_of(self, service: EntryData) -> ConfigEntry | None:
        """Return the entry, other than the one that is changed, of the same server with the same key, if any."""
        kind = ServiceKind(service[CONF_KIND])
        for entry in self._async_current_entries():
            if (
                entry.entry_id == self.context.get("entry_id")
                or entry.data.get(CONF_KIND) != kind
            ):
                continue
            if kind is ServiceKind.OFFLINE or (
                is_same_server(kind, entry.data[CONF_BASE_URL], service[CONF_BASE_URL])
                and entry.data.get(CONF_API_KEY) == service.get(CONF_API_KEY)
            ):
                return entry
        return None

    async def _async_add(
        self,
        service: TypedService,
        title: str,
        data: EntryData,
    ) -> ConfigFlowResult:
        """Add the copy to the entry of its service, or with a new one."""
        sentences = await async_get_sentences(self.hass)
        entry = self._entry_of(service.data)
        if entry:
            if entry.version > ENTRY_VERSION:
                return self.async_abort(reason="newer_entry")
            copy = ConfigSubentry(
                data=MappingProxyType(dict(data)),
                subentry_type=SUBENTRY_CONVERSATION,
                title=title,
                unique_id=None,
            )
            self.hass.config_entries.async_add_subentry(entry, copy)
            return self.async_abort(
                reason="moved_in", description_placeholders={"agent": title}
            )
        copied = ConfigSubentryData(
            data=data,
            subentry_type=SUBENTRY_CONVERSATION,
            title=title,
            unique_id=None,
        )
        return self.async_create_entry(
            title=title_of(service.data, sentences),
            data=service.data,
            subentries=[copied],
        )
