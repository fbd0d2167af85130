"""The input of a turn: words, history, tools, bounds, and a person's answer to what was asked."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from ..events import PendingApproval
from ..messages import (
    AssistantMessage,
    Attachment,
    NamedTool,
    Summary,
    ToolChoice,
    ToolChoiceMode,
    ToolDefinition,
    Transcript,
)
from ..protocols import LEAST_OUTPUT_TOKENS, NO_WISHES, AnswerOptions, OutputFormat

_NO_TIME: Final = 0.001
"""Seconds of a turn that ends before it does anything, and says so."""
_SHARE_OF_PREPARATION: Final = 0.25


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a turn. Every one of them is at least one inference, call or moment."""

    max_iterations: int = 10
    """Inferences, the last answer included."""
    max_tool_calls: int = 32
    """Calls that run, not rounds."""
    deadline: float = 60.0
    """Seconds from the first event to the last."""
    tool_timeout: float = 30.0
    """Seconds that one tool, or one hook, may take."""
    approval_expiry: float = 60.0
    """Seconds that a question for a yes stays open."""
    max_output_tokens: int | None = None
    """Tokens that all answers of the turn may take together, reasoning included; None for no bound."""

    @property
    def preparation(self) -> float:
        """Seconds of the deadline that may pass until the first inference, however much there is to gather."""
        return self.deadline * _SHARE_OF_PREPARATION

    def after(self, seconds: float) -> Limits:
        """Return the bounds of a turn that somebody has been waiting for so long before it begins."""
        return replace(self, deadline=max(self.deadline - seconds, _NO_TIME))

    def __post_init__(self) -> None:
        """Refuse bounds under which no turn could end well."""
        for name in ("max_iterations", "max_tool_calls"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        for name in ("deadline", "tool_timeout", "approval_expiry"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be more than 0 seconds")
        if self.max_output_tokens is not None and self.max_output_tokens < LEAST_OUTPUT_TOKENS:
            raise ValueError(f"max_output_tokens must be at least {LEAST_OUTPUT_TOKENS}")


@dataclass(frozen=True, slots=True)
class Approved:
    """A person said yes to a call."""


@dataclass(frozen=True, slots=True)
class Denied:
    """A person said no to a call."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """What became of a `PendingApproval`: a decision per call id; none means no."""

    pending: PendingApproval
    decisions: Mapping[str, Approved | Denied]

    @property
    def is_yes(self) -> bool:
        """Whether everything was approved."""
        decided = [self.decisions.get(waiting.call.id) for waiting in self.pending.calls]
        return all(isinstance(decision, Approved) for decision in decided)


@dataclass(frozen=True, slots=True)
class Turn:
    """Everything a turn gets. The caller's history is read, never changed."""

    user_text: str | None
    """What the person said; None to continue after client tools or an approval."""
    history: Transcript = ()
    instructions: str = ""
    """The same in every turn of an agent, so that services can cache what begins with it."""
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: ToolChoice = ToolChoiceMode.AUTO
    allowed_tools: frozenset[str] | None = None
    """Names that may run; None for all. Hides nothing from the model."""
    limits: Limits = Limits()
    approval: ApprovalAnswer | None = None
    context: str = ""
    """What holds at this moment only, such as the time and the room; a model reads it before the person's words."""
    attachments: tuple[Attachment, ...] = ()
    """What the person shows with the words."""
    checked_language: str | None = None
    """Tag of the language of an answer that ends with what its calls have not done; None if it need not."""
    output: OutputFormat | None = None
    """What shape the answer has to have; None for words. An answer of another shape is asked for once more."""
    summary: Summary | None = None
    """What stands for the beginning of the history where that is no longer sent; see `agent/conversation/window.py`."""
    options: AnswerOptions = NO_WISHES
    may_be_shortened: bool = True
    """Whether the oldest of a history may be left out that the model cannot read at once; otherwise the turn fails."""
    guards_client_calls: bool = True
    """Whether hooks, if there are any, see calls of client tools, too, before these are handed out."""

    def __post_init__(self) -> None:
        """Refuse a turn in which there is nothing to answer, and a choice of a tool that there is not."""
        names = [tool.name for tool in self.tools]
        if isinstance(self.tool_choice, NamedTool) and self.tool_choice.name not in names:
            offered = ", ".join(names) or "none"
            raise ValueError(f"there is no tool {self.tool_choice.name!r} to choose; offered: {offered}")
        if self.approval is not None and not self.approval.pending.calls:
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
