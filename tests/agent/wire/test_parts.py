"""Parts of all formats: what is sent has a form that services accept, and what is received is read leniently."""

import json
import re

import pytest
from hypothesis import given, strategies as st
from pydantic import TypeAdapter

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    JsonObject,
    JsonValue,
    ToolCall,
    UserMessage,
)
from custom_components.chatterbox.agent.wire.parts import (
    CallIds,
    ChatModel,
    Lenient,
    WireModel,
    attachment_note,
    base64_data,
    data_url,
    new_call_id,
    parse_as,
    parse_chat_models,
    parse_context_window,
    parse_model_list,
    payload_to_bytes,
    sendable_arguments,
    sendable_call_id,
    sendable_name,
    sendable_text,
)
from tests.agent.json_values import json_values


class Lamp(WireModel):
    """Something that is received."""

    name: str
    level: Lenient[int] = None


LAMP = TypeAdapter(Lamp)


def test_what_fits_is_read_and_what_is_unknown_is_not() -> None:
    lamp = parse_as(LAMP, '{"name":"hall","level":5,"colour":"red"}', "a lamp")

    assert lamp == Lamp(name="hall", level=5)


@pytest.mark.parametrize("level", ['"bright"', "null", "[]", "{}", "1.5"])
def test_a_lenient_value_that_does_not_fit_reads_as_not_sent(level: str) -> None:
    assert parse_as(LAMP, f'{{"name":"hall","level":{level}}}', "a lamp").level is None


def test_half_a_character_is_let_through() -> None:
    assert parse_as(LAMP, r'{"name":"\ud83d"}', "a lamp").name == "\ud83d"


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert parse_as(LAMP, b'{"name":"\xf0\x9f"}', "a lamp").name == "\ufffd"


def test_text_with_half_a_character_is_read() -> None:
    assert parse_as(LAMP, '{"name":"\ud83d"}', "a lamp").name == "\ud83d"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"name":5}', "the service sent a lamp of the wrong shape, at name"),
        (r'{"name":["\ud83d"]}', "the service sent a lamp of the wrong shape, at name"),
        ('"secret"', "the service sent a lamp of the wrong shape, at its top level"),
        ("secret", "the service sent a lamp that is not JSON"),
        ("[" * 100_000, "the service sent a lamp that is not JSON"),
    ],
)
def test_what_is_wrong_is_said_without_a_quote(text: str, said: str) -> None:
    with pytest.raises(ProviderReplyInvalid) as caught:
        parse_as(LAMP, text, "a lamp")

    assert str(caught.value) == said
    assert caught.value.__cause__ is None


def test_new_ids_of_calls_fit_everywhere_and_differ() -> None:
    assert re.fullmatch("[A-Za-z0-9]{9}", new_call_id())
    assert new_call_id() != new_call_id()


def test_ids_of_calls_are_unique_in_a_conversation() -> None:
    calls = (ToolCall("a", "on", "{}"), ToolCall("b", "off", "{}"))
    ids = CallIds((UserMessage("Hi"), AssistantMessage("", "", calls)), iter(["b", "new1", "new2"]).__next__)

    assert [ids.unique(sent) for sent in ("a", "", "c")] == ["new1", "new2", "c"]


PICTURE = Attachment("image/png", b"\x89PNG\xff", "door.png")
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


@given(st.text(st.characters(exclude_categories=())))
def test_texts_can_be_written_as_utf8(text: str) -> None:
    sendable_text(text).encode()


def test_only_half_characters_are_replaced() -> None:
    assert sendable_text("Grüße 💡") == "Grüße 💡"
    assert sendable_text("\ud83d\udca1 \ud83d") == "💡 \ufffd"


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


def test_data() -> None:
    assert base64_data(PICTURE) == "iVBOR/8="
    assert data_url(PICTURE) == "data:image/png;base64,iVBOR/8="


def test_what_cannot_be_shown_is_named() -> None:
    named, nameless = (attachment_note(Attachment("audio/wav", b"", name)) for name in ("half \ud83d.wav", ""))

    assert named.startswith("[A file of type audio/wav named half \ufffd.wav was attached here.")
    assert nameless.startswith("[A file of type audio/wav was attached here.")


@pytest.mark.parametrize(
    ("entry", "window"),
    [
        ({"max_model_len": 16_384}, 16_384),
        ({"context_length": 200_000, "top_provider": {"context_length": 128_000}}, 128_000),
        ({"context_length": 200_000, "top_provider": {"context_length": None}}, 200_000),
        ({"context_window": 131_072}, 131_072),
        ({"max_context_length": 131_072, "capabilities": {"vision": False}}, 131_072),
        ({"max_input_tokens": 200_000, "max_tokens": 64_000}, 200_000),
        ({"state": "loaded", "max_context_length": 131_072, "loaded_context_length": 4_096}, 4_096),
        ({"state": "not-loaded", "max_context_length": 131_072}, None),
        ({"meta": {"n_ctx": 8_192, "n_ctx_train": 262_144}}, 8_192),
        ({"meta": {"n_ctx_train": 262_144}}, None),
        ({"context_length": "much"}, None),
        ({"context_length": 0}, None),
        ({"context_length": -1, "meta": "?"}, None),
        ({}, None),
    ],
)
def test_a_list_of_models(entry: JsonObject, window: int | None) -> None:
    others: list[JsonValue] = ["?", {}, {"id": "other", "context_length": 7}]
    listed: JsonObject = {"object": "list", "data": [*others, {"id": "mine", **entry}]}
    assert parse_context_window(json.dumps(listed), "mine") == window
    assert parse_context_window(json.dumps({"id": "mine", **entry}), "mine") == window


def test_a_list_without_the_model() -> None:
    assert parse_context_window('{"data":[{"id":"other","context_length":7}]}', "mine") is None
    assert parse_context_window('{"data":[]}', "mine") is None


def test_a_server_with_one_model() -> None:
    assert parse_context_window('{"default_generation_settings":{"n_ctx":8192},"total_slots":4}', "mine") == 8_192
    assert parse_context_window('{"default_generation_settings":{"n_ctx":0},"role":"router"}', "mine") is None


@pytest.mark.parametrize("text", ["", "<html>", "[]", "7"])
def test_what_is_no_such_page(text: str) -> None:
    with pytest.raises(ProviderReplyInvalid):
        parse_context_window(text, "mine")


@given(json_values())
def test_anything_else_says_nothing_or_is_refused(value: JsonValue) -> None:
    try:
        window = parse_context_window(json.dumps(value), "mine")
    except ProviderReplyInvalid:
        return
    assert window is None or window > 0


@pytest.mark.parametrize(("listed", "name"), [("data", "id"), ("models", "name")])
def test_a_list_of_models_is_sorted_and_without_repeats(listed: str, name: str) -> None:
    names = ["b", "C", "a", "b"]

    assert parse_model_list(json.dumps({listed: [{name: each, "size": 1} for each in names]})) == ["a", "b", "C"]
    assert parse_model_list(json.dumps({listed: []})) == []


def test_only_models_without_a_name_are_missing_in_a_list() -> None:
    sent = [{"id": "b"}, {"id": None}, {"id": 5}, {"id": " "}, {"id": ""}, {}, None, "a"]

    assert parse_model_list(json.dumps({"data": sent})) == ["b"]
    assert parse_chat_models(json.dumps({"data": sent})) == [ChatModel("b")]


@pytest.mark.parametrize("text", ["<html>", "[]", "{}", '{"data": null}', '{"models": null}'])
def test_a_page_without_a_list_of_models_is_refused(text: str) -> None:
    with pytest.raises(ProviderReplyInvalid, match="a list of models"):
        parse_model_list(text)


@pytest.mark.parametrize(
    "name",
    [
        "text-embedding-3-small", "nomic-embed-text:latest", "BAAI/bge-m3-q8", "whisper-large-v3", "tts-1-hd",
        "gpt-4o-transcribe", "gpt-realtime", "dall-e-3", "gpt-image-1", "stable-diffusion-xl", "omni-moderation-latest",
    ],
)  # fmt: skip
def test_models_of_other_uses_are_no_chat_models(name: str) -> None:
    assert parse_chat_models(json.dumps({"data": [{"id": name}]})) == []


@pytest.mark.parametrize(
    "name", ["llama3.1:8b", "gemma3-27b-it", "claude-opus-4", "gpt-5-mini", "models/gemini-2.5-flash"]
)
def test_a_model_that_says_nothing_of_tools_is_a_chat_model(name: str) -> None:
    assert parse_chat_models(json.dumps({"data": [{"id": name}]})) == [ChatModel(name)]


def test_chat_models_that_use_tools_come_first_and_those_that_do_not_last() -> None:
    listed: list[JsonValue] = [
        {"id": "lm-embed", "type": "embeddings"},
        {"id": "vectors", "type": "embeddings"},
        {"id": "lm-talks", "type": "llm", "capabilities": []},
        {"id": "lm-acts", "type": "llm", "capabilities": ["tool_use"]},
        {"id": "router-talks", "supported_parameters": ["temperature"]},
        {"id": "router-acts", "supported_parameters": ["tools"]},
        {"id": "mistral-ocr", "capabilities": {"completion_chat": False}},
        {"id": "mistral-acts", "capabilities": {"completion_chat": True, "function_calling": True}},
        {"id": "unknown", "capabilities": "everything"},
    ]

    assert parse_chat_models(json.dumps({"data": listed})) == [
        ChatModel("lm-acts", uses_tools=True),
        ChatModel("mistral-acts", uses_tools=True),
        ChatModel("router-acts", uses_tools=True),
        ChatModel("unknown"),
        ChatModel("lm-talks", uses_tools=False),
        ChatModel("router-talks", uses_tools=False),
    ]
