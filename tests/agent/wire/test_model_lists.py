"""Pages about models: which can be talked to, and how much they read."""

import json

import pytest
from hypothesis import given

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid
from custom_components.chatterbox.agent.messages import (
    JsonObject,
    JsonValue,
)
from custom_components.chatterbox.agent.wire.model_lists import (
    ChatModel,
    parse_chat_models,
    parse_context_window,
    parse_model_list,
)
from tests.agent.json_values import json_values


@pytest.mark.parametrize(
    ("entry", "window"),
    [
        ({"max_model_len": 16_384}, 16_384),
        (
            {"context_length": 200_000, "top_provider": {"context_length": 128_000}},
            128_000,
        ),
        (
            {"context_length": 200_000, "top_provider": {"context_length": None}},
            200_000,
        ),
        ({"context_window": 131_072}, 131_072),
        ({"max_context_length": 131_072, "capabilities": {"vision": False}}, 131_072),
        ({"max_input_tokens": 200_000, "max_tokens": 64_000}, 200_000),
        (
            {
                "state": "loaded",
                "max_context_length": 131_072,
                "loaded_context_length": 4_096,
            },
            4_096,
        ),
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
    assert (
        parse_context_window('{"data":[{"id":"other","context_length":7}]}', "mine")
        is None
    )
    assert parse_context_window('{"data":[]}', "mine") is None


def test_a_server_with_one_model() -> None:
    assert (
        parse_context_window(
            '{"default_generation_settings":{"n_ctx":8192},"total_slots":4}', "mine"
        )
        == 8_192
    )
    assert (
        parse_context_window(
            '{"default_generation_settings":{"n_ctx":0},"role":"router"}', "mine"
        )
        is None
    )


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

    assert parse_model_list(
        json.dumps({listed: [{name: each, "size": 1} for each in names]})
    ) == ["a", "b", "C"]
    assert parse_model_list(json.dumps({listed: []})) == []


def test_a_list_without_an_object_around_it() -> None:
    sent = json.dumps(
        [
            {"id": "mine", "object": "model", "context_length": 131_072},
            {"id": "BAAI/bge-m3"},
        ]
    )

    assert parse_model_list(sent) == ["BAAI/bge-m3", "mine"]
    assert parse_chat_models(sent) == [ChatModel("mine")]
    assert parse_context_window(sent, "mine") == 131_072


def test_only_models_without_a_name_are_missing_in_a_list() -> None:
    sent = [
        {"id": "b"},
        {"id": None},
        {"id": 5},
        {"id": " "},
        {"id": ""},
        {},
        None,
        "a",
    ]

    assert parse_model_list(json.dumps({"data": sent})) == ["b"]
    assert parse_chat_models(json.dumps({"data": sent})) == [ChatModel("b")]


@pytest.mark.parametrize(
    "text", ["<html>", "[]", "{}", '{"data": null}', '{"models": null}']
)
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
    "name",
    [
        "llama3.1:8b",
        "gemma3-27b-it",
        "claude-opus-4",
        "gpt-5-mini",
        "models/gemini-2.5-flash",
    ],
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
        {"id": "local-voice", "capabilities": ["tts"]},
        {"id": "mistral-ocr", "capabilities": {"completion_chat": False}},
        {
            "id": "mistral-acts",
            "capabilities": {"completion_chat": True, "function_calling": True},
        },
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


def test_of_models_alike_in_tools_the_recommended_ones_come_first_and_small_ones_last() -> (
    None
):
    best = [
        "claude-haiku-4-5",
        "gemini-2.5-flash",
        "gemma4:e4b",
        "gpt-5-mini",
        "qwen3:4b-instruct",
        "qwen3:8b",
    ]
    others = [
        "claude-opus-4",
        "gemini-2.5-flash-lite",
        "gpt-4o",
        "llama3.3:70b",
        "qwen3-coder:30b",
    ]
    small = ["gemma3:1b", "llama3.2:1b", "qwen2.5:0.5b", "qwen3:1.7b"]
    listed: list[JsonValue] = [
        {"id": name} for name in sorted([*best, *others, *small], reverse=True)
    ]
    acts: JsonValue = {"id": "tiny:1b", "supported_parameters": ["tools"]}

    models = parse_chat_models(json.dumps({"data": [*listed, acts]}))

    assert [model.name for model in models] == ["tiny:1b", *best, *others, *small]
