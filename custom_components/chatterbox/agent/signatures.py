"""From a function's signature and docstring to what a model is told about it.

Knows `inspect` and pydantic; nothing of tools, calls or results.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, get_type_hints, override

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

from .messages import JsonObject, canonical_json

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ONE_BY_ONE: Final = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a function takes, and what it says of itself."""

    description: str
    schema: JsonObject
    """JSON Schema of all parameters together; the top level is a closed object."""
    names: tuple[str, ...]
    _model: type[BaseModel]

    def values(self, arguments: JsonObject) -> dict[str, object]:
        """Return a value for every parameter, as its annotation wants it.

        Raises pydantic's `ValidationError` for arguments that do not fit.
        """
        model = self._model.model_validate_json(canonical_json(arguments))
        return {name: getattr(model, _field(index)) for index, name in enumerate(self.names)}


def read_parameters(name: str, function: Callable[..., object]) -> Parameters:
    """Read a function that is to be offered under a name.

    Raises ValueError or TypeError whose text says what a model could not be told.
    """
    if not (inspect.isfunction(function) or inspect.ismethod(function)):
        raise TypeError("it is not a function")
    if not _NAME.fullmatch(name):
        raise ValueError(f"its name {name!r} is not made of 1 to 64 letters, digits, _ and -")
    description = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
    if not description:
        raise ValueError("it has no docstring, and a model has to be told what it does")
    hints = _hints(function)
    parameters = list(inspect.signature(function).parameters.values())
    fields = {_field(index): _definition(parameter, hints) for index, parameter in enumerate(parameters)}
    try:
        model = create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)  # type: ignore[call-overload]  # made of names that are known only now
        schema = _without_titles(model.model_json_schema(schema_generator=_Generator))
    except PydanticUserError as err:
        raise TypeError(f"a parameter has a type that JSON cannot describe: {err.message}") from err
    return Parameters(description, schema, tuple(parameter.name for parameter in parameters), model)


def _hints(function: Callable[..., object]) -> dict[str, object]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as err:
        raise ValueError(f"it is annotated with a name that does not exist: {err.name}") from err


def _field(index: int) -> str:
    """Name a field so that no parameter's name can collide with pydantic's own."""
    return f"parameter_{index}"


def _definition(parameter: inspect.Parameter, hints: dict[str, object]) -> tuple[object, FieldInfo]:
    name = parameter.name
    if parameter.kind not in _ONE_BY_ONE:
        raise ValueError(f"a model gives every parameter by its name, which {parameter} does not allow")
    if name not in hints:
        raise ValueError(f"its parameter {name} has no annotation")
    match parameter.default:
        case inspect.Parameter.empty:
            return hints[name], Field(alias=name)
        case FieldInfo():
            raise ValueError(f"write {name}: Annotated[..., Field(...)], and only the value as its default")
        case default:
            return hints[name], Field(default, alias=name)


class _Generator(GenerateJsonSchema):
    """Makes up no titles for parameters, which cost tokens and say nothing."""

    @override
    def field_title_should_be_set(self, schema: object) -> bool:
        return False

    @override
    def render_warning_message(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        """Leave out a default that JSON cannot write, without a word: the function still has it."""


def _without_titles(schema: dict[str, Any]) -> JsonObject:
    """Return a schema without the names of the classes that it was made from."""
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("title", None)
    return schema
