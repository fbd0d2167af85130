"""A provider that fails ends the turn, or degrades it once a tool has run; a bug escapes; all else is answered."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.errors import (
    ProviderError,
    ProviderFailed,
    ProviderRejectedKey,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    JsonObject,
    ToolCall,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from tests.agent.turns import collect, finished, results, spoken
from tests.support.doubles import (
    Line,
    ScriptedDispatcher,
    ScriptedProvider,
    call,
    never,
    say,
    tool,
)

NUMBER: JsonObject = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
TURN = Turn(
    "Light!",
    tools=(
        tool("light_on"),
        tool("dim", parameters=NUMBER),
        tool("look", read_only=True),
    ),
)
ON = ToolCall("1", "light_on", "{}")
STORY = "Once upon a time, there was a village between two hills, and its name was "


@pytest.mark.parametrize("error", [ProviderUnreachable, ProviderRejectedKey])
async def test_a_provider_that_fails_ends_the_turn_in_words(
    error: type[ProviderError],
) -> None:
    failure = error("what it said")
    provider = ScriptedProvider([failure])

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    end = finished(events)
    assert end.stop_reason is StopReason.PROVIDER_FAILED
    assert end.error is failure
    assert end.text
    assert end.tool_results == ()
    assert len(provider.requests) == 1, "nothing is tried again"


async def test_what_was_said_before_a_failure_stays_said() -> None:
    """Invariant 57."""
    provider = ScriptedProvider([TextDelta(STORY), ProviderReplyInvalid("cut")])
    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)
    assert finished(events).text == spoken(events)
    assert finished(events).text.startswith(f"{STORY}… The model could not be reached.")


async def test_a_whole_sentence_before_a_failure_needs_no_pause() -> None:
    provider = ScriptedProvider(
        [TextDelta(f"{STORY}Oak."), ProviderUnreachable("gone")]
    )
    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)
    assert finished(events).text.startswith(
        f"{STORY}Oak. The model could not be reached."
    )


LOOKED = ToolCallReady(ToolCall("2", "look", "{}"))


@pytest.mark.parametrize(
    ("begun", "words"),
    [
        ([TextDelta("The story of")], "The story ofThe story of Oak is long."),
        ([ReasoningDelta("Hm, a story.")], "The story of Oak is long."),
    ],
    ids=["few words", "thoughts"],
)
@pytest.mark.parametrize(
    "failure", [ProviderUnreachable("gone"), ProviderFailed("crashed"), None], ids=repr
)
@pytest.mark.parametrize("looks", ["", "looks first"])
async def test_an_answer_that_broke_off_early_is_asked_for_once_more_and_comes_whole(
    begun: list[Line], words: str, failure: ProviderError | None, looks: str
) -> None:
    first: list[Line] = [LOOKED, CompletionResult(FinishReason.TOOL_CALLS)]
    broken: list[Line] = [*begun, *([failure] if failure else [])]
    provider = ScriptedProvider(
        *([first] if looks else []), broken, say("The story of Oak is long.")
    )

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert finished(events).stop_reason is StopReason.COMPLETED
    assert finished(events).error is None
    assert finished(events).text == "The story of Oak is long."
    assert spoken(events) == words
    assert provider.requests[-1] == provider.requests[-2], (
        "the model is not told of the broken answer"
    )


async def test_words_that_broke_off_are_in_no_later_request_of_the_turn() -> None:
    broken: list[Line] = [TextDelta("The story of"), ProviderUnreachable("gone")]
    provider = ScriptedProvider(
        broken, [LOOKED, CompletionResult(FinishReason.TOOL_CALLS)], say("It is dark.")
    )

    await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    answers = [
        one
        for one in provider.requests[-1].transcript
        if isinstance(one, AssistantMessage)
    ]
    assert [(one.text, one.tool_calls) for one in answers] == [
        ("", ()),
        ("", (LOOKED.call,)),
    ]


@pytest.mark.parametrize(
    "inferences",
    [
        [[TextDelta("It is"), ProviderUnreachable("gone")]] * 2,
        [
            [ToolCallReady(ON), CompletionResult(FinishReason.TOOL_CALLS)],
            [TextDelta("It"), ProviderUnreachable("gone")],
        ],
        [[TextDelta("It is"), ToolCallReady(ON), ProviderUnreachable("gone")]],
        [[TextDelta("It is"), ProviderRejectedKey("no")]],
        [[TextDelta(" "), ProviderUnreachable("gone")]],
    ],
    ids=["twice", "after a change", "after a call", "refused", "nothing"],
)
async def test_it_is_not_asked_for_again_where_that_is_of_no_use_or_may_do_something_twice(
    inferences: list[list[Line]],
) -> None:
    provider, dispatcher = ScriptedProvider(*inferences), ScriptedDispatcher()
    events = await collect(AgenticLoop(provider, dispatcher), TURN)
    assert finished(events).stop_reason is StopReason.PROVIDER_FAILED
    assert len(provider.requests) == len(inferences)
    assert len(dispatcher.finished) <= 1


@pytest.mark.parametrize(
    "lines",
    [[], [TextDelta(STORY)], [ToolCallReady(ON)]],
    ids=["nothing", "text", "call"],
)
async def test_a_stream_that_ends_without_a_finish_is_a_failure(
    lines: list[Line],
) -> None:
    """Invariant 59."""
    events = await collect(
        AgenticLoop(ScriptedProvider(lines), ScriptedDispatcher()), TURN
    )
    assert isinstance(finished(events).error, ProviderReplyInvalid)
    assert finished(events).stop_reason is StopReason.PROVIDER_FAILED


async def test_what_comes_after_the_finish_is_not_waited_for() -> None:
    provider = ScriptedProvider([*say("Hi."), TextDelta("more"), never])
    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)
    assert finished(events).text == "Hi."
    assert provider.open_streams == 0


@pytest.mark.parametrize(
    "bug", [KeyError("choices"), TimeoutError("socket"), RuntimeError("bug")], ids=repr
)
async def test_a_bug_of_a_provider_escapes_and_leaves_nothing_running(
    bug: Exception,
) -> None:
    dispatcher = ScriptedDispatcher({"look": never})
    provider = ScriptedProvider([ToolCallReady(replace(ON, name="look")), bug])

    with pytest.raises(type(bug)) as raised:
        await collect(AgenticLoop(provider, dispatcher), TURN)

    assert raised.value is bug
    assert (provider.open_streams, dispatcher.running) == (0, 0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_an_event_that_no_provider_may_send_is_a_bug() -> None:
    class Confused:
        async def stream(
            self, request: CompletionRequest
        ) -> AsyncGenerator[ProviderEvent]:
            yield request  # type: ignore[misc]  # that is the point

    with pytest.raises(AssertionError):
        await collect(AgenticLoop(Confused(), ScriptedDispatcher()), TURN)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        (
            "unheard_of",
            "{}",
            "There is no tool 'unheard_of'. Tools: dim, light_on, look.",
        ),
        ("dim", '{"n": "bright"}', "n: expected integer"),
        ("dim", '{"n": "' + "5" * 1024 * 1024 + '"}', "too long"),
        ("x" * 1024 * 1024, "{}", "There is no tool"),
    ],
    ids=["unknown", "wrong", "1 MB", "1 MB name"],
)
async def test_a_call_that_cannot_run_is_answered_and_the_model_goes_on(
    name: str, arguments: str, words: str
) -> None:
    """Invariants 27, 28, 62."""
    dispatcher = ScriptedDispatcher()
    provider = ScriptedProvider(
        call(ToolCall("1", name, arguments), replace(ON, id="2")),
        say("The light is on."),
    )

    events = await collect(AgenticLoop(provider, dispatcher), TURN)

    refused, done = results(events)
    assert words in refused.content
    assert (refused.is_error, refused.synthetic, done.is_error) == (True, True, False)
    assert len(refused.content) < 500
    assert [one.name for one in dispatcher.finished] == ["light_on"]
    assert finished(events).text == "The light is on."
    assert sum(len(str(message)) for message in provider.requests[1].transcript) < 5_000


@pytest.mark.parametrize("finish", [FinishReason.STOP, FinishReason.TOOL_CALLS])
async def test_an_answer_without_words_is_made_from_what_was_done(
    finish: FinishReason,
) -> None:
    """Invariant 65."""
    provider = ScriptedProvider(call(ON), [CompletionResult(finish)])
    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)
    assert finished(events).text == "Done: light_on."
    assert finished(events).stop_reason is StopReason.COMPLETED


@pytest.mark.parametrize("text", ["", " \n"])
async def test_no_answer_at_all_is_still_not_silence(text: str) -> None:
    events = await collect(
        AgenticLoop(ScriptedProvider(say(text)), ScriptedDispatcher()), TURN
    )
    assert finished(events).text.strip() == "I don't have an answer to that."


CUT = (
    (FinishReason.LENGTH, "My answer became too long."),
    (FinishReason.CONTENT_FILTER, "My answer was held back"),
)


@pytest.mark.parametrize(("finish", "reason"), CUT)
async def test_a_caller_gets_an_answer_that_was_cut_as_it_is(
    finish: FinishReason, reason: str
) -> None:
    events = await collect(
        AgenticLoop(
            ScriptedProvider(say("It is a long st", finish)), ScriptedDispatcher()
        ),
        TURN,
    )
    assert finished(events).text == "It is a long st"
    assert reason not in spoken(events)


@pytest.mark.parametrize(("finish", "reason"), CUT)
@pytest.mark.parametrize(
    ("text", "gap"), [("It is a long st", "… "), ("It is long.", " ")]
)
async def test_a_person_hears_why_an_answer_was_cut(
    finish: FinishReason, reason: str, text: str, gap: str
) -> None:
    turn = replace(TURN, checks_answer=True)
    events = await collect(
        AgenticLoop(ScriptedProvider(say(text, finish)), ScriptedDispatcher()), turn
    )
    assert finished(events).text == spoken(events)
    assert spoken(events).startswith(f"{text}{gap}{reason}")
    assert not finished(events).composed
