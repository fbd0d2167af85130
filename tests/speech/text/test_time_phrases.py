"""Words for times are found in sentences, wherever they stand."""

import tomllib
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.speech.text.time_phrases import grammar
from custom_components.chatterbox.speech.text.times import (
    TimeInSentence,
    prepare,
    times_in,
)
from tests.speech.text.spoken_times import (
    LANGUAGES,
    described,
    resolved,
)

REMAINDERS: Final = tomllib.loads(
    Path(__file__).with_name("remainders.toml").read_text("utf-8")
)


@pytest.mark.parametrize("language", [*REMAINDERS])
def test_no_time_is_a_part_of_another(language: str) -> None:
    """Of each sentence, one time is left alone: it means what it means as a whole, and leaves the text."""
    table = REMAINDERS[language]
    found = {
        words: [
            time
            for time in times_in(table["sentence"].format(words), language, joined=True)
            if time.is_alone
        ]
        for words in table["times"]
    }
    meanings = {
        words: {described(resolved(one.words, language=language)) for one in times}
        for words, times in found.items()
    }
    assert meanings == {words: {meant} for words, meant in table["times"].items()}
    text = " ".join(table["sentence"].format("").split())
    assert {one.rest for times in found.values() for one in times} == {text}


@pytest.mark.parametrize(
    ("language", "sentence", "span"),
    [
        (
            "en",
            "turn off the lights in twenty minutes",
            TimeInSentence("in twenty minutes", "turn off the lights"),
        ),
        (
            "en",
            "At half past six, turn on the heater.",
            TimeInSentence("At half past six", "turn on the heater."),
        ),
        ("en", "turn it off at six.", TimeInSentence("at six", "turn it off.")),
        (
            "en",
            "remind me at six pm about tomorrow.",
            TimeInSentence("at six pm", "remind me about tomorrow."),
        ),
        (
            "en",
            "light on waffle day at six",
            TimeInSentence("on waffle day at six", "light"),
        ),
        ("de", "schalte um 18 Uhr ein", TimeInSentence("um 18 Uhr", "schalte ein")),
        (
            "de",
            "Schalte in 20 Minuten das Licht aus",
            TimeInSentence("in 20 Minuten", "Schalte das Licht aus"),
        ),
        (
            "it",
            "accendi la luce all'alba",
            TimeInSentence("all'alba", "accendi la luce"),
        ),
        ("zh", "二十分钟后关闭厨房的灯", TimeInSentence("二十分钟后", "关闭厨房的灯")),
        (
            "fr",
            "éteins la lumière de l'entrée à 18 h 30",
            TimeInSentence("à 18 h 30", "éteins la lumière de l'entrée"),
        ),
    ],
)
def test_a_time_is_found_in_a_sentence(
    language: str, sentence: str, span: TimeInSentence
) -> None:
    assert times_in(sentence, language) == [span]


@pytest.mark.parametrize(
    "sentence",
    [
        *(
            "set the fan at 20%",
            "set the heater to 6",
            "turn on the evening light",
            "set it at 20.5",
        ),
        *(
            "dim the light at 6 %",
            "activate the sunset scene",
            "set the heater at 20 °",
            "x " * 200,
        ),
    ],
)
def test_numbers_and_names_are_no_times(sentence: str) -> None:
    assert times_in(sentence, "en") == []
    assert times_in(sentence, "ar") == []


@given(st.sampled_from(LANGUAGES), st.text(max_size=60))
def test_any_text_is_read(language: str, text: str) -> None:
    resolved(text, language=language)
    for span in times_in(text, language):
        assert span.words in text


def test_words_are_prepared_ahead() -> None:
    grammar.cache_clear()
    for language in (*LANGUAGES, "ar"):
        prepare(language)
    misses = grammar.cache_info().misses

    for language in LANGUAGES:
        times_in("8:00", language)
    assert grammar.cache_info().misses == misses
