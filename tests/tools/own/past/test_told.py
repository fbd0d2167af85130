"""An agent tells what was: from what a real recorder has recorded, with its restarts, gaps and clock changes."""

import asyncio
import sys
import threading
from dataclasses import replace

import pytest
from homeassistant.components.energy.data import DeviceConsumption, async_get_manager
from homeassistant.components.recorder import get_instance
from homeassistant.components.recorder.db_schema import States
from homeassistant.components.recorder.util import session_scope
from homeassistant.core import Context
from homeassistant.helpers import device_registry as dr, entity_registry as er, llm
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.components.recorder.common import (
    async_wait_recording_done,
)
from sqlalchemy import insert

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.approvals.policy import judge
from custom_components.chatterbox.effects.effect import CallEffects
from custom_components.chatterbox.internals.recorder import MOST_STATES
from custom_components.chatterbox.llm import async_get_tools
from custom_components.chatterbox.people.speakers import NOBODY
from custom_components.chatterbox.settings.rules import Policy, Rule, Verdict
from custom_components.chatterbox.tools.own.past import GET_PAST
from tests.support.one_home import in_one_home
from tests.support.own_tools import own_call
from tests.support.recorded_home import CLASSES, DOOR, NAMES, WINDOW, Past

MOST_THREADS = 32
WHATEVER_DATABASE = pytest.mark.parametrize(
    "recorder_db_url", ["sqlite://"], ids=["sqlite"]
)
"""For what is told without a query, or before and after it."""


async def test_a_door_was_last_opened(past: Past) -> None:
    for when, state in (("22 08:00", "off"), ("23 09:15", "on"), ("23 09:20", "off")):
        past.set(when, DOOR, state)
    past.at("24 10:15")

    assert await past.ask(name="front door", state="open") == {
        "found": [
            {
                "name": "Front Door",
                "last open": "yesterday 09:15, 1 day 1 hour ago",
                "until": "yesterday 09:20",
                "for": "5 minutes",
                "now": "closed",
            }
        ]
    }


async def test_windows_of_last_night(past: Past) -> None:
    other = "binary_sensor.bath"
    NAMES[other], CLASSES[other] = "Bath Window", "window"
    past.set("22 08:00", WINDOW, "off")
    past.set("22 08:00", other, "off")
    for when, state in (
        ("22 23:00", "on"),
        ("23 00:10", "off"),
        ("23 04:00", "on"),
        ("23 07:00", "off"),
    ):
        past.set(when, WINDOW, state)
    past.at("23 12:00")

    assert await past.ask(kind="window", state="open", period="last_night") == {
        "time": "yesterday 22:00 to today 06:00",
        "found": [
            {
                "name": "Kitchen Window",
                "open": "3 hours 10 minutes",
                "times": 2,
                "when": ["yesterday 23:00 to today 00:10", "today 04:00 to 06:00"],
                "before": "not once",
            }
        ],
        "note": "Not open: Bath Window.",
    }


async def test_a_person_or_an_automation_has_done_it(past: Past) -> None:
    anna = await past.hass.auth.async_create_user("Anna")
    past.set("22 08:00", DOOR, "off")
    past.set("23 09:00", DOOR, "on", Context(user_id=anna.id))
    (by_anna,) = await past.answers(name="front door", state="open")
    context = Context()
    past.at("23 10:00")
    past.hass.bus.async_fire(
        "automation_triggered",
        {"name": "Airing", "entity_id": "automation.airing"},
        context=context,
    )
    past.set("23 10:01", DOOR, "off", context)
    (by_automation,) = await past.answers(name="front door", state="closed")

    assert (by_anna.get("by"), by_automation.get("by")) == ("Anna", "Airing")


async def test_the_latest_change_has_an_author_before_it_is_in_the_logbook(
    past: Past,
) -> None:
    past.hass.config.components.remove("logbook")
    anna = await past.hass.auth.async_create_user("Anna")
    past.set("22 08:00", DOOR, "off")
    past.set("23 09:00", DOOR, "on", Context(user_id=anna.id))
    past.at("23 09:05")

    (by_anna,) = await past.answers(name="front door", state="open")
    past.set("23 09:10", DOOR, "off")
    (earlier,) = await past.answers(name="front door", state="open")
    assert (by_anna["by"], "by" in earlier) == ("Anna", False)


async def test_nothing_is_claimed_of_times_that_are_not_kept(past: Past) -> None:
    past.set("22 08:00", DOOR, "on")
    past.at("23 12:00")

    answer = await past.ask(name="front door", state="open", period="this_month")
    (never_closed,) = await past.answers(name="front door", state="closed")

    assert (
        answer["note"]
        == "States are kept for 10 days, so what was before that is not known. Say so."
    )
    assert never_closed == {
        "name": "Front Door",
        "last closed": "not since yesterday 08:00; before is not known",
        "now": "open",
    }


UNANSWERABLE: tuple[tuple[JsonObject, str], ...] = (
    ({}, "Give name, area or kind."),
    ({"name": "rear door"}, "There is nothing called rear door. Similar: Front Door."),
    (
        {"kind": "unicorn"},
        "There is no kind unicorn. There are: binary_sensor, door, window.",
    ),
    ({"name": "front door", "period": "then"}, "period is one of today, "),
    (
        {"name": "front door", "period": "2026-11-22T99:00/"},
        "Times are written like 2026-11-22 ",
    ),
    ({"name": "front door", "period": "soon"}, "Times are written like 2026-11-22 "),
    ({"name": "front door", "period": "2026-12-01"}, "That time has not begun yet"),
    (
        {"name": "front door", "period": "2026-11-22/2026-11-21"},
        "That time has not begun yet",
    ),
)


@WHATEVER_DATABASE
async def test_a_question_that_cannot_be_answered_is_told_how_to_ask(
    past: Past, subtests: pytest.Subtests
) -> None:
    past.set("22 08:00", DOOR, "on")
    past.set("22 08:00", WINDOW, "on")
    past.at("23 12:00")

    for call, error in UNANSWERABLE:
        with subtests.test(str(call)):
            assert error in str((await past.ask(**call))["error"])


async def test_a_meter_is_found_by_its_device_and_by_the_energy_dashboard(
    past: Past,
) -> None:
    assert await async_setup_component(past.hass, "energy", {})
    entry = MockConfigEntry(domain="demo")
    entry.add_to_hass(past.hass)
    device = dr.async_get(past.hass).async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("demo", "1")}, name="Fridge"
    )
    meter = er.async_get(past.hass).async_get_or_create(
        "sensor",
        "demo",
        "energy",
        suggested_object_id="plug",
        device_id=device.id,
        config_entry=entry,
    )
    NAMES[meter.entity_id] = "Plug Energy"
    past.set(
        "22 08:00",
        meter.entity_id,
        "5",
        state_class="total_increasing",
        unit_of_measurement="kWh",
    )
    manager = await async_get_manager(past.hass)
    consumption = DeviceConsumption(stat_consumption=meter.entity_id, name="Cooling")
    await manager.async_update(
        {
            "device_consumption": [consumption],
            "energy_sources": [],
            "device_consumption_water": [],
        }
    )

    for name in ("fridge", "cooling"):
        assert [
            one["name"] for one in await past.answers(name=name, period="today")
        ] == ["Plug Energy"]


@WHATEVER_DATABASE
async def test_people_who_may_not_read_an_entity_are_told_nothing_of_it(
    past: Past,
) -> None:
    past.set("22 08:00", DOOR, "on")
    await past.hass.auth.async_create_user("Owner")
    guest = await past.hass.auth.async_create_user("Guest", group_ids=[])

    answer = await past.ask(Context(user_id=guest.id), name="front door")

    assert answer == {
        "error": "There is nothing called front door. Similar: Front Door."
    }


@WHATEVER_DATABASE
@in_one_home("platform", ["chatterbox", "other"])
async def test_where_people_were_is_for_a_rule_to_allow(
    past: Past, platform: str
) -> None:
    NAMES["person.anna"] = "Anna"
    past.set("22 08:00", "person.anna", "home")
    call = own_call(past.hass, {"name": "Anna", "state": "home"})
    call = replace(call, llm_context=replace(call.llm_context, platform=platform))
    effects = CallEffects(GET_PAST.definition.name, await GET_PAST.async_effects(call))
    allowed = Rule(
        verdict=Verdict.ALLOW,
        domains=frozenset({"person"}),
        tools=frozenset({effects.tool}),
    )
    verdicts = [
        judge(past.hass, Policy(rules), effects, NOBODY, dt_util.now()).verdict
        for rules in ((), (allowed,))
    ]

    if platform == "chatterbox":
        assert verdicts == [Verdict.DENY, Verdict.ALLOW]
    else:
        assert "error" in (await GET_PAST.async_answer(call)).data


@WHATEVER_DATABASE
async def test_a_home_without_a_recorder_says_so(past: Past) -> None:
    past.hass.config.components.remove("recorder")

    assert await past.ask(name="front door") == {
        "error": "Home Assistant does not record what was here. Say so."
    }


@WHATEVER_DATABASE
async def test_every_agent_has_it_where_states_are_recorded_and_assist_has_none(
    past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    past.set("22 08:00", DOOR, "on")
    for component in ("history", "llm"):
        assert await async_setup_component(past.hass, component, {})
    assist = next(
        api for api in llm.async_get_apis(past.hass) if api.id == llm.LLM_API_ASSIST
    )
    context = own_call(past.hass, {}).llm_context

    async def is_offered() -> bool:
        await assist.async_get_api_instance(context)  # loads the platforms
        offer = async_get_tools(past.hass, context, llm.LLM_API_ASSIST)
        return offer is not None and GET_PAST.definition.name in {
            tool.name for tool in offer.tools
        }

    assert await is_offered()
    history = sys.modules.get("homeassistant.components.history.llm")
    if history:  # since 2026.11
        with monkeypatch.context() as offering:
            offering.setattr(history, "LLM_API_HOME_ASSISTANT", llm.LLM_API_ASSIST)
            assert not await is_offered()
    past.hass.config.components.remove("recorder")
    assert not await is_offered()


async def test_what_is_not_read_in_time_is_named(past: Past) -> None:
    past.set("22 08:00", DOOR, "on")
    past.set("22 08:00", WINDOW, "on")
    past.at("22 12:00")
    await async_wait_recording_done(past.hass)
    free = threading.Event()
    busy = [
        get_instance(past.hass).async_add_executor_job(free.wait)
        for _ in range(MOST_THREADS)
    ]
    try:
        answer = (
            await GET_PAST.async_answer(
                own_call(past.hass, {"kind": "binary_sensor", "state": "open"})
            )
        ).data
    finally:
        free.set()
        await asyncio.gather(*busy)

    assert answer == {
        "found": [],
        "note": "Left out, since it would take too long: Front Door, Kitchen Window.",
    }


async def test_an_entity_with_too_many_states_is_named_and_the_others_are_told(
    past: Past,
) -> None:
    past.set("22 08:00", DOOR, "off")
    past.set("22 08:00", WINDOW, "off")
    past.set("22 09:00", WINDOW, "on")
    past.at("22 12:00")
    await async_wait_recording_done(past.hass)
    began = dt_util.as_timestamp("2026-11-22 09:00:00+01:00")
    chatter = [
        (began + 0.1 * place, "on" if place % 2 else "off")
        for place in range(MOST_STATES + 1)
    ]

    def write() -> None:
        with session_scope(hass=past.hass) as session:
            ids = get_instance(past.hass).states_meta_manager.get(DOOR, session, False)
            rows = [
                {"metadata_id": ids, "state": state, "last_updated_ts": when}
                for when, state in chatter
            ]
            session.execute(insert(States), rows)

    await get_instance(past.hass).async_add_executor_job(write)

    answer = await past.ask(kind="binary_sensor", state="open", period="today")

    assert "Kitchen Window" in str(answer["found"])
    assert answer["note"] == "Left out, since it would take too long: Front Door."


async def test_many_entities_are_told_in_short(past: Past) -> None:
    for number in range(30):
        name = f"binary_sensor.door_{number:02}"
        NAMES[name], CLASSES[name] = f"Door {number:02}", "door"
        past.set("22 08:00", name, "off")
        past.set("22 09:00", name, "on")
    past.at("22 12:00")

    answer = await past.ask(kind="door", state="open", period="today")

    assert len(str(answer)) < 1_200
    assert "And Door 08, " in str(answer["note"])
    assert "Left out, since it would take too long: Door 20, " in str(answer["note"])
