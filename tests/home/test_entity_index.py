"""Words are compared in any language, and the entity that is meant is among the few that are found of 2,000."""

from dataclasses import replace

import pytest
from homeassistant.core import HomeAssistant, split_entity_id
from hypothesis import given, strategies as st

from custom_components.chatterbox.home.entities import (
    ExposedEntity,
    Floor,
    Home,
    NamedEntity,
    Room,
    listed_names,
)
from custom_components.chatterbox.home.entity_index import (
    EntityIndex,
    EntityQuery,
    Vocabulary,
    words_in,
)
from custom_components.chatterbox.home.search import MOST_LISTED, async_kind_names
from tests.support.one_home import in_one_home
from tests.support.spoken_homes.spoken_home import LANGUAGES, SpokenHome

LEAST = 0.98
ROOMS = (
    Room("Kitchen", (), "kitchen", "ground"),
    Room("Bedroom", ("Chamber",), "bedroom", "upper"),
)
NAMES = ("Ceiling Light", "Heater", "Window", "Radio")
DOMAINS = ("light", "climate", "binary_sensor", "media_player")


def home() -> Home:
    """Return a small home, in which each room has the same things."""
    named = [
        (
            NamedEntity(
                f"{domain}.{room.area_id}", (f"{room.name} {name}",), (room.name,)
            ),
            room.area_id,
        )
        for room in ROOMS
        for domain, name in zip(DOMAINS, NAMES, strict=True)
    ]
    listed = listed_names([one for one, _ in named])
    entities = tuple(
        ExposedEntity(
            one.entity_id,
            split_entity_id(one.entity_id)[0],
            one.names,
            area,
            listed[one.entity_id][0],
            (),
        )
        for one, area in named
    )
    by_room: dict[str | None, tuple[ExposedEntity, ...]] = {
        room.area_id: tuple(one for one in entities if one.area_id == room.area_id)
        for room in ROOMS
    }
    floors = (
        Floor("Ground Floor", (), "ground"),
        Floor("Upper Floor", ("Attic",), "upper"),
    )
    return Home(floors, ROOMS, entities, by_room)


def found(query: EntityQuery, most: int = 3) -> list[str]:
    """Return the ids of what is found."""
    return [entity.entity_id for entity in EntityIndex(home(), {}).find(query, most)]


@in_one_home("language", LANGUAGES, share=5)
async def test_what_is_meant_is_among_those_that_are_told(
    hass: HomeAssistant, language: str
) -> None:
    spoken = SpokenHome.read(language)
    words = await async_kind_names(hass, (language,), spoken.kinds.values())
    index = EntityIndex(
        spoken.home,
        {entity_id: words[kind] for entity_id, kind in spoken.kinds.items()},
    )
    assert len(spoken.home.entities) == 2_000
    missed = [
        saying.query.words
        for saying in spoken.sayings
        if saying.means
        not in [entity.entity_id for entity in index.find(saying.query, MOST_LISTED)]
    ]
    assert len(missed) <= (1 - LEAST) * len(spoken.sayings), missed


@pytest.mark.parametrize(
    ("query", "first"),
    [
        (EntityQuery("turn on the kitchen ceiling light"), "light.kitchen"),
        (EntityQuery("is the window in the chamber open"), "binary_sensor.bedroom"),
        (EntityQuery("the radio in the attic"), "media_player.bedroom"),
        (EntityQuery("turn on the light", area_id="bedroom"), "light.bedroom"),
        (
            EntityQuery("turn on the light in the kitchen", area_id="bedroom"),
            "light.kitchen",
        ),
        (
            EntityQuery("turn it off again", used=("climate.kitchen", "light.gone")),
            "climate.kitchen",
        ),
        (
            EntityQuery(
                "and in the bedroom?", before="is the window in the kitchen open"
            ),
            "binary_sensor.bedroom",
        ),
    ],
)
def test_the_likeliest_entity_comes_first(query: EntityQuery, first: str) -> None:
    assert found(query)[0] == first


def test_the_room_of_the_speaker_is_found_where_words_mean_nothing_and_nothing_without_one() -> (
    None
):
    assert found(EntityQuery("so what now", area_id="bedroom"), 4)[:2] == [
        "light.bedroom",
        "climate.bedroom",
    ]
    assert found(EntityQuery("tell me a joke")) == []
    assert found(EntityQuery("")) == []


def test_names_of_kinds_match_in_any_language() -> None:
    index = EntityIndex(home(), {"light.kitchen": ("Leuchte",)})
    assert index.find(EntityQuery("Leuchten an"), 1)[0].entity_id == "light.kitchen"


def test_the_same_question_has_the_same_answer_whatever_was_asked_before() -> None:
    index, query = (
        EntityIndex(home(), {}),
        EntityQuery("radio and light", area_id="kitchen"),
    )
    first = index.find(query, 5)
    index.find(EntityQuery("window bedroom"), 5)
    assert (
        index.find(query, 5) == first == EntityIndex(home(), {}).find(replace(query), 5)
    )


def test_a_home_of_nothing_has_nothing_to_find() -> None:
    assert (
        EntityIndex(Home((), (), ()), {}).find(
            EntityQuery("light", area_id="kitchen"), 5
        )
        == []
    )


def test_only_what_fits_about_as_well_as_the_best_is_fitting() -> None:
    index = EntityIndex(home(), {})
    fitting = [
        entity.entity_id
        for entity in index.fitting("bedroom radio", index.home.entities)
    ]
    assert fitting[0] == "media_player.bedroom"
    assert "light.kitchen" not in fitting
    assert index.fitting("radio", index.home.by_room["kitchen"]) == [
        index.home.by_room["kitchen"][3]
    ]
    assert index.fitting("joke", index.home.entities) == []


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
def test_words_are_compared_in_small_letters_and_without_accents(
    text: str, words: list[str]
) -> None:
    assert words_in(text) == words


@pytest.mark.parametrize(
    ("sentence", "meant"),
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
def test_endings_slips_and_parts_do_no_harm(sentence: str, meant: str) -> None:
    (plain,) = words_in(sentence)
    vocabulary = Vocabulary([meant, "thermostat", "garage", "7", "灯"])
    assert list(vocabulary.similar(plain)) == [meant]
    assert 0.4 < vocabulary.similar(plain)[meant] < 1


@pytest.mark.parametrize("sentence", ["12", "1", "灯光", "on", "x1"])
def test_numbers_signs_and_short_words_are_meant_exactly(sentence: str) -> None:
    assert not Vocabulary(["2", "11", "112", "灯", "one", "an", "x2"]).similar(sentence)


@given(st.lists(st.text(max_size=12), max_size=8), st.text(max_size=12))
def test_every_word_finds_itself(texts: list[str], text: str) -> None:
    words = [word for one in (*texts, text) for word in words_in(one)]
    vocabulary = Vocabulary(words)
    for word in words:
        assert vocabulary.similar(word)[word] == 1
        assert all(0 < likeness <= 1 for likeness in vocabulary.similar(word).values())
