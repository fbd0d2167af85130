"""The audit of calls that change something: by turns of the real loop, under real rules, in a real home."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Event, HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import (
    MockUser,
    async_capture_events,
    async_fire_time_changed,
)

from custom_components.chatterbox.agent.loop.turn import Limits
from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.agent.protocols import Ask, Deny, Rewrite
from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from custom_components.chatterbox.const import EVENT_CHANGE
from custom_components.chatterbox.effects.effect import Effects
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from custom_components.chatterbox.settings.rules import (
    HomeRules,
    OutsideCare,
    Policy,
    Rule,
    Verdict,
)
from tests.support.audited_turns import (
    AGENT,
    ANNA,
    LAMP_ON,
    UNLOCK,
    AuditedTalk,
    begin_talk,
    calling,
)
from tests.support.documented_yaml import blocks_with
from tests.support.doubles import ScriptedHooks, call, say
from tests.support.llm_apis import StubTool, register
from tests.support.loop_clock import LoopClock

type Changes = list[Event[dict[str, object]]]

YES = GivenAnswer(approved=True, way=ApprovalWay.VOICE, user_id="a" * 32)
NO = GivenAnswer(approved=False, way=ApprovalWay.NOTIFICATION, user_id="b" * 32)
PIN = PinHash.of("2580", HashCost(2, 1))
NEVER_LOCKS = HomeRules(
    policy=Policy((Rule(verdict=Verdict.DENY, domains=frozenset({"lock"})),))
)
LOCKS_BY_PIN = Policy((Rule(verdict=Verdict.PIN, domains=frozenset({"lock"})),))
READ = calling("intent__HassGetCurrentTime", {})


@pytest.fixture
async def talk(hass: HomeAssistant) -> AsyncGenerator[AuditedTalk]:
    yield await begin_talk(hass)
    approvals = async_get_approvals(hass)
    for question in approvals.waiting:
        approvals.drop(question.id)


@pytest.fixture
def changes(hass: HomeAssistant) -> Changes:
    return async_capture_events(hass, EVENT_CHANGE)


def change_facts(changes: Changes, *keys: str) -> list[tuple[object, ...]]:
    return [tuple(event.data[key] for key in keys) for event in changes]


async def test_a_change_is_told_with_all_that_is_to_be_known(
    talk: AuditedTalk, changes: Changes
) -> None:
    await talk.events_of(call(LAMP_ON), say("It is on."))

    (event,) = changes
    assert event.context is talk.context
    data = dict(event.data)
    assert data.pop("turn_id")
    assert data == {
        "entity_id": AGENT,
        "conversation_id": "a-talk",
        "history_id": "a-talk",
        "language": "en",
        "device_id": talk.device_id,
        "satellite_id": "assist_satellite.kitchen",
        "user_id": None,
        "person_id": None,
        "person": "Anna",
        "caller": None,
        "tool_call_id": "lamp",
        "name": "intent__HassTurnOn",
        "arguments": {"name": "Lamp"},
        "entity_ids": ["light.lamp"],
        "done_to": ["light.lamp"],
        "actions": [{"entity_id": "light.lamp", "action": "light.turn_on"}],
        "more_actions": 0,
        "unknown": [],
        "verdict": "allow",
        "decided_by": ["nothing"],
        "rules": [],
        "outcome": "done",
        "error": "",
        "question_id": None,
        "approval": "not_needed",
        "answered_through": None,
        "answered_by": None,
        "place": "Kitchen satellite",
        "message": "turned on Lamp",
        "activity": "turned on by Kitchen satellite (Anna)",
    }


async def test_what_changes_nothing_is_not_told(
    talk: AuditedTalk, changes: Changes
) -> None:
    timer = calling("intent__HassCancelAllTimers", {}, "timer")
    unknown = calling("make_coffee", {}, "coffee")

    await talk.events_of(call(READ, timer, unknown), say("It is noon."))

    assert changes == []


async def test_what_fails_is_told_with_the_reason(
    talk: AuditedTalk, changes: Changes
) -> None:
    async def jam(_: ServiceCall) -> None:
        raise HomeAssistantError("The bulb is broken")

    talk.hass.services.async_register("light", "turn_on", jam)

    await talk.events_of(call(LAMP_ON), say("That did not work."))

    reason = "The bulb is broken"
    assert change_facts(
        changes, "outcome", "entity_ids", "done_to", "error", "message"
    ) == [
        (
            "failed",
            ["light.lamp"],
            [],
            reason,
            f"did not turn on Lamp: failed ({reason})",
        )
    ]


async def test_what_is_done_in_part_names_what_was_not(
    talk: AuditedTalk, changes: Changes
) -> None:
    broken = "The bulb is broken"

    async def jam_the_lamp(call: ServiceCall) -> None:
        if "light.lamp" in call.data["entity_id"]:
            raise HomeAssistantError(broken)

    talk.hass.services.async_register("light", "turn_on", jam_the_lamp)
    lights = calling(
        "intent__HassTurnOn", {"domain": ["light"], "area": "Hall"}, "lights"
    )

    await talk.events_of(call(lights), say("Not all of them."))

    # Home Assistant 2026.10 takes one for the other.
    assert change_facts(changes, "outcome", "error", "message") in (
        [("partly", f"Lamp ({broken})", f"turned on Spot, but not: Lamp ({broken})")],
        [("partly", f"Spot ({broken})", f"turned on Lamp, but not: Spot ({broken})")],
    )


async def test_an_approved_call_is_told_to_wait_and_then_to_be_done(
    talk: AuditedTalk, changes: Changes
) -> None:
    question = await talk.take(call(UNLOCK, LAMP_ON))
    await talk.answer(question, YES, say("There you are."))

    assert change_facts(
        changes, "entity_ids", "outcome", "approval", "question_id", "answered_through"
    ) == [
        (["light.lamp"], "done", "not_needed", None, None),
        (["lock.front"], "waiting", "missing", question.id, None),
        (["lock.front"], "done", "voice", question.id, "voice"),
    ]
    assert change_facts(changes, "message") == [
        ("turned on Lamp",),
        ("did not unlock Front Door: waiting for confirmation",),
        ("unlocked Front Door, after a yes",),
    ]
    assert change_facts(changes[-1:], "verdict", "decided_by", "answered_by") == [
        ("ask", ["default"], YES.user_id)
    ]


@pytest.mark.parametrize(
    ("answer", "approval", "words"),
    [
        (replace(YES, way=ApprovalWay.PIN), "pin", "after the PIN"),
        (
            replace(YES, way=ApprovalWay.NOTIFICATION),
            "notification",
            "after a yes to a notification",
        ),
        (replace(YES, way=ApprovalWay.ACTION), "action", "approved by an action"),
    ],
)
async def test_the_way_of_a_yes_is_told(
    talk: AuditedTalk, changes: Changes, answer: GivenAnswer, approval: str, words: str
) -> None:
    await talk.answer(await talk.take(call(UNLOCK)), answer, say("There you are."))

    assert change_facts(changes[1:], "approval", "message") == [
        (approval, f"unlocked Front Door, {words}")
    ]


async def expire(hass: HomeAssistant, _question_id: str) -> None:
    for seconds in (61, 700):
        async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=seconds))
        await hass.async_block_till_done()


async def drop(hass: HomeAssistant, question_id: str) -> None:
    async_get_approvals(hass).drop(question_id)


async def stop(hass: HomeAssistant, _question_id: str) -> None:
    hass.bus.async_fire(EVENT_HOMEASSISTANT_STOP)


@pytest.mark.parametrize(
    ("end", "outcome", "reason"),
    [
        (expire, "expired", "nobody answered in time"),
        (drop, "dropped", "nobody answered the question"),
        (stop, "dropped", "nobody answered the question"),
    ],
)
async def test_a_question_without_an_answer_is_recorded_once(
    talk: AuditedTalk,
    changes: Changes,
    end: Callable[[HomeAssistant, str], Awaitable[None]],
    outcome: str,
    reason: str,
) -> None:
    question = await talk.take(call(UNLOCK))
    await end(talk.hass, question.id)
    await talk.hass.async_block_till_done()

    assert change_facts(changes[1:], "outcome", "question_id", "message") == [
        (outcome, question.id, f"kept Front Door locked: {reason}")
    ]


async def test_of_a_question_for_several_calls_each_is_told(
    talk: AuditedTalk, changes: Changes
) -> None:
    shed = calling("intent__HassTurnOff", {"name": "Shed"}, "shed")
    question = await talk.take(call(UNLOCK, shed))
    await talk.answer(question, YES, say("There you are."))

    assert sorted(change_facts(changes, "entity_ids", "outcome"), key=str) == [
        (["lock.front"], "done"),
        (["lock.front"], "waiting"),
        (["lock.shed"], "done"),
        (["lock.shed"], "waiting"),
    ]


async def test_what_decided_is_told_first(talk: AuditedTalk, changes: Changes) -> None:
    question = await talk.take(call(calling("intent__HassTurnOff", {"area": "Hall"})))
    await talk.answer(question, YES, say("Good night."))

    assert change_facts(changes, "entity_ids", "message") == [
        (
            ["lock.front", "light.lamp", "light.spot"],
            "did not unlock Front Door; did not turn off Lamp, Spot: waiting for confirmation",
        ),
        (
            ["lock.front", "light.lamp", "light.spot"],
            "unlocked Front Door; turned off Lamp, Spot, after a yes",
        ),
    ]


async def test_a_home_that_changed_before_the_yes_asks_anew(
    talk: AuditedTalk, changes: Changes
) -> None:
    doors = calling("intent__HassTurnOff", {"domain": ["lock"], "area": "Hall"})
    question = await talk.take(call(doors))
    talk.settings = HomeRules(policy=LOCKS_BY_PIN, pin=PIN)
    await talk.answer(question, YES)
    (anew,) = async_get_approvals(talk.hass).waiting
    await talk.answer(anew, replace(YES, way=ApprovalWay.PIN), say("There you are."))

    assert change_facts(changes, "outcome", "question_id", "verdict", "approval") == [
        ("waiting", question.id, "ask", "missing"),
        ("waiting", anew.id, "pin", "missing"),
        ("done", anew.id, "pin", "pin"),
    ]
    assert (
        changes[1].data["message"] == "did not unlock Front Door: waiting for the PIN"
    )


async def test_rules_that_changed_before_the_yes_refuse_it(
    talk: AuditedTalk, changes: Changes
) -> None:
    question = await talk.take(call(UNLOCK))
    talk.settings = NEVER_LOCKS
    await talk.answer(question, YES, say("I may not."))

    assert change_facts(
        changes[1:], "outcome", "approval", "decided_by", "verdict"
    ) == [("refused_by_rules", "voice", ["rule"], "deny")]


async def test_an_approved_call_that_does_not_come_to_run_is_told(
    talk: AuditedTalk, changes: Changes
) -> None:
    question = await talk.take(call(UNLOCK))
    late = replace(question, pending=replace(question.pending, expires_at=0))
    async_get_approvals(talk.hass).take(question.id, YES)
    await talk.events_of(say("That was too late."), answered=late.with_answer(YES))

    assert change_facts(changes[1:], "outcome", "approval", "message") == [
        (
            "not_run",
            "voice",
            "did not unlock Front Door: it was approved, but did not run",
        )
    ]


@pytest.mark.parametrize(
    ("circumstances", "outcome", "reason"),
    [
        ((NEVER_LOCKS, ANNA), "refused_by_rules", "not allowed by the rules"),
        (
            (HomeRules(policy=LOCKS_BY_PIN), ANNA),
            "pin_not_set",
            "it needs a PIN, but none is set",
        ),
        ((HomeRules(), Speaker()), "nobody_to_ask", "nobody was there to confirm it"),
    ],
)
async def test_a_refusal_is_told_once_a_turn(
    talk: AuditedTalk,
    changes: Changes,
    circumstances: tuple[HomeRules, Speaker],
    outcome: str,
    reason: str,
) -> None:
    talk.settings, talk.speaker = circumstances

    await talk.events_of(
        call(UNLOCK), call(replace(UNLOCK, id="again")), say("I may not.")
    )

    assert change_facts(changes, "outcome", "approval", "message") == [
        (outcome, "missing", f"kept Front Door locked: {reason}")
    ]


async def test_who_may_not_control_it_is_told(
    talk: AuditedTalk, changes: Changes, hass_read_only_user: MockUser
) -> None:
    talk.speaker = Speaker(hass_read_only_user.id, name="Guest", asking=Asking.PERSON)

    await talk.events_of(call(LAMP_ON), say("You may not."))

    assert change_facts(changes, "outcome", "person", "message") == [
        ("not_permitted", "Guest", "kept Lamp off: this user doesn't have permission")
    ]


async def test_a_trusted_automation_is_named_as_the_reason(
    talk: AuditedTalk, changes: Changes
) -> None:
    talk.speaker = Speaker(name="Away", asking=Asking.TRUSTED, caller="automation.away")

    await talk.events_of(call(UNLOCK), say("There you are."))

    assert change_facts(
        changes, "outcome", "approval", "caller", "verdict", "message"
    ) == [
        (
            "done",
            "trusted_automation",
            "automation.away",
            "ask",
            "unlocked Front Door, for a trusted automation",
        )
    ]


async def test_a_script_that_refuses_is_told_with_what_it_prevented(
    talk: AuditedTalk, changes: Changes
) -> None:
    talk.scripts = [ScriptedHooks(before=lambda _name, _arguments: Deny("Not now."))]

    await talk.events_of(
        call(LAMP_ON, READ), call(replace(LAMP_ON, id="again")), say("Not now.")
    )

    assert change_facts(
        changes, "outcome", "entity_ids", "verdict", "decided_by", "message"
    ) == [
        (
            "refused_by_script",
            ["light.lamp"],
            None,
            ["script"],
            "kept Lamp off: refused by a script",
        )
    ]


async def test_a_script_that_asks_is_told(talk: AuditedTalk, changes: Changes) -> None:
    talk.scripts = [
        ScriptedHooks(before=lambda _name, _arguments: Ask("The children sleep."))
    ]
    question = await talk.take(call(LAMP_ON))
    await talk.answer(question, YES, say("It is on."))

    assert change_facts(changes, "outcome", "verdict", "decided_by", "approval") == [
        ("waiting", "allow", ["script"], "missing"),
        ("done", "allow", ["script"], "voice"),
    ]


async def test_a_script_that_refuses_after_the_yes_is_told(
    talk: AuditedTalk, changes: Changes
) -> None:
    question = await talk.take(call(UNLOCK))
    talk.scripts = [
        ScriptedHooks(approved=lambda _name, _arguments: Deny("Not any more."))
    ]
    await talk.answer(question, YES, say("Not any more."))

    assert change_facts(changes[1:], "outcome", "approval", "decided_by") == [
        ("refused_by_script", "voice", ["default", "script"])
    ]


async def test_what_a_script_puts_in_place_is_what_is_told(
    talk: AuditedTalk, changes: Changes
) -> None:
    def dim(_name: str, _arguments: JsonObject) -> Rewrite[JsonObject]:
        return Rewrite({"name": "Spot", "domain": "light"})

    talk.scripts = [ScriptedHooks(before=dim)]

    await talk.events_of(call(LAMP_ON), say("It is on."))

    assert change_facts(
        changes, "outcome", "approval", "arguments", "entity_ids", "message"
    ) == [
        (
            "done",
            "not_needed",
            {"name": "Spot", "domain": ["light"]},
            ["light.spot"],
            "turned on Spot",
        )
    ]


async def test_a_refused_call_of_which_nothing_can_be_told_is_told(
    talk: AuditedTalk, changes: Changes
) -> None:
    async def fail(*_: object) -> Effects:
        raise RuntimeError

    talk.effects_of = fail
    talk.scripts = [ScriptedHooks(before=lambda _name, _arguments: Deny("Not now."))]

    await talk.events_of(call(LAMP_ON), say("Not now."))

    assert change_facts(changes, "outcome", "entity_ids", "message") == [
        ("refused_by_script", [], "did not use hass turn on: refused by a script")
    ]


async def test_a_call_that_is_not_judged_in_time_is_told(
    talk: AuditedTalk, changes: Changes
) -> None:
    offer, asked_for = (await talk.begin()).offer, list[str]()

    async def think_long_at_first(name: str, arguments: JsonObject) -> Effects:
        asked_for.append(name)
        if len(asked_for) == 1:
            await asyncio.Event().wait()
        return await offer.dispatcher.async_effects(name, arguments)

    talk.effects_of, talk.limits = think_long_at_first, Limits(tool_timeout=2)

    with LoopClock().running():
        await talk.events_of(call(LAMP_ON), say("It did not work."))

    assert change_facts(changes, "outcome", "entity_ids", "verdict") == [
        ("refused_by_script", ["light.lamp"], None)
    ]


async def test_what_repeats_an_approved_call_is_told_with_its_answer(
    talk: AuditedTalk, changes: Changes
) -> None:
    talk.settings = HomeRules(
        policy=Policy((Rule(verdict=Verdict.ASK, domains=frozenset({"light"})),))
    )
    question = await talk.take(call(LAMP_ON))
    await talk.answer(
        question,
        YES,
        call(calling("intent__HassTurnOn", {"name": "Spot"}, "spot")),
        say("Both are on."),
    )

    assert change_facts(changes, "outcome", "approval", "question_id") == [
        ("waiting", "missing", question.id),
        ("done", "voice", question.id),
        ("done", "voice", question.id),
    ]


async def test_a_tool_of_somebody_else_is_told_by_its_name(
    talk: AuditedTalk, changes: Changes
) -> None:
    look_up = StubTool(name="look_up")
    look_up.annotations = llm.ToolAnnotations(read_only=True)
    register(talk.hass, "server", StubTool(name="order"), look_up)
    talk.apis = ["server"]
    question = await talk.take(
        call(calling("order", {}), calling("look_up", {}, "look-up"))
    )
    await talk.answer(question, YES, say("It is ordered."))

    assert change_facts(changes, "outcome", "entity_ids", "decided_by", "message") == [
        ("waiting", [], ["tool"], "did not use order: waiting for confirmation"),
        ("done", [], ["tool"], "used order, after a yes"),
    ]


async def test_a_question_about_what_changes_nothing_is_not_told(
    talk: AuditedTalk, changes: Changes
) -> None:
    talk.scripts = [ScriptedHooks(before=lambda _name, _arguments: Ask("Really?"))]
    question = await talk.take(call(calling("intent__HassCancelAllTimers", {})))
    await talk.answer(question, YES, say("No timer runs."))

    assert changes == []


async def test_outside_content_is_named_as_the_reason(
    talk: AuditedTalk, changes: Changes
) -> None:
    talk.outside, talk.settings = (
        True,
        HomeRules(ask_after_outside_content=OutsideCare.EVERY_CHANGE),
    )
    await talk.take(call(LAMP_ON))

    assert change_facts(changes, "outcome", "verdict", "decided_by") == [
        ("waiting", "ask", ["outside_content"])
    ]


class Jam:
    """An action that never ends."""

    def __init__(self, hass: HomeAssistant, domain: str, service: str) -> None:
        self.begun = asyncio.Event()
        hass.services.async_register(domain, service, self._hang)

    async def _hang(self, _: ServiceCall) -> None:
        self.begun.set()
        await asyncio.Event().wait()


async def test_a_call_that_is_interrupted_is_told(
    talk: AuditedTalk, changes: Changes
) -> None:
    jam = Jam(talk.hass, "light", "turn_on")
    turn = asyncio.create_task(talk.events_of(call(LAMP_ON)))
    await jam.begun.wait()
    turn.cancel()
    await asyncio.wait({turn})

    assert change_facts(changes, "outcome", "approval", "message") == [
        (
            "interrupted",
            "not_needed",
            "did not turn on Lamp, as far as is known: interrupted",
        )
    ]


async def test_an_approved_call_that_is_interrupted_is_told(
    talk: AuditedTalk, changes: Changes
) -> None:
    question = await talk.take(call(UNLOCK))
    jam = Jam(talk.hass, "lock", "unlock")
    turn = asyncio.create_task(talk.answer(question, YES))
    await jam.begun.wait()
    turn.cancel()
    await asyncio.wait({turn})

    assert change_facts(changes[1:], "outcome", "approval", "question_id") == [
        ("interrupted", "voice", question.id)
    ]


async def test_a_yes_to_a_turn_that_breaks_before_it_begins_is_told(
    talk: AuditedTalk, changes: Changes
) -> None:
    question = await talk.take(call(UNLOCK))
    begun = await talk.begin(async_get_approvals(talk.hass).take(question.id, YES))

    begun.audit.finished()
    begun.audit.finished()

    assert change_facts(changes[1:], "outcome", "approval", "tool_call_id") == [
        ("not_run", "voice", "door")
    ]


async def test_the_documented_note_about_locks_is_left(talk: AuditedTalk) -> None:
    (automation,) = blocks_with(EVENT_CHANGE)
    assert await async_setup_component(talk.hass, "persistent_notification", {})
    assert await async_setup_component(
        talk.hass, "automation", {"automation": {"alias": "Note", **automation}}
    )
    notes = async_capture_events(talk.hass, "call_service")

    await talk.answer(await talk.take(call(UNLOCK, LAMP_ON)), NO, say("As you like."))

    (note,) = (
        note.data["service_data"]
        for note in notes
        if note.data["domain"] == "persistent_notification"
    )
    assert note["message"] == "Kitchen satellite kept Front Door locked: you said no"
