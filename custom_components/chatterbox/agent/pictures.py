"""A picture that a model has made: its bytes, and what they themselves say of it.

Knows how the files of the usual formats begin; must not know who makes pictures, or who wants them.
"""

from dataclasses import dataclass, field
from typing import Final, Literal

from .messages import Usage

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8\xff"
_RIFF: Final = b"RIFF"
_WEBP: Final = b"WEBP"
_MARKER: Final = 0xFF
"""Begins each marker of a JPEG file."""
_FRAMES: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Markers of a JPEG file that say how large the picture is."""
_14_BITS: Final = 0x3FFF
_STANDALONE: Final = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers that nothing follows."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a model."""

    data: bytes = field(repr=False)
    mime_type: str
    width: int | None = None
    """Pixels; None where the file does not say it where we look."""
    height: int | None = None
    revised_prompt: str | None = None
    """What the model has made of the words that it was given."""
    usage: Usage = field(default_factory=Usage)


def read_picture(data: bytes) -> tuple[str, int | None, int | None] | None:
    """Return the MIME type, the width and the height of a PNG, JPEG or WebP file; None for anything else."""
    if data.startswith(_PNG):
        return ("image/png", *_size(data, 16, 4, "big"))
    if data.startswith(_JPEG):
        return ("image/jpeg", *_jpeg_size(data))
    if data.startswith(_RIFF) and data[8:12] == _WEBP:
        return ("image/webp", *_webp_size(data))
    return None


def _size(data: bytes, at: int, length: int, order: Literal["big", "little"]) -> tuple[int | None, int | None]:
    """Return two numbers that stand one after the other; none where the file is cut."""
    if len(data) < at + 2 * length:
        return None, None
    first, second = data[at : at + length], data[at + length : at + 2 * length]
    return int.from_bytes(first, order), int.from_bytes(second, order)


def _jpeg_size(data: bytes) -> tuple[int | None, int | None]:
    """Walk from one marker to the next, to the one that begins the picture."""
    at = 2
    while at + 4 <= len(data) and data[at] == _MARKER:
        marker = data[at + 1]
        if marker in _FRAMES:
            height, width = _size(data, at + 5, 2, "big")
            return width, height
        at += 2 if marker in _STANDALONE else 2 + int.from_bytes(data[at + 2 : at + 4])
    return None, None


def _webp_size(data: bytes) -> tuple[int | None, int | None]:
    """Read the size of the three kinds of WebP file."""
    match data[12:16]:
        case b"VP8X" if header := data[24:30]:
            return int.from_bytes(header[:3], "little") + 1, int.from_bytes(header[3:], "little") + 1
        case b"VP8L" if header := data[21:25]:
            bits = int.from_bytes(header, "little")
            return (bits & _14_BITS) + 1, (bits >> 14 & _14_BITS) + 1
        case b"VP8 " if header := data[26:30]:
            return int.from_bytes(header[:2], "little") & _14_BITS, int.from_bytes(header[2:], "little") & _14_BITS
        case _:
            return None, None
