"""Every device does what it is told, at once, and what it shows follows."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceNotSupported, ServiceValidationError
from homeassistant.helpers import intent

from tests.demo_house.move_in import Call, act, move_in, read_devices

ACTIONS: tuple[tuple[str, list[Call], str, dict[str, object]], ...] = (
    ("light.plain", [("turn_on", {"brightness": 9})], "on", {"color_mode": "onoff"}),
    ("light.dimmer", [("turn_on", {})], "on", {"brightness": 77}),
    ("light.dimmer", [("turn_on", {"brightness_pct": 50})], "on", {"brightness": 128}),
    ("light.dimmer", [("turn_on", {"brightness": 0})], "off", {"brightness": None}),
    ("light.colour", [("turn_off", {})], "off", {"brightness": None, "color_mode": None}),
    (
        "light.colour",
        [("turn_on", {"color_temp_kelvin": 4000})],
        "on",
        {"color_mode": "color_temp", "color_temp_kelvin": 4000, "brightness": 100},
    ),
    (
        "light.colour",
        [("turn_on", {"rgb_color": [255, 0, 0]})],
        "on",
        {"color_mode": "hs", "hs_color": (0.0, 100.0), "color_temp_kelvin": None},
    ),
    ("light.strip", [("turn_on", {"white": 50})], "on", {"color_mode": "white", "brightness": 50}),
    ("light.strip", [("turn_on", {"effect": "fire"})], "on", {"effect": "fire"}),
    ("switch.plug", [("toggle", {}), ("turn_off", {})], "off", {}),
    ("lock.door", [("open", {})], "open", {}),
    ("lock.door", [("open", {}), ("lock", {})], "locked", {}),
    ("lock.safe", [("unlock", {"code": "1234"})], "unlocked", {}),
    ("cover.garage", [("open_cover", {})], "open", {"current_position": None}),
    ("cover.blinds", [("close_cover", {})], "closed", {"current_position": 0}),
    ("cover.blinds", [("set_cover_position", {"position": 30})], "open", {"current_position": 30}),
    ("cover.blinds", [("close_cover_tilt", {})], "open", {"current_tilt_position": 0}),
    ("cover.blinds", [("open_cover_tilt", {})], "open", {"current_tilt_position": 100}),
    (
        "cover.blinds",
        [("set_cover_tilt_position", {"tilt_position": 20}), ("stop_cover_tilt", {})],
        "open",
        {"current_tilt_position": 20},
    ),
    ("valve.tap", [("open_valve", {})], "open", {"current_position": None}),
    ("valve.tap", [("open_valve", {}), ("close_valve", {})], "closed", {}),
    ("valve.garden", [("open_valve", {})], "open", {"current_position": 100}),
    ("valve.garden", [("set_valve_position", {"position": 40})], "open", {"current_position": 40}),
    ("fan.simple", [("turn_on", {})], "on", {}),
    ("fan.ceiling", [("turn_off", {})], "off", {"percentage": 0}),
    (
        "fan.ceiling",
        [("set_percentage", {"percentage": 20}), ("turn_off", {}), ("turn_on", {})],
        "on",
        {"percentage": 20},
    ),
    ("fan.ceiling", [("set_percentage", {"percentage": 0})], "off", {"percentage": 0}),
    ("fan.ceiling", [("turn_on", {"preset_mode": "breeze"})], "on", {"preset_mode": "breeze", "percentage": None}),
    ("fan.ceiling", [("oscillate", {"oscillating": True})], "on", {"oscillating": True}),
    ("fan.ceiling", [("set_direction", {"direction": "reverse"})], "on", {"direction": "reverse"}),
    ("vacuum.robot", [], "idle", {}),
    ("vacuum.robot", [("start", {})], "cleaning", {}),
    ("vacuum.robot", [("start", {}), ("stop", {})], "idle", {}),
    ("vacuum.robot", [("clean_spot", {}), ("locate", {})], "cleaning", {}),
    ("vacuum.robot", [("return_to_base", {})], "returning", {}),
    ("vacuum.robot", [("set_fan_speed", {"fan_speed": "loud"})], "idle", {"fan_speed": "loud"}),
    ("climate.room", [("set_temperature", {"temperature": 23})], "heat", {"temperature": 23, "hvac_action": "heating"}),
    (
        "climate.room",
        [("set_temperature", {"temperature": 18, "hvac_mode": "cool"})],
        "cool",
        {"hvac_action": "cooling"},
    ),
    (
        "climate.room",
        [("set_temperature", {"target_temp_low": 21, "target_temp_high": 24, "hvac_mode": "heat_cool"})],
        "heat_cool",
        {"target_temp_low": 21, "target_temp_high": 24, "hvac_action": "heating"},
    ),
    ("climate.room", [("set_hvac_mode", {"hvac_mode": "cool"}), ("turn_off", {}), ("turn_on", {})], "cool", {}),
    ("climate.room", [("set_hvac_mode", {"hvac_mode": "dry"})], "dry", {"hvac_action": "drying"}),
    ("climate.room", [("set_hvac_mode", {"hvac_mode": "fan_only"})], "fan_only", {"hvac_action": "fan"}),
    ("climate.room", [("set_humidity", {"humidity": 50})], "heat", {"humidity": 50}),
    ("climate.room", [("set_fan_mode", {"fan_mode": "high"})], "heat", {"fan_mode": "high"}),
    ("climate.room", [("set_preset_mode", {"preset_mode": "away"})], "heat", {"preset_mode": "away"}),
    (
        "media_player.speaker",
        [("media_play", {})],
        "playing",
        {"media_title": "One", "media_artist": "Erik Satie", "media_track": 1},
    ),
    ("media_player.speaker", [("media_stop", {})], "idle", {}),
    ("media_player.speaker", [("turn_off", {})], "off", {"media_title": None}),
    ("media_player.speaker", [("turn_off", {}), ("turn_on", {})], "idle", {}),
    (
        "media_player.speaker",
        [("media_next_track", {})],
        "playing",
        {"media_title": "Two", "media_artist": None, "media_track": 2},
    ),
    ("media_player.speaker", [("media_previous_track", {})], "playing", {"media_title": "Three", "media_track": 3}),
    ("media_player.radio", [("media_next_track", {})], "playing", {"media_track": 2}),
    ("media_player.radio", [("media_previous_track", {})], "playing", {"media_track": 1}),
    ("media_player.speaker", [("volume_set", {"volume_level": 0.8})], "on", {"volume_level": 0.8}),
    ("media_player.speaker", [("volume_up", {})], "on", {"volume_level": 0.6}),
    (
        "media_player.speaker",
        [("volume_mute", {"is_volume_muted": True})],
        "on",
        {"volume_level": 0.5, "is_volume_muted": True},
    ),
    ("media_player.speaker", [("select_source", {"source": "bluetooth"})], "on", {"source": "bluetooth"}),
    (
        "media_player.speaker",
        [("play_media", {"media_content_id": "Two", "media_content_type": "music"})],
        "playing",
        {"media_title": "Two", "media_track": 2},
    ),
    (
        "media_player.speaker",
        [("play_media", {"media_content_id": "news.mp3", "media_content_type": "podcast"})],
        "playing",
        {"media_title": "news.mp3", "media_content_type": "podcast"},
    ),
    ("number.height", [("set_value", {"value": 110})], "110.0", {}),
    ("select.programme", [("select_option", {"option": "quick"})], "quick", {}),
)
"""Entities, what is called on them, and the state and attributes that they show then."""


@pytest.fixture(autouse=True)
async def _moved_in(hass: HomeAssistant) -> None:
    await move_in(hass, read_devices())


@pytest.mark.parametrize(("entity_id", "calls", "state", "attributes"), ACTIONS)
async def test_a_device_does_what_it_is_told(
    hass: HomeAssistant, entity_id: str, calls: list[Call], state: str, attributes: dict[str, object]
) -> None:
    shown = await act(hass, entity_id, calls)

    assert shown.state == state
    assert {name: shown.attributes.get(name) for name in attributes} == attributes


async def test_a_lock_with_a_code_stays_locked_without_it(hass: HomeAssistant) -> None:
    with pytest.raises(ServiceValidationError):
        await act(hass, "lock.safe", [("unlock", {"code": "4321"})])

    assert hass.states.is_state("lock.safe", "locked")


async def test_a_device_refuses_what_its_features_do_not_have(hass: HomeAssistant) -> None:
    with pytest.raises(ServiceNotSupported):
        await act(hass, "media_player.radio", [("media_pause", {})])


async def test_a_button_shows_when_it_was_pressed(hass: HomeAssistant) -> None:
    assert hass.states.is_state("button.bell", "unknown")

    assert (await act(hass, "button.bell", [("press", {})])).state != "unknown"


async def test_a_scene_brings_its_entities_into_their_states(hass: HomeAssistant) -> None:
    await act(hass, "scene.evening", [("turn_on", {})])
    await hass.async_block_till_done()

    assert hass.states.is_state("switch.plug", "on")
    assert hass.states.is_state("light.plain", "on")
    dimmer = hass.states.get("light.dimmer")
    assert dimmer is not None
    assert (dimmer.state, dimmer.attributes["brightness"]) == ("on", 33)


async def test_music_is_found_by_artist_and_played(hass: HomeAssistant) -> None:
    slots = {"search_query": {"value": "satie"}, "name": {"value": "Speaker"}}
    await intent.async_handle(hass, "test", "HassMediaSearchAndPlay", slots, assistant="conversation")

    speaker = hass.states.get("media_player.speaker")
    assert speaker is not None
    assert (speaker.state, speaker.attributes["media_title"]) == ("playing", "One")
