"""The response as a client gets it: what the request said, and how far the answer has come.

Pure. Knows the fields that every response has; must not know events, or how items come about.
Source: OpenResponses specification 2026-04-24, `ResponseResource`; OpenAI API reference, "The response object".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..messages import JsonObject, JsonValue, Usage
from .errors import ApiError
from .request import CreateRequest


class ResponseStatus(StrEnum):
    """How far a response has come."""

    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    REQUIRES_ACTION = "requires_action"
    """It waits for functions of the client, which has asked to be told so by `chatterbox:client_tools_status`."""
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class ResponseState:
    """What of a response changes while it is made."""

    status: ResponseStatus
    output: Sequence[JsonValue] = ()
    """The items that are done, in order."""
    usage: Usage | None = None
    """None until it has ended."""
    incomplete_reason: str | None = None
    error: ApiError | None = None
    completed_at: int | None = None
    """Seconds since the epoch, of one that is completed."""


def resource_json(request: CreateRequest, response_id: str, created_at: int, state: ResponseState) -> JsonObject:
    """Return the whole resource. `created_at` is in seconds since the epoch."""
    error, reason = state.error, state.incomplete_reason
    return {
        **request.echo,
        "id": response_id,
        "object": "response",
        "created_at": created_at,
        "completed_at": state.completed_at,
        "status": state.status.value,
        "incomplete_details": {"reason": reason} if reason else None,
        "error": {"code": error.code or error.kind.value, "message": error.message} if error else None,
        "output": list(state.output),
        "usage": usage_json(state.usage) if state.usage else None,
    }


def usage_json(usage: Usage) -> JsonObject:
    """Return the tokens of a response: cached ones are part of the input, reasoning is part of the output.

    Nobody tells us which of them a service has put into its cache; clients insist on the number.
    """
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }
