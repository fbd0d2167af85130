"""Content that a client keeps for us and hands back: text that nobody else needs to understand.

Knows how it is written, and whether it came back as it went out. Must not know what it says.
"""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from dataclasses import dataclass
from hashlib import sha256

from ...messages import JsonObject, JsonValue, canonical_json


@dataclass(frozen=True, slots=True)
class Unsealed:
    """What was written, read again."""

    content: JsonObject
    is_ours: bool
    """Whether nobody has changed it since we wrote it with this key."""


class Seal:
    """Writes and reads such content. It is signed, not secret."""

    def __init__(self, key: bytes) -> None:
        """Take the key that it is signed with. With another one everything can be read, and nothing is ours."""
        self._key = key

    def write(self, content: JsonObject) -> str:
        """Return the text that a client keeps."""
        body = urlsafe_b64encode(canonical_json(content).encode(errors="replace")).decode("ascii")
        return f"{body}.{self._signature(body)}"

    def read(self, text: str) -> Unsealed | None:
        """Return what was written; None for a text that nobody of us has ever written."""
        body, _, signature = text.rpartition(".")
        try:
            content: JsonValue = json.loads(urlsafe_b64decode(body.encode("ascii")))
        except NotBase64, ValueError, RecursionError:
            return None
        if not isinstance(content, dict):
            return None
        return Unsealed(
            content, hmac.compare_digest(signature.encode(errors="replace"), self._signature(body).encode())
        )

    def _signature(self, body: str) -> str:
        return hmac.digest(self._key, body.encode(), sha256).hex()
