"""What a whole agent tells of its changes: the real entity, spoken to as by a satellite."""

import pytest
from homeassistant.components import conversation
from homeassistant.core import Context, Event, HomeAssistant
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.approvals.questions import Channel, GivenAnswer, async_get_approvals
from custom_components.chatterbox.const import CONF_KIND, EVENT_CHANGE, ServiceKind
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import AGENT, LIGHT_ON, Serve, add_agent, move_into_the_demo_home

pytestmark = pytest.mark.usefixtures("socket_enabled")

UNLOCK = ScriptedCall(name="HassTurnOff", arguments={"name": "Front Door", "domain": "lock"})
ASKS = ScriptedAnswer(tool_calls=(LIGHT_ON, UNLOCK))
COME_IN = ScriptedAnswer(content="Come in.")

type Changes = list[Event[dict[str, object]]]


@pytest.fixture
def changes(hass: HomeAssistant) -> Changes:
    return async_capture_events(hass, EVENT_CHANGE)


def messages(changes: Changes) -> list[object]:
    return [event.data["message"] for event in changes]


async def say(hass: HomeAssistant, text: str) -> None:
    await conversation.async_converse(
        hass, text, "a-talk", Context(), "en", AGENT, device_id="the-hall", satellite_id="assist_satellite.hall"
    )
    await hass.async_block_till_done()


async def test_a_yes_by_voice(hass: HomeAssistant, serve: Serve, changes: Changes) -> None:
    await serve(Script(answers=(ASKS, COME_IN)))

    await say(hass, "let me in, and make light")
    await say(hass, "yes")

    assert messages(changes) == [
        "turned on Kitchen Ceiling Light",
        "did not unlock Front Door: waiting for confirmation",
        "unlocked Front Door, approved by voice",
    ]
    assert len({event.data["turn_id"] for event in changes}) == 2


async def test_a_no_by_voice(hass: HomeAssistant, serve: Serve, changes: Changes) -> None:
    await serve(Script(answers=(ScriptedAnswer(tool_calls=(UNLOCK,)), COME_IN)))

    await say(hass, "let me in")
    await say(hass, "no")

    assert messages(changes)[1:] == ["did not unlock Front Door: it was denied"]


async def test_a_yes_to_a_notification(hass: HomeAssistant, serve: Serve, changes: Changes) -> None:
    await serve(Script(answers=(ScriptedAnswer(tool_calls=(UNLOCK,)), COME_IN)))

    await say(hass, "let me in")
    approvals = async_get_approvals(hass)
    await approvals.answer(approvals.waiting[0].id, GivenAnswer(approved=True, channel=Channel.NOTIFICATION))
    await hass.async_block_till_done()

    assert messages(changes)[1:] == ["unlocked Front Door, approved on a notification"]
    assert changes[0].data["question_id"] == changes[1].data["question_id"]


async def test_an_agent_without_a_model(hass: HomeAssistant, changes: Changes) -> None:
    await move_into_the_demo_home(hass)
    await add_agent(hass, {CONF_KIND: ServiceKind.OFFLINE.value}, {})

    await say(hass, "turn on the kitchen ceiling light")
    await say(hass, "unlock the front door")
    await say(hass, "yes")
    await say(hass, "what time is it")

    assert messages(changes) == [
        "turned on Kitchen Ceiling Light",
        "did not unlock Front Door: waiting for confirmation",
        "unlocked Front Door, approved by voice",
    ]
