"""Attachments are told apart by type, written as data, and named where they cannot be shown."""

from custom_components.chatterbox.agent.messages import Attachment
from custom_components.chatterbox.agent.wire.attachments import attachment_note, base64_data, data_url

PICTURE = Attachment("image/png", b"\x89PNG\xff", "door.png")


def test_data() -> None:
    assert base64_data(PICTURE) == "iVBOR/8="
    assert data_url(PICTURE) == "data:image/png;base64,iVBOR/8="


def test_what_cannot_be_shown_is_named() -> None:
    named, nameless = (attachment_note(Attachment("audio/wav", b"", name)) for name in ("half \ud83d.wav", ""))

    assert named.startswith("[A file of type audio/wav named half \ufffd.wav was attached here.")
    assert nameless.startswith("[A file of type audio/wav was attached here.")
