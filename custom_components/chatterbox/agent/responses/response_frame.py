"""What is known of a response before its turn begins, beside what the client has asked for.

Knows values only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..messages import ProviderItem
from .backend import ApprovalDecisions

type NewId = Callable[[str], str]
"""Returns a new id that begins with this and an underscore."""
type Seal = Callable[[Sequence[ProviderItem]], str]
"""Returns what a provider wants back as a text that only we can read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFrame:
    """What a response is made with."""

    id: str
    created_at: int
    """Seconds since the epoch."""
    new_id: NewId
    now: Callable[[], float]
    """Returns seconds since the epoch."""
    listed: frozenset[str] = frozenset()
    """Server labels whose tools the chain has listed already; see `call_items.listed_labels`."""
    approval: ApprovalDecisions | None = None
    """What the client has said to the question that the turn answers."""
    seal: Seal | None = None
    """None where nothing that a provider wants back is handed to the client."""
