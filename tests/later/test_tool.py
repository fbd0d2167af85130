"""The tool takes words, says what they mean, and lists, moves and cancels what a person may ask about."""

from dataclasses import replace
from datetime import timedelta

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.const import REDACTED_PIN
from custom_components.chatterbox.later.plans import (
    LONGEST_TEXT,
    Asker,
    Condition,
    FuturePlan,
    News,
    async_get_plans,
)
from custom_components.chatterbox.later.schedule import (
    async_get_schedule,
    async_resolve,
)
from custom_components.chatterbox.later.tool import LATER
from custom_components.chatterbox.people.speakers import NOBODY, Asking, Speaker
from custom_components.chatterbox.tools.own.own_tool import Approval, Prepared
from tests.later.planning import NOW, as_given, run
from tests.later.talk import SATELLITE
from tests.support.config_entries import offline_entry, set_up
from tests.support.one_home import in_one_home
from tests.support.own_tools import ANNA, BEN, own_call

CALL_MUM: JsonObject = {"kind": "remind", "when": "in 20 minutes", "text": "call Mum"}
BINS: JsonObject = {"kind": "remind", "when": "every day at 07:00", "text": "the bins"}


@pytest.fixture(autouse=True)
async def home(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    await set_up(hass, offline_entry())
    freezer.move_to(NOW)


def expose(
    hass: HomeAssistant, entity_id: str, state: str = "on", **attributes: str
) -> None:
    hass.states.async_set(entity_id, state, attributes)
    async_expose_entity(hass, "conversation", entity_id, should_expose=True)


def plans(hass: HomeAssistant) -> tuple[FuturePlan, ...]:
    return async_get_plans(hass).stored.plans


async def test_a_reminder_is_planned_and_its_time_is_said(hass: HomeAssistant) -> None:
    answer = await run(hass, CALL_MUM)

    (plan,) = plans(hass)
    assert plan.due == dt_util.utcnow() + timedelta(minutes=20)
    assert (plan.asker.person_id, plan.text) == ("anna", "call Mum")
    assert answer.endswith(": call Mum.")


@in_one_home(
    ("arguments", "why"),
    [
        ({"kind": "remind", "when": "in 20 minutes"}, "Say in text"),
        ({"kind": "remind", "text": "x"}, "Say when"),
        ({**CALL_MUM, "when": "2026-11-26T16:00:00+00:00"}, "is no time"),
        ({**CALL_MUM, "when": "2028-11-26T16:00:00+00:00"}, "not within a year"),
        ({**CALL_MUM, "when": "whenever the stars align"}, "is no time"),
        ({**CALL_MUM, "when": "at 6 pm on my birthday"}, "is no time"),
        ({**CALL_MUM, "when": "from six to seven pm"}, "is no time"),
        ({**CALL_MUM, "when": "on Mondays or Thursdays at 8 pm"}, "is no time"),
        ({**CALL_MUM, "when": "between 6 and 7 pm"}, "is no time"),
        ({**CALL_MUM, "due": "2026-11-26T16:00:00+00:00"}, "has passed"),
        ({**CALL_MUM, "due": "2028-11-26T16:00:00+00:00"}, "has passed"),
        ({**CALL_MUM, "text": "x" * (LONGEST_TEXT + 1)}, str(LONGEST_TEXT)),
        (
            {**CALL_MUM, "entity": "me", "state": "x" * (LONGEST_TEXT + 1)},
            str(LONGEST_TEXT),
        ),
        ({**CALL_MUM, "text": f"The code is {REDACTED_PIN}."}, "PIN"),
        ({"kind": "act", "when": "in 20 minutes"}, "Name the tool"),
        (
            {
                "kind": "act",
                "when": "in 20 minutes",
                "tool": "x",
                "arguments": {"message": "x" * 4000},
            },
            "4000 characters",
        ),
        ({"kind": "tell", "when": "in 20 minutes"}, "Name the entity"),
        ({"kind": "tell", "entity": "Nothing", "state": "on"}, "no entity"),
        ({"kind": "cancel", "text": "x"}, "Nothing is planned."),
        ({"kind": "move", "when": "in 5 minutes"}, "not clear"),
    ],
)
async def test_what_cannot_be_planned_says_why(
    hass: HomeAssistant, arguments: JsonObject, why: str
) -> None:
    assert why in await run(hass, arguments)
    assert plans(hass) == ()


async def test_each_person_has_their_own_and_those_of_the_household(
    hass: HomeAssistant,
) -> None:
    await run(hass, CALL_MUM)
    await run(hass, {**CALL_MUM, "text": "feed the cat"}, Speaker(asking=Asking.PERSON))

    assert await run(hass, {"kind": "list"}, BEN) == await run(
        hass, {"kind": "list"}, NOBODY
    )
    assert "feed the cat" in await run(hass, {"kind": "list"}, BEN)
    assert "call Mum" not in await run(hass, {"kind": "list"}, BEN)
    assert "call Mum" in await run(hass, {"kind": "list"})
    assert "not clear" in await run(hass, {"kind": "cancel", "text": "mum"}, BEN)
    assert len(plans(hass)) == 2


@in_one_home("words", ["mum", "Call Mum", "call mum in 20 minutes", "", None, "all"])
async def test_a_plan_is_cancelled_by_its_words_or_as_the_latest(
    hass: HomeAssistant, words: str | None
) -> None:
    await run(hass, CALL_MUM)

    answer = await run(
        hass, {"kind": "cancel"} if words is None else {"kind": "cancel", "text": words}
    )

    assert "call Mum" in answer
    assert plans(hass) == ()
    assert await run(hass, {"kind": "list"}) == "Nothing is planned."


async def test_words_that_fit_several_plans_cancel_none(hass: HomeAssistant) -> None:
    await run(hass, CALL_MUM)
    await run(hass, {**CALL_MUM, "text": "call the bank"})

    assert "not clear" in await run(hass, {"kind": "cancel", "text": "call"})
    assert len(plans(hass)) == 2
    await run(hass, {"kind": "cancel", "text": plans(hass)[0].id})
    assert [plan.text for plan in plans(hass)] == ["call the bank"]


async def test_everything_is_cancelled(hass: HomeAssistant) -> None:
    await run(hass, CALL_MUM)
    await run(hass, BINS, BEN)
    await run(hass, {**CALL_MUM, "text": "call the bank"})

    await run(hass, {"kind": "cancel", "text": "all"})

    assert [plan.text for plan in plans(hass)] == ["the bins"]


async def test_a_plan_is_moved(hass: HomeAssistant) -> None:
    await run(hass, CALL_MUM)

    await run(hass, {"kind": "move", "text": "mum", "when": "in 40 minutes"})

    (plan,) = plans(hass)
    assert plan.due == dt_util.utcnow() + timedelta(minutes=40)
    assert (plan.text, plan.words) == ("call Mum", "in 40 minutes")


@in_one_home(
    ("planned", "moved", "due", "every"),
    [
        ("tomorrow at 18:00", "at seven", "2026-11-27T19:00", ""),
        ("tomorrow at 18:00", "at half past four", "2026-11-27T16:30", ""),
        ("tomorrow at 18:00", "on saturday", "2026-11-28T18:00", ""),
        ("tomorrow at 18:00", "at sunset", "2026-11-27", ""),
        ("today at 18:00", "tomorrow", "2026-11-27T18:00", ""),
        ("today at 18:00", "in two days", "2026-11-28", ""),
        ("every thursday at 19:00", "at eight", "2026-11-26T20:00", "week"),
        ("every thursday at 19:00", "every friday", "2026-11-27T19:00", "week"),
        ("every day at 19:00", "in the morning", "2026-11-27T08:00", "day"),
        ("every day at 19:00", "tomorrow", "2026-11-27T19:00", "day"),
        ("every thursday at 19:00", "on saturday", "2026-11-28T19:00", "week"),
        ("every thursday at 19:00", "on saturday at 20:00", "2026-11-28T20:00", "week"),
        ("every weekday at 19:00", "at eight", "2026-11-26T20:00", "workday"),
        ("every weekday at 19:00", "on saturday", "2026-11-28T19:00", "week"),
        ("every day at 19:00", "every weekday", "2026-11-26T19:00", "workday"),
    ],
)
async def test_a_plan_that_is_moved_keeps_what_is_not_named(
    hass: HomeAssistant, planned: str, moved: str, due: str, every: str
) -> None:
    await run(hass, {**CALL_MUM, "when": planned})

    await run(hass, {"kind": "move", "when": moved})

    (plan,) = plans(hass)
    assert plan.due
    assert dt_util.as_local(plan.due).isoformat().startswith(due)
    following = await async_resolve(hass, plan.words, "en", plan.due)
    days = {"week": 7, "day": 1, "workday": 1}.get(every)
    assert plan.every == every
    assert (
        following is None
        or days is None
        or following.due == plan.due + timedelta(days=days)
    )
    await run(hass, {"kind": "cancel"})


async def test_a_time_that_is_far_from_the_old_one_is_asked_about(
    hass: HomeAssistant,
) -> None:
    await run(hass, {**CALL_MUM, "when": "tomorrow at 09:00"})

    assert "may mean" in await run(hass, {"kind": "move", "when": "at three"})
    assert [plan.words for plan in plans(hass)] == ["tomorrow at 09:00"]


async def test_a_plan_is_moved_that_is_due_at_the_time_that_is_named(
    hass: HomeAssistant,
) -> None:
    for text, when in (
        ("call Mum", "at 18:00"),
        ("the cake", "at 18:30"),
        ("the bank", "in 3 hours"),
    ):
        await run(hass, {**CALL_MUM, "text": text, "when": when})

    await run(hass, {"kind": "move", "text": "at six", "when": "at seven"})

    assert [f"{dt_util.as_local(plan.due):%H:%M}" for plan in plans(hass) if plan.due][
        :2
    ] == ["19:00", "18:30"]
    assert "not clear" in await run(
        hass, {"kind": "cancel", "text": "at half past six"}
    )
    await run(hass, {"kind": "remind", "text": "the news at seven", "when": "at 20:00"})
    await run(hass, {"kind": "move", "text": "at seven", "when": "at nine"})
    assert [plan.text for plan in plans(hass) if plan.words == "at nine"] == [
        "the news at seven"
    ]


async def test_of_two_plans_with_a_time_in_their_words_the_one_due_then_is_moved(
    hass: HomeAssistant,
) -> None:
    for text, when in (("call Mum", "tomorrow at 18:00"), ("the cake", "at 18:00")):
        await run(hass, {**CALL_MUM, "text": text, "when": when})

    await run(hass, {"kind": "move", "text": "at 18:00", "when": "at 19:00"})

    assert {plan.text: plan.words for plan in plans(hass)} == {
        "call Mum": "tomorrow at 18:00",
        "the cake": "at 19:00",
    }


async def test_a_state_is_waited_for(hass: HomeAssistant) -> None:
    hass.states.async_set("person.anna", "not_home", {"id": "anna"})

    answer = await run(
        hass,
        {"kind": "remind", "entity": "me", "state": "home", "text": "feed the cat"},
    )

    (plan,) = plans(hass)
    assert (plan.due, plan.condition and plan.condition.entity_id) == (
        None,
        "person.anna",
    )
    assert answer == "As soon as this is so (anna: home): feed the cat."


@in_one_home(
    ("state", "condition"),
    [
        ("closed for 5 min", Condition("binary_sensor.cellar", "off", seconds=300)),
        ("off for 2 hours", Condition("binary_sensor.cellar", "off", seconds=7200)),
        ("off for 999 hours", Condition("binary_sensor.cellar", "off", seconds=86_400)),
        ("> 20 for 30 s", Condition("binary_sensor.cellar", above=20, seconds=30)),
        ("ready for pickup", Condition("binary_sensor.cellar", "ready_for_pickup")),
    ],
)
async def test_a_state_may_have_to_last(
    hass: HomeAssistant, state: str, condition: Condition
) -> None:
    expose(hass, "binary_sensor.cellar")

    await run(hass, {"kind": "tell", "entity": "binary_sensor.cellar", "state": state})

    assert [plan.condition for plan in plans(hass)] == [condition]
    await run(hass, {"kind": "cancel"})


async def test_two_entities_are_compared(hass: HomeAssistant) -> None:
    for entity_id, unit in (
        ("sensor.outside", "°C"),
        ("sensor.inside", "°C"),
        ("sensor.wind", "km/h"),
    ):
        expose(hass, entity_id, "20", unit_of_measurement=unit)
    hass.states.async_set("sensor.cellar", "20", {"unit_of_measurement": "°C"})

    answer = await run(
        hass, {"kind": "tell", "entity": "outside", "state": "> inside for 1 min"}
    )
    assert answer == "As soon as this is so (outside: > inside, 1 min): outside."
    condition = Condition("sensor.outside", above="sensor.inside", seconds=60)
    assert [plan.condition for plan in plans(hass)] == [condition]

    for other, why in (
        ("wind", "no numbers of one unit"),
        ("sensor.cellar", "no entity that you may use"),
    ):
        assert why in await run(
            hass, {"kind": "tell", "entity": "outside", "state": f"< {other}"}
        )
    assert len(plans(hass)) == 1


@pytest.mark.parametrize("asking", [Asking.NOBODY, Asking.TRUSTED])
async def test_only_a_person_has_something_done_again_and_again(
    hass: HomeAssistant, asking: Asking
) -> None:
    expose(hass, "binary_sensor.cellar", "off")
    call: JsonObject = {"kind": "act", "tool": "HassTurnOn", "arguments": {}}
    automation = replace(ANNA, asking=asking)
    for when in (
        {"kind": "act_always", "entity": "binary_sensor.cellar", "state": "on"},
        {"when": "every day at 8 pm"},
    ):
        assert "only a person" in await run(hass, {**call, **when}, automation)
    always: JsonObject = {"kind": "act_always", "when": "at 8 pm"}
    assert "every day at 8" in await run(hass, {**call, **always})
    assert plans(hass) == ()


async def test_each_time_begins_after_this_time(hass: HomeAssistant) -> None:
    expose(hass, "binary_sensor.cellar")

    answer = await run(
        hass, {"kind": "tell_always", "entity": "binary_sensor.cellar", "state": "on"}
    )

    assert answer == "Each time that this is so (cellar: on): cellar."
    assert [(plan.repeats, plan.told_at) for plan in plans(hass)] == [
        (True, dt_util.utcnow() - timedelta(hours=1))
    ]


@in_one_home(
    ("arguments", "kind", "answer"),
    [
        (
            {"entity": "binary_sensor.cellar", "state": "on", "text": "Water!"},
            "tell_always",
            "Each time that this is so (cellar: on): cellar.",
        ),
        (
            {"when": "every day at 07:00", "text": "the bins"},
            "remind",
            "Every day at seven in the morning: the bins.",
        ),
        ({"when": "at 8 pm", "text": "the bins"}, None, "every day at 8"),
        (
            {"entity": "binary_sensor.cellar", "state": "on", "when": "at 8 pm"},
            None,
            "every day at 8",
        ),
        (
            {"tool": "HassTurnOn", "arguments": {}, "when": "at 8 pm"},
            None,
            "every day at 8",
        ),
        ({"text": "the bins"}, None, "Say when"),
    ],
)
async def test_what_is_done_each_time_follows_from_what_is_given(
    hass: HomeAssistant, arguments: JsonObject, kind: str | None, answer: str
) -> None:
    expose(hass, "binary_sensor.cellar", "off")
    call: JsonObject = {"kind": "always", **arguments}

    assert answer in await run(hass, call)

    assert LATER.prepare
    prepared = await LATER.prepare(replace(own_call(hass, call, ANNA), fit=as_given))
    made = prepared.arguments["kind"] if isinstance(prepared, Prepared) else None
    assert made == kind


async def test_a_tool_that_is_called_each_time_is_asked_about_as_such(
    hass: HomeAssistant,
) -> None:
    expose(hass, "binary_sensor.cellar", "off")
    when_on: JsonObject = {"entity": "binary_sensor.cellar", "state": "on"}
    call: JsonObject = {"kind": "always", "tool": "x", "arguments": {}, **when_on}
    assert LATER.prepare

    always = await LATER.prepare(replace(own_call(hass, call, ANNA), fit=as_given))
    named = {**call, "kind": "act_always"}
    meant = await LATER.prepare(replace(own_call(hass, named, ANNA), fit=as_given))

    assert always == meant
    assert isinstance(meant, Prepared)
    assert meant.acting
    assert meant.acting.when
    assert meant.acting.when.comes_again


@pytest.mark.parametrize(
    ("attributes", "urgent", "is_urgent"),
    [({}, False, False), ({}, True, True), ({"device_class": "moisture"}, False, True)],
)
async def test_what_is_dangerous_is_urgent(
    hass: HomeAssistant, attributes: dict[str, str], *, urgent: bool, is_urgent: bool
) -> None:
    expose(hass, "binary_sensor.cellar", **attributes)

    await run(
        hass,
        {
            "kind": "tell",
            "entity": "binary_sensor.cellar",
            "state": "off",
            "urgent": urgent,
        },
    )

    assert [plan.is_urgent for plan in plans(hass)] == [is_urgent]


async def test_what_is_so_already_is_not_waited_for(hass: HomeAssistant) -> None:
    hass.states.async_set("person.anna", "home", {"id": "anna"})

    assert "so already" in await run(
        hass, {"kind": "tell", "entity": "me", "state": "home"}
    )


async def test_what_cannot_be_read_is_told(
    hass: HomeAssistant, hass_storage: dict[str, object]
) -> None:
    async_get_plans(hass).__init__(hass)  # type: ignore[misc]  # as after a restart
    hass_storage["chatterbox.later"] = {"version": 1, "data": {"plans": "none"}}

    assert "cannot be read" in await run(hass, CALL_MUM)


async def test_a_call_that_nobody_has_judged_is_not_planned(
    hass: HomeAssistant,
) -> None:
    act: JsonObject = {
        "kind": "act",
        "when": "in 20 minutes",
        "tool": "HassTurnOff",
        "arguments": {"name": "Heater"},
    }

    assert "could not be judged" in await run(hass, act)
    assert plans(hass) == ()


async def test_a_task_plans_no_call(hass: HomeAssistant) -> None:
    act: JsonObject = {
        "kind": "act",
        "when": "in 20 minutes",
        "tool": "HassTurnOff",
        "arguments": {"name": "Heater"},
    }
    call = replace(own_call(hass, act, ANNA), approval=Approval("", ""))

    answer = await LATER.run(call)

    assert answer.is_error
    assert "people talk to" in str(answer.data)
    assert plans(hass) == ()


@pytest.mark.parametrize("words", ["", "Call Mum"])
async def test_a_reminder_that_was_just_heard_is_put_off(
    hass: HomeAssistant, words: str
) -> None:
    await run(hass, BINS)
    heard = replace(plans(hass)[0], id="abc", text="call Mum", every="")
    news = News(text="", language="en", asker=heard.asker, plan=heard)
    await async_get_schedule(hass).async_heard([news], SATELLITE)
    put_off: JsonObject = {"kind": "move", "when": "in ten minutes", "text": words}

    assert (await run(hass, put_off, BEN, SATELLITE)).endswith(
        "in 10 minutes: call Mum."
    )

    bins, again = plans(hass)
    assert (bins.text, again.text, again.every, again.asker.person_id) == (
        "the bins",
        "call Mum",
        "",
        "ben",
    )


async def test_one_that_comes_again_can_be_moved_for_good(hass: HomeAssistant) -> None:
    await run(hass, BINS)
    news = News(text="", language="en", asker=Asker(), plan=plans(hass)[0])
    await async_get_schedule(hass).async_heard([news], SATELLITE)

    await run(hass, {"kind": "move", "when": "every day at 08:00"}, ANNA, SATELLITE)
    assert len(plans(hass)) == 1
    await run(hass, {"kind": "move", "when": "in ten minutes"}, ANNA, SATELLITE)
    assert [plan.every for plan in plans(hass)] == ["day", ""]
