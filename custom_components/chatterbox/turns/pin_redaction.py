"""Redacts a spoken PIN in the input of a turn, the chat log, conversation traces and debug runs of voice pipelines.

`docs/pin.md` lists what cannot be redacted, because it is published or written before an agent is called.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from homeassistant.components.conversation import ChatLog, ConversationInput, UserContent
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util

from ..approvals.answers.yes_or_no import NOTHING_NAMED, QuestionContext, understood_language
from ..approvals.pin.pin_detection import may_be_pin
from ..approvals.pin.spoken_digits import spoken_digits
from ..approvals.questions import SIGNAL_QUESTION, ApprovalScope, QuestionUpdate, async_get_approvals
from ..const import REDACTED_PIN
from ..data import singleton
from ..internals.assist_pipeline import debug_runs
from ..internals.conversation import clear_traces, stored_chat_logs

LATELY: Final = timedelta(minutes=10)
"""Time after the last change of a question for a PIN in which the PIN may still be spoken."""


def async_was_asked(hass: HomeAssistant) -> bool:
    """Return whether an input may be an answer to a question, or a PIN. Call it at the beginning of every turn."""
    until, now = _pin_questions(hass), dt_util.utcnow()
    if until:
        _redact_refused_runs(hass, until)
        for place in [place for place, end in until.items() if end <= now]:
            del until[place]
    return bool(until) or not async_get_approvals(hass).is_empty


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

    Call it at the beginning of a turn, before anything else reads the input. `asked` holds the names in the question at
    this scope. `has_pin` is True if the agent has a PIN, which may be spoken although the question does not require it.
    Without a waiting question, an input is redacted if the PIN was recently requested in the same conversation or at
    the same device, or if it consists of digits while the PIN is requested anywhere in the home.
    """
    until, approvals, now = _pin_questions(hass), async_get_approvals(hass), dt_util.utcnow()
    question = approvals.asked_at(scope)
    text, language = user_input.text, user_input.language
    is_asked_for = question is not None and question.needs_pin
    was_asked_for = any(now < until.get(place, now) for place in _places(scope))
    if was_asked_for if question is None else is_asked_for or has_pin:
        is_pin = may_be_pin(text, language, context, is_asked_for=is_asked_for)
    else:
        is_asked_elsewhere = any(waiting.needs_pin for waiting in approvals.waiting)
        is_pin = is_asked_elsewhere and spoken_digits(text, understood_language(language), context) is not None
    if not is_pin:
        return user_input
    _redact_chat_logs(hass, chat_log, user_input.text)
    _redact_pipeline_runs(hass, user_input.text)
    clear_traces(hass, user_input.text)
    return replace(user_input, text=REDACTED_PIN)


def _redact_chat_logs(hass: HomeAssistant, chat_log: ChatLog, words: str) -> None:
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


def _redact_refused_runs(hass: HomeAssistant, places: Collection[str]) -> None:
    """Redact input that was spoken where the PIN was requested, and that reached no agent.

    Home Assistant rejects input of another user in a conversation, and input that arrives while it answers.
    """
    for run in debug_runs(hass):
        match run:
            case {"intent-end": _}:
                pass  # an agent has received it
            case {"intent-start": {"intent_input": str(words), "language": str(language), **where}} if (
                where.get("conversation_id") in places or where.get("device_id") in places
            ) and may_be_pin(words, language, is_asked_for=True):
                _redact_pipeline_runs(hass, words)
            case _:
                pass


def _places(scope: ApprovalScope) -> tuple[str, ...]:
    return (scope.conversation_id, scope.device_id) if scope.device_id else (scope.conversation_id,)


@callback
@singleton
def _pin_questions(hass: HomeAssistant) -> dict[str, datetime]:
    """Return until when a PIN may be spoken, by the ids of conversations and devices in which it was requested.

    Every turn begins with this call, so questions are tracked from the first one.
    """
    until: dict[str, datetime] = {}

    @callback
    def note(update: QuestionUpdate) -> None:
        if update.question.needs_pin:
            until.update(dict.fromkeys(_places(update.question.scope), dt_util.utcnow() + LATELY))
            _redact_refused_runs(hass, until)

    async_dispatcher_connect(hass, SIGNAL_QUESTION, note)
    return until
