"""The Responses format, a request: a conversation → JSON.

Knows the format and its dialects; must not know connections, addresses or keys. The way back
stands in `openai_responses_reply.py`.
Sources: OpenAI API reference, "Create a model response", and its guides on reasoning and on
conversation state; the OpenResponses specification, schema of 2026-04-24.

Nothing is kept at the service (`store: false`): each request brings the whole conversation,
the encrypted reasoning of its model included, each item of it before the item that it led
to. A request's bytes follow from its value, nothing volatile before the last message, so
that requests of one conversation share their beginning and the service's cache keeps it.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final, assert_never

from ..messages import (
    AssistantMessage,
    Attachment,
    JsonObject,
    JsonValue,
    Message,
    NamedTool,
    ToolCall,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    UserMessage,
)
from ..protocols import CompletionRequest, OutputFormat
from .attachments import IMAGE_TYPES, PDF, attachment_note, data_url
from .carried_blocks import carried_by
from .output_schema import OPENAI, enforced_output, plain_schema, strict_schema
from .sendable import sendable_arguments, sendable_name

FORMAT: Final = "openai_responses"
"""Name of the format in provider items."""

ATTACHMENTS: Final = IMAGE_TYPES | {PDF}
"""MIME types of what the format can show."""

_ID_LENGTH: Final = 64
_PLAIN_ITEMS: Final = frozenset({"message", "function_call", "function_call_output"})


def request_to_payload(
    request: CompletionRequest,
    model: str,
    *,
    attachments: frozenset[str] = ATTACHMENTS,
    output_beside_tools: bool = True,
) -> JsonObject:
    """Return the body of `POST /responses`. A note stands in place of what is not among `attachments`.

    `output_beside_tools` tells that a model may be given tools and the shape of its answer in one request.
    """
    payload: JsonObject = {"model": model, "stream": True, "store": False, "include": ["reasoning.encrypted_content"]}
    if request.instructions:
        payload["instructions"] = request.instructions
    if request.tools:
        payload["tools"] = [_tool(tool) for tool in request.tools]
        payload["parallel_tool_calls"] = request.options.parallel_tool_calls  # true is not the default of llama.cpp
    payload["input"] = list(_input(request, model, attachments))
    if request.tools and request.tool_choice is not ToolChoiceMode.AUTO:
        payload["tool_choice"] = _tool_choice(request)
    if (output := enforced_output(request, beside_tools=output_beside_tools)) is not None:
        payload["text"] = {"format": _output(output)}
    return payload


def _output(output: OutputFormat) -> JsonValue:
    strict = strict_schema(output.schema, OPENAI)
    schema = plain_schema(output.schema) if strict is None else strict
    return {"type": "json_schema", "name": output.name, "schema": schema, "strict": strict is not None}


def without_carried_items(payload: JsonObject) -> JsonObject:
    """Return a payload without the items that only their service can read, such as encrypted reasoning."""
    match payload.get("input"):
        case list(items):
            plain: list[JsonValue] = [
                item for item in items if isinstance(item, dict) and item.get("type") in _PLAIN_ITEMS
            ]
            return {**payload, "input": plain}
        case _:
            return payload


def carried(item: JsonObject, model: str) -> JsonObject | None:
    """Return an item of a reply in the form in which a transcript keeps it, or None when it need not go back.

    Reasoning that is neither encrypted nor written out is known to the service alone, and was not kept there.
    """
    kept: JsonObject = {name: value for name, value in item.items() if name != "status" and value not in (None, "", [])}
    if item.get("type") == "reasoning":
        if not kept.keys() & {"encrypted_content", "content"}:
            return None
        kept["summary"] = item.get("summary") or []  # has to be there, also when it is empty
    return {"model": model, "item": kept}


def _input(request: CompletionRequest, model: str, attachments: frozenset[str]) -> Iterator[JsonValue]:
    for message in request.transcript:
        yield from _items(message, model, attachments)
    if request.directive:
        yield _said_by_user([_input_text(request.directive)])


def _items(message: Message, model: str, attachments: frozenset[str]) -> Iterator[JsonObject]:
    match message:
        case UserMessage(attachments=shown, prompt=prompt):
            yield _said_by_user(list(_parts(prompt, shown, attachments)))
        case AssistantMessage():
            yield from _assistant_items(message, model)
        case ToolResult(call_id=call_id, content=content):
            yield {"type": "function_call_output", "call_id": _sendable_id(call_id), "output": content}
        case _:
            assert_never(message)


def _said_by_user(parts: list[JsonValue]) -> JsonObject:
    return {"type": "message", "role": "user", "content": parts}


def _parts(text: str, shown: Sequence[Attachment], attachments: frozenset[str]) -> Iterator[JsonValue]:
    if text or not shown:
        yield _input_text(text)
    for attachment in shown:
        if attachment.mime_type not in attachments:
            yield _input_text(attachment_note(attachment))
        elif attachment.mime_type in IMAGE_TYPES:
            yield {"type": "input_image", "image_url": data_url(attachment), "detail": "auto"}
        else:
            yield {"type": "input_file", "filename": attachment.name or "document", "file_data": data_url(attachment)}


def _input_text(text: str) -> JsonObject:
    return {"type": "input_text", "text": text}


def _assistant_items(message: AssistantMessage, model: str) -> Iterator[JsonObject]:
    """Yield what was said and called, and between it what is carried, each at its place.

    What another model left is of no use to this one. Reasoning that leads to nothing is refused, and left out.
    """
    items: list[JsonObject] = []
    text, calls, phase = message.text, message.tool_calls, ""
    text_begin = call_begin = 0
    for block in carried_by(message, FORMAT):
        items += _said(text[text_begin : block.text], calls[call_begin : block.calls], phase)
        text_begin, call_begin = block.text + block.skip, block.calls
        match block.block:
            case {"item": {"type": "message", "phase": str(phase)}}:
                pass
            case {"model": by, "item": dict(item)} if by == model:
                items.append(item)
            case _:
                pass
    items += _said(text[text_begin:], calls[call_begin:], phase)
    while items and items[-1]["type"] == "reasoning":
        items.pop()
    yield from items


def _said(text: str, calls: Sequence[ToolCall], phase: str) -> Iterator[JsonObject]:
    if text.strip():
        parts: JsonValue = [{"type": "output_text", "text": text}]
        said: JsonObject = {"type": "message", "role": "assistant", "content": parts}
        yield {**said, "phase": phase} if phase else said
    for call in calls:
        yield {
            "type": "function_call",
            "call_id": _sendable_id(call.id),
            "name": sendable_name(call.name),
            "arguments": sendable_arguments(call.arguments),
        }


def _sendable_id(call_id: str) -> str:
    """Return an id of at most 64 characters, as the format wants it; a long one becomes another, always the same."""
    return call_id if len(call_id) <= _ID_LENGTH else sha256(call_id.encode(errors="replace")).hexdigest()


def _tool(tool: ToolDefinition) -> JsonObject:
    """Write a tool; not strict, because the schemas of tools seldom are what that demands."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }


def _tool_choice(request: CompletionRequest) -> JsonValue:
    match request.tool_choice:
        case NamedTool(name):
            return {"type": "function", "name": name}
        case ToolChoiceMode() as mode:
            return mode.value
        case choice:
            assert_never(choice)
