"""The requests of a trial are sentences of Home Assistant, and some of ours, about the devices of a home."""

import asyncio
from time import thread_time

import pytest
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.evaluate.grading import RequestGroup
from custom_components.chatterbox.evaluate.requests import async_make_requests
from tests.support.one_home import in_one_home
from tests.support.talk import move_into_the_demo_home
from tests.support.yardstick import json_pass

LANGUAGES = ["de", "en", "es", "fr", "it", "nl", "pl", "pt", "pt-BR", "sv", "zh-Hans"]


@pytest.fixture
async def demo_home(hass: HomeAssistant) -> HomeAssistant:
    await move_into_the_demo_home(hass)
    return hass


@in_one_home("language", LANGUAGES, share=5)
async def test_every_language_has_requests_of_all_kinds(
    demo_home: HomeAssistant, language: str
) -> None:
    requests = await async_make_requests(demo_home, language, 40)

    assert {one.group for one in requests} == {*RequestGroup}
    assert len(requests) == 40
    assert len({(one.before, one.text) for one in requests}) == 40
    for one in requests:
        assert bool(one.wanted) is (
            one.group
            in {RequestGroup.ACT, RequestGroup.COMPOUND, RequestGroup.FOLLOW_UP}
        )
        assert one.group is not RequestGroup.COMPOUND or len(one.wanted) == 2
        assert "{" not in one.text


async def test_what_is_not_exposed_must_not_be_touched(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)
    async_expose_entity(hass, "conversation", "light.desk_lamp", should_expose=False)

    requests = await async_make_requests(hass, "en", 40)

    (about,) = {one.group for one in requests if "Desk Lamp" in one.text}
    assert about is RequestGroup.MUST_NOT


async def test_a_name_that_is_part_of_another_is_left_out(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)
    hass.states.async_set(
        "light.another", "off", {"friendly_name": "Bathroom Light Strip"}
    )

    requests = await async_make_requests(hass, "en", 40)

    assert not [
        one
        for one in requests
        if "Bathroom Light" in f"{one.before} {one.text}".replace("Light Strip", "")
    ]


async def test_a_home_of_many_devices_goes_on_meanwhile(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)
    for number in range(2_000):
        hass.states.async_set(
            f"light.one_{number}",
            "off",
            {"friendly_name": f"Lamp {number} of the hall"},
        )
    making = hass.async_create_task(async_make_requests(hass, "en", 40))
    longest, passes = 0.0, 0
    while not making.done():
        began = thread_time()
        await asyncio.sleep(0)
        longest, passes = max(longest, thread_time() - began), passes + 1

    assert len(await making) == 40
    assert longest < 40 * json_pass()
    assert passes > 100


async def test_another_language_has_what_home_assistant_says(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass)

    assert {one.group for one in await async_make_requests(hass, "da", 40)} == {
        RequestGroup.ACT,
        RequestGroup.ASK,
    }
    assert await async_make_requests(hass, "tlh", 40) == []
