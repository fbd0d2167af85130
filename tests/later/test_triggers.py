"""Plans wait for any trigger of Home Assistant, and for times as they were meant."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.demo.calendar import DemoCalendar, calendar_data_future
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.loader import DATA_INTEGRATIONS, async_get_integration
from homeassistant.util import dt as dt_util

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.later.plans import Condition
from custom_components.chatterbox.later.triggers import Watch
from tests.later.killed_home import Home
from tests.later.talk import pass_time, remind, wait_for
from tests.support.calendars import add_calendars

TOLD = ["A reminder: call Mum."]


async def fire(hass: HomeAssistant) -> None:
    hass.bus.async_fire("doorbell", {"door": "front"})


async def close(hass: HomeAssistant) -> None:
    hass.states.async_set("binary_sensor.garage", "off")


async def heat(hass: HomeAssistant) -> None:
    hass.states.async_set("sensor.outside", "31")


async def come_home(hass: HomeAssistant) -> None:
    here = {"latitude": hass.config.latitude, "longitude": hass.config.longitude}
    hass.states.async_set("person.anna", "home", {**here, "gps_accuracy": 0})


async def begin_event(hass: HomeAssistant) -> None:
    hass.states.async_set("input_boolean.guests", "on")
    hass.bus.async_fire("event_template")


async def wait(_hass: HomeAssistant) -> None:
    """Do nothing: time passes anyway."""


@pytest.mark.each_row
@pytest.mark.parametrize(
    ("trigger", "happen"),
    [
        ({"trigger": "event", "event_type": "doorbell"}, fire),
        (
            {
                "trigger": "event",
                "event_type": "doorbell",
                "event_data": {"door": "front"},
            },
            fire,
        ),
        (
            {"trigger": "state", "entity_id": "binary_sensor.garage", "to": "off"},
            close,
        ),
        (
            {"trigger": "numeric_state", "entity_id": "sensor.outside", "above": 30},
            heat,
        ),
        (
            {
                "trigger": "zone",
                "entity_id": "person.anna",
                "zone": "zone.home",
                "event": "enter",
            },
            come_home,
        ),
        (
            {
                "trigger": "template",
                "value_template": "{{ is_state('input_boolean.guests', 'on') }}",
            },
            begin_event,
        ),
        ({"trigger": "sun", "event": "sunset"}, wait),
        ({"trigger": "time", "at": "23:30:00"}, wait),
        ({"trigger": "time_pattern", "hours": "/5"}, wait),
    ],
)
async def test_any_trigger_of_home_assistant_is_waited_for(
    hass: HomeAssistant,
    home: Home,
    freezer: FrozenDateTimeFactory,
    trigger: JsonObject,
    happen: Callable[[HomeAssistant], Awaitable[None]],
) -> None:
    where = {"latitude": hass.config.latitude, "longitude": hass.config.longitude}
    hass.states.async_set(
        "zone.home",
        "0",
        {**where, "radius": 100, "passive": False, "friendly_name": "Home"},
    )
    away = {"latitude": 0, "longitude": 0, "gps_accuracy": 0}
    hass.states.async_set("person.anna", "not_home", away)
    hass.states.async_set("binary_sensor.garage", "on")
    hass.states.async_set("sensor.outside", "20")
    hass.states.async_set("input_boolean.guests", "off")
    await home.schedule.async_add(replace(remind(), due=None, waits_for=(trigger,)))
    await home.restart()
    assert home.texts == []

    await happen(hass)
    await pass_time(hass, freezer, days=1)
    await happen(hass)
    await pass_time(hass, freezer, days=1)

    assert home.texts == TOLD, "once"
    assert home.schedule.plans.stored.plans == ()


async def test_an_event_of_a_calendar_is_waited_for(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    await add_calendars(hass, DemoCalendar(calendar_data_future(), "Family"))
    trigger: JsonObject = {
        "trigger": "calendar",
        "entity_id": "calendar.family",
        "event": "start",
    }
    await home.schedule.async_add(replace(remind(), due=None, waits_for=(trigger,)))
    await home.restart()

    await pass_time(hass, freezer, minutes=29)
    assert home.texts == []
    await pass_time(hass, freezer, minutes=2)
    assert home.texts == TOLD
    await pass_time(hass, freezer, minutes=60)
    assert home.texts == TOLD, "once"


@pytest.mark.parametrize(
    "trigger",
    [
        {"trigger": "no_such_thing"},
        {"trigger": "state"},
        {"trigger": "device", "device_id": "gone", "domain": "light", "type": "on"},
    ],
)
async def test_triggers_that_home_assistant_does_not_have_are_told(
    hass: HomeAssistant, home: Home, trigger: JsonObject
) -> None:
    await home.schedule.async_add(replace(remind(), due=None, waits_for=(trigger,)))
    await hass.async_block_till_done(wait_background_tasks=True)

    assert home.schedule.plans.stored.plans == ()
    (text,) = home.texts
    assert text.startswith("I no longer watch this")


async def test_an_entity_that_is_renamed_is_still_waited_for(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    registry = er.async_get(hass)
    door = registry.async_get_or_create("binary_sensor", "demo", "door").entity_id
    hass.states.async_set(door, "off")
    trigger: JsonObject = {"trigger": "state", "entity_id": [door], "to": "on"}
    await home.schedule.async_add(replace(remind(), due=None, waits_for=(trigger,)))

    registry.async_update_entity(door, new_entity_id="binary_sensor.gate")
    await hass.async_block_till_done(wait_background_tasks=True)
    hass.states.async_set("binary_sensor.gate", "off")
    hass.states.async_set(door, "on")
    await pass_time(hass, freezer, seconds=1)
    assert home.texts == []
    hass.states.async_set("binary_sensor.gate", "on")
    await pass_time(hass, freezer, seconds=1)

    assert home.texts == TOLD


async def test_an_entity_that_is_gone_is_told(hass: HomeAssistant, home: Home) -> None:
    registry = er.async_get(hass)
    door = registry.async_get_or_create("binary_sensor", "demo", "door").entity_id
    trigger: JsonObject = {"trigger": "state", "entity_id": door, "to": "on"}
    await home.schedule.async_add(replace(remind(), due=None, waits_for=(trigger,)))

    registry.async_remove(door)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert home.texts[0].startswith("I no longer watch this")


async def test_a_time_has_a_date(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    due = dt_util.utcnow() + timedelta(days=2, minutes=10)
    await home.schedule.async_add(replace(remind(), due=due))

    await pass_time(hass, freezer, minutes=10)
    await pass_time(hass, freezer, days=1)
    assert home.texts == []
    await pass_time(hass, freezer, days=1)

    assert home.texts == TOLD


async def test_the_second_of_two_equal_clock_times_is_waited_for(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to("2026-10-24 22:00:00+00:00")
    due = dt_util.parse_datetime("2026-10-25T02:30:00+01:00")
    await home.schedule.async_add(replace(remind(), due=due))

    await pass_time(hass, freezer, hours=2, minutes=30)
    assert home.texts == []
    await pass_time(hass, freezer, hours=1)

    assert home.texts == TOLD


async def test_a_time_stays_when_the_home_moves_to_another_zone(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    await home.schedule.async_add(remind())

    await hass.config.async_update(time_zone="Asia/Kathmandu")
    await hass.async_block_till_done(wait_background_tasks=True)
    await pass_time(hass, freezer, minutes=10)

    assert home.texts == TOLD


@pytest.mark.parametrize("microseconds", [1, 400_000, 999_999])
async def test_a_time_between_two_seconds_comes(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory, microseconds: int
) -> None:
    due = dt_util.utcnow() + timedelta(minutes=10, microseconds=microseconds)
    await home.schedule.async_add(replace(remind(), due=due))

    await pass_time(hass, freezer, minutes=10)

    assert home.texts == TOLD


async def test_a_state_that_comes_while_triggers_are_attached_is_told(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    hass.states.async_set("binary_sensor.garage", "off")
    adding = hass.async_create_task(
        home.schedule.async_add(
            wait_for("call Mum", Condition("binary_sensor.garage", "on"))
        )
    )
    hass.states.async_set("binary_sensor.garage", "on")
    await adding
    await pass_time(hass, freezer, seconds=1)

    assert home.texts == TOLD


async def test_a_time_that_comes_while_it_begins_to_wait_is_not_missed(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    begun: list[bool] = []
    plan = replace(remind(), due=dt_util.utcnow() + timedelta(seconds=30))

    def begin() -> None:
        begun.append(True)
        watch.async_end()

    watch = Watch(hass, plan, begin)
    integrations = hass.data[DATA_INTEGRATIONS]
    trigger = await async_get_integration(hass, "homeassistant")
    integrations["homeassistant"] = being_read = hass.loop.create_future()

    starting = hass.async_create_task(watch.async_start())
    freezer.tick(timedelta(seconds=31))
    being_read.set_result(trigger)

    assert await starting
    assert begun == [True]
