"""The rules of a household in front of every call: it runs, is asked about, or is refused."""

import pytest
from homeassistant.core import Context, HomeAssistant

from custom_components.chatterbox.agent.events import PendingApproval, PendingCall
from custom_components.chatterbox.agent.messages import (
    ToolAnnotations,
)
from custom_components.chatterbox.agent.protocols import Ask, Deny
from custom_components.chatterbox.approvals.guard import CallGuard
from custom_components.chatterbox.approvals.questions import ApprovalScope, Question
from custom_components.chatterbox.effects.effect import (
    Effects,
    EntityAction,
    Unknown,
    UnknownReason,
)
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from custom_components.chatterbox.settings.rules import (
    HomeRules,
    Policy,
    Rule,
    Verdict,
)
from tests.approvals.guarded_calls import (
    PERSON,
    SOME_SCRIPT,
    TOOL,
    Effective,
    call_with,
    guarding,
    warming,
)
from tests.support.one_home import in_one_home

HOME = """
areas:
  - { id: hall, name: Hall }
entities:
  - { name: Lamp, id: light.lamp, area: hall, state: "off" }
  - { name: Door, id: lock.door, area: hall, state: locked }
"""
LAMP = Effects(frozenset({EntityAction("light.lamp", "light.turn_on")}))
UNLOCK = Effects(frozenset({EntityAction("lock.door", "lock.unlock")}))
PIN = PinHash.of("2580", HashCost(2, 1))
NEEDS_PIN = Policy((Rule(verdict=Verdict.PIN, domains=frozenset({"lock"})),))
NEVER = Policy((Rule(verdict=Verdict.DENY, domains=frozenset({"lock"})),))


async def test_what_lets_somebody_in_is_asked_about(home: HomeAssistant) -> None:
    guard = guarding(home, UNLOCK)

    ask = await guard.pre_tool_use(TOOL, {"name": "Door"})

    assert isinstance(ask, Ask)
    assert ask.reason == ""  # whoever asks finds the words
    pending = PendingCall(call_with({"name": "Door"}), "", ask.terms)
    (pending_calls,) = guard.reviews_of(PendingApproval("an-id", (pending,), 0, 1, 0))
    assert (pending_calls.call, pending_calls.effects, pending_calls.needs_pin) == (
        pending.call,
        UNLOCK,
        False,
    )
    assert pending_calls.entity_ids == {"lock.door"}


async def test_a_yes_is_to_what_a_call_would_do_and_how_it_is_asked(
    home: HomeAssistant,
) -> None:
    effective = Effective(UNLOCK)
    first = await guarding(home, effective).pre_tool_use(TOOL, {})
    again = await guarding(home, effective).pre_approved_use(TOOL, {})
    with_pin = HomeRules(policy=NEEDS_PIN, pin=PIN)
    stricter = await guarding(home, effective, with_pin).pre_approved_use(TOOL, {})
    effective.effects = Effects(
        UNLOCK.actions | {EntityAction("lock.shed", "lock.unlock")}
    )
    wider = await guarding(home, effective).pre_approved_use(TOOL, {})
    effective.effects = Effects(unknowns=SOME_SCRIPT.unknowns, actions=UNLOCK.actions)
    unknown = await guarding(home, effective).pre_approved_use(TOOL, {})
    effective.effects = Effects(
        unknowns=SOME_SCRIPT.unknowns
        | {Unknown(UnknownReason.TEMPLATE, reach=UNLOCK.actions)}
    )
    reaching = await guarding(home, effective).pre_approved_use(TOOL, {})
    effective.effects = Effects(annotations=ToolAnnotations())
    elsewhere = await guarding(home, effective).pre_approved_use(TOOL, {})

    asks = [first, stricter, wider, unknown, reaching, elsewhere]
    assert all(isinstance(ask, Ask) for ask in asks)
    assert again == first
    assert len({ask.terms for ask in asks if isinstance(ask, Ask)}) == len(asks)


@pytest.fixture
def asks_about_lights() -> HomeRules:
    return HomeRules(
        policy=Policy((Rule(verdict=Verdict.ASK, domains=frozenset({"light"})),))
    )


async def agreed_for_another_light(
    hass: HomeAssistant, rules: HomeRules, agreed_to: Effects
) -> CallGuard:
    """Return the guard of a turn in which the same call would turn on another light than that of the yes."""
    guard = guarding(hass, agreed_to, rules)
    ask = await guard.pre_tool_use(TOOL, {})
    assert isinstance(ask, Ask)
    pending = PendingApproval(
        "an-id", (PendingCall(call_with({}), "", ask.terms),), 0, 1, 0
    )
    scope = ApprovalScope("agent", "a-talk", None, None, None)
    question = Question(
        pending,
        guard.reviews_of(pending),
        "",
        "en",
        scope,
        PERSON,
        Context(),
        request="all lights on",
    )
    others = Effective(
        Effects(frozenset({EntityAction("light.garden", "light.turn_on")}))
    )
    return CallGuard(
        hass, rules, PERSON, others, has_outside_content=False, agreed=question
    )


async def test_an_approved_call_that_would_act_on_others_by_now_needs_another_yes(
    home: HomeAssistant, asks_about_lights: HomeRules
) -> None:
    agreed = await agreed_for_another_light(home, asks_about_lights, LAMP)

    assert await agreed.pre_tool_use(TOOL, {}) is None
    assert isinstance(await agreed.pre_approved_use(TOOL, {}), Ask)


async def test_a_yes_to_a_call_of_unknown_effects_is_to_no_other_call(
    home: HomeAssistant, asks_about_lights: HomeRules
) -> None:
    agreed = await agreed_for_another_light(
        home,
        asks_about_lights,
        Effects(unknowns=SOME_SCRIPT.unknowns, actions=LAMP.actions),
    )

    assert isinstance(await agreed.pre_tool_use(TOOL, {}), Ask)


@in_one_home(
    ("asking", "policy", "outcome"),
    [
        (Asking.NOBODY, Policy(), Deny),
        (Asking.NOBODY, NEEDS_PIN, Deny),
        (Asking.TRUSTED, Policy(), type(None)),
        (Asking.TRUSTED, NEEDS_PIN, Deny),
        (Asking.TRUSTED, NEVER, Deny),
        (Asking.PERSON, Policy(), Ask),
    ],
)
async def test_where_nobody_can_be_asked_the_answer_is_known(
    home: HomeAssistant,
    asking: Asking,
    policy: Policy,
    outcome: type[Ask | Deny | None],
) -> None:
    guard = guarding(
        home, UNLOCK, HomeRules(policy=policy, pin=PIN), Speaker(asking=asking)
    )

    assert isinstance(await guard.pre_tool_use(TOOL, {}), outcome)


async def test_an_api_client_is_never_asked_for_a_pin(home: HomeAssistant) -> None:
    speaker = Speaker(asking=Asking.PERSON, is_api_client=True)
    guard = guarding(home, UNLOCK, HomeRules(policy=NEEDS_PIN, pin=PIN), speaker)

    assert isinstance(await guard.pre_tool_use(TOOL, {}), Deny)


def set_room(hass: HomeAssistant, degrees: float) -> None:
    hass.states.async_set("climate.room", "heat", {"temperature": degrees})


async def test_small_steps_of_a_temperature_in_a_conversation_are_a_large_one(
    home: HomeAssistant,
) -> None:
    temperatures: dict[tuple[str, str], float] = {}

    async def set_to(
        degrees: float, *, approved: bool = False, outside: bool = True
    ) -> bool:
        """Set a temperature in a turn of its own, and return whether that is asked about."""
        effects_of, settings = Effective(warming(degrees)), HomeRules()
        guard = CallGuard(
            home,
            settings,
            PERSON,
            effects_of,
            has_outside_content=outside,
            temperatures=temperatures,
        )
        judge = guard.pre_approved_use if approved else guard.pre_tool_use
        requested = isinstance(await judge(TOOL, {"temperature": degrees}), Ask)
        if approved or not requested:
            set_room(home, degrees)
        return requested

    set_room(home, 20)
    assert not await set_to(22, outside=False)
    assert [await set_to(to) for to in (24, 25, 26, 23, 20)] == [
        False,
        False,
        True,
        False,
        False,
    ]
    set_room(home, 21)
    assert await set_to(26)
    await set_to(26, approved=True)  # from here on, this is what the person wants
    assert [await set_to(to) for to in (28, 29, 30)] == [False, False, True]


async def test_two_steps_of_one_message_are_compared_with_what_was_before_it(
    home: HomeAssistant,
) -> None:
    set_room(home, 20)
    effective = Effective(warming(23))
    guard = guarding(home, effective, outside=True)

    assert await guard.pre_tool_use(TOOL, {"temperature": 23}) is None
    assert (
        await guard.pre_tool_use(TOOL, {"temperature": 23}) is None
    )  # it may be judged twice
    set_room(home, 23)
    effective.effects = warming(24)
    assert isinstance(await guard.pre_tool_use(TOOL, {"temperature": 24}), Ask)


async def test_a_call_of_which_nobody_can_tell_what_it_would_do_is_asked_about(
    home: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    async def break_down(*_: object) -> Effects:
        raise OSError("an integration broke")

    guard = CallGuard(home, HomeRules(), PERSON, break_down, has_outside_content=False)

    assert isinstance(await guard.pre_tool_use(TOOL, {}), Ask)
    assert "Could not resolve the effects of some__tool" in caplog.text
