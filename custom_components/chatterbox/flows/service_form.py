"""What a person fills in for a model server: the forms, what was typed so far, and what is stored of it.

Knows the data of a config entry. Must not know how a flow walks, how a server is asked (`runtime/service_check.py`), or
any sentence (`translations/`).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import voluptuous as vol
from homeassistant.const import CONF_API_KEY
from homeassistant.data_entry_flow import section
from homeassistant.helpers.selector import (
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TextSelector,
    TextSelectorConfig,
    TextSelectorType,
)

from ..agent.providers.profiles import PROFILES, ServerProfile
from ..const import CONF_BASE_URL, CONF_KIND, CONF_SERVER, ServiceKind
from ..runtime.composition import known_server
from ..settings.service_address import InvalidAddress, parse_address, short_name

EXAMPLE_URL: Final = "http://192.168.1.10:11434/v1"
SECTION_INTERFACE: Final = "interface"

INTERFACES: Final[Mapping[ServiceKind, str]] = {
    ServiceKind.OPENAI_CHAT: "Chat Completions",
    ServiceKind.OPENAI_RESPONSES: "Responses",
    ServiceKind.ANTHROPIC_MESSAGES: "Messages",
    ServiceKind.OLLAMA_CHAT: "Ollama",
}
"""The kinds of service that have a server, by the names that their documentation uses; they are not translated."""

_KNOWN_KEY: Final = "•" * 8
"""Stands in a form for a key that we have, so that no form ever carries the key itself."""

_ADDRESS: Final = TextSelector(TextSelectorConfig(type=TextSelectorType.URL))
_PASSWORD: Final = TextSelector(TextSelectorConfig(type=TextSelectorType.PASSWORD, autocomplete="off"))

KEY_SCHEMA: Final = vol.Schema({vol.Required(CONF_API_KEY): _PASSWORD})


@dataclass(frozen=True, slots=True)
class TypedService:
    """A model server as somebody described it, right or wrong."""

    server: str
    """Id of what is known of it."""
    kind: ServiceKind
    base_url: str = ""
    """As it was typed, until it was read."""
    api_key: str | None = None

    @classmethod
    def new(cls, server: str) -> Self:
        """Begin with what is known of a kind of server."""
        known = PROFILES[server]
        return cls(server, ServiceKind(known.wire.value), known.base_url)

    @classmethod
    def stored(cls, data: Mapping[str, Any]) -> Self:
        """Begin with the data of an entry."""
        kind, url = ServiceKind(data[CONF_KIND]), data[CONF_BASE_URL]
        return cls(known_server(data).id, kind, url, data.get(CONF_API_KEY))

    @property
    def known(self) -> ServerProfile:
        """What is known of the server."""
        return PROFILES[self.server]

    @property
    def data(self) -> dict[str, str]:
        """The data of an entry."""
        data = {CONF_KIND: self.kind.value, CONF_SERVER: self.server, CONF_BASE_URL: self.base_url}
        return data | ({CONF_API_KEY: self.api_key} if self.api_key else {})

    @property
    def shown_key(self) -> dict[str, str]:
        """What a form shows of the key."""
        return {CONF_API_KEY: _KNOWN_KEY} if self.api_key else {}

    @property
    def form(self) -> dict[str, Any]:
        """What a form shows of it all."""
        interface = {CONF_KIND: self.kind.value}
        url = {CONF_BASE_URL: self.base_url} if self.base_url else {}
        return {CONF_SERVER: self.server, SECTION_INTERFACE: interface} | url | self.shown_key

    def with_form(self, form: Mapping[str, Any]) -> Self:
        """Return what it is after a form was filled in."""
        typed_key = form.get(CONF_API_KEY, "").strip()
        key = self.api_key
        if typed_key != _KNOWN_KEY:  # pasted beside the dots it is a new key all the same
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
        """Return what is wrong with it before anybody was asked, by field."""
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
    """Return the name of an entry: the service's own where it is where it always is, else host and port."""
    known = known_server(service)
    url = service[CONF_BASE_URL]
    is_at_home = known.hosts and known_server({CONF_BASE_URL: url}) is known
    return known.name if is_at_home else short_name(url)


def server_schema() -> vol.Schema:
    """Return the form that asks which server it is."""
    return vol.Schema({vol.Required(CONF_SERVER): _servers()})


def connect_schema(*, asks_server: bool = False, opened: Collection[str] = ()) -> vol.Schema:
    """Return the form that asks where a server is; the sections `opened` are not folded.

    `asks_server` adds which one it is, for an entry that may become another.
    """
    kinds = SelectSelectorConfig(
        options=[kind.value for kind in INTERFACES], mode=SelectSelectorMode.LIST, translation_key=SECTION_INTERFACE
    )
    interface = vol.Schema({vol.Required(CONF_KIND): SelectSelector(kinds)})
    server = {vol.Required(CONF_SERVER): _servers()} if asks_server else {}
    return vol.Schema(
        server
        | {
            vol.Required(CONF_BASE_URL): _ADDRESS,
            vol.Optional(CONF_API_KEY): _PASSWORD,
            vol.Required(SECTION_INTERFACE): section(interface, {"collapsed": SECTION_INTERFACE not in opened}),
        }
    )


def _servers() -> SelectSelector:
    options = [SelectOptionDict(value=server.id, label=server.name) for server in PROFILES.values()]
    return SelectSelector(
        SelectSelectorConfig(options=options, mode=SelectSelectorMode.DROPDOWN, translation_key=CONF_SERVER)
    )


def _may_be_a_key(key: str) -> bool:
    """Tell whether a key can travel in an HTTP header; our dots, for one, cannot."""
    return key.isascii() and key.isprintable() and " " not in key
