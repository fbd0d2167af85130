"""The forms for a model server, and their conversion to the data of a config entry."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import voluptuous as vol
from homeassistant.const import CONF_API_KEY
from homeassistant.data_entry_flow import section
from homeassistant.helpers.selector import (
    SelectSelector,
    TextSelector,
    TextSelectorType,
)
from yarl import URL

from ..agent.providers.profiles import OLLAMA, OTHER, PROFILES, ServerProfile
from ..agent.providers.service_client import address_without_version
from ..const import CONF_BASE_URL, CONF_KIND, CONF_SERVER, ServiceKind
from ..runtime.composition import known_server
from ..settings.agent import EntryData
from ..settings.service_address import InvalidAddress, parse_address, short_name
from ..speech.sentences import Sentences
from .dialog import (
    DROPDOWN,
    KNOWN_SECRET,
    LIST,
    FormValues,
    choice,
    labelled,
    typed_secret,
)

_EXAMPLE_HOST: Final = "192.168.1.10"
SECTION_INTERFACE: Final = "interface"
SECTION_ADDRESS: Final = "address"

_END: Final = re.compile("(/v1)?(/chat/completions)?/?$")
"""Of the path of an address; it names no place."""

INTERFACES: Final = {
    ServiceKind.OPENAI_CHAT: "Chat Completions",
    ServiceKind.OPENAI_RESPONSES: "Responses",
    ServiceKind.ANTHROPIC_MESSAGES: "Messages",
    ServiceKind.OLLAMA_CHAT: "Ollama",
}
"""The names of the interfaces, as their documentation calls them; they are not translated."""

_ADDRESS: Final = TextSelector({"type": TextSelectorType.URL})
PASSWORD: Final = TextSelector(
    {
        "type": TextSelectorType.PASSWORD,
        "autocomplete": "off",
    }
)
KEY_SCHEMA: Final = vol.Schema({vol.Required(CONF_API_KEY): PASSWORD})


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
    def new(
        cls,
        server: ServerProfile,
        base_url: str = "",
    ) -> Self:
        """Start with the profile of a server, at its usual address by default."""
        return cls(
            server.id, ServiceKind(server.wire.value), base_url or server.base_url
        )

    @classmethod
    def stored(cls, data: EntryData) -> Self:
        """Start with the data of an entry."""
        kind = ServiceKind(data[CONF_KIND])
        url = data[CONF_BASE_URL]
        return cls(
            known_server(data).id,
            kind,
            url,
            data.get(CONF_API_KEY),
        )

    @property
    def known(self) -> ServerProfile:
        """The profile of the server."""
        return PROFILES[self.server]

    @property
    def data(self) -> dict[str, str]:
        """The data of an entry."""
        data = {
            CONF_KIND: self.kind.value,
            CONF_SERVER: self.server,
            CONF_BASE_URL: self.base_url,
        }
        return data | ({CONF_API_KEY: self.api_key} if self.api_key else {})

    @property
    def shown_key(self) -> dict[str, str]:
        """The form value of the key."""
        if self.api_key:
            return {CONF_API_KEY: KNOWN_SECRET}
        return {}

    @property
    def form(self) -> dict[str, Any]:
        """The values of all forms."""
        url = {CONF_BASE_URL: self.base_url} if self.base_url else {}
        is_elsewhere = self.base_url != self.known.base_url
        return {
            CONF_SERVER: self.server,
            SECTION_INTERFACE: {CONF_KIND: self.kind.value},
            SECTION_ADDRESS: url if is_elsewhere else {},
            **url,
            **self.shown_key,
        }

    def with_form(self, form: FormValues) -> Self:
        """Return the server with the values of a form."""
        key = typed_secret(
            form.get(CONF_API_KEY, ""),
            self.api_key,
        )
        server = form.get(CONF_SERVER, self.server)
        elsewhere = form.get(SECTION_ADDRESS)
        if elsewhere is not None:  # a service on the internet
            return replace(
                type(self).new(
                    PROFILES[server],
                    elsewhere.get(CONF_BASE_URL, ""),
                ),
                api_key=key,
            )
        kind = ServiceKind(form.get(SECTION_INTERFACE, {}).get(CONF_KIND, self.kind))
        return replace(
            self, server=server, kind=kind, base_url=form[CONF_BASE_URL], api_key=key
        )

    @property
    def others(self) -> list[Self]:
        """The same server over other interfaces, the best first, and at its address without a version."""
        kinds = (ServiceKind(self.known.wire.value), *INTERFACES)
        others = [replace(self, kind=kind) for kind in kinds]
        others.append(
            replace(
                self,
                kind=ServiceKind.OPENAI_CHAT,
                base_url=address_without_version(self.base_url),
            )
        )
        return [one for one in others if one != self]

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


def key_pages(servers: Iterable[ServerProfile]) -> str:
    """Return the pages on which services have their keys, as Markdown."""
    return " · ".join(
        f"[{server.name}]({server.key_page})" for server in servers if server.key_page
    )


def title_of(
    service: EntryData,
    sentences: Sentences,
) -> str:
    """Return the title of an entry: the name of the service, and where it is not at its usual address, the place."""
    known = known_server(service)
    url = service[CONF_BASE_URL]
    if known.host and known_server({CONF_BASE_URL: url}) is known:
        return known.name
    place = short_name(url)
    if known is not OTHER and URL(url).port == URL(known.base_url).port:
        place = URL(url).host or place
    # Several services may share a host and a port.
    path = _END.sub(
        "",
        URL(url).path,
    )
    if path != _END.sub("", URL(known.base_url).path):
        place += path
    if known is OTHER:
        return place
    return sentences["service_title"].format(
        server=known.name,
        place=place,
    )


def example_address(server: ServerProfile) -> str:
    """Return an address in a home network at which a server could be."""
    return str(
        URL(
            (OLLAMA if server.host or not server.base_url else server).base_url
        ).with_host(_EXAMPLE_HOST)
    )


def own_server_schema(*, asks_key: bool) -> vol.Schema:
    """Return the form for a server that somebody runs."""
    if asks_key:
        key = {vol.Optional(CONF_API_KEY): PASSWORD}
    else:
        key = {}
    return vol.Schema({vol.Required(CONF_BASE_URL): _ADDRESS} | key)


def _choice_of(servers: Iterable[ServerProfile]) -> SelectSelector:
    options = {server.id: server.name for server in servers}
    return choice(
        options=labelled(options),
        mode=DROPDOWN,
        translation_key=CONF_SERVER,
    )


_INTERFACE: Final = choice(
    options=[kind.value for kind in INTERFACES],
    mode=LIST,
    translation_key=SECTION_INTERFACE,
)
INTERNET_SCHEMA: Final = vol.Schema(
    {
        vol.Required(CONF_SERVER): _choice_of(
            server for server in PROFILES.values() if server.host
        ),
        vol.Optional(CONF_API_KEY): PASSWORD,
        vol.Required(SECTION_ADDRESS): section(
            vol.Schema({vol.Optional(CONF_BASE_URL): _ADDRESS}), {"collapsed": True}
        ),
    }
)
RECONFIGURE_SCHEMA: Final = vol.Schema(
    {
        vol.Required(CONF_SERVER): _choice_of(PROFILES.values()),
        vol.Required(CONF_BASE_URL): _ADDRESS,
        vol.Optional(CONF_API_KEY): PASSWORD,
        vol.Required(SECTION_INTERFACE): section(
            vol.Schema({vol.Required(CONF_KIND): _INTERFACE}), {"collapsed": True}
        ),
    }
)


def _may_be_a_key(key: str) -> bool:
    """Return whether a key fits into an HTTP header; our dots, for one, do not."""
    return key.isascii() and key.isprintable() and " " not in key
