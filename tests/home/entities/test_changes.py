"""The home is read again in the first turn after any change that an assistant can see."""

from collections.abc import Callable

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    entity_registry as er,
    floor_registry as fr,
    llm,
)
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.home.entities import async_get_home
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import KITCHEN, offer_of, run


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, KITCHEN)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    async_expose_entity(
        hass, conversation.DOMAIN, "light.unregistered", should_expose=True
    )
    hass.states.async_set("light.unregistered", "off", {"friendly_name": "Cellar Bulb"})
    async_get_home(
        hass, conversation.DOMAIN
    )  # decides which entities are exposed by default, and stores that
    return hass


async def test_a_state_changes_nothing(home: HomeAssistant) -> None:
    before = async_get_home(home, conversation.DOMAIN)

    await run(
        await offer_of(home, llm.LLM_API_ASSIST),
        "intent__HassTurnOn",
        name="Kitchen Light",
    )
    await home.async_block_till_done()

    assert home.states.is_state("light.kitchen", "on")
    assert async_get_home(home, conversation.DOMAIN) is before


CHANGES: dict[str, Callable[[HomeAssistant], object]] = {
    "entity renamed": lambda hass: er.async_get(hass).async_update_entity(
        "light.kitchen", name="Moon"
    ),
    "alias added": lambda hass: er.async_get(hass).async_update_entity(
        "light.kitchen", aliases=[er.COMPUTED_NAME, "Moon"]
    ),
    "entity moved": lambda hass: er.async_get(hass).async_update_entity(
        "light.lamp", area_id="hallway"
    ),
    "entity removed": lambda hass: er.async_get(hass).async_remove("light.lamp"),
    "entity hidden": lambda hass: async_expose_entity(
        hass, conversation.DOMAIN, "light.lamp", should_expose=False
    ),
    "unregistered hidden": lambda hass: async_expose_entity(
        hass, conversation.DOMAIN, "light.unregistered", should_expose=False
    ),
    "unregistered renamed": lambda hass: hass.states.async_set(
        "light.unregistered", "off", {"friendly_name": "Moon"}
    ),
    "state removed": lambda hass: hass.states.async_remove("light.unregistered"),
    "state added": lambda hass: hass.states.async_set(
        "light.moon", "off", {"friendly_name": "Moon"}
    ),
    "area renamed": lambda hass: ar.async_get(hass).async_update(
        "kitchen", name="Galley"
    ),
    "area alias added": lambda hass: ar.async_get(hass).async_update(
        "kitchen", aliases={"Galley"}
    ),
    "area moved": lambda hass: ar.async_get(hass).async_update(
        "kitchen", floor_id=None
    ),
    "area removed": lambda hass: ar.async_get(hass).async_delete("hallway"),
    "floor renamed": lambda hass: fr.async_get(hass).async_update(
        "ground_floor", name="Parterre"
    ),
    "floor removed": lambda hass: fr.async_get(hass).async_delete("ground_floor"),
}


@pytest.mark.each_row
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_change_of_the_home_is_seen_at_once(
    home: HomeAssistant, change: Callable[[HomeAssistant], object]
) -> None:
    before = async_get_home(home, conversation.DOMAIN)

    change(home)

    after = async_get_home(home, conversation.DOMAIN)
    assert after != before
    assert async_get_home(home, conversation.DOMAIN) is after
