"""Plain functions become tools: described, checked when they are put together, and run with what they expect."""

import asyncio
import threading
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import pytest
from pydantic import BaseModel, Field, model_serializer

from custom_components.chatterbox.agent.errors import InvalidToolbox
from custom_components.chatterbox.agent.messages import JsonObject, ToolAnnotations, ToolCall, ToolOutcome
from custom_components.chatterbox.agent.toolbox import Tool, Toolbox, as_outcome, tool


@tool
def light_on(room: str, brightness: Annotated[int, Field(ge=0, le=100)] = 100) -> dict[str, object]:
    """Turn the light of a room on."""
    return {"room": room, "brightness": brightness}


@tool(read_only=True, idempotent=True, open_world=False)
async def temperature(room: str) -> float:
    """Measure the temperature of a room."""
    await asyncio.sleep(0)
    if room == "attic":
        raise LookupError("there is no thermometer in the attic")
    return 21.5


@tool(name="next_song", destructive=False, repeatable=True, targets=lambda player: player)
def skip(player: str) -> None:
    """Play the next song."""
    del player


BOX = Toolbox([temperature, light_on, skip])


async def dispatch(box: Toolbox, name: str, arguments: JsonObject) -> ToolOutcome:
    """Run one call."""
    return await box.dispatch(ToolCall("1", name, "{}"), arguments)


def test_functions_are_described_and_sorted() -> None:
    light, song, degrees = BOX.definitions
    assert [one.name for one in BOX.definitions] == ["light_on", "next_song", "temperature"]
    assert light.description == "Turn the light of a room on."
    assert light.parameters["required"] == ["room"]
    assert light.annotations == ToolAnnotations(read_only=False, destructive=True, idempotent=False, open_world=True)
    assert degrees.annotations == ToolAnnotations(read_only=True, destructive=False, idempotent=True, open_world=False)
    assert song.annotations == ToolAnnotations(destructive=False)
    assert [one.repeatable for one in BOX.definitions] == [False, True, False]
    assert not any(one.client for one in BOX.definitions)


async def test_a_tool_is_still_the_function() -> None:
    assert light_on("kitchen", brightness=5) == {"room": "kitchen", "brightness": 5}
    assert await temperature("kitchen") == 21.5


def test_an_empty_box_is_a_box() -> None:
    assert Toolbox().definitions == ()


def test_two_tools_of_one_name_are_refused_with_both_owners() -> None:
    @tool(name="light_on")
    def other() -> None:
        """Turn another light on."""

    with pytest.raises(InvalidToolbox) as refusal:
        Toolbox([light_on, temperature, other])
    text = str(refusal.value)
    assert "'light_on'" in text
    assert f"{__name__}.light_on and" in text
    assert f"{__name__}.test_two_tools_of_one_name_are_refused_with_both_owners.<locals>.other" in text


def test_a_function_that_cannot_be_a_tool_is_refused_with_its_owner() -> None:
    @tool
    def many(*rooms: str) -> None:
        """Turn lights on."""
        del rooms

    with pytest.raises(InvalidToolbox, match=r"many cannot be a tool: .*\*rooms"):
        Toolbox([many])
    with pytest.raises(InvalidToolbox, match="is not made of 1 to 64 letters"):
        Toolbox([tool(name="all lights")(many.function)])


class Lamp:
    """Something that can be called, and is no function."""

    def __call__(self) -> None:
        """Light."""


def test_something_that_is_no_function_is_refused() -> None:
    lamp: Tool[[], None] = tool(name="lamp")(Lamp())
    with pytest.raises(InvalidToolbox, match=r"test_toolbox\.Lamp cannot be a tool: it is not a function"):
        Toolbox([lamp])


async def test_arguments_are_given_as_the_annotations_want_them() -> None:
    assert await dispatch(BOX, "light_on", {"room": "kitchen"}) == ToolOutcome('{"room":"kitchen","brightness":100}')
    assert await dispatch(BOX, "light_on", {"room": "kitchen", "brightness": "5"}) == ToolOutcome(
        '{"room":"kitchen","brightness":5}'
    )
    assert await dispatch(BOX, "temperature", {"room": "kitchen"}) == ToolOutcome("21.5")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"room": "kitchen", "brightness": 500}, "brightness: Input should be less than or equal to 100"),
        ({"brightness": "x"}, "room: Field required; brightness: Input should be a valid integer"),
        ({f"p{n}": 1 for n in range(50)}, "p0: Extra inputs are not permitted; p1"),
    ],
    ids=["range", "two", "many"],
)
async def test_arguments_that_do_not_fit_are_answered_with_what_was_expected(arguments: JsonObject, words: str) -> None:
    outcome = await dispatch(BOX, "light_on", arguments)
    assert outcome.is_error
    assert words in outcome.content
    assert len(outcome.content) < 400
    assert "pydantic" not in outcome.content


async def test_a_tool_that_is_not_in_the_box_is_answered() -> None:
    assert await dispatch(BOX, "unlock", {}) == ToolOutcome("There is no tool 'unlock'.", is_error=True)


async def test_what_a_function_raises_goes_to_the_caller() -> None:
    with pytest.raises(LookupError, match="no thermometer"):
        await dispatch(BOX, "temperature", {"room": "attic"})


async def test_a_function_that_is_not_async_blocks_nobody() -> None:
    inside, release = threading.Event(), threading.Event()

    @tool
    def slow() -> str:
        """Work for long."""
        inside.set()
        assert release.wait(60)
        return threading.current_thread().name

    working = asyncio.create_task(dispatch(Toolbox([slow]), "slow", {}))
    assert await asyncio.to_thread(inside.wait, 60)
    assert not working.done()
    release.set()

    assert (await working).content != threading.current_thread().name


async def test_a_thread_sees_the_context_of_the_call() -> None:
    person = ContextVar("person", default="nobody")

    @tool
    def who() -> str:
        """Say who asks."""
        return person.get()

    person.set("Ada")
    assert (await dispatch(Toolbox([who]), "who", {})).content == "Ada"


async def test_what_a_plain_function_returns_may_have_to_be_awaited() -> None:
    @tool
    def later() -> object:
        """Answer later."""
        return temperature("kitchen")

    assert (await dispatch(Toolbox([later]), "later", {})).content == "21.5"


def test_targets_are_unknown_unless_the_tool_names_them() -> None:
    @tool(targets=lambda rooms, brightness: [*rooms, f"level {brightness}"])
    def lights(rooms: list[str], brightness: int = 7) -> None:
        """Turn lights on."""
        del rooms, brightness

    box = Toolbox([lights, skip, light_on])
    assert box.targets("lights", {"rooms": ["kitchen", "hall"]}) == frozenset({"kitchen", "hall", "level 7"})
    assert box.targets("next_song", {"player": "radio"}) == frozenset({"radio"}), "one id may be a plain text"
    assert box.targets("light_on", {"room": "kitchen"}) is None
    assert box.targets("unlock", {}) is None


class Mode(StrEnum):
    """How to light."""

    WARM = "warm"


class Scene(BaseModel):
    """A scene."""

    title: str
    mode: Mode = Mode.WARM


@dataclass
class Point:
    """A place."""

    x: int


@pytest.mark.parametrize(
    ("result", "content"),
    [
        ("It is on.", "It is on."),
        (None, "Done."),
        ({"b": 1, "a": "Küche"}, '{"b":1,"a":"Küche"}'),
        ([1, (2, 3)], "[1,[2,3]]"),
        ({1: {"x"}}, '{"1":["x"]}'),
        (Scene(title="Dinner"), '{"title":"Dinner","mode":"warm"}'),
        ([Point(1)], '[{"x":1}]'),
        (Mode.WARM, "warm"),
        (datetime(2026, 10, 1, tzinfo=UTC), '"2026-10-01T00:00:00Z"'),
        (ToolOutcome("no", is_error=True), "no"),
    ],
)
def test_results_are_written_as_the_model_reads_them(result: object, content: str) -> None:
    assert as_outcome(result).content == content


_CIRCLE: list[object] = []
_CIRCLE.append(_CIRCLE)


class Hostile(BaseModel):
    """Something that does not want to be written."""

    @model_serializer
    def write(self) -> dict[str, str]:
        """Fail."""
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "result",
    [object(), float("nan"), {"a": float("inf")}, _CIRCLE, b"\xff", Hostile(), lambda: None, {"a": object()}],
    ids=["object", "nan", "inf", "circle", "bytes", "hostile", "function", "inside"],
)
async def test_a_result_that_is_not_json_is_an_error(result: object) -> None:
    @tool
    def odd() -> object:
        """Return something odd."""
        return result

    with pytest.raises(ValueError, match="is not JSON"):
        as_outcome(result)
    outcome = await dispatch(Toolbox([odd]), "odd", {})
    assert outcome.is_error
    assert outcome.content.startswith("odd ran, but its result cannot be read: a ")


@pytest.mark.parametrize(
    ("name", "arguments", "outcome"),
    [
        ("light_on", '{"room": "hall", "brightness": "50%"}', ToolOutcome('{"room":"hall","brightness":50}')),
        ("light_on", "{", None),
        ("light_on", "", ToolOutcome("room is missing: expected string.", is_error=True)),
        ("unlock", "{", ToolOutcome("There is no tool 'unlock'.", is_error=True)),
        (
            "temperature",
            '{"room": "attic"}',
            ToolOutcome("LookupError: there is no thermometer in the attic", is_error=True),
        ),
    ],
)
async def test_a_call_can_be_run_by_hand(name: str, arguments: str, outcome: ToolOutcome | None) -> None:
    result = await BOX.run(ToolCall("1", name, arguments))
    if outcome is None:
        assert result.is_error
        assert "not valid JSON" in result.content
    else:
        assert result == outcome
