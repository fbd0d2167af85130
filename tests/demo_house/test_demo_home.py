"""The home that `script/demo` shows: its size, and that Assist can use all of it."""

from collections import Counter

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
)
from homeassistant.helpers.intent import IntentResponseType
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from tests import REPOSITORY
from tests.demo_house.move_in import move_in, states_of

KITCHEN_LIGHTS = (
    "light.kitchen_ceiling",
    "light.kitchen_counter",
    "light.kitchen_pendant",
)


@pytest.fixture
async def demo_home(hass: HomeAssistant) -> MockConfigEntry:
    """Move into the demo home, with Home Assistant's own agent in it."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    return await move_in(
        hass, (REPOSITORY / "demo" / "home.yaml").read_text(encoding="utf-8")
    )


async def say(hass: HomeAssistant, sentence: str) -> conversation.ConversationResult:
    """Say a sentence to Home Assistant's own agent."""
    return await conversation.async_converse(
        hass,
        sentence,
        None,
        Context(),
        language="en",
        agent_id=conversation.HOME_ASSISTANT_AGENT,
    )


async def test_it_is_a_whole_home(
    hass: HomeAssistant, demo_home: MockConfigEntry
) -> None:
    domains = Counter(state.domain for state in states_of(hass, demo_home))

    assert domains.total() >= 30
    assert len(fr.async_get(hass).floors) == 2
    assert (
        sum(area.floor_id is not None for area in ar.async_get(hass).async_list_areas())
        >= 8
    )
    assert domains["light"] > 3
    assert {
        "switch",
        "lock",
        "cover",
        "climate",
        "media_player",
        "vacuum",
        "todo",
        "weather",
        "valve",
        "fan",
    } < set(domains)
    assert "unavailable" not in {state.state for state in states_of(hass, demo_home)}


async def test_every_entity_is_exposed_and_all_but_lists_have_a_place(
    hass: HomeAssistant, demo_home: MockConfigEntry
) -> None:
    entities, devices = er.async_get(hass), dr.async_get(hass)
    for state in states_of(hass, demo_home):
        entry = entities.async_get(state.entity_id)
        assert entry is not None
        device = (
            devices.async_get(entry.device_id, include_child_devices=False)
            if entry.device_id
            else None
        )
        assert async_should_expose(hass, "conversation", state.entity_id)
        has_place = entry.area_id or (device and device.area_id)
        assert has_place or state.domain in {"calendar", "todo"}
        assert device is None or (device.manufacturer and device.model)


async def test_turn_on_the_kitchen_lights(
    hass: HomeAssistant, demo_home: MockConfigEntry
) -> None:
    on_before = {
        state.entity_id for state in states_of(hass, demo_home) if state.state == "on"
    }

    result = await say(hass, "turn on the kitchen lights")
    await hass.async_block_till_done()

    on_now = {
        state.entity_id for state in states_of(hass, demo_home) if state.state == "on"
    }
    assert on_now - on_before == set(KITCHEN_LIGHTS)
    assert result.response.response_type is IntentResponseType.ACTION_DONE
    assert result.response.speech["plain"]["speech"]


@pytest.mark.usefixtures("demo_home")
async def test_whats_the_weather(hass: HomeAssistant) -> None:
    result = await say(hass, "what's the weather")

    assert result.response.response_type is IntentResponseType.QUERY_ANSWER
    assert "14.2" in result.response.speech["plain"]["speech"]


@pytest.mark.parametrize(
    ("sentence", "entity_id", "state"),
    [
        ("turn on the espresso machine", "switch.coffee_machine", "on"),
        ("turn off the lounge lights", "light.living_room_ceiling", "off"),
        ("turn off all lights upstairs", "light.desk_lamp", "off"),
        ("unlock the front door", "lock.front_door", "unlocked"),
        ("open the garage door", "cover.garage_door", "open"),
        ("start the vacuum", "vacuum.robot", "cleaning"),
        ("add eggs to the shopping list", "todo.shopping_list", "3"),
        ("activate movie night", "cover.living_room_blinds", "closed"),
        (
            "resume the living room speaker",
            "media_player.living_room_speaker",
            "playing",
        ),
        ("open the sprinkler", "valve.sprinkler", "open"),
    ],
)
async def test_home_assistants_own_agent_acts_in_it(
    hass: HomeAssistant,
    demo_home: MockConfigEntry,
    sentence: str,
    entity_id: str,
    state: str,
) -> None:
    assert {found.entity_id: found.state for found in states_of(hass, demo_home)}[
        entity_id
    ] != state

    result = await say(hass, sentence)
    await hass.async_block_till_done()

    assert result.response.error_code is None, result.response.speech
    assert {found.entity_id: found.state for found in states_of(hass, demo_home)}[
        entity_id
    ] == state
