"""Reads the input of a turn: a new request, or the answer to a waiting question.

A spoken PIN is used here and redacted: no later step sees it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, assert_never

from homeassistant.components.conversation import ChatLog, ConversationInput
from homeassistant.core import HomeAssistant

from ..agent.events import PendingCall
from ..agent.text import heard_words
from ..approvals.answers.yes_or_no import Meaning, QuestionContext, understand_answer, understood_language
from ..approvals.asking import asked_of, locked_pin_text, unmeant_text, wrong_pin_text
from ..approvals.pin.pin_detection import may_be_pin
from ..approvals.pin.pin_guard import LOCK_SECONDS, Locked
from ..approvals.pin.spoken_digits import spoken_digits
from ..approvals.pin_tries import Right, Wrong, async_get_pin_tries, async_tried_device
from ..approvals.questions import ApprovalScope, Question, QuestionGone, async_get_approvals
from ..approvals.review import ApprovalWay, GivenAnswer
from ..home.name_index import names_in
from ..offline.recognition import async_is_request
from ..people.speakers import Asking, Speaker, async_get_speaker, speaker_context
from ..settings.home_rules import async_get_home_rules
from ..settings.pin_hash import PinHash
from ..speech.sentences import async_get_sentences
from .pin_redaction import async_redact_pin, async_was_asked
from .source import TurnSource

_MOST_WORDS: Final = 3
"""With more words, an answer is taken for a request; in a script without spaces, with more characters than below."""
_MOST_CHARACTERS: Final = 5
_QUESTION_MARKS: Final = "? \N{FULLWIDTH QUESTION MARK}\N{ARABIC QUESTION MARK};"


async def async_read_answer(  # noqa: PLR0913, PLR0917  # each of these alone changes what an answer is
    hass: HomeAssistant,
    question: Question,
    text: str,
    language: str,
    context: QuestionContext,
    pin: PinHash | None,
    is_late: bool,  # noqa: FBT001  # it stands beside the question that it tells of
) -> Meaning | Wrong | Locked:
    """Return the meaning of words that were spoken where `question` was asked: `text` as it was said, in `language`.

    `asked` holds the names in the question. `pin` is that of the home; if the question requires it and the words are a
    PIN, they cost one attempt. `is_late` says that the question has expired.
    """
    answer = understand_answer(text, understood_language(language), context)
    knows_pin = question.needs_pin or pin is not None
    is_pin = knows_pin and may_be_pin(text, language, context, is_asked_for=question.needs_pin)
    if answer is Meaning.OTHER and not is_pin:
        return Meaning.OTHER
    if is_late:
        return Meaning.TOO_LATE
    if answer is Meaning.NO:
        return Meaning.NO
    if not question.needs_pin:
        return Meaning.YES if answer is Meaning.YES else Meaning.PIN_NOT_NEEDED
    if pin is None:
        return Meaning.TOO_LATE
    if answer is Meaning.YES:
        return Meaning.PIN_MISSING
    digits = spoken_digits(text, understood_language(language), context)
    return Meaning.PIN_UNCLEAR if digits is None else await _async_compare(hass, question, pin, digits)


async def async_is_neither(hass: HomeAssistant, user_input: ConversationInput) -> bool:
    """Return whether words that are no plain yes or no are no request either, but a few that mean nothing alone.

    A request is what Home Assistant understands, what asks something, and what names a device or an area.
    """
    text, language = user_input.text, understood_language(user_input.language)
    if len(text.split()) > _MOST_WORDS or len(heard_words(text)) > _MOST_CHARACTERS:
        return False
    bare = text.rstrip(_QUESTION_MARKS)
    if bare != text.rstrip() and understand_answer(bare, language) is Meaning.OTHER:
        return False
    return not any(True for _ in names_in(hass, text)) and not await async_is_request(hass, user_input)


async def _async_compare(
    hass: HomeAssistant, question: Question, pin: PinHash, digits: str
) -> Meaning | Wrong | Locked:
    # A user can pretend to be at any device. The person at a satellite speaks in a child of its context.
    is_user = question.context.user_id is not None and question.context.parent_id is None
    device_id = None if is_user else question.scope.device_id
    tried = await async_get_pin_tries(hass).async_try(async_tried_device(hass, device_id), pin, digits)
    return Meaning.YES_WITH_PIN if isinstance(tried, Right) else tried


CONVERSATION: Final = TurnSource()
"""The source of a turn that cannot ask anything."""


@dataclass(frozen=True, slots=True)
class TurnInput:
    """The input of a turn."""

    user_input: ConversationInput
    """The user's input; its text is empty in a resumed turn."""
    speaker: Speaker
    source: TurnSource = CONVERSATION
    answered: Question | None = None
    """A question that was answered, by this input or elsewhere."""
    prefix: str = ""
    """Text that is spoken before the answer."""
    reply: str = ""
    """The answer, if no model is needed."""
    asks_again: bool = False
    """Whether the answer is a question."""
    said_again: str = ""
    """The id of the question that the answer repeats."""

    @property
    def approved(self) -> tuple[PendingCall, ...]:
        """The approved calls, with the PIN where one is required."""
        return self.answered.pending.approved if self.answered else ()

    @property
    def agreed(self) -> Question | None:
        """The question that the speaker approved with this input."""
        return self.answered if self.approved and not self.is_resumed else None

    @property
    def is_resumed(self) -> bool:
        """Whether the question was answered elsewhere, so that nobody hears this turn where the question was asked."""
        answer = self.answered.answer if self.answered else None
        return answer is not None and answer.channel is not ApprovalWay.VOICE

    @property
    def is_heard(self) -> bool:
        """Return whether the answer is spoken."""
        return self.user_input.satellite_id is not None or self.user_input.device_id is not None


@dataclass(frozen=True, slots=True)
class InputReader:
    """Reads the input of one agent: a request, or the answer to a waiting question."""

    hass: HomeAssistant
    agent_id: str
    """Entity id."""
    source: TurnSource

    async def async_read(self, user_input: ConversationInput, chat_log: ChatLog) -> TurnInput:
        """Return the input of a turn."""
        speaker = await async_get_speaker(self.hass, user_input)
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
        """Return the input of a turn whose words may be an answer."""
        sentences = await async_get_sentences(self.hass, user_input.language)
        scope = ApprovalScope.of_input(user_input, self.agent_id, chat_log.conversation_id)
        # A script may speak in the name of the person who was asked, in the same conversation. It is not that person.
        is_person = speaker.asking is Asking.PERSON
        approvals = async_get_approvals(self.hass)
        question = approvals.asked_at(scope) if is_person else None
        pin = async_get_home_rules(self.hass).current.pin
        has_pin = pin is not None
        if question is None:
            redacted = async_redact_pin(self.hass, user_input, chat_log, scope, has_pin=has_pin)
            late = "" if redacted is user_input else sentences["spoken_question_expired"]
            return TurnInput(redacted, speaker, self.source, reply=late)
        context = asked_of(self.hass, sentences, question.calls, understood_language(user_input.language))
        redacted = async_redact_pin(self.hass, user_input, chat_log, scope, context, has_pin=has_pin)
        turn_input = TurnInput(redacted, speaker, self.source)
        is_late = question not in approvals.waiting
        is_unheard = not is_late and not approvals.was_heard(question.id)
        text, language, pin = user_input.text, user_input.language, None if is_unheard else pin
        reading = await async_read_answer(self.hass, question, text, language, context, pin, is_late)
        if is_unheard:
            if reading is Meaning.OTHER:
                return turn_input
            reading = Meaning.UNHEARD
        elif reading is Meaning.OTHER and await async_is_neither(self.hass, user_input):
            reading = Meaning.NEITHER if approvals.repeat(question.id) else reading
        return self._as_answer(turn_input, question, reading, sentences)

    def _as_answer(
        self, turn_input: TurnInput, question: Question, reading: Meaning | Wrong | Locked, sentences: Mapping[str, str]
    ) -> TurnInput:
        """Return the input of a turn from the meaning of its words as an answer."""
        approvals = async_get_approvals(self.hass)
        match reading:
            case Meaning.YES | Meaning.YES_WITH_PIN | Meaning.NO:
                way = ApprovalWay.PIN if reading is Meaning.YES_WITH_PIN else ApprovalWay.VOICE
                answer = GivenAnswer(reading is not Meaning.NO, way=way, user_id=turn_input.speaker.user_id)
                try:
                    return replace(turn_input, answered=approvals.take(question.id, answer))
                except QuestionGone:  # someone else answered first
                    return replace(turn_input, reply=sentences["spoken_question_expired"])
            case Meaning.OTHER:
                dropped = unmeant_text(self.hass, sentences, question.calls) if approvals.drop(question.id) else ""
                return replace(turn_input, prefix=dropped)
            case Meaning.TOO_LATE:
                approvals.drop(question.id)
                return replace(turn_input, reply=sentences["spoken_question_expired"])
            case Meaning.PIN_MISSING | Meaning.PIN_UNCLEAR:
                key = "missing" if reading is Meaning.PIN_MISSING else "unclear"
                return replace(turn_input, reply=sentences[f"spoken_pin_{key}"], asks_again=True)
            case Meaning.UNHEARD | Meaning.PIN_NOT_NEEDED | Meaning.NEITHER:
                is_unclear = reading is Meaning.NEITHER and not question.needs_pin
                again = f"{sentences['spoken_yes_or_no']} {question.text}" if is_unclear else question.text
                return replace(turn_input, reply=again, asks_again=True, said_again=question.id)
            case Wrong(tries_left) if tries_left:
                return replace(turn_input, reply=wrong_pin_text(sentences, tries_left), asks_again=True)
            case Wrong() | Locked():
                approvals.drop(question.id)
                seconds = reading.seconds_left if isinstance(reading, Locked) else LOCK_SECONDS
                return replace(turn_input, reply=locked_pin_text(sentences, seconds))
            case _:
                assert_never(reading)
