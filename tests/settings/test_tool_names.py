"""Offered names of tools that belong to one tool, and those that do what an intent does."""

import pytest

from custom_components.chatterbox.settings.tool_names import (
    have_same_origin,
    is_tool_of_intent,
)
from custom_components.chatterbox.tools.llm_apis import (
    ToolOrigin,
    offered_names,
)


@pytest.mark.parametrize("name", ["1mcp-find", "-find", "1" * 64])
def test_a_rule_holds_for_a_tool_that_begins_with_a_digit(name: str) -> None:
    (offered,) = offered_names([ToolOrigin("mcp-1", name)])

    assert have_same_origin(name, offered)
    assert have_same_origin(offered, name)


@pytest.mark.parametrize(
    "other", ["searches", "search_them", "search_12345", "search_abcdeg", "Search"]
)
def test_names_that_begin_alike_are_of_two_tools(other: str) -> None:
    assert not have_same_origin("search", other)


@pytest.mark.parametrize(
    ("tool", "intent_type", "is_its"),
    [
        ("intent__HassTurnOn", "HassTurnOn", True),
        ("HassTurnOn", "HassTurnOn", True),
        ("intent__HassTurnOn_0a1b2c", "HassTurnOn", True),
        ("home2_HassTurnOn", "HassTurnOn", True),
        ("intent__HassTurnOn", "HassTurnOff", False),
        ("intent__HassTurnOnAll", "HassTurnOn", False),
        ("intent__NotHassTurnOn", "HassTurnOn", False),
        ("intent_script__Make_Music", "Make Music", True),
        ("intent_script__make_music", "Make Music", False),
        ("shop__order", "Order", False),
        ("shop__re_order", "order", False),
        (f"intent_script__{'x' * 40}", "x" * 60, False),
        (f"intent_script__{'x' * 42}_0a1b2c", "x" * 60, True),
        ("media_player__play_media", "HassMediaSearchAndPlay", True),
        ("media_player__search_media", "HassMediaSearchAndPlay", False),
        ("todo__HassListAddItem", "HassShoppingListAddItem", True),
        ("todo__HassListRemoveItem", "HassShoppingListAddItem", False),
        ("intent__HassTurnOn", "", False),
        ("_", "", False),
    ],
)
def test_a_tool_of_an_intent_is_known_by_its_name(
    tool: str,
    intent_type: str,
    is_its: bool,  # noqa: FBT001
) -> None:
    assert is_tool_of_intent(tool, intent_type) is is_its
