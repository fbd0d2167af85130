"""Calls, questions and lists of tools, as items.

Knows the events of these items. Must not know turns, or what becomes of a call.
Source: OpenResponses specification 2026-04-24, `FunctionCall`; OpenAI API reference, "MCP tool call", "MCP list
tools", "MCP approval request", and their streaming events.
"""

from collections.abc import Iterable, Sequence
from functools import partial

from ..messages import JsonObject, ToolCall, ToolDefinition, ToolResult
from .event_writer import EventWriter
from .items.shapes import IN_PROGRESS, approval_request_item, function_call_item, mcp_call_item


class McpCallItem:
    """A call that the house runs: shown when it begins, done when it has its result."""

    def __init__(
        self, events: EventWriter, item_id: str, server_label: str, call: ToolCall, approval_request_id: str | None
    ) -> None:
        """Show the call with its arguments. The last is that of the request that a person said yes to, if any."""
        self._shown = partial(mcp_call_item, item_id, server_label, call, request_id=approval_request_id)
        self._item = events.open({**self._shown(), "arguments": ""}, item_id)
        self._item.write("response.mcp_call.in_progress")
        if call.arguments:
            self._item.write("response.mcp_call_arguments.delta", delta=call.arguments)
        self._item.write("response.mcp_call_arguments.done", arguments=call.arguments)

    def close(self, result: ToolResult) -> None:
        """Show what came of it."""
        self._item.write(f"response.mcp_call.{'failed' if result.is_error else 'completed'}")
        self._item.done(self._shown(result))


def show_function_call(events: EventWriter, item_id: str, call: ToolCall) -> None:
    """Show a call that the client has to run, with the arguments as the model wrote them."""
    whole = function_call_item(item_id, call)
    item = events.open({**whole, "arguments": "", "status": IN_PROGRESS}, item_id)
    item.write("response.function_call_arguments.delta", delta=call.arguments)
    item.write("response.function_call_arguments.done", arguments=call.arguments)
    item.done(whole)


def show_approval_request(events: EventWriter, request_id: str, server_label: str, call: ToolCall) -> None:
    """Show a call that waits for a yes."""
    events.place(approval_request_item(request_id, server_label, call), request_id)


def show_tool_list(
    events: EventWriter, item_id: str, server_label: str, tools: Sequence[ToolDefinition], failure: str | None
) -> None:
    """Show the tools of a label, or why there are none at the moment."""
    begun: JsonObject = {"type": "mcp_list_tools", "id": item_id, "server_label": server_label, "tools": []}
    item = events.open(begun, item_id)
    item.write("response.mcp_list_tools.in_progress")
    if failure is not None:
        item.write("response.mcp_list_tools.failed")
        item.done({**begun, "error": failure})
    else:
        item.write("response.mcp_list_tools.completed")
        item.done({**begun, "tools": [_listed(tool) for tool in tools]})


def listed_labels(items: Iterable[JsonObject]) -> frozenset[str]:
    """Return the labels whose tools are listed in these items. One that could not be listed is listed again."""
    lists = (item for item in items if item.get("type") == "mcp_list_tools" and item.get("error") is None)
    return frozenset(label for item in lists if isinstance(label := item.get("server_label"), str))


def _listed(tool: ToolDefinition) -> JsonObject:
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
