"""Content parts of the Responses format: texts, images and files.

Nothing is ever fetched: an image or a file has to be in the request itself. Sources:
OpenResponses specification, schema of 2026-04-24; OpenAI API reference, "Images and
vision", "File inputs".
"""

from base64 import b64decode
from dataclasses import dataclass
from typing import Final

from ....agent.json.text import objects_in
from ....agent.messages import (
    IMAGE_TYPES,
    PDF,
    Attachment,
    JsonObject,
    JsonValue,
    paragraphs,
    picture_type,
)

SHOWN_PARTS: Final = frozenset({"input_text", "input_image", "input_file"})
INSTRUCTION_PARTS: Final = frozenset({"input_text"})
ASSISTANT_PARTS: Final = frozenset({"output_text", "refusal"})

_DETAILS: Final = (
    None,
    "auto",
    "low",
    "high",
    "original",
)


@dataclass(eq=False)
class InvalidItem(Exception):
    """An item that cannot be used; the message is for the developer of the client."""

    message: str
    path: str
    """Where it is wrong, as in `content[0].image_url`; empty for all of it."""


def input_text(text: str) -> JsonObject:
    """Return the text part of a user, system or developer message."""
    return {
        "type": "input_text",
        "text": text,
    }


def output_text(text: str) -> JsonObject:
    """Return the text part of an assistant message."""
    return {
        "type": "output_text",
        "text": text,
        "annotations": [],
        "logprobs": [],
    }


def refusal(text: str) -> JsonObject:
    """Return the refusal part of an assistant message."""
    return {
        "type": "refusal",
        "refusal": text,
    }


def summary_text(text: str) -> JsonObject:
    """Return the part of a reasoning summary."""
    return {
        "type": "summary_text",
        "text": text,
    }


def complete_parts(
    content: JsonValue, kinds: frozenset[str], path: str
) -> list[JsonValue]:
    """Return a text or a list of parts as complete parts of these kinds. Raises `InvalidItem`."""
    if isinstance(content, str):
        content = [
            output_text(content) if kinds is ASSISTANT_PARTS else input_text(content)
        ]
    if not isinstance(content, list):
        raise InvalidItem("Expected a string or a list of parts.", path)
    return [
        _complete_part(
            part,
            kinds,
            f"{path}[{index}]",
        )
        for index, part in enumerate(content)
    ]


def read_parts(content: JsonValue) -> tuple[str, tuple[Attachment, ...]]:
    """Return the text of complete parts, and their images and files."""
    parsed = [_read_part(part, "") for part in objects_in(content)]
    words = paragraphs(*(part for part in parsed if isinstance(part, str)))
    return words, tuple(part for part in parsed if isinstance(part, Attachment))


def _complete_part(
    part: JsonValue,
    kinds: frozenset[str],
    where: str,
) -> JsonObject:
    if not isinstance(part, dict):
        raise InvalidItem("A part has to be an object.", where)
    kind = part.get("type")
    if not isinstance(kind, str) or kind not in kinds:
        raise InvalidItem(
            f"Parts of this type are not allowed here; allowed are: {_listed(kinds)}.",
            f"{where}.type",
        )
    if kind == "output_text":
        part = {
            "annotations": [],
            **{name: value for name, value in part.items() if value is not None},
        }
    _read_part(part, where)
    return part


def _read_part(
    part: JsonObject,
    where: str,
) -> str | Attachment:
    match part.get("type"):
        case "refusal":
            return _text(
                part,
                "refusal",
                where,
            )
        case "input_image":
            return _image(part, where)
        case "input_file":
            return _file(part, where)
        case _:
            return _text(
                part,
                "text",
                where,
            )


def _text(
    part: JsonObject,
    field: str,
    where: str,
) -> str:
    text = part.get(field)
    if not isinstance(text, str):
        raise InvalidItem(
            "Expected a string.",
            f"{where}.{field}",
        )
    return text


def _image(part: JsonObject, where: str) -> Attachment:
    url = part.get("image_url")
    place = f"{where}.image_url"
    if part.get("file_id") is not None:
        raise InvalidItem(
            "File ids are not supported. Send the image as a data URL, in image_url.",
            f"{where}.file_id",
        )
    if part.get("detail") not in _DETAILS:
        raise InvalidItem("Expected auto, low or high.", f"{where}.detail")
    if not isinstance(url, str) or not url.startswith("data:"):
        raise InvalidItem("URLs are not fetched. Send the image as a data URL.", place)
    data = _decoded(url, place)
    mime_type = picture_type(data)
    if mime_type is None:
        raise InvalidItem(
            f"Not an image of a supported type: {_listed(IMAGE_TYPES)}.", place
        )
    return Attachment(mime_type, data)


def _file(
    part: JsonObject,
    where: str,
) -> str | Attachment:
    place = f"{where}.file_data"
    for elsewhere in ("file_id", "file_url"):
        if part.get(elsewhere) is not None:
            raise InvalidItem(
                "Files are not fetched. Send the file itself, in file_data.",
                f"{where}.{elsewhere}",
            )
    name = part.get("filename")
    sent = part.get("file_data")
    if name is not None and not isinstance(name, str):
        raise InvalidItem("Expected a string.", f"{where}.filename")
    if not isinstance(sent, str) or not sent:
        raise InvalidItem(
            "Expected the content of the file in base64, or a data URL.", place
        )
    data = _decoded(
        sent if sent.startswith("data:") else f"data:;base64,{sent}",
        place,
    )
    if data.startswith(b"%PDF-"):
        return Attachment(
            PDF,
            data,
            name or "",
        )
    mime_type = picture_type(data)
    if mime_type is not None:
        return Attachment(mime_type, data)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InvalidItem(
            "Files may be PDF documents, images, and texts in UTF-8.", place
        ) from None
    return f"[{name or 'A file'}:]\n{text}"


def _decoded(url: str, place: str) -> bytes:
    """Return the bytes of a base64 data URL (RFC 2397)."""
    head, comma, encoded = url.partition(",")
    if not comma or head.split(";")[-1].strip() != "base64":
        raise InvalidItem(
            "Expected a base64 data URL, as in data:image/png;base64,iVBORw0KGgo…",
            place,
        )
    try:
        data = b64decode(
            "".join(encoded.split()),
            validate=True,
        )
    except ValueError:  # binascii's own is one
        raise InvalidItem("Not valid base64.", place) from None
    if not data:
        raise InvalidItem("The data is empty.", place)
    return data


def _listed(words: frozenset[str]) -> str:
    return ", ".join(sorted(words))
