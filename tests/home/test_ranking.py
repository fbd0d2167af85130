"""Whether the thing that somebody means is among the few that their words find in a home of 2,000."""

from dataclasses import replace

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.home.entities import Floor, Home, Room, Thing
from custom_components.chatterbox.home.kinds import async_read_kinds
from custom_components.chatterbox.home.names import NamedThing, tell_names
from custom_components.chatterbox.home.ranking import Asked, ThingIndex
from custom_components.chatterbox.home.search import MOST_TOLD
from tests.support.spoken_things.spoken_home import LANGUAGES, SpokenHome

LEAST = 0.98
ROOMS = (Room("kitchen", "Kitchen", (), "ground"), Room("bedroom", "Bedroom", ("Chamber",), "upper"))
NAMES = ("Ceiling Light", "Heater", "Window", "Radio")
DOMAINS = ("light", "climate", "binary_sensor", "media_player")


def home() -> Home:
    """Return a small home, in which each room has the same things."""
    named = [
        (NamedThing(f"{domain}.{room.area_id}", (f"{room.name} {name}",), (room.name,)), room.area_id)
        for room in ROOMS
        for domain, name in zip(DOMAINS, NAMES, strict=True)
    ]
    told = tell_names([one for one, _ in named])
    things = tuple(Thing(one.entity_id, one.names, area, told[one.entity_id].name, ()) for one, area in named)
    by_room: dict[str | None, tuple[Thing, ...]] = {
        room.area_id: tuple(one for one in things if one.area_id == room.area_id) for room in ROOMS
    }
    floors = (Floor("ground", "Ground Floor", ()), Floor("upper", "Upper Floor", ("Attic",)))
    return Home(floors, ROOMS, things, by_room)


def found(asked: Asked, most: int = 3) -> list[str]:
    """Return the ids of what is found."""
    return [thing.entity_id for thing in ThingIndex(home(), {}).find(asked, most)]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_is_meant_is_among_those_that_are_told(hass: HomeAssistant, language: str) -> None:
    spoken = SpokenHome.read(language)
    words = await async_read_kinds(hass, (language,), spoken.kinds.values())
    index = ThingIndex(spoken.home, {entity_id: words[kind] for entity_id, kind in spoken.kinds.items()})
    assert len(spoken.home.things) == 2_000
    missed = [
        saying.asked.words
        for saying in spoken.sayings
        if saying.means not in [thing.entity_id for thing in index.find(saying.asked, MOST_TOLD)]
    ]
    assert len(missed) <= (1 - LEAST) * len(spoken.sayings), missed


def test_what_is_named_comes_first() -> None:
    assert found(Asked("turn on the kitchen ceiling light"))[0] == "light.kitchen"
    assert found(Asked("is the window in the chamber open"))[0] == "binary_sensor.bedroom"
    assert found(Asked("the radio in the attic"))[0] == "media_player.bedroom"


def test_where_no_room_is_named_it_is_the_one_where_somebody_speaks() -> None:
    assert found(Asked("turn on the light", area_id="bedroom"))[0] == "light.bedroom"
    assert found(Asked("so what now", area_id="bedroom"), 4)[:2] == ["light.bedroom", "climate.bedroom"]
    assert found(Asked("turn on the light in the kitchen", area_id="bedroom"))[0] == "light.kitchen"


def test_what_was_used_last_is_meant_by_words_that_name_nothing() -> None:
    assert found(Asked("turn it off again", used=("climate.kitchen", "light.gone")), 1) == ["climate.kitchen"]


def test_the_sentence_before_says_what_is_meant_elsewhere() -> None:
    assert found(Asked("and in the bedroom?", before="is the window in the kitchen open"))[0] == "binary_sensor.bedroom"


def test_words_that_mean_nothing_here_find_nothing() -> None:
    assert found(Asked("tell me a joke")) == []
    assert found(Asked("")) == []


def test_what_things_are_counts_in_any_language() -> None:
    index = ThingIndex(home(), {"light.kitchen": ("Leuchte",)})
    assert index.find(Asked("Leuchten an"), 1)[0].entity_id == "light.kitchen"


def test_the_same_question_has_the_same_answer_whatever_was_asked_before() -> None:
    index, asked = ThingIndex(home(), {}), Asked("radio and light", area_id="kitchen")
    first = index.find(asked, 5)
    index.find(Asked("window bedroom"), 5)
    assert index.find(asked, 5) == first == ThingIndex(home(), {}).find(replace(asked), 5)


def test_a_home_of_nothing_has_nothing_to_find() -> None:
    assert ThingIndex(Home((), (), ()), {}).find(Asked("light", area_id="kitchen"), 5) == []


def test_only_what_fits_about_as_well_as_the_best_is_fitting() -> None:
    index = ThingIndex(home(), {})
    fitting = [thing.entity_id for thing in index.fitting("bedroom radio", index.home.things)]
    assert fitting[0] == "media_player.bedroom"
    assert "light.kitchen" not in fitting
    assert index.fitting("radio", index.home.by_room["kitchen"]) == [index.home.by_room["kitchen"][3]]
    assert index.fitting("joke", index.home.things) == []
