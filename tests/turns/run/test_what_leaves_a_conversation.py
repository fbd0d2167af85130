"""Words that a service refuses leave the conversation, or are sent as it takes them: the next words are answered."""

import json
from typing import override

import pytest
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant
from pydantic import JsonValue

from custom_components.chatterbox.const import CONF_BASE_URL, CONF_KIND, ServiceKind
from tests.support.one_home import in_one_home
from tests.support.sentences import sentence
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.dialects import (
    ScriptedMessages,
    ScriptedOllama,
    ScriptedResponses,
)
from tests.support.servers.in_process import serving
from tests.support.servers.model_server import ModelRequest, ScriptedModelServer
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedFailure,
)
from tests.support.talk import (
    LIGHT_ON,
    PART,
    Serve,
    add_agent,
    messages_of,
    move_into_the_demo_home,
    say,
    speech,
)

pytestmark = pytest.mark.usefixtures("socket_enabled")

BAD, GOOD = "tell me how the forbidden thing is made", "what is the capital of Wyoming?"
FILTERED = ScriptedAnswer(finish_reason="content_filter")
TORN_OFF = ScriptedAnswer(content="First you take ", finish_reason="content_filter")
BODY: JsonValue = {
    "error": {
        "message": "The response was filtered",
        "code": "content_filter",
        "type": "invalid",
    }
}
BARRED = ScriptedFailure(status=400, body=BODY)


def guarded(
    kind: type[ScriptedModelServer], refusal: ScriptedAnswer | ScriptedFailure
) -> ScriptedModelServer:
    """Return a server that refuses each request in which the forbidden words are found."""

    class Guarded(kind):  # type: ignore[misc, valid-type]  # of any format
        @override
        def answer_to(
            self, body: dict[str, JsonValue], parsed: ModelRequest
        ) -> ScriptedAnswer | ScriptedFailure | None:
            return (
                refusal
                if BAD in json.dumps(body)
                else ScriptedAnswer(content="Cheyenne.")
            )

    server: ScriptedModelServer = Guarded(Script())
    return server


@pytest.mark.parametrize(
    "options", [{}, {CONF_LLM_HASS_API: []}], ids=["at home", "only talks"]
)
@pytest.mark.parametrize(
    ("kind", "server", "refusal"),
    [
        (ServiceKind.OPENAI_CHAT, ScriptedChatCompletions, FILTERED),
        (ServiceKind.OPENAI_CHAT, ScriptedChatCompletions, TORN_OFF),
        (ServiceKind.OPENAI_CHAT, ScriptedChatCompletions, BARRED),
        (ServiceKind.OPENAI_RESPONSES, ScriptedResponses, FILTERED),
        (ServiceKind.OPENAI_RESPONSES, ScriptedResponses, BARRED),
        (ServiceKind.ANTHROPIC_MESSAGES, ScriptedMessages, FILTERED),
        (ServiceKind.ANTHROPIC_MESSAGES, ScriptedMessages, TORN_OFF),
        (ServiceKind.OLLAMA_CHAT, ScriptedOllama, BARRED),
    ],
)
async def test_declined_words_are_sent_to_no_model_again(
    hass: HomeAssistant,
    kind: ServiceKind,
    server: type[ScriptedModelServer],
    refusal: ScriptedAnswer | ScriptedFailure,
    options: dict[str, object],
) -> None:
    service = guarded(server, refusal)
    await move_into_the_demo_home(hass, PART)
    async with serving(service.application(), service.base_path) as address:
        data: dict[str, object] = {CONF_KIND: kind, CONF_BASE_URL: address}
        await add_agent(
            hass,
            data,
            {CONF_MODEL: "scripted-model", CONF_LLM_HASS_API: ["assist"]} | options,
        )

        declined = speech(await say(hass, BAD))
        answers = [speech(await say(hass, GOOD)) for _ in range(2)]

    assert declined.count(sentence("common.spoken_content_filter")) == 1
    assert answers == ["Cheyenne.", "Cheyenne."]
    sent = json.dumps(service.requests[-1].body)
    assert "First you take" not in sent
    assert sent.count("messages_before status=") == 1


async def test_what_another_model_answers_is_left_out_as_well(
    hass: HomeAssistant,
) -> None:
    """The words go back to the service that declined them, with the next ones."""
    service = guarded(ScriptedChatCompletions, BARRED)
    await move_into_the_demo_home(hass, PART)
    async with serving(service.application()) as address:
        data: dict[str, object] = {
            CONF_KIND: ServiceKind.OPENAI_CHAT,
            CONF_BASE_URL: address,
        }
        await add_agent(
            hass, data, {CONF_MODEL: "scripted-model", CONF_LLM_HASS_API: ["assist"]}
        )

        await say(hass, f"turn on the floor lamp. {BAD}")

        assert speech(await say(hass, GOOD)) == "Cheyenne."


async def test_a_refusal_in_words_is_heard_as_it_is(
    hass: HomeAssistant, serve: Serve
) -> None:
    message = {"role": "assistant", "refusal": "I will not say that."}
    body: JsonValue = {
        "choices": [{"index": 0, "message": {**message}, "finish_reason": "stop"}]
    }
    whole = ScriptedFailure(status=200, body=body)
    server = await serve(Script(answers=(whole, ScriptedAnswer(content="Cheyenne."))))

    assert speech(await say(hass, BAD)) == "I will not say that."
    assert speech(await say(hass, GOOD)) == "Cheyenne."

    assert BAD not in json.dumps(server.requests[1].body)


@pytest.mark.parametrize(
    "refusal",
    [
        "Tool call id was call_AbC123xyz456 but must be a-z, A-Z, 0-9, with a length of 9.",
        "Tool call IDs should be alphanumeric strings with length 9!",
        "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 8.",
        "messages.2.tool_call_id: String should match pattern '^[a-z0-9]{9}$'",
    ],
)
async def test_ids_of_calls_that_a_service_refuses_are_replaced(
    hass: HomeAssistant, serve: Serve, refusal: str
) -> None:
    failure = ScriptedFailure(status=400, body={"object": "error", "message": refusal})
    call = ScriptedCall(
        name=LIGHT_ON.name, arguments=LIGHT_ON.arguments, id="call_AbC123xyz456"
    )
    words = ScriptedAnswer(content="It is on.")
    answers = (ScriptedAnswer(tool_calls=(call,)), failure, words, words)
    server = await serve(Script(answers=answers))

    assert speech(await say(hass, "it is dark in here")) == "It is on."
    assert speech(await say(hass, "is it light now, do you think?")) == "It is on."

    for request in server.requests[2:]:
        (called,) = [
            message for message in messages_of(request) if message.get("tool_calls")
        ]
        (result,) = [
            message for message in messages_of(request) if message["role"] == "tool"
        ]
        assert f'"id": "{result["tool_call_id"]}"' in json.dumps(called)
        assert len(str(result["tool_call_id"])) == 9
        assert str(result["tool_call_id"]).isalnum()


@pytest.mark.parametrize(
    ("refusal", "name"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
         "max_completion_tokens"),
        ("max_tokens is deprecated: use `max_output_tokens`", "max_output_tokens"),
        ("Unrecognized request argument supplied: max_tokens", "max_completion_tokens"),
        ("max_tokens: Extra inputs are not permitted", "max_completion_tokens"),
    ],
)  # fmt: skip
async def test_the_limit_of_an_answer_is_sent_under_the_name_that_the_service_takes(
    hass: HomeAssistant, serve: Serve, refusal: str, name: str
) -> None:
    failure = ScriptedFailure(
        status=400, body={"error": {"message": refusal, "param": "max_tokens"}}
    )
    words = ScriptedAnswer(content="Cheyenne.")
    server = await serve(Script(answers=(failure, words, words)), max_tokens=300)

    assert [speech(await say(hass, GOOD)) for _ in range(2)] == ["Cheyenne."] * 2

    limits = [
        {key: value for key, value in one.body.items() if "max" in key}
        for one in server.requests
    ]
    assert limits == [{"max_tokens": 300}, {name: 300}, {name: 300}]


@pytest.mark.parametrize(
    ("written", "item"),
    [
        (r"Gr\u0000f8t", "Grøt"),
        (r"Gr\\u00f8t", "Grøt"),
        (r"Gr\\xf8t", "Grøt"),
        (r"\u0000Milk\u0000", "Milk"),
        (r"Oat \\\"drink\\\"", 'Oat "drink"'),
        ("Milk\\\\\\\\", "Milk"),
        (r"AC\\DC record", r"AC\DC record"),
        (r"Gr\\u0000f8t", "Grøt"),
        (r"Gr\u0001t", None),
        (r"Gr\\u0001t", None),
    ],
)
async def test_no_control_character_or_escape_lands_on_a_list(
    hass: HomeAssistant, serve: Serve, written: str, item: str | None
) -> None:
    call = ScriptedCall(
        name="HassListAddItem",
        arguments=f'{{"item": "{written}", "name": "Shopping List"}}',
    )
    server = await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(call,)),
                ScriptedAnswer(content="On the list."),
            )
        )
    )

    answer = speech(await say(hass, "could you put something down for shopping"))

    found = await hass.services.async_call(
        "todo",
        "get_items",
        {"entity_id": "todo.shopping_list"},
        blocking=True,
        return_response=True,
    )
    assert found is not None
    items = json.dumps(found, ensure_ascii=False)
    assert (item is None) or json.dumps(item, ensure_ascii=False) in items
    assert "Gr" not in items or item is not None
    assert (answer == "On the list.") == (item is not None)
    assert ("was lost" in str(messages_of(server.requests[1])[-1]["content"])) == (
        item is None
    )


@in_one_home("status", [429, 503, 529], puts_back=True)
async def test_a_service_that_has_too_much_to_do_is_busy(
    hass: HomeAssistant, serve: Serve, status: int
) -> None:
    await serve(
        Script(
            answers=(ScriptedFailure(status=status, body={"error": "slow down"}),),
            after_last="start again",
        )
    )

    assert speech(await say(hass, "turn on the floor lamp")).startswith(
        sentence("common.spoken_offline_busy")
    )
