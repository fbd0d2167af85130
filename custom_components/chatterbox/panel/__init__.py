"""The page "Chatterbox" of the side bar: what agents did, what waits, and what they may do."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import voluptuous as vol
from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.components.frontend import (
    DOMAIN as FRONTEND_DOMAIN,
    async_remove_panel,
)
from homeassistant.components.http import StaticPathConfig
from homeassistant.components.panel_custom import async_register_panel
from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntry,
    ConfigEntryChange,
)
from homeassistant.const import ATTR_ID, Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect

from ..const import DOMAIN, SUBENTRY_CONVERSATION
from ..settings.agent import keeps_history
from ..settings.rules import SIGNAL_HOME_RULES, async_get_home_rules
from .commands import (
    NO_FIELDS,
    CommandData,
    CommandRefused,
    Viewer,
    async_register_command,
)
from .now import async_register_now
from .permissions import async_register_permissions
from .turn_view import TurnViews
from .turns import async_register_turns

_ELEMENT: Final = "chatterbox-panel"
"""The web component of the page. Its sources are in `frontend/`."""
_FILE: Final = Path(__file__).parent / "dist" / "panel.js"
_HASH_LENGTH: Final = 16


async def async_setup_panel(hass: HomeAssistant) -> None:
    """Register the commands, and show the page for as long as there is a service. Homes without a frontend get none."""
    async_register_command(
        hass,
        "page",
        NO_FIELDS,
        _async_page,
        for_users=True,
    )
    async_register_command(
        hass, "page/share", vol.Schema({vol.Required("everyone"): bool}), _async_share
    )
    async_register_now(hass)
    async_register_turns(hass)
    async_register_permissions(hass)
    if FRONTEND_DOMAIN in hass.config.components:
        digest = await hass.async_add_executor_job(_digest)
        url = f"/{DOMAIN}_panel/{digest}.js"
        await hass.http.async_register_static_paths([StaticPathConfig(url, str(_FILE))])
        await _SideBar(hass, url).async_start()


def _digest() -> str:
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()[:_HASH_LENGTH]


@dataclass(slots=True)
class _SideBar:
    """Keeps the entry of the side bar."""

    hass: HomeAssistant
    url: str
    """Of the script."""
    _for_all: bool | None = None
    """None while it is not shown."""

    async def async_start(self) -> None:
        """Show it, and follow what it depends on."""
        async_dispatcher_connect(
            self.hass,
            SIGNAL_HOME_RULES,
            self._async_follow,
        )
        async_dispatcher_connect(
            self.hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._async_follow_entries
        )
        await self._async_follow()

    async def _async_follow_entries(
        self, _change: ConfigEntryChange, entry: ConfigEntry
    ) -> None:
        if entry.domain == DOMAIN:
            await self._async_follow()

    async def _async_follow(self) -> None:
        has_services = bool(
            self.hass.config_entries.async_entries(DOMAIN, include_ignore=False)
        )
        if has_services:
            for_all = async_get_home_rules(self.hass).current.shows_page_to_all
        else:
            for_all = None
        if for_all is self._for_all:
            return
        if self._for_all is not None:
            async_remove_panel(self.hass, DOMAIN)
        self._for_all = for_all
        if for_all is not None:
            await async_register_panel(
                self.hass,
                DOMAIN,
                _ELEMENT,
                "Chatterbox",
                "mdi:forum-outline",
                module_url=self.url,
                require_admin=not for_all,
            )


@dataclass(frozen=True, slots=True)
class _Named:
    """A choice of a filter."""

    id: str
    name: str
    entity_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Page:
    """The data that all views need."""

    is_admin: bool
    everyone: bool
    """Whether all users see the page."""
    agents: list[_Named]
    people: list[_Named]
    places: list[_Named]
    keeps_history: bool
    """Whether any agent stores conversations."""


async def _async_page(
    viewer: Viewer,
    _data: CommandData,
) -> _Page:
    """Return the data that all views need. Only an administrator chooses among people and places."""
    hass = viewer.hass
    registry = er.async_get(viewer.hass)
    agents = [
        agent
        for entry in hass.config_entries.async_entries(DOMAIN)
        for agent in entry.get_subentries_of_type(SUBENTRY_CONVERSATION)
    ]
    views = TurnViews(hass)
    satellites = [
        one
        for one in registry.entities.values()
        if one.domain == Platform.ASSIST_SATELLITE
    ]
    places = {
        one.device_id: views.place(one.device_id, one.entity_id) or ""
        for one in satellites
        if one.device_id
    }
    people = {
        str(one.attributes.get(ATTR_ID)): one.name
        for one in hass.states.async_all("person")
    }
    return _Page(
        viewer.is_admin,
        async_get_home_rules(hass).current.shows_page_to_all,
        [
            _Named(
                one.subentry_id,
                one.title,
                registry.async_get_entity_id(
                    CONVERSATION_DOMAIN, DOMAIN, one.subentry_id
                ),
            )
            for one in agents
        ],
        _choices(people) if viewer.is_admin else [],
        _choices(places) if viewer.is_admin else [],
        any(map(keeps_history, agents)),
    )


def _choices(names: Mapping[str, str]) -> list[_Named]:
    return [
        _Named(key, name)
        for key, name in sorted(names.items(), key=lambda item: item[1].casefold())
    ]


async def _async_share(
    viewer: Viewer,
    data: CommandData,
) -> None:
    """Show the page to all users, or to administrators alone."""
    store = async_get_home_rules(viewer.hass)
    if store.current is not store.stored:
        raise CommandRefused("rules_locked")
    await store.async_enter(replace(store.stored, shows_page_to_all=data["everyone"]))
