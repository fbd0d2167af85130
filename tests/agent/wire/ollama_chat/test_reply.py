"""Lines become events, for every shape of a line that Ollama, and what imitates it, is known to send."""

import json
from collections.abc import Sequence

import pytest

from custom_components.chatterbox.agent.errors import ProviderBusy, ProviderReplyInvalid
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
    ToolCall,
    Usage,
)
from custom_components.chatterbox.agent.wire.ollama_chat import (
    OllamaReplyReader,
    parse_model_description,
)
from tests.agent.wire.encoding import line

STOP: JsonObject = {
    "message": {"role": "assistant", "content": ""},
    "done": True,
    "done_reason": "stop",
}
DONE = CompletionResult(FinishReason.STOP)


def chunk(content: JsonValue = "", **more: JsonValue) -> JsonObject:
    return {
        "model": "m",
        "message": {"role": "assistant", "content": content, **more},
        "done": False,
    }


def calling(*calls: JsonValue) -> JsonObject:
    return chunk(tool_calls=[{"function": call} for call in calls])


def read(
    *chunks: JsonObject, transcript: Sequence[AssistantMessage] = ()
) -> list[ProviderEvent]:
    new_ids = (f"new{number}" for number in range(1, 9))
    reader = OllamaReplyReader(tuple(transcript), lambda: next(new_ids))
    events = [event for each in chunks for event in reader.feed(line(each))]
    return [*events, *reader.end()]


def called(*calls: ToolCall) -> list[ProviderEvent]:
    return [
        *(ToolCallReady(call) for call in calls),
        CompletionResult(FinishReason.TOOL_CALLS),
    ]


@pytest.mark.parametrize(
    ("chunks", "events"),
    [
        pytest.param(
            [chunk("Hel"), chunk("lo"), STOP],
            [TextDelta("Hel"), TextDelta("lo"), DONE],
            id="text",
        ),
        pytest.param(
            [{**chunk("Hello"), "done": True}],
            [TextDelta("Hello"), DONE],
            id="a whole answer",
        ),
        pytest.param([STOP], [DONE], id="nothing at all"),
        pytest.param([{"done": True}], [DONE], id="no message"),
        pytest.param(
            [chunk(None), {"status": "loading"}, STOP],
            [DONE],
            id="lines without anything",
        ),
        pytest.param(
            [chunk("", thinking="hm"), chunk("Hi", thinking=""), STOP],
            [ReasoningDelta("hm"), TextDelta("Hi"), DONE],
            id="thinking",
        ),
        pytest.param(
            [chunk("Hi", thinking="hm"), STOP],
            [ReasoningDelta("hm"), TextDelta("Hi"), DONE],
            id="both in one line",
        ),
        pytest.param(
            [chunk("Hi", thinking=7), STOP], [TextDelta("Hi"), DONE], id="odd thinking"
        ),
        pytest.param(
            [chunk("\ud83d"), STOP], [TextDelta("\ufffd"), DONE], id="half an emoji"
        ),
        pytest.param(
            [calling({"name": "on", "arguments": {"b": 1, "a": "ü"}}), STOP],
            called(ToolCall("new1", "on", '{"a":"ü","b":1}')),
            id="call",
        ),
        pytest.param(
            [
                chunk(
                    tool_calls=[
                        {"id": "call_1", "function": {"name": "on", "arguments": {}}}
                    ]
                ),
                STOP,
            ],
            called(ToolCall("call_1", "on", "{}")),
            id="call with an id",
        ),
        pytest.param(
            [
                chunk(
                    "I do.", tool_calls=[{"function": {"name": "on", "arguments": {}}}]
                ),
                STOP,
            ],
            [TextDelta("I do."), *called(ToolCall("new1", "on", "{}"))],
            id="text and call in one line",
        ),
        pytest.param(
            [
                calling({"index": 0, "name": "on"}),
                calling({"index": 0, "name": "off", "arguments": None}),
                STOP,
            ],
            called(ToolCall("new1", "on", "{}"), ToolCall("new2", "off", "{}")),
            id="two calls with one index, without arguments",
        ),
        pytest.param(
            [
                calling(
                    {"name": "on", "arguments": '{"x":1}'},
                    {"name": "on", "arguments": ""},
                ),
                STOP,
            ],
            called(ToolCall("new1", "on", '{"x":1}'), ToolCall("new2", "on", "{}")),
            id="arguments as text",
        ),
        pytest.param(
            [
                calling(
                    {"name": "on", "arguments": [1]},
                    {"name": 7, "arguments": {"x": "\ud83d"}},
                ),
                STOP,
            ],
            called(
                ToolCall("new1", "on", "[1]"), ToolCall("new2", "", '{"x":"\ufffd"}')
            ),
            id="odd calls",
        ),
        pytest.param(
            [{**calling({"name": "on"}), "done": True, "done_reason": "tool_calls"}],
            called(ToolCall("new1", "on", "{}")),
            id="call in the last line",
        ),
        pytest.param(
            [chunk("Hi", tool_calls=None), STOP], [TextDelta("Hi"), DONE], id="no calls"
        ),
        pytest.param(
            [chunk("Hi", tool_calls=[{}]), STOP],
            [TextDelta("Hi"), DONE],
            id="a call of nothing",
        ),
    ],
)
def test_lines_become_events(
    chunks: Sequence[JsonObject], events: list[ProviderEvent]
) -> None:
    assert read(*chunks) == events


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ("stop", FinishReason.STOP),
        ("", FinishReason.STOP),
        (None, FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("LENGTH", FinishReason.LENGTH),
        ("tool_calls", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("eos", FinishReason.STOP),
    ],
)
def test_finish_reasons(sent: JsonValue, reason: FinishReason) -> None:
    assert read({**STOP, "done_reason": sent}) == [CompletionResult(reason)]


def test_an_unknown_finish_reason_cuts_what_was_said_and_fails_without_a_word() -> None:
    end: JsonObject = {**STOP, "done_reason": "a new reason"}
    assert read(chunk("Hi"), end) == [
        TextDelta("Hi"),
        CompletionResult(FinishReason.UNKNOWN),
    ]
    with pytest.raises(ProviderReplyInvalid, match="a new reason"):
        read(end)


@pytest.mark.parametrize("reason", ["load", "unload"])
def test_a_server_that_loads_its_model_is_busy(reason: str) -> None:
    with pytest.raises(ProviderBusy):
        read({**STOP, "done_reason": reason})
    assert read(chunk("Hi"), {**STOP, "done_reason": reason})[0] == TextDelta("Hi")


@pytest.mark.parametrize(
    ("sent", "calls"),
    [
        ({"function": None}, []),
        ({}, []),
        ({"name": "now", "arguments": {}}, [ToolCall("new1", "now", "{}")]),
        (
            {"function": {"name": "now", "arguments": None}},
            [ToolCall("new1", "now", "{}")],
        ),
    ],
)
def test_a_call_may_lack_its_function(sent: JsonObject, calls: list[ToolCall]) -> None:
    events = read(chunk(tool_calls=[sent]), STOP)

    assert [event.call for event in events if isinstance(event, ToolCallReady)] == calls


@pytest.mark.parametrize(
    ("sent", "usage"),
    [
        (
            {"prompt_eval_count": 26, "eval_count": 298, "eval_duration": 1},
            Usage(26, 298),
        ),
        ({"eval_count": 298}, Usage(0, 298)),
        ({"prompt_eval_count": -1, "eval_count": "many"}, Usage(2**63, 2**63)),
    ],
)
def test_usage(sent: JsonObject, usage: Usage) -> None:
    assert read({**STOP, **sent}) == [CompletionResult(FinishReason.STOP, usage)]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("<html>", "not JSON"),
        ('{"message":', "not JSON"),
        ("[]", "its top level"),
        ('{"message": "secret words"}', "message"),
        ('{"message": {"content": {"secret words": 1}}}', "message.content"),
        ('{"message": {"tool_calls": "secret words"}}', "message.tool_calls"),
        ('{"message": {"tool_calls": ["secret words"]}}', "message.tool_calls.0"),
    ],
)
def test_a_line_of_the_wrong_shape_is_refused_without_being_quoted(
    text: str, where: str
) -> None:
    with pytest.raises(ProviderReplyInvalid, match=where) as caught:
        list(OllamaReplyReader(()).read_whole(text))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("message", "window", "num_ctx", "capabilities"),
    [
        (
            {
                "model_info": {
                    "general.architecture": "qwen3",
                    "qwen3.context_length": 40960,
                },
                "parameters": 'stop "<|im_end|>"\nnum_ctx                        8192\ntemperature 0.6',
                "capabilities": ["completion", "tools", "thinking"],
            },
            40960,
            8192,
            frozenset({"completion", "tools", "thinking"}),
        ),
        ({"details": {"family": "llama"}}, None, None, None),
        (
            {"model_info": {"llama.context_length": 1}, "parameters": "num_ctx many"},
            None,
            None,
            None,
        ),
        (
            {
                "model_info": {"general.architecture": "x", "x.context_length": "9"},
                "capabilities": "all",
            },
            None,
            None,
            None,
        ),
        (
            {"model_info": {"general.architecture": "x", "x.context_length": True}},
            None,
            None,
            None,
        ),
        (
            {
                "model_info": {"general.architecture": "x", "x.context_length": 0},
                "parameters": None,
            },
            None,
            None,
            None,
        ),
    ],
)
def test_a_model_is_described(
    message: JsonObject,
    window: int | None,
    num_ctx: int | None,
    capabilities: frozenset[str] | None,
) -> None:
    described = parse_model_description(json.dumps(message))

    assert (described.context_window, described.num_ctx, described.capabilities) == (
        window,
        num_ctx,
        capabilities,
    )


def test_what_is_no_description_is_refused() -> None:
    with pytest.raises(ProviderReplyInvalid, match="a description of a model"):
        parse_model_description("[]")
