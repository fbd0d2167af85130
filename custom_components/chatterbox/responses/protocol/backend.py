"""The `Backend` protocol: the agents, turns and stores that the Responses API serves."""

from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ...agent.events import Answer, PendingApproval, TurnEvent
from ...agent.messages import ToolChoiceMode, ToolDefinition, Transcript, Usage
from ...agent.protocols import NO_WISHES, AnswerOptions, OutputFormat
from ...history.store.records import ResponseRecord
from .tools import HostedTools, RequestedToolChoice

OWN_LABEL = "chatterbox"
"""Server label of tools that belong to no LLM API, and of calls of unknown tools."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The user whose token a request was made with."""

    user_id: str
    token: str = field(default="", compare=False)
    """Id of the token."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """An agent, which clients see as a model."""

    id: str
    """The `model` of a request."""
    created_at: int
    """Seconds since the epoch."""
    stores_responses: bool = True
    """Whether its responses may be stored."""


@dataclass(frozen=True, slots=True)
class ApprovalDecisions:
    """A client's answers to the approval requests of an earlier response."""

    pending_id: str
    """Of the `PendingApproval`."""
    decisions: Mapping[int, Answer]
    """By index of the call; a missing one is denied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnWishes:
    """The tools, bounds and form of the answer that a client wishes for."""

    functions: tuple[ToolDefinition, ...] = ()
    """Of the client, with `client` set."""
    hosted: tuple[HostedTools, ...] | None = ()
    """None for the tools that the agent is set up with."""
    tool_choice: RequestedToolChoice = ToolChoiceMode.AUTO
    max_tool_calls: int | None = None
    """Calls of hosted tools."""
    max_output_tokens: int | None = None
    """Over the whole response."""
    options: AnswerOptions = NO_WISHES
    output: OutputFormat | None = None
    may_be_shortened: bool = False
    """Whether the oldest messages may be dropped if the conversation is too long for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest(TurnWishes):
    """A turn that a client requests."""

    agent: str
    """Id of its `ModelInfo`."""
    caller: Caller
    conversation_id: str
    """Shared by all responses of a chain: the id of its first response, or of a conversation."""
    transcript: Transcript
    """The whole conversation. It ends with a user message or outputs of functions, unless `approval` is set."""
    added: Transcript | None = None
    """The part that is new; None if unknown, as the client has sent all of it."""
    instructions: str = ""
    """Of the client, for this turn; those of the agent come first."""
    approval: ApprovalDecisions | None = None
    may_store: bool = True
    """Whether words may be stored. The calls of tools in the home are recorded in any case."""


@dataclass(frozen=True, slots=True)
class ToolsOffered:
    """The hosted tools that the model is offered: the first event of every turn."""

    tools: Mapping[str, Sequence[ToolDefinition]]
    """By server label; own tools of the agent under `OWN_LABEL`."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Why a requested label has no tools at the moment."""
    question: PendingApproval | None = None
    """The question that the `approval` of the turn answers."""


type BackendEvent = ToolsOffered | TurnEvent


class ResponseStore(Protocol):
    """Stores responses. Every method but `put` raises `ApiError` (503) when the store is unreachable."""

    async def put(self, record: ResponseRecord) -> None:
        """Store or replace a response, and wait a moment for it to be written.

        The store sets `agent`, a permanent id, and `person_id`, the person of the user.
        """

    async def get(self, response_id: str) -> ResponseRecord | None:
        """Return a response of any user; None if it is not stored any more."""

    async def chain(
        self, conversation_id: str, newest: int | None = None
    ) -> Mapping[str, ResponseRecord]:
        """Return the responses of a chain or conversation, of all users, by id and in the order of their creation.

        With `newest`, about so many of the last ones. The oldest may have been deleted.
        """

    async def delete(self, response_id: str) -> None:
        """Delete a response."""

    async def conversation(
        self, conversation_id: str, caller: Caller
    ) -> Transcript | None:
        """Return the caller's transcript of a conversation; empty for a new one, None for another user's.

        Every call has its result, except calls of the last message that wait for a
        client.
        """


class Backend(Protocol):
    """Provides agents, takes their turns, and stores their responses."""

    def agents(self) -> Sequence[ModelInfo]:
        """Return the agents that the API is enabled for, in a stable order."""

    def store(self, agent: str) -> ResponseStore | None:
        """Return the store of an agent's responses; None for an agent that stores nothing."""

    def stores(self) -> Sequence[ResponseStore]:
        """Return all stores that may contain a response."""

    def take(self, turn: TurnRequest) -> AsyncGenerator[BackendEvent]:
        """Take a turn: `ToolsOffered`, then the events of the loop, `TurnFinished` last.

        Raises `ApiError` before the first event for an unknown label, tool or approval,
        and later if the agent is changed or stopped meanwhile. Closing it ends the
        model call and all tools.
        """

    async def compact(
        self, agent: str, transcript: Transcript, instructions: str
    ) -> tuple[str, Usage]:
        """Return a summary of a conversation, and what it used. Raises `ApiError`."""

    def start(
        self,
        work: Coroutine[object, object, None],
        name: str,
    ) -> None:
        """Run work in the background until shutdown. It is started eagerly, up to its first wait."""
