"""Writes the output items of a response as streaming events: messages, reasoning, calls, approval requests, tool lists.

Items come one after the other: each is done before the next one is added.
Sources: OpenResponses specification 2026-04-24, "Streaming"; OpenAI API reference, "MCP tool call", "MCP list tools",
"MCP approval request", and their streaming events.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from ..messages import JsonObject, JsonValue, ToolCall, ToolDefinition, ToolResult
from .ids import NewId
from .items.parts import output_text, refusal, summary_text
from .items.schema import (
    IN_PROGRESS,
    function_call_item,
    mcp_call_item,
    message_item,
    reasoning_item,
)

COMMENTARY: Final = "commentary"
"""Phase of a message that is not the answer."""
FINAL_ANSWER: Final = "final_answer"
"""Phase of the answer."""


class EventWriter:
    """Numbers the events of a response, and collects its items."""

    def __init__(self) -> None:
        """Start at number 0."""
        self.items: list[JsonValue] = []
        """The items that are done, in order."""
        self._number = 0
        self._written: list[JsonObject] = []

    def write(self, kind: str, **fields: JsonValue) -> None:
        """Write an event."""
        self._written.append({"type": kind, "sequence_number": self._number, **fields})
        self._number += 1

    def fetch(self) -> list[JsonObject]:
        """Return the events that were written since the last call."""
        written, self._written = self._written, []
        return written

    def open(self, item: JsonObject, item_id: str) -> ItemWriter:
        """Add an item, empty as yet. The one before it must be done."""
        return ItemWriter(self, item, item_id)

    def place(self, item: JsonObject, item_id: str) -> None:
        """Add an item that is complete at once."""
        self.open(item, item_id).done(item)


class ItemWriter:
    """Writes the events of one item."""

    def __init__(self, events: EventWriter, item: JsonObject, item_id: str) -> None:
        """Add the item."""
        self._events = events
        self._id = item_id
        self._index = len(events.items)
        events.write("response.output_item.added", output_index=self._index, item=item)

    def write(self, kind: str, **fields: JsonValue) -> None:
        """Write an event of the item."""
        self._events.write(kind, item_id=self._id, output_index=self._index, **fields)

    def done(self, item: JsonObject) -> None:
        """Complete the item; it must not be changed afterwards."""
        self._events.items.append(item)
        self._events.write("response.output_item.done", output_index=self._index, item=item)


class TextItems:
    """The messages and reasoning items of a response. At most one is open, and the next one closes it."""

    def __init__(self, events: EventWriter, new_id: NewId) -> None:
        """Start without an open item."""
        self._events = events
        self._new_id = new_id
        self._open: _Message | _Reasoning | None = None

    @property
    def has_open_message(self) -> bool:
        """Whether a message is open."""
        return isinstance(self._open, _Message)

    def add_text(self, text: str, phase: str | None = None) -> None:
        """Add text to the message, which is opened with this phase if there is none."""
        if not text:
            return
        if not isinstance(self._open, _Message):
            self.close()
            self._open = _Message(self._events, self._new_id("msg"), phase)
        self._open.add(text)

    def add_reasoning(self, text: str) -> None:
        """Add text to the summary of the reasoning."""
        if not text:
            return
        if not isinstance(self._open, _Reasoning):
            self.close()
            self._open = _Reasoning(self._events, self._new_id("rs"))
        self._open.add(text)

    def close(self, *, is_whole: bool = True) -> None:
        """Complete the open item. A message that is not whole must be the last item of the response."""
        opened, self._open = self._open, None
        if isinstance(opened, _Message):
            opened.close(is_whole=is_whole)
        elif opened is not None:
            opened.close()

    def add_refusal(self, reason: str) -> None:
        """Write a message that refuses to answer."""
        self.close()
        message_id = self._new_id("msg")
        item = self._events.open(message_item(message_id, "assistant", [], status=IN_PROGRESS), message_id)
        item.write("response.content_part.added", content_index=0, part=refusal(""))
        item.write("response.refusal.delta", content_index=0, delta=reason)
        item.write("response.refusal.done", content_index=0, refusal=reason)
        part = refusal(reason)
        item.write("response.content_part.done", content_index=0, part=part)
        item.done(message_item(message_id, "assistant", [part]))

    def add_encrypted(self, encrypted_content: str) -> None:
        """Write a reasoning item with encrypted content."""
        self.close()
        reasoning_id = self._new_id("rs")
        self._events.place(reasoning_item(reasoning_id, encrypted_content=encrypted_content), reasoning_id)


class _Message:
    """A message of the assistant with one part."""

    def __init__(self, events: EventWriter, item_id: str, phase: str | None) -> None:
        self._pieces: list[str] = []
        self._begun = message_item(item_id, "assistant", [], status=IN_PROGRESS, phase=phase)
        self._item = events.open(self._begun, item_id)
        self._item.write("response.content_part.added", content_index=0, part=output_text(""))

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self._item.write("response.output_text.delta", content_index=0, delta=text, logprobs=[])

    def close(self, *, is_whole: bool) -> None:
        text = "".join(self._pieces)
        self._item.write("response.output_text.done", content_index=0, text=text, logprobs=[])
        self._item.write("response.content_part.done", content_index=0, part=output_text(text))
        status = "completed" if is_whole else "incomplete"
        self._item.done({**self._begun, "status": status, "content": [output_text(text)]})


class _Reasoning:
    """A reasoning item with one summary part."""

    def __init__(self, events: EventWriter, item_id: str) -> None:
        self._id = item_id
        self._pieces: list[str] = []
        self._item = events.open(reasoning_item(item_id), item_id)
        self._item.write("response.reasoning_summary_part.added", summary_index=0, part=summary_text(""))

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self._item.write("response.reasoning_summary_text.delta", summary_index=0, delta=text)

    def close(self) -> None:
        text = "".join(self._pieces)
        self._item.write("response.reasoning_summary_text.done", summary_index=0, text=text)
        self._item.write("response.reasoning_summary_part.done", summary_index=0, part=summary_text(text))
        self._item.done(reasoning_item(self._id, text))


class McpCall:
    """A call of a hosted tool, from its start to its result."""

    def __init__(
        self, events: EventWriter, item_id: str, server_label: str, call: ToolCall, approval_request_id: str | None
    ) -> None:
        """Add the call with its arguments, and the id of its approval request if it had one."""
        self._as_item = partial(mcp_call_item, item_id, server_label, call, request_id=approval_request_id)
        self._item = events.open({**self._as_item(), "arguments": ""}, item_id)
        self._item.write("response.mcp_call.in_progress")
        if call.arguments:
            self._item.write("response.mcp_call_arguments.delta", delta=call.arguments)
        self._item.write("response.mcp_call_arguments.done", arguments=call.arguments)

    def close(self, result: ToolResult) -> None:
        """Complete the call with its result."""
        self._item.write(f"response.mcp_call.{'failed' if result.is_error else 'completed'}")
        self._item.done(self._as_item(result))


def write_function_call(events: EventWriter, item_id: str, call: ToolCall) -> None:
    """Write a call of a function of the client, with the arguments as the model wrote them."""
    whole = function_call_item(item_id, call)
    item = events.open({**whole, "arguments": "", "status": IN_PROGRESS}, item_id)
    item.write("response.function_call_arguments.delta", delta=call.arguments)
    item.write("response.function_call_arguments.done", arguments=call.arguments)
    item.done(whole)


def write_tool_list(
    events: EventWriter, item_id: str, server_label: str, tools: Sequence[ToolDefinition], failure: str | None
) -> None:
    """Write the hosted tools of a label, or why there are none at the moment."""
    begun: JsonObject = {"type": "mcp_list_tools", "id": item_id, "server_label": server_label, "tools": []}
    item = events.open(begun, item_id)
    item.write("response.mcp_list_tools.in_progress")
    if failure is not None:
        item.write("response.mcp_list_tools.failed")
        item.done({**begun, "error": failure})
    else:
        item.write("response.mcp_list_tools.completed")
        item.done({**begun, "tools": [_listed_tool(tool) for tool in tools]})


def _listed_tool(tool: ToolDefinition) -> JsonObject:
    hints = tool.annotations
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.parameters,
        "annotations": {
            "readOnlyHint": hints.read_only,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        },
    }
