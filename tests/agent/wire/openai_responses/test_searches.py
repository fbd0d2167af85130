"""Searches of the web by OpenAI's service: what asks for them, what is read of them, and what is sent back."""

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
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.wire.openai_responses import (
    ResponsesReplyReader,
    request_to_payload,
)
from tests.agent.wire.encoding import sse
from tests.support.doubles import tool

WORDS = UserMessage("Who won?")
THOUGHT: JsonObject = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "encrypted_content": "AAA",
}


def search(number: int, status: str = "completed", **action: JsonValue) -> JsonObject:
    return {
        "type": "web_search_call",
        "id": f"ws_{number}",
        "status": status,
        "action": {"type": "search", **action},
    }


FOUND = search(
    1,
    query="who won",
    queries=["who won"],
    sources=[
        {"type": "url", "url": "https://a.example/1"},
        {"type": "api", "name": "oai-sports"},
        {"type": "url", "url": "https://a.example/1"},
    ],
)
OPENED = search(2, type="open_page", url="https://a.example/1")
FAILED = search(3, "failed", query="again")
MESSAGE: JsonObject = {
    "type": "message",
    "id": "msg_1",
    "content": [{"type": "output_text", "text": "They did.", "annotations": []}],
}
CALL: JsonObject = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "a",
    "name": "on",
    "arguments": '{"x":1}',
}


def streamed(*items: JsonObject) -> list[ProviderEvent]:
    reader = ResponsesReplyReader((WORDS,), "m")
    events: list[JsonObject] = []
    for index, item in enumerate(items):
        begun = {**item, "status": "in_progress", "content": [], "action": None}
        place: JsonObject = {"output_index": index}
        events += [
            {"type": "response.output_item.added", **place, "item": begun},
            {"type": "response.output_item.done", **place, "item": item},
        ]
    end: JsonObject = {"status": "completed", "output": [*items]}
    events.append({"type": "response.completed", "response": end})
    ours = [one for event in events for one in reader.feed(sse(event))]
    return [*ours, *reader.end()]


def test_a_search_is_asked_for_beside_the_tools_of_the_home_and_bounded() -> None:
    request = CompletionRequest("", (WORDS,), (tool("on"),), searches=2)

    sent = request_to_payload(request, "m", search_tool="web_search")

    tools = sent["tools"]
    assert isinstance(tools, list)
    assert [*tools[1:]] == [{"type": "web_search"}]
    assert sent["max_tool_calls"] == 2
    assert sent["include"] == [
        "reasoning.encrypted_content",
        "web_search_call.action.sources",
    ]
    alone = request_to_payload(
        CompletionRequest("", (WORDS,), searches=1), "m", search_tool="web_search"
    )
    assert alone["tools"] == [{"type": "web_search"}]


def test_nothing_asks_for_a_search_that_is_not_allowed_or_not_known() -> None:
    allowed = CompletionRequest("", (WORDS,), (tool("on"),), searches=2)
    forbidden = CompletionRequest("", (WORDS,), (tool("on"),))

    for request, kind in ((allowed, ""), (forbidden, "web_search")):
        sent = request_to_payload(request, "m", search_tool=kind)
        assert "web_search" not in str(sent)
        assert "max_tool_calls" not in sent


def test_each_search_ends_a_message_with_the_items_that_led_to_it() -> None:
    first, second, third, text, end = streamed(THOUGHT, FOUND, OPENED, FAILED, MESSAGE)

    assert isinstance(first, ServiceSearched)
    assert first.call == ToolCall("ws_1", WEB_SEARCH, '{"query":"who won"}')
    assert first.result == ToolResult(
        "ws_1",
        WEB_SEARCH,
        '{"sources":[{"title":"","url":"https://a.example/1"}]}',
        open_world=True,
    )
    assert [item.data["block"] for item in first.provider_items] == [
        {"model": "m", "item": THOUGHT},
        {
            "model": "m",
            "item": search(1, query="who won", queries=["who won"]),
        },
    ]
    assert isinstance(second, ServiceSearched)
    assert second.call.arguments == '{"url":"https://a.example/1"}'
    assert isinstance(third, ServiceSearched)
    assert third.result.is_error
    assert third.result.open_world
    assert text == TextDelta("They did.")
    assert end == CompletionResult(FinishReason.STOP)


def test_a_search_after_a_call_belongs_to_the_message_of_the_call() -> None:
    call, found, end = streamed(CALL, FOUND)

    assert isinstance(call, ToolCallReady)
    assert isinstance(found, ServiceSearched)
    assert found.provider_items == ()
    assert isinstance(end, CompletionResult)
    assert [item.data["calls"] for item in end.provider_items] == [1]


def test_searches_go_back_before_the_answer() -> None:
    found, *_, end = streamed(THOUGHT, FOUND, MESSAGE)
    assert isinstance(found, ServiceSearched)
    assert isinstance(end, CompletionResult)
    transcript = (
        WORDS,
        AssistantMessage(provider_items=found.provider_items),
        AssistantMessage("They did.", provider_items=end.provider_items),
        UserMessage("When?"),
    )

    items = request_to_payload(CompletionRequest("", transcript), "m")["input"]

    assert isinstance(items, list)
    assert [item["type"] for item in items if isinstance(item, dict)] == [
        "message",
        "reasoning",
        "web_search_call",
        "message",
        "message",
    ]
    assert "a.example" not in str(items)
