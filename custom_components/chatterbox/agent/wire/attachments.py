"""Pictures and documents in a request: what kind they are, and how they are written in JSON.

Knows MIME types, base64 and data URLs (RFC 2397); no wire format, and not what a model takes.
"""

from base64 import b64encode
from typing import Final

from ..messages import Attachment

_PDF: Final = "application/pdf"
_NAME_LENGTH: Final = 100


def is_image(attachment: Attachment) -> bool:
    """Tell whether it is a picture."""
    return attachment.mime_type.startswith("image/")


def is_pdf(attachment: Attachment) -> bool:
    """Tell whether it is a PDF document."""
    return attachment.mime_type == _PDF


def base64_data(attachment: Attachment) -> str:
    """Return the bytes in base64."""
    return b64encode(attachment.data).decode()


def data_url(attachment: Attachment) -> str:
    """Return the whole attachment as a data URL."""
    return f"data:{attachment.mime_type};base64,{base64_data(attachment)}"


def attachment_note(attachment: Attachment) -> str:
    """Return what a model is told in place of an attachment that it cannot be shown."""
    name = " ".join(attachment.name[:_NAME_LENGTH].split())
    called = f' "{name}"' if name else ""
    return f"[An attachment{called} of type {attachment.mime_type} cannot be shown to you.]"
