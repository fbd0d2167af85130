"""Sources of turns: a conversation in Home Assistant, an AI task, a client of the Responses API.

A `TurnSource` holds the differences between surfaces; the steps of a turn ask it instead of asking which surface it is.
The defaults are those of a conversation, and a surface overrides what differs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from homeassistant.components.conversation import ChatLog
from homeassistant.helpers import llm

from ..agent.events import TurnEvent
from ..agent.loop.turn import Limits
from ..agent.messages import ToolChoice, ToolChoiceMode, ToolDefinition, Transcript, UserMessage
from ..agent.protocols import NO_WISHES, AnswerOptions, Hooks, OutputFormat
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
    asks_in_words: bool = True
    """Whether a question is part of the answer; otherwise the source presents the pending calls itself."""
    is_stored: bool = True
    """Whether the turn may be stored and shown, if the agent stores anything."""
    has_chat_log: bool = True
    """Whether Home Assistant holds the conversation, so that it is summarized, and resumed after a restart."""
    says_undone: bool = True
    """Whether an answer ends with the changes that its calls failed to make."""
    falls_back: bool = True
    """Whether Home Assistant's built-in agent may answer in place of a model."""
    has_own_tools: bool = True
    """Whether the agent's own tools are offered."""
    extra_api: llm.API | None = None
    """Tools for this turn only."""
    client_tools: tuple[ToolDefinition, ...] = ()
    """Tools that the client runs."""
    added: Transcript = ()
    """Messages that the source adds before the user's message, such as results of its own tools."""
    instructions: str = ""
    """Instructions after those of the agent."""
    output: OutputFormat | None = None
    """The shape of the answer; None for text."""
    options: AnswerOptions = NO_WISHES
    """Options of the answer, which override those of the agent."""
    may_be_shortened: bool = True
    """Whether the beginning of a long conversation may be omitted."""

    def settings(self, settings: AgentSettings) -> AgentSettings:
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
        said = words(chat_log, files)
        return UserMessage(text, said.attachments, said.context or context) if text else None

    def hooks(self, tools: TurnTools) -> Sequence[Hooks]:
        """Return hooks of the source, which precede the owner's rules."""
        del tools
        return ()

    def hear(self, event: TurnEvent) -> None:
        """Receive an event of the turn, as it happens."""
