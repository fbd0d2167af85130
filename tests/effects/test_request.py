"""The places that the words of a person may mean, and the bounds of what is read."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, floor_registry as fr

from custom_components.chatterbox.agent.text import MOST_COMPARED
from custom_components.chatterbox.effects.request import async_request
from tests.support.one_home import in_one_home

HOME = """
floors:
  - { id: upper, name: Piętro, level: 1 }
areas:
  - { id: kitchen, name: Kuchnia }
  - { id: bath, name: Łazienka, floor: upper, aliases: [Bad] }
  - { id: study, name: 书房 }
entities:
  - { name: Lampa, id: light.lamp, area: kitchen, state: "off" }
"""


@in_one_home(
    ("text", "here", "is_meant"),
    [
        ("", None, {"Kuchnia", "Łazienka", "书房", "Piętro"}),
        ("Zgaś światło w kuchni", None, {"Kuchnia"}),
        ("Zgaś światło", "Łazienka", {"Łazienka", "Piętro"}),
        ("Światła na piętrze", None, {"Piętro"}),
        ("Licht im Bad aus", None, {"Łazienka"}),
        ("关掉书房的灯", None, {"书房"}),
        ("Good night", None, set()),
    ],
)
async def test_words_mean_the_places_that_they_name_and_those_around_the_person(
    home: HomeAssistant, text: str, here: str | None, is_meant: set[str]
) -> None:
    area = ar.async_get(home).async_get_area_by_name(here) if here else None
    request = await async_request(home, text, area.id if area else None, "en")

    places = {area.name: request.may_mean("area", {area.id}) for area in ar.async_get(home).async_list_areas()}
    places |= {one.name: request.may_mean("floor", {one.floor_id}) for one in fr.async_get(home).async_list_floors()}

    assert {place for place, may_be_meant in places.items() if may_be_meant} == is_meant
    assert not request.may_mean("area", set())


async def test_of_a_long_text_only_the_end_is_read(home: HomeAssistant) -> None:
    request = await async_request(home, "turn off the light " * 5_000 + "in the kitchen", None, "en")

    assert request.words[-3:] == ("in", "the", "kitchen")
    assert len(request.words) < MOST_COMPARED
    assert request.gist.wanted == frozenset()


async def test_a_book_is_no_question(home: HomeAssistant) -> None:
    request = await async_request(home, "is the light on " * MOST_COMPARED, None, "en")
    assert not request.gist.asks
