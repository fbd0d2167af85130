"""Calls of a dry turn are answered as if they had run, and change nothing."""

from collections.abc import Mapping
from typing import override

import pytest
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.weather import WeatherEntityFeature
from homeassistant.core import HomeAssistant, SupportsResponse
from homeassistant.helpers import llm
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import async_mock_service

from custom_components.chatterbox.turns.dry_run import (
    DryOutcome,
)
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
)
from tests.support.talk import LIGHT_ON, Serve, messages_of
from tests.turns.dry_turns import seen, tried

UNLOCK = ScriptedCall(
    name="intent__HassTurnOff", arguments={"name": "Front Door", "domain": ["lock"]}
)
READ = ScriptedCall(name="homeassistant__GetLiveContext", arguments={"area": "Kitchen"})
DONE = ScriptedAnswer(content="Done.")


async def test_a_call_is_predicted_and_answered_as_if_it_had_run(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(Script(answers=(ScriptedAnswer(tool_calls=(LIGHT_ON,)), DONE)))

    turn = await tried(hass, "turn on the kitchen ceiling light")

    assert seen(turn) == [("runs", ["light.turn_on light.kitchen_ceiling"])]
    assert turn.text == "Done."
    assert hass.states.is_state("light.kitchen_ceiling", "off")
    result = str(messages_of(server.requests[1])[-1]["content"])
    assert '"success":[{"name":"Kitchen Ceiling Light"' in result.replace(
        ", ", ","
    ).replace(": ", ":")


async def test_a_held_call_asks_nobody(hass: HomeAssistant, serve: Serve) -> None:
    await serve(Script(answers=(ScriptedAnswer(tool_calls=(UNLOCK,)),)))

    turn = await tried(hass, "unlock the front door")

    assert seen(turn) == [("held", ["lock.unlock lock.front_door"])]
    assert turn.question is not None
    assert turn.text == "Unlock the Front Door in the Hallway?"


async def test_a_call_that_rules_forbid_is_refused(
    hass: HomeAssistant, serve: Serve
) -> None:
    rules = [{"entities": ["lock.front_door"], "verdict": "deny"}]
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(UNLOCK,)),
                ScriptedAnswer(content="I may not."),
            )
        ),
        rules=rules,
    )

    turn = await tried(hass, "unlock the front door")

    assert seen(turn) == [("refused", ["lock.unlock lock.front_door"])]
    assert turn.question is None


async def test_a_name_of_nothing_fails_as_it_does_in_the_home(
    hass: HomeAssistant, serve: Serve
) -> None:
    lamp = ScriptedCall(
        name="intent__HassTurnOn", arguments={"name": "Lava Lamp", "domain": "light"}
    )
    server = await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(lamp,)),
                ScriptedAnswer(content="There is none."),
            )
        )
    )

    turn = await tried(hass, "turn on the lava lamp")

    assert [one.outcome for one in turn.calls] == [DryOutcome.FAILS]
    assert "Lava Lamp" in str(messages_of(server.requests[1])[-1]["content"])


@pytest.mark.usefixtures("whole_home")
async def test_a_device_in_another_state_is_left_out(
    hass: HomeAssistant, serve: Serve
) -> None:
    """A television that is off cannot be paused, whatever its name."""
    pause = ScriptedCall(name="media_player__HassMediaPause", arguments={"name": "TV"})
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(pause,)),
                ScriptedAnswer(content="It is off."),
            )
        )
    )
    hass.states.async_set("media_player.tv", "off")

    turn = await tried(hass, "pause the TV")

    assert [one.outcome for one in turn.calls] == [DryOutcome.FAILS]


@pytest.mark.usefixtures("whole_home")
async def test_states_are_read_as_they_are(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(READ,)),
                ScriptedAnswer(content="It is off."),
            )
        )
    )

    turn = await tried(hass, "is the kitchen ceiling light on")

    assert turn.calls == ()
    assert "Fridge Temperature 4.5" in str(
        messages_of(server.requests[1])[-1]["content"]
    )


class Foreign(llm.Tool):
    """A tool of an integration that is not Home Assistant's."""

    name = "read_mail"
    description = "Reads the latest mail"
    annotations = llm.ToolAnnotations(read_only=True)
    runs = 0

    @override
    async def async_call(self, *_: object) -> llm.ToolResult:
        Foreign.runs += 1
        return llm.ToolResult({"mail": "none"})


class ForeignApi(llm.API):
    """Offers it."""

    @override
    async def async_get_api_instance(
        self, llm_context: llm.LLMContext
    ) -> llm.APIInstance:
        return llm.APIInstance(self, "", llm_context, [Foreign()])


@pytest.mark.parametrize("name", ["read_mail", "todo__get_items"])
async def test_tools_that_read_elsewhere_do_not_run(
    hass: HomeAssistant, serve: Serve, name: str
) -> None:
    llm.async_register_api(hass, ForeignApi(hass=hass, id="mail", name="Mail"))
    arguments: dict[str, JsonValue] = (
        {} if name == "read_mail" else {"todo_list": "Shopping List"}
    )
    call = ScriptedCall(name=name, arguments=arguments)
    script = Script(
        answers=(
            ScriptedAnswer(tool_calls=(call,)),
            ScriptedAnswer(content="I cannot tell."),
        )
    )
    server = await serve(script, llm_hass_api=["assist", "mail"])

    await tried(hass, "what is on the list")

    assert Foreign.runs == 0
    assert "only a trial" in str(messages_of(server.requests[1])[-1]["content"])


@pytest.mark.usefixtures("whole_home")
async def test_our_tools_run_if_they_read_without_an_action(
    hass: HomeAssistant, serve: Serve
) -> None:
    given: Mapping[str, dict[str, JsonValue]] = {
        "get_forecast": {},
        "list_memories": {},
        "remember": {"fact": "The key is under the mat."},
        "search_history": {"words": "key"},
    }
    calls = tuple(
        ScriptedCall(name=f"chatterbox__{name}", arguments=arguments)
        for name, arguments in given.items()
    )
    script = Script(answers=(ScriptedAnswer(tool_calls=calls), DONE))
    server = await serve(script, remember_facts=True, search_history=True)
    hass.states.async_set(
        "weather.home",
        "sunny",
        {"supported_features": WeatherEntityFeature.FORECAST_DAILY},
    )
    async_expose_entity(hass, "conversation", "weather.home", should_expose=True)
    async_mock_service(
        hass,
        "weather",
        "get_forecasts",
        response={},
        supports_response=SupportsResponse.ONLY,
    )

    turn = await tried(hass, "what do you know")

    answers = [
        str(message["content"])
        for message in messages_of(server.requests[1])
        if message["role"] == "tool"
    ]
    assert [
        name
        for name, answer in zip(given, answers, strict=True)
        if "only a trial" in answer
    ] == ["get_forecast"]
    assert [call.review.call.name for call in turn.calls] == ["chatterbox__remember"]
