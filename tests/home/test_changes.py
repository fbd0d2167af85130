"""The home is read again in the first turn after any change that an assistant can see."""

from collections.abc import Callable

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er, floor_registry as fr, llm
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.home.entities import async_get_home
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import KITCHEN, offer_of, run


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, KITCHEN)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    async_expose_entity(hass, conversation.DOMAIN, "light.unregistered", should_expose=True)
    hass.states.async_set("light.unregistered", "off", {"friendly_name": "Cellar Bulb"})
    async_get_home(hass, conversation.DOMAIN)  # decides which entities are exposed by default, and stores that
    return hass


async def test_a_state_changes_nothing(home: HomeAssistant) -> None:
    before = async_get_home(home, conversation.DOMAIN)

    await run(await offer_of(home, llm.LLM_API_ASSIST), "intent__HassTurnOn", name="Kitchen Light")
    await home.async_block_till_done()

    assert home.states.is_state("light.kitchen", "on")
    assert async_get_home(home, conversation.DOMAIN) is before


def _rename_entity(hass: HomeAssistant) -> None:
    er.async_get(hass).async_update_entity("light.kitchen", name="Moon")


def _add_alias(hass: HomeAssistant) -> None:
    er.async_get(hass).async_update_entity("light.kitchen", aliases=[er.COMPUTED_NAME, "Moon"])


def _move_entity(hass: HomeAssistant) -> None:
    er.async_get(hass).async_update_entity("light.lamp", area_id="hallway")


def _remove_entity(hass: HomeAssistant) -> None:
    er.async_get(hass).async_remove("light.lamp")


def _hide(hass: HomeAssistant) -> None:
    async_expose_entity(hass, conversation.DOMAIN, "light.lamp", should_expose=False)


def _hide_unregistered(hass: HomeAssistant) -> None:
    async_expose_entity(hass, conversation.DOMAIN, "light.unregistered", should_expose=False)


def _rename_unregistered(hass: HomeAssistant) -> None:
    hass.states.async_set("light.unregistered", "off", {"friendly_name": "Moon"})


def _remove_state(hass: HomeAssistant) -> None:
    hass.states.async_remove("light.unregistered")


def _add_state(hass: HomeAssistant) -> None:
    hass.states.async_set("light.moon", "off", {"friendly_name": "Moon"})


def _rename_area(hass: HomeAssistant) -> None:
    ar.async_get(hass).async_update("kitchen", name="Galley")


def _add_area_alias(hass: HomeAssistant) -> None:
    ar.async_get(hass).async_update("kitchen", aliases={"Galley"})


def _move_area(hass: HomeAssistant) -> None:
    ar.async_get(hass).async_update("kitchen", floor_id=None)


def _remove_area(hass: HomeAssistant) -> None:
    ar.async_get(hass).async_delete("hallway")


def _rename_floor(hass: HomeAssistant) -> None:
    fr.async_get(hass).async_update("ground_floor", name="Parterre")


def _remove_floor(hass: HomeAssistant) -> None:
    fr.async_get(hass).async_delete("ground_floor")


CHANGES_OF_THE_HOME = (
    *(_rename_entity, _add_alias, _move_entity, _remove_entity, _hide),
    *(_hide_unregistered, _rename_unregistered, _remove_state, _add_state),
    *(_rename_area, _add_area_alias, _move_area, _remove_area, _rename_floor, _remove_floor),
)


@pytest.mark.parametrize("change", CHANGES_OF_THE_HOME, ids=[change.__name__ for change in CHANGES_OF_THE_HOME])
async def test_a_change_of_the_home_is_seen_at_once(
    home: HomeAssistant, change: Callable[[HomeAssistant], None]
) -> None:
    before = async_get_home(home, conversation.DOMAIN)

    change(home)

    after = async_get_home(home, conversation.DOMAIN)
    assert after != before
    assert async_get_home(home, conversation.DOMAIN) is after
