"""Questions wait, are answered once, run out, and everybody hears what became of them."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.json import json_bytes
from pytest_homeassistant_custom_component.common import (
    async_capture_events,
    async_fire_time_changed,
)

from custom_components.chatterbox.agent.events import Answer
from custom_components.chatterbox.approvals.questions import (
    ANYWHERE,
    SIGNAL_QUESTION,
    Approvals,
    ApprovalScope,
    QuestionGone,
    QuestionUpdate,
    async_get_approvals,
)
from custom_components.chatterbox.approvals.review import (
    ApprovalWay,
    CallState,
    GivenAnswer,
)
from custom_components.chatterbox.const import EVENT_APPROVAL_REQUESTED
from custom_components.chatterbox.effects.effect import (
    Effects,
    EntityAction,
    Unknown,
    UnknownReason,
)
from tests.support.waiting_questions import TEXT, ask, asked_call, ids, question

YES = GivenAnswer(approved=True, way=ApprovalWay.ACTION, user_id="anna")
NO = GivenAnswer(approved=False, way=ApprovalWay.VOICE)


@pytest.fixture
def approvals(hass: HomeAssistant) -> Approvals:
    return async_get_approvals(hass)


@pytest.fixture
def news(hass: HomeAssistant) -> Sequence[QuestionUpdate]:
    """Return a list that grows by what becomes of questions."""
    heard: list[QuestionUpdate] = []

    @callback
    def hear(one: QuestionUpdate) -> None:
        heard.append(one)

    async_dispatcher_connect(hass, SIGNAL_QUESTION, hear)
    return heard


async def pass_time(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, seconds: float
) -> None:
    """Let time pass, and what waits for it happen."""
    freezer.tick(timedelta(seconds=seconds))
    async_fire_time_changed(hass)
    await hass.async_block_till_done()


def states(news: Sequence[QuestionUpdate]) -> list[CallState]:
    return [one.state for one in news]


async def test_questions_wait_in_their_order_and_are_told(
    hass: HomeAssistant, approvals: Approvals, news: Sequence[QuestionUpdate]
) -> None:
    first, second = question(), question(conversation_id="another")

    ask(hass, first)
    ask(hass, second)

    assert approvals.waiting == (first, second)
    assert news == [
        QuestionUpdate(first, CallState.WAITING),
        QuestionUpdate(second, CallState.WAITING),
    ]


async def test_an_answer_where_it_was_asked_is_taken_once(
    hass: HomeAssistant, approvals: Approvals, news: Sequence[QuestionUpdate]
) -> None:
    questions = question()
    turn = ask(hass, questions)

    assert approvals.asked_at(questions.scope) is questions
    assert approvals.take(questions.id, NO) == questions.with_answer(NO)

    assert approvals.waiting == ()
    assert approvals.asked_at(questions.scope) is None
    with pytest.raises(QuestionGone):
        approvals.take(questions.id, YES)
    assert turn.answers == []
    assert news[1:] == [QuestionUpdate(questions.with_answer(NO), CallState.DENIED)]


@pytest.mark.parametrize("with_pin", [False, True])
def test_a_yes_without_the_pin_that_it_needs_approves_no_call(
    *, with_pin: bool
) -> None:
    questions = question(asked_call(needs_pin=True))
    yes = replace(YES, way=ApprovalWay.PIN) if with_pin else YES
    (waiting,) = questions.pending.calls

    assert bool(questions.with_answer(yes).pending.approved) is with_pin
    assert (
        bool(
            questions.with_answer(
                yes, {waiting.call.id: Answer(approved=True)}
            ).pending.approved
        )
        is with_pin
    )
    assert questions.pending.approved == ()


def test_an_answer_to_each_call_approves_no_other_call() -> None:
    questions = question(asked_call())

    assert questions.with_answer(YES, {"another-call": YES}).pending.approved == ()


async def test_only_the_same_scope_is_asked(
    hass: HomeAssistant, approvals: Approvals
) -> None:
    here = question(satellite_id="assist_satellite.kitchen")
    ask(hass, here)

    assert (
        approvals.asked_at(question(satellite_id="assist_satellite.hall").scope) is None
    )
    assert (
        approvals.asked_at(
            question(conversation_id="b", satellite_id="assist_satellite.kitchen").scope
        )
        is None
    )


async def test_an_answer_from_elsewhere_takes_the_turn_on(
    hass: HomeAssistant, approvals: Approvals, news: Sequence[QuestionUpdate]
) -> None:
    questions = question()
    turn = ask(hass, questions)

    assert await approvals.answer(questions.id, YES) == "It is unlocked."

    assert turn.answers == [YES]
    assert news[1:] == [
        QuestionUpdate(questions.with_answer(YES), CallState.APPROVED),
        QuestionUpdate(
            questions.with_answer(YES), CallState.CONCLUDED, "It is unlocked."
        ),
    ]


async def test_the_first_answer_wins_while_its_turn_still_goes_on(
    hass: HomeAssistant, approvals: Approvals
) -> None:
    questions = question()
    turn = ask(hass, questions)
    turn.may_end = asyncio.Event()
    first = hass.async_create_task(approvals.answer(questions.id, YES))

    with pytest.raises(QuestionGone):
        await approvals.answer(questions.id, NO)
    with pytest.raises(QuestionGone):
        approvals.take(questions.id, NO)
    assert not approvals.drop(questions.id)
    turn.may_end.set()

    assert await first == "It is unlocked."
    assert turn.answers == [YES]


async def test_a_turn_that_breaks_is_told_to_be_over(
    hass: HomeAssistant, approvals: Approvals, news: Sequence[QuestionUpdate]
) -> None:
    questions = question()
    turn = ask(hass, questions)
    turn.error = RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        await approvals.answer(questions.id, YES)

    assert news[-1] == QuestionUpdate(questions.with_answer(YES), CallState.CONCLUDED)
    assert approvals.waiting == ()


async def test_a_newer_question_of_a_conversation_takes_the_place_of_an_older_one(
    hass: HomeAssistant, approvals: Approvals, news: Sequence[QuestionUpdate]
) -> None:
    older, newer = question(), question()
    turn = ask(hass, older)

    ask(hass, newer)

    assert approvals.waiting == (newer,)
    with pytest.raises(QuestionGone):
        await approvals.answer(older.id, YES)
    assert turn.answers == []
    assert states(news) == [CallState.WAITING, CallState.DROPPED, CallState.WAITING]


async def test_an_expired_question_is_still_found_by_its_scope(
    hass: HomeAssistant,
    approvals: Approvals,
    news: Sequence[QuestionUpdate],
    freezer: FrozenDateTimeFactory,
) -> None:
    questions = question()
    turn = ask(hass, questions, expires_in=60)

    await pass_time(hass, freezer, 59)
    assert ids(approvals.waiting) == [questions.id]
    await pass_time(hass, freezer, 2)

    assert ids(approvals.waiting) == []
    assert approvals.asked_at(questions.scope) is questions
    with pytest.raises(QuestionGone):
        approvals.take(questions.id, YES)
    with pytest.raises(QuestionGone):
        await approvals.answer(questions.id, YES)
    assert turn.answers == []
    assert states(news) == [CallState.WAITING, CallState.EXPIRED]

    await pass_time(hass, freezer, 601)
    assert approvals.asked_at(questions.scope) is None
    assert states(news) == [CallState.WAITING, CallState.EXPIRED]


async def test_a_question_is_repeated_once_while_it_waits(
    hass: HomeAssistant, approvals: Approvals, freezer: FrozenDateTimeFactory
) -> None:
    first, second = question(), question(conversation_id="another")
    for one in (first, second):
        ask(hass, one, expires_in=60)

    assert [
        approvals.repeat(first.id),
        approvals.repeat(first.id),
        approvals.repeat("unknown"),
    ] == [True, False, False]
    await pass_time(hass, freezer, 61)
    assert not approvals.repeat(second.id)


async def test_what_was_answered_does_not_run_out(
    hass: HomeAssistant,
    approvals: Approvals,
    news: Sequence[QuestionUpdate],
    freezer: FrozenDateTimeFactory,
) -> None:
    questions, dropped = question(), question(conversation_id="another")
    ask(hass, questions)
    ask(hass, dropped)
    approvals.take(questions.id, YES)
    approvals.drop(dropped.id)

    await pass_time(hass, freezer, 700)

    assert CallState.EXPIRED not in states(news)


async def test_a_question_is_dropped_once(
    hass: HomeAssistant,
    approvals: Approvals,
    news: Sequence[QuestionUpdate],
    freezer: FrozenDateTimeFactory,
) -> None:
    questions, late = question(), question(conversation_id="late")
    ask(hass, questions)
    ask(hass, late, expires_in=1)
    await pass_time(hass, freezer, 2)

    assert approvals.drop(questions.id)
    assert not approvals.drop(questions.id)
    assert not approvals.drop(late.id)
    assert not approvals.drop("never heard of")

    assert approvals.asked_at(late.scope) is None
    assert states(news)[-1] is CallState.DROPPED
    assert states(news).count(CallState.DROPPED) == 1


async def test_the_questions_of_an_agent_go_with_it(
    hass: HomeAssistant, approvals: Approvals
) -> None:
    gone = [
        question(agent_id="conversation.gone", conversation_id=talk)
        for talk in ("a", "b")
    ]
    remaining = question(conversation_id="c")
    for one in (*gone, remaining):
        ask(hass, one)

    approvals.drop_all_of("conversation.gone")

    assert ids(approvals.waiting) == [remaining.id]


async def test_a_question_knows_what_a_yes_would_do() -> None:
    lamp, door = (
        EntityAction("light.lamp", "light.turn_on"),
        EntityAction("lock.door", "lock.unlock"),
    )
    partly = Effects(
        unknowns=frozenset({Unknown(UnknownReason.TEMPLATE)}), actions=frozenset({lamp})
    )

    questions = question(
        asked_call(partly), asked_call(Effects(frozenset({door})), needs_pin=True)
    )

    assert questions.entity_ids == {"light.lamp", "lock.door"}
    assert questions.needs_pin
    assert not question(asked_call(partly)).needs_pin
    assert not questions.is_foreseen
    assert question(asked_call(Effects(frozenset({door})))).is_foreseen
    assert questions.id == questions.pending.id


async def test_a_question_is_told_with_what_a_yes_would_do(hass: HomeAssistant) -> None:
    events = async_capture_events(hass, EVENT_APPROVAL_REQUESTED)
    context = Context(user_id="anna")
    questions = question(asked_call(needs_pin=True), context=context)

    ask(hass, questions)
    await hass.async_block_till_done()

    (event,) = events
    expires_at = event.data.pop("expires_at")
    assert event.data == {
        "turn_id": "a-turn",
        "entity_id": "conversation.talker",
        "approval_id": questions.id,
        "question": TEXT,
        "calls": [
            {
                "name": "intent__HassTurnOff",
                "arguments": {"name": "Front door"},
                "entity_ids": ["lock.front_door"],
                "more_entity_ids": 0,
                "actions": ["lock.unlock"],
                "needs_pin": True,
            }
        ],
        "needs_pin": True,
        "is_foreseen": True,
    }
    assert expires_at.endswith("+00:00")
    assert (event.context.parent_id, event.context.user_id) == (context.id, "anna")
    assert event.context.id != context.id


async def test_a_question_that_is_gone_at_once_is_not_told(hass: HomeAssistant) -> None:
    events = async_capture_events(hass, EVENT_APPROVAL_REQUESTED)
    questions = question()

    ask(hass, questions)
    async_get_approvals(hass).drop(questions.id)
    await hass.async_block_till_done()

    assert events == []


@pytest.mark.parametrize("character", ["x", "灯", "💡", '"'])
@pytest.mark.parametrize("calls", [1, 32])
async def test_the_event_can_be_recorded(
    hass: HomeAssistant, character: str, calls: int
) -> None:
    events = async_capture_events(hass, EVENT_APPROVAL_REQUESTED)
    home = Effects(
        frozenset(
            EntityAction(f"lock.door_{n}_{'x' * 200}", f"lock.unlock_{n}")
            for n in range(2000)
        )
    )
    long = asked_call(home, arguments={"name": character * 30_000})

    ask(hass, question(*[long] * calls, text=character * 30_000))
    await hass.async_block_till_done()

    (event,) = events
    assert len(json_bytes(event.data)) < 32_768
    content = event.data["calls"][0]
    assert len(content["entity_ids"]) + content["more_entity_ids"] == 2000
    assert len(event.data["calls"]) == calls


async def test_the_event_names_as_many_entities_as_fit(hass: HomeAssistant) -> None:
    events = async_capture_events(hass, EVENT_APPROVAL_REQUESTED)
    of_97_bytes = [f"lock.door_{n:087}" for n in range(21)]
    actions = (EntityAction(one, "lock.unlock") for one in of_97_bytes)

    ask(hass, question(asked_call(Effects(frozenset(actions)))))
    await hass.async_block_till_done()

    (event,) = events
    content = event.data["calls"][0]
    assert content["entity_ids"] == of_97_bytes[:20]
    assert content["more_entity_ids"] == 1


@pytest.mark.parametrize(
    ("here", "there", "is_replaced"),
    [("kitchen", "kitchen", True), ("kitchen", "hall", False), (None, None, False)],
)
def test_a_question_without_a_conversation_replaces_those_of_its_satellite(
    here: str | None, there: str | None, *, is_replaced: bool
) -> None:
    earlier = ApprovalScope("conversation.agent", "talk", None, there, None)

    assert (
        replace(earlier, conversation_id=ANYWHERE, satellite_id=here).replaces(earlier)
        is is_replaced
    )
