"""A call that needs a yes ends the turn with a question; the answer goes on from there, and holds once."""

import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.events import (
    Answer,
    ApprovalRequested,
    PendingApproval,
    PendingCall,
    StopReason,
    ToolFinished,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    JsonObject,
    ToolCall,
    ToolChoiceMode,
    ToolDefinition,
    ToolOutcome,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import Ask, Deny, Hooks
from custom_components.chatterbox.agent.transcript import TranscriptRecorder
from tests.agent.turns import assert_valid, calls, collect, finished, results
from tests.support.doubles import (
    Line,
    ScriptedDispatcher,
    ScriptedHooks,
    ScriptedProvider,
    asks_for,
    call,
    never,
    say,
    tool,
)

pytestmark = pytest.mark.usefixtures("loop_clock")

TOOLS = (tool("light_on"), tool("unlock"), tool("disarm"))
TURN = Turn("Open up!", tools=TOOLS, limits=Limits(max_iterations=4, max_tool_calls=3))
ON, UNLOCK = (
    ToolCall("1", "light_on", "{}"),
    ToolCall("2", "unlock", '{"door": "front"}'),
)
DISARM = ToolCall("3", "disarm", "{}")
UNLOCK_AS_ASKED = replace(UNLOCK, arguments='{"door":"front"}')


class Home:
    """A loop with a dispatcher, whose turns make one history."""

    def __init__(
        self, *script: list[Line], hooks: Sequence[Hooks] | None = None
    ) -> None:
        self.hooks = [asks_for("unlock", "disarm")] if hooks is None else hooks
        self.provider = ScriptedProvider(*script)
        self.dispatcher = ScriptedDispatcher()
        self.history: Transcript = ()
        self.results: list[ToolResult] = []

    async def take(self, turn: Turn) -> PendingApproval | None:
        """Take a turn on the history so far; return the question that it ended with."""
        loop = AgenticLoop(self.provider, self.dispatcher, hooks=self.hooks)
        events = await collect(loop, replace(turn, history=self.history))
        recorder = TranscriptRecorder()
        if turn.user_text is not None:
            recorder.append(UserMessage(turn.user_text))
        for event in events:
            recorder.add(event)
        self.history += recorder.messages
        self.results = results(events)
        return finished(events).pending

    @property
    def ran(self) -> list[str]:
        """Names of the tools that ran."""
        return [one.name for one in self.dispatcher.finished]


def yes(pending: PendingApproval | None) -> PendingApproval:
    """Say yes to all that is asked."""
    assert pending
    return replace(
        pending,
        answers={
            pending_call.call.id: Answer(approved=True)
            for pending_call in pending.calls
        },
    )


async def test_a_question_holds_the_exact_calls_and_the_budgets() -> None:
    provider = ScriptedProvider(
        call(ON), call(UNLOCK, replace(ON, id="4", arguments='{"n":1}'), DISARM)
    )
    turn = replace(TURN, limits=Limits(max_tool_calls=4))
    before = time.time()

    events = await collect(
        AgenticLoop(
            provider, ScriptedDispatcher(), hooks=[asks_for("unlock", "disarm")]
        ),
        turn,
    )

    pending = finished(events).pending
    assert pending is not None
    assert [event for event in events if isinstance(event, ApprovalRequested)] == [
        ApprovalRequested(pending)
    ]
    assert pending.calls == (
        PendingCall(UNLOCK_AS_ASKED, "unlock is risky."),
        PendingCall(DISARM, "disarm is risky."),
    )
    assert (pending.iterations, pending.tool_calls) == (2, 2)
    assert before + 60 <= pending.expires_at <= time.time() + 60
    assert finished(events).text == ""
    waiting = [result for result in results(events) if result.call_id in {"2", "3"}]
    assert [(result.is_error, result.synthetic) for result in waiting] == [
        (False, True)
    ] * 2


async def test_a_yes_is_to_the_repaired_call_and_the_model_is_told_what_was_repaired() -> (
    None
):
    """Approvals see the repaired call, and it is not repaired again after the yes."""

    def unlocking(
        tool: ToolDefinition, arguments: JsonObject
    ) -> tuple[str, JsonObject]:
        assert tool.name == "shutter"
        return "unlock", {"door": "back", **arguments}

    turn = replace(TURN, tools=(*TOOLS, tool("shutter")), repair=unlocking)
    home = Home(call(ToolCall("2", "shutter", "{}")), say("Done."))

    pending = await home.take(turn)

    assert pending
    assert [one.call.key for one in pending.calls] == [("unlock", '{"door":"back"}')]
    assert home.results[0].content == (
        'Not run yet: a person has to say yes first.\n(The call was read as unlock, with door "back".)'
    )
    await home.take(replace(turn, user_text=None, approval=yes(pending)))
    assert [one.key for one in home.dispatcher.finished] == [
        ("unlock", '{"door":"back"}')
    ]


@pytest.mark.parametrize(
    ("content", "result"),
    [
        ('{"done":true}', '{"note":"The call was read as light_on.","done":true}'),
        ("{}", '{"note":"The call was read as light_on."}'),
        ("It is on.", "It is on.\n(The call was read as light_on.)"),
    ],
)
async def test_a_result_says_what_was_repaired(content: str, result: str) -> None:
    async def answers(_: JsonObject) -> ToolOutcome:
        return ToolOutcome(content)

    home = Home(call(ToolCall("1", "lamp", "{}")), say("Done."))
    home.dispatcher.bodies["light_on"] = answers

    await home.take(
        replace(
            TURN,
            tools=(*TOOLS, tool("lamp")),
            repair=lambda _, arguments: ("light_on", arguments),
        )
    )

    assert [one.content for one in home.results] == [result]


async def test_how_long_a_question_stays_open_is_a_limit_of_the_turn() -> None:
    home = Home(call(UNLOCK))
    pending = await home.take(replace(TURN, limits=Limits(approval_expiry=1000)))
    assert pending is not None
    assert pending.expires_at > time.time() + 900


async def test_a_result_that_only_stands_for_a_question_says_so() -> None:
    provider = ScriptedProvider(
        call(UNLOCK, ON, replace(ON, id="x", name="unheard_of"))
    )
    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher(), hooks=[asks_for("unlock")]), TURN
    )
    result = {
        event.result.call_id: event.awaits_approval
        for event in events
        if isinstance(event, ToolFinished)
    }
    assert result == {UNLOCK.id: True, ON.id: False, "x": False}


async def test_what_is_asked_about_is_never_out_of_the_budget_by_the_yes() -> None:
    ons = [replace(ON, id=f"on{n}", arguments=f'{{"n":{n}}}') for n in range(3)]
    home = Home(call(UNLOCK, *ons[:2], DISARM), call(ons[2]), say("It is open."))
    turn = replace(TURN, limits=Limits(max_tool_calls=2))

    pending = await home.take(turn)

    assert pending
    assert [pending_call.call for pending_call in pending.calls] == [UNLOCK_AS_ASKED]
    assert home.ran == ["light_on"]
    assert ["used up" in result.content for result in home.results] == [
        False,
        False,
        True,
        True,
    ]

    await home.take(replace(turn, user_text="Yes", approval=yes(pending)))
    assert home.ran == ["light_on", "unlock"]


async def test_it_is_asked_even_when_the_time_ran_out_beside_it() -> None:
    home = Home(call(UNLOCK, ON), say("It is open."))
    home.dispatcher.bodies["light_on"] = never

    pending = await home.take(replace(TURN, limits=Limits(deadline=2)))

    assert pending
    assert [pending_call.call for pending_call in pending.calls] == [UNLOCK_AS_ASKED]
    assert [(result.name, result.is_error) for result in home.results] == [
        ("unlock", False),
        ("light_on", True),
    ]
    await home.take(replace(TURN, user_text="Yes", approval=yes(pending)))
    assert home.ran == ["unlock"]


async def test_a_yes_runs_the_call_without_asking_the_model_first() -> None:
    home = Home(call(UNLOCK), say("It is open."))
    pending = await home.take(TURN)

    assert (
        await home.take(replace(TURN, user_text="Yes", approval=yes(pending))) is None
    )

    assert home.ran == ["unlock"]
    assert len(home.provider.requests) == 2
    seen = home.provider.requests[1].transcript
    assert_valid(seen)
    words, requested, anew, result = seen[3:4] + seen[1:2] + seen[4:6]
    assert words == UserMessage("Yes")
    assert isinstance(requested, AssistantMessage)
    assert isinstance(anew, AssistantMessage)
    assert isinstance(result, ToolResult)
    assert [one.arguments for one in anew.tool_calls] == [
        one.arguments for one in requested.tool_calls
    ]
    assert anew.tool_calls[0].id != requested.tool_calls[0].id
    assert result == ToolResult(anew.tool_calls[0].id, "unlock", '{"done":true}')


async def test_a_yes_holds_once() -> None:
    home = Home(call(UNLOCK), say("It is open."), say("It was open already."))
    pending = await home.take(TURN)

    await home.take(replace(TURN, user_text=None, approval=yes(pending)))
    await home.take(replace(TURN, user_text=None, approval=yes(pending)))

    assert home.ran == ["unlock"]
    assert "answered or asked anew" in home.results[0].content


async def test_a_yes_that_comes_too_late_runs_nothing() -> None:
    home = Home(call(UNLOCK), say("Too late."))
    pending = await home.take(TURN)
    assert pending
    late = yes(replace(pending, expires_at=time.time() - 1))

    await home.take(replace(TURN, user_text=None, approval=late))

    assert home.ran == []
    assert home.results[0].content == "Not run: no yes came in time."


async def test_the_turn_goes_on_under_the_budgets_it_had() -> None:
    home = Home(
        call(ON),
        call(UNLOCK, replace(ON, id="4", arguments='{"n":1}')),
        call(replace(ON, id="6", arguments='{"n":2}')),
        say("Enough."),
    )
    pending = await home.take(TURN)
    assert pending
    assert (pending.iterations, pending.tool_calls) == (2, 2)

    await home.take(replace(TURN, user_text=None, approval=yes(pending)))

    assert home.ran == ["light_on", "light_on", "unlock"]
    assert [request.tool_choice for request in home.provider.requests[2:]] == [
        ToolChoiceMode.NONE
    ]


async def test_a_lower_bound_than_what_is_used_up_ends_the_turn_after_the_yes() -> None:
    home = Home(call(ON), call(replace(ON, id="4", arguments='{"n":1}')), call(UNLOCK))
    pending = await home.take(TURN)

    await home.take(
        replace(
            TURN, user_text=None, approval=yes(pending), limits=Limits(max_iterations=2)
        )
    )

    assert home.ran == ["light_on", "light_on", "unlock"]
    assert len(home.provider.requests) == 3
    assert isinstance(home.history[-1], AssistantMessage)
    assert "ran out of steps" in home.history[-1].text


async def test_what_was_denied_is_not_asked_again_in_the_same_turn() -> None:
    home = Home(call(UNLOCK), call(replace(UNLOCK, id="7")), say("As you wish."))
    pending = await home.take(TURN)
    assert pending

    again = await home.take(
        replace(
            TURN,
            user_text=None,
            approval=replace(pending, answers={"2": Answer(approved=False)}),
        )
    )

    assert again is None
    assert home.ran == []
    assert [result.is_error for result in home.results] == [True, True]


async def test_a_new_call_of_the_going_on_may_ask_again() -> None:
    home = Home(call(UNLOCK), call(DISARM))
    pending = await home.take(TURN)
    again = await home.take(replace(TURN, user_text=None, approval=yes(pending)))
    assert again is not None
    assert [pending_call.call.name for pending_call in again.calls] == ["disarm"]
    assert again.iterations == 2
    assert again.tool_calls == 1


async def test_hooks_see_the_words_that_come_with_an_answer() -> None:
    pending = PendingApproval(
        "q", (PendingCall(UNLOCK_AS_ASKED, "risky"),), time.time() + 60, 1, 0
    )
    hook = ScriptedHooks(
        prompt=lambda text: Deny("Not you.") if text == "Yes" else None
    )
    dispatcher = ScriptedDispatcher()
    turn = replace(TURN, user_text="Yes", approval=yes(pending))

    events = await collect(
        AgenticLoop(ScriptedProvider(), dispatcher, hooks=[hook]), turn
    )

    assert hook.prompts == ["Yes"]
    assert dispatcher.started == []
    assert finished(events).stop_reason is StopReason.PROMPT_DENIED
    assert [result.content for result in results(events)] == [
        "Not run: the turn ended first."
    ]


async def test_an_approved_call_is_not_shown_to_the_hook_that_asked_again() -> None:
    pending = PendingApproval(
        "q", (PendingCall(UNLOCK, "risky"),), time.time() + 60, 1, 0
    )
    hook = ScriptedHooks(before=lambda _, __: Ask("Sure?"))
    dispatcher = ScriptedDispatcher()
    turn = replace(TURN, user_text=None, approval=yes(pending))

    # The call was asked for with other spacing than it is recorded with, so it is not
    # the very same.
    events = await collect(
        AgenticLoop(ScriptedProvider(say("No.")), dispatcher, hooks=[hook]), turn
    )
    assert dispatcher.started == []

    exact = replace(pending, calls=(PendingCall(UNLOCK_AS_ASKED, "risky"),))
    turn = replace(turn, approval=yes(exact))
    events = await collect(
        AgenticLoop(ScriptedProvider(say("Open.")), dispatcher, hooks=[hook]), turn
    )
    assert [one.name for one in dispatcher.finished] == ["unlock"]
    assert hook.calls == []
    assert calls(events)[0].arguments == '{"door":"front"}'


class Guard:
    """Asks for everything but the light, on the terms that hold at that moment."""

    def __init__(self, **terms: str) -> None:
        self.terms = {"unlock": "front door", "disarm": "alarm"} | terms
        self.hook = ScriptedHooks(before=self.decide, approved=self.decide)

    def decide(self, name: str, _: JsonObject) -> Deny | Ask | None:
        """Ask, or deny what is forbidden by now."""
        match self.terms.get(name):
            case None:
                return None
            case "":
                return Deny("Not any more.")
            case terms:
                return Ask(f"{terms}?", terms)


async def test_a_yes_to_something_else_than_it_would_be_now_asks_anew_before_the_model() -> (
    None
):
    guard = Guard()
    home = Home(call(UNLOCK), say("Both are open."), hooks=(guard.hook,))
    first = await home.take(TURN)
    guard.terms["unlock"] = "front door and back door"

    second = await home.take(replace(TURN, user_text="Yes", approval=yes(first)))

    assert home.ran == []
    assert len(home.provider.requests) == 1
    assert first
    assert second
    assert second.id != first.id
    assert [
        (pending_call.reason, pending_call.terms) for pending_call in second.calls
    ] == [("front door and back door?", "front door and back door")]
    assert [pending_call.call.arguments for pending_call in second.calls] == [
        UNLOCK_AS_ASKED.arguments
    ]
    assert (second.iterations, second.tool_calls) == (1, 0)
    assert_valid(home.history)

    await home.take(replace(TURN, user_text="Yes", approval=yes(second)))
    assert home.ran == ["unlock"]


async def test_a_call_that_is_forbidden_by_now_is_answered_with_the_reason() -> None:
    guard = Guard()
    home = Home(call(UNLOCK), say("I may not."), hooks=(guard.hook,))
    pending = await home.take(TURN)
    guard.terms["unlock"] = ""

    await home.take(replace(TURN, user_text="Yes", approval=yes(pending)))

    assert home.ran == []
    assert [(result.content, result.is_error) for result in home.results] == [
        ("Not any more.", True)
    ]


async def test_hooks_are_not_shown_a_call_that_would_not_run() -> None:
    guard = Guard()
    guard_of_words = ScriptedHooks(
        prompt=lambda text: Deny("Not you.") if text == "Let me!" else None
    )
    home = Home(call(UNLOCK), say("Too late."), hooks=(guard_of_words, guard.hook))
    pending = await home.take(TURN)
    assert pending

    await home.take(replace(TURN, user_text="Let me!", approval=yes(pending)))
    home.history = home.history[:3]
    await home.take(
        replace(
            TURN,
            user_text="Yes",
            approval=yes(replace(pending, expires_at=time.time() - 1)),
        )
    )

    assert guard.hook.approved_calls == []
    assert home.ran == []


@pytest.mark.parametrize("text", ["", "Is the kettle on?"])
async def test_a_person_who_says_something_else_leaves_a_valid_history(
    text: str,
) -> None:
    home = Home(call(UNLOCK), say("Fine."))
    await home.take(TURN)
    await home.take(replace(TURN, user_text=text))
    assert_valid(home.provider.requests[1].transcript)
    assert home.ran == []
