"""Questions that wait for approval: each is answered once, by the first answer that is accepted, or expires.

Nothing is stored, so no question survives a restart. Decision 13.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Final, Self

from homeassistant.auth.models import User
from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.components.conversation import ConversationInput
from homeassistant.core import CALLBACK_TYPE, Context, HassJob, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.helpers.event import async_call_later
from homeassistant.util import dt as dt_util
from homeassistant.util.signal_type import SignalType

from ..agent.events import Answer, PendingApproval, PendingCall
from ..agent.messages import JsonValue
from ..const import DOMAIN, EVENT_APPROVAL_REQUESTED, home_singleton
from ..people.speakers import Speaker, async_get_context_watch
from ..records.turn_record import Origin, shown_call, shown_text
from .review import ApprovalWay, CallOption, CallReview, CallState, GivenAnswer

CHOICE: Final = "choice"
"""The terms of a question which one is meant: the answer approves nothing that rules ask about."""
UNASKED: Final = "unasked"
"""The terms of a call about which nobody was asked yet: it waits for such an answer, or was missed."""
ANYWHERE: Final = "*"
"""The conversation of a question that is announced at a satellite: any one that is begun or continued there."""
_LATE_SECONDS: Final = 600.0
"""An answer within this time after a question expired is told that it came too late."""
_MOST_REPEATS_FOR_PIN: Final = 3
# Bytes; Home Assistant records up to 32,768 of an event.
_MAX_CALLS: Final = 24_000
_MAX_SHARE: Final = 6_000
"""Of one call: its arguments, entities and actions together."""


@dataclass(frozen=True, slots=True)
class ApprovalScope:
    """Where a question was asked. A spoken answer has to come from the same scope."""

    agent_id: str
    """Entity id."""
    conversation_id: str
    device_id: str | None
    satellite_id: str | None
    user_id: str | None

    @classmethod
    def of_input(
        cls,
        user_input: ConversationInput,
        agent_id: str,
        conversation_id: str,
    ) -> Self:
        """Return the scope of a question that user input leads to."""
        device_id = user_input.device_id
        satellite_id = user_input.satellite_id
        return cls(
            agent_id,
            conversation_id,
            device_id,
            satellite_id,
            user_input.context.user_id,
        )

    def replaces(self, earlier: ApprovalScope) -> bool:
        """Return whether words spoken here, after a question here, cannot be the answer to an earlier question."""
        if ANYWHERE in {self.conversation_id, earlier.conversation_id}:
            return (
                self.satellite_id is not None
                and self.satellite_id == earlier.satellite_id
            )
        return self.conversation_id == earlier.conversation_id


type Running = Callable[[Context], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class Question:
    """One question for all calls of a message that need approval."""

    pending: PendingApproval
    calls: tuple[CallReview, ...]
    """The calls of `pending`, in the same order."""
    text: str
    """The question in `language`."""
    language: str
    scope: ApprovalScope
    speaker: Speaker
    context: Context
    """The context of the user input that led to it."""
    origin: Origin = field(default_factory=dict)
    request: str = ""
    """The words that led to it, in `language`."""
    answer: GivenAnswer | None = None
    """The answer to the question as a whole; those to its calls are in `pending`."""
    later: tuple[CallReview, ...] = ()
    """Calls of the same message that are asked about once it is known which one is meant."""
    running: Running | None = None
    """Is entered while approved calls of it run, with the context of their turn."""
    is_personal: bool = False
    """Whether it is sent to the phones of the speaker alone, and no other user may answer it elsewhere."""

    def with_answer(
        self, answer: GivenAnswer, answers: Mapping[str, Answer] | None = None
    ) -> Question:
        """Return the question with its answer, for all of its calls or with `answers` by call ID.

        A yes without the PIN that it needs approves no call, and neither does a yes to
        several options.
        """
        if answers is None:
            answers = dict.fromkeys(
                (one.call.id for one in self.pending.calls),
                answer,
            )
        needs_pin = self.needs_pin and not self.is_choice  # which approves nothing
        if answer.approved and (
            self.options or (needs_pin and answer.way is not ApprovalWay.PIN)
        ):
            answers = {}
        return replace(
            self, answer=answer, pending=replace(self.pending, answers=answers)
        )

    @property
    def options(self) -> tuple[CallOption, ...]:
        """The things that are asked about, if the question is which one is meant."""
        return self.calls[0].options

    def chosen(self, options: Sequence[CallOption]) -> Question:
        """Return the question with a call for each of some options, and those for later; rules judge each of them."""
        review = self.calls[0]
        first = self.pending.calls[0].call.id
        ids = (
            f"{first}_{number}" if number else first for number in range(len(options))
        )
        calls = [
            replace(option.call, id=call_id)
            for option, call_id in zip(
                options,
                ids,
                strict=True,
            )
        ]
        reviews = [
            replace(
                review, call=call, effects=option.effects, judgement=None, options=()
            )
            for option, call in zip(
                options,
                calls,
                strict=True,
            )
        ]
        waiting = [PendingCall(call, "", CHOICE) for call in calls]
        waiting += [PendingCall(one.call, one.reason, UNASKED) for one in self.later]
        return replace(
            self,
            calls=(*reviews, *self.later),
            pending=replace(
                self.pending,
                calls=tuple(waiting),
            ),
        )

    @property
    def is_choice(self) -> bool:
        """Whether the answer only tells which one is meant."""
        return self.pending.calls[0].terms == CHOICE

    @property
    def chosen_calls(self) -> frozenset[tuple[str, str]]:
        """The tools and arguments of the calls that were chosen."""
        return frozenset(
            one.call.key for one in self.pending.approved if one.terms == CHOICE
        )

    @property
    def id(self) -> str:
        """The approval ID, the same in every channel."""
        return self.pending.id

    @property
    def needs_pin(self) -> bool:
        """Whether the answer has to be the PIN."""
        return any(call.needs_pin for call in self.calls)

    @property
    def entity_ids(self) -> frozenset[str]:
        """The entities that its calls would act on, as far as they are known."""
        return frozenset[str]().union(*(call.entity_ids for call in self.calls))

    @property
    def is_foreseen(self) -> bool:
        """Whether all effects of all calls are known, and are actions on entities."""
        return all(call.is_foreseen for call in self.calls)


@dataclass(frozen=True, slots=True)
class QuestionUpdate:
    """A change of the state of a question."""

    question: Question
    state: CallState
    speech: str = ""
    """The last words of the agent; set when the question is concluded."""


SIGNAL_QUESTION: SignalType[QuestionUpdate] = SignalType(f"{DOMAIN}_question")

type Resume = Callable[[Question], Awaitable[str]]
"""Resumes the turn that asked the answered question, and returns what the agent says."""


class QuestionGone(Exception):
    """The question was answered, has expired, or never existed."""


@dataclass(slots=True)
class _OpenQuestion:
    question: Question
    resume: Resume
    cancel_timer: CALLBACK_TYPE
    heard_at: datetime | None = None
    """When it was said in its scope to its end, as the latest thing there."""
    has_expired: bool = False
    repeats: int = 0
    """How often it was asked again because the words after it were neither a yes, a no, a whole PIN nor a request."""


class Approvals:
    """The questions of all agents."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Start with no questions."""
        self._hass = hass
        self._open: dict[str, _OpenQuestion] = {}
        """By ID, including expired questions that a late answer may still refer to."""

    @property
    def is_empty(self) -> bool:
        """Whether there is no question that user input could be an answer to, even a late one."""
        return not self._open

    @property
    def waiting(self) -> tuple[Question, ...]:
        """The questions that can be answered, oldest first."""
        return tuple(
            opened.question for opened in self._open.values() if not opened.has_expired
        )

    @callback
    def ask(
        self,
        question: Question,
        expires_in: float,
        resume: Resume,
    ) -> None:
        """Open a question for `expires_in` seconds. It replaces an older one of the same conversation.

        `resume` is called for an answer through another channel. In its scope, it
        cannot be answered until it is heard there: its turn may be cut off before it is
        said.
        """
        for opened in list(self._open.values()):
            if question.scope.replaces(opened.question.scope):
                self.drop(opened.question.id)
        self._open[question.id] = _OpenQuestion(
            question, resume, self._expire_in(expires_in, question.id)
        )
        self._send(QuestionUpdate(question, CallState.WAITING))
        # An automation may answer at once, so the event is fired after everybody else
        # knows the question.
        event = self._async_fire_event(question)
        _ = self._hass.async_create_task(
            event, f"chatterbox event of question {question.id}", eager_start=False
        )

    def asked_at(
        self, scope: ApprovalScope, last_said: datetime | None = None
    ) -> Question | None:
        """Return the question that user input in a scope may be an answer to, even if it has expired.

        `last_said` is when an agent last said something in the conversation.
        """
        anywhere = replace(scope, conversation_id=ANYWHERE)
        for opened in self._open.values():
            is_latest = opened.heard_at is not None and (
                last_said is None or last_said <= opened.heard_at
            )
            if opened.question.scope == scope or (
                opened.question.scope == anywhere and is_latest
            ):
                return opened.question
        return None

    @callback
    def was_heard(self, question_id: str) -> bool:
        """Return whether an open question was said in its scope, so that words spoken there can answer it."""
        return self._open[question_id].heard_at is not None

    def note_heard(self, question_id: str) -> None:
        """Note that a question was said in its scope. It may be closed by now."""
        opened = self._open.get(question_id)
        if opened:
            opened.heard_at = dt_util.utcnow()

    @callback
    def repeat(self, question_id: str) -> bool:
        """Return whether a waiting question may be asked again after unclear words: once, and for a PIN a few times."""
        opened = self._open.get(question_id)
        if opened is None or opened.has_expired:
            return False
        opened.repeats += 1
        return opened.repeats <= (
            _MOST_REPEATS_FOR_PIN if opened.question.needs_pin else 1
        )

    async def answer(
        self,
        question_id: str,
        answer: GivenAnswer,
    ) -> str:
        """Answer a question through another channel, and return what the agent says. Raises `QuestionGone`."""
        opened = self._open.get(question_id)
        question = self.take(question_id, answer)
        speech = ""
        try:
            speech = await opened.resume(question) if opened else ""
        finally:
            self._send(QuestionUpdate(question, CallState.CONCLUDED, speech))
        return speech

    def drop(self, question_id: str) -> bool:
        """Drop a question, and return whether it was still waiting."""
        opened = self._open.pop(question_id, None)
        if opened is None:
            return False
        opened.cancel_timer()
        if not opened.has_expired:
            self._send(QuestionUpdate(opened.question, CallState.DROPPED))
        return not opened.has_expired

    def drop_all_of(self, agent_id: str) -> None:
        """Close all questions of an agent that is removed or loaded anew. A late answer is told that it is one."""
        for opened in self._open.values():
            if opened.question.scope.agent_id == agent_id and not opened.has_expired:
                self._close(opened, CallState.DROPPED)

    def take(
        self,
        question_id: str,
        answer: GivenAnswer,
        chosen: Sequence[CallOption] = (),
    ) -> Question:
        """Close a question with an answer, and with what was chosen, and return it. Raises `QuestionGone`."""
        opened = self._open.get(question_id)
        if opened is None or opened.has_expired:
            raise QuestionGone
        del self._open[question_id]
        opened.cancel_timer()
        question = (
            opened.question.chosen(chosen) if chosen else opened.question
        ).with_answer(answer)
        self._send(
            QuestionUpdate(
                question, CallState.APPROVED if answer.approved else CallState.DENIED
            )
        )
        return question

    def _expire_in(
        self,
        seconds: float,
        question_id: str,
    ) -> CALLBACK_TYPE:
        job = HassJob(
            partial(self._expire, question_id),
            cancel_on_shutdown=True,
        )
        return async_call_later(
            self._hass,
            seconds,
            job,
        )

    @callback
    def _expire(
        self,
        question_id: str,
        _now: datetime,
    ) -> None:
        opened = self._open[question_id]
        if opened.has_expired:
            del self._open[question_id]
            return
        self._close(opened, CallState.EXPIRED)

    def _close(
        self,
        opened: _OpenQuestion,
        state: CallState,
    ) -> None:
        opened.cancel_timer()
        opened.has_expired = True
        opened.cancel_timer = self._expire_in(
            _LATE_SECONDS,
            opened.question.id,
        )
        self._send(QuestionUpdate(opened.question, state))

    def _send(self, update: QuestionUpdate) -> None:
        async_dispatcher_send(
            self._hass,
            SIGNAL_QUESTION,
            update,
        )

    async def _async_fire_event(self, question: Question) -> None:
        """Fire the event of a question that is still waiting, in a new context below that of its turn.

        An automation that answers because of this event can thus be told from one that
        the turn itself triggered.
        """
        if question not in self.waiting:
            return
        context = Context(
            user_id=question.context.user_id, parent_id=question.context.id
        )
        async_get_context_watch(self._hass).detach(context)
        self._hass.bus.async_fire(
            EVENT_APPROVAL_REQUESTED, _event_data(question), context=context
        )


async_get_approvals: Final = home_singleton("approvals", Approvals)
"""Returns the questions of all agents."""


def expiry(question: Question) -> str:
    """Return when a question expires, in ISO 8601 with its offset."""
    return dt_util.utc_from_timestamp(question.pending.expires_at).isoformat()


def _event_data(question: Question) -> dict[str, JsonValue]:
    """Return the data of its event. Texts, arguments and lists are cut, so that the recorder takes the event."""
    share = min(
        _MAX_CALLS // max(len(question.calls), 1),
        _MAX_SHARE,
    )
    calls = question.calls
    if "is_guest" in question.origin:  # their words are stored nowhere
        calls = tuple(
            replace(one, call=replace(one.call, arguments="{}")) for one in calls
        )
    return {
        **question.origin,
        "approval_id": question.id,
        "question": shown_text(question.text),
        "calls": [_call_data(review, share) for review in calls],
        "needs_pin": question.needs_pin,
        "is_foreseen": question.is_foreseen,
        "expires_at": expiry(question),
    }


def _call_data(
    review: CallReview,
    most: int,
) -> dict[str, JsonValue]:
    actions = {action.action for action in review.effects.actions}
    entity_ids = _first(review.entity_ids, most // 3)
    return {
        **shown_call(review.call, most // 3),
        "entity_ids": entity_ids,
        "more_entity_ids": len(review.entity_ids) - len(entity_ids),
        "actions": _first(actions, most // 3),
        "needs_pin": review.needs_pin,
    }


def _first(
    names: Iterable[str],
    most: int,
) -> list[JsonValue]:
    """Return as many names as fit into `most` bytes, sorted."""
    first: list[JsonValue] = []
    for name in sorted(names):
        most -= len(name.encode()) + 3
        if most < 0:
            break
        first.append(name)
    return first


class AnswerRefusal(StrEnum):
    """Why an answer through another channel is not accepted. The values are parts of translation keys."""

    NEEDS_CHOICE = "needs_choice"
    """The question is which one is meant, which is only said where it was asked."""
    NEEDS_PIN = "needs_pin"
    """The PIN is spoken where the question was asked, or typed on the page."""
    OF_A_TURN = "of_a_turn"
    """An agent caused the answer, or may have: too much has happened meanwhile to rule it out."""
    UNKNOWN_USER = "unknown_user"
    """The user does not exist, or is deactivated."""
    NOT_IN_CONTROL = "not_in_control"
    OF_SOMEBODY_ELSE = "of_somebody_else"
    """It is about a plan of another user."""
    NEEDS_ADMIN = "needs_admin"
    """Not all effects are known, so only a user who may do anything can approve them."""


async def async_refusal(
    hass: HomeAssistant,
    question: Question,
    context: Context,
    *,
    approved: bool,
    has_pin: bool = False,
) -> AnswerRefusal | None:
    """Return why an answer in a context is not accepted; None if it is. With a PIN, that is compared afterwards.

    A context without a user is that of an automation, which may answer. An answer is
    never accepted from anything that a turn of an agent has triggered: no agent
    approves its own calls, or those of another agent.
    """
    await asyncio.sleep(0)  # until listeners have seen the events that led here
    if approved and question.options:
        return AnswerRefusal.NEEDS_CHOICE
    if approved and question.needs_pin and not has_pin:
        return AnswerRefusal.NEEDS_PIN
    if _is_of_a_turn(hass, question, context):
        return AnswerRefusal.OF_A_TURN
    if context.user_id is None:
        return None
    user = await hass.auth.async_get_user(context.user_id)
    if user is None or not user.is_active:
        return AnswerRefusal.UNKNOWN_USER
    return _refusal_of(user, question)


def _refusal_of(
    user: User,
    question: Question,
) -> AnswerRefusal | None:
    """Return why an answer of a user is not accepted; None if it is."""
    if question.is_personal and question.speaker.user_id not in {None, user.id}:
        return AnswerRefusal.OF_SOMEBODY_ELSE
    if user.is_admin:
        return None
    if not question.is_foreseen:
        return AnswerRefusal.NEEDS_ADMIN
    may = user.permissions.check_entity
    in_control = all(may(one, POLICY_CONTROL) for one in question.entity_ids)
    return None if in_control else AnswerRefusal.NOT_IN_CONTROL


def _is_of_a_turn(
    hass: HomeAssistant,
    question: Question,
    context: Context,
) -> bool:
    """Return whether a turn of an agent led to a context, directly or through any number of automations.

    The event of a question has a context that is detached from its turn, so an
    automation may answer because of it.
    """
    if question.context.id in {context.id, context.parent_id}:
        return True
    callers = async_get_context_watch(hass).callers(context)
    return callers.comes_of_turn or callers.has_turn or not callers.is_fully_known
