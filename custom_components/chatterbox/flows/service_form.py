"""The forms for a model server, their conversion to the data of a config entry, and the checks of the server."""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import voluptuous as vol
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_API_KEY
from homeassistant.data_entry_flow import section
from homeassistant.helpers import selector

from ..agent.errors import ModelNotFound, ProviderBusy, ProviderError, ProviderRejectedKey
from ..agent.providers.profiles import PROFILES, ServerProfile
from ..const import CONF_BASE_URL, CONF_KIND, CONF_SERVER, ServiceKind
from ..runtime.composition import known_server
from ..runtime.models import ModelServer, offered_models
from ..settings.agent import AgentSettings, settings_of
from ..settings.service_address import InvalidAddress, parse_address, short_name

EXAMPLE_URL: Final = "http://192.168.1.10:11434/v1"
SECTION_INTERFACE: Final = "interface"

INTERFACES: Final[Mapping[ServiceKind, str]] = {
    ServiceKind.OPENAI_CHAT: "Chat Completions",
    ServiceKind.OPENAI_RESPONSES: "Responses",
    ServiceKind.ANTHROPIC_MESSAGES: "Messages",
    ServiceKind.OLLAMA_CHAT: "Ollama",
}
"""The names of the interfaces, as their documentation calls them; they are not translated."""

_KNOWN_KEY: Final = "•" * 8
"""Stands for the present key, so that no form ever contains it."""

_ADDRESS: Final = selector.TextSelector(selector.TextSelectorConfig(type=selector.TextSelectorType.URL))
_PASSWORD: Final = selector.TextSelector(
    selector.TextSelectorConfig(type=selector.TextSelectorType.PASSWORD, autocomplete="off")
)

_SERVERS: Final = selector.SelectSelector(
    selector.SelectSelectorConfig(
        options=[selector.SelectOptionDict(value=server.id, label=server.name) for server in PROFILES.values()],
        mode=selector.SelectSelectorMode.DROPDOWN,
        translation_key=CONF_SERVER,
    )
)
SERVER_SCHEMA: Final = vol.Schema({vol.Required(CONF_SERVER): _SERVERS})
KEY_SCHEMA: Final = vol.Schema({vol.Required(CONF_API_KEY): _PASSWORD})


@dataclass(frozen=True, slots=True)
class TypedService:
    """A model server as typed by the user, valid or not."""

    server: str
    """The ID of its profile."""
    kind: ServiceKind
    base_url: str = ""
    """As typed, until it is parsed."""
    api_key: str | None = None

    @classmethod
    def new(cls, server: str) -> Self:
        """Start with the profile of a server."""
        known = PROFILES[server]
        return cls(server, ServiceKind(known.wire.value), known.base_url)

    @classmethod
    def stored(cls, data: Mapping[str, Any]) -> Self:
        """Start with the data of an entry."""
        kind, url = ServiceKind(data[CONF_KIND]), data[CONF_BASE_URL]
        return cls(known_server(data).id, kind, url, data.get(CONF_API_KEY))

    @property
    def known(self) -> ServerProfile:
        """The profile of the server."""
        return PROFILES[self.server]

    @property
    def data(self) -> dict[str, str]:
        """The data of an entry."""
        data = {CONF_KIND: self.kind.value, CONF_SERVER: self.server, CONF_BASE_URL: self.base_url}
        return data | ({CONF_API_KEY: self.api_key} if self.api_key else {})

    @property
    def shown_key(self) -> dict[str, str]:
        """The form value of the key."""
        return {CONF_API_KEY: _KNOWN_KEY} if self.api_key else {}

    @property
    def form(self) -> dict[str, Any]:
        """All form values."""
        interface = {CONF_KIND: self.kind.value}
        url = {CONF_BASE_URL: self.base_url} if self.base_url else {}
        return {CONF_SERVER: self.server, SECTION_INTERFACE: interface} | url | self.shown_key

    def with_form(self, form: Mapping[str, Any]) -> Self:
        """Return the server with the values of a form."""
        typed_key = form.get(CONF_API_KEY, "").strip()
        key = self.api_key
        if typed_key != _KNOWN_KEY:  # a key that was pasted beside the dots is a new one
            key = typed_key.removeprefix(_KNOWN_KEY).removesuffix(_KNOWN_KEY) or None
        interface = form.get(SECTION_INTERFACE, {})
        return replace(
            self,
            server=form.get(CONF_SERVER, self.server),
            kind=ServiceKind(interface.get(CONF_KIND, self.kind)),
            base_url=form[CONF_BASE_URL],
            api_key=key,
        )

    def errors(self) -> dict[str, str]:
        """Return the errors that need no server to find, by field."""
        errors: dict[str, str] = {}
        try:
            parse_address(self.base_url)
        except InvalidAddress as invalid:
            errors[CONF_BASE_URL] = str(invalid)
        if self.api_key is None and self.known.needs_key:
            errors[CONF_API_KEY] = "api_key_missing"
        elif self.api_key is not None and not _may_be_a_key(self.api_key):
            errors[CONF_API_KEY] = "api_key_malformed"
        return errors


def title_of(service: Mapping[str, Any]) -> str:
    """Return the title of an entry: the name of the service at its usual address, else host and port."""
    known = known_server(service)
    url = service[CONF_BASE_URL]
    is_at_home = known.host and known_server({CONF_BASE_URL: url}) is known
    return known.name if is_at_home else short_name(url)


def connect_schema(*, asks_server: bool = False, opened: Collection[str] = ()) -> vol.Schema:
    """Return the form for the address of a server. The sections in `opened` are expanded.

    `asks_server` adds the kind of server, for an entry that is reconfigured.
    """
    kinds = selector.SelectSelectorConfig(
        options=[kind.value for kind in INTERFACES],
        mode=selector.SelectSelectorMode.LIST,
        translation_key=SECTION_INTERFACE,
    )
    interface = vol.Schema({vol.Required(CONF_KIND): selector.SelectSelector(kinds)})
    server = SERVER_SCHEMA.schema if asks_server else {}
    return vol.Schema(
        server
        | {
            vol.Required(CONF_BASE_URL): _ADDRESS,
            vol.Optional(CONF_API_KEY): _PASSWORD,
            vol.Required(SECTION_INTERFACE): section(interface, {"collapsed": SECTION_INTERFACE not in opened}),
        }
    )


def _may_be_a_key(key: str) -> bool:
    """Return whether a key fits into an HTTP header; our dots, for one, do not."""
    return key.isascii() and key.isprintable() and " " not in key


_LONGEST_SEARCH: Final = 10.0
"""Seconds to find the interface over which a server answers, while a person waits."""


async def check_key(models: Iterable[ModelServer]) -> None:
    """Have the first model that still exists answer, because some servers list models for any key.

    Raises a `ProviderError`.
    """
    for model in models:
        with suppress(ModelNotFound):
            await model.check()
            return


async def answering_interface(
    servers: Mapping[ServiceKind, ModelServer], *, has_model: bool, seconds: float = _LONGEST_SEARCH
) -> ServiceKind | None:
    """Return the first interface over which a server answers within `seconds`, all asked at once.

    With `has_model`, each is asked to talk, otherwise for its models. A demand for a key or for a pause is an answer.
    """
    try:
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            asked = {kind: group.create_task(_answers(server, has_model)) for kind, server in servers.items()}
    except TimeoutError:
        return None
    return next((kind for kind, answer in asked.items() if answer.result()), None)


async def _answers(server: ModelServer, has_model: bool) -> bool:  # noqa: FBT001  # a task's, with no other caller
    try:
        await (server.check() if has_model else offered_models(server))
    except ProviderError as error:
        return isinstance(error, ProviderRejectedKey | ProviderBusy)
    return True


def models_of(entry: ConfigEntry | None) -> list[AgentSettings]:
    """Return, for each model that an entry uses, the settings of one subentry that uses it."""
    models: dict[str, AgentSettings] = {}
    for subentry in entry.subentries.values() if entry else ():
        settings = settings_of(subentry.data)
        models.setdefault(settings.model, settings)
    return list(models.values())
