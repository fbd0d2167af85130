"""Model servers in the home: on this machine at their usual ports, and as apps of Home Assistant.

Nothing is asked beyond these addresses, and each has half a second.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final

import aiohttp
import orjson
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.hassio import is_hassio
from yarl import URL

from ..agent.errors import ProviderError
from ..agent.messages import JsonValue
from ..agent.providers.profiles import (
    LLAMA_CPP,
    LM_STUDIO,
    LOCALAI,
    OLLAMA,
    VLLM,
    ServerProfile,
    profile_at,
)
from ..agent.providers.service_client import server_root
from ..agent.wire.model_lists import ChatModel
from ..const import CONF_BASE_URL, CONF_KIND, CONF_SERVER, ServiceKind, home_singleton
from .composition import model_server

_LONGEST_LOOK: Final = 0.5
"""Seconds for each address, while a form opens."""
_LONGEST_LIST: Final = 1024 * 1024
"""Bytes."""
_USUAL: Final = (
    OLLAMA,
    LLAMA_CPP,
    LM_STUDIO,
    VLLM,
    LOCALAI,
)
_OWNERS: Final = {
    "llamacpp": LLAMA_CPP,
    "vllm": VLLM,
    "organization_owner": LM_STUDIO,
}
"""The owners of models, as servers name them."""
_APPS: Final = {
    "ollama": OLLAMA,
    "llama": LLAMA_CPP,
    "lmstudio": LM_STUDIO,
    "vllm": VLLM,
    "localai": LOCALAI,
}
"""By a part of the name of an app; the first that fits counts."""


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that answers."""

    profile: ServerProfile
    base_url: str
    models: tuple[ChatModel, ...] = ()
    """Those that one can talk to, the most useful first."""

    @property
    def service(self) -> Mapping[str, str]:
        """The data of an entry for it."""
        kind = ServiceKind(self.profile.wire.value)
        return {
            CONF_KIND: kind.value,
            CONF_SERVER: self.profile.id,
            CONF_BASE_URL: self.base_url,
        }


usual_addresses: Final = home_singleton(
    "usual_addresses",
    lambda _: list(dict.fromkeys(profile.base_url for profile in _USUAL)),
)
"""Returns the addresses on this machine that are looked at; whoever knows of another one may add it."""


def addresses_of_apps(hass: HomeAssistant) -> list[str]:
    """Return the addresses at which running apps of Home Assistant would serve models."""
    if not is_hassio(hass):
        return []
    # Only there, because this loads what other installations do not have.
    from homeassistant.components.hassio import HassioNotReadyError, get_addons_info  # noqa: PLC0415

    try:
        apps = get_addons_info(hass)
    except HassioNotReadyError:
        return []
    found: list[str] = []
    for slug, app in apps.items():
        name = (
            slug.partition("_")[2]
            .replace("_", "")
            .replace(
                "-",
                "",
            )
        )  # before it is the repository
        profile = next(
            (profile for part, profile in _APPS.items() if part in name), None
        )
        if profile and app and app.get("state") == "started":
            found.append(str(URL(profile.base_url).with_host(app["hostname"])))
    return found


async def async_find_servers(hass: HomeAssistant) -> list[FoundServer]:
    """Return the servers that answer, all asked at once."""
    addresses = dict.fromkeys((*usual_addresses(hass), *addresses_of_apps(hass)))
    found = await asyncio.gather(*(_async_look(hass, address) for address in addresses))
    return [server for server in found if server]


async def async_profile_at(
    hass: HomeAssistant,
    base_url: str,
) -> ServerProfile:
    """Return the profile of the server at an address, guessed from the address if it does not say."""
    found = await _async_look(
        hass,
        base_url,
        lists=False,
    )
    if found:
        return found.profile
    return profile_at(base_url)


async def _async_look(
    hass: HomeAssistant, base_url: str, *, lists: bool = True
) -> FoundServer | None:
    found: FoundServer | None = None
    with suppress(TimeoutError, ProviderError):
        async with asyncio.timeout(_LONGEST_LOOK):
            found = await _async_identify(hass, base_url)
            if found and lists:
                found = replace(
                    found,
                    models=tuple(await model_server(hass, found.service).chat_models()),
                )
    return found


async def _async_identify(
    hass: HomeAssistant,
    base_url: str,
) -> FoundServer | None:
    """Return the server that answers. Each has the list of Chat Completions, Ollama and LocalAI a version beside it.

    Ollama names the owner of a model, as in "library", and has null for no models.
    LocalAI names none.
    """
    root = server_root(base_url)
    version, listed = await asyncio.gather(
        _async_read(
            hass,
            root / "api/version",
        ),
        _async_read(hass, root / "v1/models"),
    )
    match version, listed:
        case _, {"data": [{"owned_by": str(owner)}, *_]} if owner in _OWNERS:
            return FoundServer(_OWNERS[owner], base_url)
        case {"version": str()}, None | {"data": None | [{"owned_by": str()}, *_]}:
            return FoundServer(OLLAMA, base_url)
        case {"version": str()}, {"data": [{}, *_]}:  # it has Ollama's interface, too
            return FoundServer(LOCALAI, base_url)
        case _, {"data": [{"owned_by": str()}, *_]}:
            return FoundServer(profile_at(base_url), base_url)
        case _, {"data": list() | None}:
            usual = [
                profile for profile in reversed(_USUAL) if profile.base_url == base_url
            ]
            return FoundServer(
                usual[0] if usual else profile_at(base_url),
                base_url,
            )
        case _:
            return None


async def _async_read(
    hass: HomeAssistant,
    url: URL,
) -> JsonValue:
    """Return the JSON at an address, None if the server has no such page, and an empty object if it cannot be read.

    A redirection is not followed: it may lead outside.
    """
    try:
        async with async_get_clientsession(hass).get(
            url, allow_redirects=False
        ) as response:
            if response.status == HTTPStatus.NOT_FOUND:
                return None
            body = bytearray()
            async for piece in response.content.iter_any():
                body += piece
                if len(body) > _LONGEST_LIST:
                    return {}
            found: JsonValue = orjson.loads(body) if response.ok else {}
            return found
    except aiohttp.ClientError, OSError, ValueError:
        return {}
