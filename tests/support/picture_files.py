"""Pictures of one colour, as files of the usual formats: real ones, written by hand."""

import zlib
from struct import pack


def png(width: int, height: int, text: bytes = b"") -> bytes:
    """Return a PNG file with a compressed text inside."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return pack(">I", len(body)) + kind + body + pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + b"\x40\x80\xc0" * width for _ in range(height))
    header = pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (
        chunk(b"IHDR", header),
        chunk(b"zTXt", b"Comment\0\0" + zlib.compress(text)),
    )
    return (
        b"\x89PNG\r\n\x1a\n"
        + b"".join(chunks)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def jpeg(width: int, height: int) -> bytes:
    """Return the beginning of a JPEG file, up to the picture itself."""
    application = b"\xff\xe0" + pack(">H", 16) + b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
    frame = b"\xff\xc0" + pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\0"
    return b"\xff\xd8" + application + b"\xff\x01" + frame + b"\xff\xda\0\x08"


def webp(kind: bytes, width: int, height: int) -> bytes:
    """Return the beginning of a WebP file of one of its three kinds."""
    match kind:
        case b"VP8X":
            body = (
                b"\0\0\0\0"
                + (width - 1).to_bytes(3, "little")
                + (height - 1).to_bytes(3, "little")
            )
        case b"VP8L":
            body = b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little")
        case _:
            body = b"\0\0\0\x9d\x01\x2a" + pack("<HH", width, height)
    return (
        b"RIFF"
        + pack("<I", len(body) + 12)
        + b"WEBP"
        + kind
        + pack("<I", len(body))
        + body
    )
