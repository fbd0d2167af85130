"""Texts are read as words, and templates as what they stand for."""

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.consent.reading import phrases_of, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Yes, please!", ("yes", "please")),
        ("  YES...\nplease. ", ("yes", "please")),
        ("d\N{RIGHT SINGLE QUOTATION MARK}accord", ("d'accord",)),
        ("vas-y \N{EM DASH} oui", ("vas", "y", "oui")),
        ("\N{INVERTED EXCLAMATION MARK}Sí!", ("sí",)),
        ("sí".encode().decode().replace("í", "i\N{COMBINING ACUTE ACCENT}"), ("sí",)),
        ("Straße", ("strasse",)),
        ("好的,OK。", ("好", "的", "ok")),
        ("47 11", ("47", "11")),
        ("", ()),
        (" ... ", ()),
    ],
)
def test_a_text_is_its_words_in_small_letters(text: str, words: tuple[str, ...]) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "yes?",
        "yes\N{FULLWIDTH QUESTION MARK}",
        "\N{INVERTED QUESTION MARK}yes",
        '"yes"',
        "“yes”",
        "'yes'",
        "yes'",
        "«oui»",
        "「好」",
        "y_es",
        "yes 👍",
        "y\N{ZERO WIDTH SPACE}es",
        "yes\N{ZERO WIDTH JOINER}",
        "y\N{SOFT HYPHEN}es",
        "\N{RIGHT-TO-LEFT OVERRIDE}sey",
        "y\N{COMBINING LONG STROKE OVERLAY}es",
        "yes & no",
        "yes/no",
        "(yes)",
        "yes\0",
    ],
)
def test_what_nobody_can_say_is_not_read(text: str) -> None:
    assert words_of(text) is None


def test_characters_are_read_as_others() -> None:
    assert words_of("開門", folded="開开門门") == ("开", "门")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    words = words_of(text)

    assert words is None or all(words)


@pytest.mark.parametrize(
    ("template", "phrases"),
    [
        ("go ahead", {"go ahead"}),
        ("yes|yeah", {"yes", "yeah"}),
        ("yes [please]", {"yes", "yes please"}),
        ("(yes|yeah) [please|now]", {"yes", "yeah", "yes please", "yeah please", "yes now", "yeah now"}),
        ("[very (much|well)] yes", {"yes", "very much yes", "very well yes"}),
        ("a (b|c (d|e)) f|g", {"a b f", "a c d f", "a c e f", "g"}),
        ("[please]", {"please"}),
        ("Yes, Sir!", {"yes sir"}),
    ],
)
def test_a_template_stands_for_phrases(template: str, phrases: set[str]) -> None:
    assert phrases_of([template]) == {tuple(phrase.split()) for phrase in phrases}


def test_slots_are_filled_with_templates() -> None:
    slots = {"action": ["open [{it}]"], "it": ["it", "the (big|small) door"]}

    assert phrases_of(["do|{action}"], slots) == {
        ("do",),
        ("open",),
        ("open", "it"),
        ("open", "the", "big", "door"),
        ("open", "the", "small", "door"),
    }


def test_a_phrase_with_a_slot_that_stays_empty_is_left_out() -> None:
    assert phrases_of(["do it|(please|) {action}"], {"action": []}) == {("do", "it")}
