"""People see what is planned in a to-do list, move it, and cancel it."""

from dataclasses import replace
from datetime import timedelta

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import ConfigEntryDisabler
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.util import dt as dt_util

from custom_components.chatterbox.later.plans import (
    LONGEST_TEXT,
    FuturePlan,
    async_get_plans,
)
from custom_components.chatterbox.later.schedule import async_get_schedule
from tests.later.talk import act, remind
from tests.support.config_entries import offline_entry, set_up

LIST = "todo.later"


@pytest.fixture(autouse=True)
async def home(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    freezer.move_to("2026-11-26 17:00:00+00:00")
    await set_up(hass, offline_entry())


async def change(hass: HomeAssistant, action: str, **data: object) -> None:
    await hass.services.async_call(
        "todo", action, {"entity_id": LIST, **data}, blocking=True
    )


def plans(hass: HomeAssistant) -> tuple[FuturePlan, ...]:
    return async_get_plans(hass).stored.plans


def count(hass: HomeAssistant) -> str:
    state = hass.states.get(LIST)
    assert state is not None
    return state.state


async def test_there_is_one_list_in_the_home(hass: HomeAssistant) -> None:
    await set_up(hass, offline_entry())
    await async_get_schedule(hass).async_add(remind())

    assert [state.entity_id for state in hass.states.async_all("todo")] == [LIST]
    assert count(hass) == "1"


async def test_the_list_stays_where_its_service_goes(hass: HomeAssistant) -> None:
    (first,) = hass.config_entries.async_entries("chatterbox")
    second = await set_up(hass, offline_entry())
    await async_get_schedule(hass).async_add(
        replace(remind(), agent=next(iter(first.subentries)))
    )

    await hass.config_entries.async_reload(first.entry_id)
    await hass.async_block_till_done()
    assert count(hass) == "1"

    await hass.config_entries.async_remove(second.entry_id)
    await hass.async_block_till_done()
    assert count(hass) == "1"
    assert [state.entity_id for state in hass.states.async_all("todo")] == [LIST]

    third = await set_up(hass, offline_entry())
    await hass.config_entries.async_set_disabled_by(
        first.entry_id, ConfigEntryDisabler.USER
    )
    await hass.async_block_till_done()
    assert (hass.config_entries.async_loaded_entries("chatterbox"), count(hass)) == (
        [third],
        "1",
    )


async def test_a_plan_is_moved_and_a_reminder_reworded(hass: HomeAssistant) -> None:
    await async_get_schedule(hass).async_add(remind())
    due = dt_util.utcnow() + timedelta(hours=2)

    await change(
        hass,
        "update_item",
        item="call Mum",
        rename="call Dad",
        due_datetime=due.isoformat(),
    )

    (plan,) = plans(hass)
    assert (plan.text, plan.due) == ("call Dad", due)


async def test_what_is_done_stays_as_it_was_judged(hass: HomeAssistant) -> None:
    await async_get_schedule(hass).async_add(act())
    (before,) = plans(hass)

    await change(
        hass, "update_item", item="turn off the heater", rename="unlock the front door"
    )

    assert plans(hass) == (before,)


@pytest.mark.parametrize(
    "due", ["2026-11-26T10:00:00+00:00", "2028-11-26T10:00:00+00:00", None]
)
async def test_a_plan_keeps_a_time_within_a_year(
    hass: HomeAssistant, due: str | None
) -> None:
    await async_get_schedule(hass).async_add(act())
    before = plans(hass)

    with pytest.raises(ServiceValidationError):
        await change(hass, "update_item", item="turn off the heater", due_datetime=due)

    assert plans(hass) == before


async def test_a_reminder_stays_short(hass: HomeAssistant) -> None:
    await async_get_schedule(hass).async_add(remind())

    with pytest.raises(ServiceValidationError):
        await change(
            hass, "update_item", item="call Mum", rename="x" * (LONGEST_TEXT + 1)
        )

    assert [plan.text for plan in plans(hass)] == ["call Mum"]


@pytest.mark.parametrize("action", ["remove_item", "update_item"])
async def test_a_plan_is_cancelled(hass: HomeAssistant, action: str) -> None:
    await async_get_schedule(hass).async_add(act())

    if action == "remove_item":
        await change(hass, action, item=["turn off the heater"])
    else:
        await change(hass, action, item="turn off the heater", status="completed")

    assert plans(hass) == ()
    assert count(hass) == "0"
