"""A person's own parameters have the last word."""

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.agent.providers.profiles import ModelOptions, lay_over

PAYLOAD: JsonObject = {"model": "m", "temperature": 0.5, "options": {"a": 1}}


def test_extra_parameters_are_added_and_replace_ours() -> None:
    assert lay_over(PAYLOAD, {"options": {"b": 2}, "seed": 7}) == {
        "model": "m",
        "temperature": 0.5,
        "options": {"b": 2},
        "seed": 7,
    }


def test_null_takes_a_field_away() -> None:
    assert lay_over(PAYLOAD, {"temperature": None, "unknown": None}) == {"model": "m", "options": {"a": 1}}


def test_without_wishes_nothing_changes() -> None:
    assert lay_over(PAYLOAD, ModelOptions().extra) == PAYLOAD
