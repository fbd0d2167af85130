"""The parts of a message or a result in the Responses format, both directions: words, pictures and files.

Knows the JSON of parts, and which files a model can be shown; no items. Nothing is ever fetched: a picture or a file
has to be in the request itself.
Sources: OpenResponses specification, schema of 2026-04-24; OpenAI API reference, "Images and vision", "File inputs".
"""

from base64 import b64decode
from collections.abc import Sequence
from typing import Final

from ...messages import Attachment, JsonObject, JsonValue, read_picture
from ...wire.attachments import IMAGE_TYPES, PDF, attachment_note, data_url
from .shapes import input_text, output_text

MAX_TEXT: Final = 10_485_760
"""Characters of one text, as the specification has it."""

SHOWN_PARTS: Final = frozenset({"input_text", "input_image", "input_file"})
INSTRUCTION_PARTS: Final = frozenset({"input_text"})
ASSISTANT_PARTS: Final = frozenset({"output_text", "refusal"})

_DETAILS: Final = (None, "auto", "low", "high", "original")
_GIF: Final = b"GIF8"
_PARAGRAPH: Final = "\n\n"


class UnusableItem(Exception):
    """An item that no conversation can have in it. The text says why, to the people who wrote the client."""

    def __init__(self, message: str, path: str) -> None:
        """Carry where it is wrong, from the item on: `content[0].image_url`, or nothing for all of it."""
        super().__init__(message)
        self.message = message
        self.path = path


def complete_parts(content: JsonValue, kinds: frozenset[str], path: str) -> list[JsonValue]:
    """Return a text, or a list of parts, as a list of complete parts of these kinds.

    Raises `UnusableItem`, also for a picture or a file that nobody could show.
    """
    if isinstance(content, str):
        content = [output_text(content) if kinds is ASSISTANT_PARTS else input_text(content)]
    if not isinstance(content, list):
        raise UnusableItem("It has to be a text or a list of parts.", path)
    return [_complete_part(part, kinds, f"{path}[{index}]") for index, part in enumerate(content)]


def read_parts(content: JsonValue) -> tuple[str, tuple[Attachment, ...]]:
    """Return the words of complete parts, paragraph by paragraph, and what else they show."""
    parts = content if isinstance(content, list) else []
    read = [_read_part(part, "") for part in parts if isinstance(part, dict)]
    words = _PARAGRAPH.join(part for part in read if isinstance(part, str) and part)
    return words, tuple(part for part in read if isinstance(part, Attachment))


def shown_parts(text: str, attachments: Sequence[Attachment]) -> list[JsonValue]:
    """Return words and what is shown with them as parts of a user's message."""
    parts: list[JsonValue] = [input_text(text)] if text or not attachments else []
    for attachment in attachments:
        if attachment.mime_type in IMAGE_TYPES:
            parts.append({"type": "input_image", "image_url": data_url(attachment), "detail": "auto"})
        elif attachment.mime_type == PDF:
            named: JsonObject = {"filename": attachment.name} if attachment.name else {}
            parts.append({"type": "input_file", **named, "file_data": data_url(attachment)})
        else:
            parts.append(input_text(attachment_note(attachment)))
    return parts


def _complete_part(part: JsonValue, kinds: frozenset[str], where: str) -> JsonObject:
    if not isinstance(part, dict):
        raise UnusableItem("A part has to be an object.", where)
    kind = part.get("type")
    if not isinstance(kind, str) or kind not in kinds:
        raise UnusableItem(f"Such a part has no place here; there may be: {_listed(kinds)}.", f"{where}.type")
    if kind == "output_text":
        part = {"annotations": [], **{name: value for name, value in part.items() if value is not None}}
    _read_part(part, where)
    return part


def _read_part(part: JsonObject, where: str) -> str | Attachment:
    match part.get("type"):
        case "refusal":
            return _text(part, "refusal", where)
        case "input_image":
            return _image(part, where)
        case "input_file":
            return _file(part, where)
        case _:
            return _text(part, "text", where)


def _text(part: JsonObject, field: str, where: str) -> str:
    text = part.get(field)
    if not isinstance(text, str):
        raise UnusableItem("It has to be a text.", f"{where}.{field}")
    if len(text) > MAX_TEXT:
        raise UnusableItem(f"It is longer than {MAX_TEXT} characters.", f"{where}.{field}")
    return text


def _image(part: JsonObject, where: str) -> Attachment:
    url, place = part.get("image_url"), f"{where}.image_url"
    if part.get("file_id") is not None:
        raise UnusableItem("No files are kept here. Send the picture as a data URL, in image_url.", f"{where}.file_id")
    if part.get("detail") not in _DETAILS:
        raise UnusableItem("It has to be auto, low or high.", f"{where}.detail")
    if not isinstance(url, str) or not url.startswith("data:"):
        raise UnusableItem("Nothing is fetched from elsewhere. Send the picture as a data URL.", place)
    data = _decoded(url, place)
    if (mime_type := _picture_type(data)) is None:
        raise UnusableItem(f"It is none of the pictures that can be shown: {_listed(IMAGE_TYPES)}.", place)
    return Attachment(mime_type, data)


def _file(part: JsonObject, where: str) -> str | Attachment:
    place = f"{where}.file_data"
    for elsewhere in ("file_id", "file_url"):
        if part.get(elsewhere) is not None:
            raise UnusableItem("Nothing is fetched. Send the file itself, in file_data.", f"{where}.{elsewhere}")
    name, sent = part.get("filename"), part.get("file_data")
    if name is not None and not isinstance(name, str):
        raise UnusableItem("It has to be a text.", f"{where}.filename")
    if not isinstance(sent, str) or not sent:
        raise UnusableItem("It has to be the content of the file in base64, or a data URL.", place)
    data = _decoded(sent if sent.startswith("data:") else f"data:;base64,{sent}", place)
    if data.startswith(b"%PDF-"):
        return Attachment(PDF, data, name or "")
    if (mime_type := _picture_type(data)) is not None:
        return Attachment(mime_type, data)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise UnusableItem("Files may be PDF documents, pictures, and texts in UTF-8.", place) from None
    return f"[{name or 'A file'}:]\n{text}"


def _picture_type(data: bytes) -> str | None:
    """Return the MIME type that a picture really has, whatever it was said to be; None for what is no picture."""
    if data.startswith(_GIF):
        return "image/gif"
    picture = read_picture(data)
    return None if picture is None else picture[0]


def _decoded(url: str, place: str) -> bytes:
    """Return the content of a data URL (RFC 2397) in base64."""
    head, comma, encoded = url.partition(",")
    if not comma or head.split(";")[-1].strip() != "base64":
        raise UnusableItem("It has to be a data URL in base64, as in data:image/png;base64,iVBORw0KGgo…", place)
    try:
        data = b64decode("".join(encoded.split()), validate=True)
    except ValueError:  # binascii's own is one
        raise UnusableItem("It is not valid base64.", place) from None
    if not data:
        raise UnusableItem("There is nothing in it.", place)
    return data


def _listed(words: frozenset[str]) -> str:
    return ", ".join(sorted(words))
