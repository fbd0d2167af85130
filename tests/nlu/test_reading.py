"""A reading of a sentence has each word once, in few steps."""

import sys
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.text import fold
from custom_components.chatterbox.nlu.lexicon import tokens
from custom_components.chatterbox.nlu.reading import MOST_READINGS, MOST_WORDS, read
from custom_components.chatterbox.nlu.understanding import understand
from tests.nlu.home import demo_names
from tests.nlu.spoken_requests import HERE, SENTENCES, words_of

PIECES = {
    language: [
        *(
            phrase
            for section in SENTENCES[language].values()
            for texts in section.values()
            for phrase in texts
        ),
        *(
            "kitchen",
            "and",
            "und",
            ",",
            "?",
            "-5",
            "½",
            "²",
            "1e9",
            "2,700",
            "99999999999999999999",
            "ß",
            "e\u0301",
            "\u200b",
            "…",
        ),
    ]
    for language in SENTENCES
}


@pytest.mark.parametrize("language", SENTENCES)
@given(data=st.data())
def test_a_reading_has_each_word_once(language: str, data: st.DataObject) -> None:
    words = words_of(language)
    pieces = data.draw(
        st.lists(
            st.sampled_from(PIECES[language]) | st.text(max_size=5),
            min_size=1,
            max_size=5,
        )
    )
    sentence = " ".join(pieces)
    for reading in read(sentence, demo_names(language, words)):
        covered = [at for span in reading.spans for at in range(span.start, span.end)]
        assert covered == [*range(len(reading.tokens))]
        assert fold("".join(one.word for one in reading.tokens)) == fold(
            "".join(one.word for one in tokens(sentence))
        )
        understand(sentence, demo_names(language, words), HERE)


REPEATED = (
    "turn off the lights and",
    "on",
    "the kitchen",
    "add milk and",
    "remind me to",
    "5",
    "schalte das Licht",
)
MOST_CALLS = 40 * MOST_READINGS
"""Calls of functions for each word of a sentence, at most: phrases have few words, and texts at most twelve."""


@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.parametrize("piece", REPEATED)
def test_each_word_is_read_in_few_steps(language: str, piece: str) -> None:
    words = words_of(language)
    names = demo_names(language, words)
    read(piece, names)  # what is built once for a home does not count
    sentence = " ".join((piece.split() * MOST_WORDS)[:MOST_WORDS])
    assert calls_of(partial(read, sentence, names)) < MOST_CALLS * MOST_WORDS


def test_a_long_story_is_not_read() -> None:
    words = words_of("en")
    assert read("on " * (MOST_WORDS + 1), demo_names("en", words)) == ()


def calls_of(action: Callable[[], object]) -> int:
    """Return how many functions an action calls."""
    count = 0

    def profile(_code: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count
