"""Messages and turns come back from JSON as they were, and what nobody wrote is told from it."""

import json
import math

import pytest
from hypothesis import given

from custom_components.chatterbox.agent.history.json_fields import StoredJsonInvalid, read_object, stored_json
from custom_components.chatterbox.agent.history.stored_transcripts import message_as_json, message_from_json
from custom_components.chatterbox.agent.history.turn_records import (
    AuditRecord,
    TurnRecord,
    audit_as_json,
    audit_from_json,
    messages_as_json,
    turn_as_json,
    turn_from_json,
)
from custom_components.chatterbox.agent.messages import (
    Attachment,
    JsonObject,
    JsonValue,
    Message,
    ToolResult,
    UserMessage,
)

from .records import AUDIT, MESSAGES, TURNS, turn

PICTURE = Attachment("image/png", b"\x89PNG", "cat.png")


@given(MESSAGES)
def test_a_message_comes_back_as_it_was(message: Message) -> None:
    stored = stored_json(message_as_json(message, keep_attachments=True))
    assert message_from_json(read_object(stored)) == message


@given(TURNS)
def test_a_turn_comes_back_as_it_was(whole: TurnRecord) -> None:
    assert turn_from_json(read_object(stored_json(turn_as_json(whole))), messages_as_json(whole)) == whole


@given(AUDIT)
def test_an_audit_record_comes_back_as_it_was(record: AuditRecord) -> None:
    assert audit_from_json(read_object(stored_json(audit_as_json(record)))) == record


def test_of_a_picture_only_what_it_was_is_kept() -> None:
    shown = UserMessage("Who?", (PICTURE, Attachment("image/jpeg", b"")), "It is noon.")
    stored = message_as_json(shown)
    assert stored["attachments"] == [
        {
            "mime_type": "image/png",
            "name": "cat.png",
            "size": 4,
            "sha256": "0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543",
        },
        {
            "mime_type": "image/jpeg",
            "name": "",
            "size": 0,
            "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        },
    ]
    lines = "It is noon.\nShown then, and not kept: image/png cat.png\nShown then, and not kept: image/jpeg"
    read = message_from_json(stored)
    assert read == UserMessage("Who?", context=lines)
    assert message_from_json(message_as_json(read)) == read


def test_what_a_dispatcher_made_of_a_result_is_not_stored() -> None:
    stored = message_as_json(ToolResult("a", "look", "dark", open_world=True, synthetic=True, native=object()))
    assert stored == {
        "role": "tool",
        "call_id": "a",
        "name": "look",
        "content": "dark",
        "synthetic": True,
        "open_world": True,
    }


def test_half_a_character_is_stored_and_comes_back() -> None:
    half = UserMessage("\ud83d and \0")
    stored = stored_json(message_as_json(half))
    assert b"\0" not in stored.encode()
    assert message_from_json(read_object(stored)) == half


@pytest.mark.parametrize("beside", ["", "\ud83d"], ids=["alone", "beside half a character"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_does_not_know_is_null(number: float, beside: str) -> None:
    stored = read_object(stored_json({"half": [number, 1.5], "beside": beside, "said": "NaN, Infinity"}))
    assert stored == {"half": [None, 1.5], "beside": beside, "said": "NaN, Infinity"}


def test_the_order_of_what_a_provider_wants_back_is_kept() -> None:
    assert stored_json({"b": "ü", "a": 1}) == '{"b":"ü","a":1}'


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"role": "robot"},
        {"role": "user", "text": 1},
        {"role": "user", "attachments": "none"},
        {"role": "user", "attachments": ["none"]},
        {"role": "user", "attachments": [{"data": "%"}]},
        {"role": "assistant", "provider_items": [{"format": "x", "data": 1}]},
        {"role": "tool", "is_error": "no"},
    ],
    ids=json.dumps,
)
def test_a_message_that_nobody_wrote_is_told(broken: JsonObject) -> None:
    with pytest.raises(StoredJsonInvalid):
        message_from_json(broken)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("id", None),
        ("origin", "here"),
        ("origin", {"agent": "a"}),
        ("began_at", True),
        ("duration", "long"),
        ("stop_reason", "bored"),
        ("stop_reason", 1),
        ("iterations", 1.5),
        ("iterations", True),
        ("phases", [{"phase": "SLEEP", "at": 1}]),
        ("phases", [{"phase": "OUTPUT"}]),
    ],
)
def test_a_turn_that_nobody_wrote_is_told(key: str, value: JsonValue) -> None:
    with pytest.raises(StoredJsonInvalid):
        turn_from_json(turn_as_json(turn(1)) | {key: value}, ())


@pytest.mark.parametrize("text", ["", "[]", "{", '"a"'])
def test_what_is_no_object_is_told(text: str) -> None:
    with pytest.raises(StoredJsonInvalid):
        read_object(text)
