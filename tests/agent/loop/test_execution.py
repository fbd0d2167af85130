"""Calls run at once and answer in their order; those that meet keep it; one that fails fails alone."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import override

import pytest

from custom_components.chatterbox.agent.events import ToolStarted
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    JsonObject,
    ToolCall,
    ToolOutcome,
    ToolResult,
)
from custom_components.chatterbox.agent.protocols import Deny, Rewrite
from custom_components.chatterbox.agent.transcript import has_outside_content
from tests.agent.turns import collect, results, run_other_tasks
from tests.support.doubles import (
    Gate,
    ScriptedDispatcher,
    ScriptedHooks,
    ScriptedProvider,
    ToolBody,
    call,
    never,
    say,
    tool,
)

pytestmark = pytest.mark.usefixtures("loop_clock")

LIGHT, FAN, LOOK = tool("light_on"), tool("fan_on"), tool("look", read_only=True)
TURN = Turn("Go!", tools=(LIGHT, FAN, LOOK, tool("song", repeatable=True)))
A, B = ToolCall("a", "light_on", "{}"), ToolCall("b", "fan_on", "{}")
LOOKING = ToolCall("l", "look", "{}")

type Targets = Callable[[str, JsonObject], frozenset[str] | None]


def by_name(name: str, _: JsonObject) -> frozenset[str]:
    """Let each tool change something of its own."""
    return frozenset({name})


def the_same(_: str, __: JsonObject) -> frozenset[str]:
    """Let all tools change the same, and more."""
    return frozenset({"home", f"{_}"})


def unknown(_: str, __: JsonObject) -> None:
    """Know no targets."""


def broken(_: str, __: JsonObject) -> frozenset[str]:
    """Fail to know."""
    raise KeyError("no such entity")


def run(
    dispatcher: ScriptedDispatcher, *calls: ToolCall
) -> asyncio.Task[list[ToolResult]]:
    """Start a turn with one message of calls; its task returns their results."""

    async def turn() -> list[ToolResult]:
        provider = ScriptedProvider(call(*calls), say("Done."))
        return results(await collect(AgenticLoop(provider, dispatcher), TURN))

    return asyncio.create_task(turn())


async def test_a_result_that_nobody_can_write_down_is_mended() -> None:
    """Invariant 32."""

    async def look(_: JsonObject) -> ToolOutcome:
        return ToolOutcome("dark \ud83d and 💡")

    [result] = await run(ScriptedDispatcher({"look": look}), LOOKING)
    assert result.content == "dark \ufffd and 💡"


async def test_calls_run_at_once_and_answer_in_their_order() -> None:
    """Invariants 30, 31."""
    light, fan = Gate(), Gate()
    dispatcher = ScriptedDispatcher({"light_on": light, "fan_on": fan}, by_name)
    turn = run(dispatcher, A, B)

    await light.reached.wait()
    await fan.reached.wait()
    fan.opened.set()
    await fan.passed.wait()
    light.opened.set()

    assert [result.call_id for result in await turn] == ["a", "b"]
    assert [one.id for one in dispatcher.finished] == ["b", "a"]


@pytest.mark.parametrize("targets", [the_same, unknown, broken])
async def test_calls_that_may_change_the_same_keep_their_order(
    targets: Targets,
) -> None:
    light, fan = Gate(), Gate()
    fan.opened.set()
    dispatcher = ScriptedDispatcher({"light_on": light, "fan_on": fan}, targets)
    turn = run(dispatcher, A, B)

    await light.reached.wait()
    await run_other_tasks()
    assert not fan.reached.is_set()
    light.opened.set()
    await turn

    assert [one.id for one in dispatcher.finished] == ["a", "b"]


async def test_a_call_whose_targets_are_unknown_waits_for_those_before_it_and_holds_those_after_it() -> (
    None
):
    first, second, third = Gate(), Gate(), Gate()
    gates = {"1": first, "2": second, "3": third}

    async def body(arguments: JsonObject) -> ToolOutcome:
        return await gates[str(arguments["n"])]()

    dispatcher = ScriptedDispatcher(
        {"light_on": body},
        lambda _, arguments: (
            None if arguments["n"] == "2" else frozenset({str(arguments["n"])})
        ),
    )
    turn = run(dispatcher, *(ToolCall(n, "light_on", f'{{"n":"{n}"}}') for n in gates))

    for gate, later in ((first, second), (second, third)):
        await gate.reached.wait()
        await run_other_tasks()
        assert not later.reached.is_set()
        gate.opened.set()
    await third.reached.wait()
    third.opened.set()
    assert len(await turn) == 3


async def test_a_reading_call_sees_what_was_changed_before_it() -> None:
    light, look = Gate(), Gate()
    look.opened.set()
    dispatcher = ScriptedDispatcher({"light_on": light, "look": look}, by_name)
    turn = run(dispatcher, A, LOOKING)

    await light.reached.wait()
    await run_other_tasks()
    assert not look.reached.is_set()
    light.opened.set()
    await turn

    assert [one.id for one in dispatcher.finished] == ["a", "l"]


async def test_a_reading_call_waits_for_no_change_after_it_and_holds_none() -> None:
    light, look = Gate(), Gate()
    dispatcher = ScriptedDispatcher({"light_on": light, "look": look}, unknown)
    turn = run(dispatcher, LOOKING, A)
    await look.reached.wait()
    await light.reached.wait()
    light.opened.set()
    look.opened.set()
    assert [result.call_id for result in await turn] == ["l", "a"]


async def test_targets_of_reading_calls_are_not_asked_for() -> None:
    requests: list[str] = []

    def note(name: str, _: JsonObject) -> frozenset[str]:
        requests.append(name)
        return frozenset()

    await run(ScriptedDispatcher({}, note), LOOKING, A)
    assert requests == ["light_on"]


class Mute(Exception):
    """An exception whose text cannot be had."""

    @override
    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError("no text")


async def raises(_: JsonObject) -> ToolOutcome:
    """Fail."""
    raise ValueError("the bulb is broken")


async def refuses(_: JsonObject) -> ToolOutcome:
    """Answer with an error."""
    return ToolOutcome("no such page", is_error=True)


async def raises_at_length(_: JsonObject) -> ToolOutcome:
    """Fail, and say too much."""
    raise ValueError("x" * 100_000)


async def raises_mutely(_: JsonObject) -> ToolOutcome:
    """Fail without words."""
    raise Mute


async def cancels_itself(_: JsonObject) -> ToolOutcome:
    """End by a cancellation that nobody asked for."""
    raise asyncio.CancelledError


async def times_out(_: JsonObject) -> ToolOutcome:
    """Fail by a timeout of its own."""
    raise TimeoutError("the bridge is silent")


async def answers_nonsense(_: JsonObject) -> ToolOutcome:
    """Answer what no dispatcher may."""
    return None  # type: ignore[return-value]  # that is the point


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (raises, "ValueError: the bulb is broken"),
        (raises_at_length, "ValueError: xxx"),
        (raises_mutely, "Mute"),
        (cancels_itself, "cancelled"),
        (times_out, "TimeoutError: the bridge is silent"),
        (answers_nonsense, "AttributeError"),
    ],
)
async def test_a_tool_that_fails_is_an_answer_and_takes_nobody_along(
    body: ToolBody, words: str
) -> None:
    """Invariant 30."""
    dispatcher = ScriptedDispatcher({"light_on": body}, by_name)

    failed, fine, seen = await run(dispatcher, A, B, LOOKING)

    assert failed.is_error
    assert not failed.synthetic
    assert words in failed.content
    assert len(failed.content) <= 500
    assert not fine.is_error
    assert not seen.is_error


async def test_a_call_that_waits_for_one_that_fails_runs_after_it() -> None:
    failed, fine = await run(ScriptedDispatcher({"light_on": raises}, unknown), A, B)
    assert failed.is_error
    assert not fine.is_error


async def test_an_outcome_comes_through_whole() -> None:
    native = object()

    async def body(_: JsonObject) -> ToolOutcome:
        return ToolOutcome("no such lamp", is_error=True, native=native)

    [result] = await run(ScriptedDispatcher({"light_on": body}), A)

    assert result == ToolResult("a", "light_on", "no such lamp", is_error=True)
    assert result.native is native


PAGE = tool("web_page", open_world=True)
READ = ToolCall("w", "web_page", "{}")


@pytest.mark.parametrize(
    "body",
    [None, raises, refuses, never],
    ids=["answers", "raises", "refuses", "hangs"],
)
@pytest.mark.parametrize(
    "hook",
    [lambda _: None, lambda _: Rewrite("less"), lambda _: Deny("Not for you.")],
    ids=["", "rewritten", "hidden"],
)
async def test_what_comes_from_outside_says_so_whatever_became_of_it(
    body: ToolBody | None, hook: Callable[[ToolResult], Deny | Rewrite[str] | None]
) -> None:
    hooks = ScriptedHooks(after=hook)
    provider = ScriptedProvider(call(READ), say("Done."))
    dispatcher = ScriptedDispatcher({"web_page": body} if body else {})
    turn = replace(TURN, tools=(PAGE,), limits=Limits(tool_timeout=2))

    events = await collect(AgenticLoop(provider, dispatcher, hooks=[hooks]), turn)

    assert [event for event in events if isinstance(event, ToolStarted)] == [
        ToolStarted(READ, open_world=True)
    ]
    assert [result.open_world for result in results(events)] == [True]
    assert [result.open_world for _, result in hooks.results] == [True], (
        "hooks can tell, too"
    )
    assert has_outside_content(provider.requests[1].transcript)


async def test_an_outcome_may_be_from_outside_although_its_tool_is_not() -> None:
    async def body(_: JsonObject) -> ToolOutcome:
        return ToolOutcome("what a stranger said then", open_world=True)

    [result] = await run(ScriptedDispatcher({"light_on": body}), A)

    assert result.open_world


async def test_a_call_that_was_cut_off_may_have_brought_something_in() -> None:
    turn = replace(TURN, tools=(PAGE, LIGHT), limits=Limits(deadline=0.5))
    provider = ScriptedProvider(call(READ, A), say("Done."))
    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher({"web_page": never})), turn
    )
    assert [
        (result.content.split(":")[0], result.open_world) for result in results(events)
    ] == [
        ("Cut off", True),
        ("Cut off", False),
    ]


async def test_a_hook_may_rewrite_what_the_model_reads() -> None:
    native = object()

    async def body(_: JsonObject) -> ToolOutcome:
        return ToolOutcome("code 1234", native=native)

    hook = ScriptedHooks(after=lambda _: Rewrite("code ****"))
    provider = ScriptedProvider(call(A), say("Done."))

    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher({"light_on": body}), hooks=[hook]),
        TURN,
    )

    assert results(events) == [ToolResult("a", "light_on", "code ****")]
    assert results(events)[0].native is None, "the native result still tells the code"
    assert provider.requests[1].transcript[-1] == results(events)[0]
    assert hook.results == [(A, ToolResult("a", "light_on", "code 1234"))]
