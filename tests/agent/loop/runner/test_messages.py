"""The messages of a turn: those sent to the model, passed on, and left in the conversation."""

from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.errors import (
    MaxIterationsExceeded,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    MessageDone,
    ProviderSwitched,
    ReasoningDelta,
    TextDelta,
    TurnFinished,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    FinishReason,
    NamedTool,
    ToolCall,
    ToolChoiceMode,
    Usage,
    UserMessage,
)
from tests.agent.loop.loop_tools import LIGHT, LOCK, ON, SHOW, TURN, UNLOCK
from tests.agent.turns import collect, finished, results, spoken
from tests.support.doubles import (
    Line,
    ScriptedDispatcher,
    ScriptedProvider,
    asks_for,
    call,
    say,
    tool,
)


async def test_what_the_provider_streams_is_passed_on_as_it_comes() -> None:
    stream: list[Line] = [
        ProviderSwitched("spare", "the first one is gone"),
        ReasoningDelta("Is it dark? "),
        TextDelta("It is "),
        ReasoningDelta("Yes."),
        TextDelta("dark."),
    ]
    provider = ScriptedProvider([*stream, *say("")])

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert [event for event in events if event in stream] == stream
    done = [event.message for event in events if isinstance(event, MessageDone)]
    assert done == [AssistantMessage("It is dark.", "Is it dark? Yes.")]


async def test_text_beside_calls_is_kept_for_the_model() -> None:
    """Invariant 33."""
    provider = ScriptedProvider(call(ON, text="One moment."), say("It is on."))

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert AssistantMessage("One moment.", "", (ON,)) in provider.requests[1].transcript
    assert spoken(events) == "One moment.It is on."
    assert finished(events).text == "It is on."


async def test_every_inference_gets_the_same_instructions_and_the_same_sorted_tools() -> (
    None
):
    tools = (tool("b"), tool("a"), tool("c"))
    provider = ScriptedProvider(call(ToolCall("1", "a", "{}")), say("Done."))
    turn = Turn(
        "Go", instructions="Be brief.", tools=tools, allowed_tools=frozenset({"a"})
    )

    await collect(AgenticLoop(provider, ScriptedDispatcher()), turn)

    first, second = provider.requests
    assert [one.name for one in first.tools] == ["a", "b", "c"]
    assert (
        (first.tools, first.instructions)
        == (second.tools, second.instructions)
        == (first.tools, "Be brief.")
    )
    assert (first.directive, second.directive) == ("", "")
    assert second.transcript[: len(first.transcript)] == first.transcript


async def test_what_holds_at_the_moment_and_what_is_shown_come_with_the_words() -> None:
    photo = Attachment("image/png", b"photo")
    provider = ScriptedProvider(call(ON), say("Done."))
    turn = replace(
        TURN, instructions="Be brief.", context="It is noon.", attachments=(photo,)
    )

    await collect(AgenticLoop(provider, ScriptedDispatcher()), turn)

    words = UserMessage("Light!", (photo,), "It is noon.")
    assert words.prompt == "It is noon.\n\nLight!"
    assert [request.transcript[0] for request in provider.requests] == [words, words]
    assert {
        (request.instructions, request.directive) for request in provider.requests
    } == {("Be brief.", "")}


async def test_what_holds_at_the_moment_follows_where_a_turn_brings_no_words() -> None:
    provider = ScriptedProvider(say("Done."))
    turn = replace(
        TURN, user_text=None, history=(UserMessage("Light!"),), context="It is noon."
    )

    await collect(AgenticLoop(provider, ScriptedDispatcher()), turn)

    assert provider.requests[0].transcript == (UserMessage("Light!"),)
    assert provider.requests[0].directive == "It is noon."


@pytest.mark.parametrize("choice", [ToolChoiceMode.REQUIRED, NamedTool("light_on")])
async def test_a_forced_choice_holds_for_the_first_inference(
    choice: ToolChoiceMode | NamedTool,
) -> None:
    """Invariant 23."""
    provider = ScriptedProvider(call(ON), say("On."))

    await collect(
        AgenticLoop(provider, ScriptedDispatcher()), replace(TURN, tool_choice=choice)
    )

    assert [request.tool_choice for request in provider.requests] == [
        choice,
        ToolChoiceMode.AUTO,
    ]


async def test_a_whole_answer_is_the_collected_stream() -> None:
    provider = ScriptedProvider(call(ON, text="Wait."), say("It is on."))
    dispatcher = ScriptedDispatcher()

    text = await AgenticLoop(provider, dispatcher).run(
        "Light!", (UserMessage("Hi"),), [LIGHT], instructions="Be brief."
    )

    assert text == "It is on."
    assert provider.requests[0].instructions == "Be brief."
    assert provider.requests[0].transcript == (UserMessage("Hi"), UserMessage("Light!"))
    assert len(dispatcher.finished) == 1


async def test_a_whole_answer_at_the_bound_of_inferences_is_an_error() -> None:
    provider = ScriptedProvider(call(ON), call(UNLOCK))
    loop = AgenticLoop(provider, ScriptedDispatcher())

    with pytest.raises(MaxIterationsExceeded, match="light_on") as raised:
        await loop.run("Light!", tools=[LIGHT, LOCK], limits=Limits(max_iterations=2))
    assert isinstance(raised.value, RuntimeError)
    assert provider.open_streams == 0


async def test_a_whole_answer_of_a_model_that_is_not_there_is_its_error() -> None:
    gone = ProviderUnreachable("gone")

    with pytest.raises(ProviderUnreachable) as raised:
        await AgenticLoop(ScriptedProvider([gone]), ScriptedDispatcher()).run("Hi")
    assert raised.value is gone


async def test_a_whole_answer_tells_what_was_done_before_the_model_was_gone() -> None:
    provider = ScriptedProvider(call(ON), [ProviderReplyInvalid("cut")])

    assert "light_on" in await AgenticLoop(provider, ScriptedDispatcher()).run(
        "Light!", tools=[LIGHT]
    )


async def test_two_turns_of_one_loop_know_nothing_of_each_other() -> None:
    """Invariant 64."""
    provider = ScriptedProvider(call(ON), say("On."), call(ON), say("On again."))
    dispatcher = ScriptedDispatcher()
    loop = AgenticLoop(provider, dispatcher)

    first, second = await collect(loop, TURN), await collect(loop, TURN)

    assert len(dispatcher.finished) == 2
    assert provider.requests[2].transcript == (UserMessage("Light!"),)
    ends = [finished(first), finished(second)]
    assert [(end.usage, end.iterations, len(end.tool_results)) for end in ends] == [
        (Usage(20, 10), 2, 1)
    ] * 2
    assert all(isinstance(end, TurnFinished) for end in ends)


async def test_blank_lines_before_an_answer_are_not_spoken() -> None:
    provider = ScriptedProvider(
        [
            TextDelta("\n"),
            TextDelta("\n  It"),
            TextDelta("\nis."),
            CompletionResult(FinishReason.STOP),
        ]
    )
    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), Turn("Hi"))

    assert [event.text for event in events if isinstance(event, TextDelta)] == [
        "It",
        "\nis.",
    ]


async def test_beside_a_call_of_the_caller_nothing_runs_and_the_model_may_call_again() -> (
    None
):
    """Invariant 22."""
    look, show = ToolCall("l", "look", "{}"), replace(SHOW, arguments='{ "n" : 1 }')
    dispatcher = ScriptedDispatcher()
    provider = ScriptedProvider(
        call(look, ON, show, UNLOCK, replace(ON, id="x", name="unheard_of"))
    )
    tools = (*TURN.tools, tool("look", read_only=True))
    turn = replace(TURN, tools=tools, guards_client_calls=False)

    events = await collect(
        AgenticLoop(provider, dispatcher, hooks=[asks_for("unlock")]), turn
    )

    assert dispatcher.started == []
    assert finished(events).client_calls == (show,), "as it was written"
    refused = {
        result.call_id: "Call it again" in result.content for result in results(events)
    }
    assert refused == {look.id: True, ON.id: True, UNLOCK.id: True, "x": False}


async def test_the_caller_may_be_called_when_the_home_may_no_more() -> None:
    """Invariants 18, 19."""
    provider = ScriptedProvider(
        call(ON), call(replace(ON, id="x", arguments='{"n":1}')), call(SHOW)
    )
    dispatcher = ScriptedDispatcher()

    events = await collect(
        AgenticLoop(provider, dispatcher),
        replace(TURN, limits=Limits(max_tool_calls=1)),
    )

    assert [one.id for one in dispatcher.finished] == [ON.id]
    assert ["used up" in result.content for result in results(events)] == [False, True]
    assert finished(events).client_calls == (SHOW,)
