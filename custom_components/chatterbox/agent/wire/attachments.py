"""Pictures and documents inside a request: as data where a format carries them, as a note where it does not.

Knows MIME types and data URLs; no wire format.
"""

from base64 import b64encode
from typing import Final

from ..messages import Attachment
from .sendable import sendable_text

IMAGE_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""The pictures that every service with eyes can read."""

PDF: Final = "application/pdf"


def base64_data(attachment: Attachment) -> str:
    """Return the content in base64 (RFC 4648, 4)."""
    return b64encode(attachment.data).decode("ascii")


def data_url(attachment: Attachment) -> str:
    """Return the content as an address that holds it (RFC 2397)."""
    return f"data:{attachment.mime_type};base64,{base64_data(attachment)}"


def attachment_note(attachment: Attachment) -> str:
    """Return what the model reads in place of something that it cannot be shown."""
    named = f" named {sendable_text(attachment.name)}" if attachment.name else ""
    return f"[A file of type {attachment.mime_type}{named} was attached here. You cannot see it: say so if it matters.]"
