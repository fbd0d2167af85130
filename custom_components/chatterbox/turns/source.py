"""Sources of turns: a conversation in Home Assistant, an AI task, a client of the Responses API.

A `TurnSource` holds the differences between surfaces; the steps of a turn ask it
instead of asking which surface it is. The defaults are those of a conversation, and a
surface overrides what differs. Decision 50.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, override

from homeassistant.components.conversation import ChatLog
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..agent.conversation.own_words import NO_MODEL
from ..agent.events import CompletionResult, ProviderEvent, ToolCallReady, TurnEvent
from ..agent.loop.turn import Limits, Turn
from ..agent.messages import (
    FinishReason,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    Tools,
    Transcript,
    UserMessage,
)
from ..agent.protocols import CompletionRequest, Hooks, LLMProvider
from ..approvals.questions import Resume, Running
from ..people.speakers import Speaker
from ..records.turn_record import TurnRecord
from ..runtime.summaries import ConversationSummaries
from ..settings.agent import AgentSettings
from ..tools.turn_tools import TurnTools
from .chat_log import history, words
from .continuity import Continuity, Thread
from .shown_files import ShownFiles


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """The tools of one turn, and the tool choice of its model."""

    tools: TurnTools
    """The tools that Home Assistant runs."""
    client_tools: Tools = ()
    """The tools that the client runs."""
    choice: ToolChoice = ToolChoiceMode.AUTO
    allowed: frozenset[str] | None = None
    """Names of the tools that may be called; None for all."""

    @property
    def definitions(self) -> Tools:
        """All tools that the model is offered."""
        return (*self.tools.definitions, *self.client_tools)


@dataclass(slots=True)
class SilentModel(LLMProvider):
    """Makes some calls, and says nothing, so that a turn says what its calls have come to."""

    calls: list[ToolCall] = field(default_factory=list)

    @override
    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        if self.calls:
            reason = FinishReason.TOOL_CALLS
        else:
            reason = FinishReason.STOP
        while self.calls:
            yield ToolCallReady(self.calls.pop(0))
        yield CompletionResult(reason, provider_items=(NO_MODEL,))


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSource:
    """A conversation in Home Assistant, and the base of every other source."""

    resume: Resume | None = None
    """Resumes a turn whose question is answered elsewhere; None if no question can be asked."""
    question_scope: str | None = None
    """The conversation in which a question of the turn can be answered; None for the turn's own."""
    is_personal: bool = False
    """Whether a question is for the speaker alone; see `Question.is_personal`."""
    running: Running | None = None
    """See `Question.running`."""
    extra_api: llm.API | None = None
    """An API with tools for this turn only."""
    provider: LLMProvider | None = None
    """Answers in place of the agent's models; None for these."""
    acts_locally: ClassVar[bool] = True
    """Whether Home Assistant may handle requests without the model."""
    is_due: bool = False
    """Whether its calls were approved for a time that has come, at which nobody is there to be asked."""

    def new_record(
        self,
        text: str,
        agent: str,
    ) -> TurnRecord:
        """Return the record of a turn, whose clock starts now."""
        return TurnRecord(text, agent)

    async def async_thread(
        self,
        continuity: Continuity,
        asked_for: str | None,
        speaker: Speaker,
        chat_log: ChatLog,
    ) -> Thread:
        """Return the conversation of a turn. What Home Assistant no longer holds of it is added to the ChatLog.

        `asked_for` is the conversation id that the request names.
        """
        return await continuity.async_resume(
            asked_for,
            speaker,
            chat_log,
        )

    def summaries(
        self, summaries: ConversationSummaries
    ) -> ConversationSummaries | None:
        """Return the agent's summaries if they replace the beginning of this conversation."""
        return summaries if summaries.are_written else None

    def falls_back(self) -> bool:
        """Return whether Home Assistant's built-in agent may answer in place of a model."""
        return True

    def asks_in_words(self) -> bool:
        """Return whether a question is part of the answer; otherwise the source presents the pending calls itself."""
        return True

    def offers_own_tools(self) -> bool:
        """Return whether the model gets the agent's own tools."""
        return True

    def settings(self, hass: HomeAssistant, settings: AgentSettings) -> AgentSettings:  # noqa: ARG002  # a client asks for it
        """Return the agent's settings for this turn."""
        return settings

    def limits(self, limits: Limits) -> Limits:
        """Return the agent's limits for this turn."""
        return limits

    def select(self, tools: TurnTools) -> ToolSelection:
        """Return the tools of this turn."""
        return ToolSelection(tools)

    def history(
        self,
        chat_log: ChatLog,
        files: ShownFiles,
    ) -> Transcript:
        """Return the conversation before the words of this turn."""
        return history(chat_log, files)

    def message(
        self,
        text: str,
        chat_log: ChatLog,
        files: ShownFiles,
        context: str,
    ) -> UserMessage | None:
        """Return the user's message with the `context` of this moment; None without words."""
        message = words(chat_log, files)
        if text:
            return UserMessage(
                text,
                message.attachments,
                message.context or context,
            )
        return None

    def adapted(self, turn: Turn) -> Turn:
        """Return the input of the loop with what this source wants of the answer."""
        return replace(turn, checks_answer=True)

    def hooks(self, tools: TurnTools) -> Sequence[Hooks]:
        """Return hooks of the source, which precede the owner's rules."""
        del tools
        return ()

    def hear(self, event: TurnEvent) -> None:
        """Receive an event of the turn, as it happens."""
