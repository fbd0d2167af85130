"""A model finds the entities of a home with too many to list."""

import json

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er

from custom_components.chatterbox.tools.own.find_entities import FIND
from tests.home.many_lamps import FINDS, add_lamps
from tests.support.own_tools import own_call
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import (
    Serve,
    messages_of,
    move_into_the_demo_home,
    say,
)

pytestmark = pytest.mark.usefixtures("whole_home")
FEW = {"most_listed": 10}


async def find(hass: HomeAssistant, **arguments: str) -> list[str]:
    """Return the names that the tool finds."""
    answer = await FIND.async_answer(own_call(hass, {**arguments}))
    assert not answer.is_error
    found = answer.data["found"]
    assert isinstance(found, list)
    return [str(one["name"]) for one in found if isinstance(one, dict)]


async def complaint(hass: HomeAssistant, **arguments: str) -> str:
    """Return what the tool says where it cannot look."""
    answer = await FIND.async_answer(own_call(hass, {**arguments}))
    assert answer.is_error
    return str(answer.data["error"])


async def test_the_model_finds_what_it_is_not_told_of(
    hass: HomeAssistant, serve: Serve
) -> None:
    called = ScriptedCall(name=FINDS, arguments={"area": "office", "domain": "light"})
    answers = (
        ScriptedAnswer(tool_calls=(called,)),
        ScriptedAnswer(content="A desk lamp."),
    )
    server = await serve(Script(answers=answers), **FEW)
    await say(hass, "what is up there?")

    result = json.loads(str(messages_of(server.requests[-1])[-1]["content"]))
    assert result == {
        "found": [{"name": "Desk Lamp", "area": "Office", "domain": "light"}]
    }


async def test_entities_are_found_by_words_by_place_and_by_domain(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass)
    assert (await find(hass, words="desk lamp"))[0] == "Desk Lamp"
    assert (await find(hass, words="celing lights kichen"))[
        0
    ] == "Kitchen Ceiling Light"
    assert set(await find(hass, area="Upstairs", domain="cover")) == {
        "Bedroom Curtains",
        "Kids Room Blind",
    }
    assert await find(hass, area="study", domain="Light") == ["Desk Lamp"]
    assert await find(hass, words="blind", area="the kids room") == ["Kids Room Blind"]
    assert "Garage Door" in await find(hass, domain="cover")
    nothing = {
        "found": [],
        "note": "Nothing like that is there. Other words may find it, or its room or domain alone.",
    }
    assert (
        await FIND.async_answer(own_call(hass, {"words": "unicorn"}))
    ).data == nothing


async def test_what_is_not_exposed_is_not_found(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)
    assert "Desk Lamp" in await find(hass, words="desk lamp")
    (lamp,) = (
        state.entity_id
        for state in hass.states.async_all("light")
        if state.name == "Desk Lamp"
    )
    async_expose_entity(hass, conversation.DOMAIN, lamp, should_expose=False)
    assert "Desk Lamp" not in await find(hass, words="desk lamp")
    assert await find(hass, area="Office", domain="light") == []


async def test_a_long_answer_ends_and_says_how_to_ask_for_less(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass)
    add_lamps(hass, 200)
    answer = await FIND.async_answer(own_call(hass, {"words": "lantern"}))
    found = answer.data["found"]
    assert isinstance(found, list)
    assert len(found) == 50
    assert (
        answer.data["note"]
        == "There are 150 more. Give more of words, area and domain to narrow it down."
    )
    assert found[0] == {"name": "Lantern 0", "domain": "light"}


async def test_other_names_are_told(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)
    (lamp,) = (
        state.entity_id
        for state in hass.states.async_all("light")
        if state.name == "Desk Lamp"
    )
    er.async_get(hass).async_update_entity(
        lamp, aliases=[er.COMPUTED_NAME, "Writing Light"]
    )
    found = (
        await FIND.async_answer(
            own_call(hass, {"words": "writing light", "area": "office"})
        )
    ).data["found"]
    assert found == [
        {
            "name": "Desk Lamp",
            "also": ["Writing Light"],
            "area": "Office",
            "domain": "light",
        }
    ]


async def test_a_place_that_is_not_there_is_answered_with_those_that_are(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass)
    assert "The areas are: Bathroom, Bedroom, Garage" in await complaint(
        hass, area="Swimming pool"
    )
    assert "cover, " in await complaint(hass, domain="submarine")
    assert await complaint(hass) == "Give words, area or domain, or several of these."
    areas, entities = ar.async_get(hass), er.async_get(hass)
    areas.async_create('Attic "of", secrets')
    assert "Attic" not in await complaint(hass, area="Swimming pool")
    for number in range(120):
        area_id = areas.async_create(f"Cell: {number:03}").id
        entry = entities.async_get_or_create(
            "light", "demo", str(number), suggested_object_id=f"cell_{number}"
        )
        entities.async_update_entity(entry.entity_id, area_id=area_id)
        hass.states.async_set(entry.entity_id, "off")
        async_expose_entity(
            hass, conversation.DOMAIN, entry.entity_id, should_expose=True
        )
    message = await complaint(hass, area="Swimming pool")
    assert message.endswith(", and 29 more.")
    assert '"Cell: 001"' in message
