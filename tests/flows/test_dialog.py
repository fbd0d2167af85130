"""Dialogs keep a stored key without showing it, and point to their page of the docs."""

import json

import pytest
from homeassistant.const import CONF_API_KEY
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from tests.flows.agent_forms import change, open_menu
from tests.support.config_entries import server_entry, set_up
from tests.support.sentences import template
from tests.support.service_dialogs import (
    change_server,
    submit,
    suggested,
)

pytestmark = pytest.mark.usefixtures("socket_enabled")


async def test_a_stored_key_is_never_shown_and_kept_by_its_dots(
    hass: HomeAssistant, guarded_address: str
) -> None:
    entry = await set_up(hass, server_entry(guarded_address, "right-key"))
    step = await change_server(hass, entry)
    assert "right-key" not in json.dumps(suggested(step))
    result = await submit(hass, step, **suggested(step))

    assert result["reason"] == "reconfigure_successful"
    assert entry.data[CONF_API_KEY] == "right-key"


async def test_a_stored_key_can_be_removed(hass: HomeAssistant, address: str) -> None:
    entry = await set_up(hass, server_entry(address, "right-key"))
    await submit(hass, await change_server(hass, entry), base_url=address)

    assert CONF_API_KEY not in entry.data


async def test_every_form_points_to_its_page_of_the_docs(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    menu = await open_menu(hass, entry)
    forms = [
        await change(hass, entry, form)
        for form in ("settings", "advanced", "tools", "approvals")
    ]

    pages = set()
    for step in (menu, *forms):
        assert "({docs})" in template(
            f"config_subentries.conversation.step.{step['step_id']}.description"
        )
        placeholders = step["description_placeholders"]
        assert placeholders is not None
        assert placeholders["docs"].startswith("https://")
        pages.add(placeholders["docs"].rpartition(".github.io/chatterbox/")[2])
    assert pages == {
        "settings/#settings",
        "settings/#the-agent",
        "permissions/#what-the-agent-may-use",
        "permissions/#confirmations",
    }
