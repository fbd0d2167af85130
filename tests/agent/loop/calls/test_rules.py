"""The rules that depend on where a turn stands: ids, budgets, and decisions that were asked for."""

from copy import replace

import pytest

from custom_components.chatterbox.agent.events import Answer, PendingCall, StopReason
from custom_components.chatterbox.agent.loop.calls import decide_call, judge_call
from custom_components.chatterbox.agent.loop.turn import (
    ClientCall,
    Limits,
    OpenCall,
    Resolved,
    Runnable,
    Turn,
    TurnState,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    ToolCall,
    ToolChoiceMode,
    ToolResult,
    Transcript,
    UserMessage,
)
from tests.support.doubles import NO, YES, tool

LIGHT, PAGE = tool("light_on"), tool("show_page", client=True)
TURN = Turn("Light!", tools=(LIGHT, PAGE), limits=Limits(max_tool_calls=3))
STATE = TurnState(TURN, (UserMessage("Light!"),), iterations=1)
CALL = ToolCall("a", "light_on", '{"n":1}')

WAITING = PendingCall(ToolCall("g", "light_on", '{"n":5}'), "risky")


def refusal(call: OpenCall) -> str:
    """Return the error that a call was answered with."""
    assert isinstance(call, Resolved)
    assert call.result.is_error
    return call.result.content


def runnable(number: int) -> OpenCall:
    """Return a call of the open message that will run."""
    return Runnable(ToolCall(f"r{number}", "light_on", f'{{"n":{number}0}}'), LIGHT, {})


@pytest.mark.parametrize(
    ("used", "open_now", "runs"),
    [(0, 2, True), (2, 0, True), (1, 2, False), (3, 0, False)],
)
def test_calls_that_ran_and_calls_that_will_count_together(
    used: int, open_now: int, *, runs: bool
) -> None:
    state = replace(
        STATE, tool_calls=used, open_calls=tuple(runnable(n) for n in range(open_now))
    )

    call = judge_call(state, CALL)

    assert isinstance(call, Runnable) is runs
    if not runs:
        assert "used up" in refusal(call)


def test_calls_that_do_not_run_leave_the_budget_alone() -> None:
    client = ClientCall(ToolCall("c", "show_page", "{}"))
    state = replace(
        STATE,
        tool_calls=2,
        open_calls=(client, judge_call(STATE, replace(CALL, name="x"))),
    )

    assert isinstance(judge_call(state, CALL), Runnable)


def test_a_call_that_waits_for_a_yes_has_its_place_in_the_budget() -> None:
    assert isinstance(
        judge_call(replace(STATE, tool_calls=1, open_calls=(WAITING,)), CALL), Runnable
    )
    assert "used up" in refusal(
        judge_call(replace(STATE, tool_calls=2, open_calls=(WAITING,)), CALL)
    )


@pytest.mark.parametrize(
    "state",
    [
        replace(STATE, last_call=StopReason.DEADLINE),
        replace(STATE, turn=replace(TURN, tool_choice=ToolChoiceMode.NONE)),
    ],
    ids=["last inference", "no tools wanted"],
)
def test_where_no_tool_may_run_none_does(state: TurnState) -> None:
    for name in ("light_on", "show_page", "unheard_of"):
        call = judge_call(state, ToolCall("a", name, "x" * 1_000_000))
        assert "no more tools" in refusal(call)
        assert len(call.call.arguments) == 1_000


def test_ids_are_kept_apart_from_those_of_the_history_the_turn_and_the_message() -> (
    None
):
    """Invariant 6."""
    history: Transcript = (
        UserMessage("Hi"),
        AssistantMessage(tool_calls=(replace(CALL, id="old"),)),
        ToolResult("old", "light_on", ""),
    )
    earlier = AssistantMessage(tool_calls=(replace(CALL, id="earlier"),))
    state = replace(
        STATE,
        turn=replace(TURN, history=history),
        messages=(
            UserMessage("Light!"),
            earlier,
            ToolResult("earlier", "light_on", ""),
        ),
        open_calls=(runnable(1),),
    )

    ids = {
        judge_call(state, replace(CALL, id=given)).call.id
        for given in ("old", "earlier", "r1", "", "i" * 65)
    }

    assert len(ids) == 1, "made up from the state alone"
    assert not ids & {"old", "earlier", "r1", ""}
    assert all(len(one) == 9 and one.isalnum() for one in ids), (
        "the one form that every service takes"
    )
    assert judge_call(state, replace(CALL, id="fresh")).call.id == "fresh"
    assert judge_call(state, replace(CALL, id="i" * 64)).call.id == "i" * 64


def test_a_made_up_id_that_is_taken_is_not_used() -> None:
    made_up = judge_call(STATE, replace(CALL, id="")).call.id
    state = replace(
        STATE,
        open_calls=(Runnable(ToolCall(made_up, "light_on", '{"n":7}'), LIGHT, {}),),
    )
    second = judge_call(state, replace(CALL, id="")).call.id
    state = replace(
        STATE,
        open_calls=(Runnable(ToolCall(second, "light_on", '{"n":7}'), LIGHT, {}),),
    )
    assert judge_call(state, replace(CALL, id="")).call.id not in {second, ""}


def test_the_same_call_of_the_open_message_does_not_run_twice() -> None:
    first = judge_call(STATE, CALL)
    second = judge_call(replace(STATE, open_calls=(first,)), replace(CALL, id="b"))
    assert isinstance(first, Runnable)
    assert isinstance(second, Resolved)


def test_a_call_of_the_open_message_that_will_not_run_changes_nothing() -> None:
    first = judge_call(STATE, CALL)
    unheard_of = judge_call(STATE, ToolCall("x", "unheard_of", "{}"))
    client = ClientCall(ToolCall("c", "show_page", "{}"))
    again = replace(CALL, id="b")

    for idle in (unheard_of, client):
        assert isinstance(
            judge_call(replace(STATE, open_calls=(first, idle)), again), Resolved
        )
    for changing in (runnable(1), WAITING):
        assert isinstance(
            judge_call(replace(STATE, open_calls=(first, changing)), again), Runnable
        )


ASKED = PendingCall(CALL, "It is risky.")


def test_an_approved_call_runs_as_it_was_asked_under_a_new_id() -> None:
    call = decide_call(STATE, ASKED, YES, expired=False)

    assert call == Runnable(call.call, LIGHT, {"n": 1})
    assert call.call == replace(CALL, id=call.call.id)
    assert call.call.id != CALL.id


@pytest.mark.parametrize(
    ("decision", "expired", "words"),
    [
        (NO, False, "the person said no."),
        (
            Answer(approved=False, reason="Not at night."),
            False,
            "the person said no. Not at night.",
        ),
        (
            Answer(approved=False, reason="Not at night."),
            True,
            "the person said no. Not at night.",
        ),
        (YES, True, "no yes came in time"),
        (None, True, "no yes came in time"),
        (None, False, "no yes was given"),
    ],
)
def test_without_a_yes_in_time_a_call_does_not_run(
    decision: Answer | None, words: str, *, expired: bool
) -> None:
    assert words in refusal(decide_call(STATE, ASKED, decision, expired=expired))


@pytest.mark.parametrize(
    "turn",
    [
        replace(TURN, tools=()),
        replace(TURN, tools=(tool("garden__light_on"),)),
        replace(TURN, tools=(tool("LIGHT_ON"),)),
        replace(
            TURN,
            tools=(
                tool("light_on", parameters={"properties": {"n": {"type": "string"}}}),
            ),
        ),
        replace(
            TURN, tools=(tool("light_on", client=True),), guards_client_calls=False
        ),
        replace(TURN, allowed_tools=frozenset()),
        replace(TURN, tool_choice=ToolChoiceMode.NONE),
    ],
    ids=[
        "vanished",
        "other prefix",
        "other case",
        "other schema",
        "the client's now",
        "not allowed",
        "none wanted",
    ],
)
def test_a_yes_holds_only_for_the_very_call_that_was_asked(turn: Turn) -> None:
    call = decide_call(replace(STATE, turn=turn), ASKED, YES, expired=False)
    assert not isinstance(call, Runnable | ClientCall)


def test_an_approved_call_costs_a_call_of_the_budget() -> None:
    call = decide_call(replace(STATE, tool_calls=3), ASKED, YES, expired=False)
    assert "used up" in refusal(call)


def history(*later: Transcript) -> Transcript:
    """Return a history in which the call was asked for."""
    start: Transcript = (
        UserMessage("Light!"),
        AssistantMessage(tool_calls=(CALL,)),
        ToolResult("a", "light_on", "Not run yet."),
    )
    return sum(later, start)


def came_anew(call: ToolCall) -> Transcript:
    """Return a later message with one call."""
    return (
        AssistantMessage(tool_calls=(call,)),
        ToolResult(call.id, call.name, "done"),
    )


@pytest.mark.parametrize(
    ("past", "runs"),
    [
        (history(), True),
        (history((AssistantMessage("Shall I?"), UserMessage("yes"))), True),
        (history(came_anew(ToolCall("b", "light_on", '{"n":2}'))), True),
        (history(came_anew(ToolCall("b", "other", '{"n":1}'))), True),
        (history(came_anew(replace(CALL, id="b"))), False),
        (came_anew(replace(CALL, id="b")) + history(), True),
        (came_anew(replace(CALL, id="b")), True),
        ((), True),
    ],
    ids=[
        "asked",
        "asked in words",
        "other arguments",
        "other tool",
        "ran since",
        "ran before",
        "not here",
        "empty",
    ],
)
def test_a_yes_holds_once(past: Transcript, *, runs: bool) -> None:
    state = replace(STATE, turn=replace(TURN, history=past))

    call = decide_call(state, ASKED, YES, expired=False)

    assert isinstance(call, Runnable) is runs
