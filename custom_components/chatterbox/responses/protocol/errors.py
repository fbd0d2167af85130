"""Errors of the Responses API: their JSON and HTTP status, and how failures of a model are reported to a client.

Sources: OpenResponses specification 2026-04-24, "Errors"; OpenAI API reference, "Error
codes".
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Final

from ...agent.errors import (
    AgentError,
    BetweenTokensTimeout,
    BudgetSpent,
    ConnectTimeout,
    CreditSpent,
    FirstTokenTimeout,
    ModelLoading,
    ModelNotFound,
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from ...agent.messages import JsonObject


class ErrorType(StrEnum):
    """The `type` of an error."""

    INVALID_REQUEST = "invalid_request_error"
    AUTHENTICATION = "authentication_error"
    NOT_FOUND = "not_found"
    TOO_MANY_REQUESTS = "too_many_requests"
    MODEL = "model_error"
    SERVER = "server_error"


@dataclass(eq=False)
class ApiError(Exception):
    """A request that cannot be served. Its message tells developers, in English, what to change.

    It is not an `AgentError`: no turn fails with it.
    """

    message: str
    _: KW_ONLY
    status: int = 400
    kind: ErrorType = ErrorType.INVALID_REQUEST
    code: str | None = None
    param: str | None = None
    """As in `tools[0].name`."""
    retry_after: float | None = None
    """Seconds."""

    @property
    def in_response(self) -> JsonObject:
        """The error as a field of a response."""
        return {
            "code": self.code or self.kind.value,
            "message": self.message,
        }

    @property
    def payload(self) -> JsonObject:
        """The error object, as in bodies and events."""
        return {
            "type": self.kind.value,
            "code": self.code,
            "message": self.message,
            "param": self.param,
        }


def invalid(
    message: str, param: str | None = None, code: str | None = None
) -> ApiError:
    """Return the error of a request that the client has to change (400)."""
    return ApiError(
        message,
        code=code,
        param=param,
    )


def unavailable(
    message: str,
    code: str | None = None,
) -> ApiError:
    """Return the error of a request that can be served later (503)."""
    return ApiError(
        message,
        status=503,
        kind=ErrorType.SERVER,
        code=code,
    )


def bad_value(message: str, param: str) -> ApiError:
    """Return the error of a parameter with a value that cannot be used (400)."""
    return invalid(message, param, "invalid_value")


def bad_approval(
    message: str,
    param: str = "input",
) -> ApiError:
    """Return the error of an answer to an approval request that cannot be taken (400)."""
    return invalid(message, param, "approval_continuation_invalid")


def not_found(
    message: str, param: str | None = None, code: str | None = "not_found"
) -> ApiError:
    """Return the error of a request for something that does not exist, or belongs to another user (404)."""
    return ApiError(
        message, status=404, kind=ErrorType.NOT_FOUND, code=code, param=param
    )


_TIMEOUT: Final = (
    503,
    "model_timeout",
    "did not answer in time. Try again later",
)
_FAILURES: Final[Mapping[type[ProviderError], tuple[int, str, str]]] = {
    CreditSpent: (
        429,
        "insufficient_quota",
        "has no credit. Only its owner can change that",
    ),
    ModelLoading: (
        503,
        "model_loading",
        "is still being loaded. Try again later",
    ),
    ProviderBusy: (
        429,
        "rate_limit_exceeded",
        "is busy. Try again later",
    ),
    **dict.fromkeys(
        (
            ConnectTimeout,
            FirstTokenTimeout,
            BetweenTokensTimeout,
        ),
        _TIMEOUT,
    ),
    ProviderUnreachable: (
        503,
        "model_unreachable",
        "cannot be reached. Try again later",
    ),
    ProviderFailed: (
        503,
        "model_failed",
        "reports an error. Try again later",
    ),
    ProviderRejectedKey: (
        502,
        "model_access_denied",
        "rejects its key. Only its owner can change it",
    ),
    ModelNotFound: (
        502,
        "model_not_found",
        "does not exist. Only its owner can change that",
    ),
    ProviderRejectedRequest: (
        502,
        "model_rejected_request",
        "rejects the request",
    ),
    ProviderReplyInvalid: (
        502,
        "model_reply_invalid",
        "sent an incomplete or invalid reply",
    ),
}
"""Status, code, and what the model behind an agent does."""


def as_api_error(failure: AgentError | ApiError | None) -> ApiError:
    """Return what a client is told of a failed turn.

    A client must not learn the provider's key, account or address, so the messages are
    our own and quote nothing. A failure without a name here counts as a bug.
    """
    match failure:
        case ApiError():
            return failure
        case BudgetSpent():
            return ApiError(
                f"What may be spent on the model behind this agent in one {failure.period} is spent.",
                status=429,
                kind=ErrorType.TOO_MANY_REQUESTS,
                code="insufficient_quota",
            )
        case PromptTooLong():
            return invalid(
                "The conversation is too long for the model. Shorten it, or set `truncation` to `auto`.",
                "input",
                "context_length_exceeded",
            )
        case _:
            pass
    for failed, (status, code, does) in _FAILURES.items():
        if isinstance(failure, failed):
            is_busy = status == HTTPStatus.TOO_MANY_REQUESTS
            return ApiError(
                f"The model behind this agent {does}.",
                status=status,
                kind=ErrorType.TOO_MANY_REQUESTS if is_busy else ErrorType.MODEL,
                code=code,
                retry_after=failure.retry_after,
            )
    return internal_error()


def internal_error(request_id: str | None = None) -> ApiError:
    """Return what a client is told of a bug, which is logged beside the id of the request."""
    beside = f", beside {request_id}" if request_id else ""
    return ApiError(
        f"Something went wrong in Home Assistant. Its log says more{beside}.",
        status=500,
        kind=ErrorType.SERVER,
        code="server_error",
    )


INTERRUPTED: Final = unavailable(
    "Home Assistant was restarted, or the agent was changed, before the response was ready. Send the request again.",
    "interrupted",
)
"""Why a response in the background failed that no task works on any more."""
