"""Attachments are told apart by type, written as data, and named where they cannot be shown."""

import pytest

from custom_components.chatterbox.agent.messages import Attachment
from custom_components.chatterbox.agent.wire.attachments import attachment_note, base64_data, data_url, is_image, is_pdf

PICTURE = Attachment("image/png", b"\x89PNG\xff", "door.png")


@pytest.mark.parametrize(
    ("mime_type", "image", "pdf"),
    [("image/jpeg", True, False), ("application/pdf", False, True), ("text/plain", False, False), ("", False, False)],
)
def test_kinds(mime_type: str, *, image: bool, pdf: bool) -> None:
    attachment = Attachment(mime_type, b"")

    assert (is_image(attachment), is_pdf(attachment)) == (image, pdf)


def test_data() -> None:
    assert base64_data(PICTURE) == "iVBOR/8="
    assert data_url(PICTURE) == "data:image/png;base64,iVBOR/8="


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("a b.wav", '[An attachment "a b.wav" of type audio/wav cannot be shown to you.]'),
        ("", "[An attachment of type audio/wav cannot be shown to you.]"),
        (" a\n\nb ", '[An attachment "a b" of type audio/wav cannot be shown to you.]'),
        ("x" * 101, f'[An attachment "{"x" * 100}" of type audio/wav cannot be shown to you.]'),
    ],
)
def test_what_cannot_be_shown_is_named(name: str, note: str) -> None:
    assert attachment_note(Attachment("audio/wav", b"", name)) == note
