"""A conversation keeps the prompt with which it began: only news is added, and what no longer holds is corrected."""

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
)

from tests.support.llm_apis import satellite
from tests.support.prefixes import HELLO, prefix_of
from tests.support.servers.model_server import ScriptedModelServer
from tests.support.talk import AGENT, Serve

LAMP = "light.floor_lamp"


@pytest.fixture
async def server(serve: Serve, freezer: FrozenDateTimeFactory) -> ScriptedModelServer:
    """Set up an agent in the demo home."""
    freezer.move_to("2026-11-10 12:00:00+00:00")
    return await serve(HELLO)


async def words_sent(
    hass: HomeAssistant,
    server: ScriptedModelServer,
    text: str,
    area: str = "Kitchen",
    talk: str = "talk",
) -> str:
    """Say something in a room; return the user's message as the model got it."""
    areas = {one.name: one.id for one in ar.async_get(hass).async_list_areas()}
    await conversation.async_converse(
        hass, text, talk, Context(), "en", AGENT, satellite(hass, areas[area])
    )
    content = server.requests[-1].body["messages"][-1]["content"]  # type: ignore[index,call-overload]
    assert isinstance(content, str)
    return content


def rename(hass: HomeAssistant, name: str) -> None:
    er.async_get(hass).async_update_entity(LAMP, name=name)


async def test_a_context_holds_only_what_the_messages_before_do_not(
    hass: HomeAssistant, server: ScriptedModelServer, freezer: FrozenDateTimeFactory
) -> None:
    first = await words_sent(hass, server, "one")
    second = await words_sent(hass, server, "two")
    freezer.move_to("2026-11-10 12:05:00+00:00")
    third = await words_sent(hass, server, "three")
    elsewhere = await words_sent(hass, server, "four", "Bedroom")
    other = await words_sent(hass, server, "five", "Bedroom", "other talk")

    assert "Room of the person: Kitchen" in first
    assert "2026-11-" in first
    assert second == "two"
    assert third.startswith("<context>\nIt is ")
    assert "2026-11-" not in third
    assert "Room" not in third
    assert "Room of the person: Bedroom" in elsewhere
    assert "2026-11-" in elsewhere
    assert "Room of the person: Bedroom" in other


async def test_a_renamed_device_is_told_beside_the_words_and_the_instructions_stay(
    hass: HomeAssistant, server: ScriptedModelServer
) -> None:
    before = await words_sent(hass, server, "one")
    rename(hass, "Dinosaur")
    renamed = await words_sent(hass, server, "two")
    unchanged = await words_sent(hass, server, "three")
    new = await words_sent(hass, server, "four", talk="other talk")
    prefixes = [prefix_of(request.body) for request in server.requests]

    assert "Dinosaur" not in before
    assert "Living Room, light Floor Lamp = Reading Lamp: now " in renamed
    assert "Living Room, light Floor Lamp Dinosaur" in renamed
    assert unchanged == "three"
    assert "Dinosaur" not in new
    assert prefixes[0] == prefixes[1] == prefixes[2]
    assert "Dinosaur" in prefixes[3]


async def test_a_change_that_is_undone_is_taken_back(
    hass: HomeAssistant, server: ScriptedModelServer
) -> None:
    name = er.async_get(hass).async_get(LAMP)
    assert name is not None
    await words_sent(hass, server, "one")
    rename(hass, "Dinosaur")
    await words_sent(hass, server, "two")
    er.async_get(hass).async_update_entity(LAMP, name=name.name)
    undone = await words_sent(hass, server, "three")

    assert "Dinosaur" not in undone
    assert (
        "in place of any that messages before name: nothing, the list is up to date again."
        in undone
    )


async def test_a_second_name_takes_the_place_of_the_first(
    hass: HomeAssistant, server: ScriptedModelServer
) -> None:
    await words_sent(hass, server, "one")
    rename(hass, "Dinosaur")
    await words_sent(hass, server, "two")
    rename(hass, "Dragon")
    renamed = await words_sent(hass, server, "three", "Bedroom")
    again = await words_sent(hass, server, "four", "Bedroom")

    assert "in place of any that messages before name:" in renamed
    assert "now Ground Floor / Living Room, light Floor Lamp Dragon" in renamed
    assert "Dinosaur" not in renamed
    assert again == "four"


async def test_an_entity_that_is_no_longer_exposed_is_told(
    hass: HomeAssistant, server: ScriptedModelServer
) -> None:
    await words_sent(hass, server, "one")
    async_expose_entity(hass, "conversation", LAMP, should_expose=False)
    unexposed = await words_sent(hass, server, "two")
    async_expose_entity(hass, "conversation", LAMP, should_expose=True)
    exposed = await words_sent(hass, server, "three")

    assert "Floor Lamp = Reading Lamp: no longer there" in unexposed
    assert "up to date again" in exposed


async def test_rooms_with_other_names_begin_the_prompt_anew(
    hass: HomeAssistant, server: ScriptedModelServer
) -> None:
    await words_sent(hass, server, "one")
    rename(hass, "Dinosaur")
    areas = {one.name: one.id for one in ar.async_get(hass).async_list_areas()}
    ar.async_get(hass).async_update(areas["Bedroom"], aliases={"Cave"})
    await words_sent(hass, server, "two")

    prefix = prefix_of(server.requests[-1].body)
    assert "Cave" in prefix
    assert "Dinosaur" in prefix


async def test_the_time_is_told_when_it_changes_also_backwards(
    hass: HomeAssistant, server: ScriptedModelServer, freezer: FrozenDateTimeFactory
) -> None:
    await words_sent(hass, server, "one")
    freezer.move_to("2026-11-10 12:05:00+00:00")
    later = await words_sent(hass, server, "two")
    same = await words_sent(hass, server, "three")
    freezer.move_to("2026-11-10 12:00:00+00:00")
    earlier = await words_sent(hass, server, "four")
    freezer.move_to("2026-11-11 12:00:00+00:00")
    tomorrow = await words_sent(hass, server, "five")

    assert same == "three"
    assert later.startswith("<context>\nIt is 04:05.\n</context>")
    assert earlier.startswith("<context>\nIt is 04:00.\n</context>")
    assert tomorrow.startswith(
        "<context>\nIt is Wednesday, 2026-11-11, 04:00.\n</context>"
    )


async def test_a_device_that_moves_is_told_with_both_places(
    hass: HomeAssistant, server: ScriptedModelServer
) -> None:
    await words_sent(hass, server, "one")
    areas = {one.name: one.id for one in ar.async_get(hass).async_list_areas()}
    entity = er.async_get(hass).async_get(LAMP)
    assert entity is not None
    assert entity.device_id is not None
    dr.async_get(hass).async_update_device(entity.device_id, area_id=areas["Kitchen"])
    moved = await words_sent(hass, server, "two")

    assert (
        "Living Room, light Floor Lamp = Reading Lamp: now Ground Floor / Kitchen, light Floor Lamp"
        in moved
    )


async def test_many_changes_begin_the_prompt_anew(
    hass: HomeAssistant, server: ScriptedModelServer
) -> None:
    await words_sent(hass, server, "one")
    for number, entity in enumerate([*er.async_get(hass).entities.values()]):
        er.async_get(hass).async_update_entity(entity.entity_id, name=f"Thing {number}")
    anew = await words_sent(hass, server, "two")

    assert "Thing" not in anew
    assert "Thing 1" in prefix_of(server.requests[-1].body)
    assert prefix_of(server.requests[0].body) != prefix_of(server.requests[-1].body)


async def test_only_the_latest_conversations_keep_their_prompts(
    hass: HomeAssistant, server: ScriptedModelServer
) -> None:
    for number in range(51):
        await words_sent(hass, server, "one", talk=f"talk {number}")
    rename(hass, "Dinosaur")

    assert "Dinosaur" in await words_sent(hass, server, "two", talk="talk 1")
    assert "Dinosaur" not in await words_sent(hass, server, "two", talk="talk 0")
    assert "Dinosaur" in prefix_of(server.requests[-1].body)
