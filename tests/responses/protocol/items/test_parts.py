"""Words, pictures and files: read where they are in the request, and refused by name where they are not."""

from base64 import b64encode

import pytest

from custom_components.chatterbox.agent.messages import (
    Attachment,
    JsonObject,
    JsonValue,
)
from custom_components.chatterbox.responses.protocol.items.parts import (
    ASSISTANT_PARTS,
    INSTRUCTION_PARTS,
    SHOWN_PARTS,
    InvalidItem,
    complete_parts,
    output_text,
    read_parts,
)

PNG, JPEG, GIF = b"\x89PNG\r\n\x1a\nrest", b"\xff\xd8\xffrest", b"GIF89arest"
WEBP, PDF = b"RIFF____WEBPVP8 rest", b"%PDF-1.7 rest"


def url(data: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{b64encode(data).decode()}"


def refused(part: JsonValue, kinds: frozenset[str] = SHOWN_PARTS) -> str:
    """Return where a part is wrong."""
    with pytest.raises(InvalidItem) as caught:
        complete_parts([part], kinds, "content")
    assert caught.value.message
    return caught.value.path


def attachment_of(part: JsonObject) -> Attachment:
    """Return what a part shows."""
    text, (attachment,) = read_parts(complete_parts([part], SHOWN_PARTS, "content"))
    assert not text
    return attachment


def test_a_text_is_one_part() -> None:
    """Invariant 41."""
    assert complete_parts("Hi", SHOWN_PARTS, "content") == [
        {"type": "input_text", "text": "Hi"}
    ]
    assert complete_parts("Be brief", INSTRUCTION_PARTS, "content") == [
        {"type": "input_text", "text": "Be brief"}
    ]
    assert complete_parts("Hello", ASSISTANT_PARTS, "content") == [output_text("Hello")]


def test_annotations_are_filled_in() -> None:
    """Invariant 41."""
    sent: list[JsonValue] = [
        {"type": "output_text", "text": "Hi", "annotations": None, "logprobs": []}
    ]

    (part,) = complete_parts(sent, ASSISTANT_PARTS, "content")

    assert part == {
        "type": "output_text",
        "text": "Hi",
        "annotations": [],
        "logprobs": [],
    }


def test_texts_are_paragraphs() -> None:
    parts: list[JsonValue] = [
        {"type": "output_text", "text": "One."},
        {"type": "output_text", "text": ""},
        {"type": "refusal", "refusal": "Not two."},
    ]

    assert read_parts(complete_parts(parts, ASSISTANT_PARTS, "content")) == (
        "One.\n\nNot two.",
        (),
    )
    assert read_parts("no parts") == ("", ())


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [
        (PNG, "image/png"),
        (JPEG, "image/jpeg"),
        (GIF, "image/gif"),
        (WEBP, "image/webp"),
    ],
)
def test_pictures_are_what_their_bytes_say(data: bytes, mime_type: str) -> None:
    said_to_be = url(data, "image/jpg")

    assert attachment_of(
        {"type": "input_image", "image_url": said_to_be, "detail": "high"}
    ) == Attachment(mime_type, data)
    assert attachment_of(
        {"type": "input_file", "file_data": said_to_be, "filename": "a.bin"}
    ) == Attachment(mime_type, data)


@pytest.mark.parametrize(
    "sent", [url(PDF, "application/pdf"), url(PDF, ""), b64encode(PDF).decode()]
)
def test_documents(sent: str) -> None:
    named: JsonObject = {
        "type": "input_file",
        "file_data": sent,
        "filename": "bill.pdf",
    }

    assert attachment_of(named) == Attachment("application/pdf", PDF, "bill.pdf")
    assert attachment_of({"type": "input_file", "file_data": sent}) == Attachment(
        "application/pdf", PDF
    )


def test_files_of_text_are_read_out() -> None:
    data = url("Milk\nÄpfel".encode(), "text/plain;charset=utf-8")
    parts: list[JsonValue] = [
        {"type": "input_text", "text": "Buy this."},
        {"type": "input_file", "file_data": data, "filename": "list.txt"},
        {"type": "input_file", "file_data": data},
    ]

    text, attachments = read_parts(complete_parts(parts, SHOWN_PARTS, "content"))

    assert text == "Buy this.\n\n[list.txt:]\nMilk\nÄpfel\n\n[A file:]\nMilk\nÄpfel"
    assert not attachments


@pytest.mark.parametrize(
    ("part", "path"),
    [
        (5, "content[0]"),
        ({}, "content[0].type"),
        ({"type": "acme:x"}, "content[0].type"),
        ({"type": "input_audio"}, "content[0].type"),
        ({"type": "output_text", "text": "x"}, "content[0].type"),
        ({"type": ["input_text"]}, "content[0].type"),
        ({"type": "input_text"}, "content[0].text"),
        ({"type": "input_image"}, "content[0].image_url"),
        (
            {"type": "input_image", "image_url": "https://example.com/a.png"},
            "content[0].image_url",
        ),
        (
            {"type": "input_image", "image_url": "http://homeassistant.local/a.png"},
            "content[0].image_url",
        ),
        (
            {"type": "input_image", "image_url": "//homeassistant.local/a.png"},
            "content[0].image_url",
        ),
        (
            {"type": "input_image", "image_url": "file:///config/secrets.yaml"},
            "content[0].image_url",
        ),
        (
            {"type": "input_image", "image_url": "/config/secrets.yaml"},
            "content[0].image_url",
        ),
        ({"type": "input_image", "file_id": "file_1"}, "content[0].file_id"),
        (
            {"type": "input_image", "image_url": url(PNG), "detail": "huge"},
            "content[0].detail",
        ),
        (
            {"type": "input_image", "image_url": url(PNG), "detail": ["low"]},
            "content[0].detail",
        ),
        (
            {"type": "input_image", "image_url": "data:image/png,abc"},
            "content[0].image_url",
        ),
        (
            {"type": "input_image", "image_url": "data:image/png;base64"},
            "content[0].image_url",
        ),
        (
            {"type": "input_image", "image_url": "data:image/png;base64,a"},
            "content[0].image_url",
        ),
        (
            {"type": "input_image", "image_url": "data:image/png;base64,ä==="},
            "content[0].image_url",
        ),
        (
            {"type": "input_image", "image_url": "data:image/png;base64,"},
            "content[0].image_url",
        ),
        (
            {"type": "input_image", "image_url": url(b"<svg/>", "image/svg+xml")},
            "content[0].image_url",
        ),
        ({"type": "input_file", "file_id": "file_1"}, "content[0].file_id"),
        (
            {"type": "input_file", "file_url": "https://example.com/a.pdf"},
            "content[0].file_url",
        ),
        (
            {"type": "input_file", "file_url": "file:///config/secrets.yaml"},
            "content[0].file_url",
        ),
        (
            {"type": "input_file", "file_data": "file:///config/secrets.yaml"},
            "content[0].file_data",
        ),
        ({"type": "input_file", "filename": "a.pdf"}, "content[0].file_data"),
        ({"type": "input_file", "file_data": ""}, "content[0].file_data"),
        ({"type": "input_file", "file_data": "?"}, "content[0].file_data"),
        ({"type": "input_file", "file_data": url(b"\x00\xff")}, "content[0].file_data"),
        (
            {"type": "input_file", "file_data": url(PDF), "filename": 5},
            "content[0].filename",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused_by_name(part: JsonValue, path: str) -> None:
    """Invariants 67, 68."""
    assert refused(part) == path


def test_who_instructs_has_words_only() -> None:
    assert (
        refused({"type": "input_image", "image_url": url(PNG)}, INSTRUCTION_PARTS)
        == "content[0].type"
    )
    with pytest.raises(InvalidItem):
        complete_parts({"text": "Hi"}, SHOWN_PARTS, "content")
