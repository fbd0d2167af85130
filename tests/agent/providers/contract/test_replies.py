"""The answer of a service becomes the same events, whatever the wire format, however the bytes are cut."""

import json

import aiohttp
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
    AssistantMessage,
    FinishReason,
    ToolCall,
    Usage,
)
from tests.support.servers.raw_http import raw_http_server

from .dialect import Answer, Dialect
from .service import (
    answered,
    arrivals,
    calls_of,
    collect,
    provider_of,
    read,
    reasoning_of,
    text_of,
)

ON = ToolCall("call00001", "turn_on", '{"name":"Küche 💡","area":{"floor":[1,2]}}')
OFF = ToolCall("call00002", "turn_off", '{"name":"hall","last":"marker"}')
BARE = ToolCall("call00003", "weather", "{}")

ANSWERS = {
    "text": Answer(text=("Hel", "lo", " Grüße 💡\n")),
    "reasoning": Answer(text=("Yes.",), reasoning=("The user ", "asks: für 💡")),
    "one call": Answer(calls=(ON,), finish=FinishReason.TOOL_CALLS),
    "several calls": Answer(calls=(ON, OFF, BARE), finish=FinishReason.TOOL_CALLS),
    "same call twice": Answer(
        calls=(BARE, ToolCall("call00004", "weather", "{}")),
        finish=FinishReason.TOOL_CALLS,
    ),
    "call without arguments": Answer(calls=(BARE,), finish=FinishReason.TOOL_CALLS),
    "everything": Answer(
        ("One ", "moment."),
        ("Hm", "."),
        (ON, BARE),
        FinishReason.TOOL_CALLS,
        Usage(90, 20, 64, 8),
    ),
    "empty": Answer(),
}


@pytest.fixture(params=list(ANSWERS.values()), ids=list(ANSWERS))
def answer(request: pytest.FixtureRequest) -> Answer:
    """Give one answer after the other."""
    chosen: Answer = request.param
    return chosen


def assert_says(events: list[ProviderEvent], answer: Answer, dialect: Dialect) -> None:
    """Assert that `events` are `answer`, in order: thoughts, words, calls, and one result at the very end."""
    assert text_of(events) == "".join(answer.text)
    assert reasoning_of(events) == "".join(answer.reasoning)
    calls = calls_of(events)
    assert [(call.name, json.loads(call.arguments)) for call in calls] == [
        (call.name, json.loads(call.arguments)) for call in answer.calls
    ]
    assert len({call.id for call in calls}) == len(calls)
    assert all(call.id for call in calls)
    if dialect.carries_call_ids:
        assert [call.id for call in calls] == [call.id for call in answer.calls]
    assert [type(event) for event in events].count(CompletionResult) == 1
    last = events[-1]
    assert isinstance(last, CompletionResult)
    assert last.finish_reason is answer.finish
    assert last.usage == dialect.reported(answer.usage)


async def test_an_answer_arrives(
    dialect: Dialect, answer: Answer, session: aiohttp.ClientSession
) -> None:
    async with raw_http_server(answered(dialect, answer)) as server:
        assert_says(
            await collect(provider_of(dialect, server, session)), answer, dialect
        )

    assert (server.requests[0].method, server.requests[0].target) == (
        "POST",
        dialect.completion_target,
    )


@pytest.mark.parametrize("reason", FinishReason)
def test_finish_reasons(dialect: Dialect, reason: FinishReason) -> None:
    """Invariant 65."""
    if reason not in dialect.finish_reasons:
        reason = FinishReason.STOP
    calls = (ON,) if reason is FinishReason.TOOL_CALLS else ()
    stream = dialect.render(Answer(text=("Hi",), calls=calls, finish=reason))

    assert_says(
        read(dialect.reader(()), [stream]),
        Answer(("Hi",), calls=calls, finish=reason),
        dialect,
    )


def test_a_message_that_ran_out_of_tokens_says_so_beside_its_calls(
    dialect: Dialect,
) -> None:
    stream = dialect.render(Answer(calls=(ON,), finish=FinishReason.LENGTH))

    last = read(dialect.reader(()), [stream])[-1]

    assert isinstance(last, CompletionResult)
    assert last.finish_reason is FinishReason.LENGTH


@pytest.mark.parametrize("usage", [Usage(), Usage(7, 3), Usage(1000, 200, 960, 150)])
def test_usage(dialect: Dialect, usage: Usage) -> None:
    last = read(dialect.reader(()), [dialect.render(Answer(("Hi",), usage=usage))])[-1]

    assert isinstance(last, CompletionResult)
    assert last.usage == dialect.reported(usage)


@pytest.mark.parametrize(
    "usage", [Usage(10**8, 3), Usage(7, 10**8), Usage(10**8, 10**8, 960, 10**8)]
)
async def test_impossible_counts_are_replaced_by_an_estimate(
    dialect: Dialect, usage: Usage, session: aiohttp.ClientSession
) -> None:
    async with raw_http_server(
        answered(dialect, Answer(("Hi",), usage=usage))
    ) as server:
        events = await collect(provider_of(dialect, server, session))

    counted = events[-1].usage if isinstance(events[-1], CompletionResult) else Usage()
    assert counted.is_estimated
    assert 0 < counted.input_tokens < len(server.requests[0].body)
    assert (counted.output_tokens, counted.cached_tokens, counted.reasoning_tokens) == (
        0,
        0,
        0,
    ), "the loop counts these"


def ends(stream: bytes, whole: int) -> list[int]:
    """Return where to end a stream: at all bytes of a line's ends and of its last event, and at every 11th of the rest.

    A decoder decides where a line ends; within one it only collects.
    """
    return [
        length
        for length in range(len(stream) + 1)
        if length >= whole - 40
        or length % 11 == 0
        or b"\n" in stream[max(length - 3, 0) : length + 3]
    ]


def test_an_end_at_any_byte_is_a_failure_until_the_message_is_whole(
    dialect: Dialect, answer: Answer, pytestconfig: pytest.Config
) -> None:
    """Invariant 59."""
    stream = dialect.render(answer)
    whole = dialect.finished_after(stream)
    lengths = ends(stream, whole)
    if not pytestconfig.option.thorough:
        lengths = [*lengths[:-60:4], *lengths[-60:]]
    succeeded = []

    for length in lengths:
        reader = dialect.reader(())
        try:
            events = read(reader, [stream[:length]])
        except ProviderReplyInvalid:
            assert not reader.finished
            continue
        succeeded.append(length)
        assert reader.finished
        assert text_of(events) == "".join(answer.text)
        assert len(calls_of(events)) == len(answer.calls)

    assert succeeded == [length for length in lengths if length >= whole]


def end_mark(dialect: Dialect) -> bytes:
    """Return `[DONE]` as a stream of this format would hold it."""
    return (
        b"\n\ndata: [DONE]\n\n"
        if "event-stream" in dialect.content_type
        else b"\n[DONE]\n"
    )


@pytest.mark.parametrize("sentence", ["text", "one call", "several calls"])
def test_an_end_mark_after_a_whole_message_is_a_finish(
    dialect: Dialect, sentence: str
) -> None:
    """Invariant 59."""
    stream = dialect.render(ANSWERS[sentence])
    unfinished = dialect.finished_after(stream) - 1
    last = [
        place
        for place, event in arrivals(dialect, stream[:unfinished])
        if not isinstance(event, ReasoningDelta)
    ]
    reader = dialect.reader(())

    events = read(reader, [stream[: last[-1]] + end_mark(dialect)])

    assert text_of(events) == "".join(ANSWERS[sentence].text)
    assert [call.name for call in calls_of(events)] == [
        call.name for call in ANSWERS[sentence].calls
    ][: len(last)]
    assert isinstance(end := events[-1], CompletionResult)
    assert end.finish_reason is ANSWERS[sentence].finish
    assert reader.finished


def test_an_end_mark_alone_is_no_finish(dialect: Dialect) -> None:
    for sent in (b"", dialect.render(Answer(reasoning=("Hm.",)))):
        thought = [
            place
            for place, event in arrivals(dialect, sent)
            if isinstance(event, ReasoningDelta)
        ]
        with pytest.raises(ProviderReplyInvalid):
            read(
                dialect.reader(()),
                [sent[: max(thought, default=0)] + end_mark(dialect)],
            )


def test_a_reply_that_is_over_says_so(dialect: Dialect) -> None:
    reader = dialect.reader(())
    stream = dialect.render(ANSWERS["text"])

    assert not reader.done
    list(reader.feed(stream))

    assert reader.done


def test_words_arrive_as_soon_as_they_are_sent(dialect: Dialect) -> None:
    stream = dialect.render(Answer(text=("first", "second")))

    came = arrivals(dialect, stream)

    assert [event for _, event in came][:2] == [TextDelta("first"), TextDelta("second")]
    assert came[0][0] < stream.index(b"second")


def test_a_call_goes_out_before_the_next_one_is_written(dialect: Dialect) -> None:
    stream = dialect.render(Answer(calls=(ON, OFF), finish=FinishReason.TOOL_CALLS))

    ready = [
        place
        for place, event in arrivals(dialect, stream)
        if isinstance(event, ToolCallReady)
    ]

    assert ready[0] < stream.index(b"turn_off")


def test_ids_are_kept_apart_from_those_of_the_conversation(dialect: Dialect) -> None:
    """Invariant 6."""
    stream = dialect.render(Answer(calls=(BARE,), finish=FinishReason.TOOL_CALLS))
    [first] = calls_of(read(dialect.reader(()), [stream]))

    [second] = calls_of(
        read(dialect.reader((AssistantMessage(tool_calls=(first,)),)), [stream])
    )

    assert second.id != first.id
