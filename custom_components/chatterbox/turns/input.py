"""Reading the input of a turn: a new request, or the answer to a question that waits.

A spoken PIN ends here: no later step sees it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

from homeassistant.components.conversation import ChatLog, ConversationInput
from homeassistant.core import HomeAssistant, callback

from ..agent.consent.answers import QuestionContext, understood_language
from ..agent.consent.pin_guard import LOCK_SECONDS
from ..agent.events import PendingCall
from ..agent.loop.turn import ApprovalAnswer, Approved, Denied
from ..approvals.asking import scope_of
from ..approvals.questions import Channel, GivenAnswer, Question, QuestionGone, async_get_approvals
from ..approvals.wording import ApprovalSentences, asked_of
from ..people.speakers import Asking, Speaker, async_get_speaker, speaker_context
from ..settings.agent import AgentSettings
from ..speech.sentences import async_get_sentences
from .answer_reading import (
    Agreed,
    Declined,
    PinLocked,
    PinMissing,
    PinNotNeeded,
    PinUnclear,
    Reading,
    SomethingElse,
    TooLate,
    WrongPin,
    async_read_answer,
)
from .pin_redaction import async_hide_pin, async_was_asked
from .source import TurnSource

CONVERSATION: Final = TurnSource()
"""The source of a turn that can ask nothing."""


@dataclass(frozen=True, slots=True)
class TurnInput:
    """The input of a turn."""

    user_input: ConversationInput
    """The words of a person; their text is empty in a turn that is resumed."""
    speaker: Speaker
    source: TurnSource = CONVERSATION
    answered: tuple[Question, GivenAnswer] | None = None
    """A question that was answered, by these words or elsewhere."""
    decisions: Mapping[str, Approved | Denied] = field(default_factory=dict)
    """The decision about each call of that question, by the id of the call."""
    prefix: str = ""
    """What is said before the answer."""
    reply: str = ""
    """The answer, where no model has to be asked."""
    asks_again: bool = False
    """Whether the answer asks for another one."""

    @property
    def approved(self) -> Sequence[PendingCall]:
        """The calls that were approved, with the PIN where one is needed."""
        return [gated for gated in self._asked if isinstance(self.decisions.get(gated.call.id), Approved)]

    @property
    def denied(self) -> Sequence[PendingCall]:
        """The calls that were denied while others of the same question were approved."""
        approved = self.approved
        return [gated for gated in self._asked if gated not in approved] if approved else ()

    @property
    def approval(self) -> ApprovalAnswer | None:
        """The answer to the question, as the loop takes it."""
        return ApprovalAnswer(self.answered[0].pending, self.decisions) if self.answered else None

    @property
    def is_heard(self) -> bool:
        """Tell whether the answer is spoken."""
        return self.user_input.satellite_id is not None or self.user_input.device_id is not None

    @property
    def _asked(self) -> Sequence[PendingCall]:
        return self.answered[0].pending.calls if self.answered else ()

    def with_answer(self, question: Question, answer: GivenAnswer) -> TurnInput:
        """Return this input as the answer to a question, which is one decision about all of its calls."""
        is_yes = answer.approved and (answer.with_pin or not question.needs_pin)
        decision = Approved() if is_yes else Denied()
        decisions = {gated.call.id: decision for gated in question.pending.calls}
        return replace(self, answered=(question, answer), decisions=decisions)


@dataclass(frozen=True, slots=True)
class InputReader:
    """Reads the input of one agent: a request, or the answer to a question that waits."""

    hass: HomeAssistant
    agent_id: str
    """Entity id."""
    settings: AgentSettings
    source: TurnSource

    async def async_read(self, user_input: ConversationInput, chat_log: ChatLog) -> TurnInput:
        """Return the input of a turn."""
        speaker = await async_get_speaker(self.hass, user_input, self.settings)
        context = speaker_context(user_input.context, speaker)
        if context is not user_input.context:
            user_input = replace(user_input, context=context)
        was_asked = async_was_asked(self.hass)
        if not user_input.text.strip():
            sentences = await async_get_sentences(self.hass, user_input.language)
            return TurnInput(user_input, speaker, self.source, reply=sentences["spoken_completed"])
        if was_asked:
            return await self._async_heard(user_input, speaker, chat_log)
        return TurnInput(user_input, speaker, self.source)

    async def _async_heard(self, user_input: ConversationInput, speaker: Speaker, chat_log: ChatLog) -> TurnInput:
        """Return what words are that may be an answer."""
        sentences = await async_get_sentences(self.hass, user_input.language)
        scope = scope_of(user_input, self.agent_id, chat_log.conversation_id)
        # A script may speak in the name of who was asked, and in the same conversation. It is not who was asked.
        is_person = speaker.asking is Asking.PERSON
        question = async_get_approvals(self.hass).asked_at(scope) if is_person else None
        has_pin = self.settings.pin is not None
        if question is None:
            shown = async_hide_pin(self.hass, user_input, chat_log, scope, has_pin=has_pin)
            late = "" if shown is user_input else ApprovalSentences(sentences).expired
            return TurnInput(shown, speaker, self.source, reply=late)
        asked = asked_of(self.hass, sentences, question.calls, understood_language(user_input.language))
        shown = async_hide_pin(self.hass, user_input, chat_log, scope, asked, has_pin=has_pin)
        read = TurnInput(shown, speaker, self.source)
        reading = await self._async_read(question, user_input, asked)
        return self._as_answer(read, question, reading, ApprovalSentences(sentences))

    async def _async_read(self, question: Question, user_input: ConversationInput, asked: QuestionContext) -> Reading:
        is_late = question not in async_get_approvals(self.hass).waiting
        text, language, pin = user_input.text, user_input.language, self.settings.pin
        return await async_read_answer(self.hass, question, text, language, asked, pin, is_late)

    @callback
    def _as_answer(
        self, read: TurnInput, question: Question, reading: Reading, sentences: ApprovalSentences
    ) -> TurnInput:
        """Make a turn of what words were as an answer to a question."""
        approvals = async_get_approvals(self.hass)
        match reading:
            case Agreed(with_pin):
                return self._answered(read, question, sentences, approved=True, with_pin=with_pin)
            case Declined():
                return self._answered(read, question, sentences, approved=False)
            case SomethingElse():
                return replace(read, prefix=sentences.dropped if approvals.drop(question.id) else "")
            case TooLate():
                approvals.drop(question.id)
                return replace(read, reply=sentences.expired)
            case PinMissing() | PinUnclear():
                again = sentences.pin_missing if isinstance(reading, PinMissing) else sentences.pin_unclear
                return replace(read, reply=again, asks_again=True)
            case PinNotNeeded():
                return replace(read, reply=question.text, asks_again=True)
            case WrongPin(tries_left) if tries_left:
                return replace(read, reply=sentences.pin_wrong(tries_left), asks_again=True)
            case WrongPin() | PinLocked():
                approvals.drop(question.id)
                seconds = reading.seconds_left if isinstance(reading, PinLocked) else LOCK_SECONDS
                return replace(read, reply=sentences.pin_locked(seconds))
            case _:
                assert_never(reading)

    def _answered(
        self,
        read: TurnInput,
        question: Question,
        sentences: ApprovalSentences,
        *,
        approved: bool,
        with_pin: bool = False,
    ) -> TurnInput:
        """Begin with an answer, unless somebody else was faster."""
        answer = GivenAnswer(approved, Channel.VOICE, read.speaker.user_id, with_pin)
        try:
            async_get_approvals(self.hass).take(question.id, answer)
        except QuestionGone:
            return replace(read, reply=sentences.expired)
        return read.with_answer(question, answer)
