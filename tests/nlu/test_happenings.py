"""Clauses are understood if every word is explained and they mean one entity; commands are left as they were said."""

import tomllib
from pathlib import Path
from typing import Final

import pytest

from custom_components.chatterbox.nlu.happenings import happening_lexicon, happenings
from custom_components.chatterbox.nlu.vocabulary import (
    HomeVocabulary,
    KnownEntity,
    NamedPlace,
)
from tests.nlu.home import demo_names

TABLE: Final[dict[str, dict[str, dict[str, str]]]] = tomllib.loads(
    Path(__file__).with_name("happenings.toml").read_text(encoding="utf-8")
)
ROOM: Final = "bath"


def vocabulary(language: str) -> HomeVocabulary:
    words = happening_lexicon(language)
    assert words
    names = TABLE[language]["names"]
    entities = [
        KnownEntity(
            "binary_sensor.front_door", "binary_sensor", (names["door"],), "door"
        ),
        KnownEntity("lock.front_door", "lock", (names["door"],)),
        KnownEntity("lock.shed", "lock", ("Qwert",)),
        KnownEntity(
            "binary_sensor.shed", "binary_sensor", ("Qwert Abc",), "door", "shed"
        ),
        KnownEntity("light.porch", "light", (names["light"],)),
        KnownEntity(
            "sensor.humidity", "sensor", (names["humidity"],), "humidity", ROOM
        ),
        KnownEntity("sensor.bath", "sensor", ("Xyz",), "temperature", ROOM),
        KnownEntity("sensor.attic", "sensor", ("Zyx",), "temperature", "attic"),
        KnownEntity("switch.washer", "switch", (names["washer"],)),
        KnownEntity("person.anna", "person", ("Anna",)),
        KnownEntity("event.bell", "event", (names["bell"],), "doorbell"),
        KnownEntity("binary_sensor.motion", "binary_sensor", ("Pir",), "motion", ROOM),
    ]
    places = NamedPlace((names["room"],), frozenset({ROOM}))
    return HomeVocabulary(tuple(entities), (places,), words)


@pytest.mark.parametrize("language", TABLE)
def test_they_mean_one_entity_and_its_state(language: str) -> None:
    names = vocabulary(language)
    wrong = {}
    for sentence, meant in TABLE[language]["sentences"].items():
        found = [
            f"{'once ' if one.is_once else ''}{one.entity_id} {one.state}".strip()
            + f": {one.command}"
            for one in happenings(sentence, names)
        ]
        if meant not in (found or ["none"]):
            wrong[sentence] = found
    assert wrong == {}


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("nl", "als de voordeur opengaat, doe het licht aan"),
        ("sv", "när ytterdörren öppnas, tänd lampan"),
        ("de", "wenn die Haustür aufgeht, mach das Licht an"),
    ],
)
def test_the_name_of_a_sensor_may_be_one_word_with_what_it_senses(
    language: str, sentence: str
) -> None:
    words = happening_lexicon(language)
    assert words
    found = [*happenings(sentence, demo_names(language, words))]
    assert {(one.entity_id, one.state) for one in found} == {
        ("binary_sensor.front_door_contact", "on")
    }
