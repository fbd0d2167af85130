"""The items of a Responses conversation as they are shown: the one place that knows how each of them looks.

Pure. Who shows them bit by bit begins with the same shapes. What clients may send is `response_item_schema.py`'s.
Sources: OpenResponses specification, schema of 2026-04-24; OpenAI API reference, "MCP tool call".
"""

from hashlib import sha256
from typing import Final

from ...messages import JsonObject, JsonValue, ToolCall, ToolResult

MAX_CALL_ID: Final = 64
COMPLETED: Final = "completed"
IN_PROGRESS: Final = "in_progress"

_FAILED: Final = "failed"


def message_item(
    item_id: str, role: str, parts: list[JsonValue], *, status: str = COMPLETED, phase: str | None = None
) -> JsonObject:
    """Return somebody's words."""
    item: JsonObject = {"type": "message", "id": item_id, "status": status, "role": role, "content": parts}
    return {**item, "phase": phase} if phase else item


def input_text(text: str) -> JsonObject:
    """Return words of a user, or of whoever instructs."""
    return {"type": "input_text", "text": text}


def output_text(text: str) -> JsonObject:
    """Return words of a model."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def refusal(text: str) -> JsonObject:
    """Return words of a model that will not answer."""
    return {"type": "refusal", "refusal": text}


def reasoning_item(item_id: str, text: str = "", encrypted_content: str | None = None) -> JsonObject:
    """Return what a model has thought in words, or what only we can read of the message before it."""
    summary: list[JsonValue] = [summary_text(text)] if text else []
    item: JsonObject = {"type": "reasoning", "id": item_id, "summary": summary}
    return item if encrypted_content is None else {**item, "encrypted_content": encrypted_content}


def summary_text(text: str) -> JsonObject:
    """Return words of a model's reasoning."""
    return {"type": "summary_text", "text": text}


def compaction_item(item_id: str, encrypted_content: str) -> JsonObject:
    """Return what stands for a conversation; `response_carriers.sealed_summary` writes the content."""
    return {"type": "compaction", "id": item_id, "encrypted_content": encrypted_content}


def shown_call_id(call_id: str) -> str:
    """Return the id of a call as clients know it: the same, or one that follows from it where it is too long."""
    return call_id if len(call_id) <= MAX_CALL_ID else sha256(call_id.encode(errors="replace")).hexdigest()


def function_call_item(item_id: str, call: ToolCall) -> JsonObject:
    """Return a call that the client has to run, or has run."""
    named: JsonObject = {"call_id": shown_call_id(call.id), "name": call.name, "arguments": call.arguments}
    return {"type": "function_call", "id": item_id, **named, "status": COMPLETED}


def function_call_output_item(item_id: str, result: ToolResult) -> JsonObject:
    """Return what came of it."""
    output: JsonObject = {"call_id": shown_call_id(result.call_id), "output": result.content}
    return {"type": "function_call_output", "id": item_id, **output, "status": COMPLETED}


def mcp_call_item(
    item_id: str, server_label: str, call: ToolCall, result: ToolResult | None = None, request_id: str | None = None
) -> JsonObject:
    """Return a call of the house, and what came of it; without a result it is still running.

    `request_id` is that of the request that a person said yes to.
    """
    item: JsonObject = {
        "type": "mcp_call",
        "id": item_id,
        "server_label": server_label,
        "name": call.name,
        "arguments": call.arguments,
        "output": None,
        "error": None,
        "status": IN_PROGRESS,
        "approval_request_id": request_id,
    }
    if result is None:
        return item
    if not result.is_error:
        return {**item, "output": result.content, "status": COMPLETED}
    text: JsonObject = {"type": "text", "text": result.content}
    return {**item, "error": {"type": "mcp_tool_execution_error", "content": [text]}, "status": _FAILED}


def approval_request_item(item_id: str, server_label: str, call: ToolCall) -> JsonObject:
    """Return a call that waits for a yes."""
    named: JsonObject = {"server_label": server_label, "name": call.name, "arguments": call.arguments}
    return {"type": "mcp_approval_request", "id": item_id, **named}
