"""From the JSON of a request to what the rest of the surface works with.

Knows which fields go together, and what each means. Which there are stands in `request_body.py`,
and how they are shown again in `request_echo.py`. Must not know HTTP,
stores, or which agents and tools there are.
Source: OpenResponses specification, schema of 2026-04-24.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pydantic import TypeAdapter

from ..messages import JsonObject, JsonValue
from ..protocols import AnswerOptions, OutputFormat, ReasoningEffort, Verbosity
from .errors import invalid
from .input_items import read_input
from .items.schema import NewId
from .request import CompactRequest, CreateRequest, Truncation
from .request_body import (
    Conversation,
    CreateBody,
    Id,
    TextFormat,
    parse_compact,
    parse_create,
    parse_part,
    parse_socket_create,
    unsupported,
)
from .request_echo import echo_of
from .tools import read_tool_choice, read_tools

_ENCRYPTED_REASONING: Final = "reasoning.encrypted_content"
_LOGPROBS: Final = "message.output_text.logprobs"
_INCLUDABLE: Final = frozenset(
    {
        _ENCRYPTED_REASONING,
        "code_interpreter_call.outputs",
        "computer_call_output.output.image_url",
        "file_search_call.results",
        "message.input_image.image_url",
        "web_search_call.action.sources",
        "web_search_call.results",
    }
)
"""What may be asked for. All but the first is part of things that there are none of here, or is always there."""
_ANY_OBJECT: Final[JsonObject] = {"type": "object", "properties": {}}
_LEAST_TOP_P: Final = 0.01
"""Stands for 0, which services read as the likeliest word alone, if they take it at all."""
_CONVERSATION: Final = TypeAdapter(Conversation)
_ID: Final[TypeAdapter[str]] = TypeAdapter(Id)


def read_create(body: JsonValue, new_id: NewId) -> CreateRequest:
    """Read the body of `POST /responses`. Raises `ApiError`.

    `new_id("msg")` makes up the id of an item that the client has given none; an id that it has stays.
    """
    return _create(parse_create(body), new_id)


def read_socket_create(body: JsonValue, new_id: NewId) -> CreateRequest:
    """Read a message `response.create` of a WebSocket. What it asks for is streamed. Raises `ApiError`."""
    return replace(_create(parse_socket_create(body), new_id), stream=True)


def read_compact(body: JsonValue, new_id: NewId) -> CompactRequest:
    """Read the body of `POST /responses/compact`. Raises `ApiError`."""
    read = parse_compact(body)
    if read.input is None and read.previous_response_id is None:
        raise invalid("There is nothing to compact: send an input, or a previous_response_id.", "input")
    return CompactRequest(
        model=read.model,
        items=read_input(read.input, new_id),
        instructions=read.instructions,
        previous_response_id=read.previous_response_id,
    )


def _create(body: CreateBody, new_id: NewId) -> CreateRequest:
    _check_what_goes_together(body)
    _check_include(body.include or ())
    conversation_id = _conversation_id(body.conversation)
    if body.input is None and body.previous_response_id is None and conversation_id is None:
        raise invalid("There is nothing to answer: send an input.", "input", "missing_required_parameter")
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
        output=_output(body.text.format if body.text else None),
        truncation=Truncation(body.truncation or Truncation.DISABLED),
        store=body.store is not False,
        background=body.background is True,
        stream=body.stream is True,
        reasoning_summary=body.reasoning_summary,
        include_encrypted_reasoning=_ENCRYPTED_REASONING in (body.include or ()),
        pauses_for_functions=body.client_tools_status == "requires_action",
        echo=echo_of(body, tools, choice_echo, conversation_id),
    )


def _check_what_goes_together(body: CreateBody) -> None:
    if body.previous_response_id is not None and body.conversation is not None:
        text = "'previous_response_id' and 'conversation' cannot be used together."
        raise invalid(text, "previous_response_id", "mutually_exclusive_parameters")
    if body.background and body.store is False:
        raise invalid(
            "A response in the background has to be stored. Leave out 'store'.", "background", "invalid_value"
        )
    if body.stream_options is not None and not body.stream:
        raise invalid("'stream_options' is for streamed responses only.", "stream_options", "invalid_value")
    if body.stream_options is not None and body.stream_options.include_obfuscation:
        raise unsupported("stream_options.include_obfuscation", "Events are not padded here.")
    for name in ("presence_penalty", "frequency_penalty", "top_logprobs"):
        if getattr(body, name):
            raise unsupported(name, "Only 0 can be served.")


def _check_include(include: Sequence[str]) -> None:
    for index, name in enumerate(include):
        if name == _LOGPROBS:
            raise unsupported(f"include[{index}]", "There are no log probabilities here.")
        if name not in _INCLUDABLE:
            text = f"There is nothing of that name; there is '{_ENCRYPTED_REASONING}'."
            raise invalid(text, f"include[{index}]", "invalid_value")


def _conversation_id(conversation: JsonValue) -> str | None:
    match conversation:
        case None:
            return None
        case str():
            return parse_part(_ID, conversation, "conversation")
        case _:
            return parse_part(_CONVERSATION, conversation, "conversation").id


def _options(body: CreateBody) -> AnswerOptions:
    effort = body.reasoning.effort if body.reasoning else None
    verbosity = body.text.verbosity if body.text else None
    return AnswerOptions(
        temperature=body.temperature,
        top_p=None if body.top_p is None else max(body.top_p, _LEAST_TOP_P),
        reasoning_effort=None if effort is None else ReasoningEffort(effort),
        verbosity=None if verbosity is None else Verbosity(verbosity),
        parallel_tool_calls=body.parallel_tool_calls is not False,
    )


def _output(wanted: TextFormat | None) -> OutputFormat | None:
    if wanted is None or wanted.type == "text":
        return None
    if wanted.type == "json_object":
        return OutputFormat(wanted.type, _ANY_OBJECT)
    place = "text.format"
    for name, value in (("name", wanted.name), ("schema", wanted.schema_)):
        if value is None:
            text = f"Missing required parameter: '{place}.{name}'."
            raise invalid(text, f"{place}.{name}", "missing_required_parameter")
    described: JsonObject = {} if wanted.description is None else {"description": wanted.description}
    schema: JsonObject = {**_ANY_OBJECT, **described, **(wanted.schema_ or {})}
    if schema["type"] != "object":
        raise invalid("The schema has to describe an object.", f"{place}.schema", "invalid_value")
    return OutputFormat(wanted.name or "", schema)
