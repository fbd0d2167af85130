"""Plans have bounds, and there is one of each; those of an earlier version are read."""

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.later.plans import (
    MOST_OF_A_PERSON,
    MOST_PLANS,
    Asker,
    FuturePlan,
    NotPlanned,
    async_get_plans,
)
from custom_components.chatterbox.people.speakers import Asking, Speaker
from tests.later.killed_home import Home
from tests.later.planning import NOW, run
from tests.later.talk import SATELLITE, pass_time
from tests.support.config_entries import offline_entry, set_up
from tests.support.one_home import in_one_home
from tests.support.own_home import own_home
from tests.support.own_tools import ANNA, BEN

CALL_MUM: JsonObject = {"kind": "remind", "when": "in 20 minutes", "text": "call Mum"}


@pytest.fixture(autouse=True)
async def home(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    await set_up(hass, offline_entry())
    freezer.move_to(NOW)


def plans(hass: HomeAssistant) -> tuple[FuturePlan, ...]:
    return async_get_plans(hass).stored.plans


async def test_ten_thousand_plans_are_refused(
    hass: HomeAssistant, pytestconfig: pytest.Config
) -> None:
    def numbered(number: int) -> JsonObject:
        return {**CALL_MUM, "text": f"call number {number}"}

    for number in range(MOST_OF_A_PERSON):
        await run(hass, numbered(number))
    assert (
        await run(hass, numbered(MOST_OF_A_PERSON))
        == "There are too many plans of yours: 20. Cancel one first."
    )
    (plan, *_) = plans(hass)
    for number in range(10_000 if pytestconfig.option.thorough else 2 * MOST_PLANS):
        with suppress(NotPlanned):
            await async_get_plans(hass).async_add(
                replace(
                    plan,
                    id=f"{number}",
                    text=f"{number}",
                    asker=Asker(person_id=f"{number // 50}"),
                )
            )
    assert len(plans(hass)) == MOST_PLANS
    assert (
        await run(hass, CALL_MUM, BEN)
        == "There are too many plans in this home: 50. Cancel one first."
    )


async def test_each_kind_of_asker_has_room_of_its_own(hass: HomeAssistant) -> None:
    """Automations cannot take the room of the household, nor it that of a person."""
    household, automation = (
        Speaker(asking=Asking.PERSON),
        Speaker(asking=Asking.TRUSTED, caller="automation.a"),
    )
    rooms = {
        automation: "plans of automations: 20",
        household: "plans of the household: 20",
        ANNA: "plans in this home: 50",
    }
    for speaker, full in rooms.items():
        answers = [
            await run(hass, {**CALL_MUM, "text": f"{number}"}, speaker)
            for number in range(MOST_OF_A_PERSON + 1)
        ]
        assert f"There are too many {full}. Cancel one first." == answers[-1]
        assert sum("too many" in answer for answer in answers) == (
            11 if speaker is ANNA else 1
        )


@in_one_home(
    ("again", "is_same"),
    [
        ({}, True),
        ({"text": "Call mum."}, True),
        ({"when": "at 17:20"}, False),
        ({"when": "every day at 18:20"}, False),
        ({"text": "call Dad"}, False),
        ({"urgent": True}, False),
    ],
)
async def test_the_same_reminder_twice_is_one(
    hass: HomeAssistant, again: JsonObject, *, is_same: bool
) -> None:
    first = await run(hass, {**CALL_MUM, "when": "at 18:20"})

    answer = await run(hass, {**CALL_MUM, "when": "at 18:20", **again})

    assert (answer == f"That is planned already. {first}") is is_same
    assert len(plans(hass)) == (1 if is_same else 2)
    for elsewhere in ({"speaker": BEN}, {"satellite_id": SATELLITE}):
        assert "already" not in await run(
            hass, {**CALL_MUM, "when": "at 18:20"}, **elsewhere
        )
    for speaker in (ANNA, BEN):
        await run(hass, {"kind": "cancel", "text": "all"}, speaker)


async def test_plans_of_the_version_before_are_read(
    tmp_path: Path, freezer: FrozenDateTimeFactory
) -> None:
    freezer.move_to("2026-11-26 22:00:00+00:00")
    asker = {"person_id": None, "satellite_id": None}
    common = {"kind": "remind", "agent": "agent-1", "asker": asker, "language": "en"}
    plans = [
        {**common, "id": "a", "text": "a time", "due": "2026-11-26T22:10:00+00:00"},
        {
            **common,
            "id": "b",
            "text": "a state",
            "condition": {"entity_id": "binary_sensor.garage", "state": "on"},
        },
    ]
    data = {"plans": plans, "news": [], "heard": []}
    file = {"version": 2, "minor_version": 1, "data": data}
    (tmp_path / ".storage").mkdir()
    (tmp_path / ".storage" / "chatterbox.later").write_text(json.dumps(file))
    async with own_home(tmp_path) as hass:
        await hass.config.async_set_time_zone("UTC")
        assert await async_setup_component(hass, "homeassistant", {})
        async_expose_entity(
            hass, "conversation", "binary_sensor.garage", should_expose=True
        )
        hass.states.async_set("binary_sensor.garage", "off")
        home = Home(hass)
        await home.restart()

        hass.states.async_set("binary_sensor.garage", "on")
        await pass_time(hass, freezer, minutes=10)

        assert sorted(home.texts) == ["A reminder: a state.", "A reminder: a time."]
