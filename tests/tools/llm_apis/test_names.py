"""Names of tools: legal, unique, and the same whatever else is there."""

import re

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.settings.tool_names import (
    MAX_NAME_LENGTH,
    have_same_origin,
)
from custom_components.chatterbox.tools.llm_apis import (
    ToolOrigin,
    offered_names,
    rename_tools,
)

LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_names = st.sampled_from(
    [
        "search",
        "search-2",
        "files.read",
        "küche licht",
        "x" * 80,
        "1-a",
        "1" * 64,
        "Ω",
        "_",
    ]
) | st.text(min_size=1)
_origins = st.lists(
    st.builds(ToolOrigin, st.sampled_from(["a", "b", "c"]), _names), max_size=12
)


def test_legal_names_that_nobody_shares_stay_as_they_are() -> None:
    origins = [
        ToolOrigin("assist", "intent__HassTurnOn"),
        ToolOrigin("mcp-1", "search"),
        ToolOrigin("mcp-2", "read-file"),
    ]

    assert offered_names(origins) == ("intent__HassTurnOn", "search", "read-file")


def test_tools_of_one_name_from_two_apis_are_told_apart() -> None:
    """Invariant 53."""
    names = offered_names(
        [ToolOrigin("mcp-1", "search"), ToolOrigin("mcp-2", "search")]
    )

    assert len(set(names)) == 2
    assert all(re.fullmatch(r"search_[0-9a-f]{6}", name) for name in names)


@pytest.mark.parametrize(
    ("name", "legible"),
    [
        ("files.read", "files_read"),
        ("Küchenlicht an", "Kuchenlicht_an"),
        ("💡", "tool"),
        ("x" * 65, "x" * 57),
        ("1mcp-find", "_1mcp-find"),
    ],
)
def test_an_impossible_name_becomes_a_legible_one_with_a_hash(
    name: str, legible: str
) -> None:
    (offered,) = offered_names([ToolOrigin("mcp-1", name)])

    assert re.fullmatch(rf"{legible}_[0-9a-f]{{6}}", offered)


@given(_origins)
def test_names_are_legal_and_all_different(origins: list[ToolOrigin]) -> None:
    names = offered_names(origins)

    assert len(names) == len(origins)
    assert len(set(names)) == len(names)
    assert all(LEGAL.fullmatch(name) for name in names)
    assert MAX_NAME_LENGTH == 64


@given(_origins)
def test_the_order_of_the_apis_names_nothing_anew(origins: list[ToolOrigin]) -> None:
    distinct = list(dict.fromkeys(origins))
    named = dict(zip(distinct, offered_names(distinct), strict=True))

    assert (
        dict(zip(distinct[::-1], offered_names(distinct[::-1]), strict=True)) == named
    )


@given(_origins, _names)
def test_another_tool_renames_only_those_of_its_own_name(
    origins: list[ToolOrigin], name: str
) -> None:
    before = offered_names(origins)
    after = offered_names([*origins, ToolOrigin("another", name)])

    renamed = {
        origin.name
        for origin, old, new in zip(origins, before, after[:-1], strict=True)
        if old != new
    }
    assert renamed <= {name}


@given(_origins, _names)
def test_a_tool_is_known_by_its_old_name_and_by_its_new_one(
    origins: list[ToolOrigin], name: str
) -> None:
    before = offered_names(origins)
    after = offered_names([*origins, ToolOrigin("another", name)])

    assert all(
        have_same_origin(old, new) for old, new in zip(before, after[:-1], strict=True)
    )
    assert all(
        have_same_origin(new, old) for old, new in zip(before, after[:-1], strict=True)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Call get_page before find_page.", "Call get_page_1 before find_page."),
        ("`get_page`, get_page! (get_page)", "`get_page_1`, get_page_1! (get_page_1)"),
        ("forget_page get_pages get_page-x", "forget_page get_pages get_page-x"),
        ("Use files.read. Not myfiles.read", "Use files_read_2. Not myfiles.read"),
        ("Search the web with 'search' only.", "Search the web with 'search_3' only."),
        ("Do a search with `search`.", "Do a search with `search_3`."),
    ],
)
def test_texts_speak_of_tools_by_their_new_names(text: str, expected: str) -> None:
    renames = {
        "get_page": "get_page_1",
        "files.read": "files_read_2",
        "search": "search_3",
        "find_page": "find_page",
    }

    assert rename_tools(text, renames) == expected


def test_a_name_that_holds_another_is_renamed_as_a_whole() -> None:
    assert (
        rename_tools("x.get and x.get.all", {"x.get": "one", "x.get.all": "two"})
        == "one and two"
    )
