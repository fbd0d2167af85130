"""A call that was planned is judged when it is asked for and when it is due, and runs without a model."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import (
    async_capture_events,
    async_fire_time_changed,
)

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.const import EVENT_CHANGE, EVENT_TURN_FINISHED
from custom_components.chatterbox.later.plans import FuturePlan, async_get_plans
from custom_components.chatterbox.later.schedule import EVENT_PLAN
from tests.later.talk import (
    LIGHT_OFF,
    UNLOCK,
    at_hall,
    fired,
    later,
    pass_time,
    script,
    state,
    types,
)
from tests.support.home_rules import set_home_rules
from tests.support.loop_clock import LoopClock
from tests.support.servers.script import ScriptedAnswer
from tests.support.talk import DOOR, LIGHT, Serve

PASSAGE = {
    "alias": "Passage",
    "sequence": [{"action": "light.turn_on", "target": {"entity_id": LIGHT}}],
}
RUN_PASSAGE: JsonObject = {
    "kind": "act",
    "tool": "HassTurnOn",
    "arguments": {"name": "Passage"},
}


def plans(hass: HomeAssistant) -> tuple[FuturePlan, ...]:
    return async_get_plans(hass).stored.plans


def news(hass: HomeAssistant) -> list[str]:
    return [one.text for one in async_get_plans(hass).stored.news]


async def test_it_runs_when_it_is_due_and_costs_no_token(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve(script(later(LIGHT_OFF)))
    await hass.services.async_call(
        "light", "turn_on", {"entity_id": LIGHT}, blocking=True
    )
    events, changes = (
        async_capture_events(hass, EVENT_PLAN),
        async_capture_events(hass, EVENT_CHANGE),
    )

    await at_hall(hass, "turn off the kitchen ceiling light in twenty minutes")
    assert [plan.text for plan in plans(hass)] == ["turn off the Kitchen Ceiling Light"]
    await pass_time(hass, freezer, minutes=19)
    assert state(hass, LIGHT) == "on"
    await pass_time(hass, freezer, seconds=61)

    assert state(hass, LIGHT) == "off"
    assert types(events) == ["added", "due", "done"]
    assert [change.data["message"] for change in changes] == [
        "planned for later: turn off the Kitchen Ceiling Light",
        "turned off Kitchen Ceiling Light, as planned",
    ]
    assert len(server.requests) == 2
    assert (plans(hass), news(hass)) == ((), [])


async def test_a_yes_is_given_when_it_is_planned(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    await serve(script(later(UNLOCK)))

    question = await at_hall(hass, "unlock the front door in twenty minutes")
    assert question.endswith(". Unlock the Front Door in the Hallway?")
    assert plans(hass) == ()
    await at_hall(hass, "yes")
    assert [plan.text for plan in plans(hass)] == [
        "unlock the Front Door in the Hallway"
    ]
    assert state(hass, DOOR) == "locked"

    await pass_time(hass, freezer, minutes=20)
    assert state(hass, DOOR) == "unlocked"


async def test_a_no_plans_nothing(hass: HomeAssistant, serve: Serve) -> None:
    await serve(script(later(UNLOCK)))

    await at_hall(hass, "unlock the front door in twenty minutes")
    await at_hall(hass, "no")

    assert plans(hass) == ()


@pytest.mark.parametrize(
    ("verdict", "why"),
    [
        (
            "ask",
            "It would need a new confirmation, because your rules, or what it does, have changed.",
        ),
        ("pin", "That needs a PIN, but none is set. Please choose one in my settings."),
        ("deny", "The rules of this home don't allow that."),
    ],
)
async def test_a_rule_that_became_stricter_holds_and_it_is_told(  # with its reason
    hass: HomeAssistant,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
    verdict: str,
    why: str,
) -> None:
    await serve(script(later(LIGHT_OFF)))
    await hass.services.async_call(
        "light", "turn_on", {"entity_id": LIGHT}, blocking=True
    )
    events = async_capture_events(hass, EVENT_PLAN)
    await at_hall(hass, "turn off the kitchen ceiling light in twenty minutes")

    await set_home_rules(hass, rules=[{"verdict": verdict, "domains": ["light"]}])
    await pass_time(hass, freezer, minutes=20)

    assert state(hass, LIGHT) == "on"
    assert types(events) == ["added", "due", "not_done"]
    assert news(hass)[0].endswith(
        f"I haven't done it: turn off the Kitchen Ceiling Light. {why}"
    )


@pytest.mark.parametrize("is_edited", [False, True])
async def test_the_yes_is_void_if_it_would_do_more(
    hass: HomeAssistant,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
    *,
    is_edited: bool,
) -> None:
    await serve(
        script(later(RUN_PASSAGE)), rules=[{"verdict": "ask", "domains": ["light"]}]
    )
    assert await async_setup_component(hass, "script", {"script": {"passage": PASSAGE}})
    async_expose_entity(hass, "conversation", "script.passage", should_expose=True)
    await at_hall(hass, "run the passage in twenty minutes")
    await at_hall(hass, "yes")
    assert len(plans(hass)) == 1

    if is_edited:
        (passage,) = hass.data["script"].entities
        passage.script.sequence.append(
            {"action": "light.turn_on", "target": {"entity_id": "light.garden"}}
        )
    await pass_time(hass, freezer, minutes=20)

    assert state(hass, LIGHT) == ("off" if is_edited else "on")
    assert ["new confirmation" in one for one in news(hass)] == [True] * is_edited


async def test_what_is_no_longer_exposed_is_left_alone_and_told(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    await serve(script(later(LIGHT_OFF)))
    await hass.services.async_call(
        "light", "turn_on", {"entity_id": LIGHT}, blocking=True
    )
    await at_hall(hass, "turn off the kitchen ceiling light in twenty minutes")

    async_expose_entity(hass, "conversation", LIGHT, should_expose=False)
    await pass_time(hass, freezer, minutes=20)

    assert state(hass, LIGHT) == "on"
    assert len(news(hass)) == 1


@pytest.mark.parametrize("inner", ["chatterbox__later", "no_such_tool"])
async def test_a_plan_plans_nothing_and_has_a_tool(
    hass: HomeAssistant, serve: Serve, inner: str
) -> None:
    server = await serve(
        script(later({"kind": "act", "tool": inner, "arguments": {"kind": "list"}}))
    )

    await at_hall(hass, "plan a plan")

    assert plans(hass) == ()
    assert "There is no tool" in str(server.requests[-1].body)


async def test_a_sentence_can_be_planned(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    sentence: JsonObject = {"sentence": "turn off the kitchen ceiling light"}
    await serve(
        script(
            later(
                {
                    "kind": "act",
                    "tool": "conversation__process_sentence",
                    "arguments": sentence,
                }
            )
        )
    )
    await hass.services.async_call(
        "light", "turn_on", {"entity_id": LIGHT}, blocking=True
    )
    await at_hall(hass, "turn off the kitchen ceiling light in twenty minutes")

    await pass_time(hass, freezer, minutes=20)

    assert state(hass, LIGHT) == "off"


async def test_what_was_not_done_is_told_where_it_was_asked_for(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    answers = (
        *script(later(LIGHT_OFF)).answers,
        ScriptedAnswer(content="Good evening."),
        ScriptedAnswer(content="Hi."),
    )
    await serve(script().model_copy(update={"answers": answers}))
    await at_hall(hass, "turn off the kitchen ceiling light in twenty minutes")
    await set_home_rules(hass, rules=[{"verdict": "deny", "domains": ["light"]}])
    await pass_time(hass, freezer, minutes=20)

    answer = await at_hall(hass, "good evening")

    assert answer.startswith(
        "While you were away: This was planned for now, but I haven't done it: turn off the Kitchen"
    )
    assert answer.endswith("Good evening.")
    assert await at_hall(hass, "good evening") == "Hi."


async def test_a_yes_for_once_is_none_for_every_day(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    freezer.move_to("2026-11-26 17:00:00+00:00")
    await serve(
        script(later(UNLOCK, "at 14:00"), later({"kind": "move"}, "every day at 14:00"))
    )
    await at_hall(hass, "unlock the front door at two")
    await at_hall(hass, "yes")

    await at_hall(hass, "every day, please")

    assert [(plan.every, plan.words) for plan in plans(hass)] == [("", "at 14:00")]


async def test_a_model_resolves_no_time(hass: HomeAssistant, serve: Serve) -> None:
    """It sees resolved times in earlier calls, and may copy them."""
    copied: JsonObject = {
        **LIGHT_OFF,
        "due": (dt_util.utcnow() + timedelta(hours=3)).isoformat(),
        "every": "week",
    }
    await serve(script(later(copied, "in one minute")))

    await at_hall(hass, "turn off the kitchen ceiling light in one minute")

    (plan,) = plans(hass)
    assert plan.every == ""
    assert plan.due
    assert plan.due < dt_util.utcnow() + timedelta(minutes=2)


async def test_a_sentence_that_is_delayed_itself_is_not_planned(
    hass: HomeAssistant, serve: Serve
) -> None:
    """Home Assistant would wait for it on its own: past the rules, and not over a restart."""
    sentence: JsonObject = {"sentence": "unlock the front door in five minutes"}
    server = await serve(
        script(
            later(
                {
                    "kind": "act",
                    "tool": "conversation__process_sentence",
                    "arguments": sentence,
                }
            )
        )
    )

    await at_hall(
        hass, "in twenty minutes, wait five minutes, then unlock the front door"
    )

    assert (plans(hass), async_get_approvals(hass).waiting) == ((), ())
    assert "would not do anything" in str(server.requests[-1].body)


LOCK: JsonObject = {
    "kind": "act",
    "tool": "HassTurnOn",
    "arguments": {"name": "Front Door", "domain": "lock"},
}
SENTENCE: JsonObject = {
    "kind": "act",
    "tool": "conversation__process_sentence",
    "arguments": {"sentence": "turn off the kitchen ceiling light"},
}
SLOW = {"lock": LOCK, "light": LIGHT_OFF, "sentence": SENTENCE}


@dataclass(slots=True)
class SlowDevice:
    """A device whose action takes as long as it is let, longer than Home Assistant waits for it."""

    has_begun: asyncio.Event = field(default_factory=asyncio.Event)
    may_end: asyncio.Event = field(default_factory=asyncio.Event)
    error: str = ""

    async def act(self, _call: ServiceCall) -> None:
        self.has_begun.set()
        await self.may_end.wait()
        if self.error:
            raise HomeAssistantError(self.error)


async def acting_slowly(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory, what: str
) -> SlowDevice:
    """Return a device that a plan has just begun to act on, so far that the answer of its turn is complete."""
    await serve(script(later(SLOW[what])))
    await hass.services.async_call(
        "light", "turn_on", {"entity_id": LIGHT}, blocking=True
    )
    await at_hall(hass, "do it in twenty minutes")
    finished = fired(hass, EVENT_TURN_FINISHED)
    device, action = (
        SlowDevice(),
        ("lock", "lock") if what == "lock" else ("light", "turn_off"),
    )
    hass.services.async_register(*action, device.act)
    # Home Assistant's triggers are up to half a second late.
    freezer.tick(timedelta(minutes=20, seconds=1))
    async_fire_time_changed(hass)
    await device.has_begun.wait()
    await finished.wait()
    return device


@pytest.mark.parametrize("what", SLOW)
@pytest.mark.parametrize("error", ["", "The bolt is stuck."])
async def test_what_takes_longer_than_home_assistant_waits_is_done_once_it_has_ended(
    hass: HomeAssistant,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
    what: str,
    error: str,
) -> None:
    device = await acting_slowly(hass, serve, freezer, what)

    assert [plan.is_begun for plan in plans(hass)] == [True], "a kill now is told"
    device.error = error
    device.may_end.set()
    await hass.async_block_till_done(wait_background_tasks=True)

    assert plans(hass) == ()
    assert [one.partition(". ")[2] for one in news(hass)] == ([error] if error else [])


KITCHEN: JsonObject = {
    "kind": "act",
    "tool": "HassTurnOff",
    "arguments": {"area": "Kitchen", "domain": ["light"]},
}
PARTLY = "This was planned for now, but only part of it was done: turn off"


@pytest.mark.parametrize("is_late", [False, True])
async def test_what_was_done_in_part_is_told_as_that(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory, *, is_late: bool
) -> None:
    await serve(script(later(KITCHEN)))
    stuck, *others = lights = [
        one for one in hass.states.async_entity_ids("light") if "kitchen" in one
    ]
    assert others
    await hass.services.async_call(
        "light", "turn_on", {"entity_id": lights}, blocking=True
    )
    await at_hall(hass, "do it in twenty minutes")
    may_fail = asyncio.Event()
    if not is_late:
        may_fail.set()

    async def turn_off(call: ServiceCall) -> None:
        if stuck in call.data["entity_id"]:
            await may_fail.wait()
            raise HomeAssistantError("Its wire is loose.")
        for entity_id in call.data["entity_id"]:
            hass.states.async_set(entity_id, "off")

    hass.services.async_register("light", "turn_off", turn_off)
    finished = fired(hass, EVENT_TURN_FINISHED)
    freezer.tick(timedelta(minutes=20))
    async_fire_time_changed(hass)
    await finished.wait()
    may_fail.set()
    await hass.async_block_till_done(wait_background_tasks=True)

    (text,) = news(hass)
    assert text.startswith(PARTLY)
    assert text.endswith("Its wire is loose.")
    assert plans(hass) == ()


async def test_what_does_not_end_is_told(
    hass: HomeAssistant,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
    loop_clock: LoopClock,
) -> None:
    is_over, began = fired(hass, EVENT_PLAN, "not_done"), loop_clock.now
    device = await acting_slowly(hass, serve, freezer, "lock")

    await is_over.wait()
    assert loop_clock.now - began > 100
    assert news(hass)[0].startswith("This began at ")
    assert plans(hass) == ()
    device.may_end.set()
    await hass.async_block_till_done(wait_background_tasks=True)
