"""A request becomes the JSON that the Responses API accepts, beyond what the contract of all formats says."""

from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.json.text import payload_to_bytes
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    JsonObject,
    JsonValue,
    Message,
    NamedTool,
    ProviderItem,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.wire.openai_responses import (
    FORMAT,
    carried,
    request_to_payload,
    without_carried_items,
)

TURN_ON = ToolDefinition(
    "turn_on", "Turns things on.", {"type": "object", "properties": {}}
)
REQUEST = CompletionRequest("Be brief.", (UserMessage("Hi"),), (TURN_ON,))
CALL_A, CALL_B = ToolCall("a", "on", "{}"), ToolCall("b", "off", "{}")
THOUGHT_1: JsonObject = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "encrypted_content": "AAA",
}
THOUGHT_2: JsonObject = {
    "type": "reasoning",
    "id": "rs_2",
    "summary": [],
    "encrypted_content": "BBB",
}
SEARCH: JsonObject = {
    "type": "web_search_call",
    "id": "ws_1",
    "action": {"type": "search", "query": "rain"},
}

FOUND: JsonObject = {
    **SEARCH,
    "action": {"type": "search", "query": "rain", "sources": [{"url": "x"}]},
}


def item_of(
    item: JsonObject, text: int = 0, calls: int = 0, *, model: str = "m", skip: int = 0
) -> ProviderItem:
    """Return an item as a reply leaves it in the transcript."""
    block: JsonObject = {"model": model, "item": item}
    return ProviderItem(
        FORMAT, {"block": block, "text": text, "calls": calls, "skip": skip}
    )


def phase(name: str, text: int = 0, calls: int = 0, skip: int = 0) -> ProviderItem:
    return item_of({"type": "message", "phase": name}, text, calls, skip=skip)


def sent(*transcript: Message) -> list[JsonValue]:
    items = request_to_payload(CompletionRequest("", transcript), "m")["input"]
    assert isinstance(items, list)
    return items


def outline(*transcript: Message) -> list[JsonValue]:
    """Return what is sent, each item by what tells it from the others."""
    return [_outline(item) for item in sent(*transcript)]


def _outline(item: JsonValue) -> JsonValue:
    match item:
        case {"type": "message", "content": [{"text": text}], "phase": said_as}:
            return [said_as, text]
        case {"type": "message", "content": [{"text": text}]}:
            return text
        case {"type": "function_call", "call_id": call_id}:
            return {"call": call_id}
        case {"id": item_id}:
            return item_id
        case _:
            return item


def test_the_smallest_request_as_bytes() -> None:
    payload = request_to_payload(
        CompletionRequest("", (UserMessage("Grüß dich"),)), "m"
    )

    assert payload_to_bytes(payload).decode() == (
        '{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],'
        '"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Grüß dich"}]}]}'
    )


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (ToolChoiceMode.AUTO, None),
        (ToolChoiceMode.NONE, "none"),
        (ToolChoiceMode.REQUIRED, "required"),
        (NamedTool("turn_on"), {"type": "function", "name": "turn_on"}),
    ],
)
def test_tool_choice(choice: ToolChoice, expected: JsonValue) -> None:
    payload = request_to_payload(replace(REQUEST, tool_choice=choice), "m")

    assert payload.get("tool_choice") == expected
    assert payload["tools"] == [
        {
            "type": "function",
            "name": "turn_on",
            "description": "Turns things on.",
            "parameters": TURN_ON.parameters,
            "strict": False,
        }
    ]


def test_what_changes_from_one_inference_to_the_next_comes_after_what_stays() -> None:
    forced = payload_to_bytes(
        request_to_payload(replace(REQUEST, tool_choice=ToolChoiceMode.REQUIRED), "m")
    )
    free = payload_to_bytes(request_to_payload(REQUEST, "m"))

    assert forced.startswith(free.removesuffix(b"]}"))


@pytest.mark.parametrize("items", [(), (item_of(THOUGHT_1),)])
def test_an_assistant_message_without_words_or_calls_is_left_out(
    items: tuple[ProviderItem, ...],
) -> None:
    assert outline(
        UserMessage("Hi"),
        AssistantMessage(" \n", "hm", (), items),
        UserMessage("Hello?"),
    ) == [
        "Hi",
        "Hello?",
    ]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param(
            AssistantMessage("Yes.", "", (CALL_A,), (item_of(THOUGHT_1),)),
            ["rs_1", "Yes.", {"call": "a"}],
            id="before the words",
        ),
        pytest.param(
            AssistantMessage("Yes.", "", (CALL_A,), (item_of(THOUGHT_1, 4),)),
            ["Yes.", "rs_1", {"call": "a"}],
            id="between words and call",
        ),
        pytest.param(
            AssistantMessage(
                "", "", (CALL_A, CALL_B), (item_of(THOUGHT_1), item_of(THOUGHT_2, 0, 1))
            ),
            ["rs_1", {"call": "a"}, "rs_2", {"call": "b"}],
            id="before each call",
        ),
        pytest.param(
            AssistantMessage(
                "Yes.", "", (CALL_A,), (item_of(THOUGHT_1), item_of(THOUGHT_2, 0, 1))
            ),
            ["rs_1", {"call": "a"}, "rs_2", "Yes."],
            id="words after a call",
        ),
        pytest.param(
            AssistantMessage(
                "Rain.",
                "",
                (),
                (item_of(THOUGHT_1), item_of(SEARCH), item_of(THOUGHT_2)),
            ),
            ["rs_1", "ws_1", "rs_2", "Rain."],
            id="with a search of the service's own",
        ),
        pytest.param(
            AssistantMessage(
                "Yes.",
                "",
                (CALL_A,),
                (item_of(THOUGHT_1, 4, 1), item_of(THOUGHT_2, 4, 1)),
            ),
            ["Yes.", {"call": "a"}],
            id="reasoning that led to nothing",
        ),
        pytest.param(
            AssistantMessage("Yes.", "", (), (item_of(THOUGHT_1, model="another"),)),
            ["Yes."],
            id="another model's",
        ),
        pytest.param(
            AssistantMessage(
                "Yes.",
                "",
                (),
                (ProviderItem(FORMAT, {"odd": 1}), ProviderItem("other", THOUGHT_1)),
            ),
            ["Yes."],
            id="another format's",
        ),
        pytest.param(
            AssistantMessage(
                "Wait.\n\nYes.",
                "",
                (),
                (phase("commentary"), phase("final_answer", 5, skip=2)),
            ),
            [["commentary", "Wait."], ["final_answer", "Yes."]],
            id="two messages",
        ),
        pytest.param(
            AssistantMessage(
                "Wait.\n\nYes.", "", (), (phase("commentary"), phase("", 5, skip=2))
            ),
            [["commentary", "Wait."], "Yes."],
            id="the second of no phase",
        ),
        pytest.param(
            AssistantMessage(
                "Wait.",
                "",
                (CALL_A,),
                (item_of(THOUGHT_1), phase("commentary"), item_of(THOUGHT_2, 5)),
            ),
            ["rs_1", ["commentary", "Wait."], "rs_2", {"call": "a"}],
            id="a comment and a call",
        ),
        pytest.param(
            AssistantMessage(
                "No", "", (CALL_A,), (item_of(THOUGHT_1, 40), item_of(THOUGHT_2, 50, 3))
            ),
            ["No", "rs_1", {"call": "a"}],
            id="words that were changed",
        ),
    ],
)
def test_what_the_service_wants_back_stands_where_it_stood(
    message: AssistantMessage, expected: list[JsonValue]
) -> None:
    assert outline(message) == expected


def test_carried_items_go_back_as_they_came() -> None:
    assert sent(AssistantMessage("Yes.", "", (), (item_of(SEARCH),)))[0] == SEARCH


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (
            {
                **THOUGHT_1,
                "status": None,
                "content": [],
                "summary": [{"type": "summary_text", "text": "x"}],
            },
            {**THOUGHT_1, "summary": [{"type": "summary_text", "text": "x"}]},
        ),
        (
            {
                "type": "reasoning",
                "encrypted_content": "",
                "content": [{"type": "reasoning_text", "text": "hm"}],
            },
            {
                "type": "reasoning",
                "content": [{"type": "reasoning_text", "text": "hm"}],
                "summary": [],
            },
        ),
        (
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "x"}],
            },
            None,
        ),
        (
            {
                "type": "reasoning",
                "id": "rs_1",
                "encrypted_content": None,
                "content": None,
            },
            None,
        ),
        (FOUND, {**SEARCH, "status": "completed"}),
    ],
    ids=["encrypted", "written out", "known to the service alone", "empty", "search"],
)
def test_what_is_kept_of_an_item(item: JsonObject, expected: JsonObject | None) -> None:
    assert carried(item, "m") == (
        None if expected is None else {"model": "m", "item": expected}
    )


def test_without_carried_items_the_conversation_is_whole() -> None:
    transcript = AssistantMessage(
        "Yes.", "", (CALL_A,), (item_of(THOUGHT_1), item_of(SEARCH))
    )
    request = replace(
        REQUEST,
        transcript=(UserMessage("Hi"), transcript, ToolResult("a", "on", "done")),
    )
    plain = replace(
        request,
        transcript=(
            UserMessage("Hi"),
            replace(transcript, provider_items=()),
            request.transcript[2],
        ),
    )

    assert without_carried_items(
        request_to_payload(request, "m")
    ) == request_to_payload(plain, "m")
    assert without_carried_items({"input": "Hi"}) == {"input": "Hi"}


@pytest.mark.parametrize("written", ["", "{", "[]", '{"a":NaN}'])
def test_arguments_and_names_that_services_refuse_are_made_to_fit(written: str) -> None:
    [item] = sent(
        AssistantMessage(tool_calls=(ToolCall("a", "light.turn_on", written),))
    )

    assert item == {
        "type": "function_call",
        "call_id": "a",
        "name": "light_turn_on",
        "arguments": "{}",
    }


def test_long_ids_are_cut_the_same_way_everywhere() -> None:
    fits, long = "x" * 64, "x" * 65
    calls = (ToolCall(fits, "on", "{}"), ToolCall(long, "on", "{}"))

    items = sent(
        AssistantMessage(tool_calls=calls),
        ToolResult(fits, "on", ""),
        ToolResult(long, "on", ""),
    )

    ids = [item["call_id"] for item in items if isinstance(item, dict)]
    assert ids[:2] == ids[2:]
    assert ids[0] == fits
    assert ids[1] != fits
    assert len(str(ids[1])) <= 64


PICTURE = Attachment("image/png", b"\x89PNG", "door.png")
DOCUMENT = Attachment("application/pdf", b"%PDF-1.7")


def test_attachments_need_no_words_and_no_names() -> None:
    [message] = sent(UserMessage("", (PICTURE, DOCUMENT)))

    assert message == {
        "type": "message",
        "role": "user",
        "content": [
            {
                "type": "input_image",
                "image_url": "data:image/png;base64,iVBORw==",
                "detail": "auto",
            },
            {
                "type": "input_file",
                "filename": "document",
                "file_data": "data:application/pdf;base64,JVBERi0xLjc=",
            },
        ],
    }


def test_what_the_model_cannot_be_shown_is_named() -> None:
    request = CompletionRequest("", (UserMessage("", (PICTURE, DOCUMENT)),))

    payload = request_to_payload(request, "m", attachments=frozenset({"image/png"}))

    match payload["input"]:
        case [
            {
                "content": [
                    {"type": "input_image"},
                    {"type": "input_text", "text": str(note)},
                ]
            }
        ]:
            assert "application/pdf" in note
        case other:
            pytest.fail(f"unexpected: {other}")
