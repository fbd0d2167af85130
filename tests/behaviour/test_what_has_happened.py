"""What is said has happened: failures of devices and scripts, told with their own reasons."""

import json
import logging

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import async_get_platforms
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.const import EVENT_CHANGE
from tests.support.servers.model_server import ReceivedRequest
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import LIGHT_ON, Serve, messages_of, say, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")

LIGHT = "light.kitchen_ceiling"
NO_WORDS = ""


def calling(call: ScriptedCall, answer: str) -> Script:
    """Return the script of a model that calls one tool, then answers."""
    return Script(answers=(ScriptedAnswer(tool_calls=(call,)), ScriptedAnswer(content=answer)))


def result_read(request: ReceivedRequest) -> str:
    """Return the result that the model reads last."""
    return str([message["content"] for message in messages_of(request) if message["role"] == "tool"][-1])


def entity_of(hass: HomeAssistant, entity_id: str) -> Entity:
    """Return a device of the demo home."""
    (found,) = (
        entity
        for platform in async_get_platforms(hass, "demo_house")
        if (entity := platform.entities.get(entity_id)) is not None
    )
    return found


def break_down(hass: HomeAssistant, entity_id: str, action: str, error: Exception) -> None:
    """Have an action of a device raise an error."""

    async def fail(**_: object) -> None:
        raise error

    setattr(entity_of(hass, entity_id), f"async_{action}", fail)


LIGHT_FAILED = "That didn't work: Kitchen Ceiling Light. The bulb does not answer: check the wall switch."
WALL_SWITCH = HomeAssistantError("The bulb does not answer: check the wall switch")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("The light is on.", f"The light is on. {LIGHT_FAILED}"),
        (NO_WORDS, LIGHT_FAILED),
    ],
)
async def test_the_reason_of_a_device_is_told_to_model_person_and_audit(
    hass: HomeAssistant, serve: Serve, answer: str, said: str
) -> None:
    changes = async_capture_events(hass, EVENT_CHANGE)
    server = await serve(calling(LIGHT_ON, answer))
    break_down(hass, LIGHT, "turn_on", WALL_SWITCH)

    assert speech(await say(hass, "Please put the light on")) == said

    assert "check the wall switch" in result_read(server.requests[-1])
    assert "check the wall switch" in changes[-1].data["message"]


async def test_a_value_out_of_range_is_answered_with_the_range(
    hass: HomeAssistant, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    call = ScriptedCall(
        name="HassClimateSetTemperature", arguments={"name": "Living Room Thermostat", "temperature": 72}
    )
    server = await serve(calling(call, NO_WORDS))

    said = speech(await say(hass, "Please make it 72 degrees"))

    read = json.loads(result_read(server.requests[-1]))["error"]
    assert read == "Provided temperature 72.0 is not valid. Accepted range is 7 to 35."
    assert read in said
    ours = [record for record in caplog.records if record.name.startswith("custom_components.chatterbox")]
    warnings = [record.getMessage() for record in ours if record.levelno == logging.WARNING]
    assert [text for text in warnings if "HassClimateSetTemperature failed" in text] == [
        "The tool climate__HassClimateSetTemperature failed: ServiceValidationError (temp_out_of_range)"
    ]


@pytest.mark.usefixtures("offline")
async def test_the_reason_is_told_in_the_language_of_the_speaker(hass: HomeAssistant) -> None:
    refusal = ServiceValidationError(
        translation_domain="climate",
        translation_key="temp_out_of_range",
        translation_placeholders={"check_temp": "72", "min_temp": "7", "max_temp": "35"},
    )
    break_down(hass, LIGHT, "turn_on", refusal)

    said = speech(await say(hass, "Schalte die Kitchen Ceiling Light ein", language="de"))

    assert all(part in said for part in ("72", "35", "Temperatur"))


@pytest.mark.parametrize(
    ("error", "secret"),
    [
        (ValueError("token=5up3r-s3cr3t"), "5up3r-s3cr3t"),
        (HomeAssistantError("No answer from http://me:5up3r@lamp.local/on?key=s3cr3t"), "5up3r"),
        (HomeAssistantError("No answer from http://me:5up3r@lamp.local/on?key=s3cr3t"), "s3cr3t"),
    ],
)
@pytest.mark.parametrize("text", ["Please put the light on", "turn on the kitchen ceiling light"])
async def test_a_reason_gives_no_secret_away(
    hass: HomeAssistant, serve: Serve, error: Exception, secret: str, text: str
) -> None:
    changes = async_capture_events(hass, EVENT_CHANGE)
    server = await serve(calling(LIGHT_ON, NO_WORDS), local_commands="first")
    break_down(hass, LIGHT, "turn_on", error)

    said = speech(await say(hass, text))

    assert secret not in said
    assert secret not in json.dumps([change.data for change in changes], default=str)
    assert all(secret not in json.dumps(messages_of(request)) for request in server.requests)


@pytest.mark.usefixtures("offline")
async def test_the_reason_is_told_without_a_model(hass: HomeAssistant) -> None:
    break_down(hass, LIGHT, "turn_on", WALL_SWITCH)

    assert speech(await say(hass, "turn on the kitchen ceiling light")) == LIGHT_FAILED
    assert "35" in speech(await say(hass, "set the living room thermostat to 72 degrees"))
