"""A question names a few of many devices, and those that let somebody in."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.effects.effect import (
    EntityAction,
)
from tests.approvals.asked_calls import FRONT, GARAGE, doing, from_outside, question
from tests.support.talk import move_into_the_demo_home


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_into_the_demo_home(hass)
    hass.states.async_set(
        "alarm_control_panel.house", "armed_away", {"friendly_name": "House Alarm"}
    )
    return hass


async def test_of_many_devices_some_are_named(home: HomeAssistant) -> None:
    lights = sorted(home.states.async_entity_ids("light"))
    five, six = (
        [from_outside(*(EntityAction(one, "light.turn_off") for one in lights[:n]))]
        for n in (5, 6)
    )

    assert "more" not in await question(home, five)
    assert (await question(home, six)).endswith("and 2 more?")


async def test_of_many_actions_those_that_let_somebody_in_are_named(
    home: HomeAssistant,
) -> None:
    others = [
        EntityAction("light.hallway", f"light.{service}")
        for service in ("turn_on", "turn_off", "toggle")
    ]

    text = await question(home, [doing(*others, FRONT, GARAGE)])

    assert (
        text
        == "Turn on the Hallway Light, unlock the Front Door and open the Garage Door along with the rest?"
    )


async def test_members_are_named_in_place_of_their_group_unless_they_are_many(
    home: HomeAssistant,
) -> None:
    assert await async_setup_component(
        home,
        "group",
        {
            "group": {
                "doors": {
                    "name": "All Doors",
                    "entities": ["lock.front_door", "lock.back"],
                }
            }
        },
    )
    home.states.async_set("lock.back", "locked", {"friendly_name": "Back Door"})
    lights = [f"light.{number}" for number in range(9)]
    assert await async_setup_component(home, "light", {})
    home.states.async_set(
        "light.all", "on", {"friendly_name": "All Lamps", "entity_id": lights}
    )

    doors = [
        EntityAction(one, "lock.unlock")
        for one in ("group.doors", "lock.back", "lock.front_door")
    ]
    lamps = [EntityAction(one, "light.turn_on") for one in ("light.all", *lights)]

    assert (
        await question(home, [doing(*doors)])
        == "Unlock the Back Door and the Front Door?"
    )
    assert await question(home, [doing(*lamps)]) == "Turn on the All Lamps?"
