"""Whenever Home Assistant is killed, nothing is done twice, and nothing is lost without a word."""

import asyncio
import os
import random
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er, issue_registry as ir
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from homeassistant.util.async_ import get_scheduled_timer_handles
from pytest_homeassistant_custom_component.common import (
    async_capture_events,
    async_fire_time_changed,
    async_test_home_assistant,
)

from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.later.plans import (
    VERSION,
    Asker,
    Condition,
    NotPlanned,
    PlanKind,
    PlannedCall,
    PlanProblem,
    async_get_plans,
    waiting_news,
)
from custom_components.chatterbox.later.schedule import (
    EVENT_PLAN,
    WORTH,
    async_resolve,
)
from custom_components.chatterbox.later.telling import time_text
from custom_components.chatterbox.people.speakers import NOBODY
from custom_components.chatterbox.speech.text.time_phrases import grammar
from custom_components.chatterbox.speech.text.times import Repetition
from tests.later.killed_home import Home
from tests.later.talk import act, pass_time, remind, types, wait_for
from tests.support.one_home import in_one_home
from tests.support.own_home import own_home


async def test_a_call_is_made_once(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    await home.schedule.async_add(act())

    await pass_time(hass, freezer, minutes=10)
    await home.restart()
    await pass_time(hass, freezer, minutes=10)

    assert (home.done, home.texts) == (["turn off the heater"], [])


async def test_what_was_due_meanwhile_is_told_and_not_done(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    events = async_capture_events(hass, EVENT_PLAN)
    await home.schedule.async_add(act())
    home.schedule.async_stop()

    await pass_time(hass, freezer, minutes=10, seconds=WORTH.total_seconds() + 1)
    await home.restart()

    assert home.done == []
    (text,) = home.texts
    assert text.startswith("This was planned for 22:10")
    assert types(events) == ["added", "due", "missed"]


async def test_what_is_still_worth_doing_is_done_after_a_restart(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    await home.schedule.async_add(act())
    home.schedule.async_stop()

    await pass_time(hass, freezer, minutes=10, seconds=30)
    await home.restart()

    assert (home.done, home.texts) == (["turn off the heater"], [])


async def test_the_words_of_what_comes_again_are_read_at_a_start(home: Home) -> None:
    daily = replace(remind(), language="pl", every="day", words="codziennie o 8")
    await home.schedule.async_add(daily)
    grammar.cache_clear()

    await home.restart()

    misses = grammar.cache_info().misses
    time_text(home.hass, {}, daily, "pl")
    assert grammar.cache_info().misses == misses


async def test_a_reminder_comes_late_rather_than_never(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    await home.schedule.async_add(remind())
    home.schedule.async_stop()

    await pass_time(hass, freezer, hours=1)
    await home.restart()

    assert home.texts == ["A late reminder, for 22:10: call Mum."]


async def test_what_was_interrupted_is_not_done_again_and_told(home: Home) -> None:
    await home.schedule.async_add(replace(act(), is_begun=True))

    await home.restart()

    assert home.done == []
    assert "I was interrupted" in home.texts[0]


async def test_why_it_was_not_done_is_told(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    await home.schedule.async_add(act("stuck"))

    await pass_time(hass, freezer, minutes=10)

    assert home.texts == [
        "This was planned for now, but I haven't done it: stuck. It is stuck."
    ]


async def test_a_time_that_passes_elsewhere_is_a_failure(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    await home.schedule.async_add(act("late"))

    await pass_time(hass, freezer, minutes=10)

    assert home.texts[0].startswith(
        "This was planned for now, but I haven't done it: late."
    )


async def test_it_comes_again_every_day(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    due = dt_util.now().replace(hour=7, minute=0) + timedelta(days=1)
    plan = replace(remind("the bins"), due=due, words="every day at 07:00", every="day")
    await home.schedule.async_add(plan)

    for _ in range(3):
        await pass_time(hass, freezer, days=1)

    assert home.texts[0].endswith("the bins.")
    assert len(home.texts) == 3
    assert home.schedule.plans.stored.plans[0].due == due + timedelta(days=3)


async def test_a_state_is_told_once_it_has_lasted(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    hass.states.async_set("sensor.washer", "running")
    await home.schedule.async_add(
        wait_for("empty it", Condition("sensor.washer", "off", seconds=60))
    )

    for state in ("off", "running", "unavailable", "off"):
        hass.states.async_set("sensor.washer", state)
        await pass_time(hass, freezer, seconds=30)
    assert home.texts == []
    await pass_time(hass, freezer, seconds=31)

    assert home.texts == ["A reminder: empty it."]
    assert home.schedule.plans.stored.plans == ()


async def test_a_state_that_came_while_nobody_watched_is_told(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    hass.states.async_set("sensor.washer", "running")
    await home.schedule.async_add(
        wait_for("empty it", Condition("sensor.washer", "off"))
    )
    home.schedule.async_stop()

    hass.states.async_set("sensor.washer", "off")
    await home.restart()
    await pass_time(hass, freezer, seconds=1)

    assert home.texts == ["A reminder: empty it."]


@pytest.mark.parametrize(
    ("state", "texts"),
    [
        ("on", ["A reminder: the garage is open."]),
        ("off", []),
        (
            "unavailable",
            [
                "This was planned for now, but I haven't done it: the garage is open. garage: unavailable"
            ],
        ),
        (
            None,
            ["This was planned for now, but I haven't done it: the garage is open."],
        ),
    ],
)
async def test_a_state_is_looked_at_when_it_is_due(
    hass: HomeAssistant,
    home: Home,
    freezer: FrozenDateTimeFactory,
    state: str | None,
    texts: list[str],
) -> None:
    if state:
        hass.states.async_set("binary_sensor.garage", state)
    await home.schedule.async_add(
        remind("the garage is open", Condition("binary_sensor.garage", "on"))
    )

    await pass_time(hass, freezer, minutes=10)

    assert home.texts == texts


@in_one_home(
    ("condition", "state", "holds"),
    [
        (Condition("sensor.s", above=20), "20.5", True),
        (Condition("sensor.s", above=20), "20", False),
        (Condition("sensor.s", below=5), "4", True),
        (Condition("sensor.s", below=5), "warm", None),
        (Condition("sensor.s", below=5), "-inf", None),
        (Condition("sensor.s", above="sensor.other"), "21.5", True),
        (Condition("sensor.s", above="sensor.other"), "21", False),
        (Condition("sensor.s", below="sensor.other"), "9", True),
        (Condition("sensor.s", below="sensor.in_fahrenheit"), "9", None),
        (Condition("sensor.s", below="sensor.gone"), "9", None),
        (Condition("sensor.s", "off"), "unavailable", None),
    ],
)
async def test_a_number_is_compared(
    hass: HomeAssistant, condition: Condition, state: str, *, holds: bool | None
) -> None:
    celsius = {"unit_of_measurement": "°C"}
    hass.states.async_set("sensor.s", state, celsius)
    hass.states.async_set("sensor.other", "21", celsius)
    hass.states.async_set("sensor.in_fahrenheit", "70", {"unit_of_measurement": "°F"})
    assert condition.holds(hass.states) is holds


async def test_it_tells_when_one_number_passes_another(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    hass.states.async_set("sensor.outside", "20")
    hass.states.async_set("sensor.inside", "22")
    condition = Condition("sensor.outside", above="sensor.inside")
    await home.schedule.async_add(
        replace(wait_for("Outside", condition), kind=PlanKind.TELL)
    )

    hass.states.async_set("sensor.outside", "21")
    await pass_time(hass, freezer, seconds=1)
    assert home.texts == []
    hass.states.async_set("sensor.inside", "20")
    await pass_time(hass, freezer, seconds=1)

    assert home.texts == ["A reminder: outside: 21, inside: 20."]


async def test_it_tells_each_time_but_once_an_hour(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    plan = replace(
        wait_for("Freezer", Condition("binary_sensor.garage", "on")),
        kind=PlanKind.TELL,
        repeats=True,
    )
    events = async_capture_events(hass, EVENT_PLAN)
    await home.schedule.async_add(plan)

    async def become(state: str, **time: float) -> int:
        hass.states.async_set("binary_sensor.garage", state)
        await pass_time(hass, freezer, **time)
        return types(events).count("done")

    assert await become("on", seconds=1) == 1
    assert await become("on", hours=2) == 1
    assert await become("unavailable", seconds=1) == 1
    assert await become("on", seconds=1) == 1
    await home.restart()
    assert await become("on", hours=2) == 1
    assert await become("off", seconds=1) == 1
    assert await become("on", seconds=1) == 2
    assert await become("off", minutes=10) == 2
    assert await become("on", minutes=10) == 2
    assert await become("on", minutes=41) == 3
    assert len(home.texts) == 1, "only the last one is news"
    await home.schedule.async_cancel(plan.id)
    assert await become("off", hours=2) == 3
    assert await become("on", hours=2) == 3


async def fail(*_: object) -> None:
    raise OSError("disk full")


def refuse(*_: object) -> None:
    raise OSError("read-only")


@pytest.mark.parametrize("every", ["", "day"])
async def test_what_cannot_be_marked_is_not_done_and_told(
    home: Home,
    freezer: FrozenDateTimeFactory,
    monkeypatch: pytest.MonkeyPatch,
    every: Repetition,
) -> None:
    await home.schedule.async_add(
        replace(act(), words="every day at 22:10", every=every)
    )

    with monkeypatch.context() as full:
        full.setattr("homeassistant.helpers.storage.Store.async_save", fail)
        await pass_time(home.hass, freezer, minutes=10)

    assert home.done == []
    assert home.texts == [
        "This was planned for now, but I haven't done it: turn off the heater."
    ]
    await pass_time(home.hass, freezer, days=1)
    assert len(home.done) == len(home.schedule.plans.stored.plans) == bool(every)


async def test_what_was_told_not_to_be_done_is_not_done_after_a_restart(
    tmp_path: Path, freezer: FrozenDateTimeFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    freezer.move_to("2026-11-26 22:00:00+00:00")
    async with own_home(tmp_path) as hass:
        assert await async_setup_component(hass, "homeassistant", {})
        home = Home(hass)
        await home.schedule.async_start(hass)
        await home.schedule.async_add(act())
        await home.schedule.async_add(act("close the blinds", minutes=15))
        with monkeypatch.context() as full:
            full.setattr("homeassistant.helpers.storage.Store.async_save", fail)
            full.setattr(
                shutil,
                "disk_usage",
                lambda _: shutil._ntuple_diskusage(1, 1, 0),  # noqa: SLF001  # its type
            )
            await pass_time(hass, freezer, minutes=10)
        (text,) = home.texts
        assert home.done == []
        assert text.endswith(
            "but I haven't done it: turn off the heater. There's no room on the disk."
        )

    for handle in get_scheduled_timer_handles(asyncio.get_running_loop()):
        # nothing of the first home is tried again beside the second one
        handle.cancel()
    freezer.tick(timedelta(seconds=20))
    async with own_home(tmp_path) as hass:
        assert await async_setup_component(hass, "homeassistant", {})
        home = Home(hass)
        await home.restart()
        assert home.done == []
        (text,) = home.texts
        assert text.startswith("This was planned for")
        await pass_time(hass, freezer, minutes=5)
        assert home.done == ["close the blinds"], "what was not told is done"
        await home.restart()
        assert home.done == ["close the blinds"]


async def test_where_not_even_that_can_be_noted_it_is_told_once_it_is_too_late(
    freezer: FrozenDateTimeFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with own_home() as hass:
        assert await async_setup_component(hass, "homeassistant", {})
        home = Home(hass)
        await home.schedule.async_start(hass)
        await home.schedule.async_add(act())
        with monkeypatch.context() as read_only:
            read_only.setattr("homeassistant.helpers.storage.Store.async_save", fail)
            read_only.setattr(os, "utime", refuse)
            await pass_time(hass, freezer, minutes=10)
            assert (home.done, home.texts) == ([], []), (
                "it may yet be done, so nothing is said"
            )
            for _ in range(7):
                await pass_time(hass, freezer, seconds=10)
            (text,) = home.texts
            assert text.startswith("This was planned for")
        await home.restart()
        assert home.done == []


async def test_a_clock_that_is_far_ahead_ends_no_plan_for_an_hour(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    await home.schedule.async_add(act())
    await home.schedule.async_add(remind())
    home.schedule.async_stop()
    freezer.tick(timedelta(days=400))
    await home.restart()
    await pass_time(hass, freezer, minutes=59)
    assert [plan.text for plan in home.schedule.plans.stored.plans] == [
        "turn off the heater",
        "call Mum",
    ]

    await pass_time(hass, freezer, minutes=2)
    assert not home.schedule.plans.stored.plans
    assert len(home.texts) == 2


async def test_a_reminder_that_cannot_be_stored_is_heard(
    hass: HomeAssistant,
    home: Home,
    freezer: FrozenDateTimeFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await home.schedule.async_add(remind())

    monkeypatch.setattr("homeassistant.helpers.storage.Store.async_save", fail)
    await pass_time(hass, freezer, minutes=10)

    assert home.texts == ["A reminder: call Mum."]
    assert [news.text for news in waiting_news(hass)] == home.texts
    await home.schedule.async_heard(home.schedule.plans.stored.news)
    assert home.texts == []


async def test_who_takes_a_plan_back_is_judged_also_before_the_file_was_read(
    home: Home,
) -> None:
    plan = await home.schedule.async_add(act())
    home.schedule.async_stop()
    unread, home.problem = home.awake(), PlanProblem.NOT_PERMITTED

    with pytest.raises(NotPlanned):
        await unread.async_cancel(plan.id, NOBODY)

    assert unread.plans.get(plan.id) == plan


@pytest.mark.parametrize(
    "damage", [{"version": VERSION + 1}, {"data": {"plans": "none"}}]
)
async def test_plans_are_followed_once_they_can_be_read(
    home: Home,
    freezer: FrozenDateTimeFactory,
    hass_storage: dict[str, dict[str, object]],
    damage: dict[str, object],
) -> None:
    await home.schedule.async_add(act())
    await home.schedule.async_add(replace(act("open the window"), is_begun=True))
    whole = hass_storage["chatterbox.later"]
    file = hass_storage["chatterbox.later"] = {**whole, **damage}
    issues = ir.async_get(home.hass)

    await home.restart()
    with pytest.raises(NotPlanned):
        await home.schedule.async_add(remind())
    assert file == {**whole, **damage}, "nothing is overwritten"
    assert issues.async_get_issue(DOMAIN, "later_unreadable")

    file.update(whole)
    await home.schedule.async_add(act("close the blinds", minutes=20))
    await pass_time(home.hass, freezer, minutes=1)
    assert not issues.async_get_issue(DOMAIN, "later_unreadable")
    await pass_time(home.hass, freezer, minutes=9)
    await pass_time(home.hass, freezer, minutes=11)
    assert home.done == ["turn off the heater", "close the blinds"]
    assert home.texts == [
        "I was interrupted while doing this at 22:10, so please check: open the window."
    ]


async def test_what_belongs_to_a_removed_user_is_removed(
    hass: HomeAssistant, home: Home
) -> None:
    await hass.auth.async_create_user("Owner")
    user = await hass.auth.async_create_user("Anna")
    await home.schedule.async_add(act(asker=Asker(user.id, user.id)))
    await home.schedule.async_add(act("stay"))

    await hass.auth.async_remove_user(user)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert [plan.text for plan in home.schedule.plans.stored.plans] == ["stay"]


async def test_what_belongs_to_a_removed_person_is_removed(
    hass: HomeAssistant, home: Home
) -> None:
    registry = er.async_get(hass)
    gone, other = (
        registry.async_get_or_create("person", "person", name)
        for name in ("anna", "ben")
    )
    for text, asker in {
        "goes": Asker("a-user", gone.unique_id),
        "goes too": Asker(None, gone.unique_id),
        "stays": Asker("another", other.unique_id),
        "a user's": Asker("no-person", "no-person"),
        "the household's": Asker(None, None),
    }.items():
        await home.schedule.async_add(act(text, asker=asker))

    registry.async_remove(gone.entity_id)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert [plan.text for plan in home.schedule.plans.stored.plans] == [
        "stays",
        "a user's",
        "the household's",
    ]


async def test_a_state_is_waited_for_under_its_new_name(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    registry = er.async_get(hass)
    washer = registry.async_get_or_create(
        "sensor", "demo", "washer", suggested_object_id="washer"
    ).entity_id
    hass.states.async_set(washer, "running")
    await home.schedule.async_add(
        wait_for("the washer is done", Condition(washer, "done"))
    )
    await home.schedule.async_add(
        wait_for("it uses less", Condition("sensor.inside", below=washer))
    )

    registry.async_update_entity(washer, new_entity_id="sensor.laundry")
    await hass.async_block_till_done(wait_background_tasks=True)
    async_expose_entity(hass, "conversation", "sensor.laundry", should_expose=True)
    hass.states.async_set("sensor.laundry", "done")
    await pass_time(hass, freezer, seconds=1)

    assert home.texts == ["A reminder: the washer is done."]
    assert [plan.condition for plan in home.schedule.plans.stored.plans] == [
        Condition("sensor.inside", below="sensor.laundry")
    ]


async def test_it_is_told_that_what_is_waited_for_is_gone(
    hass: HomeAssistant, home: Home
) -> None:
    washer = (
        er.async_get(hass)
        .async_get_or_create("sensor", "demo", "washer", suggested_object_id="washer")
        .entity_id
    )
    await home.schedule.async_add(
        wait_for("the washer is done", Condition(washer, "done"))
    )
    events = async_capture_events(hass, EVENT_PLAN)

    er.async_get(hass).async_remove(washer)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert home.schedule.plans.stored.plans == ()
    assert ["I no longer watch this" in text for text in home.texts] == [True]
    assert types(events) == ["cancelled"]


async def test_a_hundred_kills_do_nothing_twice_and_lose_nothing(
    home: Home, freezer: FrozenDateTimeFactory
) -> None:
    chance = random.Random(28)  # noqa: S311  # not for secrets
    for number in range(100):
        text = f"plan {number}"
        await home.schedule.async_add(act(text, minutes=1))
        freezer.tick(timedelta(minutes=1))
        due = asyncio.create_task(
            home.schedule._async_due(home.schedule.plans.stored.plans[-1].id)  # noqa: SLF001
        )
        for _ in range(chance.randrange(12)):
            await asyncio.sleep(0)
        due.cancel()
        await asyncio.gather(due, return_exceptions=True)
        freezer.tick(timedelta(minutes=chance.choice([0, 5])))
        await home.restart()

        assert home.done.count(text) <= 1, text
        is_known = any(text in words for words in home.texts)
        assert is_known or home.done.count(text) == 1, text
        assert home.schedule.plans.stored.plans == ()
        await home.schedule.async_heard(home.schedule.plans.stored.news)


async def test_a_plan_that_is_gone_cannot_be_changed(
    hass: HomeAssistant, home: Home
) -> None:
    with pytest.raises(NotPlanned):
        await home.schedule.async_change("gone", lambda plan: plan)
    with pytest.raises(NotPlanned):
        await home.schedule.async_cancel("gone")
    assert async_get_plans(hass).stored.plans == ()


@pytest.mark.parametrize("terms", ["", "ask:1"])
async def test_a_yes_is_for_its_time(home: Home, terms: str) -> None:
    plan = replace(act(), call=PlannedCall("turn_off", "{}", terms))
    await home.schedule.async_add(plan)
    sooner = dt_util.utcnow() + timedelta(minutes=1)

    if terms:
        with pytest.raises(NotPlanned):
            await home.schedule.async_change(
                plan.id, lambda known: replace(known, due=sooner)
            )
    else:
        await home.schedule.async_change(
            plan.id, lambda known: replace(known, due=sooner)
        )

    assert home.schedule.plans.stored.plans[0].due == (plan.due if terms else sooner)


async def test_days_that_were_missed_are_made_up_for_once(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    await home.schedule.async_add(
        replace(remind("the bins"), words="every day at 07:00", every="day")
    )
    home.schedule.async_stop()

    await pass_time(hass, freezer, days=3)
    await home.restart()

    assert len(home.texts) == 1
    due = home.schedule.plans.stored.plans[0].due
    assert due is not None
    assert timedelta() < due - dt_util.utcnow() <= timedelta(days=1)


async def test_a_state_is_not_waited_for_for_ever(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    plan = replace(
        act(),
        due=None,
        condition=Condition("sensor.washer", "off"),
        until=dt_util.utcnow(),
    )
    await home.schedule.async_add(plan)

    freezer.tick(1)
    hass.states.async_set("sensor.washer", "off")
    await pass_time(hass, freezer, seconds=1)

    assert home.done == []
    assert len(home.texts) == 1


async def test_what_is_moved_while_its_agent_is_loaded_anew_waits_for_its_new_time(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    plan = replace(act(), agent="agent-2")
    await home.schedule.async_add(plan)
    freezer.tick(timedelta(minutes=10))
    async_fire_time_changed(hass)
    await hass.async_block_till_done()

    due = dt_util.utcnow() + timedelta(hours=1)
    await home.schedule.async_change(plan.id, lambda known: replace(known, due=due))
    home.schedule.async_serve("agent-2", home)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert home.done == []

    await pass_time(hass, freezer, hours=1)
    assert home.done == ["turn off the heater"]


async def test_a_change_that_changes_nothing_does_nothing_twice(
    tmp_path: Path, freezer: FrozenDateTimeFactory
) -> None:
    async with async_test_home_assistant(
        config_dir=str(tmp_path)
    ) as hass:  # it writes to a real disk, which takes time
        home, plan = Home(hass), replace(act(), agent="agent-2")
        await home.schedule.async_add(plan)
        freezer.tick(timedelta(minutes=10))
        async_fire_time_changed(hass)
        await hass.async_block_till_done()

        await home.schedule.async_change(plan.id, lambda known: known)
        home.schedule.async_serve("agent-2", home)
        await hass.async_block_till_done(wait_background_tasks=True)

        assert (home.done, home.texts) == (["turn off the heater"], [])
        await hass.async_stop(force=True)


@pytest.mark.parametrize(
    ("begin", "at", "days"),
    [
        (
            "2027-03-26 12:00:00+00:00",
            "07:00",
            ["27 07:00 +0100", "28 07:00 +0200", "29 07:00 +0200"],
        ),
        (
            "2027-10-29 12:00:00+00:00",
            "07:00",
            ["30 07:00 +0200", "31 07:00 +0100", "01 07:00 +0100"],
        ),
        (
            "2027-03-26 12:00:00+00:00",
            "02:30",
            ["27 02:30 +0100", "28 03:30 +0200", "29 02:30 +0200"],
        ),
        (
            "2027-10-29 12:00:00+00:00",
            "02:30",
            ["30 02:30 +0200", "31 02:30 +0200", "01 02:30 +0100"],
        ),
    ],
)
async def test_every_day_keeps_its_time_over_changes_of_the_clock(
    home: Home, freezer: FrozenDateTimeFactory, begin: str, at: str, days: list[str]
) -> None:
    freezer.move_to(begin)
    await home.hass.config.async_set_time_zone("Europe/Berlin")
    words = f"every day at {at}"
    moment = await async_resolve(home.hass, words, "en")
    assert moment
    await home.schedule.async_add(
        replace(remind(), due=moment.due, words=words, every="day")
    )

    rung = []
    for _ in days:
        (plan,) = home.schedule.plans.stored.plans
        assert plan.due
        rung.append(f"{dt_util.as_local(plan.due):%d %H:%M %z}")
        freezer.move_to(plan.due)
        await pass_time(home.hass, freezer)
    assert (rung, len(home.texts)) == (days, len(days))


async def test_every_day_is_at_its_time_where_the_home_has_moved_to(
    home: Home, freezer: FrozenDateTimeFactory
) -> None:
    due = dt_util.parse_datetime("2026-11-27 07:00:00+00:00")
    await home.schedule.async_add(
        replace(remind(), due=due, words="every day at 07:00", every="day")
    )

    await home.hass.config.async_set_time_zone("America/New_York")
    await pass_time(home.hass, freezer, hours=9)

    (plan,) = home.schedule.plans.stored.plans
    assert plan.due
    assert f"{dt_util.as_local(plan.due):%d %H:%M}" == "27 07:00"


async def test_a_clock_that_is_put_back_does_nothing_early_or_twice(
    home: Home, freezer: FrozenDateTimeFactory
) -> None:
    await home.schedule.async_add(act())
    freezer.move_to("2026-11-26 21:00:00+00:00")
    async_fire_time_changed(home.hass, dt_util.utcnow() + timedelta(minutes=11))
    await home.hass.async_block_till_done(wait_background_tasks=True)
    assert home.done == []

    await pass_time(home.hass, freezer, hours=1, minutes=10)
    freezer.move_to("2026-11-26 22:00:00+00:00")
    await pass_time(home.hass, freezer, minutes=10)
    assert home.done == ["turn off the heater"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("every other day at 18:00", "2 days: 29 01 03"),
        ("every three days at 18:00", "3 days: 30 03 06"),
        ("on Mondays and Thursdays at 18:00", "0,3: 03 07 10"),
        ("every other Thursday at 18:00", "2 weeks: 17 31 14"),
        ("every month on the 26th at 18:00", "month: 26 26 26"),
        ("every second day at sunset", "2 days: 29 01 03"),
    ],
)
async def test_what_comes_again_keeps_its_rhythm(
    hass: HomeAssistant,
    home: Home,
    freezer: FrozenDateTimeFactory,
    words: str,
    expected: str,
) -> None:
    moment, found = await async_resolve(hass, words, "en"), list[str]()
    assert moment
    await home.schedule.async_add(
        replace(remind(), id="one", due=moment.due, every=moment.every, words=words)
    )
    for _ in range(3):
        plan = home.schedule.plans.get("one")
        assert plan
        assert plan.due
        await pass_time(
            hass, freezer, seconds=(plan.due - dt_util.utcnow()).total_seconds() + 1
        )
        plan = home.schedule.plans.get("one")
        assert plan
        assert plan.due
        found.append(f"{plan.due:%d}")
    assert f"{moment.every}: {' '.join(found)}" == expected
