"""Scenes are unknown, and the home is looked at anew, without the inside of the homeassistant integration."""

import pytest
from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.home.entities import async_home_version
from custom_components.chatterbox.internals.homeassistant import (
    parsed_states,
    states_of_scene,
)
from tests.support.moved_names import take_away

SCENE = {
    "platform": "homeassistant",
    "states": [{"name": "Dinner", "entities": {"light.table": "on"}}],
}


async def test_what_is_in_a_scene_becomes_unknown(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await async_setup_component(hass, "scene", {"scene": [SCENE]})
    await hass.async_block_till_done()
    (state,) = states_of_scene(hass, "scene.dinner") or ()
    assert (state.entity_id, state.state) == ("light.table", "on")
    assert [one.state for one in parsed_states(hass, {"light.table": "off"}) or ()] == [
        "off"
    ]
    assert parsed_states(hass, "light.table") is None
    take_away(monkeypatch, hass, "scenes")

    assert states_of_scene(hass, "scene.dinner") is None
    assert parsed_states(hass, {"light.table": "off"}) is None


async def test_the_home_is_looked_at_anew_where_nobody_tells_what_is_exposed(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    take_away(monkeypatch, hass, "home_kept")

    assert async_home_version(hass, conversation.DOMAIN) != async_home_version(
        hass, conversation.DOMAIN
    )
