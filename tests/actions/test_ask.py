"""The action that asks an agent: it gets the whole turn, its own, and speaks for nobody but who has called it."""

import asyncio
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from homeassistant.auth.const import GROUP_ID_ADMIN
from homeassistant.components import conversation
from homeassistant.components.conversation import ChatLog
from homeassistant.components.conversation.trace import async_get_traces
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import chat_session
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockUser, async_capture_events

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.const import DOMAIN, EVENT_TURN_STARTED, SERVICE_ASK
from tests.support.config_entries import only_agent
from tests.support.documented_yaml import blocks_with
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedFailure,
    ScriptedUsage,
)
from tests.support.talk import AGENT, LIGHT_ON, Serve, messages_of
from tests.support.versions import OF_NOBODY

UNLOCK = ScriptedCall(
    name="intent__HassTurnOff", arguments={"name": "Front Door", "domain": ["lock"]}
)


async def ask(
    hass: HomeAssistant,
    text: str,
    context: Context | None = None,
    *,
    agent_id: str | None = None,
    conversation_id: str | None = None,
) -> Mapping[str, Any]:
    """Call the action, and return its response."""
    given = {"text": text, "agent_id": agent_id, "conversation_id": conversation_id}
    data = {name: value for name, value in given.items() if value is not None}
    response = await hass.services.async_call(
        DOMAIN, SERVICE_ASK, data, blocking=True, context=context, return_response=True
    )
    assert response is not None
    return response


async def refusal(
    hass: HomeAssistant, agent_id: str | None = None, conversation_id: str | None = None
) -> HomeAssistantError:
    """Return why a call is refused."""
    with pytest.raises(HomeAssistantError) as raised:
        await ask(hass, "hello", agent_id=agent_id, conversation_id=conversation_id)
    return raised.value


async def test_the_whole_turn_is_returned(hass: HomeAssistant, serve: Serve) -> None:
    usage = ScriptedUsage(prompt_tokens=900, completion_tokens=9, cached_tokens=800)
    long = "It is on. " * 500
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(LIGHT_ON,), usage=usage),
                ScriptedAnswer(content=long),
            )
        )
    )

    response = await ask(hass, "Light!", conversation_id="a-talk")

    assert hass.states.is_state("light.kitchen_ceiling", "on")
    assert json.loads(json.dumps(response)) == response
    timings, (call,) = response["timings"], response["tool_calls"]
    assert {
        key: response[key] for key in response.keys() - {"timings", "tool_calls"}
    } == {
        "agent_id": AGENT,
        "conversation_id": "a-talk",
        "continue_conversation": False,
        "speech": long,
        "handovers": [],
        "stop_reason": "completed",
        "error": "",
        "iterations": 2,
        "usage": {
            "input_tokens": 900,
            "output_tokens": 9,
            "cached_tokens": 800,
            "reasoning_tokens": 0,
            "is_estimated": False,
        },
    }
    assert (call["name"], call["is_error"]) == ("intent__HassTurnOn", False)
    assert call["arguments"] == {"name": "Kitchen ceiling light", "domain": ["light"]}
    assert call["result"]["response_type"] == "action_done"
    assert timings.keys() == {
        "duration",
        "first_words",
        "phases",
        "inferences",
        "tools",
    }
    assert [tool["name"] for tool in timings["tools"]] == ["intent__HassTurnOn"]
    assert len(timings["inferences"]) == 2


async def test_concurrent_callers_get_their_own_answers(
    hass: HomeAssistant, serve: Serve
) -> None:
    answers = tuple(ScriptedAnswer(content=f"Answer {number}.") for number in range(5))
    server = await serve(Script(answers=answers))

    context = Context()
    responses = await asyncio.gather(
        *(ask(hass, f"question {number}", context) for number in range(5))
    )

    prompts = [str(messages_of(request)[-1]["content"]) for request in server.requests]
    order = [
        next(number for number in range(5) if text.endswith(f"question {number}"))
        for text in prompts
    ]
    assert [responses[number]["speech"] for number in order] == [
        f"Answer {number}." for number in range(5)
    ]
    assert len({response["conversation_id"] for response in responses}) == 5


async def test_without_an_agent_the_only_one_is_asked(
    hass: HomeAssistant, serve: Serve
) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, DOMAIN, {})
    assert "There is no agent yet" in str(await refusal(hass))

    await serve(
        Script(
            answers=(
                ScriptedAnswer(content="Hello."),
                ScriptedAnswer(content="Hello again."),
            )
        )
    )
    assert (await ask(hass, "hello"))["speech"] == "Hello."

    (entry,) = hass.config_entries.async_entries(DOMAIN)
    data = MappingProxyType(dict(only_agent(entry).data))
    other = ConfigSubentry(
        data=data, subentry_type="conversation", title="Other", unique_id=None
    )
    hass.config_entries.async_add_subentry(entry, other)
    await hass.async_block_till_done()
    assert "There are several agents" in str(await refusal(hass))
    assert (await ask(hass, "hello", agent_id="conversation.other"))[
        "agent_id"
    ] == "conversation.other"


async def test_only_running_agents_are_asked(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script())

    error = await refusal(hass, agent_id="conversation.home_assistant")
    assert isinstance(error, ServiceValidationError)
    assert "conversation.home_assistant is not a Chatterbox agent" in str(error)
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    await hass.config_entries.async_unload(entry.entry_id)
    assert f"{AGENT} is not running" in str(await refusal(hass, agent_id=AGENT))
    assert server.requests == []


async def test_a_failed_model_is_reported_by_its_error(
    hass: HomeAssistant, serve: Serve
) -> None:
    failure = ScriptedFailure(
        status=401, body={"error": {"message": "key sk-1234 is wrong"}}
    )
    await serve(Script(answers=(failure,), after_last="start again"), llm_hass_api=[])

    response = await ask(hass, "hello")

    assert (response["stop_reason"], response["error"]) == (
        "provider_failed",
        "ProviderRejectedKey",
    )
    assert response["speech"]
    assert "sk-1234" not in json.dumps(response)


async def test_a_fault_is_reported_and_logged(
    hass: HomeAssistant, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    await serve(Script(answers=(ScriptedAnswer(content="Hello."),)))

    def break_down(_: ChatLog, __: dict[str, object]) -> None:
        raise ValueError("a listener that is broken")

    with (
        chat_session.async_get_chat_session(hass, "a-talk", **OF_NOBODY) as session,
        conversation.async_get_chat_log(
            hass, session, chat_log_delta_listener=break_down
        ),
    ):
        error = await refusal(hass, conversation_id="a-talk")

    assert (
        str(error)
        == f"{AGENT} could not answer because of an internal error. See the Home Assistant log for details"
    )
    assert "a listener that is broken" in caplog.text


async def test_the_caller_of_the_action_is_not_asked_for_approval(
    hass: HomeAssistant, serve: Serve, hass_owner_user: MockUser
) -> None:
    assert hass_owner_user.is_admin
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(UNLOCK,)),
                ScriptedAnswer(content="I may not."),
            )
        )
    )
    anna = await hass.auth.async_create_user("Anna", group_ids=[GROUP_ID_ADMIN])
    turns = async_capture_events(hass, EVENT_TURN_STARTED)
    before = hass.states.get("lock.front_door")

    response = await ask(hass, "Unlock the front door", Context(user_id=anna.id))

    assert response["tool_calls"][0]["is_error"]
    assert async_get_approvals(hass).waiting == ()
    assert hass.states.get("lock.front_door") == before
    assert (turns[0].data["user_id"], turns[0].data["person"]) == (anna.id, "Anna")


@pytest.mark.parametrize(
    ("trusted", "state"), [([], "locked"), (["automation.evening"], "unlocked")]
)
async def test_an_automation_is_trusted_only_if_the_owner_says_so(
    hass: HomeAssistant, serve: Serve, trusted: list[str], state: str
) -> None:
    answers = (ScriptedAnswer(tool_calls=(UNLOCK,)), ScriptedAnswer(content="Well."))
    await serve(Script(answers=answers), trusted_callers=trusted)
    step = {"action": "chatterbox.ask", "data": {"text": "Unlock the front door"}}
    evening = {
        "alias": "Evening",
        "triggers": {"trigger": "event", "event_type": "evening"},
        "actions": [step],
    }
    assert await async_setup_component(hass, "automation", {"automation": evening})

    hass.bus.async_fire("evening")
    await hass.async_block_till_done()

    assert hass.states.is_state("lock.front_door", state)


async def test_the_times_of_a_turn_are_shown_with_its_answer_and_in_its_trace(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(LIGHT_ON,)),
                ScriptedAnswer(content="It is on."),
            )
        )
    )

    response = await hass.services.async_call(
        "conversation",
        "process",
        {"text": "Light!", "agent_id": AGENT},
        blocking=True,
        return_response=True,
    )

    assert response is not None
    answer = response["response"]
    assert isinstance(answer, dict)
    assert answer["speech"]["plain"]["speech"] == "It is on."  # type: ignore[call-overload,index]  # JSON
    details = [event["data"] for event in async_get_traces()[-1].as_dict()["events"]]
    (turn,) = [detail["turn"] for detail in details if "turn" in detail]
    assert [tool["name"] for tool in turn["tools"]] == ["intent__HassTurnOn"]
    assert turn == answer["speech"]["plain"]["extra_data"]  # type: ignore[call-overload,index]  # JSON


async def test_a_language_can_be_chosen(hass: HomeAssistant, serve: Serve) -> None:
    await serve(Script(answers=(ScriptedAnswer(content=""),)))
    data = {"text": "hallo", "language": "de"}

    response = await hass.services.async_call(
        DOMAIN, SERVICE_ASK, data, blocking=True, return_response=True
    )

    assert response is not None
    assert response["speech"] == "Darauf habe ich keine Antwort."
    await hass.services.async_call(DOMAIN, SERVICE_ASK, data, blocking=True)


async def test_the_documented_script_leaves_a_note(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(Script(answers=(ScriptedAnswer(content="All are shut."),)))
    (script,) = blocks_with("chatterbox.ask")
    text = json.dumps({"evening_check": script}).replace("conversation.butler", AGENT)
    assert await async_setup_component(hass, "persistent_notification", {})
    assert await async_setup_component(hass, "script", {"script": json.loads(text)})
    created = async_capture_events(hass, "call_service")

    await hass.services.async_call("script", "evening_check", {}, blocking=True)

    (note,) = [
        event.data
        for event in created
        if event.data["domain"] == "persistent_notification"
    ]
    assert note["service_data"]["message"] == "All are shut. (0 looks into your home)"
