"""Reads the input of a turn: a new request, or the answer to a waiting question.

A spoken PIN is used here and redacted, in the input, the chat log, conversation traces
and debug runs of pipelines: no later step sees it. `docs/pin.md` lists what cannot be
redacted, because it is published or written before an agent is called.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple, assert_never

from homeassistant.components.conversation import (
    AssistantContent,
    ChatLog,
    ConversationInput,
    UserContent,
)
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util

from ..agent.events import PendingCall
from ..agent.text import contains_phrase, heard_answer, heard_request, heard_words
from ..approvals.answers.yes_or_no import (
    NOTHING_NAMED,
    Meaning,
    QuestionContext,
    begins_with_yes,
    understand_answer,
    understood_language,
)
from ..approvals.asking import (
    asked_of,
    chosen_of,
    locked_pin_text,
    unmeant_text,
    wrong_pin_text,
)
from ..approvals.pin.pin_detection import may_be_pin
from ..approvals.pin.pin_guard import LOCK_SECONDS, Locked
from ..approvals.pin.spoken_digits import spoken_digits, whole_digits
from ..approvals.pin_tries import Right, Wrong, async_get_pin_tries, async_tried_device
from ..approvals.questions import (
    SIGNAL_QUESTION,
    ApprovalScope,
    Question,
    QuestionGone,
    QuestionUpdate,
    async_get_approvals,
)
from ..approvals.review import ApprovalWay, CallOption, GivenAnswer
from ..const import REDACTED_PIN, home_singleton
from ..effects.reading import async_read
from ..effects.recognition import async_is_never_mind, async_is_request
from ..home.name_index import names_in
from ..internals.assist_pipeline import debug_runs
from ..internals.conversation import clear_traces, stored_chat_logs
from ..people.speakers import Asking, Speaker, async_get_speaker, speaker_context
from ..settings.pin_hash import SHORTEST_PIN, PinHash
from ..settings.rules import async_get_home_rules
from ..speech.sentences import Sentences, async_get_sentences
from .source import TurnSource

LATELY: Final = timedelta(minutes=10)
"""Time after the last change of a question for a PIN in which the PIN may still be spoken."""


def async_was_asked(hass: HomeAssistant) -> bool:
    """Return whether an input may be an answer to a question, or a PIN. Call it at the beginning of every turn."""
    until = _pin_questions(hass)
    now = dt_util.utcnow()
    if until:
        _redact_refused_runs(hass, until)
        for place in [place for place, end in until.items() if end <= now]:
            del until[place]
    return bool(until) or not async_get_approvals(hass).is_empty


_LONG_NUMBER: Final = re.compile(rf"\d(?:[ .-]?\d){{{SHORTEST_PIN - 1},}}")
"""Beside a choice, it may be the PIN that is asked for next: "the back door, 4711"."""


def async_redact_pin(  # noqa: PLR0913  # each of these alone changes what may be a PIN
    hass: HomeAssistant,
    user_input: ConversationInput,
    chat_log: ChatLog,
    scope: ApprovalScope,
    context: QuestionContext = NOTHING_NAMED,
    *,
    has_pin: bool,
) -> ConversationInput:
    """Return the input of a turn, redacted if it may contain a PIN.

    Call it at the beginning of a turn, before anything else reads the input. `asked`
    holds the names in the question at this scope. `has_pin` is True if the agent has a
    PIN, which may be spoken although the question does not require it. Without a
    waiting question, an input is redacted if the PIN was recently requested in the same
    conversation or at the same device, or if it consists of digits while the PIN is
    requested anywhere in the home.
    """
    until = _pin_questions(hass)
    approvals = async_get_approvals(hass)
    now = dt_util.utcnow()
    question = approvals.asked_at(scope, last_said(chat_log))
    text = user_input.text
    language = user_input.language
    is_asked_for = question is not None and question.needs_pin
    was_asked_for = any(now < until.get(place, now) for place in _places(scope))
    if was_asked_for if question is None else is_asked_for or has_pin:
        is_pin = may_be_pin(text, language, context, is_asked_for=is_asked_for)
        is_pin |= question is not None and bool(
            question.options and _LONG_NUMBER.search(text)
        )
    else:
        is_asked_elsewhere = any(waiting.needs_pin for waiting in approvals.waiting)
        is_pin = (
            is_asked_elsewhere
            and spoken_digits(text, understood_language(language), context) is not None
        )
    if not is_pin:
        return user_input
    _redact_chat_logs(
        hass,
        chat_log,
        user_input.text,
    )
    _redact_pipeline_runs(hass, user_input.text)
    clear_traces(hass, user_input.text)
    return replace(user_input, text=REDACTED_PIN)


def last_said(chat_log: ChatLog) -> datetime | None:
    """Return when an agent, or an automation in its name, last said something in a conversation."""
    return max(
        (one.created for one in chat_log.content if isinstance(one, AssistantContent)),
        default=None,
    )


def _redact_chat_logs(
    hass: HomeAssistant,
    chat_log: ChatLog,
    words: str,
) -> None:
    """Replace the text in the chat log of the turn, and in the stored chat log of the conversation."""
    stored = stored_chat_logs(hass).get(chat_log.conversation_id)
    for log in (chat_log, stored) if stored is not None else (chat_log,):
        log.content[:] = [
            replace(content, content=REDACTED_PIN)
            if isinstance(content, UserContent) and content.content == words
            else content
            for content in log.content
        ]


def _redact_pipeline_runs(hass: HomeAssistant, words: str) -> None:
    """Replace the text in the debug runs of voice pipelines, which people share when they ask for help.

    Source: `PipelineRun.process_event` (homeassistant.components.assist_pipeline.run).
    """
    for data in (data for run in debug_runs(hass) for data in run.values()):
        if data.get("intent_input") == words:
            data["intent_input"] = REDACTED_PIN
        match data.get("stt_output"):
            case {"text": text, **rest} if text == words:
                data["stt_output"] = rest | {"text": REDACTED_PIN}


def _redact_refused_runs(
    hass: HomeAssistant,
    places: Collection[str],
) -> None:
    """Redact input that was spoken where the PIN was requested, and that reached no agent.

    Home Assistant rejects input of another user in a conversation, and input that
    arrives while it answers.
    """
    for run in debug_runs(hass):
        match run:
            case {"intent-end": _}:
                pass  # an agent has received it
            case {
                "intent-start": {
                    "intent_input": str(words),
                    "language": str(language),
                    **where,
                }
            } if (
                where.get("conversation_id") in places
                or where.get("device_id") in places
            ) and may_be_pin(words, language, is_asked_for=True):
                _redact_pipeline_runs(hass, words)
            case _:
                pass


def _places(scope: ApprovalScope) -> tuple[str, ...]:
    if scope.device_id:
        return (scope.conversation_id, scope.device_id)
    return (scope.conversation_id,)


def _follow_questions(hass: HomeAssistant) -> dict[str, datetime]:
    until: dict[str, datetime] = {}

    @callback
    def note(update: QuestionUpdate) -> None:
        if update.question.needs_pin:
            until.update(
                dict.fromkeys(
                    _places(update.question.scope),
                    dt_util.utcnow() + LATELY,
                )
            )
            _redact_refused_runs(hass, until)

    async_dispatcher_connect(
        hass,
        SIGNAL_QUESTION,
        note,
    )
    return until


_pin_questions: Final = home_singleton("pin_questions", _follow_questions)
"""Returns until when a PIN may be spoken, by the ids of conversations and devices in which it was requested.

Every turn begins with this call, so questions are tracked from the first one.
"""


_MOST_WORDS: Final = 4
"""With more words, an answer is taken for a request; in a script without spaces, with more characters than below."""
_MOST_CHARACTERS: Final = 6
_QUESTION_MARKS: Final = "? \N{FULLWIDTH QUESTION MARK}\N{ARABIC QUESTION MARK};"


async def async_read_answer(  # noqa: PLR0913, PLR0917  # each of these alone changes what an answer is
    hass: HomeAssistant,
    question: Question,
    user_input: ConversationInput,
    words: str,
    context: QuestionContext,
    pin: PinHash | None,
    is_late: bool,  # noqa: FBT001  # it stands beside the question that it tells of
) -> Meaning | Wrong | Locked:
    """Return the meaning of an input where `question` was asked: `words` without what nobody meant.

    `context` holds the names in the question. `pin` is that of the home; if the
    question requires it and the words are a PIN, they cost one attempt. `is_late` says
    that the question has expired.
    """
    text = user_input.text
    language = user_input.language
    answer = understand_answer(
        words,
        understood_language(language),
        context,
    )
    knows_pin = question.needs_pin or pin is not None
    is_pin = knows_pin and may_be_pin(
        text, language, context, is_asked_for=question.needs_pin
    )
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
    digits = spoken_digits(
        words, understood_language(language), context
    ) or whole_digits(words, language)
    if digits is None:
        return Meaning.PIN_UNCLEAR
    return await _async_compare(
        hass,
        question,
        pin,
        digits,
    )


def _satellite_of(
    hass: HomeAssistant,
    user_input: ConversationInput,
) -> str | None:
    """Return the satellite of an input; of one that names a device alone, its only one.

    Who speaks is decided before: nobody is there to answer only because a device has a
    satellite.
    """
    if user_input.satellite_id or not user_input.device_id:
        return user_input.satellite_id
    entries = er.async_entries_for_device(
        er.async_get(hass),
        user_input.device_id,
    )
    satellites = [
        entry.entity_id
        for entry in entries
        if entry.domain == Platform.ASSIST_SATELLITE
    ]
    if len(satellites) == 1:
        return satellites[0]
    return None


async def async_is_neither(
    hass: HomeAssistant, user_input: ConversationInput, question: QuestionContext
) -> bool:
    """Return whether words that are no plain yes or no are no request either, but a few that mean nothing alone.

    A request is what Home Assistant or the reading understands, what asks something, and
    what names a device or an area. A yes before words that Home Assistant does not understand
    belongs to the question if these name what it is about: "Yes, I mock the front
    door".
    """
    text = user_input.text
    language = understood_language(user_input.language)
    if begins_with_yes(text, language) and any(
        contains_phrase(heard_words(text), heard_words(name)) for name in question.names
    ):
        return not await async_is_request(hass, user_input)
    written = [word for word in text.split() if any(map(str.isalnum, word))]
    if len(written) > _MOST_WORDS or len(heard_words(text)) > _MOST_CHARACTERS:
        return False
    bare = text.rstrip(_QUESTION_MARKS)
    if bare != text.rstrip() and understand_answer(bare, language) is Meaning.OTHER:
        return False
    if any(True for _ in names_in(hass, text)):
        return False
    if await async_is_request(hass, user_input):
        return False
    parsed = await async_read(hass, user_input)
    return not parsed.calls or parsed.is_elliptic


def _meant(
    hass: HomeAssistant,
    user_input: ConversationInput,
    cleaned: Callable[[str, str], str],
) -> str:
    """Return the words of an input, cleaned if they were spoken: to a satellite, or to an app. Typed text stays."""
    text = user_input.text
    words = cleaned(user_input.text, user_input.language)
    runs = (
        [
            run
            for run in debug_runs(hass)
            if "stt-end" in run and "intent-end" not in run
        ]
        if words != text
        else ()
    )
    is_recognized = any(
        run.get("intent-start", {}).get("intent_input") == text for run in runs
    )
    if is_recognized or user_input.satellite_id is not None:
        return words
    return text


def again_text(
    sentences: Sentences,
    question: Question,
) -> str:
    """Return the text that repeats a question after words that are no answer to it."""
    if question.needs_pin or question.options:
        return question.text
    return f"{sentences['spoken_yes_or_no']} {question.text}"


async def _async_compare(
    hass: HomeAssistant, question: Question, pin: PinHash, digits: str
) -> Meaning | Wrong | Locked:
    # A user can pretend to be at any device. The person at a satellite speaks in a
    # child of its context.
    is_user = (
        question.context.user_id is not None and question.context.parent_id is None
    )
    device_id = None if is_user else question.scope.device_id
    tried = await async_get_pin_tries(hass).async_try(
        async_tried_device(hass, device_id), pin, digits
    )
    if tried is None:
        return Meaning.PIN_UNCLEAR
    if isinstance(tried, Right):
        return Meaning.YES_WITH_PIN
    return tried


type Offer = Callable[[], Awaitable[Question | None]]
"""Opens a question in the place of a turn, and returns it; None if there is nothing to ask."""
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
    offer: Offer | None = None
    """Asks something once the answer is complete."""
    recognized: str = ""
    """The words as they were recognized, if something was dropped from those of `user_input`."""

    @property
    def approved(self) -> tuple[PendingCall, ...]:
        """The approved calls, with the PIN where one is required."""
        if self.answered:
            return self.answered.pending.approved
        return ()

    @property
    def running(self) -> AbstractAsyncContextManager[None]:
        """The context manager around the turn; see `Question.running`."""
        if self.answered and self.approved:
            running = self.answered.running
        else:
            running = None
        if running:
            return running(self.user_input.context)
        return nullcontext()

    @property
    def agreed(self) -> Question | None:
        """The question that the speaker approved with this input."""
        is_yes = self.approved and self.answered and not self.answered.is_choice
        if is_yes and not self.is_resumed:
            return self.answered
        return None

    @property
    def request(self) -> str:
        """The words of the person; after a choice, with those that led to it."""
        words = self.user_input.text
        answered = self.answered
        if answered and answered.is_choice:
            return f"{answered.request}, {words}"
        return words

    @property
    def is_resumed(self) -> bool:
        """Whether the question was answered elsewhere, so that nobody hears this turn where the question was asked."""
        if self.answered:
            answer = self.answered.answer
        else:
            answer = None
        return answer is not None and answer.channel is not ApprovalWay.VOICE

    @property
    def is_heard(self) -> bool:
        """Return whether the answer is spoken."""
        return (
            self.user_input.satellite_id is not None
            or self.user_input.device_id is not None
        )


class Opener(NamedTuple):
    """Changes the input of turns while it has news, such as to begin the answer with these."""

    news: Sequence[object]
    open: Callable[
        [TurnInput, str, str],
        Awaitable[tuple[TurnInput, Callable[[], Awaitable[None]]]],
    ]
    """Returns the input of a turn, by its agent and conversation, and what is awaited once the answer was given."""


openers: Final = home_singleton("openers", lambda _: list[Opener]())
"""Returns what may open the turns of conversation agents."""


@dataclass(frozen=True, slots=True)
class _AskedQuestion:
    """A question, where words may answer it."""

    hass: HomeAssistant
    question: Question
    sentences: Sentences
    """Those of the language of the words."""

    @property
    def _left(self) -> str:
        """The words on what is not done without a yes; empty if that was only to be chosen."""
        if self.question.options:
            calls = self.question.later
        else:
            calls = self.question.calls
        if calls:
            return unmeant_text(
                self.hass,
                self.sentences,
                calls,
            )
        return ""

    async def async_beside(
        self,
        turn_input: TurnInput,
        context: QuestionContext,
    ) -> TurnInput:
        """Return the input of a turn whose words are no answer: the question is asked once more, or dropped."""
        is_silence = bool(turn_input.reply)
        reading = Meaning.OTHER
        is_neither = is_silence or await async_is_neither(
            self.hass, turn_input.user_input, context
        )
        if is_neither and async_get_approvals(self.hass).repeat(self.question.id):
            reading = Meaning.NEITHER
        elif is_silence:  # the question goes on waiting
            return turn_input
        return self.as_answer(turn_input, reading)

    def as_choice(
        self,
        turn_input: TurnInput,
        chosen: Sequence[CallOption] | None,
    ) -> TurnInput:
        """Return the input of a turn whose words choose, or may mean several: then they are asked about once more."""
        approvals = async_get_approvals(self.hass)
        if chosen:
            return self._taken(
                turn_input,
                Meaning.YES,
                chosen,
            )
        if approvals.repeat(self.question.id):
            return self.as_answer(turn_input, Meaning.NEITHER)
        approvals.drop(self.question.id)
        reply = f"{self.sentences['spoken_which_unclear']} {self._left}".rstrip()
        return replace(turn_input, reply=reply)

    def as_answer(
        self,
        turn_input: TurnInput,
        reading: Meaning | Wrong | Locked,
    ) -> TurnInput:
        """Return the input of a turn from the meaning of its words as an answer."""
        approvals = async_get_approvals(self.hass)
        question = self.question
        sentences = self.sentences
        said_again = ""
        match reading:
            case Meaning.YES | Meaning.YES_WITH_PIN | Meaning.NO:
                return self._taken(turn_input, reading)
            case Meaning.OTHER:
                return replace(
                    turn_input,
                    prefix=self._dropped(),
                )
            case Meaning.TOO_LATE:
                approvals.drop(question.id)
                return replace(turn_input, reply=sentences["spoken_question_expired"])
            case Meaning.PIN_MISSING | Meaning.PIN_UNCLEAR | Meaning.PIN_NOT_NEEDED if (
                not approvals.repeat(question.id)
            ):
                left = self._dropped()
                return replace(
                    turn_input, reply=left or sentences["spoken_nothing_asked"]
                )
            case Meaning.PIN_MISSING | Meaning.PIN_UNCLEAR:
                key = "missing" if reading is Meaning.PIN_MISSING else "unclear"
                again = sentences[f"spoken_pin_{key}"]
            case Meaning.UNHEARD | Meaning.PIN_NOT_NEEDED:
                again = question.text
                said_again = question.id
            case Meaning.NEITHER:
                again = again_text(sentences, question)
                said_again = question.id
            case Wrong(tries_left) if tries_left:
                again = wrong_pin_text(sentences, tries_left)
            case Wrong() | Locked():
                approvals.drop(question.id)
                seconds = (
                    reading.seconds_left
                    if isinstance(reading, Locked)
                    else LOCK_SECONDS
                )
                return replace(turn_input, reply=locked_pin_text(sentences, seconds))
            case _:
                assert_never(reading)
        return replace(turn_input, reply=again, asks_again=True, said_again=said_again)

    def _taken(
        self,
        turn_input: TurnInput,
        reading: Meaning,
        chosen: Sequence[CallOption] = (),
    ) -> TurnInput:
        """Return the input of a turn with a question that it answers, if nobody else has answered first."""
        if reading is Meaning.YES_WITH_PIN:
            way = ApprovalWay.PIN
        else:
            way = ApprovalWay.VOICE
        user_id = turn_input.speaker.user_id
        answer = GivenAnswer(
            reading is not Meaning.NO,
            way=way,
            user_id=user_id,
        )
        left = ""
        if self.question.later and not chosen:
            left = self._left
        try:
            answered = async_get_approvals(self.hass).take(
                self.question.id,
                answer,
                chosen,
            )
        except QuestionGone:
            return replace(turn_input, reply=self.sentences["spoken_nothing_asked"])
        return replace(
            turn_input,
            answered=answered,
            prefix=left,
        )

    def _dropped(self) -> str:
        """Drop a question, and return what is therefore not done; empty if it did not wait any more."""
        was_asked = async_get_approvals(self.hass).drop(self.question.id)
        if was_asked:
            return self._left
        return ""


@dataclass(frozen=True, slots=True)
class InputReader:
    """Reads the input of one agent: a request, or the answer to a waiting question."""

    hass: HomeAssistant
    agent_id: str
    """Entity id."""
    source: TurnSource

    async def async_read(
        self, user_input: ConversationInput, chat_log: ChatLog
    ) -> TurnInput:
        """Return the input of a turn."""
        speaker = await async_get_speaker(self.hass, user_input)
        context = speaker_context(user_input.context, speaker)
        satellite_id = _satellite_of(self.hass, user_input)
        if context is not user_input.context or satellite_id != user_input.satellite_id:
            user_input = replace(
                user_input,
                context=context,
                satellite_id=satellite_id,
            )
        if async_was_asked(self.hass):
            return await self._async_heard(
                user_input,
                speaker,
                chat_log,
            )
        return await self._async_request(user_input, speaker)

    async def _async_request(
        self, user_input: ConversationInput, speaker: Speaker
    ) -> TurnInput:
        """Return the input of a turn whose words are a request. What was typed stays as it is."""
        text = _meant(
            self.hass,
            user_input,
            heard_request,
        )
        if not text.strip():
            sentences = await async_get_sentences(self.hass, user_input.language)
            return TurnInput(
                user_input,
                speaker,
                self.source,
                reply=sentences["spoken_nothing_heard"],
            )
        if text == user_input.text:
            return TurnInput(
                user_input,
                speaker,
                self.source,
            )
        return TurnInput(
            replace(user_input, text=text),
            speaker,
            self.source,
            recognized=user_input.text,
        )

    async def _async_heard(
        self, user_input: ConversationInput, speaker: Speaker, chat_log: ChatLog
    ) -> TurnInput:
        """Return the input of a turn whose words may be an answer."""
        sentences = await async_get_sentences(self.hass, user_input.language)
        scope = ApprovalScope.of_input(
            user_input, self.agent_id, chat_log.conversation_id
        )
        # A script may speak in the name of the person who was asked, in the same
        # conversation. It is not that person.
        is_person = speaker.asking is Asking.PERSON
        approvals = async_get_approvals(self.hass)
        if is_person:
            question = approvals.asked_at(scope, last_said(chat_log))
        else:
            question = None
        if question is None:
            has_pin = async_get_home_rules(self.hass).current.pin is not None
            redacted = async_redact_pin(
                self.hass, user_input, chat_log, scope, has_pin=has_pin
            )
            if redacted is user_input:
                return await self._async_request(user_input, speaker)
            return TurnInput(
                redacted, speaker, self.source, reply=sentences["spoken_nothing_asked"]
            )
        asked_question = _AskedQuestion(self.hass, question, sentences)
        if question in approvals.waiting and await async_is_never_mind(
            self.hass, user_input
        ):
            declined = TurnInput(
                user_input, speaker, self.source, reply=sentences["spoken_declined"]
            )
            return asked_question.as_answer(declined, Meaning.NO)
        return await self._async_asked(
            user_input,
            speaker,
            chat_log,
            scope,
            asked_question,
        )

    async def _async_asked(
        self,
        user_input: ConversationInput,
        speaker: Speaker,
        chat_log: ChatLog,
        scope: ApprovalScope,
        asked_question: _AskedQuestion,
    ) -> TurnInput:
        """Return the input of a turn in a place where a question was asked."""
        hass = self.hass
        language = understood_language(user_input.language)
        question = asked_question.question
        approvals = async_get_approvals(hass)
        pin = async_get_home_rules(hass).current.pin
        context = asked_of(hass, asked_question.sentences, question.calls, language)
        words = _meant(hass, user_input, heard_answer)
        redacted = async_redact_pin(
            hass, user_input, chat_log, scope, context, has_pin=pin is not None
        )
        turn_input = TurnInput(redacted, speaker, self.source)
        is_late = question not in approvals.waiting
        is_unheard = not is_late and not approvals.was_heard(question.id)
        tried = None if is_unheard else pin
        missed = (
            Meaning.TOO_LATE if is_late else Meaning.UNHEARD if is_unheard else None
        )
        reading = await async_read_answer(
            hass, question, user_input, words, context, tried, is_late
        )
        if question.options:
            chosen = chosen_of(hass, question, words, user_input.language)
            if chosen is not None or reading is Meaning.YES:
                if missed:
                    return asked_question.as_answer(turn_input, missed)
                return asked_question.as_choice(turn_input, chosen)
        if reading is not Meaning.OTHER:
            reading = Meaning.UNHEARD if is_unheard else reading
            return asked_question.as_answer(turn_input, reading)
        if redacted is not user_input and (is_unheard or question.options):
            # What may be a PIN goes no further.
            return asked_question.as_answer(turn_input, Meaning.UNHEARD)
        turn_input = await self._async_request(user_input, speaker)
        if is_unheard:
            return turn_input
        return await asked_question.async_beside(turn_input, context)
