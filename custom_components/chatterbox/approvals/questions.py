"""Questions that wait for a yes: each is answered once, by whoever comes first, or runs out.

Knows what was asked, where, and until when. Must not know how a question is worded, heard or shown, nor how a turn goes
on: whoever asks says that. Nothing is stored, so nothing waits after a restart.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Final

from homeassistant.core import CALLBACK_TYPE, Context, HassJob, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.helpers.event import async_call_later
from homeassistant.util.signal_type import SignalType

from ..agent.events import PendingApproval, PendingCall
from ..agent.messages import JsonValue
from ..const import DOMAIN
from ..data import singleton
from ..effects.effect import Effects, Touches, actions_of
from ..people.speakers import Speaker
from ..settings.rules import Verdict
from .policy import Judgement

_LATE_SECONDS: Final = 600.0
"""For so long somebody may answer a question that has run out, and is told so."""


class Channel(StrEnum):
    """How an answer came."""

    VOICE = "voice"
    """Said, or written, where the question was asked."""
    NOTIFICATION = "notification"
    ACTION = "action"
    """An action of Home Assistant."""
    PROGRAM = "program"
    """The program that was asked."""


class QuestionState(StrEnum):
    """What has become of a question."""

    WAITING = "waiting"
    APPROVED = "approved"
    DENIED = "denied"
    DROPPED = "dropped"
    """Something else was said instead, or the agent is gone."""
    EXPIRED = "expired"
    CONCLUDED = "concluded"
    """The turn that came of an answer from elsewhere is over."""


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A call that waits for a yes, and what it would do."""

    pending: PendingCall
    effects: Effects
    judgement: Judgement
    """Why it is asked about. Allowed if it is only a script of the owner that asks, or what came from outside."""
    for_outside_content: bool = False
    """It is asked about because something from outside the house is part of the conversation."""

    @property
    def needs_pin(self) -> bool:
        """Tell whether a yes is not enough."""
        return self.judgement.verdict is Verdict.PIN

    @property
    def entity_ids(self) -> frozenset[str]:
        """What it would act on, as far as it is known."""
        return frozenset(action.entity_id for action in actions_of(self.effects))

    @property
    def is_foreseen(self) -> bool:
        """Tell whether all that it would do is known, and done to entities."""
        return isinstance(self.effects, Touches) and bool(self.effects.actions)


@dataclass(frozen=True, slots=True)
class ApprovalScope:
    """Where a question was asked. A spoken answer has to come from the same one."""

    agent_id: str
    """Entity id."""
    conversation_id: str
    device_id: str | None
    satellite_id: str | None
    user_id: str | None


@dataclass(frozen=True, slots=True)
class Question:
    """One question for all calls of a message that wait for a yes."""

    pending: PendingApproval
    calls: tuple[AskedCall, ...]
    """Those of `pending`, in their order."""
    text: str
    """As it was asked, in `language`."""
    language: str
    scope: ApprovalScope
    speaker: Speaker
    context: Context
    """Of the words that led to it."""
    origin: Mapping[str, JsonValue] = field(default_factory=dict)
    """What tells its turn from others; see `turn_events.turn_origin`."""

    @property
    def id(self) -> str:
        """The same in every channel."""
        return self.pending.id

    @property
    def needs_pin(self) -> bool:
        """Tell whether a yes is not enough."""
        return any(call.needs_pin for call in self.calls)

    @property
    def entity_ids(self) -> frozenset[str]:
        """What a yes would act on, as far as it is known."""
        return frozenset[str]().union(*(call.entity_ids for call in self.calls))

    @property
    def is_foreseen(self) -> bool:
        """Tell whether all that a yes would do is known, and done to entities."""
        return all(call.is_foreseen for call in self.calls)


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """Who said what to a question."""

    approved: bool
    channel: Channel
    user_id: str | None = None
    """Who answered, if that is known."""
    with_pin: bool = False


@dataclass(frozen=True, slots=True)
class QuestionUpdate:
    """Something became of a question."""

    question: Question
    state: QuestionState
    answer: GivenAnswer | None = None
    """Of one that is approved or denied."""
    speech: str = ""
    """What the agent says in the end, of one that is concluded."""


SIGNAL_QUESTION: SignalType[QuestionUpdate] = SignalType(f"{DOMAIN}_question")

type Resume = Callable[[Question, GivenAnswer], Awaitable[str]]
"""Takes the turn on that asked, and returns what the agent says."""


class QuestionGone(Exception):
    """Nothing waits any more: it was answered, has run out, or never was."""


@dataclass(slots=True)
class _Kept:
    question: Question
    go_on: Resume
    forget_later: CALLBACK_TYPE
    is_late: bool = False


class Approvals:
    """All questions of a house that wait for a yes."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Begin with none."""
        self._hass = hass
        self._kept: dict[str, _Kept] = {}
        """By id."""

    @property
    def is_empty(self) -> bool:
        """Tell whether nobody was asked anything that words may still be an answer to."""
        return not self._kept

    @property
    def waiting(self) -> tuple[Question, ...]:
        """Those that can be answered, the oldest first."""
        return tuple(kept.question for kept in self._kept.values() if not kept.is_late)

    @callback
    def ask(self, question: Question, expires_in: float, go_on: Resume) -> None:
        """Keep a question, in place of an older one of the same conversation, for so many seconds.

        `go_on` is called for an answer that comes from elsewhere.
        """
        for kept in list(self._kept.values()):
            if kept.question.scope.conversation_id == question.scope.conversation_id:
                self.drop(kept.question.id)
        self._kept[question.id] = _Kept(question, go_on, self._expire_in(expires_in, question.id))
        self._tell(QuestionUpdate(question, QuestionState.WAITING))

    @callback
    def asked_at(self, scope: ApprovalScope) -> Question | None:
        """Return the question that words from a scope may be an answer to, even one that has run out."""
        return next((kept.question for kept in self._kept.values() if kept.question.scope == scope), None)

    @callback
    def take(self, question_id: str, answer: GivenAnswer) -> Question:
        """Take a question for an answer to it. Raises `QuestionGone` if it does not wait any more."""
        return self._take(question_id, answer).question

    async def answer(self, question_id: str, answer: GivenAnswer) -> str:
        """Answer a question from elsewhere; returns what the agent says. Raises `QuestionGone`."""
        kept = self._take(question_id, answer)
        speech = ""
        try:
            speech = await kept.go_on(kept.question, answer)
        finally:
            self._tell(QuestionUpdate(kept.question, QuestionState.CONCLUDED, answer, speech))
        return speech

    @callback
    def drop(self, question_id: str) -> bool:
        """Forget a question, and tell whether it still waited."""
        kept = self._kept.pop(question_id, None)
        if kept is None:
            return False
        kept.forget_later()
        if not kept.is_late:
            self._tell(QuestionUpdate(kept.question, QuestionState.DROPPED))
        return not kept.is_late

    @callback
    def drop_all_of(self, agent_id: str) -> None:
        """Forget all questions of an agent that goes."""
        for kept in list(self._kept.values()):
            if kept.question.scope.agent_id == agent_id:
                self.drop(kept.question.id)

    def _take(self, question_id: str, answer: GivenAnswer) -> _Kept:
        kept = self._kept.get(question_id)
        if kept is None or kept.is_late:
            raise QuestionGone
        del self._kept[question_id]
        kept.forget_later()
        state = QuestionState.APPROVED if answer.approved else QuestionState.DENIED
        self._tell(QuestionUpdate(kept.question, state, answer))
        return kept

    def _expire_in(self, seconds: float, question_id: str) -> CALLBACK_TYPE:
        job = HassJob(partial(self._expire, question_id), cancel_on_shutdown=True)
        return async_call_later(self._hass, seconds, job)

    @callback
    def _expire(self, question_id: str, _now: datetime) -> None:
        kept = self._kept[question_id]
        if kept.is_late:
            del self._kept[question_id]
            return
        kept.is_late = True
        kept.forget_later = self._expire_in(_LATE_SECONDS, question_id)
        self._tell(QuestionUpdate(kept.question, QuestionState.EXPIRED))

    def _tell(self, news: QuestionUpdate) -> None:
        async_dispatcher_send(self._hass, SIGNAL_QUESTION, news)


@callback
@singleton
def async_get_approvals(hass: HomeAssistant) -> Approvals:
    """Return the questions of a house."""
    return Approvals(hass)
