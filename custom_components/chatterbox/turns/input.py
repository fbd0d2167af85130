"""Reading the input of a turn: a new request, or the answer to a question that waits.

A spoken PIN ends here: no later step sees it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Final, assert_never

from homeassistant.components.conversation import ChatLog, ConversationInput
from homeassistant.core import HomeAssistant

from ..agent.confirmation.answers import Answer, QuestionContext, understand_answer, understood_language
from ..agent.confirmation.pin import PinHash
from ..agent.confirmation.pin_detection import may_be_pin
from ..agent.confirmation.pin_guard import LOCK_SECONDS, Locked
from ..agent.confirmation.spoken_digits import spoken_digits
from ..agent.events import PendingCall
from ..agent.loop.turn import ApprovalAnswer, Approved, Denied
from ..approvals.asking import asked_of, locked_pin_text, wrong_pin_text
from ..approvals.pin_tries import Right, Wrong, async_get_pin_tries, async_try_scope
from ..approvals.questions import ApprovalScope, Channel, GivenAnswer, Question, QuestionGone, async_get_approvals
from ..people.speakers import Asking, Speaker, async_get_speaker, speaker_context
from ..settings.agent import AgentSettings
from ..speech.sentences import async_get_sentences
from .pin_redaction import async_redact_pin, async_was_asked
from .source import TurnSource


class Reading(Enum):
    """The meaning of words as the answer to a question."""

    AGREED = auto()
    AGREED_WITH_PIN = auto()
    DECLINED = auto()
    PIN_MISSING = auto()
    """A plain yes where the PIN is needed, which is then asked for."""
    PIN_UNCLEAR = auto()
    """Something like a PIN that cannot be understood. It takes no try, and the PIN is asked for again."""
    PIN_NOT_NEEDED = auto()
    """A PIN where a yes is enough. The question is asked again, for it was perhaps taken for another."""
    TOO_LATE = auto()
    """An answer to a question that has run out, or that needs a PIN where the agent has none any more."""
    UNHEARD = auto()
    """An answer while another question waits that nobody has heard here yet: it is said first."""
    SOMETHING_ELSE = auto()
    """A new request. It holds no PIN, so a model may read it."""


async def async_read_answer(  # noqa: PLR0913, PLR0917  # each of these alone changes what an answer is
    hass: HomeAssistant,
    question: Question,
    text: str,
    language: str,
    asked: QuestionContext,
    pin: PinHash | None,
    is_late: bool,  # noqa: FBT001  # it stands beside the question that it tells of
) -> Reading | Wrong | Locked:
    """Tell what words are, spoken where `question` was asked: `text` as it was said, in `language`.

    `asked` is what the question named; `pin` that of the agent, of which one of its tries is taken if the words are a
    PIN and the question needs one. `is_late` tells that the question has run out.
    """
    answer = understand_answer(text, understood_language(language), asked)
    knows_pin = question.needs_pin or pin is not None
    is_pin = knows_pin and may_be_pin(text, language, asked, is_asked_for=question.needs_pin)
    if answer is Answer.OTHER and not is_pin:
        return Reading.SOMETHING_ELSE
    if is_late:
        return Reading.TOO_LATE
    if answer is Answer.NO:
        return Reading.DECLINED
    if not question.needs_pin:
        return Reading.AGREED if answer is Answer.YES else Reading.PIN_NOT_NEEDED
    if pin is None:
        return Reading.TOO_LATE
    if answer is Answer.YES:
        return Reading.PIN_MISSING
    digits = spoken_digits(text, understood_language(language), asked)
    return Reading.PIN_UNCLEAR if digits is None else await _async_compare(hass, question, pin, digits)


async def _async_compare(
    hass: HomeAssistant, question: Question, pin: PinHash, digits: str
) -> Reading | Wrong | Locked:
    # A user can pretend to be at any device. The person of a satellite speaks in a child of its context.
    is_user = question.context.user_id is not None and question.context.parent_id is None
    device_id = None if is_user else question.scope.device_id
    place = async_try_scope(hass, question.scope.agent_id, device_id)
    tried = await async_get_pin_tries(hass).async_try(place, pin, digits)
    return Reading.AGREED_WITH_PIN if isinstance(tried, Right) else tried


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
    said_again: str = ""
    """The ID of the question that the answer consists of."""

    @property
    def approved(self) -> Sequence[PendingCall]:
        """The calls that were approved, with the PIN where one is needed."""
        return [one for one in self._asked if isinstance(self.decisions.get(one.call.id), Approved)]

    @property
    def denied(self) -> Sequence[PendingCall]:
        """The calls that were denied while others of the same question were approved."""
        approved = self.approved
        return [one for one in self._asked if one not in approved] if approved else ()

    @property
    def agreed(self) -> Question | None:
        """The question that the speaker has approved in these words."""
        return self.answered[0] if self.answered and self.approved and not self.is_resumed else None

    @property
    def approval(self) -> ApprovalAnswer | None:
        """The answer to the question, as the loop takes it."""
        return ApprovalAnswer(self.answered[0].pending, self.decisions) if self.answered else None

    @property
    def is_resumed(self) -> bool:
        """Whether a question was answered elsewhere, so that nobody hears this turn where it was asked."""
        return self.answered is not None and self.answered[1].channel is not Channel.VOICE

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
        scope = ApprovalScope.of_input(user_input, self.agent_id, chat_log.conversation_id)
        # A script may speak in the name of who was asked, and in the same conversation. It is not who was asked.
        is_person = speaker.asking is Asking.PERSON
        approvals = async_get_approvals(self.hass)
        question = approvals.asked_at(scope) if is_person else None
        has_pin = self.settings.pin is not None
        if question is None:
            shown = async_redact_pin(self.hass, user_input, chat_log, scope, has_pin=has_pin)
            late = "" if shown is user_input else sentences["spoken_question_expired"]
            return TurnInput(shown, speaker, self.source, reply=late)
        asked = asked_of(self.hass, sentences, question.calls, understood_language(user_input.language))
        shown = async_redact_pin(self.hass, user_input, chat_log, scope, asked, has_pin=has_pin)
        read = TurnInput(shown, speaker, self.source)
        is_late = question not in approvals.waiting
        is_unheard = not is_late and not approvals.was_heard(question.id)
        text, language, pin = user_input.text, user_input.language, None if is_unheard else self.settings.pin
        reading = await async_read_answer(self.hass, question, text, language, asked, pin, is_late)
        if is_unheard:
            if reading is Reading.SOMETHING_ELSE:
                return read
            reading = Reading.UNHEARD
        return self._as_answer(read, question, reading, sentences)

    def _as_answer(
        self, read: TurnInput, question: Question, reading: Reading | Wrong | Locked, sentences: Mapping[str, str]
    ) -> TurnInput:
        """Make a turn of what words were as an answer to a question."""
        approvals = async_get_approvals(self.hass)
        match reading:
            case Reading.AGREED | Reading.AGREED_WITH_PIN | Reading.DECLINED:
                with_pin = reading is Reading.AGREED_WITH_PIN
                answer = GivenAnswer(reading is not Reading.DECLINED, Channel.VOICE, read.speaker.user_id, with_pin)
                try:
                    approvals.take(question.id, answer)
                except QuestionGone:  # somebody else was faster
                    return replace(read, reply=sentences["spoken_question_expired"])
                return read.with_answer(question, answer)
            case Reading.SOMETHING_ELSE:
                return replace(read, prefix=sentences["spoken_question_dropped"] if approvals.drop(question.id) else "")
            case Reading.TOO_LATE:
                approvals.drop(question.id)
                return replace(read, reply=sentences["spoken_question_expired"])
            case Reading.PIN_MISSING | Reading.PIN_UNCLEAR:
                key = "missing" if reading is Reading.PIN_MISSING else "unclear"
                return replace(read, reply=sentences[f"spoken_pin_{key}"], asks_again=True)
            case Reading.UNHEARD | Reading.PIN_NOT_NEEDED:
                return replace(read, reply=question.text, asks_again=True, said_again=question.id)
            case Wrong(tries_left) if tries_left:
                return replace(read, reply=wrong_pin_text(sentences, tries_left), asks_again=True)
            case Wrong() | Locked():
                approvals.drop(question.id)
                seconds = reading.seconds_left if isinstance(reading, Locked) else LOCK_SECONDS
                return replace(read, reply=locked_pin_text(sentences, seconds))
            case _:
                assert_never(reading)
