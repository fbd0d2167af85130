"""How servers of Chat Completions differ in what they want to be sent, as data.

Knows the differences, and no server by name: which server is which stands in `providers/profiles.py`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from .sendable import ANY_ID


class ReasoningField(StrEnum):
    """The field of a message with calls in which a server wants the model's reasoning back."""

    NONE = ""
    """It does not want it."""
    REASONING_CONTENT = "reasoning_content"
    REASONING = "reasoning"


@dataclass(frozen=True, slots=True)
class ChatDialect:
    """What one server wants. The defaults suit a server that nothing is known of."""

    reasoning_field: ReasoningField = ReasoningField.NONE
    needs_reasoning: bool = False
    """True where a message with calls is refused without that field; then an empty one is sent."""
    returns_items: bool = True
    """Whether signed reasoning goes back. A server that never sends any may refuse that of another."""
    call_ids: str = ANY_ID
    """Pattern of the ids of calls that the server accepts; others are replaced, in calls and results alike."""
    alternates: bool = False
    """True where user and assistant must take turns: then neighbours become one message."""
    forces_by_name: bool = True
    """False where a tool cannot be forced by its name: then a call of any tool is required."""


DEFAULT_DIALECT: Final = ChatDialect()
