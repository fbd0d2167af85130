"""Parts of a transcript are sent in forms that services accept."""

import json
import re

from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import (
    Attachment,
)
from custom_components.chatterbox.agent.wire.sendable import (
    attachment_note,
    payload_to_bytes,
    sendable_arguments,
    sendable_call_id,
    sendable_name,
)

MISTRAL = "[A-Za-z0-9]{9}"


@given(st.text())
def test_names(name: str) -> None:
    assert re.fullmatch("[A-Za-z0-9_-]{1,64}", sendable_name(name))
    assert sendable_name(sendable_name(name)) == sendable_name(name)


@given(st.text())
def test_arguments_are_an_object(text: str) -> None:
    assert isinstance(json.loads(sendable_arguments(text)), dict)


def test_arguments_that_are_an_object_stay_as_they_are() -> None:
    assert sendable_arguments(' {"a": 1.0} ') == ' {"a": 1.0} '


@given(st.text(st.characters(exclude_categories=())), st.sampled_from([MISTRAL, ".{1,40}", "[A-Za-z0-9_-]+"]))
def test_ids_of_calls(call_id: str, pattern: str) -> None:
    sent = sendable_call_id(call_id, pattern)

    assert re.fullmatch(pattern, sent)
    assert sendable_call_id(call_id, pattern) == sent
    assert sent == call_id or not re.fullmatch(pattern, call_id)


def test_different_ids_stay_apart() -> None:
    ids = [f"functions.turn_on:{number}" for number in range(200)]

    assert len({sendable_call_id(call_id, MISTRAL) for call_id in ids}) == 200


def test_a_payload_is_written_compactly_and_in_order() -> None:
    assert payload_to_bytes({"b": "ü", "a": [1, None]}) == '{"b":"ü","a":[1,null]}'.encode()
    assert payload_to_bytes({"text": "half \ud83d"}) == b'{"text":"half ?"}'
    assert payload_to_bytes({"many": 2**70}) == b'{"many":1180591620717411303424}'


def test_what_cannot_be_shown_is_named() -> None:
    named, nameless = (attachment_note(Attachment("audio/wav", b"", name)) for name in ("half \ud83d.wav", ""))

    assert named.startswith("[A file of type audio/wav named half \ufffd.wav was attached here.")
    assert nameless.startswith("[A file of type audio/wav was attached here.")
