"""A request becomes the JSON that Messages servers accept: roles in turn, results at once, cached where it pays."""

import json
import re
from base64 import b64decode
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.json.text import payload_to_bytes
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    JsonObject,
    JsonValue,
    Message,
    NamedTool,
    ProviderItem,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.wire.anthropic_messages import (
    FORMAT,
    request_to_payload,
)
from custom_components.chatterbox.agent.wire.carried_blocks import CarriedBlock

CACHE: JsonObject = {"type": "ephemeral"}
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "area": {}},
}
TURN_ON = ToolDefinition("turn_on", "Turns things on.", SCHEMA)
WEATHER = ToolDefinition("weather", "", {"type": "object", "properties": {}})
THOUGHT: JsonObject = {
    "type": "thinking",
    "thinking": "Two things.",
    "signature": "EqoBCkgIARABGAIi",
}
REDACTED: JsonObject = {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3p"}


def carried(
    block: JsonObject, text: int = 0, calls: int = 0, skip: int = 0
) -> ProviderItem:
    return CarriedBlock(block, text, calls, skip).as_item(FORMAT)


CONVERSATION = CompletionRequest(
    instructions="Be brief.",
    transcript=(
        UserMessage("Hello"),
        AssistantMessage("Hi!", "", (), (carried(THOUGHT),)),
        UserMessage("Turn on the light, and what's the weather?"),
        AssistantMessage(
            "One moment.",
            "Two things.",
            (
                ToolCall("toolu_1", "turn_on", '{"name":"Früh 💡"}'),
                ToolCall("toolu_2", "weather", "{}"),
            ),
            (carried(THOUGHT), carried(REDACTED)),
        ),
        ToolResult("toolu_1", "turn_on", '{"done":true}', native=object()),
        ToolResult("toolu_2", "weather", "Unknown tool", is_error=True, synthetic=True),
        AssistantMessage("", "", (ToolCall("toolu_3", "weather", "{}"),)),
        ToolResult("toolu_3", "weather", "sunny"),
    ),
    tools=(TURN_ON, WEATHER),
)


def messages(*transcript: Message) -> list[JsonObject]:
    return messages_of(CompletionRequest("", transcript))


def messages_of(request: CompletionRequest) -> list[JsonObject]:
    return as_objects(request_to_payload(request, "m", 100)["messages"])


def blocks(message: JsonObject) -> list[JsonObject]:
    return as_objects(message["content"])


def as_objects(value: JsonValue) -> list[JsonObject]:
    assert isinstance(value, list)
    objects = [item for item in value if isinstance(item, dict)]
    assert len(objects) == len(value)
    return objects


def test_the_smallest_request_as_bytes() -> None:
    request = CompletionRequest("", (UserMessage("Grüß dich"),))

    assert payload_to_bytes(request_to_payload(request, "m", 7)).decode() == (
        '{"model":"m","max_tokens":7,"messages":[{"role":"user","content":[{"type":"text","text":"Grüß dich",'
        '"cache_control":{"type":"ephemeral"}}]}],"stream":true}'
    )


def test_a_picture_without_words_is_sent_alone() -> None:
    [message] = messages(UserMessage(" ", (Attachment("image/png", b"\x89PNG"),)))

    assert [block["type"] for block in blocks(message)] == ["image"]


def test_the_directive_comes_last_behind_every_breakpoint_and_belongs_to_this_request_alone() -> (
    None
):
    without = messages_of(CONVERSATION)

    *before, last = messages_of(replace(CONVERSATION, directive="Answer now."))

    assert before == without[:-1]
    assert blocks(last) == [
        *blocks(without[-1]),
        {"type": "text", "text": "Answer now."},
    ]


@pytest.mark.parametrize(
    "transcript", [(), (UserMessage("Hi"), AssistantMessage("Hello"))]
)
def test_a_directive_that_follows_no_user_message_is_one(
    transcript: tuple[Message, ...],
) -> None:
    request = CompletionRequest("", transcript, directive="Answer now.")

    assert messages_of(request)[-1] == {
        "role": "user",
        "content": [{"type": "text", "text": "Answer now."}],
    }


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (ToolChoiceMode.AUTO, None),
        (ToolChoiceMode.NONE, {"type": "none"}),
        (ToolChoiceMode.REQUIRED, {"type": "any"}),
        (NamedTool("turn_on"), {"type": "tool", "name": "turn_on"}),
    ],
)
def test_tool_choice(choice: ToolChoice, sent: JsonValue) -> None:
    payload = request_to_payload(replace(CONVERSATION, tool_choice=choice), "m", 100)

    assert payload.get("tool_choice") == sent
    assert payload["tools"]


def test_calls_of_old_get_their_tools_defined_and_none_may_be_called() -> None:
    payload = request_to_payload(replace(CONVERSATION, tools=()), "m", 100)

    assert payload["tools"] == [
        {"name": "turn_on", "input_schema": {"type": "object"}},
        {"name": "weather", "input_schema": {"type": "object"}, "cache_control": CACHE},
    ]
    assert payload["tool_choice"] == {"type": "none"}


def test_keywords_that_are_refused_at_the_top_of_a_schema_are_left_out() -> None:
    schema: JsonObject = {
        "properties": {"x": {"anyOf": [{"type": "string"}]}},
        "anyOf": [{"required": ["x"]}],
    }
    tool = ToolDefinition("on", "", schema)

    [sent] = as_objects(
        request_to_payload(CompletionRequest("", (), (tool,)), "m", 100)["tools"]
    )

    assert sent["input_schema"] == {
        "type": "object",
        "properties": {"x": {"anyOf": [{"type": "string"}]}},
    }


@pytest.mark.parametrize("instructions", ["", " \n"])
def test_no_instructions_are_sent_as_none(instructions: str) -> None:
    assert "system" not in request_to_payload(
        CompletionRequest(instructions, (UserMessage("Hi"),)), "m", 100
    )


def test_a_conversation_that_the_assistant_opened_begins_with_the_user() -> None:
    sent = messages(AssistantMessage("Shall I close the garage?"), UserMessage("Yes"))

    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert blocks(sent[0])[0]["text"] == "(The assistant begins.)"


def test_what_one_side_said_in_several_messages_is_one() -> None:
    call = ToolCall("a", "turn_on", "{}")
    sent = messages(
        UserMessage("Hello?"),
        UserMessage("The light!"),
        AssistantMessage("Wait."),
        AssistantMessage("", "", (call,)),
        ToolResult("a", "turn_on", "done"),
        UserMessage("And the fan"),
    )

    assert [
        (message["role"], [block["type"] for block in blocks(message)])
        for message in sent
    ] == [
        ("user", ["text", "text"]),
        ("assistant", ["text", "tool_use"]),
        ("user", ["tool_result", "text"]),
    ]


@pytest.mark.parametrize(
    "message",
    [AssistantMessage(), AssistantMessage(" \n", "hm", (), (carried(THOUGHT),))],
)
def test_an_assistant_message_without_words_or_calls_is_left_out(
    message: AssistantMessage,
) -> None:
    assert len(messages(UserMessage("Hi"), message, UserMessage("Hello?"))) == 1


@pytest.mark.parametrize("directive", ["", " \n"])
def test_an_empty_directive_is_none(directive: str) -> None:
    assert messages_of(replace(CONVERSATION, directive=directive)) == messages_of(
        CONVERSATION
    )


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_user_who_said_nothing_still_has_a_message(text: str) -> None:
    assert blocks(messages(UserMessage(text))[0])[0]["text"] == "(Nothing was said.)"


@pytest.mark.parametrize(
    ("result", "sent"),
    [
        (ToolResult("a", "on", ""), {}),
        (ToolResult("a", "on", " \n"), {}),
        (
            ToolResult("a", "on", "", is_error=True),
            {"content": "error", "is_error": True},
        ),
        (
            ToolResult("a", "on", "no", is_error=True),
            {"content": "no", "is_error": True},
        ),
    ],
)
def test_a_result_may_be_empty_but_not_an_empty_error(
    result: ToolResult, sent: JsonObject
) -> None:
    [block] = blocks(messages(result)[0])

    assert block == {
        "type": "tool_result",
        "tool_use_id": "a",
        "cache_control": CACHE,
        **sent,
    }


def sent_call(call: ToolCall) -> JsonObject:
    [_, message, _] = messages(
        UserMessage("Hi"),
        AssistantMessage("", "", (call,)),
        ToolResult(call.id, "", "x"),
    )
    [block] = blocks(message)
    return block


@pytest.mark.parametrize(
    "written",
    ["", "{", "[]", "null", '"on"', '{"a":NaN}', '{"a":1e999}', '{"a":1}}', "{'a': 1}"],
)
def test_calls_that_services_refuse_are_made_to_fit(written: str) -> None:
    call: JsonObject = {
        "type": "tool_use",
        "id": "a",
        "name": "light_turn_on",
        "input": {},
    }
    assert sent_call(ToolCall("a", "light.turn_on", written)) == call


def test_arguments_keep_the_order_in_which_they_were_written() -> None:
    assert (
        json.dumps(
            sent_call(ToolCall("a", "on", '{"b": 1.0, "a": "\\u00fc"}'))["input"]
        )
        == '{"b": 1.0, "a": "\\u00fc"}'
    )


def test_ids_of_other_services_become_ids_that_are_accepted_and_stay_pairs() -> None:
    written = ["functions.on:0", "functions_on_0", "functions.on/0", "", "größe"]
    calls = tuple(ToolCall(call_id, "on", "{}") for call_id in written)
    sent = messages(
        UserMessage("Hi"),
        AssistantMessage("", "", calls),
        *(ToolResult(call.id, "on", "x") for call in calls),
    )

    ids = [str(block["id"]) for block in blocks(sent[1])]
    assert ids == [block["tool_use_id"] for block in blocks(sent[2])]
    assert all(re.fullmatch("[A-Za-z0-9_-]+", call_id) for call_id in ids)
    assert len(set(ids)) == len(ids)
    assert ids[1] == "functions_on_0"


PICTURE = b"\x89PNG\r\n"


def test_pictures_and_documents_come_before_the_words_about_them() -> None:
    message = UserMessage(
        "What is this?",
        (
            Attachment("image/png", PICTURE),
            Attachment("IMAGE/JPG", PICTURE, "door.jpg"),
            Attachment("application/pdf", b"%PDF-1.7", "manual.pdf"),
            Attachment("application/pdf", b"%PDF-1.7"),
        ),
    )
    png, jpeg, named, unnamed, text = blocks(messages(message)[0])

    assert isinstance(png["source"], dict)
    assert b64decode(str(png["source"].pop("data"))) == PICTURE
    assert png == {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png"},
    }
    assert jpeg["source"] == {
        "type": "base64",
        "media_type": "image/jpeg",
        "data": "iVBORw0K",
    }
    document: JsonObject = {
        "type": "base64",
        "media_type": "application/pdf",
        "data": "JVBERi0xLjc=",
    }
    assert named == {"type": "document", "source": document, "title": "manual.pdf"}
    assert unnamed == {"type": "document", "source": document}
    assert text["text"] == "What is this?"


def test_a_note_stands_for_what_cannot_be_shown() -> None:
    note, _ = blocks(
        messages(
            UserMessage("Listen", (Attachment("audio/wav", b"RIFF", "voice.wav"),))
        )[0]
    )

    assert note["type"] == "text"
    assert "voice.wav" in str(note["text"])


def test_what_is_carried_stands_where_it_stood() -> None:
    message = AssistantMessage(
        "First.\n\nThen.",
        "",
        (ToolCall("a", "on", "{}"), ToolCall("b", "off", "{}")),
        (
            carried(THOUGHT),
            carried(REDACTED, text=6, skip=2),
            carried(THOUGHT, text=13, calls=1),
        ),
    )
    sent = messages(
        UserMessage("Hi"),
        message,
        ToolResult("a", "on", "x"),
        ToolResult("b", "off", "x"),
    )

    assert blocks(sent[1]) == [
        THOUGHT,
        {"type": "text", "text": "First."},
        REDACTED,
        {"type": "text", "text": "Then."},
        {"type": "tool_use", "id": "a", "name": "on", "input": {}},
        THOUGHT,
        {"type": "tool_use", "id": "b", "name": "off", "input": {}},
    ]


def test_what_is_carried_survives_that_the_words_were_replaced() -> None:
    message = AssistantMessage(
        "No.", "", (), (carried(THOUGHT, text=500, calls=7), carried(REDACTED, text=2))
    )

    sent = [block["type"] for block in blocks(messages(UserMessage("Hi"), message)[1])]

    assert [kind for kind in sent if kind != "text"] == [
        "thinking",
        "redacted_thinking",
    ]


@pytest.mark.parametrize(
    "item",
    [
        ProviderItem("openai_responses", {"block": THOUGHT, "text": 0, "calls": 0}),
        ProviderItem(FORMAT, THOUGHT),
        ProviderItem(FORMAT, {"block": THOUGHT, "text": -1, "calls": 0}),
        ProviderItem(FORMAT, {"block": "thinking", "text": 0, "calls": 0}),
    ],
)
def test_what_the_format_did_not_write_is_not_read(item: ProviderItem) -> None:
    assert blocks(
        messages(UserMessage("Hi"), AssistantMessage("Hello", "", (), (item,)))[1]
    ) == [{"type": "text", "text": "Hello"}]


def test_no_request_asks_for_more_than_four_cached_places() -> None:
    longer = replace(CONVERSATION, transcript=CONVERSATION.transcript * 3)

    assert (
        payload_to_bytes(request_to_payload(longer, "m", 100)).count(b'"cache_control"')
        == 4
    )


def test_the_next_request_has_a_breakpoint_where_this_one_ended() -> None:
    transcript = CONVERSATION.transcript[:-2]
    earlier = messages_of(replace(CONVERSATION, transcript=transcript))
    later = messages_of(CONVERSATION)

    assert later[: len(earlier) - 1] == [
        without_breakpoints(message) for message in earlier[:-1]
    ]
    assert later[len(earlier) - 1] == earlier[-1]
    assert "cache_control" in blocks(earlier[-1])[-1]


def without_breakpoints(message: JsonObject) -> JsonObject:
    content: list[JsonValue] = [
        {name: value for name, value in block.items() if name != "cache_control"}
        for block in blocks(message)
    ]
    return {**message, "content": content}


TEXT = st.text(max_size=8)
CALLS = st.lists(st.builds(ToolCall, TEXT, TEXT, TEXT), max_size=2).map(tuple)
ITEMS = st.lists(
    st.builds(carried, st.just(THOUGHT), *[st.integers(0, 9)] * 3), max_size=2
).map(tuple)
ATTACHMENTS = st.lists(
    st.builds(
        Attachment,
        st.sampled_from(["image/png", "application/pdf", "x"]),
        st.binary(max_size=3),
    ),
    max_size=2,
).map(tuple)
MESSAGES: st.SearchStrategy[Message] = (
    st.builds(UserMessage, TEXT, ATTACHMENTS)
    | st.builds(AssistantMessage, TEXT, TEXT, CALLS, ITEMS)
    | st.builds(ToolResult, TEXT, TEXT, TEXT, st.booleans())
)


@given(st.lists(MESSAGES, max_size=6).map(tuple), TEXT)
def test_whatever_was_written_the_request_is_well_formed(
    transcript: tuple[Message, ...], directive: str
) -> None:
    payload = request_to_payload(
        CompletionRequest("Be brief.", transcript, (TURN_ON,), directive=directive),
        "m",
        100,
    )
    sent = as_objects(payload["messages"])

    assert [message["role"] for message in sent][:1] in (["user"], [])
    assert all(one["role"] != other["role"] for one, other in pairwise(sent))
    assert payload_to_bytes(payload).count(b'"cache_control"') <= 4
    for block in (block for message in sent for block in blocks(message)):
        assert str(block.get("text", "x")).strip()
        assert re.fullmatch("[A-Za-z0-9_-]{1,64}", str(block.get("name", "x")))
        assert re.fullmatch("[A-Za-z0-9_-]+", str(block.get("id", "x")))
        assert isinstance(block.get("input", {}), dict)
