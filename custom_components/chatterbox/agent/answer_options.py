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
    """Whether a model may ask for several calls in one message."""


NO_WISHES: Final = AnswerOptions()
