"""The page is in the side bar of those who may see it, for as long as there is a service."""

from collections.abc import Awaitable, Callable

import pytest
from homeassistant.components.frontend import DATA_PANELS
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import (
    ClientSessionGenerator,
    WebSocketGenerator,
)

from custom_components.chatterbox.const import CONF_KEEP_HISTORY, DOMAIN
from tests.panel.conftest import OpenPage
from tests.support.config_entries import offline_entry, only_agent, set_up
from tests.support.listening_agent import place_satellite
from tests.support.talk import AGENT


def needs_admin(hass: HomeAssistant) -> bool | None:
    """Return whether only administrators see the page; None if nobody does."""
    panel = hass.data.get(DATA_PANELS, {}).get(DOMAIN)
    return panel.require_admin if panel else None


@pytest.fixture
async def frontend(hass: HomeAssistant) -> None:
    assert await async_setup_component(hass, "frontend", {})


@pytest.mark.usefixtures("frontend")
async def test_the_script_of_the_page_is_served_under_the_hash_of_its_content(
    hass: HomeAssistant, hass_client_no_auth: ClientSessionGenerator
) -> None:
    await set_up(hass, offline_entry())

    panel = hass.data[DATA_PANELS][DOMAIN]
    assert panel.config is not None
    custom = panel.config["_panel_custom"]
    assert (custom["name"], panel.sidebar_title, panel.require_admin) == (
        "chatterbox-panel",
        "Chatterbox",
        True,
    )
    answer = await (await hass_client_no_auth()).get(custom["module_url"])
    assert (answer.status, answer.content_type) == (200, "text/javascript")
    assert "chatterbox-panel" in await answer.text()
    assert "max-age" in answer.headers["Cache-Control"]


@pytest.mark.usefixtures("frontend")
async def test_the_page_goes_with_the_last_service_and_comes_back_with_the_next(
    hass: HomeAssistant,
) -> None:
    entry = await set_up(hass, offline_entry())

    await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done()
    assert needs_admin(hass) is None

    await set_up(hass, offline_entry())
    assert needs_admin(hass) is True


@pytest.mark.usefixtures("frontend")
async def test_the_page_is_shown_to_all_or_to_administrators(
    hass: HomeAssistant,
    hass_ws_client: WebSocketGenerator,
    open_as_ben: Callable[[], Awaitable[OpenPage]],
) -> None:
    page, ben = OpenPage(await hass_ws_client(hass)), await open_as_ben()
    assert await ben.error("page") == "unauthorized"
    assert await ben.error("page/share", everyone=True) == "unauthorized"

    await page.ask("page/share", everyone=True)
    await hass.async_block_till_done()
    assert needs_admin(hass) is False
    assert (await page.ask("page"))["everyone"]
    info = await ben.ask("page")
    assert (info["is_admin"], info["everyone"], info["people"], info["places"]) == (
        False,
        True,
        [],
        [],
    )
    assert await ben.error("page/share", everyone=False) == "unauthorized"

    await page.ask("page/share", everyone=False)
    await hass.async_block_till_done()
    assert needs_admin(hass) is True
    assert await ben.error("page") == "unauthorized"


async def test_a_home_without_a_frontend_has_the_commands_alone(
    page: OpenPage, hass: HomeAssistant
) -> None:
    assert needs_admin(hass) is None
    assert (await page.ask("page"))["is_admin"]


async def test_the_page_begins_with_what_can_be_chosen(
    hass: HomeAssistant, page: OpenPage, entry: MockConfigEntry, agent: str
) -> None:
    device = place_satellite(hass)
    dr.async_get(hass).async_update_device(device, name_by_user="Kitchen")

    assert await page.ask("page") == {
        "is_admin": True,
        "everyone": False,
        "agents": [{"id": agent, "name": "Talker", "entity_id": AGENT}],
        "people": [{"id": "ben", "name": "Ben", "entity_id": None}],
        "places": [{"id": device, "name": "Kitchen", "entity_id": None}],
        "keeps_history": True,
    }

    data = {**only_agent(entry).data, CONF_KEEP_HISTORY: False}
    hass.config_entries.async_update_subentry(entry, only_agent(entry), data=data)
    assert not (await page.ask("page"))["keeps_history"]
