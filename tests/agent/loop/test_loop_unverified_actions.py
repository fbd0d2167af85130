"""An answer that reports an action which no tool has done is not spoken: the model is told once, and may act."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.events import (
    AnswerWithheld,
    CompletionResult,
    Phase,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCallReady,
    TurnEvent,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    JsonObject,
    ProviderItem,
    ToolCall,
    ToolOutcome,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import Deny, Hooks, Rewrite
from custom_components.chatterbox.agent.transcript import TranscriptRecorder
from tests.agent.turns import assert_valid, calls, collect, finished, phases, spoken
from tests.support.doubles import (
    Gate,
    Line,
    ScriptedCensor,
    ScriptedDispatcher,
    ScriptedProvider,
    call,
    say,
    tool,
)

TURN = Turn("Light!", tools=(tool("light_on"), tool("look", read_only=True)), checked_language="en")
ON = ToolCall("a", "light_on", "{}")
LIE = "I've turned on the light."
NOT_DONE = "As far as I can tell, that was not done."


async def refuse(_: JsonObject) -> ToolOutcome:
    """Answer with an error."""
    return ToolOutcome("There is no such light.", is_error=True)


async def play(
    *inferences: list[Line], turn: Turn = TURN, hooks: tuple[Hooks, ...] = (), fails: bool = False
) -> tuple[list[TurnEvent], ScriptedProvider]:
    """Run a turn with a scripted model."""
    provider = ScriptedProvider(*inferences)
    dispatcher = ScriptedDispatcher({"light_on": refuse} if fails else {})
    return await collect(AgenticLoop(provider, dispatcher, hooks=hooks), turn), provider


def withheld(events: list[TurnEvent]) -> list[str]:
    """Return what was kept from the person."""
    return [event.text for event in events if isinstance(event, AnswerWithheld)]


async def test_a_model_that_only_says_so_is_told_and_acts() -> None:
    events, provider = await play(say(LIE), call(ON), say("The light is now on."))

    assert spoken(events) == "The light is now on."
    assert [one.name for one in calls(events)] == ["light_on"]
    assert withheld(events) == [LIE]
    end = finished(events)
    assert (end.stop_reason, end.text, end.iterations) == (StopReason.COMPLETED, "The light is now on.", 3)
    assert [result.name for result in end.tool_results] == ["light_on"]
    assert end.usage.input_tokens == 30
    first, second, third = provider.requests
    assert (first.directive, third.directive) == ("", "")
    assert LIE in second.directive
    assert "call the tool" in second.directive
    assert "heard only" not in second.directive
    assert (second.transcript, second.tools, second.tool_choice) == (first.transcript, first.tools, first.tool_choice)
    assert LIE not in str(third.transcript)
    inference = [Phase.LLM_INFERENCE, Phase.TOOL_DECISION]
    assert phases(events)[1:5] == inference * 2


async def test_a_model_that_reports_it_again_is_not_heard() -> None:
    events, provider = await play(say(LIE), say("Really, I've turned it on."))

    assert spoken(events) == NOT_DONE
    assert len(provider.requests) == 2
    assert withheld(events) == [LIE, "Really, I've turned it on."]
    assert finished(events).stop_reason is StopReason.UNVERIFIED_ACTION


async def test_a_model_that_has_nothing_to_say_for_itself_is_answered_for() -> None:
    events, _ = await play(say(LIE), say(" \n"))

    assert spoken(events) == NOT_DONE
    assert finished(events).stop_reason is StopReason.UNVERIFIED_ACTION


async def test_text_before_the_report_is_spoken_at_once_and_the_message_continues() -> None:
    events, provider = await play(say(f"It was dark. {LIE} Enjoy!"), say("\nBut I did not turn on the light."))

    assert spoken(events) == "It was dark. But I did not turn on the light."
    assert finished(events).text == spoken(events)
    assert withheld(events) == [f"{LIE} Enjoy!"]
    assert 'heard only this, go on from there: "It was dark."' in provider.requests[1].directive


async def test_text_before_the_report_stays_in_the_message_of_the_call() -> None:
    events, provider = await play(say(f"It was dark. {LIE}"), call(ON), say("It is on now."))

    asked = AssistantMessage("It was dark. ", tool_calls=(ON,))
    assert provider.requests[2].transcript[:2] == (UserMessage("Light!"), asked)
    assert spoken(events) == "It was dark. It is on now."


async def test_text_before_two_reports_is_followed_by_the_truth() -> None:
    events, _ = await play(say(f"It was dark. {LIE}"), say(f"It still is. {LIE}"))

    assert spoken(events) == f"It was dark. It still is. {NOT_DONE}"
    assert finished(events).text == spoken(events)


async def test_after_a_tool_result_every_word_is_spoken_at_once() -> None:
    stream = Gate()
    provider = ScriptedProvider(call(ON), [TextDelta("I've turned on"), stream, *say(" the light.")])
    async with aclosing(AgenticLoop(provider, ScriptedDispatcher()).stream(TURN)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
        assert event == TextDelta("I've turned on")
        assert not stream.opened.is_set()
        stream.opened.set()
        assert spoken([event async for event in events]) == " the light."


async def test_without_a_tool_result_a_sentence_is_spoken_once_it_is_complete() -> None:
    stream = Gate()
    provider = ScriptedProvider([TextDelta("It is "), TextDelta("dark. It is"), stream, *say(" late.")])
    async with aclosing(AgenticLoop(provider, ScriptedDispatcher()).stream(TURN)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
        assert event == TextDelta("It is dark. ")
        stream.opened.set()
        assert spoken([event async for event in events]) == "It is late."


async def test_words_that_lead_to_a_call_do_not_wait_for_the_end_of_the_message() -> None:
    stream = Gate()
    lines: list[Line] = [TextDelta("I'll turn it on"), ToolCallReady(ON), stream, *call()]
    provider = ScriptedProvider(lines, say("It is on."))
    seen: list[TurnEvent] = []
    async with aclosing(AgenticLoop(provider, ScriptedDispatcher()).stream(TURN)) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, ToolCallReady):
                break
        stream.opened.set()
        assert spoken(seen) == "I'll turn it on"
        assert spoken([event async for event in events]) == "It is on."


@pytest.mark.parametrize("fails", [False, True], ids=["works", "fails"])
async def test_a_report_beside_its_call_is_dropped_whether_or_not_the_call_succeeds(*, fails: bool) -> None:
    report = "One moment. I've turned on the light"
    events, provider = await play(call(ON, text=report), say("Well, then."), fails=fails)

    assert spoken(events) == "One moment. Well, then."
    assert withheld(events) == ["I've turned on the light"]
    assert AssistantMessage("One moment. ", tool_calls=(ON,)) in provider.requests[1].transcript
    assert len(provider.requests) == 2, "who calls needs no correction"


async def test_words_after_a_report_and_its_call_are_dropped_with_it() -> None:
    lines: list[Line] = [TextDelta(LIE), ToolCallReady(ON), TextDelta(" Anything else?"), *call()]
    events, _ = await play(lines, say("It is on."))

    assert spoken(events) == "It is on."
    assert withheld(events) == [f"{LIE} Anything else?"]


async def test_a_turn_that_nobody_checks_says_what_the_model_says() -> None:
    events, _ = await play(say(LIE), turn=replace(TURN, checked_language=None))

    assert spoken(events) == LIE
    assert withheld(events) == []


async def test_the_answer_is_checked_in_the_language_of_the_turn() -> None:
    events, _ = await play(
        say("Ich habe das Licht eingeschaltet."), say("Das ging nicht."), turn=replace(TURN, checked_language="de-AT")
    )

    assert spoken(events) == "Das ging nicht."


@pytest.mark.parametrize(
    ("ending", "stop_reason", "said"),
    [
        (CompletionResult(FinishReason.LENGTH), StopReason.UNVERIFIED_ACTION, NOT_DONE),
        (CompletionResult(FinishReason.CONTENT_FILTER), StopReason.UNVERIFIED_ACTION, NOT_DONE),
        (ProviderUnreachable("gone"), StopReason.PROVIDER_FAILED, "The model could not be reached. (gone)"),
    ],
    ids=["length", "filter", "failure"],
)
async def test_a_report_that_was_cut_off_is_withheld_and_not_corrected(
    ending: Line, stop_reason: StopReason, said: str
) -> None:
    events, provider = await play([TextDelta(f"It was dark. {LIE} And"), ending])

    assert spoken(events) == f"It was dark. {said}"
    assert finished(events).stop_reason is stop_reason
    assert len(provider.requests) == 1


async def test_a_correction_that_fails_says_so_and_withholds_the_report() -> None:
    events, _ = await play(say(f"It was dark. {LIE}"), [ProviderUnreachable("gone")])

    assert spoken(events) == "It was dark. The model could not be reached. (gone)"


async def test_thoughts_stay_together_and_what_the_service_wants_back_is_that_of_the_correction() -> None:
    old, new = ProviderItem("x", {"signed": "old"}), ProviderItem("x", {"signed": "new"})
    lie: list[Line] = [
        ReasoningDelta("Easy."),
        TextDelta(LIE),
        CompletionResult(FinishReason.STOP, provider_items=(old,)),
    ]
    act: list[Line] = [
        ReasoningDelta(" I have to call."),
        ToolCallReady(ON),
        CompletionResult(FinishReason.TOOL_CALLS, provider_items=(new,)),
    ]
    _, provider = await play(lie, act, say("It is on."))

    assert provider.requests[2].transcript[1] == AssistantMessage("", "Easy. I have to call.", (ON,), (new,))


async def test_a_going_on_turn_keeps_its_context_in_the_correction() -> None:
    turn = replace(TURN, user_text=None, history=(UserMessage("Light!"),), context="It is late.")
    _, provider = await play(say(LIE), say("I did nothing."), turn=turn)

    assert provider.requests[1].directive.startswith("It is late.\n\nYou were about to say")


async def test_a_long_report_is_cut_in_the_correction() -> None:
    _, provider = await play(say(LIE + "".join(f" Bye {number}." for number in range(1_000))), say("I did nothing."))

    assert LIE in provider.requests[1].directive
    assert len(provider.requests[1].directive) < 2_000


@pytest.mark.parametrize("decision", [None, Rewrite("Light: 1234. I've turned it on."), Deny("I keep that to myself.")])
async def test_who_reads_speech_sees_the_whole_message_before_it_is_held(
    decision: Deny | Rewrite[str] | None,
) -> None:
    censor = ScriptedCensor(lambda text: decision if text.startswith("It was") else None)
    events, _ = await play(say(f"It was dark. {LIE}"), say("I did nothing."), hooks=(censor,))

    said = {Deny: "I keep that to myself.", Rewrite: "Light: 1234. I did nothing."}
    assert censor.texts[0] == f"It was dark. {LIE}"
    assert spoken(events) == said.get(type(decision), "It was dark. I did nothing.")


async def test_a_withheld_answer_contains_no_redacted_word() -> None:
    censor = ScriptedCensor(lambda text: Rewrite(text.replace("1234", "****")))
    events, _ = await play(say("I've unlocked the door with 1234."), say("I did nothing."), hooks=(censor,))

    assert withheld(events) == ["I've unlocked the door with ****."]
    assert "1234" not in str(events)


@pytest.mark.parametrize("prefix", ["", "It was dark. "])
async def test_a_turn_may_be_left_at_every_event_of_a_correction(prefix: str) -> None:
    left_at, over = 0, False
    while not over:
        provider = ScriptedProvider(say(prefix + LIE), call(ON, text="Oh. "), say("I've turned it on."))
        dispatcher = ScriptedDispatcher()
        recorder = TranscriptRecorder()
        seen: list[TurnEvent] = []
        async with aclosing(AgenticLoop(provider, dispatcher).stream(TURN)) as events:
            async for event in events:
                recorder.add(event)
                seen.append(event)
                if len(seen) > left_at:
                    break
            else:
                over = True
        left = recorder.interrupted()
        assert_valid(left)
        assert LIE not in str(left)
        assert "".join(one.text for one in left if isinstance(one, AssistantMessage)) == spoken(seen)
        assert (provider.open_streams, dispatcher.running) == (0, 0)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        left_at += 1
    assert left_at > 15
