"""How servers tell what a model can read."""

import json

import pytest
from hypothesis import given

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid
from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.agent.wire.parts import parse_context_window, parse_model_list
from tests.agent.json_values import json_values


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


@pytest.mark.parametrize("text", ["<html>", "[]", "{}", '{"data": null}', '{"data": [{}]}', '{"models": null}'])
def test_a_page_without_a_list_of_models_is_refused(text: str) -> None:
    with pytest.raises(ProviderReplyInvalid, match="a list of models"):
        parse_model_list(text)
