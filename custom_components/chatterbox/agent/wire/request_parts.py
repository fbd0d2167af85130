"""Shared parts of the wire formats, request side: values that every service accepts, and attachments."""

import json
import re
from base64 import b64encode
from hashlib import blake2b
from typing import Final

import orjson

from ..messages import Attachment, JsonObject, JsonValue, canonical_json

ANY_ID: Final = ".+"
"""Pattern of a service that accepts any id of a call."""
IMAGE_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""Images that every multimodal service accepts."""
PDF: Final = "application/pdf"

_NAME_LENGTH: Final = 64


def payload_to_bytes(payload: JsonObject) -> bytes:
    """Serialize a payload: compact, fields in their order, UTF-8."""
    try:
        return orjson.dumps(payload)
    except TypeError:  # a lone surrogate, or a number of more than 64 bits
        return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def is_json_object(text: str) -> bool:
    """Return whether `text` is one JSON object without lone surrogates."""
    try:
        return isinstance(orjson.loads(text), dict)
    except orjson.JSONDecodeError:  # it limits depth and numbers; Python's parser does not
        pass
    try:
        value: JsonValue = json.loads(text, parse_constant=_refuse)
        canonical_json(value).encode()
    except ValueError, RecursionError:
        return False
    return isinstance(value, dict)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def sendable_name(name: str) -> str:
    """Return the name of a tool in the characters and the length that every service accepts."""
    return re.sub("[^A-Za-z0-9_-]", "_", name)[:_NAME_LENGTH] or "unnamed"


def sendable_arguments(arguments: str) -> str:
    """Return the arguments of a call, or an empty object if they are none."""
    return arguments if is_json_object(arguments) else "{}"


def sendable_text(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def sendable_call_id(call_id: str, pattern: str) -> str:
    """Return an id that matches `pattern`, else nine letters or digits derived from it.

    The same id always gives the same result: calls and results keep matching, and requests keep their bytes.
    """
    if re.fullmatch(pattern, call_id):
        return call_id
    return blake2b(call_id.encode(errors="replace"), digest_size=5).hexdigest()[:9]


def base64_data(attachment: Attachment) -> str:
    """Return the content in base64 (RFC 4648, 4)."""
    return b64encode(attachment.data).decode("ascii")


def data_url(attachment: Attachment) -> str:
    """Return the content as a data URL (RFC 2397)."""
    return f"data:{attachment.mime_type};base64,{base64_data(attachment)}"


def attachment_note(attachment: Attachment) -> str:
    """Return the text that stands for an attachment that the model cannot read."""
    named = f" named {sendable_text(attachment.name)}" if attachment.name else ""
    return f"[A file of type {attachment.mime_type}{named} was attached here. You cannot see it: say so if it matters.]"
