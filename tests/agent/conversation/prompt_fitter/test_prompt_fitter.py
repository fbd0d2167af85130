"""The part of a conversation that a model is sent, and the lessons from the answers of its service."""

import asyncio
import gc
import weakref
from collections.abc import Coroutine
from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.conversation.prompt_fitter import (
    DEFAULT_WINDOW,
    LEAST_WINDOW,
    Allowance,
    ContextWindow,
    PromptFitter,
    PromptSize,
)
from custom_components.chatterbox.agent.conversation.token_estimate import TokenEstimate
from custom_components.chatterbox.agent.errors import (
    PromptTooLong,
    ProviderBusy,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import TextDelta
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    Summary,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import (
    AnswerOptions,
    CompletionRequest,
)
from tests.agent.conversation.transcripts import ask, request_tokens
from tests.agent.turns import assert_valid
from tests.support.doubles import Line, ScriptedProvider, say

TOOL = ToolDefinition(
    "light_on",
    "Turns on a light",
    {"type": "object", "properties": {"name": {"type": "string"}}},
)


def conversation(turns: int) -> Transcript:
    """Return a conversation that ends with a question."""
    words = [
        message
        for number in range(turns)
        for message in (
            UserMessage(f"Question {number}?"),
            AssistantMessage(f"Answer {number}. " * 10),
        )
    ]
    return (*words, UserMessage("And now?"))


def asking(turns: int, **other: str) -> CompletionRequest:
    """Return a request in the middle of a conversation."""
    return CompletionRequest(
        other.get("instructions", "Be kind."), conversation(turns), (TOOL,)
    )


def answering(tokens: int) -> list[Line]:
    """Script an answer to a prompt that took so many tokens."""
    return say("Yes.", usage=Usage(tokens, 2))


def size_of(fitter: PromptFitter) -> PromptSize | None:
    """Return what the last request took, now; a type checker believes that an attribute stays as it was compared."""
    return fitter.last_size


async def test_a_request_that_fits_is_sent_as_it_is() -> None:
    inner = ScriptedProvider(answering(0))
    request = asking(20)
    events = await ask(inner, PromptFitter(ContextWindow()), request)
    assert inner.requests[0] is request
    assert events[0] == TextDelta("Yes.")


async def test_a_conversation_that_does_not_fit_is_cut_to_what_does() -> None:
    inner = ScriptedProvider(answering(0))
    fitter = PromptFitter(ContextWindow(2_048))
    await ask(inner, fitter, asking(60))
    sent = inner.requests[0]
    assert request_tokens(sent) <= 2_048 - 512
    assert sent.transcript[-1] == UserMessage("And now?")
    assert (sent.instructions, sent.tools) == ("Be kind.", (TOOL,))
    assert fitter.window(asking(60)).transcript == sent.transcript


async def test_earlier_turns_take_their_allowance_at_most() -> None:
    inner = ScriptedProvider(answering(0))
    await ask(
        inner,
        PromptFitter(ContextWindow(200_000), Allowance(history=1_000)),
        asking(60),
    )
    assert request_tokens(inner.requests[0]) <= 1_100


@pytest.mark.parametrize(
    ("allowed", "requested", "room"),
    [
        (None, None, 2_048),
        (4_000, None, 4_000),
        (100, None, 100),
        (900_000, None, 8_192),
        (None, 6_000, 6_000),
        (None, 90_000, 8_192),
        (100, 6_000, 100),
    ],
)
async def test_there_is_room_for_an_answer(
    allowed: int | None, requested: int | None, room: int
) -> None:
    inner = ScriptedProvider(answering(0))
    request = replace(asking(1_000), options=AnswerOptions(max_output_tokens=requested))
    await ask(
        inner, PromptFitter(ContextWindow(16_384), Allowance(100_000, allowed)), request
    )
    assert 16_384 - request_tokens(inner.requests[0]) >= room


async def test_a_summary_stands_for_what_it_sums_up() -> None:
    inner = ScriptedProvider(answering(0))
    request = replace(asking(20), summary=Summary("They asked ten questions.", 20))
    await ask(inner, PromptFitter(ContextWindow()), request)
    first, *rest = inner.requests[0].transcript
    assert isinstance(first, UserMessage)
    assert "They asked ten questions." in first.context
    assert tuple(rest) == request.transcript[21:]


async def test_small_changes_of_what_else_is_sent_leave_the_window_where_it_is() -> (
    None
):
    fitter = PromptFitter(ContextWindow(2_048))
    for turns in range(20, 60):
        windows = [
            fitter.window(
                asking(turns, instructions="Be kind. " * 70 + "Today. " * number)
            )
            for number in range(0, 40, 4)
        ]
        assert len({window.dropped for window in windows}) == 1


async def test_reported_usage_corrects_the_window() -> None:
    inner = ScriptedProvider(answering(6_000), answering(0))
    fitter = PromptFitter(ContextWindow(4_096))
    for _ in range(2):
        await ask(inner, fitter, asking(100))
    before, after = (request_tokens(request) for request in inner.requests)
    assert after * 6_000 / before < 4_096


async def test_pictures_say_nothing_about_words() -> None:
    inner = ScriptedProvider(*[answering(90)] * 10)
    fitter = PromptFitter(ContextWindow())
    picture = UserMessage("What is this?", (Attachment("image/png", b"..."),))
    for _ in range(10):
        await ask(inner, fitter, CompletionRequest("", (picture,)))
    assert fitter.estimate == TokenEstimate()


async def test_the_size_of_a_prompt_is_told() -> None:
    inner = ScriptedProvider(answering(0), answering(5_000), [ProviderBusy("later")])
    fitter = PromptFitter(ContextWindow(16_000))
    assert size_of(fitter) is None
    request = asking(20)
    await ask(inner, fitter, request)
    estimated = size_of(fitter)
    assert estimated is not None
    assert not estimated.is_reported
    assert estimated.window == fitter.context_window == 16_000
    assert estimated.prompt == request_tokens(request)
    assert estimated.tools == TokenEstimate().of_tools([TOOL])
    assert estimated.instructions == TokenEstimate().of_text("Be kind.")
    await ask(inner, fitter, request)
    reported = size_of(fitter)
    assert reported is not None
    assert (reported.prompt, reported.is_reported) == (5_000, True)
    with pytest.raises(ProviderBusy):
        await ask(inner, fitter, replace(request, instructions=""))
    failed = size_of(fitter)
    assert failed is not None
    assert failed.instructions == 0


async def test_a_refused_prompt_is_asked_once_more_within_what_the_refusal_tells() -> (
    None
):
    refusal = PromptTooLong("too long", 9_000, 4_096)
    inner = ScriptedProvider([refusal], answering(0), answering(0))
    fitter = PromptFitter(ContextWindow())
    assert (await ask(inner, fitter, asking(100)))[0] == TextDelta("Yes.")
    refused, again = inner.requests
    tokens = request_tokens
    assert tokens(again) * 9_000 / tokens(refused) < 4_096 - 1_024
    assert fitter.context_window == 4_096
    await ask(inner, fitter, asking(100))
    assert inner.requests[2].transcript == again.transcript


async def test_a_refusal_by_a_window_that_was_known_corrects_the_count() -> None:
    inner = ScriptedProvider([PromptTooLong("too long", 9_000, 8_192)], answering(0))
    fitter = PromptFitter(ContextWindow(8_192))
    await ask(inner, fitter, asking(100))
    assert fitter.context_window == 8_192
    refused, again = inner.requests
    assert request_tokens(refused, fitter.estimate) >= 9_000
    assert request_tokens(again, fitter.estimate) <= 8_192 - 2_048


async def test_a_refusal_without_numbers_makes_the_next_try_shorter() -> None:
    inner = ScriptedProvider([PromptTooLong("too long")], answering(0))
    fitter = PromptFitter(ContextWindow(8_192))
    await ask(inner, fitter, asking(60))
    refused, again = inner.requests
    tokens = request_tokens
    assert tokens(again) <= tokens(refused) * 3 / 4
    assert again.transcript[-1] == refused.transcript[-1]
    assert fitter.context_window < 8_192


async def test_a_refused_prompt_is_asked_once_more_and_no_more() -> None:
    inner = ScriptedProvider([PromptTooLong("no")], [PromptTooLong("no")])
    with pytest.raises(PromptTooLong):
        await ask(inner, PromptFitter(ContextWindow()), asking(60))
    assert len(inner.requests) == 2


async def test_a_prompt_that_cannot_be_shorter_is_not_asked_again() -> None:
    inner = ScriptedProvider([PromptTooLong("no")], answering(0))
    fitter = PromptFitter(ContextWindow(8_192))
    with pytest.raises(PromptTooLong):
        await ask(inner, fitter, CompletionRequest("", (UserMessage("Hello?"),)))
    assert fitter.context_window == 8_192


async def test_nothing_is_asked_again_once_something_was_said() -> None:
    inner = ScriptedProvider([TextDelta("Well"), PromptTooLong("no", 9_000, 4_096)])
    with pytest.raises(PromptTooLong):
        await ask(inner, PromptFitter(ContextWindow()), asking(100))
    assert len(inner.requests) == 1


async def test_a_server_may_cut_a_prompt_only_when_nothing_else_helps() -> None:
    inner = ScriptedProvider([PromptTooLong("no")], answering(0), answering(0))
    fitter = PromptFitter(ContextWindow(8_192), server_cuts=True)
    await ask(inner, fitter, CompletionRequest("", (UserMessage("Hello?"),)))
    await ask(inner, fitter, CompletionRequest("", (UserMessage("Hello?"),)))
    assert [request.may_be_cut for request in inner.requests] == [False, True, False]


@pytest.mark.parametrize("context", range(1_024, 4_096, 97))
async def test_a_call_and_its_result_are_sent_together_or_not_at_all(
    context: int,
) -> None:
    """Invariant 71: `truncation` is `auto`."""
    looked = [
        message
        for number in range(30)
        for message in (
            UserMessage(f"Look {number}!"),
            AssistantMessage(
                tool_calls=(
                    ToolCall(f"a{number}", "look", "{}"),
                    ToolCall(f"b{number}", "look", "{}"),
                )
            ),
            ToolResult(f"a{number}", "look", "dark " * 20),
            ToolResult(f"b{number}", "look", "bright " * 20),
        )
    ]
    inner = ScriptedProvider(answering(0))
    await ask(
        inner,
        PromptFitter(ContextWindow(context)),
        CompletionRequest("", tuple(looked)),
    )
    sent = inner.requests[0].transcript
    assert 0 < len(sent) < len(looked)
    assert_valid(sent)


def whole(request: CompletionRequest) -> CompletionRequest:
    """Return a request whose conversation may not be shortened."""
    return replace(request, may_be_shortened=False)


async def test_a_conversation_that_may_not_be_shortened_is_sent_whatever_earlier_turns_may_take() -> (
    None
):
    """Invariant 71: `truncation` is `disabled`."""
    inner = ScriptedProvider(answering(0))
    request = whole(
        replace(asking(60), summary=Summary("They asked ten questions.", 20))
    )
    fitter = PromptFitter(
        ContextWindow(16_384), Allowance(history=100), server_cuts=True
    )
    await ask(inner, fitter, request)
    [sent] = inner.requests
    assert (sent.transcript, sent.summary, sent.may_be_cut) == (
        request.transcript,
        None,
        False,
    )
    size = size_of(fitter)
    assert size is not None
    assert (size.prompt, size.dropped) == (request_tokens(request), 0)


async def test_a_conversation_that_may_not_be_shortened_and_is_too_long_is_refused_at_once() -> (
    None
):
    """Invariant 71: `truncation` is `disabled`."""
    inner = ScriptedProvider()
    with pytest.raises(PromptTooLong) as refused:
        await ask(inner, PromptFitter(ContextWindow(2_048)), whole(asking(100)))
    assert refused.value.window_tokens == 2_048
    assert refused.value.prompt_tokens == request_tokens(asking(100))
    assert inner.requests == []


async def test_no_shortage_is_told_before_the_server_was_asked_for_its_window() -> None:
    async def no_window() -> None:
        return None

    questions: list[Coroutine[object, object, None]] = []
    window = ContextWindow(ask=no_window, in_background=questions.append)
    fitter = PromptFitter(window, Allowance(100_000))

    await ask(ScriptedProvider(answering(0)), fitter, asking(2_000))
    before = fitter.shortage
    await questions[0]
    await ask(ScriptedProvider(answering(0)), fitter, asking(2_000))

    assert before is None
    assert fitter.shortage
    assert fitter.shortage.is_window_assumed


async def test_a_shortage_of_room_is_that_of_the_window_that_is_known_by_now() -> None:
    window = ContextWindow()
    fitter = PromptFitter(window, Allowance(100_000))
    found = []
    for limits in ([], [30_000]):
        for limit in limits:
            window.refused(limit)
        await ask(ScriptedProvider(answering(0)), fitter, asking(2_000))
        assert fitter.shortage
        found.append((fitter.shortage.window, fitter.shortage.is_window_assumed))
    assert found == [(DEFAULT_WINDOW, True), (30_000, False)]


async def test_a_guess_refuses_nobody() -> None:
    """Invariant 71: `truncation` is `disabled`."""
    inner = ScriptedProvider(answering(0))
    fitter = PromptFitter(ContextWindow(loaded_with=2_048))
    await ask(inner, fitter, whole(asking(100)))
    assert inner.requests[0].transcript == asking(100).transcript


async def test_a_refusal_of_what_may_not_be_shortened_is_learned_from_and_passed_on() -> (
    None
):
    """Invariant 71: `truncation` is `disabled`."""
    refusal = PromptTooLong("too long", 9_000, 4_096)
    inner = ScriptedProvider([refusal])
    fitter = PromptFitter(ContextWindow(), server_cuts=True)
    for _ in range(2):
        with pytest.raises(PromptTooLong):
            await ask(inner, fitter, whole(asking(100)))
    assert len(inner.requests) == 1, "by now it is known not to fit"
    assert fitter.context_window == 4_096


async def test_the_next_turn_counts_the_last_one_as_an_earlier_one() -> None:
    fitter = PromptFitter(ContextWindow(), Allowance(history=600))
    over = replace(
        asking(0),
        transcript=(UserMessage("Tell me all."), AssistantMessage("All. " * 2_000)),
    )
    assert fitter.window(over).dropped == 0
    assert fitter.window_of_next_turn(over).dropped == 2
    short = replace(
        over, transcript=(UserMessage("Tell me all."), AssistantMessage("All. " * 340))
    )
    assert fitter.window_of_next_turn(short).dropped == 0
    assert fitter.window_of_next_turn(short, share=0.8).dropped == 2


@pytest.mark.parametrize(
    ("configured", "answer", "window", "questions"),
    [
        (None, 4_096, 4_096, 1),
        (None, None, 32_768, 1),
        (None, ProviderUnreachable("gone"), 32_768, 3),
        (None, asyncio.CancelledError(), 32_768, 3),
        (16_384, 4_096, 16_384, 0),
    ],
    ids=[
        "reported",
        "unknown to the server",
        "server down",
        "question cancelled",
        "configured",
    ],
)
async def test_the_server_is_asked_for_its_window_after_an_answer(
    configured: int | None,
    answer: int | BaseException | None,
    window: int,
    questions: int,
) -> None:
    work: list[Coroutine[object, object, None]] = []

    async def window_of_server() -> int | None:
        if isinstance(answer, BaseException):
            raise answer
        return answer

    fitter = PromptFitter(
        ContextWindow(configured, ask=window_of_server, in_background=work.append)
    )
    inner = ScriptedProvider(*[answering(0)] * 12)
    assert not work
    times = 0
    for _ in range(6):
        await ask(inner, fitter, asking(1))
        await ask(inner, fitter, asking(1))
        times += len(work)
        while work:
            await work.pop()
    assert (times, fitter.context_window) == (questions, window)


def test_nothing_of_a_conversation_is_kept_so_what_is_deleted_is_gone() -> None:
    fitter = PromptFitter(ContextWindow())
    result = ToolResult("1", TOOL.name, "On.")
    reference = weakref.ref(result)
    requested = (
        UserMessage("On!"),
        AssistantMessage("", "", (ToolCall("1", TOOL.name, "{}"),)),
        result,
    )

    fitter.fit(CompletionRequest("", (*requested, UserMessage("Thanks."))))
    del result, requested
    gc.collect()

    assert reference() is None


@pytest.mark.parametrize(
    ("window", "refused", "tokens", "is_known"),
    [
        (ContextWindow(), [], DEFAULT_WINDOW, False),
        (ContextWindow(loaded_with=128_000), [], 128_000, False),
        (ContextWindow(16_384), [], 16_384, True),
        (ContextWindow(16_384), [12_000, 14_000], 12_000, True),
        (ContextWindow(), [3], LEAST_WINDOW, True),
    ],
    ids=["nothing known", "guess", "configured", "refused", "refused without reason"],
)
def test_the_best_known_context_window(
    window: ContextWindow, refused: list[int], tokens: int, *, is_known: bool
) -> None:
    for limit in refused:
        window.refused(limit)
    assert (window.tokens, window.is_known) == (tokens, is_known)
