"""Entries as the dialogs make them, for tests that begin with one."""

from collections.abc import Mapping

from homeassistant.config_entries import ConfigEntry, ConfigEntryState, ConfigSubentry
from homeassistant.const import CONF_API_KEY, CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_KIND,
    CONF_LOCAL_COMMANDS,
    CONF_SERVER,
    DOMAIN,
    SUBENTRY_CONVERSATION,
    ServiceKind,
)
from tests.support.home_rules import set_home_rules, split


async def prepare(hass: HomeAssistant) -> None:
    """Set up what every Home Assistant has."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})


async def set_up(
    hass: HomeAssistant, entry: MockConfigEntry, *, wait_for_service: bool = True
) -> MockConfigEntry:
    """Add an entry and set it up, whether that goes well or not; its service is asked in the background, too."""
    await prepare(hass)
    if isinstance(entry, _EntryOfRules):
        await set_home_rules(hass, **entry.home_rules)
    entry.add_to_hass(hass)
    await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=wait_for_service)
    return entry


def server_entry(
    base_url: str,
    api_key: str | None = None,
    kind: ServiceKind = ServiceKind.OPENAI_CHAT,
    *,
    server: str = "",
    **options: object,
) -> MockConfigEntry:
    """Return an entry for a model server, made before entries said which `server` it is if that is empty.

    It has one agent, whose model gets all requests, unless the options say otherwise.
    Rules of the home among them are entered by `set_up`.
    """
    data = {CONF_KIND: kind.value, CONF_BASE_URL: base_url} | (
        {CONF_SERVER: server} if server else {}
    )
    agent = {
        CONF_MODEL: "scripted-model",
        CONF_LLM_HASS_API: ["assist"],
        CONF_LOCAL_COMMANDS: "never",
        **options,
    }
    return _entry(
        "The server", data | ({CONF_API_KEY: api_key} if api_key else {}), agent
    )


def offline_entry(**options: object) -> MockConfigEntry:
    """Return the entry of the offline service, with one agent."""
    return _entry("Offline", {CONF_KIND: ServiceKind.OFFLINE.value}, options)


def state_of(entry: ConfigEntry) -> ConfigEntryState:
    """Return the state of an entry now; a type checker believes that an attribute stays as it was compared."""
    return entry.state


def only_agent(entry: ConfigEntry) -> ConfigSubentry:
    """Return the agent of an entry that has exactly one to talk to."""
    (agent,) = entry.get_subentries_of_type(SUBENTRY_CONVERSATION)
    return agent


class _EntryOfRules(MockConfigEntry):
    """An entry with rules of the home, which `set_up` enters."""

    home_rules: Mapping[str, object]


def _entry(
    title: str, data: Mapping[str, object], options: Mapping[str, object]
) -> MockConfigEntry:
    rules, agent = split(options)
    entry = _EntryOfRules(
        domain=DOMAIN,
        title=title,
        data=data,
        subentries_data=[
            {
                "subentry_type": SUBENTRY_CONVERSATION,
                "title": "Talker",
                "unique_id": None,
                "data": agent,
            }
        ],
    )
    entry.home_rules = rules
    return entry
