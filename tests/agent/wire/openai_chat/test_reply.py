"""Chunks become events, and signed reasoning goes back, for every shape that servers are known to send."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.errors import (
    PromptTooLong,
    ProviderReplyInvalid,
)
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
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.wire.chat_dialect import ChatDialect
from custom_components.chatterbox.agent.wire.openai_chat import (
    ChatReplyReader,
    request_to_payload,
)
from custom_components.chatterbox.agent.wire.reply_reader import ReportedFailure
from tests.agent.wire.encoding import sse

STOP: JsonObject = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
CALL: JsonObject = {
    "index": 0,
    "id": "a",
    "type": "function",
    "function": {"name": "on", "arguments": '{"x":1}'},
}
OTHER: JsonObject = {
    "index": 1,
    "message": {"content": None, "tool_calls": [CALL]},
    "finish_reason": "tool_calls",
}

NAMELESS: JsonObject = {"name": "", "arguments": ""}

SECOND: JsonObject = {
    "index": 0,
    "id": "b",
    "type": "function",
    "function": {"name": "off", "arguments": "{}"},
}
CUT: JsonObject = {
    "index": 0,
    "id": "b",
    "type": "function",
    "function": {"name": "off", "arguments": '{"x":'},
}


def chunk(delta: JsonValue, finish: JsonValue = None, **more: JsonValue) -> JsonObject:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def beside(delta: JsonValue, finish: JsonValue = None) -> JsonObject:
    """Return a chunk of another choice than the first."""
    return {"choices": [{"index": 1, "delta": delta, "finish_reason": finish}]}


def read(*chunks: JsonObject) -> list[ProviderEvent]:
    reader = ChatReplyReader((), lambda: "new")
    events = [event for each in chunks for event in reader.feed(sse(each))]
    return [*events, *reader.end()]


def test_calls_beside_the_first_answer_are_cut_if_only_that_ends() -> None:
    call = CALL | {"function": {"name": "on", "arguments": '{"x":'}}
    with pytest.raises(ProviderReplyInvalid):
        read(chunk({"content": "Hi"}, "tool_calls"), beside({"tool_calls": [call]}))


@pytest.mark.parametrize(("arguments", "is_whole"), [("{}", True), ('{"x":', False)])
def test_calls_beside_the_first_answer_may_end_with_the_reply(
    *, arguments: str, is_whole: bool
) -> None:
    second = SECOND | {"function": {"name": "off", "arguments": arguments}}
    other: JsonObject = {"choices": [{"index": 2, "delta": {"tool_calls": [second]}}]}
    reader = ChatReplyReader((), lambda: "new")
    for each in (other, beside({"tool_calls": [CALL]})):
        assert not [*reader.feed(sse(each))]
    assert reader.call_length == len(arguments) + len('{"x":1}')

    events = [*reader.feed(b"data: [DONE]\n\n")]

    assert events[0] == CALLED[0]
    assert reader.finished == is_whole
    if is_whole:
        assert [*events[1:], *reader.end()] == [
            ToolCallReady(ToolCall("b", "off", "{}")),
            CALLED[-1],
        ]


def finish_of(*chunks: JsonObject) -> FinishReason:
    return result_of(*chunks).finish_reason


def result_of(*chunks: JsonObject) -> CompletionResult:
    result = read(*chunks)[-1]
    assert isinstance(result, CompletionResult)
    return result


DONE = CompletionResult(FinishReason.STOP)
CALLED = [
    ToolCallReady(ToolCall("a", "on", '{"x":1}')),
    CompletionResult(FinishReason.TOOL_CALLS),
]


@pytest.mark.parametrize(
    ("chunks", "events"),
    [
        pytest.param(
            [
                chunk({"role": "assistant", "content": None}),
                chunk({"content": "Hel"}),
                chunk({"content": "lo"}),
                STOP,
            ],
            [TextDelta("Hel"), TextDelta("lo"), DONE],
            id="text",
        ),
        pytest.param(
            [chunk({"content": "Hello"}, "stop")],
            [TextDelta("Hello"), DONE],
            id="text with the finish",
        ),
        pytest.param([chunk({"content": ""}), STOP], [DONE], id="nothing at all"),
        pytest.param(
            [
                chunk({"reasoning_content": "hm"}),
                chunk({"reasoning": "so"}),
                chunk({"content": "Hi"}),
                STOP,
            ],
            [ReasoningDelta("hm"), ReasoningDelta("so"), TextDelta("Hi"), DONE],
            id="both names of reasoning",
        ),
        pytest.param(
            [
                chunk({"reasoning_content": "hm", "reasoning": "hm", "content": "Hi"}),
                STOP,
            ],
            [ReasoningDelta("hm"), TextDelta("Hi"), DONE],
            id="reasoning twice and text in one chunk",
        ),
        pytest.param(
            [
                chunk(
                    {
                        "content": [
                            {
                                "type": "thinking",
                                "thinking": [{"type": "text", "text": "hm"}],
                            }
                        ]
                    }
                ),
                chunk(
                    {
                        "content": [
                            {"type": "text", "text": "Hi"},
                            {"type": "reference", "reference_ids": [1]},
                        ]
                    }
                ),
                STOP,
            ],
            [ReasoningDelta("hm"), TextDelta("Hi"), DONE],
            id="content in parts",
        ),
        pytest.param(
            [chunk({"refusal": "I can't."}), STOP],
            [TextDelta("I can't."), replace(DONE, declines=True)],
            id="refusal",
        ),
        pytest.param(
            [chunk({"tool_calls": [CALL]}), chunk({}, "tool_calls")], CALLED, id="call"
        ),
        pytest.param(
            [chunk({"tool_calls": [CALL]}, "tool_calls")],
            CALLED,
            id="call with the finish",
        ),
        pytest.param(
            [chunk({"tool_calls": [CALL]}), STOP], CALLED, id="call and finish stop"
        ),
        pytest.param(
            [chunk({"tool_calls": [CALL]}), chunk({}, "function_call")],
            CALLED,
            id="call and the old finish",
        ),
        pytest.param(
            [STOP, chunk({"tool_calls": [CALL]})], CALLED, id="call after the finish"
        ),
        pytest.param(
            [chunk({"content": "I do.", "tool_calls": [CALL]}, "tool_calls")],
            [TextDelta("I do."), *CALLED],
            id="text, call and finish in one chunk",
        ),
        pytest.param(
            [
                chunk(
                    {
                        "tool_calls": [
                            {
                                "index": 0,
                                "id": "a",
                                "function": {"name": "on", "arguments": {"x": 1}},
                            }
                        ]
                    }
                ),
                STOP,
            ],
            CALLED,
            id="arguments as an object",
        ),
        pytest.param(
            [
                chunk(
                    {
                        "tool_calls": [
                            {"id": "a", "function": {"name": "on", "arguments": [1]}}
                        ]
                    }
                ),
                STOP,
            ],
            [ToolCallReady(ToolCall("a", "on", "[1]")), CALLED[1]],
            id="arguments as another value",
        ),
        pytest.param(
            [
                chunk(
                    {
                        "tool_calls": [
                            {
                                "index": 0,
                                "id": 7,
                                "function": {"name": "now", "arguments": None},
                            }
                        ]
                    }
                ),
                STOP,
            ],
            [ToolCallReady(ToolCall("new", "now", "{}")), CALLED[1]],
            id="no arguments, and a number for an id",
        ),
        pytest.param(
            [
                chunk({"tool_calls": [{"index": 0}]}),
                chunk({"tool_calls": None}),
                chunk({"tool_calls": []}),
                STOP,
            ],
            [DONE],
            id="calls without anything",
        ),
        pytest.param(
            [
                chunk({"content": "Hi"}),
                chunk(
                    {
                        "tool_calls": [
                            {"index": 0, "id": "", "type": "function", "function": {}}
                        ]
                    }
                ),
                chunk({}, "tool_calls"),
            ],
            [TextDelta("Hi"), DONE],
            id="a call without anything after words",
        ),
        *(
            pytest.param(
                [
                    chunk(
                        {
                            "content": "",
                            "tool_calls": [{"index": 0, "id": "a", "function": begun}],
                        }
                    ),
                    chunk({"content": "", "tool_calls": []}),
                    chunk(
                        {
                            "tool_calls": [
                                {
                                    "index": 0,
                                    "id": None,
                                    "function": {"name": "on", "arguments": '{"x"'},
                                }
                            ]
                        }
                    ),
                    chunk(
                        {
                            "tool_calls": [
                                {
                                    "index": 0,
                                    "id": "",
                                    "function": {"name": empty, "arguments": ":1}"},
                                }
                            ]
                        }
                    ),
                    chunk({"content": ""}, "tool_calls"),
                ],
                CALLED,
                id=f"a call that begins with {begun} and goes on with the name {empty!r}",
            )
            for begun, empty in ((None, None), (NAMELESS, ""))
        ),
        pytest.param(
            [
                chunk(
                    {
                        "tool_calls": [
                            {
                                "index": 0,
                                "id": "a",
                                "function": {"name": "on", "arguments": ""},
                            }
                        ]
                    },
                    "",
                ),
                chunk(
                    {
                        "tool_calls": [
                            {
                                "index": 0,
                                "id": "a",
                                "function": {"arguments": '{"x":1}'},
                            }
                        ]
                    },
                    "",
                ),
                chunk({"content": ""}, "tool_calls"),
            ],
            CALLED,
            id="an empty finish reason in each chunk",
        ),
        pytest.param(
            [
                {
                    "choices": [
                        {
                            "finish_reason": "stop",
                            "message": {"content": "Hi", "tool_calls": [CALL]},
                        }
                    ]
                }
            ],
            [TextDelta("Hi"), *CALLED],
            id="a whole completion",
        ),
        pytest.param(
            [
                {
                    "choices": [
                        {"index": 1, "delta": {"content": "B"}},
                        {"index": 0, "delta": {"content": "A"}},
                    ]
                },
                STOP,
            ],
            [TextDelta("A"), DONE],
            id="a second answer",
        ),
        pytest.param(
            [
                {
                    "choices": [
                        {
                            "index": 0,
                            "message": {"content": "Hi"},
                            "finish_reason": "tool_calls",
                        },
                        OTHER,
                    ]
                }
            ],
            [TextDelta("Hi"), *CALLED],
            id="calls beside the words",
        ),
        pytest.param(
            [
                {"choices": [{"index": 0, "delta": {"content": "Hi"}}]},
                {"choices": [{"index": 1, "delta": {"tool_calls": [CALL]}}]},
                {"choices": [{"index": 1, "delta": {}, "finish_reason": "tool_calls"}]},
            ],
            [TextDelta("Hi"), *CALLED],
            id="calls streamed beside the words",
        ),
        pytest.param(
            [
                beside(
                    {
                        "tool_calls": [
                            CALL | {"function": {"name": "on", "arguments": '{"x":'}}
                        ]
                    }
                ),
                STOP,
                beside({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}),
                beside({}, "tool_calls"),
            ],
            CALLED,
            id="the first answer ends amid calls beside it",
        ),
        pytest.param(
            [
                beside({"content": "Let me"}),
                beside({"tool_calls": [CALL]}, "tool_calls"),
                STOP,
            ],
            [DONE],
            id="a second answer with words, then calls",
        ),
        pytest.param(
            [
                {
                    "choices": [
                        {
                            "index": 0,
                            "message": {"content": "Hi"},
                            "finish_reason": "stop",
                        },
                        OTHER,
                    ]
                }
            ],
            [TextDelta("Hi"), DONE],
            id="calls beside an answer that is whole",
        ),
        pytest.param(
            [
                {
                    "choices": [
                        {"index": 1, "message": {"content": "A", "tool_calls": [CALL]}},
                        {"index": 0, "finish_reason": "stop"},
                    ]
                }
            ],
            [DONE],
            id="a second answer with calls",
        ),
        pytest.param(
            [
                {
                    "choices": [
                        {
                            "index": 0,
                            "message": {"tool_calls": [CALL]},
                            "finish_reason": "tool_calls",
                        },
                        OTHER,
                    ]
                }
            ],
            CALLED,
            id="calls in two answers",
        ),
        pytest.param(
            [
                beside({"tool_calls": [CALL]}, "tool_calls"),
                {"choices": [{"index": 2, "delta": {"tool_calls": [SECOND]}}]},
                {"choices": [{"index": 2, "finish_reason": "tool_calls"}]},
                STOP,
            ],
            [*CALLED[:-1], ToolCallReady(ToolCall("b", "off", "{}")), CALLED[-1]],
            id="a call in each of two choices beside the first",
        ),
        pytest.param(
            [
                {
                    "choices": [
                        {
                            "index": 0,
                            "message": {"content": ""},
                            "finish_reason": "tool_calls",
                        },
                        OTHER,
                        {**OTHER, "index": 2, "message": {"tool_calls": [SECOND]}},
                    ]
                }
            ],
            [*CALLED[:-1], ToolCallReady(ToolCall("b", "off", "{}")), CALLED[-1]],
            id="a call in each of two choices of a whole completion",
        ),
        pytest.param(
            [
                beside({"tool_calls": [SECOND]}, "tool_calls"),
                chunk({"tool_calls": [CALL]}, "tool_calls"),
            ],
            CALLED,
            id="a call of another answer before that of the first",
        ),
        pytest.param(
            [
                beside({"tool_calls": [CALL]}, "tool_calls"),
                {
                    "choices": [
                        {
                            "index": 2,
                            "delta": {"tool_calls": [CUT]},
                            "finish_reason": "length",
                        }
                    ]
                },
                STOP,
            ],
            [
                *CALLED[:-1],
                ToolCallReady(ToolCall("b", "off", '{"x":')),
                CompletionResult(FinishReason.LENGTH),
            ],
            id="a cut call beside a whole one",
        ),
        pytest.param(
            [
                {"type": "ping"},
                {"choices": None},
                {"choices": [{"delta": None, "logprobs": {}}]},
                STOP,
                {"choices": []},
            ],
            [DONE],
            id="chunks without anything",
        ),
        pytest.param(
            [chunk({"content": "\ud83d"}), chunk({"content": "\ud83d\udca1 ok"}), STOP],
            [TextDelta("\ufffd"), TextDelta("💡 ok"), DONE],
            id="half an emoji",
        ),
    ],
)
def test_chunks_become_events(
    chunks: Sequence[JsonObject], events: list[ProviderEvent]
) -> None:
    assert read(*chunks) == events


NOW: JsonObject = {"index": 0, "id": "a", "function": {"name": "now", "arguments": ""}}


def test_a_call_without_arguments_goes_out_with_the_finish() -> None:
    reader = ChatReplyReader(())

    assert [*reader.feed(sse(chunk({"tool_calls": [NOW]})))] == []
    assert [*reader.feed(sse(STOP))] == [ToolCallReady(ToolCall("a", "now", "{}"))]
    assert [*reader.end()] == [CompletionResult(FinishReason.TOOL_CALLS)]


def test_a_call_without_arguments_after_the_finish_goes_out_at_the_end() -> None:
    assert read(STOP, chunk({"tool_calls": [NOW]})) == [
        ToolCallReady(ToolCall("a", "now", "{}")),
        CALLED[1],
    ]


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ("stop", FinishReason.STOP),
        ("STOP", FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("content_filter", FinishReason.CONTENT_FILTER),
        ("tool_calls", FinishReason.STOP),
        ("function_call", FinishReason.STOP),
        ("eos_token", FinishReason.STOP),
        ("eos", FinishReason.STOP),
        ("End_Turn", FinishReason.STOP),
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("SAFETY", FinishReason.CONTENT_FILTER),
        ("model_length", FinishReason.LENGTH),
        ("content_filter: PROHIBITED_CONTENT", FinishReason.CONTENT_FILTER),
        ("insufficient_system_resource", FinishReason.UNKNOWN),
    ],
)
def test_finish_reasons_without_calls(sent: str, reason: FinishReason) -> None:
    """Invariant 65."""
    assert finish_of(chunk({"content": "Hi"}), chunk({}, sent)) is reason


@pytest.mark.parametrize(
    "sent",
    ["function_call_filter: MALFORMED_FUNCTION_CALL", "insufficient_system_resource"],
)
def test_an_unknown_finish_before_the_first_word_is_a_failure(sent: str) -> None:
    with pytest.raises(ProviderReplyInvalid, match=sent):
        read(chunk({"reasoning_content": "hm"}), chunk({"content": ""}, sent))


@pytest.mark.parametrize(
    ("usage", "tokens"), [({"prompt_tokens": 9000}, 9000), (None, None)]
)
def test_a_prompt_that_leaves_no_room_for_an_answer_is_too_long(
    usage: JsonValue, tokens: int | None
) -> None:
    with pytest.raises(PromptTooLong) as caught:
        read(
            chunk({"reasoning_content": "hm"}),
            chunk({}, "model_context_window_exceeded", usage=usage),
        )

    assert caught.value.prompt_tokens == tokens
    assert (
        finish_of(chunk({"tool_calls": [CALL]}, "model_context_window_exceeded"))
        is FinishReason.LENGTH
    )


def test_the_call_of_an_old_server_comes_without_a_list() -> None:
    pieces: list[JsonObject] = [
        {"name": "on", "arguments": ""},
        {"arguments": '{"x"'},
        {"arguments": ":1}"},
    ]

    events = read(
        *(chunk({"function_call": piece}) for piece in pieces),
        chunk({}, "function_call"),
    )

    assert events == [
        ToolCallReady(ToolCall("new", "on", '{"x":1}')),
        CompletionResult(FinishReason.TOOL_CALLS),
    ]


@pytest.mark.parametrize("odd", [None, "", {}, {"name": None}])
def test_what_is_no_call_of_an_old_server_is_none(odd: JsonValue) -> None:
    assert read(chunk({"content": "Hi", "function_call": odd}), STOP) == [
        TextDelta("Hi"),
        DONE,
    ]


def test_a_call_that_comes_in_both_forms_is_one() -> None:
    both: JsonObject = {
        "tool_calls": [CALL],
        "function_call": {"name": "on", "arguments": '{"x":1}'},
    }

    assert (
        len(
            [
                event
                for event in read(chunk(both), STOP)
                if isinstance(event, ToolCallReady)
            ]
        )
        == 1
    )


@pytest.mark.parametrize("arguments", ["", '{"x"', '{"x": 1'])
def test_an_end_mark_completes_no_call(arguments: str) -> None:
    begun: JsonValue = {**CALL, "function": {"name": "on", "arguments": arguments}}
    reader = ChatReplyReader(())
    list(
        reader.feed(
            sse(chunk({"content": "Hi", "tool_calls": [begun]})) + b"data: [DONE]\n\n"
        )
    )

    with pytest.raises(ProviderReplyInvalid):
        list(reader.end())


def test_a_call_without_its_function_around_it_is_one() -> None:
    assert read(
        chunk(
            {
                "tool_calls": [
                    {"index": 0, "id": "a", "name": "on", "arguments": {"x": 1}}
                ]
            }
        ),
        STOP,
    )[0] == ToolCallReady(ToolCall("a", "on", '{"x":1}'))


def test_the_last_finish_reason_counts() -> None:
    """Invariant 65."""
    assert (
        finish_of(chunk({"content": "Hi"}, "stop"), chunk({}, ""), chunk({}, "length"))
        is FinishReason.LENGTH
    )


USAGE: JsonObject = {
    "prompt_tokens": 21,
    "completion_tokens": 8,
    "total_tokens": 29,
    "prompt_tokens_details": {"cached_tokens": 20, "audio_tokens": None},
    "completion_tokens_details": {"reasoning_tokens": 3},
}


@pytest.mark.parametrize(
    "chunks",
    [
        [STOP, {"choices": [], "usage": USAGE}],
        [STOP, {"usage": USAGE}],
        [chunk({"content": "Hi"}, "stop", usage=USAGE)],
        [
            chunk({}, usage={"prompt_tokens": 21, "completion_tokens": 1}),
            chunk({}, "stop", usage=USAGE),
        ],
        [chunk({}, "stop", usage=USAGE), {"choices": [], "usage": None}],
    ],
)
def test_usage_is_found_wherever_it_stands(chunks: Sequence[JsonObject]) -> None:
    assert result_of(*chunks).usage == Usage(21, 8, 20, 3)


@pytest.mark.parametrize(
    ("sent", "usage"),
    [
        (
            {"prompt_tokens": 21, "completion_tokens": 8, "prompt_cache_hit_tokens": 5},
            Usage(21, 8, 5),
        ),
        (
            {
                "prompt_tokens": 21,
                "completion_tokens": -1,
                "prompt_tokens_details": None,
            },
            Usage(21, 2**63),
        ),
        (
            {
                "prompt_tokens": "many",
                "prompt_tokens_details": [],
                "completion_tokens_details": {},
            },
            Usage(2**63),
        ),
        ("none", Usage()),
    ],
)
def test_odd_usage_costs_no_answer(sent: JsonValue, usage: Usage) -> None:
    assert result_of(chunk({"content": "Hi"}, "stop", usage=sent)).usage == usage


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "not JSON"),
        ("<html>", "not JSON"),
        ('{"choices": [', "not JSON"),
        ("[" * 90_000, "not JSON"),
        ("[" * 200_000, "more than 100000 parts"),
        ("[]", "its top level"),
        ('{"choices": 5}', "choices"),
        (
            '{"choices": [{"delta": {"content": {"secret words": 1}}}]}',
            "choices.0.delta.content",
        ),
        (
            '{"choices": [{"delta": {"tool_calls": "secret words"}}]}',
            "choices.0.delta.tool_calls",
        ),
    ],
)
def test_a_chunk_of_the_wrong_shape_is_refused_without_being_quoted(
    text: str, where: str
) -> None:
    with pytest.raises(ProviderReplyInvalid, match=where) as caught:
        list(ChatReplyReader(()).read_whole(text))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("sent", "reported"),
    [
        ({"error": {"message": "boom", "code": 500}}, {"message": "boom", "code": 500}),
        ({"error": "boom", "choices": []}, "boom"),
        (
            {
                "object": "error",
                "message": "boom",
                "type": "BadRequestError",
                "code": 400,
            },
            {"message": "boom", "type": "BadRequestError", "code": 400},
        ),
        (
            {"choices": None, "error_type": "BadRequestError", "error_message": "boom"},
            {"message": "boom", "type": "BadRequestError", "code": None},
        ),
        (
            {"code": 429, "message": "boom", "details": "RESOURCE_EXHAUSTED"},
            {"message": "boom", "type": None, "code": 429},
        ),
        ({"code": 500, "message": "boom", "error": {"code": 429}}, {"code": 429}),
        (
            {
                "choices": [
                    {
                        "delta": {"content": ""},
                        "finish_reason": "error",
                        "error": {"code": 502},
                    }
                ]
            },
            {"code": 502},
        ),
    ],
)
def test_an_error_inside_a_reply_is_recognised(
    sent: JsonObject, reported: JsonValue
) -> None:
    with pytest.raises(ReportedFailure) as caught:
        read(sent)
    assert caught.value.report == reported


def test_a_comment_that_a_gateway_sends_as_data_is_passed_over() -> None:
    """A gateway before OpenRouter does."""
    reader = ChatReplyReader(())
    stream = b"data: : OPENROUTER PROCESSING\n\n" + sse(
        chunk({"content": "Hello"}, "stop")
    )

    assert [*reader.feed(stream), *reader.end()] == [TextDelta("Hello"), DONE]


@pytest.mark.parametrize(
    "more",
    [{"message": "ok"}, {"code": 200, "message": "ok"}, {"code": 429}, {"message": {}}],
)
def test_a_chunk_without_a_code_and_words_is_no_error(more: JsonObject) -> None:
    assert read(more, STOP) == [DONE]
    assert read({**STOP, "code": 429, "message": "ok"}) == [DONE]


def test_an_empty_error_is_none() -> None:
    assert read({**STOP, "error": None}) == [DONE]


def message(**message: JsonValue) -> JsonObject:
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def test_plain_texts_among_the_parts_of_a_content_are_text() -> None:
    thought: JsonObject = {
        "type": "thinking",
        "thinking": [{"type": "text", "text": "hm"}],
    }

    assert read(
        chunk({"content": ["Hel", thought, {"type": "text", "text": "lo"}]}), STOP
    ) == [
        ReasoningDelta("hm"),
        TextDelta("Hello"),
        DONE,
    ]


@pytest.mark.parametrize("empty", [{}, {"delta": None}, {"delta": {}}])
def test_a_whole_message_at_the_end_of_a_stream_is_no_second_answer(
    empty: JsonObject,
) -> None:
    [last] = json.loads(json.dumps(message(content="Hello")["choices"]))

    assert read(
        chunk({"content": "Hel"}),
        chunk({"content": "lo"}),
        {"choices": [{**last, **empty}]},
    ) == [
        TextDelta("Hel"),
        TextDelta("lo"),
        DONE,
    ]


def test_a_whole_message_at_the_end_of_a_stream_calls_nothing_again() -> None:
    now: JsonObject = {
        "index": 0,
        "id": "a",
        "type": "function",
        "function": {"name": "now", "arguments": "{}"},
    }

    assert read(
        chunk({"tool_calls": [now]}),
        message(content=None, tool_calls=[{**now, "id": "b"}]),
    ) == [
        ToolCallReady(ToolCall("a", "now", "{}")),
        CompletionResult(FinishReason.TOOL_CALLS),
    ]


def test_a_whole_message_after_pieces_that_said_nothing_is_the_answer() -> None:
    assert read(
        chunk({"role": "assistant", "content": ""}), message(content="Hello")
    ) == [TextDelta("Hello"), DONE]


ENCRYPTED: JsonObject = {
    "type": "reasoning.encrypted",
    "data": "c2VhbGVk",
    "id": "rs_1",
    "index": 1,
}


def text(piece: str, **more: JsonValue) -> JsonObject:
    return {"type": "reasoning.text", "text": piece, "index": 0, **more}


def call(call_id: str, **more: JsonValue) -> JsonObject:
    return {
        "index": 0,
        "id": call_id,
        "function": {"name": "on", "arguments": '{"x":1}'},
        **more,
    }


def read_deltas(*deltas: JsonObject, taken: str = "") -> list[ProviderEvent]:
    reader = ChatReplyReader(
        (AssistantMessage(tool_calls=(ToolCall(taken, "on", "{}"),)),), lambda: "new"
    )
    chunks = [chunk(delta) for delta in deltas] + [chunk({}, "stop")]
    return [event for each in chunks for event in reader.feed(sse(each))] + [
        *reader.end()
    ]


def items_of(*deltas: JsonObject, taken: str = "") -> tuple[ProviderItem, ...]:
    last = read_deltas(*deltas, taken=taken)[-1]
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
    ("pieces", "remaining"),
    [
        ([text("a"), text("b"), text("c")], [text("abc")]),
        ([text("a"), text("", signature="s")], [text("a", signature="s")]),
        (
            [text("a", signature=None), text("b", signature="s", id=None)],
            [text("ab", signature="s")],
        ),
        (
            [text("a", id="1"), text("b", id="2")],
            [text("a", id="1"), text("b", id="2")],
        ),
        ([text("a"), text("b", index=1)], [text("a"), text("b", index=1)]),
        ([text("a"), ENCRYPTED], [text("a"), ENCRYPTED]),
        ([ENCRYPTED, ENCRYPTED], [ENCRYPTED, ENCRYPTED]),
        (
            [
                {"type": "reasoning.summary", "summary": "a"},
                {"type": "reasoning.summary", "summary": "b"},
            ],
            [{"type": "reasoning.summary", "summary": "ab"}],
        ),
        (
            [text("a"), {"type": "reasoning.text", "index": 0, "signature": "s"}],
            [text("a", signature="s")],
        ),
    ],
)
def test_pieces_of_one_text_become_one(
    pieces: list[JsonObject], remaining: list[JsonObject]
) -> None:
    assert details_of(*pieces) == remaining


def test_details_alone_are_the_reasoning_that_is_told() -> None:
    assert read_deltas(
        {
            "reasoning_details": [
                text("hm "),
                ENCRYPTED,
                {"type": "reasoning.summary", "summary": "ok"},
            ]
        }
    )[0] == (ReasoningDelta("hm ok"))


def test_reasoning_that_comes_in_both_forms_is_told_once() -> None:
    events = read_deltas({"reasoning": "hm", "reasoning_details": [text("hm")]})

    assert [event for event in events if isinstance(event, ReasoningDelta)] == [
        ReasoningDelta("hm")
    ]


@pytest.mark.parametrize("odd", ["hm", 5, None, ["hm"], {"text": "hm"}])
def test_details_of_another_shape_are_passed_over(odd: JsonValue) -> None:
    assert items_of({"content": "Hi", "reasoning_details": odd}) == ()


def test_the_signature_of_a_call_goes_back_with_that_call() -> None:
    signature: JsonObject = {"google": {"thought_signature": "c2ln"}}
    [item] = items_of(
        {"tool_calls": [call("a", extra_content=signature), call("b", index=1)]}
    )
    calls = (ToolCall("a", "on", "{}"), ToolCall("b", "on", "{}"))

    written = sent(AssistantMessage("", "", calls, (item,)), ChatDialect())[
        "tool_calls"
    ]

    function: JsonValue = {"name": "on", "arguments": "{}"}
    assert written == [
        {
            "id": "a",
            "type": "function",
            "function": function,
            "extra_content": signature,
        },
        {"id": "b", "type": "function", "function": function},
    ]


def test_a_call_that_gets_another_id_keeps_its_signature() -> None:
    signature: JsonObject = {"google": {"thought_signature": "c2ln"}}
    delta: JsonObject = {"tool_calls": [call("a", extra_content=signature)]}

    assert [
        event.call.id
        for event in read_deltas(delta, taken="a")
        if isinstance(event, ToolCallReady)
    ] == ["new"]
    assert items_of(delta, taken="a") == (
        ProviderItem("openai_chat", {"extra_content": {"new": signature}}),
    )


@pytest.mark.parametrize("place", [{"id": "a"}, {"index": 0}, {}])
def test_a_signature_may_come_after_its_call(place: JsonObject) -> None:
    signature: JsonObject = {"google": {"thought_signature": "c2ln"}}
    whole: JsonObject = {
        "tool_calls": [CALL if "index" in place else {**CALL, "index": None}]
    }
    later: JsonObject = {"tool_calls": [{**place, "extra_content": signature}]}

    assert items_of(whole, later) == (
        ProviderItem("openai_chat", {"extra_content": {"a": signature}}),
    )


SIGNED = AssistantMessage(
    "One moment.",
    "hm",
    (ToolCall("a", "on", "{}"),),
    (
        ProviderItem(
            "openai_chat",
            {"reasoning_details": [ENCRYPTED], "extra_content": {"a": {"x": 1}}},
        ),
        ProviderItem(
            "anthropic_messages", {"reasoning_details": [{"type": "foreign"}]}
        ),
    ),
)


def test_signed_reasoning_goes_back_in_place_of_plain_reasoning() -> None:
    written = sent(SIGNED, ChatDialect(reasoning_field="reasoning"))

    assert written["reasoning_details"] == [ENCRYPTED]
    assert "reasoning" not in written


def test_a_server_that_never_signs_is_sent_nothing_signed() -> None:
    written = sent(SIGNED, ChatDialect(returns_items=False))

    assert "reasoning_details" not in written
    assert "extra_content" not in json.dumps(written)


@given(
    st.dictionaries(
        st.sampled_from(["reasoning_details", "extra_content", "else"]),
        st.none()
        | st.text()
        | st.lists(st.integers() | st.just({"a": 1}))
        | st.just({"a": 1})
        | st.just({"a": {}}),
    )
)
def test_items_that_we_cannot_have_written_are_passed_over(data: JsonObject) -> None:
    calls = (ToolCall("a", "on", "{}"),)
    message = AssistantMessage(
        tool_calls=calls, provider_items=(ProviderItem("openai_chat", data),)
    )

    match request_to_payload(CompletionRequest("", (message,)), "small")["messages"]:
        case [{"reasoning_details": list(details)}]:
            assert all(isinstance(detail, dict) for detail in details)
        case [{"tool_calls": [{"extra_content": extra}]}]:
            assert isinstance(extra, dict)
        case _:
            pass
