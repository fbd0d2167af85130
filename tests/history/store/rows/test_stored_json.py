"""Records come back from JSON unchanged, and JSON that was changed by others is rejected."""

import base64
import json
import math
from dataclasses import replace

import pytest
from hypothesis import example, given

from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    JsonObject,
    JsonValue,
    ToolCall,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.history.store.records import (
    AuditRecord,
    ResponseRecord,
    StoredJsonInvalid,
    StoredTurn,
    audit_as_json,
    read_object,
    response_as_json,
    response_from_json,
    stored_json,
    turn_as_json,
    turn_from_json,
)
from tests.history.store.records import AUDIT, RESPONSES, TURNS, response, turn

CAT = Attachment("image/png", b"\x89PNG", "cat.png")
PICTURE = Attachment("image/png", bytes(range(256)) * 16, "door.png")
SOUND = Attachment("audio/wav", bytes(range(255, -1, -1)) * 16)


def in_base64(attachment: Attachment) -> str:
    """Return bytes as a client writes them."""
    return base64.b64encode(attachment.data).decode()


def read_again(record: StoredTurn) -> StoredTurn:
    return turn_from_json(read_object(stored_json(turn_as_json(record))))


@given(TURNS)
def test_a_turn_comes_back_unchanged(whole: StoredTurn) -> None:
    assert read_again(whole) == whole


@given(AUDIT)
def test_an_audit_record_is_written_with_its_fields(record: AuditRecord) -> None:
    written = read_object(stored_json(audit_as_json(record)))
    assert (written["id"], written["at"], written["body"]) == (
        record.id,
        record.at,
        record.body,
    )
    assert written.get("turn_id") == record.turn_id


def test_of_the_attachments_of_a_turn_only_the_description_is_kept() -> None:
    response_with = turn(
        1,
        messages=(
            UserMessage("Who?", (CAT, Attachment("image/jpeg", b"")), "It is noon."),
        ),
    )
    attachments: list[JsonValue] = [
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
    assert turn_as_json(response_with)["messages"] == [
        {
            "role": "user",
            "text": "Who?",
            "context": "It is noon.",
            "attachments": attachments,
        }
    ]
    lines = "It is noon.\nShown then, and not kept: image/png cat.png\nShown then, and not kept: image/jpeg"
    parsed = read_again(response_with)
    assert parsed.messages == (UserMessage("Who?", context=lines),)
    assert read_again(parsed) == parsed


def test_a_native_result_is_not_stored_and_its_marks_are() -> None:
    result = ToolResult(
        "a", "look", "dark", open_world=True, synthetic=True, native=object()
    )
    assert turn_as_json(turn(1, messages=(result,)))["messages"] == [
        {
            "role": "tool",
            "call_id": "a",
            "name": "look",
            "content": "dark",
            "synthetic": True,
            "open_world": True,
        }
    ]
    assert read_again(turn(1, messages=(result,))).messages == (result,)


def test_a_lone_surrogate_and_a_nul_come_back() -> None:
    odd = turn(
        1,
        messages=(
            UserMessage("\ud83d and \0"),
            AssistantMessage(tool_calls=(ToolCall("\ud800", "", "{}"),)),
        ),
    )
    assert b"\0" not in stored_json(turn_as_json(odd)).encode()
    assert read_again(odd) == odd


@pytest.mark.parametrize(
    "beside", ["", "\ud83d"], ids=["alone", "beside a lone surrogate"]
)
@pytest.mark.parametrize("number_text", ["", "NaN, Infinity"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_does_not_know_is_null(
    number: float, number_text: str, beside: str
) -> None:
    stored = read_object(
        stored_json({"half": [number, 1.5], "beside": beside, "said": number_text})
    )
    assert stored == {"half": [None, 1.5], "beside": beside, "said": number_text}


def test_keys_keep_their_order() -> None:
    assert stored_json({"b": "ü", "a": 1}) == '{"b":"ü","a":1}'


def response_with(
    *contents: JsonValue, attachments: tuple[Attachment, ...] = (PICTURE,)
) -> ResponseRecord:
    """Return a response to a message that shows something."""
    item: JsonObject = {"type": "message", "role": "user", "content": [*contents]}
    return replace(
        response(1),
        input=({"type": "message", "role": "user", "content": "Look!"}, item),
        messages=(UserMessage("Look!", attachments), AssistantMessage("A door.")),
    )


def picture_part(url: str) -> JsonObject:
    return {"type": "input_image", "detail": "auto", "image_url": url}


@pytest.mark.parametrize(
    "record",
    [
        response_with(picture_part(f"data:image/png;base64,{in_base64(PICTURE)}")),
        response_with(
            {
                "type": "input_file",
                "filename": "door.png",
                "file_data": in_base64(PICTURE),
            }
        ),
        response_with(
            picture_part(f"data:audio/wav;base64,{in_base64(SOUND)}"),
            {"type": "input_text", "text": "x" * 5_000},
            picture_part(f"data:image/png;base64,{in_base64(PICTURE)}"),
            attachments=(PICTURE, SOUND, PICTURE),
        ),
    ],
    ids=["a picture", "a file", "several"],
)
def test_bytes_of_the_input_are_written_once(record: ResponseRecord) -> None:
    text = stored_json(response_as_json(record))
    assert text.count(in_base64(PICTURE)) == 1
    assert response_from_json(read_object(text)) == record


@given(RESPONSES)
@example(response_with(picture_part("https://example.org/door.png"))).via("fetched")
@example(
    response_with(picture_part(f"data:image/png;base64,{in_base64(PICTURE)}\n"))
).via("written otherwise")
@example(
    response_with({"type": "input_text", "text": "data:;base64," + "x" * 2_000})
).via("something else")
@example(
    response_with(
        {
            "type": "input_text",
            "text": "x" * 2_000 + f"data:;base64,{in_base64(PICTURE)}",
        }
    )
).via("in a text")
@example(response_with(attachments=(Attachment("image/png", b"tiny"),))).via("tiny")
def test_a_response_comes_back_unchanged(record: ResponseRecord) -> None:
    assert (
        response_from_json(read_object(stored_json(response_as_json(record)))) == record
    )


@pytest.mark.parametrize("place", [1, -1, "here"])
def test_bytes_that_were_removed_from_the_input_are_reported(place: JsonValue) -> None:
    data = response_as_json(
        response_with(picture_part(f"data:image/png;base64,{in_base64(PICTURE)}"))
    )
    wrong = json.loads(
        stored_json(data).replace('"in_input":0', f'"in_input":{json.dumps(place)}')
    )
    assert wrong != data
    with pytest.raises(StoredJsonInvalid):
        response_from_json(wrong)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("id", None),
        ("origin", "here"),
        ("origin", {"agent": "a"}),
        ("duration", "long"),
        ("stop_reason", "bored"),
        ("phases", [{"phase": "OUTPUT"}]),
        ("messages", None),
        ("messages", [{}]),
        ("messages", [{"role": 1}]),
        ("messages", [{"role": "robot"}]),
        ("messages", [{"role": "user", "text": 1}]),
        ("messages", [{"role": "user", "text": "", "attachments": "none"}]),
        ("messages", [{"role": "user", "text": "", "attachments": [{"data": "%"}]}]),
        ("messages", [{"role": "tool", "is_error": "no"}]),
    ],
)
def test_a_turn_that_was_changed_is_invalid_and_not_quoted(
    key: str, value: JsonValue
) -> None:
    with pytest.raises(StoredJsonInvalid) as raised:
        turn_from_json(turn_as_json(turn(1)) | {key: value})
    assert not {"bored", "robot", "long"} & set(
        str(raised.value).replace(":", " ").split()
    )


@pytest.mark.parametrize("text", ["", "[]", "{", '"a"'])
def test_a_text_that_is_no_object_is_invalid(text: str) -> None:
    with pytest.raises(StoredJsonInvalid):
        read_object(text)
