"""From what somebody said to what a turn begins with: a new request, or the answer to a question that waits.

Knows speakers, questions and their answers. Must not know how a turn is taken. A spoken PIN ends here: nobody after
this sees it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from homeassistant.components.conversation import ChatLog, ConversationInput
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm

from ..agent.consent.answers import Asked, understood_language
from ..agent.consent.pin_guard import LOCK_SECONDS
from ..agent.events import PendingCall
from ..agent.loop.turn import ApprovalAnswer, Approved, Denied
from ..agent.protocols import OutputFormat
from ..approvals.asking import scope_of
from ..approvals.questions import Channel, GivenAnswer, Question, QuestionGone, async_get_approvals
from ..approvals.wording import ApprovalSentences, asked_of
from ..people.speakers import Asking, Speaker, async_get_speaker, speaker_context
from ..responses.api_turn import ProgramTurn
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


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a turn begins with."""

    user_input: ConversationInput
    """The words of a person; their text is empty in a turn that goes on without any."""
    speaker: Speaker
    answered: tuple[Question, GivenAnswer] | None = None
    """A question that was answered, by these words or elsewhere."""
    opening: str = ""
    """What is said before the answer."""
    asks_again: bool = False
    """The answer asks for another one."""
    reply: str = ""
    """The answer, where nobody has to think about it."""
    output: OutputFormat | None = None
    """What shape the answer has to have; None for words."""
    brought: llm.API | None = None
    """Tools that there are for this turn only."""
    program: ProgramTurn | None = None
    """What a program brings that speaks; None where it is a person, an automation or a task."""

    @property
    def is_kept(self) -> bool:
        """Tell whether what is said may be stored, where the agent keeps anything."""
        return self.program is None or self.program.request.may_store

    @property
    def approved(self) -> Sequence[PendingCall]:
        """The calls that somebody has said yes to, with the PIN where it is needed."""
        if self.answered is None:
            return ()
        question, answer = self.answered
        if self.program is not None:
            decisions = self.program.decisions
            return [gated for gated in question.pending.calls if isinstance(decisions.get(gated.call.id), Approved)]
        is_yes = answer.approved and (answer.with_pin or not question.needs_pin)
        return question.pending.calls if is_yes else ()

    @property
    def denied(self) -> Sequence[PendingCall]:
        """The calls that a program has said no to, beside a yes to others."""
        if self.program is None or self.answered is None:
            return ()
        return [gated for gated in self.answered[0].pending.calls if gated not in self.approved]

    @property
    def approval(self) -> ApprovalAnswer | None:
        """The answer to a question, as the loop takes it."""
        if self.answered is None:
            return None
        pending = self.answered[0].pending
        if self.program is not None:
            return ApprovalAnswer(pending, self.program.decisions)
        decision = Approved() if self.approved else Denied()
        return ApprovalAnswer(pending, {gated.call.id: decision for gated in pending.calls})

    @property
    def is_heard(self) -> bool:
        """Tell whether a voice says the answer."""
        return self.user_input.satellite_id is not None or self.user_input.device_id is not None


@dataclass(frozen=True, slots=True)
class TurnBeginnings:
    """Finds out what the words mean that one agent is told."""

    hass: HomeAssistant
    agent_id: str
    """Entity id."""
    settings: AgentSettings

    async def async_begin(self, user_input: ConversationInput, chat_log: ChatLog) -> Beginning:
        """Return what a turn begins with."""
        speaker = await async_get_speaker(self.hass, user_input, self.settings)
        context = speaker_context(user_input.context, speaker)
        if context is not user_input.context:
            user_input = replace(user_input, context=context)
        was_asked = async_was_asked(self.hass)
        if not user_input.text.strip():
            sentences = await async_get_sentences(self.hass, user_input.language)
            return Beginning(user_input, speaker, reply=sentences["spoken_completed"])
        return await self._async_heard(user_input, speaker, chat_log) if was_asked else Beginning(user_input, speaker)

    async def _async_heard(self, user_input: ConversationInput, speaker: Speaker, chat_log: ChatLog) -> Beginning:
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
            return Beginning(shown, speaker, reply=late)
        asked = asked_of(self.hass, sentences, question.calls, understood_language(user_input.language))
        begin = Beginning(async_hide_pin(self.hass, user_input, chat_log, scope, asked, has_pin=has_pin), speaker)
        reading = await self._async_read(question, user_input, asked)
        return self._as_answer(begin, question, reading, ApprovalSentences(sentences))

    async def _async_read(self, question: Question, user_input: ConversationInput, asked: Asked) -> Reading:
        is_late = question not in async_get_approvals(self.hass).waiting
        text, language, pin = user_input.text, user_input.language, self.settings.pin
        return await async_read_answer(self.hass, question, text, language, asked, pin, is_late)

    @callback
    def _as_answer(
        self, begin: Beginning, question: Question, reading: Reading, sentences: ApprovalSentences
    ) -> Beginning:
        """Make a turn of what words were as an answer to a question."""
        approvals = async_get_approvals(self.hass)
        match reading:
            case Agreed(with_pin):
                return self._answered(begin, question, sentences, approved=True, with_pin=with_pin)
            case Declined():
                return self._answered(begin, question, sentences, approved=False)
            case SomethingElse():
                return replace(begin, opening=sentences.dropped if approvals.drop(question.id) else "")
            case TooLate():
                approvals.drop(question.id)
                return replace(begin, reply=sentences.expired)
            case PinMissing() | PinUnclear():
                again = sentences.pin_missing if isinstance(reading, PinMissing) else sentences.pin_unclear
                return replace(begin, reply=again, asks_again=True)
            case PinNotNeeded():
                return replace(begin, reply=question.text, asks_again=True)
            case WrongPin(tries_left) if tries_left:
                return replace(begin, reply=sentences.pin_wrong(tries_left), asks_again=True)
            case WrongPin() | PinLocked():
                approvals.drop(question.id)
                seconds = reading.seconds_left if isinstance(reading, PinLocked) else LOCK_SECONDS
                return replace(begin, reply=sentences.pin_locked(seconds))
            case _:
                assert_never(reading)

    def _answered(
        self,
        begin: Beginning,
        question: Question,
        sentences: ApprovalSentences,
        *,
        approved: bool,
        with_pin: bool = False,
    ) -> Beginning:
        """Begin with an answer, unless somebody else was faster."""
        answer = GivenAnswer(approved, Channel.VOICE, begin.speaker.user_id, with_pin)
        try:
            async_get_approvals(self.hass).take(question.id, answer)
        except QuestionGone:
            return replace(begin, reply=sentences.expired)
        return replace(begin, answered=(question, answer))
