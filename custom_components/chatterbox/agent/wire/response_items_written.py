"""The canonical transcript → a Responses conversation; the way there stands in `response_items.py`.

Knows the JSON of items as they are shown: with ids, with a status, whole. Must not know streams, which show the same
items bit by bit.
Sources: OpenResponses specification, schema of 2026-04-24; OpenAI API reference, "Responses".
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import assert_never

from ..messages import AssistantMessage, JsonObject, JsonValue, Message, ToolCall, ToolResult, UserMessage
from .response_carriers import phase_item, phase_of, sealed_provider_items, sealed_summary, summary_of
from .response_item_schema import NewId
from .response_items import MCP_CALL
from .response_parts import input_text, output_text, shown_parts
from .sealed_content import Seal


def to_items(
    messages: Iterable[Message], label_of: Callable[[str], str | None], new_id: NewId, seal: Seal
) -> list[JsonObject]:
    """Return the items of a conversation, in order.

    `label_of` gives the server label of a tool; None for a function that the client runs. What held at a moment and was
    not said comes as a developer's message before the user's.
    """
    gathered = tuple(messages)
    results = {message.call_id: message for message in gathered if isinstance(message, ToolResult)}
    items: list[JsonObject] = []
    for message in gathered:
        match message:
            case UserMessage():
                items += _user_items(message, new_id)
            case AssistantMessage():
                items += _assistant_items(message, results, label_of, new_id, seal)
            case ToolResult():
                if summary_of(message) is None and label_of(message.name) is None:
                    items.append(function_call_output_item(new_id("fco"), message))
            case _:
                assert_never(message)
    return items


def message_item(item_id: str, role: str, parts: list[JsonValue], phase: str | None = None) -> JsonObject:
    """Return somebody's words."""
    item: JsonObject = {"type": "message", "id": item_id, "status": "completed", "role": role, "content": parts}
    return item if phase is None else {**item, "phase": phase}


def function_call_item(item_id: str, call: ToolCall) -> JsonObject:
    """Return a call that the client has to run, or has run."""
    named: JsonObject = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
    return {"type": "function_call", "id": item_id, **named, "status": "completed"}


def function_call_output_item(item_id: str, result: ToolResult) -> JsonObject:
    """Return what came of it."""
    output: JsonObject = {"call_id": result.call_id, "output": result.content}
    return {"type": "function_call_output", "id": item_id, **output, "status": "completed"}


def mcp_call_item(server_label: str, call: ToolCall, result: ToolResult | None) -> JsonObject:
    """Return a call of the house, and what came of it."""
    failed = result is None or result.is_error
    text: JsonObject = {"type": "text", "text": result.content if result else ""}
    error: JsonObject = {"type": "mcp_tool_execution_error", "content": [text]}
    return {
        "type": "mcp_call",
        "id": call.id if call.id.startswith(MCP_CALL) else f"{MCP_CALL}{call.id}",
        "server_label": server_label,
        "name": call.name,
        "arguments": call.arguments,
        "output": None if failed or result is None else result.content,
        "error": error if failed else None,
        "status": "failed" if failed else "completed",
        "approval_request_id": None,
    }


def reasoning_item(item_id: str, text: str) -> JsonObject:
    """Return what a model has thought, in words."""
    return {"type": "reasoning", "id": item_id, "summary": [{"type": "summary_text", "text": text}]}


def carrier_item(item_id: str, encrypted_content: str) -> JsonObject:
    """Return what a provider wants back with the message before it."""
    return {"type": "reasoning", "id": item_id, "summary": [], "encrypted_content": encrypted_content}


def compaction_item(item_id: str, encrypted_content: str) -> JsonObject:
    """Return what stands for a conversation; its content comes from `response_carriers.sealed_summary`."""
    return {"type": "compaction", "id": item_id, "encrypted_content": encrypted_content}


def _user_items(message: UserMessage, new_id: NewId) -> Iterator[JsonObject]:
    if message.context:
        yield message_item(new_id("msg"), "developer", [input_text(message.context)])
    if message.text or message.attachments or not message.context:
        yield message_item(new_id("msg"), "user", shown_parts(message.text, message.attachments))


def _assistant_items(
    message: AssistantMessage,
    results: Mapping[str, ToolResult],
    label_of: Callable[[str], str | None],
    new_id: NewId,
    seal: Seal,
) -> Iterator[JsonObject]:
    if message.reasoning:
        yield reasoning_item(new_id("rs"), message.reasoning)
    phase = phase_of(message)
    if message.text:
        yield message_item(new_id("msg"), "assistant", [output_text(message.text)], phase)
    for call in message.tool_calls:
        result = results.get(call.id)
        if result is not None and (summary := summary_of(result)) is not None:
            sealed = sealed_summary(summary, has_outside_content=result.open_world, seal=seal)
            yield compaction_item(call.id, sealed)
        elif (label := label_of(call.name)) is not None:
            yield mcp_call_item(label, call, result)
        else:
            yield function_call_item(new_id("fc"), call)
    told = phase_item(phase) if phase and message.text else None
    if carried := tuple(item for item in message.provider_items if item != told):
        yield carrier_item(new_id("rs"), sealed_provider_items(carried, seal))
