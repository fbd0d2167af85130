"""Searches of the web by OpenRouter, of which only the end of a reply tells."""

from itertools import count

from custom_components.chatterbox.agent.events import (
    CompletionResult,
    PromptProgress,
    ProviderEvent,
    ReasoningDelta,
    ServiceSearched,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import (
    WEB_SEARCH,
    JsonObject,
    JsonValue,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.wire.openai_chat import (
    ChatReplyReader,
    request_to_payload,
)
from tests.agent.wire.encoding import sse
from tests.support.doubles import tool

WORDS = UserMessage("Who won?")
CALL: JsonObject = {
    "index": 0,
    "id": "a",
    "type": "function",
    "function": {"name": "on", "arguments": "{}"},
}
ANNOTATIONS: list[JsonValue] = [
    {
        "type": "url_citation",
        "url_citation": {"url": "https://a.example/1", "title": "The final"},
    },
    {"type": "file"},
]


def reply(*deltas: JsonValue, searches: int | None = None) -> list[JsonObject]:
    """Return the chunks of a reply; the last one counts its searches, if it is told how many."""
    chunks: list[JsonObject] = [
        {"choices": [{"index": 0, "delta": delta}]} for delta in deltas
    ]
    tools: JsonObject = (
        {}
        if searches is None
        else {"server_tool_use": {"web_search_requests": searches}}
    )
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    chunks.append({"choices": [], "usage": {"prompt_tokens": 9, **tools}})
    return chunks


def read(chunks: list[JsonObject], *, searches: bool = True) -> list[ProviderEvent]:
    """Return the events of a reply, with `[DONE]` at its end and without signs of life."""
    reader = ChatReplyReader(
        (), map("new_{}".format, count()).__next__, searches=searches
    )
    events = [event for chunk in chunks for event in reader.feed(sse(chunk))]
    events += [*reader.feed(b"data: [DONE]\n\n"), *reader.end()]
    return [event for event in events if not isinstance(event, PromptProgress)]


def test_a_search_is_asked_for_beside_the_tools_of_the_home_and_bounded() -> None:
    request = CompletionRequest("", (WORDS,), (tool("on"),), searches=2)

    sent = request_to_payload(request, "m", search_tool="openrouter:web_search")

    tools = sent["tools"]
    assert isinstance(tools, list)
    assert tools[1:] == [{"type": "openrouter:web_search"}]
    assert sent["max_tool_calls"] == 2
    assert "max_tool_calls" not in request_to_payload(request, "m")


def test_words_and_calls_wait_until_the_reply_tells_whether_it_rests_on_a_search() -> (
    None
):
    chunks = reply(
        {"reasoning": "Hm."},
        {"content": "They "},
        {"content": "did.", "annotations": ANNOTATIONS},
        {"tool_calls": [CALL]},
        searches=1,
    )

    thought, found, *words, call, end = read(chunks)

    assert thought == ReasoningDelta("Hm.")
    assert isinstance(found, ServiceSearched)
    assert found.result == ToolResult(
        "new_0",
        WEB_SEARCH,
        '{"sources":[{"title":"The final","url":"https://a.example/1"}]}',
        open_world=True,
    )
    assert found.provider_items == ()
    assert words == [TextDelta("They "), TextDelta("did.")]
    assert isinstance(call, ToolCallReady)
    assert isinstance(end, CompletionResult)
    assert read(chunks, searches=False)[1:] == [*words, call, end]


def test_a_reply_shows_that_it_is_under_way_while_its_words_wait() -> None:
    reader = ChatReplyReader((), searches=True)
    first, second, *_ = reply({"content": "They "}, {"content": "did."})

    assert [*reader.feed(sse(first))] == [PromptProgress(1, 1)]
    assert [*reader.feed(sse(second))] == [PromptProgress(2, 2)]


def test_searches_are_those_that_are_counted_or_at_least_one_behind_a_page() -> None:
    words: JsonObject = {"content": "They did."}
    cited: JsonObject = {**words, "annotations": ANNOTATIONS}

    counts = [
        sum(isinstance(event, ServiceSearched) for event in read(chunks))
        for chunks in (
            reply(words),
            reply(words, searches=0),
            reply(cited),
            reply(words, searches=2),
            reply(words, searches=1_000),
        )
    ]

    assert counts == [0, 0, 1, 2, 2]


def test_a_whole_reply_is_read_alike() -> None:
    reader = ChatReplyReader((), searches=True)
    message: JsonObject = {"content": "They did.", "annotations": ANNOTATIONS}
    whole: JsonObject = {"choices": [{"message": message, "finish_reason": "stop"}]}

    events = [*reader.read_whole(str(whole).replace("'", '"')), *reader.end()]

    assert [type(event) for event in events] == [
        PromptProgress,
        ServiceSearched,
        TextDelta,
        CompletionResult,
    ]
