"""A turn: its input and limits, its state, and the states of its calls before their results.

The input holds the user's words, history, tools, and the answered approval request.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from types import UnionType
from typing import ClassVar, Final, NamedTuple

from ..errors import ProviderError
from ..events import PendingApproval, PendingCall, StopReason
from ..messages import (
    AssistantMessage,
    Attachment,
    FinishReason,
    JsonObject,
    NamedTool,
    Repair,
    Summary,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    Tools,
    Transcript,
    Usage,
    UserMessage,
    as_written,
)
from ..protocols import LEAST_OUTPUT_TOKENS, NO_WISHES, AnswerOptions, OutputFormat

_NO_TIME: Final = 0.001
"""Seconds of a turn that ends before it starts, and says so."""
_SHARE_OF_PREPARATION: Final = 0.25


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a turn. Each allows at least one inference, one call or one moment."""

    max_iterations: int = 10
    """Inferences, the final answer included."""
    max_tool_calls: int = 32
    """Calls that run, not rounds."""
    deadline: float = 60.0
    """Seconds from the first event to the last."""
    tool_timeout: float = 30.0
    """Seconds that one tool, or one hook, may take."""
    approval_expiry: float = 60.0
    """Seconds for which an approval request stays open."""
    max_output_tokens: int | None = None
    """Tokens of all answers of the turn together, reasoning included; None for no bound."""

    @property
    def preparation(self) -> float:
        """Seconds of the deadline that preparation may take at most before the first inference."""
        return self.deadline * _SHARE_OF_PREPARATION

    def after(self, seconds: float) -> Limits:
        """Return the limits of a turn whose user has already waited for `seconds`."""
        return replace(
            self,
            deadline=max(self.deadline - seconds, _NO_TIME),
        )

    def __post_init__(self) -> None:
        """Reject bounds with which no turn could end well."""
        for name in ("max_iterations", "max_tool_calls"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        for name in ("deadline", "tool_timeout", "approval_expiry"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be more than 0 seconds")
        if (
            self.max_output_tokens is not None
            and self.max_output_tokens < LEAST_OUTPUT_TOKENS
        ):
            raise ValueError(
                f"max_output_tokens must be at least {LEAST_OUTPUT_TOKENS}"
            )


def _check(
    name: str, values: Iterable[object], kind: type | UnionType, wanted: str
) -> None:
    """Raise TypeError for values of another type: callers need not check their types."""
    for value in values:
        if not isinstance(value, kind):
            raise TypeError(f"{name} takes {wanted}, not {type(value).__name__}")


@dataclass(frozen=True, slots=True)
class Turn:
    """The input of one turn. The caller's history is read, never changed."""

    user_text: str | None
    """The user's words; None to continue after client tools or an approval."""
    history: Transcript = ()
    instructions: str = ""
    """Identical in every turn of an agent, so that services can cache the prompt prefix."""
    tools: Tools = ()
    tool_choice: ToolChoice = ToolChoiceMode.AUTO
    allowed_tools: frozenset[str] | None = None
    """Names of the tools that may run; None for all. The model still sees the others."""
    limits: Limits = Limits()
    approval: PendingApproval | None = None
    """The approval request that this turn answers, with its `answers`."""
    context: str = ""
    """Context of this moment, such as the time and the room; the model reads it before the user's words."""
    omitted: str = ""
    """Context that the history holds; see `UserMessage.omitted`."""
    attachments: tuple[Attachment, ...] = ()
    """Pictures and documents that the user attached."""
    checks_answer: bool = False
    """Whether an answer ends with the changes that failed, or the reason why it was cut, and the model is asked once
    more for one that it left out or only announced.
    """
    output: OutputFormat | None = None
    """The schema of the answer; None for text. An answer that does not fit is requested once more."""
    summary: Summary | None = None
    """A summary that replaces the beginning of the history; see `agent/conversation/window.py`."""
    options: AnswerOptions = NO_WISHES
    may_be_shortened: bool = True
    """Whether the oldest messages may be omitted if the history exceeds the context window; otherwise the turn fails.
    """
    searches: int = 0
    """How often the services of the models may search the web by themselves."""
    guards_client_calls: bool = True
    """Whether hooks also see calls of client tools before these are handed out."""
    repair: Repair = as_written
    """Repairs calls of the tools."""

    def __post_init__(self) -> None:
        """Reject a turn without input, input of other types, and a choice of an unknown tool."""
        _check(
            "user_text",
            (self.user_text,),
            str | None,
            "the words of the user",
        )
        message = UserMessage | AssistantMessage | ToolResult
        _check(
            "history",
            self.history,
            message,
            'messages: UserMessage("…") and so on',
        )
        _check(
            "tools",
            self.tools,
            ToolDefinition,
            "the definitions of a Toolbox",
        )
        names = [tool.name for tool in self.tools]
        if (
            isinstance(self.tool_choice, NamedTool)
            and self.tool_choice.name not in names
        ):
            offered = ", ".join(names) or "none"
            raise ValueError(
                f"there is no tool {self.tool_choice.name!r} to choose; offered: {offered}"
            )
        if self.approval is not None and not self.approval.calls:
            raise ValueError("an approval needs the calls that it is about")
        if self.user_text is None and self.approval is None:
            match self.history:
                case () | (*_, AssistantMessage(tool_calls=())):
                    raise ValueError(
                        "without user_text there must be something to go on from:"
                        " a history that ends with a user message or tool results, or an approval"
                    )
                case _:
                    pass


@dataclass(frozen=True, slots=True)
class Runnable:
    """A call that runs with these arguments."""

    call: ToolCall
    """In the form in which it is recorded, as in the other states."""
    tool: ToolDefinition
    arguments: JsonObject
    note: str = field(default="", compare=False)
    """A note to the model on how its call was reinterpreted."""


@dataclass(frozen=True, slots=True)
class ClientCall:
    """A call that the caller of the turn runs."""

    call: ToolCall
    tool: ToolDefinition | None = None
    """Set where hooks see the call, with its arguments; see `Turn.guards_client_calls`."""
    arguments: JsonObject = field(default_factory=dict)
    note: ClassVar[str] = ""
    """It is the caller's, and not reinterpreted."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A call that does not run, and its result."""

    call: ToolCall
    result: ToolResult


type OpenCall = Runnable | PendingCall | ClientCall | Resolved


def resolve(
    call: ToolCall,
    content: str,
    *,
    is_error: bool = True,
    may_repeat: bool = False,
) -> Resolved:
    """Answer a call without running it."""
    result = ToolResult(
        call.id,
        call.name,
        content,
        is_error=is_error,
        synthetic=True,
        may_repeat=may_repeat,
    )
    return Resolved(call, result)


class TurnState(NamedTuple):
    """The state of a turn. A tuple, because a turn creates many of them."""

    turn: Turn
    messages: Transcript = ()
    """The messages that this turn has added to the history, the user's message included."""
    open_calls: tuple[OpenCall, ...] = ()
    """The calls of the last message that have no result yet."""
    iterations: int = 0
    """Inferences started so far."""
    tool_calls: int = 0
    """Calls passed to the dispatcher so far."""
    elapsed: float = 0.0
    """Seconds since the turn began."""
    out_of_time: bool = False
    """Whether the deadline cut off an inference."""
    usage: Usage = Usage()
    written: int = 0
    """Output tokens of all answers so far; estimated where the service reports none."""
    finish_reason: FinishReason | None = None
    """Finish reason of the last inference."""
    last_call: StopReason | None = None
    """Set if the last inference had to be the last one: how the turn ends if it has no answer."""
    answer: AssistantMessage | None = None
    """A message of the model without calls, possibly truncated; not yet in `messages`."""
    misfit: str = ""
    """The reason why the structured output of the last answer does not fit."""
    repaired: bool = False
    """Whether the model was already asked once in this turn to correct its output."""
    has_begun_anew: bool = False
    """Whether the model was already asked once more in this turn after an answer that broke off."""
    is_unfinished: bool = False
    """Whether the last answer is empty, or ends by announcing what it has not done: "Let me check the weather."."""
    has_gone_on: bool = False
    """Whether the model was already asked once in this turn to go on."""
    failure: ProviderError | None = None
    prompt_denied: str | None = None
    """The reason for which a hook refused the user's words."""
    taken: frozenset[str] = frozenset()
    """The ids of calls before this turn, of those too that are sent to no model."""

    @property
    def tokens_left(self) -> int | None:
        """Tokens that the remaining answers may use; None for no bound."""
        bound = self.turn.limits.max_output_tokens
        if bound is None:
            return None
        return bound - self.written

    @property
    def may_write(self) -> bool:
        """Whether the remaining tokens suffice for an answer."""
        return self.tokens_left is None or self.tokens_left >= LEAST_OUTPUT_TOKENS
