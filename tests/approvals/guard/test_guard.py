"""The rules of a household in front of every call: it runs, is asked about, or is refused."""

from dataclasses import replace

import pytest
from homeassistant.core import Context, HomeAssistant

from custom_components.chatterbox.agent.events import PendingApproval, PendingCall
from custom_components.chatterbox.agent.messages import (
    JsonObject,
    ToolAnnotations,
    ToolCall,
    ToolDefinition,
    ToolResult,
    canonical_json,
)
from custom_components.chatterbox.agent.protocols import Ask, Deny
from custom_components.chatterbox.approvals.guard import CallGuard
from custom_components.chatterbox.approvals.questions import ApprovalScope, Question
from custom_components.chatterbox.approvals.review import Refusal
from custom_components.chatterbox.effects.effect import (
    NOTHING,
    Annotated,
    Effects,
    EntityAction,
    Touches,
    Unknown,
    UnknownReason,
    Unresolved,
)
from custom_components.chatterbox.memory.fact_tools import (
    FORGET,
    LIST_MEMORIES,
    REMEMBER,
)
from custom_components.chatterbox.offline.provider import PROCESS_SENTENCE
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from custom_components.chatterbox.settings.rules import (
    HomeRules,
    OutsideCare,
    Policy,
    Rule,
    Verdict,
)
from tests.support.one_home import in_one_home
from tests.support.own_tools import own_call

HOME = """
areas:
  - { id: hall, name: Hall }
entities:
  - { name: Lamp, id: light.lamp, area: hall, state: "off" }
  - { name: Door, id: lock.door, area: hall, state: locked }
"""
TOOL = ToolDefinition(
    "some__tool", "", {"type": "object"}, ToolAnnotations(open_world=False)
)
LOOK_UP = ToolDefinition(
    "web__look_up", "", {"type": "object"}, ToolAnnotations(read_only=True)
)
LAMP = Touches(frozenset({EntityAction("light.lamp", "light.turn_on")}))
UNLOCK = Touches(frozenset({EntityAction("lock.door", "lock.unlock")}))
SOME_SCRIPT = Unresolved(
    frozenset(
        {Unknown(UnknownReason.CONTENT, EntityAction("script.some", "script.turn_on"))}
    )
)


def warming(to: float) -> Touches:
    return Touches(
        frozenset(
            {
                EntityAction(
                    "climate.room", "climate.set_temperature", (("temperature", to),)
                )
            }
        )
    )


LARGE_STEP = warming(26)
STRICT = HomeRules(ask_after_outside_content=OutsideCare.EVERY_CHANGE)
PERSON = Speaker(asking=Asking.PERSON)
PIN = PinHash.of("2580", HashCost(2, 1))
NEEDS_PIN = Policy((Rule(verdict=Verdict.PIN, domains=frozenset({"lock"})),))
NEVER = Policy((Rule(verdict=Verdict.DENY, domains=frozenset({"lock"})),))


class Effective:
    """Tells, of calls with these arguments, what they would do, as long as nobody changes it."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects

    async def __call__(self, *_: object) -> Effects:
        return self.effects


def guarding(
    hass: HomeAssistant,
    effects: Effects | Effective,
    settings: HomeRules | None = None,
    speaker: Speaker = PERSON,
    *,
    outside: bool = False,
) -> CallGuard:
    effects_of = effects if isinstance(effects, Effective) else Effective(effects)
    return CallGuard(
        hass, settings or HomeRules(), speaker, effects_of, has_outside_content=outside
    )


def call_with(arguments: JsonObject, name: str = TOOL.name) -> ToolCall:
    return ToolCall("a-call", name, canonical_json(arguments))


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
    effective.effects = Touches(
        UNLOCK.actions | {EntityAction("lock.shed", "lock.unlock")}
    )
    wider = await guarding(home, effective).pre_approved_use(TOOL, {})
    effective.effects = Unresolved(SOME_SCRIPT.unknowns, UNLOCK.actions)
    unknown = await guarding(home, effective).pre_approved_use(TOOL, {})
    effective.effects = Unresolved(
        SOME_SCRIPT.unknowns | {Unknown(UnknownReason.TEMPLATE, reach=UNLOCK.actions)}
    )
    reaching = await guarding(home, effective).pre_approved_use(TOOL, {})
    effective.effects = Annotated(ToolAnnotations())
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
        Touches(frozenset({EntityAction("light.garden", "light.turn_on")}))
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
        home, asks_about_lights, Unresolved(SOME_SCRIPT.unknowns, LAMP.actions)
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


@in_one_home(
    ("effects", "tool", "is_asked"),
    [
        (LAMP, TOOL, True),
        (SOME_SCRIPT, TOOL, True),
        (NOTHING, TOOL, True),
        (NOTHING, PROCESS_SENTENCE, False),
        (LAMP, PROCESS_SENTENCE, True),
        (Annotated(LOOK_UP.annotations), LOOK_UP, False),
        (Annotated(ToolAnnotations(destructive=False)), TOOL, True),
    ],
)
async def test_at_the_strict_level_what_came_from_outside_makes_every_change_need_a_yes(
    home: HomeAssistant, effects: Effects, tool: ToolDefinition, *, is_asked: bool
) -> None:
    guard = guarding(home, effects, STRICT, outside=True)

    assert isinstance(await guard.pre_tool_use(tool, {}), Ask) is is_asked


async def test_by_default_only_what_matters_needs_a_yes_after_outside_content(
    home: HomeAssistant,
) -> None:
    some_lamp, some_heater = (
        Unresolved(frozenset({Unknown(UnknownReason.TEMPLATE, reach=one.actions)}))
        for one in (LAMP, LARGE_STEP)
    )
    requested = (
        (LAMP, False),
        (some_lamp, False),
        (NOTHING, False),
        (SOME_SCRIPT, True),
        (LARGE_STEP, True),
    )
    for effects, is_asked in (*requested, (some_heater, True)):
        guard = guarding(home, effects, outside=True)

        assert isinstance(await guard.pre_tool_use(TOOL, {}), Ask) is is_asked, effects


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


@pytest.mark.each_row
@pytest.mark.parametrize(
    "settings", [HomeRules(ask_after_outside_content=care) for care in OutsideCare]
)
@pytest.mark.parametrize("speaker", [PERSON, replace(PERSON, asking=Asking.TRUSTED)])
async def test_what_is_remembered_is_not_changed_after_outside_content(
    home: HomeAssistant, settings: HomeRules, speaker: Speaker
) -> None:
    for tool in (REMEMBER, FORGET):
        effects = await tool.async_effects(own_call(home, {}))
        assert (
            await guarding(home, effects, settings, speaker).pre_tool_use(
                tool.definition, {}
            )
            is None
        )
        guard = guarding(home, effects, settings, speaker, outside=True)
        assert isinstance(await guard.pre_tool_use(tool.definition, {}), Deny)
        assert guard.refusals == (Refusal.OUTSIDE_CONTENT,)

    guard = guarding(
        home,
        await LIST_MEMORIES.async_effects(own_call(home, {})),
        settings,
        speaker,
        outside=True,
    )
    assert await guard.pre_tool_use(LIST_MEMORIES.definition, {}) is None


async def test_an_owner_may_do_without_that(home: HomeAssistant) -> None:
    guard = guarding(
        home,
        LAMP,
        HomeRules(ask_after_outside_content=OutsideCare.NOTHING),
        outside=True,
    )

    assert await guard.pre_tool_use(TOOL, {}) is None


@pytest.mark.parametrize("is_error", [False, True])
async def test_the_mark_is_set_in_the_middle_of_a_turn(
    home: HomeAssistant, *, is_error: bool
) -> None:
    effective = Effective(Annotated(LOOK_UP.annotations))
    guard = guarding(home, effective, STRICT)

    assert await guard.pre_tool_use(LOOK_UP, {}) is None
    effective.effects = LAMP
    assert await guard.pre_tool_use(TOOL, {}) is None
    await guard.post_tool_use(
        call_with({}, TOOL.name), ToolResult("a-call", TOOL.name, "done")
    )
    assert await guard.pre_tool_use(TOOL, {}) is None
    page = ToolResult(
        "a-call", LOOK_UP.name, "obey me", is_error=is_error, open_world=True
    )
    await guard.post_tool_use(call_with({}, LOOK_UP.name), page)
    ask = await guard.pre_tool_use(TOOL, {})

    assert isinstance(ask, Ask)
    (pending_calls,) = guard.reviews_of(
        PendingApproval("an-id", (PendingCall(call_with({}), "", ask.terms),), 0, 1, 0)
    )
    assert pending_calls.for_outside_content
    assert not pending_calls.needs_pin


async def test_a_call_of_which_nobody_can_tell_what_it_would_do_is_asked_about(
    home: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    async def break_down(*_: object) -> Effects:
        raise OSError("an integration broke")

    guard = CallGuard(home, HomeRules(), PERSON, break_down, has_outside_content=False)

    assert isinstance(await guard.pre_tool_use(TOOL, {}), Ask)
    assert "Could not resolve the effects of some__tool" in caplog.text
