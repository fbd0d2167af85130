"""Signed reasoning of Chat Completions servers comes in pieces, is kept whole, and goes back as it came."""

import json

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.events import CompletionResult, ProviderEvent, ReasoningDelta, ToolCallReady
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    ProviderItem,
    ToolCall,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.wire.chat_dialect import ChatDialect, ReasoningField
from custom_components.chatterbox.agent.wire.openai_chat import ChatReplyReader, request_to_payload
from tests.agent.wire.framing import sse

SEALED: JsonObject = {"type": "reasoning.encrypted", "data": "c2VhbGVk", "id": "rs_1", "index": 1}


def text(piece: str, **more: JsonValue) -> JsonObject:
    return {"type": "reasoning.text", "text": piece, "index": 0, **more}


def call(call_id: str, **more: JsonValue) -> JsonObject:
    return {"index": 0, "id": call_id, "function": {"name": "on", "arguments": '{"x":1}'}, **more}


def chunk(delta: JsonObject, finish: JsonValue = None) -> JsonObject:
    return {"choices": [{"delta": delta, "finish_reason": finish}]}


def read(*deltas: JsonObject, taken: str = "") -> list[ProviderEvent]:
    reader = ChatReplyReader((AssistantMessage(tool_calls=(ToolCall(taken, "on", "{}"),)),), lambda: "new")
    chunks = [chunk(delta) for delta in deltas] + [chunk({}, "stop")]
    return [event for each in chunks for event in reader.feed(sse(each))] + [*reader.end()]


def items_of(*deltas: JsonObject, taken: str = "") -> tuple[ProviderItem, ...]:
    last = read(*deltas, taken=taken)[-1]
    assert isinstance(last, CompletionResult)
    return last.provider_items


def details_of(*details: JsonObject) -> JsonValue:
    """Return what is kept of details that come one by one."""
    deltas: list[JsonObject] = [{"reasoning_details": [detail]} for detail in details]
    [item] = items_of(*deltas)
    return item.data["reasoning_details"]


def sent(message: AssistantMessage, dialect: ChatDialect) -> JsonObject:
    results = [ToolResult(call.id, call.name, "done") for call in message.tool_calls]
    request = CompletionRequest("", (UserMessage("Hi"), message, *results))
    messages = request_to_payload(request, "m", dialect)["messages"]
    assert isinstance(messages, list)
    assert isinstance(messages[1], dict)
    return messages[1]


@pytest.mark.parametrize(
    ("pieces", "kept"),
    [
        ([text("a"), text("b"), text("c")], [text("abc")]),
        ([text("a"), text("", signature="s")], [text("a", signature="s")]),
        ([text("a", signature=None), text("b", signature="s", id=None)], [text("ab", signature="s")]),
        ([text("a", id="1"), text("b", id="2")], [text("a", id="1"), text("b", id="2")]),
        ([text("a"), text("b", index=1)], [text("a"), text("b", index=1)]),
        ([text("a"), SEALED], [text("a"), SEALED]),
        ([SEALED, SEALED], [SEALED, SEALED]),
        (
            [{"type": "reasoning.summary", "summary": "a"}, {"type": "reasoning.summary", "summary": "b"}],
            [{"type": "reasoning.summary", "summary": "ab"}],
        ),
        ([text("a"), {"type": "reasoning.text", "index": 0, "signature": "s"}], [text("a", signature="s")]),
    ],
)
def test_pieces_of_one_text_become_one(pieces: list[JsonObject], kept: list[JsonObject]) -> None:
    assert details_of(*pieces) == kept


def test_details_alone_are_the_reasoning_that_is_told() -> None:
    assert read({"reasoning_details": [text("hm "), SEALED, {"type": "reasoning.summary", "summary": "ok"}]})[0] == (
        ReasoningDelta("hm ok")
    )


def test_reasoning_that_comes_in_both_forms_is_told_once() -> None:
    events = read({"reasoning": "hm", "reasoning_details": [text("hm")]})

    assert [event for event in events if isinstance(event, ReasoningDelta)] == [ReasoningDelta("hm")]


@pytest.mark.parametrize("odd", ["hm", 5, None, ["hm"], {"text": "hm"}])
def test_details_of_another_shape_are_passed_over(odd: JsonValue) -> None:
    assert items_of({"content": "Hi", "reasoning_details": odd}) == ()


def test_the_signature_of_a_call_goes_back_with_that_call() -> None:
    signature: JsonObject = {"google": {"thought_signature": "c2ln"}}
    [item] = items_of({"tool_calls": [call("a", extra_content=signature), call("b", index=1)]})
    calls = (ToolCall("a", "on", "{}"), ToolCall("b", "on", "{}"))

    written = sent(AssistantMessage("", "", calls, (item,)), ChatDialect())["tool_calls"]

    function: JsonValue = {"name": "on", "arguments": "{}"}
    assert written == [
        {"id": "a", "type": "function", "function": function, "extra_content": signature},
        {"id": "b", "type": "function", "function": function},
    ]


def test_a_call_that_gets_another_id_keeps_its_signature() -> None:
    signature: JsonObject = {"google": {"thought_signature": "c2ln"}}
    delta: JsonObject = {"tool_calls": [call("a", extra_content=signature)]}

    assert [event.call.id for event in read(delta, taken="a") if isinstance(event, ToolCallReady)] == ["new"]
    assert items_of(delta, taken="a") == (ProviderItem("openai_chat", {"extra_content": {"new": signature}}),)


SIGNED = AssistantMessage(
    "One moment.",
    "hm",
    (ToolCall("a", "on", "{}"),),
    (
        ProviderItem("openai_chat", {"reasoning_details": [SEALED], "extra_content": {"a": {"x": 1}}}),
        ProviderItem("anthropic_messages", {"reasoning_details": [{"type": "foreign"}]}),
    ),
)


def test_signed_reasoning_goes_back_in_place_of_plain_reasoning() -> None:
    written = sent(SIGNED, ChatDialect(reasoning_field=ReasoningField.REASONING))

    assert written["reasoning_details"] == [SEALED]
    assert "reasoning" not in written


def test_a_server_that_never_signs_is_sent_nothing_signed() -> None:
    written = sent(SIGNED, ChatDialect(returns_items=False))

    assert "reasoning_details" not in written
    assert "extra_content" not in json.dumps(written)


@given(
    st.dictionaries(
        st.sampled_from(["reasoning_details", "extra_content", "else"]),
        st.none() | st.text() | st.lists(st.integers() | st.just({"a": 1})) | st.just({"a": 1}) | st.just({"a": {}}),
    )
)
def test_items_that_we_cannot_have_written_are_passed_over(data: JsonObject) -> None:
    calls = (ToolCall("a", "on", "{}"),)
    message = AssistantMessage(tool_calls=calls, provider_items=(ProviderItem("openai_chat", data),))

    match request_to_payload(CompletionRequest("", (message,)), "small")["messages"]:
        case [{"reasoning_details": list(details)}]:
            assert all(isinstance(detail, dict) for detail in details)
        case [{"tool_calls": [{"extra_content": extra}]}]:
            assert isinstance(extra, dict)
        case _:
            pass
