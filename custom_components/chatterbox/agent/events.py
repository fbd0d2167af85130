"""What happens in a turn, as one closed union of frozen values.

A turn's events end with exactly one `TurnFinished`. Every `ToolCallReady` belongs to the
assistant message whose `MessageDone` comes next; every call of a finished message gets
exactly one `ToolFinished`, save those that `TurnFinished.client_calls` hands to the caller.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from .errors import AgentError
from .messages import AssistantMessage, FinishReason, ProviderItem, ToolCall, ToolResult, Usage


class Phase(StrEnum):
    """Where a turn is. The names are those of the state machine in the design."""

    RECEIVE_INPUT = "RECEIVE_INPUT"
    LLM_INFERENCE = "LLM_INFERENCE"
    TOOL_DECISION = "TOOL_DECISION"
    TOOL_EXECUTION = "TOOL_EXECUTION"
    RESULT_AGGREGATION = "RESULT_AGGREGATION"
    APPROVAL_INTERRUPT = "APPROVAL_INTERRUPT"
    CLIENT_INTERRUPT = "CLIENT_INTERRUPT"
    RESPONSE_COMPOSITION = "RESPONSE_COMPOSITION"
    OUTPUT = "OUTPUT"


class StopReason(StrEnum):
    """Why a turn ended."""

    COMPLETED = "completed"
    MAX_ITERATIONS = "max_iterations"
    MAX_TOOL_CALLS = "max_tool_calls"
    DEADLINE = "deadline"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    REPETITION = "repetition"
    """The model repeated itself, and its message was ended."""
    UNKNOWN_FINISH = "unknown_finish"
    """The model ended its message for a reason that we do not know."""
    NOT_DONE = "not_done"
    """The model has answered, and something that it tried to change was not changed. The answer ends with that."""
    OUTPUT_UNFIT = "output_unfit"
    """The model was asked twice for data of a certain shape, and gave something else."""
    APPROVAL_REQUIRED = "approval_required"
    CLIENT_TOOLS = "client_tools"
    PROVIDER_FAILED = "provider_failed"
    PROMPT_DENIED = "prompt_denied"
    """A hook refused the user's words."""


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that waits for a yes."""

    call: ToolCall
    """The exact call: id, name and arguments as they would run."""
    reason: str
    """Why it waits, in words for the person; may be empty."""
    terms: str = ""
    """What exactly a yes is to, as `hooks.join_terms` writes it; it is only compared."""


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """Calls that wait for a yes, and what is left of the turn's budgets.

    The caller keeps it and hands it back, with decisions, in the next turn.
    """

    id: str
    calls: tuple[PendingCall, ...]
    expires_at: float
    """Seconds since the epoch."""
    iterations: int
    """Inferences used so far."""
    tool_calls: int
    """Tool calls run so far."""


@dataclass(frozen=True, slots=True)
class PhaseEntered:
    """The turn walks into a phase."""

    phase: Phase


@dataclass(frozen=True, slots=True)
class PromptReplaced:
    """A hook put other words in place of the user's; a history has to keep these.

    Comes before the first inference, and only when there was such a hook.
    """

    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer, to be shown or spoken at once."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning; never spoken."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallReady:
    """A call is complete in the stream. Out of the loop it is understood and coerced."""

    call: ToolCall
    offered: frozenset[str] | None = None
    """Names of the tools that whoever calls was offered; None for all of the turn. It can call no other."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool is running."""

    call: ToolCall
    open_world: bool = False
    """Its result will say so too; see `ToolResult`."""


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A call has its result, in the order of the calls of its message."""

    result: ToolResult
    awaits_approval: bool = False
    """Whether it has not run yet because a person has to say yes first; what is asked comes later in the turn."""


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """Calls wait for a yes."""

    pending: PendingApproval


@dataclass(frozen=True, slots=True)
class ProviderSwitched:
    """Another provider took over before anything was said."""

    provider: str
    """Name of the one that answers now."""
    reason: str


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Tokens of one inference."""

    usage: Usage
    answered_by: str = ""
    """As in `CompletionResult`."""


@dataclass(frozen=True, slots=True)
class MessageDone:
    """An assistant message is complete, calls in their final form."""

    message: AssistantMessage


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn is over. Exactly one a turn, always last."""

    stop_reason: StopReason
    text: str
    """The last thing said, never empty unless the surface must ask or run tools."""
    usage: Usage
    """Summed over all inferences of the turn."""
    iterations: int
    tool_results: tuple[ToolResult, ...] = ()
    """The successful results of the turn, in order."""
    pending: PendingApproval | None = None
    client_calls: tuple[ToolCall, ...] = ()
    """Calls that the caller has to run."""
    error: AgentError | None = None
    misfit: str = ""
    """What is wrong with an answer that is not what `Turn.output` asks for."""
    composed: bool = False
    """Whether the model left no words, so that all of the text is the composer's."""


@dataclass(frozen=True, slots=True)
class CompletionResult:
    """The end of one inference: always the last event of a provider's stream."""

    finish_reason: FinishReason
    usage: Usage = field(default_factory=Usage)
    provider_items: tuple[ProviderItem, ...] = ()
    """What has to go back with the message in later requests."""
    answered_by: str = ""
    """Id of the provider of a chain that has answered; empty without a chain."""


type ProviderEvent = TextDelta | ReasoningDelta | ToolCallReady | ProviderSwitched | CompletionResult

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
