"""The answer to several commands in a sentence tells what was done before what was not."""

import pytest
from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from tests.demo_house.move_in import move_in
from tests.support.offline_talk import HOME, Talk


@pytest.mark.parametrize(
    ("text", "answer", "lit"),
    [
        (
            "turn on the counter lamp and close the kitchen blinds",
            "Turned on the light. I don't know anything called kitchen blinds.",
            ["light.counter"],
        ),
        (
            "close the kitchen blinds and turn on the counter lamp",
            "Turned on the light. I don't know anything called kitchen blinds.",
            ["light.counter"],
        ),
        (
            "turn on the counter lamp and close the kitchen blinds and turn on the kitchen ceiling",
            "Turned on the light. I don't know anything called kitchen blinds.",
            ["light.counter", "light.kitchen_ceiling"],
        ),
        (
            "close the kitchen blinds and open the kitchen curtains",
            "I don't know anything called kitchen blinds.",
            [],
        ),
    ],
)
async def test_of_several_commands_all_that_can_be_done_is(
    hass: HomeAssistant, text: str, answer: str, lit: list[str]
) -> None:
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})

    assert await Talk(hass).say(text) == answer
    assert [
        one
        for one in ("light.counter", "light.kitchen_ceiling")
        if hass.states.is_state(one, "on")
    ] == lit


@pytest.mark.parametrize("device_id", [None, "a-phone"])
async def test_a_timer_among_other_commands_is_refused_where_there_are_none(
    hass: HomeAssistant, device_id: str | None
) -> None:
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    talk = Talk(hass, device_id=device_id)

    heard = await talk.say("set a timer for five minutes and turn on the counter lamp")

    assert (
        heard == "Turned on the light. Sorry, timers are not supported on this device"
    )
    assert hass.states.is_state("light.counter", "on")
