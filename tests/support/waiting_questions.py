"""Questions that wait for a yes, as an agent asks them, and what resumes their turns."""

import time
from asyncio import Event
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from uuid import uuid4

from homeassistant.core import Context, HomeAssistant

from custom_components.chatterbox.agent.events import PendingApproval, PendingCall
from custom_components.chatterbox.agent.messages import ToolCall, canonical_json
from custom_components.chatterbox.approvals.answers.language import Action
from custom_components.chatterbox.approvals.answers.yes_or_no import QuestionContext
from custom_components.chatterbox.approvals.policy import Decision, Judgement
from custom_components.chatterbox.approvals.questions import (
    ApprovalScope,
    Question,
    async_get_approvals,
)
from custom_components.chatterbox.approvals.review import CallReview, GivenAnswer
from custom_components.chatterbox.effects.effect import Effects, EntityAction
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.settings.rules import Verdict
from tests.support.talk import AGENT

UNLOCK = EntityAction("lock.front_door", "lock.unlock")
TEXT = "Unlock the front door?"
NAMED = QuestionContext(Action.UNLOCK, ("Front door",))
"""The action and the name in the question."""


def asked_call(
    effects: Effects | None = None,
    *,
    needs_pin: bool = False,
    arguments: dict[str, str] | None = None,
) -> CallReview:
    """Return a call that waits, by default one that would unlock the front door."""
    call = ToolCall(
        "call-1",
        "intent__HassTurnOff",
        canonical_json({**(arguments or {"name": "Front door"})}),
    )
    verdict = Verdict.PIN if needs_pin else Verdict.ASK
    judgement = Judgement(verdict, (Decision(UNLOCK, verdict, None),))
    return CallReview(
        call,
        effects or Effects(frozenset({UNLOCK})),
        judgement,
        reason="It unlocks a door.",
    )


def question(  # what tells questions from each other
    *calls: CallReview,
    conversation_id: str = "a-talk",
    agent_id: str = AGENT,
    context: Context | None = None,
    language: str = "en",
    text: str = TEXT,
    device_id: str | None = None,
    satellite_id: str | None = None,
) -> Question:
    """Return a question, by default whether the front door may be unlocked."""
    pending_calls = calls or (asked_call(),)
    waiting = tuple(PendingCall(call.call, call.reason) for call in pending_calls)
    context = context or Context()
    scope = ApprovalScope(
        agent_id, conversation_id, device_id, satellite_id, context.user_id
    )
    speaker = Speaker(context.user_id, device_id, "Anna", Asking.PERSON)
    return Question(
        PendingApproval(uuid4().hex, waiting, time.time() + 60, 1, 0),
        pending_calls,
        text,
        language,
        scope,
        speaker,
        context,
        {"turn_id": "a-turn", "entity_id": agent_id},
    )


def scope(
    conversation_id: str = "a-talk",
    device_id: str | None = None,
    agent_id: str = "conversation.hilda",
) -> ApprovalScope:
    """Return where a question is asked."""
    return ApprovalScope(
        agent_id, conversation_id, device_id, satellite_id=None, user_id=None
    )


def unlocking(where: ApprovalScope, *, needs_pin: bool) -> Question:
    """Return the question `question-1`, whether the front door may be unlocked, asked somewhere."""
    questions = question(asked_call(needs_pin=needs_pin))
    return replace(
        questions, pending=replace(questions.pending, id="question-1"), scope=where
    )


@dataclass(slots=True)
class ResumedTurn:
    """Resumes the turn of a question, as an agent would, and remembers the answers."""

    speech: str = "It is unlocked."
    answers: list[GivenAnswer] = field(default_factory=list)
    may_end: Event | None = None
    """Where there is one, the turn takes until it is set."""
    error: Exception | None = None

    async def __call__(self, question: Question) -> str:
        assert question.answer is not None
        self.answers.append(question.answer)
        if self.may_end is not None:
            await self.may_end.wait()
        if self.error is not None:
            raise self.error
        return self.speech


def ask(
    hass: HomeAssistant, questions: Question, expires_in: float = 60
) -> ResumedTurn:
    """Have a question wait, and return what hears of its answers."""
    turn = ResumedTurn()
    async_get_approvals(hass).ask(questions, expires_in, turn)
    return turn


def ids(questions: Sequence[Question]) -> list[str]:
    """Return the ids of questions."""
    return [one.id for one in questions]
