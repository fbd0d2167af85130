"""Which words are meant alike, in any language."""

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.home.similar_words import Vocabulary, words_in


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Küche Licht", ["kuche", "licht"]),
        ("Kinderzimmer-Fenster (links)", ["kinderzimmer", "fenster", "links"]),
        ("Łazienka", ["lazienka"]),
        ("Straße", ["strasse"]),
        ("LED_Strip 2", ["led", "strip", "2"]),
        ("客厅灯 2", ["客", "厅", "灯", "客厅", "厅灯", "2"]),
        ("й и", ["и", "и"]),
        ("e\N{COMBINING ACUTE ACCENT}te", ["ete"]),
        ("… !", []),
    ],
)
def test_words_are_compared_in_small_letters_and_without_accents(text: str, words: list[str]) -> None:
    assert words_in(text) == words


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("kuchni", "kuchnia"),
        ("rolladen", "rollladen"),
        ("fensters", "fenster"),
        ("lights", "light"),
        ("lihgt", "light"),
        ("kichen", "kitchen"),
        ("stehlampe", "lampe"),
        ("lampe", "stehlampe"),
        ("terrassenlautsprecher", "lautsprecher"),
        ("biurze", "biuro"),
    ],
)
def test_endings_slips_and_parts_do_no_harm(said: str, meant: str) -> None:
    (plain,) = words_in(said)
    vocabulary = Vocabulary([meant, "thermostat", "garage", "7", "灯"])
    assert list(vocabulary.similar(plain)) == [meant]
    assert 0.4 < vocabulary.similar(plain)[meant] < 1


@pytest.mark.parametrize("said", ["12", "1", "灯光", "on", "x1"])
def test_numbers_signs_and_short_words_are_meant_exactly(said: str) -> None:
    assert not Vocabulary(["2", "11", "112", "灯", "one", "an", "x2"]).similar(said)


def test_the_very_word_is_surest() -> None:
    found = Vocabulary(["light", "lights", "lighting", "night"]).similar("light")
    assert found["light"] == 1
    assert all(likeness < 1 for word, likeness in found.items() if word != "light")


@given(st.lists(st.text(max_size=12), max_size=8), st.text(max_size=12))
def test_every_word_finds_itself(texts: list[str], text: str) -> None:
    words = [word for one in (*texts, text) for word in words_in(one)]
    vocabulary = Vocabulary(words)
    for word in words:
        assert vocabulary.similar(word)[word] == 1
        assert all(0 < likeness <= 1 for likeness in vocabulary.similar(word).values())
