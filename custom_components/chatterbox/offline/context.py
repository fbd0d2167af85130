"""Chooses a conversation of the built-in agent in which "it" and "them" refer to the last controlled target.

The built-in agent remembers one target per conversation, also that of a question: after "how is the weather?", "turn
them off" refers to the weather (homeassistant.components.conversation.gazetteer). So each of our conversations has two
of the built-in agent's, and a question is asked in the one that acted less recently.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from homeassistant.components.conversation import ConversationInput
from homeassistant.components.weather.const import INTENT_GET_WEATHER
from homeassistant.core import HomeAssistant
from homeassistant.helpers import chat_session, intent
from homeassistant.helpers.singleton import singleton
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..internals.conversation import async_recognized, gazetteer, previous_targets

type Converse = Callable[[ConversationInput], Awaitable[intent.IntentResponse]]

# Longer than a ULID, because Home Assistant replaces ids that look like an expired one of its own.
_CONVERSATION_ID_PREFIX: Final = "chatterbox-offline-sentences"

_QUESTIONS: Final = frozenset(
    {
        intent.INTENT_GET_CURRENT_DATE,
        intent.INTENT_GET_CURRENT_TIME,
        intent.INTENT_GET_STATE,
        intent.INTENT_GET_TEMPERATURE,
        intent.INTENT_TIMER_STATUS,
        INTENT_GET_WEATHER,
    }
)

_OPENED: Final = frozenset({"cover", "valve"})
"""The entities that the built-in agent says it has opened or closed."""
_TURNS: Final = frozenset({"turn_on", "turn_off"})


@dataclass(frozen=True, slots=True)
class _Thread:
    """Which of its two conversations one of ours used last, and which controlled something last."""

    latest: int = 0
    acted: int | None = None
    unclear: str = ""
    """The sentence about which was asked what it means."""
    targets: frozenset[str] = frozenset()
    """The entities that the last command has changed: "it", "them"."""


async def async_places(
    hass: HomeAssistant, user_input: ConversationInput, conversation_id: str
) -> tuple[ConversationInput, ...]:
    """Return a sentence for each of the conversations in which it will be tried, in order, until it is understood."""
    thread = _threads(hass).get(conversation_id, _Thread())
    places = await _places(hass, user_input, thread)
    tried = tuple(_placed(user_input, conversation_id, place) for place in places)
    for placed in tried:
        await _async_narrow(hass, placed)
    return tried


def unclear_sentence(hass: HomeAssistant, conversation_id: str) -> str:
    """Return the sentence of a conversation that the next one may make clear; empty if there is none."""
    return _threads(hass).get(conversation_id, _Thread()).unclear


def async_note_unclear(hass: HomeAssistant, conversation_id: str, sentence: str) -> None:
    """Note the sentence that was asked about, or with an empty one that there is none any more."""
    thread = _threads(hass).get(conversation_id, _Thread())
    if thread.unclear != sentence:
        _remember(hass, conversation_id, replace(thread, unclear=sentence))


def last_targets(hass: HomeAssistant, conversation_id: str) -> frozenset[str]:
    """Return the entities that the last command of a conversation has changed."""
    return _threads(hass).get(conversation_id, _Thread()).targets


def async_note_targets(hass: HomeAssistant, conversation_id: str, response: intent.IntentResponse) -> None:
    """Note the entities that a command has changed, or that a question was about."""
    targets = frozenset(one.id for one in response.success_results if one.id and hass.states.get(one.id))
    if targets:
        thread = _threads(hass).get(conversation_id, _Thread())
        _remember(hass, conversation_id, replace(thread, targets=targets))


async def async_process_in_context(
    hass: HomeAssistant, user_input: ConversationInput, conversation_id: str, converse: Converse
) -> intent.IntentResponse:
    """Process a sentence in the conversation that fits its pronouns, and in the other one if it is not understood."""
    thread = _threads(hass).get(conversation_id, _Thread())
    place, *others = await _places(hass, user_input, thread)
    await _async_narrow(hass, _placed(user_input, conversation_id, place))
    response = await converse(_placed(user_input, conversation_id, place))
    if _not_understood(response) and others:
        second = await converse(_placed(user_input, conversation_id, others[0]))
        if not _not_understood(second):
            response, place = second, others[0]
    if response.response_type is not intent.IntentResponseType.ERROR:
        # A question for the time is ACTION_DONE as well, without a target.
        acted = response.response_type is intent.IntentResponseType.ACTION_DONE and response.success_results
        acted_in = place if acted else thread.acted
        _remember(hass, conversation_id, replace(thread, latest=place, acted=acted_in))
    return response


async def _places(hass: HomeAssistant, user_input: ConversationInput, thread: _Thread) -> tuple[int, ...]:
    place = thread.latest
    if place == thread.acted and await _is_question(hass, user_input):
        place = 1 - place
    return (place,) if thread.acted in (None, place) else (place, 1 - place)


async def _is_question(hass: HomeAssistant, user_input: ConversationInput) -> bool:
    """Return whether the built-in agent recognizes a sentence as a question."""
    recognized = await async_recognized(hass, user_input)
    return recognized is not None and recognized.intent.name in _QUESTIONS


async def _async_narrow(hass: HomeAssistant, placed: ConversationInput) -> None:
    """Drop what "them" cannot mean from what a compound command has acted on.

    After "turn off the lights and close the blinds", the built-in agent opens the blinds for "turn them on", and does
    not understand "open them".
    """
    guessing, targets = gazetteer(hass), previous_targets(hass, placed.conversation_id or "")
    if guessing is None or not guessing.supports(placed.language) or len(targets) < 2:  # noqa: PLR2004 nothing to choose
        return
    matcher, _ = await guessing.async_interpret(placed.text, placed.conversation_id or "", None)
    interpret = matcher.interpret
    fitting: list[tuple[object, bool]] = []
    for target in targets:
        with suppress(ValueError):  # it is not in the home any more
            meaning = await hass.async_add_executor_job(partial(interpret, placed.text, previous_targets=(target,)))
            if meaning.accepted and all(frame.anaphor_target is not None for frame in meaning.frames):
                is_opened = any(frame.response_key in _OPENED for frame in meaning.frames)
                is_turned = any(frame.action in _TURNS for frame in meaning.frames)
                fitting.append((target, not (is_opened and is_turned)))
    best = max((is_meant for _, is_meant in fitting), default=False)
    remaining = [target for target, is_meant in fitting if is_meant is best]
    if remaining and len(remaining) < len(targets):
        guessing.async_remember(placed.conversation_id or "", remaining)


def _placed(user_input: ConversationInput, conversation_id: str, place: int) -> ConversationInput:
    return replace(user_input, conversation_id=f"{_CONVERSATION_ID_PREFIX}-{place}-{conversation_id}")


def _not_understood(response: intent.IntentResponse) -> bool:
    return response.error_code is intent.IntentResponseErrorCode.NO_INTENT_MATCH


_threads: Final = singleton(HassKey[dict[str, _Thread]](f"{DOMAIN}_offline_threads"))(lambda _: {})
"""Returns the state of conversations by their ids."""


def _remember(hass: HomeAssistant, conversation_id: str, thread: _Thread) -> None:
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
