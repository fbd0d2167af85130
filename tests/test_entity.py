"""Entities belong to the device of their agent, which has its name."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    device_registry as dr,
    entity_registry as er,
)
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
)

from custom_components.chatterbox.const import (
    DOMAIN,
)
from tests.support.config_entries import (
    offline_entry,
    only_agent,
    set_up,
)
from tests.support.talk import AGENT

pytestmark = pytest.mark.usefixtures("socket_enabled")


async def test_an_agent_is_a_service_device(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:

    agent = only_agent(entry)
    entity = er.async_get(hass).async_get(AGENT)
    assert entity is not None
    assert entity.unique_id == agent.subentry_id
    assert entity.config_subentry_id == agent.subentry_id
    assert entity.has_entity_name
    device = dr.async_get(hass).async_get_device_by_identifier(
        (DOMAIN, agent.subentry_id), entry.entry_id
    )
    assert device is not None
    assert device.id == entity.device_id
    assert device.entry_type is dr.DeviceEntryType.SERVICE
    assert (device.name, device.model) == ("Talker", "scripted-model")
    assert (
        device.configuration_url
        == f"homeassistant://chatterbox/turns?agent={agent.subentry_id}"
    )


async def test_a_renamed_agent_gives_its_device_the_new_name(
    hass: HomeAssistant,
) -> None:
    entry = await set_up(hass, offline_entry())
    agent = only_agent(entry)

    hass.config_entries.async_update_subentry(entry, agent, title="Butler")
    await hass.async_block_till_done()

    device = dr.async_get(hass).async_get_device_by_identifier(
        (DOMAIN, agent.subentry_id), entry.entry_id
    )
    assert device is not None
    assert device.name == "Butler"
