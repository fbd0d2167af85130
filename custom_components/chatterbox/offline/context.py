"""Remembers of a conversation the last targets, and a request that is not clear yet, for the next sentence."""

from dataclasses import dataclass, replace
from typing import Final

from homeassistant.components.conversation import UserContent
from homeassistant.core import HomeAssistant
from homeassistant.helpers import chat_session, intent

from ..const import home_singleton
from ..effects.reading import RequestBefore
from ..internals.conversation import stored_chat_logs
from ..nlu.targets import PASSIVE


@dataclass(frozen=True, slots=True)
class _Thread:
    """The memory of one of our conversations."""

    unclear: str = ""
    """The sentence about which was asked what it means."""
    asked_at: int = 0
    """The number of messages of the person then."""
    targets: frozenset[str] = frozenset()
    """The entities that the last command has changed, or the last question was about: "it", "them"."""
    before: RequestBefore = None
    """The last request, as far as it is read."""
    is_helped: bool = False
    """Whether it was told what is understood without a model."""


def unclear_sentence(
    hass: HomeAssistant,
    conversation_id: str,
) -> str:
    """Return the sentence that the next one may make clear; empty if there is none, or another request came between."""
    thread = _thread(hass, conversation_id)
    if _messages(hass, conversation_id) <= thread.asked_at + 1:
        return thread.unclear
    return ""


def async_note_unclear(
    hass: HomeAssistant, conversation_id: str, sentence: str
) -> None:
    """Note the sentence that was asked about, or with an empty one that there is none any more."""
    thread = _thread(hass, conversation_id)
    if sentence or thread.unclear:
        asked_at = _messages(hass, conversation_id)
        _remember(
            hass, conversation_id, replace(thread, unclear=sentence, asked_at=asked_at)
        )


def last_request(
    hass: HomeAssistant, conversation_id: str
) -> tuple[frozenset[str], RequestBefore]:
    """Return the entities that the last command of a conversation has changed, and the last request."""
    thread = _thread(hass, conversation_id)
    return thread.targets, thread.before


def async_note_request(
    hass: HomeAssistant,
    conversation_id: str,
    response: intent.IntentResponse,
    request: RequestBefore,
) -> None:
    """Note a request that was done or answered, and the entities that it has changed, or was about."""
    if response.error_code:
        return
    known = (
        state
        for one in response.success_results
        if one.id and (state := hass.states.get(one.id))
    )
    targets = frozenset(
        state.entity_id for state in known if state.domain not in PASSIVE
    )
    thread = _thread(hass, conversation_id)
    _remember(
        hass,
        conversation_id,
        replace(
            thread,
            targets=targets or thread.targets,
            before=request,
        ),
    )


def async_is_first_help(
    hass: HomeAssistant,
    conversation_id: str,
) -> bool:
    """Return whether a conversation gets the hint at what is understood for the first time, and note that it does."""
    thread = _thread(hass, conversation_id)
    _remember(
        hass,
        conversation_id,
        replace(thread, is_helped=True),
    )
    return not thread.is_helped


def _messages(
    hass: HomeAssistant,
    conversation_id: str,
) -> int:
    log = stored_chat_logs(hass).get(conversation_id)
    if log:
        return sum(isinstance(one, UserContent) for one in log.content)
    return 0


_threads: Final = home_singleton("offline_threads", lambda _: dict[str, _Thread]())
"""Returns the state of conversations by their ids."""


def _thread(
    hass: HomeAssistant,
    conversation_id: str,
) -> _Thread:
    return _threads(hass).get(
        conversation_id,
        _Thread(),
    )


def _remember(
    hass: HomeAssistant,
    conversation_id: str,
    thread: _Thread,
) -> None:
    """Store the thread for as long as Home Assistant keeps the conversation."""
    threads = _threads(hass)
    if conversation_id not in threads:
        session = chat_session.current_session.get()
        if session is None:
            return

        def forget() -> None:
            threads.pop(conversation_id, None)

        session.async_on_cleanup(forget)
    threads[conversation_id] = thread
