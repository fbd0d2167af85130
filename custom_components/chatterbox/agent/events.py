"""The events of a turn, as one closed union of frozen values.

The events of a turn end with exactly one `TurnFinished`. Every `ToolCallReady` belongs
to the assistant message whose `MessageDone` follows. Every call of a finished message
gets exactly one `ToolFinished`, except those that `TurnFinished.client_calls` hands to
the caller.
"""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from .errors import AgentError
from .messages import (
    AssistantMessage,
    FinishReason,
    ProviderItem,
    ToolCall,
    ToolResult,
    Usage,
)


class Phase(StrEnum):
    """The phases of a turn."""

    RECEIVE_INPUT = "RECEIVE_INPUT"
    LLM_INFERENCE = "LLM_INFERENCE"
    TOOL_DECISION = "TOOL_DECISION"
    TOOL_EXECUTION = "TOOL_EXECUTION"
    RESULT_AGGREGATION = "RESULT_AGGREGATION"
    APPROVAL_INTERRUPT = "APPROVAL_INTERRUPT"
    CLIENT_INTERRUPT = "CLIENT_INTERRUPT"
    RESPONSE_COMPOSITION = "RESPONSE_COMPOSITION"
    OUTPUT = "OUTPUT"


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """The moment at which a turn entered a phase."""

    phase: Phase
    at: float
    """Seconds since the turn began."""


class StopReason(StrEnum):
    """The reason for which a turn ended."""

    COMPLETED = "completed"
    MAX_ITERATIONS = "max_iterations"
    MAX_TOOL_CALLS = "max_tool_calls"
    DEADLINE = "deadline"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    REPETITION = "repetition"
    """The model repeated itself, and the loop ended its message."""
    UNKNOWN_FINISH = "unknown_finish"
    """The model ended its message for an unknown reason."""
    NOT_DONE = "not_done"
    """The model answered, but a change that it attempted failed. The answer ends with a sentence on that."""
    OUTPUT_UNFIT = "output_unfit"
    """The model was asked twice for structured output, and gave something else."""
    APPROVAL_REQUIRED = "approval_required"
    CLIENT_TOOLS = "client_tools"
    PROVIDER_FAILED = "provider_failed"
    PROMPT_DENIED = "prompt_denied"
    """A hook refused the user's words."""


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that waits for approval."""

    call: ToolCall
    """The exact call: id, name and arguments as they would run."""
    reason: str
    """The reason for which it waits, as a sentence for the person; may be empty."""
    terms: str = ""
    """The exact terms of the approval, as written by `hooks.join_terms`; they are only compared."""
    note: str = field(default="", compare=False)
    """As in `loop.calls.Runnable`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a person to a call that waits for approval."""

    approved: bool
    reason: str = ""
    """Why it is denied, for the model; may be empty."""


_NO: Final = Answer(approved=False)


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """Calls that wait for approval, and the budgets that the turn has used.

    The caller keeps it and passes it back, with `answers`, in the next turn.
    """

    id: str
    calls: tuple[PendingCall, ...]
    expires_at: float
    """Seconds since the epoch."""
    iterations: int
    """Inferences of the turn so far."""
    tool_calls: int
    """Tool calls of the turn so far."""
    answers: Mapping[str, Answer] = field(default_factory=dict)
    """By call id; a missing one denies. Empty until it is answered."""

    @property
    def approved(self) -> tuple[PendingCall, ...]:
        """The calls that are approved."""
        return tuple(
            [one for one in self.calls if self.answers.get(one.call.id, _NO).approved]
        )


@dataclass(frozen=True, slots=True)
class PhaseEntered:
    """The turn enters a phase."""

    phase: Phase


@dataclass(frozen=True, slots=True)
class PromptReplaced:
    """A hook replaced the user's words; the history must keep the replacement.

    Precedes the first inference, and occurs only if a hook replaced the words.
    """

    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer, to be shown or spoken immediately."""

    text: str


@dataclass(frozen=True, slots=True)
class PromptProgress:
    """The service reads the prompt. Only before the first event of an answer, and nothing to be shown."""

    processed: int
    """Tokens that it has read, those in its cache included."""
    total: int


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning, which is never spoken."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallReady:
    """A complete call in the stream. Events of the loop carry it parsed and coerced."""

    call: ToolCall
    offered: frozenset[str] | None = None
    """Names of the tools that the caller was offered, which are the only ones it can call; None for all of the turn."""


@dataclass(frozen=True, slots=True)
class ServiceSearched:
    """The service has searched the web while its model answers. This ends a message, and the answer goes on in another.

    A message with calls goes on, because all of their results follow it.
    """

    call: ToolCall
    result: ToolResult
    provider_items: tuple[ProviderItem, ...] = ()
    """Those of the message that ends here."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool has started."""

    call: ToolCall
    open_world: bool = False
    """Whether its result counts as outside content; see `ToolResult`."""


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A call has its result, in the order of the calls of its message."""

    result: ToolResult
    awaits_approval: bool = False
    """Whether the call waits for approval and has not run yet; the approval request follows later in the turn."""


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """Calls wait for approval."""

    pending: PendingApproval


@dataclass(frozen=True, slots=True)
class ProviderSwitched:
    """Another provider took over before any text was passed on."""

    provider: str
    """Name of the provider that answers now."""
    reason: str


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Tokens of one inference."""

    usage: Usage
    answered_by: str = ""
    """As in `CompletionResult`, like the next one."""
    lacks_room: bool = False


@dataclass(frozen=True, slots=True)
class MessageDone:
    """An assistant message is complete, with its calls in their final form."""

    message: AssistantMessage


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The end of the turn. Exactly one per turn, always last."""

    stop_reason: StopReason
    text: str
    """The final text; empty only if the caller must ask for approval or run tools."""
    usage: Usage
    """The sum over all inferences of the turn."""
    iterations: int
    tool_results: tuple[ToolResult, ...] = ()
    """The successful results of the turn, in order."""
    pending: PendingApproval | None = None
    client_calls: tuple[ToolCall, ...] = ()
    """Calls that the caller has to run."""
    error: AgentError | None = None
    misfit: str = ""
    """The reason why an answer does not fit `Turn.output`."""
    composed: bool = False
    """Whether the model wrote no text, so that the composer wrote all of it."""


@dataclass(frozen=True, slots=True)
class CompletionResult:
    """The end of one inference: always the last event of a provider's stream."""

    finish_reason: FinishReason
    usage: Usage = field(default_factory=Usage)
    provider_items: tuple[ProviderItem, ...] = ()
    """Items that must be sent back with the message in later requests."""
    answered_by: str = ""
    """Id of the provider that answered, if several form a chain; otherwise empty."""
    declines: bool = False
    """Whether the words of the user were declined, in words or before another provider answered."""
    lacks_room: bool = False
    """Whether the beginning of the conversation was left out, because the model reads less than the owner allows."""


type ProviderEvent = (
    PromptProgress
    | TextDelta
    | ReasoningDelta
    | ToolCallReady
    | ServiceSearched
    | ProviderSwitched
    | CompletionResult
)

type TurnEvents = AsyncGenerator[TurnEvent]
"""The events of a turn, as they happen."""

type TurnEvent = (
    PhaseEntered
    | PromptReplaced
    | TextDelta
    | ReasoningDelta
    | ToolCallReady
    | ToolStarted
    | ToolFinished
    | ApprovalRequested
    | ProviderSwitched
    | UsageReported
    | MessageDone
    | TurnFinished
)
