"""Plain functions become tools: described, checked when they are put together, and run with what they expect."""

import asyncio
import functools
import math
import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError, model_serializer

from custom_components.chatterbox.agent.errors import InvalidToolbox
from custom_components.chatterbox.agent.json.coercion import fit
from custom_components.chatterbox.agent.messages import (
    JsonObject,
    ToolAnnotations,
    ToolCall,
    ToolOutcome,
)
from custom_components.chatterbox.agent.toolbox import (
    Tool,
    Toolbox,
    as_outcome,
    read_parameters,
    tool,
)
from tests.support.doubles import never


class Mode(StrEnum):
    """How to light."""

    WARM = "warm"
    COLD = "cold"


class Scene(BaseModel):
    """A scene."""

    title: str
    mode: Mode = Mode.WARM


@dataclass
class Point:
    """A place on the wall."""

    x: int


def light_up(
    room: Annotated[str, Field(description="Name of the room")],
    brightness: Annotated[int, Field(ge=0, le=100)] = 100,
    mode: Mode | None = None,
    *,
    scenes: list[Scene] | None = None,
) -> None:
    """Turn a light on,
    or make it brighter.

    Args: this part is for people who read the code.
    """  # noqa: D205 a first sentence over two lines
    del room, brightness, mode, scenes


def test_the_schema_is_made_from_annotations_and_defaults() -> None:
    parameters = read_parameters("light_up", light_up)

    assert parameters.description == "Turn a light on, or make it brighter."
    assert parameters.names == ("room", "brightness", "mode", "scenes")
    assert parameters.schema == {
        "type": "object",
        "properties": {
            "room": {"type": "string", "description": "Name of the room"},
            "brightness": {
                "type": "integer",
                "minimum": 0,
                "maximum": 100,
                "default": 100,
            },
            "mode": {
                "anyOf": [{"$ref": "#/$defs/Mode"}, {"type": "null"}],
                "default": None,
            },
            "scenes": {
                "anyOf": [
                    {"type": "array", "items": {"$ref": "#/$defs/Scene"}},
                    {"type": "null"},
                ],
                "default": None,
            },
        },
        "required": ["room"],
        "additionalProperties": False,
        "$defs": {
            "Mode": {
                "type": "string",
                "enum": ["warm", "cold"],
                "description": "How to light.",
            },
            "Scene": {
                "type": "object",
                "description": "A scene.",
                "properties": {
                    "title": {"type": "string"},
                    "mode": {"$ref": "#/$defs/Mode", "default": "warm"},
                },
                "required": ["title"],
            },
        },
    }


def test_what_a_model_writes_generously_fits_the_schema() -> None:
    parameters = read_parameters("light_up", light_up)
    written: JsonObject = {
        "room": "kitchen",
        "brightness": "50%",
        "mode": "WARM",
        "scenes": {"title": "Dinner"},
    }

    arguments = fit(written, parameters.schema)

    assert isinstance(arguments, dict)
    assert parameters.values(arguments) == {
        "room": "kitchen",
        "brightness": 50,
        "mode": Mode.WARM,
        "scenes": [Scene(title="Dinner")],
    }


def test_a_function_without_parameters_takes_none() -> None:
    def wait() -> None:
        """Wait."""

    parameters = read_parameters("wait", wait)
    assert parameters.schema == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
    assert parameters.values({}) == {}
    with pytest.raises(ValidationError):
        parameters.values({"minutes": 1})


def test_values_are_what_the_annotations_say() -> None:
    def plan(
        day: date, point: Point, tags: set[str], kind: Literal["a", "b"] = "a"
    ) -> None:
        """Plan."""
        del day, point, tags, kind

    values = read_parameters("plan", plan).values(
        {"day": "2026-10-01", "point": {"x": "5"}, "tags": ["x", "x"]}
    )

    assert values == {
        "day": date(2026, 10, 1),
        "point": Point(5),
        "tags": {"x"},
        "kind": "a",
    }


def test_a_parameter_may_have_any_name() -> None:
    def odd(
        json: int,
        copy: str,
        model_config: bool,  # noqa: FBT001 as a user would write it
        schema: str = "",
        _hidden: int = 0,
    ) -> None:
        """Take names that pydantic has for itself."""
        del json, copy, model_config, schema, _hidden

    parameters = read_parameters("odd", odd)

    names = ["json", "copy", "model_config", "schema", "_hidden"]
    properties = parameters.schema["properties"]
    assert list(properties) == names  # type: ignore[arg-type]  # it is an object
    values = parameters.values({"json": 1, "copy": "x", "model_config": True})
    assert values == {
        "json": 1,
        "copy": "x",
        "model_config": True,
        "schema": "",
        "_hidden": 0,
    }


def test_the_name_of_a_parameter_is_that_of_the_function() -> None:
    def renamed(
        room: Annotated[str, Field(alias="raum", description="Room")] = "hall",
    ) -> None:
        """Take a room."""
        del room

    parameters = read_parameters("renamed", renamed)
    assert parameters.schema["properties"] == {
        "room": {"type": "string", "description": "Room", "default": "hall"}
    }
    assert parameters.values({"room": "attic"}) == {"room": "attic"}


def test_a_default_that_json_cannot_write_is_still_the_default() -> None:
    def measure(limit: float = math.inf) -> None:
        """Measure."""
        del limit

    parameters = read_parameters("measure", measure)
    assert "required" not in parameters.schema
    assert parameters.values({}) == {"limit": math.inf}


def test_methods_and_wrapped_functions_can_be_told_about() -> None:
    class Home:
        def lock(self, door: str) -> None:
            """Lock a door."""

    @functools.wraps(light_up)
    def logged(*args: object, **kwargs: object) -> None:
        del args, kwargs

    assert read_parameters("lock", Home().lock).names == ("door",)
    assert read_parameters("light_up", logged).names == (
        "room",
        "brightness",
        "mode",
        "scenes",
    )


def undescribed(room: str) -> None:
    del room


def unannotated(room) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 that is the point
    """Light."""
    del room


def any_number(*rooms: str) -> None:
    """Light."""
    del rooms


def anything(**options: str) -> None:
    """Light."""
    del options


def by_position(room: str, /) -> None:
    """Light."""
    del room


def field_as_default(room: str = Field("hall", description="Room")) -> None:
    """Light."""
    del room


def unknown_type(room: Callable[[], None]) -> None:
    """Light."""
    del room


def foreign_type(room: pytest.MonkeyPatch) -> None:
    """Light."""
    del room


def missing_type(room: Cellar) -> None:  # type: ignore[name-defined]  # noqa: F821 that is the point
    """Light."""
    del room


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (undescribed, "it has no docstring"),
        (unannotated, "its parameter room has no annotation"),
        (any_number, "*rooms: str does not allow"),
        (anything, "**options: str does not allow"),
        (by_position, "room: str does not allow"),
        (field_as_default, "write room: Annotated"),
        (unknown_type, "a type that JSON cannot describe"),
        (foreign_type, "a type that JSON cannot describe"),
        (missing_type, "a name that does not exist: Cellar"),
        (functools.partial(light_up, "hall"), "it is not a function"),
        (Mode, "it is not a function"),
    ],
    ids=lambda value: getattr(value, "__name__", None) if callable(value) else "",
)
def test_what_a_model_could_not_be_told_is_refused(
    function: Callable[..., object], words: str
) -> None:
    with pytest.raises((TypeError, ValueError)) as refusal:
        read_parameters("light", function)
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    "name", ["", "light on", "licht_für_alle", "x" * 65, "a.b", "<lambda>", "light\n"]
)
def test_a_name_that_no_provider_takes_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="letters, digits"):
        read_parameters(name, light_up)


@tool
def light_on(
    room: str, brightness: Annotated[int, Field(ge=0, le=100)] = 100
) -> dict[str, object]:
    """Turn the light of a room on."""
    return {"room": room, "brightness": brightness}


@tool(read_only=True, idempotent=True, open_world=False)
async def temperature(room: str) -> float:
    """Measure the temperature of a room."""
    await asyncio.sleep(0)
    if room == "attic":
        raise LookupError("there is no thermometer in the attic")
    return 21.5


@tool(
    name="next_song", destructive=False, repeatable=True, targets=lambda player: player
)
def skip(player: str) -> None:
    """Play the next song."""
    del player


BOX = Toolbox([temperature, light_on, skip])


async def dispatch(box: Toolbox, name: str, arguments: JsonObject) -> ToolOutcome:
    """Run one call."""
    return await box.dispatch(ToolCall("1", name, "{}"), arguments)


def test_functions_are_described_and_sorted() -> None:
    light, song, degrees = BOX.definitions
    assert [one.name for one in BOX.definitions] == [
        "light_on",
        "next_song",
        "temperature",
    ]
    assert light.description == "Turn the light of a room on."
    assert light.parameters["required"] == ["room"]
    assert light.annotations == ToolAnnotations(
        read_only=False, destructive=True, idempotent=False, open_world=True
    )
    assert degrees.annotations == ToolAnnotations(
        read_only=True, destructive=False, idempotent=True, open_world=False
    )
    assert song.annotations == ToolAnnotations(destructive=False)
    assert [one.repeatable for one in BOX.definitions] == [False, True, False]
    assert not any(one.client for one in BOX.definitions)


async def test_a_tool_is_still_the_function() -> None:
    assert light_on("kitchen", brightness=5) == {"room": "kitchen", "brightness": 5}
    assert await temperature("kitchen") == 21.5


def test_two_tools_of_one_name_are_refused_with_both_owners() -> None:
    @tool(name="light_on")
    def other() -> None:
        """Turn another light on."""

    with pytest.raises(InvalidToolbox) as refusal:
        Toolbox([light_on, temperature, other])
    text = str(refusal.value)
    assert "'light_on'" in text
    assert f"{__name__}.light_on and" in text
    assert (
        f"{__name__}.test_two_tools_of_one_name_are_refused_with_both_owners.<locals>.other"
        in text
    )


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
    with pytest.raises(
        InvalidToolbox,
        match=r"test_toolbox\.Lamp cannot be a tool: it is not a function",
    ):
        Toolbox([lamp])


async def test_arguments_are_given_as_the_annotations_want_them() -> None:
    assert await dispatch(BOX, "light_on", {"room": "kitchen"}) == ToolOutcome(
        '{"room":"kitchen","brightness":100}'
    )
    assert await dispatch(
        BOX, "light_on", {"room": "kitchen", "brightness": "5"}
    ) == ToolOutcome('{"room":"kitchen","brightness":5}')
    assert await dispatch(BOX, "temperature", {"room": "kitchen"}) == ToolOutcome(
        "21.5"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"room": "kitchen", "brightness": 500},
            "brightness: Input should be less than or equal to 100",
        ),
        (
            {"brightness": "x"},
            "room: Field required; brightness: Input should be a valid integer",
        ),
        ({f"p{n}": 1 for n in range(50)}, "p0: Extra inputs are not permitted; p1"),
    ],
    ids=["range", "two", "many"],
)
async def test_arguments_that_do_not_fit_are_answered_with_what_was_expected(
    arguments: JsonObject, words: str
) -> None:
    outcome = await dispatch(BOX, "light_on", arguments)
    assert outcome.is_error
    assert words in outcome.content
    assert len(outcome.content) < 400
    assert "pydantic" not in outcome.content


async def test_a_tool_that_is_not_in_the_box_is_answered() -> None:
    assert await dispatch(BOX, "unlock", {}) == ToolOutcome(
        "There is no tool 'unlock'.", is_error=True
    )


async def test_what_a_function_raises_goes_to_the_caller() -> None:
    with pytest.raises(LookupError, match="no thermometer"):
        await dispatch(BOX, "temperature", {"room": "attic"})


async def test_a_function_that_is_not_async_blocks_nobody() -> None:
    inside, release = threading.Event(), threading.Event()

    @tool
    def slow() -> str:
        """Work for long."""
        inside.set()
        assert release.wait(300)
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


async def test_stop_iteration_in_a_thread_ends_the_call() -> None:
    @tool
    def exhausted() -> object:
        """Take from nothing."""
        return next(iter(()))

    with pytest.raises(RuntimeError):
        await dispatch(Toolbox([exhausted]), "exhausted", {})


async def test_what_a_plain_function_returns_may_have_to_be_awaited() -> None:
    @tool
    def later() -> object:
        """Answer later."""
        return temperature("kitchen")

    assert (await dispatch(Toolbox([later]), "later", {})).content == "21.5"


async def test_a_waiting_function_is_cancelled_with_its_call() -> None:
    waits, cancelled = asyncio.Event(), asyncio.Event()

    @tool
    async def wait() -> None:
        """Wait."""
        waits.set()
        try:
            await never()
        finally:
            cancelled.set()

    waiting = asyncio.create_task(dispatch(Toolbox([wait]), "wait", {}))
    await waits.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert cancelled.is_set()


def test_targets_are_unknown_unless_the_tool_names_them() -> None:
    @tool(targets=lambda rooms, brightness: [*rooms, f"level {brightness}"])
    def lights(rooms: list[str], brightness: int = 7) -> None:
        """Turn lights on."""
        del rooms, brightness

    box = Toolbox([lights, skip, light_on])
    assert box.targets("lights", {"rooms": ["kitchen", "hall"]}) == frozenset(
        {"kitchen", "hall", "level 7"}
    )
    assert box.targets("next_song", {"player": "radio"}) == frozenset({"radio"}), (
        "one id may be a plain text"
    )
    assert box.targets("light_on", {"room": "kitchen"}) is None
    assert box.targets("unlock", {}) is None


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
def test_results_are_written_as_the_model_reads_them(
    result: object, content: str
) -> None:
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
    [
        object(),
        float("nan"),
        {"a": float("inf")},
        _CIRCLE,
        b"\xff",
        Hostile(),
        lambda: None,
        {"a": object()},
    ],
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
        (
            "light_on",
            '{"room": "hall", "brightness": "50%"}',
            ToolOutcome('{"room":"hall","brightness":50}'),
        ),
        ("light_on", "{", None),
        (
            "light_on",
            "",
            ToolOutcome("room is missing: expected string.", is_error=True),
        ),
        ("unlock", "{", ToolOutcome("There is no tool 'unlock'.", is_error=True)),
        (
            "temperature",
            '{"room": "attic"}',
            ToolOutcome(
                "LookupError: there is no thermometer in the attic", is_error=True
            ),
        ),
    ],
)
async def test_a_call_can_be_run_by_hand(
    name: str, arguments: str, outcome: ToolOutcome | None
) -> None:
    result = await BOX.run(ToolCall("1", name, arguments))
    if outcome is None:
        assert result.is_error
        assert "not valid JSON" in result.content
    else:
        assert result == outcome


def test_a_function_without_the_decorator_is_told_what_is_missing() -> None:
    def plain(room: str) -> str:
        """Do nothing."""
        return room

    with pytest.raises(
        InvalidToolbox,
        match=r"plain is no tool yet: write @tool above the function, or tool\(plain\)",
    ):
        Toolbox([plain])  # type: ignore[list-item]  # the point of the test
    assert Toolbox([tool(plain)]).definitions
