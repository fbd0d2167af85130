"""The offline provider alone: it sees a request, and nothing else."""

import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.conversation.own_words import NO_MODEL
from custom_components.chatterbox.agent.errors import ProviderRejectedRequest
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    NamedTool,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.text import MOST_UNDERSTOOD
from custom_components.chatterbox.offline.provider import (
    PROCESS_SENTENCE,
    SENTENCE,
    OfflineProvider,
    sentence_call,
)


async def infer(request: CompletionRequest) -> list[ProviderEvent]:
    stream: AsyncGenerator[ProviderEvent] = OfflineProvider().stream(request)
    return [event async for event in stream]


def asking(text: str, *after: AssistantMessage | ToolResult) -> CompletionRequest:
    return CompletionRequest(
        "",
        (UserMessage("before"), AssistantMessage("yes"), UserMessage(text), *after),
        (PROCESS_SENTENCE,),
    )


CALLED = AssistantMessage(tool_calls=(ToolCall("1", PROCESS_SENTENCE.name, "{}"),))
STOPPED = CompletionResult(FinishReason.STOP, provider_items=(NO_MODEL,))


def answered(content: str) -> ToolResult:
    return ToolResult("1", PROCESS_SENTENCE.name, content)


@pytest.mark.parametrize(
    "choice",
    [ToolChoiceMode.AUTO, ToolChoiceMode.REQUIRED, NamedTool(PROCESS_SENTENCE.name)],
)
async def test_what_was_said_last_is_handed_over_word_for_word(
    choice: ToolChoice,
) -> None:
    text = 'Schalte "Küche" ein\nbitte \\'

    ready, done = await infer(replace(asking(text), tool_choice=choice))

    assert isinstance(ready, ToolCallReady)
    assert ready.call.name == PROCESS_SENTENCE.name
    assert json.loads(ready.call.arguments) == {SENTENCE: text}
    assert done == CompletionResult(FinishReason.TOOL_CALLS, provider_items=(NO_MODEL,))


async def test_every_call_has_an_id_of_its_own() -> None:
    first, second = await infer(asking("hi")), await infer(asking("hi"))

    assert isinstance(first[0], ToolCallReady)
    assert isinstance(second[0], ToolCallReady)
    assert first[0].call.id != second[0].call.id


async def test_the_answer_is_what_the_result_says() -> None:
    result = answered('{"speech":{"plain":{"speech":" Done. ","extra_data":null}}}')

    assert await infer(asking("hi", CALLED, result)) == [TextDelta("Done."), STOPPED]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no JSON",
        "[]",
        "{}",
        '{"speech":{}}',
        '{"speech":{"plain":{"speech":5}}}',
        '"x"',
    ],
)
async def test_a_result_that_says_nothing_is_not_invented(content: str) -> None:
    assert await infer(asking("hi", CALLED, answered(content))) == [STOPPED]


LOOKED = (
    AssistantMessage(tool_calls=(ToolCall("2", "look", "{}"),)),
    ToolResult("2", "look", '{"light":"off"}'),
)


async def test_results_that_only_a_model_understands_are_refused_where_nothing_may_be_done() -> (
    None
):
    with pytest.raises(ProviderRejectedRequest, match="other tools"):
        await infer(replace(asking("hi", *LOOKED), directive="Answer now."))


async def test_who_only_looked_up_something_has_not_acted() -> None:
    (event, _) = await infer(asking("hi", *LOOKED))

    assert isinstance(event, ToolCallReady)
    assert event.call.arguments == '{"sentence":"hi"}'


async def test_what_its_own_tool_says_is_said_whatever_else_was_looked_up() -> None:
    result = answered('{"speech":{"plain":{"speech":"Done"}}}')

    assert await infer(asking("hi", *LOOKED, CALLED, result)) == [
        TextDelta("Done"),
        STOPPED,
    ]
    assert await infer(asking("hi", *LOOKED, CALLED, answered("{}"))) == [STOPPED]


@pytest.mark.parametrize(
    "forbid",
    [
        lambda request: replace(request, tool_choice=ToolChoiceMode.NONE),
        lambda request: replace(request, directive="Answer now."),
    ],
    ids=["tool_choice none", "directive"],
)
async def test_where_no_tool_may_run_none_is_called(
    forbid: Callable[[CompletionRequest], CompletionRequest],
) -> None:
    result = answered('{"speech":{"plain":{"speech":"Done"}}}')

    assert await infer(forbid(asking("hi"))) == [STOPPED]
    assert await infer(forbid(asking("hi", CALLED, result))) == [
        TextDelta("Done"),
        STOPPED,
    ]


@pytest.mark.parametrize(
    "request_",
    [
        replace(asking("hi"), tools=()),
        replace(asking("hi"), tool_choice=NamedTool("another")),
    ],
)
async def test_a_request_that_it_cannot_serve_is_refused(
    request_: CompletionRequest,
) -> None:
    with pytest.raises(ProviderRejectedRequest, match=PROCESS_SENTENCE.name):
        await infer(request_)


def test_the_tool_is_known_as_one_that_acts() -> None:
    assert not PROCESS_SENTENCE.annotations.read_only
    assert PROCESS_SENTENCE.annotations.destructive


def test_of_a_sentence_that_is_too_long_no_more_is_passed_on_than_tells_that() -> None:
    call = sentence_call("turn on the kitchen light " * 400)

    assert MOST_UNDERSTOOD < len(call.arguments) < MOST_UNDERSTOOD + 40
