"""Schemas of request bodies, apart from tools and items.

Fields that cannot be served are refused by name, so that no client relies on them, and
so are unknown fields. Fields of vendors, `slug:name`, are ignored. Sources:
OpenResponses specification, `CreateResponseBody` of 2026-04-24; OpenAI API reference,
"Create a model response", as of its Python client 3.54.
"""

import asyncio
from collections.abc import Callable
from typing import Annotated, Final, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue as AnyJson,
    RootModel,
    ValidationError,
)

from ...agent.json.text import check_count, check_size, parse_json
from ...agent.messages import JsonObject, JsonValue
from ...agent.protocols import ReasoningEffort, Verbosity
from .errors import ApiError, bad_value, invalid
from .items.schema import VENDOR_TYPE, path_of, path_within

_LARGE: Final = 4_000
"""Characters from which on a body is read in a thread: 64 shorter ones at once hold the event loop for some ms."""
_MOST_VALUES: Final = 100_000
"""Of a body: some thousand items, or some hundred functions."""
_MOST_SCHEMA_VALUES: Final = 10_000
"""Of all functions, and of the schema of an answer. They are read, translated and returned in each of three events."""
_MOST_ENTRIES: Final = 4096
"""Of one list or object."""
CLIENT_TOOLS_STATUS: Final = "chatterbox:client_tools_status"

type Short = Annotated[str, Field(max_length=64)]
type Metadata = Annotated[
    dict[Short, Annotated[str, Field(max_length=512)]], Field(max_length=16)
]
type Id = Annotated[str, Field(min_length=1, max_length=256)]
type ReasoningSummary = Literal["auto", "concise", "detailed"]
type Includable = Literal[
    "reasoning.encrypted_content",
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
    "file_search_call.results",
    "message.input_image.image_url",
    "web_search_call.action.sources",
    "web_search_call.results",
]
"""Values of `include`. All but the first belong to tools that do not exist here, or are always included."""
type FunctionName = Annotated[
    str, Field(min_length=1, max_length=64, pattern="^[a-zA-Z0-9_-]+$")
]


class Part(BaseModel):
    """Base of the parts of a body."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False
    )


BY_VALUE: Final = Field(strict=False)
"""Of an enum, whose values clients send."""


class _Reasoning(Part):
    effort: Annotated[ReasoningEffort, BY_VALUE] | None = None
    summary: ReasoningSummary | None = None
    generate_summary: ReasoningSummary | None = None
    """The old name of `summary`."""
    context: Literal["auto"] | None = None
    mode: Literal["standard"] | None = None


class TextFormat(Part):
    """Format of the answer."""

    type: Literal["text", "json_object", "json_schema"]
    name: FunctionName | None = None
    description: str | None = None
    schema_: dict[str, AnyJson] | None = Field(
        default=None,
        alias="schema",
    )
    strict: bool | None = None


class _Text(Part):
    format: TextFormat | None = None
    verbosity: Annotated[Verbosity, BY_VALUE] | None = None


class _StreamOptions(Part):
    include_obfuscation: bool | None = None


class ConversationId(RootModel[Id]):
    """Id of a conversation."""


class Conversation(Part):
    """A conversation, by its id."""

    id: Id


class _Hints(Part):
    """Fields that are returned as they are and change nothing: a model's server caches as it does."""

    context_management: AnyJson = None
    prompt_cache_options: AnyJson = None
    prompt_cache_retention: AnyJson = None


HINTS: Final = frozenset(_Hints.model_fields)


class CreateBody(_Hints):
    """The body of a request for a response."""

    model: Annotated[str, Field(min_length=1)]
    input: AnyJson = None
    instructions: str | None = None
    previous_response_id: Id | None = None
    conversation: AnyJson = None
    tools: list[AnyJson] | None = Field(
        default=None,
        max_length=128,
    )
    tool_choice: AnyJson = None
    parallel_tool_calls: bool = True
    max_tool_calls: Annotated[int, Field(ge=1)] | None = None
    max_output_tokens: Annotated[int, Field(ge=16)] | None = None
    text: _Text = _Text()
    reasoning: _Reasoning = _Reasoning()
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] = 0.0
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] = 0.0
    top_logprobs: Annotated[int, Field(ge=0, le=20)] = 0
    truncation: Literal["auto", "disabled"] = "disabled"
    store: bool = True
    background: bool = False
    stream: bool = False
    stream_options: _StreamOptions | None = None
    include: Annotated[list[Includable], Field(max_length=64)] = []
    service_tier: (
        Literal["auto", "default", "flex", "priority", "scale", "fast", "ultrafast"]
        | None
    ) = None
    metadata: Metadata = {}
    safety_identifier: Short | None = None
    prompt_cache_key: Short | None = None
    user: str | None = None
    client_tools_status: Literal["completed", "requires_action"] = Field(
        default="completed", alias="chatterbox:client_tools_status"
    )

    @property
    def reasoning_summary(self) -> ReasoningSummary | None:
        """Requested summary of the reasoning, by its new or old name."""
        return self.reasoning.summary or self.reasoning.generate_summary


class CompactBody(_Hints):
    """The body of a request to compact a conversation."""

    model: Annotated[str, Field(min_length=1)]
    input: AnyJson = None
    instructions: str | None = None
    previous_response_id: Id | None = None
    prompt_cache_key: Short | None = None
    service_tier: Literal["auto", "default", "fast", "flex", "priority"] | None = None


_NOT_ON_SOCKETS: Final = (
    "stream",
    "stream_options",
    "background",
    "stream_id",
)
"""Fields without a meaning on a WebSocket, where every response is a stream."""


class BodyReader:
    """Reads bodies: a large one in a thread, and only one of these at a time."""

    def __init__(self) -> None:
        """Start without a body."""
        self._turn = asyncio.Lock()

    async def read[
        T,
    ](self, size: int, parse: Callable[[], T]) -> T:
        """Return what `parse` returns for a body of so many characters."""
        if size < _LARGE:
            return parse()
        async with self._turn:
            reading = asyncio.create_task(
                asyncio.to_thread(parse), name="chatterbox body"
            )
            try:
                await asyncio.wait({reading})
                return reading.result()
            except asyncio.CancelledError:
                await asyncio.wait(
                    {reading}
                )  # a thread cannot be cancelled, and the next must not run beside it
                reading.exception()
                raise
            finally:
                # its error refers back to it: in a cycle, a refused body waits for the
                # garbage collector
                del reading


def parse_text(text: str) -> JsonValue:
    """Parse the JSON of a body or message. Raises `ApiError`."""
    try:
        check_count(text, _MOST_VALUES)
        value = parse_json(text, unique_names=True)
        check_size(
            value,
            _MOST_VALUES,
            _MOST_ENTRIES,
        )
    except ValueError as error:
        raise invalid(
            f"This is no JSON that can be used: {error}.", code="invalid_json"
        ) from error
    return value


def parse_body[
    T: _Hints,
](model: type[T], body: JsonValue) -> T:
    """Parse the body of a request. Raises `ApiError`."""
    fields = _fields(body)
    known = {field.alias or name for name, field in model.model_fields.items()}
    unknown = next(
        (name for name in fields if name not in known),
        None,
    )
    if unknown:
        raise _unknown(unknown)
    return parse_part(
        model,
        fields,
        "",
    )


def parse_message(message: JsonValue) -> CreateBody:
    """Parse a WebSocket message that requests a response. Raises `ApiError`."""
    fields = _fields(message)
    kind = fields.pop("type", None)
    if kind != "response.create":
        if isinstance(kind, str):
            text = "There is no such event."
        else:
            text = "An event needs a type."
        raise bad_value(
            f"{text} Send events of the type 'response.create'.",
            "type",
        )
    for name in _NOT_ON_SOCKETS:
        if fields.pop(name, None) is not None:
            raise invalid(
                f"'{name}' cannot be used over a WebSocket: every response is streamed, and none in the background.",
                name,
                "unsupported_parameter",
            )
    return parse_body(CreateBody, fields)


def parse_part[
    T: BaseModel,
](model: type[T], value: JsonValue, place: str) -> T:
    """Validate a part of a body; `place` is its path, as in `tools[0]`. Raises `ApiError` with the parameter."""
    try:
        return model.model_validate(value)
    except ValidationError as err:
        first = err.errors()[0]
        path = path_of(first["loc"])
        if path.startswith("metadata."):
            param = "metadata"
        else:
            param = path_within(place, path)
        match first["type"]:
            case "extra_forbidden":
                raise _unknown(param) from None
            case "missing":
                raise invalid(
                    f"Missing required parameter: '{param}'.",
                    param,
                    "missing_required_parameter",
                ) from None
            case _:
                raise bad_value(
                    f"Invalid value for '{param}': {first['msg']}.",
                    param,
                ) from None


def check_schemas(value: JsonValue, place: str) -> None:
    """Refuse schemas that are larger than any model reads. Raises `ApiError`."""
    try:
        check_size(
            value,
            _MOST_SCHEMA_VALUES,
            _MOST_ENTRIES,
        )
    except ValueError as error:
        raise invalid(
            f"'{place}' is too large: {error}.",
            place,
            "too_large",
        ) from None


def _unknown(param: str) -> ApiError:
    return invalid(
        f"Unknown parameter: '{param}'.",
        param,
        "unknown_parameter",
    )


def unsupported(param: str, why: str) -> ApiError:
    """Return the error of a request for something that is not supported."""
    return invalid(
        f"Unsupported parameter: '{param}'. {why}", param, "unsupported_parameter"
    )


def _fields(body: JsonValue) -> JsonObject:
    """Return the fields of a body, without null ones and those of other vendors. Raises `ApiError`."""
    if not isinstance(body, dict):
        raise invalid("The body has to be a JSON object.")
    return {
        name: value
        for name, value in body.items()
        if value is not None
        and (name == CLIENT_TOOLS_STATUS or not VENDOR_TYPE.fullmatch(name))
    }
