"""The events of a Messages stream become ours, for every shape that servers are known to send."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    JsonObject,
    JsonValue,
    ProviderItem,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.wire.anthropic_messages import (
    FORMAT,
    MAX_BLOCK_CHARACTERS,
    MAX_BLOCKS,
    AnthropicReplyReader,
    request_to_payload,
)
from tests.agent.json_values import json_values
from tests.agent.wire.encoding import sse

START: JsonObject = {
    "type": "message_start",
    "message": {"role": "assistant", "content": [], "usage": {}},
}
STOP: JsonObject = {"type": "message_stop"}


def begin(index: int, kind: str, **fields: JsonValue) -> JsonObject:
    return {
        "type": "content_block_start",
        "index": index,
        "content_block": {"type": kind, **fields},
    }


def add(index: int, kind: str, **fields: JsonValue) -> JsonObject:
    return {
        "type": "content_block_delta",
        "index": index,
        "delta": {"type": f"{kind}_delta", **fields},
    }


def end(index: int) -> JsonObject:
    return {"type": "content_block_stop", "index": index}


def finish(reason: JsonValue = "end_turn", **usage: JsonValue) -> JsonObject:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {**usage},
    }


def text(index: int, *pieces: str) -> list[JsonObject]:
    return [
        begin(index, "text", text=""),
        *(add(index, "text", text=piece) for piece in pieces),
        end(index),
    ]


def thinking(index: int, *pieces: str, signature: str = "sig") -> list[JsonObject]:
    return [
        begin(index, "thinking", thinking="", signature=""),
        *(add(index, "thinking", thinking=piece) for piece in pieces),
        add(index, "signature", signature=signature),
        end(index),
    ]


def call(index: int, call_id: str, name: str, *pieces: str) -> list[JsonObject]:
    return [
        begin(index, "tool_use", id=call_id, name=name, input={}),
        *(add(index, "input_json", partial_json=piece) for piece in pieces),
        end(index),
    ]


def read(
    events: Iterable[JsonObject], transcript: Transcript = ()
) -> list[ProviderEvent]:
    reader = AnthropicReplyReader(transcript, lambda: "new")
    return [
        *(ours for event in events for ours in reader.feed(sse(event))),
        *reader.end(),
    ]


def result_of(events: Iterable[JsonObject]) -> CompletionResult:
    result = read(events)[-1]
    assert isinstance(result, CompletionResult)
    return result


def ready(call_id: str, name: str, arguments: str) -> ToolCallReady:
    return ToolCallReady(ToolCall(call_id, name, arguments))


def item(
    block: JsonObject, text: int = 0, calls: int = 0, skip: int = 0
) -> ProviderItem:
    return ProviderItem(
        FORMAT, {"block": block, "text": text, "calls": calls, "skip": skip}
    )


DONE = CompletionResult(FinishReason.STOP)
CALLED = CompletionResult(FinishReason.TOOL_CALLS)


@pytest.mark.parametrize(
    ("events", "ours"),
    [
        pytest.param(
            [START, *text(0, "Hel", "lo"), finish(), STOP],
            [TextDelta("Hel"), TextDelta("lo"), DONE],
            id="text",
        ),
        pytest.param([finish(), STOP], [DONE], id="nothing at all"),
        pytest.param([STOP], [DONE], id="an end without a reason"),
        pytest.param(
            [*text(0, "Hi"), STOP],
            [TextDelta("Hi"), DONE],
            id="text and an end without a reason",
        ),
        pytest.param(
            [begin(0, "text", text="Hi"), finish()],
            [TextDelta("Hi"), DONE],
            id="text that came at once",
        ),
        pytest.param(
            [add(0, "text", text="Hi"), finish()],
            [TextDelta("Hi"), DONE],
            id="text that never began",
        ),
        pytest.param(
            [
                {"type": "ping"},
                *text(0, "Hi"),
                {"type": "ping"},
                {"type": "new_event", "delta": {}},
                {},
                finish(),
            ],
            [TextDelta("Hi"), DONE],
            id="pings and events of later versions",
        ),
        pytest.param(
            [*text(0, "It is ", "on"), *text(1, ", I think."), finish()],
            [TextDelta("It is "), TextDelta("on"), TextDelta(", I think."), DONE],
            id="text in two blocks",
        ),
        pytest.param(
            [
                begin(0, "text"),
                add(0, "citations", citation={"url": "x"}),
                add(0, "text", text="Hi"),
                finish(),
            ],
            [TextDelta("Hi"), DONE],
            id="citations",
        ),
        pytest.param(
            [*call(0, "a", "on", "", '{"x"', ": 1}"), finish("tool_use"), STOP],
            [ready("a", "on", '{"x": 1}'), CALLED],
            id="call",
        ),
        pytest.param(
            [
                *text(0, "I do."),
                *call(1, "a", "on", '{"x":1}'),
                *call(2, "b", "now"),
                finish("tool_use"),
            ],
            [
                TextDelta("I do."),
                ready("a", "on", '{"x":1}'),
                ready("b", "now", "{}"),
                CALLED,
            ],
            id="text and two calls",
        ),
        pytest.param(
            [
                begin(1, "tool_use", id="b", name="off", input={}),
                begin(0, "tool_use", id="a", name="on", input={}),
                add(0, "input_json", partial_json='{"a":1}'),
                end(0),
                add(1, "input_json", partial_json='{"b":1}'),
                end(1),
                finish("tool_use"),
            ],
            [ready("b", "off", '{"b":1}'), ready("a", "on", '{"a":1}'), CALLED],
            id="calls woven into one another",
        ),
        pytest.param(
            [
                begin(0, "tool_use", id="a", name="on", input={"x": 1}),
                end(0),
                finish("tool_use"),
            ],
            [ready("a", "on", '{"x":1}'), CALLED],
            id="arguments that came whole",
        ),
        pytest.param(
            [
                begin(0, "tool_use", id="a", name="on"),
                add(0, "input_json", partial_json="{}"),
                finish("tool_use"),
            ],
            [ready("a", "on", "{}"), CALLED],
            id="call that never ended",
        ),
        pytest.param(
            [*call(0, "a", "on", '{"x": [1, "tw'), finish("max_tokens")],
            [ready("a", "on", '{"x": [1, "tw'), CompletionResult(FinishReason.LENGTH)],
            id="call that was cut",
        ),
        pytest.param(
            [*call(0, "a", "on", " \n"), finish("tool_use")],
            [ready("a", "on", "{}"), CALLED],
            id="blank arguments",
        ),
        pytest.param(
            [*call(0, "", "größe 💡", "{}"), finish()],
            [ready("new", "gr__e__", "{}"), CALLED],
            id="no id, and a name that nobody accepts",
        ),
        pytest.param(
            [*call(0, "a", "on<|channel|>commentary", "{}"), finish()],
            [ready("a", "on", "{}"), CALLED],
            id="a token",
        ),
        pytest.param(
            [*thinking(0, "hm", ", so"), *text(1, "Hi"), finish()],
            [
                ReasoningDelta("hm"),
                ReasoningDelta(", so"),
                TextDelta("Hi"),
                CompletionResult(
                    FinishReason.STOP,
                    Usage(),
                    (
                        item(
                            {
                                "type": "thinking",
                                "thinking": "hm, so",
                                "signature": "sig",
                            }
                        ),
                    ),
                ),
            ],
            id="thinking",
        ),
        pytest.param(
            [
                *thinking(0),
                begin(1, "redacted_thinking", data="Ems="),
                end(1),
                *text(2, "Hi"),
                finish(),
            ],
            [
                TextDelta("Hi"),
                CompletionResult(
                    FinishReason.STOP,
                    Usage(),
                    (
                        item({"type": "thinking", "thinking": "", "signature": "sig"}),
                        item({"type": "redacted_thinking", "data": "Ems="}),
                    ),
                ),
            ],
            id="thinking that is not shown",
        ),
        pytest.param(
            [
                begin(0, "thinking", thinking="hm"),
                end(0),
                add(7, "thinking", thinking="lost"),
                finish(),
            ],
            [
                ReasoningDelta("hm"),
                ReasoningDelta("lost"),
                CompletionResult(
                    FinishReason.STOP,
                    Usage(),
                    (item({"type": "thinking", "thinking": "hm"}),),
                ),
            ],
            id="thinking that nobody signed, and some of no block",
        ),
    ],
)
def test_events(events: list[JsonObject], ours: Sequence[ProviderEvent]) -> None:
    assert read(events)[: len(ours)] == ours


def test_blocks_without_an_index_follow_one_another() -> None:
    events = [*call(0, "a", "on", '{"x":1}'), *call(1, "b", "off", '{"y":1}'), finish()]
    without = [
        {name: value for name, value in event.items() if name != "index"}
        for event in events
    ]

    assert read(without) == [
        ready("a", "on", '{"x":1}'),
        ready("b", "off", '{"y":1}'),
        CALLED,
    ]


def test_blocks_that_all_have_the_same_index_are_kept_apart() -> None:
    events = [*call(0, "a", "on", '{"x":1}'), *call(0, "b", "off", '{"y":1}'), finish()]

    assert read(events) == [
        ready("a", "on", '{"x":1}'),
        ready("b", "off", '{"y":1}'),
        CALLED,
    ]


@pytest.mark.parametrize(
    "event",
    [end(0), {"type": "content_block_stop"}, add(0, "signature", signature="x")],
)
def test_an_end_of_nothing_is_nothing(event: JsonObject) -> None:
    assert read([event, finish()]) == [DONE]


@pytest.mark.parametrize(
    ("reason", "ours"),
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("tool_use", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("pause_turn", FinishReason.STOP),
        ("refusal", FinishReason.CONTENT_FILTER),
        ("something_new", FinishReason.UNKNOWN),
    ],
)
def test_why_it_ended(reason: str, ours: FinishReason) -> None:
    assert result_of([*text(0, "Hi"), finish(reason)]).finish_reason is ours


def test_all_tokens_are_counted_and_totals_only_grow() -> None:
    start: JsonObject = {
        "type": "message_start",
        "message": {
            "usage": {
                "input_tokens": 5,
                "cache_creation_input_tokens": 100,
                "cache_read_input_tokens": 2000,
                "output_tokens": 1,
            }
        },
    }
    end_of_message = finish(
        output_tokens=40,
        output_tokens_details={"thinking_tokens": 30},
        input_tokens=None,
    )

    assert result_of([start, *text(0, "Hi"), end_of_message]).usage == Usage(
        2105, 40, 2000, 30
    )
    assert result_of(
        [start, finish(input_tokens=7, cache_read_input_tokens=0)]
    ).usage == Usage(2105, 1, 2000, 0)


def test_a_whole_message() -> None:
    message: JsonObject = {
        "type": "message",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "I do."},
            {"type": "tool_use", "id": "a", "name": "on", "input": {"x": 1}},
            {"type": "tool_use", "id": "b", "name": "now", "input": {}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 5, "output_tokens": 9},
    }

    assert read([message]) == [
        ReasoningDelta("hm"),
        TextDelta("I do."),
        ready("a", "on", '{"x":1}'),
        ready("b", "now", "{}"),
        CompletionResult(
            FinishReason.TOOL_CALLS,
            Usage(5, 9),
            (item({"type": "thinking", "thinking": "hm", "signature": "sig"}),),
        ),
    ]


@pytest.mark.parametrize(
    "event",
    [
        "nonsense",
        "[]",
        '{"type":"content_block_start","content_block":{}}',
        '{"type":"content_block_delta","delta":{"text":7}}',
        '{"type":"content_block_delta","delta":{"partial_json":{}}}',
        '{"type":"message","content":"Hi"}',
    ],
)
def test_what_has_another_shape_is_a_failure(event: str) -> None:
    with pytest.raises(ProviderReplyInvalid):
        list(AnthropicReplyReader(()).read_whole(event))


def test_a_piece_of_a_call_that_never_began_is_a_failure() -> None:
    with pytest.raises(ProviderReplyInvalid, match="not begun"):
        read([add(0, "input_json", partial_json="{}"), finish()])


def test_a_block_beyond_all_bounds_is_a_failure() -> None:
    piece = add(0, "thinking", thinking="x" * (MAX_BLOCK_CHARACTERS // 2 + 1))

    with pytest.raises(ProviderReplyInvalid, match="more than"):
        read([begin(0, "thinking", thinking=""), piece, piece])


def test_blocks_beyond_all_bounds_are_a_failure() -> None:
    with pytest.raises(ProviderReplyInvalid, match="more than"):
        read(begin(0, "text", text="") for _ in range(MAX_BLOCKS + 1))


def test_texts_with_something_in_between_are_kept_apart() -> None:
    sentence = [
        *text(0, "One moment."),
        *thinking(1, "hm"),
        *text(2, "It is", " on."),
        *text(3, "\nBye."),
        finish(),
    ]

    events = read(sentence)
    assert events[:-1] == [
        TextDelta("One moment."),
        ReasoningDelta("hm"),
        TextDelta("\n\nIt is"),
        TextDelta(" on."),
        TextDelta("\nBye."),
    ]


@pytest.mark.parametrize(
    ("first", "second"), [("One moment. ", "It is on."), ("One moment.", "\nIt is on.")]
)
def test_texts_that_are_apart_already_stay_as_they_are(first: str, second: str) -> None:
    events = read([*text(0, first), *thinking(1, "hm"), *text(2, second), finish()])

    assert events[:-1] == [TextDelta(first), ReasoningDelta("hm"), TextDelta(second)]


def test_a_call_in_between_keeps_texts_apart_too() -> None:
    sentence = [
        *thinking(0, "hm"),
        *text(1, "Now."),
        *call(2, "a", "on", "{}"),
        *text(3, "Done."),
        finish(),
    ]

    assert TextDelta("\n\nDone.") in read(sentence)
    assert result_of(sentence).provider_items == (
        item({"type": "thinking", "thinking": "hm", "signature": "sig"}),
    )


THINKING_BLOCKS = st.builds(
    lambda thought, signature: {
        "type": "thinking",
        "thinking": thought,
        "signature": signature,
    },
    st.text(max_size=5),
    st.text(min_size=1, max_size=5),
) | st.builds(
    lambda data: {"type": "redacted_thinking", "data": data}, st.text(max_size=5)
)
TEXT_BLOCKS = st.builds(
    lambda words: {"type": "text", "text": words},
    st.text(max_size=5).filter(lambda words: bool(words.strip())),
)


@st.composite
def assistant_contents(draw: st.DrawFn) -> list[JsonObject]:
    """Blocks as models write them: thinking anywhere, texts never side by side, calls at the end."""
    content: list[JsonObject] = []
    for _ in range(draw(st.integers(0, 3))):
        content += draw(
            st.lists(THINKING_BLOCKS, min_size=min(1, len(content)), max_size=2)
        )
        content.append(draw(TEXT_BLOCKS))
    for number in range(draw(st.integers(1, 3))):
        content += draw(st.lists(THINKING_BLOCKS, max_size=2))
        content.append(
            {
                "type": "tool_use",
                "id": f"toolu_{number}",
                "name": "on",
                "input": {"x": number},
            }
        )
    return content


@given(assistant_contents())
def test_a_message_goes_back_as_it_came(content: list[JsonObject]) -> None:
    *events, result = read(
        [{"type": "message", "content": [*content], "stop_reason": "tool_use"}]
    )
    sentence = "".join(
        event.text for event in events if isinstance(event, TextDelta)
    ).lstrip()
    calls = tuple(event.call for event in events if isinstance(event, ToolCallReady))
    assert isinstance(result, CompletionResult)
    message = AssistantMessage(sentence, "", calls, result.provider_items)
    results = [ToolResult(each.id, each.name, "done") for each in calls]

    request = CompletionRequest("", (UserMessage("Hi"), message, *results))
    sent = request_to_payload(request, "m", 100)["messages"]

    assert isinstance(sent, list)
    assert isinstance(sent[1], dict)
    assert as_words(sent[1]["content"]) == as_words([*content])


def as_words(content: JsonValue) -> list[JsonValue]:
    """Forgive what cannot be heard: space before the very first word."""
    assert isinstance(content, list)
    texts = [
        place
        for place, block in enumerate(content)
        if isinstance(block, dict) and block["type"] == "text"
    ]
    return [
        {"type": "text", "text": str(block["text"]).lstrip()}
        if place in texts[:1] and isinstance(block, dict)
        else block
        for place, block in enumerate(content)
    ]


@given(
    st.lists(
        st.builds(
            dict,
            type=json_values(),
            index=json_values(),
            delta=json_values(),
            usage=json_values(),
        )
    )
)
def test_whatever_is_sent_is_an_answer_or_one_of_our_errors(
    events: list[JsonObject],
) -> None:
    with suppress(ProviderReplyInvalid):
        assert isinstance(result_of(events), CompletionResult)
