"""A model sets what heats, cools and plays with tools that know what devices can do, under the rules of the home."""

from collections.abc import Mapping

import pytest
from homeassistant.core import HomeAssistant
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import async_capture_events

from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import SATELLITE, Serve, messages_of, say, speech

pytestmark = pytest.mark.usefixtures("whole_home")

THERMOSTAT = "Living Room Thermostat"
CLIMATE = "chatterbox__climate"


def script(name: str, arguments: Mapping[str, JsonValue]) -> Script:
    """Return a model that makes one call, and says that it is done."""
    call = ScriptedCall(name=name, arguments=dict(arguments))
    return Script(
        answers=(ScriptedAnswer(tool_calls=(call,)), ScriptedAnswer(content="Done."))
    )


async def acted(
    hass: HomeAssistant, serve: Serve, calls: Script, **options: object
) -> tuple[list[str], str, str]:
    """Have the model make its call; return the actions, the answer, and what the model read of the call."""
    server = await serve(calls, **options)
    events = async_capture_events(hass, "call_service")
    answer = speech(await say(hass, "do it", satellite_id=SATELLITE))
    await hass.async_block_till_done()
    own = (one for one in events if one.data["domain"] in {"climate", "media_player"})
    message = [
        str(one["content"])
        for request in server.requests[1:]
        for one in messages_of(request)
        if one["role"] == "tool"
    ]
    return [one.data["service"] for one in own], answer, " ".join(message)


@pytest.mark.each_row
@pytest.mark.parametrize(
    ("name", "arguments", "services"),
    [
        (
            CLIMATE,
            {"name": THERMOSTAT, "hvac_mode": "cool", "temperature": "22"},
            ["set_hvac_mode", "set_temperature"],
        ),
        (CLIMATE, {"name": THERMOSTAT, "preset_mode": "away"}, ["set_preset_mode"]),
        (
            "HassClimateSetTemperature",
            {"name": THERMOSTAT, "temperature": 20},
            ["set_temperature"],
        ),
        (
            "media_player",
            {"action": "set", "name": "TV", "source": "HDMI 2"},
            ["select_source"],
        ),
        (CLIMATE, {"name": THERMOSTAT, "preset_mode": "eco"}, []),
        (CLIMATE, {"name": THERMOSTAT, "temperature": 90}, []),
        (CLIMATE, {"name": "Bedroom Heater", "hvac_mode": "cool"}, []),
        ("media_player", {"action": "set", "name": "TV", "source": "HDMI 9"}, []),
    ],
)
async def test_a_model_sets_what_devices_can_do(
    hass: HomeAssistant,
    serve: Serve,
    name: str,
    arguments: dict[str, JsonValue],
    services: list[str],
) -> None:
    done, _, message = await acted(hass, serve, script(name, arguments))
    assert done == services
    assert services or "expected" in message or "error" in message


@pytest.mark.parametrize("verdict", ["ask", "deny"])
async def test_rules_for_a_device_hold(
    hass: HomeAssistant, serve: Serve, verdict: str
) -> None:
    rules = [{"verdict": verdict, "entities": ["climate.living_room"]}]
    calls = script(CLIMATE, {"name": THERMOSTAT, "hvac_mode": "cool"})
    done, answer, _ = await acted(hass, serve, calls, rules=rules)
    assert done == []
    assert answer.endswith("?") is (verdict == "ask")


async def test_a_rule_against_turning_on_holds_for_modes(
    hass: HomeAssistant, serve: Serve
) -> None:
    rules = [{"verdict": "deny", "actions": ["climate.turn_on"]}]
    calls = script(CLIMATE, {"name": THERMOSTAT, "hvac_mode": "cool"})
    done, _, _ = await acted(hass, serve, calls, rules=rules)
    assert done == []
