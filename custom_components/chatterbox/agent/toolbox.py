"""Plain Python functions as tools: `@tool` describes them, a `Toolbox` offers and runs them.

The JSON Schema of a tool is made from the function's annotations and defaults, its
description from the first paragraph of the docstring.
"""

import asyncio
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypedDict, Unpack, get_type_hints, overload, override

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import to_jsonable_python

from .errors import InvalidToolbox
from .json.coercion import Unfit, read_arguments
from .messages import (
    JsonObject,
    ToolAnnotations,
    ToolCall,
    ToolDefinition,
    ToolOutcome,
    Tools,
    canonical_json,
)

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ONE_BY_ONE: Final = {
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
}


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters and the description of a function."""

    description: str
    schema: JsonObject
    """JSON Schema of all parameters, an object without additional properties."""
    names: tuple[str, ...]
    _model: type[BaseModel]

    def values(self, arguments: JsonObject) -> dict[str, object]:
        """Validate arguments and return a value for every parameter. Raises pydantic's `ValidationError`."""
        model = self._model.model_validate_json(canonical_json(arguments))
        return {
            name: getattr(model, _field(index)) for index, name in enumerate(self.names)
        }


def read_parameters(
    name: str,
    function: Callable[..., object],
) -> Parameters:
    """Inspect a function that is offered as `name`. Raises ValueError or TypeError if it cannot be described."""
    if not (inspect.isfunction(function) or inspect.ismethod(function)):
        raise TypeError("it is not a function")
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"its name {name!r} is not made of 1 to 64 letters, digits, _ and -"
        )
    description = " ".join(
        (inspect.getdoc(function) or "").partition("\n\n")[0].split()
    )
    if not description:
        raise ValueError("it has no docstring, and a model has to be told what it does")
    hints = _hints(function)
    parameters = list(inspect.signature(function).parameters.values())
    fields = {
        _field(index): _definition(parameter, hints)
        for index, parameter in enumerate(parameters)
    }
    try:
        model = create_model(
            "Arguments", __config__=ConfigDict(extra="forbid"), **fields
        )  # type: ignore[call-overload]  # made of names that are known only now
        schema = model.model_json_schema(schema_generator=_Generator)
    except PydanticUserError as err:
        raise TypeError(
            f"a parameter has a type that JSON cannot describe: {err.message}"
        ) from err
    # Pydantic derives titles from class names.
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("title", None)
    return Parameters(
        description, schema, tuple(parameter.name for parameter in parameters), model
    )


def _hints(function: Callable[..., object]) -> dict[str, object]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as err:
        raise ValueError(
            f"it is annotated with a name that does not exist: {err.name}"
        ) from err


def _field(index: int) -> str:
    """Return a field name that cannot collide with pydantic's own names."""
    return f"parameter_{index}"


def _definition(
    parameter: inspect.Parameter, hints: dict[str, object]
) -> tuple[object, FieldInfo]:
    name = parameter.name
    if parameter.kind not in _ONE_BY_ONE:
        raise ValueError(
            f"a model gives every parameter by its name, which {parameter} does not allow"
        )
    if name not in hints:
        raise ValueError(f"its parameter {name} has no annotation")
    match parameter.default:
        case inspect.Parameter.empty:
            return hints[name], Field(alias=name)
        case FieldInfo():
            raise ValueError(
                f"write {name}: Annotated[..., Field(...)], and only the value as its default"
            )
        case default:
            return hints[name], Field(default, alias=name)


class _Generator(GenerateJsonSchema):
    """Omits titles, which cost tokens and repeat the names."""

    @override
    def field_title_should_be_set(self, schema: object) -> bool:
        return False

    @override
    def render_warning_message(
        self,
        kind: JsonSchemaWarningKind,
        detail: str,
    ) -> None:
        """Omit defaults that JSON cannot represent, without a warning: the function still has them."""


_SHOWN_PROBLEMS: Final = 5
"""Number of validation problems in one message to the model."""

type Targets = Callable[..., Iterable[str]]


@dataclass(frozen=True, slots=True)
class Tool[**P, R]:
    """A function with its annotations as a tool. It can still be called like the function."""

    function: Callable[P, R]
    name: str
    annotations: ToolAnnotations
    repeatable: bool = False
    targets: Targets | None = None

    def __call__(
        self,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """Call the function itself."""
        return self.function(*args, **kwargs)

    @property
    def owner(self) -> str:
        """Return the module and name of the function."""
        kind = type(self.function)
        module = getattr(
            self.function,
            "__module__",
            kind.__module__,
        )
        return f"{module}.{getattr(self.function, '__qualname__', kind.__qualname__)}"


class Behaviour(TypedDict, total=False):
    """The fields of `ToolAnnotations`, as options of `@tool`."""

    read_only: bool
    destructive: bool
    """True by default, unless the tool is `read_only`."""
    idempotent: bool
    open_world: bool


@overload
def tool[**P, R](function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool[**P, R](
    *,
    name: str | None = None,
    repeatable: bool = False,
    targets: Targets | None = None,
    **behaviour: Unpack[Behaviour],
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool[**P, R](
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    repeatable: bool = False,
    targets: Targets | None = None,
    **behaviour: Unpack[Behaviour],
) -> Tool[P, R] | Callable[[Callable[P, R]], Tool[P, R]]:
    """Make a function a tool, as `@tool` or with options, as `@tool(read_only=True)`.

    The options are fields of `ToolAnnotations` and `ToolDefinition`, and `targets`: a
    function that takes the arguments of a call by name and returns the ids of what it
    would change, so that calls with different targets can run concurrently. A function
    that is not async runs in a thread. The checks are made when a `Toolbox` is built.
    """
    behaviour.setdefault(
        "destructive",
        not behaviour.get("read_only", False),
    )
    annotations = ToolAnnotations(**behaviour)

    def describe(function: Callable[P, R]) -> Tool[P, R]:
        own_name: str = getattr(
            function,
            "__name__",
            "",
        )
        return Tool(
            function,
            name or own_name,
            annotations,
            repeatable,
            targets,
        )

    if function is None:
        return describe
    return describe(function)


class Toolbox:
    """The `ToolDispatcher` of plain Python functions."""

    def __init__(
        self,
        tools: Iterable[Tool[..., object]] = (),
    ) -> None:
        """Check the tools and describe them.

        Raises `InvalidToolbox` for invalid or duplicate names, and for functions that
        cannot be described.
        """
        self._tools: dict[str, tuple[Tool[..., object], Parameters]] = {}
        for one in tools:
            _check_tool(one)
            other = self._tools.get(one.name)
            if other is not None:
                owners = f"{other[0].owner} and {one.owner}"
                raise InvalidToolbox(
                    f"Two tools have the name {one.name!r}: {owners}. Give one of them another name."
                )
            try:
                self._tools[one.name] = one, read_parameters(one.name, one.function)
            except (TypeError, ValueError) as err:
                raise InvalidToolbox(f"{one.owner} cannot be a tool: {err}") from err

    @property
    def definitions(self) -> Tools:
        """Return the definitions of the tools, sorted by name."""
        return tuple(
            ToolDefinition(
                name,
                builder.description,
                builder.schema,
                one.annotations,
                repeatable=one.repeatable,
            )
            for name, (one, builder) in sorted(self._tools.items())
        )

    def targets(
        self,
        name: str,
        arguments: JsonObject,
    ) -> frozenset[str] | None:
        """Return the targets that the tool declares for a call, or None."""
        known = self._tools.get(name)
        if known is None or known[0].targets is None:
            return None
        targets = known[0].targets(**known[1].values(arguments))
        return frozenset([targets] if isinstance(targets, str) else targets)

    async def dispatch(
        self,
        call: ToolCall,
        arguments: JsonObject,
    ) -> ToolOutcome:
        """Run the function with validated arguments. Its exceptions are raised.

        Invalid arguments, and results that are not JSON, become outcomes with
        `is_error`.
        """
        known = self._tools.get(call.name)
        if known is None:
            return ToolOutcome(
                f"There is no tool {call.name!r}.",
                is_error=True,
            )
        try:
            values = known[1].values(arguments)
        except ValidationError as err:
            return ToolOutcome(_problems(err), is_error=True)
        result = await _call(known[0].function, values)
        try:
            return as_outcome(result)
        except ValueError as err:
            return ToolOutcome(
                f"{call.name} ran, but its result cannot be read: {err}", is_error=True
            )

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Run a call outside of a turn. Exceptions become outcomes too."""
        try:
            known = self._tools.get(call.name)
            return await self.dispatch(
                call, read_arguments(call.arguments, known[1].schema) if known else {}
            )
        except Unfit as err:
            return ToolOutcome(str(err), is_error=True)
        except Exception as err:  # noqa: BLE001  # every failure of a tool is a result for the model
            return ToolOutcome(
                f"{type(err).__name__}: {err}",
                is_error=True,
            )


def _check_tool(one: object) -> None:
    """Raise `InvalidToolbox` for a function without `@tool`."""
    if not isinstance(one, Tool):
        name = getattr(
            one,
            "__name__",
            repr(one),
        )
        raise InvalidToolbox(
            f"{name} is no tool yet: write @tool above the function, or tool({name})."
        )


def as_outcome(result: object) -> ToolOutcome:
    """Convert the result of a function to an outcome: text unchanged, all other values as JSON.

    Accepts everything that pydantic can serialize. Raises ValueError for other values.
    """
    match result:
        case ToolOutcome():
            return result
        case str():
            return ToolOutcome(result)
        case None:
            return ToolOutcome("Done.")
        case _:
            pass
    try:
        value = to_jsonable_python(result, inf_nan_mode="constants")
        return ToolOutcome(
            json.dumps(
                value, ensure_ascii=False, allow_nan=False, separators=(",", ":")
            )
        )
    except Exception as err:  # serializing may run code of the result
        raise ValueError(f"a {type(result).__name__} that is not JSON ({err})") from err


async def _call(
    function: Callable[..., object],
    values: dict[str, object],
) -> object:
    if inspect.iscoroutinefunction(function):
        return await function(**values)
    result = await asyncio.to_thread(function, **values)
    if isinstance(result, Awaitable):
        return await result
    return result


def _problems(err: ValidationError) -> str:
    """Describe the first problems."""
    problems = err.errors()
    messages = [
        f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
        for problem in problems[:_SHOWN_PROBLEMS]
    ]
    return f"{'; '.join(messages)}."
