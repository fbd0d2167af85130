"""What is switched, locked, opened or turns does what it is told, at once, and what it shows follows."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from pydantic import JsonValue

from tests.demo_house.move_in import Call, act, move_in, read_devices

DEVICES = read_devices()


@pytest.mark.parametrize(
    ("entity_id", "calls", "state", "attributes"),
    [
        pytest.param("light.plain", [("turn_on", {})], "on", {"color_mode": "onoff"}, id="a light"),
        pytest.param(
            "light.plain",
            [("turn_on", {"brightness": 9})],
            "on",
            {"color_mode": "onoff"},
            id="a light without a dimmer",
        ),
        pytest.param("light.dimmer", [("turn_on", {})], "on", {"brightness": 77}, id="a dimmer comes back as it was"),
        pytest.param(
            "light.dimmer", [("turn_on", {"brightness_pct": 50})], "on", {"brightness": 128}, id="a dimmer is dimmed"
        ),
        pytest.param(
            "light.dimmer", [("turn_on", {"brightness": 0})], "off", {"brightness": None}, id="dimmed to zero"
        ),
        pytest.param(
            "light.colour", [("turn_off", {})], "off", {"brightness": None, "color_mode": None}, id="a light goes off"
        ),
        pytest.param(
            "light.colour",
            [("turn_on", {"color_temp_kelvin": 4000})],
            "on",
            {"color_mode": "color_temp", "color_temp_kelvin": 4000, "brightness": 100},
            id="white tone",
        ),
        pytest.param(
            "light.colour",
            [("turn_on", {"rgb_color": [255, 0, 0]})],
            "on",
            {"color_mode": "hs", "hs_color": (0.0, 100.0), "color_temp_kelvin": None},
            id="colour",
        ),
        pytest.param(
            "light.strip", [("turn_on", {"white": 50})], "on", {"color_mode": "white", "brightness": 50}, id="white"
        ),
        pytest.param("light.strip", [("turn_on", {"effect": "fire"})], "on", {"effect": "fire"}, id="effect"),
        pytest.param("switch.plug", [("turn_on", {})], "on", {}, id="a switch goes on"),
        pytest.param("switch.plug", [("toggle", {}), ("turn_off", {})], "off", {}, id="a switch goes off"),
        pytest.param("lock.door", [("unlock", {})], "unlocked", {}, id="unlock"),
        pytest.param("lock.door", [("open", {})], "open", {}, id="unlatch"),
        pytest.param("lock.door", [("open", {}), ("lock", {})], "locked", {}, id="lock an open door"),
        pytest.param("lock.safe", [("unlock", {"code": "1234"})], "unlocked", {}, id="unlock with the code"),
        pytest.param("cover.garage", [("open_cover", {})], "open", {"current_position": None}, id="garage door"),
        pytest.param("cover.blinds", [("close_cover", {})], "closed", {"current_position": 0}, id="blinds close"),
        pytest.param(
            "cover.blinds",
            [("set_cover_position", {"position": 30})],
            "open",
            {"current_position": 30},
            id="blinds half",
        ),
        pytest.param("cover.blinds", [("stop_cover", {})], "open", {"current_position": 100}, id="blinds stop"),
        pytest.param(
            "cover.blinds", [("close_cover_tilt", {})], "open", {"current_tilt_position": 0}, id="slats close"
        ),
        pytest.param(
            "cover.blinds", [("open_cover_tilt", {})], "open", {"current_tilt_position": 100}, id="slats open"
        ),
        pytest.param(
            "cover.blinds",
            [("set_cover_tilt_position", {"tilt_position": 20}), ("stop_cover_tilt", {})],
            "open",
            {"current_tilt_position": 20},
            id="slats turn",
        ),
        pytest.param("valve.tap", [("open_valve", {})], "open", {"current_position": None}, id="a tap opens"),
        pytest.param("valve.tap", [("open_valve", {}), ("close_valve", {})], "closed", {}, id="a tap closes"),
        pytest.param("valve.garden", [("open_valve", {})], "open", {"current_position": 100}, id="a valve opens"),
        pytest.param(
            "valve.garden", [("set_valve_position", {"position": 40})], "open", {"current_position": 40}, id="half open"
        ),
        pytest.param("fan.simple", [("turn_on", {})], "on", {}, id="a fan with one speed"),
        pytest.param("fan.ceiling", [("turn_off", {})], "off", {"percentage": 0}, id="a fan goes off"),
        pytest.param(
            "fan.ceiling",
            [("set_percentage", {"percentage": 20}), ("turn_off", {}), ("turn_on", {})],
            "on",
            {"percentage": 20},
            id="a fan comes back as it was",
        ),
        pytest.param("fan.ceiling", [("turn_on", {"percentage": 20})], "on", {"percentage": 20}, id="a fan's speed"),
        pytest.param("fan.ceiling", [("set_percentage", {"percentage": 0})], "off", {"percentage": 0}, id="no speed"),
        pytest.param(
            "fan.ceiling",
            [("turn_on", {"preset_mode": "breeze"})],
            "on",
            {"preset_mode": "breeze", "percentage": None},
            id="a fan's mode",
        ),
        pytest.param("fan.ceiling", [("oscillate", {"oscillating": True})], "on", {"oscillating": True}, id="swing"),
        pytest.param(
            "fan.ceiling", [("set_direction", {"direction": "reverse"})], "on", {"direction": "reverse"}, id="reverse"
        ),
    ],
)
async def test_a_device_does_what_it_is_told(
    hass: HomeAssistant, entity_id: str, calls: list[Call], state: str, attributes: dict[str, JsonValue]
) -> None:
    await move_in(hass, DEVICES)

    shown = await act(hass, entity_id, calls)

    assert shown.state == state
    assert {name: shown.attributes.get(name) for name in attributes} == attributes


async def test_a_lock_with_a_code_stays_locked_without_it(hass: HomeAssistant) -> None:
    await move_in(hass, DEVICES)

    with pytest.raises(ServiceValidationError):
        await hass.services.async_call("lock", "unlock", {"entity_id": "lock.safe", "code": "4321"}, blocking=True)

    assert hass.states.is_state("lock.safe", "locked")
