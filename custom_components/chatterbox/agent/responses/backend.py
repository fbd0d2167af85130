"""The seam between the surface and whoever takes its turns: agents, tools, approvals and a store, for one caller.

Knows turns, events and stored responses; no HTTP, no Home Assistant. Who implements it may rely on what is written
here.
"""

from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..events import PendingApproval, TurnEvent
from ..history.response_records import ResponseRecord
from ..loop.turn import Approved, Denied
from ..messages import ToolDefinition, Transcript, Usage
from ..protocols import NO_WISHES, AnswerOptions, OutputFormat
from .tools import HostedTools, RequestedToolChoice

OWN_LABEL = "chatterbox"
"""Server label of tools that belong to no LLM API, and of calls of tools that nobody has."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a user, signed in with a token of theirs."""

    user_id: str


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """An agent that can be asked."""

    id: str
    """What a client calls the model."""
    created_at: int
    """Seconds since the epoch."""
    stores_responses: bool = True
    """Whether anything of what is said to it may be stored."""


@dataclass(frozen=True, slots=True)
class ApprovalDecisions:
    """What a client says to a question of an earlier response."""

    pending_id: str
    """Of the `PendingApproval`."""
    decisions: Mapping[int, Approved | Denied]
    """By the place of the call among those of the question; none means no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """One turn that a client wants taken."""

    agent: str
    """Id of an `ModelInfo`."""
    caller: Caller
    conversation_id: str
    """What all responses of a chain have in common: the id of its first response, or of a conversation."""
    transcript: Transcript
    """All that was said, up to what has to be answered: words of the user, results of functions, or, where only an
    approval is brought, what came before."""
    added: Transcript | None = None
    """What of that is new in the conversation; None where nobody knows, since the client has brought all of it."""
    instructions: str = ""
    """The client's, for this turn; the agent's own come first."""
    functions: tuple[ToolDefinition, ...] = ()
    hosted: tuple[HostedTools, ...] | None = ()
    """None for the tools that the agent is set up with."""
    tool_choice: RequestedToolChoice
    max_tool_calls: int | None = None
    max_output_tokens: int | None = None
    options: AnswerOptions = NO_WISHES
    output: OutputFormat | None = None
    may_be_shortened: bool = False
    """Whether the oldest may be left out of a conversation that the model cannot read at once."""
    approval: ApprovalDecisions | None = None
    may_store: bool = True
    """Whether anything of what is said may be stored. What is done in the house is recorded in any case."""


@dataclass(frozen=True, slots=True)
class ToolsOffered:
    """The tools of the house that a model is offered: the first event of every turn of this surface."""

    tools: Mapping[str, Sequence[ToolDefinition]]
    """By server label, under the names by which they are called; own tools of the agent under `OWN_LABEL`."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Why a label that was asked for has no tools at the moment, for the client."""
    question: PendingApproval | None = None
    """What the approval of the turn answers."""

    def label_of(self, name: str) -> str:
        """Return the server label of a tool; `OWN_LABEL` for one that there is not."""
        labels = (label for label, tools in self.tools.items() if any(tool.name == name for tool in tools))
        return next(labels, OWN_LABEL)


type BackendEvent = ToolsOffered | TurnEvent


class ResponseStore(Protocol):
    """Keeps responses. Every method raises `ApiError` (503) when the store cannot be reached, but for `put`."""

    async def put(self, record: ResponseRecord) -> None:
        """Store a response, in place of what is stored under its id. Waits a moment for it to be safe, no longer.

        `agent` and `person_id` are filled in: the id of the agent that stays, and the person that the user is.
        """
        ...

    async def get(self, response_id: str) -> ResponseRecord | None:
        """Return a response, whoever asked for it; None for one that was never stored, or is too old."""
        ...

    async def chain(self, conversation_id: str, newest: int | None = None) -> Mapping[str, ResponseRecord]:
        """Return all responses of a chain or of a conversation, by id, in the order in which they were begun.

        With `newest`, about so many: the last ones.
        They may be several users'. The oldest of a chain may be gone.
        """
        ...

    async def delete(self, response_id: str) -> None:
        """Forget a response."""
        ...

    async def conversation(self, conversation_id: str, caller: Caller) -> Transcript | None:
        """Return what the caller and an agent have said in a conversation; None for somebody else's.

        Empty for one that there is not yet. Every call has its result, but for calls of the last message that a client
        has still to run.
        """
        ...


class Backend(Protocol):
    """Takes turns."""

    def agents(self) -> Sequence[ModelInfo]:
        """Return the agents that this surface is switched on for, in a stable order."""
        ...

    def store(self, agent: str) -> ResponseStore | None:
        """Return where the responses of an agent are kept; None where nothing is kept."""
        ...

    def stores(self) -> Sequence[ResponseStore]:
        """Return all stores in which a response may be found."""
        ...

    def take(self, turn: TurnRequest) -> AsyncGenerator[BackendEvent]:
        """Take a turn: `ToolsOffered`, then the events of the loop, `TurnFinished` last.

        Raises `ApiError` before the first event for a label, a tool or an approval that there is not; after it, for an
        agent that is changed or stopped meanwhile, and anything for bugs. Closing it ends the model call and all tools.
        """
        ...

    async def compact(self, agent: str, transcript: Transcript, instructions: str) -> tuple[str, Usage]:
        """Say a conversation in few words. Raises `ApiError` when nobody can."""
        ...

    def start(self, work: Coroutine[object, object, None], name: str) -> None:
        """Have work done in the background, that is cancelled when the house shuts down.

        It begins at once: when this returns, it has come to its first wait.
        """
        ...
