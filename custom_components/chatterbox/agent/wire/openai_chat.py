"""Chat Completions, the way there: a request to JSON.

Knows the format and its dialects; must not know connections, addresses or keys. The way
back stands in `openai_chat_reply.py`. Source: OpenAI API reference, "Create chat completion".

A request's bytes follow from its value: fields in one order, JSON objects in the order
that their authors gave them, nothing volatile before the last message. So two requests of
one conversation share every byte of their common beginning, and a server's cache keeps it.
"""

from collections.abc import Collection
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
    ToolResult,
    UserMessage,
)
from ..protocols import CompletionRequest, OutputFormat
from .attachments import IMAGE_TYPES, attachment_note, data_url
from .chat_dialect import DEFAULT_DIALECT, ChatDialect, ReasoningField
from .openai_chat_items import SignedReasoning
from .output_schema import OPENAI, enforced_output, plain_schema, strict_schema
from .sendable import sendable_arguments, sendable_call_id, sendable_name
from .turn_taking import in_turns

DONE: Final = b"[DONE]"
"""The data of the event that ends a stream."""


def request_to_payload(
    request: CompletionRequest,
    model: str,
    dialect: ChatDialect = DEFAULT_DIALECT,
    shown: Collection[str] = IMAGE_TYPES,
    *,
    output_beside_tools: bool = False,
) -> JsonObject:
    """Return the body of `POST /chat/completions`. Attachments of other MIME types than `shown` become a note.

    `output_beside_tools` tells that a model may be given tools and the shape of its answer in one request.
    """
    payload: JsonObject = {"model": model, "messages": _messages(request, dialect, shown)}
    if request.tools:
        functions: list[JsonObject] = [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in request.tools
        ]
        payload["tools"] = [{"type": "function", "function": function} for function in functions]
        if request.tool_choice is not ToolChoiceMode.AUTO:  # the default, which some servers refuse to be told
            payload["tool_choice"] = _tool_choice(request, dialect)
        payload["parallel_tool_calls"] = request.options.parallel_tool_calls  # true is not the default of llama.cpp
    if (output := enforced_output(request, beside_tools=output_beside_tools)) is not None:
        payload["response_format"] = {"type": "json_schema", "json_schema": _output(output)}
    payload["stream"] = True
    payload["stream_options"] = {"include_usage": True}
    return payload


def _output(output: OutputFormat) -> JsonValue:
    strict = strict_schema(output.schema, OPENAI)
    schema = plain_schema(output.schema) if strict is None else strict
    return {"name": output.name, "schema": schema, "strict": strict is not None}


def _messages(request: CompletionRequest, dialect: ChatDialect, shown: Collection[str]) -> list[JsonValue]:
    messages: list[JsonObject] = []
    if request.instructions:
        messages.append({"role": "system", "content": request.instructions})
    messages += [sent for message in request.transcript if (sent := _message(message, dialect, shown)) is not None]
    if request.directive:
        messages.append({"role": "user", "content": request.directive})
    return [*(in_turns(messages) if dialect.alternates else messages)]


def _message(message: Message, dialect: ChatDialect, shown: Collection[str]) -> JsonObject | None:
    """Return a message as it is sent; None for an assistant's that says and calls nothing."""
    match message:
        case UserMessage(attachments=attachments, prompt=prompt):
            return {"role": "user", "content": _content(prompt, attachments, shown)}
        case AssistantMessage(text=text, tool_calls=()):
            return {"role": "assistant", "content": text} if text else None
        case AssistantMessage():
            return _message_with_calls(message, dialect)
        case ToolResult(call_id=call_id, content=content):
            sent_id = sendable_call_id(call_id, dialect.call_ids)
            return {"role": "tool", "tool_call_id": sent_id, "content": content}
        case _:
            assert_never(message)


def _content(text: str, attachments: Collection[Attachment], shown: Collection[str]) -> JsonValue:
    """Write what a person said and showed; in one text where nothing can be shown, which every server takes."""
    if not attachments:
        return text
    if not any(attachment.mime_type in shown for attachment in attachments):
        return "\n\n".join([*([text] if text else []), *map(attachment_note, attachments)])
    parts: list[JsonValue] = [{"type": "text", "text": text}] if text else []
    return parts + [_part(attachment, shown) for attachment in attachments]


def _part(attachment: Attachment, shown: Collection[str]) -> JsonValue:
    if attachment.mime_type not in shown:
        return {"type": "text", "text": attachment_note(attachment)}
    if attachment.mime_type in IMAGE_TYPES:
        return {"type": "image_url", "image_url": {"url": data_url(attachment)}}
    return {"type": "file", "file": {"filename": attachment.name or "attachment", "file_data": data_url(attachment)}}


def _message_with_calls(message: AssistantMessage, dialect: ChatDialect) -> JsonObject:
    """Write a message with calls, and the reasoning that led to them where the server wants it back.

    Servers send `content: null` with calls themselves, so they take it back.
    """
    signed = SignedReasoning.of(message) if dialect.returns_items else SignedReasoning()
    written: JsonObject = {"role": "assistant", "content": message.text or None}
    if signed.details:
        written["reasoning_details"] = [*signed.details]
    elif dialect.reasoning_field is not ReasoningField.NONE and (message.reasoning or dialect.needs_reasoning):
        written[dialect.reasoning_field.value] = message.reasoning
    written["tool_calls"] = [_call(call, signed, dialect) for call in message.tool_calls]
    return written


def _call(call: ToolCall, signed: SignedReasoning, dialect: ChatDialect) -> JsonValue:
    """Write a call; what a model wrote and servers would refuse is made to fit."""
    function: JsonValue = {"name": sendable_name(call.name), "arguments": sendable_arguments(call.arguments)}
    written: JsonObject = {"id": sendable_call_id(call.id, dialect.call_ids), "type": "function", "function": function}
    if call.id in signed.call_extras:
        written["extra_content"] = signed.call_extras[call.id]
    return written


def _tool_choice(request: CompletionRequest, dialect: ChatDialect) -> JsonValue:
    match request.tool_choice:
        case NamedTool(name) if dialect.forces_by_name:
            return {"type": "function", "function": {"name": name}}
        case NamedTool():
            return ToolChoiceMode.REQUIRED.value
        case ToolChoiceMode() as mode:
            return mode.value
        case choice:
            assert_never(choice)
