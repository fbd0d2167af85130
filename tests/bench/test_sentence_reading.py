"""The benchmark of reading takes all sentences of a language, in homes of the sizes that are promised."""

import pytest

from bench.sentence_reading import ALLOWED, milliseconds, names_of, sentences_in
from custom_components.chatterbox.nlu.lexicon import lexicon


@pytest.mark.parametrize("language", ["en", "pl"])
def test_every_sentence_is_read_in_homes_of_both_sizes(language: str) -> None:
    words = lexicon(language)
    assert words is not None
    sentences = sentences_in(language)
    assert len(sentences) > 100
    for entities in ALLOWED:
        names = names_of(language, entities, words)
        assert len(names.entities) == entities
        _, taken = milliseconds(sentences[:3], names)
        assert len(taken) == 3
