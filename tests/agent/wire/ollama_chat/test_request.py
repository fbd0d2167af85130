"""A request becomes the JSON that Ollama accepts; what the contract of all formats does not say stands here."""

import pytest

from custom_components.chatterbox.agent.json.text import payload_to_bytes
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    JsonObject,
    JsonValue,
    Message,
    NamedTool,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.wire.ollama_chat import request_to_payload

TURN_ON = ToolDefinition(
    "turn_on", "Turns things on.", {"type": "object", "properties": {}}
)
PICTURE = Attachment("image/png", b"\x89PNG", "door.png")


def messages(*transcript: Message) -> list[JsonObject]:
    sent = request_to_payload(CompletionRequest("", transcript), "m")["messages"]
    assert isinstance(sent, list)
    return [message for message in sent if isinstance(message, dict)]


def test_the_smallest_request_as_bytes() -> None:
    payload = request_to_payload(
        CompletionRequest("", (UserMessage("Grüß dich"),)), "m"
    )

    assert payload_to_bytes(payload).decode() == (
        '{"model":"m","stream":true,"messages":[{"role":"user","content":"Grüß dich"}]}'
    )


@pytest.mark.parametrize(
    "choice", [ToolChoiceMode.AUTO, ToolChoiceMode.REQUIRED, NamedTool("turn_on")]
)
def test_tools_are_offered(choice: ToolChoice) -> None:
    payload = request_to_payload(
        CompletionRequest("", (UserMessage("Hi"),), (TURN_ON,), choice), "m"
    )

    function: JsonValue = {
        "name": "turn_on",
        "description": "Turns things on.",
        "parameters": TURN_ON.parameters,
    }
    assert payload["tools"] == [{"type": "function", "function": function}]


def test_calls_are_forbidden_by_offering_no_tools() -> None:
    request = CompletionRequest(
        "", (UserMessage("Hi"),), (TURN_ON,), ToolChoiceMode.NONE
    )

    assert "tools" not in request_to_payload(request, "m")


def test_an_assistant_message_without_words_or_calls_is_left_out() -> None:
    assert messages(
        UserMessage("Hi"), AssistantMessage("", "hm"), UserMessage("Hello?")
    ) == [
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": "Hello?"},
    ]


def test_thoughts_go_back_with_the_calls_that_they_led_to_and_with_nothing_else() -> (
    None
):
    call = ToolCall("a", "turn_on", "{}")
    plain, calling = messages(
        AssistantMessage("Hi.", "hm"), AssistantMessage("", "so", (call,))
    )

    assert plain == {"role": "assistant", "content": "Hi."}
    assert calling["thinking"] == "so"


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('{"a":[1,null]}', {"a": [1, None]}),
        ("", {}),
        ("{", {}),
        ("[1]", {}),
        ('{"a":NaN}', {}),
    ],
)
def test_arguments_are_sent_as_an_object(written: str, sent: JsonObject) -> None:
    [message] = messages(
        AssistantMessage(tool_calls=(ToolCall("a", "light.turn_on", written),))
    )

    assert message["tool_calls"] == [
        {"id": "a", "function": {"name": "light_turn_on", "arguments": sent}}
    ]


def test_a_result_names_its_tool_as_the_call_did() -> None:
    assert messages(ToolResult("a", "light.turn_on", "done", is_error=True)) == [
        {
            "role": "tool",
            "tool_name": "light_turn_on",
            "tool_call_id": "a",
            "content": "done",
        }
    ]


def test_pictures_need_no_words() -> None:
    assert messages(UserMessage("", (PICTURE,))) == [
        {"role": "user", "content": "", "images": ["iVBORw=="]}
    ]


@pytest.mark.parametrize("attachments", [frozenset[str](), frozenset({"image/jpeg"})])
def test_what_the_model_cannot_be_shown_is_named(attachments: frozenset[str]) -> None:
    request = CompletionRequest("", (UserMessage("What is this?", (PICTURE,)),))

    payload = request_to_payload(request, "m", attachments=attachments)

    assert payload["messages"] == [
        {
            "role": "user",
            "content": "What is this?\n[A file of type image/png named door.png was attached here."
            " You cannot see it: say so if it matters.]",
        }
    ]
