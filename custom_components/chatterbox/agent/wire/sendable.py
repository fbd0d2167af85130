"""Forms of a transcript's parts that services accept: the bytes of a payload, calls, and notes for attachments."""

import json
import re
from hashlib import blake2b
from typing import Final

import orjson

from ..json.text import is_json_object
from ..messages import Attachment, JsonObject
from ..text import sendable_text

ANY_ID: Final = ".+"
"""Pattern of a service that accepts any id of a call."""

_NAME_LENGTH: Final = 64


def payload_to_bytes(payload: JsonObject) -> bytes:
    """Serialize a payload: compact, fields in their order, UTF-8."""
    try:
        return orjson.dumps(payload)
    except TypeError:  # a lone surrogate, or a number of more than 64 bits
        return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def sendable_name(name: str) -> str:
    """Return the name of a tool in the characters and the length that every service accepts."""
    return re.sub("[^A-Za-z0-9_-]", "_", name)[:_NAME_LENGTH] or "unnamed"


def sendable_arguments(arguments: str) -> str:
    """Return the arguments of a call, or an empty object if they are none."""
    return arguments if is_json_object(arguments) else "{}"


def sendable_call_id(call_id: str, pattern: str) -> str:
    """Return an id that matches `pattern`, else nine letters or digits derived from it.

    The same id always gives the same result: calls and results keep matching, and requests keep their bytes.
    """
    if re.fullmatch(pattern, call_id):
        return call_id
    return blake2b(call_id.encode(errors="replace"), digest_size=5).hexdigest()[:9]


def attachment_note(attachment: Attachment) -> str:
    """Return the text that stands for an attachment that the model cannot read."""
    named = f" named {sendable_text(attachment.name)}" if attachment.name else ""
    return f"[A file of type {attachment.mime_type}{named} was attached here. You cannot see it: say so if it matters.]"
