"""How the end of a turn is told: the status of the response, its last event, and why it is incomplete.

Pure. Knows why turns end and which status that is; must not know items.
"""

from dataclasses import dataclass
from typing import Final, assert_never

from ..events import StopReason
from .resource import ResponseStatus

_TERMINAL_EVENTS: Final = {
    ResponseStatus.COMPLETED: "response.completed",
    ResponseStatus.REQUIRES_ACTION: "response.completed",
    ResponseStatus.INCOMPLETE: "response.incomplete",
    ResponseStatus.FAILED: "response.failed",
    ResponseStatus.CANCELLED: "response.incomplete",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a response."""

    status: ResponseStatus
    incomplete_reason: str | None = None

    @property
    def event(self) -> str:
        """Type of the last event. There is none of its own for what the API itself does not stream."""
        return _TERMINAL_EVENTS[self.status]

    @property
    def is_whole(self) -> bool:
        """Whether the answer is all that it was meant to be."""
        return self.status in {ResponseStatus.COMPLETED, ResponseStatus.REQUIRES_ACTION}


COMPLETED: Final = Ending(ResponseStatus.COMPLETED)
REQUIRES_ACTION: Final = Ending(ResponseStatus.REQUIRES_ACTION)
FAILED: Final = Ending(ResponseStatus.FAILED)
CANCELLED: Final = Ending(ResponseStatus.CANCELLED, "cancelled")


def ending_of(reason: StopReason, *, pauses_for_functions: bool = False) -> Ending:  # a table
    """Return how a response ends whose turn ended so."""
    match reason:
        case StopReason.COMPLETED | StopReason.NO_RECEIPT | StopReason.PROMPT_DENIED | StopReason.APPROVAL_REQUIRED:
            return COMPLETED
        case StopReason.CLIENT_TOOLS:
            return REQUIRES_ACTION if pauses_for_functions else COMPLETED
        case StopReason.PROVIDER_FAILED:
            return FAILED
        case StopReason.LENGTH:
            return Ending(ResponseStatus.INCOMPLETE, "max_output_tokens")
        case (
            StopReason.CONTENT_FILTER
            | StopReason.MAX_ITERATIONS
            | StopReason.MAX_TOOL_CALLS
            | StopReason.DEADLINE
            | StopReason.UNKNOWN_FINISH
            | StopReason.OUTPUT_UNFIT
        ):
            return Ending(ResponseStatus.INCOMPLETE, reason.value)
        case _:
            assert_never(reason)
