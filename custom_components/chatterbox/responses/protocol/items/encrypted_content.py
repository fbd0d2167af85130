"""Writes and reads `encrypted_content`: data of ours that a client stores and sends back with an item.

It carries what a provider wants back with a message, and the summary of a compaction.
The content is signed, not secret: a client may read it, and a change is noticed.
"""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Final

from pydantic import TypeAdapter, ValidationError

from ....agent.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    ProviderItem,
    ToolCall,
    ToolResult,
    canonical_json,
)

_SUMMARY_TOOL: Final = "earlier_conversation"
"""A model reads a summary as the result of a call of this name: it holds words that no person has said."""
_HEADING: Final = "[What was said before, in few words:]\n"

_PROVIDER_ITEMS: Final = TypeAdapter(list[ProviderItem])


@dataclass(frozen=True, slots=True)
class ContentCodec:
    """Encodes and decodes `encrypted_content`. Content of another key can be read, but is not authentic."""

    _key: bytes = field(repr=False)

    def encode(self, content: JsonObject) -> str:
        """Return the text that a client stores."""
        body = urlsafe_b64encode(
            canonical_json(content).encode(errors="replace")
        ).decode("ascii")
        return f"{body}.{self._signature(body)}"

    def decode(self, text: str) -> tuple[JsonObject, bool] | None:
        """Return the content of a text, and whether it is authentic; None for one that was never written here.

        Authentic is what was written with the current key, and not changed since.
        """
        body, _, signature = text.rpartition(".")
        try:
            content: JsonValue = json.loads(urlsafe_b64decode(body.encode("ascii")))
        except NotBase64, ValueError, RecursionError:
            return None
        if not isinstance(content, dict):
            return None
        expected = self._signature(body).encode()
        return content, hmac.compare_digest(
            signature.encode(errors="replace"), expected
        )

    def _signature(self, body: str) -> str:
        return hmac.digest(self._key, body.encode(), sha256).hex()


def encode_provider_items(
    items: Sequence[ProviderItem],
    codec: ContentCodec,
) -> str:
    """Return the `encrypted_content` of a reasoning item that carries what a provider wants back with a message."""
    return codec.encode({"provider_items": [asdict(item) for item in items]})


def decode_provider_items(
    encrypted_content: str, codec: ContentCodec
) -> tuple[ProviderItem, ...]:
    """Return what a reasoning item carries; nothing where it is not authentic."""
    content, is_authentic = codec.decode(encrypted_content) or ({}, False)
    try:
        return (
            tuple(_PROVIDER_ITEMS.validate_python(content.get("provider_items")))
            if is_authentic
            else ()
        )
    except ValidationError:
        return ()


def encode_summary(
    text: str,
    *,
    has_outside_content: bool,
    codec: ContentCodec,
) -> str:
    """Return the `encrypted_content` of a compaction.

    `has_outside_content` tells whether the summary covers content that people outside
    the home may have written.
    """
    return codec.encode({"summary": text, "has_outside_content": has_outside_content})


def decode_summary(
    encrypted_content: str, call_id: str, codec: ContentCodec
) -> tuple[AssistantMessage, ToolResult] | None:
    """Return the messages that stand for a compacted conversation; None for a compaction that is not one of ours.

    One that is not authentic, as after a restart, counts as content from outside the
    home.
    """
    content, is_authentic = codec.decode(encrypted_content) or ({}, False)
    text = content.get("summary")
    if not isinstance(text, str):
        return None
    is_open = not is_authentic or content.get("has_outside_content") is not False
    call = ToolCall(
        call_id,
        _SUMMARY_TOOL,
        "{}",
    )
    result = ToolResult(
        call_id,
        _SUMMARY_TOOL,
        f"{_HEADING}{text}",
        open_world=is_open,
    )
    return AssistantMessage(tool_calls=(call,)), result
