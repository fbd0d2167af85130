"""A name is found in whatever form it is written, and never means more than it says."""

import unicodedata
from typing import Literal

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.home.name_index import NameIndex

NAMES = {
    "Lamp": "lamp",
    "💡 Lamp": "bulb",
    "Stehlämpchen": "floor",
    "🔴 Ball": "ball",
    "Plug": "plug",
    "Salt": "plug",
}


@pytest.fixture(name="index")
def index_() -> NameIndex[str]:
    return index_of(NAMES)


def index_of(names: dict[str, str]) -> NameIndex[str]:
    index = NameIndex[str]()
    for name, key in names.items():
        index.add(name, key)
    return index


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("LAMP", {"lamp"}),
        ("💡\ufe0f lamp", {"bulb"}),
        ("Stehlampchen", {"floor"}),
        ("Stehlaempchen", {"floor"}),
        ("ball", {"ball"}),
        ("🔵 Ball", set()),
        ("Ball 🔴", set()),
        ("Plug, Salt", {"plug"}),
        ("Plug (also salt)", {"plug"}),
        ("Plug = salt", {"plug"}),
        ("Plug, Lamp", set()),
        ("Plug, Socket", set()),
        ("Plug also Salt", set()),
        ("", set()),
        ("💡", set()),
    ],
)
def test_a_name_finds_what_has_it(
    index: NameIndex[str], name: str, found: set[str]
) -> None:
    assert index.find(name) == found


def test_what_does_not_fit_gives_way_to_another_form(index: NameIndex[str]) -> None:
    assert index.find("Lamp", lambda found: found - {"lamp"}) == {"bulb"}


@given(
    st.text(max_size=12),
    st.sampled_from(["NFC", "NFD", "NFKD"]),
    st.sampled_from(["", "\u200b", "\u200f", " "]),
)
def test_no_form_of_a_name_finds_what_has_another_while_something_has_it(
    name: str, form: Literal["NFC", "NFD", "NFKD"], mark: str
) -> None:
    index = index_of({name: "meant", f"{name} 💡": "other", f"{name} 2": "third"})

    assert "meant" in index.find(name)
    assert index.find(unicodedata.normalize(form, name) + mark) == index.find(name)
