"""The items of a Responses conversation as clients send them: what may be in them, and their one complete form.

Knows the JSON of items; their parts stand in `response_parts.py`, and what they mean in `response_items.py`.
Sources: OpenResponses specification, schema of 2026-04-24; OpenAI API reference, "Create a model response".
"""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue as AnyJson, TypeAdapter, ValidationError

from ...messages import JsonObject, JsonValue
from .parts import ASSISTANT_PARTS, INSTRUCTION_PARTS, MAX_TEXT, SHOWN_PARTS, UnusableItem, complete_parts

VENDOR_TYPE: Final = re.compile(r"[A-Za-z0-9_-]+:.+", re.ASCII | re.DOTALL)
"""An item, a field or an event that only its inventor knows: `slug:name`."""

type NewId = Callable[[str], str]
"""Makes up an id from its prefix, such as `msg`; never the same twice."""

type CallId = Annotated[str, Field(min_length=1, max_length=64)]
type Name = Annotated[str, Field(min_length=1, max_length=64, pattern="^[a-zA-Z0-9_-]+$")]
type Text = Annotated[str, Field(max_length=MAX_TEXT)]


class Sent(BaseModel):
    """Base of what clients send; what is not named is kept and passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, allow_inf_nan=False)


class MessageItem(Sent):
    """Somebody's words."""

    role: Literal["user", "assistant", "system", "developer"]
    content: AnyJson
    phase: Literal["commentary", "final_answer"] | None = None


class FunctionCallItem(Sent):
    """A call that the client runs."""

    call_id: CallId
    name: Name
    arguments: Text
    status: Literal["in_progress", "completed", "incomplete"] | None = None


class FunctionCallOutputItem(Sent):
    """What came of it."""

    call_id: CallId
    output: AnyJson


class _ReasoningText(Sent):
    text: Text


type Thoughts = Annotated[list[_ReasoningText], Field(max_length=256)]


class ReasoningItem(Sent):
    """What a model has thought: in words, for its service, or both."""

    summary: Thoughts = []
    content: Thoughts | None = None
    encrypted_content: Text | None = None

    @property
    def text(self) -> str:
        """The words."""
        return "\n\n".join(part.text for part in (*self.summary, *(self.content or [])) if part.text)


class CompactionItem(Sent):
    """A conversation in few words."""

    encrypted_content: Text


class ItemReference(Sent):
    """An item that was sent or received before."""

    id: str


class ListToolsItem(Sent):
    """The tools of a label."""

    server_label: str
    error: AnyJson = None


class McpCallItem(Sent):
    """A call that the house has run."""

    id: str
    server_label: str
    name: str
    arguments: Text
    output: Text | None = None
    error: AnyJson = None
    approval_request_id: str | None = None


class ApprovalRequestItem(Sent):
    """A call that waits for a yes."""

    id: str
    server_label: str
    name: str
    arguments: Text


class ApprovalResponseItem(Sent):
    """The yes, or a no."""

    approval_request_id: str
    approve: bool
    reason: Text | None = None


_MODELS: Final[Mapping[str, tuple[str, TypeAdapter[Sent]]]] = {
    kind: (prefix, TypeAdapter(model))
    for kind, prefix, model in (
        ("message", "msg", MessageItem),
        ("function_call", "fc", FunctionCallItem),
        ("function_call_output", "fco", FunctionCallOutputItem),
        ("reasoning", "rs", ReasoningItem),
        ("compaction", "cmp", CompactionItem),
        ("item_reference", "item", ItemReference),
        ("mcp_list_tools", "mcpl", ListToolsItem),
        ("mcp_call", "mcp", McpCallItem),
        ("mcp_approval_request", "mcpr", ApprovalRequestItem),
        ("mcp_approval_response", "mcpa", ApprovalResponseItem),
    )
}
_WITH_STATUS: Final = frozenset({"message", "function_call", "function_call_output"})
_NEVER_NULL: Final = ("phase", "encrypted_content", "status", "content", "call_id")


def complete_item(item: JsonValue, new_id: NewId) -> JsonObject:
    """Return an item in its complete form: with type, id and status, and with parts where it may have a text.

    `new_id("msg")` makes up an id; an item keeps its own. Raises `UnusableItem`, whose path begins at the item.
    """
    if not isinstance(item, dict):
        raise UnusableItem("An item has to be an object.", "")
    kind = _type_of(item)
    prefix, _ = _MODELS.get(kind, ("item", None))
    whole: JsonObject = {"type": kind, "id": _id_of(item) or new_id(prefix)}
    whole |= {name: value for name, value in item.items() if name not in whole and _is_said(name, value)}
    if kind not in _MODELS:
        return whole
    read = read_item(whole)
    if kind in _WITH_STATUS:
        whole.setdefault("status", "completed")
    match read:
        case MessageItem():
            whole["content"] = complete_parts(read.content, _parts_of(read.role), "content")
        case FunctionCallOutputItem(output=list(parts)):
            whole["output"] = complete_parts(parts, SHOWN_PARTS, "output")
        case FunctionCallOutputItem(output=output) if not isinstance(output, str):
            raise UnusableItem("It has to be a text or a list of parts.", "output")
        case _:
            pass
    return whole


def read_item(item: JsonObject) -> Sent:
    """Read an item of a known type, its parts aside. Raises `UnusableItem`."""
    try:
        return _MODELS[str(item["type"])][1].validate_python(item)
    except ValidationError as err:
        first = err.errors(include_url=False, include_context=False, include_input=False)[0]
        raise UnusableItem(f"{first['msg']}.", path_of(first["loc"])) from None


def path_of(location: tuple[int | str, ...]) -> str:
    """Write where something stands in JSON, as in `tools[0].name`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).removeprefix(".")


def path_within(place: str, path: str) -> str:
    """Write where something stands that is at `path` of what stands at `place`; both may be empty."""
    return f"{place}{'' if not place or path[:1] in ('', '[') else '.'}{path}"


def _type_of(item: JsonObject) -> str:
    """Return the type of an item; a message need not name it, and neither need a reference."""
    match item.get("type"):
        case None if "role" in item:
            return "message"
        case None if "id" in item:
            return "item_reference"
        case str(kind) if kind in _MODELS or VENDOR_TYPE.fullmatch(kind):
            return kind
        case str():
            raise UnusableItem(f"There is no such type of item here; there are: {', '.join(_MODELS)}.", "type")
        case _:
            raise UnusableItem("An item needs a type, or a role where it is a message.", "type")


def _is_said(name: str, value: JsonValue) -> bool:
    return value is not None or name not in _NEVER_NULL


def _id_of(item: JsonObject) -> str | None:
    match item.get("id"):
        case None:
            return None
        case str(id_) if id_:
            return id_
        case _:
            raise UnusableItem("An id has to be a text that is not empty.", "id")


def _parts_of(role: str) -> frozenset[str]:
    match role:
        case "user":
            return SHOWN_PARTS
        case "assistant":
            return ASSISTANT_PARTS
        case _:
            return INSTRUCTION_PARTS
