"""Requests for responses and compactions, parsed from their body. Errors name items of the `input` by their index.

Sources: OpenResponses specification, schema of 2026-04-24, and its `ResponseResource`
for the echo.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ...agent.messages import (
    JsonObject,
    JsonValue,
    Transcript,
)
from ...agent.protocols import AnswerOptions, OutputFormat
from ...agent.transcript import calls_in, open_calls, results_in
from .backend import TurnWishes
from .body import (
    HINTS,
    CompactBody,
    Conversation,
    ConversationId,
    CreateBody,
    TextFormat,
    check_schemas,
    parse_body,
    parse_message,
    parse_part,
    unsupported,
)
from .errors import ApiError, bad_approval, bad_value, invalid
from .items.encrypted_content import ContentCodec
from .items.parts import InvalidItem
from .items.reading import ParsedItems, parse_items, transcript_call_id
from .items.schema import CUT_OFF, NewId, complete_item, path_within, shown_call_id
from .tools import RequestedTools, read_tool_choice, read_tools

_ECHOED: Final = {
    "model",
    "instructions",
    "previous_response_id",
    "parallel_tool_calls",
    "max_tool_calls",
    "max_output_tokens",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "truncation",
    "store",
    "background",
    "metadata",
    "safety_identifier",
    "prompt_cache_key",
}
"""Fields of a body that its response repeats as they are."""
_ANY_OBJECT: Final[JsonObject] = {
    "type": "object",
    "properties": {},
}
_LEAST_TOP_P: Final = 0.01
"""Replaces 0, which not all services accept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateRequest(TurnWishes):
    """A request for a response, with defaults for what the client left out."""

    model: str
    items: tuple[JsonObject, ...]
    """The input as complete items."""
    instructions: str | None = None
    previous_response_id: str | None = None
    conversation_id: str | None = None
    store: bool = True
    background: bool = False
    stream: bool = False
    reasoning_summary: str | None = None
    """`auto`, `concise`, `detailed`, or None for no reasoning."""
    include_encrypted_reasoning: bool = False
    pauses_for_functions: bool = False
    """Whether a response that waits for function outputs has the status `requires_action` in place of `completed`."""
    echo: Mapping[str, JsonValue] = field(default_factory=dict)
    """The fields of the response object that repeat the request, defaults included."""


def read_create(body: JsonValue, new_id: NewId) -> CreateRequest:
    """Read the body of `POST /responses`. Items without an id get a new one. Raises `ApiError`."""
    return _create(parse_body(CreateBody, body), new_id)


def read_socket_create(message: JsonValue, new_id: NewId) -> CreateRequest:
    """Read a `response.create` message of a WebSocket, whose response is always streamed. Raises `ApiError`."""
    return replace(
        _create(parse_message(message), new_id),
        stream=True,
    )


def read_compact(
    body: JsonValue, new_id: NewId
) -> tuple[CompactBody, tuple[JsonObject, ...]]:
    """Read the body of `POST /responses/compact`, and its input as complete items. Raises `ApiError`."""
    parsed = parse_body(CompactBody, body)
    return parsed, read_input(parsed.input, new_id)


def _create(body: CreateBody, new_id: NewId) -> CreateRequest:
    _check_combinations(body)
    conversation_id = _conversation_id(body.conversation)
    if (
        body.input is None
        and body.previous_response_id is None
        and conversation_id is None
    ):
        raise invalid(
            "There is nothing to answer: send an input.",
            "input",
            "missing_required_parameter",
        )
    check_schemas(
        [*(body.tools or ())],
        "tools",
    )
    wanted = body.text.format
    if wanted:
        check_schemas(wanted.schema_, "text.format.schema")
    tools = read_tools(body.tools)
    choice, choice_echo = read_tool_choice(body.tool_choice, tools)
    return CreateRequest(
        model=body.model,
        items=read_input(body.input, new_id),
        instructions=body.instructions,
        previous_response_id=body.previous_response_id,
        conversation_id=conversation_id,
        functions=tools.functions,
        hosted=tools.hosted,
        tool_choice=choice,
        max_tool_calls=body.max_tool_calls,
        max_output_tokens=body.max_output_tokens,
        options=_options(body),
        output=_output(body.text.format),
        may_be_shortened=body.truncation == "auto",
        store=body.store,
        background=body.background,
        stream=body.stream,
        reasoning_summary=body.reasoning_summary,
        include_encrypted_reasoning="reasoning.encrypted_content" in body.include,
        pauses_for_functions=body.client_tools_status == "requires_action",
        echo=_echo(body, tools, choice_echo, conversation_id),
    )


def _check_combinations(body: CreateBody) -> None:
    if body.previous_response_id is not None and body.conversation is not None:
        raise invalid(
            "'previous_response_id' and 'conversation' cannot be used together.",
            "previous_response_id",
            "mutually_exclusive_parameters",
        )
    if body.stream_options is not None and not body.stream:
        raise bad_value(
            "'stream_options' is for streamed responses only.",
            "stream_options",
        )
    if body.stream_options is not None and body.stream_options.include_obfuscation:
        raise unsupported(
            "stream_options.include_obfuscation", "Events are not padded."
        )
    for name in ("presence_penalty", "frequency_penalty", "top_logprobs"):
        if getattr(body, name):
            raise unsupported(name, "Only 0 can be served.")


def _conversation_id(conversation: JsonValue) -> str | None:
    match conversation:
        case None:
            return None
        case str():
            return parse_part(ConversationId, conversation, "conversation").root
        case _:
            return parse_part(Conversation, conversation, "conversation").id


def _options(body: CreateBody) -> AnswerOptions:
    return AnswerOptions(
        temperature=body.temperature,
        top_p=None if body.top_p is None else max(body.top_p, _LEAST_TOP_P),
        reasoning_effort=body.reasoning.effort,
        verbosity=body.text.verbosity,
        parallel_tool_calls=body.parallel_tool_calls,
    )


def _output(wanted: TextFormat | None) -> OutputFormat | None:
    if wanted is None or wanted.type == "text":
        return None
    if wanted.type == "json_object":
        return OutputFormat(wanted.type, _ANY_OBJECT)
    place = "text.format"
    for name, value in (("name", wanted.name), ("schema", wanted.schema_)):
        if value is None:
            raise invalid(
                f"Missing required parameter: '{place}.{name}'.",
                f"{place}.{name}",
                "missing_required_parameter",
            )
    described: JsonObject = (
        {} if wanted.description is None else {"description": wanted.description}
    )
    schema: JsonObject = {
        **_ANY_OBJECT,
        **described,
        **(wanted.schema_ or {}),
    }
    if schema["type"] != "object":
        raise bad_value(
            "The schema has to describe an object.",
            f"{place}.schema",
        )
    return OutputFormat(wanted.name or "", schema)


def _echo(
    body: CreateBody,
    tools: RequestedTools,
    tool_choice: JsonValue,
    conversation_id: str | None,
) -> JsonObject:
    """Return the fields of a response that repeat its request, with defaults. Secrets are not among them."""
    conversation = (
        {} if conversation_id is None else {"conversation": {"id": conversation_id}}
    )
    return {
        **body.model_dump(include=_ECHOED),
        **body.model_dump(
            include={*HINTS},
            exclude_none=True,
        ),
        "tools": [*tools.echo],
        "tool_choice": tool_choice,
        "text": _echo_text(body),
        "reasoning": {
            "effort": body.reasoning.effort,
            "summary": body.reasoning_summary,
        },
        "temperature": 1.0 if body.temperature is None else body.temperature,
        "top_p": 1.0 if body.top_p is None else body.top_p,
        "service_tier": "default",
        **conversation,
    }


def _echo_text(body: CreateBody) -> JsonObject:
    """Return `text`, without the schema: the specification requires null there."""
    wanted = body.text.format
    shape: JsonObject = {"type": wanted.type if wanted else "text"}
    if wanted is not None and wanted.type == "json_schema":
        shape.update(
            name=wanted.name,
            description=wanted.description,
            schema=None,
            strict=wanted.strict is True,
        )
    verbosity: JsonObject = (
        {"verbosity": body.text.verbosity} if body.text.verbosity else {}
    )
    return {
        "format": shape,
        **verbosity,
    }


_INPUT: Final = "input"
_MAX_ITEMS: Final = 2048
_MAX_PARTS: Final = 4096
"""Of all items together."""


def read_input(
    value: JsonValue,
    new_id: NewId,
) -> tuple[JsonObject, ...]:
    """Return the input as complete items; a string is one user message. Raises `ApiError`."""
    match value:
        case None:
            return ()
        case str():
            return (complete_item({"role": "user", "content": value}, new_id),)
        case list():
            _check_size(value)
            items = tuple(
                _completed(item, index, new_id) for index, item in enumerate(value)
            )
            _check_unique(items)
            return items
        case _:
            raise invalid("The input has to be a string or a list of items.", _INPUT)


def parse_input(
    items: Sequence[JsonObject], codec: ContentCodec, history: Transcript = ()
) -> ParsedItems:
    """Translate items whose references are resolved. Raises `ApiError`, also where calls and outputs do not match."""
    _check_outputs(history, items)
    try:
        return parse_items(
            items,
            codec,
            history,
        )
    except InvalidItem as err:
        raise _at(err, _INPUT) from None


def _completed(
    item: JsonValue,
    index: int,
    new_id: NewId,
) -> JsonObject:
    try:
        return complete_item(item, new_id)
    except InvalidItem as err:
        raise _at(
            err,
            f"{_INPUT}[{index}]",
        ) from None


def _at(err: InvalidItem, place: str) -> ApiError:
    param = path_within(place, err.path)
    return bad_value(
        f"Invalid value for '{param}': {err.message}",
        param,
    )


def _check_size(items: Sequence[JsonValue]) -> None:
    if len(items) > _MAX_ITEMS:
        raise invalid(
            f"There are more than {_MAX_ITEMS} items. Continue an earlier response instead.",
            _INPUT,
        )
    contents = [
        item.get("content", item.get("output"))
        for item in items
        if isinstance(item, dict)
    ]
    if (
        sum(len(content) for content in contents if isinstance(content, list))
        > _MAX_PARTS
    ):
        raise invalid(
            f"The items have more than {_MAX_PARTS} parts together. Send fewer and longer ones.",
            _INPUT,
        )


def _check_unique(items: tuple[JsonObject, ...]) -> None:
    """Refuse two items with one id, and two answers to one approval request."""
    ids = set[str]()
    answered = set[str]()
    for index, item in enumerate(items):
        place = f"{_INPUT}[{index}]"
        item_id = str(item["id"])
        if item_id in ids:
            raise invalid(
                f"Duplicate item found with id {item_id}. Give each item an id of its own, or none.",
                f"{place}.id",
            )
        ids.add(item_id)
        if item["type"] == "mcp_approval_response":
            request_id = str(item["approval_request_id"])
            if request_id in answered:
                raise bad_approval(
                    f"The approval request {request_id} is answered twice.",
                    f"{place}.approval_request_id",
                )
            answered.add(request_id)


def _check_outputs(
    history: Transcript,
    items: Sequence[JsonObject],
) -> None:
    """Check that every function call of the history and the input has one output; one that was cut off needs none."""
    answered = {shown_call_id(result.call_id) for result in results_in(history)}
    waiting = _waiting_calls(history, items)
    for index, item in enumerate(items):
        if item["type"] != "function_call_output":
            continue
        call_id = str(item["call_id"])
        place = f"{_INPUT}[{index}].call_id"
        if call_id in answered:
            raise invalid(
                f"There is more than one output of the function call with call_id {call_id}.",
                place,
            )
        if call_id not in waiting:
            raise invalid(
                f"No tool call found for function call output with call_id {call_id}.",
                _INPUT,
            )
        answered.add(call_id)
    for call_id, needs_output in waiting.items():
        if needs_output and call_id not in answered:
            raise invalid(f"No tool output found for function call {call_id}.", _INPUT)


def _waiting_calls(
    history: Transcript,
    items: Sequence[JsonObject],
) -> dict[str, bool]:
    """Return the ids of calls that may have an output in the input, and whether each needs one."""
    known = {shown_call_id(call.id) for call in calls_in(history)}
    waiting = {shown_call_id(call.id): True for call in open_calls(history)}
    for index, item in enumerate(items):
        call_id = transcript_call_id(item)
        if call_id is None:
            continue
        if call_id in known:
            raise invalid(
                f"There is more than one call with the call_id {call_id}.",
                f"{_INPUT}[{index}]",
            )
        known.add(call_id)
        if item["type"] == "function_call":
            waiting[call_id] = item.get("status") != CUT_OFF
    return waiting
