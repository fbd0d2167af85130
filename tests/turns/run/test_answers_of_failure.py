"""Answers when a model fails or its server refuses tools, and how often a person hears them."""

import pytest
from homeassistant.components.conversation import ChatLog
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent, issue_registry as ir
from pydantic import JsonValue

from custom_components.chatterbox.const import CONF_BASE_URL, CONF_KIND, ServiceKind
from tests.support.sentences import sentence
from tests.support.servers.in_process import address_without_server
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedFailure
from tests.support.talk import (
    AGENT,
    PART,
    Serve,
    add_agent,
    messages_of,
    move_into_the_demo_home,
    say,
    speech,
    talk_as_the_pipeline_does,
)
from tests.support.usage import counted

pytestmark = pytest.mark.usefixtures("socket_enabled")

VLLM = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
REFUSED = ScriptedFailure(
    status=400, body={"object": "error", "message": VLLM, "code": 400}
)
NOT_UNDERSTOOD = "Without the language model, I can't help with that."
WORDS = "make it a bit cosier somehow"


def sentence_of(key: str) -> str:
    return sentence(f"common.spoken_{key}")


@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        (
            ScriptedFailure(status=401, body={"error": "bad key"}),
            "provider_rejected_key",
        ),
        (
            ScriptedFailure(
                status=500, body={"error": "model requires more system memory"}
            ),
            "server_out_of_memory",
        ),
        (REFUSED, "tools_refused"),
        (ScriptedFailure(status=500, body="boom"), "offline_took_over"),
    ],
)
async def test_one_sentence_tells_the_cause_and_one_what_was_done(
    hass: HomeAssistant, serve: Serve, failure: ScriptedFailure, cause: str
) -> None:
    await serve(Script(answers=(failure,), after_last="start again"))

    assert speech(await say(hass, WORDS)) == f"{sentence_of(cause)} {NOT_UNDERSTOOD}"


async def test_a_model_that_is_down_is_out_of_reach(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass, PART)
    service: dict[str, object] = {
        CONF_KIND: ServiceKind.OPENAI_CHAT,
        CONF_BASE_URL: address_without_server(),
    }
    await add_agent(hass, service, {CONF_MODEL: "m", CONF_LLM_HASS_API: ["assist"]})

    answer = speech(await say(hass, "turn on the floor lamp"))

    assert answer == f"{sentence_of('provider_unreachable')} Turned on the light"


async def test_what_is_not_understood_is_an_error_for_automations_and_is_shown_once(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(answers=(ScriptedFailure(status=500),), after_last="start again")
    )
    streamed: list[str] = []

    def listen(_: ChatLog, delta: dict[str, object]) -> None:
        if delta.get("role") != "tool_result":
            streamed.append(str(delta.get("content") or ""))

    content = await talk_as_the_pipeline_does(hass, WORDS, "a-talk", listen)
    assert "".join(streamed) == speech(content)
    assert content.response.response_type is not intent.IntentResponseType.ERROR

    answer = await say(hass, WORDS)
    assert speech(answer) == speech(content)
    assert answer.response.response_type is intent.IntentResponseType.ERROR
    await counted(hass)
    assert hass.states.is_state("sensor.talker_failed_turns", "2")


async def test_a_server_that_refuses_tools_is_asked_without_and_the_owner_is_told_which_setting_helps(
    hass: HomeAssistant, serve: Serve
) -> None:
    answers = tuple(
        ScriptedAnswer(content=text) for text in ("It goes well.", "It still does.")
    )
    server = await serve(Script(answers=(REFUSED, *answers)))

    assert speech(await say(hass, "how does it go")) == "It goes well."
    assert speech(await say(hass, "and now")) == "It still does."

    assert ["tools" in request.body for request in server.requests] == [
        True,
        False,
        False,
    ]
    assert "No tools can be used" in str(messages_of(server.requests[1])[0]["content"])
    (issue,) = ir.async_get(hass).issues.values()
    assert issue.translation_key == "tools_refused_vllm"
    named = {"agent": "Talker", "model": "m"}
    assert "--enable-auto-tool-choice" in sentence(
        "issues.tools_refused_vllm.description", **named
    )


async def test_a_server_that_streams_no_answer_beside_tools_is_asked_for_a_whole_one(
    hass: HomeAssistant, serve: Serve
) -> None:
    refusal = ScriptedFailure(
        status=500,
        body={"error": {"code": 500, "message": "Cannot use tools with stream"}},
    )
    message: JsonValue = {"role": "assistant", "content": "Answered whole."}
    whole = ScriptedFailure(
        status=200,
        body={"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]},
    )
    server = await serve(Script(answers=(refusal, whole, whole)))

    for _ in range(2):
        assert speech(await say(hass, "how does it go")) == "Answered whole."

    assert [request.body["stream"] for request in server.requests] == [
        True,
        False,
        False,
    ]
    assert all("tools" in request.body for request in server.requests)


async def test_a_question_that_was_answered_is_not_called_done(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(Script(answers=(ScriptedAnswer(content="2 + 2 equals 4."),)))

    action = {"text": "what is 2+2", "agent_id": AGENT}
    found = await hass.services.async_call(
        "conversation", "process", action, blocking=True, return_response=True
    )

    assert isinstance(found, dict)
    assert found["response"]["speech"]["plain"]["speech"] == "2 + 2 equals 4."  # type: ignore[call-overload,index]  # a nested JSON object
