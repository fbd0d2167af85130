"""Searches of the web by Anthropic's service: what asks for them, what is read of them, and what is sent back."""

import json

import pytest

from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    ServiceSearched,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import (
    WEB_SEARCH,
    AssistantMessage,
    FinishReason,
    JsonObject,
    JsonValue,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.wire.anthropic_messages import (
    AnthropicReplyReader,
    request_to_payload,
)
from tests.agent.wire.encoding import sse
from tests.support.doubles import tool

KIND = "web_search_20250305"
WORDS = UserMessage("Who won?")
USE: JsonObject = {
    "type": "server_tool_use",
    "id": "srvtoolu_1",
    "name": "web_search",
    "input": {"query": "who won"},
}
PAGES: list[JsonValue] = [
    {
        "type": "web_search_result",
        "url": "https://a.example/1",
        "title": "The [final]",
        "encrypted_content": "EqgfCioIARgBIiQ",
        "page_age": "2 days",
    }
]
FOUND: JsonObject = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": PAGES,
}
REFUSED: JsonObject = {
    **FOUND,
    "content": {
        "type": "web_search_tool_result_error",
        "error_code": "max_uses_exceeded",
    },
}
CALL: JsonObject = {"type": "tool_use", "id": "a", "name": "on", "input": {}}


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def streamed(*blocks: JsonObject, reason: str = "end_turn") -> list[ProviderEvent]:
    """Return our events of blocks, whose texts and arguments come in pieces."""
    events: list[JsonObject] = []
    for index, block in enumerate(blocks):
        place: JsonObject = {"index": index}
        pieces: list[JsonObject] = []
        begun = dict(block)
        if block["type"] == "text":
            begun["text"] = ""
            pieces = [{"type": "text_delta", "text": block["text"]}]
        elif "input" in block:
            begun["input"] = {}
            written = json.dumps(block["input"])
            pieces = [
                {"type": "input_json_delta", "partial_json": part}
                for part in ("", written[:4], written[4:])
            ]
        events.append({"type": "content_block_start", **place, "content_block": begun})
        events += [
            {"type": "content_block_delta", **place, "delta": piece} for piece in pieces
        ]
        events.append({"type": "content_block_stop", **place})
    events.append({"type": "message_delta", "delta": {"stop_reason": reason}})
    reader = AnthropicReplyReader((WORDS,))
    ours = [one for event in events for one in reader.feed(sse(event))]
    return [*ours, *reader.end()]


def contents(transcript: Transcript, searches: int = 0) -> list[JsonObject]:
    """Return the messages that are sent, without cache breakpoints."""
    payload = request_to_payload(
        CompletionRequest("", transcript, (tool("on"),), searches=searches),
        "m",
        100,
        search_tool=KIND,
    )
    messages = json.loads(
        json.dumps(payload["messages"]).replace(
            ', "cache_control": {"type": "ephemeral"}', ""
        )
    )
    assert isinstance(messages, list)
    return messages


@pytest.mark.parametrize(("searches", "expected"), [(2, 2), (1, 1), (0, None)])
def test_a_search_is_asked_for_beside_the_tools_of_the_home_and_bounded(
    searches: int, expected: int | None
) -> None:
    request = CompletionRequest("", (WORDS,), (tool("on"),), searches=searches)

    tools = request_to_payload(request, "m", 100, search_tool=KIND)["tools"]

    assert isinstance(tools, list)
    own = {"type": KIND, "name": "web_search", "max_uses": expected}
    assert tools[1:] == ([own] if expected else [])
    assert len(str(request_to_payload(request, "m", 100)["tools"])) == len(
        str(tools[:1])
    )


def test_a_tool_of_the_turn_keeps_its_name() -> None:
    request = CompletionRequest("", (WORDS,), (tool("web_search"),), searches=2)

    tools = request_to_payload(request, "m", 100, search_tool=KIND)["tools"]

    assert isinstance(tools, list)
    assert len(tools) == 1


def test_a_search_ends_a_message_with_what_the_service_wants_back() -> None:
    words, found, answer, end = streamed(
        text("Let me look."), USE, FOUND, text("They did.")
    )

    assert words == TextDelta("Let me look.")
    assert isinstance(found, ServiceSearched)
    assert found.call == ToolCall("srvtoolu_1", WEB_SEARCH, '{"query":"who won"}')
    assert found.result == ToolResult(
        "srvtoolu_1",
        WEB_SEARCH,
        '{"sources":[{"title":"The [final]","url":"https://a.example/1"}]}',
        open_world=True,
    )
    assert answer == TextDelta("They did.")
    assert end == CompletionResult(FinishReason.STOP)
    assert contents(
        (
            WORDS,
            AssistantMessage("Let me look.", provider_items=found.provider_items),
            AssistantMessage("They did."),
        ),
        searches=1,
    )[1] == {
        "role": "assistant",
        "content": [text("Let me look."), USE, FOUND, text("They did.")],
    }


def test_what_was_found_is_not_sent_in_later_turns() -> None:
    found, *_ = streamed(USE, FOUND, text("They did."))
    assert isinstance(found, ServiceSearched)

    sent = contents(
        (
            WORDS,
            AssistantMessage(provider_items=found.provider_items),
            AssistantMessage("They did."),
            UserMessage("When?"),
        )
    )

    assert [message["content"] for message in sent][1] == [text("They did.")]
    assert "EqgfCioIARgBIiQ" not in str(sent)


def test_a_search_that_fails_is_told_as_such() -> None:
    found, *_ = streamed(USE, REFUSED, text("I could not look."))

    assert isinstance(found, ServiceSearched)
    assert found.result.is_error
    assert found.result.open_world


def test_a_call_of_the_home_may_interrupt_a_search() -> None:
    call, end = streamed(USE, CALL, reason="tool_use")
    assert isinstance(call, ToolCallReady)
    assert isinstance(end, CompletionResult)
    found, *_ = streamed(FOUND, text("Done."))

    sent = contents(
        (
            WORDS,
            AssistantMessage(
                tool_calls=(ToolCall("a", "on", "{}"),),
                provider_items=end.provider_items,
            ),
            ToolResult("a", "on", "ok"),
        )
    )

    assert sent[1]["content"] == [USE, CALL]
    assert isinstance(found, ServiceSearched)
    assert found.call.arguments == "{}"
    assert not found.result.is_error
