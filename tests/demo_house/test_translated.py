"""The demo house can be built with the names of each language."""

import pytest

from custom_components.demo_house.home import Home, read_home
from custom_components.demo_house.home_entity import HomeEntity
from demo.translated import ENGLISH, languages, translated_home

ENGLISH_HOME = read_home(translated_home(ENGLISH))


def area_of(home: Home, entity: HomeEntity) -> str | None:
    """Return the area of an entity, or of its device."""
    device = home.device(entity.device)
    return entity.area or (device.area if device else None)


@pytest.mark.parametrize("language", languages())
def test_a_language_names_all_of_the_home(language: str) -> None:
    home = read_home(translated_home(language))

    assert [one.id for one in home.entities] == [
        one.id for one in ENGLISH_HOME.entities
    ]
    assert [area_of(home, one) for one in home.entities] == [
        area_of(ENGLISH_HOME, one) for one in ENGLISH_HOME.entities
    ]
    assert len({one.name for one in home.entities}) == len(home.entities)


def test_there_are_names_in_every_language_of_the_interface() -> None:
    assert {*languages()} >= {
        "de",
        "en",
        "es",
        "fr",
        "it",
        "nl",
        "pl",
        "pt",
        "pt-BR",
        "sv",
        "zh-Hans",
    }
