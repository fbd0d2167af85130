"""A request becomes the JSON that Chat Completions servers accept, byte for byte the same each time."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

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
from custom_components.chatterbox.agent.wire.chat_dialect import ChatDialect, ReasoningField
from custom_components.chatterbox.agent.wire.openai_chat import request_to_payload
from custom_components.chatterbox.agent.wire.parts import attachment_note, payload_to_bytes

TURN_ON = ToolDefinition(
    "turn_on", "Turns things on.", {"type": "object", "properties": {"name": {"type": "string"}, "area": {}}}
)
WEATHER = ToolDefinition("weather", "", {"type": "object", "properties": {}})

CONVERSATION = CompletionRequest(
    instructions="Be brief.",
    transcript=(
        UserMessage("Turn on the light, and what's the weather?"),
        AssistantMessage(
            "One moment.",
            "The user wants two things.",
            (ToolCall("a", "turn_on", '{"name":"Früh 💡"}'), ToolCall("b", "weather", "{}")),
        ),
        ToolResult("a", "turn_on", '{"done":true}', native=object()),
        ToolResult("b", "weather", "Unknown tool", is_error=True, synthetic=True),
        AssistantMessage("", "", (ToolCall("c", "weather", "{}"),)),
        ToolResult("c", "weather", "sunny"),
        AssistantMessage("It is on."),
        UserMessage("Thanks"),
    ),
    tools=(TURN_ON, WEATHER),
)


def messages(*transcript: Message) -> JsonValue:
    return request_to_payload(CompletionRequest("", transcript), "m")["messages"]


def test_a_whole_conversation() -> None:
    """Invariant 34."""
    assert request_to_payload(CONVERSATION, "small-1") == {
        "model": "small-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Turn on the light, and what's the weather?"},
            {
                "role": "assistant",
                "content": "One moment.",
                "tool_calls": [
                    {
                        "id": "a",
                        "type": "function",
                        "function": {"name": "turn_on", "arguments": '{"name":"Früh 💡"}'},
                    },
                    {"id": "b", "type": "function", "function": {"name": "weather", "arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": '{"done":true}'},
            {"role": "tool", "tool_call_id": "b", "content": "Unknown tool"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "sunny"},
            {"role": "assistant", "content": "It is on."},
            {"role": "user", "content": "Thanks"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "turn_on",
                    "description": "Turns things on.",
                    "parameters": {"type": "object", "properties": {"name": {"type": "string"}, "area": {}}},
                },
            },
            {
                "type": "function",
                "function": {
                    "name": "weather",
                    "description": "",
                    "parameters": {"type": "object", "properties": {}},
                },
            },
        ],
        "parallel_tool_calls": True,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_the_smallest_request_as_bytes() -> None:
    request = CompletionRequest("", (UserMessage("Grüß dich"),))

    assert payload_to_bytes(request_to_payload(request, "m")).decode() == (
        '{"model":"m","messages":[{"role":"user","content":"Grüß dich"}],'
        '"stream":true,"stream_options":{"include_usage":true}}'
    )


def test_the_directive_comes_last_and_belongs_to_this_request_alone() -> None:
    request = replace(CONVERSATION, directive="Answer now.")

    assert request_to_payload(request, "m")["messages"] == [
        *as_list(request_to_payload(CONVERSATION, "m")["messages"]),
        {"role": "user", "content": "Answer now."},
    ]


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
    payload = request_to_payload(replace(CONVERSATION, tool_choice=choice), "m")

    assert payload.get("tool_choice") == sent
    assert payload["tools"]


@pytest.mark.parametrize("choice", [ToolChoiceMode.NONE, ToolChoiceMode.REQUIRED, NamedTool("turn_on")])
def test_nothing_is_said_about_tools_where_there_are_none(choice: ToolChoice) -> None:
    payload = request_to_payload(replace(CONVERSATION, tools=(), tool_choice=choice), "m")

    assert not {"tools", "tool_choice", "parallel_tool_calls"} & payload.keys()


@pytest.mark.parametrize("written", ["", "{", "[]", "null", '"on"', '{"a":NaN}', '{"a":1}}', "{'a': 1}"])
def test_arguments_that_are_no_object_are_sent_as_an_empty_one(written: str) -> None:
    assert sent_function(ToolCall("a", "turn_on", written)) == {"name": "turn_on", "arguments": "{}"}


def test_arguments_that_are_an_object_are_sent_as_recorded() -> None:
    recorded = ' {"b": 1.0,\n"a": "\\u00fc"} '

    assert sent_function(ToolCall("a", "turn_on", recorded))["arguments"] == recorded


@pytest.mark.parametrize(
    ("written", "sent"),
    [("light.turn_on", "light_turn_on"), ("größe 💡", "gr__e__"), ("", "unnamed"), ("x" * 100, "x" * 64)],
)
def test_names_that_a_model_made_up_are_sent_in_a_form_that_servers_accept(written: str, sent: str) -> None:
    assert sent_function(ToolCall("a", written, "{}"))["name"] == sent


def test_an_assistant_message_without_words_or_calls_is_left_out() -> None:
    assert messages(UserMessage("Hi"), AssistantMessage("", "hm"), UserMessage("Hello?")) == [
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": "Hello?"},
    ]


def test_consecutive_assistant_messages_stay_apart_and_in_order() -> None:
    call = ToolCall("a", "turn_on", "{}")
    sent = messages(AssistantMessage("Wait."), AssistantMessage("", "", (call,)), ToolResult("a", "turn_on", ""))

    assert [as_object(message)["role"] for message in as_list(sent)] == ["assistant", "assistant", "tool"]


CALL = ToolCall("functions.turn_on:0", "turn_on", "{}")
THOUGHT = AssistantMessage("", "hm", (CALL,))
THOUGHTLESS = AssistantMessage("", "", (CALL,))


def in_dialect(dialect: ChatDialect, *transcript: Message, directive: str = "") -> JsonObject:
    return request_to_payload(CompletionRequest("", transcript, directive=directive), "m", dialect)


@pytest.mark.parametrize(
    ("dialect", "message", "reasoning"),
    [
        (ChatDialect(), THOUGHT, {}),
        (ChatDialect(ReasoningField.REASONING), THOUGHT, {"reasoning": "hm"}),
        (ChatDialect(ReasoningField.REASONING_CONTENT), THOUGHT, {"reasoning_content": "hm"}),
        (ChatDialect(ReasoningField.REASONING_CONTENT), THOUGHTLESS, {}),
        (ChatDialect(ReasoningField.REASONING_CONTENT, needs_reasoning=True), THOUGHTLESS, {"reasoning_content": ""}),
        (ChatDialect(ReasoningField.REASONING_CONTENT, needs_reasoning=True), AssistantMessage("On.", "hm"), {}),
    ],
)
def test_reasoning_goes_back_beside_calls_where_the_server_wants_it(
    dialect: ChatDialect, message: AssistantMessage, reasoning: JsonObject
) -> None:
    [written] = as_list(in_dialect(dialect, message)["messages"])

    assert {name: value for name, value in as_object(written).items() if "reasoning" in name} == reasoning


def test_ids_that_a_server_refuses_are_replaced_in_calls_and_results_alike() -> None:
    dialect = ChatDialect(call_ids="[A-Za-z0-9]{9}")
    [called, result] = as_list(in_dialect(dialect, THOUGHT, ToolResult(CALL.id, "turn_on", ""))["messages"])

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
        replace(CONVERSATION, tool_choice=NamedTool("turn_on")), "m", ChatDialect(forces_by_name=False)
    )

    assert payload["tool_choice"] == "required"


PICTURE = Attachment("image/png", b"\x89PNG", "door.png")
BILL = Attachment("application/pdf", b"%PDF")


def shown(message: UserMessage, *accepted: str) -> JsonValue:
    payload = request_to_payload(CompletionRequest("", (message,)), "m", shown=accepted)
    [written] = as_list(payload["messages"])
    return as_object(written)["content"]


def test_pictures_and_documents_that_can_be_shown() -> None:
    assert shown(UserMessage("What is this?", (PICTURE, BILL)), "image/png", "application/pdf") == [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
        {"type": "file", "file": {"filename": "attachment", "file_data": "data:application/pdf;base64,JVBERg=="}},
    ]
    assert shown(UserMessage("", (PICTURE,)), "image/png") == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}
    ]


def test_where_nothing_can_be_shown_the_message_stays_one_text() -> None:
    assert shown(UserMessage("What is this?", (PICTURE, BILL))) == "\n\n".join(
        ["What is this?", attachment_note(PICTURE), attachment_note(BILL)]
    )
    assert shown(UserMessage("", (BILL,)), "image/png") == attachment_note(BILL)
    assert shown(UserMessage("")) == ""


def test_no_request_holds_what_cannot_be_written_as_utf8() -> None:
    assert b"half ? emoji" in payload_to_bytes({"text": "half \ud83d emoji"})


TEXT = st.text(max_size=8)
CALLS = st.lists(st.builds(ToolCall, TEXT, TEXT, TEXT), max_size=2).map(tuple)
MESSAGES: st.SearchStrategy[Message] = (
    st.builds(UserMessage, TEXT)
    | st.builds(AssistantMessage, TEXT, TEXT, CALLS)
    | st.builds(ToolResult, TEXT, TEXT, TEXT)
)


@given(st.lists(MESSAGES, max_size=5).map(tuple), st.lists(MESSAGES, max_size=3).map(tuple), TEXT)
def test_a_longer_conversation_begins_with_the_bytes_of_the_shorter(
    earlier: tuple[Message, ...], later: tuple[Message, ...], directive: str
) -> None:
    shorter = request_to_payload(CompletionRequest("Be brief.", earlier), "m")
    longer = request_to_payload(CompletionRequest("Be brief.", earlier + later, directive=directive), "m")

    beginning, _ = payload_to_bytes(shorter).split(b'],"stream"')
    assert payload_to_bytes(longer).startswith(beginning)


@given(st.lists(MESSAGES, max_size=5).map(tuple))
def test_whatever_a_model_wrote_every_call_that_is_sent_is_well_formed(transcript: tuple[Message, ...]) -> None:
    for message in as_list(messages(*transcript)):
        for call in as_list(as_object(message).get("tool_calls", [])):
            function = as_object(as_object(call)["function"])
            assert re.fullmatch("[A-Za-z0-9_-]{1,64}", str(function["name"]))
            assert isinstance(json.loads(str(function["arguments"])), dict)


def sent_function(call: ToolCall) -> JsonObject:
    [message] = as_list(messages(AssistantMessage("", "", (call,))))
    [sent] = as_list(as_object(message)["tool_calls"])
    return as_object(as_object(sent)["function"])


def as_list(value: JsonValue) -> list[JsonValue]:
    assert isinstance(value, list)
    return value


def as_object(value: JsonValue) -> JsonObject:
    assert isinstance(value, dict)
    return value
