"""The sentences of the tests, by language, and what they are read with."""

import tomllib
from pathlib import Path

from custom_components.chatterbox.nlu.lexicon import Lexicon, lexicon
from custom_components.chatterbox.nlu.requests import (
    Surroundings,
)

HERE = Surroundings("living_room", frozenset({"media_player.living_room_speaker"}))
SENTENCES = {
    file.stem: tomllib.loads(file.read_text("utf-8"))
    for file in Path(__file__).parent.glob("sentences/*.toml")
}
"""By language and section: `requests` with what they mean, `unreached` with what they should mean, and `none`."""


def words_of(language: str) -> Lexicon:
    """Return the words of a language, which has some."""
    words = lexicon(language)
    assert words
    return words


def rows(section: str, *languages: str) -> list[tuple[str, str, str]]:
    """Return the sentences of a section in some languages, or in all of them, with what they mean."""
    return [
        (language, sentence, meaning)
        for language, sections in SENTENCES.items()
        if language in (languages or SENTENCES)
        for meaning, texts in sections.get(section, {}).items()
        for sentence in texts
    ]
