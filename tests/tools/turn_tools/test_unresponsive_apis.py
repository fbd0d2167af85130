"""An LLM API that hangs takes a little of one turn, and nothing of the next ones."""

import asyncio

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.tools.llm_apis import context_without_speaker
from custom_components.chatterbox.tools.turn_tools import (
    UNRESPONSIVE_FOR,
    async_offer_tools,
)
from tests.support.llm_apis import StubApi, StubTool, llm_context_of, register
from tests.support.prefixes import HELLO
from tests.support.servers.in_process import serving_script
from tests.support.talk import PART, add_agents, move_into_the_demo_home, say, speech

LATE = "LLM API slow: it did not name its tools in time"


class Gate:
    """Lets nobody through until it is opened, and counts who came."""

    def __init__(self) -> None:
        self.came = 0
        self.came_again = asyncio.Event()
        self.is_open = asyncio.Event()

    async def wait(self) -> None:
        if self.came:
            self.came_again.set()
        self.came += 1
        await self.is_open.wait()


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return hass


async def _offered(hass: HomeAssistant, api_timeout: float = 0.2) -> list[str]:
    offer = await async_offer_tools(hass, ["slow"], llm_context_of(), api_timeout)
    return [definition.name for definition in offer.definitions]


def _unresponsive_api(hass: HomeAssistant) -> StubApi:
    return StubApi(
        hass=hass, id="slow", name="Slow", tools=[], until=asyncio.Event().wait
    )


def _slow(hass: HomeAssistant) -> Gate:
    gate = Gate()
    register(hass, "slow", StubTool(name="find")).until = gate.wait
    return gate


async def test_one_that_hung_is_left_alone_and_told_of_once(
    home: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    gate = _slow(home)

    assert await _offered(home, 0) == []
    await gate.came_again.wait()  # the trial in the background
    assert await _offered(home) == []

    assert gate.came == 2
    assert caplog.text.count(LATE) == 1


async def test_one_that_answers_its_trial_in_time_is_asked_again_at_once(
    home: HomeAssistant,
) -> None:
    gate = _slow(home)
    assert await _offered(home) == []
    gate.is_open.set()
    await home.async_block_till_done(wait_background_tasks=True)

    assert await _offered(home) == ["find"]


async def test_one_whose_trial_is_late_as_well_is_asked_again_after_a_while(
    home: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    gate = _slow(home)
    assert await _offered(home, 0) == []
    gate.is_open.set()
    await home.async_block_till_done(wait_background_tasks=True)

    assert await _offered(home) == []
    freezer.tick(UNRESPONSIVE_FOR + 1)
    assert await _offered(home) == ["find"]


async def test_another_api_in_its_place_is_not_left_alone(home: HomeAssistant) -> None:
    unregister = llm.async_register_api(home, _unresponsive_api(home))
    assert await _offered(home, 0) == []
    unregister()
    register(home, "slow", StubTool(name="find"))

    assert await _offered(home) == ["find"]


@pytest.mark.parametrize(
    ("user_id", "device_id", "tools"),
    [
        ("anna", "kitchen", ["find"]),
        ("ben", "kitchen", ["for_all"]),
        ("anna", "hall", ["for_all"]),
    ],
)
async def test_one_that_is_late_keeps_what_it_offered_the_same_speaker_or_everybody(
    home: HomeAssistant, user_id: str, device_id: str, tools: list[str]
) -> None:
    api = register(home, "slow", StubTool(name="find"))

    async def offered(context: llm.LLMContext, seconds: float = 1) -> list[str]:
        offer = await async_offer_tools(home, ["slow"], context, seconds)
        assert offer.context == ""
        return [definition.name for definition in offer.definitions]

    def spoken_by(user_id: str, device_id: str) -> llm.LLMContext:
        context = Context(user_id=user_id)
        return llm.LLMContext(DOMAIN, context, "en", "conversation", device_id)

    assert await offered(spoken_by("anna", "kitchen")) == ["find"]
    api.tools = [StubTool(name="for_all")]
    assert await offered(context_without_speaker(home)) == ["for_all"]

    gate = Gate()
    api.until = gate.wait
    assert await offered(spoken_by(user_id, device_id), 0.2) == tools
    assert await offered(spoken_by(user_id, device_id)) == tools, "while it is marked"
    gate.is_open.set()
    await home.async_block_till_done(wait_background_tasks=True)
    assert await offered(spoken_by(user_id, device_id)) == ["for_all"]


async def test_another_api_in_the_place_of_one_does_not_offer_its_tools(
    home: HomeAssistant,
) -> None:
    unregister = llm.async_register_api(
        home, StubApi(hass=home, id="slow", name="Slow", tools=[StubTool(name="find")])
    )
    assert await _offered(home) == ["find"]
    unregister()
    llm.async_register_api(home, _unresponsive_api(home))

    assert await _offered(home, 0) == []


@pytest.mark.usefixtures("socket_enabled")
async def test_a_turn_has_most_of_its_time_whatever_hangs(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass, PART)
    _slow(hass)
    async with serving_script(HELLO) as server:
        await add_agents(
            hass, server, ["talker"], llm_hass_api=["assist", "slow"], deadline=4
        )

        result = await say(hass, "hello")
        for entry in hass.config_entries.async_entries(DOMAIN):
            await hass.config_entries.async_unload(entry.entry_id)

    assert speech(result) == "Hello."
