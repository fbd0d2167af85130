"""The prompt and the tools of an LLM API: a part that is the same for every speaker, and the rest beside the words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import override

import pytest
from homeassistant.auth.const import GROUP_ID_ADMIN, GROUP_ID_READ_ONLY, GROUP_ID_USER
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.homeassistant.llm import async_get_tools
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.components.intent.const import TIMER_DATA
from homeassistant.components.llm import DATA_PLATFORMS, LLMTools
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    intent,
    llm,
)
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import (
    MockModule,
    MockPlatform,
    mock_integration,
    mock_platform,
)

from custom_components.chatterbox.home.description import AS_USUAL
from custom_components.chatterbox.settings.agent import HomeDetail
from custom_components.chatterbox.tools.llm_apis import (
    async_may_use,
    context_without_speaker,
)
from custom_components.chatterbox.tools.turn_tools import TurnTools, async_offer_tools
from tests.support.llm_apis import (
    LISTED,
    StubTool,
    error_of,
    llm_context_of,
    offer_of,
    register,
    run,
    satellite,
)

ASSIST = llm.LLM_API_ASSIST


@dataclass(slots=True, kw_only=True)
class PersonalApi(llm.API):
    """Answers each speaker in another way."""

    says: Callable[[llm.LLMContext], str]
    offers: Callable[[llm.LLMContext], Sequence[llm.Tool]] = lambda _: ()

    @override
    async def async_get_api_instance(
        self, llm_context: llm.LLMContext
    ) -> llm.APIInstance:
        tools = list(self.offers(llm_context))
        return llm.APIInstance(
            self, self.says(llm_context), llm_context, tools, llm.selector_serializer
        )


def _stable(offer: TurnTools) -> tuple[str, object]:
    """Return the part of a request that a server can cache."""
    return offer.prompt, offer.definitions


async def test_assist_tells_every_device_the_same_beside_its_place(
    home: HomeAssistant,
) -> None:
    kitchen, hallway = satellite(home, "kitchen"), satellite(home, "hallway")
    async_register_timer_handler(home, hallway, lambda *_: None)

    nobody = await offer_of(home, ASSIST)
    in_kitchen = await offer_of(home, ASSIST, device_id=kitchen)
    in_hallway = await offer_of(home, ASSIST, device_id=hallway)

    assert _stable(nobody) == _stable(in_kitchen) == _stable(in_hallway)
    assert " light: Lamp, Light = Cooking Light\n" in nobody.prompt
    assert nobody.context.startswith(
        "When a user asks to turn on all devices of a specific type"
    )
    assert in_kitchen.context == (
        "You are in area Kitchen (floor Ground Floor) and all generic commands like 'turn on the lights' should target "
        "this area.\nThis device is not able to start timers."
    )
    assert in_hallway.context == in_kitchen.context.partition("\n")[0].replace(
        "Kitchen", "Hallway"
    )


async def test_timers_of_one_device_are_offered_to_all_and_refused_to_the_others(
    home: HomeAssistant,
) -> None:
    kitchen, hallway = satellite(home, "kitchen"), satellite(home, "hallway")
    before = {tool.name for tool in (await offer_of(home, ASSIST)).definitions}
    started: list[object] = []
    async_register_timer_handler(home, hallway, lambda *event: started.append(event))

    offer = await offer_of(home, ASSIST, device_id=kitchen)
    refused = await run(offer, "intent__HassStartTimer", minutes=5)
    served = await run(
        await offer_of(home, ASSIST, device_id=hallway),
        "intent__HassStartTimer",
        minutes=5,
    )

    added = {tool.name for tool in offer.definitions} - before
    assert "intent__HassStartTimer" in added
    assert all("Timer" in name for name in added)
    assert "cannot be used from the device that asks" in error_of(refused)
    assert not served.is_error
    assert len(started) == 1


async def test_no_timer_runs_a_command(home: HomeAssistant) -> None:
    kitchen = satellite(home, "kitchen")
    async_register_timer_handler(home, kitchen, lambda *_: None)
    offer = await offer_of(home, ASSIST, device_id=kitchen)

    command = "turn on the kitchen lamp"
    outcome = await run(
        offer, "intent__HassStartTimer", minutes=5, conversation_command=command
    )

    assert "a timer here runs no command" in error_of(outcome)
    assert home.data[TIMER_DATA].timers == {}


async def test_assist_is_asked_again_when_the_home_an_intent_or_the_device_changes(
    home: HomeAssistant,
) -> None:
    """The tools and the place are those of Home Assistant's own API after every change."""
    device = satellite(home, "kitchen")
    for domain in ("fan", "vacuum"):
        assert await async_setup_component(home, domain, {})

    def furnish(entity_id: str) -> None:
        home.states.async_set(entity_id, "off")
        async_expose_entity(home, conversation.DOMAIN, entity_id, should_expose=True)

    changes: list[Callable[[], object]] = [
        lambda: furnish("fan.new"),
        lambda: furnish("vacuum.new"),
        lambda: home.states.async_remove("fan.new"),
        lambda: async_expose_entity(
            home, conversation.DOMAIN, "vacuum.new", should_expose=False
        ),
        lambda: intent.async_remove(home, intent.INTENT_CANCEL_ALL_TIMERS),
        lambda: dr.async_get(home).async_update_device(device, area_id="hallway"),
        lambda: ar.async_get(home).async_update("hallway", name="Corridor"),
        lambda: async_register_timer_handler(home, device, lambda *_: None),
    ]
    seen: list[tuple[object, ...]] = []
    for change in [lambda: None, *changes]:
        change()
        await home.async_block_till_done()
        offer = await offer_of(home, ASSIST, device_id=device)
        expected = await llm.async_get_api(home, ASSIST, llm_context_of(device))
        names = tuple(sorted(tool.name for tool in expected.tools))
        assert tuple(tool.name for tool in offer.definitions) == names
        assert all(line in expected.api_prompt for line in offer.context.splitlines())
        seen.append((*names, offer.context))
    assert all(before != after for before, after in pairwise(seen)), (
        "each change is one"
    )


@pytest.mark.each_row
@pytest.mark.parametrize(
    "group", [GROUP_ID_ADMIN, GROUP_ID_USER, GROUP_ID_READ_ONLY, None]
)
async def test_tools_for_administrators_are_offered_to_these_alone(
    home: HomeAssistant, group: str | None
) -> None:
    """The last one is a satellite of nobody, an automation, or Home Assistant itself."""
    await home.auth.async_create_user("Owner", group_ids=[GROUP_ID_ADMIN])
    user = (
        await home.auth.async_create_user("Anna", group_ids=[group]) if group else None
    )
    register(home, "tower", StubTool(name="look"), requires_admin=True)
    context = replace(
        llm_context_of(), context=Context(user_id=user.id if user else None)
    )

    offer = await async_offer_tools(home, ["tower"], context)

    is_administrator = group == GROUP_ID_ADMIN
    assert [tool.name for tool in offer.definitions] == (
        ["look"] if is_administrator else []
    )
    assert offer.missing_apis == ()
    assert "cannot be used" not in offer.context
    assert (offer.instance is not None) is is_administrator
    assert offer.instance is None or getattr(offer.instance.api, "requires_admin")  # noqa: B009  # since 2026.11


async def test_an_administrator_who_is_not_active_is_none(home: HomeAssistant) -> None:
    await home.auth.async_create_user("Owner", group_ids=[GROUP_ID_ADMIN])
    anna = await home.auth.async_create_user("Anna", group_ids=[GROUP_ID_ADMIN])
    await home.auth.async_update_user(anna, is_active=False)
    api = register(home, "tower", StubTool(name="look"), requires_admin=True)

    assert not await async_may_use(api, context_without_speaker(home, anna.id))
    assert not await async_may_use(
        api, context_without_speaker(home, "somebody who was removed")
    )
    assert not await async_may_use(api, context_without_speaker(home))


@pytest.mark.parametrize("detail", [LISTED, AS_USUAL], ids=["listed", "described"])
async def test_assist_of_home_assistant_offers_nothing_else(
    home: HomeAssistant, detail: HomeDetail
) -> None:
    """Home Assistant's own platform is not asked where its list of the home is not needed."""
    device_id = satellite(home, "kitchen")
    async_register_timer_handler(home, device_id, lambda *_: None)
    offer = await offer_of(home, ASSIST, device_id=device_id, home=detail)
    own = await llm.async_get_api(home, ASSIST, llm_context_of(device_id))

    assert {tool.name for tool in offer.definitions} == {
        tool.name for tool in own.tools
    }
    platform = async_get_tools(home, llm_context_of(), ASSIST)
    assert platform is not None
    assert [tool.name for tool in platform.tools] == ["homeassistant__GetLiveContext"]


class Butler(MockPlatform):
    """A platform of a custom integration, with a prompt that a test changes."""

    __name__ = "custom_components.butler.llm"
    prompt = "Be kind."
    failure: Exception | None = None

    def async_get_tools(
        self, _hass: HomeAssistant, _context: llm.LLMContext, _api_id: str
    ) -> LLMTools:
        if self.failure:
            raise self.failure
        return LLMTools([StubTool(name="butler__ring")], self.prompt)


async def _hire(hass: HomeAssistant) -> Butler:
    butler = Butler()
    mock_integration(hass, MockModule("butler"))
    mock_platform(hass, "butler.llm", butler)
    assert await async_setup_component(hass, "butler", {})
    assert "butler" in await hass.data[DATA_PLATFORMS].async_get_platforms()
    return butler


async def test_the_prompt_of_a_custom_platform_moves_away_from_assist_when_it_changes(
    home: HomeAssistant,
) -> None:
    without = (await offer_of(home, ASSIST)).prompt
    butler = await _hire(home)

    stable = await offer_of(home, ASSIST)
    butler.prompt = "Be brief."
    changed = await offer_of(home, ASSIST)
    butler.prompt = "Be kind."
    again = await offer_of(home, ASSIST)

    assert "Be kind." in stable.prompt
    assert changed.prompt == again.prompt == without
    assert changed.context.startswith("Be brief.\n")
    assert again.context.startswith("Be kind.\n")


async def test_a_custom_platform_that_fails_leaves_the_others(
    home: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    (await _hire(home)).failure = ValueError("no")

    names = {tool.name for tool in (await offer_of(home, ASSIST)).definitions}

    assert "butler__ring" not in names
    assert "intent__HassTurnOn" in names
    assert "Cannot get the LLM tools of butler" in caplog.text


async def test_the_prompt_of_another_api_stands_beside_the_words_once_it_has_changed(
    home: HomeAssistant,
) -> None:
    api = PersonalApi(
        hass=home,
        id="personal",
        name="Personal",
        says=lambda who: f"Answer in {who.language}.",
    )
    unregister = llm.async_register_api(home, api)

    offers = [
        await async_offer_tools(
            home, ["personal"], replace(llm_context_of(), language=language)
        )
        for language in ("de", "de", "en", "de")
    ]

    assert [offer.prompt for offer in offers] == [
        "Answer in de.",
        "Answer in de.",
        "",
        "",
    ]
    assert [offer.context for offer in offers] == [
        "",
        "",
        "Answer in en.",
        "Answer in de.",
    ]
    unregister()
    register(home, "personal", prompt="Another API.")
    assert (await offer_of(home, "personal")).prompt == "Another API."


async def test_the_tools_of_another_api_are_those_of_the_speaker(
    home: HomeAssistant,
) -> None:
    api = PersonalApi(
        hass=home,
        id="personal",
        name="Personal",
        says=lambda _: "",
        offers=lambda who: [StubTool(name="open_safe")] if who.device_id else [],
    )
    llm.async_register_api(home, api)

    assert (await offer_of(home, "personal")).definitions == ()
    assert not (
        await run(await offer_of(home, "personal", device_id="hall"), "open_safe")
    ).is_error


async def test_another_api_with_the_id_of_assist_is_asked_itself(
    home: HomeAssistant,
) -> None:
    brought = register(home, "brought", StubTool(name="look"), prompt="Mine.")
    brought.id = ASSIST

    offer = await async_offer_tools(home, [ASSIST], llm_context_of(), brought=brought)

    assert offer.prompt == "Mine."
