"""An API that says and offers different things to each of us: everybody is told the same, and the rest beside it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import override

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, llm
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util

from custom_components.chatterbox.tools.dispatch import ToolOffer, async_offer_tools
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import KITCHEN, LISTED, StubTool, asked, error_of, offer_of, register, run, satellite

SAME_NAMES = """
areas: [{ id: attic, name: Attic }, { id: hall, name: Hall }, { id: cellar, name: Cellar }]
entities:
  - { name: Lamp, id: light.b, area: ORDER_1, state: "off" }
  - { name: Lamp, id: light.a, area: ORDER_2, state: "off" }
"""


@dataclass(slots=True, kw_only=True)
class MoodyApi(llm.API):
    """Answers each of us in its own way."""

    says: Callable[[llm.LLMContext], str]
    offers: Callable[[llm.LLMContext], Sequence[llm.Tool]] = lambda _: ()
    until: Callable[[llm.LLMContext], Awaitable[object]] | None = None
    """Awaited before it answers."""
    asked: int = 0

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        self.asked += 1
        if self.until:
            await self.until(llm_context)
        tools = list(self.offers(llm_context))
        return llm.APIInstance(self, self.says(llm_context), llm_context, tools, llm.selector_serializer)


@pytest.fixture
async def house(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, KITCHEN)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return hass


def _told(offer: ToolOffer) -> tuple[str, object]:
    """Return what a server is to read once."""
    return offer.prompt, offer.definitions


async def test_every_device_is_told_the_same_beside_where_it_is(house: HomeAssistant) -> None:
    kitchen, hallway = satellite(house, "kitchen"), satellite(house, "hallway")
    async_register_timer_handler(house, hallway, lambda *_: None)

    nobody = await offer_of(house, llm.LLM_API_ASSIST)
    in_kitchen = await offer_of(house, llm.LLM_API_ASSIST, device_id=kitchen)
    in_hallway = await offer_of(house, llm.LLM_API_ASSIST, device_id=hallway)

    assert _told(nobody) == _told(in_kitchen) == _told(in_hallway)
    assert " light: Lamp, Light (also Cooking Light)\n" in nobody.prompt
    assert "ask the user to specify an area" in nobody.context
    assert "ask the user to specify an area" not in in_kitchen.prompt + in_kitchen.context
    assert "You are in area Kitchen (floor Ground Floor)" in in_kitchen.context
    assert "You are in area Hallway (floor Ground Floor)" in in_hallway.context
    assert "not able to start timers" in in_kitchen.context
    assert "not able to start timers" not in in_hallway.prompt + in_hallway.context


async def test_a_tool_for_some_devices_is_told_to_all_and_refused_to_the_others(house: HomeAssistant) -> None:
    kitchen, hallway = satellite(house, "kitchen"), satellite(house, "hallway")
    started: list[object] = []
    async_register_timer_handler(house, hallway, lambda *event: started.append(event))

    offer = await offer_of(house, llm.LLM_API_ASSIST, device_id=kitchen)
    refused = await run(offer, "intent__HassStartTimer", minutes=5)
    served = await run(
        await offer_of(house, llm.LLM_API_ASSIST, device_id=hallway), "intent__HassStartTimer", minutes=5
    )

    assert "intent__HassStartTimer" in {tool.name for tool in offer.definitions}
    assert "cannot be used from the device that asks" in error_of(refused)
    assert not served.is_error
    assert len(started) == 1


async def test_a_tool_that_some_devices_had_is_still_told_when_they_are_off(house: HomeAssistant) -> None:
    unregister = async_register_timer_handler(house, satellite(house, "hallway"), lambda *_: None)
    before = await offer_of(house, llm.LLM_API_ASSIST)
    unregister()

    assert _told(await offer_of(house, llm.LLM_API_ASSIST)) == _told(before)


async def test_the_first_one_who_asks_from_a_new_kind_of_device_is_not_told_what_is_wrong_for_it(
    house: HomeAssistant,
) -> None:
    alone = await offer_of(house, llm.LLM_API_ASSIST)

    offer = await offer_of(house, llm.LLM_API_ASSIST, device_id=satellite(house, "kitchen"))

    assert "ask the user to specify an area" in alone.prompt
    assert "ask the user to specify an area" not in offer.prompt + offer.context


async def test_a_language_changes_nothing_that_is_for_everybody(house: HomeAssistant) -> None:
    api = MoodyApi(hass=house, id="moody", name="Moody", says=lambda who: f"Be kind.\nAnswer in {who.language}.")
    llm.async_register_api(house, api)
    german = replace(asked(), language="de")

    first = await async_offer_tools(house, ["moody"], german)
    second = await async_offer_tools(house, ["moody"], asked())
    third = await async_offer_tools(house, ["moody"], german)

    assert [offer.prompt for offer in (first, second, third)] == ["Be kind."] * 3
    assert [offer.context for offer in (first, second, third)] == [
        f"Answer in {language}." for language in ("de", "en", "de")
    ]


async def test_a_tool_for_one_person_is_run_for_nobody_else(house: HomeAssistant) -> None:
    safe = StubTool(name="open_safe")
    owner = await house.auth.async_create_user("Owner")
    api = MoodyApi(
        hass=house,
        id="moody",
        name="Moody",
        says=lambda _: "",
        offers=lambda who: [safe] if who.context and who.context.user_id == owner.id else [],
    )
    llm.async_register_api(house, api)

    for_owner = await async_offer_tools(house, ["moody"], replace(asked(), context=Context(user_id=owner.id)))
    for_guest = await async_offer_tools(house, ["moody"], asked())

    assert _told(for_owner) == _told(for_guest)
    assert not (await run(for_owner, "open_safe")).is_error
    assert error_of(await run(for_guest, "open_safe"))
    assert len(safe.calls) == 1


async def test_a_minute_in_a_prompt_is_told_apart(house: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    api = MoodyApi(hass=house, id="moody", name="Moody", says=lambda _: f"Be kind.\nIt is {dt_util.now():%H:%M}.")
    llm.async_register_api(house, api)
    await house.config.async_set_time_zone("UTC")
    offers: list[ToolOffer] = []
    for minute in (1, 2):
        freezer.move_to(f"2026-10-03 17:0{minute}:30+00:00")
        offers.append(await offer_of(house, "moody"))

    assert [offer.prompt for offer in offers] == ["Be kind."] * 2
    assert [offer.context for offer in offers] == ["It is 17:01.", "It is 17:02."]


async def test_an_api_that_fails_for_nobody_in_particular_is_taken_at_its_word(house: HomeAssistant) -> None:
    def only_devices(who: llm.LLMContext) -> str:
        if who.device_id is None:
            raise ValueError("who is there?")
        return "Hello."

    llm.async_register_api(house, MoodyApi(hass=house, id="moody", name="Moody", says=only_devices))

    offer = await offer_of(house, "moody", device_id=satellite(house, "kitchen"))

    assert (offer.prompt, offer.context) == ("Hello.", "")


async def test_an_api_that_fails_for_a_device_still_answers_the_others(house: HomeAssistant) -> None:
    def only_nobody(who: llm.LLMContext) -> str:
        if who.device_id is not None:
            raise ValueError("go away")
        return "Hello."

    llm.async_register_api(house, MoodyApi(hass=house, id="moody", name="Moody", says=only_nobody))
    satellite(house, "kitchen")

    assert (await offer_of(house, "moody")).prompt == "Hello."


async def test_each_kind_of_speaker_is_asked_for_once(house: HomeAssistant) -> None:
    api = MoodyApi(hass=house, id="moody", name="Moody", says=lambda _: "Hello.")
    llm.async_register_api(house, api)
    for area in ("kitchen", "hallway"):
        satellite(house, area)
    ar.async_get(house).async_create("Shed")
    satellite(house, "shed")

    await offer_of(house, "moody")
    first = api.asked
    await offer_of(house, "moody")

    assert (first, api.asked) == (4, 5)  # nobody, in another language, on a floor, in an area without one; then nobody


@pytest.mark.parametrize("language", ["en", "de"])
async def test_what_differs_by_language_or_person_is_known_before_anybody_else_speaks(
    house: HomeAssistant, language: str
) -> None:
    house.config.language = language
    safe = StubTool(name="open_safe")
    owner = await house.auth.async_create_user("Owner")
    api = MoodyApi(
        hass=house,
        id="moody",
        name="Moody",
        says=lambda who: f"Be kind.\nAnswer in {who.language}.",
        offers=lambda who: [safe] if who.context and who.context.user_id == owner.id else [],
    )
    llm.async_register_api(house, api)

    offer = await async_offer_tools(house, ["moody"], replace(asked(), language=language))

    assert offer.prompt == "Be kind."
    assert offer.context == f"Answer in {language}."
    assert [tool.name for tool in offer.definitions] == ["open_safe"]
    assert error_of(await run(offer, "open_safe"))


async def test_one_that_answers_one_after_the_other_keeps_its_tools(house: HomeAssistant) -> None:
    first_is_served = asyncio.Event()

    async def serve() -> None:
        if first_is_served.is_set():
            await asyncio.Event().wait()
        first_is_served.set()

    api = register(house, "slow", StubTool(name="find"), prompt="Hello.")
    api.until = serve
    satellite(house, "kitchen")

    offer = await async_offer_tools(house, ["slow"], asked(satellite(house, "hallway")), patience=0.2)

    assert ([tool.name for tool in offer.definitions], offer.prompt) == (["find"], "Hello.")


async def test_nobody_waits_long_for_what_others_would_be_told(house: HomeAssistant) -> None:
    api = MoodyApi(hass=house, id="moody", name="Moody", says=lambda who: f"Be kind.\nAnswer in {who.language}.")
    others_are_served = asyncio.Event()

    async def serve(who: llm.LLMContext) -> None:
        if who.language != house.config.language:
            await others_are_served.wait()

    api.until = serve
    llm.async_register_api(house, api)

    early = await async_offer_tools(house, ["moody"], asked(), patience=0.2)
    others_are_served.set()
    await house.async_block_till_done(wait_background_tasks=True)
    later = await offer_of(house, "moody")

    assert (early.prompt, later.prompt) == ("Be kind.\nAnswer in en.", "Be kind.")


async def test_an_api_that_took_the_place_of_another_is_not_taken_for_it(house: HomeAssistant) -> None:
    unregister = llm.async_register_api(
        house, MoodyApi(hass=house, id="moody", name="Moody", says=lambda who: f"Speak {who.language}.")
    )
    await async_offer_tools(house, ["moody"], replace(asked(), language="de"))
    unregister()
    register(house, "moody", prompt="Speak en.")

    assert (await offer_of(house, "moody")).prompt == "Speak en."


async def test_several_tools_of_one_name_stay_with_the_one_that_they_describe(house: HomeAssistant) -> None:
    tools = [StubTool(name="search", description=f"The {nth}.", answer={"nth": nth}) for nth in ("first", "second")]
    llm.async_register_api(
        house, MoodyApi(hass=house, id="moody", name="Moody", says=lambda _: "", offers=lambda _: tools)
    )

    offer = await offer_of(house, "moody", device_id=satellite(house, "kitchen"))

    for definition in offer.definitions:
        nth = "first" if "first" in definition.description else "second"
        assert (await run(offer, definition.name)).content == f'{{"nth":"{nth}"}}'


@pytest.mark.parametrize("order", [("attic", "hall"), ("hall", "attic")])
async def test_things_of_one_name_are_listed_alike_whichever_came_first(
    hass: HomeAssistant, order: tuple[str, str]
) -> None:
    await move_in(hass, SAME_NAMES.replace("ORDER_1", order[0]).replace("ORDER_2", order[1]))
    assert await async_setup_component(hass, conversation.DOMAIN, {})

    prompt = (await offer_of(hass, llm.LLM_API_ASSIST, home=LISTED)).prompt

    assert prompt.index("areas: Attic") < prompt.index("areas: Hall")
    assert len(list(dr.async_get(hass).devices)) == 0
