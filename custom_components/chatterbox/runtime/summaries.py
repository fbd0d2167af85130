"""Summaries of the beginning of conversations that exceed the context window, written between turns.

A summary is never worth an error or a wait: without one, the model reads a list of
requests and calls.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.chat_session import CONVERSATION_TIMEOUT
from homeassistant.util import dt as dt_util

from ..agent.conversation.prompt_fitter import PromptFitter
from ..agent.errors import ProviderError
from ..agent.loop.turn import Turn
from ..agent.messages import (
    AssistantMessage,
    Message,
    Summary,
    ToolDefinition,
    Transcript,
    UserMessage,
)
from ..agent.protocols import CompletionRequest
from ..agent.providers.managed_provider import BreakerState
from ..const import LOGGER
from ..settings.agent import SUMMARY_LIST, SUMMARY_OWN_MODEL, settings_of
from ..tools.turn_tools import for_models
from .models import AgentModel, CountedModel

_LONGEST: Final = 60.0
"""Seconds that a model has to write one."""
_AHEAD: Final = 7 / 8
"""Share of the window that may be used before its beginning is summarized."""
_MOST: Final = 32
"""Conversations of one agent whose summaries are kept."""


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A conversation, as its last turn was sent."""

    instructions: str
    tools: tuple[ToolDefinition, ...]
    used_at: float
    """Seconds since the epoch."""
    summary: Summary | None = None
    marks: tuple[str, ...] = ()
    """Identify the messages that the summary replaces."""


class ConversationSummaries:
    """The summaries of one agent's conversations, while its entry is loaded."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        agent: ConfigSubentry,
        find_models: Callable[[], Mapping[str, AgentModel]],
        *,
        gives_way: bool,
    ) -> None:
        """Begin with no summary. `find_models` returns all loaded models, by the subentry ids of their agents.

        With `gives_way`, the writing of a summary is cancelled when its conversation
        goes on.
        """
        self._hass = hass
        self._entry = entry
        self._agent = agent
        self._settings = settings_of(agent.data)
        self.are_written: Final = self._settings.summary != SUMMARY_LIST
        """Whether a model writes summaries; otherwise no turn needs to be shown to this."""
        self._find_models = find_models
        self._gives_way = gives_way
        self._conversations: OrderedDict[str, _Conversation] = OrderedDict()
        self._writing: dict[str, asyncio.Task[None]] = {}

    def of(self, conversation_id: str) -> Summary | None:
        """Return the summary of the beginning of a conversation; None without one."""
        known = self._conversations.get(conversation_id)
        if known is None:
            return None
        return known.summary

    def async_begin_turn(
        self,
        conversation_id: str,
        turn: Turn,
    ) -> Turn:
        """Return a turn with the summary of its history, if there is one."""
        if self._gives_way and (task := self._writing.get(conversation_id)) is not None:
            task.cancel()
        known = self._conversations.get(conversation_id)
        summary, marks = (None, ()) if known is None else (known.summary, known.marks)
        if summary is not None and marks != _marks(turn.history, summary.messages):
            summary, marks = None, ()  # another history, or only the end of it
        tools = for_models(turn.tools)
        now = dt_util.utcnow().timestamp()
        self._conversations[conversation_id] = _Conversation(
            turn.instructions, tools, now, summary, marks
        )
        self._conversations.move_to_end(conversation_id)
        self._async_forget_old(now)
        return replace(turn, summary=summary)

    def async_after_turn(
        self,
        conversation_id: str,
        messages: Transcript,
    ) -> None:
        """Have a summary written if the next turn would drop messages that no summary replaces.

        `messages` are the whole conversation, the history of the next turn.
        """
        known = self._conversations.get(conversation_id)
        models = self._find_models()
        own = models.get(self._agent.subentry_id)
        writer = self._writer(models)
        if (
            known is None
            or own is None
            or writer is None
            or conversation_id in self._writing
        ):
            return
        request = CompletionRequest(
            known.instructions, messages, known.tools, summary=known.summary
        )
        dropped = _dropped_soon(own.fitter, request)
        if not dropped or (
            known.summary is not None and known.summary.messages >= dropped
        ):
            return
        writing = self._async_write(
            conversation_id, writer, messages[:dropped], known.summary
        )
        name = f"chatterbox summary of a conversation with {self._agent.title}"
        task = self._entry.async_create_background_task(
            self._hass, writing, name, eager_start=False
        )
        self._writing[conversation_id] = task
        task.add_done_callback(partial(self._async_written, conversation_id))

    def async_forget(self, conversation_id: str | None = None) -> None:
        """Forget the summary of a conversation, and stop writing one; without an id those of all conversations."""
        for each in (
            [*self._conversations] if conversation_id is None else [conversation_id]
        ):
            self._conversations.pop(each, None)
            task = self._writing.get(each)
            if task:
                task.cancel()

    def _writer(self, models: Mapping[str, AgentModel]) -> AgentModel | None:
        """Return the model that writes; None when it cannot at the moment."""
        is_own = self._settings.summary == SUMMARY_OWN_MODEL
        writer = models.get(
            self._agent.subentry_id if is_own else self._settings.summary
        )
        if (
            writer is None
            or writer.managed.breaker.state is not BreakerState.CLOSED
            or writer.managed.spent()
        ):
            return None
        return writer

    async def _async_write(
        self,
        conversation_id: str,
        writer: AgentModel,
        messages: Transcript,
        earlier: Summary | None,
    ) -> None:
        try:
            summary = await CountedModel(self._hass, writer).summary(
                messages, earlier, _LONGEST
            )
        except ProviderError as error:
            LOGGER.debug(
                "No summary of a conversation with %s: %s",
                self._agent.title,
                type(error).__name__,
            )
            return
        known = self._conversations.get(conversation_id)
        if known is not None:
            marks = _marks(messages, summary.messages)
            self._conversations[conversation_id] = replace(
                known, summary=summary, marks=marks
            )

    @callback
    def _async_written(
        self,
        conversation_id: str,
        _task: asyncio.Task[None],
    ) -> None:
        del self._writing[conversation_id]

    def _async_forget_old(self, now: float) -> None:
        """Forget conversations that cannot be continued any more, and the oldest of too many."""
        longest = max(
            CONVERSATION_TIMEOUT.total_seconds(), self._settings.continue_minutes * 60
        )
        for each, known in [*self._conversations.items()]:
            if abs(now - known.used_at) > longest or len(self._conversations) > _MOST:
                self.async_forget(each)


def _dropped_soon(
    fitter: PromptFitter,
    request: CompletionRequest,
) -> int:
    """Return how many messages the next turn drops, or one soon after it."""
    soon = fitter.window_of_next_turn(request, _AHEAD).dropped
    covered = 0 if request.summary is None else request.summary.messages
    if soon > covered:
        return max(
            soon,
            fitter.window_of_next_turn(request).dropped,
        )
    return soon


def _marks(
    messages: Transcript,
    count: int,
) -> tuple[str, ...]:
    """Return what identifies the first `count` messages: the texts of the first and the last of them."""
    if not 0 < count <= len(messages):
        return ()
    return _words(messages[0]), _words(messages[count - 1])


def _words(message: Message) -> str:
    if isinstance(message, UserMessage | AssistantMessage):
        return message.text
    return message.name
