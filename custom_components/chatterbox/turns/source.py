"""Sources of turns: a conversation in Home Assistant, an AI task, a client of the Responses API.

A `TurnSource` holds the differences between surfaces; the steps of a turn ask it instead of asking which surface it is.
The defaults are those of a conversation, and a surface overrides what differs. Decision 50.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from homeassistant.components.conversation import ChatLog
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..agent.events import TurnEvent
from ..agent.loop.turn import Limits, Turn
from ..agent.messages import ToolChoice, ToolChoiceMode, ToolDefinition, Transcript, UserMessage
from ..agent.protocols import Hooks, LLMProvider, OutputFormat
from ..approvals.questions import Resume
from ..settings.agent import AgentSettings
from ..tools.turn_tools import TurnTools
from .chat_log import history, words
from .shown_files import ShownFiles


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """The tools of one turn, and the tool choice of its model."""

    tools: TurnTools
    """The tools that Home Assistant runs."""
    client_tools: tuple[ToolDefinition, ...] = ()
    """The tools that the client runs."""
    choice: ToolChoice = ToolChoiceMode.AUTO
    allowed: frozenset[str] | None = None
    """Names of the tools that may be called; None for all."""

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """All tools that the model is offered."""
        return (*self.tools.definitions, *self.client_tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSource:
    """A conversation in Home Assistant, and the base of every other source."""

    resume: Resume | None = None
    """Resumes a turn whose question is answered elsewhere; None if no question can be asked."""
    question_scope: str | None = None
    """The conversation in which a question of the turn can be answered; None for the turn's own."""
    is_personal: bool = False
    """Whether a question is for the speaker alone; see `Question.is_personal`."""
    is_stored: bool = True
    """Whether the words may be stored."""
    brought: Transcript = ()
    """Messages that the source adds before the user's message; see `TurnRecord.brought`."""
    resumes_conversations: bool = True
    """Whether what Home Assistant no longer holds of a conversation is added to the ChatLog."""
    has_summaries: bool = True
    """Whether the agent's summaries replace the beginning of this conversation."""
    falls_back: bool = True
    """Whether Home Assistant's built-in agent may answer in place of a model."""
    acts_locally: bool = True
    """Whether Home Assistant may handle requests without the model."""
    provider: LLMProvider | None = None
    """Answers in place of the agent's models; None for these."""
    asks_in_words: bool = True
    """Whether a question is part of the answer; otherwise the source presents the pending calls itself."""
    offers_own_tools: bool = True
    """Whether the model gets the agent's own tools."""
    extra_api: llm.API | None = None
    """Has tools for this turn only."""
    output: OutputFormat | None = None
    """The shape of the answer; None for text."""
    checks_answer: bool = True
    """See `Turn.checks_answer`."""

    def settings(self, hass: HomeAssistant, settings: AgentSettings) -> AgentSettings:  # noqa: ARG002  # a client asks for it
        """Return the agent's settings for this turn."""
        return settings

    def limits(self, limits: Limits) -> Limits:
        """Return the agent's limits for this turn."""
        return limits

    def select(self, tools: TurnTools) -> ToolSelection:
        """Return the tools of this turn."""
        return ToolSelection(tools)

    def history(self, chat_log: ChatLog, files: ShownFiles) -> Transcript:
        """Return the conversation before the words of this turn."""
        return history(chat_log, files)

    def message(self, text: str, chat_log: ChatLog, files: ShownFiles, context: str) -> UserMessage | None:
        """Return the user's message with the `context` of this moment; None without words."""
        message = words(chat_log, files)
        return UserMessage(text, message.attachments, message.context or context) if text else None

    def adapted(self, turn: Turn) -> Turn:
        """Return the input of the loop with what this source wants of the answer."""
        return replace(turn, output=self.output, checks_answer=self.checks_answer)

    def hooks(self, tools: TurnTools) -> Sequence[Hooks]:
        """Return hooks of the source, which precede the owner's rules."""
        del tools
        return ()

    def hear(self, event: TurnEvent) -> None:
        """Receive an event of the turn, as it happens."""
