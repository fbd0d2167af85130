"""Items of clients get a complete form, or are refused with the place where they are wrong."""

import pytest

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.responses.protocol.items.parts import InvalidItem
from custom_components.chatterbox.responses.protocol.items.schema import complete_item

FUNCTION_CALL: JsonObject = {
    "type": "function_call",
    "call_id": "c",
    "name": "f",
    "arguments": "",
}
MCP_CALL: JsonObject = {
    "type": "mcp_call",
    "server_label": "assist",
    "name": "a b",
    "arguments": "",
}


def new_id(prefix: str) -> str:
    return f"{prefix}_new"


@pytest.mark.parametrize(
    ("item", "complete"),
    [
        (
            {"role": "user", "content": "Hi", "id": None, "status": None},
            {
                "type": "message",
                "id": "msg_new",
                "role": "user",
                "content": [{"type": "input_text", "text": "Hi"}],
                "status": "completed",
            },
        ),
        (
            {
                "type": "message",
                "id": "msg_9",
                "role": "assistant",
                "content": [],
                "status": "incomplete",
            }
            | {"phase": None},
            {
                "type": "message",
                "id": "msg_9",
                "role": "assistant",
                "content": [],
                "status": "incomplete",
            },
        ),
        (FUNCTION_CALL, {**FUNCTION_CALL, "id": "fc_new", "status": "completed"}),
        (
            {"type": "function_call_output", "call_id": "c", "output": "x"},
            {
                "type": "function_call_output",
                "id": "fco_new",
                "call_id": "c",
                "output": "x",
                "status": "completed",
            },
        ),
        (
            {"type": "function_call_output", "call_id": "c", "output": []},
            {
                "type": "function_call_output",
                "id": "fco_new",
                "call_id": "c",
                "output": [],
                "status": "completed",
            },
        ),
        (
            {
                "type": "reasoning",
                "summary": [],
                "encrypted_content": None,
                "content": None,
            },
            {"type": "reasoning", "id": "rs_new", "summary": []},
        ),
        (MCP_CALL | {"output": None}, MCP_CALL | {"id": "mcp_new", "output": None}),
        ({"id": "msg_1"}, {"type": "item_reference", "id": "msg_1"}),
        (
            {"type": "acme:x", "deep": [{}]},
            {"type": "acme:x", "id": "item_new", "deep": [{}]},
        ),
    ],
)
def test_what_is_missing_is_filled_in(item: JsonObject, complete: JsonObject) -> None:
    """Invariants 41, 64, 67: what a client gave stays, and is not changed."""
    before = dict(item)

    assert complete_item(item, new_id) == complete
    assert complete_item(complete, new_id) == complete
    assert item == before


@pytest.mark.parametrize(
    ("item", "path"),
    [
        ("Hi", ""),
        ({}, "type"),
        ({"type": 5}, "type"),
        ({"type": "web_search_call"}, "type"),
        ({"type": "acme"}, "type"),
        ({"role": "tool", "content": ""}, "role"),
        ({"role": "user"}, "content"),
        ({"role": "user", "content": 5}, "content"),
        ({"role": "user", "content": "", "id": ""}, "id"),
        ({"role": "user", "content": "", "id": 5}, "id"),
        ({"role": "assistant", "content": "", "phase": "thinking"}, "phase"),
        (
            {"role": "assistant", "content": [{"type": "input_text", "text": ""}]},
            "content[0].type",
        ),
        ({**FUNCTION_CALL, "call_id": ""}, "call_id"),
        ({**FUNCTION_CALL, "call_id": "c" * 65}, "call_id"),
        ({**FUNCTION_CALL, "name": "a b"}, "name"),
        ({**FUNCTION_CALL, "name": "f" * 65}, "name"),
        ({**FUNCTION_CALL, "arguments": {}}, "arguments"),
        ({"type": "function_call_output", "call_id": "c", "output": {}}, "output"),
        ({"type": "function_call_output", "call_id": "c"}, "output"),
        (
            {
                "type": "function_call_output",
                "call_id": "c",
                "output": [{"type": "refusal"}],
            },
            "output[0].type",
        ),
        ({"type": "reasoning", "summary": [{}]}, "summary[0].text"),
        ({"type": "reasoning", "summary": [{"text": ""}] * 257}, "summary"),
        ({"type": "compaction"}, "encrypted_content"),
        (
            {
                "type": "mcp_approval_response",
                "approval_request_id": "r",
                "approve": "yes",
            },
            "approve",
        ),
    ],
)
def test_what_is_wrong_is_named(item: JsonValue, path: str) -> None:
    """Invariants 67, 68."""
    with pytest.raises(InvalidItem) as caught:
        complete_item(item, new_id)

    assert caught.value.path == path
    assert caught.value.message
