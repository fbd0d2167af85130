"""Reading the input of a turn: a new request, or the answer to a question that waits.

A spoken PIN ends here: no later step sees it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

from homeassistant.components.conversation import ChatLog, ConversationInput
from homeassistant.core import Context, HomeAssistant, callback

from ..agent.confirmation.answers import Answer, QuestionContext, understand_answer, understood_language
from ..agent.confirmation.pin import PinHash
from ..agent.confirmation.pin_detection import may_be_pin
from ..agent.confirmation.pin_guard import LOCK_SECONDS, Locked
from ..agent.confirmation.spoken_digits import spoken_digits
from ..agent.events import PendingCall
from ..agent.loop.turn import ApprovalAnswer, Approved, Denied
from ..approvals.asking import asked_of, locked_pin_text, scope_of, wrong_pin_text
from ..approvals.pin_tries import Right, Wrong, async_get_pin_tries, async_try_scope
from ..approvals.questions import Channel, GivenAnswer, Question, QuestionGone, async_get_approvals
from ..people.speakers import Asking, Speaker, async_get_speaker, speaker_context
from ..settings.agent import AgentSettings
from ..speech.sentences import async_get_sentences
from .pin_redaction import async_redact_pin, async_was_asked
from .source import TurnSource


@dataclass(frozen=True, slots=True)
class Agreed:
    """It shall be done."""

    with_pin: bool


@dataclass(frozen=True, slots=True)
class Declined:
    """It shall not be done."""


@dataclass(frozen=True, slots=True)
class WrongPin:
    """A PIN was said, and it is another one."""

    tries_left: int
    """0 if none is listened to for ten minutes now."""


@dataclass(frozen=True, slots=True)
class PinLocked:
    """A PIN was said after too many wrong ones, and was not even compared."""

    seconds_left: float


@dataclass(frozen=True, slots=True)
class PinMissing:
    """A plain yes, where the PIN has to be said: to be asked for."""


@dataclass(frozen=True, slots=True)
class PinUnclear:
    """Something like a PIN that cannot be understood: to be asked for again. It took no try."""


@dataclass(frozen=True, slots=True)
class PinNotNeeded:
    """A PIN, where a yes is enough: the question is to be asked again, for it was perhaps taken for another."""


@dataclass(frozen=True, slots=True)
class TooLate:
    """A yes, a no or a PIN to a question that has run out, or can be agreed to no more as there is no PIN any more."""


@dataclass(frozen=True, slots=True)
class SomethingElse:
    """No answer: a new request. There is no PIN in it, so a model may read it."""


type Reading = (
    Agreed | Declined | WrongPin | PinLocked | PinMissing | PinUnclear | PinNotNeeded | TooLate | SomethingElse
)


async def async_read_answer(  # noqa: PLR0913, PLR0917  # each of these alone changes what an answer is
    hass: HomeAssistant,
    question: Question,
    text: str,
    language: str,
    asked: QuestionContext,
    pin: PinHash | None,
    is_late: bool,  # noqa: FBT001  # it stands beside the question that it tells of
) -> Reading:
    """Tell what words are, spoken where `question` was asked: `text` as it was said, in `language`.

    `asked` is what the question named; `pin` that of the agent, of which one of its tries is taken if the words are a
    PIN and the question needs one. `is_late` tells that the question has run out.
    """
    answer = understand_answer(text, understood_language(language), asked)
    knows_pin = question.needs_pin or pin is not None
    is_pin = knows_pin and may_be_pin(text, language, asked, is_asked_for=question.needs_pin)
    if answer is Answer.OTHER and not is_pin:
        return SomethingElse()
    if is_late:
        return TooLate()
    if answer is Answer.NO:
        return Declined()
    if not question.needs_pin:
        return Agreed(with_pin=False) if answer is Answer.YES else PinNotNeeded()
    if pin is None:
        return TooLate()
    if answer is Answer.YES:
        return PinMissing()
    digits = spoken_digits(text, understood_language(language), asked)
    return PinUnclear() if digits is None else await _async_compare(hass, question, pin, digits)


async def _async_compare(hass: HomeAssistant, question: Question, pin: PinHash, digits: str) -> Reading:
    device_id = None if _is_of_user(question.context) else question.scope.device_id
    place = async_try_scope(hass, question.scope.agent_id, device_id)
    match await async_get_pin_tries(hass).async_try(place, pin, digits):
        case Right():
            return Agreed(with_pin=True)
        case Wrong(tries_left):
            return WrongPin(tries_left)
        case Locked(seconds_left):
            return PinLocked(seconds_left)
        case unreachable:
            assert_never(unreachable)


def _is_of_user(context: Context) -> bool:
    """Tell whether a user of Home Assistant speaks, who can say that they are at any device.

    A person who is known by the satellite speaks in a child of its context (`speakers.speaker_context`).
    """
    return context.user_id is not None and context.parent_id is None


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
        return [
            pending_call
            for pending_call in self._asked
            if isinstance(self.decisions.get(pending_call.call.id), Approved)
        ]

    @property
    def denied(self) -> Sequence[PendingCall]:
        """The calls that were denied while others of the same question were approved."""
        approved = self.approved
        return [pending_call for pending_call in self._asked if pending_call not in approved] if approved else ()

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
        decisions = {pending_call.call.id: decision for pending_call in question.pending.calls}
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
            shown = async_redact_pin(self.hass, user_input, chat_log, scope, has_pin=has_pin)
            late = "" if shown is user_input else sentences["spoken_question_expired"]
            return TurnInput(shown, speaker, self.source, reply=late)
        asked = asked_of(self.hass, sentences, question.calls, understood_language(user_input.language))
        shown = async_redact_pin(self.hass, user_input, chat_log, scope, asked, has_pin=has_pin)
        read = TurnInput(shown, speaker, self.source)
        reading = await self._async_read(question, user_input, asked)
        return self._as_answer(read, question, reading, sentences)

    async def _async_read(self, question: Question, user_input: ConversationInput, asked: QuestionContext) -> Reading:
        is_late = question not in async_get_approvals(self.hass).waiting
        text, language, pin = user_input.text, user_input.language, self.settings.pin
        return await async_read_answer(self.hass, question, text, language, asked, pin, is_late)

    @callback
    def _as_answer(
        self, read: TurnInput, question: Question, reading: Reading, sentences: Mapping[str, str]
    ) -> TurnInput:
        """Make a turn of what words were as an answer to a question."""
        approvals = async_get_approvals(self.hass)
        match reading:
            case Agreed(with_pin):
                return self._answered(read, question, sentences, approved=True, with_pin=with_pin)
            case Declined():
                return self._answered(read, question, sentences, approved=False)
            case SomethingElse():
                return replace(read, prefix=sentences["spoken_question_dropped"] if approvals.drop(question.id) else "")
            case TooLate():
                approvals.drop(question.id)
                return replace(read, reply=sentences["spoken_question_expired"])
            case PinMissing() | PinUnclear():
                key = "missing" if isinstance(reading, PinMissing) else "unclear"
                return replace(read, reply=sentences[f"spoken_pin_{key}"], asks_again=True)
            case PinNotNeeded():
                return replace(read, reply=question.text, asks_again=True)
            case WrongPin(tries_left) if tries_left:
                return replace(read, reply=wrong_pin_text(sentences, tries_left), asks_again=True)
            case WrongPin() | PinLocked():
                approvals.drop(question.id)
                seconds = reading.seconds_left if isinstance(reading, PinLocked) else LOCK_SECONDS
                return replace(read, reply=locked_pin_text(sentences, seconds))
            case _:
                assert_never(reading)

    def _answered(
        self,
        read: TurnInput,
        question: Question,
        sentences: Mapping[str, str],
        *,
        approved: bool,
        with_pin: bool = False,
    ) -> TurnInput:
        """Begin with an answer, unless somebody else was faster."""
        answer = GivenAnswer(approved, Channel.VOICE, read.speaker.user_id, with_pin)
        try:
            async_get_approvals(self.hass).take(question.id, answer)
        except QuestionGone:
            return replace(read, reply=sentences["spoken_question_expired"])
        return read.with_answer(question, answer)
