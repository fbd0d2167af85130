"""The switch of guest mode: one in the home, with a device of its own, which no assistant sees."""

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.translation import async_get_translations

from custom_components.chatterbox.people.guests import (
    async_set_guest_mode,
    guest_switch,
)
from tests.support.config_entries import offline_entry, server_entry, set_up, state_of
from tests.support.listening_agent import a_user

SWITCH = "switch.chatterbox_home_guest_mode"


async def turn(hass: HomeAssistant, way: str, user_id: str | None) -> None:
    """Use the switch."""
    await hass.services.async_call(
        "switch",
        f"turn_{way}",
        {"entity_id": SWITCH},
        blocking=True,
        context=Context(user_id=user_id),
    )


async def test_there_is_one_however_many_services_there_are(
    hass: HomeAssistant,
) -> None:
    first = await set_up(hass, offline_entry())
    second = await set_up(hass, server_entry("http://127.0.0.1:9/v1"))

    registered = er.async_get(hass).async_get(SWITCH)
    assert registered
    assert guest_switch(hass) == SWITCH
    assert [one.entity_id for one in hass.states.async_all("switch")] == [SWITCH]
    device = dr.async_get(hass).async_get(registered.device_id or "")
    assert isinstance(device, dr.DeviceEntry)
    assert (device.name, device.entry_type) == (
        "Chatterbox (home)",
        dr.DeviceEntryType.SERVICE,
    )
    assert not async_should_expose(hass, conversation.DOMAIN, SWITCH)
    texts = await async_get_translations(hass, "de", "entity", ["chatterbox"])
    assert texts["component.chatterbox.entity.switch.guest_mode.name"] == "Gästemodus"

    await async_set_guest_mode(hass, Context(), is_on=True)
    assert await hass.config_entries.async_remove(first.entry_id)
    await hass.async_block_till_done()

    assert state_of(second) is ConfigEntryState.LOADED
    assert hass.states.is_state(SWITCH, "on")


async def test_a_user_switches_it_and_nobody_else_ends_it(hass: HomeAssistant) -> None:
    anna = await a_user(hass)
    await set_up(hass, offline_entry())
    assert hass.states.is_state(SWITCH, "off")

    await turn(hass, "on", None)
    assert hass.states.is_state(SWITCH, "on")
    with pytest.raises(HomeAssistantError):
        await turn(hass, "off", None)
    assert hass.states.is_state(SWITCH, "on")

    await turn(hass, "off", anna)
    assert hass.states.is_state(SWITCH, "off")


async def test_the_action_does_the_same(hass: HomeAssistant) -> None:
    anna = await a_user(hass)
    await set_up(hass, offline_entry())

    for active in (True, False):
        await hass.services.async_call(
            "chatterbox",
            "set_guest_mode",
            {"active": active},
            blocking=True,
            context=Context(user_id=anna),
        )
        assert hass.states.is_state(SWITCH, "on" if active else "off")


async def test_a_reload_leaves_it_as_it_is(hass: HomeAssistant) -> None:
    entry = await set_up(hass, offline_entry())
    await turn(hass, "on", None)

    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()

    assert hass.states.is_state(SWITCH, "on")
