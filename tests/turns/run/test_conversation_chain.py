"""The chain of an agent whose own model does not answer: the real entity, over real servers that fail."""

from collections.abc import AsyncGenerator

import pytest
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.const import (
    DOMAIN,
    EVENT_TURN_FINISHED,
)
from tests.support.servers.in_process import address_without_server, serving_script
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedFailure
from tests.support.talk import (
    AGENT,
    LIGHT_ON,
    PART,
    add_agents,
    move_into_the_demo_home,
    say,
    speech,
)

pytestmark = pytest.mark.usefixtures("socket_enabled")

DOWN = ScriptedFailure(status=500, body="boom")
ALWAYS_DOWN = Script(answers=(DOWN,), after_last="start again")
OFFLINE = "My language model can't answer right now."


@pytest.fixture(autouse=True)
async def _home(hass: HomeAssistant) -> AsyncGenerator[None]:
    await move_into_the_demo_home(hass, PART)
    yield
    for entry in hass.config_entries.async_entries(DOMAIN):
        await hass.config_entries.async_unload(entry.entry_id)


async def test_the_next_agent_of_the_chain_answers_in_the_same_turn(
    hass: HomeAssistant,
) -> None:
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)
    acting = Script(
        answers=(
            ScriptedAnswer(tool_calls=(LIGHT_ON,)),
            ScriptedAnswer(content="It is on."),
        )
    )
    async with (
        serving_script(ALWAYS_DOWN) as primary,
        serving_script(acting) as secondary,
    ):
        await add_agents(hass, secondary, ["helper"])
        await add_agents(hass, primary, ["talker"], ["helper"])

        result = await say(hass, "turn on the kitchen light")

    assert speech(result) == "It is on."
    assert hass.states.is_state("light.kitchen_ceiling", "on")
    assert turns[0].data["handovers"] == [
        {"to": "Helper", "reason": "Talker: ProviderFailed"}
    ]


async def test_fallbacks_are_asked_in_their_order_and_those_that_are_not_there_are_left_out(
    hass: HomeAssistant,
) -> None:
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)
    async with (
        serving_script(ALWAYS_DOWN) as broken,
        serving_script(
            Script(answers=(ScriptedAnswer(content="Hello from the last."),))
        ) as working,
    ):
        await add_agents(hass, working, ["last"])
        await add_agents(hass, broken, ["middle"])
        unloaded = await add_agents(hass, broken + "?unloaded", ["unloaded"])
        await hass.config_entries.async_unload(unloaded.entry_id)
        await add_agents(
            hass,
            broken,
            ["talker"],
            ["unloaded", "middle", "removed", "middle", "talker", "last"],
        )

        assert speech(await say(hass, "hello")) == "Hello from the last."

    assert [(one["to"], one["reason"]) for one in turns[0].data["handovers"]] == [
        ("Middle", "Talker: ProviderFailed"),
        ("Last", "Middle: ProviderFailed"),
    ]


async def test_with_everything_down_home_assistant_acts_and_says_that_it_is_alone(
    hass: HomeAssistant,
) -> None:
    ceiling = hass.states.get("light.kitchen_ceiling")
    assert ceiling
    hass.states.async_set(ceiling.entity_id, "on", ceiling.attributes)
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)
    async with serving_script(ALWAYS_DOWN) as secondary:
        await add_agents(hass, secondary, ["helper"])
        await add_agents(hass, address_without_server(), ["talker"], ["helper"])
        assert not hass.states.is_state(AGENT, STATE_UNAVAILABLE)

        result = await say(
            hass,
            "turn off the kitchen ceiling light",
            satellite_id="assist_satellite.kitchen",
        )

    assert hass.states.is_state("light.kitchen_ceiling", "off")
    assert speech(result) == "I can't reach my language model. Turned off the light"
    assert result.response.response_type is intent.IntentResponseType.ACTION_DONE
    assert turns[0].data["handovers"][-1]["to"] == "Home Assistant"
    assert turns[0].data["stop_reason"] == "completed"


LOADING = ScriptedFailure(
    status=503, body={"error": {"message": "Loading model", "code": 503}}
)
BUSY = ScriptedFailure(status=503, body={"error": "server busy, please try again"})


@pytest.mark.parametrize(
    ("failure", "alone", "with_home_assistant"),
    [
        (
            LOADING,
            "My language model is still being loaded. Please try again in a moment.",
            "My language model is still being loaded. ",
        ),
        (
            BUSY,
            "The language model is busy right now. Please try again in a moment.",
            "My language model is busy right now. ",
        ),
    ],
)
async def test_a_server_that_loads_its_model_and_one_that_is_busy_say_so(
    hass: HomeAssistant, failure: ScriptedFailure, alone: str, with_home_assistant: str
) -> None:
    script = Script(answers=(failure,), after_last="start again")
    async with serving_script(script) as primary:
        await add_agents(hass, primary, ["talker"], llm_hass_api=[])
        assert speech(await say(hass, "hello")) == alone
        await add_agents(hass, primary, ["helper"])
        result = await say(
            hass, "turn on the kitchen ceiling light", agent_id="conversation.helper"
        )

    assert speech(result) == f"{with_home_assistant}Turned on the light"


async def test_a_home_that_the_model_cannot_read_is_told_as_the_cause(
    hass: HomeAssistant,
) -> None:
    too_long = "request (4567 tokens) exceeds the available context size (2048 tokens), try increasing it"
    refusing = ScriptedFailure(
        status=400,
        body={"error": {"message": too_long, "type": "exceed_context_size_error"}},
    )
    async with serving_script(
        Script(answers=(refusing,), after_last="start again")
    ) as primary:
        await add_agents(hass, primary, ["talker"])

        result = await say(hass, "turn on the kitchen ceiling light")

    assert speech(result).startswith(
        "That's more than my language model can read at once. "
    )
    assert speech(result).endswith("a larger model. Turned on the light")


async def test_an_agent_that_may_only_talk_does_not_act_by_another_way(
    hass: HomeAssistant,
) -> None:
    async with serving_script(ALWAYS_DOWN) as primary:
        await add_agents(hass, primary, ["talker"], llm_hass_api=[])

        result = await say(hass, "turn on the kitchen ceiling light")

    assert hass.states.is_state("light.kitchen_ceiling", "off")
    assert speech(result) == "The language model has a problem. Please try again."
    assert result.response.response_type is intent.IntentResponseType.ERROR


@pytest.mark.usefixtures("loop_clock")
async def test_waiting_for_models_leaves_time_for_those_after_them(
    hass: HomeAssistant,
) -> None:
    stalled = Script(answers=(ScriptedAnswer(content="Too late.", delay_seconds=3600),))
    async with serving_script(stalled) as primary, serving_script(stalled) as secondary:
        await add_agents(hass, secondary, ["helper"])
        await add_agents(hass, primary, ["talker"], ["helper"], deadline=8)

        result = await say(hass, "turn on the kitchen ceiling light")

    assert speech(result) == f"{OFFLINE} Turned on the light"
