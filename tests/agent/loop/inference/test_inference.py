"""One inference: calls are judged as they come, reading ones start early, and speech can be held back."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    Phase,
    PhaseEntered,
    PromptProgress,
    PromptReplaced,
    TextDelta,
    ToolCallReady,
    ToolStarted,
    TurnEvent,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    JsonObject,
    ToolCall,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import Ask, Deny, Rewrite
from tests.agent.turns import (
    calls,
    collect,
    finished,
    phases,
    results,
    run_other_tasks,
    spoken,
)
from tests.support.doubles import (
    Gate,
    Line,
    ScriptedCensor,
    ScriptedDispatcher,
    ScriptedHooks,
    ScriptedProvider,
    asks_for,
    call,
    say,
    tool,
)

LIGHT, LOOK, PEEK = (
    tool("light_on"),
    tool("look", read_only=True),
    tool("peek", read_only=True),
)
TURN = Turn("Is it dark?", tools=(LIGHT, LOOK, PEEK))
LOOKING, ON = ToolCall("l", "look", "{}"), ToolCall("a", "light_on", "{}")
DONE: list[Line] = [CompletionResult(FinishReason.TOOL_CALLS)]


async def until(
    events: AsyncGenerator[TurnEvent], kind: type[TurnEvent]
) -> list[TurnEvent]:
    """Read a turn up to the first event of a kind."""
    seen: list[TurnEvent] = []
    async for event in events:
        seen.append(event)
        if isinstance(event, kind):
            break
    return seen


async def test_progress_with_the_prompt_is_no_part_of_a_turn() -> None:
    provider = ScriptedProvider(
        [PromptProgress(0, 9), PromptProgress(9, 9), *say("Yes.")]
    )

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert spoken(events) == "Yes."
    assert not any(isinstance(event, PromptProgress) for event in events)


async def test_a_reading_call_starts_while_the_model_still_writes() -> None:
    look, stream = Gate(), Gate()
    provider = ScriptedProvider([ToolCallReady(LOOKING), stream, *DONE], say("Yes."))
    dispatcher = ScriptedDispatcher({"look": look})

    async with aclosing(AgenticLoop(provider, dispatcher).stream(TURN)) as events:
        seen = await until(events, ToolStarted)
        await look.reached.wait()
        assert phases(seen) == [Phase.RECEIVE_INPUT, Phase.LLM_INFERENCE]
        assert provider.open_streams == 1
        look.opened.set()
        stream.opened.set()
        rest = [event async for event in events]

    assert len(dispatcher.finished) == 1
    assert not any(isinstance(event, ToolStarted) for event in rest), (
        "a call starts once"
    )
    assert not results(rest)[0].is_error
    assert finished(rest).text == "Yes."


async def test_a_changing_call_starts_only_after_the_message() -> None:
    stream = Gate()
    provider = ScriptedProvider([ToolCallReady(ON), stream, *DONE], say("It is on."))
    dispatcher = ScriptedDispatcher()

    async with aclosing(AgenticLoop(provider, dispatcher).stream(TURN)) as events:
        await until(events, ToolCallReady)
        await run_other_tasks()
        assert dispatcher.started == []
        stream.opened.set()
        rest = [event async for event in events]

    assert phases(rest)[:2] == [Phase.TOOL_DECISION, Phase.TOOL_EXECUTION]
    assert rest.index(PhaseEntered(Phase.TOOL_EXECUTION)) < rest.index(ToolStarted(ON))


async def early(
    turn: Turn, *lines: Line, hooks: ScriptedHooks | None = None
) -> list[str]:
    """Return the tools that started before the message was at its end."""
    provider = ScriptedProvider([*lines, *DONE], say("Done."))
    loop = AgenticLoop(provider, ScriptedDispatcher(), hooks=[hooks] if hooks else [])
    events = await collect(loop, turn)
    end = events.index(PhaseEntered(Phase.TOOL_DECISION))
    return [event.call.name for event in events[:end] if isinstance(event, ToolStarted)]


async def test_what_starts_early_is_what_nobody_stands_in_the_way_of() -> None:
    looking, peeking, on = (
        ToolCallReady(LOOKING),
        ToolCallReady(replace(LOOKING, id="p", name="peek")),
        ToolCallReady(ON),
    )

    assert await early(TURN, looking, peeking) == ["look", "peek"]
    assert await early(TURN, looking, on, peeking) == ["look"], (
        "a change may alter what is seen"
    )
    assert await early(
        replace(TURN, allowed_tools=frozenset({"peek"})), looking, peeking
    ) == ["peek"]
    assert await early(
        replace(TURN, limits=Limits(max_tool_calls=1)), looking, peeking
    ) == ["look"]
    assert await early(TURN, looking, looking) == ["look"]
    with_client = replace(TURN, tools=(*TURN.tools, tool("show_page", client=True)))
    assert await early(with_client, looking) == [], "the client may have to run it"
    denied = ScriptedHooks(
        before=lambda name, _: Deny("No.") if name == "look" else None
    )
    assert await early(TURN, looking, peeking, hooks=denied) == ["peek"]
    assert await early(TURN, looking, peeking, hooks=asks_for("peek")) == ["look"]
    requested = ScriptedHooks(
        before=lambda name, _: Ask("Sure?") if name == "light_on" else None
    )
    assert await early(TURN, on, looking, hooks=requested) == ["look"], (
        "what waits for a yes changes nothing now"
    )


async def test_a_call_is_shown_to_hooks_as_it_would_run() -> None:
    hook = ScriptedHooks()
    number: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}
    turn = replace(TURN, tools=(tool("home__light_on", parameters=number),))
    provider = ScriptedProvider(
        call(ToolCall("a", "LIGHT_ON", '{"n": "5"}')), say("Done.")
    )

    await collect(AgenticLoop(provider, ScriptedDispatcher(), hooks=[hook]), turn)

    assert hook.calls == [("home__light_on", {"n": 5})]


async def test_hooks_are_not_asked_about_calls_that_do_not_run() -> None:
    hook = ScriptedHooks()
    provider = ScriptedProvider(
        call(replace(ON, name="unheard_of"), replace(ON, arguments="[")), say("Done.")
    )
    await collect(AgenticLoop(provider, ScriptedDispatcher(), hooks=[hook]), TURN)
    assert hook.calls == []


async def test_a_denied_call_is_answered_with_the_reason() -> None:
    """Invariant 61."""
    hook = ScriptedHooks(
        before=lambda name, _: Deny("Not at night.") if name == "light_on" else None
    )
    provider = ScriptedProvider(call(ON, LOOKING), say("It is too late."))
    dispatcher = ScriptedDispatcher()

    events = await collect(AgenticLoop(provider, dispatcher, hooks=[hook]), TURN)

    denied, seen = results(events)
    assert (denied.content, denied.is_error, denied.synthetic) == (
        "Not at night.",
        True,
        True,
    )
    assert not seen.is_error
    assert [one.name for one in dispatcher.started] == ["look"]
    assert denied in provider.requests[1].transcript
    assert finished(events).text == "It is too late."


async def test_rewritten_arguments_are_what_runs_and_what_is_recorded() -> None:
    """Invariant 61."""
    number: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}
    seen: list[JsonObject] = []
    dispatcher = ScriptedDispatcher(
        target_of=lambda _, arguments: seen.append(arguments)
    )
    hook = ScriptedHooks(before=lambda _, __: Rewrite({"n": "7"}))
    turn = replace(TURN, tools=(tool("light_on", parameters=number),))
    provider = ScriptedProvider(
        call(ToolCall("a", "light_on", '{"n": 5}')), say("Done.")
    )

    events = await collect(AgenticLoop(provider, dispatcher, hooks=[hook]), turn)

    assert calls(events) == [ToolCall("a", "light_on", '{"n":7}')]
    assert dispatcher.finished == calls(events)
    assert seen == [{"n": 7}]


async def test_arguments_rewritten_into_what_python_takes_for_the_same_run_as_rewritten() -> (
    None
):
    hook = ScriptedHooks(before=lambda _, __: Rewrite({"n": True}))
    provider = ScriptedProvider(
        call(ToolCall("a", "light_on", '{"n":1}')), say("Done.")
    )
    dispatcher = ScriptedDispatcher()
    await collect(AgenticLoop(provider, dispatcher, hooks=[hook]), TURN)
    assert [one.arguments for one in dispatcher.finished] == ['{"n":true}']


async def test_rewritten_arguments_have_to_fit_too() -> None:
    number: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}
    hook = ScriptedHooks(before=lambda _, __: Rewrite({"n": "many"}))
    turn = replace(TURN, tools=(tool("light_on", parameters=number),))
    provider = ScriptedProvider(call(ON), say("Done."))
    dispatcher = ScriptedDispatcher()

    events = await collect(AgenticLoop(provider, dispatcher, hooks=[hook]), turn)

    assert dispatcher.started == []
    assert "n: expected integer" in results(events)[0].content


async def test_words_that_a_hook_rewrote_are_what_the_model_and_the_history_get() -> (
    None
):
    hook = ScriptedHooks(prompt=lambda text: Rewrite(text.replace("1234", "****")))
    provider = ScriptedProvider(say("Done."))

    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher(), hooks=[hook]),
        replace(TURN, user_text="Code 1234"),
    )

    assert provider.requests[0].transcript == (UserMessage("Code ****"),)
    assert [event for event in events if isinstance(event, PromptReplaced)] == [
        PromptReplaced("Code ****")
    ]
    assert hook.prompts == ["Code 1234"]


async def test_words_that_no_hook_touched_are_not_announced() -> None:
    provider = ScriptedProvider(say("Done."))
    events = await collect(
        AgenticLoop(
            provider, ScriptedDispatcher(), hooks=[ScriptedHooks(prompt=Rewrite)]
        ),
        TURN,
    )
    assert not any(isinstance(event, PromptReplaced) for event in events)


async def test_a_hook_that_reads_speech_holds_it_back_until_it_is_whole() -> None:
    hook = ScriptedCensor(lambda _: None)
    provider = ScriptedProvider([TextDelta("It is "), TextDelta("dark."), *say("")])

    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher(), hooks=[hook]), TURN
    )

    assert [event.text for event in events if isinstance(event, TextDelta)] == [
        "It is dark."
    ]
    assert hook.texts == ["It is dark."]


async def test_a_long_answer_that_was_held_back_comes_in_pieces_between_which_others_have_their_turn() -> (
    None
):
    provider = ScriptedProvider(say("It is dark. " * 1_000))
    loop = AgenticLoop(
        provider, ScriptedDispatcher(), hooks=[ScriptedCensor(lambda _: None)]
    )
    passes: list[int] = [0]

    async def come_around() -> None:
        while True:
            passes[-1] += 1
            await asyncio.sleep(0)

    others = asyncio.create_task(come_around())
    words: list[str] = []
    async with aclosing(loop.stream(TURN)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                words.append(event.text)
                passes.append(0)
    others.cancel()

    assert "".join(words) == "It is dark. " * 1_000
    assert max(map(len, words)) <= 512
    assert all(passes[1:])


@pytest.mark.parametrize(
    "decision",
    [Deny("I keep that to myself."), Rewrite("I keep that to myself.")],
    ids=repr,
)
async def test_speech_is_replaced_for_the_ear_and_for_the_history(
    decision: Deny | Rewrite[str],
) -> None:
    provider = ScriptedProvider(call(ON, text="The code is 1234."), say("Good."))
    hook = ScriptedCensor(lambda text: decision if "1234" in text else None)

    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher(), hooks=[hook]), TURN
    )

    assert spoken(events) == "I keep that to myself.Good."
    assert (
        AssistantMessage("I keep that to myself.", "", (ON,))
        in provider.requests[1].transcript
    )
    assert "1234" not in str(events)


async def test_speech_that_a_hook_empties_still_ends_in_words() -> None:
    provider = ScriptedProvider(say("The code is 1234."))
    hook = ScriptedCensor(lambda _: Rewrite(""))
    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher(), hooks=[hook]), TURN
    )
    assert finished(events).text == "I don't have an answer to that."


async def test_speech_that_was_cut_off_is_shown_to_the_hook_too() -> None:
    provider = ScriptedProvider(
        [TextDelta("The code is 1234. " * 5), ProviderUnreachable("gone")]
    )
    hook = ScriptedCensor(lambda _: Rewrite("Hm." * 21))
    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher(), hooks=[hook]), TURN
    )
    assert spoken(events).startswith("Hm." * 21 + " The model could not be reached.")
