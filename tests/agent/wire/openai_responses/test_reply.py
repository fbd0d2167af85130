"""Events of the Responses API become ours, for every order and shape in which servers are known to send them."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    JsonValue,
    ProviderItem,
    ToolCall,
    Usage,
)
from custom_components.chatterbox.agent.wire.openai_responses import (
    MAX_ITEMS,
    ResponsesReplyReader,
)
from custom_components.chatterbox.agent.wire.reply_reader import ReportedFailure
from tests.agent.wire.encoding import sse


def added(item: JsonObject, index: int | None = None) -> JsonObject:
    return _placed("response.output_item.added", index, item=item)


def done(item: JsonObject, index: int | None = None) -> JsonObject:
    return _placed("response.output_item.done", index, item=item)


def words(
    delta: JsonValue, index: int | None = None, item_id: str | None = None
) -> JsonObject:
    return _placed("response.output_text.delta", index, item_id=item_id, delta=delta)


def arguments(
    delta: str, index: int | None = None, item_id: str | None = None
) -> JsonObject:
    return _placed(
        "response.function_call_arguments.delta", index, item_id=item_id, delta=delta
    )


def whole_arguments(
    text: JsonValue, index: int | None = None, item_id: str | None = None
) -> JsonObject:
    return _placed(
        "response.function_call_arguments.done", index, item_id=item_id, arguments=text
    )


def thought(
    delta: str, kind: str = "response.reasoning_summary_text.delta"
) -> JsonObject:
    return {
        "type": kind,
        "item_id": "rs_1",
        "output_index": 0,
        "summary_index": 0,
        "delta": delta,
    }


def _placed(kind: str, index: int | None, **fields: JsonValue) -> JsonObject:
    place: JsonObject = {} if index is None else {"output_index": index}
    return {
        "type": kind,
        **place,
        **{name: value for name, value in fields.items() if value is not None},
    }


def message(text: str = "", item_id: str = "msg_1", **more: JsonValue) -> JsonObject:
    content: JsonValue = (
        [{"type": "output_text", "text": text, "annotations": []}] if text else []
    )
    return {
        "type": "message",
        "id": item_id,
        "role": "assistant",
        "content": content,
        **more,
    }


def call(
    call_id: str, name: str = "on", text: JsonValue = "", item_id: str | None = None
) -> JsonObject:
    own_id: JsonObject = {"id": f"fc_{call_id}"} if item_id is None else {"id": item_id}
    return {
        "type": "function_call",
        **own_id,
        "call_id": call_id,
        "name": name,
        "arguments": text,
    }


def completed(*output: JsonObject, **more: JsonValue) -> JsonObject:
    return {
        "type": "response.completed",
        "response": {"status": "completed", "output": [*output], **more},
    }


def incomplete(reason: JsonValue) -> JsonObject:
    return {
        "type": "response.incomplete",
        "response": {
            "status": "incomplete",
            "incomplete_details": {"reason": reason},
            "output": [],
        },
    }


THOUGHT: JsonObject = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "encrypted_content": "AAA",
}


def read(*events: JsonObject) -> list[ProviderEvent]:
    reader = ResponsesReplyReader((), "m", lambda: "new")
    ours = [one for event in events for one in reader.feed(sse(event))]
    return [*ours, *reader.end()]


def result_of(*events: JsonObject) -> CompletionResult:
    result = read(*events)[-1]
    assert isinstance(result, CompletionResult)
    return result


def item_of(
    item: JsonObject, text: int = 0, calls: int = 0, skip: int = 0
) -> ProviderItem:
    block: JsonObject = {"model": "m", "item": item}
    return ProviderItem(
        "openai_responses", {"block": block, "text": text, "calls": calls, "skip": skip}
    )


def ready(*calls: ToolCall) -> list[ProviderEvent]:
    return [
        *(ToolCallReady(one) for one in calls),
        CompletionResult(FinishReason.TOOL_CALLS),
    ]


DONE = CompletionResult(FinishReason.STOP)
A, B = ToolCall("a", "on", '{"x":1}'), ToolCall("b", "off", '{"y":2}')


@pytest.mark.parametrize(
    ("events", "ours"),
    [
        pytest.param(
            [
                {"type": "response.created", "response": {"status": "in_progress"}},
                added(message(), 0),
                words("Hel", 0, "msg_1"),
                words("lo", 0, "msg_1"),
                {"type": "response.output_text.done", "text": "Hello"},
                done(message("Hello"), 0),
                completed(message("Hello")),
            ],
            [TextDelta("Hel"), TextDelta("lo"), DONE],
            id="text",
        ),
        pytest.param([completed()], [DONE], id="nothing at all"),
        pytest.param(
            [words(""), words("\ud83d"), completed()],
            [TextDelta("\ufffd"), DONE],
            id="half an emoji",
        ),
        pytest.param(
            [
                words("Hel"),
                words("lo"),
                done(message("Hello")),
                completed(message("Hello")),
            ],
            [TextDelta("Hel"), TextDelta("lo"), DONE],
            id="no item begins, and nothing is placed",
        ),
        pytest.param(
            [
                words("Hello", None, "one"),
                done(message("Hello", "other")),
                completed(message("Hello", "third")),
            ],
            [TextDelta("Hello"), DONE],
            id="an id of its own for each event",
        ),
        pytest.param(
            [
                words("Hello", 0, "one"),
                done(message("Hello", "other"), 0),
                completed(message("Hello", "third")),
            ],
            [TextDelta("Hello"), DONE],
            id="other ids at the same place",
        ),
        pytest.param(
            [words("Hello"), completed(message("Hello"))],
            [TextDelta("Hello"), DONE],
            id="no item ends",
        ),
        pytest.param(
            [completed(message(content="Hello"))],
            [TextDelta("Hello"), DONE],
            id="content as text",
        ),
        pytest.param([completed(message(content=7))], [DONE], id="content of no shape"),
        pytest.param(
            [
                added(message(), 0),
                {
                    "type": "response.refusal.delta",
                    "item_id": "msg_1",
                    "output_index": 0,
                    "delta": "I can't.",
                },
                done(message(content=[{"type": "refusal", "refusal": "I can't."}]), 0),
                completed(),
            ],
            [TextDelta("I can't."), replace(DONE, declines=True)],
            id="refusal",
        ),
        pytest.param(
            [{"type": "response.refusal.delta", "delta": "I can't."}, completed()],
            [TextDelta("I can't."), replace(DONE, declines=True)],
            id="a refusal in pieces",
        ),
        pytest.param(
            [completed(message(content=[{"type": "refusal", "refusal": "I can't."}]))],
            [TextDelta("I can't."), replace(DONE, declines=True)],
            id="a refusal at the end",
        ),
        pytest.param(
            [
                added(message(), 0),
                words("One.", 0, "msg_1"),
                done(message("One."), 0),
                added(message(item_id="msg_2"), 1),
                words("T", 1, "msg_2"),
                words("wo.", 1, "msg_2"),
                done(message("Two.", "msg_2"), 1),
                completed(),
            ],
            [TextDelta("One."), TextDelta("\n\nT"), TextDelta("wo."), DONE],
            id="two messages",
        ),
        pytest.param(
            [
                added(message(item_id="a")),
                words("O", None, "a1"),
                words("ne.", None, "a1"),
                done(message("One.", "a2")),
                added(message(item_id="b")),
                words("T", None, "b1"),
                words("wo.", None, "b1"),
                done(message("Two.", "b2")),
                completed(),
            ],
            [
                TextDelta("O"),
                TextDelta("ne."),
                TextDelta("\n\nT"),
                TextDelta("wo."),
                DONE,
            ],
            id="two messages, an id of its own for each event",
        ),
        pytest.param(
            [thought("hm"), thought(""), words("Hi"), completed()],
            [ReasoningDelta("hm"), TextDelta("Hi"), DONE],
            id="summary of the reasoning",
        ),
        pytest.param(
            [
                {"type": "response.reasoning_summary_part.added", "summary_index": 0},
                thought("One"),
                {"type": "response.reasoning_summary_part.added", "summary_index": 1},
                thought("Two"),
                completed(),
            ],
            [
                ReasoningDelta("One"),
                ReasoningDelta("\n\n"),
                ReasoningDelta("Two"),
                DONE,
            ],
            id="summary in two parts",
        ),
        pytest.param(
            [
                thought("h", "response.reasoning_text.delta"),
                thought("m", "response.reasoning.delta"),
                completed(),
            ],
            [ReasoningDelta("h"), ReasoningDelta("m"), DONE],
            id="the reasoning itself",
        ),
        pytest.param(
            [
                {"type": "response.queued"},
                {"type": "acme:heartbeat", "delta": {"odd": 1}},
                {"type": "response.content_part.added", "part": {}},
                {"type": "response.output_item.added"},
                {"type": "response.output_item.done", "item": None},
                {"type": "response.completed"},
                {"odd": 1},
                completed(),
            ],
            [DONE],
            id="events that say nothing",
        ),
        pytest.param(
            [
                added(call("a"), 0),
                arguments('{"x"', 0, "fc_a"),
                arguments(":1}", 0, "fc_a"),
                whole_arguments('{"x":1}', 0, "fc_a"),
                done(call("a", text='{"x":1}'), 0),
                completed(call("a", text='{"x":1}')),
            ],
            ready(A),
            id="call",
        ),
        pytest.param(
            [
                added(call("a"), 0),
                added(call("b", "off"), 1),
                arguments('{"y":', 1, "fc_b"),
                arguments('{"x":', 0, "fc_a"),
                arguments("2}", 1, "fc_b"),
                arguments("1}", 0, "fc_a"),
                completed(),
            ],
            ready(A, B),
            id="two calls woven into each other",
        ),
        pytest.param(
            [
                added(
                    {
                        "type": "function_call",
                        "call_id": "fc_a",
                        "name": "on",
                        "arguments": "",
                    }
                ),
                arguments('{"x":1}', None, "fc_a"),
                done(
                    {
                        "type": "function_call",
                        "call_id": "fc_a",
                        "name": "on",
                        "arguments": '{"x":1}',
                    }
                ),
                completed(
                    {
                        "type": "function_call",
                        "call_id": "fc_a",
                        "name": "on",
                        "arguments": '{"x":1}',
                    }
                ),
            ],
            ready(ToolCall("fc_a", "on", '{"x":1}')),
            id="llama.cpp: the call's id stands for the item's",
        ),
        pytest.param(
            [
                added(call("a"), 0),
                arguments('{"x":1}', 0, "other"),
                done(call("a", text='{"x":1}'), 0),
                completed(),
            ],
            ready(A),
            id="pieces placed by index alone",
        ),
        pytest.param(
            [
                added(call("a")),
                arguments('{"lost":1}', None, "unknown"),
                whole_arguments('{"lost":1}', None, "unknown"),
                arguments('{"lost":1}', 9, "unknown"),
                done(call("a", text='{"x":1}')),
                completed(),
            ],
            ready(A),
            id="pieces of a call that nobody knows",
        ),
        pytest.param(
            [arguments('{"x":1}'), done(call("a", text='{"x":1}')), completed()],
            ready(A),
            id="no call begins",
        ),
        pytest.param(
            [added(call("a"), 0), whole_arguments({"x": 1}, 0), completed()],
            ready(A),
            id="arguments as an object",
        ),
        pytest.param(
            [
                added(call("a"), 0),
                whole_arguments('{"x":1}', 0, "fc_a"),
                done(call("a"), 0),
                completed(),
            ],
            ready(A),
            id="arguments whole, and none at the end of the call",
        ),
        pytest.param(
            [completed(call("a", text={"x": 1}))], ready(A), id="a call at the end"
        ),
        pytest.param(
            [added(call("a"), 0), completed(call("a", text='{"x":1}'))],
            ready(A),
            id="a call that ends at the end",
        ),
        pytest.param(
            [added(call("a", "on"), 0), completed(call("z", "on", '{"x":1}'))],
            ready(A),
            id="the same call under another id at the end",
        ),
        pytest.param(
            [
                added(call("a"), 0),
                added(call("b"), 1),
                completed(call("y", text='{"x":1}'), call("z", text='{"x":2}')),
            ],
            ready(A, ToolCall("b", "on", '{"x":2}')),
            id="two calls under other ids at the end",
        ),
        pytest.param(
            [
                done(call("a", text='{"x":1}')),
                completed(call("z", "on", '{"x":1}'), call("b", "off", '{"y":2}')),
            ],
            ready(A),
            id="calls that are not what was streamed",
        ),
        pytest.param(
            [added(call("a", ""), 0), done(call("a", text='{"x":1}'), 0), completed()],
            ready(A),
            id="a name at the end",
        ),
        pytest.param(
            [
                added(call("a", "now"), 0),
                whole_arguments("", 0),
                done(call("a", "now"), 0),
                completed(),
            ],
            ready(ToolCall("a", "now", "{}")),
            id="no arguments",
        ),
        pytest.param(
            [
                done({"type": "function_call", "name": "now", "arguments": None}),
                completed(),
            ],
            ready(ToolCall("new", "now", "{}")),
            id="no ids",
        ),
        pytest.param(
            [
                done(call("a", "on", '{"x":1}', item_id="same")),
                done(call("a", "on", '{"x":1}', item_id="same")),
                completed(),
            ],
            ready(A),
            id="a call that ends twice",
        ),
        pytest.param(
            [
                added(call("a"), 0),
                arguments('{"x":1', 0),
                done(call("a", text='{"x":1'), 0),
                completed(),
            ],
            ready(ToolCall("a", "on", '{"x":1')),
            id="half a call, repeated",
        ),
        pytest.param(
            [done(call("a", text='{"x":1')), completed()],
            ready(ToolCall("a", "on", '{"x":1')),
            id="half a call",
        ),
    ],
)
def test_events_become_ours(
    events: Sequence[JsonObject], ours: list[ProviderEvent]
) -> None:
    assert read(*events) == ours


@pytest.mark.parametrize(
    ("events", "items"),
    [
        pytest.param(
            [
                added(THOUGHT, 0),
                words("Hi", 1),
                done(THOUGHT, 0),
                done(message("Hi"), 1),
                completed(),
            ],
            (item_of(THOUGHT),),
            id="where it began, though it ended later",
        ),
        pytest.param(
            [
                words("Hi", 0),
                done(message("Hi"), 0),
                done(THOUGHT, 1),
                done(call("a"), 2),
                completed(),
            ],
            (item_of(THOUGHT, 2),),
            id="after words",
        ),
        pytest.param(
            [done(call("a"), 0), done(THOUGHT, 1), done(call("b"), 2), completed()],
            (item_of(THOUGHT, 0, 1),),
            id="after a call",
        ),
        pytest.param(
            [added(THOUGHT, 0), completed(message("Hi"))], (), id="never ended"
        ),
        pytest.param(
            [done({"type": "reasoning", "id": "rs_1", "summary": []}), completed()],
            (),
            id="not encrypted",
        ),
        pytest.param(
            [done({"type": "compaction", "encrypted_content": "CCC"}), completed()],
            (item_of({"type": "compaction", "encrypted_content": "CCC"}),),
            id="of another kind",
        ),
        pytest.param(
            [
                added(message(), 0),
                words("One.", 0, "msg_1"),
                done(message("One.", phase="commentary"), 0),
                words("Two.", 1, "msg_2"),
                done(message("Two.", "msg_2", phase="final_answer"), 1),
                words("Three.", 2, "msg_3"),
                done(message("Three.", "msg_3"), 2),
                words("Four.", 3, "msg_4"),
                done(message("Four.", "msg_4"), 3),
                completed(),
            ],
            (
                item_of({"type": "message", "phase": "commentary"}),
                item_of({"type": "message", "phase": "final_answer"}, 4, skip=2),
                item_of({"type": "message", "phase": ""}, 10, skip=2),
            ),
            id="phases of messages",
        ),
        pytest.param(
            [
                added(message(item_id="a"), 0),
                words("One.", 0, "a1"),
                done(message("One.", "a2", phase="commentary"), 0),
                completed(),
            ],
            (item_of({"type": "message", "phase": "commentary"}),),
            id="phase of a message that ends under another id",
        ),
    ],
)
def test_what_the_service_wants_back_is_kept_with_its_place(
    events: Sequence[JsonObject], items: tuple[ProviderItem, ...]
) -> None:
    assert result_of(*events).provider_items == items


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("max_output_tokens", FinishReason.LENGTH),
        ("max_tokens", FinishReason.LENGTH),
        ("length", FinishReason.LENGTH),
        ("content_filter", FinishReason.CONTENT_FILTER),
        ("steered", FinishReason.UNKNOWN),
        (None, FinishReason.UNKNOWN),
        (7, FinishReason.UNKNOWN),
    ],
)
def test_what_is_incomplete_says_why_also_beside_calls(
    reason: JsonValue, finish: FinishReason
) -> None:
    assert result_of(words("Hi"), incomplete(reason)).finish_reason is finish
    assert (
        result_of(done(call("a", text='{"x":1}')), incomplete(reason)).finish_reason
        is finish
    )


@pytest.mark.parametrize(
    ("sent", "usage"),
    [
        (
            {
                "input_tokens": 21,
                "input_tokens_details": {"cached_tokens": 20},
                "output_tokens": 8,
                "output_tokens_details": {"reasoning_tokens": 3},
                "total_tokens": 29,
            },
            Usage(21, 8, 20, 3),
        ),
        (
            {"input_tokens": 21, "output_tokens": -1, "input_tokens_details": None},
            Usage(21, 2**63),
        ),
        ({"input_tokens": "many", "output_tokens_details": []}, Usage(2**63)),
        (None, Usage()),
        ("none", Usage()),
    ],
)
def test_odd_usage_costs_no_answer(sent: JsonValue, usage: Usage) -> None:
    assert result_of(words("Hi"), completed(usage=sent)).usage == usage


def read_whole(response: JsonObject) -> list[ProviderEvent]:
    reader = ResponsesReplyReader((), "m")
    return [*reader.read_whole(json.dumps(response)), *reader.end()]


def test_nothing_follows_a_completed_response() -> None:
    reader = ResponsesReplyReader((), "m", lambda: "new")
    list(reader.feed(sse(completed())))
    assert reader.done


def test_a_whole_response() -> None:
    output: JsonValue = [THOUGHT, message("Hi"), call("a", text='{"x":1}')]
    usage: JsonValue = {"input_tokens": 5, "output_tokens": 1}

    assert read_whole({"status": "completed", "output": output, "usage": usage}) == [
        TextDelta("Hi"),
        ToolCallReady(A),
        CompletionResult(FinishReason.TOOL_CALLS, Usage(5, 1), (item_of(THOUGHT),)),
    ]


def test_a_whole_response_that_is_incomplete() -> None:
    response: JsonObject = {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
    }

    assert read_whole(response) == [CompletionResult(FinishReason.LENGTH)]


@pytest.mark.parametrize("status", ["in_progress", "queued", "ok", None])
def test_a_response_that_is_not_over_is_none(status: JsonValue) -> None:
    with pytest.raises(ProviderReplyInvalid, match="before the service said"):
        read_whole({"status": status, "output": [message("Hi")]})


@pytest.mark.parametrize(
    ("sent", "reported"),
    [
        (
            {"type": "error", "code": "server_error", "message": "boom"},
            {"code": "server_error", "message": "boom"},
        ),
        ({"type": "error", "error": {"message": "boom"}}, {"message": "boom"}),
        ({"error": "boom"}, "boom"),
        (
            {
                "type": "response.failed",
                "response": {
                    "status": "failed",
                    "error": {"code": "x", "message": "boom"},
                },
            },
            {"code": "x", "message": "boom"},
        ),
        (
            {"type": "response.failed", "response": {"status": "failed"}},
            "the response ended as failed",
        ),
        (
            {"type": "response.cancelled", "response": {"status": "cancelled"}},
            "the response ended as cancelled",
        ),
    ],
)
def test_an_error_inside_a_reply_is_recognised(
    sent: JsonObject, reported: JsonValue
) -> None:
    with pytest.raises(ReportedFailure) as caught:
        read(sent)
    assert caught.value.report == reported


def test_an_error_in_place_of_a_whole_response_is_recognised() -> None:
    with pytest.raises(ReportedFailure) as caught:
        read_whole({"status": "failed", "error": {"code": "x", "message": "boom"}})
    assert caught.value.report == {"code": "x", "message": "boom"}


def test_a_response_in_progress_reports_no_error() -> None:
    event: JsonObject = {
        "type": "response.in_progress",
        "response": {"status": "in_progress", "error": None},
    }

    assert read(event, completed()) == [CompletionResult(FinishReason.STOP)]


@pytest.mark.parametrize(
    "event",
    [
        words(7),
        words({"secret": "words"}),
        thought("x") | {"delta": None},
        arguments("x") | {"delta": ["secret"]},
    ],
)
def test_a_piece_that_is_no_text_is_refused_without_being_quoted(
    event: JsonObject,
) -> None:
    with pytest.raises(ProviderReplyInvalid, match="at delta") as caught:
        read(added(call("a")), event)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("<html>", "not JSON"),
        ("[]", "its top level"),
        ('{"item": "secret words"}', "item"),
        ('{"item": {"id": "secret words"}}', "item.type"),
        ('{"response": {"output": "secret words"}}', "response.output"),
    ],
)
def test_an_event_of_the_wrong_shape_is_refused_without_being_quoted(
    text: str, where: str
) -> None:
    with pytest.raises(ProviderReplyInvalid, match=where) as caught:
        list(ResponsesReplyReader((), "m").feed(f"data: {text}\n\n".encode()))
    assert "secret" not in str(caught.value)


def test_items_without_end_are_refused() -> None:
    items = [done({"type": "reasoning"}) for _ in range(MAX_ITEMS + 1)]

    with pytest.raises(ProviderReplyInvalid, match=f"more than {MAX_ITEMS} items"):
        read(*items)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (["It is on.", "Done."], "It is on. Done."),
        (["It is on. ", "Done."], "It is on. Done."),
        (["It is 21.", "5 °C."], "It is 21.5 °C."),
        (["Kit", "chen"], "Kitchen"),
        (["It is on.", "I hope."], "It is on. I hope."),
    ],
)
def test_sentences_of_several_parts_stay_apart(parts: list[str], sentence: str) -> None:
    content: list[JsonValue] = [{"type": "output_text", "text": part} for part in parts]
    whole = message(content=content)
    streamed = [
        {**words(part, 0, "msg_1"), "content_index": index}
        for index, part in enumerate(parts)
    ]
    in_one = [{**words(part, 0, "msg_1"), "content_index": 0} for part in parts]

    for events, heard in (
        (streamed, sentence),
        ([done(whole)], sentence),
        (in_one, "".join(parts)),
    ):
        texts = [
            event.text
            for event in read(added(message(), 0), *events, completed())
            if isinstance(event, TextDelta)
        ]
        assert "".join(texts) == heard
