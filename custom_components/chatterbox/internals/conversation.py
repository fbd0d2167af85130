"""The inside of `homeassistant.components.conversation`: its built-in agent, chat logs and traces.

The built-in agent is of `default_agent`; logs are of `chat_log`, traces of `trace`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from homeassistant.components import conversation
from homeassistant.components.conversation import ChatLog, ConversationInput
from homeassistant.components.conversation.const import ChatLogEventType
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent, llm
from homeassistant.helpers.chat_session import ChatSession

from ..agent.messages import JsonValue
from ..agent.text import MOST_UNDERSTOOD
from .reliance import Reliance

if TYPE_CHECKING:
    from hassil.recognize import RecognizeResult
    from homeassistant.components.conversation.default_agent import (
        DefaultAgent,
        LanguageIntents,
    )

_INSIDE: Final = "homeassistant.components.conversation"


def _agent(hass: HomeAssistant) -> object:
    return conversation.async_get_agent(hass, conversation.HOME_ASSISTANT_AGENT)


_RECOGNIZING: Final = (
    "async_get_or_load_intents",
    "async_recognize_intent",
    "async_recognize_sentence_trigger",
)
_BUILT_IN: Final[Reliance[DefaultAgent]] = Reliance(
    "sentences", f"{_INSIDE}.default_agent", _RECOGNIZING, _agent
)
_MISMATCH: Final = Reliance(
    "sentences",
    f"{_INSIDE}.default_agent",
    ("_get_match_error_response", "_get_unmatched_response"),
)
_CHAT_LOGS: Final = Reliance(
    "conversations", f"{_INSIDE}.chat_log", ("DATA_CHAT_LOGS",)
)
_KEEPING: Final = ("DATA_CHAT_SESSION", "DATA_CHAT_SESSION_CLEANUP")
_SESSIONS: Final = Reliance(
    "conversations", "homeassistant.helpers.chat_session", _KEEPING
)
_LISTENERS: Final = Reliance(
    "debug_view", f"{_INSIDE}.chat_log", ("DATA_SUBSCRIPTIONS",)
)
_API_KEY: Final = Reliance(
    "debug_view",
    f"{_INSIDE}.chat_log",
    ("_llm_api_key",),
    lambda _: ChatLog,
    since=(2026, 11),
)
_RECENT: Final = Reliance(
    "pins", f"{_INSIDE}.trace", ("async_clear_traces", "async_get_traces")
)


def built_in_agent(
    hass: HomeAssistant,
    sentence: str = "",
) -> DefaultAgent | None:
    """Return the agent that understands sentences without a model; None for one that is too long for that.

    Source: `default_agent.DefaultAgent`.
    """
    if len(sentence) <= MOST_UNDERSTOOD:
        return _BUILT_IN.find(hass)
    return None


async def async_recognized(
    hass: HomeAssistant, user_input: ConversationInput
) -> RecognizeResult | None:
    """Return what the built-in agent recognizes with certainty, if it finds all that is named."""
    agent = built_in_agent(hass, user_input.text)
    if (
        agent
        and (found := await agent.async_recognize_intent(user_input))
        and not found.unmatched_entities
    ):
        return found
    return None


def slots_of(found: RecognizeResult) -> dict[str, JsonValue]:
    """Return the values of what is recognized, by the names of their slots."""
    return {entity.name: entity.value for entity in found.entities_list}


async def async_texts(
    hass: HomeAssistant,
    language: str,
) -> LanguageIntents | None:
    """Return the sentences of the built-in agent in a language, if it has it."""
    agent = built_in_agent(hass)
    if agent:
        return await agent.async_get_or_load_intents(language)
    return None


def mismatch_words(
    hass: HomeAssistant, missed: intent.MatchFailedError | RecognizeResult
) -> tuple[str, Mapping[str, object]]:
    """Return the key and the values of the sentence about what was not found: by an intent, or by the built-in agent.

    Source: `default_agent`.
    """
    found = _MISMATCH.find(hass)
    if found is None:
        return "", {}
    is_match = isinstance(missed, intent.MatchFailedError)
    words: tuple[str, Mapping[str, object]] = (
        found._get_match_error_response(missed)  # noqa: SLF001  # its sentences
        if is_match
        else found._get_unmatched_response(missed)  # noqa: SLF001  # the same
    )
    return words


def stored_chat_logs(hass: HomeAssistant) -> dict[str, ChatLog]:
    """Return the chat logs by conversation id, to read and change. Source: `chat_log.DATA_CHAT_LOGS`."""
    found = _CHAT_LOGS.find(hass)
    if found is None:
        return {}
    logs: dict[str, ChatLog] = hass.data.get(found.DATA_CHAT_LOGS, {})
    return logs


def keep_session(hass: HomeAssistant, session: ChatSession) -> None:
    """Keep a session whose block ends with an exception. Source: `homeassistant.helpers.chat_session`."""
    found = _SESSIONS.find(hass)
    if found:
        hass.data[found.DATA_CHAT_SESSION][session.conversation_id] = session
        hass.data[found.DATA_CHAT_SESSION_CLEANUP].schedule()


def set_tools(
    chat_log: ChatLog,
    instance: llm.APIInstance | None,
) -> None:
    """Store the tools of a turn so that no other agent takes them for its own. Source: `chat_log.ChatLog`.

    Since 2026.11, an agent keeps the tools of its last turn if the key is still its
    own.
    """
    if _API_KEY.find(chat_log.hass):
        chat_log.llm_api = instance
    else:
        chat_log.llm_api = None
    vars(chat_log)["_llm_api_key"] = None


def async_show(chat_log: ChatLog) -> None:
    """Show the state of a chat log to those who follow it. Source: `chat_log.DATA_SUBSCRIPTIONS`."""
    found = _LISTENERS.find(chat_log.hass)
    if found and (listeners := chat_log.hass.data.get(found.DATA_SUBSCRIPTIONS)):
        update = {"chat_log": chat_log.as_dict()}
        for listener in listeners:
            listener(
                chat_log.conversation_id,
                ChatLogEventType.UPDATED,
                update,
            )


def clear_traces(hass: HomeAssistant, text: str) -> None:
    """Clear the traces if one contains a text: the three that are kept cannot be edited. Source: `trace`."""
    found = _RECENT.find(hass)
    if found:
        events = (
            event
            for trace in found.async_get_traces()
            for event in trace.as_dict()["events"]
        )
        if any((event["data"] or {}).get("text") == text for event in events):
            found.async_clear_traces()
