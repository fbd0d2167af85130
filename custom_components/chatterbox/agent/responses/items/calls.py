"""The calls of a Responses conversation: their ids, what came of them, and where a transcript has it.

Knows items of calls and their results. Must not know who says what between them.
Source: OpenAI API reference, "MCP tool call", whose errors have had several forms.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ...messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    Message,
    ToolCall,
    ToolResult,
    UserMessage,
    canonical_json,
)
from ...transcript import NO_RESULT, synthetic_result
from .schema import ApprovalRequestItem, McpCallItem
from .shapes import shown_call_id

CUT_OFF: Final = "incomplete"
"""Status of a call that the model did not write to its end: nobody runs it, and it has no output."""

_MCP_CALL: Final = "mcp_"


def mcp_call_id(any_id: str) -> str:
    """Return the id of a call of the house, in items and, once it was replayed, in the transcript."""
    return any_id if any_id.startswith(_MCP_CALL) else f"{_MCP_CALL}{any_id}"


def called_by(item: JsonObject) -> str | None:
    """Return the id that a call has in the transcript; None for an item that is no call."""
    match item:
        case {"type": "function_call", "call_id": str(call_id)}:
            return call_id
        case {"type": "mcp_call", "id": str(item_id)}:
            return mcp_call_id(item_id)
        case _:
            return None


def mcp_result(call_id: str, item: McpCallItem) -> ToolResult:
    """Return what came of a call of the house."""
    if item.error is None:
        if item.output is None:
            return ToolResult(call_id, item.name, NO_RESULT, is_error=True, open_world=True)
        return ToolResult(call_id, item.name, item.output, open_world=True)
    content = "\n".join(filter(None, (error_text(item.error), item.output)))
    return ToolResult(call_id, item.name, content, is_error=True, open_world=True)


def refused_call(asked: ApprovalRequestItem, reason: str) -> tuple[AssistantMessage, ToolResult]:
    """Return a call of the house that a person said no to, and what the model was told of that."""
    call = ToolCall(mcp_call_id(asked.id), asked.name, asked.arguments)
    told = f"Not run: the person said no. {reason}".rstrip()
    return AssistantMessage(tool_calls=(call,)), ToolResult(call.id, call.name, told, is_error=True, open_world=True)


def error_text(error: JsonValue) -> str:
    """Return what an error of a call of the house says, in any of the forms that it has had."""
    match error:
        case str(text) | {"content": str(text)} | {"message": str(text)} | {"text": str(text)}:
            return text
        case {"content": list(parts)}:
            return "\n".join(error_text(part) for part in parts)
        case _:
            return canonical_json(error)


def in_place(messages: Sequence[Message], open_before: Sequence[ToolCall], cut: set[str]) -> Iterator[Message]:
    """Yield messages with each result right after its call; calls that were cut off and have none are left out."""
    results = {message.call_id: message for message in messages if isinstance(message, ToolResult)}
    answered = ((call, results.get(shown_call_id(call.id))) for call in open_before)
    yield from (replace(result, call_id=call.id, name=call.name) for call, result in answered if result)
    for message in messages:
        if isinstance(message, AssistantMessage):
            calls = tuple(call for call in message.tool_calls if call.id in results or call.id not in cut)
            if message.text or calls:
                yield replace(message, tool_calls=calls)
            for call in calls:
                found = results.get(call.id)
                yield replace(found, name=call.name) if found else synthetic_result(call, NO_RESULT)
        elif isinstance(message, UserMessage):
            yield message
