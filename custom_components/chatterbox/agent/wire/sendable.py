"""What may be written into a request, whatever a model or a person wrote before.

Knows the rules that services share: UTF-8, names of tools, ids of calls, arguments that
are one JSON object. Nothing of any one wire format.
"""

import json
import re
from hashlib import blake2b
from typing import Final
from uuid import uuid4

import orjson

from ..messages import AssistantMessage, JsonObject, Transcript
from .object_text import is_json_object

ANY_ID: Final = ".+"
"""The pattern of a service that takes whatever id of a call it is sent."""

_NAME_LENGTH: Final = 64


def payload_to_bytes(payload: JsonObject) -> bytes:
    """Write a payload: compact, fields in their order, UTF-8 kept."""
    try:
        return orjson.dumps(payload)
    except TypeError:  # a surrogate that stands alone, or a number of more than 64 bits
        return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def sendable_name(name: str) -> str:
    """Return the name of a tool in the letters and the length that every service accepts."""
    return re.sub("[^A-Za-z0-9_-]", "_", name)[:_NAME_LENGTH] or "unnamed"


def sendable_arguments(arguments: str) -> str:
    """Return a call's arguments as they are, or an empty object where they are no object."""
    return arguments if is_json_object(arguments) else "{}"


def sendable_text(text: str) -> str:
    """Replace surrogates that stand alone: no text with them can be written as UTF-8."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def sendable_call_id(call_id: str, pattern: str) -> str:
    """Return an id as it is where it fits `pattern`, else nine letters or digits that follow from it.

    The same id becomes the same, so that calls and results stay together, and requests the same bytes.
    """
    if re.fullmatch(pattern, call_id):
        return call_id
    return blake2b(call_id.encode(errors="replace"), digest_size=5).hexdigest()[:9]


def new_call_id() -> str:
    """Make up the id of a call: nine letters or digits, the one form that all servers take (Mistral's rule)."""
    return uuid4().hex[:9]


def call_ids(transcript: Transcript) -> frozenset[str]:
    """Return the ids of all calls of a transcript, which a new call may not have again."""
    return frozenset(
        [call.id for message in transcript if isinstance(message, AssistantMessage) for call in message.tool_calls]
    )
