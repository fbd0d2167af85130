"""Answers in a language that is not known are read as English."""

import pytest

from custom_components.chatterbox.agent.consent.any_language import may_be_pin, understood_language


@pytest.mark.parametrize(("tag", "read"), [("pt-BR", "pt-BR"), ("de", "de"), ("ru", "en"), ("en-GB", "en-GB")])
def test_a_language_without_words_is_read_as_english(tag: str, read: str) -> None:
    assert understood_language(tag) == read


@pytest.mark.parametrize(
    ("text", "tag", "is_pin"),
    [
        ("четыре семь один один", "ru", True),
        ("4711", "ru", True),
        ("no", "ru", False),
        ("what time is it", "en", False),
        ("four seven one one", "en", True),
    ],
)
def test_whatever_nobody_understands_may_be_the_pin_that_is_asked_for(text: str, tag: str, *, is_pin: bool) -> None:
    assert may_be_pin(text, tag, is_asked_for=True) is is_pin


def test_where_none_is_asked_for_foreign_words_are_words() -> None:
    assert not may_be_pin("включи свет", "ru", is_asked_for=False)
