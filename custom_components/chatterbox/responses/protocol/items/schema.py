"""Items of the Responses format: the schemas of those that clients send, and the JSON of those that we send.

Sources: OpenResponses specification, schema of 2026-04-24; OpenAI API reference,
"Create a model response", "MCP tool call".

The id of an item contains that of its response, so that a reference leads to its
response without an index.
"""

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from itertools import count
from typing import Annotated, Final, Literal
from uuid import uuid4

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue as AnyJson,
    ValidationError,
)

from ....agent.messages import (
    JsonObject,
    JsonValue,
    ToolCall,
    ToolResult,
    paragraphs,
)
from .parts import (
    ASSISTANT_PARTS,
    INSTRUCTION_PARTS,
    SHOWN_PARTS,
    InvalidItem,
    complete_parts,
)

type NewId = Callable[[str], str]
"""Returns a new id with a prefix such as `msg`."""

_ITEM: Final = re.compile(r"[a-z]+_([0-9a-f]{32})[0-9a-f]{4,}")
_APPROVAL_REQUEST: Final = re.compile(r"mcpr_([A-Za-z0-9]+)_([0-9]{1,4})", re.ASCII)


def new_response_id() -> str:
    """Return a new id of a response."""
    return f"resp_{uuid4().hex}"


def item_ids(response_id: str) -> NewId:
    """Return a function that creates the ids of the items of one response and of its input."""
    stem = response_id.removeprefix("resp_")
    numbers = count()
    return lambda prefix: f"{prefix}_{stem}{next(numbers):04x}"


def response_of(item_id: str) -> str | None:
    """Return the id of the response that an item belongs to; None for an id that is not one of ours."""
    found = _ITEM.fullmatch(item_id)
    if found:
        return f"resp_{found[1]}"
    return None


def approval_request_id(pending_id: str, index: int) -> str:
    """Return the id of the approval request for one call of a `PendingApproval`, by its index."""
    return f"mcpr_{pending_id}_{index}"


def read_approval_request_id(request_id: str) -> tuple[str, int] | None:
    """Return the id of the `PendingApproval` and the index of the call; None for an id that is not one of ours."""
    found = _APPROVAL_REQUEST.fullmatch(request_id)
    if found:
        return (found[1], int(found[2]))
    return None


VENDOR_TYPE: Final = re.compile(
    r"[A-Za-z0-9_-]+:.+",
    re.ASCII | re.DOTALL,
)
"""Type of an item, or name of a field, that a vendor has added: `slug:name`."""

COMPLETED: Final = "completed"
IN_PROGRESS: Final = "in_progress"
CUT_OFF: Final = "incomplete"
"""Status of a call that the model did not finish: it is not run, and needs no output."""
_MAX_CALL_ID: Final = 64

type CallId = Annotated[str, Field(min_length=1, max_length=_MAX_CALL_ID)]
type Name = Annotated[
    str, Field(min_length=1, max_length=64, pattern="^[a-zA-Z0-9_-]+$")
]


class ItemModel(BaseModel):
    """Base of the items that clients send. Unknown fields are kept in the JSON and ignored here."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, allow_inf_nan=False
    )


class MessageItem(ItemModel):
    """A message of a user, an assistant or a developer."""

    role: Literal["user", "assistant", "system", "developer"]
    content: AnyJson
    phase: Literal["commentary", "final_answer"] | None = None


class FunctionCallItem(ItemModel):
    """A call of a function of the client."""

    call_id: CallId
    name: Name
    arguments: str
    status: Literal["in_progress", "completed", "incomplete"] | None = None


class FunctionCallOutputItem(ItemModel):
    """The result of a function call."""

    call_id: CallId
    output: AnyJson


class _ReasoningText(ItemModel):
    text: str


type _Texts = Annotated[list[_ReasoningText], Field(max_length=256)]


class ReasoningItem(ItemModel):
    """The reasoning of a model: as text, encrypted for its provider, or both."""

    summary: _Texts = []
    content: _Texts | None = None
    encrypted_content: str | None = None

    @property
    def text(self) -> str:
        """Summary and content."""
        parts = (*self.summary, *(self.content or []))
        return paragraphs(*(part.text for part in parts))


class CompactionItem(ItemModel):
    """A compacted conversation."""

    encrypted_content: str


class ItemReference(ItemModel):
    """A reference to an item of an earlier response."""

    id: str


class ListToolsItem(ItemModel):
    """The list of hosted tools of a server label."""

    server_label: str
    error: AnyJson = None


class ApprovalRequestItem(ItemModel):
    """A call that waits for approval."""

    id: str
    name: str
    arguments: str


class McpCallItem(ApprovalRequestItem):
    """A call of a hosted tool."""

    output: str | None = None
    error: AnyJson = None


class ApprovalResponseItem(ItemModel):
    """The answer to an approval request."""

    approval_request_id: str
    approve: bool
    reason: str | None = None


_MODELS: Final[Mapping[str, tuple[str, type[ItemModel]]]] = {
    "message": ("msg", MessageItem),
    "function_call": ("fc", FunctionCallItem),
    "function_call_output": ("fco", FunctionCallOutputItem),
    "reasoning": ("rs", ReasoningItem),
    "compaction": ("cmp", CompactionItem),
    "item_reference": ("item", ItemReference),
    "mcp_list_tools": ("mcpl", ListToolsItem),
    "mcp_call": ("mcp", McpCallItem),
    "mcp_approval_request": ("mcpr", ApprovalRequestItem),
    "mcp_approval_response": ("mcpa", ApprovalResponseItem),
}
_WITH_STATUS: Final = frozenset({"message", "function_call", "function_call_output"})
_PARTS: Final = {
    "user": SHOWN_PARTS,
    "assistant": ASSISTANT_PARTS,
}
_NEVER_NULL: Final = (
    "phase",
    "encrypted_content",
    "status",
    "content",
    "call_id",
)


def complete_item(item: JsonValue, new_id: NewId) -> JsonObject:
    """Return an item with its type, id and status, and with a list of parts as content.

    An item without an id gets a new one. Raises `InvalidItem`, whose path begins at the
    item.
    """
    if not isinstance(item, dict):
        raise InvalidItem("An item has to be an object.", "")
    kind = _type_of(item)
    prefix, _ = _MODELS.get(
        kind,
        ("item", None),
    )
    item_id = item.get("id")
    if item_id == "" or not isinstance(item_id, str | None):
        raise InvalidItem("An id has to be a string that is not empty.", "id")
    whole: JsonObject = {
        "type": kind,
        "id": new_id(prefix) if item_id is None else item_id,
    }
    given = {
        name: value
        for name, value in item.items()
        if value is not None or name not in _NEVER_NULL
    }
    whole |= {name: value for name, value in given.items() if name not in whole}
    if kind not in _MODELS:
        return whole
    parsed = read_item(whole)
    if kind in _WITH_STATUS:
        whole.setdefault("status", "completed")
    match parsed:
        case MessageItem():
            whole["content"] = complete_parts(
                parsed.content, _PARTS.get(parsed.role, INSTRUCTION_PARTS), "content"
            )
        case FunctionCallOutputItem(output=list(parts)):
            whole["output"] = complete_parts(
                parts,
                SHOWN_PARTS,
                "output",
            )
        case FunctionCallOutputItem(output=output) if not isinstance(output, str):
            raise InvalidItem("Expected a string or a list of parts.", "output")
        case _:
            pass
    return whole


def read_item(item: JsonObject) -> ItemModel:
    """Validate an item of a known type, apart from its parts. Raises `InvalidItem`."""
    try:
        return _MODELS[str(item["type"])][1].model_validate(item)
    except ValidationError as err:
        first = err.errors()[0]
        raise InvalidItem(
            f"{first['msg']}.",
            path_of(first["loc"]),
        ) from None


def path_of(location: tuple[int | str, ...]) -> str:
    """Return a location in JSON as a path such as `tools[0].name`."""
    return "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in location
    ).removeprefix(".")


def path_within(place: str, path: str) -> str:
    """Join two paths; both may be empty."""
    if place and path and not path.startswith("["):
        return f"{place}.{path}"
    return place + path


def _type_of(item: JsonObject) -> str:
    """Return the type of an item; messages and references may leave it out."""
    match item.get("type"):
        case None if "role" in item:
            return "message"
        case None if "id" in item:
            return "item_reference"
        case str(kind) if kind in _MODELS or VENDOR_TYPE.fullmatch(kind):
            return kind
        case str():
            raise InvalidItem(
                f"Unknown item type; known are: {', '.join(_MODELS)}.", "type"
            )
        case _:
            raise InvalidItem(
                "An item needs a type, or a role where it is a message.", "type"
            )


def shown_call_id(call_id: str) -> str:
    """Return the id of a call as clients see it: hashed where it is longer than they accept."""
    if len(call_id) <= _MAX_CALL_ID:
        return call_id
    return sha256(call_id.encode(errors="replace")).hexdigest()


def begun_message_item(
    item_id: str,
    phase: str | None = None,
) -> JsonObject:
    """Return a message of the assistant that has no parts yet."""
    item: JsonObject = {
        "type": "message",
        "id": item_id,
        "status": IN_PROGRESS,
        "role": "assistant",
        "content": [],
    }
    if phase:
        item["phase"] = phase
    return item


def reasoning_item(
    item_id: str,
    encrypted_content: str | None = None,
) -> JsonObject:
    """Return a reasoning item without a summary yet, or with encrypted content of the message before it."""
    item: JsonObject = {
        "type": "reasoning",
        "id": item_id,
        "summary": [],
    }
    if encrypted_content is not None:
        item["encrypted_content"] = encrypted_content
    return item


def function_call_item(item_id: str, call: ToolCall) -> JsonObject:
    """Return a call of a function of the client."""
    return {
        "type": "function_call",
        "id": item_id,
        "call_id": shown_call_id(call.id),
        "name": call.name,
        "arguments": call.arguments,
        "status": COMPLETED,
    }


def mcp_call_item(
    item_id: str,
    server_label: str,
    call: ToolCall,
    result: ToolResult | None = None,
    request_id: str | None = None,
) -> JsonObject:
    """Return a call of a hosted tool, in progress without a result; `request_id` names its approval request, if any."""
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
        return {
            **item,
            "output": result.content,
            "status": COMPLETED,
        }
    text: JsonObject = {
        "type": "text",
        "text": result.content,
    }
    return {
        **item,
        "error": {
            "type": "mcp_tool_execution_error",
            "content": [text],
        },
        "status": "failed",
    }


def approval_request_item(
    item_id: str, server_label: str, call: ToolCall
) -> JsonObject:
    """Return a call that waits for approval."""
    named: JsonObject = {
        "server_label": server_label,
        "name": call.name,
        "arguments": call.arguments,
    }
    return {
        "type": "mcp_approval_request",
        "id": item_id,
        **named,
    }
