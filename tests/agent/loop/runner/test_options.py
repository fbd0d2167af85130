"""The options of one turn: the length of answers, their shape, and one call at a time."""

from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    ToolCall,
    ToolOutcome,
    Usage,
)
from custom_components.chatterbox.agent.protocols import (
    NO_WISHES,
    AnswerOptions,
    Hooks,
    ReasoningEffort,
    Verbosity,
)
from tests.agent.turns import collect, finished, results, run_other_tasks
from tests.support.doubles import (
    Gate,
    Line,
    ScriptedDispatcher,
    ScriptedProvider,
    asks_for,
    call,
    say,
    tool,
)

ON, LOOKING = ToolCall("1", "light_on", "{}"), ToolCall("2", "look", "{}")
SHOW, FAN = ToolCall("3", "show_page", "{}"), ToolCall("4", "fan_on", "{}")
TURN = Turn(
    "Light!", tools=(tool("light_on"), tool("fan_on"), tool("look", read_only=True))
)
WITH_CLIENT = replace(TURN, tools=(*TURN.tools, tool("show_page", client=True)))
ONE_BY_ONE = AnswerOptions(parallel_tool_calls=False)


def bounded(tokens: int | None, options: AnswerOptions = NO_WISHES) -> Turn:
    """Return a turn whose answers may take so many tokens together."""
    return replace(TURN, limits=Limits(max_output_tokens=tokens), options=options)


async def test_wishes_reach_every_inference() -> None:
    wishes = AnswerOptions(
        0.5, 0.9, ReasoningEffort.LOW, Verbosity.HIGH, 300, parallel_tool_calls=False
    )
    provider = ScriptedProvider(call(ON), say("It is on."))
    await collect(
        AgenticLoop(provider, ScriptedDispatcher()), replace(TURN, options=wishes)
    )
    assert [request.options for request in provider.requests] == [wishes] * 2


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_history_is_shortened_by_nobody_where_that_is_not_allowed(
    *, allowed: bool
) -> None:
    provider = ScriptedProvider(say("Hi."))
    await collect(
        AgenticLoop(provider, ScriptedDispatcher()),
        replace(TURN, may_be_shortened=allowed),
    )
    [request] = provider.requests
    assert (request.may_be_shortened, request.may_be_cut) == (allowed, allowed)


async def test_the_bound_of_the_answers_holds_over_all_inferences() -> None:
    """Invariant 16."""
    provider = ScriptedProvider(
        call(ON, usage=Usage(10, 40)),
        call(FAN, usage=Usage(10, 25, reasoning_tokens=20)),
        say("Both are on."),
    )
    await collect(AgenticLoop(provider, ScriptedDispatcher()), bounded(100))
    assert [request.options.max_output_tokens for request in provider.requests] == [
        100,
        60,
        35,
    ]


@pytest.mark.parametrize(
    ("requests", "answer"), [(50, [50, 50]), (80, [80, 60]), (500, [100, 60])]
)
async def test_one_answer_is_no_longer_than_was_wished_either(
    requests: int, answer: list[int]
) -> None:
    """Invariant 16."""
    provider = ScriptedProvider(call(ON, usage=Usage(10, 40)), say("It is on."))
    await collect(
        AgenticLoop(provider, ScriptedDispatcher()),
        bounded(100, AnswerOptions(max_output_tokens=requests)),
    )
    assert [
        request.options.max_output_tokens for request in provider.requests
    ] == answer


@pytest.mark.parametrize("used", [85, 100, 1_000])
async def test_a_turn_that_has_no_tokens_left_ends_and_says_what_was_done(
    used: int,
) -> None:
    """Invariant 16."""
    provider = ScriptedProvider(call(ON, usage=Usage(10, used)))
    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), bounded(100))
    end = finished(events)
    assert end.stop_reason is StopReason.LENGTH
    assert [result.call_id for result in end.tool_results] == ["1"]
    assert end.text.startswith("Done: light_on.")
    assert end.composed


async def test_what_a_service_does_not_count_is_estimated() -> None:
    """Invariant 16."""
    uncounted: list[Line] = [
        ReasoningDelta("Which light is it? " * 10),
        TextDelta("Let me see. " * 10),
        ToolCallReady(ON),
        CompletionResult(FinishReason.TOOL_CALLS),
    ]
    provider = ScriptedProvider(uncounted, say("It is on."))
    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), bounded(500))
    left = provider.requests[1].options.max_output_tokens
    assert left is not None
    assert 350 <= left <= 450
    assert finished(events).usage.output_tokens == 5, (
        "what is reported is what was counted"
    )


@pytest.mark.parametrize("tokens", [-1, 0, 15])
def test_a_bound_that_no_answer_fits_in_is_refused(tokens: int) -> None:
    with pytest.raises(ValueError, match="max_output_tokens must be at least 16"):
        Limits(max_output_tokens=tokens)
    with pytest.raises(ValueError, match="max_output_tokens must be at least 16"):
        AnswerOptions(max_output_tokens=tokens)


@pytest.mark.parametrize(
    "arguments", ["", '{"area": "Kit', "{}"], ids=["not begun", "begun", "whole"]
)
@pytest.mark.parametrize(
    "hooks", [[], [asks_for("light_on")]], ids=["free", "with a question"]
)
async def test_no_call_of_a_message_that_was_cut_by_its_length_runs(
    arguments: str, hooks: list[Hooks]
) -> None:
    """Invariant 17."""
    half = replace(ON, arguments=arguments)
    provider = ScriptedProvider(
        [
            TextDelta("One moment."),
            ToolCallReady(FAN),
            ToolCallReady(half),
            CompletionResult(FinishReason.LENGTH),
        ]
    )
    dispatcher = ScriptedDispatcher()
    events = await collect(AgenticLoop(provider, dispatcher, hooks=hooks), TURN)
    assert dispatcher.started == []
    assert [
        (result.call_id, result.synthetic, result.is_error)
        for result in results(events)
    ] == [
        ("4", True, True),
        ("1", True, True),
    ]
    assert finished(events).stop_reason is StopReason.LENGTH


async def test_what_reads_and_began_before_a_message_was_cut_is_told_as_far_as_it_came() -> (
    None
):
    """Invariant 17."""
    looked = Gate()
    looked.opened.set()
    provider = ScriptedProvider(
        [
            ToolCallReady(LOOKING),
            looked.reached.wait,
            ToolCallReady(ON),
            CompletionResult(FinishReason.LENGTH),
        ]
    )
    dispatcher = ScriptedDispatcher({"look": looked})
    events = await collect(AgenticLoop(provider, dispatcher), TURN)
    assert [one.name for one in dispatcher.started] == ["look"]
    assert [result.synthetic for result in results(events)] == [False, True]


class Watch:
    """Tool bodies that tell how many of them ran at once."""

    def __init__(self) -> None:
        self.most = self.running = 0

    async def __call__(self, _: JsonObject) -> ToolOutcome:
        """Run for a moment in which others could run too."""
        self.running += 1
        self.most = max(self.most, self.running)
        await run_other_tasks()
        self.running -= 1
        return ToolOutcome("done")


@pytest.mark.parametrize(
    ("options", "at_once"),
    [(NO_WISHES, 3), (ONE_BY_ONE, 1)],
    ids=["parallel", "one by one"],
)
async def test_calls_run_one_by_one_where_that_is_wished(
    options: AnswerOptions, at_once: int
) -> None:
    """Invariants 30, 31."""
    watch = Watch()
    names = {"b": "look", "c": "peek", "a": "glance"}
    pending_calls = [
        replace(LOOKING, id=call_id, name=name) for call_id, name in names.items()
    ]
    dispatcher = ScriptedDispatcher(dict.fromkeys(names.values(), watch))
    provider = ScriptedProvider(call(*pending_calls), say("Dark."))
    turn = replace(
        TURN,
        tools=tuple(tool(name, read_only=True) for name in names.values()),
        options=options,
    )
    events = await collect(AgenticLoop(provider, dispatcher), turn)
    assert watch.most == at_once
    assert [result.call_id for result in results(events)] == ["b", "c", "a"]


async def test_a_caller_who_runs_one_call_at_a_time_is_given_one() -> None:
    """Invariant 31."""
    provider = ScriptedProvider(
        call(SHOW, replace(SHOW, id="x", arguments='{"n":1}'), ON)
    )
    dispatcher = ScriptedDispatcher()
    events = await collect(
        AgenticLoop(provider, dispatcher), replace(WITH_CLIENT, options=ONE_BY_ONE)
    )
    assert [one.id for one in finished(events).client_calls] == ["3"]
    assert [
        (result.call_id, "one call at a time" in result.content)
        for result in results(events)
    ] == [
        ("x", True),
        ("1", True),
    ]
    assert dispatcher.started == []


async def test_a_call_of_the_home_is_not_held_up_by_one_of_the_caller_after_it() -> (
    None
):
    """Invariants 22, 31."""
    provider = ScriptedProvider(call(ON, SHOW), call(replace(SHOW, id="y")))
    dispatcher = ScriptedDispatcher()
    events = await collect(
        AgenticLoop(provider, dispatcher), replace(WITH_CLIENT, options=ONE_BY_ONE)
    )
    assert [one.name for one in dispatcher.finished] == ["light_on"]
    assert [one.id for one in finished(events).client_calls] == ["y"]


async def test_a_call_that_is_answered_at_once_stands_in_nobodys_way() -> None:
    """Invariants 22, 31."""
    provider = ScriptedProvider(call(replace(ON, id="x", name="unheard_of"), SHOW))
    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher()),
        replace(WITH_CLIENT, options=ONE_BY_ONE),
    )
    assert [one.id for one in finished(events).client_calls] == ["3"]
