"""Messages of the canonical transcript ⇄ JSON objects as they are stored, both directions.

Pure. Knows messages and JSON; must not know tables or databases. A message comes back as it was, save for two things:
`native` results are never stored, and of an attachment only its type, name, size and SHA-256 are, unless its
bytes are asked for. An attachment without its bytes comes back as a line of the message's context.
"""

import base64
import binascii
import hashlib
from typing import Final, assert_never

from ..messages import (
    AssistantMessage,
    Attachment,
    JsonObject,
    JsonValue,
    Message,
    ProviderItem,
    ToolCall,
    ToolResult,
    UserMessage,
)
from .json_fields import StoredJsonInvalid, flag_of, object_of, objects_of, text_of

_ROLE: Final = "role"
_USER: Final = "user"
_ASSISTANT: Final = "assistant"
_TOOL: Final = "tool"


def message_as_json(message: Message, *, keep_attachments: bool = False) -> JsonObject:
    """Write a message; fields that have their default are left out."""
    match message:
        case UserMessage(text, attachments, context):
            shown: list[JsonValue] = [_attachment_as_json(one, keep_bytes=keep_attachments) for one in attachments]
            return {_ROLE: _USER, "text": text} | _set({"context": context, "attachments": shown})
        case AssistantMessage(text, reasoning, tool_calls, provider_items):
            calls: list[JsonValue] = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in tool_calls]
            items: list[JsonValue] = [{"format": item.format, "data": item.data} for item in provider_items]
            said: JsonObject = {"text": text, "reasoning": reasoning, "tool_calls": calls, "provider_items": items}
            return {_ROLE: _ASSISTANT} | _set(said)
        case ToolResult(call_id, name, content, is_error, synthetic, open_world):
            marks: JsonObject = {"is_error": is_error, "synthetic": synthetic, "open_world": open_world}
            return {_ROLE: _TOOL, "call_id": call_id, "name": name, "content": content} | _set(marks)
        case _ as unreachable:
            assert_never(unreachable)


def message_from_json(data: JsonObject) -> Message:
    """Read a stored message. Raises StoredJsonInvalid for what was never written."""
    match data.get(_ROLE):
        case "user":
            kept, gone = _attachments_from_json(objects_of(data, "attachments"))
            context = "\n".join(filter(None, (text_of(data, "context"), *gone)))
            return UserMessage(text_of(data, "text"), kept, context)
        case "assistant":
            calls = (
                ToolCall(text_of(call, "id"), text_of(call, "name"), text_of(call, "arguments"))
                for call in objects_of(data, "tool_calls")
            )
            items = (
                ProviderItem(text_of(item, "format"), object_of(item, "data"))
                for item in objects_of(data, "provider_items")
            )
            return AssistantMessage(text_of(data, "text"), text_of(data, "reasoning"), tuple(calls), tuple(items))
        case "tool":
            return ToolResult(
                text_of(data, "call_id"),
                text_of(data, "name"),
                text_of(data, "content"),
                is_error=flag_of(data, "is_error"),
                synthetic=flag_of(data, "synthetic"),
                open_world=flag_of(data, "open_world"),
            )
        case _:
            raise StoredJsonInvalid("The role of a message is unknown.")


def _set(fields: JsonObject) -> JsonObject:
    return {key: value for key, value in fields.items() if value}


def _attachment_as_json(attachment: Attachment, *, keep_bytes: bool) -> JsonObject:
    data = attachment.data
    known: JsonObject = {
        "mime_type": attachment.mime_type,
        "name": attachment.name,
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    return known | {"data": base64.b64encode(data).decode("ascii")} if keep_bytes else known


def _attachments_from_json(stored: list[JsonObject]) -> tuple[tuple[Attachment, ...], tuple[str, ...]]:
    """Return the attachments whose bytes are kept, and a line for each of the others."""
    kept: list[Attachment] = []
    gone: list[str] = []
    for one in stored:
        mime_type, name = text_of(one, "mime_type"), text_of(one, "name")
        if "data" not in one:
            gone.append(f"Shown then, and not kept: {' '.join(filter(None, (mime_type, name)))}")
            continue
        try:
            data = base64.b64decode(text_of(one, "data"), validate=True)
        except binascii.Error as err:
            raise StoredJsonInvalid("The bytes of an attachment are damaged.") from err
        kept.append(Attachment(mime_type, data, name))
    return tuple(kept), tuple(gone)
