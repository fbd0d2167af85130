"""A review grows from its effects to its outcome, and tells how its call was approved."""

from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.messages import ToolCall
from custom_components.chatterbox.approvals.policy import Decision, Judgement
from custom_components.chatterbox.approvals.review import (
    ApprovalWay,
    CallReview,
    CallState,
    DecidedBy,
    GivenAnswer,
)
from custom_components.chatterbox.effects.effect import Effects, EntityAction
from custom_components.chatterbox.settings.rules import DEFAULT_RULES, Rule, Verdict

UNLOCK = EntityAction("lock.front", "lock.unlock")
JUDGED = CallReview(
    ToolCall("1", "intent__HassTurnOff", "{}"),
    Effects(frozenset({UNLOCK})),
    Judgement(Verdict.ASK, (Decision(UNLOCK, Verdict.ASK, DEFAULT_RULES[0]),)),
)
YES = GivenAnswer(approved=True, way=ApprovalWay.NOTIFICATION, user_id="anna")


@pytest.mark.parametrize("state", CallState)
def test_no_step_loses_the_verdict(state: CallState) -> None:
    record = replace(
        JUDGED,
        state=state,
        question_id="q",
        answer=YES,
        error="Oh",
        done_to=frozenset(),
    ).as_record({})

    assert (record["verdict"], record["outcome"], record["question_id"]) == (
        "ask",
        str(state),
        "q",
    )
    by_script = [DecidedBy.SCRIPT] if state is CallState.REFUSED_BY_SCRIPT else []
    assert record["decided_by"] == [DecidedBy.DEFAULT, *by_script]
    assert (record["approval"], record["answered_through"], record["answered_by"]) == (
        "notification",
    ) * 2 + ("anna",)


def test_the_record_names_the_rules_of_the_user_that_decided() -> None:
    rules = [Rule(verdict=Verdict.ASK, areas=frozenset({area})) for area in "abcd"]
    decisions = [
        Decision(UNLOCK, Verdict.ASK, rule)
        for rule in (rules[0], *rules, DEFAULT_RULES[0], None)
    ]
    record = replace(
        JUDGED, judgement=Judgement(Verdict.ASK, tuple(decisions))
    ).as_record({})

    assert record["rules"] == [{"verdict": "ask", "areas": [area]} for area in "abc"]


def test_a_call_that_needed_approval_and_has_none_did_not_run_or_was_trusted() -> None:
    assert {
        state
        for state in CallState
        if replace(JUDGED, state=state).approval is not ApprovalWay.MISSING
    } == {
        CallState.DONE,
        CallState.PARTLY,
        CallState.UNCONFIRMED,
        CallState.FAILED,
        CallState.INTERRUPTED,
    }
    assert (
        replace(JUDGED, state=CallState.DONE).approval is ApprovalWay.TRUSTED_AUTOMATION
    )
    assert JUDGED.approval is ApprovalWay.MISSING


def test_a_no_approves_nothing() -> None:
    denied = replace(
        JUDGED, state=CallState.DENIED, answer=replace(YES, approved=False)
    )

    assert denied.approval is ApprovalWay.MISSING
    assert denied.as_record({})["answered_through"] == "notification"


def test_a_pin_is_spoken() -> None:
    record = replace(
        JUDGED, state=CallState.DONE, answer=replace(YES, way=ApprovalWay.PIN)
    ).as_record({})

    assert (record["approval"], record["answered_through"]) == ("pin", "voice")


def test_outside_content_that_requires_approval_is_the_verdict() -> None:
    allowed = replace(
        JUDGED, judgement=Judgement(Verdict.ALLOW, ()), for_outside_content=True
    )

    assert (allowed.verdict, allowed.decided_by) == (
        Verdict.ASK,
        frozenset({DecidedBy.OUTSIDE_CONTENT}),
    )
    assert not allowed.needs_pin
