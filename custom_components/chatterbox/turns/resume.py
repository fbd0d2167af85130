"""Resumes a turn whose question was answered elsewhere, without words."""

import asyncio
from collections.abc import Mapping
from contextvars import Context as Variables
from inspect import signature
from typing import Any, Final

from homeassistant.components import conversation
from homeassistant.components.conversation import AssistantContent, ConversationInput
from homeassistant.core import HomeAssistant
from homeassistant.helpers import chat_session

from ..approvals.questions import Question
from ..internals.conversation import stored_chat_logs
from ..records.turn_record import TurnRecord
from .input import TurnInput
from .run import AgentTurns
from .source import TurnSource

_PUT_AWAY_WITHIN: Final = 5.0
"""Seconds until Home Assistant has stored the conversation of a finished turn."""
_LOOK_AGAIN_AFTER: Final = 0.05
_IS_OWNED: Final = (
    "context" in signature(chat_session.async_get_chat_session).parameters
)
_OF_NOBODY: Final[Mapping[str, Any]] = {"context": None} if _IS_OWNED else {}
"""Since Home Assistant 2026.11, a conversation belongs to its first user, and is entered in that user's context."""


async def async_resume(
    hass: HomeAssistant, turns: AgentTurns, source: TurnSource, question: Question
) -> str:
    """Resume the turn of an answered question, in its own conversation, and return the final text."""
    # The answer may arrive during another conversation, whose context variables must
    # not leak into this one.
    task = asyncio.get_running_loop().create_task(
        _async_take(
            hass,
            turns,
            source,
            question,
        ),
        name="chatterbox resumed turn",
        context=Variables(),
    )
    return await task


async def _async_take(
    hass: HomeAssistant, turns: AgentTurns, source: TurnSource, question: Question
) -> str:
    scope = question.scope
    where = scope.conversation_id, scope.device_id, scope.satellite_id
    without_words = ConversationInput(
        "", question.context, *where, question.language, scope.agent_id
    )
    turn_input = TurnInput(
        without_words,
        question.speaker,
        source,
        question,
    )
    try:
        await _async_until_put_away(hass, question)
    except TimeoutError:
        await turns.async_give_up(turn_input, scope.conversation_id)
        raise
    record = await async_run_alone(
        hass,
        turns,
        turn_input,
    )
    if record.finished:
        return record.finished.text
    return ""


async def async_run_alone(
    hass: HomeAssistant, turns: AgentTurns, turn_input: TurnInput
) -> TurnRecord:
    """Run a turn that nobody has begun by speaking, in the conversation of its input."""
    with (
        chat_session.async_get_chat_session(
            hass, turn_input.user_input.conversation_id, **_OF_NOBODY
        ) as session,
        conversation.async_get_chat_log(hass, session) as chat_log,
    ):
        return await turns.async_run(turn_input, chat_log)


async def _async_until_put_away(
    hass: HomeAssistant,
    question: Question,
) -> None:
    """Wait until the turn that asked has left its ChatLog: an automation may answer at once. Raises TimeoutError."""
    async with asyncio.timeout(_PUT_AWAY_WITHIN):
        while not _is_put_away(hass, question):  # noqa: ASYNC110  # nobody is told when it has
            await asyncio.sleep(_LOOK_AGAIN_AFTER)


def _is_put_away(hass: HomeAssistant, question: Question) -> bool:
    chat_log = stored_chat_logs(hass).get(question.scope.conversation_id)
    asking = question.pending.calls[0].call.id
    if chat_log is None or getattr(
        chat_log, "turn_active", False
    ):  # since 2026.11, turns can overlap in it
        return False
    contents = [
        content for content in chat_log.content if isinstance(content, AssistantContent)
    ]
    return any(
        call.id == asking for content in contents for call in content.tool_calls or ()
    )
