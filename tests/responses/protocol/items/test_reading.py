"""The messages that items stand for: in order, each call with its result, and nothing that only clients need."""

from dataclasses import replace
from itertools import count

import pytest

from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    JsonObject,
    JsonValue,
    Message,
    ProviderItem,
    ToolCall,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.transcript import NO_RESULT
from custom_components.chatterbox.responses.protocol.items.encrypted_content import (
    ContentCodec,
    encode_provider_items,
    encode_summary,
)
from custom_components.chatterbox.responses.protocol.items.parts import InvalidItem
from custom_components.chatterbox.responses.protocol.items.reading import (
    ParsedItems,
    call_error_text,
    parse_items,
    phase_item,
)
from custom_components.chatterbox.responses.protocol.items.schema import (
    ApprovalResponseItem,
    complete_item,
)

CODEC = ContentCodec(b"a key")
PNG = "data:image/png;base64,iVBORw0KGgo="
CALL: JsonObject = {
    "type": "function_call",
    "call_id": "call_1",
    "name": "weather",
    "arguments": '{ "a": 1.0}',
}
OUTPUT: JsonObject = {
    "type": "function_call_output",
    "call_id": "call_1",
    "output": "rain",
}
MCP: JsonObject = {
    "type": "mcp_call",
    "id": "mcp_1",
    "server_label": "assist",
    "name": "turn_on",
    "arguments": "{}",
}
ASKED_TO_OPEN: JsonObject = {
    "server_label": "assist",
    "name": "open",
    "arguments": "{}",
}
YES: JsonObject = {
    "type": "mcp_approval_response",
    "approval_request_id": "mcpr_1_0",
    "approve": True,
}
CARRIED = (ProviderItem("anthropic_messages", {"signature": "s"}),)
ENCRYPTED: JsonObject = {
    "type": "reasoning",
    "summary": [],
    "encrypted_content": encode_provider_items(CARRIED, CODEC),
}


def message_item(role: str, content: JsonValue) -> JsonObject:
    return {"role": role, "content": content}


def thought(text: str) -> JsonObject:
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}


def translated(*items: JsonObject, history: tuple[Message, ...] = ()) -> ParsedItems:
    numbers = count()
    complete = [
        complete_item(item, lambda prefix: f"{prefix}_new{next(numbers)}")
        for item in items
    ]
    return parse_items(complete, CODEC, history)


def ran(call_id: str, name: str, content: str) -> ToolResult:
    return ToolResult(call_id, name, content, open_world=True)


def weather(call_id: str = "call_1") -> ToolCall:
    return ToolCall(call_id, "weather", '{ "a": 1.0}')


def test_who_said_what() -> None:
    """Invariant 41: a message needs no type."""
    parsed = translated(
        message_item("system", "Be brief."),
        message_item("developer", [{"type": "input_text", "text": "Be kind."}]),
        message_item("user", "Hi"),
        message_item("assistant", "Hello"),
        message_item(
            "user",
            [
                {"type": "input_text", "text": "Who is it?"},
                {"type": "input_image", "image_url": PNG},
            ],
        ),
    )

    picture = Attachment("image/png", b"\x89PNG\r\n\x1a\n")
    assert parsed.messages == (
        UserMessage("Hi"),
        AssistantMessage("Hello"),
        UserMessage("Who is it?", (picture,)),
    )
    assert parsed.instructions == "Be brief.\n\nBe kind."


def test_what_is_told_later_holds_for_what_is_said_next() -> None:
    parsed = translated(
        message_item("user", "Hi"),
        message_item("developer", "It is late."),
        message_item("system", "Very."),
        message_item("user", "?"),
    )

    assert parsed.messages == (
        UserMessage("Hi"),
        UserMessage("?", context="It is late.\n\nVery."),
    )
    assert not parsed.instructions


def test_what_is_told_later_keeps_its_place() -> None:
    parsed = translated(
        message_item("user", "Hi"),
        message_item("developer", "One."),
        message_item("assistant", "Hm"),
        message_item("developer", "Two."),
    )

    expected = [UserMessage("", context=text) for text in ("One.", "Two.")]
    assert parsed.messages == (
        UserMessage("Hi"),
        expected[0],
        AssistantMessage("Hm"),
        expected[1],
    )


def test_what_only_instructs_is_answered() -> None:
    parsed = translated(
        message_item("system", "Greet me."),
        message_item("assistant", ""),
        message_item("developer", "Now."),
    )

    assert parsed == ParsedItems((UserMessage("", context="Greet me.\n\nNow."),))


def test_calls_are_kept_byte_for_byte() -> None:
    """Invariants 5, 28."""
    parsed = translated(
        message_item("user", "?"),
        {**CALL, "id": "fc_1", "arguments": "{'not': JSON"},
        OUTPUT,
    )

    assert parsed.messages[1:] == (
        AssistantMessage(tool_calls=(ToolCall("call_1", "weather", "{'not': JSON"),)),
        ran("call_1", "weather", "rain"),
    )


def test_calls_of_one_message_are_one_message() -> None:
    """Invariants 33, 34."""
    parsed = translated(
        message_item("assistant", "I look."),
        CALL,
        {**CALL, "call_id": "call_2"},
        {**OUTPUT, "call_id": "call_2"},
        OUTPUT,
        {**CALL, "call_id": "call_3"},
        {**OUTPUT, "call_id": "call_3"},
        message_item("assistant", "Done."),
    )

    assert parsed.messages == (
        AssistantMessage("I look.", tool_calls=(weather(), weather("call_2"))),
        ran("call_1", "weather", "rain"),
        ran("call_2", "weather", "rain"),
        AssistantMessage(tool_calls=(weather("call_3"),)),
        ran("call_3", "weather", "rain"),
        AssistantMessage("Done."),
    )


def test_results_find_their_calls_wherever_they_stand() -> None:
    """Invariant 3."""
    second, second_output = (
        {**CALL, "call_id": "call_2"},
        {**OUTPUT, "call_id": "call_2"},
    )

    parsed = translated(
        CALL,
        message_item("assistant", "And"),
        thought("hm"),
        second,
        OUTPUT,
        second_output,
    )

    assert parsed.messages == (
        AssistantMessage(tool_calls=(weather(),)),
        ran("call_1", "weather", "rain"),
        AssistantMessage("And"),
        AssistantMessage(reasoning="hm", tool_calls=(weather("call_2"),)),
        ran("call_2", "weather", "rain"),
    )


def test_results_of_what_came_before_come_first() -> None:
    history = (
        UserMessage("?"),
        AssistantMessage(tool_calls=(weather(), weather("call_2"))),
    )

    parsed = translated(
        message_item("user", "Well?"),
        {**OUTPUT, "call_id": "call_2"},
        OUTPUT,
        history=history,
    )

    assert parsed.messages == (
        ran("call_1", "weather", "rain"),
        ran("call_2", "weather", "rain"),
        UserMessage("Well?"),
    )


def test_what_a_result_shows_is_shown_after_it() -> None:
    parts: JsonValue = [
        {"type": "input_text", "text": "a cat"},
        {"type": "input_image", "image_url": PNG},
    ]

    parsed = translated(
        CALL,
        {**CALL, "call_id": "call_2"},
        {**OUTPUT, "output": parts},
        {**OUTPUT, "call_id": "call_2"},
    )

    picture = Attachment("image/png", b"\x89PNG\r\n\x1a\n")
    assert parsed.messages[1:] == (
        ran("call_1", "weather", "a cat"),
        ran("call_2", "weather", "rain"),
        UserMessage("", (picture,), "[Shown by the result of the call call_1.]"),
    )


def test_what_is_told_before_something_is_shown_is_told_with_it() -> None:
    image_output: JsonObject = {
        **OUTPUT,
        "output": [{"type": "input_image", "image_url": PNG}],
    }

    parsed = translated(CALL, message_item("developer", "It is late."), image_output)

    picture = Attachment("image/png", b"\x89PNG\r\n\x1a\n")
    context = "It is late.\n\n[Shown by the result of the call call_1.]"
    assert parsed.messages[2:] == (UserMessage("", (picture,), context),)


def test_a_call_that_was_cut_off_was_never_made() -> None:
    """Invariant 17: a client may send back all of an incomplete response."""
    cut: JsonObject = {**CALL, "status": "incomplete", "arguments": '{"ci'}

    assert translated(message_item("user", "?"), cut).messages == (UserMessage("?"),)
    assert translated(message_item("assistant", "I look"), cut).messages == (
        AssistantMessage("I look"),
    )
    assert len(translated({**cut, "status": "completed"}).messages) == 2
    assert len(translated(cut, OUTPUT).messages) == 2


@pytest.mark.parametrize(
    ("outcome", "content", "is_error"),
    [
        ({"output": "on"}, "on", False),
        ({"output": ""}, "", False),
        ({"error": "no such lamp"}, "no such lamp", True),
        (
            {"error": {"type": "http_error", "code": 502, "message": "bad gateway"}},
            "bad gateway",
            True,
        ),
        (
            {
                "error": {
                    "type": "mcp_tool_execution_error",
                    "content": [{"type": "text", "text": "no"}],
                }
            },
            "no",
            True,
        ),
        ({"error": "it broke", "output": "half of it"}, "it broke\nhalf of it", True),
        ({}, NO_RESULT, True),
    ],
)
def test_calls_of_the_home_are_calls_with_their_result(
    outcome: JsonObject, content: str, *, is_error: bool
) -> None:
    """Invariant 52."""
    parsed = translated(
        message_item("user", "On!"),
        {**MCP, **outcome},
        message_item("assistant", "Well."),
    )

    assert parsed.messages == (
        UserMessage("On!"),
        AssistantMessage(tool_calls=(ToolCall("mcp_1", "turn_on", "{}"),)),
        ToolResult("mcp_1", "turn_on", content, is_error=is_error, open_world=True),
        AssistantMessage("Well."),
    )


def test_a_function_that_is_called_after_the_home_ran_something_belongs_to_the_next_message() -> (
    None
):
    """Invariants 22, 34: a message with calls of both sides runs nothing, and shows that by its failed calls."""
    done, failed = (
        MCP | {"output": "on"},
        MCP | {"error": "Not run: functions of the client come first."},
    )
    assert [
        len(message.tool_calls) for message in called(translated(done, CALL, OUTPUT))
    ] == [1, 1]
    assert [
        len(message.tool_calls) for message in called(translated(failed, CALL, OUTPUT))
    ] == [2]
    assert [
        len(message.tool_calls)
        for message in called(translated(done, MCP | {"id": "mcp_2", "output": ""}))
    ] == [2]


def called(parsed: ParsedItems) -> list[AssistantMessage]:
    return [
        message for message in parsed.messages if isinstance(message, AssistantMessage)
    ]


def test_errors_in_every_form() -> None:
    assert call_error_text({"content": "no"}) == "no"
    assert (
        call_error_text(
            {"content": [{"type": "text", "text": "no"}, "never", {"code": 5}]}
        )
        == 'no\nnever\n{"code":5}'
    )
    assert call_error_text(7) == "7"


def test_ids_of_other_servers_cannot_be_those_of_functions() -> None:
    parsed = translated(CALL, {**MCP, "id": "call_1", "output": "on"}, OUTPUT)

    (message, *results) = parsed.messages
    assert isinstance(message, AssistantMessage)
    assert [call.id for call in message.tool_calls] == ["call_1", "mcp_call_1"]
    assert [result.content for result in results if isinstance(result, ToolResult)] == [
        "rain",
        "on",
    ]


def test_reasoning_stands_with_what_it_led_to() -> None:
    """Invariant 35."""
    parsed = translated(
        message_item("user", "?"),
        thought("One."),
        thought("Two."),
        CALL,
        ENCRYPTED,
        OUTPUT,
        thought("Lost."),
    )

    assert parsed.messages[1] == AssistantMessage(
        reasoning="One.\n\nTwo.", tool_calls=(weather(),), provider_items=CARRIED
    )
    assert parsed.messages[2:] == (ran("call_1", "weather", "rain"),)


def test_what_is_carried_tells_messages_apart() -> None:
    second: JsonObject = {**MCP, "id": "mcp_2", "output": "b"}

    parsed = translated(
        {**MCP, "output": "a"},
        ENCRYPTED,
        second,
        ENCRYPTED,
        ENCRYPTED,
        message_item("user", "?"),
    )

    first, _, other, _, _ = parsed.messages
    assert isinstance(first, AssistantMessage)
    assert isinstance(other, AssistantMessage)
    assert [len(message.tool_calls) for message in (first, other)] == [1, 1]
    assert [message.provider_items for message in (first, other)] == [CARRIED, CARRIED]


def test_what_others_have_encrypted_is_left_out() -> None:
    parsed = translated(
        {**ENCRYPTED, "encrypted_content": "gAAAA"},
        message_item("assistant", "Hi"),
        thought("hm"),
    )

    assert parsed.messages == (AssistantMessage("Hi"),)


def test_what_nobody_vouches_for_tells_no_messages_apart() -> None:
    """Content from before a restart counts as if it had not been sent: its text stays the same."""
    second: JsonObject = {**MCP, "id": "mcp_2", "output": "b"}

    (message, *_) = translated(
        {**MCP, "output": "a"}, {**ENCRYPTED, "encrypted_content": "gAAAA"}, second
    ).messages

    assert isinstance(message, AssistantMessage)
    assert [call.id for call in message.tool_calls] == ["mcp_1", "mcp_2"]


def test_phases_are_kept() -> None:
    parsed = translated(
        {**message_item("assistant", "I look."), "phase": "commentary"},
        message_item("assistant", "Rain."),
    )

    assert parsed.messages == (
        AssistantMessage("I look.", provider_items=(phase_item("commentary"),)),
        AssistantMessage("Rain."),
    )


def test_control_items_reach_no_model() -> None:
    """Invariants 52, 67."""
    listed: JsonObject = {
        "type": "mcp_list_tools",
        "server_label": "assist",
        "tools": [],
    }
    failed: JsonObject = {
        "type": "mcp_list_tools",
        "server_label": "music",
        "tools": [],
        "error": "asleep",
    }
    request: JsonObject = {
        "type": "mcp_approval_request",
        "server_label": "assist",
        "name": "open",
        "arguments": "{}",
    }

    parsed = translated(
        message_item("user", "?"),
        listed,
        failed,
        request,
        {"type": "acme:thought", "depth": [1]},
    )

    assert parsed == ParsedItems((UserMessage("?"),), listed=frozenset({"assist"}))


def test_answers_to_questions_are_handed_on() -> None:
    no: JsonObject = {
        **YES,
        "approval_request_id": "mcpr_1_1",
        "approve": False,
        "reason": "Not now",
    }

    parsed = translated(message_item("system", "Be brief."), YES, no)

    yes = ApprovalResponseItem(approval_request_id="mcpr_1_0", approve=True)
    assert parsed.approvals == (
        yes,
        ApprovalResponseItem(
            approval_request_id="mcpr_1_1", approve=False, reason="Not now"
        ),
    )
    assert parsed == ParsedItems((), "Be brief.", parsed.approvals)
    assert translated(YES, message_item("user", "And be quick.")).approvals == (yes,)


@pytest.mark.parametrize(
    "following",
    [{**MCP, "output": "open"}, message_item("assistant", "I opened it."), CALL],
)
def test_answers_that_were_acted_on_are_not_acted_on_again(
    following: JsonObject,
) -> None:
    """Invariant 45."""
    assert (
        translated(
            message_item("user", "Open"),
            YES,
            following,
            OUTPUT,
            message_item("user", "Thanks"),
        ).approvals
        == ()
    )


def test_a_question_ends_the_answers_to_the_one_before() -> None:
    """After a no there may be nothing between the two."""
    first, second = (
        {"type": "mcp_approval_request", **ASKED_TO_OPEN, "id": f"mcpr_{n}_0"}
        for n in (1, 2)
    )
    sibling: JsonObject = {**first, "id": "mcpr_1_1"}
    no: JsonObject = {**YES, "approve": False}
    yes: JsonObject = {**YES, "approval_request_id": "mcpr_2_0"}

    assert translated(first, no, second, yes).approvals == (
        ApprovalResponseItem(approval_request_id="mcpr_2_0", approve=True),
    )
    assert translated(first, no, sibling).approvals == (
        ApprovalResponseItem(approval_request_id="mcpr_1_0", approve=False),
    )


@pytest.mark.parametrize(
    "after", [message_item("assistant", "Fine."), {**MCP, "output": "on"}, CALL]
)
def test_a_no_stays_known(after: JsonObject) -> None:
    """Invariant 47: the model must not ask again for what nobody wants."""
    request: JsonObject = {
        "type": "mcp_approval_request",
        **ASKED_TO_OPEN,
        "id": "mcpr_1_0",
    }
    no: JsonObject = {**YES, "approve": False, "reason": "Not now."}
    refused = ToolCall("mcp_mcpr_1_0", "open", "{}")

    parsed = translated(
        message_item("assistant", "Let me see."), request, no, thought("Well."), after
    )

    expected = replace(
        ran("mcp_mcpr_1_0", "open", "Not run: the person said no. Not now."),
        is_error=True,
    )
    assert parsed.messages[:3] == (
        AssistantMessage("Let me see."),
        AssistantMessage(tool_calls=(refused,)),
        expected,
    )
    assert called(parsed)[-1].reasoning == "Well."
    assert parsed.approvals == ()
    assert translated(no, after).messages == translated(after).messages


def test_a_no_comes_after_what_ran_beside_it() -> None:
    request: JsonObject = {
        "type": "mcp_approval_request",
        **ASKED_TO_OPEN,
        "id": "mcpr_1_0",
    }

    off: JsonObject = {**MCP, "id": "mcp_2", "name": "turn_off", "output": "off"}

    parsed = translated(
        {**MCP, "output": "on"}, request, {**YES, "approve": False}, off
    )

    names = [[call.name for call in message.tool_calls] for message in called(parsed)]
    assert names == [["turn_on"], ["open"], ["turn_off"]]


def test_a_compaction_is_read_where_it_stands() -> None:
    content = encode_summary(
        "They spoke of rain.", has_outside_content=False, codec=CODEC
    )

    parsed = translated(
        message_item("user", "Hi"),
        {"type": "compaction", "encrypted_content": content},
        message_item("user", "And?"),
    )

    before, call, result, after = parsed.messages
    assert (before, after) == (UserMessage("Hi"), UserMessage("And?"))
    assert isinstance(call, AssistantMessage)
    assert isinstance(result, ToolResult)
    assert "They spoke of rain." in result.content
    assert not result.open_world


@pytest.mark.parametrize(
    ("item", "path"),
    [
        ({"type": "compaction", "encrypted_content": "gAAAA"}, "[1].encrypted_content"),
        ({"type": "item_reference", "id": "msg_1"}, "[1].id"),
        ({"id": "msg_1"}, "[1].id"),
    ],
)
def test_what_cannot_be_read_is_refused_by_place(item: JsonObject, path: str) -> None:
    with pytest.raises(InvalidItem) as caught:
        translated(message_item("user", "?"), item)

    assert caught.value.path == path


def test_what_is_stored_badly_is_refused_as_a_whole() -> None:
    with pytest.raises(InvalidItem) as caught:
        parse_items([{"type": "message", "role": "nobody"}], CODEC)

    assert caught.value.path == "[0].role"


def test_a_call_of_before_may_still_wait_for_its_result() -> None:
    history = (
        UserMessage("?"),
        AssistantMessage(tool_calls=(weather(), weather("call_2"))),
    )

    parsed = translated(OUTPUT, history=history)

    assert parsed.messages == (ran("call_1", "weather", "rain"),)
