"""Takes a turn up again whose question was answered elsewhere, while nobody speaks.

Knows Home Assistant's conversations and when one is put away. Must not know who answered, or how it is told.
"""

import asyncio
from contextvars import Context as Variables
from typing import Final

from homeassistant.components import conversation
from homeassistant.components.conversation import AssistantContent, ConversationInput
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import chat_session

from ..approvals.questions import GivenAnswer, Question
from .input import Beginning
from .run import AgentTurns

_PUT_AWAY_WITHIN: Final = 5.0
"""Seconds until Home Assistant has put a conversation away whose turn is over."""
_LOOK_AGAIN_AFTER: Final = 0.05


async def async_take_up(hass: HomeAssistant, turns: AgentTurns, question: Question, answer: GivenAnswer) -> str:
    """Take a turn up with an answer, in its own conversation, and return what is said in the end."""
    # Whoever answers may do so in the middle of another conversation, which this one has nothing to do with.
    taking = asyncio.get_running_loop().create_task(
        _async_take(hass, turns, question, answer), name="chatterbox turn taken up", context=Variables()
    )
    return await taking


async def _async_take(hass: HomeAssistant, turns: AgentTurns, question: Question, answer: GivenAnswer) -> str:
    scope = question.scope
    said_nothing = ConversationInput(
        "",
        question.context,
        scope.conversation_id,
        scope.device_id,
        scope.satellite_id,
        question.language,
        scope.agent_id,
    )
    begin = Beginning(said_nothing, question.speaker, (question, answer))
    try:
        await _async_until_put_away(hass, question)
    except TimeoutError:
        await turns.async_give_up(begin, scope.conversation_id)
        raise
    with (
        chat_session.async_get_chat_session(hass, scope.conversation_id) as session,
        conversation.async_get_chat_log(hass, session) as chat_log,
    ):
        report = await turns.async_take(begin, chat_log)
    return report.finished.text if report.finished else ""


async def _async_until_put_away(hass: HomeAssistant, question: Question) -> None:
    """Wait until the turn that asked is over for Home Assistant, too: an automation may answer at once.

    Raises TimeoutError; without its conversation, a turn would not know what else was said in it.
    """
    async with asyncio.timeout(_PUT_AWAY_WITHIN):
        while not _is_put_away(hass, question):  # noqa: ASYNC110  # nobody is told when it has
            await asyncio.sleep(_LOOK_AGAIN_AFTER)


@callback
def _is_put_away(hass: HomeAssistant, question: Question) -> bool:
    chat_log = hass.data.get(DATA_CHAT_LOGS, {}).get(question.scope.conversation_id)
    asked = question.pending.calls[0].call.id
    contents = chat_log.content if chat_log else []
    calls = [content.tool_calls or [] for content in contents if isinstance(content, AssistantContent)]
    return any(call.id == asked for one in calls for call in one)
