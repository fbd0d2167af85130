"""The status of a response, how the end of a turn decides it, and its usage.

Sources: OpenResponses specification 2026-04-24, `ResponseResource`; OpenAI API reference, "The response object".
"""

from enum import StrEnum
from typing import assert_never

from ..events import StopReason
from ..messages import JsonObject, Usage


class ResponseStatus(StrEnum):
    """The `status` of a response."""

    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    REQUIRES_ACTION = "requires_action"
    """It waits for function outputs, and the client has asked for this status with `chatterbox:client_tools_status`."""
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_whole(self) -> bool:
        """Whether the answer is complete."""
        return self in {ResponseStatus.COMPLETED, ResponseStatus.REQUIRES_ACTION}

    @property
    def terminal_event(self) -> str:
        """Type of the last event of a response that ends so. The API has none for cancelled ones."""
        if self.is_whole:
            return "response.completed"
        return "response.failed" if self is ResponseStatus.FAILED else "response.incomplete"


def end_status(reason: StopReason, *, pauses_for_functions: bool) -> tuple[ResponseStatus, str | None]:
    """Return the status of a response whose turn ended so, and the reason why it is incomplete."""
    match reason:
        case (
            StopReason.COMPLETED
            | StopReason.UNVERIFIED_ACTION
            | StopReason.PROMPT_DENIED
            | StopReason.APPROVAL_REQUIRED
        ):
            return ResponseStatus.COMPLETED, None
        case StopReason.CLIENT_TOOLS:
            return ResponseStatus.REQUIRES_ACTION if pauses_for_functions else ResponseStatus.COMPLETED, None
        case StopReason.PROVIDER_FAILED:
            return ResponseStatus.FAILED, None
        case StopReason.LENGTH:
            return ResponseStatus.INCOMPLETE, "max_output_tokens"
        case (
            StopReason.CONTENT_FILTER
            | StopReason.MAX_ITERATIONS
            | StopReason.MAX_TOOL_CALLS
            | StopReason.DEADLINE
            | StopReason.UNKNOWN_FINISH
            | StopReason.OUTPUT_UNFIT
        ):
            return ResponseStatus.INCOMPLETE, reason.value
        case _:
            assert_never(reason)


def usage_json(usage: Usage) -> JsonObject:
    """Return the usage of a response: input includes cached tokens, output includes reasoning tokens.

    Cache writes are unknown here, but clients require the number.
    """
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }
