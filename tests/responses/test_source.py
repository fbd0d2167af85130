"""Clients bring tools, instructions and limits to a turn, within what the agent has."""

from dataclasses import replace

import pytest
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.agent.events import (
    StopReason,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    JsonObject,
    ToolCall,
    ToolDefinition,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import OutputFormat
from custom_components.chatterbox.const import EVENT_TURN_STARTED
from custom_components.chatterbox.responses.protocol.errors import ApiError
from custom_components.chatterbox.responses.protocol.tools import (
    AllowedTools,
    FunctionRef,
    HostedToolRef,
    HostedTools,
    ToolFilter,
)
from tests.support.api_clients import ASSIST, ApiClient
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import (
    AGENT,
    LIGHT,
    LIGHT_ON,
    Serve,
    messages_of,
)

LIGHTS = Script(
    answers=(
        ScriptedAnswer(tool_calls=(LIGHT_ON,)),
        ScriptedAnswer(content="It is on."),
    )
)
WEATHER = ToolDefinition(
    "get_weather",
    "Tells the weather.",
    {"type": "object", "properties": {}},
    client=True,
)
CALLS_WEATHER = ScriptedAnswer(
    tool_calls=(ScriptedCall(name="get_weather", arguments={}, id="call_w"),)
)


async def test_a_client_that_names_no_tools_gets_those_of_the_agent_and_one_that_wants_none_gets_none(
    serve_api: Serve, api_client: ApiClient
) -> None:
    """As a person has them, and not at all."""
    server = await serve_api(
        Script(answers=(ScriptedAnswer(content="Yes."), ScriptedAnswer(content="No.")))
    )

    await api_client.says("Hello?", hosted=None)
    await api_client.says("Hello?", hosted=())

    as_a_person, without = (request.body for request in server.requests)
    assert "HassTurnOn" in str(as_a_person["tools"])
    assert "tools" not in without


async def test_instructions_of_a_client_come_after_those_of_the_agent_and_what_it_shows_is_shown(
    serve_api: Serve, api_client: ApiClient
) -> None:
    server = await serve_api(
        Script(answers=(ScriptedAnswer(content="Ja."),)), prompt="You are the house."
    )

    await api_client.says(
        UserMessage("Bist du da?"),
        AssistantMessage("Ja."),
        UserMessage("Wirklich?", context="It is a test."),
        instructions="Answer in German.",
        hosted=(),
    )

    system, first, answer, last = messages_of(server.requests[0])
    assert str(system["content"]).startswith("You are the house.")
    assert str(system["content"]).endswith("Answer in German.")
    assert (first["content"], answer["content"]) == ("Bist du da?", "Ja.")
    assert "It is a test." in str(last["content"])
    assert str(last["content"]).endswith("Wirklich?")


async def test_wishes_that_cannot_be_met_are_refused_before_anything_begins(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """Invariants 26, 49, 66."""
    server = await serve_api(LIGHTS)
    begun = async_capture_events(hass, EVENT_TURN_STARTED)
    fly = replace(ASSIST, allowed=ToolFilter(tool_names=["Fly"]))
    either = AllowedTools(
        (
            FunctionRef(name="get_weather"),
            HostedToolRef(server_label="assist", name="Fly"),
        )
    )
    cases: list[tuple[dict[str, object], str, str | None]] = [
        (
            {"hosted": (HostedTools(server_label="nowhere"),)},
            "tools[0].server_label",
            "unknown_server_label",
        ),
        ({"hosted": (fly,)}, "tools[0].allowed_tools", "unknown_tool"),
        ({"functions": (replace(WEATHER, name="intent__HassTurnOn"),)}, "tools", None),
        (
            {"tool_choice": HostedToolRef(server_label="assist", name="Fly")},
            "tool_choice",
            "unknown_tool",
        ),
        (
            {"tool_choice": HostedToolRef(server_label="elsewhere")},
            "tool_choice",
            "unknown_tool",
        ),
        ({"tool_choice": either}, "tool_choice.tools[1]", "unknown_tool"),
    ]

    for wishes, param, code in cases:
        with pytest.raises(ApiError) as refused:
            await api_client.says("Turn on the kitchen light.", **wishes)
        assert (refused.value.status, refused.value.param, refused.value.code) == (
            400,
            param,
            code,
        )

    assert not server.requests
    assert not begun


async def test_a_client_may_choose_tools(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """Invariants 23, 25: what is not allowed is seen by the model, and not run."""
    server = await serve_api(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(LIGHT_ON,)),
                ScriptedAnswer(content="I cannot."),
                *LIGHTS.answers,
                *LIGHTS.answers,
            )
        )
    )

    other = await api_client.says(
        "Light!",
        tool_choice=AllowedTools(
            (
                HostedToolRef(
                    server_label="assist", name="homeassistant__GetLiveContext"
                ),
            )
        ),
    )

    assert hass.states.is_state(LIGHT, "off")
    assert [result.is_error for result in other.results] == [True]

    await api_client.says(
        "Light!",
        tool_choice=HostedToolRef(server_label="assist", name="intent__HassTurnOn"),
    )
    await api_client.says("Light!", tool_choice=HostedToolRef(server_label="assist"))

    choices = [request.body.get("tool_choice") for request in server.requests]
    assert choices[2:] == [
        {"type": "function", "function": {"name": "intent__HassTurnOn"}},
        None,
        "required",
        None,
    ]


async def test_bounds_of_a_client_hold_as_far_as_they_are_below_those_of_the_agent(
    serve_api: Serve, api_client: ApiClient
) -> None:
    """Invariants 16, 19."""
    both = ScriptedAnswer(
        tool_calls=(
            LIGHT_ON,
            ScriptedCall(name="HassTurnOn", arguments={"area": "Kitchen"}),
        )
    )
    answers = (both, ScriptedAnswer(content="One.")) * 2
    server = await serve_api(Script(answers=answers), max_tool_calls=1)

    more = await api_client.says("Lights!", max_tool_calls=5, max_output_tokens=500)
    without = await api_client.says("Lights!")

    for taken in (more, without):
        assert [result.is_error for result in taken.results] == [False, True]
        assert "used up its tool calls" in taken.results[1].content
    bounds = [request.body.get("max_tokens") for request in server.requests]
    assert bounds[0] == 500
    assert bounds[2:] == [None, None]


async def test_only_the_tools_that_are_wanted_are_offered(
    serve_api: Serve, api_client: ApiClient
) -> None:
    server = await serve_api(
        Script(answers=(ScriptedAnswer(content="Yes."), ScriptedAnswer(content="Yes.")))
    )

    named = await api_client.says(
        "Hello",
        hosted=(
            replace(
                ASSIST,
                allowed=ToolFilter(
                    tool_names=["intent__HassTurnOn", "intent__HassTurnOff"]
                ),
            ),
        ),
    )
    reading = await api_client.says(
        "Hello", hosted=(replace(ASSIST, allowed=ToolFilter(read_only=True)),)
    )

    assert [tool.name for tool in named.offered.tools["assist"]] == [
        "intent__HassTurnOff",
        "intent__HassTurnOn",
    ]
    assert "HassSetPosition" not in str(server.requests[0].body["tools"])
    assert all(tool.annotations.read_only for tool in reading.offered.tools["assist"])
    assert reading.offered.tools["assist"]


async def test_functions_of_a_client_come_back_to_it_and_what_they_bring_is_from_outside(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """Invariant 22; what a function brings may have been written by anybody, so it asks about a light."""
    script = Script(answers=(CALLS_WEATHER, ScriptedAnswer(tool_calls=(LIGHT_ON,))))
    server = await serve_api(script, ask_after_outside_content="every_change")

    called = await api_client.says("Light if it rains.", functions=(WEATHER,))
    assert called.end.stop_reason is StopReason.CLIENT_TOOLS
    assert called.end.client_calls == (ToolCall("call_w", "get_weather", "{}"),)

    outcome = await api_client.says(
        "Light if it rains.",
        AssistantMessage(tool_calls=called.end.client_calls),
        ToolResult("call_w", "get_weather", "rain", open_world=True),
        functions=(WEATHER,),
    )

    assert messages_of(server.requests[1])[-2]["content"] == "rain"
    assert outcome.end.stop_reason is StopReason.APPROVAL_REQUIRED
    assert hass.states.is_state(LIGHT, "off")


async def test_data_of_a_shape_is_asked_for(
    serve_api: Serve, api_client: ApiClient
) -> None:
    server = await serve_api(
        Script(answers=(ScriptedAnswer(content='{"rain": true}'),))
    )
    schema: JsonObject = {
        "type": "object",
        "properties": {"rain": {"type": "boolean"}},
        "required": ["rain"],
    }

    taken = await api_client.says(
        "Rain?", hosted=(), output=OutputFormat("weather", schema)
    )

    assert taken.end.text == '{"rain": true}'
    assert "json_schema" in str(server.requests[0].body["response_format"])


async def test_a_conversation_is_said_in_few_words(
    serve_api: Serve, api_client: ApiClient
) -> None:
    await serve_api(
        Script(answers=(ScriptedAnswer(content="They talked about rain."),))
    )

    text, usage = await api_client.backend.compact(
        AGENT, (UserMessage("Rain?"), AssistantMessage("Yes.")), ""
    )

    assert text == "They talked about rain."
    assert usage.input_tokens >= 0
