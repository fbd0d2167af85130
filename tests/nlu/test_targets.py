"""The entities that are meant are those of the room, or of the whole home."""

import pytest

from custom_components.chatterbox.nlu.requests import (
    EntityCommand,
    Surroundings,
    UnknownName,
)
from custom_components.chatterbox.nlu.understanding import understand
from tests.nlu.home import demo_names
from tests.nlu.spoken_requests import HERE, rows, words_of


@pytest.mark.parametrize(
    ("sentence", "lights"),
    [
        ("turn off the lights", 14),
        ("turn off the lights in the kitchen", 3),
        ("turn the room light off", 0),
    ],
)
def test_without_a_room_the_lights_are_all_of_them(sentence: str, lights: int) -> None:
    words = words_of("en")
    requests = understand(sentence, demo_names("en", words), Surroundings())
    assert (
        sum(len(one.ids) for one in requests if isinstance(one, EntityCommand))
        == lights
    )
    assert [one for one in requests if not isinstance(one, EntityCommand)] == []


@pytest.mark.parametrize(("language", "sentence", "name"), rows("unknown"))
def test_a_name_that_nothing_has_is_told_as_it_was_said(
    language: str, sentence: str, name: str
) -> None:
    words = words_of(language)
    unknown = understand(sentence, demo_names(language, words), HERE)
    assert [one.text for one in unknown if isinstance(one, UnknownName)] == [
        name
    ] * bool(name)
