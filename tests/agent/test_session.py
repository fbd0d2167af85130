"""A conversation of plain Python: history, manual mode, approvals, and interruption at any time."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import override

import pytest

from custom_components.chatterbox.agent.errors import (
    MaxIterationsExceeded,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import (
    Answer,
    CompletionResult,
    StopReason,
    TextDelta,
    ToolCallReady,
    ToolStarted,
    TurnEvent,
    TurnFinished,
)
from custom_components.chatterbox.agent.loop.loop import PlainComposer
from custom_components.chatterbox.agent.loop.turn import Limits
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    NamedTool,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolOutcome,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import Ask, Deny, Hooks, Rewrite
from custom_components.chatterbox.agent.session import Session
from custom_components.chatterbox.agent.toolbox import Toolbox, tool
from tests.agent.turns import assert_valid, finished, results, run_other_tasks
from tests.support.doubles import (
    Gate,
    Line,
    ScriptedCensor,
    ScriptedHooks,
    ScriptedProvider,
    asks_for,
    call,
    never,
    say,
)


@tool(read_only=True, open_world=False)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
async def wait() -> None:
    """Wait for what does not come."""
    await never()


@tool
def unlock(door: str) -> str:
    """Unlock a door."""
    return f"{door} is open"


YES = Answer(approved=True)
BOX = Toolbox([add, wait, unlock])
SUM = ToolCall("1", "add", '{"a": 1, "b": 2}')
UNLOCK = ToolCall("u", "unlock", '{"door": "front"}')
WAIT = ToolCall("w", "wait", "{}")


def session(
    *script: list[Line], run_tools: bool = True, hooks: tuple[Hooks, ...] = ()
) -> tuple[Session, ScriptedProvider]:
    """Begin a conversation with a script."""
    provider = ScriptedProvider(*script)
    return Session(provider, BOX, run_tools=run_tools, hooks=hooks), provider


async def listen(talk: Session, text: str) -> list[TurnEvent]:
    """Say something and follow it to its end."""
    async with aclosing(talk.say(text)) as events:
        return [event async for event in events]


async def nothing_runs(provider: ScriptedProvider) -> None:
    """Check that all is quiet."""
    assert provider.open_streams == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_the_history_is_kept_from_turn_to_turn() -> None:
    talk, provider = session(call(SUM), say("It is 3."), say("You are welcome."))

    assert await talk.ask("What is 1 + 2?") == "It is 3."
    assert await talk.ask("Thanks!") == "You are welcome."

    assert talk.history == (
        UserMessage("What is 1 + 2?"),
        AssistantMessage(tool_calls=(ToolCall("1", "add", '{"a":1,"b":2}'),)),
        ToolResult("1", "add", "3"),
        AssistantMessage("It is 3."),
        UserMessage("Thanks!"),
        AssistantMessage("You are welcome."),
    )
    assert provider.requests[2].transcript == talk.history[:-1]
    assert talk.usage == Usage(30, 15)
    await nothing_runs(provider)


async def test_a_conversation_goes_on_from_an_earlier_one() -> None:
    history: Transcript = (UserMessage("Hi"), AssistantMessage(tool_calls=(SUM,)))
    provider = ScriptedProvider(say("Hello again."))
    talk = Session(provider, history=history, instructions="Be brief.")

    await talk.ask("Still there?")

    assert_valid(talk.history)
    assert provider.requests[0].transcript == talk.history[:-1]
    assert provider.requests[0].instructions == "Be brief."
    assert provider.requests[0].tools == ()


async def test_limits_and_the_composer_are_those_of_the_conversation() -> None:
    class Brief(PlainComposer):
        @override
        def compose(self, *_: object) -> str:
            return "Enough."

    provider = ScriptedProvider(call(SUM))
    talk = Session(provider, BOX, limits=Limits(max_iterations=1), composer=Brief())
    with pytest.raises(MaxIterationsExceeded, match="Enough"):
        await talk.ask("What is 1 + 2?")
    assert_valid(talk.history)


async def test_a_model_that_is_not_there_raises_and_leaves_the_history_alone() -> None:
    gone = ProviderUnreachable("gone")
    talk, _ = session([TextDelta("It is " * 20), gone], say("Hello."))

    with pytest.raises(ProviderUnreachable) as raised:
        await talk.ask("Hi")
    assert raised.value is gone
    assert talk.history == ()
    assert await talk.ask("Hi") == "Hello."


async def test_a_model_that_is_gone_after_a_tool_leaves_what_was_done() -> None:
    talk, _ = session(call(UNLOCK), [ProviderUnreachable("gone")])
    assert (await talk.ask("Open!")).startswith("Done: unlock.")
    assert_valid(talk.history)
    assert len(talk.history) == 4


async def test_a_bug_escapes_and_the_conversation_can_continue() -> None:
    talk, provider = session([ToolCallReady(UNLOCK), KeyError("bug")], say("Hello."))
    with pytest.raises(KeyError, match="bug"):
        await talk.ask("Open!")
    await nothing_runs(provider)
    assert_valid(talk.history)
    assert await talk.ask("Hi") == "Hello."


# Hooks


async def test_hooks_guard_the_tools_that_the_session_runs() -> None:
    hook = ScriptedHooks(
        before=lambda _, __: Deny("Not today."),
        prompt=lambda text: Rewrite(text.upper()),
    )
    talk, provider = session(call(SUM), say("I may not."), hooks=(hook,))

    await talk.ask("add!")

    assert results_of(talk) == ["Not today."]
    assert hook.prompts == ["add!"]
    assert talk.history[0] == UserMessage("ADD!")
    assert provider.requests[0].transcript == (UserMessage("ADD!"),)


def results_of(talk: Session) -> list[str]:
    """Return what the results in a history say."""
    return [
        message.content for message in talk.history if isinstance(message, ToolResult)
    ]


async def test_words_that_a_hook_refuses_are_not_kept() -> None:
    hook = ScriptedHooks(prompt=lambda text: Deny("No.") if "secret" in text else None)
    talk, provider = session(say("Hello."), hooks=(hook,))

    assert await talk.ask("The secret is 1234") == "No."
    assert await talk.ask("Hi") == "Hello."

    assert "1234" not in str(talk.history)
    assert "1234" not in str(provider.requests[0])
    assert_valid(talk.history)


async def test_words_are_not_kept_before_a_hook_has_let_them_pass() -> None:
    class Sleepy(Hooks):
        @override
        async def user_prompt_submit(self, text: str) -> None:
            await never()

    talk, provider = session(hooks=(Sleepy(),))
    asking = asyncio.create_task(talk.ask("The secret is 1234"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await talk.interrupt()
    assert await asking == ""
    assert talk.history == ()
    await nothing_runs(provider)


# Manual mode


async def test_in_manual_mode_the_caller_runs_the_tools() -> None:
    talk, provider = session(
        call(SUM, UNLOCK, text="Wait."), say("3, and open."), run_tools=False
    )

    events = await listen(talk, "Add and open!")
    assert finished(events).stop_reason is StopReason.CLIENT_TOOLS
    assert results(events) == []
    assert [*talk.open_calls] == [SUM, UNLOCK]

    await talk.add_result("u", await BOX.run(UNLOCK))
    assert [*talk.open_calls] == [SUM]
    await talk.add_result("1", 3)
    async with aclosing(talk.resume()) as rest:
        end = finished([event async for event in rest])

    assert end.text == "3, and open."
    assert talk.history == (
        UserMessage("Add and open!"),
        AssistantMessage("Wait.", tool_calls=(SUM, UNLOCK)),
        ToolResult("1", "add", "3"),
        ToolResult("u", "unlock", "front is open", open_world=True),
        AssistantMessage("3, and open."),
    )
    assert provider.requests[1].transcript == talk.history[:-1]


@pytest.mark.parametrize(
    ("result", "is_error", "recorded"),
    [
        ({"sum": 3}, False, ToolResult("1", "add", '{"sum":3}')),
        ("no calculator", True, ToolResult("1", "add", "no calculator", is_error=True)),
        (
            ToolOutcome("broken", is_error=True),
            False,
            ToolResult("1", "add", "broken", is_error=True),
        ),
    ],
)
async def test_results_may_be_anything_that_tools_return(
    result: object, recorded: ToolResult, *, is_error: bool
) -> None:
    talk, _ = session(call(SUM), run_tools=False)
    await talk.ask("What is 1 + 2?")
    await talk.add_result("1", result, is_error=is_error)
    assert talk.history[-1] == recorded


async def test_a_result_that_nobody_waits_for_is_refused() -> None:
    talk, _ = session(call(SUM, UNLOCK), run_tools=False)
    with pytest.raises(
        ValueError, match=r"No call '1' waits for a result; waiting: none\."
    ):
        await talk.add_result("1", 3)
    await talk.ask("Go!")
    with pytest.raises(
        ValueError, match=r"No call 'x' waits for a result; waiting: 1, u\."
    ):
        await talk.add_result("x", 3)
    await talk.add_result("1", 3)
    with pytest.raises(
        ValueError, match=r"No call '1' waits for a result; waiting: u\."
    ):
        await talk.add_result("1", 3)


async def test_a_result_that_is_not_json_is_refused_and_can_be_given_again() -> None:
    talk, _ = session(call(SUM), run_tools=False)
    await talk.ask("Go!")
    with pytest.raises(ValueError, match="a object that is not JSON"):
        await talk.add_result("1", object())
    await talk.add_result("1", 3)
    assert not talk.open_calls


async def test_going_on_without_all_results_is_refused() -> None:
    talk, _ = session(call(SUM, UNLOCK), run_tools=False)
    with pytest.raises(ValueError, match="no results to go on from"):
        talk.resume()
    await talk.ask("Go!")
    await talk.add_result("u", "open")
    for step in (talk.resume, lambda: talk.say("And?")):
        with pytest.raises(
            ValueError, match=r"no result yet: 1 \(add\)\. Use add_result"
        ):
            step()


async def test_results_that_arrive_while_new_words_are_said_are_read_with_them() -> (
    None
):
    talk, provider = session(call(SUM), say("3. Yes?"), run_tools=False)
    await talk.ask("Go!")
    await talk.add_result("1", 3)
    assert await talk.ask("And listen!") == "3. Yes?"
    assert provider.requests[1].transcript[-2:] == (
        ToolResult("1", "add", "3"),
        UserMessage("And listen!"),
    )


async def test_an_invalid_call_gets_its_result_in_manual_mode_too() -> None:
    wrong = ToolCall("x", "unheard_of", "{}")
    talk, provider = session(call(wrong, SUM), say("3."), run_tools=False)
    await talk.ask("Go!")
    assert [*talk.open_calls] == [SUM]
    await talk.add_result("1", 3)
    async with aclosing(talk.resume()) as events:
        assert finished([event async for event in events]).text == "3."
    assert_valid(provider.requests[1].transcript)


async def test_hooks_for_prompts_and_speech_apply_in_manual_mode() -> None:
    hook = ScriptedHooks(prompt=lambda text: Rewrite(text.lower()))
    censor = ScriptedCensor(lambda text: Rewrite(text.upper()))
    talk, provider = session(
        call(SUM), say("It is three."), run_tools=False, hooks=(hook, censor)
    )
    await talk.ask("Go!")
    await talk.add_result("1", 3)
    async with aclosing(talk.resume()) as events:
        assert finished([event async for event in events]).text == "IT IS THREE."
    assert provider.requests[0].transcript == (UserMessage("go!"),)


async def test_hooks_see_calls_before_they_are_handed_out_and_results_before_the_model() -> (
    None
):
    """They may refuse a call, change it, and change its result."""
    wrong = ToolCall("x", "add", '{"a": "many"}')
    hook = ScriptedHooks(
        before=lambda name, _: (
            Deny("Not today.") if name == "unlock" else Rewrite({"a": 10, "b": 2})
        ),
        after=lambda result: Rewrite(f"about {result.content}"),
    )
    talk, provider = session(
        call(SUM, UNLOCK, wrong), say("It is about 12."), run_tools=False, hooks=(hook,)
    )

    await talk.ask("Add and open!")
    assert [*talk.open_calls] == [ToolCall("1", "add", '{"a":10,"b":2}')]
    await talk.add_result("1", 12)
    async with aclosing(talk.resume()) as events:
        assert finished([event async for event in events]).text == "It is about 12."

    assert hook.calls == [("add", {"a": 1, "b": 2}), ("unlock", {"door": "front"})]
    assert [(one.id, result.content) for one, result in hook.results] == [("1", "12")]
    about, refused, unfit = results_of(talk)
    assert (about, refused) == ("about 12", "Not today.")
    assert "a" in unfit
    assert_valid(provider.requests[1].transcript)


async def test_a_call_that_a_hook_asks_about_is_handed_out_after_the_yes_alone() -> (
    None
):
    hook = asks_for("unlock")
    talk, _ = session(call(UNLOCK), say("It is open."), run_tools=False, hooks=(hook,))

    await talk.ask("Open!")
    assert (waiting(talk), talk.open_calls) == (["unlock"], ())
    async with aclosing(talk.answer(YES)) as events:
        assert (
            finished([event async for event in events]).stop_reason
            is StopReason.CLIENT_TOOLS
        )

    [handed_out] = talk.open_calls
    assert handed_out.key == ("unlock", '{"door":"front"}')
    assert hook.approved_calls == [("unlock", {"door": "front"})]
    await talk.add_result(handed_out.id, "open")
    async with aclosing(talk.resume()) as events:
        assert finished([event async for event in events]).text == "It is open."
    assert_valid(talk.history)


async def test_a_yes_to_other_terms_is_asked_for_anew_in_manual_mode() -> None:
    hook = ScriptedHooks(
        before=lambda *_: Ask("Open?", "front"),
        approved=lambda *_: Ask("Both?", "front,back"),
    )
    talk, _ = session(call(UNLOCK), run_tools=False, hooks=(hook,))

    await talk.ask("Open!")
    async with aclosing(talk.answer(YES)) as events:
        assert (
            finished([event async for event in events]).stop_reason
            is StopReason.APPROVAL_REQUIRED
        )

    assert talk.open_calls == ()
    assert talk.pending
    assert [one.reason for one in talk.pending.calls] == ["Both?"]


async def test_a_result_that_comes_while_the_conversation_is_interrupted_is_refused() -> (
    None
):
    seen, resume = asyncio.Event(), asyncio.Event()

    class Slow(Hooks):
        @override
        async def post_tool_use(self, call: ToolCall, result: ToolResult) -> None:
            seen.set()
            await resume.wait()

    talk, _ = session(call(SUM), run_tools=False, hooks=(Slow(),))
    await talk.ask("Go!")
    giving = asyncio.create_task(talk.add_result("1", 3))
    await seen.wait()

    await talk.interrupt()
    resume.set()

    with pytest.raises(ValueError, match="No call '1' waits for a result"):
        await giving
    assert_valid(talk.history)
    assert len(results_of(talk)) == 1


# Choice of tools


@pytest.mark.parametrize("choice", [ToolChoiceMode.REQUIRED, NamedTool("add")])
async def test_a_forced_call_is_forced_once_for_what_is_said(
    choice: ToolChoice,
) -> None:
    """Its results are answered in words, also where the caller runs the tools."""
    for run_tools in (True, False):
        provider = ScriptedProvider(call(SUM), say("3."), call(replace(SUM, id="2")))
        talk = Session(provider, BOX, run_tools=run_tools, tool_choice=choice)
        await talk.ask("What is 1 + 2?")
        if not run_tools:
            await talk.add_result("1", 3)
            async with aclosing(talk.resume()) as events:
                assert finished([event async for event in events]).text == "3."
        assert [request.tool_choice for request in provider.requests] == [
            choice,
            ToolChoiceMode.AUTO,
        ]


async def test_only_allowed_tools_run() -> None:
    provider = ScriptedProvider(call(UNLOCK), say("I may not."))
    talk = Session(provider, BOX, allowed_tools=frozenset({"add"}))

    assert await talk.ask("Open!") == "I may not."

    assert "not allowed" in results_of(talk)[0]


async def test_a_tool_that_there_is_not_cannot_be_chosen() -> None:
    talk = Session(ScriptedProvider(), BOX, tool_choice=NamedTool("subtract"))

    with pytest.raises(
        ValueError,
        match="there is no tool 'subtract' to choose; offered: add, unlock, wait",
    ):
        await talk.ask("What is 3 - 2?")
    with pytest.raises(ValueError, match="offered: none"):
        await Session(ScriptedProvider(), tool_choice=NamedTool("add")).ask("Go!")


async def test_a_conversation_without_calls_ends_with_what_was_said() -> None:
    provider = ScriptedProvider(call(UNLOCK, text="I will not."), say("Fine."))
    talk = Session(provider, BOX, tool_choice=ToolChoiceMode.NONE)

    assert await talk.ask("Open!") == "I will not."
    assert await talk.ask("And now?") == "Fine."

    assert [request.tool_choice for request in provider.requests] == [
        ToolChoiceMode.NONE
    ] * 2
    assert_valid(talk.history)


# Approvals


def waiting(talk: Session) -> list[str]:
    """Return the tools that a yes is waited for."""
    return (
        [pending_call.call.name for pending_call in talk.pending.calls]
        if talk.pending
        else []
    )


async def test_a_question_is_answered_with_a_yes() -> None:
    talk, provider = session(
        call(UNLOCK), say("It is open."), hooks=(asks_for("unlock"),)
    )

    assert await talk.ask("Open!") == ""
    assert waiting(talk) == ["unlock"]
    async with aclosing(talk.answer(YES, "Yes, do.")) as events:
        end = finished([event async for event in events])

    assert end.text == "It is open."
    assert [result.content for result in end.tool_results] == ["front is open"]
    assert waiting(talk) == []
    assert_valid(talk.history)
    assert UserMessage("Yes, do.") in talk.history
    await nothing_runs(provider)


async def test_each_call_may_be_answered_for_itself() -> None:
    back = ToolCall("b", "unlock", '{"door": "back"}')
    talk, _ = session(
        call(UNLOCK, back), say("The back door."), hooks=(asks_for("unlock"),)
    )
    await talk.ask("Open both!")
    async with aclosing(
        talk.answer({"u": Answer(approved=False, reason="Not that one."), "b": YES})
    ) as events:
        end = finished([event async for event in events])
    assert [result.content for result in end.tool_results] == ["back is open"]


async def test_an_answer_to_nothing_is_refused() -> None:
    talk, _ = session(call(UNLOCK), hooks=(asks_for("unlock"),))
    with pytest.raises(ValueError, match="Nothing waits for a yes"):
        talk.answer(YES)
    await talk.ask("Open!")
    with pytest.raises(ValueError, match=r"No call 'x' waits for a yes; waiting: u\."):
        talk.answer({"x": YES})
    with pytest.raises(ValueError, match="use answer"):
        talk.resume()


async def test_a_question_lapses_also_when_what_is_said_then_is_interrupted() -> None:
    talk, _ = session(
        call(UNLOCK), [TextDelta("Fine"), never], hooks=(asks_for("unlock"),)
    )
    await talk.ask("Open!")
    async with aclosing(talk.say("Never mind")) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                await talk.interrupt()
    assert waiting(talk) == []


# Interruption


async def test_interrupting_nothing_does_nothing() -> None:
    talk, _ = session(say("Hello."))
    await talk.interrupt()
    await talk.interrupt()
    assert await talk.ask("Hi") == "Hello."
    await talk.interrupt()
    assert len(talk.history) == 2


async def test_a_turn_is_interrupted_from_another_task_and_the_conversation_goes_on() -> (
    None
):
    talk, provider = session([TextDelta("Once upon "), never], say("As I said."))
    heard: list[TurnEvent] = []
    message = asyncio.Event()

    async def listener() -> None:
        async with aclosing(talk.say("Tell me a story")) as events:
            async for event in events:
                heard.append(event)
                if isinstance(event, TextDelta):
                    message.set()

    listening = asyncio.create_task(listener())
    await message.wait()
    await asyncio.gather(talk.interrupt(), talk.interrupt())

    assert talk.history == (
        UserMessage("Tell me a story"),
        AssistantMessage("Once upon "),
    )
    await listening
    assert not any(isinstance(event, TurnFinished) for event in heard)
    await nothing_runs(provider)
    assert await talk.ask("And?") == "As I said."
    assert provider.requests[1].transcript == talk.history[:-1]


async def test_a_turn_is_interrupted_between_two_events() -> None:
    talk, provider = session(call(WAIT, SUM), say("Hello."))
    seen: list[TurnEvent] = []
    async with aclosing(talk.say("Go!")) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, ToolStarted):
                await talk.interrupt()
                assert_valid(talk.history)
    assert sum(isinstance(event, ToolStarted) for event in seen) == 1
    await nothing_runs(provider)
    assert await talk.ask("Hi") == "Hello."


async def test_a_turn_that_nobody_follows_any_more_is_interrupted_by_the_next() -> None:
    talk, provider = session(
        [TextDelta("Once "), TextDelta("upon"), never], say("Hello.")
    )
    left = talk.say("Tell me a story")
    async for event in left:
        if isinstance(event, TextDelta):
            break
    assert await talk.ask("Hi") == "Hello."
    assert talk.history[1] == AssistantMessage("Once ")
    assert [event async for event in left] == []
    await nothing_runs(provider)


async def test_of_two_that_talk_at_once_the_later_is_heard() -> None:
    gate = Gate()
    talk, provider = session(
        [gate, *say("To the first.")], say("To the second."), say("To the third.")
    )
    first = asyncio.create_task(talk.ask("First"))
    await gate.reached.wait()
    second, third = (
        asyncio.create_task(talk.ask("Second")),
        asyncio.create_task(talk.ask("Third")),
    )

    answers = await asyncio.gather(first, second, third)

    assert answers[0] == ""
    assert sum(bool(answer) for answer in answers) == 1
    assert_valid(talk.history)
    await nothing_runs(provider)


async def test_the_end_of_the_block_interrupts_what_runs() -> None:
    talk, provider = session([never])
    async with talk as same:
        assert same is talk
        asking = asyncio.create_task(talk.ask("Hi"))
        await run_other_tasks()
        assert provider.open_streams == 1
    assert await asking == ""
    await nothing_runs(provider)


async def test_interrupting_leaves_open_calls_without_results() -> None:
    third = ToolCall("2", "add", '{"a":2,"b":2}')
    talk, provider = session(
        call(SUM, UNLOCK, third), say("Never mind."), run_tools=False
    )
    await talk.ask("Go!")
    await talk.add_result("u", "open")

    await talk.interrupt()

    assert not talk.open_calls
    assert_valid(talk.history)
    assert results_of(talk) == [
        "Not run: the turn was interrupted first.",
        "open",
        "Not run: the turn was interrupted first.",
    ]
    assert await talk.ask("Leave it") == "Never mind."
    assert_valid(provider.requests[1].transcript)


@pytest.mark.parametrize("who", ["tool", "hook"])
async def test_a_turn_may_interrupt_itself(who: str) -> None:
    talks: list[Session] = []

    async def stop() -> None:
        await talks[0].interrupt()

    @tool
    async def hang_up() -> None:
        """Hang up."""
        await stop()

    class HangsUp(Hooks):
        @override
        async def post_tool_use(self, call: ToolCall, result: ToolResult) -> None:
            await stop()

    box = Toolbox([hang_up if who == "tool" else unlock])
    requested = ToolCall("1", "hang_up", "{}") if who == "tool" else UNLOCK
    provider = ScriptedProvider(call(requested), say("Hello."))
    talk = Session(provider, box, hooks=[HangsUp()] if who == "hook" else [])
    talks.append(talk)

    assert await talk.ask("Bye") == ""
    assert_valid(talk.history)
    await run_other_tasks()  # who ends its own turn is the last to go
    await nothing_runs(provider)
    assert await talk.ask("Hi") == "Hello."


SCENES: dict[str, Callable[[], tuple[Session, ScriptedProvider]]] = {
    "tools": lambda: session(call(SUM, WAIT, text="One moment."), say("Hello.")),
    "question": lambda: session(
        call(SUM, UNLOCK), say("Hello."), hooks=(asks_for("unlock"),)
    ),
    "manual": lambda: session(call(SUM, UNLOCK), say("Hello."), run_tools=False),
    "words": lambda: session(
        [
            TextDelta("a"),
            TextDelta("b"),
            CompletionResult(FinishReason.STOP, Usage(10, 5)),
        ],
        say("Hello."),
    ),
}


@pytest.mark.parametrize("cancel", [False, True], ids=["interrupted", "cancelled"])
@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
async def test_a_conversation_survives_an_end_at_any_moment(
    scene: Callable[[], tuple[Session, ScriptedProvider]], *, cancel: bool
) -> None:
    for moments in range(40):
        talk, provider = scene()
        asking = asyncio.create_task(talk.ask("Go!"))
        for _ in range(moments):
            await asyncio.sleep(0)
        if cancel:
            asking.cancel()
            with suppress(asyncio.CancelledError):
                await asking
            await talk.interrupt()
        else:
            await talk.interrupt()
            # what has not begun yet is no turn that could be interrupted
            asking.cancel()
            with suppress(asyncio.CancelledError):
                await asking
        assert_valid(talk.history)
        await nothing_runs(provider)


async def test_tokens_of_an_interrupted_turn_count() -> None:
    talk, _ = session(call(WAIT, usage=Usage(100, 20)))
    async with aclosing(talk.say("Go!")) as events:
        async for event in events:
            if isinstance(event, ToolStarted):
                break
    assert talk.usage == Usage(100, 20)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"toolbox": [add]}, r"Toolbox\(\[\.\.\.\]\), not as a list"),
        ({"toolbox": add}, r"not as a Tool"),
        (
            {"tool_choice": "required"},
            r"ToolChoiceMode\.REQUIRED.*NamedTool.*not 'required'",
        ),
        ({"history": [{"role": "user", "content": "Hi"}]}, "UserMessage.*not a dict"),
        ({"history": "Hi"}, "UserMessage.*not a str"),
        ({"allowed_tools": "add"}, "a set of names"),
    ],
)
async def test_what_is_given_in_another_form_is_refused_with_the_right_one(
    options: dict[str, object], hint: str
) -> None:
    with pytest.raises(TypeError, match=hint):
        Session(ScriptedProvider(), **options)  # type: ignore[arg-type]  # the point of the test


async def test_a_tool_that_there_is_not_cannot_be_allowed() -> None:
    with pytest.raises(ValueError, match=r"no tool 'humidity' to allow; there is: add"):
        Session(ScriptedProvider(), BOX, allowed_tools=frozenset({"humidity"}))
