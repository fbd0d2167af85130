"""How who asks wants one turn answered, beside what the owner of an agent has set for all of them.

Knows what can be wished for and what it means; how a service is told stands with each provider.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class ReasoningEffort(StrEnum):
    """How long a model thinks before it answers, from not at all to as long as it can.

    Not every model knows every step: a refused one is left out, and the model decides.
    """

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class Verbosity(StrEnum):
    """How much a model says."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


LEAST_OUTPUT_TOKENS: Final = 16
"""Tokens of the shortest answer that can be asked for: some services refuse less."""


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """Wishes for the answers of one turn. What is None is as the owner of the agent has set it."""

    temperature: float | None = None
    """0 for the likeliest words, up to 2."""
    top_p: float | None = None
    """Above 0, up to 1."""
    reasoning_effort: ReasoningEffort | None = None
    verbosity: Verbosity | None = None
    max_output_tokens: int | None = None
    """Most tokens of one answer, reasoning included; what the owner has set holds where that is less."""
    parallel_tool_calls: bool = True
    """Whether several calls may run at once, and whether the caller can be given several to run."""

    def __post_init__(self) -> None:
        """Refuse an answer that could hold nothing."""
        if self.max_output_tokens is not None and self.max_output_tokens < LEAST_OUTPUT_TOKENS:
            raise ValueError(f"max_output_tokens must be at least {LEAST_OUTPUT_TOKENS}")


NO_WISHES: Final = AnswerOptions()
