"""A request becomes the JSON that Chat Completions servers accept, byte for byte the same each time."""

import re
from dataclasses import replace

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
from custom_components.chatterbox.agent.text import attachment_note
from custom_components.chatterbox.agent.wire.chat_dialect import ChatDialect
from custom_components.chatterbox.agent.wire.openai_chat import request_to_payload

TURN_ON = ToolDefinition(
    "turn_on", "Turns things on.", {"type": "object", "properties": {}}
)
ASKED = CompletionRequest("", (UserMessage("Turn on the light"),), (TURN_ON,))


def messages(*transcript: Message) -> JsonValue:
    return request_to_payload(CompletionRequest("", transcript), "m")["messages"]


def test_the_smallest_request_as_bytes() -> None:
    request = CompletionRequest("", (UserMessage("Grüß dich"),))

    assert payload_to_bytes(request_to_payload(request, "m")).decode() == (
        '{"model":"m","messages":[{"role":"user","content":"Grüß dich"}],'
        '"stream":true,"stream_options":{"include_usage":true}}'
    )


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (ToolChoiceMode.AUTO, None),
        (ToolChoiceMode.NONE, "none"),
        (ToolChoiceMode.REQUIRED, "required"),
        (NamedTool("turn_on"), {"type": "function", "function": {"name": "turn_on"}}),
    ],
)
def test_tool_choice(choice: ToolChoice, sent: JsonValue) -> None:
    payload = request_to_payload(replace(ASKED, tool_choice=choice), "m")

    assert payload.get("tool_choice") == sent
    assert payload["tools"]


@pytest.mark.parametrize(
    "written", ["", "{", "[]", "null", '"on"', '{"a":NaN}', '{"a":1}}', "{'a': 1}"]
)
def test_calls_that_servers_refuse_are_made_to_fit(written: str) -> None:
    [message] = as_list(
        messages(AssistantMessage("", "", (ToolCall("a", "light.turn_on", written),)))
    )
    [sent] = as_list(as_object(message)["tool_calls"])

    assert as_object(sent)["function"] == {"name": "light_turn_on", "arguments": "{}"}


def test_an_assistant_message_without_words_or_calls_is_left_out() -> None:
    assert messages(
        UserMessage("Hi"), AssistantMessage("", "hm"), UserMessage("Hello?")
    ) == [
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": "Hello?"},
    ]


CALL = ToolCall("functions.turn_on:0", "turn_on", "{}")
THOUGHT = AssistantMessage("", "hm", (CALL,))
THOUGHTLESS = AssistantMessage("", "", (CALL,))


def in_dialect(
    dialect: ChatDialect, *transcript: Message, directive: str = ""
) -> JsonObject:
    return request_to_payload(
        CompletionRequest("", transcript, directive=directive), "m", dialect
    )


@pytest.mark.parametrize(
    ("dialect", "message", "reasoning"),
    [
        (ChatDialect(), THOUGHT, {}),
        (ChatDialect("reasoning"), THOUGHT, {"reasoning": "hm"}),
        (ChatDialect("reasoning_content"), THOUGHT, {"reasoning_content": "hm"}),
        (ChatDialect("reasoning_content"), THOUGHTLESS, {}),
        (
            ChatDialect("reasoning_content", needs_reasoning=True),
            THOUGHTLESS,
            {"reasoning_content": ""},
        ),
        (
            ChatDialect("reasoning_content", needs_reasoning=True),
            AssistantMessage("On.", "hm"),
            {},
        ),
    ],
)
def test_reasoning_goes_back_beside_calls_where_the_server_wants_it(
    dialect: ChatDialect, message: AssistantMessage, reasoning: JsonObject
) -> None:
    [written] = as_list(in_dialect(dialect, message)["messages"])

    assert {
        name: value for name, value in as_object(written).items() if "reasoning" in name
    } == reasoning


def test_ids_that_a_server_refuses_are_replaced_in_calls_and_results_alike() -> None:
    dialect = ChatDialect(call_ids="[A-Za-z0-9]{9}")
    [called, result] = as_list(
        in_dialect(dialect, THOUGHT, ToolResult(CALL.id, "turn_on", ""))["messages"]
    )

    [call] = as_list(as_object(called)["tool_calls"])
    assert as_object(call)["id"] == as_object(result)["tool_call_id"]
    assert re.fullmatch("[A-Za-z0-9]{9}", str(as_object(call)["id"]))


def test_a_server_that_insists_on_turns_gets_them() -> None:
    dialect = ChatDialect(alternates=True)
    transcript = (UserMessage("Hi"), AssistantMessage("", "hm"), UserMessage("Hello?"))

    assert in_dialect(dialect, *transcript, directive="Answer now.")["messages"] == [
        {"role": "user", "content": "Hi\n\nHello?\n\nAnswer now."}
    ]


def test_where_a_tool_cannot_be_forced_by_its_name_some_call_is_required() -> None:
    payload = request_to_payload(
        replace(ASKED, tool_choice=NamedTool("turn_on")),
        "m",
        ChatDialect(forces_by_name=False),
    )

    assert payload["tool_choice"] == "required"


PICTURE = Attachment("image/png", b"\x89PNG", "door.png")
BILL = Attachment("application/pdf", b"%PDF")


def content_of_message(message: UserMessage, *accepted: str) -> JsonValue:
    payload = request_to_payload(
        CompletionRequest("", (message,)), "m", accepted=accepted
    )
    [written] = as_list(payload["messages"])
    return as_object(written)["content"]


def test_pictures_and_documents_that_can_be_shown() -> None:
    assert content_of_message(
        UserMessage("What is this?", (PICTURE, BILL)), "image/png", "application/pdf"
    ) == [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
        {
            "type": "file",
            "file": {
                "filename": "attachment",
                "file_data": "data:application/pdf;base64,JVBERg==",
            },
        },
    ]
    assert content_of_message(UserMessage("", (PICTURE,)), "image/png") == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}
    ]


def test_where_nothing_can_be_shown_the_message_stays_one_text() -> None:
    assert content_of_message(
        UserMessage("What is this?", (PICTURE, BILL))
    ) == "\n\n".join(["What is this?", attachment_note(PICTURE), attachment_note(BILL)])
    assert content_of_message(UserMessage("", (BILL,)), "image/png") == attachment_note(
        BILL
    )
    assert content_of_message(UserMessage("")) == ""


def as_list(value: JsonValue) -> list[JsonValue]:
    assert isinstance(value, list)
    return value


def as_object(value: JsonValue) -> JsonObject:
    assert isinstance(value, dict)
    return value
