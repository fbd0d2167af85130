"""Takes a spoken PIN out of what Home Assistant holds of a turn, before anybody else reads it.

Knows Home Assistant's chat log, conversation traces and debug runs of voice pipelines, and where the PIN was asked for
lately. Must not know which PIN is right, or what becomes of an answer. `docs/consent.md` tells what cannot be taken
back, because it was told or written before an agent hears of it.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from homeassistant.components.conversation import ChatLog, ConversationInput, UserContent
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.components.conversation.trace import async_clear_traces, async_get_traces
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..agent.consent.answers import NOTHING_NAMED, QuestionContext, understood_language
from ..agent.consent.pin_detection import may_be_pin
from ..agent.consent.spoken_digits import spoken_digits
from ..approvals.questions import SIGNAL_QUESTION, ApprovalScope, QuestionUpdate, async_get_approvals
from ..const import LOGGER
from ..data import singleton

if TYPE_CHECKING:
    from homeassistant.components.assist_pipeline.pipeline import PipelineData

from ..const import HIDDEN_WORDS

"""What stands in place of a PIN, also where a model reads it."""

LATELY: Final = timedelta(minutes=10)
"""For so long after something became of a question that needs a PIN, somebody may still say it, or say it again."""


@callback
def async_was_asked(hass: HomeAssistant) -> bool:
    """Tell whether words may be an answer to a question, or a PIN. To be called at the beginning of every turn."""
    return not (_asked_places(hass).is_empty and async_get_approvals(hass).is_empty)


@callback
def async_hide_pin(  # noqa: PLR0913  # each of these alone changes what may be a PIN
    hass: HomeAssistant,
    user_input: ConversationInput,
    chat_log: ChatLog,
    scope: ApprovalScope,
    asked: QuestionContext = NOTHING_NAMED,
    *,
    has_pin: bool,
) -> ConversationInput:
    """Return the input of a turn with other words, if a PIN may be among them; else as it is.

    To be called at the beginning of a turn, before anything else is told of its words. `asked` is what the question
    named that was asked at this scope; `has_pin` tells whether the agent has one, which may be said to a question that
    needs none. Where no question waits, words are only hidden where the PIN was asked for lately, in the same
    conversation or at the same device, and while it is asked for anywhere in the house, if they are nothing else.
    """
    places, approvals = _asked_places(hass), async_get_approvals(hass)
    question = approvals.asked_at(scope)
    text, language = user_input.text, user_input.language
    is_asked_for = question is not None and question.needs_pin
    if places.know(scope) if question is None else is_asked_for or has_pin:
        is_pin = may_be_pin(text, language, asked, is_asked_for=is_asked_for)
    else:
        is_asked_elsewhere = any(waiting.needs_pin for waiting in approvals.waiting)
        is_pin = is_asked_elsewhere and spoken_digits(text, understood_language(language), asked) is not None
    if not is_pin:
        return user_input
    _hide_in_chat_logs(hass, chat_log, user_input.text)
    _hide_in_pipeline_runs(hass, user_input.text)
    _hide_in_traces(user_input.text)
    return replace(user_input, text=HIDDEN_WORDS)


def _hide_in_chat_logs(hass: HomeAssistant, chat_log: ChatLog, said: str) -> None:
    """Replace the words in the chat log that the turn writes to, and in what is kept of the conversation so far."""
    kept = hass.data.get(DATA_CHAT_LOGS, {}).get(chat_log.conversation_id)
    for log in (chat_log, kept) if kept is not None else (chat_log,):
        log.content[:] = [
            replace(content, content=HIDDEN_WORDS)
            if isinstance(content, UserContent) and content.content == said
            else content
            for content in log.content
        ]


def _hide_in_traces(said: str) -> None:
    """Clear the traces if one holds the words: Home Assistant has no way to change one, and keeps three."""
    events = (event for trace in async_get_traces() for event in trace.as_dict()["events"])
    if any((event["data"] or {}).get("text") == said for event in events):
        async_clear_traces()


_PIPELINES: HassKey[PipelineData] = HassKey("assist_pipeline")


def _hide_in_pipeline_runs(hass: HomeAssistant, said: str) -> None:
    """Replace the words in what is kept of the last runs of voice pipelines: people show it when they ask for help.

    Source: `PipelineRun.process_event` (homeassistant.components.assist_pipeline.run).
    """
    try:
        for data in _pipeline_events(hass):
            if data.get("intent_input") == said:
                data["intent_input"] = HIDDEN_WORDS
            match data.get("stt_output"):
                case {"text": text, **rest} if text == said:
                    data["stt_output"] = rest | {"text": HIDDEN_WORDS}
    except AttributeError, TypeError:  # it is Home Assistant's own, and may change
        LOGGER.warning("A PIN may stand in what Home Assistant keeps of the last runs of voice pipelines")


def _pipeline_events(hass: HomeAssistant) -> Iterator[dict[str, object]]:
    """Yield what is kept of each event of each run."""
    if (pipelines := hass.data.get(_PIPELINES)) is not None:
        for runs in pipelines.pipeline_debug.values():
            for run in runs.values():
                yield from (event.data for event in run.events if event.data)


class _AskedPlaces:
    """Where the PIN was asked for lately."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Listen to what becomes of questions, for as long as Home Assistant runs."""
        self._until: dict[str, datetime] = {}
        """By the id of a conversation or of a device."""
        async_dispatcher_connect(hass, SIGNAL_QUESTION, self._note)

    @property
    def is_empty(self) -> bool:
        """Tell whether it was asked for nowhere."""
        return not self._until

    def know(self, scope: ApprovalScope) -> bool:
        """Tell whether it was asked for here."""
        now = dt_util.utcnow()
        return any(place in self._until and now < self._until[place] for place in _places(scope))

    @callback
    def _note(self, news: QuestionUpdate) -> None:
        if not news.question.needs_pin:
            return
        now = dt_util.utcnow()
        self._until = {place: until for place, until in self._until.items() if now < until}
        self._until |= dict.fromkeys(_places(news.question.scope), now + LATELY)


def _places(scope: ApprovalScope) -> tuple[str, ...]:
    return (scope.conversation_id, scope.device_id) if scope.device_id else (scope.conversation_id,)


@callback
@singleton
def _asked_places(hass: HomeAssistant) -> _AskedPlaces:
    """Return those of a house. It is asked for at the beginning of every turn, so before any question."""
    return _AskedPlaces(hass)
