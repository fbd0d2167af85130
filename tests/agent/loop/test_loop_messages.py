"""What a turn sends to the model, what it passes on, and what it leaves in the conversation."""

from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.errors import MaxIterationsExceeded, ProviderReplyInvalid, ProviderUnreachable
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    MessageDone,
    ProviderSwitched,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCallReady,
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
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import Ask
from tests.agent.turns import calls, collect, finished, results, spoken
from tests.support.doubles import Line, ScriptedDispatcher, ScriptedHooks, ScriptedProvider, call, say, tool

from .loop_tools import LIGHT, LOCK, ON, SHOW, TURN, UNLOCK


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


async def test_usage_is_summed_over_all_inferences() -> None:
    """Invariant 15."""
    first, second = Usage(100, 20, 80, 5), Usage(150, 10, 120, 3)
    provider = ScriptedProvider(call(ON, usage=first), say("On.", usage=second))

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert finished(events).usage == Usage(250, 30, 200, 8)
    assert finished(events).iterations == 2


async def test_every_inference_gets_the_same_instructions_and_the_same_sorted_tools() -> None:
    tools = (tool("b"), tool("a"), tool("c"))
    provider = ScriptedProvider(call(ToolCall("1", "a", "{}")), say("Done."))
    turn = Turn("Go", instructions="Be brief.", tools=tools, allowed_tools=frozenset({"a"}))

    await collect(AgenticLoop(provider, ScriptedDispatcher()), turn)

    first, second = provider.requests
    assert [one.name for one in first.tools] == ["a", "b", "c"]
    assert (first.tools, first.instructions) == (second.tools, second.instructions) == (first.tools, "Be brief.")
    assert (first.directive, second.directive) == ("", "")
    assert second.transcript[: len(first.transcript)] == first.transcript


async def test_what_holds_at_the_moment_and_what_is_shown_come_with_the_words() -> None:
    photo = Attachment("image/png", b"photo")
    provider = ScriptedProvider(call(ON), say("Done."))
    turn = replace(TURN, instructions="Be brief.", context="It is noon.", attachments=(photo,))

    await collect(AgenticLoop(provider, ScriptedDispatcher()), turn)

    words = UserMessage("Light!", (photo,), "It is noon.")
    assert words.prompt == "It is noon.\n\nLight!"
    assert [request.transcript[0] for request in provider.requests] == [words, words]
    assert {(request.instructions, request.directive) for request in provider.requests} == {("Be brief.", "")}


async def test_what_holds_at_the_moment_follows_where_a_turn_brings_no_words() -> None:
    provider = ScriptedProvider(say("Done."))
    turn = replace(TURN, user_text=None, history=(UserMessage("Light!"),), context="It is noon.")

    await collect(AgenticLoop(provider, ScriptedDispatcher()), turn)

    assert provider.requests[0].transcript == (UserMessage("Light!"),)
    assert provider.requests[0].directive == "It is noon."


@pytest.mark.parametrize("choice", [ToolChoiceMode.REQUIRED, NamedTool("light_on")])
async def test_a_forced_choice_holds_for_the_first_inference(choice: ToolChoiceMode | NamedTool) -> None:
    """Invariant 23."""
    provider = ScriptedProvider(call(ON), say("On."))

    await collect(AgenticLoop(provider, ScriptedDispatcher()), replace(TURN, tool_choice=choice))

    assert [request.tool_choice for request in provider.requests] == [choice, ToolChoiceMode.AUTO]


async def test_with_no_tools_wanted_nothing_runs() -> None:
    """Invariant 24."""
    dispatcher = ScriptedDispatcher()
    provider = ScriptedProvider(call(ON, SHOW), say("I cannot."))

    events = await collect(AgenticLoop(provider, dispatcher), replace(TURN, tool_choice=ToolChoiceMode.NONE))

    assert dispatcher.started == []
    assert all(result.is_error and result.synthetic for result in results(events))
    assert {request.tool_choice for request in provider.requests} == {ToolChoiceMode.NONE}
    assert provider.requests[1].directive


async def test_a_tool_outside_the_allowed_ones_is_offered_but_does_not_run() -> None:
    """Invariant 25."""
    dispatcher = ScriptedDispatcher()
    provider = ScriptedProvider(call(ON, UNLOCK, SHOW), say("Done."))
    allowed = frozenset({"unlock"})

    events = await collect(AgenticLoop(provider, dispatcher), replace(TURN, allowed_tools=allowed))

    assert [one.name for one in provider.requests[0].tools] == ["light_on", "show_page", "unlock"]
    assert [one.name for one in dispatcher.finished] == ["unlock"]
    assert [result.is_error for result in results(events)] == [True, False, True]
    assert "not allowed" in results(events)[0].content


async def test_the_history_is_sent_and_stays_as_it_is() -> None:
    """Invariant 64."""
    history: Transcript = (UserMessage("Hello"), AssistantMessage("Hi."))
    provider = ScriptedProvider(say("On."))

    await collect(AgenticLoop(provider, ScriptedDispatcher()), replace(TURN, history=history))

    assert provider.requests[0].transcript == (*history, UserMessage("Light!"))
    assert history == (UserMessage("Hello"), AssistantMessage("Hi."))


async def test_a_history_with_an_orphan_call_is_sent_repaired() -> None:
    history: Transcript = (UserMessage("Light!"), AssistantMessage(tool_calls=(ON,)), ToolResult("x", "light_on", "?"))
    provider = ScriptedProvider(say("Hm."))

    await collect(AgenticLoop(provider, ScriptedDispatcher()), replace(TURN, history=history))

    said, asked, result, again = provider.requests[0].transcript
    assert (said, asked, again) == (history[0], history[1], UserMessage("Light!"))
    assert isinstance(result, ToolResult)
    assert (result.call_id, result.is_error, result.synthetic) == ("1", True, True)


@pytest.mark.parametrize("given", ["", "1", "taken", "i" * 65], ids=["none", "twice", "of the history", "too long"])
async def test_calls_get_ids_of_their_own_where_the_model_gave_none_that_can_be_used(given: str) -> None:
    """Invariant 6."""
    earlier = AssistantMessage(tool_calls=(ToolCall("taken", "light_on", "{}"),))
    history: Transcript = (UserMessage("Light!"), earlier, ToolResult("taken", "light_on", "ok"))
    provider = ScriptedProvider(call(ON, ToolCall(given, "unlock", "{}")), say("Done."))

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), replace(TURN, history=history))

    first, second = calls(events)
    assert first.id == "1"
    assert second.id not in {"", "1", "taken", "i" * 65}
    assert len(second.id) == 9
    assert second.id.isalnum()
    assert [result.call_id for result in results(events)] == ["1", second.id]


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

    assert "light_on" in await AgenticLoop(provider, ScriptedDispatcher()).run("Light!", tools=[LIGHT])


async def test_two_turns_of_one_loop_know_nothing_of_each_other() -> None:
    """Invariant 64."""
    provider = ScriptedProvider(call(ON), say("On."), call(ON), say("On again."))
    dispatcher = ScriptedDispatcher()
    loop = AgenticLoop(provider, dispatcher)

    first, second = await collect(loop, TURN), await collect(loop, TURN)

    assert len(dispatcher.finished) == 2
    assert provider.requests[2].transcript == (UserMessage("Light!"),)
    ends = [finished(first), finished(second)]
    assert [(end.usage, end.iterations, len(end.tool_results)) for end in ends] == [(Usage(20, 10), 2, 1)] * 2
    assert all(isinstance(end, TurnFinished) for end in ends)


async def test_blank_lines_before_an_answer_are_not_spoken() -> None:
    provider = ScriptedProvider(
        [TextDelta("\n"), TextDelta("\n  It"), TextDelta("\nis."), CompletionResult(FinishReason.STOP)],
    )
    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), Turn("Hi"))

    assert [event.text for event in events if isinstance(event, TextDelta)] == ["It", "\nis."]


async def test_on_off_and_on_again_is_meant() -> None:
    on, off = ToolCall("1", "light_on", "{}"), ToolCall("2", "light_off", "{}")
    provider = ScriptedProvider(call(on, off, replace(on, id="3")), say("It blinked."))
    dispatcher = ScriptedDispatcher()
    turn = Turn("Blink!", tools=(tool("light_on"), tool("light_off")))

    await collect(AgenticLoop(provider, dispatcher), turn)

    assert [one.id for one in dispatcher.finished] == ["1", "2", "3"]


async def test_results_keep_the_order_of_calls_also_where_some_wait_for_a_yes() -> None:
    asked = [ToolCall(number, name, "{}") for number, name in (("1", "unlock"), ("2", "light_on"), ("3", "open"))]
    provider = ScriptedProvider(call(*asked))
    hook = ScriptedHooks(before=lambda name, _: None if name == "light_on" else Ask("Sure?"))
    tools = (tool("unlock"), tool("light_on"), tool("open"))

    events = await collect(AgenticLoop(provider, ScriptedDispatcher(), hooks=[hook]), Turn("All!", tools=tools))

    assert [result.call_id for result in results(events)] == ["1", "2", "3"]
    pending = finished(events).pending
    assert pending is not None
    assert [gated.call.id for gated in pending.calls] == ["1", "3"]


async def test_calls_of_a_message_that_was_filtered_do_not_run() -> None:
    provider = ScriptedProvider(
        [ToolCallReady(ToolCall("1", "light_on", "{}")), CompletionResult(FinishReason.CONTENT_FILTER)]
    )
    dispatcher = ScriptedDispatcher()

    events = await collect(AgenticLoop(provider, dispatcher), Turn("Light!", tools=(tool("light_on"),)))

    assert dispatcher.started == []
    assert finished(events).stop_reason is StopReason.CONTENT_FILTER
    assert [result.is_error for result in results(events)] == [True]
