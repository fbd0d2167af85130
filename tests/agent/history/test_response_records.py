"""Responses come back from JSON as they were, bytes that a client sent included, which are written once."""

import base64
import json
from dataclasses import replace

import pytest
from hypothesis import given

from custom_components.chatterbox.agent.history.json_fields import StoredJsonInvalid, read_object, stored_json
from custom_components.chatterbox.agent.history.records import weight_of
from custom_components.chatterbox.agent.history.response_records import (
    ResponseRecord,
    response_as_json,
    response_from_json,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    JsonObject,
    JsonValue,
    ToolCall,
    ToolResult,
    UserMessage,
)

from .records import RESPONSES, audit, response, turn

PICTURE = Attachment("image/png", bytes(range(256)) * 16, "door.png")
SOUND = Attachment("audio/wav", bytes(range(255, -1, -1)) * 16)


def written(attachment: Attachment) -> str:
    """Return bytes as a client writes them."""
    return base64.b64encode(attachment.data).decode()


def shown(*contents: JsonValue, attachments: tuple[Attachment, ...] = (PICTURE,)) -> ResponseRecord:
    """Return a response to a message that shows something."""
    item: JsonObject = {"type": "message", "role": "user", "content": [*contents]}
    return replace(
        response(1),
        input=({"type": "message", "role": "user", "content": "Look!"}, item),
        messages=(UserMessage("Look!", attachments), AssistantMessage("A door.")),
    )


def picture_part(url: str) -> JsonObject:
    return {"type": "input_image", "detail": "auto", "image_url": url}


@given(record=RESPONSES)
def test_any_response_comes_back_as_it_was(record: ResponseRecord) -> None:
    assert response_from_json(read_object(stored_json(response_as_json(record)))) == record


def test_marks_of_outside_content_and_items_of_a_provider_come_back() -> None:
    asked = AssistantMessage(tool_calls=(ToolCall("a", "read", "{}"),))
    said = (UserMessage("Read!"), asked, ToolResult("a", "read", "news", open_world=True))
    record = replace(response(1), messages=said)
    assert response_from_json(read_object(stored_json(response_as_json(record)))).messages == said


@pytest.mark.parametrize(
    "record",
    [
        shown(picture_part(f"data:image/png;base64,{written(PICTURE)}")),
        shown({"type": "input_file", "filename": "door.png", "file_data": written(PICTURE)}),
        shown(
            picture_part(f"data:audio/wav;base64,{written(SOUND)}"),
            {"type": "input_text", "text": "x" * 5_000},
            picture_part(f"data:image/png;base64,{written(PICTURE)}"),
            attachments=(PICTURE, SOUND, PICTURE),
        ),
    ],
    ids=["a picture", "a file", "several"],
)
def test_bytes_that_a_client_sent_are_written_once(record: ResponseRecord) -> None:
    text = stored_json(response_as_json(record))
    assert text.count(written(PICTURE)) == 1
    assert response_from_json(read_object(text)) == record


@pytest.mark.parametrize(
    "record",
    [
        shown(picture_part("https://example.org/door.png")),
        shown(picture_part(f"data:image/png;base64,{written(PICTURE)}\n")),
        shown({"type": "input_text", "text": "data:;base64," + "x" * 2_000}),
        shown({"type": "input_text", "text": "x" * 2_000 + f"data:;base64,{written(PICTURE)}"}),
        shown(attachments=(Attachment("image/png", b"tiny"),)),
    ],
    ids=["fetched", "written otherwise", "something else", "in a text", "tiny"],
)
def test_bytes_that_the_input_does_not_have_like_that_are_kept_all_the_same(record: ResponseRecord) -> None:
    assert response_from_json(read_object(stored_json(response_as_json(record)))) == record


@pytest.mark.parametrize("place", [1, -1, "0", True, None])
def test_bytes_that_somebody_took_out_of_the_input_are_told(place: JsonValue) -> None:
    data = response_as_json(shown(picture_part(f"data:image/png;base64,{written(PICTURE)}")))
    wrong = json.loads(stored_json(data).replace('"in_input":0', f'"in_input":{json.dumps(place)}'))
    assert wrong != data
    with pytest.raises(StoredJsonInvalid):
        response_from_json(wrong)


@pytest.mark.parametrize("key", ["id", "agent", "model", "user_id", "conversation_id", "created_at"])
def test_what_nobody_wrote_is_told(key: str) -> None:
    data = response_as_json(response(1))
    del data[key]
    with pytest.raises(StoredJsonInvalid, match=key):
        response_from_json(data)


def test_a_record_weighs_what_it_holds() -> None:
    empty = turn(1, messages=())
    call = ToolCall("a", "b", "x" * 5)
    small = Attachment("image/png", b"1234")
    said = (UserMessage("x" * 10, (small,), "x"), AssistantMessage("xx", "xxx", (call,)), ToolResult("a", "b", "xx"))
    assert weight_of(replace(empty, messages=said)) - weight_of(empty) == 10 + 4 + 1 + 2 + 3 + 5 + 2
    assert weight_of(audit(1)) == weight_of(empty)


def test_a_response_weighs_what_the_client_sent_and_was_sent_and_what_the_model_reads() -> None:
    plain = shown("")
    heavier = shown("x" * 1_000, attachments=(PICTURE, PICTURE))
    assert weight_of(heavier) - weight_of(plain) == 1_000 + len(PICTURE.data)
    answered = replace(plain, response=plain.response | {"status": "x" * (len("completed") + 700)})
    assert weight_of(answered) - weight_of(plain) == 700
    small: JsonObject = {"a": 1}
    many = shown("", *[small] * 1_000)
    assert weight_of(many) - weight_of(plain) > 90_000, "small values take room as well"
