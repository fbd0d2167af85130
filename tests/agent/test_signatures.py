"""What a model is told about a function, and which functions it cannot be told about."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from custom_components.chatterbox.agent.json.coercion import fit
from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.agent.toolbox import read_parameters


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
            "brightness": {"type": "integer", "minimum": 0, "maximum": 100, "default": 100},
            "mode": {"anyOf": [{"$ref": "#/$defs/Mode"}, {"type": "null"}], "default": None},
            "scenes": {
                "anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Scene"}}, {"type": "null"}],
                "default": None,
            },
        },
        "required": ["room"],
        "additionalProperties": False,
        "$defs": {
            "Mode": {"type": "string", "enum": ["warm", "cold"], "description": "How to light."},
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
    written: JsonObject = {"room": "kitchen", "brightness": "50%", "mode": "WARM", "scenes": {"title": "Dinner"}}

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
    assert parameters.schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert parameters.values({}) == {}
    with pytest.raises(ValidationError):
        parameters.values({"minutes": 1})


def test_values_are_what_the_annotations_say() -> None:
    def plan(day: date, point: Point, tags: set[str], kind: Literal["a", "b"] = "a") -> None:
        """Plan."""
        del day, point, tags, kind

    values = read_parameters("plan", plan).values({"day": "2026-10-01", "point": {"x": "5"}, "tags": ["x", "x"]})

    assert values == {"day": date(2026, 10, 1), "point": Point(5), "tags": {"x"}, "kind": "a"}


def test_a_parameter_may_have_any_name() -> None:
    def odd(json: int, copy: str, model_config: bool, schema: str = "", _hidden: int = 0) -> None:  # noqa: FBT001 as a user would write it
        """Take names that pydantic has for itself."""
        del json, copy, model_config, schema, _hidden

    parameters = read_parameters("odd", odd)

    assert list(parameters.schema["properties"]) == ["json", "copy", "model_config", "schema", "_hidden"]  # type: ignore[arg-type]  # it is an object
    values = parameters.values({"json": 1, "copy": "x", "model_config": True})
    assert values == {"json": 1, "copy": "x", "model_config": True, "schema": "", "_hidden": 0}


def test_the_name_of_a_parameter_is_that_of_the_function() -> None:
    def renamed(room: Annotated[str, Field(alias="raum", description="Room")] = "hall") -> None:
        """Take a room."""
        del room

    parameters = read_parameters("renamed", renamed)
    assert parameters.schema["properties"] == {"room": {"type": "string", "description": "Room", "default": "hall"}}
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
    assert read_parameters("light_up", logged).names == ("room", "brightness", "mode", "scenes")


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
def test_what_a_model_could_not_be_told_is_refused(function: Callable[..., object], words: str) -> None:
    with pytest.raises((TypeError, ValueError)) as refusal:
        read_parameters("light", function)
    assert words in str(refusal.value)


@pytest.mark.parametrize("name", ["", "light on", "licht_für_alle", "x" * 65, "a.b", "<lambda>", "light\n"])
def test_a_name_that_no_provider_takes_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="letters, digits"):
        read_parameters(name, light_up)
