"""The blueprints do what they promise: set up as a user would, with a real agent and a scripted model."""

import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_mock_service

import custom_components
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedFailure
from tests.support.talk import AGENT, SATELLITE, Serve, messages_of

_FOLDER = Path(custom_components.__file__).parents[1] / "blueprints"
_DOORBELL = {"trigger": "state", "entity_id": "binary_sensor.door", "to": "on"}
_MESSAGE = "{{ states('sensor.visitor') }} is at the door"


async def _add_automation(
    hass: HomeAssistant, tmp_path: Path, blueprint: str, inputs: Mapping[str, object]
) -> None:
    """Set up one automation from a blueprint, in a configuration folder that holds all of them."""
    shutil.copytree(_FOLDER, tmp_path / "blueprints")
    hass.config.config_dir = str(tmp_path)
    used = {"path": f"chatterbox/{blueprint}.yaml", "input": inputs}
    assert await async_setup_component(
        hass, "automation", {"automation": {"use_blueprint": used}}
    )
    assert hass.states.async_entity_ids("automation") != [], "its inputs are complete"


async def _turn_on(hass: HomeAssistant, entity_id: str) -> None:
    hass.states.async_set(entity_id, "off")
    await hass.async_block_till_done()
    hass.states.async_set(entity_id, "on")
    await hass.async_block_till_done(wait_background_tasks=True)


def _messages(announced: list[ServiceCall]) -> list[object]:
    assert all(call.data["entity_id"] == [SATELLITE] for call in announced)
    return [call.data["message"] for call in announced]


@pytest.mark.parametrize(
    ("answer", "heard"),
    [
        (
            ScriptedAnswer(content="Ben has come, open the door!"),
            "Ben has come, open the door!",
        ),
        (ScriptedFailure(status=500), "Ben is at the door"),
    ],
    ids=["an answer", "no answer"],
)
async def test_an_announcement_is_worded_by_the_agent_or_made_as_it_is(
    hass: HomeAssistant,
    serve: Serve,
    tmp_path: Path,
    answer: ScriptedAnswer | ScriptedFailure,
    heard: str,
) -> None:
    server = await serve(Script(answers=(answer,) * 4))
    announced = async_mock_service(hass, "assist_satellite", "announce")
    hass.states.async_set("sensor.visitor", "Ben")
    inputs = {
        "trigger": [_DOORBELL],
        "message": _MESSAGE,
        "agent": AGENT,
        "satellites": {"entity_id": SATELLITE},
    }
    await _add_automation(hass, tmp_path, "announce", inputs)

    await _turn_on(hass, "binary_sensor.door")

    assert _messages(announced) == [heard]
    assert "Ben is at the door" in str(messages_of(server.requests[0])[-1])


async def test_a_question_is_asked_with_what_its_answer_means(
    hass: HomeAssistant, serve: Serve, tmp_path: Path
) -> None:
    await serve(Script(answers=()))
    started = async_mock_service(hass, "assist_satellite", "start_conversation")
    inputs = {
        "trigger": [_DOORBELL],
        "satellite": SATELLITE,
        "question": "Shall I close the roof window?",
        "task": "close the roof window.",
    }
    await _add_automation(hass, tmp_path, "ask_and_act", inputs)

    await _turn_on(hass, "binary_sensor.door")

    (call,) = started
    assert call.data["start_message"] == "Shall I close the roof window?"
    assert (
        "do this with your tools: close the roof window."
        in call.data["extra_system_prompt"]
    )
    assert call.data["entity_id"] == [SATELLITE]


async def test_a_briefing_is_told_once_a_morning(
    hass: HomeAssistant, serve: Serve, tmp_path: Path, freezer: FrozenDateTimeFactory
) -> None:
    await hass.config.async_set_time_zone("UTC")
    await serve(
        Script(
            answers=tuple(
                ScriptedAnswer(content=f"Briefing {day}.") for day in range(5)
            )
        )
    )
    announced = async_mock_service(hass, "assist_satellite", "announce")
    inputs = {
        "motion": "binary_sensor.hall",
        "agent": AGENT,
        "satellites": {"entity_id": SATELLITE},
    }
    await _add_automation(hass, tmp_path, "morning_briefing", inputs)

    for day, hour in [(1, 4), (1, 7), (1, 8), (2, 5), (2, 9), (2, 11)]:
        freezer.move_to(datetime(2027, 3, day, hour, tzinfo=UTC))
        await _turn_on(hass, "binary_sensor.hall")

    assert _messages(announced) == ["Briefing 0.", "Briefing 1."]
