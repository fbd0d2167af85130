"""What cleans, heats, plays or is set does what it is told, at once, and what it shows follows."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceNotSupported
from homeassistant.helpers import intent
from pydantic import JsonValue

from tests.demo_house.move_in import Call, act, move_in, read_devices

DEVICES = read_devices()


@pytest.mark.parametrize(
    ("entity_id", "calls", "state", "attributes"),
    [
        pytest.param("vacuum.robot", [], "idle", {}, id="a vacuum that is off stands idle"),
        pytest.param("vacuum.robot", [("start", {})], "cleaning", {}, id="vacuum starts"),
        pytest.param("vacuum.robot", [("start", {}), ("pause", {})], "paused", {}, id="vacuum pauses"),
        pytest.param("vacuum.robot", [("start", {}), ("stop", {})], "idle", {}, id="vacuum stops"),
        pytest.param("vacuum.robot", [("clean_spot", {}), ("locate", {})], "cleaning", {}, id="vacuum cleans a spot"),
        pytest.param("vacuum.robot", [("return_to_base", {})], "returning", {}, id="vacuum goes home"),
        pytest.param(
            "vacuum.robot", [("set_fan_speed", {"fan_speed": "loud"})], "idle", {"fan_speed": "loud"}, id="suction"
        ),
        pytest.param(
            "climate.room",
            [("set_temperature", {"temperature": 23})],
            "heat",
            {"temperature": 23, "hvac_action": "heating"},
            id="warmer",
        ),
        pytest.param(
            "climate.room",
            [("set_temperature", {"temperature": 18})],
            "heat",
            {"hvac_action": "idle"},
            id="warm enough",
        ),
        pytest.param(
            "climate.room",
            [("set_temperature", {"temperature": 18, "hvac_mode": "cool"})],
            "cool",
            {"hvac_action": "cooling"},
            id="cool",
        ),
        pytest.param(
            "climate.room",
            [("set_temperature", {"target_temp_low": 21, "target_temp_high": 24, "hvac_mode": "heat_cool"})],
            "heat_cool",
            {"target_temp_low": 21, "target_temp_high": 24, "hvac_action": "heating"},
            id="a range",
        ),
        pytest.param("climate.room", [("turn_off", {})], "off", {"hvac_action": "off"}, id="heating off"),
        pytest.param(
            "climate.room",
            [("set_hvac_mode", {"hvac_mode": "cool"}), ("turn_off", {}), ("turn_on", {})],
            "cool",
            {},
            id="climate comes back as it was",
        ),
        pytest.param(
            "climate.room", [("set_hvac_mode", {"hvac_mode": "dry"})], "dry", {"hvac_action": "drying"}, id="dry"
        ),
        pytest.param(
            "climate.room", [("set_hvac_mode", {"hvac_mode": "fan_only"})], "fan_only", {"hvac_action": "fan"}, id="air"
        ),
        pytest.param("climate.room", [("set_humidity", {"humidity": 50})], "heat", {"humidity": 50}, id="humidity"),
        pytest.param(
            "climate.room", [("set_fan_mode", {"fan_mode": "high"})], "heat", {"fan_mode": "high"}, id="its fan"
        ),
        pytest.param(
            "climate.room", [("set_preset_mode", {"preset_mode": "away"})], "heat", {"preset_mode": "away"}, id="away"
        ),
        pytest.param(
            "media_player.speaker",
            [("media_play", {})],
            "playing",
            {"media_title": "One", "media_artist": "Erik Satie", "media_track": 1},
            id="play",
        ),
        pytest.param("media_player.speaker", [("media_pause", {})], "paused", {}, id="pause"),
        pytest.param("media_player.speaker", [("media_stop", {})], "idle", {}, id="stop"),
        pytest.param("media_player.speaker", [("turn_off", {})], "off", {"media_title": None}, id="speaker off"),
        pytest.param("media_player.speaker", [("turn_off", {}), ("turn_on", {})], "idle", {}, id="speaker on"),
        pytest.param(
            "media_player.speaker",
            [("media_next_track", {})],
            "playing",
            {"media_title": "Two", "media_artist": None, "media_track": 2},
            id="next track",
        ),
        pytest.param(
            "media_player.speaker",
            [("media_previous_track", {})],
            "playing",
            {"media_title": "Three", "media_track": 3},
            id="before the first track is the last",
        ),
        pytest.param(
            "media_player.radio", [("media_next_track", {})], "playing", {"media_track": 2}, id="only counted"
        ),
        pytest.param(
            "media_player.radio", [("media_previous_track", {})], "playing", {"media_track": 1}, id="no track before"
        ),
        pytest.param(
            "media_player.speaker", [("volume_set", {"volume_level": 0.8})], "on", {"volume_level": 0.8}, id="volume"
        ),
        pytest.param("media_player.speaker", [("volume_up", {})], "on", {"volume_level": 0.6}, id="louder"),
        pytest.param(
            "media_player.speaker",
            [("volume_mute", {"is_volume_muted": True})],
            "on",
            {"volume_level": 0.5, "is_volume_muted": True},
            id="mute",
        ),
        pytest.param(
            "media_player.speaker",
            [("select_source", {"source": "bluetooth"})],
            "on",
            {"source": "bluetooth"},
            id="source",
        ),
        pytest.param(
            "media_player.speaker",
            [("play_media", {"media_content_id": "Two", "media_content_type": "music"})],
            "playing",
            {"media_title": "Two", "media_track": 2},
            id="play a track",
        ),
        pytest.param(
            "media_player.speaker",
            [("play_media", {"media_content_id": "news.mp3", "media_content_type": "podcast"})],
            "playing",
            {"media_title": "news.mp3", "media_content_type": "podcast"},
            id="play anything",
        ),
        pytest.param("number.height", [("set_value", {"value": 110})], "110.0", {}, id="number"),
        pytest.param("select.programme", [("select_option", {"option": "quick"})], "quick", {}, id="choice"),
    ],
)
async def test_a_device_does_what_it_is_told(
    hass: HomeAssistant, entity_id: str, calls: list[Call], state: str, attributes: dict[str, JsonValue]
) -> None:
    await move_in(hass, DEVICES)

    shown = await act(hass, entity_id, calls)

    assert shown.state == state
    assert {name: shown.attributes.get(name) for name in attributes} == attributes


async def test_a_device_refuses_what_its_features_do_not_have(hass: HomeAssistant) -> None:
    await move_in(hass, DEVICES)

    with pytest.raises(ServiceNotSupported):
        await hass.services.async_call(
            "media_player", "media_pause", {"entity_id": "media_player.radio"}, blocking=True
        )


async def test_a_button_shows_when_it_was_pressed(hass: HomeAssistant) -> None:
    await move_in(hass, DEVICES)
    assert hass.states.is_state("button.bell", "unknown")

    await hass.services.async_call("button", "press", {"entity_id": "button.bell"}, blocking=True)

    assert not hass.states.is_state("button.bell", "unknown")


async def test_a_scene_brings_its_entities_into_their_states(hass: HomeAssistant) -> None:
    await move_in(hass, DEVICES)

    await hass.services.async_call("scene", "turn_on", {"entity_id": "scene.evening"}, blocking=True)
    await hass.async_block_till_done()

    assert hass.states.is_state("switch.plug", "on")
    assert hass.states.is_state("light.plain", "on")
    dimmer = hass.states.get("light.dimmer")
    assert dimmer is not None
    assert (dimmer.state, dimmer.attributes["brightness"]) == ("on", 33)


async def test_music_is_found_by_artist_and_played(hass: HomeAssistant) -> None:
    await move_in(hass, DEVICES)

    await intent.async_handle(
        hass,
        "test",
        "HassMediaSearchAndPlay",
        {"search_query": {"value": "satie"}, "name": {"value": "Speaker"}},
        assistant="conversation",
    )

    speaker = hass.states.get("media_player.speaker")
    assert speaker is not None
    assert (speaker.state, speaker.attributes["media_title"]) == ("playing", "One")
