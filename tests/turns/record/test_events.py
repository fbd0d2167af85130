"""The events that automations get of a turn while it runs, on the bus of a real Home Assistant."""

import json
import logging
from collections.abc import Sequence

import pytest
import voluptuous as vol
from homeassistant.components import conversation
from homeassistant.components.conversation.chat_log import async_subscribe_chat_logs
from homeassistant.components.conversation.const import ChatLogEventType
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.helpers.json import json_bytes
from homeassistant.helpers.llm import ToolAnnotations
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockUser, async_capture_events

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.const import (
    CONF_KIND,
    EVENT_CHANGE,
    EVENT_TOOL_CALLED,
    EVENT_TOOL_FINISHED,
    EVENT_TURN_FINISHED,
    EVENT_TURN_STARTED,
    ServiceKind,
)
from tests.support.documented_yaml import blocks_with
from tests.support.llm_apis import StubTool, register
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import (
    AGENT,
    LIGHT_ON,
    PART,
    Serve,
    add_agent,
    move_into_the_demo_home,
    say,
)

OF_A_TURN = (
    EVENT_TURN_STARTED,
    EVENT_TOOL_CALLED,
    EVENT_TOOL_FINISHED,
    EVENT_TURN_FINISHED,
)
ORIGIN = {
    *("turn_id", "entity_id", "conversation_id", "history_id", "language"),
    *("device_id", "satellite_id", "user_id", "person_id", "person", "caller"),
}

type TurnBusEvent = Event[dict[str, object]]


def turn_events(hass: HomeAssistant) -> Sequence[TurnBusEvent]:
    """Return a list that grows by the events of turns, in their order."""
    events: list[TurnBusEvent] = []

    @callback
    def listen(event: TurnBusEvent) -> None:
        events.append(event)

    for event_type in OF_A_TURN:
        hass.bus.async_listen(event_type, listen)
    return events


async def test_a_turn_is_told_as_it_goes(
    hass: HomeAssistant, serve: Serve, hass_admin_user: MockUser
) -> None:
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(LIGHT_ON,)),
                ScriptedAnswer(content="It is on."),
            )
        )
    )
    events, states = turn_events(hass), list[bool]()
    context = Context(user_id=hass_admin_user.id)

    @callback
    def look(_: TurnBusEvent) -> None:
        states.append(hass.states.is_state("light.kitchen_ceiling", "on"))

    for event_type in (EVENT_TOOL_CALLED, EVENT_TOOL_FINISHED):
        hass.bus.async_listen(event_type, look)

    await conversation.async_converse(
        hass,
        "light!",
        "a-talk",
        context,
        "en",
        AGENT,
        device_id="a-device",
        satellite_id="assist_satellite.kitchen",
    )

    assert [event.event_type for event in events] == list(OF_A_TURN)
    assert states == [False, True], "before and after the tool runs"
    assert all(event.context is context for event in events)
    turn_id = events[0].data["turn_id"]
    assert turn_id
    for event in events:
        assert {key: event.data[key] for key in ORIGIN} == {
            "turn_id": turn_id,
            "entity_id": AGENT,
            "conversation_id": "a-talk",
            "history_id": "a-talk",
            "language": "en",
            "device_id": "a-device",
            "satellite_id": "assist_satellite.kitchen",
            "user_id": hass_admin_user.id,
            "person_id": hass_admin_user.id,
            "person": hass_admin_user.name,
            "caller": None,
        }
    started, called, finished, end = (
        {key: value for key, value in event.data.items() if key not in ORIGIN}
        for event in events
    )
    ran = {
        "tool_call_id": called["tool_call_id"],
        "name": "intent__HassTurnOn",
        "arguments": {"domain": ["light"], "name": "Kitchen ceiling light"},
    }
    assert started == {}
    assert called == ran
    assert finished["result"]
    assert finished == {
        **ran,
        "result": finished["result"],
        "is_error": False,
        "has_run": True,
    }
    assert end["stop_reason"] == "completed"


async def test_a_call_that_did_not_run_was_never_called(
    hass: HomeAssistant, serve: Serve
) -> None:
    coffee = ScriptedCall(name="make_coffee", arguments={"cups": 2})
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(coffee,)),
                ScriptedAnswer(content="I cannot."),
            )
        )
    )
    called = async_capture_events(hass, EVENT_TOOL_CALLED)
    finished = async_capture_events(hass, EVENT_TOOL_FINISHED)

    await say(hass, "coffee!")

    assert called == []
    (refused,) = finished
    assert (refused.data["name"], refused.data["arguments"]) == (
        "make_coffee",
        {"cups": 2},
    )
    assert (refused.data["is_error"], refused.data["has_run"]) == (True, False)


async def test_a_turn_that_breaks_before_it_begins_is_told_to_end(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(Script())
    events = turn_events(hass)

    def break_down(
        _conversation_id: str, event_type: ChatLogEventType, _data: dict[str, object]
    ) -> None:
        if event_type is ChatLogEventType.UPDATED:
            raise RuntimeError

    unsubscribe = async_subscribe_chat_logs(hass, break_down)
    await say(hass, "hello")
    unsubscribe()

    assert [event.event_type for event in events] == [
        EVENT_TURN_STARTED,
        EVENT_TURN_FINISHED,
    ]


@pytest.mark.parametrize(
    "character", ["💡", pytest.param('"', marks=pytest.mark.thorough)]
)
async def test_every_event_can_be_recorded(
    hass: HomeAssistant, serve: Serve, character: str
) -> None:
    long_name = ScriptedCall(
        name="intent__HassTurnOn", arguments={"name": character * 9_000}
    )
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(long_name,)),
                ScriptedAnswer(content="Sorry."),
            )
        )
    )
    events = turn_events(hass)

    await say(hass, character * 9_000)

    assert EVENT_TOOL_FINISHED in {event.event_type for event in events}
    assert max(len(json_bytes(event.data)) for event in events) < 32_768


async def test_the_event_of_a_turn_with_very_many_calls_can_be_recorded(
    hass: HomeAssistant, serve: Serve
) -> None:
    calls = [
        ScriptedCall(
            name="intent__HassTurnOn", arguments={"name": f"灯 {number} " + "x" * 400}
        )
        for number in range(80)
    ]
    rounds = tuple(
        ScriptedAnswer(tool_calls=tuple(calls[at : at + 5])) for at in range(0, 80, 5)
    )
    script = Script(
        answers=(*rounds, ScriptedAnswer(content="".join(map(str, range(2_500)))))
    )
    await serve(script, max_tool_calls=80, max_iterations=20)
    events = turn_events(hass)

    await say(hass, "z" * 9_000)

    data = events[-1].data
    assert len(json_bytes(data)) < 32_768
    content = data["tool_calls"]
    assert isinstance(content, list)
    assert (len(content), data["more_tool_calls"]) == (40, 40)


async def test_the_documented_log_tells_what_an_agent_could_not_do(
    hass: HomeAssistant, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    coffee = ScriptedCall(name="make_coffee", arguments={"cups": 2})
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(coffee,)),
                ScriptedAnswer(content="I cannot."),
            )
        )
    )
    (automation,) = blocks_with(EVENT_TURN_FINISHED)
    assert await async_setup_component(hass, "system_log", {})
    assert await async_setup_component(
        hass, "automation", {"automation": {"alias": "Log", **automation}}
    )

    await say(hass, "coffee, please")
    await hass.async_block_till_done()

    assert "coffee, please: [{'name': 'make_coffee'" in caplog.text


async def test_changes_of_an_agent_without_a_model_are_told(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass, PART)
    await add_agent(hass, {CONF_KIND: ServiceKind.OFFLINE.value}, {})
    changes = async_capture_events(hass, EVENT_CHANGE)

    for text in (
        "turn on the kitchen ceiling light",
        "unlock the front door",
        "yes",
        "what time is it",
    ):
        await say(hass, text, satellite_id="assist_satellite.hall")
    await hass.async_block_till_done()

    assert [event.data["message"] for event in changes] == [
        "turned on Kitchen Ceiling Light",
        "did not unlock Front Door: waiting for confirmation",
        "unlocked Front Door, after a yes",
    ]
    assert len({event.data["turn_id"] for event in changes}) == 3


async def test_calls_are_logged_without_secrets(
    hass: HomeAssistant, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    fields = {vol.Optional(field): object for field in ("query", "user_code", "more")}
    tool = StubTool(name="look_up", parameters=vol.Schema(fields))
    tool.annotations = ToolAnnotations(read_only=True, destructive=False)
    register(hass, "web", tool)
    arguments: JsonObject = {
        "query": "what is sk-very-secret?",
        "user_code": "4711",
        "more": [{"Pin": "0815"}],
    }
    calls = (ScriptedCall(name="look_up", arguments=arguments),)
    script = Script(
        answers=(ScriptedAnswer(tool_calls=calls), ScriptedAnswer(content="Nothing."))
        * 2
    )
    await serve(
        script, llm_hass_api=["web"], extra_parameters={"session": "sk-very-secret"}
    )
    logged = "conversation.talker calls look_up with "

    with caplog.at_level(logging.INFO, "custom_components.chatterbox"):
        await say(hass, "what is that?")
    assert logged not in caplog.text
    with caplog.at_level(logging.DEBUG, "custom_components.chatterbox"):
        await say(hass, "what is that?")

    [line] = [
        record.getMessage()
        for record in caplog.records
        if record.getMessage().startswith(logged)
    ]
    assert json.loads(line.removeprefix(logged)) == {
        "query": "what is **REDACTED**?",
        "user_code": "**REDACTED**",
        "more": [{"Pin": "**REDACTED**"}],
    }


async def test_long_calls_are_logged_without_secrets(
    hass: HomeAssistant, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    tool = StubTool(
        name="look_up",
        parameters=vol.Schema({vol.Optional("code"): str, vol.Optional("text"): str}),
    )
    tool.annotations = ToolAnnotations(read_only=True, destructive=False)
    register(hass, "web", tool)
    calls = (
        ScriptedCall(name="look_up", arguments={"code": "4711", "text": "hi " * 1000}),
    )
    await serve(
        Script(
            answers=(ScriptedAnswer(tool_calls=calls), ScriptedAnswer(content="Done."))
        ),
        llm_hass_api=["web"],
    )

    with caplog.at_level(logging.DEBUG, "custom_components.chatterbox"):
        await say(hass, "look it up")

    [line] = [
        text
        for record in caplog.records
        if "calls look_up with" in (text := record.getMessage())
    ]
    assert '"code":"**REDACTED**"' in line
    assert "4711" not in line
    assert len(line) < 1100
