"""What Assist offers is asked for once, and again in the very next turn after anything of it has changed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.components.llm import DATA_PLATFORMS, LLMTools
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    intent,
    llm,
)
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockModule, MockPlatform, mock_integration, mock_platform

from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.home.description import AS_USUAL
from custom_components.chatterbox.settings.agent import HomeTelling
from custom_components.chatterbox.tools.dispatch import ToolOffer, async_offer_tools
from custom_components.chatterbox.tools.tool_cache import MAX_OFFERS
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import KITCHEN, LISTED, StubTool, asked, offer_of, register, run, satellite

ASSIST = llm.LLM_API_ASSIST


@pytest.fixture
async def house(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, KITCHEN)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    assert await async_setup_component(hass, DOMAIN, {})  # has tools of its own
    async_expose_entity(hass, conversation.DOMAIN, "light.unregistered", should_expose=True)
    hass.states.async_set("light.unregistered", "off", {"friendly_name": "Cellar Bulb"})
    await offer_of(hass, ASSIST)  # asks which things are exposed by default, which is then stored
    return hass


def _is_same(one: ToolOffer, other: ToolOffer) -> bool:
    """Tell whether two turns were given the same answer, and not only an equal one."""
    return one.instance is not None and other.instance is not None and one.instance.api is other.instance.api


async def test_it_is_asked_once(house: HomeAssistant) -> None:
    first, second = await offer_of(house, ASSIST), await offer_of(house, ASSIST)

    assert _is_same(first, second)
    assert (second.prompt, second.context, second.definitions) == (first.prompt, first.context, first.definitions)
    assert not (await run(second, "intent__HassTurnOn", name="Kitchen Light")).is_error


async def test_a_state_changes_nothing(house: HomeAssistant) -> None:
    first = await offer_of(house, ASSIST)
    await run(first, "intent__HassTurnOn", name="Kitchen Light")
    await house.async_block_till_done()

    assert house.states.is_state("light.kitchen", "on")
    assert _is_same(first, await offer_of(house, ASSIST))


async def test_each_who_asks_has_an_answer_of_their_own(house: HomeAssistant) -> None:
    kitchen, hallway = satellite(house, "kitchen"), satellite(house, "hallway")

    in_kitchen = await offer_of(house, ASSIST, device_id=kitchen)
    in_hallway = await offer_of(house, ASSIST, device_id=hallway)
    listed = await offer_of(house, ASSIST, device_id=kitchen, home=LISTED)

    assert "You are in area Kitchen" in in_kitchen.context
    assert "You are in area Hallway" in in_hallway.context
    assert "Static Context" in listed.prompt
    assert _is_same(in_kitchen, await offer_of(house, ASSIST, device_id=kitchen))
    assert (await offer_of(house, ASSIST)).prompt == in_kitchen.prompt == in_hallway.prompt


async def test_a_tool_runs_for_who_asks_now(house: HomeAssistant) -> None:
    kitchen = satellite(house, "kitchen")
    contexts = [Context(), Context()]
    states = []
    for on, context in zip(("intent__HassTurnOn", "intent__HassTurnOff"), contexts, strict=True):
        offer = await async_offer_tools(house, [ASSIST], replace(asked(kitchen), context=context))
        await run(offer, on, name="Kitchen Light")
        await house.async_block_till_done()
        states.append(house.states.get("light.kitchen"))

    assert [state and state.context.id for state in states] == [context.id for context in contexts]


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
@pytest.mark.parametrize("home", [AS_USUAL, LISTED], ids=["short", "listed"])
async def test_a_change_of_the_home_is_told_in_the_next_turn(
    house: HomeAssistant, change: Callable[[HomeAssistant], None], home: HomeTelling
) -> None:
    before = await offer_of(house, ASSIST, home=home)

    change(house)
    after = await offer_of(house, ASSIST, home=home)

    floors_alone = {_move_area, _rename_floor, _remove_floor}
    assert (after.prompt != before.prompt) is not (home is LISTED and change in floors_alone)
    assert _is_same(await offer_of(house, ASSIST, home=home), await offer_of(house, ASSIST, home=home))


async def test_a_device_that_moves_is_told_so_in_the_next_turn(house: HomeAssistant) -> None:
    device_id = satellite(house, "kitchen")
    before = await offer_of(house, ASSIST, device_id=device_id)

    dr.async_get(house).async_update_device(device_id, area_id="hallway")
    after = await offer_of(house, ASSIST, device_id=device_id)

    assert "You are in area Kitchen" in before.context
    assert "You are in area Hallway" in after.context


async def test_a_device_that_learns_timers_has_them_in_the_next_turn(house: HomeAssistant) -> None:
    device_id = satellite(house, "kitchen")
    before = await offer_of(house, ASSIST, device_id=device_id)

    async_register_timer_handler(house, device_id, lambda *_: None)
    after = await offer_of(house, ASSIST, device_id=device_id)

    assert "not able to start timers" in before.prompt + before.context
    assert "not able to start timers" not in after.prompt + after.context
    assert not (await run(after, "intent__HassStartTimer", minutes=5)).is_error


async def test_timers_of_one_device_are_told_to_all_in_the_next_turn(house: HomeAssistant) -> None:
    names = {tool.name for tool in (await offer_of(house, ASSIST)).definitions}
    unregister = async_register_timer_handler(house, satellite(house, "hallway"), lambda *_: None)

    later = {tool.name for tool in (await offer_of(house, ASSIST)).definitions}
    unregister()

    assert later - names == {tool for tool in later if "Timer" in tool} - {"intent__HassCancelAllTimers"}
    assert "intent__HassStartTimer" in later


async def test_a_script_that_comes_changes_or_goes_is_offered_as_it_is(house: HomeAssistant) -> None:
    async def reload(script: str) -> None:
        text = f"script:\n  {script}\n"
        await house.async_add_executor_job(Path(house.config.path("configuration.yaml")).write_text, text)
        await house.services.async_call("script", "reload", blocking=True)
        er.async_get(house).async_update_entity("script.night", aliases=[])

    async def told() -> str:
        offer, own = await offer_of(house, ASSIST), await llm.async_get_api(house, ASSIST, asked())
        assert {tool.name for tool in offer.definitions} == {tool.name for tool in own.tools}
        return next((tool.description for tool in offer.definitions if tool.name == "script__night"), "")

    texts = [await told()]
    assert await async_setup_component(house, "script", {"script": {"night": {"description": "One.", "sequence": []}}})
    async_expose_entity(house, conversation.DOMAIN, "script.night", should_expose=True)
    er.async_get(house).async_update_entity("script.night", aliases=[])
    texts.append(await told())
    await reload("night: { description: Two., sequence: [] }")
    texts.append(await told())
    await reload("night: { description: Three., sequence: [] }")
    er.async_get(house).async_remove("script.night")
    texts.append(await told())

    assert [text.partition(".")[0] for text in texts] == ["", "One", "Two", ""]


class Shout(intent.IntentHandler):
    """An intent of an `intent_script`, or of somebody else."""

    intent_type = "HassTurnOn"
    description = "Shouts."


async def test_an_intent_that_is_replaced_is_offered_as_it_is(house: HomeAssistant) -> None:
    def described(offer: ToolOffer) -> str:
        return next(tool.description for tool in offer.definitions if tool.name == "intent__HassTurnOn")

    await offer_of(house, ASSIST)
    intent.async_register(house, Shout())

    assert described(await offer_of(house, ASSIST)) == "Shouts."


async def test_a_component_that_is_loaded_has_its_say_in_the_next_turn(house: HomeAssistant) -> None:
    assert "todo__get_items" not in {tool.name for tool in (await offer_of(house, ASSIST)).definitions}

    assert await async_setup_component(house, "todo", {})
    house.states.async_set("todo.groceries", "0", {"friendly_name": "Groceries"})
    async_expose_entity(house, conversation.DOMAIN, "todo.groceries", should_expose=True)

    assert "todo__get_items" in {tool.name for tool in (await offer_of(house, ASSIST)).definitions}


async def test_the_weather_is_offered_from_when_there_is_some(house: HomeAssistant) -> None:
    await offer_of(house, ASSIST)

    house.states.async_set("weather.home", "sunny", {"friendly_name": "Home Weather"})
    async_expose_entity(house, conversation.DOMAIN, "weather.home", should_expose=True)

    assert "chatterbox__get_forecast" in {tool.name for tool in (await offer_of(house, ASSIST)).definitions}


async def test_another_language_of_the_house_is_another_question(house: HomeAssistant) -> None:
    first = await offer_of(house, ASSIST)
    await house.config.async_update(language="de")

    assert not _is_same(first, await offer_of(house, ASSIST))


async def test_where_others_have_a_say_it_is_asked_every_time(house: HomeAssistant) -> None:
    class Butler(MockPlatform):
        """Adds a sentence that changes from one question to the next."""

        __name__ = "custom_components.butler.llm"
        asked = 0

        def async_get_tools(self, _hass: HomeAssistant, _context: llm.LLMContext, _api_id: str) -> LLMTools:
            self.asked += 1
            return LLMTools([], f"Asked {self.asked} times.")

    mock_integration(house, MockModule("butler"))
    mock_platform(house, "butler.llm", Butler())
    assert await async_setup_component(house, "butler", {})
    assert "butler" in await house.data[DATA_PLATFORMS].async_get_platforms()

    first, second = await offer_of(house, ASSIST), await offer_of(house, ASSIST)

    assert not _is_same(first, second)
    assert first.prompt + first.context != second.prompt + second.context


async def test_other_apis_are_asked_every_time_beside_what_is_kept(house: HomeAssistant) -> None:
    other = register(house, "other", StubTool(name="look"), name="Other", prompt="Before.")
    first = await offer_of(house, ASSIST, "other")
    other.prompt = "After."

    second = await offer_of(house, ASSIST, "other")

    assert "Before." in first.prompt
    assert "After." in second.prompt
    assert second.prompt.replace("After.", "Before.") == first.prompt
    assert not (await run(second, "look")).is_error


async def test_another_assist_is_asked_anew(house: HomeAssistant) -> None:
    await offer_of(house, ASSIST)
    brought = register(house, "brought", StubTool(name="look"), prompt="Mine.")
    brought.id = ASSIST

    offer = await async_offer_tools(house, [ASSIST], asked(), brought=brought)

    assert offer.prompt == "Mine."


async def test_only_so_many_answers_are_kept(house: HomeAssistant) -> None:
    first = await offer_of(house, ASSIST)
    for number in range(MAX_OFFERS):
        await async_offer_tools(house, [ASSIST], replace(asked(), language=f"x-{number}"))

    assert not _is_same(first, await offer_of(house, ASSIST))
